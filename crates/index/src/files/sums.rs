//! Stores the checksums of a file's blocks in a separate file next to it: `part-000000.parquet` and `part-000000.sums`.
//!
//! The parquet crate (60.1) writes no page checksums; even if it did, they would not cover headers, footers and page indexes. With this
//! file, no byte of a document file reaches a decoder before the checksum of its block has been verified. To look up a few documents, a
//! reader reads a few blocks and the 4-byte checksum of each block.
//!
//! The manifest records the checksum of the header, which covers the checksums of all blocks. A file that belongs to another batch or
//! generation is therefore noticed when it is opened.
//!
//! ```text
//! offset
//!      0   8        "dupsums2"
//!      8   8        bytes of the file
//!     16   4        lower 32 bits of the XXH3 of all bytes after the header
//!     20   4        CRC-32 of the bytes before
//!     24            for each 1,024 blocks of 4 KiB of the file (the last group may be shorter):
//!          4 each     CRC-32 of the block number (8 bytes) and the block's bytes
//!          4          CRC-32 of the number of the group's first block (8 bytes) and the checksums before
//! ```
//!
//! Numbers are little-endian.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash64;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 8] = *b"dupsums2";
/// The number of bytes before the first checksum.
const HEAD: usize = size_of::<Head>();
/// The number of bytes in a block.
const BLOCK: usize = 4 << 10;
/// The number of blocks whose checksums are read together.
const TOGETHER: u64 = 1 << 10;

/// Holds the header before the first checksum.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Head {
    magic: [u8; 8],
    /// The size of the file in bytes.
    bytes: U64,
    /// The [`digest`] of all bytes after the header.
    rest: U32,
    /// The CRC-32 of the preceding bytes.
    checksum: U32,
}

impl Head {
    fn new(bytes: u64, rest: &[u8]) -> Head {
        let rest = digest(rest).into();
        let mut head = Head { magic: MAGIC, bytes: bytes.into(), rest, checksum: U32::ZERO };
        head.checksum = head.own_checksum().into();
        head
    }

    fn own_checksum(&self) -> u32 {
        crc32fast::hash(&self.as_bytes()[..HEAD - size_of::<U32>()])
    }
}

/// Returns a digest of the bytes after the header. It is not a CRC, because each group ends in its own CRC, so the CRC of all groups would
/// depend only on their number.
fn digest(rest: &[u8]) -> u32 {
    hash64(rest) as u32
}

/// Returns the path of the file that contains the checksums for the file at `path`.
pub fn sums_of(path: &Path) -> PathBuf {
    path.with_extension("sums")
}

/// Returns the initial checksum state for the block or group with this number.
fn begun(number: u64) -> crc32fast::Hasher {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&number.to_le_bytes());
    checksum
}

fn checksum(number: u64, bytes: &[u8]) -> u32 {
    let mut checksum = begun(number);
    checksum.update(bytes);
    checksum.finalize()
}

/// Writes a file sequentially and computes the checksums of its blocks.
pub(crate) struct Summing {
    file: File,
    sums: Vec<u32>,
    /// The checksum state of the current block, and the number of bytes in it so far.
    block: crc32fast::Hasher,
    filled: usize,
    bytes: u64,
}

impl Summing {
    /// Returns a writer for an empty file.
    pub(crate) fn new(file: File) -> Summing {
        Summing { file, sums: Vec::new(), block: begun(0), filled: 0, bytes: 0 }
    }

