//! The reading of a run, by ranges of buckets.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::{BUCKETS, HEADER, Header, PIECE, begun};
use crate::error::{Error, Result};
use crate::shuffle::Records;
use crate::shuffle::product::{PutDown, damaged};
use crate::shuffle::records::{BufferPool, Storage};
use crate::shuffle::space::{self, READ};

/// A finished run. Several threads may read it at once.
#[derive(Debug)]
pub struct Run {
    file: File,
    path: PathBuf,
    header: Header,
    bytes: u64,
    checksums: Vec<u32>,
}

impl Run {
    /// Opens a run that was put down; its rows are compared with their checksums when they are read.
    ///
    /// # Errors
    /// [`Error::Damaged`], with the path and what differs, where it is missing or not what was put down; [`Error::Io`].
    pub fn take_up(dir: &Path, put_down: &PutDown) -> Result<Run> {
        let (file, path) = put_down.open(dir)?;
        let (run, crc) = Run::of(file, path)?;
        put_down.check(&run.path, crc)?;
        Ok(run)
    }

    /// Opens a run from anywhere.
    ///
    /// # Errors
    /// As [`Run::take_up`].
    pub fn open(path: &Path) -> Result<Run> {
        let file = File::open(path).map_err(Error::io(READ, path))?;
        Run::of(file, path.to_path_buf()).map(|(run, _)| run)
    }

    fn of(file: File, path: PathBuf) -> Result<(Run, u32)> {
        let found = file.metadata().map_err(Error::io(READ, &path))?.len();
        if found < HEADER as u64 {
            return Err(damaged(&path, format!("a run has {HEADER} bytes at the least, and not {found}")));
        }
        let mut head = vec![0; HEADER];
        file.read_exact_at(&mut head, 0).map_err(Error::io(READ, &path))?;
        let header = Header::decode(&head).map_err(|why| damaged(&path, why))?;
        let bytes = header.bytes().unwrap_or_default();
        let sums = 4 * bytes.div_ceil(PIECE as u64);
        if found != HEADER as u64 + bytes + sums {
            let expected = HEADER as u64 + bytes + sums;
            return Err(damaged(&path, format!("it has {found} bytes and not {expected}, as its header says")));
        }
        let mut tail = vec![0; sums as usize];
        file.read_exact_at(&mut tail, HEADER as u64 + bytes).map_err(Error::io(READ, &path))?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&head);
        crc.update(&tail);
        let (numbers, _) = tail.as_chunks::<4>();
        let checksums = numbers.iter().map(|number| u32::from_le_bytes(*number)).collect();
        Ok((Run { file, path, header, bytes, checksums }, crc.finalize()))
    }

    /// Bytes of a row.
    pub fn width(&self) -> usize {
        self.header.width
    }

    /// Bytes of its group.
    pub fn group_width(&self) -> usize {
        self.header.group_width
    }

    /// The rows of these buckets.
    pub fn rows_of(&self, buckets: Range<usize>) -> u64 {
        let starts = &self.header.starts;
        let end = starts[buckets.end.min(BUCKETS)];
        end.saturating_sub(starts[buckets.start.min(BUCKETS)])
    }

    /// All rows.
    pub fn rows(&self) -> u64 {
        self.header.rows()
    }

    /// The rows of these buckets, bucket by bucket, in blocks of about 64 KiB.
    pub fn read(&self, buckets: Range<usize>) -> RunReader<'_> {
        let places = self.places(buckets);
        RunReader { run: self, at: places.start, end: places.end, rows: Vec::new(), filled: 0, given: 0 }
    }

    /// The rows of these buckets, bucket by bucket, as one slice: in memory where they take no more than `memory_bytes`, else
    /// mapped.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a piece is not what was written; [`Error::Io`].
    pub fn load(&self, buckets: Range<usize>, memory_bytes: usize) -> Result<Records> {
        let places = self.places(buckets.clone());
        let bytes = places.end - places.start;
        let in_memory = bytes <= memory_bytes as u64;
        let mut loaded = Vec::with_capacity(if in_memory { bytes as usize } else { 0 });
        let mut reader = self.read(buckets);
        while let Some(rows) = reader.next_block()? {
            if in_memory {
                loaded.extend_from_slice(rows);
            }
        }
        let held = if in_memory {
            Storage::Heap(loaded, BufferPool::default())
        } else {
            Storage::File(space::map_part_to_read(
                &self.file,
                &self.path,
                HEADER as u64 + places.start,
                bytes as usize,
            )?)
        };
        Ok(Records { held, width: self.header.width, group_width: self.header.group_width })
    }

    /// Where the rows of these buckets stand among the bytes of all rows.
    fn places(&self, buckets: Range<usize>) -> Range<u64> {
        let (starts, width) = (&self.header.starts, self.header.width as u64);
        let start = starts[buckets.start.min(BUCKETS)] * width;
        start..(starts[buckets.end.min(BUCKETS)] * width).max(start)
    }

    /// Bytes of a piece.
    fn piece_bytes(&self, piece: u64) -> usize {
        (self.bytes - piece * PIECE as u64).min(PIECE as u64) as usize
    }

    /// Reads a piece, which is what was written, into as many bytes as it has.
    fn piece(&self, piece: u64, out: &mut [u8]) -> Result<()> {
        let begin = HEADER as u64 + piece * PIECE as u64;
        self.file.read_exact_at(out, begin).map_err(Error::io(READ, &self.path))?;
        let mut checksum = begun(piece);
        checksum.update(out);
        let (found, expected) = (checksum.finalize(), self.checksums[piece as usize]);
        if found != expected {
            let why = format!("piece {piece} of its rows has checksum {found:08x} and not {expected:08x}");
            return Err(damaged(&self.path, why));
        }
        Ok(())
    }
}

/// Gives rows of a run, in order, in blocks.
#[derive(Debug)]
pub struct RunReader<'r> {
    run: &'r Run,
    at: u64,
    end: u64,
    /// Whole rows that were given, then the beginning of the next one; then room.
    rows: Vec<u8>,
    /// Bytes without the room.
    filled: usize,
    /// Bytes that were given.
    given: usize,
}

impl RunReader<'_> {
    /// The next rows, one or more; none after the last.
    ///
    /// # Errors
    /// [`Error::Damaged`] if a piece is not what was written; [`Error::Io`].
    pub fn next_block(&mut self) -> Result<Option<&[u8]>> {
        self.rows.copy_within(self.given..self.filled, 0);
        (self.filled, self.given) = (self.filled - self.given, 0);
        while self.at < self.end {
            let (piece, within) = (self.at / PIECE as u64, (self.at % PIECE as u64) as usize);
            let (begin, bytes) = (self.filled, self.run.piece_bytes(piece));
            if self.rows.len() < begin + bytes {
                self.rows.resize(begin + bytes, 0);
            }
            self.run.piece(piece, &mut self.rows[begin..begin + bytes])?;
            let now = (bytes - within).min((self.end - self.at) as usize);
            if within > 0 {
                self.rows.copy_within(begin + within..begin + within + now, begin);
            }
            self.at += now as u64;
            self.filled += now;
            self.given = self.filled - self.filled % self.run.header.width;
            if self.given > 0 {
                return Ok(Some(&self.rows[..self.given]));
            }
        }
        Ok(None)
    }
}
