//! Makes a pass over the documents in one task, with the code of the local driver, and emits the rows as blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;

use serde::{Deserialize, Serialize};

use super::cluster::Pass;
use super::evidence::evidence;
use super::kind::{Kind, What};
use super::known::Known;
use super::learn::learn;
use super::opened::{Layout, Machine, Opened};
use super::spool::{Blocks, Spool};
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::steps::bound::Bound;
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::Sketches as _;
use dupsift_engine::job::AlgorithmReport;
use dupsift_engine::job::algorithm_state::AlgorithmState;
use dupsift_engine::job::read::count::{Counting, Totals};
use dupsift_engine::job::read::intake::{Intake, Taken, Took};
use dupsift_engine::job::read::reading::{Asked, Share, read};
use dupsift_engine::job::read::sign::{SignedRows, Signing};
use dupsift_engine::reading::content_hashes::Sum;
use dupsift_engine::reading::document::View;
use dupsift_engine::reading::keep_column::Tally as ColumnTally;
use dupsift_engine::reading::parts::put;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::Sorted;

/// Holds the counts of a task. The sums over all tasks are the counts of the corpus.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Tally {
    /// The data recorded for rows.
    pub took: Took,
    /// The number of rows without text.
    pub rejected: u64,
    /// The hashes of the file contents that were read, by file position.
    pub contents: BTreeMap<usize, Sum>,
    /// The types of values in the columns of `--keep`.
    pub keep: Vec<ColumnTally>,
    /// The totals for the statistics.
    pub counted: Totals,
    /// The number of Han characters that were segmented with the dictionary.
    pub segmented: u64,
    /// The reports of the algorithms that signed documents, with their positions in the recipe.
    pub reports: Vec<(usize, AlgorithmReport)>,
}

/// The number of documents whose notes are emitted together.
const NOTED: u64 = 4096;

/// Makes a pass over the documents of one task.
///
/// # Errors
/// Returns an error if files are damaged, if the disk is full, or if a row is invalid and `strict` is set.
pub fn map(opened: &Opened, pass: &Pass, known: &Known, task: usize, dir: &Path) -> Result<Blocks> {
    if pass.contents || !pass.evidence.is_empty() {
        return evidence(opened, pass, known, task, dir);
    }
    if pass.learns {
        return learn(opened, known, task, dir);
    }
    let machine = Machine::new(&opened.options)?;
    let engine = machine.engine(dir);
    let session = opened.task(&engine, task)?;
    let recipe = &opened.options.recipe;
    let corpus = Corpus::new(session.documents(), &known.stats);
    let bound = recipe.bind_where(&corpus, &known.models, |at| pass.signs.contains(&at))?;
    let view = if pass.after_count { View::after_count(&session, None, &known.stats) } else { View::first(&session) };
    let copies = known.copies.as_ref();
    let plan = Plan::new(recipe, session.documents(), false, false)?;
    let needs = plan.counts.map(|counts| counts.needs).unwrap_or_default();
    let counting = pass.counts.then(|| Counting::of_part(&session, needs)).transpose()?;
    let intake = pass.notes.then(|| Intake::new(&session, copies.is_none())).transpose()?;
    let signing = Signing::new(&session, &bound, copies, None, None)?;
    let asked = Asked {
        intake: intake.as_ref(),
        counting: counting.as_ref(),
        signing: Some(&signing),
        copies,
        ..Asked::default()
    };
    let Share { took, counted, signed } = read(&session, "read a task", &view.with_copies(copies), asked)?;
    let mut out = Out { session: &session, layout: &opened.layout, spool: Spool::new(dir)? };
    let mut tally = Tally { segmented: session.segmented.load(Relaxed), ..Tally::default() };
    if let Some(intake) = intake {
        (tally.keep, tally.took) = (intake.tallies(), took.clone());
        let (taken, ids) = intake.end(took)?;
        let of_task = taken.contents.iter().copied().enumerate().filter(|(_, sum)| *sum != Sum::default());
        tally.contents = of_task.collect();
        out.notes(taken, &ids, &mut tally)?;
    }
    if let Some(counting) = counting {
        tally.counted = counted;
        for (counts, what) in counting.end()?.into_iter().zip([What::Words, What::Features]) {
            counts.map_or(Ok(()), |counts| out.rows(&counts, Kind::of(what)))?;
        }
    }
    let signed = signing.finish(signed)?;
    for ((at, bound), rows) in pass.signs.iter().zip(bound).zip(signed) {
        tally.reports.push((*at, out.signed(*at, bound, rows)?));
    }
    let tally = serde_json::to_vec(&tally).map_err(Error::table("report what a task counted"))?;
    let mut line = Vec::new();
    put(&tally, &mut line);
    out.spool.push(Kind::of(What::Tally), 0, &line)?;
    out.spool.finish()
}

