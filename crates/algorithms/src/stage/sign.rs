//! sign: the signatures of all chosen algorithms from one analysis of a document.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bound::Bound;
use dupsift_core::row::{Row, RowLayout, Signatures};
use dupsift_text::Analysis;

/// Signs one document with every algorithm; `each` gets the algorithm's number, what it emitted, and the evidence for its
/// check where that is taken along the way. The scratch is reused.
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

/// The bytes of each row that an algorithm emitted for a document of this scope and that `passes`; none where it has no signature. `record` is
/// memory to write in.
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

/// Documents of one algorithm by whether they have a signature, exact copies counted one by one. Sums over any parts of the corpus
/// add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Tally {
    /// With a signature.
    pub signed: u64,
    /// Without one, by reason.
    pub unsigned: BTreeMap<Cow<'static, str>, u64>,
    /// Worth knowing about.
    pub flagged: BTreeMap<Cow<'static, str>, u64>,
}

impl Tally {
    /// Counts what was emitted for a document that stands for so many.
    pub fn add(&mut self, out: &Signatures, documents: u64) {
        match out.reason() {
            Some(reason) => *self.unsigned.entry(Cow::Borrowed(reason)).or_default() += documents,
            None => self.signed += documents,
        }
        out.flags().iter().for_each(|flag| *self.flagged.entry(Cow::Borrowed(flag)).or_default() += documents);
    }

    /// Adds another part of the corpus.
    pub fn merge(&mut self, other: &Tally) {
        self.signed += other.signed;
        other.unsigned.iter().for_each(|(reason, count)| *self.unsigned.entry(reason.clone()).or_default() += count);
        other.flagged.iter().for_each(|(flag, count)| *self.flagged.entry(flag.clone()).or_default() += count);
    }
}
