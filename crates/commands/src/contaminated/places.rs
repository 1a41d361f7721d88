//! Locates the listed spans in one pass over the documents that contain them. The pass also reads the ids of these documents.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::search::Searched;
use super::verdicts::{Relation, Verdicts};
use super::{Contaminated, SHOWN};
use dupsift_contamination::{Bound, Item, raw_places};
use dupsift_core::error::{Error, Result};
use dupsift_engine::pass::{Ids, Session, TakingIds};
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Heap};
use dupsift_tables::Cell;
use dupsift_text::Analysis;

/// The number of characters shown before and after a span.
const BESIDE: usize = 80;

/// Describes a span of a listed document.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Place {
    /// The item to which the span belongs.
    pub item: Item,
    /// The score of the span, as written to tables.
    pub score: f32,
    /// The relation of the document to the item.
    pub relation: Relation,
    /// Whether this is the item's best span in the document.
    pub is_best: bool,
    /// The position of the first token, and the position after the last token.
    pub tokens: [u32; 2],
    /// The number of n-grams that the item and the span share.
    pub grams: u32,
    /// The tokens of the item that the span covers.
    pub covered: Vec<u64>,
    /// The number of tokens in the document.
    pub doc_tokens: u32,
    /// The character positions of the span's start and end.
    pub characters: [u32; 2],
    /// The byte positions of the span's start and end.
    pub bytes: [u32; 2],
    /// Whether the item's answer is next to the span; `None` if the item has no answer.
    pub answer_found: Option<bool>,
    /// The text before the span, the beginning of the span, and the text after the span.
    pub texts: [String; 3],
}

/// Stores the spans of documents as JSON in a temporary file.
struct Stored {
    heap: FrozenHeap,
    /// The offset of each document's spans, plus one; 0 for a document without spans.
    begins: AtomicCells<u64>,
}

/// The size in bytes of the length field that precedes a document's spans.
const LENGTH: usize = 8;

fn append(heap: &Heap, begins: &AtomicCells<u64>, doc: u64, spans: &[Place]) -> Result<()> {
    let json = serde_json::to_vec(spans).map_err(Error::table("write spans"))?;
    let begin = heap.append_both(&(json.len() as u64).to_le_bytes(), &json)?;
    begins.store(doc as usize, begin + 1);
    Ok(())
}

impl Stored {
    fn of(&self, doc: u64) -> Result<Vec<Place>> {
        let Some(begin) = self.begins.load(doc as usize).checked_sub(1) else { return Ok(Vec::new()) };
        let mut length = [0; LENGTH];
        length.copy_from_slice(self.heap.get(begin, LENGTH));
        let json = self.heap.get(begin + LENGTH as u64, u64::from_le_bytes(length) as usize);
        serde_json::from_slice(json).map_err(Error::table("read spans"))
    }
}

/// Holds the spans of all listed documents.
pub(crate) struct Places<'p> {
    spans: Stored,
    /// The documents that have spans.
    pub listed: Arc<AtomicBits>,
    /// The ids of the listed documents and of rejected rows.
    pub ids: Ids<'p>,
}

impl<'p> Places<'p> {
    /// Reads the documents that are listed as containing an item, and locates their spans.
    ///
    /// # Errors
    /// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
    pub(crate) fn find(
        session: &Session<'p>,
        options: &Contaminated,
        searched: &Searched,
        verdicts: &Verdicts<'_>,
    ) -> Result<Places<'p>> {
        let (engine, documents) = (session.engine, session.documents() as usize);
        let listed = AtomicBits::new(engine.dir, "listed", documents)?;
        let wanted = list(session, options, verdicts, &listed)?;
        let (listed, shown) = (Arc::new(listed), AtomicBits::new(engine.dir, "shown", documents)?);
        listed.iter().for_each(|doc| _ = shown.set(doc));
        searched.rejected.each(engine, |doc, _, _| {
            shown.set(doc as usize);
            Ok(())
        })?;
        let name = "read spans";
        let running = engine.clock.stage(name);
        let ids = TakingIds::new(session, &searched.ids_seen, &shown)?;
        let (heap, begins) =
            (Heap::new(engine.dir, "spans-found")?, AtomicCells::new(engine.dir, "spans-begin", documents)?);
        let rows = shown.count();
        if rows > 0 {
            let has_spans = listed.clone();
            let want = Want {
                text: has_spans.count() > 0,
                id: ids.wants_any(),
                rows: Some(RowFilter::Where(Arc::new(move |doc| shown.get(doc as usize)))),
                batch_bytes: engine.budget.batch,
                ..Want::default()
            };
            session.read(
                name,
                &want,
                || Ok(ids.state()),
                |state, batch| {
                    ids.take(batch, state)?;
                    for row in 0..batch.len() {
                        let doc = batch.doc(row);
                        let (true, Cell::Text(text)) = (has_spans.get(doc as usize), batch.text(row)) else { continue };
                        let _long = engine.long_document(text.len())?;
                        let mut spans = wanted.of(doc)?;
                        locate(&session.pipeline.analyse(text), &mut spans);
                        append(&heap, &begins, doc, &spans)?;
                    }
                    Ok(())
                },
                |_| Ok(()),
            )?;
        }
        let spans = Stored { heap: heap.freeze()?, begins };
        running.end(rows, listed.count(), spans.heap.bytes().len() as u64);
        Ok(Places { spans, listed, ids: ids.end()? })
    }

    /// Calls `each` with the spans of the listed documents, ordered by document, then item. The best span of an item comes first.
    ///
    /// # Errors
    /// Returns any error from `each`, or an error if the run is interrupted.
    pub(crate) fn each(&self, session: &Session<'_>, mut each: impl FnMut(u64, &[Place]) -> Result<()>) -> Result<()> {
        for doc in self.listed.iter() {
            session.engine.go_on()?;
            each(doc as u64, &self.spans.of(doc as u64)?)?;
        }
        Ok(())
    }
}

