//! Checks joins whose number of comparisons depends on the words in the corpus. The number is estimated from a sample. The driver signs and
//! compares the documents in the sample after terms have been counted and before the cluster signs anything.
//!
//! ```text
//! comparisons in the corpus = those in the sample * N (N - 1) / (n (n - 1))       N, n: documents without extra copies
//! ```

use std::sync::Arc;

use super::driver::Driver;
use super::refused::{MOST_COMPARED, all_with_all_of};
use dupsift_algorithms::algorithm::{Corpus, Growth};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::splitmix64;
use dupsift_core::number::thousands;
use dupsift_core::row::Sketches;
use dupsift_engine::classes::Classes;
use dupsift_engine::engine::checkpoints::Merge as _;
use dupsift_engine::job::pair::group::compare_part;
use dupsift_engine::job::read::sign::{SignTallies, SignedRows, Signing, SigningThread};
use dupsift_engine::reading::document::View;
use dupsift_engine::session::Session;
use dupsift_input::{RowFilter, Split, Want};
use dupsift_tables::{Cell, Documents};

/// The approximate number of documents in a sample.
const SAMPLE: u64 = 4096;
/// The maximum number of equally spaced pieces of the files from which the sample is read.
const PIECES: usize = 64;
/// The approximate number of bytes of text in a piece.
const PIECE_BYTES: usize = 8 << 20;
const SEED: u64 = 0x5a;

struct Sample {
    pieces: Vec<Split>,
    docs: Arc<[u64]>,
}

impl Sample {
    fn of(session: &Session<'_>, copies: &Classes) -> Sample {
        let mut all = session.source.splits(PIECE_BYTES);
        all.retain(|split| split.first_doc < session.documents());
        let apart = all.len().div_ceil(PIECES).max(1);
        let pieces: Vec<Split> = all.into_iter().step_by(apart).collect();
        let docs_of = |split: &Split| split.first_doc..(split.first_doc + split.rows).min(session.documents());
        let there: u64 = pieces.iter().map(docs_of).map(|docs| docs.end - docs.start).sum();
        let is_drawn = |doc: &u64| splitmix64(SEED, *doc) % there < SAMPLE && !copies.is_extra_copy(*doc);
        let docs = pieces.iter().flat_map(docs_of).filter(is_drawn).collect();
        Sample { pieces, docs }
    }

    /// Scales the comparisons in the sample to a corpus with this many documents.
    fn scaled(&self, comparisons: u64, documents: u64) -> f64 {
        let pairs = |documents: u64| documents as f64 * documents.saturating_sub(1) as f64;
        let own = pairs(self.docs.len() as u64);
        if own > 0.0 { comparisons as f64 * (pairs(documents) / own) } else { 0.0 }
    }
}

