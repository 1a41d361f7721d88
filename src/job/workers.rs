//! Threads: the parallel loop that every pass is, with a state a thread and errors that keep their order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::budget::Budget;
use super::clock::Clock;
use super::gate::{Gate, Permit};
use super::options::RunOptions;
use super::progress::{Bar, Progress, Unit};
use super::purified::{Purified, Reading};
use super::purify_report::PurifyReport;
use super::room::Room;
use bytesize::ByteSize;

use crate::batch::Documents;
use crate::error::{Error, Result};
use crate::io::{RowFilter, Segment, Source, Split, Want};
use crate::shuffle::{Memory, Order, Shuffle, Spec};
use crate::text::{Field, Pipeline, free_spare_lists};

/// Bounds for the bytes of text in one piece of work: a cut through a row group costs a page that is decompressed twice,
/// a large piece leaves threads without work at the end.
const SPLIT_BYTES: std::ops::RangeInclusive<u64> = 8 << 20..=64 << 20;
/// Pieces of work for each thread, at the least, where the corpus is large enough.
const SPLITS_A_THREAD: u64 = 4;

/// For [`Job::ordered`], where nobody knows how many rows will come: [`MANY`] partitions.
pub const UNKNOWN: u64 = u64::MAX;
/// An empty partition costs next to nothing; a hundred million rows in too few of them would be sorted on disk.
const MANY: usize = 256;

/// What all stages of a run share.
pub struct Job<'j> {
    /// What was asked.
    pub options: &'j RunOptions,
    /// The corpus.
    pub source: &'j Source,
    /// From text to words.
    pub pipeline: &'j Pipeline,
    /// From pages to texts.
    pub purified: Purified,
    /// The columns beside the text that the algorithms read.
    pub fields: Vec<Field>,
    /// The threads.
    pub pool: &'j rayon::ThreadPool,
    /// The shares of the memory budget.
    pub budget: Budget,
    /// The ledger of rows in memory.
    pub memory: Memory,
    /// The folder of work files.
    pub dir: &'j Path,
    /// The bars.
    pub progress: &'j Progress,
    /// Set when the run is to stop.
    pub cancel: &'j AtomicBool,
    /// The stages so far.
    pub clock: &'j Clock,
    /// Leave to work on long documents.
    pub long_documents: &'j Gate,
    /// Han characters that went through the dictionary.
    pub segmented: AtomicU64,
    /// Files whose damage showed while they were read.
    pub bad: Mutex<BTreeMap<PathBuf, String>>,
}

