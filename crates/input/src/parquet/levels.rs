//! Finds out how strongly the columns of a Parquet file are compressed, so that a file does not become larger when rows are removed from it.
//!
//! A Parquet file states the codec of a column but not its level. Therefore, the beginning of a page is compressed again at rising levels
//! until it is not larger than in the file.

use crate::parquet::page_headers;
use ::parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use ::parquet::file::metadata::ColumnChunkMetaData;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::rc::Rc;

/// The number of unpacked bytes that are compressed again.
const SAMPLE_BYTES: u64 = 1 << 20;
/// The number of bytes read at a time. The number of packed bytes of a sample is known up to this many bytes.
const STEP_BYTES: usize = 1 << 10;
/// A sample counts as not larger if it exceeds its size in the file by at most this share: two versions of a library differ slightly.
const TOLERANCE: f64 = 0.01;

/// Returns the codec of a column with the level at which its values are written.
pub(super) fn codec(file: &File, chunk: &ColumnChunkMetaData) -> Compression {
    let level = |levels: &[u32], codec: &Codec| {
        let (last, weaker) = levels.split_last()?;
        let (sample, packed) = sample(file, chunk, codec.unpack)?;
        let most = packed as f64 * (1.0 + TOLERANCE);
        let fits = |level: &&u32| (codec.pack)(&sample, **level).is_ok_and(|bytes| bytes as f64 <= most);
        Some(*weaker.iter().find(fits).unwrap_or(last))
    };
    match chunk.compression() {
        Compression::ZSTD(_) => {
            let found = level(&[3, 6, 9, 12, 15, 19], &ZSTD).unwrap_or(3);
            Compression::ZSTD(ZstdLevel::try_new(found as i32).unwrap_or_default())
        }
        Compression::GZIP(_) => {
            Compression::GZIP(GzipLevel::try_new(level(&[6, 9], &GZIP).unwrap_or(6)).unwrap_or_default())
        }
        Compression::BROTLI(_) => {
            let found = level(&[1, 4, 6, 8, 11], &BROTLI).unwrap_or(8);
            Compression::BROTLI(BrotliLevel::try_new(found).unwrap_or_default())
        }
        other => other,
    }
}

/// The functions of a codec.
struct Codec {
    /// Returns a reader for the unpacked bytes.
    unpack: fn(Input) -> io::Result<Box<dyn Read>>,
    /// Returns the size of the bytes when packed at a level.
    pack: fn(&[u8], u32) -> io::Result<usize>,
}

/// The packed bytes of a page.
type Input = BufReader<Counted>;

const ZSTD: Codec = Codec {
    unpack: |input| Ok(Box::new(zstd::Decoder::with_buffer(input)?)),
    pack: |bytes, level| Ok(zstd::bulk::compress(bytes, level as i32)?.len()),
};

const GZIP: Codec = Codec {
    unpack: |input| Ok(Box::new(flate2::bufread::GzDecoder::new(input))),
    pack: |bytes, level| {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(level));
        out.write_all(bytes)?;
        Ok(out.finish()?.len())
    },
};

const BROTLI: Codec = Codec {
    unpack: |input| Ok(Box::new(brotli::Decompressor::new(input, STEP_BYTES))),
    pack: |bytes, level| {
        let mut out = Vec::new();
        brotli::CompressorWriter::new(&mut out, STEP_BYTES, level, 22).write_all(bytes)?;
        Ok(out.len())
    },
};

/// Returns the first values of a column and the number of bytes that they take in the file; `None` if they cannot be read. The error is
/// reported when the column is copied.
fn sample(
    mut file: &File,
    chunk: &ColumnChunkMetaData,
    unpack: fn(Input) -> io::Result<Box<dyn Read>>,
) -> Option<(Vec<u8>, u64)> {
    let (at, bytes) = page_headers::values_of_first(file, chunk)?;
    let left = Rc::new(Cell::new(bytes));
    file.seek(SeekFrom::Start(at)).ok()?;
    let counted = Counted { file: file.try_clone().ok()?, left: left.clone() };
    let mut out = Vec::new();
    let unpacked = unpack(BufReader::with_capacity(STEP_BYTES, counted)).ok()?;
    unpacked.take(SAMPLE_BYTES).read_to_end(&mut out).ok()?;
    let packed = bytes - left.get();
    (!out.is_empty()).then_some((out, packed))
}