impl Driver<'_> {
    /// Rejects an algorithm if its average number of comparisons per document would exceed the limit for joins that compare all documents
    /// with each other.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the number of comparisons and a suggestion, or an error if files are damaged or the disk is full.
    pub(crate) fn check_sampled(&self, stats: &CorpusStats, copies: &Classes, missing: &[usize]) -> Result<()> {
        let reader = self.session;
        if reader.documents() <= MOST_COMPARED {
            return Ok(());
        }
        let corpus = Corpus::new(reader.documents(), stats);
        let mut bound = reader.options.recipe.bind_where(&corpus, &[], |at| missing.contains(&at))?;
        bound.retain(|bound| matches!(bound.scheme.growth, Growth::MayBeQuadratic { .. }));
        if bound.is_empty() {
            return Ok(());
        }
        let running = self.session.engine.clock.stage("compare a sample");
        let sample = Sample::of(reader, copies);
        let documents = reader.documents() - copies.extra_copies();
        let comparisons = self.comparisons(&sample, &bound, stats, copies)?;
        running.end(sample.docs.len() as u64, comparisons.iter().sum(), 0);
        for (bound, comparisons) in bound.iter().zip(comparisons) {
            let Growth::MayBeQuadratic { instead } = bound.scheme.growth else { continue };
            let all = sample.scaled(comparisons, documents);
            if all > all_with_all_of(MOST_COMPARED) / MOST_COMPARED as f64 * documents as f64 {
                return Err(Error::usage(format!(
                    "{} would need about {all:.1e} comparisons, judging by a sample of {} documents: each document is compared with {} others, but a cluster run supports at most {}; use {instead}, or run on one machine (dupsift run)",
                    bound.label,
                    thousands(sample.docs.len() as u64),
                    thousands((2.0 * all / documents as f64) as u64),
                    thousands(MOST_COMPARED - 1),
                )));
            }
        }
        Ok(())
    }

    /// Returns the number of comparisons that each algorithm makes in the sample.
    fn comparisons(
        &self,
        sample: &Sample,
        bound: &[Bound<'_>],
        stats: &CorpusStats,
        copies: &Classes,
    ) -> Result<Vec<u64>> {
        let session = self.session.of_pieces(sample.pieces.clone());
        let view = match self.plan.counts {
            Some(_) => View::after_count(&session, None, stats),
            None => View::first(&session),
        };
        let view = view.with_copies(Some(copies));
        let signing = Signing::new(&session, bound, Some(copies), None, None)?;
        let each = |thread: &mut SigningThread<'_>, batch: &Documents| {
            let columns = view.columns(batch)?;
            for at in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(at), batch.text(at)) else { continue };
                let _long = session.engine.long_document(View::bytes(text, &columns, at))?;
                signing.sign(thread, doc, &view.document(doc, text, &columns, at), text.len() as u64)?;
            }
            Ok(())
        };
        let want = Want { rows: Some(RowFilter::Docs(sample.docs.clone())), ..view.want() };
        let tallies = session.read("read a sample", &want, || Ok(signing.thread()), each, Signing::close)?;
        let compare = |(bound, signed): (&Bound<'_>, SignedRows)| {
            let sketches = signed.sketches.as_ref().map(|sketches| sketches as &(dyn Sketches + Sync));
            let rows = (&signed.rows, signed.layout);
            let (_, counts) = compare_part(&session, bound, rows, Some(copies), sketches)?;
            Ok(counts.made + counts.left_out)
        };
        bound.iter().zip(signing.finish(SignTallies::of_all(tallies))?).map(compare).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_algorithms::algorithm::ALGORITHMS;
    use dupsift_algorithms::recipe::Recipe;

    #[test]
    fn comparisons_grow_with_the_pairs() {
        let sample = Sample { pieces: Vec::new(), docs: (0..5).collect() };
        // Five documents form 10 pairs, and ten documents form 45 pairs.
        assert_eq!((sample.scaled(2, 10), sample.scaled(10, 10), sample.scaled(0, 10)), (9.0, 45.0, 0.0));
        for few in [0, 1] {
            assert_eq!(Sample { pieces: Vec::new(), docs: (0..few).collect() }.scaled(0, 10), 0.0);
        }
    }

    #[test]
    fn joins_by_words_are_sampled() {
        let is_sampled = |typed: &str| {
            let chosen = Recipe::parse_algorithms(typed).unwrap();
            let stats = CorpusStats::none();
            let signer = chosen[0].algorithm.signer(&chosen[0].params, &Corpus::new(1_000_000, &stats)).unwrap();
            matches!(signer.scheme().growth, Growth::MayBeQuadratic { .. })
        };
        let by_default: Vec<&str> = ALGORITHMS.iter().map(|one| one.name()).filter(|name| is_sampled(name)).collect();
        assert_eq!(by_default, ["cosine"]);
        assert!(is_sampled("cosine:preset=hanzi_cosine") && is_sampled("shingles:preset=contained"));
        assert!(!is_sampled("cosine:join=heavy") && !is_sampled("shingles:join=lsh"));
    }
}
