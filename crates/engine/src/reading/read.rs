//! Runs passes over a corpus on all threads. A thread reads one piece of a file at a time.

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytesize::ByteSize;

use super::purified::{self, Reading};
use crate::engine::checkpoints::{PartialReader, PartialWriter, Recorder};
use crate::engine::progress::Unit;
use crate::engine::read_limit::ReadLimit;
use crate::engine::threads::Engine;
use crate::session::PurifyReport;
use crate::session::Session;
use crate::session::purified_store::Filling;
use dupsift_core::error::{Error, Result};
use dupsift_input::{LargePage, RowFilter, Segment, Split, Want};
use dupsift_tables::Documents;
use dupsift_text::free_pooled_lists;

/// The minimum and maximum amount of text in one piece, in bytes. The minimum corresponds to one or two pages.
const SPLIT_BYTES: std::ops::RangeInclusive<u64> = 2 << 20..=64 << 20;
/// The number of pieces per thread into which the remaining corpus is divided.
const SPLITS_A_THREAD: u64 = 4;

/// Returns the error for a page that exceeds the limit on the number of bytes read at once.
pub(crate) fn large_page(engine: &Engine<'_>, page: LargePage) -> Error {
    let size = |bytes| ByteSize(bytes).to_string();
    let least = size(engine.budget.least_for(page.bytes, page.longest));
    let asked = [engine.budget.memory, engine.budget.room_for_page(page.longest)].map(size);
    let (path, part, column, bytes) = (page.path, page.unit.said(), page.column, size(page.bytes));
    Error::LargePage { path, part, column, bytes, asked: Box::new(asked), least }
}

/// Saves the state of a pass when the pass pauses. During a pause, all threads have finished their current pieces, so the data about the
/// documents read so far can be saved.
pub(crate) trait Rests<T>: Sync {
    /// Restores the saved state, including the results in `pages`. Returns the number of the first document to read.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be read.
    fn begin(&self, pages: Option<PagesSoFar<'_>>) -> Result<u64>;

    /// Returns whether the pass should pause.
    fn is_due(&self) -> bool;

    /// Saves the state after all documents before `end` have been read. `results` holds the results of the threads since the last pause.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    fn rest(&self, end: u64, results: &[T], pages: Option<PagesSoFar<'_>>) -> Result<()>;
}

/// Holds the texts that a pass has extracted from pages so far, and the report of the pass.
pub(crate) struct PagesSoFar<'p> {
    filling: &'p Filling,
    report: &'p Mutex<PurifyReport>,
}

/// The saved report covers all documents read so far.
impl Recorder for PagesSoFar<'_> {
    fn save_partial(&self, docs: &[Range<u64>], to: &mut PartialWriter<'_>) -> Result<()> {
        to.plain(&*self.report.lock().unwrap_or_else(PoisonError::into_inner))?;
        self.filling.save_partial(docs, to)
    }

    fn restore_partial(&self, engine: &Engine<'_>, docs: &[Range<u64>], from: &mut PartialReader<'_>) -> Result<()> {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = from.plain()?;
        self.filling.restore_partial(engine, docs, from)
    }
}

/// Implements [`Rests`] for a pass that never pauses.
pub(crate) struct Restless;

impl<T> Rests<T> for Restless {
    fn begin(&self, _: Option<PagesSoFar<'_>>) -> Result<u64> {
        Ok(0)
    }

    fn is_due(&self) -> bool {
        false
    }

    fn rest(&self, _: u64, _: &[T], _: Option<PagesSoFar<'_>>) -> Result<()> {
        Ok(())
    }
}

