//! Implements the command line: arguments and options ([`typed`]), the commands, each in its own file ([`commands`]), and output to the
//! terminal ([`terminal`]).
//!
//! ```text
//! argv --options--> Settings --config--> Settings --options::resolve--> RunOptions --> job::run --> report::summary --> Exit
//! ```
//!
//! Results go to stdout, progress and messages to stderr.

pub mod commands;
pub mod exit;
mod generated;
mod program;
pub mod signals;
pub mod terminal;
pub mod typed;

pub use exit::Exit;
pub use program::program;
pub use terminal::output::{complain, fail, print_result, say, say_styled, whole_story};
