//! What the tests of the algorithms share: worked examples, and runs in memory.

pub(crate) mod examples;
pub(crate) mod in_memory;