/// The packed bytes of a page; counts the bytes that are left.
struct Counted {
    file: File,
    left: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left.get()).unwrap_or(usize::MAX).min(into.len());
        let read = self.file.read(&mut into[..most])?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{batch, copy, open, write_parquet};
    use ::parquet::file::metadata::ParquetMetaDataReader;
    use ::parquet::file::properties::{WriterProperties, WriterVersion};
    use arrow::array::{ArrayRef, StringArray};
    use std::sync::Arc;

    /// Returns texts that are compressed better at each higher level.
    fn texts() -> StringArray {
        let mut state = 7u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let words: Vec<String> = (0..3_000).map(|_| format!("{:x}", next(1 << 22))).collect();
        let text = |_| {
            (0..150).map(|_| words[(next(3_000) * next(3_000) / 3_000) as usize].as_str()).collect::<Vec<_>>().join(" ")
        };
        StringArray::from_iter_values((0..3_000).map(text).collect::<Vec<String>>())
    }

    fn zstd(level: i32) -> Compression {
        Compression::ZSTD(ZstdLevel::try_new(level).expect("a level"))
    }

    #[test]
    fn a_column_is_compressed_as_strongly_as_in_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, out) = (folder.path().join("a.parquet"), folder.path().join("b.parquet"));
        let texts: ArrayRef = Arc::new(texts());
        let gzip = |level| Compression::GZIP(GzipLevel::try_new(level).expect("a level"));
        let brotli = |level| Compression::BROTLI(BrotliLevel::try_new(level).expect("a level"));
        // A lower level may be strong enough.
        for (written, expected, version) in [
            (zstd(1), &[zstd(3)][..], WriterVersion::PARQUET_1_0),
            (zstd(3), &[zstd(3)], WriterVersion::PARQUET_2_0),
            (zstd(9), &[zstd(3), zstd(6), zstd(9)], WriterVersion::PARQUET_1_0),
            (zstd(19), &[zstd(12), zstd(15), zstd(19)], WriterVersion::PARQUET_2_0),
            (gzip(9), &[gzip(6), gzip(9)], WriterVersion::PARQUET_1_0),
            (brotli(8), &[brotli(1), brotli(4), brotli(6), brotli(8)], WriterVersion::PARQUET_1_0),
            (Compression::SNAPPY, &[Compression::SNAPPY], WriterVersion::PARQUET_1_0),
        ] {
            for has_dictionary in [false, true] {
                let properties = WriterProperties::builder()
                    .set_compression(written)
                    .set_writer_version(version)
                    .set_dictionary_enabled(has_dictionary);
                write_parquet(&path, &batch(vec![("text", texts.clone())]), properties.build());
                let file = File::open(&path).expect("a file");
                let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).expect("a footer");
                let found = codec(&file, metadata.row_group(0).column(0));
                assert!(expected.contains(&found), "{written:?} {has_dictionary}: {found:?}");
                // If every fourth row is removed, the file does not become larger than its share.
                let (source, _) = open(&[&path]).expect("opened");
                let bytes = copy(&source.files[0], &|row| row % 4 != 0, u64::MAX, &out).expect("copied");
                let share = source.files[0].bytes as f64 * 0.75;
                assert!(bytes as f64 <= share * 1.03, "{written:?} {has_dictionary}: {bytes} of {share}");
                std::fs::remove_file(&out).expect("removed");
            }
        }
    }

    #[test]
    fn a_page_that_cannot_be_unpacked_has_the_usual_level() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.parquet");
        let properties = WriterProperties::builder().set_compression(zstd(19)).set_dictionary_enabled(false);
        write_parquet(&path, &batch(vec![("text", Arc::new(texts()) as ArrayRef)]), properties.build());
        let file = File::open(&path).expect("a file");
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).expect("a footer");
        let mut bytes = std::fs::read(&path).expect("read");
        bytes[4..300].fill(0xA5);
        std::fs::write(&path, bytes).expect("written");
        let file = File::open(&path).expect("a file");
        assert_eq!(codec(&file, metadata.row_group(0).column(0)), zstd(3));
    }
}
