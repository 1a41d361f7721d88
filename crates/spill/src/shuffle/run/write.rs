//! Writes a run: many threads write the sorted partitions of a shuffle, each at its own offset.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::fence::{FENCE, Fence, begun, prefix};
use super::filter::{Block, FILTER_PIECE, Filter, Numbered, blocks_in, blocks_of, blocks_over, filter_pieces, seal};
use super::{BUCKETS, HEADER, Header, buckets_of, piece_rows};
use crate::shuffle::Records;
use crate::shuffle::saved_file::{Half, SavedFile};
use crate::shuffle::spec::{bucket, hash};
use dupsift_core::error::{Error, Result};
use zerocopy::IntoBytes as _;

/// The number of bytes collected at a time from a bucket that exceeds the memory limit.
const GATHERED: usize = 1 << 20;
/// The number of fence bytes written at a time.
const GATHERED_FENCES: usize = 12 << 10;

/// A run being written. Several threads may write partitions concurrently.
#[derive(Debug)]
pub struct RunWriter {
    half: Half,
    width: usize,
    group_width: usize,
    /// The number of rows before each partition, followed by the total number of rows.
    begins: Vec<u64>,
    /// The number of bytes before the fences.
    fences: u64,
    /// The number of bytes before the filter, if there is one.
    filter: Option<u64>,
    done: Mutex<Done>,
}

#[derive(Debug)]
struct Done {
    partitions: Vec<bool>,
    /// The number of rows in each bucket.
    rows: Vec<u64>,
    parts: Parts,
    /// Filter blocks that have not been written yet, because several buckets may share them.
    blocks: BTreeMap<u64, Block>,
}

/// Part of a piece. If two partitions share a piece, the checksums of its parts are combined.
#[derive(Debug)]
struct Part {
    fence: Fence,
    checksum: crc32fast::Hasher,
}

/// Parts of pieces, by their offsets.
type Parts = BTreeMap<u64, Part>;

impl RunWriter {
    /// Begins a run in the temporary folder `dir`; `name` must end in [`RUN`](super::RUN), and `rows` contains the number of rows in each
    /// partition. A filter takes one byte per row; with it, looking up groups that are not in the run reads only a small part of the file.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be created, or the disk has no space for the rows.
    pub fn create(
        dir: &Path,
        name: &str,
        width: usize,
        group_width: usize,
        rows: &[u64],
        filtered: bool,
    ) -> Result<RunWriter> {
        let mut begins = vec![0];
        begins.extend(rows.iter().scan(0, |sum, rows| {
            *sum += rows;
            Some(*sum)
        }));
        let half = Half::create(dir, name)?;
        let all = begins[rows.len()];
        let fences = HEADER as u64 + all * width as u64;
        let filter = fences + FENCE as u64 * all.div_ceil(piece_rows(width)) + 4;
        half.reserve(filter + if filtered { FILTER_PIECE as u64 * filter_pieces(all) } else { 0 })?;
        let (partitions, rows) = (vec![false; rows.len()], vec![0; BUCKETS]);
        let done = Mutex::new(Done { partitions, rows, parts: Parts::default(), blocks: BTreeMap::new() });
        Ok(RunWriter { half, width, group_width, begins, fences, filter: filtered.then_some(filter), done })
    }

