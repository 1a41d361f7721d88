//! Texts that stay in memory from the first reading to the next, as far as a share of the budget goes.
//!
//! Decompressing is most of what reading costs, and a corpus is read up to three times: to count, to sign, to check the
//! candidates. What fits the share is read once; of a larger corpus the rest is read again, piece by piece, with the same
//! result.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use arrow_array::Array;

use crate::batch::Documents;

/// The pieces of the corpus that are held, by number.
pub struct Held {
    /// Bytes that may still be held.
    left: AtomicUsize,
    pieces: OnceLock<Vec<OnceLock<Arc<[Documents]>>>>,
}

/// The batches of one piece on their way in.
pub struct Holding<'h> {
    held: &'h Held,
    batches: Vec<Documents>,
    bytes: usize,
    fits: bool,
}

impl Held {
    /// Holds at most so many bytes; with 0 nothing.
    pub fn new(bytes: usize) -> Held {
        Held { left: AtomicUsize::new(bytes), pieces: OnceLock::new() }
    }

    /// Whether anything can be held at all.
    pub fn is_on(&self) -> bool {
        self.pieces.get().is_some() || self.left.load(Relaxed) > 0
    }

    /// All batches of a piece, where they are held.
    pub fn of(&self, piece: usize) -> Option<Arc<[Documents]>> {
        self.pieces.get()?.get(piece)?.get().cloned()
    }

    /// Begins to hold a piece that is read in full, of that many pieces of the corpus.
    pub fn begin(&self, pieces: usize) -> Holding<'_> {
        self.pieces.get_or_init(|| (0..pieces).map(|_| OnceLock::new()).collect());
        Holding { held: self, batches: Vec::new(), bytes: 0, fits: true }
    }
}

impl Holding<'_> {
    /// Takes the next batch of the piece; if it does not fit, the whole piece is let go.
    pub fn push(&mut self, batch: Documents) {
        if !self.fits {
            return;
        }
        let bytes = bytes_of(&batch);
        self.fits = self.held.left.try_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok();
        if self.fits {
            self.bytes += bytes;
            self.batches.push(batch);
        } else {
            self.let_go();
        }
    }

    /// The piece is complete.
    pub fn finish(mut self, piece: usize) {
        if !self.fits {
            return;
        }
        if let Some(place) = self.held.pieces.get().and_then(|pieces| pieces.get(piece)) {
            self.bytes = 0;
            // A piece is read in full once a pass, and only while it is not held.
            let _ = place.set(std::mem::take(&mut self.batches).into());
        }
    }

    fn let_go(&mut self) {
        self.batches = Vec::new();
        self.held.left.fetch_add(std::mem::take(&mut self.bytes), Relaxed);
    }
}

impl Drop for Holding<'_> {
    /// A reading that ends early holds nothing.
    fn drop(&mut self) {
        self.let_go();
    }
}

/// What a batch keeps in memory: its values, and a view or number for each.
fn bytes_of(batch: &Documents) -> usize {
    let columns = batch.rows.columns().iter();
    columns.map(|column| crate::io::value_bytes(column) + 32 * column.len()).sum()
}
