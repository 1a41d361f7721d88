//! Finds where the pages of a column begin, so that row groups can be split at page boundaries.
//!
//! A page is unpacked as a whole. If a piece of work ends inside a page, the next piece unpacks the page again; with 3 MB pages and 10 MB
//! pieces, this accounted for a quarter of all unpacking.

use crate::parquet::page_headers::Page;

/// Returns the rows at which data pages begin, counted from the first row of the row group, in ascending order.
pub(super) fn starts(pages: &[Page]) -> Vec<u64> {
    let data = pages.iter().filter(|page| page.rows > 0);
    data.scan(0, |next, page| {
        let start = *next;
        *next += u64::from(page.rows);
        Some(start)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use crate::format::starts::nearest;
    use crate::testkit::{batch, open, write_parquet};
    use ::parquet::file::properties::WriterProperties;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

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
            let splits = source.splits_between_pages(&|_| 70_000, u64::MAX);
            assert!(splits.len() > 5 && splits.iter().all(|split| split.first_doc % 100 == 0), "{splits:?}");
            // If pieces would be smaller than pages, each page is a piece, because a page is unpacked as a whole.
            let splits = source.splits_between_pages(&|_| 10, u64::MAX);
            assert!(splits.len() == 50 && splits.iter().all(|split| split.rows == 100), "{splits:?}");
            assert!(source.splits(4_000).iter().any(|split| split.first_doc % 100 != 0));
        }
    }

    /// The rest of the corpus is split into four pieces per thread, each with at least two pages. With many threads, pieces become small
    /// early; with a single thread, they become small only at the end. No page is split between two pieces.
    #[test]
    fn more_threads_cut_smaller_pieces_and_no_page_in_two() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..100_000).map(|row| format!("{row:99}"))));
        let properties = WriterProperties::builder().set_dictionary_enabled(false).set_data_page_row_count_limit(500);
        write_parquet(&path, &batch(vec![("text", texts)]), properties.set_write_batch_size(500).build());
        let (source, _) = open(&[&path]).expect("opened");
        let page = source.files[0].text_bytes / 200;
        let rows = |threads: u64| -> Vec<u64> {
            let target = |left: u64| (left / (4 * threads)).clamp(2 * page, 64 << 20);
            let splits = source.splits_between_pages(&target, 64 << 20);
            assert!(splits.iter().all(|split| split.first_doc % 500 == 0), "{splits:?}");
            splits.iter().map(|split| split.rows).collect()
        };
        let (one, eight) = (rows(1), rows(8));
        assert_eq!((one.len(), eight.len()), (16, 68), "{one:?} {eight:?}");
        for (rows, threads) in [(one, 1), (eight, 8)] {
            assert_eq!(rows.iter().sum::<u64>(), 100_000);
            assert!(
                rows[0] <= 100_000 / (4 * threads) + 500 && rows.iter().rev().take(3).all(|&some| some <= 1_000),
                "{rows:?}"
            );
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
        // Tests an invalid header, empty dictionary pages, and empty index pages, which the library itself skips.
        for header in [&[0xFF][..], &[0x15, 4, 0x15, 0, 0x15, 0, 0], &[0x15, 2, 0x15, 0, 0x15, 0, 0]] {
            let mut bytes = whole.clone();
            bytes[4..200_000].iter_mut().zip(header.iter().cycle()).for_each(|(byte, of_header)| *byte = *of_header);
            std::fs::write(&path, bytes).expect("written");
            let (source, _) = open(&[&path]).expect("the footer is whole");
            assert!(source.starts_within(0, 0).is_empty());
            assert_eq!(
                source.splits_between_pages(&|_| 1000, u64::MAX).iter().map(|split| split.rows).sum::<u64>(),
                3000
            );
        }
    }

    #[test]
    fn the_nearest_page_is_found() {
        let starts = [0, 100, 180];
        for (row, expected) in [(0, 0), (110, 100), (150, 180), (140, 100), (999, 180)] {
            assert_eq!(nearest(&starts, row), expected, "{row}");
        }
        assert_eq!(nearest(&[], 7), 7);
    }
}
