//! Combines the results of a cluster into the state of the local driver.

use super::cluster::{Cluster, Frame};
use super::kind::{Kind, What};
use super::map::TaskCounts;
use super::spool::Block;
use dupsift_algorithms::corpus::{CorpusStats, TERM_WIDTH, TermTable, TermTableWriter, decode_term};
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::LinkLayout;
use dupsift_engine::classes::{Classes, Link};
use dupsift_engine::engine::checkpoints::Merge as _;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::AlgorithmReport;
use dupsift_engine::job::read::count::{Counting, Totals};
use dupsift_engine::job::read::intake::{Intake, Taken, Took};
use dupsift_engine::job::read::signed_state::chance_collisions;
use dupsift_engine::reading::parts::Bytes;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::{AtomicBits, Shuffle, Writer};

/// The counts of all tasks in a pass.
pub(crate) type Tallies = Vec<TaskCounts>;

fn tallies(bytes: &[u8], to: &mut Tallies) -> Result<()> {
    let mut bytes = Bytes(bytes);
    while !bytes.0.is_empty() {
        to.push(serde_json::from_slice(bytes.string()?).map_err(Error::table("read what a task counted"))?);
    }
    Ok(())
}

/// Combines the data that the first pass recorded about all rows. The number of repeated ids is added later.
///
/// # Errors
/// Returns an error if a row was not read by exactly one task.
pub(crate) fn notes(session: &Session<'_>, cluster: &dyn Cluster, frame: Frame) -> Result<(Taken, Tallies)> {
    // The counts of tasks are collected separately. Counts include timings, so a repeated task returns different bytes, and blocks that
    // were collected together with the counts would be distributed differently.
    let (intake, all) = (Intake::new(session, false)?, counted(cluster, frame)?);
    let kinds = [What::Notes, What::Rejected].map(Kind::of);
    let noted = AtomicBits::new(session.engine.dir, "noted", session.documents() as usize)?;
    let once = |doc: u64| {
        let (rows, is_one) = (session.documents(), doc < session.documents());
        let told =
            || Error::Internal(format!("the tasks read row {doc} of {rows} more than once, or there is no such row"));
        (is_one && noted.set(doc as usize)).then_some(()).ok_or_else(told)
    };
    cluster.collect(frame, &kinds, &mut |Block { kind, rows, .. }| match kind.what {
        What::Notes => intake.take_part(&rows, once),
        _ => intake.take_rejected(&rows),
    })?;
    let read: u64 = all.iter().map(|tally| tally.took.used + tally.rejected).sum();
    if [read, noted.count()] != [session.documents(); 2] {
        return Err(Error::Internal(format!(
            "the tasks read {read} rows and recorded {recorded}, but the corpus has {rows}",
            recorded = noted.count(),
            rows = session.documents()
        )));
    }
    all.iter().for_each(|tally| intake.add_tallies(&tally.keep));
    for (file, sum) in all.iter().flat_map(|tally| &tally.contents) {
        session.contents.add(*file, *sum);
    }
    let took = Took::of_all(all.iter().map(|tally| tally.took.clone()));
    Ok((intake.finish(took)?, all))
}

/// Returns the counts of the tasks in a later pass.
///
/// # Errors
/// Returns an error from the cluster.
pub(crate) fn counted(cluster: &dyn Cluster, frame: Frame) -> Result<Tallies> {
    let mut all = Tallies::new();
    cluster.collect(frame, &[Kind::of(What::Tally)], &mut |block| tallies(&block.rows, &mut all))?;
    Ok(all)
}

