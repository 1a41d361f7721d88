//! Implements the spill file: blocks at fixed positions, each with its length and checksum.
//!
//! A block on disk consists of an 8-byte header (length, CRC-32; little-endian) and its data. The checksum also covers the block's
//! position, so that a block written to the wrong position is detected. One file serves all partitions of a shuffle. To append a block, a
//! thread reserves the next position with an atomic addition and writes there, so threads do not wait for each other and each shuffle has
//! only one open file. The owner of a block keeps the block's position in memory.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::space::{self, READ, WRITE};
use dupsift_core::error::{Error, Result};
use zerocopy::little_endian::U32;
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The size of the header before a block, in bytes.
const HEADER: u64 = size_of::<Head>() as u64;

/// The header of a block.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Head {
    length: U32,
    checksum: U32,
}

/// The position of a block in the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    offset: u64,
    length: u32,
}

impl Block {
    /// Returns the size of the block's data in bytes.
    pub(super) fn length(self) -> u64 {
        self.length.into()
    }
}

/// A temporary file of blocks with checksums, which is created when the first block is written.
#[derive(Debug)]
pub(super) struct SpillFile {
    dir: PathBuf,
    name: String,
    open: OnceLock<(File, PathBuf)>,
    opening: Mutex<()>,
    end: AtomicU64,
}

impl SpillFile {
    /// Creates only the handle; the file is created later.
    pub(super) fn new(dir: &Path, name: &str) -> SpillFile {
        let (dir, name) = (dir.to_path_buf(), name.to_owned());
        SpillFile { dir, name, open: OnceLock::new(), opening: Mutex::new(()), end: AtomicU64::new(0) }
    }

    /// Returns the number of bytes written, including headers.
    pub(super) fn written(&self) -> u64 {
        self.end.load(Relaxed)
    }

    /// Appends the pieces, in order, as one block.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be created or the disk is full.
    pub(super) fn append(&self, pieces: &[impl AsRef<[u8]>]) -> Result<Block> {
        let (file, path) = self.opened()?;
        let total: usize = pieces.iter().map(|piece| piece.as_ref().len()).sum();
        let length = u32::try_from(total).map_err(|_| Error::io(WRITE, path)(ErrorKind::FileTooLarge.into()))?;
        let offset = self.end.fetch_add(HEADER + u64::from(length), Relaxed);
        let mut checksum = checksum_at(offset);
        let mut at = offset + HEADER;
        for piece in pieces.iter().map(AsRef::as_ref) {
            checksum.update(piece);
            file.write_all_at(piece, at).map_err(Error::io(WRITE, path))?;
            at += piece.len() as u64;
        }
        let head = Head { length: length.into(), checksum: checksum.finalize().into() };
        file.write_all_at(head.as_bytes(), offset).map_err(Error::io(WRITE, path))?;
        Ok(Block { offset, length })
    }

    /// Returns a reader over consecutive blocks.
    pub(super) fn read<'f>(&'f self, blocks: &'f [Block]) -> BlockReader<'f> {
        BlockReader { file: self, blocks: blocks.iter(), current: None }
    }

    /// Frees the disk space of blocks, if the file system supports it.
    pub(super) fn give_back(&self, blocks: &[Block]) {
        if let Some((file, _)) = self.open.get() {
            for block in blocks {
                space::give_back(file, block.offset, HEADER + block.length());
            }
        }
    }

    /// Truncates the file to zero bytes; called when its blocks are no longer needed.
    pub(super) fn clear(&self) {
        if let Some((file, _)) = self.open.get() {
            // A failure is ignored: the space is freed when the file is closed.
            let _ = file.set_len(0);
        }
    }

    fn opened(&self) -> Result<&(File, PathBuf)> {
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let _one_at_a_time = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = self.open.get() {
            return Ok(open);
        }
        let made = space::work_file(&self.dir, &self.name)?;
        Ok(self.open.get_or_init(|| made))
    }

    fn path_and_file(&self) -> Result<&(File, PathBuf)> {
        self.open.get().ok_or_else(|| Error::io(READ, &self.dir.join(&self.name))(ErrorKind::NotFound.into()))
    }

    /// Returns the file, so that tests can damage it.
    #[cfg(test)]
    pub(super) fn file(&self) -> Option<&File> {
        self.open.get().map(|(file, _)| file)
    }

    /// Creates a spill file from a file that a test provides.
    #[cfg(test)]
    pub(super) fn over(file: File, path: &Path) -> SpillFile {
        let spill = SpillFile::new(path, "");
        spill.open.set((file, path.to_path_buf())).expect("new");
        spill
    }
}

/// Reads the bytes of consecutive blocks in pieces of any size, and checks each block when its end is reached.
#[derive(Debug)]
pub(super) struct BlockReader<'f> {
    file: &'f SpillFile,
    blocks: std::slice::Iter<'f, Block>,
    current: Option<Current>,
}

#[derive(Debug)]
struct Current {
    block: Block,
    done: u32,
    checksum: crc32fast::Hasher,
    expected: u32,
}

