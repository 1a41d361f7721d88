//! Implements the Parquet format, which stores columns in row groups.

use crate::compressed::coding::Coding;
use crate::copy::copying::{Copying, Fits};
use crate::format::Format;
use crate::format::columns::Columns;
use crate::format::copies::{Change, Copies};
use crate::format::facts::Facts;
use crate::format::ids::{EachIds, Failed, IdBatches, IdColumns, Ids, IdsRead};
use crate::format::known::{KnownColumns, Look, Shown};
use crate::format::nested;
use crate::format::open::{Opened, Opening, Unusable};
use crate::format::read::{Reading, Shared};
use crate::format::schema;
use crate::format::starts::{Starts, Within};
use crate::format::stretch::Stretch;
use crate::format::want::MAX_BATCH_ROWS;
use crate::parquet::bounded::{Bounded, check_pages};
use crate::parquet::copy;
use crate::parquet::fields::{describe, describe_top};
use crate::parquet::footer::Footer;
use crate::parquet::load::{check_plain, guarded, load};
use crate::parquet::page_headers;
use crate::parquet::page_headers::Page;
use crate::parquet::page_memory::{Column, stretches};
use crate::parquet::page_starts::starts;
use crate::parquet::pieces::pieces;
use crate::parquet::read;
use crate::parquet::read::Plan;
use crate::parquet::rows;
use crate::parquet::turn::turn;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use arrow::datatypes::DataType;
use dupsift_core::error::Result;
use dupsift_tables::Documents;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The number of rows in a batch of ids.
const BATCH_ROWS: usize = 8192;

/// The number of footers to keep. Parts are read in order, so each thread needs only one footer.
const FOOTERS_KEPT: usize = 32;
/// The maximum number of column chunks in the kept footers. The most recent footer is kept even if it exceeds the limit. Each chunk takes
/// about 1.5 kB.
const CHUNKS_KEPT: usize = 1 << 14;

/// The approximate number of pages to keep; each page takes 20 bytes.
const PAGES_KEPT: usize = 1 << 18;

/// The maximum size in bytes, unpacked plus packed, of a chunk that counts as small.
const SMALL_CHUNK: u64 = 4 << 20;

#[derive(Debug)]
pub(crate) struct Parquet;

/// The values that all reads share.
#[derive(Debug, Default)]
struct Kept {
    /// The most recently used footers. A corpus may have many thousands of files, so older footers are dropped, and read again when they
    /// are needed.
    footers: Mutex<Vec<(PathBuf, Arc<Footer>)>>,
    /// The pages of column chunks that are large or split, by file, row group and leaf column.
    pages: Mutex<HashMap<Chunk, Known>>,
}

/// The pages of a chunk, or the error for a header with impossible lengths. The list is empty if a header is unreadable.
type Known = std::result::Result<Arc<[Page]>, Arc<str>>;

/// Identifies a chunk by file, row group and leaf column.
type Chunk = (PathBuf, usize, usize);

static FACTS: Facts = Facts { is_columnar: true, divides_pieces: true, ..Facts::new("Parquet", &[".parquet"]) };

