//! Computes how much memory it takes to read a Parquet column: one page (two at a page boundary), and the dictionary if the column uses
//! one.

use crate::format::stretch::{Stretch, Unit};
use crate::parquet::page_headers::Page;
use crate::parquet::page_starts::starts;
use crate::parquet::read::STEP_ROWS;
use ::parquet::basic::Compression;
use ::parquet::file::metadata::ColumnChunkMetaData;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// The total size, in bytes, up to which small pages are read together.
const TOGETHER: u64 = 8 << 20;

/// The number of bytes that an item of a list takes in memory in addition to its characters: levels, offsets, and a bit for nulls. Items are
/// decoded into lists that grow by half their size.
const A_LIST_ITEM: u64 = 24;

/// A column in a row group.
pub(super) struct Column {
    name: String,
    is_text: bool,
    /// The size of all pages in bytes, unpacked plus packed.
    bytes: u64,
    /// Whether pages are unpacked into a separate buffer.
    is_packed: bool,
    /// The pages; empty if unknown.
    pages: Arc<[Page]>,
}

impl Column {
    /// Creates a column from a chunk and its pages; `pages` is empty if the pages are unknown.
    pub(crate) fn new(chunk: &ColumnChunkMetaData, pages: Arc<[Page]>, is_text: bool) -> Column {
        Column {
            name: chunk.column_path().string(),
            is_text,
            bytes: Column::bytes_of(chunk),
            is_packed: chunk.compression() != Compression::UNCOMPRESSED,
            pages,
        }
    }

    /// Returns the size of a chunk in bytes, unpacked plus packed. The number of items in lists is included, because millions of nulls or
    /// empty strings may take only a few bytes in the file.
    pub(crate) fn bytes_of(chunk: &ColumnChunkMetaData) -> u64 {
        let unencoded = chunk.unencoded_byte_array_data_bytes().unwrap_or(0).max(chunk.uncompressed_size());
        let values = if chunk.column_descr().max_rep_level() > 0 { chunk.num_values().max(0) as u64 } else { 0 };
        (unencoded.max(0) as u64)
            .saturating_add(chunk.compressed_size().max(0) as u64)
            .saturating_add(values.saturating_mul(A_LIST_ITEM))
    }

    fn packed(&self, page: &Page) -> u64 {
        if self.is_packed { page.packed.into() } else { 0 }
    }

    /// Returns the data pages that contain some of the rows, each with its range of rows.
    fn within(&self, rows: Range<u64>) -> impl Iterator<Item = (Range<u64>, &Page)> {
        let data = self.pages.iter().filter(|page| page.rows > 0);
        let ranges = data.scan(0, |next, page| {
            let start = *next;
            *next += u64::from(page.rows);
            Some((start..*next, page))
        });
        ranges.filter(move |(page, _)| page.start < rows.end && rows.start < page.end)
    }

    /// Returns the number of bytes that are in memory while the rows are read. While a page is unpacked, all earlier pages that have rows
    /// in the current step may still be held.
    fn held(&self, rows: Range<u64>) -> u64 {
        if self.pages.is_empty() {
            return self.bytes;
        }
        let (mut most, mut in_dictionary) = (0, false);
        // The preceding pages, with the row at which each page ends.
        let (mut before, mut bytes_before) = (VecDeque::new(), 0);
        for (rows, page) in self.within(rows) {
            let unpacked = u64::from(page.unpacked);
            let is_gone = |&(end, _): &(u64, u64)| end + STEP_ROWS as u64 <= rows.start;
            while before.len() > 1 && before.front().is_some_and(is_gone) {
                bytes_before -= before.pop_front().map_or(0, |(_, bytes)| bytes);
            }
            most = most.max(bytes_before + unpacked + self.packed(page));
            before.push_back((rows.end, unpacked));
            bytes_before += unpacked;
            in_dictionary |= page.in_dictionary;
        }
        match self.pages.iter().find(|page| page.is_dictionary).filter(|_| in_dictionary) {
            Some(dictionary) => u64::from(dictionary.unpacked) + most.max(self.packed(dictionary)),
            None => most,
        }
    }

    /// Returns what is in memory at a time.
    fn unit(&self) -> Unit {
        if self.pages.is_empty() { Unit::RowGroup } else { Unit::Page }
    }

    /// Returns the size of the largest page in bytes, or of all pages together if the individual sizes are unknown. No value is larger than
    /// the returned size.
    pub(crate) fn largest(&self) -> u64 {
        self.pages.iter().map(|page| u64::from(page.unpacked)).max().unwrap_or(self.bytes)
    }
}

/// Returns the stretches in which rows of these row groups are read, given the requested columns of each group.
pub(super) fn stretches(groups: Vec<Vec<Column>>, rows: Range<u64>, small: u64) -> Vec<Stretch> {
    let column = |columns: &[Column]| {
        let largest = columns.iter().max_by_key(|column| column.largest());
        largest.map_or_else(Default::default, |column| (column.name.clone(), column.unit()))
    };
    let [columns] = groups.as_slice() else {
        // At a boundary between row groups, pages of both row groups are in memory.
        let held: Vec<u64> = groups.iter().map(|columns| held(columns, 0..u64::MAX)).collect();
        let bytes = held.windows(2).map(|two| two.iter().sum()).max().unwrap_or(0);
        let (column, unit) = groups.first().map_or_else(Default::default, |columns| column(columns));
        return vec![Stretch { rows: rows.end - rows.start, bytes, longest: 0, column, unit }];
    };
    let whole = held(columns, rows.clone()) <= small;
    let stretch = |rows: Range<u64>| {
        let (column, unit) = column(columns);
        let (bytes, longest) = (held(columns, rows.clone()), longest(columns, rows.clone()));
        Stretch { rows: rows.end - rows.start, bytes, longest, column, unit }
    };
    if whole { vec![stretch(rows)] } else { cuts(columns, rows).into_iter().map(stretch).collect() }
}

