//! Options for threads, memory, temporary files and checkpoints.

use std::path::PathBuf;
use std::time::Duration;

use super::{EVERY, FINDERS, RESUMING};
use crate::options::help_groups::RESOURCES;
use crate::options::machine::{self, MAX_THREADS};
use crate::options::spec::{Affects, OptionSpec, Verb, depends, is};
use crate::options::value::{Kind, Value};
use crate::options::words;

/// Limits what a run uses of the machine.
#[derive(Clone, Debug)]
pub struct ResourceOptions {
    /// The folder for temporary files; `None` uses a hidden folder next to the output.
    pub work: Option<PathBuf>,
    /// Whether rows that cannot match any other row are dropped before they are written. Dropping these rows requires computing signatures
    /// twice.
    pub prefilter: bool,
    /// The number of worker threads, at least 1.
    pub threads: usize,
    /// The memory limit in bytes.
    pub memory: u64,
    /// The time between checkpoints; `None` disables checkpoints.
    pub checkpoint: Option<Duration>,
    /// Whether the run resumes from checkpoints of an earlier run.
    pub resumes: bool,
}

impl Default for ResourceOptions {
    fn default() -> ResourceOptions {
        ResourceOptions {
            work: None,
            prefilter: false,
            threads: machine::cores_allowed(),
            memory: machine::half_of_memory_allowed(),
            checkpoint: None,
            resumes: false,
        }
    }
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(RESOURCES, EVERY, "work", "DIR", Kind::Path, "Folder for temporary files")
        .default(depends("a hidden folder next to the output, removed after success"))
        .but(&[
            (Verb::Evaluate, "", depends("the system's temporary folder")),
            (Verb::Explain, "", depends("the system's temporary folder")),
            (Verb::Report, "", depends("the system's temporary folder")),
            (Verb::Apply, "", depends("the system's temporary folder")),
            (Verb::Show, "", depends("the system's temporary folder")),
        ])
        .field(|run, given| Ok(run.resources.work = Some(given.path())), |run| run.resources.work.clone().map(Value::from))
        .affects(Affects::Output),
    OptionSpec::new(RESOURCES, FINDERS, "prefilter", "", Kind::Switch,
        "Compute signatures twice, and write only rows whose key occurs more than once. Saves disk space, but takes more time")
        .field(|run, given| Ok(run.resources.prefilter = given.switch()), |run| Some(run.resources.prefilter.into()))
        .affects(Affects::Rows),
    OptionSpec::new(RESOURCES, EVERY, "threads", "N", Kind::Whole(1, MAX_THREADS as u64), "Worker threads")
        .brief("Worker threads")
        .default(depends("all available cores"))
        .field(|run, given| Ok(run.resources.threads = given.number() as usize), |run| Some((run.resources.threads as u64).into()))
        .affects(Affects::Output),
    OptionSpec::new(RESOURCES, EVERY, "memory", "SIZE", Kind::Size,
        "Memory limit, such as 4GiB, 512MB or a number of bytes")
        .brief("Memory limit, such as 4GiB")
        .default(depends("half of the memory of the machine or cgroup"))
        .field(|run, given| Ok(run.resources.memory = given.number()), |run| Some(run.resources.memory.into()))
        .affects(Affects::Output),
    OptionSpec::new(RESOURCES, RESUMING, "checkpoint", "TIME", Kind::Text(|typed| words::checkpoint(typed).map(drop)),
        "Minimum time between checkpoints: a time such as 30s or 5m, 0s to save as often as possible, or never. After an interruption, the same command resumes the run")
        .default(is("30s"))
        .field(
            |run, given| Ok(run.resources.checkpoint = words::checkpoint(given.text())?),
            |run| Some(words::of_checkpoint(run.resources.checkpoint).into()),
        )
        .affects(Affects::Output),
    OptionSpec::new(RESOURCES, RESUMING, "resume", "", Kind::Switch,
        "Whether to resume an interrupted run with the same output")
        .default(is("true"))
        .field(|run, given| Ok(run.resources.resumes = given.switch()), |run| Some(run.resources.resumes.into()))
        .affects(Affects::Output),
];
