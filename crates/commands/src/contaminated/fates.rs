//! Decides whether each document is kept, removed, or written without its contaminated spans.

use super::Contaminated;
use super::places::{Place, Places};
use super::verdicts::Relation;
use dupsift_core::error::Result;
use dupsift_engine::pass::Session;
use dupsift_passages::cut_out;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap};

/// The size in bytes of a stored range to cut: the position of its first byte and the position after its last byte.
const PLACE: usize = 8;

/// Holds the decision for each document.
pub(crate) struct Fates {
    /// The contaminated documents, that is, documents that contain an item whose score reaches the threshold.
    pub contaminated: AtomicBits,
    /// The number of documents that are not contaminated, but contain a public item whose score reaches the threshold.
    pub public: u64,
    /// The number of documents that are not contaminated, but contain a variant of an item.
    pub variants: u64,
    /// The contaminated documents that are removed.
    pub removed: AtomicBits,
    cuts: FrozenHeap,
    /// The offset of each document's ranges to cut, plus one.
    begins: AtomicCells<u64>,
}

/// Returns the token and byte ranges of spans: the first token, the token after the last token, the first byte, and the byte after the last
/// byte. Overlapping ranges are merged.
fn joined(spans: &[&Place]) -> Vec<[u32; 4]> {
    let mut places: Vec<[u32; 4]> =
        spans.iter().map(|span| [span.tokens[0], span.tokens[1], span.bytes[0], span.bytes[1]]).collect();
    places.sort_unstable();
    let mut joined: Vec<[u32; 4]> = Vec::with_capacity(places.len());
    for [start, end, start_byte, end_byte] in places {
        match joined.last_mut() {
            Some(last) if start <= last[1] => (last[1], last[3]) = (last[1].max(end), last[3].max(end_byte)),
            _ => joined.push([start, end, start_byte, end_byte]),
        }
    }
    joined
}

impl Fates {
    /// Decides which documents are removed and which ranges are cut from the other documents.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    pub(crate) fn new(session: &Session<'_>, options: &Contaminated, places: &Places<'_>) -> Result<Fates> {
        let (dir, documents) = (session.engine.dir, session.documents() as usize);
        let bits = |name| AtomicBits::new(dir, name, documents);
        let (contaminated, removed) = (bits("contaminated")?, bits("goes")?);
        let heap = Heap::new(dir, "cuts")?;
        let begins = AtomicCells::new(dir, "cuts-begin", if options.cut_spans { documents } else { 0 })?;
        let (mut public, mut variants) = (0, 0);
        places.each(session, |doc, spans| {
            let reaches = |span: &&Place, relation| span.relation == relation && options.reaches(span.score);
            let over: Vec<&Place> = spans.iter().filter(|span| reaches(span, Relation::Leak)).collect();
            let Some(first) = over.first() else {
                public += u64::from(spans.iter().any(|span| reaches(&span, Relation::Public)));
                variants += u64::from(spans.iter().any(|span| span.relation == Relation::Variant));
                return Ok(());
            };
            contaminated.set(doc as usize);
            let places = joined(&over);
            // A document is removed if no token remains.
            let cut: u32 = places.iter().map(|[start, end, ..]| end - start).sum();
            if !options.cut_spans || cut == first.doc_tokens {
                removed.set(doc as usize);
                return Ok(());
            }
            let mut bytes = (places.len() as u64).to_be_bytes().to_vec();
            for [.., start, end] in &places {
                bytes.extend_from_slice(&start.to_be_bytes());
                bytes.extend_from_slice(&end.to_be_bytes());
            }
            begins.store(doc as usize, heap.append(&bytes)? + 1);
            Ok(())
        })?;
        Ok(Fates { contaminated, public, variants, removed, cuts: heap.freeze()?, begins })
    }

    /// Returns whether anything is cut from a document.
    pub(crate) fn is_cut(&self, doc: u64) -> bool {
        (doc as usize) < self.begins.len() && self.begins.load(doc as usize) != 0
    }

    /// Returns the text of a document without the ranges to cut, or `None` if the text differs from the text that was searched.
    pub(crate) fn cut_out(&self, doc: u64, text: &str) -> Option<String> {
        let begin = self.begins.load(doc as usize).checked_sub(1)?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | usize::from(byte));
        let places = self.cuts.get(begin + 8, number(self.cuts.get(begin, 8)) * PLACE);
        let places: Vec<(usize, usize)> =
            places.chunks_exact(PLACE).map(|place| (number(&place[..4]), number(&place[4..]))).collect();
        let is_there = |&(start, end): &(usize, usize)| text.get(start..end).is_some();
        places.iter().all(is_there).then(|| cut_out(text, places))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_overlap_are_cut_once() {
        let span =
            |start: u32, end: u32| Place { tokens: [start, end], bytes: [10 * start, 10 * end], ..Place::default() };
        let spans = [span(9, 10), span(0, 4), span(2, 5), span(5, 7)];
        assert_eq!(joined(&spans.iter().collect::<Vec<_>>()), [[0, 7, 0, 70], [9, 10, 90, 100]]);
    }
}