    /// Writes the checksums next to the complete file at this path.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub(crate) fn write_sums(mut self, path: &Path) -> Result<()> {
        if self.filled > 0 {
            self.end_block();
        }
        let mut out = vec![0; HEAD];
        for (at, group) in self.sums.chunks(TOGETHER as usize).enumerate() {
            let begin = out.len();
            group.iter().for_each(|sum| out.extend_from_slice(&sum.to_le_bytes()));
            let sum = checksum(at as u64 * TOGETHER, &out[begin..]);
            out.extend_from_slice(&sum.to_le_bytes());
        }
        let head = Head::new(self.bytes, &out[HEAD..]);
        out[..HEAD].copy_from_slice(head.as_bytes());
        let path = sums_of(path);
        File::create_new(&path).and_then(|mut file| file.write_all(&out)).map_err(Error::io("write", &path))
    }

    fn end_block(&mut self) {
        let next = begun(self.sums.len() as u64 + 1);
        self.sums.push(std::mem::replace(&mut self.block, next).finalize());
        self.filled = 0;
    }
}

impl Write for Summing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        let mut rest = &bytes[..written];
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(BLOCK - self.filled));
            self.block.update(now);
            self.filled += now.len();
            if self.filled == BLOCK {
                self.end_block();
            }
            rest = later;
        }
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Reads a file, and verifies each block against its checksum, which is stored next to the file, before returning any byte of the block.
/// Counts the bytes read.
#[derive(Clone)]
pub(crate) struct Checked(Arc<Inner>);

struct Inner {
    file: File,
    sums: File,
    sums_path: PathBuf,
    bytes: u64,
    read: AtomicU64,
    /// The checksums that were read last, and the number of the first block that they cover.
    held: Mutex<(u64, Arc<[u32]>)>,
}

impl Checked {
    /// Opens a file and its checksums. `list` is the checksum that the manifest records for the list of checksums.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] with the path of the damaged file, or [`Error::Io`].
    pub(crate) fn open(path: &Path, list: Option<u32>) -> Result<Checked> {
        let sums_path = sums_of(path);
        let (file, sums) = (open(path)?, open(&sums_path)?);
        let damaged = |path: &Path, why: String| Error::Damaged { path: path.to_path_buf(), why };
        let length = |file: &File, path: &Path| {
            file.metadata().map(|metadata| metadata.len()).map_err(Error::reading("read", path))
        };
        let head = head_of(&sums, &sums_path)?;
        check_list(&sums_path, head.checksum.get(), list)?;
        let bytes = head.bytes.get();
        let found = length(&file, path)?;
        if found != bytes {
            return Err(damaged(path, format!("it has {found} bytes instead of {bytes}")));
        }
        let blocks = bytes.div_ceil(BLOCK as u64);
        let (expected, found) = (HEAD as u64 + 4 * (blocks + blocks.div_ceil(TOGETHER)), length(&sums, &sums_path)?);
        if found != expected {
            return Err(damaged(&sums_path, format!("it has {found} bytes instead of {expected}")));
        }
        let held = Mutex::new((u64::MAX, Arc::default()));
        Ok(Checked(Arc::new(Inner { file, sums, sums_path, bytes, read: AtomicU64::new(0), held })))
    }

    /// Returns the number of bytes that were read from the file.
    pub(crate) fn read(&self) -> u64 {
        self.0.read.load(Relaxed)
    }
}

/// Reads the header of a checksum file.
fn head_of(sums: &File, path: &Path) -> Result<Head> {
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), why };
    let mut head = Head::new_zeroed();
    match sums.read_exact_at(head.as_mut_bytes(), 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(damaged(format!("a checksum file has at least {HEAD} bytes")));
        }
        read => read.map_err(Error::reading("read", path))?,
    }
    if head.magic != MAGIC || head.checksum != head.own_checksum() {
        return Err(damaged("it does not begin like a checksum file".into()));
    }
    Ok(head)
}

/// Returns the checksum of the list of checksums in a checksum file.
pub(crate) fn list_in(path: &Path) -> Result<u32> {
    head_of(&open(path)?, path).map(|head| head.checksum.get())
}

