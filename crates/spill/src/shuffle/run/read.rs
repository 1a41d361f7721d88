//! Reads ranges of buckets from a run.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::fence::{FENCE, Fence, Fences, begun, prefix};
use super::filter::{FILTER_PIECE, Filter, blocks_of, filter_pieces, pieces_of};
use super::{BUCKETS, HEADER, Header, PIECE};
use crate::shuffle::Records;
use crate::shuffle::records::{BufferPool, Storage};
use crate::shuffle::saved_file::{SavedFile, damaged};
use crate::shuffle::space::{self, READ};
use crate::shuffle::spec::hash;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;

/// The maximum number of pieces read at a time.
const TOGETHER: u64 = (64 << 10) / PIECE as u64;
/// The number of fence bytes checked at a time.
const BUFFER: usize = 64 << 10;

/// A finished run. Several threads may read it concurrently. A `Run` takes up 32 KiB of memory.
#[derive(Debug)]
pub struct Run {
    file: File,
    path: PathBuf,
    header: Header,
    /// The number of bytes before the fences.
    fences: u64,
    /// The checksum of the header and the fences.
    list: u32,
}

impl Run {
    /// Opens a saved run; its rows are checked when they are read.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`], with the path and the difference, if the file is missing or is not the one that was saved; or
    /// [`Error::Io`].
    pub fn load_file(dir: &Path, saved: &SavedFile) -> Result<Run> {
        let (file, path) = saved.open(dir)?;
        let run = Run::of(file, path)?;
        saved.check(&run.path, run.list)?;
        Ok(run)
    }

    /// Opens a run at any path; the path may be a link.
    ///
    /// # Errors
    /// Returns the same errors as [`Run::load_file`].
    pub fn open(path: &Path) -> Result<Run> {
        let file = safe_fs::open_behind_link(path).map_err(Error::io(READ, path))?;
        Run::of(file, path.to_path_buf())
    }

    fn of(file: File, path: PathBuf) -> Result<Run> {
        let found = file.metadata().map_err(Error::io(READ, &path))?.len();
        if found < HEADER as u64 {
            return Err(damaged(&path, format!("it has {found} bytes, but a run has at least {HEADER}")));
        }
        let mut head = vec![0; HEADER];
        file.read_exact_at(&mut head, 0).map_err(Error::io(READ, &path))?;
        let header = Header::decode(&head).map_err(|why| damaged(&path, why))?;
        let fences = HEADER as u64 + header.bytes().unwrap_or_default();
        let end = fences + header.pieces() * FENCE as u64;
        let filter = if header.filtered { filter_pieces(header.rows()) * FILTER_PIECE as u64 } else { 0 };
        let expected = end + 4 + filter;
        if found != expected {
            return Err(damaged(
                &path,
                format!("it has {found} bytes instead of the {expected} that its header declares"),
            ));
        }
        let mut run = Run { file, path, header, fences, list: 0 };
        run.list = run.checksum(&head, end)?;
        Ok(run)
    }

    /// Returns the checksum of the header and of the checksums of all pieces, which tells this run from runs with other rows.
    pub fn list(&self) -> u32 {
        self.list
    }

    /// Compares the checksum of the header and the fences with the checksum in the file, and returns the checksum.
    fn checksum(&self, head: &[u8], end: u64) -> Result<u32> {
        let read = |out: &mut [u8], at: u64| self.file.read_exact_at(out, at).map_err(Error::io(READ, &self.path));
        let mut crc = crc32fast::Hasher::new();
        crc.update(head);
        let (mut at, mut buffer) = (self.fences, vec![0; BUFFER.min((end - self.fences) as usize)]);
        while at < end {
            let bytes = buffer.len().min((end - at) as usize);
            read(&mut buffer[..bytes], at)?;
            crc.update(&buffer[..bytes]);
            at += bytes as u64;
        }
        let mut expected = [0; 4];
        read(&mut expected, end)?;
        let (found, expected) = (crc.finalize(), u32::from_le_bytes(expected));
        if found != expected {
            let why = format!("its list of pieces has checksum {found:08x} instead of {expected:08x}");
            return Err(damaged(&self.path, why));
        }
        Ok(found)
    }

