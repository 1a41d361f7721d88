//! Reads Arrow files and streams.

pub(crate) mod format;
pub(crate) mod ipc;
