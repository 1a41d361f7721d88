//! Determines verdicts from spans: the score of each item in each document, the relation of document and item, and the public items.

use super::found::{FoundSpans, Span};
use super::reference::Reference;
use super::search::Searched;
use super::{Contaminated, LISTED, NEARLY};
use dupsift_contamination::{Item, Items, Weights};
use dupsift_core::error::Result;
use dupsift_engine::pass::Session;
use serde::{Deserialize, Serialize};

/// The share of a variant's words that its score counts. A variant therefore scores less than any listed leak.
const OF_VARIANT: f64 = 0.5;

/// The relation of a document to an item that it contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Relation {
    /// The document contains the item.
    #[default]
    Leak,
    /// The document contains the item's words with other numbers.
    Variant,
    /// The document contains a public item, neither with its answer nor with another item.
    Public,
}

impl Relation {
    /// Returns the name of the relation in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Relation::Leak => "leak",
            Relation::Variant => "variant",
            Relation::Public => "public",
        }
    }
}

/// Summarizes an item's occurrences after all documents have been searched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    /// The number of documents in which the item's score is at least [`NEARLY`], and the number of documents in which the score is at least
    /// [`LISTED`].
    pub documents: [u64; 2],
    /// The number of documents that contain a variant of the item.
    pub variants: u64,
    /// The item's highest score.
    pub score: f64,
    /// The number of documents with different words, not counting numbers, that contain the item, but neither its answer nor another item.
    bare: u64,
}

/// Holds the verdicts for a corpus.
pub(crate) struct Verdicts<'v> {
    found: &'v FoundSpans,
    items: &'v Items,
    weights: &'v Weights,
    /// The number of documents above which an item is public.
    public_documents: u64,
    /// The tally of each item.
    pub tallies: Vec<Tally>,
}

/// Holds a document that contains an item, and the score of the item in that document.
pub(crate) struct Verdict {
    /// The number of the document.
    pub doc: u64,
    /// The item.
    pub item: Item,
    /// The score of the best span.
    pub score: f64,
    /// The relation of the document to the item.
    pub relation: Relation,
    /// The number of the best span, or of the first of several equally good spans.
    pub best: usize,
    /// All spans of the item in the document.
    pub spans: Vec<Span>,
}

impl Verdict {
    /// Returns the best span.
    pub(crate) fn best(&self) -> &Span {
        &self.spans[self.best]
    }
}

impl<'v> Verdicts<'v> {
    /// Scores all spans.
    ///
    /// # Errors
    /// Returns an error if the run is interrupted.
    pub(crate) fn new(
        session: &Session<'_>,
        options: &Contaminated,
        reference: &'v Reference,
        searched: &'v Searched,
    ) -> Result<Verdicts<'v>> {
        let running = session.engine.clock.stage("score");
        let copies = searched.found.copies(session)?;
        let mut verdicts = Verdicts {
            found: &searched.found,
            items: &reference.items,
            weights: &searched.weights,
            public_documents: options.public_documents,
            tallies: Vec::new(),
        };
        let mut tallies = vec![Tally::default(); reference.items.len()];
        verdicts.each_document(session, &mut |of_doc| {
            for verdict in of_doc {
                let tally = &mut tallies[verdict.item as usize];
                tally.score = tally.score.max(verdict.score);
                if verdict.relation == Relation::Variant {
                    tally.variants += u64::from(verdict.score >= LISTED * OF_VARIANT);
                    continue;
                }
                tally.documents[0] += u64::from(verdict.score >= NEARLY);
                tally.documents[1] += u64::from(verdict.score >= LISTED);
                let is_bare = verdict.relation == Relation::Public && verdict.score >= LISTED;
                tally.bare += u64::from(is_bare && !copies.get(verdict.doc as usize));
            }
            Ok(())
        })?;
        verdicts.tallies = tallies;
        running.end(searched.found.rows(), reference.items.len() as u64, 0);
        Ok(verdicts)
    }

    /// Returns whether so many documents contain an item, without its answer and without other items, that it is public.
    pub(crate) fn is_public(&self, item: Item) -> bool {
        self.tallies[item as usize].bare > self.public_documents
    }

    /// Calls `each` with the verdicts of each document, in order. The relation is [`Relation::Public`] if the document would be kept in
    /// case the item is public.
    fn each_document(&self, session: &Session<'_>, each: &mut dyn FnMut(Vec<Verdict>) -> Result<()>) -> Result<()> {
        let mut of_doc: Vec<Verdict> = Vec::new();
        let mut pass = |of_doc: &mut Vec<Verdict>| {
            set_bare(of_doc);
            each(std::mem::take(of_doc))
        };
        self.found.each(session, |doc, item, spans| {
            if of_doc.first().is_some_and(|first| first.doc != doc) {
                pass(&mut of_doc)?;
            }
            let scores = spans.iter().map(|span| self.score(item, span));
            let (best, score) = scores.enumerate().fold(
                (0, f64::MIN),
                |best, (at, score)| {
                    if score > best.1 { (at, score) } else { best }
                },
            );
            let relation = if spans[best].is_variant { Relation::Variant } else { Relation::Leak };
            of_doc.push(Verdict { doc, item, score, relation, best, spans: spans.to_vec() });
            Ok(())
        })?;
        if of_doc.is_empty() { Ok(()) } else { pass(&mut of_doc) }
    }

    /// Returns the score of a span, as written to tables.
    pub(crate) fn score(&self, item: Item, span: &Span) -> f64 {
        let share = self.items.score(item, &span.covered, &span.unread, self.weights);
        f64::from((if span.is_variant { OF_VARIANT * share } else { share }) as f32)
    }

    /// Calls `each` for every document and each item that is listed for the document, ordered by document, then by item.
    ///
    /// # Errors
    /// Returns any error from `each`, or an error if the run is interrupted.
    pub(crate) fn each(&self, session: &Session<'_>, each: &mut dyn FnMut(Verdict) -> Result<()>) -> Result<()> {
        self.each_document(session, &mut |of_doc| {
            for mut verdict in of_doc {
                if verdict.relation == Relation::Public && !self.is_public(verdict.item) {
                    verdict.relation = Relation::Leak;
                }
                let least = if verdict.relation == Relation::Variant { LISTED * OF_VARIANT } else { LISTED };
                if verdict.score >= least {
                    each(verdict)?;
                }
            }
            Ok(())
        })
    }
}

/// Sets the relation of items whose answer is not in the document to [`Relation::Public`], unless the document contains two items in
/// different places: such a document holds a part of the evaluation set.
fn set_bare(of_doc: &mut [Verdict]) {
    let places = of_doc.iter().filter(|verdict| verdict.relation == Relation::Leak && verdict.score >= NEARLY);
    let places: Vec<[u32; 2]> = places.map(|verdict| verdict.best().tokens).collect();
    let (first_end, last_start) =
        (places.iter().map(|place| place[1]).min(), places.iter().map(|place| place[0]).max());
    if first_end.zip(last_start).is_some_and(|(end, start)| end <= start) {
        return;
    }
    for verdict in of_doc.iter_mut().filter(|verdict| verdict.relation == Relation::Leak) {
        if verdict.spans.iter().all(|span| span.answer_found != Some(true)) {
            verdict.relation = Relation::Public;
        }
    }
}