    /// Returns the size of a row in bytes.
    pub fn width(&self) -> usize {
        self.header.width
    }

    /// Returns the size of a row's group in bytes.
    pub fn group_width(&self) -> usize {
        self.header.group_width
    }

    /// Returns the number of rows in these buckets.
    pub fn rows_of(&self, buckets: Range<usize>) -> u64 {
        let rows = self.range(buckets);
        rows.end - rows.start
    }

    /// Returns whether the run has a filter.
    pub fn is_filtered(&self) -> bool {
        self.header.filtered
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.header.rows()
    }

    /// Returns a reader for the rows of these buckets, bucket by bucket, in blocks of up to 64 KiB.
    pub fn read(&self, buckets: Range<usize>) -> RunReader<'_> {
        let Range { start: at, end } = self.range(buckets);
        let (fences, filter, block) = (Fences::default(), None, Vec::new());
        RunReader { run: self, at, end, together: TOGETHER, fences, filter, block, bytes: 0 }
    }

    /// Returns the rows of these buckets, bucket by bucket, as one slice. The slice is held in memory if it fits in `memory_bytes`;
    /// otherwise, it is memory-mapped.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if a piece does not match its checksum, or [`Error::Io`].
    pub fn load(&self, buckets: Range<usize>, memory_bytes: usize) -> Result<Records> {
        let (rows, width) = (self.range(buckets.clone()), self.header.width);
        let bytes = (rows.end - rows.start) * width as u64;
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
            let begin = HEADER as u64 + rows.start * width as u64;
            Storage::File(space::map_part_to_read(&self.file, &self.path, begin, bytes as usize)?)
        };
        Ok(Records { held, width, group_width: self.header.group_width })
    }

    /// Returns the range of row numbers in these buckets.
    fn range(&self, buckets: Range<usize>) -> Range<u64> {
        let starts = &self.header.starts;
        let start = starts[buckets.start.min(BUCKETS)];
        start..starts[buckets.end.min(BUCKETS)].max(start)
    }
}

/// Reads rows of a run, in order, in blocks.
#[derive(Debug)]
pub struct RunReader<'r> {
    run: &'r Run,
    /// The number of the next row.
    at: u64,
    end: u64,
    /// The number of pieces to read at a time. This number increases while adjacent pieces are read, and is 0 after pieces have been
    /// skipped.
    together: u64,
    fences: Fences,
    /// The filter of one bucket.
    filter: Option<(usize, Filter)>,
    block: Vec<u8>,
    bytes: u64,
}

