//! `pairs/`: from classes and pairs of representatives to pairs of documents, in order, with the user's ids.
//!
//! Pairs of two documents that are alone in their classes are in order already, and stay in the list that grouping made.
//! Only what classes stand for is listed and sorted here; the two are merged when the table is written.

use std::iter::Peekable;

use arrow::array::builder::StringBuilder;
use arrow::array::{Array, Float32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::SchemaRef;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::engine::threads::{Engine, UNKNOWN};
use crate::job::pair::contents::{Alike, Compared, Shares};
use crate::job::pair::group::Relation;
use crate::job::read::keep::KeepOrder;
use crate::job::run_report::AlgorithmReport;
use crate::reading::ids::Ids;
use crate::session::Session;
use dupsift_algorithms::stage::bound::Bound;
use dupsift_algorithms::stage::expand::{MatchedBy, between, of_both, of_class, within};
use dupsift_core::error::Result;
use dupsift_core::row::{Docs, Pair, PairLayout, Related};
use dupsift_files::io::{Stage, TableWriter};
use dupsift_files::tables::{FULL_ROWS, PairColumns, pair_schema};
use dupsift_spill::shuffle::{AtomicBits, Sorted, Writer};

/// Pairs of documents of one algorithm.
pub struct DocumentPairs {
    /// Those that classes stand for; the others stand in the relation.
    listed: Sorted,
    layout: PairLayout,
    /// Pairs in all, written or not.
    total: u64,
    /// Of these, such as have no document of an index; none where none takes part.
    of_night: Option<u64>,
    /// Of all, forms.
    forms: u64,
    /// Classes of which only pairs with the best document are written.
    large_groups: u64,
}

impl DocumentPairs {
    /// Notes how many there are.
    pub fn note(&self, report: &mut AlgorithmReport) {
        (report.pairs, report.pairs_of_night) = (self.total, self.of_night);
        (report.forms, report.large_groups) = (self.forms, self.large_groups);
    }
}

/// What is expanded, and how.
struct Expanding<'e> {
    bound: &'e Bound<'e>,
    relation: &'e Relation,
    alike: &'e Alike,
    keep: &'e KeepOrder,
    shown: &'e AtomicBits,
    layout: PairLayout,
    max_group: u64,
    session: &'e Session<'e>,
}

/// What one thread expanded.
struct Expanded<'s> {
    writer: Writer<'s>,
    record: Vec<u8>,
    total: u64,
    of_night: u64,
    forms: u64,
    large_groups: u64,
}

impl Expanding<'_> {
    /// The pairs within one class.
    fn class(&self, class: Docs<'_>, to: &mut Expanded<'_>) -> Result<()> {
        let old = self.old(class);
        if old == class.len() as u64 {
            return Ok(());
        }
        to.large_groups += u64::from(class.len() as u64 > self.max_group);
        let best = |members: Docs<'_>| self.keep.best(members);
        let found = within(class, self.max_group, best, |a, b| {
            if self.session.are_old(a, b) {
                return Ok(());
            }
            let are_copies = |pair: &Pair| self.alike.note(pair);
            let pair = of_class(&self.bound.scheme, self.relation.same, a, b, are_copies);
            self.push((&mut to.writer, &mut to.record), &pair)
        })?;
        let pairs_of = |count: u64| count * count.saturating_sub(1) / 2;
        to.total += found - pairs_of(old);
        to.of_night += pairs_of(class.len() as u64 - old);
        Ok(())
    }

    /// How many documents of a class are of an index.
    fn old(&self, class: Docs<'_>) -> u64 {
        if self.session.base == 0 { 0 } else { class.iter().take_while(|&doc| doc < self.session.base).count() as u64 }
    }

    /// The pairs that one of representatives stands for; it stays where it is if these are alone.
    fn pair(&self, pair: &Pair, to: &mut Expanded<'_>) -> Result<()> {
        self.alike.note(pair);
        let found = if stays(self.relation, pair) {
            self.show(pair);
            to.of_night += u64::from(pair.a >= self.session.base);
            1
        } else {
            let (a, b) = (self.relation.members(pair.a), self.relation.members(pair.b));
            let best = |members: Docs<'_>| self.keep.best(members);
            let found = between(a, b, self.max_group, best, |x, y| {
                if self.session.are_old(x, y) {
                    return Ok(());
                }
                let pair = of_both(&self.bound.scheme, pair, x, y);
                // Equal documents of an index are no pair here, so their class has not noted them.
                if self.session.base > 0 {
                    self.alike.note(&pair);
                }
                self.push((&mut to.writer, &mut to.record), &pair)
            })?;
            let old = (self.old(a), self.old(b));
            to.of_night += (a.len() as u64 - old.0) * (b.len() as u64 - old.1);
            found - old.0 * old.1
        };
        to.total += found;
        to.forms += if pair.is_form() { found } else { 0 };
        Ok(())
    }

    fn push(&self, (writer, record): (&mut Writer<'_>, &mut Vec<u8>), pair: &Pair) -> Result<()> {
        self.show(pair);
        record.clear();
        self.layout.encode(pair, record);
        writer.push(record)
    }

    fn show(&self, pair: &Pair) {
        self.shown.set(pair.a as usize);
        self.shown.set(pair.b as usize);
    }
}

