//! Repacks the text of a line-based file that cannot be split. While the file is read for the first time, its text is stored in a temporary
//! file, in blocks that can be unpacked independently.
//!
//! Without repacking, a single thread would have to unpack a gzip member or a Zstandard frame from the beginning each time it is read.
//! Opening a file reads the entire file anyway, so the unpacked text is also passed on in blocks of complete lines, which idle threads
//! repack with a cheaper codec. Later reads unpack only the blocks that they need; see [`crate::compressed::repacked`]. The copy only
//! improves speed: if there is not enough disk space for it, the original files are read.

use crate::compressed::coding::{Coding, Text};
use crate::compressed::repacked::{Block, Repacked};
use crate::compressed::rest::Behind;
use crate::compressed::unpack::{Damage, read_buffered};
use crate::parallel;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The maximum size of a block, in bytes. A block usually ends earlier, at the end of a line; a block of long lines may end inside a line.
pub(super) const MOST_BYTES: usize = 2 << 20;

/// The number of bytes written between two checks of the free disk space.
const LOOK: u64 = 1 << 28;

/// Returns whether a copy that already has this many bytes may grow. The free space must be at least as large as the copy, because other
/// temporary files also need space.
pub(crate) fn has_room(taken: u64, free: u64) -> bool {
    free >= taken
}

/// Reports whether the text of a file was repacked.
pub(crate) enum Again {
    /// The text was not repacked.
    No,
    /// Part of the text could not be written to disk.
    Lost,
    /// The text was repacked.
    Whole(Repacked),
}

/// Calls `look` for each file, on this many threads. If there is a folder for temporary files, `look` may repack files.
pub(crate) fn look_at_all<F: Sync, T: Send, E: Send>(
    files: &[F],
    threads: usize,
    work: Option<&Path>,
    look: impl Fn(&F, Option<&Repacking>) -> Result<(T, Option<RepackedBlocks>), E> + Sync,
) -> Vec<Result<(T, Again), E>> {
    let Some(repacking) = work.and_then(|work| Repacking::new(work, files.len())) else {
        return parallel::map(files, threads, |file| look(file, None).map(|(looked, _)| (looked, Again::No)));
    };
    let look = |file: &F| {
        let _looked_at = OnDrop(|| repacking.looked_at());
        look(file, Some(&repacking))
    };
    let looked = parallel::map_and_help("open", files, threads, look, || repacking.help());
    looked.into_iter().map(|one| one.map(|(looked, written)| (looked, repacking.finish(written)))).collect()
}

/// Calls the function when this value is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The temporary file for the repacked text of one corpus; used while the corpus files are opened.
pub struct Repacking {
    file: Arc<File>,
    folder: PathBuf,
    /// The position where the next block is written.
    end: AtomicU64,
    failed: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<Filled>,
    /// The number of idle threads.
    idle: usize,
    /// The number of files not yet read to their end.
    files: usize,
}

/// A block waiting to be written to disk.
#[derive(Debug)]
struct Filled {
    of: Arc<Mutex<Vec<Block>>>,
    start: u64,
    text: Vec<u8>,
}

impl Repacking {
    /// Creates an unnamed temporary file in `folder`, for the text of `files` input files. Returns `None` if the file cannot be created.
    fn new(folder: &Path, files: usize) -> Option<Repacking> {
        let file = tempfile::tempfile_in(folder).map_err(|error| not_kept(folder, &error)).ok()?;
        Some(Repacking::over(file, folder, files))
    }

