//! Splits pieces into segments, so that a caller can limit the amount of data that a read holds in memory at a time.
//!
//! A Parquet page is unpacked as a whole, so both its packed and its unpacked data are in memory. The page stays in memory as long as any
//! of its values is in use. Writers check the size of a page only after a certain number of rows: 1,024 documents of 100 kB make a page of
//! 100 MB. Therefore, a piece with large pages is read in segments of one large page each.

use crate::corpus::several_texts;
use crate::corpus::source::Source;
use crate::corpus::split::Split;
use crate::format::read::Part;
use crate::format::stretch::{Stretch, Unit};
use crate::format::want::Want;
use dupsift_core::error::Result;
use std::ops::Range;
use std::path::PathBuf;

/// The length, in bytes, above which a line counts toward the memory of a read.
const LONG_LINE: u64 = 1 << 20;

/// A part of a piece.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The documents to read.
    pub split: Split,
    /// The maximum amount of the file's data, unpacked plus packed, that is in memory while the segment is read, in bytes.
    pub bytes: u64,
    /// The size in bytes of the longest text in the segment, or a lower bound, if known.
    pub longest: u64,
    /// The column that accounts for most of the bytes.
    pub column: String,
    /// The unit that is loaded into memory as a whole.
    pub unit: Unit,
}

/// A page, or another part of a file that is in memory at a time, that exceeds the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargePage {
    /// The path of the file.
    pub path: PathBuf,
    /// The name of the column.
    pub column: String,
    /// The maximum number of bytes in memory; see [`Segment::bytes`].
    pub bytes: u64,
    /// The size of the longest text; see [`Segment::longest`].
    pub longest: u64,
    /// The part of the file.
    pub unit: Unit,
}

impl Source {
    /// Returns the segments of a piece in order. Parts of at most `small` bytes are not inspected.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`](dupsift_core::error::Error::BadFile) if the file has become unreadable.
    pub fn segments(&self, split: &Split, want: &Want, small: u64) -> Result<Vec<Segment>> {
        let input = &self.files[split.file];
        let several = (input.has_several && want.text).then(|| several_texts::want(want, &self.columns));
        let reading = self.reading(split, several.as_ref().unwrap_or(want), None);
        let stretches = input.format.stretches(input.reopen()?, &reading, small)?;
        if stretches.len() <= 1 {
            // One line is held at a time, both as stored in the file and as decoded text, in buffers that double in size when they grow. In
            // UTF-8, a line may be three times as long as in the encoding of the file, and both versions are held if the encoding was
            // guessed.
            let lines = || {
                let times = input.coding.of_lines().map_or(4, |lines| if lines.guessed { 13 } else { 12 });
                let bytes = if input.longest > LONG_LINE { times * input.longest } else { 0 };
                Stretch {
                    bytes,
                    longest: input.longest,
                    column: self.columns_of(input).text.clone(),
                    ..Stretch::default()
                }
            };
            let Stretch { bytes, longest, column, unit, .. } = stretches.into_iter().next().unwrap_or_else(lines);
            return Ok(vec![Segment { split: split.clone(), bytes, longest, column, unit }]);
        }
        let segment = |before: &mut u64, Stretch { rows, bytes, longest, column, unit }: Stretch| {
            let part = Part { skip: split.part.skip + *before, ..split.part };
            let text_bytes = (u128::from(split.text_bytes) * u128::from(rows) / u128::from(split.rows.max(1))) as u64;
            let split = Split { file: split.file, first_doc: split.first_doc + *before, rows, text_bytes, part };
            *before += rows;
            Some(Segment { split, bytes, longest, column, unit })
        };
        let segments = stretches.into_iter().scan(0, segment);
        // Segments without requested rows are left out, so that no thread waits for the memory that they would need.
        let asked =
            |split: &Split| want.rows.as_ref().is_none_or(|rows| !rows.within(split.first_doc, split.rows).is_empty());
        Ok(segments.filter(|segment| asked(&segment.split)).collect())
    }

    /// Returns the largest page that does not fit in memory. `fits` decides whether a segment fits, given the number of bytes that it holds
    /// in memory and the size of its longest known text. Small pieces are not inspected.
    ///
    /// # Errors
    /// Returns the same errors as [`Source::segments`].
    pub fn beyond(&self, fits: &dyn Fn(u64, u64) -> bool) -> Result<Option<LargePage>> {
        self.beyond_in(0..self.files.len(), fits)
    }

