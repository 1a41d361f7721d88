//! Computes the keys that represent a document in the filter. A document has one key, or one key per band if the algorithm has several
//! bands. A document counts as seen before if any of its keys was seen before.
//!
//! All bands share one filter, but each band has its own keys. For the same probability of error, a shared filter needs as many counters as
//! one filter per band (LSHBloom: Khan and others 2024). If p is the probability for one key, a new document with k keys is flagged with
//! probability `1 - (1 - p)^k`. The filter is therefore built for `p = 1 - (1 - rate)^(1/k)`.

use bytesize::ByteSize;

use dupsift_core::error::{Error, Result};
use dupsift_core::hash::combine;
use dupsift_core::row::{Reason, Signatures};
use dupsift_spill::bloom::{CountingBloom, rate_of_any, rate_of_each};
use dupsift_text::Analysis;

/// Writes the keys of a document to `keys`, one for each row position. The value 0 marks a missing key and is never used as a key. A
/// document without a signature, such as one that is too short, is identified by the bytes of its text, because its copies are duplicates
/// for every algorithm. A document that consists only of white space has no key.
pub(super) fn keys_of(
    document: &Analysis<'_>,
    signatures: &Signatures,
    keys: &mut [u64],
) -> std::result::Result<(), Reason> {
    let both = |key: u64, halves: u128| combine(combine(key, (halves >> 64) as u64), halves as u64).max(1);
    keys.fill(0);
    match signatures.reason() {
        None if keys.len() == 1 => keys[0] = signatures.rows(0).fold(1, |key, row| both(key, row.key)),
        None => {
            for row in signatures.rows(0) {
                keys[row.position as usize] = both(combine(3, row.position.into()), row.key);
            }
        }
        Some(reason) if document.has_no_copies() => return Err(reason),
        Some(_) => keys[0] = both(2, document.copy_hash()),
    }
    Ok(())
}

/// Returns how many times a document with these keys was seen before (at most 15), or `None` if the document has no key.
pub(super) fn seen(filter: &CountingBloom, keys: &[u64]) -> Option<u8> {
    there(keys).map(|key| filter.count(key)).max()
}

/// Inserts the keys of a document.
pub(super) fn insert(filter: &CountingBloom, keys: &[u64]) {
    there(keys).for_each(|key| filter.insert(key));
}

/// Removes the keys of a document. If a key is not in the filter, nothing is removed and the result is false.
pub(super) fn remove(filter: &CountingBloom, keys: &[u64]) -> bool {
    let all = there(keys).all(|key| filter.count(key) > 0);
    all && there(keys).filter(|&key| !filter.remove(key)).count() == 0
}

fn there(keys: &[u64]) -> impl Iterator<Item = u64> {
    keys.iter().copied().filter(|&key| key > 0)
}

/// Holds the number of keys per document and the false-positive rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizing {
    /// The number of keys per document.
    pub each: u64,
    /// The share of new documents that may be flagged by chance.
    pub rate: f64,
}

impl Sizing {
    /// Returns the false-positive rate for one key.
    pub(crate) fn of_one(self) -> f64 {
        rate_of_each(self.rate, self.each)
    }

    /// Returns the size in bytes of a filter for `documents` documents.
    pub(crate) fn bytes_for(self, documents: u64) -> u64 {
        CountingBloom::bytes_for(documents.saturating_mul(self.each), self.of_one())
    }

    /// Returns the number of documents for which `bytes` bytes are enough.
    pub(crate) fn documents_within(self, bytes: u64) -> u64 {
        CountingBloom::keys_within(bytes, self.of_one()) / self.each
    }

    /// Creates an empty filter for `documents` documents that takes at most `most_bytes` bytes.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the system does not have enough memory for the filter.
    pub(crate) fn filter(self, documents: u64, most_bytes: usize) -> Result<CountingBloom> {
        CountingBloom::try_new(documents.saturating_mul(self.each), self.of_one(), most_bytes).ok_or_else(|| {
            let bytes = self.bytes_for(documents).min(most_bytes as u64);
            let why = format!("not enough memory for a filter of {}; use fewer keys", ByteSize(bytes));
            Error::wrong_value("keys", documents, why)
        })
    }

    /// Returns the share of new documents that are flagged by chance after `documents` documents were inserted.
    pub(crate) fn false_positives(self, filter: &CountingBloom, documents: u64) -> f64 {
        rate_of_any(filter.false_positives(documents.saturating_mul(self.each)), self.each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_keys_are_as_often_wrong_as_one_would_be() {
        let (one, many) = (Sizing { each: 1, rate: 1e-3 }, Sizing { each: 14, rate: 1e-3 });
        assert!((one.of_one() - 1e-3).abs() < 1e-18 && (many.of_one() - 7.146e-5).abs() < 1e-8, "{}", many.of_one());
        assert_eq!(one.bytes_for(1_000_000), CountingBloom::bytes_for(1_000_000, 1e-3));
        // Each of the 14 keys takes 19.9 half-byte counters.
        assert!((139_000_000..139_300_000).contains(&many.bytes_for(1_000_000)), "{}", many.bytes_for(1_000_000));
        assert!((999_990..=1_000_000).contains(&many.documents_within(many.bytes_for(1_000_000))));
        for sizing in [one, many] {
            let filter = sizing.filter(100_000, usize::MAX).unwrap();
            assert!((sizing.false_positives(&filter, 100_000) / 1e-3 - 1.0).abs() < 0.02);
        }
    }

    #[test]
    fn one_key_that_came_before_is_enough_and_all_go_together() {
        let filter = Sizing { each: 3, rate: 1e-6 }.filter(1_000, usize::MAX).unwrap();
        insert(&filter, &[11, 12, 0]);
        assert_eq!(
            [seen(&filter, &[0; 3]), seen(&filter, &[1, 12, 2]), seen(&filter, &[1, 2, 0])],
            [None, Some(1), Some(0)]
        );
        assert!(!remove(&filter, &[11, 12, 13]) && remove(&filter, &[11, 12, 0]));
        assert_eq!(seen(&filter, &[11, 12, 0]), Some(0));
    }
}
