//! States what happened to one document of a pair. Explanations and pages report it in their own words.

use dupsift_tables::REPRESENTATIVE;

/// What happened to a document, as seen from another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<'o> {
    /// The document was indexed before the run, so it is never removed.
    Indexed,
    /// The document is kept.
    Kept,
    /// The document is removed in favor of the other document, for this reason.
    RemovedForOther(&'o str),
    /// The document is removed in favor of a third document, for this reason.
    RemovedForThird(u64, &'o str),
    /// The document is the preferred one, and `--keep none` also removes it.
    NoneKept,
}

impl<'o> Outcome<'o> {
    /// Returns what happened to a document. `removal` holds the document that is kept instead of it and the reason, if it is removed.
    pub fn of(is_indexed: bool, removal: Option<(u64, &'o str)>, other: u64) -> Outcome<'o> {
        match removal {
            None if is_indexed => Outcome::Indexed,
            None => Outcome::Kept,
            Some((_, REPRESENTATIVE)) => Outcome::NoneKept,
            Some((kept, reason)) if kept == other => Outcome::RemovedForOther(reason),
            Some((kept, reason)) => Outcome::RemovedForThird(kept, reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_seen_from_the_other_document() {
        let of = |is_indexed, removal| Outcome::of(is_indexed, removal, 7);
        assert_eq!(of(true, None), Outcome::Indexed);
        assert_eq!(of(false, None), Outcome::Kept);
        assert_eq!(of(false, Some((7, "pair"))), Outcome::RemovedForOther("pair"));
        assert_eq!(of(false, Some((8, "copy"))), Outcome::RemovedForThird(8, "copy"));
        assert_eq!(of(false, Some((3, REPRESENTATIVE))), Outcome::NoneKept);
    }
}
