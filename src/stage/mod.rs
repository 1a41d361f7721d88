//! The story of a run, stage by stage: pure functions over rows that open no file and start no thread.

pub mod bound;
pub mod choose;
pub mod compare;
pub mod connect;
pub mod contest;
pub mod copies;
pub mod count;
pub mod estimate;
pub mod expand;
pub mod explain;
pub mod group;
pub mod groups;
pub mod guard;
pub mod judge;
pub mod likeness;
pub mod next_best;
pub mod plan;
pub mod preset;
pub mod purifier;
pub mod recipe;
pub mod remove_if;
pub mod shared_windows;
pub mod sift;
pub mod sign;
pub mod survive;
pub mod versions;