impl Session<'_> {
    /// Reads the documents and calls `each` with every batch, on all threads. A thread reads one piece of a file at a time.
    ///
    /// # Errors
    /// Returns any error from `each`. If files are damaged, all damaged files are recorded in [`Engine::bad`] before the first error is
    /// returned.
    pub fn read<S, T: Send>(
        &self,
        name: &str,
        want: &Want,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, &Documents) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.read_and_rest(name, want, &Restless, init, each, end)
    }

    /// Works like `read`, but for a pass that pauses at intervals. The returned results do not include documents whose state was restored.
    ///
    /// # Errors
    /// See [`Session::read`]. Also returns any error from `rests`.
    pub(crate) fn read_and_rest<S, T: Send>(
        &self,
        name: &str,
        want: &Want,
        rests: &dyn Rests<T>,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, &Documents) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let bar = self.engine.progress.stage(name, self.base + self.rows_read(), Unit::Documents);
        let reading = purified::how(self, want)?;
        let want = self.within_limit(want);
        let report = Mutex::new(PurifyReport::default());
        let pages = || reading.filling().map(|filling| PagesSoFar { filling, report: &report });
        let begin = rests.begin(pages())?;
        bar.add(begin);
        let mut splits = self.pieces();
        splits.retain(|split| split.first_doc + split.rows > begin);
        let read_limit = self.engine.read_limit();
        let done = |(state, purified): &mut (S, PurifyReport), batch: Documents| {
            self.engine.go_on()?;
            let batch = purified::texts(self, batch, &reading, purified)?;
            each(state, &batch)?;
            bar.add(batch.len() as u64);
            Ok(())
        };
        let init = || Ok((init()?, PurifyReport::default()));
        let piece = |thread: &mut (S, PurifyReport), piece: usize| {
            let file = &self.source.files[splits[piece].file];
            let asks = from(begin, &splits[piece], purified::asks(self, file, &want, &reading));
            let segments = self.source.segments(&splits[piece], &asks, self.engine.budget.small_piece())?;
            let read = Cell::new(0);
            segments.iter().try_for_each(|Segment { split, bytes, .. }| {
                read_limit.hold(thread, *bytes, &|| self.engine.go_on(), &done, |thread, reader| {
                    let mut hand = |batch: Documents| {
                        read.set(read.get() + batch.len() as u64);
                        reader.offer(batch).map_or(Ok(()), |batch| done(thread, batch))
                    };
                    self.source.read(split, &asks, &mut hand)
                })
            })?;
            // Documents that the pass skips also count as read. If there is a sample, the total of the progress bar excludes documents
            // outside the sample.
            if self.sample.is_none() {
                bar.add(self.rows_after(begin, &splits[piece]).saturating_sub(read.get()));
            }
            Ok(())
        };
        let end = |mut thread: (S, PurifyReport)| {
            read_limit.help(&mut thread, &done);
            let (state, purified) = thread;
            free_pooled_lists();
            report.lock().unwrap_or_else(PoisonError::into_inner).merge(&purified);
            end(state)
        };
        // As soon as a file turns out to be damaged, there is nothing left to save, and the pass continues only to find all damaged files.
        let goes_on = || !rests.is_due() || self.engine.none_bad().is_err();
        let rest = |next: usize, some: &[T]| match splits.get(next) {
            Some(split) if self.engine.none_bad().is_ok() => rests.rest(split.first_doc, some, pages()),
            _ => Ok(()),
        };
        let work = |from: usize| self.engine.work_while(from..splits.len(), &goes_on, init, piece, end);
        let results = in_turns(0..splits.len(), work, rest)?;
        self.engine.none_bad()?;
        if let Reading::Purify(Some(filling)) = reading {
            self.pages.keep(filling, report.into_inner().unwrap_or_else(PoisonError::into_inner))?;
        }
        if self.part.is_none() {
            bar.complete();
        }
        Ok(results)
    }

    /// Returns the number of participating rows in a piece, starting with document `begin`.
    fn rows_after(&self, begin: u64, piece: &Split) -> u64 {
        (piece.first_doc + piece.rows).min(self.documents()).saturating_sub(piece.first_doc.max(begin))
    }

    /// Returns the pieces of a pass.
    pub fn pieces(&self) -> Vec<Split> {
        if let Some(part) = &self.part {
            return part.clone();
        }
        // Large pieces come first because a page of another column that spans two pieces is decompressed twice. Small pieces come last so
        // that no thread is still working on a large piece when the other threads are done.
        let share = SPLITS_A_THREAD * self.engine.pool.current_num_threads() as u64;
        let target = |left: u64| (left / share).clamp(*SPLIT_BYTES.start(), *SPLIT_BYTES.end());
        // In pieces of the maximum size, decompressing a page twice costs almost nothing. Therefore, the page headers, which may be
        // numerous, are not read.
        let splits = self.source.splits_between_pages(&target, *SPLIT_BYTES.end());
        splits.into_iter().filter(|split| split.first_doc < self.documents()).collect()
    }

    /// Reads a piece in order on the current thread, after reserving memory for the piece's pages.
    ///
    /// # Errors
    /// Returns any error from `each`, or an error if a file is damaged.
    pub fn read_piece(
        &self,
        read_limit: &ReadLimit<Documents>,
        split: &Split,
        want: &Want,
        each: &mut dyn FnMut(&Documents) -> Result<()>,
    ) -> Result<()> {
        self.source.segments(split, want, self.engine.budget.small_piece())?.iter().try_for_each(|segment| {
            read_limit.hold(&mut (), segment.bytes, &|| self.engine.go_on(), &|(), _| Ok(()), |(), _| {
                self.source.read(&segment.split, want, &mut |batch| each(&batch))
            })
        })
    }

    /// Checks that no page exceeds the limit on the number of bytes read at once.
    ///
    /// # Errors
    /// Returns [`Error::LargePage`] with the smallest sufficient memory limit.
    pub fn check_pages(&self) -> Result<()> {
        let page = self.source.beyond(&|bytes, longest| self.engine.budget.fits(bytes, longest))?;
        page.map_or(Ok(()), |page| Err(large_page(self.engine, page)))
    }

    /// Restricts `want` to the documents within `--limit` and in the sample, if this restriction excludes any documents.
    pub fn within_limit(&self, want: &Want) -> Want {
        let mut want = want.clone();
        if let Some(sample) = self.sample {
            want.rows = Some(both(want.rows.take(), move |doc| sample.has(doc)));
        }
        if self.documents() < self.source.documents() {
            // A piece may extend beyond `--limit`, but bitmaps and arrays have entries only for documents within the limit.
            let documents = self.documents();
            want.rows = Some(both(want.rows.take(), move |doc| doc < documents));
        }
        want
    }
}

