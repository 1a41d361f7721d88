//! Evaluates the run as a whole: the pairs that determine which documents are removed, and the removed documents themselves.

use std::iter::Peekable;

use super::clusters::EvaluatedClusters;
use super::evaluation::{EvaluatedReport, FiguresReport, LabeledRemovals};
use super::pairs::measure_pairs;
use super::texts::Texts;
use super::truth::Truth;
use super::truth::files::Label;
use crate::confidence::wilson;
use crate::finished::Finished;
use dupsift_algorithms::measure::Retrieval;
use dupsift_algorithms::steps::connect::Forest;
use dupsift_core::error::{Error, Result};
use dupsift_engine::classes::Link;
use dupsift_engine::engine::numbers::Numbers;
use dupsift_engine::job::decide::Deciding;
use dupsift_engine::options::RunOptions;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::Sorted;
use dupsift_tables::{Clustered, PairFound};

/// The labels of the two additional rows; no algorithm can have such a label.
const RUN: &str = "(run)";
const REMOVED: &str = "(removed)";

/// Evaluates the pairs that determine which documents are removed. If a single algorithm decides, these are the pairs of that algorithm.
pub(crate) fn run(
    session: &Session<'_>,
    finished: &Finished,
    options: &RunOptions,
    (truth, texts): (&Truth, &Texts),
    algorithms: &[EvaluatedReport],
) -> Result<EvaluatedReport> {
    let labels: Vec<&str> = algorithms.iter().map(|one| one.label.as_str()).collect();
    let deciding = Deciding::new(&options.removal.decide, &labels);
    if let [only] = deciding.chosen[..] {
        return Ok(EvaluatedReport { label: RUN.into(), ..algorithms[only].clone() });
    }
    let not_written = deciding.chosen.iter().map(|&at| algorithms[at].pairs_not_written).sum();
    let mut report =
        EvaluatedReport { label: RUN.into(), pairs_not_written: not_written, ..EvaluatedReport::default() };
    let found = || agreed(finished, &deciding);
    measure_pairs(session, (found()?, &finished.dir().join("pairs")), (truth, texts), &mut report)?;
    report.pairwise = Retrieval::of_counts(report.pairs_true, report.pairs, truth.report.pairs).into();
    report.pagewise = Retrieval::of_counts(report.pages_true, report.pages, truth.report.pages).into();
    if not_written > 0 {
        report.pairwise = FiguresReport { precision: report.pairwise.precision, ..FiguresReport::default() };
        report.pagewise = FiguresReport::default();
    }
    let documents = session.documents();
    let mut parents = Numbers::new(session.engine.dir, "run-parents", documents as usize, documents)?;
    let mut forest = Forest::new(parents.slots());
    for pair in found()? {
        session.engine.go_on()?;
        let pair = pair?;
        forest.union(pair.a, pair.b);
    }
    let link = Link::new(session);
    let shuffle = link.shuffle(session, "run-clusters", 0)?;
    let mut writer = shuffle.writer();
    (0..documents).try_for_each(|doc| link.push(&mut writer, forest.root(doc), doc))?;
    writer.flush()?;
    drop(writer);
    let (sorted, table) = (shuffle.finish()?, finished.dir().join("pairs"));
    let rows = clusters(session, &sorted, false);
    let clusters = EvaluatedClusters::of(session, finished, (truth, texts), (RUN, &table), rows, false)?;
    (report.b_cubed, report.ari) = (clusters.partitions.b_cubed().into(), clusters.partitions.ari());
    Ok(report)
}

/// Measures the quality of the removal. Each kept document forms a cluster with the documents that are removed in favor of it.
pub(crate) fn removed(
    session: &Session<'_>,
    finished: &Finished,
    (truth, texts): (&Truth, &Texts),
) -> Result<EvaluatedReport> {
    let link = Link::new(session);
    let shuffle = link.shuffle(session, "removed-clusters", 0)?;
    let mut writer = shuffle.writer();
    let table = finished.dir().join("removed/part-00000.parquet");
    for row in finished.removals()? {
        let row = row?;
        if row.doc.max(row.kept) >= session.documents() {
            let why = format!("it refers to documents {} and {}, but the run had fewer documents", row.doc, row.kept);
            return Err(Error::BadFile { path: table, why });
        }
        // The first document of a cluster is also removed with `--keep none`, and has its own row.
        if row.doc != row.kept {
            link.push(&mut writer, row.kept, row.doc)?;
        }
    }
    writer.flush()?;
    drop(writer);
    let sorted = shuffle.finish()?;
    let rows = clusters(session, &sorted, true);
    let clusters = EvaluatedClusters::of(session, finished, (truth, texts), (REMOVED, &table), rows, true)?;
    let mut report = EvaluatedReport { label: REMOVED.into(), ..EvaluatedReport::default() };
    report.pairs_undecided = clusters.undecided_pairs(session, truth)?;
    (report.pairs, report.pages) = (clusters.pairs.saturating_sub(report.pairs_undecided), clusters.pages);
    (report.pairs_true, report.pages_true) = clusters.true_pairs(session, (truth, texts))?;
    report.pairwise = Retrieval::of_counts(report.pairs_true, report.pairs, truth.report.pairs).into();
    report.pagewise = Retrieval::of_counts(report.pages_true, report.pages, truth.report.pages).into();
    (report.b_cubed, report.ari) = (clusters.partitions.b_cubed().into(), clusters.partitions.ari());
    Ok(report)
}

