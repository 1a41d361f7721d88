//! Implements the Arrow IPC format, which stores columns in batches. Both the file format (including `.feather`) and the stream format are
//! supported.

use crate::arrow::ipc;
use crate::arrow::ipc::{Layout, batches};
use crate::compressed::coding::Coding;
use crate::format::Format;
use crate::format::copies::Copies;
use crate::format::facts::Facts;
use crate::format::ids::{EachIds, Failed, IdBatches, IdColumns, Ids, IdsRead};
use crate::format::known::{KnownColumns, Look};
use crate::format::nested;
use crate::format::open::{Opened, Opening, Unusable};
use crate::format::read::Reading;
use crate::format::schema;
use crate::format::stretch::{Stretch, Unit};
use crate::format::want::MAX_BATCH_ROWS;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef};
use dupsift_core::error::{Error, Result};
use dupsift_tables::Documents;
use dupsift_tables::columns::read_as;
use dupsift_tables::nested::attached;
use dupsift_tables::nested::lists::is_texts;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(crate) struct Arrow;

/// The number of layouts to keep. Parts are read in order, so each thread needs only one layout.
const LAYOUTS_KEPT: usize = 32;

/// The most recently used layouts, which all reads share.
#[derive(Debug, Default)]
struct Kept(Mutex<HashMap<PathBuf, Arc<Layout>>>);

impl Kept {
    fn layout(&self, file: &File, path: &Path) -> std::result::Result<Arc<Layout>, String> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = lock().get(path) {
            return Ok(layout.clone());
        }
        let layout = Arc::new(Layout::of(file)?);
        let mut layouts = lock();
        if layouts.len() >= LAYOUTS_KEPT {
            layouts.clear();
        }
        layouts.insert(path.to_path_buf(), layout.clone());
        Ok(layout)
    }
}

static FACTS: Facts = Facts { is_columnar: true, ..Facts::new("Arrow IPC", &[".arrow", ".feather"]) };

impl Format for Arrow {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn columns(&self, file: File, _: Coding, _: Look<'_>) -> std::result::Result<Option<KnownColumns>, String> {
        Ok(Some(Layout::of(&file)?.shown().into()))
    }

    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable> {
        let layout = Layout::of(&file).map_err(Unusable::Bad)?;
        let has = schema::check(opening.columns, &layout.shown()).map_err(Unusable::Lacks)?;
        Ok(Opened { pieces: layout.pieces, lost: layout.lost, ..has.into() })
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        let layout = reading.shared.of::<Kept>().layout(&file, reading.path).map_err(|why| reading.bad(why))?;
        let columns = reading.columns;
        let places = places(&layout, reading.names().into_iter());
        let (text, id) = reading.text_and_id();
        let (mut row, mut chosen) = (0u64, reading.chosen.unwrap_or_default());
        let part = (reading.part.from, reading.part.to);
        let strings = strings(&layout);
        let is_attached = |field: &FieldRef| attached::is_attached(field.name()) && !columns.is_text(field.name());
        let has_pictures = layout.schema.as_ref().is_some_and(|schema| schema.fields().iter().any(is_attached));
        let has_pictures = has_pictures && !columns.html;
        let with_pictures = text.filter(|_| has_pictures);
        batches(file, &layout, part, places, &|why| reading.bad(why), &mut |batch| {
            let batch = nested::joined(as_views(&batch)?, &columns.lists)?;
            let batch = nested::with_pictures(batch, with_pictures)?;
            let first = row;
            row += batch.num_rows() as u64;
            let mut hand_on = |from: u64, rows: usize| {
                let some = batch.slice((from - first) as usize, rows);
                let attached = vec![None; if has_pictures && !columns.parts.is_empty() { some.num_rows() } else { 0 }];
                let documents =
                    Documents::of_bytes(reading.first_doc + from, some, (text, id), &strings, columns.html)?;
                each(documents.with_attached(attached))
            };
            if reading.chosen.is_none() {
                return (first..row)
                    .step_by(MAX_BATCH_ROWS)
                    .try_for_each(|from| hand_on(from, MAX_BATCH_ROWS.min((row - from) as usize)));
            }
            // Adjacent rows are passed on together.
            while let Some(&from) = chosen.first().filter(|from| **from < row) {
                let next = |(at, chosen): (usize, &u64)| *chosen == from + at as u64 && *chosen < row;
                let rows = chosen.iter().take(MAX_BATCH_ROWS).enumerate().take_while(|pair| next(*pair)).count();
                hand_on(from, rows)?;
                chosen = &chosen[rows..];
            }
            Ok(())
        })?;
        if row != reading.rows {
            return Err(reading
                .bad(format!("the file changed while it was being read: {} rows before, {row} now", reading.rows)));
        }
        Ok(())
    }

    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str> {
        Err("rows cannot be removed from Arrow files; convert them to Parquet, or use the removed/ table")
    }

