//! Writes results, errors, log lines and progress to the terminal.

pub mod escape;
pub mod log;
pub mod output;
pub mod progress;
mod two_lines;
