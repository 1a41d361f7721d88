//! `removed/`: what `--decide`, `--keep` and `--chain` make of the pairs.

use std::collections::BTreeMap;

use super::classes::{Classes, number};
use super::group::Relation;
use super::ids::Ids;
use super::keep::KeepOrder;
use super::options::Decide;
use super::workers::Job;
use crate::batch::{RemovalBuilder, RemovalRow, removal_schema};
use crate::error::Result;
use crate::io::{Stage, TableWriter};
use crate::row::Score;
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
    /// By class: where its links begin in `links`, plus one.
    begins: Mapped<u64>,
    /// For each class their number, then the classes with the bits of the similarity.
    links: Mapped<u64>,
}

impl<'r> Linked<'r> {
    fn new(job: &Job<'_>, relation: &'r Relation, equal: Score) -> Result<Linked<'r>> {
        let rows = relation.pairs.rows() * 2;
        let shuffle = job.ordered(&format!("{}-links", relation.label), 20, 8, 8, rows)?;
        let mut writer = shuffle.writer();
        for partition in 0..relation.pairs.partitions() {
            relation.each_pair(job, partition, |pair| {
                for (from, to) in [(pair.a, pair.b), (pair.b, pair.a)] {
                    let mut row = [0; 20];
                    row[..8].copy_from_slice(&from.to_be_bytes());
                    row[8..16].copy_from_slice(&to.to_be_bytes());
                    row[16..].copy_from_slice(&pair.score.similarity.to_bits().to_be_bytes());
                    writer.push(&row)?;
                }
                Ok(())
            })?;
        }
        writer.flush()?;
        drop(writer);
        let sorted = shuffle.finish()?;
        let mut begins: Mapped<u64> = Mapped::new(job.dir, "link-begins", job.documents() as usize)?;
        let mut links: Mapped<u64> = Mapped::new(job.dir, "links", sorted.rows() as usize * 3)?;
        let mut used = 0;
        for partition in 0..sorted.partitions() {
            let records = sorted.load(partition, job.budget.a_thread)?;
            for group in records.groups() {
                begins[number(&records.record(group.start)[..8]) as usize] = used as u64 + 1;
                links[used] = group.len() as u64;
                used += 1;
                for at in group {
                    let record = records.record(at);
                    links[used] = number(&record[8..16]);
                    links[used + 1] = number(&record[16..]);
                    used += 2;
                }
            }
        }
        Ok(Linked { relation, equal, begins, links })
    }
}

