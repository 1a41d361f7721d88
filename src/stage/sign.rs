//! sign: the signatures of all chosen algorithms from one analysis of a document.

use super::bound::Bound;
use crate::row::Signatures;
use crate::text::Analysis;

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
