//! Takes a run from the pairs of all algorithms to the removal decisions: expands the pairs, reads the ids and contents of their documents,
//! and decides.

use std::sync::Arc;

use super::decided::Decided;
use super::last_pass;
use crate::classes::Classes;
use crate::job::algorithm_state::{AlgorithmState, each};
use crate::job::pair::contents::{Alike, Contents};
use crate::job::pair::expand::{DocumentPairs, expand};
use crate::job::pair::group::Relation;
use crate::job::read::intake::Taken;
use crate::job::saved::SavedState;
use crate::reading::document::View;
use crate::reading::ids::Ids;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::AtomicBits;

/// Holds the data about the corpus.
#[derive(Clone, Copy)]
pub(crate) struct PairedCorpus<'c> {
    /// The data recorded about the rows.
    pub taken: &'c Taken,
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// The view through which documents are read.
    pub view: &'c View<'c>,
}

/// Holds the result of an algorithm, both for representatives and for documents.
pub(crate) struct Expanded {
    /// The relation between class representatives.
    pub relation: Relation,
    /// The pairs of documents.
    pub pairs: DocumentPairs,
}

/// Holds the pairs of documents and the removal decisions, before anything is written.
pub(crate) struct Decisions<'d> {
    /// The algorithms with their pairs.
    pub(crate) algorithms: Vec<AlgorithmState<'d, Expanded>>,
    /// The ids of the documents that appear in a table.
    pub ids: Ids<'d>,
    /// The removal decisions; `None` if nothing is removed.
    pub decided: Option<Decided>,
    /// The contents of documents, if they were compared.
    pub(crate) contents: Option<Contents>,
    /// The number of rejected rows of each file.
    pub(crate) rejected: Vec<u64>,
}

/// Expands the pairs of all algorithms, reads what is shown of their documents, and decides which documents are removed. `contents` holds the previously recorded document contents.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn decide<'d>(
    session: &Session<'d>,
    saved: &SavedState<'_>,
    algorithms: Vec<AlgorithmState<'d, Relation>>,
    contents: Contents,
    PairedCorpus { taken, copies, view }: PairedCorpus<'_>,
) -> Result<Decisions<'d>> {
    let shown = Arc::new(AtomicBits::new(session.engine.dir, "shown", session.documents() as usize)?);
    let alike = Alike::new(session, copies)?;
    let algorithms = each(algorithms, |bound, relation, report| {
        let pairs = expand(session, bound, &relation, &alike, &taken.columns.keep, &shown)?;
        pairs.note(report);
        if bound.verify().is_none() {
            report.candidates = relation.pairs.rows();
        }
        Ok(Expanded { relation, pairs })
    })?;
    let rejected = rejected_by_file(session, taken, &shown)?;
    let taking = alike.begin(session, contents)?;
    let (ids, contents) = last_pass::read(session, view, &taken.ids_named(session), &named(session, &shown)?, taking)?;
    let contents = contents.map(|contents| contents.offer(saved)).transpose()?;
    let relations: Vec<&Relation> = algorithms.iter().map(|algorithm| &algorithm.now.relation).collect();
    let decide = || super::decide(session, &relations, copies, &taken.columns.keep, &shown, contents.as_ref());
    let decided = session.options.removal.removes.then(decide).transpose()?;
    Ok(Decisions { algorithms, ids, decided, contents, rejected })
}

/// Returns the documents whose ids are read, that is, the documents that appear in a table. All indexed documents that take part may appear
/// in a table, even those in no pair: a removed document refers to the kept document at the end of its chain, and a cluster includes all
/// documents of a class.
fn named(session: &Session<'_>, shown: &Arc<AtomicBits>) -> Result<Arc<AtomicBits>> {
    let (indexed, annotates) = (session.indexed.as_ref(), session.options.names_all());
    if indexed.is_none_or(|indexed| indexed.count() == 0) && !annotates {
        return Ok(shown.clone());
    }
    let all = AtomicBits::new(session.engine.dir, "named", session.documents() as usize)?;
    let first = indexed.map_or(session.base, |indexed| indexed.first());
    let end = if annotates { session.documents() } else { session.base };
    (first as usize..end as usize).chain(shown.iter()).for_each(|doc| _ = all.set(doc));
    Ok(Arc::new(all))
}

/// Counts the rejected rows of each file and adds them to `shown`.
fn rejected_by_file(session: &Session<'_>, taken: &Taken, shown: &AtomicBits) -> Result<Vec<u64>> {
    let mut rows = vec![0; session.source.files.len()];
    taken.rejected.each(session.engine, |doc, _, _| {
        shown.set(doc as usize);
        rows[session.source.place(doc)] += 1;
        Ok(())
    })?;
    Ok(rows)
}