impl survive::Relation for Linked<'_> {
    fn class(&self, doc: u64) -> Option<u64> {
        let class = self.relation.classes.representative(doc);
        self.relation.signed.get(class as usize).then_some(class)
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        let Some(begin) = self.begins[class as usize].checked_sub(1) else { return };
        let begin = begin as usize;
        let count = self.links[begin] as usize;
        for link in self.links[begin + 1..begin + 1 + 2 * count].chunks_exact(2) {
            each(link[0], f32::from_bits(link[1] as u32));
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

    let mut order = involved(job, &chosen)?;
    order.sort_unstable_by(|&a, &b| keep.compare(a, b));
    let count = order.len();

    let out = job.ordered("removed", ROW, 8, 8, count as u64)?;
    let mut writer = out.writer();
    let mut push = |removal: Removal| {
        shown.set(removal.doc as usize);
        shown.set(removal.kept as usize);
        push_row(&mut writer, &removal)
    };
    let mut memory = Memory::new(job, linked.len())?;
    let mut finder = Finder::new(&linked, needed, MOST_LISTED);
    if job.options.remove_chains {
        let mut parents: Mapped<u64> = Mapped::new(job.dir, "decide-parents", job.documents() as usize)?;
        let mut forest = Forest::new(&mut parents);
        finder.connect(&order, &mut memory.lists(), |x, y| forest.union(x, y));
        // The first of each component in the order of preference represents it.
        let mut representatives: Mapped<u64> = Mapped::new(job.dir, "decide-best", job.documents() as usize)?;
        for &doc in order.iter() {
            let best = &mut representatives[forest.root(doc) as usize];
            match best.checked_sub(1) {
                None => *best = doc + 1,
                Some(kept) => push(Removal { doc, kept, found: finder.pair(doc, kept) })?,
            }
        }
    } else {
        finder.survive(&order, &mut memory.lists(), |a, b| keep.better(a, b), &mut push)?;
    }
    let left_out = finder.left_out;
    writer.flush()?;
    drop(writer);
    let rows = out.finish()?;
    running.end(count as u64, rows.rows(), rows.spilled_bytes());
    Ok(Decided { rows, algorithms, left_out })
}

/// The documents that stand in a class of two or more or in a pair, ascending.
fn involved(job: &Job<'_>, relations: &[&(Relation, Score)]) -> Result<Mapped<u64>> {
    let bits = AtomicBits::new(job.dir, "involved", job.documents() as usize)?;
    let note = |docs: &[u64]| {
        docs.iter().for_each(|&doc| {
            bits.set(doc as usize);
        })
    };
    for (relation, _) in relations {
        relation.each_class(|class| {
            note(class);
            Ok::<_, crate::error::Error>(())
        })?;
        for partition in 0..relation.pairs.partitions() {
            relation.each_pair(job, partition, |pair| {
                note(relation.members(&pair.a));
                note(relation.members(&pair.b));
                Ok(())
            })?;
        }
    }
    let mut documents: Mapped<u64> = Mapped::new(job.dir, "order", bits.count() as usize)?;
    for (to, doc) in documents.iter_mut().zip(bits.iter()) {
        *to = doc as u64;
    }
    Ok(documents)
}

/// The lists of kept documents, in work files.
struct Memory {
    heads: Vec<Mapped<u64>>,
    counts: Vec<Mapped<u64>>,
    next: Vec<Mapped<u64>>,
}

impl Memory {
    fn new(job: &Job<'_>, count: usize) -> Result<Memory> {
        let arrays = |name: &str| -> Result<Vec<Mapped<u64>>> {
            (0..count).map(|_| Mapped::new(job.dir, name, job.documents() as usize)).collect()
        };
        Ok(Memory { heads: arrays("kept-heads")?, counts: arrays("kept-counts")?, next: arrays("kept-next")? })
    }

    fn lists(&mut self) -> Lists<'_> {
        fn slices(arrays: &mut [Mapped<u64>]) -> Vec<&mut [u64]> {
            arrays.iter_mut().map(|array| &mut array[..]).collect()
        }
        Lists { heads: slices(&mut self.heads), counts: slices(&mut self.counts), next: slices(&mut self.next) }
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

/// Writes the table.
pub fn write(job: &Job<'_>, stage: &Stage, decided: &Decided, copies: &Classes, ids: &Ids) -> Result<Removals> {
    let running = job.clock.stage("write removed");
    let mut writer = TableWriter::create(&stage.path().join("removed/part-00000.parquet"), removal_schema(ids.kind()))?;
    let mut builder = RemovalBuilder::new(ids.kind());
    let keep_rule = job.options.keep.to_string();
    let mut removals = Removals { by_file: vec![0; job.source.files.len()], ..Removals::default() };
    let mut file = 0;
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, job.budget.a_thread)?;
        for at in 0..records.len() {
            let record = records.record(at);
            let (doc, kept) = (number(&record[..8]), number(&record[8..16]));
            let algorithm = (number(&record[16..18]) as usize).checked_sub(1);
            let reason = match algorithm {
                None => "chain",
                Some(_) if copies.representative(doc) == copies.representative(kept) => "copy",
                Some(_) => "pair",
            };
            builder.push(&RemovalRow {
                id: ids.of(job, doc).as_ref(),
                kept_id: ids.of(job, kept).as_ref(),
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
    let (rows, bytes) = writer.close()?;
    running.end(rows, rows, bytes);
    Ok(removals)
}
