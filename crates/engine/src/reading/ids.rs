//! The ids of documents that stand in the output: read again at the end, for those alone, and kept in a work file.

use arrow::array::ArrayRef;

use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_files::io::Source;
use dupsift_files::tables::{Documents, FULL_BYTES, Id, IdBuilder, IdBytes, IdRef, IdType, IdsSeen};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap, Ranks};

/// Ids by document, of one type.
pub struct Ids<'s> {
    kind: IdType,
    source: &'s Source,
    heap: FrozenHeap,
    shown: Ranks,
    /// For each document in `shown` where its id begins, plus one; 0: it has none.
    begins: AtomicCells<u64>,
}

/// An id as it stands in the work file, or the name made for a document without one.
pub enum Known<'i> {
    /// It was read.
    Read(IdRef<'i>),
    /// It was made.
    Made(Id),
}

impl Known<'_> {
    /// What the builders take.
    pub fn as_ref(&self) -> IdRef<'_> {
        match self {
            Known::Read(id) => *id,
            Known::Made(id) => id.as_ref(),
        }
    }
}

/// Ids while they are read, by many threads.
pub struct TakingIds<'s> {
    kind: IdType,
    source: &'s Source,
    there: bool,
    heap: Heap,
    shown: Ranks,
    begins: AtomicCells<u64>,
}

/// What a thread keeps from one batch to the next: the bytes of ids, and where each begins.
pub type IdsOfBatch = (Vec<u8>, Vec<(usize, u64)>);

impl<'s> TakingIds<'s> {
    /// For the documents in `shown`.
    pub fn new(session: &Session<'s>, seen: &IdsSeen, shown: &AtomicBits) -> Result<TakingIds<'s>> {
        let (kind, _) = seen.id_type();
        let heap = Heap::new(session.engine.dir, "ids")?;
        let shown = Ranks::new(session.engine.dir, "id-ranks", shown)?;
        let begins = AtomicCells::new(session.engine.dir, "id-begins", shown.count() as usize)?;
        let there = !seen.kinds.is_empty() && shown.count() > 0;
        Ok(TakingIds { kind, source: session.source, there, heap, shown, begins })
    }

    /// Whether there is any id to read.
    pub fn wants_any(&self) -> bool {
        self.there
    }

    /// For a thread.
    pub fn state(&self) -> IdsOfBatch {
        (Vec::new(), Vec::new())
    }

    /// Takes the ids of a batch.
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

    /// All are read.
    pub fn end(self) -> Result<Ids<'s>> {
        let TakingIds { kind, source, heap, shown, begins, .. } = self;
        Ok(Ids { kind, source, heap: heap.freeze()?, shown, begins })
    }
}

impl<'s> Ids<'s> {
    /// Bytes of the work file.
    pub fn bytes(&self) -> u64 {
        self.heap.bytes().len() as u64
    }

    /// Bytes of an id in the work file, on average.
    pub fn mean_bytes(&self) -> u64 {
        self.bytes() / self.shown.count().max(1)
    }

    /// What ids are written as.
    pub fn kind(&self) -> IdType {
        self.kind
    }

    /// The id of a document that is shown; `FILE#ROW` for one without.
    pub fn of(&self, doc: u64) -> Known<'_> {
        self.at(doc, self.begin(doc))
    }

    /// The ids of documents as a column: of all of them, or of the first ones, at least one, where these fill
    /// [`FULL_BYTES`].
    ///
    /// # Errors
    /// An id that is too long to be written, or of another type than the column's.
    pub fn column(&self, docs: &[u64]) -> Result<ArrayRef> {
        // Runs of one document are looked up once. All places first: the memory that one of them waits for is then fetched
        // beside that of the next ones.
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

    /// Where the id of a document begins in the work file; none if it has none.
    #[inline]
    fn begin(&self, doc: u64) -> Option<u64> {
        self.shown.rank(doc as usize).and_then(|rank| self.begins.load(rank).checked_sub(1))
    }

    /// The id that begins there, as it is written.
    #[inline]
    fn written(&self, begin: u64) -> &[u8] {
        let mut length = [0; 4];
        length.copy_from_slice(self.heap.get(begin, 4));
        self.heap.get(begin + 4, u32::from_le_bytes(length) as usize)
    }

    fn at(&self, doc: u64, begin: Option<u64>) -> Known<'_> {
        let Some(begin) = begin else {
            let name = self.source.name_of(doc);
            return Known::Made(match self.kind {
                IdType::Bytes => Id::Bytes(name.into_bytes()),
                _ => Id::Text(name),
            });
        };
        let bytes = self.written(begin);
        if self.kind == IdType::Bytes {
            return Known::Read(IdRef::Bytes(bytes));
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return Known::Made(Id::Text(String::from_utf8_lossy(bytes).into_owned()));
        };
        Known::Read(match self.kind {
            // A number that does not fit was made text before, by the ids seen.
            IdType::Int32 | IdType::Int64 => text.parse().map_or(IdRef::Text(text), IdRef::Int),
            _ => IdRef::Text(text),
        })
    }
}

/// Appends an id as it will be written. Bytes that are written as text because other files have text are spelled out, for
/// two of them must not become one id.
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
