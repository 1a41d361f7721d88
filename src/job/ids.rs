//! The ids of documents that stand in the output: read again at the end, for those alone, and kept in a work file.

use std::sync::Arc;

use super::workers::Job;
use crate::batch::{Id, IdRef, IdType, IdsSeen};
use crate::error::Result;
use crate::io::{RowFilter, Want};
use crate::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap};

/// Ids by document, of one type.
pub struct Ids {
    kind: IdType,
    heap: FrozenHeap,
    /// Where a document's id begins, plus one; 0: it has none.
    begins: AtomicCells<u64>,
}

impl Ids {
    /// Reads the ids of the documents in `shown`; `kind` is what they are written as.
    pub fn read(job: &Job<'_>, seen: &IdsSeen, shown: &Arc<AtomicBits>) -> Result<Ids> {
        let running = job.clock.stage("read ids");
        let (kind, _) = seen.id_type();
        let heap = Heap::new(job.dir, "ids")?;
        let begins = AtomicCells::new(job.dir, "id-begins", job.documents() as usize)?;
        if !seen.kinds.is_empty() && shown.count() > 0 {
            let shown = shown.clone();
            let filter = RowFilter::Where(Arc::new(move |doc| shown.get(doc as usize)));
            let want =
                Want { text: false, id: true, rows: Some(filter), batch_bytes: job.budget.batch, ..Want::default() };
            job.read(
                "read ids",
                &want,
                || Ok(Vec::new()),
                |bytes, batch| {
                    for row in 0..batch.len() {
                        let Some(id) = batch.id(row) else { continue };
                        bytes.clear();
                        bytes.extend([0; 4]);
                        written_as(kind, id, bytes);
                        let length = (bytes.len() - 4) as u32;
                        bytes[..4].copy_from_slice(&length.to_le_bytes());
                        begins.store(batch.doc(row) as usize, heap.append(bytes)? + 1);
                    }
                    Ok(())
                },
                |_| Ok(()),
            )?;
        }
        let heap = heap.freeze()?;
        running.end(shown.count(), shown.count(), heap.bytes().len() as u64);
        Ok(Ids { kind, heap, begins })
    }

    /// What ids are written as.
    pub fn kind(&self) -> IdType {
        self.kind
    }

    /// The id of a document; `FILE#ROW` for one without.
    pub fn of(&self, job: &Job<'_>, doc: u64) -> Id {
        let Some(begin) = self.begins.load(doc as usize).checked_sub(1) else {
            let name = job.source.name_of(doc);
            return if self.kind == IdType::Bytes { Id::Bytes(name.into_bytes()) } else { Id::Text(name) };
        };
        let mut length = [0; 4];
        length.copy_from_slice(self.heap.get(begin, 4));
        let bytes = self.heap.get(begin + 4, u32::from_le_bytes(length) as usize);
        let text = || String::from_utf8_lossy(bytes).into_owned();
        match self.kind {
            IdType::Bytes => Id::Bytes(bytes.to_vec()),
            IdType::Text => Id::Text(text()),
            // A number that does not fit was made text before, by the ids seen.
            IdType::Int32 | IdType::Int64 => text().parse().map_or_else(|_| Id::Text(text()), Id::Int),
        }
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
