//! Runs steps over the rows of some buckets, with the code that the local driver uses for a partition.

use std::collections::BTreeMap;
use std::path::Path;

use super::cluster::Step;
use super::evidence::row;
use super::kind::{Kind, What};
use super::known::Known;
use super::opened::{Layout, Machine, Opened};
use super::spool::{Block, Blocks, Spool};
use super::sum::{Source, groups, sum};
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::group::{Compared, folds};
use dupsift_algorithms::steps::merge::merge;
use dupsift_algorithms::steps::verify::documents;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{PairLayout, Sketches};
use dupsift_engine::engine::evidence::Taking;
use dupsift_engine::engine::sketches::SketchFile;
use dupsift_engine::job::pair::group::{Folding, Grouped, compare_part, fold, occurrences};
use dupsift_engine::job::pair::verify::check_pairs;
use dupsift_engine::job::read::sign::SignedRows;
use dupsift_engine::reading::parts::Bytes;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::{Shuffle, Sorted, Writer};

/// Runs a step on blocks.
///
/// # Errors
/// Returns an error from `blocks`, or an error if the disk is full.
pub fn reduce(opened: &Opened, step: &Step, known: &Known, blocks: Source<'_>, dir: &Path) -> Result<Blocks> {
    if let Step::Sum = step {
        return sum(opened, blocks, dir);
    }
    let machine = Machine::new(&opened.options)?;
    let engine = machine.engine(dir);
    let session = opened.session(&engine);
    let corpus = Corpus::new(session.documents(), &known.stats);
    let bound = opened.options.recipe.bind(&corpus, &known.models)?;
    let mut task = Task { session: &session, layout: &opened.layout, known, bound: &bound, spool: Spool::new(dir)? };
    match step {
        Step::Group => task.group(blocks)?,
        Step::Probes => task.probes(blocks)?,
        Step::Merge => task.merge(blocks)?,
        Step::Spread => task.spread(blocks)?,
        Step::Judge => task.judge(blocks)?,
        Step::Map(_) | Step::Sum => return Err(Error::Internal("this step needs a task".into())),
    }
    task.spool.finish()
}

struct Task<'t> {
    session: &'t Session<'t>,
    layout: &'t Layout,
    known: &'t Known,
    bound: &'t [Bound<'t>],
    spool: Spool,
}

/// The rows of each algorithm.
type Gathered = BTreeMap<usize, Sorted>;