/// Compares the checksum of a file's list of checksums with the checksum in the manifest.
///
/// # Errors
/// Returns [`Error::Damaged`] if they differ, which means that the file belongs to another batch or generation.
pub(crate) fn check_list(path: &Path, found: u32, expected: Option<u32>) -> Result<()> {
    if expected == Some(found) {
        return Ok(());
    }
    let why =
        "it is not the file that the index lists under this name, but a file of another batch, generation or index";
    Err(Error::Damaged { path: path.to_path_buf(), why: why.to_owned() })
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::Damaged { path: path.to_path_buf(), why: "it is missing".into() },
        _ => Error::reading("open", path)(error),
    })
}

impl Inner {
    /// Returns the checksum of a block.
    fn sum(&self, block: u64) -> io::Result<u32> {
        let first = block - block % TOGETHER;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 != first {
            let blocks = TOGETHER.min(self.bytes.div_ceil(BLOCK as u64) - first);
            let mut bytes = vec![0; 4 * blocks as usize + 4];
            self.sums.read_exact_at(&mut bytes, HEAD as u64 + first / TOGETHER * 4 * (TOGETHER + 1))?;
            let (sums, of_all) = bytes.split_at(bytes.len() - 4);
            if checksum(first, sums).to_le_bytes() != of_all {
                let sums = self.sums_path.display();
                return Err(wrong(format!("its checksums in {sums} are damaged, starting at block {first}")));
            }
            let sums = sums.as_chunks::<4>().0.iter().map(|sum| u32::from_le_bytes(*sum)).collect();
            *held = (first, sums);
        }
        Ok(held.1[(block - first) as usize])
    }

    /// Returns the bytes of these blocks, up to the end of the file.
    fn blocks(&self, blocks: std::ops::Range<u64>) -> io::Result<Vec<u8>> {
        let begin = blocks.start * BLOCK as u64;
        let mut bytes = vec![0; ((blocks.end * BLOCK as u64).min(self.bytes) - begin) as usize];
        self.file.read_exact_at(&mut bytes, begin)?;
        self.read.fetch_add(bytes.len() as u64, Relaxed);
        for (block, bytes) in blocks.zip(bytes.chunks(BLOCK)) {
            let (found, expected) = (checksum(block, bytes), self.sum(block)?);
            if found != expected {
                return Err(wrong(format!("block {block} has checksum {found:08x} instead of {expected:08x}")));
            }
        }
        Ok(bytes)
    }
}

fn wrong(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

impl Length for Checked {
    fn len(&self) -> u64 {
        self.0.bytes
    }
}

impl ChunkReader for Checked {
    type T = CheckedRead;

    fn get_read(&self, start: u64) -> parquet::errors::Result<CheckedRead> {
        Ok(CheckedRead { of: self.clone(), at: start, block: (u64::MAX, Vec::new()) })
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|&end| end <= self.0.bytes);
        let end =
            end.ok_or_else(|| ParquetError::EOF(format!("{length} bytes are missing, starting at byte {start}")))?;
        let first = start / BLOCK as u64;
        let bytes = Bytes::from(self.0.blocks(first..end.div_ceil(BLOCK as u64).max(first))?);
        let begin = (start - first * BLOCK as u64) as usize;
        Ok(if length == 0 { Bytes::new() } else { bytes.slice(begin..begin + length) })
    }
}

/// Reads the bytes of a checked file in order, one block at a time.
pub(crate) struct CheckedRead {
    of: Checked,
    at: u64,
    /// The number and the bytes of the current block.
    block: (u64, Vec<u8>),
}