/// Returns the results of the summing step: the number of repeated ids, the classes of copies, and the words and features with their
/// counts.
///
/// # Errors
/// Returns an error from the cluster, or an error if the disk is full.
pub(crate) fn sums(
    session: &Session<'_>,
    cluster: &dyn Cluster,
    frame: Frame,
) -> Result<(u64, Classes, [TermTable; 2])> {
    let link = Link::new(session);
    let equal = link.shuffle(session, "equal-texts", session.documents() / 4)?;
    let terms = |name: &str| {
        let rows = session.source.files.iter().map(|file| file.text_bytes).sum::<u64>() / 40;
        session.engine.ordered(u64::MAX, name, TERM_WIDTH, 8, 8, rows)
    };
    let (words, features, mut repeated) = (terms("words")?, terms("features")?, 0);
    let (mut links, mut to_words, mut to_features) = (equal.writer(), words.writer(), features.writer());
    let kinds = [What::Ids, What::Links, What::WordTerms, What::FeatureTerms].map(Kind::of);
    let width = LinkLayout::new(session.documents()).width();
    cluster.collect(frame, &kinds, &mut |Block { kind, rows, .. }| {
        session.engine.go_on()?;
        let push = |writer: &mut Writer<'_>, width| rows.chunks_exact(width).try_for_each(|row| writer.push(row));
        match kind.what {
            What::Links => push(&mut links, width),
            What::WordTerms => push(&mut to_words, TERM_WIDTH),
            What::FeatureTerms => push(&mut to_features, TERM_WIDTH),
            _ => {
                let mut bytes = Bytes(&rows);
                while !bytes.0.is_empty() {
                    repeated += bytes.long()?;
                }
                Ok(())
            }
        }
    })?;
    [links, to_words, to_features].into_iter().try_for_each(|mut writer| writer.flush())?;
    let copies = Classes::build(session, "copies", &equal.finish()?)?;
    Ok((repeated, copies, [table(session.engine, "words", words)?, table(session.engine, "features", features)?]))
}

fn table(engine: &Engine<'_>, name: &str, terms: Shuffle) -> Result<TermTable> {
    let sorted = terms.finish()?;
    if sorted.rows() == 0 {
        return Ok(TermTable::empty());
    }
    let mut writer = TermTableWriter::create(&engine.dir.join(format!("{name}.terms")))?;
    for partition in 0..sorted.partitions() {
        let records = sorted.load(partition, engine.budget.a_thread)?;
        for at in 0..records.len() {
            engine.go_on()?;
            let (term, df, cf) = decode_term(records.record(at));
            writer.push(term, df, cf)?;
        }
        sorted.remove(partition)?;
    }
    writer.finish()
}

/// Returns the statistics of the corpus.
pub(crate) fn statistics(session: &Session<'_>, tallies: &Tallies, [words, features]: [TermTable; 2]) -> CorpusStats {
    let counted = Totals::of_all(tallies.iter().map(|tally| tally.counted));
    Counting::summed(session, counted, words, features)
}

