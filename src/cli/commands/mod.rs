//! Implements the commands, each in its own file: runs the command, prints its result, and returns the exit code.

pub mod accept;
pub mod algorithms;
pub mod apply;
pub mod clean;
pub mod compare;
pub(crate) mod completions;
pub mod contaminated;
pub mod evaluate;
pub mod explain;
pub mod index;
pub(crate) mod manual;
pub mod purify;
pub mod reject;
pub mod report;
pub mod run;
pub mod sample;
pub mod show;
pub mod stream;
pub mod version;
