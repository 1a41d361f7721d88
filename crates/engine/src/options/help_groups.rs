//! Defines the groups of options in the help. Each group has a heading.

pub const JUDGING: &str = "Judging";
pub const FILTER: &str = "Filter";
pub const ITEMS: &str = "Evaluation set";
pub const ELEMENTS: &str = "Categories";
pub const INPUT: &str = "Input";
pub const OUTPUT: &str = "Output";
pub const DUPLICATES: &str = "What is a duplicate";
pub const KEPT: &str = "Which document is kept";
pub const PASSAGES: &str = "Repeated passages";
pub const GUARDS: &str = "Guards";
pub const INCREMENTAL: &str = "Incremental runs";
pub const RESOURCES: &str = "Resources";
pub const LOG: &str = "Log";

/// The groups in the order in which the help shows them.
pub const GROUPS: [&str; 13] =
    [JUDGING, FILTER, ITEMS, ELEMENTS, INPUT, OUTPUT, DUPLICATES, KEPT, PASSAGES, GUARDS, INCREMENTAL, RESOURCES, LOG];

/// The groups that belong to only one command. `-h` shows all options in these groups.
pub const OF_ONE_VERB: [&str; 4] = [JUDGING, FILTER, ITEMS, ELEMENTS];