/// Collects the output of a task.
struct Out<'o> {
    session: &'o Session<'o>,
    layout: &'o Layout,
    spool: Spool,
}

impl Out<'_> {
    /// Returns the documents of the task, as ranges.
    fn documents(&self) -> impl Iterator<Item = std::ops::Range<u64>> + use<> {
        let most = self.session.documents();
        let splits: Vec<_> = self.session.part.iter().flatten().map(|split| (split.first_doc, split.rows)).collect();
        splits.into_iter().flat_map(move |(first, rows)| {
            let end = (first + rows).min(most);
            (first..end).step_by(NOTED as usize).map(move |begin| begin..(begin + NOTED).min(end))
        })
    }

    fn notes(&mut self, taken: Taken, ids: &Sorted, tally: &mut Tally) -> Result<()> {
        let mut bytes = Vec::new();
        for docs in self.documents() {
            bytes.clear();
            taken.put_part(docs, &mut bytes);
            self.spool.push(Kind::of(What::Notes), 0, &bytes)?;
        }
        let spool = &mut self.spool;
        taken.rejected.each(self.session.engine, |doc, reason, detail| {
            bytes.clear();
            bytes.extend_from_slice(&doc.to_le_bytes());
            bytes.extend_from_slice(&u32::from(reason.code()).to_le_bytes());
            put(detail.as_bytes(), &mut bytes);
            tally.rejected += 1;
            spool.push(Kind::of(What::Rejected), 0, &bytes)
        })?;
        self.rows(ids, Kind::of(What::Ids))?;
        taken.hashes.map_or(Ok(()), |hashes| self.rows(&hashes, Kind::of(What::Copies)))
    }

    /// Emits rows to the buckets of their groups.
    fn rows(&mut self, sorted: &Sorted, kind: Kind) -> Result<()> {
        self.rows_and(sorted, kind, |_, _| ())
    }

    /// Works like [`Out::rows`], but also calls `look` with the rows of each group.
    fn rows_and(&mut self, sorted: &Sorted, kind: Kind, mut look: impl FnMut(u32, &[u8])) -> Result<()> {
        let (width, group_width) = sorted.widths();
        for partition in 0..sorted.partitions() {
            let records = sorted.load(partition, self.session.engine.budget.a_thread)?;
            for group in records.groups() {
                let rows = &records.bytes()[group.start * width..group.end * width];
                let bucket = self.layout.bucket(&rows[..group_width]);
                look(bucket, rows);
                self.spool.push_all(kind, bucket, rows, width)?;
            }
            sorted.remove(partition)?;
        }
        Ok(())
    }

    /// Emits the rows of an algorithm with its evidence and sketches, and returns its report.
    fn signed(&mut self, at: usize, bound: Bound<'_>, signed: SignedRows) -> Result<AlgorithmReport> {
        let words = bound.scheme.sketch_words;
        let text_bytes = self.session.part.iter().flatten().map(|split| split.text_bytes).sum();
        let chosen = &self.session.options.recipe.algorithms[at];
        let AlgorithmState { report, now, .. } = AlgorithmState::signed(bound, chosen, signed, text_bytes);
        let mut row = Vec::new();
        for doc in self.documents().flatten() {
            if let Some(evidence) = &now.evidence {
                let numbers = evidence.of(doc);
                if !numbers.is_empty() {
                    row.clear();
                    row.extend_from_slice(&doc.to_le_bytes());
                    put(bytemuck::cast_slice(&numbers), &mut row);
                    self.spool.push(Kind::algorithm(What::Evidence, at), 0, &row)?;
                }
            }
        }
        let mut meets = BTreeSet::new();
        let kind = Kind::algorithm(What::Rows, at);
        self.rows_and(&now.rows, kind, |bucket, rows| {
            if words > 0 {
                let docs = rows.chunks_exact(now.layout.width()).map(|row| now.layout.decode(row).doc);
                meets.extend(docs.map(|doc| (bucket, doc)));
            }
        })?;
        // The sketch of a document is sent once to each bucket that contains one of its rows.
        let mut sketch = vec![0; words];
        for (bucket, doc) in meets {
            let Some(sketches) = &now.sketches else { break };
            sketches.copy(doc, &mut sketch);
            row.clear();
            row.extend_from_slice(&doc.to_le_bytes());
            row.extend_from_slice(bytemuck::cast_slice(&sketch));
            self.spool.push(Kind::algorithm(What::Sketches, at), bucket, &row)?;
        }
        Ok(report)
    }
}
