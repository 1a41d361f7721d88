//! Implements the prefix filter of an exact cosine join (Bayardo, Ma, Srikant 2007; docs/methods/common.md).
//!
//! The terms of every document are sorted in the same order, rarest first. A document is added to the lists of its leading terms. A term is
//! leading if the rest of the vector, from this term on, is long enough to reach the threshold. If the first shared term of two vectors
//! with length 1 is the i-th term of one vector and the j-th term of the other, their cosine is at most rest(i) * rest'(j). So a pair that
//! reaches the threshold is found in the list of its first shared term.
//!
//! ```text
//! weights 3 3 1 1, length sqrt(20), threshold 0.9:  rest 1, 0.74 ..  -> one list
//! ```

use dupsift_core::row::Signatures;

/// Holds a term in a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    /// The hash of the term.
    pub hash: u64,
    /// The weight in the document, above 0.
    pub weight: f64,
    /// The number of documents in the corpus that contain the term, at least 1.
    pub df: u64,
}

/// Sorts the terms of a document into the order shared by all documents: by document frequency, rarest first, then by hash.
pub(crate) fn rare_first(terms: &mut Vec<Term>) {
    rare_first_by(terms, |term| *term);
}

/// Like `rare_first`, but sorts any items that contain a term.
pub(crate) fn rare_first_by<T: Copy>(terms: &mut Vec<T>, of: impl Fn(&T) -> Term) {
    /// The number of bits for a term's position. `DF` is the number of bits for the document frequency, and `HASH` is the number of bits
    /// for the beginning of the hash. If all three are packed into one number, sorting takes a third of the time.
    const PLACE: u32 = 12;
    const DF: u32 = 24;
    const HASH: u32 = u64::BITS - DF - PLACE;
    if terms.len() <= 1 << PLACE && terms.iter().all(|term| of(term).df < 1 << DF) {
        let key = |(place, term): (usize, &T)| {
            let term = of(term);
            term.df << (HASH + PLACE) | term.hash >> (u64::BITS - HASH) << PLACE | place as u64
        };
        let mut keys: Vec<u64> = terms.iter().enumerate().map(key).collect();
        keys.sort_unstable();
        *terms = keys.iter().map(|key| terms[(key & ((1 << PLACE) - 1)) as usize]).collect();
    }
    // Sorts values that do not fit in one packed number, and hashes that begin with the same bits.
    let order = |term: &T| (of(term).df, of(term).hash);
    if !terms.is_sorted_by_key(order) {
        terms.sort_unstable_by_key(order);
    }
}

/// Returns one length per term, followed by a 0: the length of the vector from this term on, as a share of the total length. The list is
/// empty for a vector with length 0.
pub(crate) fn rests(terms: &[Term]) -> Vec<f64> {
    let mut rests = vec![0.0; terms.len() + 1];
    for (at, term) in terms.iter().enumerate().rev() {
        rests[at] = rests[at + 1] + term.weight * term.weight;
    }
    let total = rests[0];
    if total <= 0.0 {
        return Vec::new();
    }
    rests.iter_mut().for_each(|rest| *rest = (*rest / total).sqrt());
    rests
}

/// Returns a value slightly below a threshold, for bounds that were rounded.
pub(crate) fn below(threshold: f64) -> f64 {
    threshold - 1e-9
}

/// Returns the number of lists (at least one) to which a document with these [`rests`] is added, if pairs must have at least this cosine.
pub(crate) fn leading(rests: &[f64], threshold: f64) -> usize {
    let terms = rests.len().saturating_sub(1);
    rests[..terms].partition_point(|&rest| rest >= below(threshold))
}

/// Rounds a number up to Float32 precision, for a bound that must not be too low.
pub(crate) fn rounded_up(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) < value { near.next_up() } else { near }
}

/// The number of bytes in the sketch of a row. The sketch holds the weight of the term and the length of the rest of the vector after it,
/// both Float32, and the hash of the previous term.
pub(crate) const SKETCH: usize = 16;

/// Emits a row for each leading term of a vector with length 1. If document frequencies were counted, a term that occurs in a single
/// document gets no row, because it cannot match another document. A document that shares no term with another document still gets a row,
/// so that it counts as signed.
pub(crate) fn push_leading(terms: &[Term], threshold: f64, counted: bool, out: &mut Signatures) {
    let rests = rests(terms);
    let (mut before, mut pushed) = (0, false);
    let last = leading(&rests, threshold).saturating_sub(1);
    for (at, term) in terms[..=last].iter().enumerate() {
        if !counted || term.df > 1 || (at == last && !pushed) {
            let mut sketch = [0; SKETCH];
            sketch[..4].copy_from_slice(&rounded_up(term.weight).to_le_bytes());
            sketch[4..8].copy_from_slice(&rounded_up(rests[at + 1]).to_le_bytes());
            sketch[8..].copy_from_slice(&u64::to_le_bytes(before));
            out.push(0, term.hash.into(), 0, &sketch);
            pushed = true;
        }
        before = term.hash;
    }
}

