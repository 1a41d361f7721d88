//! Provides worked examples and runs in memory for the tests of the algorithms.

pub(crate) mod examples;
pub(crate) mod in_memory;