/// Counts the removals that are labeled; `None` if the truth has no labels, or if it is a list of true pairs.
pub(crate) fn labeled(session: &Session<'_>, finished: &Finished, truth: &Truth) -> Result<Option<LabeledRemovals>> {
    if !truth.report.has_labels || finished.report.removal.is_none() {
        return Ok(None);
    }
    let mut counts = LabeledRemovals::default();
    for removal in finished.removals()? {
        session.engine.go_on()?;
        let removal = removal?;
        if !matches!(removal.reason, "pair" | "chain") || removal.doc == removal.kept {
            continue;
        }
        counts.removals += 1;
        match truth.label(removal.doc, removal.kept) {
            Some(Label::Duplicate) => counts.right += 1,
            Some(Label::Different) => counts.wrong += 1,
            Some(Label::Unsure | Label::Empty) => counts.undecided += 1,
            None => {}
        }
    }
    // A list of true pairs names pairs that are no removals, and no wrong ones. It says nothing about the removals that are not in it.
    if truth.report.different_rows == 0 && truth.report.pairs > counts.right {
        return Ok(None);
    }
    let decided = counts.right + counts.wrong;
    if decided > 0 {
        let number = wilson(counts.right, decided, counts.removals);
        counts.precision = Some(number.value);
        counts.interval = Some([number.low, number.high]);
    }
    Ok(Some(counts))
}

/// Returns the documents in clusters of two or more documents, from rows of (first document, other document). `adds_first` must be set if
/// no row has the first document as its other document.
fn clusters<'s>(
    session: &'s Session<'_>,
    sorted: &'s Sorted,
    adds_first: bool,
) -> impl Iterator<Item = Result<Clustered>> + use<'s> {
    let rows = (0..sorted.partitions()).map(move |partition| clusters_of(session, sorted, partition, adds_first));
    rows.flat_map(|rows| match rows {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    })
}

fn clusters_of(session: &Session<'_>, sorted: &Sorted, partition: usize, adds_first: bool) -> Result<Vec<Clustered>> {
    let (link, mut rows) = (Link::new(session), Vec::new());
    let records = sorted.load(partition, session.engine.budget.a_thread)?;
    for group in records.groups() {
        session.engine.go_on()?;
        let (first, size) = (link.read(records.record(group.start)).0, group.len() as u64 + u64::from(adds_first));
        if size < 2 {
            continue;
        }
        let row = |doc| Clustered { doc, size, is_representative: doc == first, similarity: None };
        rows.extend(adds_first.then(|| row(first)));
        rows.extend(group.map(|at| row(link.read(records.record(at)).1)));
    }
    Ok(rows)
}

/// Returns the pairs that enough of the deciding algorithms found, in document order.
fn agreed(finished: &Finished, deciding: &Deciding) -> Result<impl Iterator<Item = Result<PairFound>> + use<>> {
    let labels = deciding.chosen.iter().map(|&at| &finished.report.algorithms[at].label);
    let mut all = labels.map(|label| Ok(finished.pairs(label)?.peekable())).collect::<Result<Vec<_>>>()?;
    let needed = deciding.needed;
    Ok(std::iter::from_fn(move || {
        loop {
            match next(&mut all) {
                Ok((_, 0)) => return None,
                Ok((pair, count)) if count >= needed => return Some(Ok(pair)),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }))
}

/// Takes the smallest pair among the next pairs of all tables, and returns it with the number of tables that contain it. The
/// number is 0 if all tables are exhausted.
fn next<I: Iterator<Item = Result<PairFound>>>(all: &mut [Peekable<I>]) -> Result<(PairFound, usize)> {
    let mut least: Option<(u64, u64)> = None;
    for table in &mut *all {
        match table.peek() {
            Some(Ok(pair)) if least.is_none_or(|least| (pair.a, pair.b) < least) => least = Some((pair.a, pair.b)),
            Some(Err(_)) => table.next().transpose().map(drop)?,
            _ => {}
        }
    }
    let Some((a, b)) = least else { return Ok((PairFound { a: 0, b: 0, similarity: 0.0 }, 0)) };
    let is_it = |found: &Result<PairFound>| found.as_ref().is_ok_and(|pair| (pair.a, pair.b) == (a, b));
    let have = all.iter_mut().filter_map(|table| table.next_if(is_it)).collect::<Result<Vec<_>>>()?;
    let similarity = have.iter().map(|pair| pair.similarity).fold(0.0, f32::max);
    Ok((PairFound { a, b, similarity }, have.len()))
}
