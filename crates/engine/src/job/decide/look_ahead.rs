//! Computes, on all threads and in advance, how much of each document in a block is contained in kept documents.
//!
//! The decision about a document depends on the preceding documents, so the rule visits the documents one after another. Most of the
//! comparisons can be made in advance, because partners that were kept in earlier blocks are known when a block begins. These comparisons
//! are made even for documents that turn out to be kept. The rule itself compares documents only with partners that are kept within the
//! same block.

use std::ops::Range;

use crate::engine::threads::Engine;
use dupsift_algorithms::measure::Contained;
use dupsift_algorithms::steps::choose::nearest;
use dupsift_algorithms::steps::survive::{Finder, Lists, MOST_LISTED, Relation, Settled};
use dupsift_core::error::Result;
use dupsift_core::row::Docs;

/// The number of documents in the first block. No document has been kept before this block, so nothing can be computed in advance for the
/// block.
const FIRST: usize = 32;
/// The maximum number of documents in a block. The answers for one document occupy less than 2 kB.
const LARGEST: usize = 2048;
/// The number of documents that a thread processes at a time.
const PIECE: usize = 8;

/// Divides this number of documents into blocks. Each block after the first is as long as all earlier blocks together, up to [`LARGEST`].
pub(crate) fn blocks(count: usize) -> impl Iterator<Item = Range<usize>> {
    let block = move |begin: usize| begin..count.min(begin + begin.clamp(FIRST, LARGEST));
    std::iter::successors(Some(block(0)), move |before| Some(block(before.end))).take_while(|block| !block.is_empty())
}

/// Holds the inputs for looking up the kept partners of documents.
pub(crate) struct Asking<'a, R, S, B, L> {
    /// The threads.
    pub engine: &'a Engine<'a>,
    /// The relations whose pairs decide which documents are removed.
    pub relations: &'a [R],
    /// The number of these relations that must agree.
    pub needed: usize,
    /// Returns the earlier decision about a document or text.
    pub settled: S,
    /// Returns whether one document is preferred to another.
    pub better: B,
    /// Returns how much of a document is contained in a kept document, and vice versa, or `None` for copies.
    pub look: L,
}

impl<R, S, B, L> Asking<'_, R, S, B, L>
where
    R: Relation + Sync,
    S: Fn(u64) -> Option<Settled> + Sync,
    B: Fn(u64, u64) -> bool + Sync,
    L: Fn(u64, u64) -> Result<Option<[Contained; 2]>> + Sync,
{
    /// Returns the answers that can be computed before the rule visits the first document of a block. Returns no answers if there is only
    /// one thread, because that thread would only look up partners twice.
    pub(crate) fn ahead(&self, block: Docs<'_>, lists: &Lists<'_>) -> Result<Answers> {
        if self.engine.pool.current_num_threads() == 1 {
            return Ok(Answers::default());
        }
        let answers = self.engine.work(
            block.len().div_ceil(PIECE),
            || Ok((Finder::new(self.relations, self.needed, MOST_LISTED), Vec::new())),
            |(finder, answers), piece| {
                for place in piece * PIECE..block.len().min((piece + 1) * PIECE) {
                    let doc = block.get(place);
                    if !(self.settled)(doc).is_some_and(Settled::is_final) {
                        self.engine.go_on()?;
                        answers.push(Answer { place, doc, of_kept: self.about(finder, lists, doc) });
                    }
                }
                Ok(())
            },
            |(_, answers)| Ok(answers),
        )?;
        let mut answers: Vec<Answer> = answers.into_iter().flatten().collect();
        answers.sort_unstable_by_key(|answer| answer.place);
        Ok(Answers { answers, at: 0 })
    }

    /// Returns the answers that the rule will use for a document if no other document is kept in the meantime. If a comparison fails, the
    /// answers before the failure are returned, because the rule may never need the failed comparison.
    fn about(&self, finder: &mut Finder<'_, R>, lists: &Lists<'_>, doc: u64) -> Vec<(u64, Option<[Contained; 2]>)> {
        let (near, _) = nearest(finder.partners(lists, doc).0, &self.better);
        let mut of_kept = Vec::with_capacity(near.len());
        for partner in near {
            let Ok(both) = (self.look)(doc, partner.kept) else { break };
            of_kept.push((partner.kept, both));
            // The rule makes no further comparisons after it finds a copy.
            if both.is_none() {
                break;
            }
        }
        of_kept
    }
}

/// Holds the answer for one document.
struct Answer {
    /// The position of the document in the block.
    place: usize,
    doc: u64,
    of_kept: Vec<(u64, Option<[Contained; 2]>)>,
}

/// Holds the answers for a block.
#[derive(Default)]
pub(crate) struct Answers {
    /// The answers, in block order.
    answers: Vec<Answer>,
    at: usize,
}

impl Answers {
    /// Returns the answer for a document and a kept document, if the answer was computed in advance. Answers must be requested in block
    /// order.
    pub(crate) fn of(&mut self, doc: u64, kept: u64) -> Option<Option<[Contained; 2]>> {
        let ahead = self.answers[self.at..].iter().position(|answer| answer.doc == doc)?;
        self.at += ahead;
        self.answers[self.at].of_kept.iter().find(|(other, _)| *other == kept).map(|(_, both)| *both)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_grow_and_leave_out_no_document() {
        for count in [0, 1, 31, 32, 33, 100, 5000, 10_000] {
            let all: Vec<Range<usize>> = blocks(count).collect();
            assert!(all.iter().cloned().flatten().eq(0..count), "{count}");
            assert!(all.iter().all(|block| block.len() <= LARGEST) && all.len() <= 8 + count / LARGEST, "{count}");
        }
        assert!(blocks(100).eq([0..32, 32..64, 64..100]));
    }

    #[test]
    fn answers_are_found_in_the_order_of_the_block() {
        let both = |common| {
            let part = dupsift_algorithms::measure::Part { common, all: 9 };
            Some([Contained { grams: part, numbers: part, facts: part }; 2])
        };
        let answer = |place, doc, of_kept| Answer { place, doc, of_kept };
        let answers = vec![
            answer(0, 7, vec![(1, both(1)), (2, both(2))]),
            answer(1, 3, vec![]),
            answer(2, 9, vec![(1, both(3)), (2, None)]),
        ];
        let mut answers = Answers { answers, at: 0 };
        assert_eq!((answers.of(7, 2), answers.of(7, 1), answers.of(7, 5)), (Some(both(2)), Some(both(1)), None));
        // Document 3 has no answer, but the answers for document 9 are still found. The answer `None` marks a copy.
        assert_eq!((answers.of(3, 1), answers.of(9, 2), answers.of(9, 1)), (None, Some(None), Some(both(3))));
        assert_eq!(Answers::default().of(7, 1), None);
    }
}