impl Format for Parquet {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn columns(&self, file: File, _: Coding, look: Look<'_>) -> std::result::Result<Option<KnownColumns>, String> {
        let as_read = |shown: Shown| Shown { data_type: shown.data_type.map(as_read), ..shown };
        let _turn = turn(&file, u64::MAX)?;
        let metadata = load(&file)?;
        let shown = match look {
            Look::Named(_) => describe(&metadata),
            Look::FirstRows | Look::AllRows => describe_top(&metadata),
        };
        Ok(Some(shown.into_iter().map(as_read).collect::<Vec<_>>().into()))
    }

    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable> {
        let Opening { coding, columns, .. } = opening;
        let _turn = turn(&file, coding.footer_bytes).map_err(Unusable::Bad)?;
        let bytes = file.metadata().map_err(|error| Unusable::Bad(error.to_string()))?.len();
        let metadata = load(&file).map_err(Unusable::Bad)?;
        let has = schema::check(columns, &describe(&metadata)).map_err(Unusable::Lacks)?;
        let mut pieces = pieces(&metadata, columns, bytes).map_err(Unusable::Bad)?;
        let footer = Footer::new(&metadata, columns).map_err(Unusable::Bad)?;
        check_plain(&file, footer.metadata.metadata()).map_err(Unusable::Bad)?;
        for (piece, group) in pieces.iter_mut().zip(footer.metadata.metadata().row_groups()) {
            piece.held = group.columns().iter().map(Column::bytes_of).fold(0, u64::saturating_add);
        }
        Ok(Opened { pieces, ..has.into() })
    }

    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        let footer =
            kept_footer(&file, reading.path, reading.columns, reading.shared).map_err(|why| reading.bad(why))?;
        let names = reading.names();
        let group =
            |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(footer.metadata.metadata().num_row_groups());
        let plan = Plan {
            row_groups: group(reading.part.from)..group(reading.part.to),
            skip: reading.part.skip,
            rows: reading.rows,
            chosen: reading.chosen,
            names: &names,
            batch_bytes: reading.want.batch_bytes,
            batch_rows: MAX_BATCH_ROWS,
        };
        for group in plan.row_groups.clone() {
            for leaf in names.iter().flat_map(|name| footer.places(name)) {
                check(&file, &footer, (group, leaf), reading).map_err(|why| reading.bad(&*why))?;
            }
        }
        let (text, id) = reading.text_and_id();
        // Pictures are not read. A text that is combined from several columns gets its mark later.
        let with_pictures = text.filter(|_| footer.has_pictures);
        let attached = footer.has_pictures && !reading.columns.parts.is_empty();
        let mut at = 0;
        read::read(file, &footer, &plan, &|why| reading.bad(why), &mut |rows| {
            let count = rows.num_rows();
            let rows = nested::with_pictures(rows, with_pictures)?;
            let first_doc = reading.first_doc + at as u64;
            let documents = Documents::of_bytes(first_doc, rows, (text, id), &footer.strings, reading.columns.html)?;
            let documents = match plan.chosen {
                None => documents,
                Some(chosen) => {
                    documents.with_docs(chosen[at..at + count].iter().map(|row| reading.first_doc + row).collect())
                }
            };
            at += count;
            each(documents.with_attached(vec![None; if attached { count } else { 0 }]))
        })
    }

    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str> {
        Ok(self)
    }

    fn ids(&self) -> Option<&dyn Ids> {
        Some(self)
    }

    fn starts_within(&self, file: File, piece: &Within<'_>) -> Starts {
        let Ok(footer) = kept_footer(&file, piece.path, piece.columns, piece.shared) else { return Starts::default() };
        let group = usize::try_from(piece.start).unwrap_or(usize::MAX);
        let leaf = footer.places(&piece.columns.text).next();
        leaf.map_or_else(Starts::default, |leaf| {
            starts(&pages(&file, piece.path, &footer, (group, leaf), piece.shared).unwrap_or_default()).into()
        })
    }

    fn stretches(&self, file: File, reading: &Reading<'_>, small: u64) -> Result<Vec<Stretch>> {
        let footer =
            kept_footer(&file, reading.path, reading.columns, reading.shared).map_err(|why| reading.bad(why))?;
        let (names, group) = (reading.names(), |at: u64| usize::try_from(at).unwrap_or(usize::MAX));
        let groups = footer.metadata.metadata().row_groups().iter().enumerate();
        let groups = groups.skip(group(reading.part.from)).take(group(reading.part.to - reading.part.from));
        let columns = groups.map(|(at, group)| {
            let places = names.iter().flat_map(|name| footer.places(name));
            let asked: Vec<_> = places.filter_map(|leaf| Some((leaf, group.columns().get(leaf)?))).collect();
            let all = asked.iter().map(|(_, chunk)| Column::bytes_of(chunk)).fold(0, u64::saturating_add);
            let pages_of = |leaf| pages(&file, reading.path, &footer, (at, leaf), reading.shared);
            let text = footer.places(&reading.columns.text).next();
            let column = |(leaf, chunk)| {
                let pages = if all <= small { Arc::default() } else { pages_of(leaf)? };
                Ok(Column::new(chunk, pages, text == Some(leaf)))
            };
            asked.into_iter().map(column).collect()
        });
        let columns = columns.collect::<std::result::Result<Vec<_>, Arc<str>>>();
        let columns = columns.map_err(|why| reading.bad(&*why))?;
        Ok(stretches(columns, reading.part.skip..reading.part.skip.saturating_add(reading.rows), small))
    }

    fn longest_of(&self, file: File, _: Coding, names: &[String], small: u64) -> std::result::Result<u64, String> {
        rows::longest(&file, names, small)
    }
}

impl Copies for Parquet {
    fn check(&self, _: Coding) -> std::result::Result<(), String> {
        Ok(())
    }

    fn copy_rows(&self, file: File, copying: &Copying<'_>) -> Result<()> {
        copy::copy(file, copying)
    }

    fn changes(&self) -> &'static [Change] {
        &[Change::Text, Change::Columns]
    }

    /// Strings in Parquet files are UTF-8, whatever the encoding of other files is.
    fn check_changes(&self, _: Coding) -> std::result::Result<(), String> {
        Ok(())
    }

    fn check_memory(&self, file: File, fits: &Fits<'_>) -> std::result::Result<Option<Stretch>, String> {
        copy::check(&file, fits)
    }
}