impl RunReader<'_> {
    /// Returns at least one of the next rows; returns `None` after the last row.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if a piece does not match its checksum, or [`Error::Io`].
    pub fn next_block(&mut self) -> Result<Option<&[u8]>> {
        if self.at >= self.end {
            return Ok(None);
        }
        let Header { width, .. } = self.run.header;
        let (rows, all) = (self.run.header.piece_rows(), self.run.rows());
        let first = self.at / rows;
        let pieces = first..(first + self.together.max(1)).min(self.end.div_ceil(rows));
        let begin = pieces.start * rows;
        let bytes = ((pieces.end * rows).min(all) - begin) as usize * width;
        self.block.resize(bytes, 0);
        let place = HEADER as u64 + begin * width as u64;
        self.run.file.read_exact_at(&mut self.block, place).map_err(Error::io(READ, &self.run.path))?;
        self.bytes += bytes as u64;
        let end = (pieces.end * rows).min(self.end);
        self.check(pieces)?;
        let (from, to) = ((self.at - begin) as usize * width, (end - begin) as usize * width);
        self.at = end;
        Ok(Some(&self.block[from..to]))
    }

    /// Verifies the checksums of pieces that were read.
    fn check(&mut self, pieces: Range<u64>) -> Result<()> {
        let bytes = self.run.header.piece_rows() as usize * self.run.header.width;
        for (at, piece) in pieces.enumerate() {
            let rows = &self.block[at * bytes..self.block.len().min((at + 1) * bytes)];
            let mut checksum = begun(piece);
            checksum.update(rows);
            let found = checksum.finalize();
            let expected = self.fence(piece)?.checksum.get();
            if found != expected {
                let why = format!("piece {piece} of its rows has checksum {found:08x} instead of {expected:08x}");
                return Err(damaged(&self.run.path, why));
            }
        }
        Ok(())
    }

    /// Returns whether the run may contain a group, according to the run's filter; `true` if there is no filter. Never returns `false` for
    /// a group that the run contains. Groups must be looked up bucket by bucket, because only one bucket's filter is loaded at a time.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the filter does not match its checksum, or [`Error::Io`].
    pub fn may_have(&mut self, bucket: usize, group: &[u8]) -> Result<bool> {
        let Run { header, file, path, .. } = self.run;
        let rows = header.rows_of(bucket);
        if rows.is_empty() || !header.filtered {
            return Ok(!rows.is_empty());
        }
        if self.filter.as_ref().is_none_or(|(held, _)| *held != bucket) {
            let blocks = blocks_of(&rows);
            let pieces = pieces_of(&blocks);
            let begin = self.run.fences + header.pieces() * FENCE as u64 + 4 + pieces.start * FILTER_PIECE as u64;
            self.block.resize((pieces.end - pieces.start) as usize * FILTER_PIECE, 0);
            file.read_exact_at(&mut self.block, begin).map_err(Error::io(READ, path))?;
            self.bytes += self.block.len() as u64;
            let filter = Filter::decode(blocks, &self.block);
            let broken = |piece| damaged(path, format!("piece {piece} of its filter differs from what was written"));
            self.filter = Some((bucket, filter.map_err(broken)?));
        }
        Ok(self.filter.as_ref().is_none_or(|(_, filter)| filter.may_have(hash(group))))
    }

    /// Moves to the piece where the rows of a group would begin, skipping pieces with smaller groups. Returns whether that piece may
    /// contain the group. Rows that were already returned are not returned again.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn seek(&mut self, bucket: usize, group: &[u8]) -> Result<bool> {
        let rows = self.run.range(bucket..bucket + 1);
        let (start, end) = (rows.start.max(self.at), rows.end.min(self.end));
        if start >= end {
            return Ok(false);
        }
        let (prefix, piece_rows) = (prefix(group), self.run.header.piece_rows());
        let first = start / piece_rows;
        // The fence of the first piece applies to this bucket only if the piece begins in the bucket.
        if first * piece_rows == start && self.fence(first)?.prefix > prefix {
            return Ok(false);
        }
        // Finds the last piece that begins with a smaller group; if there is none, finds the first piece. The search starts near the first
        // piece.
        let (mut low, mut step, pieces) = (first, 1, end.div_ceil(piece_rows));
        while low + step < pieces && self.fence(low + step)?.prefix < prefix {
            (low, step) = (low + step, 2 * step);
        }
        let mut high = pieces.min(low + step);
        while low + 1 < high {
            let middle = low + (high - low) / 2;
            if self.fence(middle)?.prefix < prefix { low = middle } else { high = middle }
        }
        let to = start.max(low * piece_rows);
        self.together = if to > self.at { 0 } else { (2 * self.together).clamp(1, TOGETHER) };
        self.at = to;
        Ok(true)
    }

    fn fence(&mut self, piece: u64) -> Result<Fence> {
        let Run { file, path, header, fences, .. } = self.run;
        self.fences.get(piece, header.pieces(), file, *fences).map_err(Error::io(READ, path))
    }

    /// Returns the number of bytes that were read from rows and filters.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}