/// Returns a bound on the cosine of two documents whose rows share a term, if the bound reaches the threshold. Pairs that also share the
/// previous term were judged in the list of that term. For the first shared term of a pair, the cosine is at most the product of the two
/// weights plus the product of the two rests. Every pair is found at its first shared term.
pub(crate) fn bound_of_rows(a: &[u8], b: &[u8], threshold: f64) -> Option<f64> {
    if a[8..16] == b[8..16] && a[8..16] != [0; 8] {
        return None;
    }
    let float = |bytes: &[u8]| f64::from(f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let bound = float(a) * float(b) + float(&a[4..]) * float(&b[4..]);
    (bound >= below(threshold)).then_some(bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::hash::splitmix64;

    fn vector(seed: u64, terms: u64) -> Vec<Term> {
        let mut all: Vec<Term> = (0..terms)
            .filter(|&n| splitmix64(seed, n).is_multiple_of(3))
            .map(|n| Term { hash: n, weight: 1.0 + (splitmix64(seed, n + 99) % 50) as f64, df: 1 + n % 7 })
            .collect();
        rare_first(&mut all);
        all
    }

    #[test]
    fn every_pair_above_the_threshold_shares_a_leading_term() {
        let vectors: Vec<Vec<Term>> = (0..120).map(|seed| vector(seed, 12)).filter(|v| !v.is_empty()).collect();
        let cosine = |a: &[Term], b: &[Term]| {
            let square = |v: &[Term]| v.iter().map(|term| term.weight * term.weight).sum::<f64>();
            let of = |hash: u64| b.iter().find(|other| other.hash == hash).map_or(0.0, |other| other.weight);
            a.iter().map(|term| term.weight * of(term.hash)).sum::<f64>() / (square(a) * square(b)).sqrt()
        };
        for threshold in [0.3, 0.6, 0.9] {
            let (mut near, mut lists) = (0, 0);
            for (at, a) in vectors.iter().enumerate() {
                let leading_a = &a[..leading(&rests(a), threshold)];
                assert!(!leading_a.is_empty());
                lists += leading_a.len();
                for b in &vectors[..at] {
                    let leading_b = &b[..leading(&rests(b), threshold)];
                    if cosine(a, b) >= threshold {
                        near += 1;
                        assert!(leading_a.iter().any(|x| leading_b.iter().any(|y| x.hash == y.hash)));
                    }
                }
            }
            let all: usize = vectors.iter().map(Vec::len).sum();
            assert!(near > 10 && lists < all, "{near} pairs, {lists} of {all} terms");
        }
    }

    #[test]
    fn rare_terms_come_first_whatever_a_number_holds() {
        let few = |n: u64| splitmix64(1, n);
        // The cases are hashes with the same first bits, frequencies with more than 24 bits, and positions that do not fit in a packed
        // number.
        let alike = |n: u64| splitmix64(2, n) >> 40;
        for (terms, hash, df) in [
            (300, &few as &dyn Fn(u64) -> u64, 40),
            (300, &alike, 3),
            (300, &few, 1 << 40),
            (5000, &few, 1 << 30),
            (5000, &few, 9),
            (4096, &few, 1 << 24),
            (1, &few, 1),
            (0, &few, 1),
        ] {
            let term = |n| Term { hash: hash(n), weight: n as f64 + 1.0, df: 1 + splitmix64(3, n) % df };
            let mut terms: Vec<Term> = (0..terms).map(term).collect();
            let mut sorted = terms.clone();
            sorted.sort_by_key(|term| (term.df, term.hash));
            rare_first(&mut terms);
            assert!(terms == sorted, "{} terms, {df}", terms.len());
        }
    }

    #[test]
    fn bounds_are_never_too_low() {
        for n in 0..1000 {
            let value = splitmix64(1, n) as f64 / u64::MAX as f64;
            assert!(f64::from(rounded_up(value)) >= value && f64::from(rounded_up(value)) < value + 1e-6);
        }
        assert!(rests(&[]).is_empty());
    }
}