/// Lists the spans to locate in each document: the best span of each item, and all spans that are cut.
fn list(session: &Session<'_>, options: &Contaminated, verdicts: &Verdicts<'_>, listed: &AtomicBits) -> Result<Stored> {
    let (dir, documents) = (session.engine.dir, session.documents() as usize);
    let (heap, begins) = (Heap::new(dir, "spans-wanted")?, AtomicCells::new(dir, "wanted-begin", documents)?);
    let (mut at, mut spans): (u64, Vec<Place>) = (0, Vec::new());
    verdicts.each(session, &mut |verdict| {
        if at != verdict.doc && !spans.is_empty() {
            append(&heap, &begins, at, &spans)?;
            spans.clear();
        }
        at = verdict.doc;
        listed.set(at as usize);
        let place = |span: &super::found::Span, score: f64, is_best| Place {
            item: verdict.item,
            score: score as f32,
            relation: verdict.relation,
            is_best,
            tokens: span.tokens,
            grams: span.grams,
            covered: span.covered.clone(),
            answer_found: span.answer_found,
            ..Place::default()
        };
        spans.push(place(verdict.best(), verdict.score, true));
        for (_, span) in verdict.spans.iter().enumerate().filter(|(at, _)| options.cut_spans && *at != verdict.best) {
            let score = verdicts.score(verdict.item, span);
            if options.reaches(score) {
                spans.push(place(span, score, false));
            }
        }
        Ok(())
    })?;
    if !spans.is_empty() {
        append(&heap, &begins, at, &spans)?;
    }
    Ok(Stored { heap: heap.freeze()?, begins })
}

/// Finds the positions of spans in the original text.
fn locate(document: &Analysis<'_>, spans: &mut [Place]) {
    let (raw, tokens) = (document.raw(), document.tokens());
    // The positions of the first and last tokens of the spans, in text order.
    let mut wanted: Vec<u32> = spans.iter().flat_map(|span| [span.tokens[0], span.tokens[1] - 1]).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let (mut places, mut next, mut at) = (Vec::with_capacity(wanted.len()), 0, 0);
    document.each_token(&mut |place| {
        if wanted.get(next) == Some(&at) {
            places.push(place);
            next += 1;
        }
        at += 1;
    });
    let mut bounds: Vec<Bound> =
        places.iter().flat_map(|place| [Bound::Start(place.start), Bound::End(place.end)]).collect();
    bounds.sort_unstable_by_key(|bound| bound.key());
    bounds.dedup();
    let bytes = raw_places(raw, document.text(), &bounds);
    let byte = |bound: Bound| {
        let at = bounds.binary_search_by_key(&bound.key(), |bound| bound.key());
        at.ok().and_then(|at| bytes.get(at)).copied().unwrap_or(raw.len())
    };
    let mut sorted = bytes.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let (mut before, mut count) = (0, 0);
    let counted: Vec<u32> = sorted
        .iter()
        .map(|&byte| {
            count += raw[before..byte].chars().count();
            before = byte;
            count as u32
        })
        .collect();
    let character = |byte: usize| sorted.binary_search(&byte).map_or(0, |at| counted[at]);
    let place =
        |token: u32| wanted.binary_search(&token).ok().and_then(|at| places.get(at)).cloned().unwrap_or_default();
    for span in spans {
        let [first, last] = [place(span.tokens[0]), place(span.tokens[1] - 1)];
        let (start, end) = (byte(Bound::Start(first.start)), byte(Bound::End(last.end)));
        let beside: String = raw[..start].chars().rev().take(BESIDE).collect();
        span.doc_tokens = tokens.len() as u32;
        span.characters = [character(start), character(end)];
        span.bytes = [start as u32, end as u32];
        span.texts = [
            beside.chars().rev().collect(),
            raw[start..end].chars().take(SHOWN).collect(),
            raw[end..].chars().take(BESIDE).collect(),
        ];
    }
}