impl Task<'_> {
    /// Collects rows of kind `what` by algorithm, in shuffles that `make` creates; `other` receives all other blocks.
    fn gather(
        &self,
        blocks: Source<'_>,
        what: What,
        make: impl Fn(&Bound<'_>) -> Result<Shuffle>,
        mut other: impl FnMut(Kind, &[u8]) -> Result<()>,
    ) -> Result<Gathered> {
        let shuffles = self.bound.iter().map(make).collect::<Result<Vec<Shuffle>>>()?;
        let mut writers: Vec<Option<Writer<'_>>> = shuffles.iter().map(|_| None).collect();
        while let Some(Block { kind, rows, .. }) = blocks()? {
            if kind.what != what {
                other(kind, &rows)?;
                continue;
            }
            let at = usize::from(kind.algorithm);
            let (Some(shuffle), Some(writer)) = (shuffles.get(at), writers.get_mut(at)) else {
                return Err(Error::Internal(format!("{kind:?} belongs to no algorithm")));
            };
            let writer = writer.get_or_insert_with(|| shuffle.writer());
            rows.chunks_exact(shuffle.width()).try_for_each(|row| writer.push(row))?;
        }
        let there: Vec<bool> = writers.iter().map(Option::is_some).collect();
        writers.into_iter().flatten().try_for_each(|mut writer| writer.flush())?;
        let finished = shuffles.into_iter().enumerate().filter(|(at, _)| there[*at]);
        finished.map(|(at, shuffle)| Ok((at, shuffle.finish()?))).collect()
    }

    /// Groups signature rows into links, second-round rows and matching pairs.
    fn group(&mut self, blocks: Source<'_>) -> Result<()> {
        let documents = self.session.documents();
        let mut sketches: BTreeMap<usize, SketchFile> = BTreeMap::new();
        let rows = |bound: &Bound<'_>| {
            let layout = bound.layout(documents);
            self.session.engine.shuffle(
                &format!("{}-rows", bound.label),
                layout.width(),
                layout.group_width(),
                documents,
            )
        };
        let gathered = self.gather(blocks, What::Rows, rows, |kind, bytes| {
            let at = usize::from(kind.algorithm);
            let words = self.bound[at].scheme.sketch_words;
            let file = match sketches.remove(&at) {
                Some(file) => file,
                None => SketchFile::new(self.session.engine.dir, &self.bound[at].label, documents, words)?,
            };
            let mut bytes = Bytes(bytes);
            while !bytes.0.is_empty() {
                let doc = bytes.long()?;
                file.put(doc, &bytemuck::allocation::pod_collect_to_vec::<u8, u64>(bytes.take(words * 8)?));
            }
            sketches.insert(at, file);
            Ok(())
        })?;
        for (at, rows) in gathered {
            let bound = &self.bound[at];
            let layout = bound.layout(documents);
            let signed = SignedRows {
                layout,
                rows,
                tally: Default::default(),
                evidence: None,
                sketches: sketches.remove(&at),
                keys: None,
            };
            if folds(bound) { self.fold(at, &signed)? } else { self.compare(at, &signed)? }
        }
        Ok(())
    }

    fn fold(&mut self, at: usize, signed: &SignedRows) -> Result<()> {
        let (session, bound) = (self.session, &self.bound[at]);
        let copies = self.copies()?;
        let Folding { equal, joined, probes } = Folding::new(session, bound, signed.rows.rows())?;
        fold(session, bound, signed, copies, (&equal, &joined), probes.as_ref())?;
        self.send(&equal.finish()?, Kind::algorithm(What::Links, at))?;
        probes.map_or(Ok(()), |probes| self.send(&probes.finish()?, Kind::algorithm(What::Probes, at)))
    }

    fn compare(&mut self, at: usize, signed: &SignedRows) -> Result<()> {
        let sketches = signed.sketches.as_ref().map(|sketches| sketches as &(dyn Sketches + Sync));
        let rows = (&signed.rows, signed.layout);
        let met = compare_part(self.session, &self.bound[at], rows, Some(self.copies()?), sketches)?;
        self.met(at, met)
    }

    /// Groups second-round rows, which already refer to representatives, into matching pairs.
    fn probes(&mut self, blocks: Source<'_>) -> Result<()> {
        let documents = self.session.documents();
        let layout = |bound: &Bound<'_>| bound.probe_layout(documents).unwrap_or_else(|| bound.layout(documents));
        let rows = |bound: &Bound<'_>| {
            let layout = layout(bound);
            self.session.engine.shuffle(
                &format!("{}-probes", bound.label),
                layout.width(),
                layout.group_width(),
                documents,
            )
        };
        for (at, rows) in self.gather(blocks, What::Probes, rows, unasked)? {
            let rows = (&rows, layout(&self.bound[at]));
            let met = compare_part(self.session, &self.bound[at], rows, None, None)?;
            self.met(at, met)?;
        }
        Ok(())
    }

    fn met(&mut self, at: usize, (pairs, counts): (Sorted, Compared)) -> Result<()> {
        self.send(&pairs, Kind::algorithm(What::Pairs, at))?;
        self.compared(at, counts)
    }

    fn compared(&mut self, at: usize, counts: Compared) -> Result<()> {
        let counts = [counts.made, counts.left_out, counts.far].map(u64::to_le_bytes).concat();
        self.spool.push(Kind::algorithm(What::Compared, at), 0, &counts)
    }

    /// Merges pairs that matched several times.
    fn merge(&mut self, blocks: Source<'_>) -> Result<()> {
        let layout = PairLayout::new(self.session.documents());
        let pairs = |bound: &Bound<'_>| occurrences(self.session, bound);
        let mut record = Vec::new();
        for (at, pairs) in self.gather(blocks, What::Pairs, pairs, unasked)? {
            groups(self.session.engine, &pairs, |rows| {
                let Some(pair) = merge(layout, rows) else { return Ok(()) };
                record.clear();
                layout.encode(&pair, &mut record);
                self.spool.push(Kind::algorithm(What::Candidates, at), 0, &record)
            })?;
        }
        Ok(())
    }

    /// Sends candidates and evidence to the buckets of their components.
    fn spread(&mut self, blocks: Source<'_>) -> Result<()> {
        let layout = PairLayout::new(self.session.documents());
        while let Some(Block { kind, rows, .. }) = blocks()? {
            if kind.what == What::Candidates {
                for row in rows.chunks_exact(layout.width()) {
                    let bucket = self.known.place(layout.decode(row).a);
                    self.spool.push(kind, bucket.unwrap_or_default(), row)?;
                }
                continue;
            }
            let mut bytes = Bytes(&rows);
            while !bytes.0.is_empty() {
                let begin = bytes.0;
                let doc = bytes.long()?;
                bytes.string()?;
                if let Some(bucket) = self.known.place(doc) {
                    self.spool.push(kind, bucket, &begin[..begin.len() - bytes.0.len()])?;
                }
            }
        }
        Ok(())
    }

    /// Verifies candidates with the evidence of their documents.
    fn judge(&mut self, blocks: Source<'_>) -> Result<()> {
        let (engine, documents_of_all) = (self.session.engine, self.session.documents());
        let layout = PairLayout::new(documents_of_all);
        let taking = |bound: &Bound<'_>| Taking::of_all(engine.dir, &bound.label, documents_of_all);
        let taking = self.bound.iter().map(taking).collect::<Result<Vec<Taking>>>()?;
        let pairs = |bound: &Bound<'_>| occurrences(self.session, bound);
        let gathered = self.gather(blocks, What::Candidates, pairs, |kind, rows| {
            let mut bytes = Bytes(rows);
            while !bytes.0.is_empty() {
                let doc = bytes.long()?;
                let numbers: Vec<u64> = bytemuck::allocation::pod_collect_to_vec(bytes.string()?);
                taking[usize::from(kind.algorithm)].take_all(doc, &numbers)?;
            }
            Ok(())
        })?;
        let evidence = taking.into_iter().map(Taking::end).collect::<Result<Vec<_>>>()?;
        for (at, pairs) in gathered {
            let (bound, evidence) = (&self.bound[at], &evidence[at]);
            let Some(check) = bound.verify_candidates() else { continue };
            let grouped = Grouped { classes: None, pairs, layout, comparisons: Compared::default(), spilled_bytes: 0 };
            let verified = check_pairs(self.session, bound, check, &grouped, evidence)?;
            let relates = bound.relating().is_some();
            let (mut record, mut shown) = (Vec::new(), std::collections::BTreeSet::new());
            verified.pairs.each(|pair| {
                record.clear();
                layout.encode(&pair, &mut record);
                shown.extend(documents(&pair).into_iter().filter(|_| relates));
                self.spool.push(Kind::algorithm(What::Judged, at), 0, &record)
            })?;
            for doc in shown {
                row(doc, &evidence.of(doc), &mut record);
                self.spool.push(Kind::algorithm(What::Evidence, at), 0, &record)?;
            }
            let undecided = verified.undecided.to_le_bytes();
            self.spool.push(Kind::algorithm(What::Undecided, at), 0, &undecided)?;
            self.compared(at, Compared { far: verified.far, ..Compared::default() })?;
        }
        Ok(())
    }

    fn copies(&self) -> Result<&dupsift_engine::classes::Classes> {
        self.known.copies.as_ref().ok_or_else(|| Error::Internal("a step without the copies".into()))
    }

    /// Sends rows to the buckets of their groups.
    fn send(&mut self, sorted: &Sorted, kind: Kind) -> Result<()> {
        let (width, group_width) = sorted.widths();
        let (layout, spool) = (self.layout, &mut self.spool);
        groups(self.session.engine, sorted, |rows| {
            spool.push_all(kind, layout.bucket(&rows[..group_width]), rows, width)
        })
    }
}

