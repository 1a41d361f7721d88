//! Implements the command line: the arguments ([`args`], [`options`], [`config`]), and each command in its own file.
//!
//! ```text
//! argv --options--> Settings --config--> Settings --options::resolve--> RunOptions --> job::run --> report::summary --> Exit
//! ```
//!
//! Results go to stdout, progress and messages to stderr.

pub mod accept;
pub mod algorithms;
pub mod apply;
pub mod args;
pub mod clean;
pub mod compare;
mod completions;
pub mod config;
pub mod contaminated;
pub mod escape;
pub mod evaluate;
pub mod exit;
pub mod explain;
mod handbook;
pub mod index;
mod known;
pub mod log;
mod manual;
pub mod options;
pub mod output;
mod program;
pub mod progress;
pub mod purify;
#[cfg(test)]
mod python_keywords;
pub mod reject;
pub mod report;
pub mod run;
pub mod sample;
pub mod show;
pub mod signals;
pub mod stream;
mod suggest;
mod two_lines;
pub mod version;

pub use exit::Exit;
pub use output::{complain, fail, print_result, say, say_styled, whole_story};
pub use program::program;
