//! How the signatures of a method are built, and what it means that two documents share a key.

use super::banding::Banding;
use dupsift_core::row::{Row, RowShape, Score};

/// What a signer decides once for a corpus and all its documents. Start from [`SignatureScheme::new`].
#[derive(Clone, Debug)]
pub struct SignatureScheme {
    /// The shape of the rows.
    pub shape: RowShape,
    /// What it means that two documents share a key at a position.
    pub shared_key: SharedKey,
    /// The rules that can find a pair, by bit of [`Pair::matched`](dupsift_core::row::Pair::matched). The column `matched_by` has
    /// their names.
    pub rules: &'static [&'static str],
    /// Two rules with a direction, by place in `rules`: they change places if the documents of a pair do.
    pub opposite_rules: Option<[u32; 2]>,
    /// The score of two documents whose rows have equal keys, if that makes them duplicates.
    pub equal: Score,
    /// Approximate rows of a document. Temporary files and filters are sized by it.
    pub rows_per_document: u64,
    /// Words of 8 bytes of the sketch that each document has besides its rows
    /// ([`Signatures::document_sketch`](dupsift_core::row::Signatures::document_sketch)). Windows come with these sketches
    /// ([`Pairs::sketches`](dupsift_core::row::Pairs::sketches)); 0 for methods that judge by rows alone.
    pub sketch_words: usize,
    /// Words of 8 bytes that an index keeps of each document ([`Signer::index_sketch`](super::Signer::index_sketch)) to rule out
    /// documents that only share a key; at most 28, so that a row has room for them. 0 if all of these are looked up.
    pub index_words: usize,
    /// How the number of comparisons grows with the corpus.
    pub growth: Growth,
    /// Whether rows of a key are compared by [`Pairs::compare_nearest`](dupsift_core::row::Pairs::compare_nearest): an index then looks
    /// up only those of its documents that are near one of the batch.
    pub nearest: bool,
    /// Bits of the signature that chance collisions depend on, for run.json. `None` if pairs are judged.
    pub signature_bits: Option<u32>,
    /// The bands, for methods that have some.
    pub banding: Option<Banding>,
    /// What the signer decided for this corpus, such as the number of search tables, for run.json.
    pub notes: Vec<String>,
    /// Puts order and sketch of a row into words for `explain`: lengths, counts.
    pub describe_row: Option<fn(&Row<'_>) -> String>,
}

/// What it means that two documents share a key at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedKey {
    /// The documents are duplicates. A group of rows stands for all its pairs, and costs as much as its length.
    Duplicates,
    /// The documents are duplicates, and a second round of rows of this shape finds pairs whose keys differ a little, such as by a
    /// Hamming distance. Groups of equal keys become classes first, so that a frequent key is not compared with itself.
    /// [`Signer::probes`](super::Signer::probes) makes the rows of the second round, [`Signer::pairs`](super::Signer::pairs)
    /// compares them.
    DuplicatesAndProbes(RowShape),
    /// The documents are candidates because of this key alone; each position has one key of a document, as in the bands of MinHash.
    Candidates,
    /// The documents are compared by [`Signer::pairs`](super::Signer::pairs).
    Compared,
}

/// How the number of comparisons grows with the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// About linearly.
    Linear,
    /// The words of the corpus decide; it may be with the square.
    MayBeQuadratic {
        /// What to use instead, such as `join=lsh`.
        instead: &'static str,
    },
    /// All documents are compared with all.
    Quadratic {
        /// Rows of a document, at least.
        rows: u64,
        /// What finds most pairs without that, such as `join=lsh`.
        instead: &'static str,
    },
}

impl SignatureScheme {
    /// Returns the scheme of a method that compares rows of this shape, by one rule named `equal`.
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
            signature_bits: None,
            banding: None,
            notes: Vec::new(),
            describe_row: None,
        }
    }

    /// Returns the scheme of a method with one key of so many bits per document, where equal keys are duplicates. Keys of up to 64
    /// bits are stored in 64 bits, others in 128.
    pub fn one_key(bits: u32) -> SignatureScheme {
        let shape = RowShape { key_bits: if bits > 64 { 128 } else { 64 }, ..RowShape::KEY64 };
        SignatureScheme { shared_key: SharedKey::Duplicates, signature_bits: Some(bits), ..SignatureScheme::new(shape) }
    }

    /// Returns whether a shared key alone makes duplicates and no other pair exists.
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

    /// Returns the rules that found a pair, as bits, for the same pair with its documents swapped.
    #[inline]
    pub fn mirrored(&self, matched: u16) -> u16 {
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