impl Read for CheckedRead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.of.0.bytes || out.is_empty() {
            return Ok(0);
        }
        let block = self.at / BLOCK as u64;
        if self.block.0 != block {
            self.block = (block, self.of.0.blocks(block..block + 1)?);
        }
        let rest = &self.block.1[(self.at % BLOCK as u64) as usize..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(bytes: &[u8], pieces: usize) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.parquet");
        let mut file = Summing::new(File::create_new(&path).unwrap());
        bytes.chunks(pieces).for_each(|piece| file.write_all(piece).unwrap());
        file.write_sums(&path).unwrap();
        (folder, path)
    }

    fn opened(path: &Path) -> Result<Checked> {
        Checked::open(path, Some(list_in(&sums_of(path))?))
    }

    #[test]
    fn a_file_of_other_contents_is_another_file() {
        let (one, other) = (bytes(3 * BLOCK), bytes(3 * BLOCK + 1));
        let ((_a, a), (_b, b)) = (written(&one, 100), written(&other[1..], 100));
        let list = list_in(&sums_of(&a)).unwrap();
        assert!(Checked::open(&a, Some(list)).is_ok());
        for path in [&b, &a] {
            let known = if path == &b { Some(list) } else { None };
            let refused = Checked::open(path, known).err().expect("another file").to_string();
            assert!(refused.contains("it is not the file that the index lists"), "{refused}");
        }
    }

    fn bytes(count: usize) -> Vec<u8> {
        (0..count as u64).map(|at| (dupsift_core::hash::splitmix64(1, at) >> 56) as u8).collect()
    }

    #[test]
    fn bytes_come_back_from_anywhere_in_any_length() {
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, BLOCK * (TOGETHER as usize + 2) + 17] {
            let bytes = bytes(count);
            let (_folder, path) = written(&bytes, 1000);
            let checked = opened(&path).unwrap();
            assert_eq!(checked.len(), count as u64);
            for (start, length) in
                [(0, count), (count / 2, count / 3), (count.saturating_sub(9), count.min(9)), (count, 0)]
            {
                assert!(checked.get_bytes(start as u64, length).unwrap() == bytes[start..start + length]);
                let mut read = Vec::new();
                checked.get_read(start as u64).unwrap().read_to_end(&mut read).unwrap();
                assert!(read == bytes[start..]);
            }
            assert!(checked.get_bytes(count as u64, 1).is_err() && checked.get_bytes(u64::MAX, 2).is_err());
            assert!(checked.get_bytes(0, 1 << 40).is_err());
        }
    }

    #[test]
    fn every_flipped_bit_is_found_in_what_is_read() {
        let bytes = bytes(3 * BLOCK + 100);
        let (_folder, path) = written(&bytes, 777);
        let all = |path: &Path| -> Result<bool> {
            let checked = opened(path)?;
            let read = checked.get_bytes(0, bytes.len());
            Ok(read.map_err(|error| Error::Internal(error.to_string()))? == bytes)
        };
        assert!(all(&path).unwrap());
        for path_of in [&path, &sums_of(&path)] {
            let whole = std::fs::read(path_of).unwrap();
            let step = if path_of == &path { 41 } else { 1 };
            for at in (0..whole.len()).step_by(step) {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << (at % 8);
                std::fs::write(path_of, &flipped).unwrap();
                assert!(all(&path).is_err(), "byte {at}");
            }
            std::fs::write(path_of, &whole[..whole.len() - 1]).unwrap();
            assert!(all(&path).is_err());
            std::fs::write(path_of, &whole).unwrap();
        }
        // Blocks that are not read are not checked.
        let mut flipped = bytes.clone();
        flipped[0] ^= 1;
        std::fs::write(&path, &flipped).unwrap();
        let checked = opened(&path).unwrap();
        assert!(checked.get_bytes(BLOCK as u64, 10).unwrap() == bytes[BLOCK..BLOCK + 10]);
        assert_eq!(checked.read(), BLOCK as u64);
        assert!(checked.get_bytes(BLOCK as u64 - 1, 2).unwrap_err().to_string().contains("block 0 has checksum"));
        std::fs::remove_file(sums_of(&path)).unwrap();
        let missing = opened(&path).err().expect("the checksums are gone").to_string();
        assert!(missing.contains(".sums") && missing.contains("it is missing"), "{missing}");
    }
}
