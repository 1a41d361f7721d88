//! Turns the rows in the cluster into the pairs of each algorithm. Rows are grouped, merged and verified on the cluster, and the pairs are
//! combined on the driver.

use std::collections::BTreeMap;
use std::path::Path;

use super::cluster::{Frame, Pass, Step};
use super::driver::Driver;
use super::gather::{Tallies, report};
use super::kind::{Kind, What};
use super::known::{self, Facts};
use super::spool::Block;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::connect::Forest;
use dupsift_algorithms::steps::group::Compared;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash64;
use dupsift_core::row::{LinkLayout, PairLayout};
use dupsift_engine::classes::{Classes, Link};
use dupsift_engine::engine::evidence::Taking;
use dupsift_engine::engine::numbers::Numbers;
use dupsift_engine::job::pair::group::{classes, occurrences};
use dupsift_engine::job::pair::pair_list::PairList;
use dupsift_engine::job::pair::saved_contents::SavedContents;
use dupsift_engine::job::pair::saved_pairs::SavedPairs;
use dupsift_engine::job::pair::verify::asks_contents;
use dupsift_engine::job::read::saved_rows::SavedRows;
use dupsift_engine::job::read_back::digest;
use dupsift_engine::reading::parts::Bytes;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, Shuffle, Writer};

/// Describes the output of a signing pass: blocks in the cluster, the counts of tasks, and the positions of the algorithms.
pub(crate) struct Signed {
    /// The blocks in the cluster.
    pub frame: Frame,
    /// The counts of the tasks.
    pub tallies: Tallies,
    /// The positions of the algorithms.
    pub algorithms: Vec<usize>,
}

/// Holds the data about the corpus.
#[derive(Clone, Copy)]
pub(crate) struct TaskCorpus<'c> {
    /// The exact copies.
    pub copies: &'c Classes,
    /// The statistics.
    pub stats: &'c CorpusStats,
    /// The model of each algorithm; empty for algorithms that do not learn.
    pub models: &'c [Vec<u64>],
}

/// Collects the pairs of one algorithm.
struct Put<'p> {
    at: usize,
    bound: &'p Bound<'p>,
    equal: Shuffle,
    joined: AtomicBits,
    pairs: Shuffle,
    evidence: Option<Taking>,
    numbers: BTreeMap<What, u64>,
    comparisons: Compared,
}

