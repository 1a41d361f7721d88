//! sign: the signatures of all chosen algorithms from one analysis of a document.

use super::recipe::Bound;
use crate::row::Signatures;
use crate::text::Analysis;

/// Signs one document with every algorithm; `each` gets the algorithm's number and what it emitted. The scratch is reused.
pub fn sign<E>(
    algorithms: &[Bound<'_>],
    document: &Analysis<'_>,
    scratch: &mut Signatures,
    mut each: impl FnMut(usize, &Signatures) -> Result<(), E>,
) -> Result<(), E> {
    for (number, bound) in algorithms.iter().enumerate() {
        scratch.clear();
        bound.signer.sign(document, scratch);
        each(number, scratch)?;
    }
    Ok(())
}