/// Expands one relation; notes each document that stands in a pair in `shown`, and each that does with another than its
/// copies in `alike`.
pub fn expand(
    session: &Session<'_>,
    bound: &Bound<'_>,
    relation: &Relation,
    alike: &Alike,
    keep: &KeepOrder,
    shown: &AtomicBits,
) -> Result<DocumentPairs> {
    let running = session.engine.clock.stage(format!("expand {}", relation.label));
    let layout = relation.pairs.layout();
    let expanding =
        Expanding { bound, relation, alike, keep, shown, layout, max_group: session.options.max_group, session };
    let name = format!("{}-documents", relation.label);
    let out = session.engine.ordered(
        session.documents(),
        &name,
        layout.width(),
        layout.group_width(),
        layout.group_width() / 2,
        UNKNOWN,
    )?;
    let pieces = relation.pairs.parts();
    let begin = |piece: usize| (session.documents() as u128 * piece as u128 / pieces as u128) as u64;
    let bar = session.engine.bar(&format!("expand {}", relation.label), pieces);
    let counts = session.engine.work(
        pieces,
        || Ok(Expanded { writer: out.writer(), record: Vec::new(), total: 0, of_night: 0, forms: 0, large_groups: 0 }),
        |expanded, piece| {
            for class in relation.classes(begin(piece)..begin(piece + 1)) {
                session.engine.go_on()?;
                expanding.class(class, expanded)?;
            }
            relation.pairs.each_of(piece, |pair| {
                session.engine.go_on()?;
                expanding.pair(&pair, expanded)
            })?;
            bar.add(1);
            Ok(())
        },
        |mut expanded| {
            expanded.writer.flush().map(|()| [expanded.total, expanded.of_night, expanded.forms, expanded.large_groups])
        },
    )?;
    let listed = out.finish()?;
    let [total, of_night, forms, large_groups] = [0, 1, 2, 3].map(|at| counts.iter().map(|counts| counts[at]).sum());
    running.end(relation.pairs.rows(), listed.rows(), listed.spilled_bytes());
    let of_night = (session.base > 0).then_some(of_night);
    Ok(DocumentPairs { listed, layout, total, of_night, forms, large_groups })
}

/// Whether a pair of representatives is a pair of documents as it stands: no other document is equal to either.
fn stays(relation: &Relation, pair: &Pair) -> bool {
    relation.classes.is_alone(pair.a) && relation.classes.is_alone(pair.b)
}

/// What is shown of documents and pairs.
#[derive(Clone, Copy)]
pub struct Shown<'t> {
    /// The ids of documents.
    pub ids: &'t Ids<'t>,
    /// How much of one document stands in the other, where that was looked at.
    pub compared: Option<&'t Compared>,
    /// Which numbers documents have in tables.
    pub session: &'t Session<'t>,
}

