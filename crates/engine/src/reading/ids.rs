//! Holds the ids of the documents in the output. The ids are read at the end of the run and stored in a temporary file.

use arrow::array::ArrayRef;

use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_input::Source;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap, Ranks};
use dupsift_tables::{Documents, FULL_BYTES, Id, IdBuilder, IdBytes, IdRef, IdType, IdsSeen};

/// Holds the ids of documents. All ids have the same type.
pub struct Ids<'s> {
    kind: IdType,
    source: &'s Source,
    heap: FrozenHeap,
    shown: Ranks,
    /// The offset of the id of each document in `shown`, plus one; 0 for a document without an id.
    begins: AtomicCells<u64>,
}

/// Holds an id from the temporary file, or the name that is generated for a document without an id.
pub enum KnownId<'i> {
    /// An id that was read.
    Read(IdRef<'i>),
    /// A generated name.
    Made(Id),
}

impl KnownId<'_> {
    /// Returns the id in the form that the builders accept.
    pub fn as_ref(&self) -> IdRef<'_> {
        match self {
            KnownId::Read(id) => *id,
            KnownId::Made(id) => id.as_ref(),
        }
    }
}

/// Records the ids that many threads read.
pub struct TakingIds<'s> {
    kind: IdType,
    source: &'s Source,
    there: bool,
    heap: Heap,
    shown: Ranks,
    begins: AtomicCells<u64>,
}

/// Ids with an average size of up to this many bytes are not considered long. With at most 8,192 rows, two columns of such ids take up at
/// most 4 MiB.
const MOST_SHORT_BYTES: u64 = 256;

/// The buffers that a thread reuses between batches: the bytes of the ids, and the position of each id.
pub type IdsOfBatch = (Vec<u8>, Vec<(usize, u64)>);

impl<'s> TakingIds<'s> {
    /// Starts recording for the documents in `shown`.
    pub fn new(session: &Session<'s>, seen: &IdsSeen, shown: &AtomicBits) -> Result<TakingIds<'s>> {
        let (kind, _) = seen.id_type();
        let heap = Heap::new(session.engine.dir, "ids")?;
        let shown = Ranks::new(session.engine.dir, "id-ranks", shown)?;
        let begins = AtomicCells::new(session.engine.dir, "id-begins", shown.count() as usize)?;
        let there = !seen.kinds.is_empty() && shown.count() > 0;
        Ok(TakingIds { kind, source: session.source, there, heap, shown, begins })
    }

    /// Returns whether there are ids to read.
    pub fn wants_any(&self) -> bool {
        self.there
    }

    /// Returns the buffers for one thread.
    pub fn state(&self) -> IdsOfBatch {
        (Vec::new(), Vec::new())
    }

    /// Records the ids of a batch.
    pub fn take(&self, batch: &Documents, (bytes, places): &mut IdsOfBatch) -> Result<()> {
        bytes.clear();
        places.clear();
        for row in 0..batch.len() {
            let (Some(rank), Some(id)) = (self.shown.rank(batch.doc(row) as usize), batch.id(row)) else { continue };
            let begin = bytes.len();
            bytes.extend([0; 4]);
            written_as(self.kind, id, bytes);
            let length = (bytes.len() - begin - 4) as u32;
            bytes[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
            places.push((rank, begin as u64));
        }
        let begin = self.heap.append(bytes)?;
        places.iter().for_each(|&(rank, place)| self.begins.store(rank, begin + place + 1));
        Ok(())
    }

    /// Ends the recording.
    pub fn end(self) -> Result<Ids<'s>> {
        let TakingIds { kind, source, heap, shown, begins, .. } = self;
        Ok(Ids { kind, source, heap: heap.freeze()?, shown, begins })
    }
}

impl<'s> Ids<'s> {
    /// Returns the size of the temporary file in bytes.
    pub fn bytes(&self) -> u64 {
        self.heap.bytes().len() as u64
    }

    /// Returns whether ids are so long on average that their size, not the number of rows, determines when a batch is full.
    pub(crate) fn are_long(&self) -> bool {
        self.bytes() / self.shown.count().max(1) > MOST_SHORT_BYTES
    }

    /// Returns the type in which ids are written.
    pub fn kind(&self) -> IdType {
        self.kind
    }

