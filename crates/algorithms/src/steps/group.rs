//! group: turns rows with equal keys into classes of equal documents, or into pairs found by the method.
//!
//! There are three cases, depending on the method:
//! * documents with equal keys are duplicates without verification: [`EqualKeys`] creates classes, at linear cost;
//! * documents with equal keys are duplicates without verification, and documents with similar keys (by Hamming distance) may be duplicates
//!   too: second-round rows are emitted for one document of each class;
//! * all other methods, and rows of the second round: [`Windows`] lets the method compare the rows with the same key.
//!
//! Both [`EqualKeys`] and [`Windows`] receive complete groups of rows in order ([`Groups`](super::groups::Groups) assembles them from
//! arbitrary blocks). Extra copies that were signed are skipped at this stage; they are added back when pairs are written.

use super::copies::Copies;
use super::groups::Scratch;
use crate::algorithm::Signer;
use crate::recipe::bound::Bound;
use dupsift_core::error::Result;
use dupsift_core::row::{Docs, Pairs, Row, RowLayout, Signatures, Window};

/// Returns whether rows with equal keys are processed separately, before or instead of a comparison.
pub fn folds(bound: &Bound<'_>) -> bool {
    bound.equal_keys_are_pairs() || bound.scheme.probe_shape().is_some()
}

/// Receives the results for rows with equal keys.
pub trait Equal {
    /// Receives a document in a class of two or more documents. The class is identified by its smallest document number. That document is
    /// also passed, as are all copies of each document. A document may be passed twice.
    ///
    /// # Errors
    /// Returns an error if the driver cannot write.
    fn link(&mut self, representative: u64, doc: u64) -> Result<()>;

    /// Receives a row of the second round.
    ///
    /// # Errors
    /// Returns an error if the driver cannot write.
    fn probe(&mut self, row: &[u8]) -> Result<()>;
}

/// Turns groups of rows with equal keys into classes (unless each pair must be verified) and into second-round rows.
pub struct EqualKeys<'g, C> {
    signer: &'g dyn Signer,
    /// Whether documents with equal keys form pairs without verification.
    collapse: bool,
    layout: RowLayout,
    probes: Option<RowLayout>,
    copies: &'g C,
    scratch: Signatures,
    record: Vec<u8>,
}

impl<'g, C: Copies> EqualKeys<'g, C> {
    /// Returns the processor for the rows of an algorithm, in a corpus with this many rows.
    pub fn new(bound: &'g Bound<'_>, documents: u64, copies: &'g C) -> EqualKeys<'g, C> {
        EqualKeys {
            signer: &*bound.signer,
            collapse: bound.equal_keys_are_pairs(),
            layout: bound.layout(documents),
            probes: bound.probe_layout(documents),
            copies,
            scratch: Signatures::default(),
            record: Vec::new(),
        }
    }

    /// Processes all rows that share a key. Classes are linked only if `links` is set.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn group(&mut self, rows: &[u8], links: bool, out: &mut impl Equal) -> Result<()> {
        let (window, copies) = (Window::new(self.layout, rows), self.copies);
        let scope = rows.get(..self.layout.width()).map_or(0, |row| self.layout.scope(row));
        // Most documents share their key with no other document, so they have no copies and need no lookup.
        let alone = window.len() == 1;
        let rows = (0..window.len()).map(|at| window.row(at));
        let mut representatives = rows.filter(|row| alone || !copies.is_extra_copy(row.doc));
        let Some(first) = representatives.next() else { return Ok(()) };
        self.probe(scope, &first, out)?;
        let mut linked = false;
        for row in representatives {
            if !self.collapse {
                self.probe(scope, &row, out)?;
                continue;
            }
            if !links {
                break;
            }
            if !linked {
                with_copies(copies, first.doc, |doc| out.link(first.doc, doc))?;
                linked = true;
            }
            with_copies(copies, row.doc, |doc| out.link(first.doc, doc))?;
        }
        Ok(())
    }

