//! The writing of a run: the sorted partitions of a shuffle, from many threads, each at its place.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::{BUCKETS, HEADER, Header, PIECE, begun, buckets_of};
use crate::error::{Error, Result};
use crate::shuffle::Records;
use crate::shuffle::product::{Half, PutDown};
use crate::shuffle::spec::bucket;

/// Bytes that are gathered of a bucket that is too large for the memory allowed.
const GATHERED: usize = 1 << 20;

/// A run that is being written. Several threads may write partitions at once.
#[derive(Debug)]
pub struct RunWriter {
    half: Half,
    width: usize,
    group_width: usize,
    /// The rows before each partition, then all rows.
    begins: Vec<u64>,
    done: Mutex<Done>,
}

#[derive(Debug)]
struct Done {
    partitions: Vec<bool>,
    /// Rows of each bucket.
    rows: Vec<u64>,
    sums: Sums,
}

/// Checksums of pieces, by the number of the piece.
#[derive(Debug, Default)]
struct Sums {
    whole: BTreeMap<u64, u32>,
    /// Parts of pieces, by their places: two partitions may share a piece.
    parts: BTreeMap<u64, crc32fast::Hasher>,
}

impl Sums {
    /// The checksums of all pieces, in order.
    fn joined(mut self) -> Vec<u8> {
        let mut joined: BTreeMap<u64, crc32fast::Hasher> = BTreeMap::new();
        for (at, part) in self.parts {
            let piece = at / PIECE as u64;
            match joined.get_mut(&piece) {
                Some(checksum) => checksum.combine(&part),
                None => {
                    joined.insert(piece, part);
                }
            }
        }
        self.whole.extend(joined.into_iter().map(|(piece, checksum)| (piece, checksum.finalize())));
        self.whole.values().flat_map(|checksum| checksum.to_le_bytes()).collect()
    }
}

impl RunWriter {
    /// Begins a run of that name, which ends in [`RUN`](super::RUN), in a work folder; `rows` are those of each partition.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be made, or the disk has no space for the rows.
    pub fn create(dir: &Path, name: &str, width: usize, group_width: usize, rows: &[u64]) -> Result<RunWriter> {
        let mut begins = vec![0];
        begins.extend(rows.iter().scan(0, |sum, rows| {
            *sum += rows;
            Some(*sum)
        }));
        let half = Half::create(dir, name)?;
        let bytes = begins[rows.len()] * width as u64;
        half.reserve(HEADER as u64 + bytes + 4 * bytes.div_ceil(PIECE as u64))?;
        let done = Done { partitions: vec![false; rows.len()], rows: vec![0; BUCKETS], sums: Sums::default() };
        Ok(RunWriter { half, width, group_width, begins, done: Mutex::new(done) })
    }

