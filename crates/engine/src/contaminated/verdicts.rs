//! Determines verdicts from spans: the score of each item in each document, the public items, and the contaminated documents.

use super::found::{Found, Span};
use super::reference::Reference;
use super::search::Searched;
use super::{LISTED, NEARLY, PUBLIC};
use crate::session::Session;
use dupsift_contamination::{Item, Items, Weights};
use dupsift_core::error::Result;

/// Summarizes an item's occurrences after all documents have been searched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// The number of documents in which the item's score is at least [`NEARLY`], and the number of documents in which the score is at least
    /// [`LISTED`].
    pub documents: [u64; 2],
    /// The item's highest score.
    pub score: f64,
}

impl Tally {
    /// Returns whether the item is excluded because too many documents contain it.
    pub fn is_public(&self) -> bool {
        self.documents[1] > PUBLIC
    }
}

/// Holds the verdicts for a corpus.
pub struct Verdicts<'v> {
    found: &'v Found,
    items: &'v Items,
    weights: &'v Weights,
    /// The tally of each item.
    pub tallies: Vec<Tally>,
}

/// Holds a document that contains an item, and the score of the item in that document.
pub struct Verdict<'s> {
    /// The number of the document.
    pub doc: u64,
    /// The item.
    pub item: Item,
    /// The score of the best span.
    pub score: f64,
    /// The best span, or the first of several equally good spans.
    pub best: &'s Span,
    /// All spans of the item in the document.
    pub spans: &'s [Span],
}

impl<'v> Verdicts<'v> {
    /// Scores all spans.
    ///
    /// # Errors
    /// Returns an error if the run is interrupted.
    pub fn new(session: &Session<'_>, reference: &'v Reference, searched: &'v Searched) -> Result<Verdicts<'v>> {
        let running = session.engine.clock.stage("score");
        let mut verdicts = Verdicts {
            found: &searched.found,
            items: &reference.items,
            weights: &searched.weights,
            tallies: Vec::new(),
        };
        let mut tallies = vec![Tally::default(); reference.items.len()];
        verdicts.each_of_all(session, &mut |verdict| {
            let tally = &mut tallies[verdict.item as usize];
            tally.score = tally.score.max(verdict.score);
            tally.documents[0] += u64::from(verdict.score >= NEARLY);
            tally.documents[1] += u64::from(verdict.score >= LISTED);
            Ok(())
        })?;
        verdicts.tallies = tallies;
        running.end(searched.found.rows(), reference.items.len() as u64, 0);
        Ok(verdicts)
    }

    fn each_of_all(&self, session: &Session<'_>, each: &mut dyn FnMut(Verdict<'_>) -> Result<()>) -> Result<()> {
        self.found.each(session, |doc, item, spans| {
            let scores = spans.iter().map(|span| self.score(item, span));
            let best = scores.enumerate().fold(
                (0, f64::MIN),
                |best, (at, score)| {
                    if score > best.1 { (at, score) } else { best }
                },
            );
            each(Verdict { doc, item, score: best.1, best: &spans[best.0], spans })
        })
    }

    /// Returns the score of a span, as written to tables.
    pub fn score(&self, item: Item, span: &Span) -> f64 {
        f64::from(self.items.score(item, &span.covered, self.weights) as f32)
    }

    /// Calls `each` for every document and each non-public item that the document contains, ordered by document, then by item.
    ///
    /// # Errors
    /// Returns any error from `each`, or an error if the run is interrupted.
    pub fn each(&self, session: &Session<'_>, each: &mut dyn FnMut(Verdict<'_>) -> Result<()>) -> Result<()> {
        self.each_of_all(session, &mut |verdict| {
            let is_listed = verdict.score >= LISTED && !self.tallies[verdict.item as usize].is_public();
            if is_listed { each(verdict) } else { Ok(()) }
        })
    }
}