    /// Writes the rows of a partition, which must be in byte order. Uses about `memory_bytes` of additional memory, or up to a megabyte for
    /// a larger bucket.
    ///
    /// # Errors
    /// Returns [`Error::Io`], or [`Error::Internal`] for rows that do not belong to this partition.
    pub fn write(&self, partition: usize, records: &Records, memory_bytes: usize) -> Result<()> {
        let partitions = self.begins.len() - 1;
        if partition >= partitions || self.begins[partition + 1] - self.begins[partition] != records.len() as u64 {
            return Err(self.misused(format!("partition {partition} has {} rows", records.len())));
        }
        if records.width() != self.width {
            return Err(self.misused(format!("received a row of the wrong length ({} bytes)", records.width())));
        }
        let buckets = buckets_of(partition, partitions);
        let rows = self.count(records, &buckets)?;
        let mut out = Sequence::new(self, self.begins[partition] * self.width as u64);
        let (mut first, mut blocks) = (buckets.start, Vec::new());
        while first < buckets.end {
            let end = self.fitting(first..buckets.end, |bucket| rows[bucket - buckets.start], memory_bytes);
            let counts = &rows[first - buckets.start..end - buckets.start];
            let taken: u64 = counts.iter().sum();
            let begin = out.at / self.width as u64;
            if taken * self.width as u64 > memory_bytes.max(GATHERED) as u64 {
                self.stream(records, first, &mut out)?;
                let of_bucket = records.bytes().chunks_exact(self.width).filter(|row| self.bucket(row) == first);
                blocks.extend(self.filter(begin, counts, of_bucket)?);
            } else if taken > 0 {
                let rows = self.scattered(records, first..end, counts);
                out.put(&rows)?;
                blocks.extend(self.filter(begin, counts, rows.chunks_exact(self.width))?);
            }
            first = end;
        }
        let parts = out.end()?;
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut done.partitions[partition], true) {
            return Err(self.misused(format!("partition {partition} was written twice")));
        }
        done.rows[buckets].copy_from_slice(&rows);
        done.parts.extend(parts);
        for (number, block) in blocks {
            let joined = done.blocks.entry(number).or_default();
            joined.iter_mut().zip(block).for_each(|(word, more)| *word |= more);
        }
        Ok(())
    }

    /// Finishes the run and renames it to its final name.
    ///
    /// # Errors
    /// Returns [`Error::Io`], or [`Error::Internal`] if a partition is missing.
    pub fn finish(self) -> Result<SavedFile> {
        let RunWriter { half, width, group_width, fences, filter, done, .. } = self;
        let Done { partitions, rows, parts, blocks } = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(missing) = partitions.iter().position(|written| !written) {
            return Err(Error::Internal(format!("partition {missing} of a run was not written")));
        }
        let mut starts = vec![0];
        starts.extend(rows.iter().scan(0, |sum, rows| {
            *sum += rows;
            Some(*sum)
        }));
        let header = Header { width, group_width, filtered: filter.is_some(), starts };
        for (piece, fence) in joined(parts, header.piece_rows() * width as u64) {
            half.write_at(fence.as_bytes(), fences + FENCE as u64 * piece)?;
        }
        let (end, rows, header) = (fences + FENCE as u64 * header.pieces(), header.rows(), header.encode());
        half.write_at(&header, 0)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header);
        let mut buffer = vec![0; FILTER_PIECE];
        for at in (fences..end).step_by(FILTER_PIECE) {
            let bytes = FILTER_PIECE.min((end - at) as usize);
            half.read_at(&mut buffer[..bytes], at)?;
            crc.update(&buffer[..bytes]);
        }
        let crc = crc.finalize();
        half.write_at(&crc.to_le_bytes(), end)?;
        let Some(filter) = filter else { return half.finish(end + 4, crc) };
        let mut bytes = [0; FILTER_PIECE];
        for piece in 0..filter_pieces(rows) {
            let at = filter + piece * FILTER_PIECE as u64;
            half.read_at(&mut bytes, at)?;
            seal(piece, &mut bytes, blocks.range(blocks_in(piece)));
            half.write_at(&bytes, at)?;
        }
        half.finish(filter + filter_pieces(rows) * FILTER_PIECE as u64, crc)
    }

    fn bucket(&self, row: &[u8]) -> usize {
        bucket(&row[..self.group_width])
    }

    /// Writes the filter of consecutive buckets. `counts` contains the number of rows in each bucket, and `begin` is the number of the
    /// first row. Returns the blocks that may be shared with other buckets.
    fn filter<'r>(
        &self,
        begin: u64,
        counts: &[u64],
        mut rows: impl Iterator<Item = &'r [u8]>,
    ) -> Result<Vec<Numbered>> {
        let Some(place) = self.filter else { return Ok(Vec::new()) };
        let all = begin..begin + counts.iter().sum::<u64>();
        let mut filter = Filter::new(if counts.len() == 1 { blocks_of(&all) } else { blocks_over(&all) });
        let mut start = begin;
        for count in counts {
            let blocks = blocks_of(&(start..start + count));
            for row in rows.by_ref().take(*count as usize) {
                filter.insert(&blocks, hash(&row[..self.group_width]));
            }
            start += count;
        }
        let (parts, shared) = filter.encode();
        parts.iter().try_for_each(|(at, bytes)| self.half.write_at(bytes, place + at))?;
        Ok(shared)
    }

    /// Returns the number of rows in each of the buckets.
    fn count(&self, records: &Records, buckets: &Range<usize>) -> Result<Vec<u64>> {
        let mut rows = vec![0; buckets.len()];
        for record in records.bytes().chunks_exact(self.width) {
            let of = self.bucket(record);
            match of.checked_sub(buckets.start).and_then(|at| rows.get_mut(at)) {
                Some(rows) => *rows += 1,
                None => {
                    return Err(self.misused(format!(
                        "received a row from bucket {of}, which is not among the expected buckets {buckets:?}"
                    )));
                }
            }
        }
        Ok(rows)
    }

    /// Returns the end of the longest range of buckets that fits in memory. The range starts at the first bucket and contains at least one
    /// bucket.
    fn fitting(&self, buckets: Range<usize>, rows: impl Fn(usize) -> u64, memory_bytes: usize) -> usize {
        let mut bytes = rows(buckets.start) * self.width as u64;
        let next = |&bucket: &usize| {
            bytes += rows(bucket) * self.width as u64;
            bytes > memory_bytes as u64
        };
        (buckets.start + 1..buckets.end).find(next).unwrap_or(buckets.end)
    }

    /// Returns the rows of these buckets, bucket by bucket, with the rows of each bucket in their original order.
    fn scattered(&self, records: &Records, buckets: Range<usize>, rows: &[u64]) -> Vec<u8> {
        let mut places = Vec::with_capacity(rows.len());
        let mut end = 0;
        for rows in rows {
            places.push(end);
            end += *rows as usize * self.width;
        }
        let mut bytes = vec![0; end];
        for record in records.bytes().chunks_exact(self.width) {
            let of = self.bucket(record);
            if let Some(place) = of.checked_sub(buckets.start).and_then(|at| places.get_mut(at)) {
                bytes[*place..*place + self.width].copy_from_slice(record);
                *place += self.width;
            }
        }
        bytes
    }

    /// Writes the rows of one large bucket in their original order.
    fn stream(&self, records: &Records, of: usize, out: &mut Sequence<'_>) -> Result<()> {
        let mut gathered = Vec::with_capacity(GATHERED);
        for record in records.bytes().chunks_exact(self.width) {
            if self.bucket(record) == of {
                gathered.extend_from_slice(record);
                if gathered.len() + self.width > GATHERED {
                    out.put(&gathered)?;
                    gathered.clear();
                }
            }
        }
        out.put(&gathered)
    }

    fn misused(&self, what: String) -> Error {
        Error::Internal(format!("the run {} was misused: {what}", self.half.name()))
    }
}