/// Calls `work` and `rest` in turn until all pieces are processed. `work` processes pieces starting at a given position, and returns the
/// position of the next piece and the results. `rest` receives both.
pub(crate) fn in_turns<T>(
    pieces: Range<usize>,
    work: impl Fn(usize) -> Result<(usize, Vec<T>)>,
    rest: impl Fn(usize, &[T]) -> Result<()>,
) -> Result<Vec<T>> {
    let (mut results, mut next) = (Vec::new(), pieces.start);
    loop {
        let (begun, some) = work(next)?;
        next = begun;
        rest(next, &some)?;
        results.extend(some);
        if next >= pieces.end {
            return Ok(results);
        }
    }
}

/// Restricts a request so that documents before `begin` are not read from a piece.
fn from(begin: u64, split: &Split, mut asks: Want) -> Want {
    if split.first_doc < begin {
        asks.rows = Some(match asks.rows {
            None => RowFilter::Where(Arc::new(move |doc| doc >= begin)),
            Some(RowFilter::Where(passes)) => RowFilter::Where(Arc::new(move |doc| doc >= begin && passes(doc))),
            Some(RowFilter::Docs(docs)) => RowFilter::Docs(docs.iter().copied().filter(|&doc| doc >= begin).collect()),
        });
    }
    asks
}

/// Returns a filter that accepts a document if both `first` and `filter` accept it; `first` is checked first.
fn both(filter: Option<RowFilter>, first: impl Fn(u64) -> bool + Send + Sync + 'static) -> RowFilter {
    match filter {
        None => RowFilter::Where(Arc::new(first)),
        Some(RowFilter::Where(passes)) => RowFilter::Where(Arc::new(move |doc| first(doc) && passes(doc))),
        Some(RowFilter::Docs(docs)) => RowFilter::Docs(docs.iter().copied().filter(|&doc| first(doc)).collect()),
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
        let chosen = filters.map(|filter| match both(filter, |doc| doc < 3) {
            RowFilter::Where(passes) => (0..20).filter(|&doc| passes(doc)).collect::<Vec<_>>(),
            RowFilter::Docs(docs) => docs.to_vec(),
        });
        assert_eq!(chosen, [vec![0, 1, 2], vec![0, 2], vec![0, 2]]);
    }

    #[test]
    fn readers_reject_exactly_the_texts_that_cannot_be_cut() {
        assert_eq!(dupsift_tables::document::MAX_TEXT_BYTES, dupsift_text::MAX_TEXT_BYTES);
    }
}
