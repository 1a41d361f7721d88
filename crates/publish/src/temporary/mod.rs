//! Manages the hidden folders that exist while a run works: their locks, their contents, and the leftovers of killed runs.

pub(crate) mod ledger;
pub(crate) mod lock;
pub(crate) mod reference_folder;
pub(crate) mod temporary_folder;
pub(crate) mod work_folder;
#[cfg(test)]
mod work_folder_tests;
