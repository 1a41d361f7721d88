//! Writes and loads checkpoint files, which outlive the process. A file gets its final name only when it is complete, and is loaded only if
//! it is unchanged.
//!
//! ```text
//! NAME.half --written, its checksums at the end--> NAME        saved: one rename, so a file with this name is complete
//! NAME --size, checksums--> mapped memory                      loaded: every byte is checked before any is used
//! ```
//!
//! A file consists of its data, then a CRC-32 for each MiB (computed over the 8-byte number of the MiB and its data), then the data length
//! (8 bytes) and `dupsprd1`; numbers are little-endian. To recognize the file later, store its [`SavedFile`] elsewhere: this record
//! distinguishes two files with the same name.
//!
//! Nothing is synced: if a file is incomplete after a power failure, it does not match its checksums and is recomputed.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Seek as _, Write};
use std::ops::Deref;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use serde::{Deserialize, Serialize};
use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::space::{self, READ, WRITE};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::private;

/// The suffix of a checkpoint file's name.
pub const SAVED: &str = ".saved";
/// The suffix of an incomplete file's name.
const HALF: &str = ".half";

const MAGIC: [u8; 8] = *b"dupsprd1";
/// The number of bytes per checksum.
const PIECE: usize = 1 << 20;
/// The number of bytes after the checksums.
const TAIL: u64 = size_of::<Tail>() as u64;

/// The end of the file, after the checksums.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Tail {
    /// The data length in bytes.
    bytes: U64,
    magic: [u8; 8],
}

/// A saved file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedFile {
    /// The file name in the temporary folder.
    pub name: String,
    /// The file size in bytes, including checksums.
    pub bytes: u64,
    /// A CRC-32 over the checksums and lengths, which identifies the content.
    pub crc: u32,
}

impl SavedFile {
    /// Opens the file if it has the recorded size.
    pub(super) fn open(&self, dir: &Path) -> Result<(File, PathBuf)> {
        let path = dir.join(&self.name);
        let file = match private::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(damaged(&path, "it is missing")),
            Err(error) if error.kind() == ErrorKind::InvalidInput || path.is_symlink() => {
                return Err(damaged(&path, "it is not a regular file"));
            }
            Err(error) => return Err(Error::io(READ, &path)(error)),
        };
        let found = file.metadata().map_err(Error::io(READ, &path))?.len();
        if found != self.bytes {
            return Err(damaged(&path, format!("it has {found} bytes instead of {}", self.bytes)));
        }
        Ok((file, path))
    }

    /// Compares a checksum with the recorded checksum, which identifies the content.
    pub(super) fn check(&self, path: &Path, found: u32) -> Result<()> {
        if found == self.crc {
            return Ok(());
        }
        Err(damaged(path, format!("it is not the file that was saved (checksum {found:08x}, not {:08x})", self.crc)))
    }
}

pub(super) fn damaged(path: &Path, why: impl Into<String>) -> Error {
    Error::Damaged { path: path.to_path_buf(), why: why.into() }
}

/// A file being written under a temporary name. The file is removed when this value is dropped, unless it was finished.
#[derive(Debug)]
pub(super) struct Half {
    file: File,
    path: PathBuf,
    name: String,
    renamed: bool,
}

