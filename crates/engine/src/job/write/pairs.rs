//! Writes `pairs/`: a row for each pair of documents, with the ids from the input.

use arrow::array::builder::StringBuilder;
use arrow::array::{Array, Float32Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::SchemaRef;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};

use crate::engine::threads::Engine;
use crate::job::pair::contents::{Compared, Shares};
use crate::job::pair::expand::DocumentPairs;
use crate::job::pair::group::Relation;
use crate::reading::ids::Ids;
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::expand::MatchedBy;
use dupsift_core::error::Result;
use dupsift_core::row::{Pair, Related};
use dupsift_publish::{Stage, TableWriter};
use dupsift_tables::{FULL_ROWS, PairColumns, pair_schema};

/// Holds the data that the table shows about documents and pairs.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'t> {
    /// The ids of documents.
    pub ids: &'t Ids<'t>,
    /// The share of each document in a pair that the other document contains, if the documents were compared.
    pub compared: Option<&'t Compared>,
    /// The session, which maps document numbers to the numbers in tables.
    pub session: &'t Session<'t>,
}

/// Writes the table. Returns the number of pairs in the table, the number of these pairs whose documents share a template, and the size of
/// the table in bytes.
pub(crate) fn write(
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
    let parts = if shown.ids.are_long() { 1 } else { PARTS.min(engine.pool.current_num_threads()) };
    let (full, rows) = (parts * FULL_ROWS, Vec::with_capacity(parts * FULL_ROWS));
    let mut table = Table { writer, columns, full, rows, templates: 0 };
    let bar = engine.bar(&format!("write pairs {}", bound.label), pairs.parts());
    for part in 0..pairs.parts() {
        pairs.each_of(engine, relation, part, |pair| table.push(engine, pair))?;
        bar.add(1);
    }
    table.write()?;
    let templates = table.templates;
    table.writer.close().map(|(rows, bytes)| ([rows, templates], bytes))
}

/// Holds the table of pairs while it is written. Rows are collected first, because reading many ids together costs less than reading them
/// one by one, and because several batches are built at the same time.
struct Table<'t> {
    writer: TableWriter,
    columns: Columns<'t>,
    /// The number of rows to collect before they are written.
    full: usize,
    rows: Vec<Pair>,
    templates: u64,
}

/// The number of batches built at a time if ids are short on average. A batch may contain 8 MiB of ids.
const PARTS: usize = 4;
/// The number of pairs whose documents a thread compares at a time.
const AT_ONCE: usize = 128;

impl Table<'_> {
    #[inline]
    fn push(&mut self, engine: &Engine<'_>, pair: Pair) -> Result<()> {
        self.templates += u64::from(pair.is_template());
        self.rows.push(pair);
        if self.rows.len() == self.full {
            engine.go_on()?;
            self.write()?;
        }
        Ok(())
    }

    /// Writes the collected rows. Rows whose ids are so long that they fill several batches are written batch by batch.
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

/// Turns pairs into rows.
struct Columns<'t> {
    schema: SchemaRef,
    shown: Shown<'t>,
    verified: bool,
    rules: &'t [&'t str],
}

impl Columns<'_> {
    /// Returns the rows of these pairs. If the ids of the first pairs fill a batch, only their rows (at least one) are returned.
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
        let related = |name: fn(&Related) -> &'static str| {
            rows.iter().map(|pair| pair.related.as_ref().map(name)).collect::<StringArray>()
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
            relation: related(|related| related.relation.name()),
            why: related(|related| related.why.name()),
            next_best: rows.iter().map(|pair| pair.related.and_then(Related::next_best)).collect(),
            other_title: rows.iter().map(|pair| pair.related.map(|related| related.other_title)).collect(),
        };
        columns.table(&self.schema)
    }

    /// Returns how much of each document is contained in the other document of its pair. These comparisons make up most of the work, so all
    /// threads share them.
    fn shares(&self, pairs: &[Pair]) -> Vec<Option<[Shares; 2]>> {
        let Some(compared) = self.shown.compared else { return vec![None; pairs.len()] };
        let of = |pair: &Pair| compared.shares(pair.a, pair.b, self.verified);
        // Outside a thread pool, rayon would create a pool that uses all processors.
        if rayon::current_thread_index().is_none() {
            return pairs.iter().map(of).collect();
        }
        pairs.par_iter().with_min_len(AT_ONCE).map(of).collect()
    }
}
