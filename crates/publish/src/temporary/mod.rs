//! The hidden folders that exist while a run works: who holds them, what is in them, and what a killed run leaves.

pub(crate) mod ledger;
pub(crate) mod lock;
pub(crate) mod reference_folder;
pub(crate) mod temporary_folder;
pub(crate) mod work_folder;
#[cfg(test)]
mod work_folder_tests;
