//! Builds and publishes the output folder, and holds back results.

mod fitting;
pub(crate) mod held;
pub(crate) mod sink;
#[cfg(test)]
mod sink_tests;