    fn probe(&mut self, scope: u64, row: &Row<'_>, out: &mut impl Equal) -> Result<()> {
        let Some(layout) = self.probes else { return Ok(()) };
        let (scratch, record) = (&mut self.scratch, &mut self.record);
        scratch.clear();
        self.signer.probes(row, scratch);
        scratch.rows(row.doc).try_for_each(|probe| {
            record.clear();
            layout.encode_in(scope, &probe, record);
            out.probe(record)
        })
    }
}

/// Links a class of exact copies whose representative has no link from [`EqualKeys`]: copies form a class even if they have no signature.
pub fn link_copies(
    class: Docs<'_>,
    is_linked: impl Fn(u64) -> bool,
    mut link: impl FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    let representative = class.get(0);
    if is_linked(representative) { Ok(()) } else { class.iter().try_for_each(|doc| link(representative, doc)) }
}

fn with_copies(copies: &impl Copies, doc: u64, each: impl FnMut(u64) -> Result<()>) -> Result<()> {
    let members = copies.members(doc);
    let members = if members.is_empty() { Docs::One(doc) } else { members };
    members.iter().try_for_each(each)
}

/// Lets the method compare the rows that share a key.
pub struct Windows<'g, C> {
    signer: &'g dyn Signer,
    layout: RowLayout,
    copies: Option<&'g C>,
    out: Pairs<'g>,
}

/// Counts comparisons.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The number of comparisons that were performed.
    pub made: u64,
    /// The number of comparisons skipped because of the limit per group.
    pub left_out: u64,
    /// The number of comparisons skipped because the two documents are too far apart in a large group.
    pub far: u64,
}

impl Compared {
    /// Returns the sum of two sets of counts.
    pub fn plus(self, other: Compared) -> Compared {
        let Compared { made, left_out, far } = other;
        Compared { made: self.made + made, left_out: self.left_out + left_out, far: self.far + far }
    }
}

impl<'g, C: Copies> Windows<'g, C> {
    /// Returns a processor for rows in this layout that emits pairs to `out`; pass `copies` if the rows may include extra copies.
    pub fn new(signer: &'g dyn Signer, layout: RowLayout, copies: Option<&'g C>, out: Pairs<'g>) -> Windows<'g, C> {
        Windows { signer, layout, copies, out }
    }

    /// Processes all rows that share a key. Skips any window for which `seen` returns true, because an earlier window produced the same
    /// pairs.
    ///
    /// # Errors
    /// Returns the errors of the scratch memory.
    pub fn group(
        &mut self,
        rows: &[u8],
        scratch: &mut impl Scratch,
        seen: impl FnOnce(&Window<'_>) -> bool,
    ) -> Result<()> {
        if rows.len() <= self.layout.width() {
            return Ok(());
        }
        let rows = match self.copies {
            Some(copies) => without_surplus(self.layout, rows, copies, scratch)?,
            None => rows,
        };
        let window = Window::new(self.layout, rows);
        if window.len() > 1 && !seen(&window) {
            self.signer.pairs(&window, &mut self.out);
        }
        scratch.clear();
        Ok(())
    }

    /// Ends the input, and returns how many comparisons were performed and skipped.
    pub fn finish(self) -> Compared {
        Compared { made: self.out.compared, left_out: self.out.left_out, far: self.out.far }
    }
}

/// Returns the window without the rows of extra copies. If there are extra copies, the remaining rows are copied to scratch memory.
fn without_surplus<'r>(
    layout: RowLayout,
    rows: &'r [u8],
    copies: &impl Copies,
    scratch: &'r mut impl Scratch,
) -> Result<&'r [u8]> {
    let width = layout.width();
    let stays = |row: &[u8]| !copies.is_extra_copy(layout.decode(row).doc);
    let kept = rows.chunks_exact(width).filter(|row| stays(row)).count() * width;
    if kept == rows.len() {
        return Ok(rows);
    }
    let room = &mut scratch.bytes(kept)?[..kept];
    for (to, from) in room.chunks_exact_mut(width).zip(rows.chunks_exact(width).filter(|row| stays(row))) {
        to.copy_from_slice(from);
    }
    Ok(room)
}
