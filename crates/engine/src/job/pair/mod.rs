//! The second part of a run: from signatures to pairs that are checked and classified.

pub mod classes;
pub mod components;
pub(crate) mod contents;
pub mod group;
pub mod links;
pub(crate) mod margin;
pub mod pair_list;
pub mod relate;
pub(crate) mod tell;
pub mod verify;
