//! Counts the pairs of one algorithm, and those among them that are true.

use std::path::Path;

use super::evaluation::EvaluatedReport;
use super::texts::{Correct, Texts};
use super::truth::{Truth, is_next};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::doc_width;
use dupsift_engine::classes::Link;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::PairFound;

/// Counts the pairs in a table whose rows are in document order.
pub(crate) fn measure_pairs(
    session: &Session<'_>,
    (pairs, table): (impl Iterator<Item = Result<PairFound>>, &Path),
    (truth, texts): (&Truth, &Texts),
    report: &mut EvaluatedReport,
) -> Result<()> {
    let documents = session.documents();
    let detected = AtomicBits::new(session.engine.dir, &format!("{}-detected", report.label), documents as usize)?;
    let correct = Correct::new(session, &report.label)?;
    let mut checker = truth.checker();
    let mut take = |a: u64, b: u64| match checker.check(a, b) {
        None => report.pairs_undecided += 1,
        Some(is_true) => {
            report.pairs += 1;
            if is_true {
                report.pairs_true += 1;
                correct.add(texts, a, b);
            }
        }
    };
    let mut undecided = truth.undecided().peekable();
    let (link, width) = (Link::new(session), 2 * doc_width(documents));
    let name = format!("{}-texts", report.label);
    let of_texts = session.engine.ordered(documents, &name, width, width, width / 2, 0)?;
    let mut writer = of_texts.writer();
    let mut before = None;
    for pair in pairs {
        session.engine.go_on()?;
        let pair = pair?;
        let this = (pair.a, pair.b);
        if pair.a >= pair.b || pair.b >= documents || before.is_some_and(|before| before >= this) {
            return Err(Error::BadFile {
                path: table.to_path_buf(),
                why: format!("the pair of documents {} and {} is out of order; expected sorted pairs", pair.a, pair.b),
            });
        }
        before = Some(this);
        if !is_next(&mut undecided, this) {
            detected.set(pair.a as usize);
            detected.set(pair.b as usize);
        }
        if texts.any() {
            texts.pair(pair.a, pair.b, |a, b| link.push(&mut writer, a, b))?;
        } else {
            take(pair.a, pair.b);
        }
    }
    writer.flush()?;
    drop(writer);
    let of_texts = of_texts.finish()?;
    for partition in 0..of_texts.partitions() {
        let records = of_texts.load(partition, session.engine.budget.a_thread)?;
        for group in records.groups() {
            session.engine.go_on()?;
            let (a, b) = link.read(records.record(group.start));
            take(a, b);
        }
        of_texts.remove(partition)?;
    }
    (report.pages, report.pages_true) = (detected.count(), correct.count(texts, &truth.pages));
    Ok(())
}
