//! Defines the pairs that grouping finds, their similarity, and their encoding for the shuffle.

use super::{Related, RelationKind, doc_width, number};

/// The similarity of two documents according to one method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The similarity, from 0 to 1; 1 for equal signatures.
    pub similarity: f32,
    /// The method's own distance, if the method defines one (for fingerprints, the number of bits that differ).
    pub distance: Option<f32>,
}

impl Score {
    /// The score of equal signatures, for a method without a distance.
    pub const EQUAL: Score = Score { similarity: 1.0, distance: None };
}

/// Two documents that a method reports as duplicates or, before verification, as a candidate pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The smaller document number.
    pub a: u64,
    /// The larger document number.
    pub b: u64,
    /// The similarity of the two documents.
    pub score: Score,
    /// A bit set of the method's rules that found the pair (see `SignatureScheme::rules`).
    pub matched: u16,
    /// The relation between the two documents, if the method classifies pairs.
    pub related: Option<Related>,
}

impl Pair {
    /// Creates a pair from two different documents, which may be given in either order.
    pub fn new(x: u64, y: u64, score: Score, matched: u16) -> Pair {
        Pair { a: x.min(y), b: x.max(y), score, matched, related: None }
    }

    /// Returns the pair with its similarity replaced.
    #[inline]
    pub fn with_similarity(self, similarity: f32) -> Pair {
        Pair { score: Score { similarity, ..self.score }, ..self }
    }

    /// Returns whether the two documents share a template, which makes them similar but not duplicates.
    pub fn is_template(&self) -> bool {
        self.related.is_some_and(|related| related.relation == RelationKind::Template)
    }

    /// Returns whether the title of one document refers to something that the other document is not about. In this case, neither document
    /// is removed in favor of the other.
    pub fn has_other_title(&self) -> bool {
        self.related.is_some_and(|related| related.other_title)
    }

    /// Merges two occurrences of a pair: keeps the better score and the rules of both occurrences.
    pub fn merge(self, other: Pair) -> Pair {
        let better = if other.score.similarity > self.score.similarity { other.score } else { self.score };
        Pair { score: better, matched: self.matched | other.matched, ..self }
    }
}

/// The encoding of a pair for the shuffle: comparing the bytes compares the document numbers (a, b).
#[derive(Clone, Copy, Debug)]
pub struct PairLayout {
    doc_width: usize,
    has_relation: bool,
}

impl PairLayout {
    /// Returns the layout for a corpus with this many rows.
    pub fn new(documents: u64) -> PairLayout {
        PairLayout { doc_width: doc_width(documents), has_relation: false }
    }

    /// Returns whether pairs include their relation.
    pub fn has_relation(self) -> bool {
        self.has_relation
    }

    /// Returns the layout for pairs that include their relation.
    pub fn with_relation(self) -> PairLayout {
        PairLayout { has_relation: true, ..self }
    }

    /// Returns the number of bytes in a pair.
    pub fn width(&self) -> usize {
        self.group_width() + 10 + if self.has_relation { Related::WIDTH } else { 0 }
    }

    /// Returns the number of bytes at the beginning that identify the pair: the bytes of both document numbers.
    pub fn group_width(&self) -> usize {
        2 * self.doc_width
    }

    /// Appends the bytes of a pair.
    #[inline]
    pub fn encode(&self, pair: &Pair, out: &mut Vec<u8>) {
        out.extend_from_slice(&pair.a.to_be_bytes()[8 - self.doc_width..]);
        out.extend_from_slice(&pair.b.to_be_bytes()[8 - self.doc_width..]);
        out.extend_from_slice(&pair.matched.to_be_bytes());
        out.extend_from_slice(&pair.score.similarity.to_be_bytes());
        out.extend_from_slice(&pair.score.distance.unwrap_or(f32::NAN).to_be_bytes());
        if self.has_relation {
            Related::encode(pair.related, out);
        }
    }

    /// Decodes a pair.
    #[inline]
    pub fn decode(&self, bytes: &[u8]) -> Pair {
        let (a, rest) = bytes.split_at(self.doc_width);
        let (b, rest) = rest.split_at(self.doc_width);
        let float = |at: usize| f32::from_bits(number(&rest[at..at + 4]) as u32);
        let distance = float(6);
        Pair {
            a: number(a),
            b: number(b),
            matched: number(&rest[..2]) as u16,
            score: Score { similarity: float(2), distance: (!distance.is_nan()).then_some(distance) },
            related: if self.has_relation { Related::decode(&rest[10..]) } else { None },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Why;

    #[test]
    fn pairs_survive_the_trip() {
        let related = Related { relation: RelationKind::Template, why: Why::Near, next_best: 0.5, other_title: false };
        for (layout, related) in [(PairLayout::new(100), None), (PairLayout::new(100).with_relation(), Some(related))] {
            for distance in [None, Some(3.0)] {
                let pair = Pair { related, ..Pair::new(9, 4, Score { similarity: 0.75, distance }, 5) };
                let mut out = Vec::new();
                layout.encode(&pair, &mut out);
                assert_eq!((out.len(), layout.decode(&out)), (layout.width(), pair));
                assert_eq!((pair.a, pair.b, pair.is_template()), (4, 9, related.is_some()));
            }
        }
    }
}