    fn ids(&self) -> Option<&dyn Ids> {
        Some(self)
    }

    fn stretches(&self, file: File, reading: &Reading<'_>, _: u64) -> Result<Vec<Stretch>> {
        let layout = reading.shared.of::<Kept>().layout(&file, reading.path).map_err(|why| reading.bad(why))?;
        let part = layout.pieces.iter().filter(|piece| (reading.part.from..reading.part.to).contains(&piece.start));
        let bytes = part.map(|piece| piece.held).max().unwrap_or(0);
        Ok(vec![Stretch {
            rows: reading.rows,
            bytes,
            longest: 0,
            column: reading.columns.text.clone(),
            unit: Unit::Batch,
        }])
    }
}

impl Ids for Arrow {
    fn read_ids(&self, file: File, _: Coding, names: IdColumns<'_>, each: &mut EachIds<'_>) -> IdsRead {
        let layout = Layout::of(&file)?;
        let IdColumns { ids: names, labels } = names;
        let shown = layout.shown();
        let label = labels.iter().copied().find(|name| shown.iter().any(|column| column.name == *name));
        let places = places(&layout, names.into_iter().chain(label));
        let strings = strings(&layout);
        let (mut goes_on, mut rows) = (true, IdBatches::new(names, label, &strings));
        batches(file, &layout, (0, u64::MAX), places, &Failed::Damaged, &mut |batch| {
            goes_on = goes_on && rows.pass_on(&batch, each)?;
            Ok(())
        })?;
        match &layout.lost {
            Some(lost) if goes_on => Err(Failed::Damaged(lost.why.clone())),
            _ => Ok(()),
        }
    }
}

/// Returns the positions of the columns that have these names. If a name occurs twice, the first column is used.
fn places<'n>(layout: &Layout, names: impl Iterator<Item = &'n str>) -> Vec<usize> {
    let place = |name: &str| layout.schema.as_ref()?.fields().iter().position(|field| field.name() == name);
    let mut places: Vec<usize> = names.filter_map(place).collect();
    places.sort_unstable();
    places.dedup();
    places
}

/// Returns the names of the string columns.
fn strings(layout: &Layout) -> Vec<String> {
    let fields = layout.schema.iter().flat_map(|schema| schema.fields().iter());
    let holds_strings = |data_type: &DataType| ipc::is_string(data_type) || is_texts(data_type);
    fields.filter(|field| holds_strings(field.data_type())).map(|field| field.name().clone()).collect()
}

/// Returns the batch with its binary columns converted to byte views, the type that is also used for columns from Parquet files.
fn as_views(batch: &RecordBatch) -> Result<RecordBatch> {
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
        let view = match column.data_type() {
            DataType::Binary | DataType::LargeBinary => {
                read_as::plain(column).map_err(Error::table("read a column of an Arrow file"))?
            }
            _ => column.clone(),
        };
        columns.push((field.name().clone(), view, true));
    }
    if columns.is_empty() {
        return Ok(batch.clone());
    }
    RecordBatch::try_from_iter_with_nullable(columns).map_err(Error::table("read an Arrow file"))
}
