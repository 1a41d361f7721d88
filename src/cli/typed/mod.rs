//! Parses arguments, options and the configuration file, and makes suggestions for unknown names.

pub mod args;
pub mod config;
pub(crate) mod known;
pub mod options;
pub(crate) mod suggest;