impl Driver<'_> {
    /// Groups, merges and verifies the signatures, and saves the pairs of each algorithm.
    pub(crate) fn relate(
        &self,
        signed: Vec<Signed>,
        bound: &[(usize, Bound<'_>)],
        corpus: TaskCorpus<'_>,
    ) -> Result<()> {
        let running = self.session.engine.clock.stage("group on the cluster");
        let facts = Facts { copies: Some(corpus.copies), stats: corpus.stats, models: corpus.models, places: None };
        let known = self.file()?;
        known::write(&known, self.session, facts)?;
        let mut puts = self.puts(bound)?;
        let alike =
            Alike { copies: corpus.copies, bits: AtomicBits::new(self.session.engine.dir, "alike", self.documents())? };
        let of = |signed: &Signed, what: &[What]| -> Vec<Kind> {
            signed.algorithms.iter().flat_map(|at| what.iter().map(|what| Kind::algorithm(*what, *at))).collect()
        };
        let rows: Vec<_> =
            signed.iter().map(|signed| (signed.frame, of(signed, &[What::Rows, What::Sketches]))).collect();
        let grouped = self.cluster.reduce(&Step::Group, &rows, Some(&known))?;
        let mut met = vec![(grouped, all(bound, What::Pairs))];
        let mut counted = vec![grouped];
        if bound.iter().any(|(_, bound)| bound.scheme.probe_shape().is_some()) {
            let rows = [(grouped, all(bound, What::Probes))];
            let probed = self.cluster.reduce(&Step::Probes, &rows, Some(&known))?;
            met.push((probed, all(bound, What::Pairs)));
            counted.push(probed);
        }
        let merged = self.cluster.reduce(&Step::Merge, &met, Some(&known))?;
        for frame in counted {
            self.links(frame, &mut puts, bound, &alike)?;
            self.cluster.forget(frame)?;
        }
        let places = self.candidates(merged, &mut puts, &alike)?;
        running.end(self.session.documents(), 0, 0);
        if let Some(places) = places {
            let known = self.file()?;
            known::write(&known, self.session, Facts { places: Some(&places), ..facts })?;
            let running = self.session.engine.clock.stage("verify on the cluster");
            self.judge(&known, (merged, &signed), &mut puts, &alike)?;
            running.end(self.session.documents(), 0, 0);
        }
        self.cluster.forget(merged)?;
        signed.iter().try_for_each(|signed| self.cluster.forget(signed.frame))?;
        let tallies: Vec<_> = signed.into_iter().flat_map(|signed| signed.tallies).collect();
        puts.into_iter().try_for_each(|put| self.put(put, &tallies, corpus))?;
        self.contents(&alike.bits, facts)
    }

    /// Records the contents of documents that are in pairs with documents other than their copies, if the contents will be required.
    fn contents(&self, alike: &AtomicBits, facts: Facts<'_>) -> Result<()> {
        if !asks_contents(self.session) || alike.count() == 0 {
            return Ok(());
        }
        let running = self.session.engine.clock.stage("read pairs on the cluster");
        let places = AtomicCells::new(self.session.engine.dir, "places", self.documents())?;
        alike.iter().for_each(|doc| places.store(doc, 1));
        let known = self.file()?;
        known::write(&known, self.session, Facts { places: Some(&places), ..facts })?;
        let pass = Pass { after_count: self.plan.counts.is_some(), contents: true, ..Pass::default() };
        let frame = self.cluster.map(&Step::Map(pass), self.tasks(), Some(&known))?;
        let taking = Taking::new(self.session.engine.dir, "contents", alike)?;
        self.cluster.collect(frame, &[Kind::of(What::Contents)], &mut |block| {
            self.session.engine.go_on()?;
            take(&taking, &block.rows)
        })?;
        self.cluster.forget(frame)?;
        running.end(alike.count(), alike.count(), 0);
        self.saved.save(|keys| &keys.contained, SavedContents(vec![taking.end()?]))
    }

    fn documents(&self) -> usize {
        self.session.documents() as usize
    }

    fn puts<'p>(&self, bound: &'p [(usize, Bound<'p>)]) -> Result<Vec<Put<'p>>> {
        let session = self.session;
        let put = |(at, bound): &'p (usize, Bound<'p>)| {
            let relates = bound.relating().is_some() && bound.verify_candidates().is_some();
            let bits = if bound.equal_keys_are_pairs() { session.documents() as usize } else { 0 };
            let evidence = relates.then(|| Taking::of_all(session.engine.dir, &bound.label, session.documents()));
            Ok(Put {
                at: *at,
                bound,
                equal: Link::new(session).shuffle(session, &bound.label, session.documents() / 4)?,
                joined: AtomicBits::new(session.engine.dir, "joined", bits)?,
                pairs: occurrences(session, bound)?,
                evidence: evidence.transpose()?,
                numbers: BTreeMap::new(),
                comparisons: Compared::default(),
            })
        };
        bound.iter().map(put).collect()
    }

    /// Collects the links within classes, and the counts of comparisons.
    fn links(&self, frame: Frame, puts: &mut [Put<'_>], bound: &[(usize, Bound<'_>)], alike: &Alike<'_>) -> Result<()> {
        let layout = LinkLayout::new(self.session.documents());
        let kinds = [all(bound, What::Links), all(bound, What::Compared)].concat();
        let mut counts: BTreeMap<u16, Compared> = BTreeMap::new();
        let puts_of = by_algorithm(puts);
        let mut writers: BTreeMap<u16, Writer<'_>> =
            puts.iter().map(|put| (put.at as u16, put.equal.writer())).collect();
        self.cluster.collect(frame, &kinds, &mut |Block { kind, rows, .. }| {
            self.session.engine.go_on()?;
            let (Some(at), Some(writer)) = (puts_of.get(&kind.algorithm), writers.get_mut(&kind.algorithm)) else {
                return unasked(kind);
            };
            if kind.what == What::Compared {
                return add(&rows, counts.entry(kind.algorithm).or_default());
            }
            let joined = &puts[*at].joined;
            rows.chunks_exact(layout.width()).try_for_each(|row| {
                let (first, doc) = layout.decode(row);
                if !joined.is_empty() {
                    joined.set(doc as usize);
                }
                alike.note(first, doc);
                writer.push(row)
            })
        })?;
        writers.into_values().try_for_each(|mut writer| writer.flush())?;
        for (algorithm, counts) in counts {
            let put = &mut puts[puts_of[&algorithm]];
            put.comparisons = put.comparisons.plus(counts);
        }
        Ok(())
    }

    /// Collects matching pairs without repeats. Without verification, these pairs are final; otherwise, returns the bucket of each
    /// document's component.
    fn candidates(&self, frame: Frame, puts: &mut [Put<'_>], alike: &Alike<'_>) -> Result<Option<AtomicCells<u32>>> {
        let (documents, layout) = (self.session.documents(), PairLayout::new(self.session.documents()));
        let checked: BTreeMap<u16, bool> =
            puts.iter().map(|put| (put.at as u16, put.bound.verify_candidates().is_some())).collect();
        let any = checked.values().any(|&checked| checked);
        let length = if any { documents as usize } else { 0 };
        let met = AtomicBits::new(self.session.engine.dir, "met", length)?;
        let mut parents = Numbers::new(self.session.engine.dir, "parents", length, documents)?;
        let mut forest = Forest::new(parents.slots());
        let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
        let kinds: Vec<Kind> = checked.keys().map(|&algorithm| Kind { what: What::Candidates, algorithm }).collect();
        let mut writers: BTreeMap<u16, Writer<'_>> =
            puts.iter().map(|put| (put.at as u16, put.pairs.writer())).collect();
        self.cluster.collect(frame, &kinds, &mut |Block { kind, rows, .. }| {
            self.session.engine.go_on()?;
            let (Some(&checked), Some(writer)) = (checked.get(&kind.algorithm), writers.get_mut(&kind.algorithm))
            else {
                return unasked(kind);
            };
            *counts.entry(kind.algorithm).or_default() += (rows.len() / layout.width()) as u64;
            if !checked {
                return alike.push(layout, &rows, writer);
            }
            for pair in rows.chunks_exact(layout.width()).map(|row| layout.decode(row)) {
                met.set(pair.a as usize);
                met.set(pair.b as usize);
                forest.union(pair.a, pair.b);
            }
            Ok(())
        })?;
        writers.into_values().try_for_each(|mut writer| writer.flush())?;
        for put in puts.iter_mut() {
            put.numbers.insert(What::Candidates, counts.get(&(put.at as u16)).copied().unwrap_or_default());
        }
        if length == 0 || met.count() == 0 {
            return Ok(None);
        }
        let (places, (_, buckets)) =
            (AtomicCells::new(self.session.engine.dir, "places", length)?, self.cluster.sizes()?);
        for doc in met.iter() {
            let bucket = hash64(&forest.root(doc as u64).to_le_bytes()) % u64::from(buckets.max(1));
            places.store(doc, bucket as u32 + 1);
        }
        Ok(Some(places))
    }

    /// Verifies candidates, using evidence that was collected during signing or is collected in another pass.
    fn judge(
        &self,
        known: &Path,
        (merged, signed): (Frame, &[Signed]),
        puts: &mut [Put<'_>],
        alike: &Alike<'_>,
    ) -> Result<()> {
        let checked: Vec<&Put<'_>> = puts.iter().filter(|put| put.bound.verify_candidates().is_some()).collect();
        let places = |what, early: Option<bool>| -> Vec<Kind> {
            let of = checked.iter().filter(|put| early.is_none_or(|early| put.bound.takes_evidence_early() == early));
            of.map(|put| Kind::algorithm(what, put.at)).collect()
        };
        let mut from = vec![(merged, places(What::Candidates, None))];
        for signed in signed {
            let early = places(What::Evidence, Some(true));
            let kinds = early.into_iter().filter(|kind| signed.algorithms.contains(&kind.algorithm.into()));
            from.push((signed.frame, kinds.collect()));
        }
        let spread = self.cluster.reduce(&Step::Spread, &from, Some(known))?;
        let evidence = places(What::Evidence, Some(false));
        let mut to_judge =
            vec![(spread, [places(What::Candidates, None), places(What::Evidence, Some(true))].concat())];
        if !evidence.is_empty() {
            let algorithms = evidence.iter().map(|kind| kind.algorithm.into()).collect();
            let pass = Pass { after_count: self.plan.counts.is_some(), evidence: algorithms, ..Pass::default() };
            let read = self.cluster.map(&Step::Map(pass), self.tasks(), Some(known))?;
            to_judge.push((read, evidence));
        }
        let judged = self.cluster.reduce(&Step::Judge, &to_judge, Some(known))?;
        to_judge.iter().try_for_each(|(frame, _)| self.cluster.forget(*frame))?;
        self.judged(judged, puts, alike)?;
        self.cluster.forget(judged)
    }

    fn judged(&self, frame: Frame, puts: &mut [Put<'_>], alike: &Alike<'_>) -> Result<()> {
        let layout = PairLayout::new(self.session.documents());
        let whats = [What::Judged, What::Evidence, What::Undecided, What::Compared];
        let kinds: Vec<Kind> = puts.iter().flat_map(|put| whats.map(|what| Kind::algorithm(what, put.at))).collect();
        let puts_of = by_algorithm(puts);
        let mut undecided: BTreeMap<u16, u64> = BTreeMap::new();
        let mut counts: BTreeMap<u16, Compared> = BTreeMap::new();
        let mut writers: BTreeMap<u16, Writer<'_>> =
            puts.iter().map(|put| (put.at as u16, put.pairs.writer())).collect();
        self.cluster.collect(frame, &kinds, &mut |Block { kind, rows, .. }| {
            self.session.engine.go_on()?;
            let (Some(at), Some(writer)) = (puts_of.get(&kind.algorithm), writers.get_mut(&kind.algorithm)) else {
                return unasked(kind);
            };
            let mut bytes = Bytes(&rows);
            match (kind.what, &puts[*at].evidence) {
                (What::Evidence, Some(taking)) => take(taking, &rows)?,
                (What::Undecided, _) => {
                    while !bytes.0.is_empty() {
                        *undecided.entry(kind.algorithm).or_default() += bytes.long()?;
                    }
                }
                (What::Compared, _) => add(&rows, counts.entry(kind.algorithm).or_default())?,
                _ => alike.push(layout, &rows, writer)?,
            }
            Ok(())
        })?;
        writers.into_values().try_for_each(|mut writer| writer.flush())?;
        for (algorithm, count) in undecided {
            puts[puts_of[&algorithm]].numbers.insert(What::Undecided, count);
        }
        for (algorithm, counts) in counts {
            let put = &mut puts[puts_of[&algorithm]];
            put.comparisons = put.comparisons.plus(counts);
        }
        Ok(())
    }

    /// Saves the pairs of one algorithm, with evidence if their relations depend on it.
    fn put(&self, put: Put<'_>, tallies: &Tallies, corpus: TaskCorpus<'_>) -> Result<()> {
        let Put { at, bound, equal, joined, pairs, evidence, numbers, comparisons } = put;
        let session = self.session;
        let number = |what| numbers.get(&what).copied().unwrap_or_default();
        let mut report = report(at, bound, tallies);
        report.model = corpus.models.get(at).filter(|model| !model.is_empty()).map(|model| digest(model));
        if let Some(evidence) = evidence {
            let layout = bound.layout(session.documents());
            let none = session.engine.shuffle("no-rows", layout.width(), layout.group_width(), 0)?.finish()?;
            let rows =
                SavedRows { report: report.clone(), rows: none, evidence: Some(evidence.end()?), sketches: None };
            self.saved.save(|keys| &keys.algorithms[at].rows, rows)?;
        }
        report.note_comparisons(comparisons);
        report.candidates = if bound.verify().is_some() { number(What::Candidates) } else { 0 };
        report.undecided = number(What::Undecided);
        let layout = PairLayout::new(session.documents());
        let what = format!("merge {}", bound.label);
        let pairs = PairList::merge(session.engine, &what, &pairs.finish()?, layout)?;
        let (classes, _) = classes(session, bound, corpus.copies, equal, &joined)?;
        self.saved.save(|keys| &keys.algorithms[at].pairs, SavedPairs { report, pairs, classes })
    }
}

/// Collects the documents that are in pairs with documents other than their copies. Each class of copies is represented by one document.
struct Alike<'a> {
    copies: &'a Classes,
    bits: AtomicBits,
}

impl Alike<'_> {
    fn note(&self, a: u64, b: u64) {
        let (a, b) = (self.copies.representative(a), self.copies.representative(b));
        if a != b {
            self.bits.set(a as usize);
            self.bits.set(b as usize);
        }
    }

    /// Marks the documents in pairs, and passes the pairs on.
    fn push(&self, layout: PairLayout, pairs: &[u8], to: &mut Writer<'_>) -> Result<()> {
        pairs.chunks_exact(layout.width()).try_for_each(|row| {
            let pair = layout.decode(row);
            self.note(pair.a, pair.b);
            to.push(row)
        })
    }
}

/// Stores the evidence for each document.
fn take(taking: &Taking, bytes: &[u8]) -> Result<()> {
    let mut bytes = Bytes(bytes);
    while !bytes.0.is_empty() {
        let doc = bytes.long()?;
        taking.take_all(doc, &bytemuck::allocation::pod_collect_to_vec(bytes.string()?))?;
    }
    Ok(())
}

fn by_algorithm(puts: &[Put<'_>]) -> BTreeMap<u16, usize> {
    puts.iter().enumerate().map(|(place, put)| (put.at as u16, place)).collect()
}

fn all(bound: &[(usize, Bound<'_>)], what: What) -> Vec<Kind> {
    bound.iter().map(|(at, _)| Kind::algorithm(what, *at)).collect()
}

fn add(bytes: &[u8], sum: &mut Compared) -> Result<()> {
    let mut bytes = Bytes(bytes);
    while !bytes.0.is_empty() {
        *sum = sum.plus(Compared { made: bytes.long()?, left_out: bytes.long()?, far: bytes.long()? });
    }
    Ok(())
}

fn unasked(kind: Kind) -> Result<()> {
    Err(Error::Internal(format!("{kind:?} was not requested")))
}
