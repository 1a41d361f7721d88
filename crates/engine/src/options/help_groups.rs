//! Defines the groups of options in the help. Each group has a heading.

pub(crate) const JUDGING: &str = "Judging";
pub(crate) const FILTER: &str = "Filter";
pub(crate) const ITEMS: &str = "Evaluation set";
pub(crate) const ELEMENTS: &str = "Categories";
pub(crate) const INPUT: &str = "Input";
pub(crate) const OUTPUT: &str = "Output";
pub(crate) const DUPLICATES: &str = "What is a duplicate";
pub(crate) const KEPT: &str = "Which document is kept";
pub(crate) const PASSAGES: &str = "Repeated passages";
pub(crate) const GUARDS: &str = "Guards";
pub(crate) const INCREMENTAL: &str = "Incremental runs";
pub(crate) const RESOURCES: &str = "Resources";
pub(crate) const LOG: &str = "Log";

/// The groups in the order in which the help shows them.
pub(crate) const GROUPS: [&str; 13] =
    [JUDGING, FILTER, ITEMS, ELEMENTS, INPUT, OUTPUT, DUPLICATES, KEPT, PASSAGES, GUARDS, INCREMENTAL, RESOURCES, LOG];

/// The groups that belong to only one command. `-h` shows all options in these groups.
pub const OF_ONE_VERB: [&str; 4] = [JUDGING, FILTER, ITEMS, ELEMENTS];