impl BlockReader<'_> {
    /// Fills `out` as far as possible, and returns the number of bytes read.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if a block does not match its checksum, or [`Error::Io`] if the disk cannot be read. Do not trust the
    /// data of a block until the end of the block has been read without an error.
    pub(super) fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        let mut filled = 0;
        while filled < out.len() {
            let Some(mut current) = self.current.take() else {
                match self.blocks.next() {
                    Some(block) => self.current = Some(self.enter(*block)?),
                    None => break,
                }
                continue;
            };
            let left = (current.block.length - current.done) as usize;
            let piece = left.min(out.len() - filled);
            let target = &mut out[filled..filled + piece];
            self.read_at(target, current.block.offset + HEADER + u64::from(current.done), current.block)?;
            current.checksum.update(target);
            current.done += piece as u32;
            filled += piece;
            if current.done < current.block.length {
                self.current = Some(current);
            } else {
                let found = current.checksum.finalize();
                if found != current.expected {
                    let expected = current.expected;
                    return self.damaged(current.block, format!("has checksum {found:08x} instead of {expected:08x}"));
                }
            }
        }
        Ok(filled)
    }

    fn enter(&self, block: Block) -> Result<Current> {
        let mut head = Head::new_zeroed();
        self.read_at(head.as_mut_bytes(), block.offset, block)?;
        let (length, expected) = (head.length.get(), head.checksum.get());
        if length != block.length {
            return self.damaged(block, format!("claims {length} bytes"));
        }
        Ok(Current { block, done: 0, checksum: checksum_at(block.offset), expected })
    }

    fn read_at(&self, out: &mut [u8], at: u64, block: Block) -> Result<()> {
        let (file, path) = self.file.path_and_file()?;
        match file.read_exact_at(out, at) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                self.damaged(block, "is truncated by the end of the file".to_owned())
            }
            Err(error) => Err(Error::io(READ, path)(error)),
        }
    }

    fn damaged<T>(&self, block: Block, what: String) -> Result<T> {
        let (_, path) = self.file.path_and_file()?;
        let why = format!("the block of {} bytes at offset {} {what}", block.length, block.offset);
        Err(Error::Damaged { path: path.clone(), why })
    }
}

fn checksum_at(offset: u64) -> crc32fast::Hasher {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&offset.to_le_bytes());
    checksum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(file: &SpillFile, blocks: &[Block], piece: usize) -> Result<Vec<u8>> {
        let mut reader = file.read(blocks);
        let mut bytes = Vec::new();
        loop {
            let mut out = vec![0; piece];
            match reader.read(&mut out)? {
                0 => return Ok(bytes),
                filled => bytes.extend_from_slice(&out[..filled]),
            }
        }
    }

    #[test]
    fn blocks_come_back_in_pieces_of_any_size() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = SpillFile::new(dir.path(), "x");
        assert_eq!(all(&file, &[], 3).expect("nothing"), b"");
        let blocks = [
            file.append(&[&b"abc"[..], b"", b"defg"]).expect("written"),
            file.append(&[&b"hi"[..]]).expect("written"),
            file.append(&[&b""[..]]).expect("written"),
        ];
        for piece in 1..12 {
            assert_eq!(all(&file, &blocks, piece).expect("whole"), b"abcdefghi");
        }
        assert_eq!(all(&file, &[blocks[1], blocks[0]], 4).expect("whole"), b"hiabcdefg");
        assert_eq!(file.written(), 3 * HEADER + 9);
    }

    /// Checks that every flipped byte, every truncation, and two swapped blocks are reported.
    #[test]
    fn every_damage_is_found() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = SpillFile::new(dir.path(), "x");
        let blocks = [file.append(&[b"first."]).expect("written"), file.append(&[b"second"]).expect("written")];
        let raw = file.file().expect("open");
        let mut whole = vec![0; file.written() as usize];
        raw.read_exact_at(&mut whole, 0).expect("read");
        for (at, byte) in whole.iter().enumerate() {
            raw.write_all_at(&[byte ^ 1], at as u64).expect("written");
            let error = all(&file, &blocks, 4).expect_err("damaged");
            assert!(matches!(&error, Error::Damaged { path, .. } if path.starts_with(dir.path())), "{error}");
            raw.write_all_at(&[*byte], at as u64).expect("written");
        }
        let (one, two) = whole.split_at(14);
        raw.write_all_at(&[two, one].concat(), 0).expect("written");
        assert!(matches!(all(&file, &blocks, 4), Err(Error::Damaged { .. })));
        for length in 0..whole.len() {
            raw.set_len(0).expect("cut");
            raw.write_all_at(&whole[..length], 0).expect("written");
            assert!(matches!(all(&file, &blocks, 64), Err(Error::Damaged { .. })), "{length}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_that_names_the_file() {
        let path = Path::new("/dev/full");
        let file = SpillFile::over(File::options().write(true).open(path).expect("the device"), path);
        let error = file.append(&[b"x"]).expect_err("full");
        assert!(matches!(&error, Error::Io { action: WRITE, .. }), "{error}");
        assert!(error.to_string().starts_with("cannot write the temporary file /dev/full: "), "{error}");
    }
}