    /// Writes the rows of a partition, which are in byte order. Besides them it takes about `memory_bytes`, or what a bucket
    /// takes that has more, up to a megabyte.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Internal`] for rows that are not those of this partition.
    pub fn write(&self, partition: usize, records: &Records, memory_bytes: usize) -> Result<()> {
        let partitions = self.begins.len() - 1;
        if partition >= partitions || self.begins[partition + 1] - self.begins[partition] != records.len() as u64 {
            return Err(self.misused(format!("partition {partition} has {} rows", records.len())));
        }
        if records.width() != self.width {
            return Err(self.misused(format!("a row of {} bytes came", records.width())));
        }
        let buckets = buckets_of(partition, partitions);
        let rows = self.count(records, &buckets)?;
        let mut out = Sequence::new(self, self.begins[partition] * self.width as u64);
        let mut first = buckets.start;
        while first < buckets.end {
            let end = self.fitting(first..buckets.end, |bucket| rows[bucket - buckets.start], memory_bytes);
            let counts = &rows[first - buckets.start..end - buckets.start];
            let taken: u64 = counts.iter().sum();
            if taken * self.width as u64 > memory_bytes.max(GATHERED) as u64 {
                self.stream(records, first, &mut out)?;
            } else if taken > 0 {
                out.put(&self.scattered(records, first..end, counts))?;
            }
            first = end;
        }
        let sums = out.end();
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut done.partitions[partition], true) {
            return Err(self.misused(format!("partition {partition} came twice")));
        }
        done.rows[buckets].copy_from_slice(&rows);
        done.sums.whole.extend(sums.whole);
        done.sums.parts.extend(sums.parts);
        Ok(())
    }

    /// Ends the run, which gets its name.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Internal`] where a partition is missing.
    pub fn finish(self) -> Result<PutDown> {
        let RunWriter { half, width, group_width, begins, done } = self;
        let Done { partitions, rows, sums } = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(missing) = partitions.iter().position(|written| !written) {
            return Err(Error::Internal(format!("partition {missing} of a run was not written")));
        }
        let mut starts = vec![0];
        starts.extend(rows.iter().scan(0, |sum, rows| {
            *sum += rows;
            Some(*sum)
        }));
        let header = Header { width, group_width, starts };
        let bytes = begins[partitions.len()] * width as u64;
        let checksums = sums.joined();
        let header = header.encode();
        half.write_at(&header, 0)?;
        half.write_at(&checksums, HEADER as u64 + bytes)?;
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header);
        crc.update(&checksums);
        half.finish(HEADER as u64 + bytes + checksums.len() as u64, crc.finalize())
    }

    /// The rows of each of the buckets.
    fn count(&self, records: &Records, buckets: &Range<usize>) -> Result<Vec<u64>> {
        let mut rows = vec![0; buckets.len()];
        for record in records.bytes().chunks_exact(self.width) {
            let of = bucket(&record[..self.group_width]);
            match of.checked_sub(buckets.start).and_then(|at| rows.get_mut(at)) {
                Some(rows) => *rows += 1,
                None => return Err(self.misused(format!("a row of bucket {of} came among {buckets:?}"))),
            }
        }
        Ok(rows)
    }

    /// The end of the buckets, from the first on, that fit in the memory together; one at least.
    fn fitting(&self, buckets: Range<usize>, rows: impl Fn(usize) -> u64, memory_bytes: usize) -> usize {
        let mut bytes = rows(buckets.start) * self.width as u64;
        let next = |&bucket: &usize| {
            bytes += rows(bucket) * self.width as u64;
            bytes > memory_bytes as u64
        };
        (buckets.start + 1..buckets.end).find(next).unwrap_or(buckets.end)
    }

    /// The rows of these buckets, bucket by bucket, each in the order in which they come.
    fn scattered(&self, records: &Records, buckets: Range<usize>, rows: &[u64]) -> Vec<u8> {
        let mut places = Vec::with_capacity(rows.len());
        let mut end = 0;
        for rows in rows {
            places.push(end);
            end += *rows as usize * self.width;
        }
        let mut bytes = vec![0; end];
        for record in records.bytes().chunks_exact(self.width) {
            let of = bucket(&record[..self.group_width]);
            if let Some(place) = of.checked_sub(buckets.start).and_then(|at| places.get_mut(at)) {
                bytes[*place..*place + self.width].copy_from_slice(record);
                *place += self.width;
            }
        }
        bytes
    }

    /// Writes the rows of one large bucket as they come.
    fn stream(&self, records: &Records, of: usize, out: &mut Sequence<'_>) -> Result<()> {
        let mut gathered = Vec::with_capacity(GATHERED);
        for record in records.bytes().chunks_exact(self.width) {
            if bucket(&record[..self.group_width]) == of {
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

/// Bytes of rows that one thread writes one after the other, with the checksums of their pieces.
struct Sequence<'w> {
    writer: &'w RunWriter,
    at: u64,
    sums: Sums,
    /// Where the part at hand began, and its checksum.
    part: Option<(u64, crc32fast::Hasher)>,
}

impl<'w> Sequence<'w> {
    fn new(writer: &'w RunWriter, at: u64) -> Sequence<'w> {
        Sequence { writer, at, sums: Sums::default(), part: None }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.half.write_at(bytes, HEADER as u64 + self.at)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, within) = (self.at / PIECE as u64, (self.at % PIECE as u64) as usize);
            let (now, later) = rest.split_at(rest.len().min(PIECE - within));
            let (_, checksum) = self
                .part
                .get_or_insert_with(|| (self.at, if within == 0 { begun(piece) } else { crc32fast::Hasher::new() }));
            checksum.update(now);
            self.at += now.len() as u64;
            rest = later;
            if within + now.len() == PIECE {
                self.close();
            }
        }
        Ok(())
    }

    fn close(&mut self) {
        let Some((began, checksum)) = self.part.take() else { return };
        if self.at - began == PIECE as u64 {
            self.sums.whole.insert(began / PIECE as u64, checksum.finalize());
        } else {
            self.sums.parts.insert(began, checksum);
        }
    }

    fn end(mut self) -> Sums {
        self.close();
        self.sums
    }
}