fn unasked(kind: Kind, _: &[u8]) -> Result<()> {
    Err(Error::Internal(format!("{kind:?} was not requested")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{Facts, write};
    use crate::test_kit::{Bench, random, reduced, rows_of, with_session};
    use dupsift_algorithms::corpus::CorpusStats;
    use dupsift_core::row::{Pair, Score};
    use dupsift_engine::reading::parts::put;
    use dupsift_spill::shuffle::AtomicCells;

    const MINHASH: usize = 1;

    fn opened(bench: &Bench) -> Opened {
        bench.in_tasks(&[("algorithms", "exact,minhash")])
    }

    fn block(kind: Kind, bucket: u32, rows: Vec<Vec<u8>>) -> Block {
        Block { kind, bucket, rows: rows.concat() }
    }

    fn encoded(a: u64, b: u64, similarity: f32, distance: f32, matched: u16) -> Vec<u8> {
        let mut bytes = Vec::new();
        let score = Score { similarity, distance: Some(distance) };
        PairLayout::new(Bench::ROWS).encode(&Pair::new(a, b, score, matched), &mut bytes);
        bytes
    }

    #[test]
    fn pairs_that_matched_several_times_are_merged() {
        let (bench, kind) = (Bench::new(), Kind::algorithm(What::Pairs, MINHASH));
        let (opened, dir, layout) = (opened(&bench), bench.dir(), PairLayout::new(Bench::ROWS));
        // Random occurrences of few pairs, and the best of each.
        let mut expected: BTreeMap<(u64, u64), Pair> = BTreeMap::new();
        let mut occurrences = Vec::new();
        for at in 0..400 {
            let (a, b) = (random(1, 4 * at, 6), 10 + random(1, 4 * at + 1, 6));
            let (similarity, matched) = (random(1, 4 * at + 2, 4) as f32 / 4.0, 1 << random(1, 4 * at + 3, 3));
            let row = encoded(a, b, similarity, similarity + 7.0, matched);
            let pair = layout.decode(&row);
            expected.entry((a, b)).and_modify(|known| *known = known.merge(pair)).or_insert(pair);
            occurrences.push(row);
        }
        // The result does not depend on the blocks in which the occurrences arrive.
        for size in [1, 7, 400] {
            let blocks: Vec<Block> = occurrences.chunks(size).map(|rows| block(kind, 3, rows.to_vec())).collect();
            let found = reduced(&opened, &Step::Merge, &Known::none(), &blocks, dir.path()).unwrap();
            assert!(found.iter().all(|block| block.kind == Kind::algorithm(What::Candidates, MINHASH)));
            let found = rows_of(&found, What::Candidates, layout.width());
            let found: Vec<Pair> = found.iter().map(|(_, row)| layout.decode(row)).collect();
            assert_eq!(found, expected.values().copied().collect::<Vec<_>>(), "{size}");
        }
    }

    #[test]
    fn the_pairs_of_two_algorithms_are_kept_apart() {
        let (bench, layout) = (Bench::new(), PairLayout::new(Bench::ROWS));
        let (opened, dir) = (opened(&bench), bench.dir());
        let of = |at| block(Kind::algorithm(What::Pairs, at), 0, vec![encoded(1, 2 + at as u64, 1.0, 0.0, 1)]);
        let found = reduced(&opened, &Step::Merge, &Known::none(), &[of(0), of(1), of(0)], dir.path()).unwrap();
        for at in [0, 1] {
            let of_one = found.iter().filter(|block| block.kind == Kind::algorithm(What::Candidates, at));
            let rows: Vec<u8> = of_one.flat_map(|block| block.rows.clone()).collect();
            assert_eq!((rows.len(), layout.decode(&rows).b), (layout.width(), 2 + at as u64));
        }
        let error = reduced(&opened, &Step::Merge, &Known::none(), &[of(2)], dir.path()).unwrap_err();
        assert!(error.to_string().contains("belongs to no algorithm"), "{error}");
        let other = block(Kind::algorithm(What::Candidates, 1), 0, vec![encoded(1, 2, 1.0, 0.0, 1)]);
        let error = reduced(&opened, &Step::Merge, &Known::none(), &[other], dir.path()).unwrap_err();
        assert!(error.to_string().contains("was not requested"), "{error}");
    }

    #[test]
    fn candidates_and_evidence_go_to_the_buckets_of_their_components() {
        let bench = Bench::new();
        let (opened, dir, layout) = (opened(&bench), bench.dir(), PairLayout::new(Bench::ROWS));
        // Documents 1, 2 and 30 are a component in bucket 4; 5 and 6 are a component in bucket 0.
        let buckets = BTreeMap::from([(1, 4), (2, 4), (30, 4), (5, 0), (6, 0)]);
        let known = with_session(&opened, dir.path(), |session| {
            let places = AtomicCells::new(dir.path(), "places", Bench::ROWS as usize).unwrap();
            buckets.iter().for_each(|(&doc, &bucket)| places.store(doc as usize, bucket + 1));
            let (path, stats) = (bench.at("known"), CorpusStats::none());
            write(&path, session, Facts { copies: None, stats: &stats, models: &[], places: Some(&places) }).unwrap();
            Known::read(&path, &opened, dir.path()).unwrap()
        });
        let evidence = |doc: u64| {
            let mut row = doc.to_le_bytes().to_vec();
            put(&vec![doc as u8; 3 * doc as usize], &mut row);
            row
        };
        let pairs = [(1, 2), (5, 6), (2, 30), (1, 30)].map(|(a, b)| encoded(a, b, 1.0, 0.0, 1));
        let (of_pairs, of_evidence) =
            (Kind::algorithm(What::Candidates, MINHASH), Kind::algorithm(What::Evidence, MINHASH));
        let blocks = [
            block(of_pairs, 0, pairs.to_vec()),
            block(of_evidence, 0, [6, 7, 1, 30].map(evidence).to_vec()),
            block(of_evidence, 0, [2, 5, 88].map(evidence).to_vec()),
        ];
        let found = reduced(&opened, &Step::Spread, &known, &blocks, dir.path()).unwrap();
        let of_kind = |kind, bucket| -> Vec<u8> {
            let blocks = found.iter().filter(|block| (block.kind, block.bucket) == (kind, bucket));
            blocks.flat_map(|block| block.rows.clone()).collect()
        };
        for (bucket, docs) in [(4, vec![2, 1, 30]), (0, vec![5, 6])] {
            let candidates = of_kind(of_pairs, bucket);
            assert!(candidates.chunks_exact(layout.width()).all(|row| buckets[&layout.decode(row).a] == bucket));
            assert_eq!(candidates.len() / layout.width(), if bucket == 4 { 3 } else { 1 });
            // Evidence of documents in no candidate pair is dropped.
            assert_eq!(of_kind(of_evidence, bucket), docs.into_iter().flat_map(evidence).collect::<Vec<_>>());
        }
        assert!(found.iter().all(|block| [0, 4].contains(&block.bucket)));
    }
}
