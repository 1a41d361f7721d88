//! Stores the distinct pairs of one algorithm, in order, in a temporary file. The pairs are sorted once; each stage that uses the pairs
//! reads them sequentially.

use std::ops::Range;

use crate::engine::checkpoints::{CheckpointReader, CheckpointWriter};
use crate::engine::threads::Engine;
use dupsift_algorithms::steps::merge::merge;
use dupsift_core::error::Result;
use dupsift_core::row::{Pair, PairLayout};
use dupsift_spill::shuffle::{FrozenHeap, Heap, Sorted};

/// The number of bytes that a thread collects before it appends them to the temporary file.
const GATHERED_BYTES: usize = 64 << 10;

/// Holds pairs in consecutive parts. Each part holds the pairs whose first document is in one range of document numbers.
pub struct PairList {
    layout: PairLayout,
    bytes: FrozenHeap,
    /// The byte ranges of the temporary file that hold each part, in order.
    parts: Vec<Vec<Range<usize>>>,
    rows: u64,
}

/// Holds the state of one thread that builds the list.
#[derive(Default)]
struct Maker {
    gathered: Vec<u8>,
    stretches: Vec<(usize, Range<usize>)>,
}

impl Maker {
    fn push(&mut self, heap: &Heap, part: usize, layout: PairLayout, pair: &Pair) -> Result<()> {
        layout.encode(pair, &mut self.gathered);
        if self.gathered.len() >= GATHERED_BYTES { self.send(heap, part) } else { Ok(()) }
    }

    fn send(&mut self, heap: &Heap, part: usize) -> Result<()> {
        if !self.gathered.is_empty() {
            let begin = heap.append(&self.gathered)? as usize;
            self.stretches.push((part, begin..begin + self.gathered.len()));
            self.gathered.clear();
        }
        Ok(())
    }
}

impl PairList {
    /// Merges the occurrences of each pair. The occurrences are deleted.
    pub fn merge(engine: &Engine<'_>, what: &str, occurrences: &Sorted, layout: PairLayout) -> Result<PairList> {
        let heap = Heap::new(engine.dir, what)?;
        let bar = engine.bar(what, occurrences.partitions());
        let makers = engine.work(
            occurrences.partitions(),
            || Ok(Maker::default()),
            |maker, part| {
                if occurrences.rows_of(part) > 0 {
                    let records = occurrences.load(part, engine.budget.a_thread)?;
                    let width = records.width();
                    for group in records.groups() {
                        engine.go_on()?;
                        let rows = &records.bytes()[group.start * width..group.end * width];
                        let Some(pair) = merge(layout, rows) else { continue };
                        maker.push(&heap, part, layout, &pair)?;
                    }
                    maker.send(&heap, part)?;
                }
                occurrences.remove(part)?;
                bar.add(1);
                Ok(())
            },
            |maker| Ok(maker.stretches),
        )?;
        PairList::of(layout, heap, occurrences.partitions(), makers)
    }

    /// Returns the pairs for which `keep` returns true. `keep` also receives the position of the pair in [`PairList::iter`].
    pub fn filter(
        &self,
        engine: &Engine<'_>,
        what: &str,
        keep: impl Fn(usize, &Pair) -> bool + Sync,
    ) -> Result<PairList> {
        self.revise(engine, what, self.layout, || (), |(), at, pair| Ok(keep(at, &pair).then_some(pair)))
    }

