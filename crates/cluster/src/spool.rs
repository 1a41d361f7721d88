//! Holds the output of a task. Rows are collected into blocks by kind and bucket. The blocks are kept in a temporary file until they are
//! read, so memory use does not grow with the number of rows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use super::kind::Kind;
use dupsift_core::error::{Error, Result};
use dupsift_engine::reading::parts::Bytes;

/// A block is written when it reaches this size in bytes.
const BLOCK_BYTES: usize = 1 << 20;
/// Rows with the same key are split into parts of this size, so that no block becomes much larger than intended.
const PART_BYTES: usize = 64 << 10;
/// All blocks are written when their total size reaches this number of bytes.
const HELD_BYTES: usize = 32 << 20;
const WRITE: &str = "write the temporary file";
const READ: &str = "read the temporary file";

/// Holds rows with the same kind and bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The kind of the rows.
    pub kind: Kind,
    /// The bucket of the rows. All rows in a bucket belong together.
    pub bucket: u32,
    /// Complete rows, one after the other.
    pub rows: Vec<u8>,
}

impl Block {
    /// The size of the header of a serialized block, in bytes. The header contains the kind and the bucket.
    pub const HEAD: usize = 8;

    /// Returns the bytes that precede the rows in a serialized block.
    pub fn head(&self) -> [u8; Block::HEAD] {
        head(self.kind, self.bucket)
    }

    /// Parses a serialized block.
    ///
    /// # Errors
    /// Returns an error if the bytes were not written by this version.
    pub fn of_bytes(bytes: &[u8]) -> Result<Block> {
        let mut bytes = Bytes(bytes);
        let (kind, bucket) = (kind(bytes.short()?.cast_signed())?, bytes.short()?);
        Ok(Block { kind, bucket, rows: bytes.0.to_vec() })
    }
}

fn head(kind: Kind, bucket: u32) -> [u8; Block::HEAD] {
    let mut head = [0; Block::HEAD];
    head[..4].copy_from_slice(&kind.code().to_le_bytes());
    head[4..].copy_from_slice(&bucket.to_le_bytes());
    head
}

/// Collects rows into blocks.
pub(crate) struct Spool {
    file: BufWriter<File>,
    dir: PathBuf,
    waiting: BTreeMap<(Kind, u32), Vec<u8>>,
    held: usize,
}

impl Spool {
    /// Creates an empty spool with a temporary file in this folder.
    ///
    /// # Errors
    /// Returns an error if no file can be created in the folder.
    pub(crate) fn new(dir: &Path) -> Result<Spool> {
        let file = tempfile::tempfile_in(dir).map_err(Error::io(WRITE, dir))?;
        Ok(Spool { file: BufWriter::new(file), dir: dir.into(), waiting: BTreeMap::new(), held: 0 })
    }

    /// Adds rows to a block.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn push(&mut self, kind: Kind, bucket: u32, rows: &[u8]) -> Result<()> {
        let waiting = self.waiting.entry((kind, bucket)).or_default();
        waiting.extend_from_slice(rows);
        self.held += rows.len();
        if waiting.len() >= BLOCK_BYTES {
            let block = std::mem::take(waiting);
            self.held -= block.len();
            return self.write(kind, bucket, &block);
        }
        if self.held >= HELD_BYTES { self.flush() } else { Ok(()) }
    }

    /// Adds many rows of this width. The rows are split into blocks of the usual size, because an executor holds each block in
    /// the memory of its JVM.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn push_all(&mut self, kind: Kind, bucket: u32, rows: &[u8], width: usize) -> Result<()> {
        rows.chunks((PART_BYTES / width).max(1) * width).try_for_each(|rows| self.push(kind, bucket, rows))
    }

    fn flush(&mut self) -> Result<()> {
        self.held = 0;
        for ((kind, bucket), rows) in std::mem::take(&mut self.waiting) {
            if !rows.is_empty() {
                self.write(kind, bucket, &rows)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, kind: Kind, bucket: u32, rows: &[u8]) -> Result<()> {
        let length = (Block::HEAD + rows.len()) as u64;
        let head = [length.to_le_bytes(), head(kind, bucket)].concat();
        let written = self.file.write_all(&head).and_then(|()| self.file.write_all(rows));
        written.map_err(Error::io(WRITE, &self.dir))
    }

    /// Finishes the spool after all rows have been added.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub(crate) fn finish(mut self) -> Result<Blocks> {
        self.flush()?;
        let failed = || Error::io(WRITE, &self.dir);
        let mut file = self.file.into_inner().map_err(|error| failed()(error.into_error()))?;
        file.rewind().map_err(failed())?;
        Ok(Blocks { file: BufReader::new(file), dir: self.dir })
    }
}

/// Reads the blocks of a finished task in sequence.
pub struct Blocks {
    file: BufReader<File>,
    dir: PathBuf,
}

impl Blocks {
    /// Returns the next block; `None` after the last block.
    ///
    /// # Errors
    /// Returns an error if the temporary file cannot be read.
    pub fn take(&mut self) -> Result<Option<Block>> {
        let mut length = [0; 8];
        match self.file.read_exact(&mut length) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read.map_err(Error::io(READ, &self.dir))?,
        }
        let mut bytes = vec![0; u64::from_le_bytes(length) as usize];
        self.file.read_exact(&mut bytes).map_err(Error::io(READ, &self.dir))?;
        Block::of_bytes(&bytes).map(Some)
    }
}

fn kind(code: i32) -> Result<Kind> {
    let other = || {
        Error::usage(format!("a block has the unknown code {code}; do all machines have the same version of dupsift?"))
    };
    Kind::of_code(code).ok_or_else(other)
}

#[cfg(test)]
mod tests {
    use super::super::kind::What;
    use super::*;

    #[test]
    fn rows_come_back_by_kind_and_bucket_in_blocks() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(dir.path()).unwrap();
        let (one, other) = (Kind::of(What::Ids), Kind::algorithm(What::Rows, 3));
        let mut expected: BTreeMap<(Kind, u32), Vec<u8>> = BTreeMap::new();
        for turn in 0..200_000u32 {
            let row = turn.to_be_bytes();
            let key = (if turn % 5 == 0 { one } else { other }, turn % 3);
            spool.push(key.0, key.1, &row).unwrap();
            expected.entry(key).or_default().extend(row);
        }
        spool.push_all(one, 9, &vec![7; 3 * BLOCK_BYTES], 12).unwrap();
        expected.insert((one, 9), vec![7; 3 * BLOCK_BYTES]);
        let (mut blocks, mut found) = (spool.finish().unwrap(), BTreeMap::<_, Vec<u8>>::new());
        while let Some(block) = blocks.take().unwrap() {
            assert!(block.rows.len() <= BLOCK_BYTES + PART_BYTES && block.rows.len() % 4 == 0, "{}", block.rows.len());
            found.entry((block.kind, block.bucket)).or_default().extend(block.rows);
        }
        assert!(found == expected);
    }

    #[test]
    fn a_block_is_one_string_of_bytes() {
        let block = Block { kind: Kind::algorithm(What::Rows, 3), bucket: 1 << 31 | 9, rows: vec![1, 2, 3] };
        let bytes = [block.head().as_slice(), &block.rows].concat();
        assert_eq!((bytes.len(), Block::of_bytes(&bytes).unwrap()), (11, block));
        for wrong in [&bytes[..7], &[], &(-5i32).to_le_bytes(), &[255; 20]] {
            assert!(Block::of_bytes(wrong).is_err(), "{wrong:?}");
        }
    }
}
