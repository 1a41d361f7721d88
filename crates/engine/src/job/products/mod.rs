//! The products of a run: their keys, and how what it makes is put down and taken up (`engine/products`).

mod keys;
mod of_corpus;
mod of_members;
mod stock;

pub use keys::of_file;
pub use of_corpus::{Counts, Said};
pub use of_members::{Pairs, Rows};
pub use stock::{FIRST, Made, Portions, RECALL, SECOND, Stock, left};