    /// Returns the id of a shown document, or `FILE#ROW` if the document has no id.
    pub fn of(&self, doc: u64) -> KnownId<'_> {
        self.at(doc, self.begin(doc))
    }

    /// Returns the ids of `docs` as a column. If the first ids fill [`FULL_BYTES`], the column contains only these ids (at least one).
    ///
    /// # Errors
    /// Returns an error if an id is too long to write or if its type differs from the type of the column.
    pub fn column(&self, docs: &[u64]) -> Result<ArrayRef> {
        // Consecutive entries for the same document are looked up only once. All offsets are loaded first so that memory accesses overlap.
        let runs = docs.chunk_by(|x, y| x == y);
        let begins: Vec<Option<u64>> = runs.clone().map(|run| self.begin(run[0])).collect();
        if !matches!(self.kind, IdType::Text | IdType::Bytes) {
            let mut column = IdBuilder::new(self.kind);
            for (run, begin) in runs.zip(begins) {
                let id = self.at(run[0], begin);
                run.iter().try_for_each(|_| column.push(id.as_ref()))?;
            }
            return Ok(column.finish());
        }
        let mut column = IdBytes::new(docs.len());
        for (run, begin) in runs.zip(begins) {
            let before = column.bytes();
            if before >= FULL_BYTES {
                break;
            }
            match begin {
                Some(begin) => column.push(self.written(begin))?,
                None => column.push(self.source.name_of(run[0]).as_bytes())?,
            }
            let (length, more) = (column.bytes() - before, run.len() - 1);
            let room = FULL_BYTES.saturating_sub(column.bytes()) / length.max(1);
            column.repeat(more.min(room));
            if room < more {
                break;
            }
        }
        column.finish(self.kind == IdType::Text)
    }

    /// Returns the offset of a document's id in the temporary file, or `None` if the document has no id.
    #[inline]
    fn begin(&self, doc: u64) -> Option<u64> {
        self.shown.rank(doc as usize).and_then(|rank| self.begins.load(rank).checked_sub(1))
    }

    /// Returns the id at an offset in the form in which it is written to the output.
    #[inline]
    fn written(&self, begin: u64) -> &[u8] {
        let mut length = [0; 4];
        length.copy_from_slice(self.heap.get(begin, 4));
        self.heap.get(begin + 4, u32::from_le_bytes(length) as usize)
    }

    fn at(&self, doc: u64, begin: Option<u64>) -> KnownId<'_> {
        let Some(begin) = begin else {
            let name = self.source.name_of(doc);
            return KnownId::Made(match self.kind {
                IdType::Bytes => Id::Bytes(name.into_bytes()),
                _ => Id::Text(name),
            });
        };
        let bytes = self.written(begin);
        if self.kind == IdType::Bytes {
            return KnownId::Read(IdRef::Bytes(bytes));
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return KnownId::Made(Id::Text(String::from_utf8_lossy(bytes).into_owned()));
        };
        KnownId::Read(match self.kind {
            // The type is an integer type only if all ids that were seen are integers in its range.
            IdType::Int32 | IdType::Int64 => text.parse().map_or(IdRef::Text(text), IdRef::Int),
            _ => IdRef::Text(text),
        })
    }
}

/// Appends an id in the form in which it is written to the output. If binary ids have to be written as text because other files have text
/// ids, their bytes are written in hexadecimal so that different ids never become equal.
fn written_as(kind: IdType, id: IdRef<'_>, out: &mut Vec<u8>) {
    match id {
        IdRef::Text(text) => out.extend(text.as_bytes()),
        IdRef::Bytes(id) if kind == IdType::Bytes => out.extend(id),
        other => out.extend(other.to_string().as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_written_as_text_stay_different() {
        let written = |kind, id| {
            let mut out = Vec::new();
            written_as(kind, id, &mut out);
            out
        };
        assert_eq!(written(IdType::Bytes, IdRef::Bytes(&[0xFF, 1])), [0xFF, 1]);
        assert_eq!(written(IdType::Text, IdRef::Bytes(&[0xFF, 1])), b"0xff01");
        assert_ne!(written(IdType::Text, IdRef::Bytes(&[0xFF])), written(IdType::Text, IdRef::Bytes(&[0xFE])));
        assert_eq!(written(IdType::Int64, IdRef::Int(-7)), b"-7");
        assert_eq!(written(IdType::Text, IdRef::Text("7")), b"7");
    }
}
