//! The output folder: how it is built and published, and how a result is held back.

mod fitting;
pub(crate) mod held;
pub(crate) mod sink;
#[cfg(test)]
mod sink_tests;
