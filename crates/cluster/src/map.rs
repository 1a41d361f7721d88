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
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::Sketches as _;
use dupsift_engine::job::AlgorithmReport;
use dupsift_engine::job::algorithm_state::AlgorithmState;
use dupsift_engine::job::read::count::{Counting, Totals};
use dupsift_engine::job::read::intake::{Intake, Taken, Took};
use dupsift_engine::job::read::keep_column::ValueCounts;
use dupsift_engine::job::read::one_pass::{Asked, Share, read};
use dupsift_engine::job::read::sign::{SignedRows, Signing};
use dupsift_engine::reading::document::View;
use dupsift_engine::reading::parts::put;
use dupsift_engine::session::Session;
use dupsift_engine::session::content_hashes::Sum;
use dupsift_spill::shuffle::Sorted;

/// Holds the counts of a task. The sums over all tasks are the counts of the corpus.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct TaskCounts {
    /// The data recorded for rows.
    pub took: Took,
    /// The number of rows without text.
    pub rejected: u64,
    /// The hashes of the file contents that were read, by file position.
    pub contents: BTreeMap<usize, Sum>,
    /// The types of values in the columns of `--keep`.
    pub keep: Vec<ValueCounts>,
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
    let mut tally = TaskCounts { segmented: session.segmented.load(Relaxed), ..TaskCounts::default() };
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

    fn notes(&mut self, taken: Taken, ids: &Sorted, tally: &mut TaskCounts) -> Result<()> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Step;
    use crate::opened::tasks;
    use crate::spool::Block;
    use crate::test_kit::{BUCKETS, Bench, all, rows_of};
    use dupsift_algorithms::corpus::{COUNT_GROUP, COUNT_WIDTH};
    use dupsift_algorithms::steps::copies;

    const GIVEN: [(&str, &str); 2] = [("algorithms", "exact,minhash,cosine:join=heavy"), ("keep", "score desc")];

    /// The first pass over a corpus whose words are counted.
    fn first() -> Pass {
        Pass { notes: true, counts: true, signs: vec![0, 1], ..Pass::default() }
    }

    fn number_of_tasks(opened: &Opened) -> usize {
        tasks(&opened.source, Bench::ROWS, opened.layout.task_bytes).len()
    }

    /// Returns the blocks of all tasks of a pass.
    fn mapped(bench: &Bench, opened: &Opened, pass: &Pass, known: &Known) -> Vec<Block> {
        let dir = bench.dir();
        (0..number_of_tasks(opened)).flat_map(|task| all(map(opened, pass, known, task, dir.path()).unwrap())).collect()
    }

    /// Parses the counts of tasks, without the times.
    fn tallies(blocks: &[Block]) -> Vec<TaskCounts> {
        let of_tallies = blocks.iter().filter(|block| block.kind.what == What::Tally);
        let parse = |block: &Block| {
            let mut tally: TaskCounts = serde_json::from_slice(&block.rows[4..]).unwrap();
            tally.reports.iter_mut().for_each(|(_, report)| report.sign_seconds = 0.0);
            tally
        };
        of_tallies.map(parse).collect()
    }

    #[test]
    fn a_task_that_is_repeated_gives_the_same_blocks() {
        let bench = Bench::new();
        let opened = bench.in_tasks(&GIVEN);
        assert!(number_of_tasks(&opened) > 3);
        let [one, other] = [(); 2].map(|()| mapped(&bench, &opened, &first(), &Known::none()));
        let rows = |blocks: &[Block]| -> Vec<Block> {
            blocks.iter().filter(|block| block.kind.what != What::Tally).cloned().collect()
        };
        assert!(rows(&one) == rows(&other));
        assert_eq!(format!("{:?}", tallies(&one)), format!("{:?}", tallies(&other)));
    }

    #[test]
    fn a_bucket_has_all_rows_of_its_groups_and_the_tasks_have_the_rows_of_one() {
        let bench = Bench::new();
        let (opened, whole) = (bench.in_tasks(&GIVEN), bench.opened(&GIVEN, u64::MAX));
        assert_eq!(number_of_tasks(&whole), 1);
        let (blocks, of_one) =
            (mapped(&bench, &opened, &first(), &Known::none()), mapped(&bench, &whole, &first(), &Known::none()));
        let used = Bench::ROWS - Bench::REJECTED.len() as u64;
        for (what, width, group, count) in
            [(What::Ids, 8, 8, Bench::ROWS), (What::Copies, copies::ROW, copies::GROUP, used)]
        {
            let rows = rows_of(&blocks, what, width);
            assert_eq!(rows, rows_of(&of_one, what, width), "{what:?}");
            assert_eq!(rows.len() as u64, count, "{what:?}");
            assert!(rows.iter().all(|(bucket, row)| *bucket == opened.layout.bucket(&row[..group])), "{what:?}");
            assert_eq!(rows.iter().map(|(bucket, _)| bucket).collect::<BTreeSet<_>>().len(), BUCKETS as usize);
        }
        // Words are counted by each task, so only the sums are equal.
        let sums = |blocks: &[Block]| {
            let mut sums: BTreeMap<Vec<u8>, [u64; 2]> = BTreeMap::new();
            for (bucket, row) in rows_of(blocks, What::Words, COUNT_WIDTH) {
                assert_eq!(bucket, opened.layout.bucket(&row[..COUNT_GROUP]));
                let (_, df, cf) = dupsift_algorithms::corpus::decode_count(&row);
                let sum = sums.entry(row[..COUNT_GROUP].to_vec()).or_default();
                (sum[0], sum[1]) = (sum[0] + u64::from(df), sum[1] + u64::from(cf));
            }
            sums
        };
        assert!(sums(&blocks) == sums(&of_one) && !sums(&blocks).is_empty());
        for at in [0, 1] {
            let width = rows_width(&opened, at);
            let of = |blocks: &[Block]| {
                let mut rows: Vec<(u32, Vec<u8>)> = Vec::new();
                for block in blocks.iter().filter(|block| block.kind == Kind::algorithm(What::Rows, at)) {
                    rows.extend(block.rows.chunks_exact(width).map(|row| (block.bucket, row.to_vec())));
                }
                rows.sort_unstable();
                rows
            };
            assert!(of(&blocks) == of(&of_one) && !of(&blocks).is_empty(), "{at}");
        }
    }

    fn rows_width(opened: &Opened, at: usize) -> usize {
        let stats = dupsift_algorithms::corpus::CorpusStats::none();
        let bound = opened.options.recipe.bind(&Corpus::new(Bench::ROWS, &stats), &[]).unwrap();
        bound[at].layout(Bench::ROWS).width()
    }

    #[test]
    fn the_counts_of_tasks_add_up_to_those_of_the_corpus() {
        let bench = Bench::new();
        let (opened, whole) = (bench.in_tasks(&GIVEN), bench.opened(&GIVEN, u64::MAX));
        let all = tallies(&mapped(&bench, &opened, &first(), &Known::none()));
        let [one] = &tallies(&mapped(&bench, &whole, &first(), &Known::none()))[..] else { panic!("one task") };
        assert_eq!(all.len(), number_of_tasks(&opened));
        assert_eq!(all.iter().map(|tally| tally.rejected).sum::<u64>(), Bench::REJECTED.len() as u64);
        let used = |tally: &TaskCounts| [tally.took.used, tally.took.text_bytes, tally.took.without_words];
        let sum = all.iter().map(used).reduce(|a, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]).unwrap();
        assert_eq!(sum, used(one));
        for at in [0, 1] {
            let signed =
                |tally: &TaskCounts| (tally.reports[at].0, tally.reports[at].1.signed, tally.reports[at].1.rows);
            let sum = all.iter().map(signed).reduce(|a, b| (a.0, a.1 + b.1, a.2 + b.2)).unwrap();
            assert_eq!(sum, signed(one));
        }
        // A task reports the hashes of only those files that it reads.
        assert!(all.iter().all(|tally| !tally.contents.is_empty() && tally.contents.len() < 3), "{all:?}");
    }

    /// Checks an algorithm that compares sketches. A bucket must have the sketch of each of its documents once.
    #[test]
    fn a_bucket_has_the_sketches_of_its_documents_once() {
        let bench = Bench::new();
        let opened = bench.in_tasks(&GIVEN);
        let counted = mapped(&bench, &opened, &first(), &Known::none());
        let summed: Vec<Block> = counted
            .into_iter()
            .filter(|block| crate::sum::SUMMED.iter().any(|(what, ..)| *what == block.kind.what))
            .collect();
        let dir = bench.dir();
        let summed = crate::test_kit::reduced(&opened, &Step::Sum, &Known::none(), &summed, dir.path()).unwrap();
        let known = crate::test_kit::with_session(&opened, dir.path(), |session| {
            let cluster = crate::test_kit::InProcess::new(&opened.options, dir.path(), crate::test_kit::Fault::None);
            let frame = cluster.keep(summed);
            let (_, copies, [words, features]) = crate::gather::sums(session, &cluster, frame).unwrap();
            let stats = dupsift_algorithms::corpus::CorpusStats::new(88, 88 * 60, 1, words, features);
            let facts = crate::known::Facts { copies: Some(&copies), stats: &stats, models: &[], places: None };
            let path = bench.at("known");
            crate::known::write(&path, session, facts).unwrap();
            Known::read(&path, &opened, dir.path()).unwrap()
        });
        let pass = Pass { after_count: true, signs: vec![2], ..Pass::default() };
        let blocks = mapped(&bench, &opened, &pass, &known);
        let bound = opened.options.recipe.bind(&Corpus::new(Bench::ROWS, &known.stats), &[]).unwrap();
        let layout = bound[2].layout(Bench::ROWS);
        let rows = rows_of(&blocks, What::Rows, layout.width());
        let expected: BTreeSet<(u32, u64)> =
            rows.iter().map(|(bucket, row)| (*bucket, layout.decode(row).doc)).collect();
        let words = bound[2].scheme.sketch_words;
        assert!(words > 0 && expected.len() > 20, "{words} {}", expected.len());
        let sketches = rows_of(&blocks, What::Sketches, 8 + 8 * words);
        let doc = |row: &[u8]| u64::from_le_bytes(row[..8].try_into().unwrap());
        let found: Vec<(u32, u64)> = sketches.iter().map(|(bucket, row)| (*bucket, doc(row))).collect();
        assert_eq!(found.len(), expected.len());
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
        let copies = known.copies.as_ref().unwrap();
        assert!(expected.iter().all(|&(_, doc)| !copies.is_extra_copy(doc)), "extra copies are not signed");
        // The evidence of each signed document is in the output once.
        let mut evidence: Vec<u64> = Vec::new();
        for block in blocks.iter().filter(|block| block.kind.what == What::Evidence) {
            let mut bytes = dupsift_engine::reading::parts::Bytes(&block.rows);
            while !bytes.0.is_empty() {
                evidence.push(bytes.long().unwrap());
                bytes.string().unwrap();
            }
        }
        evidence.sort_unstable();
        let signed: BTreeSet<u64> =
            (0..Bench::ROWS).filter(|doc| !Bench::REJECTED.contains(doc) && !copies.is_extra_copy(*doc)).collect();
        assert_eq!(evidence, signed.into_iter().collect::<Vec<_>>());
    }
}
