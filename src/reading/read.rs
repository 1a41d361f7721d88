//! Readings of a corpus on all threads, a piece of a file at a time.

use std::sync::{Arc, Mutex, PoisonError};

use bytesize::ByteSize;

use super::purified::{self, Reading};
use super::purify_report::PurifyReport;
use super::reader::Reader;
use crate::batch::Documents;
use crate::engine::progress::Unit;
use crate::engine::room::Room;
use crate::engine::threads::Engine;
use crate::error::{Error, Result};
use crate::io::{LargePage, RowFilter, Segment, Split, Want};
use crate::text::free_pooled_lists;

/// Bounds for the bytes of text in one piece of work: a cut through a row group costs a page that is decompressed twice,
/// a large piece leaves threads without work at the end.
const SPLIT_BYTES: std::ops::RangeInclusive<u64> = 8 << 20..=64 << 20;
/// Pieces of work for each thread, at the least, where the corpus is large enough.
const SPLITS_A_THREAD: u64 = 4;

/// The error of a page that is more than what may be read at a time.
pub(crate) fn large_page(engine: &Engine<'_>, page: LargePage) -> Error {
    let size = |bytes| ByteSize(bytes).to_string();
    let least = size(engine.budget.least_for(page.bytes, page.longest));
    let (bytes, asked) = (size(page.bytes), size(engine.budget.memory));
    Error::LargePage { path: page.path, column: page.column, bytes, asked, least }
}

impl Reader<'_> {
    /// Reads the documents on all threads, a piece of a file at a time.
    ///
    /// # Errors
    /// Besides what `each` returns: the first damaged file, once all are noted in [`Engine::bad`].
    pub fn read<S, T: Send>(
        &self,
        engine: &Engine<'_>,
        name: &str,
        want: &Want,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, &Documents) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let splits = self.pieces(engine);
        let bar = engine.progress.stage(name, self.documents(), Unit::Documents);
        let reading = purified::how(engine, self, want)?;
        let want = self.within_limit(want);
        let told = Mutex::new(PurifyReport::default());
        let room = engine.room();
        let done = |(state, purified): &mut (S, PurifyReport), batch: Documents| {
            engine.go_on()?;
            let batch = purified::texts(engine, self, batch, &reading, purified)?;
            each(state, &batch)?;
            bar.add(batch.len() as u64);
            Ok(())
        };
        let results = engine.work(
            splits.len(),
            || Ok((init()?, PurifyReport::default())),
            |thread, piece| {
                let file = &self.source.files[splits[piece].file];
                let asks = purified::asks(self, file, &want, &reading);
                let segments = self.source.segments(&splits[piece], &asks, engine.budget.small_piece())?;
                segments.iter().try_for_each(|Segment { split, bytes, .. }| {
                    room.hold(thread, *bytes, &|| engine.go_on(), &done, |thread, reader| {
                        let mut hand = |batch| reader.offer(batch).map_or(Ok(()), |batch| done(thread, batch));
                        self.source.read(split, &asks, &mut hand)
                    })
                })
            },
            |mut thread| {
                room.help(&mut thread, &done);
                let (state, purified) = thread;
                free_pooled_lists();
                told.lock().unwrap_or_else(PoisonError::into_inner).merge(&purified);
                end(state)
            },
        )?;
        engine.none_bad()?;
        if let Reading::Purify(Some(filling)) = reading {
            self.pages.keep(filling, told.into_inner().unwrap_or_else(PoisonError::into_inner))?;
        }
        Ok(results)
    }

    /// The pieces of a reading.
    pub fn pieces(&self, engine: &Engine<'_>) -> Vec<Split> {
        if let Some(part) = &self.part {
            return part.clone();
        }
        let text_bytes: u64 = self.source.files.iter().map(|file| file.text_bytes).sum();
        let pieces = SPLITS_A_THREAD * engine.pool.current_num_threads() as u64;
        let target = (text_bytes / pieces).clamp(*SPLIT_BYTES.start(), *SPLIT_BYTES.end());
        // Fewer row groups than pieces are longer than a piece, unless pieces are of the largest size: then a page unpacked
        // twice at each cut is next to nothing, and the headers of all pages may be many.
        let splits = if target < *SPLIT_BYTES.end() {
            self.source.splits_between_pages(target as usize)
        } else {
            self.source.splits(target as usize)
        };
        splits.into_iter().filter(|split| split.first_doc < self.documents()).collect()
    }

    /// Reads a piece in order on this thread alone, with room for its pages.
    ///
    /// # Errors
    /// What `each` returns, and files that are damaged.
    pub fn read_piece(
        &self,
        engine: &Engine<'_>,
        room: &Room<Documents>,
        split: &Split,
        want: &Want,
        each: &mut dyn FnMut(&Documents) -> Result<()>,
    ) -> Result<()> {
        self.source.segments(split, want, engine.budget.small_piece())?.iter().try_for_each(|segment| {
            room.hold(&mut (), segment.bytes, &|| engine.go_on(), &|(), _| Ok(()), |(), _| {
                self.source.read(&segment.split, want, &mut |batch| each(&batch))
            })
        })
    }

    /// Checks that no page is more than what may be read at a time.
    ///
    /// # Errors
    /// [`Error::LargePage`] with the least memory that would do.
    pub fn check_pages(&self, engine: &Engine<'_>) -> Result<()> {
        let page = self.source.beyond(&|bytes, longest| engine.budget.fits(bytes, longest))?;
        page.map_or(Ok(()), |page| Err(large_page(engine, page)))
    }

    /// The same of the documents within `--limit`, where it leaves some out.
    pub fn within_limit(&self, want: &Want) -> Want {
        let mut want = want.clone();
        if self.documents() < self.source.documents() {
            want.rows = Some(below(self.documents(), want.rows.take()));
        }
        want
    }
}

/// What a filter asks for of the documents below a number. A piece may reach beyond `--limit`, where there are neither
/// bits nor cells to look at.
fn below(documents: u64, filter: Option<RowFilter>) -> RowFilter {
    match filter {
        None => RowFilter::Where(Arc::new(move |doc| doc < documents)),
        Some(RowFilter::Where(passes)) => RowFilter::Where(Arc::new(move |doc| doc < documents && passes(doc))),
        Some(RowFilter::Docs(docs)) => RowFilter::Docs(docs.iter().copied().filter(|&doc| doc < documents).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_never_asked_about_documents_beyond_the_limit() {
        let bits = [true, false, true];
        let filters = [
            None,
            Some(RowFilter::Where(Arc::new(move |doc| bits[doc as usize]))),
            Some(RowFilter::Docs([0, 2, 9].into())),
        ];
        let chosen = filters.map(|filter| match below(3, filter) {
            RowFilter::Where(passes) => (0..20).filter(|&doc| passes(doc)).collect::<Vec<_>>(),
            RowFilter::Docs(docs) => docs.to_vec(),
        });
        assert_eq!(chosen, [vec![0, 1, 2], vec![0, 2], vec![0, 2]]);
    }

    #[test]
    fn readers_reject_exactly_the_texts_that_cannot_be_cut() {
        assert_eq!(crate::batch::document::MAX_TEXT_BYTES, crate::text::MAX_TEXT_BYTES);
    }
}
