//! The first look at files of lines that cannot be cut leaves their text in a work file, in blocks that are unpacked alone.
//!
//! A gzip member or a Zstandard frame is unpacked from its beginning on by one thread, and so often as it is read. The look at a file
//! reads all of it anyway: it hands what it has unpacked on in blocks of whole lines, and threads that have no file of their own pack
//! them again, with less effort. Later readings take the blocks they need, see [`repacked`](super::repacked). The copy is for speed
//! alone: where the disk does not take it, files are read as they are.

use super::coding::{Coding, Text};
use super::parallel;
use super::repacked::{Block, Repacked};
use super::rest::Behind;
use super::unpack::{Damage, read_buffered};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A block ends with the line that has this byte of it: where lines are long, in the middle of one.
pub(super) const MOST_BYTES: usize = 2 << 20;

/// Each time that so many bytes more are written it is asked how much space is free.
const LOOK: u64 = 1 << 28;

/// Whether a copy that has so many bytes may go on: as much has to be free, for the run's other work files need space too.
pub(super) fn has_room(taken: u64, free: u64) -> bool {
    free >= taken
}

/// What became of the text of a file.
pub(super) enum Again {
    /// It was not packed again.
    No,
    /// Not all of it is on the disk.
    Lost,
    /// It was packed again.
    Whole(Repacked),
}

/// Looks at each file, on that many threads; where there is a folder for work files, `look` may pack them again.
pub(super) fn look_at_all<F: Sync, T: Send, E: Send>(
    files: &[F],
    threads: usize,
    work: Option<&Path>,
    look: impl Fn(&F, Option<&Repacking>) -> Result<(T, Option<Written>), E> + Sync,
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

/// Calls a function when it goes.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The work file of one corpus, while its files are looked at.
pub struct Repacking {
    file: Arc<File>,
    folder: PathBuf,
    /// Where the next block goes.
    end: AtomicU64,
    failed: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    waiting: VecDeque<Filled>,
    /// Threads without work.
    idle: usize,
    /// Files that are not yet looked at to their end.
    files: usize,
}

/// A block on its way to the disk.
#[derive(Debug)]
struct Filled {
    of: Arc<Mutex<Vec<Block>>>,
    start: u64,
    text: Vec<u8>,
}

impl Repacking {
    /// For so many files; the work file has no name in its folder. None where none can be made there.
    fn new(folder: &Path, files: usize) -> Option<Repacking> {
        let file = tempfile::tempfile_in(folder).map_err(|error| not_kept(folder, &error)).ok()?;
        Some(Repacking::over(file, folder, files))
    }

    /// Over a work file.
    pub(super) fn over(file: File, folder: &Path, files: usize) -> Repacking {
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

    /// Whether that file is to be packed again.
    fn takes(&self, coding: Coding) -> bool {
        !coding.can_be_cut() && !self.failed.load(Relaxed)
    }

    /// A file was looked at: to be called once for each, also where that failed.
    fn looked_at(&self) {
        let mut state = self.state();
        state.files -= 1;
        if state.files == 0 {
            self.changed.notify_all();
        }
    }

    /// Packs what other threads have unpacked, until all files are looked at.
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

    /// What a look has left of a file, once all are looked at.
    pub(super) fn finish(&self, written: Option<Written>) -> Again {
        match written {
            None => Again::No,
            Some(_) if self.failed.load(Relaxed) => Again::Lost,
            Some(Written(blocks)) => {
                let blocks = std::mem::take(&mut *blocks.lock().unwrap_or_else(PoisonError::into_inner));
                Again::Whole(Repacked::new(self.file.clone(), blocks))
            }
        }
    }

    /// A block is full: a thread that waits for work gets it, else this one packs it.
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
            // What is there is of no use, and others need the space.
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
            return Err(io::Error::other("less space is free than it takes already, and the run needs some"));
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
        "compressed files are decompressed in every pass, by one thread each, because their text could not be kept in {}: {error}",
        folder.display()
    );
}

/// The blocks of one file, some of which may still be on their way.
#[derive(Debug)]
pub struct Written(Arc<Mutex<Vec<Block>>>);

/// The text of a file, which is packed again while it is read.
pub(super) struct Tee<'r> {
    text: Text,
    to: Option<To<'r>>,
}

struct To<'r> {
    repacking: &'r Repacking,
    of: Arc<Mutex<Vec<Block>>>,
    /// Where the block at hand begins in the text.
    start: u64,
    block: Vec<u8>,
}

impl<'r> Tee<'r> {
    /// The text of a file from its beginning on; `repacking` is none where it is only read.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(file: File, coding: Coding, repacking: Option<&'r Repacking>) -> io::Result<Tee<'r>> {
        let to = |repacking| To { repacking, of: Arc::default(), start: 0, block: Vec::new() };
        let to = repacking.filter(|repacking| repacking.takes(coding)).map(to);
        Ok(Tee { text: coding.text(file)?, to })
    }

    /// Whether what is read is packed again.
    pub fn is_on(&self) -> bool {
        self.to.is_some()
    }

    /// Ends a block before that byte of the text, which was read last or lies in the block at hand.
    pub fn cut(&mut self, at: u64) {
        if let Some(to) = &mut self.to {
            let before = at.saturating_sub(to.start) as usize;
            let rest = to.block.split_off(before.min(to.block.len()));
            to.end(rest);
        }
    }

    /// All is read.
    pub fn end(&mut self) -> Option<Written> {
        let mut to = self.to.take()?;
        to.end(Vec::new());
        Some(Written(to.of))
    }

    /// As [`Text::behind`].
    pub fn behind(&self) -> Option<Behind> {
        self.text.behind()
    }

    /// As [`Text::damage`].
    pub fn damage(&self) -> Option<&Damage> {
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
            // What was handed out is there.
            to.push(self.text.fill_buf().map_or(&[], |there| &there[..count.min(there.len())]));
        }
        self.text.consume(count);
    }
}
