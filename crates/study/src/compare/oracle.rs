//! Implements the exact join, which finds all duplicates in a sample of documents, including those that no algorithm found.
//!
//! The pool contains only pairs that at least one algorithm found. The exact join compares all documents in the sample with each other: an
//! upper bound on the judge's similarity rules out most pairs, and the remaining pairs are judged. The cost grows with the square of the
//! sample size; memory use is 8 bytes per sampled document. Duplicates outside the sample do not count, so the sample must be large if
//! documents have few duplicates. To determine whether an algorithm found a pair, its classes and its pairs of representatives are used,
//! because not all pairs of a group larger than `--max-group` are written.

use std::collections::BinaryHeap;
use std::sync::Arc;

use super::found_pairs::{FoundList, FoundWriter};
use super::judged::Texts;
use crate::comparison::{Figure, OracleReport};
use crate::confidence::wilson;
use crate::finished::pool::Pooled;
use dupsift_algorithms::judge::Judge;
use dupsift_core::error::Result;
use dupsift_core::hash::{combine, mix64};
use dupsift_engine::classes::Classes;
use dupsift_engine::job::pair::group::Relation;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::AtomicBits;

/// A salt that separates the hashes of document numbers from the hashes of pairs.
const SALT: u64 = 0x6f72_6163_6c65;

/// Returns the documents in the sample: those with the smallest hashes, at most `most` documents.
pub(crate) fn choose(session: &Session<'_>, most: u64, seed: u64) -> Result<AtomicBits> {
    let chosen = AtomicBits::new(session.engine.dir, "oracle", session.documents() as usize)?;
    let mut smallest = BinaryHeap::new();
    for doc in 0..session.documents() {
        let hash = mix64(combine(combine(seed, SALT), doc));
        if (smallest.len() as u64) < most {
            smallest.push((hash, doc));
        } else if smallest.peek().is_some_and(|largest| (hash, doc) < *largest) {
            smallest.pop();
            smallest.push((hash, doc));
        }
    }
    smallest.into_iter().for_each(|(_, doc)| _ = chosen.set(doc as usize));
    Ok(chosen)
}

/// Holds the pairs that one algorithm found within the sample, whether or not they were written.
pub(crate) struct Within {
    classes: Arc<Classes>,
    /// The pairs of representatives.
    pairs: FoundList,
}

impl Within {
    /// Selects the pairs of `relation` that are in the sample.
    pub(crate) fn new(session: &Session<'_>, relation: &Relation, chosen: &AtomicBits) -> Result<Within> {
        let name = |what: &str| format!("{}-oracle-{what}", relation.label);
        let representatives = AtomicBits::new(session.engine.dir, &name("sample"), session.documents() as usize)?;
        for doc in chosen.iter() {
            representatives.set(relation.classes.representative(doc as u64) as usize);
        }
        let mut pairs = FoundWriter::new(session.engine.dir, &name("pairs"))?;
        relation.each_joining(|pair| {
            session.engine.go_on()?;
            let within = representatives.get(pair.a as usize) && representatives.get(pair.b as usize);
            if within { pairs.push(&Pooled { a: pair.a, b: pair.b, found: 1 }) } else { Ok(()) }
        })?;
        Ok(Within { classes: relation.classes.clone(), pairs: pairs.end()? })
    }

    /// Returns whether the algorithm found the pair of two documents in the sample. Pages that share only a template are not a pair.
    fn has(&self, x: u64, y: u64) -> bool {
        let (a, b) = (self.classes.representative(x), self.classes.representative(y));
        a == b || self.pairs.finders(a.min(b), a.max(b)) != 0
    }
}

/// Returns the algorithms, as bits, that found the pair of two documents in the sample.
pub(crate) fn found(within: &[Within], x: u64, y: u64) -> u64 {
    within.iter().enumerate().fold(0, |bits, (at, one)| bits | u64::from(one.has(x, y)) << at)
}

/// Counts pairs.
#[derive(Clone, Default)]
struct Counts {
    judged: u64,
    duplicates: u64,
    unseen: u64,
    undecided: u64,
    /// The number of duplicate pairs found, by algorithm.
    found: Vec<u64>,
}

impl Counts {
    /// Adds the counts from another thread.
    fn add(&mut self, part: Counts) {
        self.judged += part.judged;
        self.duplicates += part.duplicates;
        self.unseen += part.unseen;
        self.undecided += part.undecided;
        self.found.iter_mut().zip(part.found).for_each(|(sum, found)| *sum += found);
    }
}

/// Joins the sample with itself, and returns the record and the recall of each algorithm. `finders` returns the
/// algorithms that found a pair, as bits.
pub(crate) fn join(
    session: &Session<'_>,
    judge: &Judge,
    texts: &Texts,
    chosen: &AtomicBits,
    finders: impl Fn(u64, u64) -> u64 + Sync,
    algorithms: usize,
) -> Result<(OracleReport, Vec<Figure>)> {
    let running = session.engine.clock.stage("compare all pairs");
    let visible = |doc: &u64| texts.of(*doc).is_visible();
    let docs: Vec<u64> = chosen.iter().map(|doc| doc as u64).filter(visible).collect();
    let bar = session.engine.bar("compare all pairs", docs.len());
    let counts = session.engine.work(
        docs.len(),
        || Ok(Counts { found: vec![0; algorithms], ..Counts::default() }),
        |counts, at| {
            let a = texts.of(docs[at]);
            for &b in &docs[at + 1..] {
                let text = texts.of(b);
                let same = a.is_same(&text);
                if !same && !judge.may(a.evidence(), text.evidence()) {
                    continue;
                }
                session.engine.go_on()?;
                counts.judged += 1;
                let judged = if same { Ok(Some(1.0)) } else { judge.judge(a.evidence(), text.evidence()) };
                counts.undecided += u64::from(judged.is_err());
                if judged.is_ok_and(|similarity| similarity.is_some()) {
                    let finders = finders(docs[at], b);
                    counts.duplicates += 1;
                    counts.unseen += u64::from(finders == 0);
                    counts.found.iter_mut().enumerate().for_each(|(bit, found)| *found += finders >> bit & 1);
                }
            }
            bar.add(1);
            Ok(())
        },
        Ok,
    )?;
    let mut all = Counts { found: vec![0; algorithms], ..Counts::default() };
    counts.into_iter().for_each(|part| all.add(part));
    running.end(all.judged, all.duplicates, 0);
    // If the sample is the complete corpus, the figures are exact.
    let whole = chosen.count() == session.documents();
    let population = if whole { all.duplicates } else { u64::MAX };
    let recall = |&found: &u64| match all.duplicates {
        0 => Figure::default(),
        duplicates => Figure::from(wilson(found, duplicates, population)),
    };
    let report = OracleReport {
        documents: docs.len() as u64,
        judged: all.judged,
        duplicates: all.duplicates,
        unseen: all.unseen,
        undecided: all.undecided,
    };
    Ok((report, all.found.iter().map(recall).collect()))
}