impl Job<'_> {
    /// How many documents are numbered: all rows, or `--limit`.
    pub fn documents(&self) -> u64 {
        let all = self.source.documents();
        self.options.limit.map_or(all, |limit| all.min(limit))
    }

    /// Whether some texts are pages, which have to be purified.
    pub fn has_pages(&self) -> bool {
        self.source.has_pages()
    }

    /// The names of the columns beside the text that a reading asks for.
    pub fn field_columns(&self) -> Vec<String> {
        self.fields.iter().map(|&field| self.options.field_columns[field as usize].clone()).collect()
    }

    /// A shuffle of about `rows` rows that are spread by their group.
    pub fn shuffle(&self, name: &str, width: usize, group_width: usize, rows: u64) -> Result<Shuffle> {
        self.spread(name, width, group_width, rows, Order::Hash, 0)
    }

    /// A shuffle whose partitions follow the big-endian document number of `number_width` bytes that rows start with.
    pub fn ordered(
        &self,
        name: &str,
        width: usize,
        group_width: usize,
        number_width: usize,
        rows: u64,
    ) -> Result<Shuffle> {
        let order = Order::Range { below: self.documents().max(1) };
        self.spread(name, width, group_width, rows, order, number_width)
    }

    /// A shuffle whose partitions follow the first 63 bits that rows start with, big-endian: read one after the other, they are
    /// in the order of these whatever their number, which depends on memory and threads.
    pub fn by_hash(&self, name: &str, width: usize, group_width: usize, rows: u64) -> Result<Shuffle> {
        self.spread(name, width, group_width, rows, Order::Range { below: 1 << 63 }, 8)
    }

    fn spread(
        &self,
        name: &str,
        width: usize,
        group_width: usize,
        rows: u64,
        order: Order,
        number: usize,
    ) -> Result<Shuffle> {
        let expected = || self.budget.partitions(rows.saturating_mul(width as u64));
        let partitions = if rows == UNKNOWN { MANY } else { expected().max(self.pool.current_num_threads()) };
        let spec = Spec { name: name.to_string(), width, group_width, order, range_width: number, partitions };
        Shuffle::new(spec, self.dir, &self.memory)
    }

    /// Does `count` pieces of work on all threads: `init` makes a thread's state, `each` does one piece, `end` closes the
    /// state. The error of the earliest failing piece is returned; damaged input files are only noted (but under
    /// `--strict`), so that one pass finds them all.
    pub fn work<S, T: Send>(
        &self,
        count: usize,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, usize) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.work_on(usize::MAX, count, init, each, end)
    }

    /// As [`Job::work`], on at most so many threads.
    pub fn work_on<S, T: Send>(
        &self,
        threads: usize,
        count: usize,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, usize) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<(usize, Error)>> = Mutex::new(None);
        let stop = AtomicBool::new(false);
        let fail = |piece: usize, error: Error| {
            stop.store(true, Ordering::Relaxed);
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(earlier, _)| piece < *earlier) {
                *failed = Some((piece, error));
            }
        };
        let results = self.pool.broadcast(|thread| {
            if thread.index() >= threads {
                return None;
            }
            let mut state = match init() {
                Ok(state) => state,
                Err(error) => {
                    fail(0, error);
                    return None;
                }
            };
            while !stop.load(Ordering::Relaxed) {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= count {
                    break;
                }
                if self.cancel.load(Ordering::Relaxed) {
                    fail(piece, Error::Interrupted);
                    break;
                }
                match each(&mut state, piece) {
                    Ok(()) => {}
                    Err(Error::BadFile { path, why }) if !self.options.strict => {
                        self.bad.lock().unwrap_or_else(PoisonError::into_inner).entry(path).or_insert(why);
                    }
                    Err(error) => fail(piece, error),
                }
            }
            match end(state) {
                Ok(result) => Some(result),
                Err(error) => {
                    fail(count, error);
                    None
                }
            }
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(results.into_iter().flatten().collect()),
        }
    }

    /// Reads the documents on all threads, a piece of a file at a time.
    ///
    /// # Errors
    /// Besides what `each` returns: the first damaged file, once all are noted in [`Job::bad`].
    pub fn read<S, T: Send>(
        &self,
        name: &str,
        want: &Want,
        init: impl Fn() -> Result<S> + Sync,
        each: impl Fn(&mut S, &Documents) -> Result<()> + Sync,
        end: impl Fn(S) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let documents = self.documents();
        let text_bytes: u64 = self.source.files.iter().map(|file| file.text_bytes).sum();
        let pieces = SPLITS_A_THREAD * self.pool.current_num_threads() as u64;
        let target = (text_bytes / pieces).clamp(*SPLIT_BYTES.start(), *SPLIT_BYTES.end());
        // Fewer row groups than pieces are longer than a piece, unless pieces are of the largest size: then a page unpacked
        // twice at each cut is next to nothing, and the headers of all pages may be many.
        let splits = if target < *SPLIT_BYTES.end() {
            self.source.splits_between_pages(target as usize)
        } else {
            self.source.splits(target as usize)
        };
        let splits: Vec<_> = splits.into_iter().filter(|split| split.first_doc < documents).collect();
        let bar = self.progress.stage(name, documents, Unit::Documents);
        let reading = self.purified.reading(self, want)?;
        let want = self.within_limit(want);
        let told = Mutex::new(PurifyReport::default());
        let room = self.room();
        let done = |(state, purified): &mut (S, PurifyReport), batch: Documents| {
            self.go_on()?;
            let batch = self.purified.texts(self, batch, &reading, purified)?;
            each(state, &batch)?;
            bar.add(batch.len() as u64);
            Ok(())
        };
        let results = self.work(
            splits.len(),
            || Ok((init()?, PurifyReport::default())),
            |thread, piece| {
                let file = &self.source.files[splits[piece].file];
                let asks = self.purified.asks(self, file, &want, &reading);
                let segments = self.source.segments(&splits[piece], &asks, self.budget.small_piece())?;
                segments.iter().try_for_each(|Segment { split, bytes, .. }| {
                    room.hold(thread, *bytes, &|| self.go_on(), &done, |thread, reader| {
                        let mut hand = |batch| reader.offer(batch).map_or(Ok(()), |batch| done(thread, batch));
                        self.source.read(split, &asks, &mut hand)
                    })
                })
            },
            |mut thread| {
                room.help(&mut thread, &done);
                let (state, purified) = thread;
                free_spare_lists();
                told.lock().unwrap_or_else(PoisonError::into_inner).merge(&purified);
                end(state)
            },
        )?;
        self.none_bad()?;
        if let Reading::Purify(Some(filling)) = reading {
            self.purified.keep(filling, told.into_inner().unwrap_or_else(PoisonError::into_inner))?;
        }
        Ok(results)
    }

    /// Room for the pages of one reading.
    pub fn room(&self) -> Room<Documents> {
        Room::new(self.budget.pages(), self.budget.free_pages(), &self.memory)
    }

    /// Reads a piece in order on this thread alone, with room for its pages.
    ///
    /// # Errors
    /// What `each` returns, and files that are damaged.
    pub fn read_piece(
        &self,
        room: &Room<Documents>,
        split: &Split,
        want: &Want,
        each: &mut dyn FnMut(&Documents) -> Result<()>,
    ) -> Result<()> {
        self.source.segments(split, want, self.budget.small_piece())?.iter().try_for_each(|segment| {
            room.hold(&mut (), segment.bytes, &|| self.go_on(), &|(), _| Ok(()), |(), _| {
                self.source.read(&segment.split, want, &mut |batch| each(&batch))
            })
        })
    }

    /// Checks that no page is more than what may be read at a time.
    ///
    /// # Errors
    /// [`Error::LargePage`] with the least memory that would do.
    pub fn check_pages(&self) -> Result<()> {
        let Some(page) = self.source.beyond(&|bytes, longest| self.budget.fits(bytes, longest))? else { return Ok(()) };
        let size = |bytes| ByteSize(bytes).to_string();
        let least = size(self.budget.least_for(page.bytes, page.longest));
        let (bytes, asked) = (size(page.bytes), size(self.budget.memory));
        Err(Error::LargePage { path: page.path, column: page.column, bytes, asked, least })
    }

    /// Leave to work on a document of so many bytes, where it is a long one: of very long ones one is worked on at a time.
    /// A thread asks for one at a time.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the run is to stop.
    pub fn long_document(&self, bytes: usize) -> Result<Option<Permit<'_>>> {
        let bytes = bytes as u64;
        let is_long = bytes > self.budget.short_document();
        is_long.then(|| self.long_documents.enter(bytes, || self.go_on())).transpose()
    }

    /// The same of the documents within `--limit`.
    pub fn within_limit(&self, want: &Want) -> Want {
        let mut want = want.clone();
        if self.options.limit.is_some() {
            want.rows = Some(below(self.documents(), want.rows.take()));
        }
        want
    }

    /// Whether all files were whole so far.
    ///
    /// # Errors
    /// The first damaged file, by its path.
    pub fn none_bad(&self) -> Result<()> {
        let bad = self.bad.lock().unwrap_or_else(PoisonError::into_inner);
        match bad.iter().next() {
            Some((path, why)) => Err(Error::BadFile { path: path.clone(), why: why.clone() }),
            None => Ok(()),
        }
    }

    /// Whether the run may go on; asked wherever one step can take long.
    ///
    /// # Errors
    /// [`Error::Interrupted`] once the run is to stop.
    pub fn go_on(&self) -> Result<()> {
        if self.cancel.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// A bar for a stage over partitions.
    pub fn bar(&self, name: &str, total: usize) -> Bar {
        self.progress.stage(name, total as u64, Unit::Items)
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
