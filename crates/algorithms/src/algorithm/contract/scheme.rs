//! Describes how a method builds signatures, and what a key shared by two documents means.

use super::banding::Banding;
use dupsift_core::row::{Row, RowShape, Score};

/// Holds the decisions that a signer makes once for all documents of a corpus. Start from [`SignatureScheme::new`].
#[derive(Clone, Debug)]
pub struct SignatureScheme {
    /// The shape of the rows.
    pub shape: RowShape,
    /// The meaning of a key that two documents share at the same position.
    pub shared_key: SharedKey,
    /// The rules that can find a pair, in the order of their bits in [`Pair::matched`](dupsift_core::row::Pair::matched). The names of the
    /// rules appear in the `matched_by` column.
    pub rules: &'static [&'static str],
    /// Two directed rules, as indices into `rules`. The two rules are swapped when the documents of a pair are swapped.
    pub opposite_rules: Option<[u32; 2]>,
    /// The score of two documents whose rows have equal keys, if equal keys make them duplicates.
    pub equal: Score,
    /// The approximate number of rows per document. The sizes of temporary files and filters depend on this number.
    pub rows_per_document: u64,
    /// The number of 8-byte words in the sketch that each document has in addition to its rows
    /// ([`Signatures::document_sketch`](dupsift_core::row::Signatures::document_sketch)). Windows provide these sketches in
    /// [`Pairs::sketches`](dupsift_core::row::Pairs::sketches). The number is 0 for methods that compare only rows.
    pub sketch_words: usize,
    /// The number of 8-byte words that an index keeps for each document ([`Signer::index_sketch`](super::Signer::index_sketch)) to rule out
    /// documents that share a key but cannot be a pair. The maximum is 28, so that the words fit in a row. If the number is 0, all
    /// documents that share a key are looked up.
    pub index_words: usize,
    /// The growth of the number of comparisons with the size of the corpus.
    pub growth: Growth,
    /// Whether rows with the same key are compared by [`Pairs::compare_nearest`](dupsift_core::row::Pairs::compare_nearest). If so, an
    /// index looks up only documents that are near a document of the batch.
    pub nearest: bool,
    /// Whether the distance of a candidate ranks it. If so, the check verifies only the nearest candidates of each document
    /// ([`nearest`](crate::steps::nearest)).
    pub ranked: bool,
    /// The number of signature bits that determine the probability of a chance collision. This number is written to run.json. `None` if
    /// pairs are compared.
    pub signature_bits: Option<u32>,
    /// The bands, if the method uses any.
    pub banding: Option<Banding>,
    /// Choices that the signer made for this corpus, such as the number of search tables. These choices are written to run.json.
    pub notes: Vec<String>,
    /// Describes the order and sketch of a row for `explain`, such as lengths and counts.
    pub describe_row: Option<fn(&Row<'_>) -> String>,
}

/// Defines the meaning of a key that two documents share at the same position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedKey {
    /// The documents are duplicates. A group of rows with equal keys represents all of its pairs, so the cost is linear in the number of
    /// rows.
    Duplicates,
    /// The documents are duplicates, and a second round with rows of this shape finds pairs whose keys differ slightly, for example by a
    /// small Hamming distance. Documents with equal keys are merged into classes first, so that rows with the same frequent key are not
    /// compared with each other. [`Signer::probes`](super::Signer::probes) emits the rows of the second round, and
    /// [`Signer::pairs`](super::Signer::pairs) compares them.
    DuplicatesAndProbes(RowShape),
    /// The shared key alone makes the documents candidates. Each position has one key per document, as in MinHash bands.
    Candidates,
    /// [`Signer::pairs`](super::Signer::pairs) compares the documents.
    Compared,
}

/// Describes how the number of comparisons grows with the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// The number grows approximately linearly.
    Linear,
    /// The growth depends on the words in the corpus, and may be quadratic.
    MayBeQuadratic {
        /// The alternative to use, such as `join=lsh`.
        instead: &'static str,
    },
    /// The number grows quadratically, because all documents are compared with each other.
    Quadratic {
        /// The minimum number of rows per document.
        rows: u64,
        /// An alternative that finds most pairs without this cost, such as `join=lsh`.
        instead: &'static str,
    },
}

impl SignatureScheme {
    /// Returns the scheme of a method that compares rows of this shape, with one rule named `equal`.
    pub fn new(shape: RowShape) -> SignatureScheme {
        SignatureScheme {
            shape,
            shared_key: SharedKey::Compared,
            rules: &["equal"],
            opposite_rules: None,
            equal: Score::EQUAL,
            rows_per_document: shape.positions.into(),
            sketch_words: 0,
            index_words: 0,
            growth: Growth::Linear,
            nearest: false,
            ranked: false,
            signature_bits: None,
            banding: None,
            notes: Vec::new(),
            describe_row: None,
        }
    }

    /// Returns the scheme of a method that computes one key of `bits` bits per document. Documents with equal keys are duplicates. Keys of
    /// up to 64 bits are stored in 64 bits, longer keys in 128.
    pub(crate) fn one_key(bits: u32) -> SignatureScheme {
        let shape = RowShape { key_bits: if bits > 64 { 128 } else { 64 }, ..RowShape::KEY64 };
        SignatureScheme { shared_key: SharedKey::Duplicates, signature_bits: Some(bits), ..SignatureScheme::new(shape) }
    }

    /// Returns whether two documents are a pair if and only if they share a key.
    pub fn is_equivalence(&self) -> bool {
        self.shared_key == SharedKey::Duplicates
    }

    /// Returns the shape of the rows of the second round, if there is one.
    pub fn probe_shape(&self) -> Option<RowShape> {
        match self.shared_key {
            SharedKey::DuplicatesAndProbes(shape) => Some(shape),
            _ => None,
        }
    }

    /// Returns the rule bits of a pair after its documents are swapped.
    #[inline]
    pub(crate) fn mirrored(&self, matched: u16) -> u16 {
        let Some([one, other]) = self.opposite_rules else { return matched };
        let differ = (matched >> one ^ matched >> other) & 1;
        matched ^ (differ << one | differ << other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opposite_rules_change_places() {
        let scheme = SignatureScheme::new(RowShape::KEY64);
        let directed = SignatureScheme { opposite_rules: Some([1, 2]), ..scheme.clone() };
        for (matched, mirrored) in [(0b000, 0b000), (0b001, 0b001), (0b010, 0b100), (0b101, 0b011), (0b110, 0b110)] {
            assert_eq!((scheme.mirrored(matched), directed.mirrored(matched)), (matched, mirrored));
            assert_eq!(directed.mirrored(mirrored | 1 << 15), matched | 1 << 15);
        }
    }
}
