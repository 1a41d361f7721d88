//! Where the pages of a column begin, so that a row group is cut between two pages.
//!
//! A page is unpacked as a whole: a piece of work that ends within one makes the next piece unpack it again, and with pages
//! of 3 MB and pieces of 10 that was a quarter of all unpacking. Only page headers are read, each once.

use super::format::Starts;
use super::parquet::{Footer, guarded};
use ::parquet::column::page::PageReader;
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use ::parquet::file::serialized_reader::SerializedPageReader;
use bytes::Bytes;
use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A row group of more pages is cut anywhere: its pages are small, or its headers lie.
const MOST_PAGES: usize = 1 << 12;

/// A file of which so many headers are read and no more, of whatever they are.
struct Headers {
    file: File,
    left: AtomicUsize,
}

impl Length for Headers {
    fn len(&self) -> u64 {
        Length::len(&self.file)
    }
}

impl ChunkReader for Headers {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let some = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        some.map_err(|_| ParquetError::General("more pages than are looked at".to_owned()))?;
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.file.get_bytes(start, length)
    }
}

/// Where data pages of a plain column begin. Nothing where the headers cannot be read, which a reading will tell better, or
/// do not hold the rows of the row group.
pub(super) fn page_starts(file: File, footer: &Footer, group: usize, column: &str) -> Starts {
    starts(file, footer, group, column).unwrap_or_default().into()
}

fn starts(file: File, footer: &Footer, group: usize, column: &str) -> Option<Vec<u64>> {
    let group = footer.metadata.metadata().row_groups().get(group)?;
    let chunk = group.columns().get(footer.place(column)?)?;
    let rows = u64::try_from(group.num_rows()).ok()?;
    let walk = || {
        let headers = Headers { file, left: AtomicUsize::new(MOST_PAGES) };
        let mut pages = SerializedPageReader::new(Arc::new(headers), chunk, rows as usize, None)?;
        let (mut starts, mut next) = (Vec::new(), 0u64);
        while let Some(page) = pages.peek_next_page()? {
            if !page.is_dict {
                starts.push(next);
                // A plain column has a level for each row.
                let count = page.num_rows.or(page.num_levels).unwrap_or(0);
                next = next.saturating_add(count as u64);
                if next > rows {
                    break;
                }
            }
            pages.skip_next_page()?;
        }
        Ok((starts, next))
    };
    let (starts, end) = guarded(walk).ok()?;
    (end == rows).then_some(starts)
}

/// A row near `row` at which a page begins, at most `reach` rows away; `row` itself where none is so near.
pub(super) fn nearest(starts: &[u64], row: u64, reach: u64) -> u64 {
    let behind = starts.partition_point(|&start| start < row);
    let around = [behind.checked_sub(1), Some(behind)].into_iter().flatten().filter_map(|at| starts.get(at));
    let near = around.copied().filter(|start| start.abs_diff(row) <= reach);
    near.min_by_key(|start| start.abs_diff(row)).unwrap_or(row)
}

#[cfg(test)]
mod tests {
    use super::super::testkit::{batch, open, write_parquet};
    use super::*;
    use ::parquet::file::properties::WriterProperties;
    use arrow_array::{ArrayRef, StringArray};

    #[test]
    fn a_row_group_is_cut_between_its_pages() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        let texts = (0..5000).map(|row| (row % 11 != 3).then(|| format!("{row} {}", "word ".repeat(row % 40))));
        let texts: ArrayRef = Arc::new(texts.collect::<StringArray>());
        for with_dictionary in [false, true] {
            let properties = WriterProperties::builder().set_data_page_row_count_limit(100).set_write_batch_size(50);
            let properties = properties.set_dictionary_enabled(with_dictionary).build();
            write_parquet(&path, &batch(vec![("text", texts.clone())]), properties);
            let (source, _) = open(&[&path]).expect("opened");
            let starts = source.starts_within(0, 0);
            assert!(starts.iter().copied().eq((0..5000).step_by(100)), "{starts:?}");
            let splits = source.splits_between_pages(70_000);
            assert!(splits.len() > 5 && splits.iter().all(|split| split.first_doc % 100 == 0), "{splits:?}");
            // Where ranges are hardly longer than pages, they are cut where they are even.
            assert!(source.splits_between_pages(4_000).iter().any(|split| split.first_doc % 100 != 0));
        }
    }

    #[test]
    fn headers_that_cannot_be_read_or_never_end_tell_of_no_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..3000).map(|row| format!("{row:99}"))));
        let properties = WriterProperties::builder().set_dictionary_enabled(false).set_data_page_row_count_limit(100);
        write_parquet(&path, &batch(vec![("text", texts)]), properties.build());
        let whole = std::fs::read(&path).expect("there");
        let (source, _) = open(&[&path]).expect("opened");
        assert_eq!(source.starts_within(0, 0).len(), 30);
        // Nothing at all; empty pages of a dictionary; empty pages of an index, over which the library steps by itself.
        for header in [&[0xFF][..], &[0x15, 4, 0x15, 0, 0x15, 0, 0], &[0x15, 2, 0x15, 0, 0x15, 0, 0]] {
            let mut bytes = whole.clone();
            bytes[4..200_000].iter_mut().zip(header.iter().cycle()).for_each(|(byte, of_header)| *byte = *of_header);
            std::fs::write(&path, bytes).expect("written");
            let (source, _) = open(&[&path]).expect("the footer is whole");
            assert!(source.starts_within(0, 0).is_empty());
            assert_eq!(source.splits_between_pages(1000).iter().map(|split| split.rows).sum::<u64>(), 3000);
        }
    }

    #[test]
    fn no_more_headers_are_read_than_are_allowed() {
        let file = tempfile::tempfile().expect("a file");
        let headers = Headers { file, left: AtomicUsize::new(2) };
        assert_eq!([0, 0, 0].map(|start| headers.get_read(start).is_ok()), [true, true, false]);
    }

    #[test]
    fn the_nearest_page_is_found_within_reach() {
        let starts = [0, 100, 180];
        for (row, reach, expected) in [(110, 50, 100), (150, 50, 180), (140, 50, 100), (150, 9, 150), (999, 900, 180)] {
            assert_eq!(nearest(&starts, row, reach), expected, "{row} {reach}");
        }
        assert_eq!(nearest(&[], 7, 100), 7);
    }
}
