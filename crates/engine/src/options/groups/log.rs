//! Options for what is printed during a run.

use super::{EVERY, LONG, TEXTS};
use crate::options::help_groups::LOG;
use crate::options::spec::{NONE, OptionSpec, Verb, is};
use crate::options::value::Kind;
use crate::options::words::FORMATS;

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(LOG, TEXTS, "dry-run", "", Kind::Switch,
        "Check inputs and options, then print an estimate and a list of the passes. Reads no documents and writes nothing, so `out` is optional")
        .but(&[(
            Verb::Run,
            "Check inputs and options, then print an estimate and a list of the passes. Reads no documents and writes nothing, so `out` is \
             optional. With `sample`, also deduplicate the sample in a temporary folder, and estimate how many documents would be removed and how long it would take",
            NONE,
        )])
        .flag_only(),
    OptionSpec::new(LOG, EVERY, "log-format", "FORMAT", Kind::Choice(FORMATS), "Format of log lines")
        .default(is("text"))
        .flag_only(),
    OptionSpec::new(LOG, EVERY, "no-progress", "", Kind::Switch, "Do not show progress bars"),
    OptionSpec::new(LOG, LONG, "quiet", "", Kind::Switch, "Print only warnings and errors")
        .flag_only(),
    OptionSpec::new(LOG, LONG, "verbose", "", Kind::Switch, "Print the full summary, and a log line for each stage")
        .flag_only(),
];
