//! The set of shingles of a document: windows of k words (of Han characters, for Han), or of k characters.

use crate::algorithm::params::{Kind, ParamSpec, Params};
use crate::text::Analysis;
use crate::text::shingle::{char_shingles, distinct, shingles};

/// The parameter `ngram`.
pub const NGRAM: ParamSpec = ParamSpec {
    name: "ngram",
    kind: Kind::Int(1, 1000),
    default: "5",
    help: "units in a shingle; a document with fewer units is one shingle",
};

/// The parameter `unit`.
pub const UNIT: ParamSpec = ParamSpec {
    name: "unit",
    kind: Kind::Choice(&["word", "char"]),
    default: "word",
    help: "word: words, and single characters for Han; char: characters of the normalised text, spaces included",
};

/// Which shingles a document is cut into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shingling {
    /// Units in a shingle.
    pub ngram: usize,
    /// Characters instead of words.
    pub chars: bool,
}

impl Shingling {
    /// What a check takes where the member has no shingles of its own: five words, five characters for Han.
    pub const DEFAULT: Shingling = Shingling { ngram: 5, chars: false };

    /// From the parameters [`NGRAM`] and [`UNIT`].
    pub fn new(params: &Params) -> Shingling {
        Shingling { ngram: params.count("ngram"), chars: params.word("unit") == "char" }
    }

    /// Appends the hashes of the document's shingles in order, repeated ones as often as they occur.
    pub fn cut_all(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        if self.chars {
            char_shingles(document.text(), self.ngram, out);
        } else {
            shingles(document.tokens(), self.ngram, false, out);
        }
    }

    /// Appends the hashes of the document's distinct shingles, in ascending order; `out` is empty before.
    pub fn cut(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.cut_all(document, out);
        distinct(out);
    }
}