    /// Returns the result of `revise` for each pair. `revise` also receives the position of the pair in [`PairList::iter`], and a state that
    /// is created once per part.
    pub(crate) fn revise<S>(
        &self,
        engine: &Engine<'_>,
        what: &str,
        layout: PairLayout,
        state: impl Fn() -> S + Sync,
        revise: impl Fn(&mut S, usize, Pair) -> Result<Option<Pair>> + Sync,
    ) -> Result<PairList> {
        let heap = Heap::new(engine.dir, what)?;
        let bar = engine.bar(what, self.parts());
        let lengths = self.parts.iter().map(|part| part.iter().map(Range::len).sum::<usize>() / self.layout.width());
        let begins: Vec<usize> = lengths
            .scan(0, |begin, length| {
                *begin += length;
                Some(*begin - length)
            })
            .collect();
        let makers = engine.work(
            self.parts(),
            || Ok(Maker::default()),
            |maker, part| {
                let mut state = state();
                for (at, pair) in (begins[part]..).zip(self.part(part)) {
                    engine.go_on()?;
                    if let Some(pair) = revise(&mut state, at, pair)? {
                        maker.push(&heap, part, layout, &pair)?;
                    }
                }
                maker.send(&heap, part)?;
                bar.add(1);
                Ok(())
            },
            |maker| Ok(maker.stretches),
        )?;
        PairList::of(layout, heap, self.parts(), makers)
    }

    fn of(
        layout: PairLayout,
        heap: Heap,
        count: usize,
        makers: impl IntoIterator<Item = Vec<(usize, Range<usize>)>>,
    ) -> Result<PairList> {
        let mut parts = vec![Vec::new(); count];
        // Each part was written by a single thread, in order.
        makers.into_iter().flatten().for_each(|(part, stretch)| parts[part].push(stretch));
        let bytes = heap.freeze_in_order()?;
        let rows = (bytes.bytes().len() / layout.width()) as u64;
        Ok(PairList { layout, bytes, parts, rows })
    }

    /// Saves the pairs to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        let parts: Vec<Vec<(usize, usize)>> =
            self.parts.iter().map(|part| part.iter().map(|stretch| (stretch.start, stretch.end)).collect()).collect();
        to.plain(&(self.layout.has_relation(), parts, self.rows))?;
        to.heap(&self.bytes)
    }

    /// Restores the pairs from a checkpoint.
    pub fn restore(documents: u64, from: &mut CheckpointReader<'_>) -> Result<PairList> {
        let (has_relation, parts, rows): (bool, Vec<Vec<(usize, usize)>>, u64) = from.plain()?;
        let layout = PairLayout::new(documents);
        let parts = parts.into_iter().map(|part| part.into_iter().map(|(start, end)| start..end).collect()).collect();
        let bytes = from.heap()?;
        Ok(PairList { layout: if has_relation { layout.with_relation() } else { layout }, bytes, parts, rows })
    }

    /// Returns the layout of the pairs.
    pub fn layout(&self) -> PairLayout {
        self.layout
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.parts.len()
    }

    /// Returns the number of pairs.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the size of the temporary file in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes.bytes().len() as u64
    }

    /// Calls `each` with the pairs of one part, until an error occurs.
    pub fn each_of(&self, part: usize, mut each: impl FnMut(Pair) -> Result<()>) -> Result<()> {
        for stretch in &self.parts[part] {
            for bytes in self.bytes.bytes()[stretch.clone()].chunks_exact(self.layout.width()) {
                each(self.layout.decode(bytes))?;
            }
        }
        Ok(())
    }

    /// Calls `each` with all pairs, until an error occurs. This method costs less per pair than [`PairList::iter`], which must keep track
    /// of its position.
    pub fn each(&self, mut each: impl FnMut(Pair) -> Result<()>) -> Result<()> {
        (0..self.parts()).try_for_each(|part| self.each_of(part, &mut each))
    }

    /// Iterates over the pairs of one part.
    pub fn part(&self, part: usize) -> impl Iterator<Item = Pair> + '_ {
        let stretches = self.parts[part]
            .iter()
            .flat_map(|stretch| self.bytes.bytes()[stretch.clone()].chunks_exact(self.layout.width()));
        stretches.map(|bytes| self.layout.decode(bytes))
    }

    /// Iterates over all pairs.
    pub fn iter(&self) -> impl Iterator<Item = Pair> + '_ {
        (0..self.parts()).flat_map(|part| self.part(part))
    }
}
