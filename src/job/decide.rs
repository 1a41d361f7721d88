//! `removed/`: what `--decide`, `--keep` and `--chain` make of the pairs.

use std::collections::BTreeMap;

use super::classes::{Classes, number};
use super::group::Relation;
use super::ids::Ids;
use super::keep::KeepOrder;
use super::numbers::Numbers;
use super::options::Decide;
use super::workers::Job;
use crate::batch::{RemovalBuilder, RemovalRow, removal_schema};
use crate::error::Result;
use crate::io::{Stage, TableWriter};
use crate::row::{Score, Slots};
use crate::shuffle::{AtomicBits, Mapped, Sorted, Writer};
use crate::stage::connect::Forest;
use crate::stage::survive::{self, Finder, Lists, Removal};

/// Bytes of a row: document, kept document, algorithm (0: a chain), similarity.
const ROW: usize = 22;

/// How many documents may be looked at for one document before the rest is left out and counted.
const MOST_LISTED: u64 = 100_000;

/// What was decided.
pub struct Decided {
    rows: Sorted,
    algorithms: Vec<String>,
    /// Comparisons left out.
    pub left_out: u64,
}

/// One algorithm's relation with its links as arrays, for random access.
struct Linked<'r> {
    relation: &'r Relation,
    equal: Score,
    /// By class: where its links begin; one more place says where the last ones end. Empty where there are none.
    begins: Numbers,
    /// The classes linked to.
    links: Numbers,
    /// The bits of the similarity of each link.
    similarities: Mapped<u32>,
}

impl<'r> Linked<'r> {
    fn new(job: &Job<'_>, relation: &'r Relation, equal: Score) -> Result<Linked<'r>> {
        let count = 2 * relation.pairs.rows();
        // Two more than documents: while the links are filled in, place d + 1 moves from the begin of d to its end.
        let places = if count == 0 { 0 } else { job.documents() + 2 };
        let mut begins = Numbers::new(job.dir, "link-begins", places as usize, count)?;
        let mut links = Numbers::new(job.dir, "links", count as usize, job.documents())?;
        let mut similarities: Mapped<u32> = Mapped::new(job.dir, "link-similarities", count as usize)?;
        let (mut at, mut to) = (begins.slots(), links.slots());
        relation.pairs.each(|pair| {
            for doc in [pair.a, pair.b] {
                at.set(doc + 2, at.get(doc + 2) + 1);
            }
            job.go_on()
        })?;
        let mut before = 0;
        for place in 0..places {
            before += at.get(place);
            at.set(place, before);
        }
        let similarities_of_links = &mut similarities[..];
        relation.pairs.each(|pair| {
            for (from, linked) in [(pair.a, pair.b), (pair.b, pair.a)] {
                let place = at.get(from + 1);
                to.set(place, linked);
                similarities_of_links[place as usize] = pair.score.similarity.to_bits();
                at.set(from + 1, place + 1);
            }
            job.go_on()
        })?;
        Ok(Linked { relation, equal, begins, links, similarities })
    }
}

impl survive::Relation for Linked<'_> {
    fn class(&self, doc: u64) -> Option<u64> {
        let class = self.relation.classes.representative(doc);
        self.relation.signed.get(class as usize).then_some(class)
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        if self.similarities.is_empty() {
            return;
        }
        let (begin, end) = (self.begins.get(class) as usize, self.begins.get(class + 1) as usize);
        for (linked, &similarity) in self.links.docs(begin..end).iter().zip(&self.similarities[begin..end]) {
            each(linked, f32::from_bits(similarity));
        }
    }

    fn equal(&self) -> f32 {
        self.equal.similarity
    }
}

/// Decides which documents are removed; notes them and what they are matched to in `shown`.
pub fn decide(job: &Job<'_>, relations: &[(Relation, Score)], keep: &KeepOrder, shown: &AtomicBits) -> Result<Decided> {
    let running = job.clock.stage("decide");
    let chosen: Vec<&(Relation, Score)> = match &job.options.decide {
        Decide::Label(label) => relations.iter().filter(|(relation, _)| relation.label == *label).collect(),
        _ => relations.iter().collect(),
    };
    let needed = match &job.options.decide {
        Decide::AtLeast(count) => *count,
        Decide::All => chosen.len(),
        Decide::Label(_) => 1,
    };
    let linked =
        chosen.iter().map(|(relation, equal)| Linked::new(job, relation, *equal)).collect::<Result<Vec<_>>>()?;
    let algorithms = chosen.iter().map(|(relation, _)| relation.label.clone()).collect();

    // The documents that stand in a pair, of whatever algorithm.
    let count = shown.count() as usize;
    let mut order = Numbers::new(job.dir, "order", count, job.documents())?;
    let mut slots = order.slots();
    shown.iter().enumerate().for_each(|(at, doc)| slots.set(at as u64, doc as u64));
    keep.sort(job, slots)?;
    let order = order.docs(0..count);

    let out = job.ordered("removed", ROW, 8, 8, count as u64)?;
    let mut writer = out.writer();
    let mut push = |removal: Removal| {
        shown.set(removal.doc as usize);
        shown.set(removal.kept as usize);
        push_row(&mut writer, &removal)
    };
    let mut memory = Memory::new(job, linked.len(), needed)?;
    let mut finder = Finder::new(&linked, needed, MOST_LISTED);
    if job.options.remove_chains {
        let documents = job.documents();
        let mut parents = Numbers::new(job.dir, "decide-parents", documents as usize, documents)?;
        let mut forest = Forest::new(parents.slots());
        finder.connect(order, &mut memory.lists(), |x, y| forest.union(x, y));
        // The first of each component in the order of preference represents it.
        let mut representatives = Numbers::new(job.dir, "decide-best", documents as usize, documents)?;
        let mut representatives = representatives.slots();
        for doc in order.iter() {
            let root = forest.root(doc);
            match representatives.get(root).checked_sub(1) {
                None => representatives.set(root, doc + 1),
                Some(kept) => push(Removal { doc, kept, found: finder.pair(doc, kept) })?,
            }
        }
    } else {
        finder.survive(order, &mut memory.lists(), |a, b| keep.better(a, b), &mut push)?;
    }
    let left_out = finder.left_out;
    writer.flush()?;
    drop(writer);
    let rows = out.finish()?;
    running.end(count as u64, rows.rows(), rows.spilled_bytes());
    Ok(Decided { rows, algorithms, left_out })
}