/// Writes the table; returns how many pairs it holds, how many of them are forms, and its bytes.
pub fn write(
    engine: &Engine<'_>,
    stage: &Stage,
    bound: &Bound<'_>,
    relation: &Relation,
    pairs: &DocumentPairs,
    shown: Shown<'_>,
) -> Result<([u64; 2], u64)> {
    let path = stage.path().join(format!("pairs/algorithm={}/part-00000.parquet", bound.label));
    let schema = pair_schema(shown.ids.kind());
    let writer = TableWriter::create(&path, schema.clone())?;
    let columns = Columns { schema, shown, verified: bound.verify().is_some(), rules: bound.scheme.rules };
    let parts = if shown.ids.mean_bytes() <= MOST_ID_BYTES { PARTS.min(engine.pool.current_num_threads()) } else { 1 };
    let (full, rows) = (parts * FULL_ROWS, Vec::with_capacity(parts * FULL_ROWS));
    let mut table = Table { writer, columns, full, rows, forms: 0 };
    let bar = engine.bar(&format!("write pairs {}", bound.label), pairs.listed.partitions());
    for part in 0..pairs.listed.partitions() {
        let records = match pairs.listed.rows_of(part) {
            0 => None,
            _ => Some(pairs.listed.load(part, engine.budget.a_thread)?),
        };
        let bytes = records.as_ref().map_or(&[][..], |records| records.bytes());
        let mut listed = bytes.chunks_exact(pairs.layout.width()).map(|bytes| pairs.layout.decode(bytes)).peekable();
        relation.pairs.each_of(part, |pair| {
            if stays(relation, &pair) {
                before(&mut listed, &pair, |pair| table.push(engine, pair))?;
                table.push(engine, pair)?;
            }
            Ok(())
        })?;
        listed.try_for_each(|pair| table.push(engine, pair))?;
        pairs.listed.remove(part)?;
        bar.add(1);
    }
    table.write()?;
    let forms = table.forms;
    table.writer.close().map(|(rows, bytes)| ([rows, forms], bytes))
}

/// Takes the pairs off a sequence in order that stand before another pair.
fn before(
    listed: &mut Peekable<impl Iterator<Item = Pair>>,
    other: &Pair,
    mut each: impl FnMut(Pair) -> Result<()>,
) -> Result<()> {
    while let Some(pair) = listed.next_if(|pair| (pair.a, pair.b) < (other.a, other.b)) {
        each(pair)?;
    }
    Ok(())
}

/// The table of pairs while it is written: rows are gathered, for a column of ids is cheaper than one id after the other, and several
/// batches of them are made at a time.
struct Table<'t> {
    writer: TableWriter,
    columns: Columns<'t>,
    /// So many rows are gathered.
    full: usize,
    rows: Vec<Pair>,
    forms: u64,
}

/// So many batches are made at a time, where ids are short on average. Each may have 8 MiB of ids.
const PARTS: usize = 4;
const MOST_ID_BYTES: u64 = 256;
/// Pairs whose documents a thread compares before another one may take some.
const AT_ONCE: usize = 128;

impl Table<'_> {
    #[inline]
    fn push(&mut self, engine: &Engine<'_>, pair: Pair) -> Result<()> {
        self.forms += u64::from(pair.is_form());
        self.rows.push(pair);
        if self.rows.len() == self.full {
            engine.go_on()?;
            self.write()?;
        }
        Ok(())
    }

    /// Writes what was gathered. Rows whose ids are so long that they fill several batches follow one batch after the other.
    fn write(&mut self) -> Result<()> {
        let parts: Vec<&[Pair]> = self.rows.chunks(FULL_ROWS).collect();
        let batches: Vec<RecordBatch> = match parts[..] {
            [part] => vec![self.columns.of(part)?],
            _ => parts.par_iter().with_max_len(1).map(|part| self.columns.of(part)).collect::<Result<_>>()?,
        };
        for (part, batch) in parts.into_iter().zip(batches) {
            let mut from = batch.num_rows();
            self.writer.write(&batch)?;
            drop(batch);
            while from < part.len() {
                let batch = self.columns.of(&part[from..])?;
                from += batch.num_rows();
                self.writer.write(&batch)?;
            }
        }
        self.rows.clear();
        Ok(())
    }
}