/// Joins the parts of pieces. Returns the fences with their piece numbers.
fn joined(parts: Parts, piece_bytes: u64) -> Vec<(u64, Fence)> {
    let mut pieces: Vec<(u64, Part)> = Vec::new();
    for (at, part) in parts {
        match pieces.last_mut().filter(|(piece, _)| *piece == at / piece_bytes) {
            Some((_, first)) => first.checksum.combine(&part.checksum),
            None => pieces.push((at / piece_bytes, part)),
        }
    }
    let fence = |part: Part| Fence { checksum: part.checksum.finalize().into(), ..part.fence };
    pieces.into_iter().map(|(piece, part)| (piece, fence(part))).collect()
}

/// Rows written sequentially by one thread, with the fences of their pieces.
struct Sequence<'w> {
    writer: &'w RunWriter,
    at: u64,
    piece_bytes: u64,
    /// The current part, and the offset where it began.
    part: Option<(u64, Part)>,
    parts: Parts,
    /// The fences that have not been written yet, preceded by the piece number of the first fence.
    fences: (u64, Vec<u8>),
}

impl<'w> Sequence<'w> {
    fn new(writer: &'w RunWriter, at: u64) -> Sequence<'w> {
        let piece_bytes = piece_rows(writer.width) * writer.width as u64;
        Sequence { writer, at, piece_bytes, part: None, parts: Parts::default(), fences: (0, Vec::new()) }
    }

    /// Writes complete rows.
    fn put(&mut self, rows: &[u8]) -> Result<()> {
        self.writer.half.write_at(rows, HEADER as u64 + self.at)?;
        let mut rest = rows;
        while !rest.is_empty() {
            let (piece, within) = (self.at / self.piece_bytes, self.at % self.piece_bytes);
            let (now, later) = rest.split_at(rest.len().min((self.piece_bytes - within) as usize));
            let (_, part) = self.part.get_or_insert_with(|| {
                let fence = Fence { prefix: prefix(&now[..self.writer.group_width]), checksum: 0.into() };
                (self.at, Part { fence, checksum: if within == 0 { begun(piece) } else { crc32fast::Hasher::new() } })
            });
            part.checksum.update(now);
            self.at += now.len() as u64;
            rest = later;
            if self.at.is_multiple_of(self.piece_bytes) {
                self.close()?;
            }
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        let Some((began, part)) = self.part.take() else { return Ok(()) };
        if self.at - began < self.piece_bytes {
            self.parts.insert(began, part);
            return Ok(());
        }
        if self.fences.1.is_empty() {
            self.fences.0 = began / self.piece_bytes;
        }
        self.fences.1.extend_from_slice(Fence { checksum: part.checksum.finalize().into(), ..part.fence }.as_bytes());
        if self.fences.1.len() >= GATHERED_FENCES { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        let (first, fences) = &mut self.fences;
        self.writer.half.write_at(fences, self.writer.fences + FENCE as u64 * *first)?;
        fences.clear();
        Ok(())
    }

    fn end(mut self) -> Result<Parts> {
        self.close()?;
        self.send().map(|()| self.parts)
    }
}