/// The lists of kept documents, in work files.
struct Memory {
    heads: Vec<Numbers>,
    counts: Vec<Numbers>,
    next: Vec<Numbers>,
}

impl Memory {
    fn new(job: &Job<'_>, relations: usize, needed: usize) -> Result<Memory> {
        let documents = job.documents();
        let arrays = |name: &str, count: usize| -> Result<Vec<Numbers>> {
            (0..count).map(|_| Numbers::new(job.dir, name, documents as usize, documents)).collect()
        };
        // See `Lists`: one algorithm that is enough by itself needs no more than the heads.
        let long = if needed > 1 { relations } else { 0 };
        Ok(Memory {
            heads: arrays("kept-heads", relations)?,
            counts: arrays("kept-counts", long)?,
            next: arrays("kept-next", long)?,
        })
    }

    fn lists(&mut self) -> Lists<'_> {
        fn slots(arrays: &mut [Numbers]) -> Vec<Slots<'_>> {
            arrays.iter_mut().map(Numbers::slots).collect()
        }
        Lists { heads: slots(&mut self.heads), counts: slots(&mut self.counts), next: slots(&mut self.next) }
    }
}

fn push_row(writer: &mut Writer<'_>, removal: &Removal) -> Result<()> {
    let (algorithm, similarity) =
        removal.found.map_or((0, 0.0), |(number, similarity)| (number as u16 + 1, similarity));
    let mut row = [0; ROW];
    row[..8].copy_from_slice(&removal.doc.to_be_bytes());
    row[8..16].copy_from_slice(&removal.kept.to_be_bytes());
    row[16..18].copy_from_slice(&algorithm.to_be_bytes());
    row[18..].copy_from_slice(&similarity.to_bits().to_be_bytes());
    writer.push(&row)
}

/// What the removals come to.
#[derive(Clone, Debug, Default)]
pub struct Removals {
    /// Documents removed.
    pub removed: u64,
    /// By reason.
    pub reasons: BTreeMap<String, u64>,
    /// By input file.
    pub by_file: Vec<u64>,
}

/// Writes the table; also returns its bytes.
pub fn write(
    job: &Job<'_>,
    stage: &Stage,
    decided: &Decided,
    copies: &Classes,
    ids: &Ids<'_>,
) -> Result<(Removals, u64)> {
    let mut writer = TableWriter::create(&stage.path().join("removed/part-00000.parquet"), removal_schema(ids.kind()))?;
    let mut builder = RemovalBuilder::new(ids.kind());
    let keep_rule = job.options.keep.to_string();
    let mut removals = Removals { by_file: vec![0; job.source.files.len()], ..Removals::default() };
    let mut file = 0;
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, job.budget.a_thread)?;
        for at in 0..records.len() {
            job.go_on()?;
            let record = records.record(at);
            let (doc, kept) = (number(&record[..8]), number(&record[8..16]));
            let algorithm = (number(&record[16..18]) as usize).checked_sub(1);
            let reason = match algorithm {
                None => "chain",
                Some(_) if copies.representative(doc) == copies.representative(kept) => "copy",
                Some(_) => "pair",
            };
            builder.push(&RemovalRow {
                id: ids.of(doc).as_ref(),
                kept_id: ids.of(kept).as_ref(),
                similarity: algorithm.map(|_| f32::from_bits(number(&record[18..]) as u32)),
                algorithm: algorithm.map_or("", |number| &decided.algorithms[number]),
                reason,
                keep_rule: &keep_rule,
                doc,
                kept_doc: kept,
            })?;
            removals.removed += 1;
            *removals.reasons.entry(reason.to_string()).or_default() += 1;
            while job.source.files[file].first_doc + job.source.files[file].rows <= doc {
                file += 1;
            }
            removals.by_file[file] += 1;
            if builder.is_full() {
                writer.write(&builder.finish()?)?;
            }
        }
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    let (_, bytes) = writer.close()?;
    Ok((removals, bytes))
}