/// Returns the report of an algorithm that has signed documents, combined from all tasks.
pub(crate) fn report(at: usize, bound: &Bound<'_>, tallies: &[TaskCounts]) -> AlgorithmReport {
    let reports = tallies.iter().flat_map(|tally| &tally.reports).filter(|(place, _)| *place == at);
    let sum = reports.map(|(_, report)| report.clone()).reduce(|mut sum, one| {
        sum.signed += one.signed;
        sum.rows += one.rows;
        sum.sign_seconds += one.sign_seconds;
        one.unsigned.into_iter().for_each(|(reason, count)| *sum.unsigned.entry(reason).or_default() += count);
        one.flagged.into_iter().for_each(|(flag, count)| *sum.flagged.entry(flag).or_default() += count);
        sum
    });
    let sum = sum.unwrap_or_default();
    AlgorithmReport { expected_chance_collisions: chance_collisions(bound, sum.signed), ..sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Pass;
    use crate::known::Known;
    use crate::map::map;
    use crate::opened::tasks;
    use crate::test_kit::{Bench, Fault, InProcess, all, with_session};
    use dupsift_algorithms::algorithm::Corpus;

    const GIVEN: [(&str, &str); 1] = [("algorithms", "exact,minhash")];

    /// Gathers the notes of the first pass, after `change` has changed the blocks of its tasks.
    fn gathered<T>(
        change: impl FnOnce(&mut Vec<Vec<Block>>),
        check: impl FnOnce(&Session<'_>, (Taken, Tallies)) -> T,
    ) -> Result<T> {
        let bench = Bench::new();
        let (opened, dir) = (bench.in_tasks(&GIVEN), bench.dir());
        let pass = Pass { notes: true, signs: vec![0, 1], ..Pass::default() };
        let tasks = 0..tasks(&opened.source, Bench::ROWS, opened.layout.task_bytes).len();
        let blocks = tasks.map(|task| all(map(&opened, &pass, &Known::none(), task, dir.path()).unwrap()));
        let mut blocks: Vec<Vec<Block>> = blocks.collect();
        change(&mut blocks);
        with_session(&opened, dir.path(), |session| {
            let cluster = InProcess::new(&opened.options, dir.path(), Fault::None);
            let frame = cluster.keep(blocks.concat());
            notes(session, &cluster, frame).map(|found| check(session, found))
        })
    }

    #[test]
    fn the_notes_of_all_tasks_are_those_of_the_corpus() {
        let rejected = Bench::REJECTED.len() as u64;
        gathered(
            |blocks| blocks.reverse(),
            |session, (taken, tallies)| {
                assert_eq!((taken.used, taken.contents.len()), (Bench::ROWS - rejected, 5));
                let mut found = Vec::new();
                taken.rejected.each(session.engine, |doc, _, _| Ok(found.push(doc))).unwrap();
                assert_eq!(found, Bench::REJECTED);
                // The reports of an algorithm are added up.
                let stats = CorpusStats::none();
                let corpus = Corpus::new(session.documents(), &stats);
                let bound = session.options.recipe.bind(&corpus, &[]).unwrap();
                for (at, bound) in bound.iter().enumerate() {
                    let report = report(at, bound, &tallies);
                    assert_eq!((report.label.as_str(), report.signed), (bound.label.as_str(), Bench::ROWS - rejected));
                    let rows: u64 = tallies.iter().map(|tally| tally.reports[at].1.rows).sum();
                    assert!(report.rows == rows && rows >= report.signed, "{rows}");
                }
                assert_eq!(super::report(5, &bound[0], &tallies).signed, 0);
            },
        )
        .unwrap();
    }

    /// Checks that each row is read once. A task that ran twice, a lost task, lost notes and lost counts are errors.
    #[test]
    fn rows_that_are_not_read_exactly_once_are_an_error() {
        let of = |what: What| move |block: &Block| block.kind.what == what;
        type Change<'c> = (&'c str, &'c dyn Fn(&mut Vec<Vec<Block>>));
        let changes: [Change<'_>; 5] = [
            ("more than once", &|blocks| blocks.push(blocks[1].clone())),
            ("more than once", &|blocks| {
                let notes = blocks[2].iter().find(|block| of(What::Notes)(block)).unwrap().clone();
                blocks[0].push(notes);
            }),
            ("but the corpus has 90", &|blocks| _ = blocks.remove(2)),
            ("but the corpus has 90", &|blocks| blocks[1].retain(|block| !of(What::Tally)(block))),
            ("but the corpus has 90", &|blocks| blocks[0].retain(|block| !of(What::Notes)(block))),
        ];
        for (at, (expected, change)) in changes.into_iter().enumerate() {
            let error = gathered(change, |_, _| ()).unwrap_err().to_string();
            assert!(error.contains(expected), "{at}: {error}");
        }
        // A row that does not exist.
        let beyond = |blocks: &mut Vec<Vec<Block>>| {
            let notes = blocks[0].iter_mut().find(|block| of(What::Notes)(block)).unwrap();
            notes.rows[..8].copy_from_slice(&Bench::ROWS.to_le_bytes());
        };
        assert!(gathered(beyond, |_, _| ()).unwrap_err().to_string().contains("read row 90 of 90"));
    }
}
