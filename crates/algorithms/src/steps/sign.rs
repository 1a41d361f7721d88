//! sign: computes the signatures of all selected algorithms from one analysis of a document.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::recipe::bound::Bound;
use dupsift_core::row::{Row, RowLayout, Signatures};
use dupsift_text::Analysis;

/// Signs one document with every algorithm; `each` receives the algorithm's number, its output, and the evidence for verification if
/// signing records it. The scratch memory is reused.
pub fn sign<E>(
    algorithms: &[Bound<'_>],
    document: &Analysis<'_>,
    scratch: &mut (Signatures, Vec<u64>),
    mut each: impl FnMut(usize, &Signatures, &[u64]) -> Result<(), E>,
) -> Result<(), E> {
    let (rows, evidence) = scratch;
    for (number, bound) in algorithms.iter().enumerate() {
        rows.clear();
        evidence.clear();
        match bound.with_evidence() {
            Some(method) => method.sign_with_evidence(document, rows, evidence),
            None => bound.signer.sign(document, rows),
        }
        each(number, rows, evidence)?;
    }
    Ok(())
}

/// Encodes each row that an algorithm emitted for a document in this scope, if the row satisfies `passes`. A document without a
/// signature has no rows. `record` is a reused buffer.
pub fn encode<E>(
    layout: RowLayout,
    (scope, doc): (Option<u64>, u64),
    out: &Signatures,
    record: &mut Vec<u8>,
    mut passes: impl FnMut(&Row<'_>) -> bool,
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for row in out.rows(doc).filter(|row| passes(row)) {
        record.clear();
        layout.encode_in(scope.unwrap_or_default(), &row, record);
        each(record)?;
    }
    Ok(())
}

/// Counts the documents with and without a signature for one algorithm; exact copies count individually. The counts of several parts of a
/// corpus can be added.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SignedCounts {
    /// The number of documents with a signature.
    pub signed: u64,
    /// The number of documents without a signature, by reason.
    pub unsigned: BTreeMap<Cow<'static, str>, u64>,
    /// The number of flagged documents, by flag.
    pub flagged: BTreeMap<Cow<'static, str>, u64>,
}

impl SignedCounts {
    /// Counts the output for a document that represents this many documents.
    pub fn add(&mut self, out: &Signatures, documents: u64) {
        match out.reason() {
            Some(reason) => *self.unsigned.entry(Cow::Borrowed(reason)).or_default() += documents,
            None => self.signed += documents,
        }
        out.flags().iter().for_each(|flag| *self.flagged.entry(Cow::Borrowed(flag)).or_default() += documents);
    }

    /// Adds the counts of another part of the corpus.
    pub fn merge(&mut self, other: &SignedCounts) {
        self.signed += other.signed;
        other.unsigned.iter().for_each(|(reason, count)| *self.unsigned.entry(reason.clone()).or_default() += count);
        other.flagged.iter().for_each(|(flag, count)| *self.flagged.entry(flag.clone()).or_default() += count);
    }
}
