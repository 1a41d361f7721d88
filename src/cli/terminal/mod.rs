//! What is written to the terminal: results, errors, log lines and progress.

pub mod escape;
pub mod log;
pub mod output;
pub mod progress;
mod two_lines;