/// How pairs become rows.
struct Columns<'t> {
    schema: SchemaRef,
    shown: Shown<'t>,
    verified: bool,
    rules: &'t [&'t str],
}

impl Columns<'_> {
    /// The rows of all these pairs, or of the first ones, at least one, where the ids of these fill a batch.
    fn of(&self, pairs: &[Pair]) -> Result<RecordBatch> {
        let docs = |of: fn(&Pair) -> u64| pairs.iter().map(of).collect::<Vec<u64>>();
        let (a, b) = (docs(|pair| pair.a), docs(|pair| pair.b));
        let id_a = self.shown.ids.column(&a)?;
        let id_b = self.shown.ids.column(&b[..id_a.len()])?;
        let rows = &pairs[..id_b.len()];
        let session = self.shown.session;
        let numbers = |docs: &[u64]| Int64Array::from_iter_values(docs.iter().map(|&doc| session.number(doc) as i64));
        let (mut names, mut matched_by) = (MatchedBy::new(self.rules), StringBuilder::new());
        rows.iter().for_each(|pair| matched_by.append_value(names.of(pair.matched)));
        let shares = self.shares(rows);
        let column = |of: fn(&[Shares; 2]) -> f32| shares.iter().map(|both| both.as_ref().map(of)).collect();
        let told = |name: fn(&Related) -> &'static str| {
            rows.iter().map(|pair| pair.told.as_ref().map(name)).collect::<StringArray>()
        };
        let columns = PairColumns {
            id_a: id_a.slice(0, rows.len()),
            id_b,
            similarity: Float32Array::from_iter_values(rows.iter().map(|pair| pair.score.similarity)),
            distance: rows.iter().map(|pair| pair.score.distance).collect(),
            matched_by: matched_by.finish(),
            verified: vec![self.verified; rows.len()].into(),
            doc_a: numbers(&a[..rows.len()]),
            doc_b: numbers(&b[..rows.len()]),
            contained_a: column(|both| both[0].grams),
            contained_b: column(|both| both[1].grams),
            numbers_a: column(|both| both[0].numbers),
            numbers_b: column(|both| both[1].numbers),
            relation: told(|told| told.relation.name()),
            why: told(|told| told.why.name()),
            next_best: rows.iter().map(|pair| pair.told.and_then(Related::next_best)).collect(),
            other_title: rows.iter().map(|pair| pair.told.map(|told| told.other_title)).collect(),
        };
        columns.table(&self.schema)
    }

    /// How much of one document stands in the other, of each pair: most of the work, which all threads share.
    fn shares(&self, pairs: &[Pair]) -> Vec<Option<[Shares; 2]>> {
        let Some(compared) = self.shown.compared else { return vec![None; pairs.len()] };
        let of = |pair: &Pair| compared.shares(pair.a, pair.b, self.verified);
        // Outside of a pool the library would make one of all processors.
        if rayon::current_thread_index().is_none() {
            return pairs.iter().map(of).collect();
        }
        pairs.par_iter().with_min_len(AT_ONCE).map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::row::Score;

    #[test]
    fn two_sequences_in_order_are_merged_into_one() {
        let of = |pairs: &[(u64, u64)]| -> Vec<Pair> {
            pairs.iter().map(|&(a, b)| Pair::new(a, b, Score::EQUAL, 1)).collect()
        };
        let all = of(&[(1, 2), (1, 5), (2, 3), (4, 9), (7, 8)]);
        for taken in 0..1 << all.len() {
            let part = |bit| (0..all.len()).filter(move |at| taken >> at & 1 == bit).map(|at| all[at]);
            let (mut listed, mut merged) = (part(1).peekable(), Vec::new());
            for pair in part(0) {
                before(&mut listed, &pair, |pair| Ok(merged.push(pair))).expect("nothing fails");
                merged.push(pair);
            }
            merged.extend(listed);
            assert_eq!(merged, all, "{taken:b}");
        }
    }
}