impl Ids for Parquet {
    fn read_ids(&self, file: File, _: Coding, names: IdColumns<'_>, each: &mut EachIds<'_>) -> IdsRead {
        let turn = turn(&file, u64::MAX)?;
        let metadata = load(&file)?;
        let has = |name: &str| metadata.file_metadata().schema().get_fields().iter().any(|field| field.name() == name);
        let IdColumns { ids: names, labels } = names;
        let label = labels.iter().copied().find(|name| has(name));
        let others = names.into_iter().chain(label).map(str::to_owned).collect();
        let footer = Footer::new(&metadata, &Columns { others, ..Columns::default() })?;
        if let Some(name) = names.into_iter().find(|name| has(name) && !footer.has(name)) {
            return Err(format!("column {name:?} is nested; expected a string, binary or integer column").into());
        }
        // Only these columns remain in memory.
        drop((metadata, turn));
        let mut reader = guarded(|| {
            let file = Bounded::new(file)?;
            check_pages(file.file(), footer.metadata.metadata(), |_| true)?;
            ParquetRecordBatchReaderBuilder::new_with_metadata(file, footer.metadata.clone())
                .with_batch_size(BATCH_ROWS)
                .build()
        })?;
        let mut rows = IdBatches::new(names, label, &footer.strings);
        let mut next = || guarded(|| reader.next().transpose().map_err(Into::into)).map_err(Failed::Damaged);
        while let Some(batch) = next()? {
            let batch = nested::flat(batch, &footer.columns).map_err(|error| error.to_string())?;
            if !rows.pass_on(&batch, each)? {
                break;
            }
        }
        Ok(())
    }
}

/// Returns the footer of a file. The footer is read again if it is no longer kept.
fn kept_footer(
    file: &File,
    path: &Path,
    columns: &Columns,
    shared: &Shared,
) -> std::result::Result<Arc<Footer>, String> {
    let kept = shared.of::<Kept>();
    let lock = || kept.footers.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, footer)) = lock().iter().find(|(file, _)| file == path) {
        return Ok(footer.clone());
    }
    let turn = turn(file, u64::MAX)?;
    let footer = Arc::new(load(file).and_then(|metadata| Footer::new(&metadata, columns))?);
    drop(turn);
    let chunks = |footer: &Footer| {
        let groups = footer.metadata.metadata().row_groups();
        groups.iter().map(|group| group.num_columns()).sum::<usize>()
    };
    let mut footers = lock();
    let mut all = chunks(&footer) + footers.iter().map(|(_, footer)| chunks(footer)).sum::<usize>();
    while !footers.is_empty() && (footers.len() >= FOOTERS_KEPT || all > CHUNKS_KEPT) {
        all -= chunks(&footers.remove(0).1);
    }
    footers.push((path.to_path_buf(), footer.clone()));
    Ok(footer)
}

/// Returns the pages of a chunk, according to their headers. The list is empty if a header is unreadable, because reading the chunk then
/// gives a better error.
fn pages(file: &File, path: &Path, footer: &Footer, (group, leaf): (usize, usize), shared: &Shared) -> Known {
    let kept = shared.of::<Kept>();
    let lock = || kept.pages.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (path.to_path_buf(), group, leaf);
    if let Some(known) = lock().get(&key) {
        return known.clone();
    }
    let read = || {
        let chunk = footer.metadata.metadata().row_groups().get(group)?.columns().get(leaf)?;
        let looked = page_headers::look(file.try_clone().ok()?, chunk);
        // The page headers of list columns count values, not rows.
        Some(looked.map(|pages| pages.filter(|_| chunk.column_descr().max_rep_level() == 0)))
    };
    let pages: Known = match read() {
        Some(Ok(pages)) => Ok(pages.unwrap_or_default().into()),
        Some(Err(why)) => Err(format!("column {:?}: {why}", footer.leaves[leaf]).into()),
        None => Ok(Arc::default()),
    };
    let mut known = lock();
    // Row groups are read in order, so the pages that are dropped are rarely needed again soon.
    if known.values().flatten().map(|pages| pages.len()).sum::<usize>() > PAGES_KEPT {
        known.clear();
    }
    known.insert(key, pages.clone());
    pages
}

/// Checks the page headers of a chunk. This check prevents memory from being allocated for an impossible length. The pages of small chunks
/// are not kept, because small chunks are read only once.
fn check(
    file: &File,
    footer: &Footer,
    (group, leaf): (usize, usize),
    reading: &Reading<'_>,
) -> std::result::Result<(), Arc<str>> {
    let chunk = footer.metadata.metadata().row_group(group).column(leaf);
    if Column::bytes_of(chunk) > SMALL_CHUNK {
        return pages(file, reading.path, footer, (group, leaf), reading.shared).map(|_| ());
    }
    let Ok(file) = file.try_clone() else { return Ok(()) };
    let looked = page_headers::look(file, chunk).map(|_| ());
    looked.map_err(|why| format!("column {:?}: {why}", footer.leaves[leaf]).into())
}

/// Returns the type to which a column is converted when it is read.
fn as_read(data_type: DataType) -> DataType {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        other => other,
    }
}
