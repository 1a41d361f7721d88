//! What was typed: arguments, options and the configuration file, and suggestions for what is unknown.

pub mod args;
pub mod config;
pub(crate) mod known;
pub mod options;
pub(crate) mod suggest;
