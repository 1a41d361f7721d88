//! What is counted of the table of removals, and what became of the documents that are shown.

use std::collections::BTreeMap;

use super::lowest::Lowest;
use super::tally::{BINS, bin};
use dupsift_core::error::Result;
use dupsift_core::hash::mix64;
use dupsift_files::tables::{EMPTIED, RemovalFound};

/// Rows between two looks at whether to go on.
const ASKED: usize = 4096;

/// Shares of 3-grams that may be asked for.
pub const SHARES: [f64; 6] = [0.8, 0.85, 0.9, 0.95, 0.99, 1.0];

/// Removals that are drawn to be looked at one by one.
const SAMPLED: usize = 200;

/// A removal that was drawn to be looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemovalSample {
    /// The removed document.
    pub doc: u64,
    /// The document that was kept instead.
    pub kept: u64,
    /// Their similarity; `None` if only a chain of pairs links them.
    pub similarity: Option<f32>,
}

/// Removed documents by the pairs for which they go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RemovedReview {
    /// By the similarity to the kept document, in the bins of similarities.
    pub scores: [u64; BINS],
    /// Those that are joined to it by a chain only.
    pub chained: u64,
    /// For each share of [`SHARES`] those of whose 3-grams at least that share stands in the kept one.
    pub contained: [u64; SHARES.len()],
    /// What became of documents that are shown, by number.
    pub fates: BTreeMap<u64, Fate>,
    /// Removals drawn with a fixed seed, by number; exact copies are left out.
    pub sample: Vec<RemovalSample>,
}

/// Why a document goes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fate {
    /// The one that it goes for.
    pub kept: u64,
    /// `copy`, `pair`, `chain` or `seen`.
    pub reason: String,
}

/// Reads the table: `shown` are the documents whose fates are asked for, and `note` hears of all that go.
pub fn read(
    rows: impl Iterator<Item = Result<RemovalFound>>,
    shown: impl Fn(u64) -> bool,
    note: &dyn Fn(u64) -> Result<()>,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<RemovedReview> {
    let mut review = RemovedReview::default();
    let mut sample = Lowest::new(SAMPLED);
    for (at, row) in rows.enumerate() {
        if at % ASKED == 0 {
            go_on()?;
        }
        let RemovalFound { doc, kept, similarity, reason, contained } = row?;
        if let Some(contained) = contained {
            // Shares stand in the table with 32 bits.
            let counts = review.contained.iter_mut().zip(SHARES);
            counts.for_each(|(count, share)| *count += u64::from(contained >= share as f32));
        }
        match similarity {
            Some(similarity) => review.scores[bin(similarity)] += 1,
            None if reason == EMPTIED => {}
            None => review.chained += 1,
        }
        note(doc)?;
        if matches!(reason, "pair" | "chain") {
            sample.offer((mix64(doc), doc), || (RemovalSample { doc, kept, similarity }, reason));
        }
        if shown(doc) {
            review.fates.insert(doc, Fate { kept, reason: reason.to_string() });
        }
    }
    let mut sample: Vec<(RemovalSample, &str)> = sample.into_values().collect();
    sample.sort_unstable_by_key(|(one, _)| one.doc);
    for (one, reason) in sample {
        review.fates.insert(one.doc, Fate { kept: one.kept, reason: reason.to_string() });
        review.sample.push(one);
    }
    Ok(review)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn removals_are_counted_by_similarity_and_noted() {
        let gone = RefCell::new(Vec::new());
        let row = |doc, similarity, reason| {
            let contained = (doc != 4).then_some(if doc == 1 { 1.0 } else { 0.9 });
            Ok(RemovalFound { doc, kept: 0, similarity, reason, contained })
        };
        let rows = [row(1, Some(1.0), "copy"), row(3, Some(0.72), "pair"), row(4, None, "chain")];
        let note = |doc| Ok(gone.borrow_mut().push(doc));
        let review = read(rows.into_iter(), |doc| doc == 3, &note, &|| Ok(())).unwrap();
        assert_eq!((review.scores[BINS - 1], review.scores[14], review.chained), (1, 1, 1));
        let fate = |reason: &str| Fate { kept: 0, reason: reason.into() };
        assert_eq!(review.fates, BTreeMap::from([(3, fate("pair")), (4, fate("chain"))]));
        // Exact copies are not drawn.
        assert_eq!(review.sample.iter().map(|one| one.doc).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(review.contained, [2, 2, 2, 1, 1, 1]);
        assert_eq!(gone.take(), [1, 3, 4]);
    }
}