    /// Uses an existing temporary file.
    pub(crate) fn over(file: File, folder: &Path, files: usize) -> Repacking {
        let state = State { waiting: VecDeque::new(), idle: 0, files };
        Repacking {
            file: Arc::new(file),
            folder: folder.to_path_buf(),
            end: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Returns whether this file is to be repacked.
    fn takes(&self, coding: Coding) -> bool {
        !coding.can_be_cut() && !self.failed.load(Relaxed)
    }

    /// Counts a file as finished. Must be called exactly once for each file, even after an error.
    fn looked_at(&self) {
        let mut state = self.state();
        state.files -= 1;
        if state.files == 0 {
            self.changed.notify_all();
        }
    }

    /// Packs blocks that other threads have unpacked, until all files are finished.
    fn help(&self) {
        let mut state = self.state();
        loop {
            if let Some(filled) = state.waiting.pop_front() {
                drop(state);
                self.pack(filled);
                state = self.state();
            } else if state.files == 0 {
                return;
            } else {
                state.idle += 1;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
            }
        }
    }

    /// Returns the repacked text of a file; must be called after all files are finished.
    pub(crate) fn finish(&self, written: Option<RepackedBlocks>) -> Again {
        match written {
            None => Again::No,
            Some(_) if self.failed.load(Relaxed) => Again::Lost,
            Some(RepackedBlocks(blocks)) => {
                let blocks = std::mem::take(&mut *blocks.lock().unwrap_or_else(PoisonError::into_inner));
                Again::Whole(Repacked::new(self.file.clone(), blocks))
            }
        }
    }

    /// Accepts a full block. The block is packed by an idle thread or, if no thread is idle, by the current thread.
    fn take(&self, filled: Filled) {
        if self.failed.load(Relaxed) {
            return;
        }
        let mut state = self.state();
        if state.idle > state.waiting.len() {
            state.waiting.push_back(filled);
            self.changed.notify_one();
            return;
        }
        drop(state);
        self.pack(filled);
    }

    fn pack(&self, filled: Filled) {
        if self.failed.load(Relaxed) {
            return;
        }
        if let Err(error) = self.write(filled)
            && !self.failed.swap(true, Relaxed)
        {
            not_kept(&self.folder, &error);
            // An incomplete copy is useless, and other files need the space.
            let _ = self.file.set_len(0);
        }
    }

    fn write(&self, Filled { of, start, text }: Filled) -> io::Result<()> {
        let packed = lz4_flex::block::compress(&text);
        let at = self.end.fetch_add(packed.len() as u64, Relaxed);
        let end = at + packed.len() as u64;
        if at / LOOK != end / LOOK
            && rustix::fs::fstatvfs(&self.file).is_ok_and(|disk| !has_room(end, disk.f_bavail * disk.f_frsize))
        {
            return Err(io::Error::other(
                "the text stored so far is larger than the remaining free space, which the run also needs for other files",
            ));
        }
        self.file.write_all_at(&packed, at)?;
        let block = Block { start, at, packed: packed.len() as u32, bytes: text.len() as u32 };
        of.lock().unwrap_or_else(PoisonError::into_inner).push(block);
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_kept(folder: &Path, error: &io::Error) {
    tracing::warn!(
        "compressed files are decompressed in every pass, with one thread per file, because their text could not be kept in {}: {error}",
        folder.display()
    );
}

/// The blocks of one file; some blocks may not have been written yet.
#[derive(Debug)]
pub(crate) struct RepackedBlocks(Arc<Mutex<Vec<Block>>>);

/// Reads the text of a file and repacks it at the same time.
pub(crate) struct Tee<'r> {
    text: Text,
    to: Option<To<'r>>,
}

struct To<'r> {
    repacking: &'r Repacking,
    of: Arc<Mutex<Vec<Block>>>,
    /// The position in the text where the current block begins.
    start: u64,
    block: Vec<u8>,
}

impl<'r> Tee<'r> {
    /// Opens the text of a file at its beginning. Without `repacking`, the text is only read.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub(crate) fn new(file: File, coding: Coding, repacking: Option<&'r Repacking>) -> io::Result<Tee<'r>> {
        let to = |repacking| To { repacking, of: Arc::default(), start: 0, block: Vec::new() };
        let to = repacking.filter(|repacking| repacking.takes(coding)).map(to);
        Ok(Tee { text: coding.text(file)?, to })
    }

    /// Returns whether the text is being repacked.
    pub(crate) fn is_on(&self) -> bool {
        self.to.is_some()
    }

    /// Ends a block before this byte of the text. The byte must be in the current block or be the last byte that was read.
    pub(crate) fn cut(&mut self, at: u64) {
        if let Some(to) = &mut self.to {
            let before = at.saturating_sub(to.start) as usize;
            let rest = to.block.split_off(before.min(to.block.len()));
            to.end(rest);
        }
    }

    /// Ends the last block once everything has been read.
    pub(crate) fn end(&mut self) -> Option<RepackedBlocks> {
        let mut to = self.to.take()?;
        to.end(Vec::new());
        Some(RepackedBlocks(to.of))
    }

    /// Returns the same as [`Text::behind`].
    pub(crate) fn behind(&self) -> Option<Behind> {
        self.text.behind()
    }

    /// Returns the same as [`Text::damage`].
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.text.damage()
    }
}

impl To<'_> {
    fn end(&mut self, next: Vec<u8>) {
        let text = std::mem::replace(&mut self.block, next);
        self.block.reserve(text.len().saturating_sub(self.block.len()));
        let start = self.start;
        self.start += text.len() as u64;
        if !text.is_empty() {
            self.repacking.take(Filled { of: self.of.clone(), start, text });
        }
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (some, rest) = bytes.split_at(bytes.len().min(MOST_BYTES - self.block.len()));
            self.block.extend_from_slice(some);
            bytes = rest;
            if self.block.len() == MOST_BYTES {
                self.end(Vec::new());
            }
        }
    }
}

impl Read for Tee<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, into)
    }
}

impl BufRead for Tee<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if let Some(to) = &mut self.to {
            // The buffer still contains the bytes that were returned.
            to.push(self.text.fill_buf().map_or(&[], |there| &there[..count.min(there.len())]));
        }
        self.text.consume(count);
    }
}