    /// Works like [`Source::beyond`], but checks only some of the files.
    ///
    /// # Errors
    /// Returns the same errors as [`Source::segments`].
    pub fn beyond_in(&self, files: Range<usize>, fits: &dyn Fn(u64, u64) -> bool) -> Result<Option<LargePage>> {
        let want = Want { id: true, others: self.columns.others.clone(), ..Want::default() };
        let mut largest: Option<LargePage> = None;
        for at in files {
            let file = &self.files[at];
            let ends = file.pieces.iter().skip(1).map(|next| next.start).chain([u64::MAX]);
            for (piece, to) in file.pieces.iter().zip(ends) {
                // Packed data is rarely larger than unpacked data.
                if fits(piece.bytes.saturating_mul(2).max(piece.held), 0) {
                    continue;
                }
                let part = Part { from: piece.start, to, skip: 0 };
                let split =
                    Split { file: at, first_doc: file.first_doc, rows: piece.rows, text_bytes: piece.bytes, part };
                for Segment { bytes, longest, column, unit, .. } in self.segments(&split, &want, 0)? {
                    if !fits(bytes, longest) && largest.as_ref().is_none_or(|known| bytes > known.bytes) {
                        largest = Some(LargePage { path: file.path.clone(), column, bytes, longest, unit });
                    }
                }
            }
        }
        Ok(largest)
    }
}

#[cfg(test)]
mod tests {
    use crate::testkit::{batch, open, read, whole, write_parquet};
    use ::parquet::basic::ZstdLevel;
    use ::parquet::file::properties::WriterProperties;
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

    #[test]
    fn segments_give_the_rows_of_their_piece_and_say_what_they_hold() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        let texts = (0..60).map(|row| format!("{row} ").repeat(100_000 + row % 7));
        let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_data_page_size_limit(4 << 20)
            .set_write_batch_size(1)
            .set_compression(::parquet::basic::Compression::ZSTD(ZstdLevel::default()));
        write_parquet(&path, &batch(vec![("text", texts)]), properties.build());
        let (source, _) = open(&[&path]).expect("opened");
        let splits = source.splits(usize::MAX);
        let segments = source.segments(&splits[0], &whole(), 1 << 20).expect("the footer is there");
        assert!(segments.len() > 1 && segments.iter().all(|segment| segment.bytes < 13 << 20), "{segments:?}");
        assert!(segments.iter().all(|segment| (200_000..320_000).contains(&segment.longest)), "{segments:?}");
        let mut rows = Vec::new();
        for segment in segments {
            source
                .read(&segment.split, &whole(), &mut |documents| {
                    Ok(rows.extend((0..documents.len()).map(|row| documents.doc(row))))
                })
                .expect("read");
        }
        assert!(rows.iter().copied().eq(0..60));
        assert_eq!(read(&source, &whole(), usize::MAX).expect("read").len(), 60);
        // Small pieces are read without inspecting their headers.
        let whole_piece = source.segments(&splits[0], &whole(), u64::MAX).expect("the footer is there");
        assert!(whole_piece.len() == 1 && whole_piece[0].bytes > 16 << 20, "{whole_piece:?}");
        let beyond = |most: u64| source.beyond(&move |bytes, _| bytes <= most).expect("the footer is there");
        assert_eq!(beyond(1 << 40), None);
        let large = beyond(1 << 20).expect("pages of 4 MB");
        assert_eq!((large.column.as_str(), large.bytes > 4 << 20), ("text", true));
    }

    #[test]
    fn large_pages_of_a_column_beside_short_texts_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["short"; 20]));
        let titles = (0..20).map(|row| format!("{row} ").repeat(100_000));
        let titles: ArrayRef = Arc::new(StringArray::from_iter_values(titles));
        let properties = WriterProperties::builder().set_dictionary_enabled(false).set_data_page_size_limit(1 << 30);
        write_parquet(&path, &batch(vec![("text", texts), ("title", titles)]), properties.build());
        let (source, _) = open(&[&path]).expect("opened");
        let large = source.beyond(&|bytes, _| bytes <= 2 << 20).expect("the footer is there").expect("5 MB of titles");
        // Titles are not document text, so no lower bound on their length is known.
        assert_eq!((large.column.as_str(), large.bytes > 4 << 20, large.longest < 20), ("title", true, true));
        let longest = |small| source.files[0].longest_of(&["title".to_owned()], small).expect("read");
        assert_eq!([longest(1 << 10), longest(1 << 20)], [300_000, 0]);
    }
}
