//! Records which documents are removed, in favor of which documents, and why. Documents are removed by their pairs, and later also because
//! too little text remains of them; the tables are written from the same rows.

use std::collections::BTreeMap;

use crate::classes::Classes;
use crate::engine::evidence::Evidence;
use crate::job::pair::components::Components;
use crate::job::pair::contents::Shares;
use crate::session::Session;
use dupsift_algorithms::steps::survive::Removal;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::{Sorted, Writer};
use dupsift_tables::{EMPTIED, REPRESENTATIVE};
use zerocopy::big_endian::{F32, U16, U64};
use zerocopy::{FromBytes, FromZeros as _, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The number of bytes in a [`DecidedRow`].
pub const ROW: usize = size_of::<DecidedRow>();

/// Holds a recorded removal. Rows are sorted by document number.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct DecidedRow {
    /// The removed document.
    pub doc: U64,
    /// The document that is kept instead.
    pub kept: U64,
    /// The position of the algorithm plus one, 0 for a chain, or one of the codes below.
    pub code: U16,
    /// The similarity of the two documents, if an algorithm caused the removal.
    pub similarity: F32,
    /// Whether the two documents were compared; the shares are 0 otherwise.
    pub is_compared: u8,
    /// The share of the 3-grams of the removed document that the kept document contains.
    pub grams: F32,
    /// The share of the numbers of the removed document that the kept document contains.
    pub numbers: F32,
}

/// Records a removal.
pub(crate) fn push_row(writer: &mut Writer<'_>, removal: &Removal) -> Result<()> {
    let (algorithm, similarity) =
        removal.found.map_or((0, 0.0), |(number, similarity)| (number as u16 + 1, similarity));
    let shares = removal.contained.map(Shares::of);
    let Shares { grams, numbers } = shares.unwrap_or(Shares { grams: 0.0, numbers: 0.0 });
    let row = DecidedRow {
        doc: removal.doc.into(),
        kept: removal.kept.into(),
        code: algorithm.into(),
        similarity: similarity.into(),
        is_compared: shares.is_some().into(),
        grams: grams.into(),
        numbers: numbers.into(),
    };
    writer.push(row.as_bytes())
}

/// The code for a document that forms no pair with the document kept instead, but with another document that is removed itself.
const CHAIN_CODE: u16 = 0;
/// The code for a document that is removed because too little text remains.
const EMPTIED_CODE: u16 = u16::MAX;
/// The code for a preferred document, which `--keep none` also removes.
const REPRESENTATIVE_CODE: u16 = u16::MAX - 1;

/// Records a removal that was not caused by a pair.
fn push_coded(writer: &mut Writer<'_>, (doc, kept): (u64, u64), code: u16) -> Result<()> {
    let row = DecidedRow { doc: doc.into(), kept: kept.into(), code: code.into(), ..DecidedRow::new_zeroed() };
    writer.push(row.as_bytes())
}

/// Records the removal of a preferred document, which `--keep none` also removes.
pub(crate) fn push_representative(writer: &mut Writer<'_>, doc: u64) -> Result<()> {
    push_coded(writer, (doc, doc), REPRESENTATIVE_CODE)
}

/// Records the removal of a document because the one that was kept instead of it is removed, too.
pub(crate) fn push_chained(writer: &mut Writer<'_>, doc: u64, kept: u64) -> Result<()> {
    push_coded(writer, (doc, kept), CHAIN_CODE)
}

/// Records the removal of a document because too little of its text remains.
pub(crate) fn push_emptied(writer: &mut Writer<'_>, doc: u64, kept: u64) -> Result<()> {
    push_coded(writer, (doc, kept), EMPTIED_CODE)
}

/// Holds the removal decisions.
pub struct Decided {
    /// The removals, as written by [`push_row`].
    pub rows: Sorted,
    /// The labels of the algorithms whose pairs decided which documents were removed.
    pub algorithms: Vec<String>,
    /// Whether the contents of documents were compared with the contents of kept documents.
    pub looks: bool,
    /// The number of near-duplicates: removed documents that are not copies of the kept document.
    pub near_duplicates: u64,
    /// The number of removed near-duplicates that look like pages from the same template.
    pub of_templates: u64,
    /// The number of comparisons that were skipped.
    pub left_out: u64,
    /// The number of documents that are kept although they form a pair with another kept document, by reason.
    pub stays: BTreeMap<String, u64>,
    /// The number of kept documents that form a pair with a document in `stays` but were not compared with it.
    pub not_looked_at: u64,
    /// The kept documents with which each document was compared.
    pub looked_at: Option<Evidence>,
    /// The clusters formed by the pairs that decided which documents were removed, if the output contains clusters.
    pub components: Option<Components>,
}

/// Returns the decisions of a finished run. `rows` yields the document, kept document and reason of each row in the `removed/` table.
///
/// # Errors
/// Returns any error from `rows`, and an error if the disk is full.
pub fn decided_again(
    session: &Session<'_>,
    rows: impl Iterator<Item = Result<(u64, u64, &'static str)>>,
    components: Option<Components>,
) -> Result<Decided> {
    let all = session.engine.ordered(session.documents(), "removed", ROW, 8, 8, 0)?;
    let mut writer = all.writer();
    for found in rows {
        let (doc, kept, reason) = found?;
        let code = match reason {
            EMPTIED => EMPTIED_CODE,
            REPRESENTATIVE => REPRESENTATIVE_CODE,
            "chain" => CHAIN_CODE,
            _ => 1,
        };
        push_coded(&mut writer, (doc, kept), code)?;
    }
    writer.flush()?;
    drop(writer);
    Ok(Decided {
        rows: all.finish()?,
        algorithms: Vec::new(),
        looks: false,
        near_duplicates: 0,
        of_templates: 0,
        left_out: 0,
        stays: BTreeMap::new(),
        not_looked_at: 0,
        looked_at: None,
        components,
    })
}

/// Calls `each` with each removed document and the document kept instead, in document order.
pub fn each(decided: &Decided, memory_bytes: usize, mut each: impl FnMut(u64, u64) -> Result<()>) -> Result<()> {
    for partition in 0..decided.rows.partitions() {
        let records = decided.rows.load(partition, memory_bytes)?;
        for at in 0..records.len() {
            let row: &DecidedRow = records.row(at);
            each(row.doc.get(), row.kept.get())?;
        }
    }
    Ok(())
}

impl DecidedRow {
    /// Returns the position of the algorithm that caused the removal, or `None` if no algorithm did.
    pub fn algorithm(&self) -> Option<usize> {
        let code = self.code.get();
        usize::from(code).checked_sub(1).filter(|_| !matches!(code, EMPTIED_CODE | REPRESENTATIVE_CODE))
    }
}

/// Returns the removed document of a row, the document kept instead, and the reason.
pub fn fate(session: &Session<'_>, row: &DecidedRow, copies: &Classes) -> (u64, u64, &'static str) {
    let (doc, kept) = (row.doc.get(), row.kept.get());
    let text = copies.representative(doc);
    let reason = match row.algorithm() {
        _ if row.code == EMPTIED_CODE => EMPTIED,
        _ if row.code == REPRESENTATIVE_CODE => REPRESENTATIVE,
        // The reason is `seen`, regardless of what happened to the indexed document with this text.
        _ if text < session.base => "seen",
        None => "chain",
        Some(_) if text == copies.representative(kept) => "copy",
        Some(_) => "pair",
    };
    (doc, kept, reason)
}