impl Half {
    pub(super) fn create(dir: &Path, name: &str) -> Result<Half> {
        let path = dir.join(format!("{name}{HALF}"));
        let file = private::create(&path).map_err(Error::io("create the temporary file", &path))?;
        Ok(Half { file, path, name: name.to_owned(), renamed: false })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn reserve(&self, bytes: u64) -> Result<()> {
        space::reserve(&self.file, &self.path, bytes)
    }

    pub(super) fn write_at(&self, bytes: &[u8], at: u64) -> Result<()> {
        self.file.write_all_at(bytes, at).map_err(Error::io(WRITE, &self.path))
    }

    /// Reads back bytes that were written.
    pub(super) fn read_at(&self, bytes: &mut [u8], at: u64) -> Result<()> {
        self.file.read_exact_at(bytes, at).map_err(Error::io(READ, &self.path))
    }

    /// Renames the file to its final name.
    pub(super) fn finish(mut self, bytes: u64, crc: u32) -> Result<SavedFile> {
        self.file.set_len(bytes).map_err(Error::io(WRITE, &self.path))?;
        private::rename(&self.path, self.name.as_ref()).map_err(Error::io("rename the temporary file", &self.path))?;
        self.renamed = true;
        Ok(SavedFile { name: std::mem::take(&mut self.name), bytes, crc })
    }
}

impl Drop for Half {
    fn drop(&mut self) {
        if !self.renamed {
            // If the removal fails, the next owner of the folder removes the file.
            let _ = private::remove(&self.path);
        }
    }
}

/// Writes a checkpoint file sequentially.
#[derive(Debug)]
pub struct SavedFileWriter {
    half: Half,
    /// Data of an incomplete piece, before it is written.
    gathered: Vec<u8>,
    written: u64,
    checksums: Vec<u8>,
}

impl SavedFileWriter {
    /// Begins a file in the temporary folder `dir`; `name` must end in [`SAVED`]. The writer holds 1 MiB in memory.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be created.
    pub fn create(dir: &Path, name: &str) -> Result<SavedFileWriter> {
        let gathered = Vec::with_capacity(PIECE);
        Ok(SavedFileWriter { half: Half::create(dir, name)?, gathered, written: 0, checksums: Vec::new() })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the bytes cannot be written.
    pub fn append(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PIECE - self.gathered.len()));
            self.gathered.extend_from_slice(now);
            bytes = later;
            if self.gathered.len() == PIECE {
                self.send()?;
            }
        }
        Ok(())
    }

    /// Finishes the file and renames it to its final name.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn finish(mut self) -> Result<SavedFile> {
        if !self.gathered.is_empty() {
            self.send()?;
        }
        let mut end = self.checksums;
        end.extend_from_slice(Tail { bytes: self.written.into(), magic: MAGIC }.as_bytes());
        self.half.write_at(&end, self.written)?;
        self.half.finish(self.written + end.len() as u64, crc32fast::hash(&end))
    }

    fn send(&mut self) -> Result<()> {
        self.half.write_at(&self.gathered, self.written)?;
        let piece = self.written / PIECE as u64;
        self.checksums.extend_from_slice(&checksum(piece, &self.gathered).to_le_bytes());
        self.written += self.gathered.len() as u64;
        self.gathered.clear();
        Ok(())
    }
}

