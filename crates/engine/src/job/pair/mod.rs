//! Implements the second part of a run, which turns signatures into verified and classified pairs.

pub mod across;
pub(crate) mod classify;
pub mod components;
pub(crate) mod contents;
pub(crate) mod expand;
pub mod group;
pub mod links;
pub(crate) mod margin;
mod nearest;
mod new_documents;
pub mod pair_list;
pub mod relate;
pub mod saved_contents;
pub mod saved_pairs;
pub mod step;
mod titles;
pub mod verify;