fn held(columns: &[Column], rows: Range<u64>) -> u64 {
    columns.iter().map(|column| column.held(rows.clone())).fold(0, u64::saturating_add)
}

/// Returns a lower bound on the size of the longest text: the average size of the values in a page or dictionary.
fn longest(columns: &[Column], rows: Range<u64>) -> u64 {
    let of_page = |page: &Page| u64::from(page.unpacked) / u64::from(page.values.max(1));
    let of_column = |column: &Column| {
        let pages = || column.within(rows.clone()).map(|(_, page)| page);
        let dictionary = column.pages.iter().find(|page| page.is_dictionary);
        let dictionary = dictionary.filter(|_| pages().any(|page| page.in_dictionary));
        pages().chain(dictionary).map(of_page).max()
    };
    columns.iter().filter(|column| column.is_text).filter_map(of_column).max().unwrap_or(0)
}

/// Splits rows at the page boundaries of the column with the largest pages.
fn cuts(columns: &[Column], rows: Range<u64>) -> Vec<Range<u64>> {
    let Some(widest) = columns.iter().max_by_key(|column| column.largest()) else { return vec![rows] };
    let mut cuts = vec![rows.start];
    let mut gathered = 0;
    let data = widest.pages.iter().filter(|page| page.rows > 0);
    for (start, page) in starts(&widest.pages).into_iter().zip(data) {
        let bytes = u64::from(page.unpacked);
        if start > rows.start && start < rows.end && gathered + bytes > TOGETHER {
            cuts.push(start);
            gathered = 0;
        }
        if start + u64::from(page.rows) > rows.start {
            gathered += bytes;
        }
    }
    let ends = cuts.iter().skip(1).copied().chain([rows.end]);
    cuts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{batch, write_parquet};
    use ::parquet::file::properties::WriterProperties;
    use arrow::array::{
        ArrayRef,
        builder::{ListBuilder, StringBuilder},
    };

    #[test]
    fn items_of_lists_take_memory_even_if_they_are_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        for item in [None, Some("")] {
            let mut lists = ListBuilder::new(StringBuilder::new());
            lists.append_value(std::iter::repeat_n(item, 500_000));
            let lists: ArrayRef = Arc::new(lists.finish());
            write_parquet(&path, &batch(vec![("text", lists)]), WriterProperties::default());
            let file = std::fs::File::open(&path).expect("the file");
            assert!(file.metadata().expect("its size").len() < 10_000);
            let metadata = crate::parquet::load::load(&file).expect("a footer");
            assert!(Column::bytes_of(metadata.row_group(0).column(0)) > 500_000 * 20, "{item:?}");
        }
    }

    fn page(rows: u32, unpacked: u32, packed: u32) -> Page {
        Page { rows, values: rows, unpacked, packed, ..Page::default() }
    }

    fn column(pages: Vec<Page>) -> Column {
        Column { name: "text".into(), is_text: true, bytes: 1 << 40, is_packed: true, pages: pages.into() }
    }

    #[test]
    fn what_is_held_is_two_pages_where_they_meet_and_the_dictionary_where_it_is_asked() {
        let dictionary = Page { is_dictionary: true, values: 4, ..page(0, 1000, 400) };
        let places = Page { in_dictionary: true, ..page(10, 20, 9) };
        let column = column(vec![dictionary, places, page(10, 500, 300), page(5, 900, 100)]);
        let held = |rows| column.held(rows);
        assert_eq!((column.unit(), super::tests::column(Vec::new()).unit()), (Unit::Page, Unit::RowGroup));
        assert_eq!([held(0..10), held(10..20), held(20..25)], [1400, 800, 1000]);
        assert_eq!([held(19..21), held(9..11), held(0..25)], [1500, 1820, 2520]);
        let columns = [column];
        assert_eq!([longest(&columns, 10..25), longest(&columns, 9..25)], [180, 250]);
    }

    #[test]
    fn pages_of_few_rows_are_held_together_and_only_texts_are_documents() {
        // Sixteen rows are decoded at a time: with one row per page, sixteen pages are held in addition to the current page.
        let of_one_row = column(vec![page(1, 100, 10); 40]);
        assert_eq!([of_one_row.held(0..40), of_one_row.held(3..5), of_one_row.held(7..8)], [1710, 210, 110]);
        // Two pages are held if each page has ten rows.
        assert_eq!(column(vec![page(10, 100, 10); 4]).held(0..40), 310);
        let other = Column { is_text: false, ..column(vec![page(2, 5000, 10)]) };
        assert_eq!(longest(&[other, column(vec![page(2, 800, 10)])], 0..2), 400);
    }

    #[test]
    fn each_large_page_is_a_segment_and_small_ones_go_together() {
        let large = TOGETHER as u32 / 2 + 1;
        let pages = vec![page(10, 5, 1), page(10, large, 1), page(10, large, 1), page(10, 5, 1), page(10, 5, 1)];
        let column = [column(pages)];
        assert_eq!(cuts(&column, 0..50), [0..20, 20..50]);
        assert_eq!(cuts(&column, 12..45), [12..20, 20..45]);
        assert_eq!(cuts(&column, 31..38), vec![31..38]);
    }
}