impl Write for SavedFileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.append(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(Error::Io { source, .. }) => Err(source),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Saves bytes as a checkpoint file with this name.
///
/// # Errors
/// Returns [`Error::Io`].
pub fn save_file(dir: &Path, name: &str, bytes: &[u8]) -> Result<SavedFile> {
    let mut writer = SavedFileWriter::create(dir, name)?;
    writer.append(bytes)?;
    writer.finish()
}

/// The data of a checkpoint file, memory-mapped.
#[derive(Debug)]
pub struct LoadedFile {
    /// `None` if there is no data.
    map: Option<Mmap>,
}

impl LoadedFile {
    /// Loads a checkpoint file and verifies the checksums of all data.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`], with the path and the difference, if the file is missing or is not the one that was saved; or
    /// [`Error::Io`] if the disk cannot be read.
    pub fn load_file(dir: &Path, saved: &SavedFile) -> Result<LoadedFile> {
        let (mut file, path) = saved.open(dir)?;
        let torn = |why: &str| damaged(&path, why.to_owned());
        let pieces_and_tail = saved.bytes.checked_sub(TAIL).ok_or_else(|| torn("it is too short"))?;
        let mut tail = Tail::new_zeroed();
        file.read_exact_at(tail.as_mut_bytes(), pieces_and_tail).map_err(Error::io(READ, &path))?;
        let bytes = tail.bytes.get();
        let pieces = bytes.div_ceil(PIECE as u64);
        if tail.magic != MAGIC
            || pieces.checked_mul(4).and_then(|sums| sums.checked_add(bytes)) != Some(pieces_and_tail)
        {
            return Err(torn("it does not have the footer of a saved file"));
        }
        let mut end = vec![0; (saved.bytes - bytes) as usize];
        file.read_exact_at(&mut end, bytes).map_err(Error::io(READ, &path))?;
        saved.check(&path, crc32fast::hash(&end))?;
        file.rewind().map_err(Error::io(READ, &path))?;
        let mut buffer = vec![0; PIECE.min(bytes as usize)];
        for (piece, expected) in (0..pieces).zip(end.chunks_exact(4)) {
            let length = (bytes - piece * PIECE as u64).min(PIECE as u64) as usize;
            file.read_exact(&mut buffer[..length]).map_err(Error::io(READ, &path))?;
            if checksum(piece, &buffer[..length]).to_le_bytes() != expected {
                return Err(damaged(&path, format!("MiB {piece} of its data differs from what was written")));
            }
        }
        let map = (bytes > 0).then(|| space::map_part_to_read(&file, &path, 0, bytes as usize)).transpose()?;
        Ok(LoadedFile { map })
    }

    /// Returns the map; `None` if there is no data.
    pub(super) fn into_map(self) -> Option<Mmap> {
        self.map
    }
}

impl Deref for LoadedFile {
    type Target = [u8];

    /// Returns the data, which begins at a page boundary and can therefore be read as numbers of any width.
    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

fn checksum(piece: u64, bytes: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&piece.to_le_bytes());
    checksum.update(bytes);
    checksum.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_was_put_down_is_taken_up() {
        let dir = tempfile::tempdir().expect("a folder");
        for length in [0, 1, 8, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 77] {
            let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let mut writer = SavedFileWriter::create(dir.path(), "a.saved").expect("begun");
            for piece in bytes.chunks(300_007) {
                writer.write_all(piece).expect("written");
            }
            assert!(names(dir.path()).contains(&"a.saved.half".to_owned()));
            let saved = writer.finish().expect("saved");
            assert_eq!(
                saved,
                save_file(dir.path(), "b.saved", &bytes)
                    .map(|b| SavedFile { name: "a.saved".into(), ..b })
                    .expect("saved")
            );
            assert_eq!(saved.bytes, (length + 4 * length.div_ceil(PIECE) + 16) as u64);
            assert!(*LoadedFile::load_file(dir.path(), &saved).expect("whole") == *bytes, "{length}");
            assert_eq!(names(dir.path()), ["a.saved", "b.saved"]);
        }
        // An unfinished file leaves nothing behind.
        drop(SavedFileWriter::create(dir.path(), "c.saved").expect("begun"));
        assert_eq!(names(dir.path()), ["a.saved", "b.saved"]);
    }

    /// Checks that every flipped bit, every truncation, a different file of the same size, and a missing file are reported.
    #[test]
    fn a_torn_file_is_named_and_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let saved = save_file(dir.path(), "a.saved", b"some bytes of a file").expect("saved");
        let path = dir.path().join("a.saved");
        let whole = fs::read(&path).expect("there");
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("written");
            let error = LoadedFile::load_file(dir.path(), &saved).expect_err("refused");
            assert!(matches!(&error, Error::Damaged { path: named, .. } if *named == path), "{error}");
            error.to_string()
        };
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                refused(&flipped);
            }
            assert!(refused(&whole[..at]).contains("bytes instead of 40"));
        }
        refused(&[&whole[..], b"x"].concat());
        let other = save_file(dir.path(), "other.saved", b"same bytes of a file").expect("saved");
        assert_eq!(other.bytes, saved.bytes);
        assert!(
            refused(&fs::read(dir.path().join("other.saved")).expect("there")).contains("not the file that was saved")
        );
        fs::remove_file(&path).expect("removed");
        let missing = LoadedFile::load_file(dir.path(), &saved).expect_err("refused").to_string();
        assert!(missing.starts_with("temporary file ") && missing.contains("it is missing"), "{missing}");
    }
}
