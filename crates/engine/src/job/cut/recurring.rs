//! Which anchors of the kept documents come more than once.

use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_core::hash::mix64;
use dupsift_files::tables::Cell;
use dupsift_passages::{Anchor, Cut, Folded, Winnow};
use dupsift_spill::shuffle::AtomicCells;

use super::order::Order;

/// Hashes of a window. More anchors cost more here, and let fewer runs through that turn out to be unique.
const WINDOW: usize = 64;
/// Bits of a filter for each anchor.
const BITS: u64 = 16;

/// Two Bloom filters of one word a key: the anchors that came, and those that came again. An anchor that came twice is always in the second;
/// one that came once is in it by chance, which costs rows and changes no result.
pub struct Recurring {
    /// How anchors are chosen.
    pub winnow: Winnow,
    came: AtomicCells<u64>,
    again: AtomicCells<u64>,
}

impl Recurring {
    fn new(session: &Session<'_>, length: u32, text_bytes: u64) -> Result<Recurring> {
        // The filters are in temporary files. Beyond a quarter of the memory limit they would be slow, and larger windows help instead.
        let most = session.engine.budget.memory / 4;
        let bytes_of = |winnow: Winnow| winnow.anchors_of(text_bytes).saturating_mul(2 * BITS / 8);
        let windows = std::iter::successors(Some(WINDOW), |window| window.checked_mul(2));
        let mut winnows =
            windows.take_while(|&window| window < 2 * length as usize).map(|window| Winnow::new(length, window));
        let first = Winnow::new(length, WINDOW);
        let winnow = winnows.find(|winnow| bytes_of(*winnow) <= most).unwrap_or(Winnow::new(length, length as usize));
        let winnow = if bytes_of(first) <= most { first } else { winnow };
        let words = (bytes_of(winnow).min(most) / 16).max(1) as usize;
        let cells = |name| AtomicCells::new(session.engine.dir, name, words);
        Ok(Recurring { winnow, came: cells("anchors")?, again: cells("anchors-again")? })
    }

    fn add(&self, hash: u64) {
        let (word, bits) = self.place(hash);
        let mut known = self.came.load(word);
        while known & bits != bits {
            match self.came.compare_exchange(word, known, known | bits) {
                Ok(_) => return,
                Err(other) => known = other,
            }
        }
        let mut known = self.again.load(word);
        while known & bits != bits {
            match self.again.compare_exchange(word, known, known | bits) {
                Ok(_) => return,
                Err(other) => known = other,
            }
        }
    }

    /// Returns whether an anchor comes more than once, or is taken for one that does.
    pub fn has(&self, hash: u64) -> bool {
        let (word, bits) = self.place(hash);
        self.again.load(word) & bits == bits
    }

    /// Anchors are the least of many hashes, so they are mixed again.
    fn place(&self, hash: u64) -> (usize, u64) {
        let mixed = mix64(hash ^ 0x5851_F42D_4C95_7F2D);
        let word = (u128::from(mixed) * self.came.len() as u128) >> 64;
        let bits = mix64(mixed);
        (word as usize, (0..4).fold(0, |all, at| all | 1 << (bits >> (6 * at) & 63)))
    }
}

/// Reads the kept documents, if runs are cut.
///
/// # Errors
/// A damaged file, a full disk, an interruption.
pub fn find(session: &Session<'_>, order: &Order, cut: Cut, text_bytes: u64) -> Result<Option<Recurring>> {
    let Cut::Runs(length) = cut else { return Ok(None) };
    let name = "read anchors";
    let running = session.engine.clock.stage(name);
    let recurring = Recurring::new(session, length, text_bytes)?;
    let anchors = session.read(
        name,
        &order.want(session),
        || Ok((Folded::default(), Vec::new(), Vec::<Anchor>::new(), 0)),
        |(folded, ring, anchors, count), batch| {
            for row in 0..batch.len() {
                let Cell::Text(text) = batch.text(row) else { continue };
                let _long = session.engine.long_document(text.len())?;
                folded.fold(text);
                recurring.winnow.anchors(&folded.text, ring, anchors);
                anchors.iter().for_each(|anchor| recurring.add(anchor.hash));
                *count += anchors.len() as u64;
            }
            Ok(())
        },
        |(.., count)| Ok(count),
    )?;
    running.end(order.count(), anchors.iter().sum(), 0);
    Ok(Some(recurring))
}
