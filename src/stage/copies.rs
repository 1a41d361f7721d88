//! copies: exact copies are found by a hash of their texts, and their smallest document represents them all.
//!
//! Only the representative goes on; the copies come back where classes are written down, and when pairs are.

use crate::row::Docs;

/// What the driver knows of exact copies.
pub trait Copies {
    /// Whether a smaller document is equal to this one.
    fn is_surplus(&self, doc: u64) -> bool;

    /// The documents that are equal to this one, itself included, ascending; none if it is alone.
    fn members(&self, doc: u64) -> Docs<'_>;
}

/// A corpus without copies, or one whose rows are of representatives alone.
#[derive(Clone, Copy, Debug)]
pub struct NoCopies;

impl Copies for NoCopies {
    fn is_surplus(&self, _: u64) -> bool {
        false
    }

    fn members(&self, _: u64) -> Docs<'_> {
        Docs::NONE
    }
}
