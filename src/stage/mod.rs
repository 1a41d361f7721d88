//! The story of a run, stage by stage: pure functions over rows and batches that open no file and start no thread.

pub mod recipe;
