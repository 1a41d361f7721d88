//! Defines the units of a document's vector: words or, in Han text, single characters or pairs of adjacent characters.

use crate::algorithm::contract::FeatureKind;
use crate::corpus::{CorpusStats, TermTable};
use dupsift_core::hash::{combine, hash64};
use dupsift_text::{Analysis, Frequency, Token};

/// The names of the kinds of units, as parameter values.
pub(crate) const UNITS: &[&str] = &["word", "hanzi", "han_bigram"];

/// Defines a kind of unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    /// The name of the kind, one of [`UNITS`].
    pub name: &'static str,
    /// Whether only units of Han characters count.
    pub han_only: bool,
}

/// Holds a distinct unit in a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    /// The hash of the unit.
    pub hash: u64,
    /// The number of occurrences in the document.
    pub count: u32,
    /// The frequencies of the unit in the corpus.
    pub frequency: Frequency,
}

/// Separates the hashes of units from the hashes of other features. Each kind of unit adds its own salt.
const SALT: u64 = 0x6861_6E7A_6920_7531;

impl Units {
    /// Returns the units whose document frequencies the first pass must count. Returns `None` for words, which are counted anyway.
    pub(crate) fn features(self) -> Option<Box<dyn FeatureKind>> {
        (!self.are_words()).then(|| Box::new(self) as Box<dyn FeatureKind>)
    }

    /// Returns whether the units are words.
    pub(crate) fn are_words(self) -> bool {
        self.name == "word" && !self.han_only
    }

    /// Returns the table with the units of all documents.
    pub(crate) fn table(self, stats: &CorpusStats) -> &TermTable {
        if self.are_words() { &stats.words } else { &stats.features }
    }

    /// Appends the distinct units of a document, each as the value that `of` returns for it.
    pub(crate) fn count<T>(
        self,
        document: &Analysis<'_>,
        stats: &CorpusStats,
        of: impl Fn(Unit) -> T,
        out: &mut Vec<T>,
    ) {
        if self.are_words() {
            let counted = document.counted().iter().zip(document.frequencies());
            let counted = counted.filter(|(counted, _)| !counted.word.stop);
            out.extend(counted.map(|(one, &frequency)| of(Unit { hash: one.word.hash, count: one.tf, frequency })));
            return;
        }
        let mut hashes = Vec::new();
        self.hashes(document, &mut hashes);
        hashes.sort_unstable();
        let mut units: Vec<Unit> = hashes
            .chunk_by(|a, b| a == b)
            .map(|run| Unit { hash: run[0], count: run.len() as u32, frequency: Frequency::UNKNOWN })
            .collect();
        hashes.dedup();
        let mut next = units.iter_mut();
        stats.features_of_many(hashes.iter().copied(), |frequency| {
            if let Some(unit) = next.next() {
                unit.frequency = frequency;
            }
        });
        out.extend(units.into_iter().map(of));
    }
}

impl FeatureKind for Units {
    fn name(&self) -> String {
        format!("units:{}{}", self.name, if self.han_only { ":han_only" } else { "" })
    }

    fn hashes(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let from = out.len();
        match self.name {
            "word" => out.extend(document.words().iter().filter(|word| word.han && !word.stop).map(|word| word.hash)),
            "hanzi" => {
                let tokens = document.tokens().iter().filter(|token| token.han || !self.han_only);
                out.extend(tokens.map(|token| token.hash));
            }
            _ => {
                let runs = document.tokens().chunk_by(|a, b| a.han == b.han);
                runs.filter(|run| run[0].han || !self.han_only).for_each(|run| pairs_of_han(run, out));
            }
        }
        let salt = combine(SALT, hash64(self.name.as_bytes()) ^ u64::from(self.han_only));
        out[from..].iter_mut().for_each(|unit| *unit = combine(salt, *unit));
    }
}

/// Appends words and, in Han text, each pair of adjacent characters. A character without Han neighbors is appended
/// alone.
pub(crate) fn pairs_of_han(tokens: &[Token], out: &mut Vec<u64>) {
    for run in tokens.chunk_by(|a, b| a.han == b.han && (b.joined || !b.han)) {
        match run {
            [first, _, ..] if first.han => {
                out.extend(run.windows(2).map(|pair| combine(pair[0].hash, pair[1].hash)));
            }
            _ => out.extend(run.iter().map(|token| token.hash)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn units_of_a_mixed_text() {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let document = pipeline.analyse("网页网页 seo 页 seo");
        let weights = |name, han_only| -> Vec<f64> {
            let mut all = Vec::new();
            Units { name, han_only }.count(&document, &CorpusStats::none(), |unit| f64::from(unit.count), &mut all);
            all.sort_by(f64::total_cmp);
            all
        };
        // 网 2, 页 3, seo 2.
        assert_eq!(weights("hanzi", false), [2.0, 2.0, 3.0]);
        assert_eq!(weights("hanzi", true), [2.0, 3.0]);
        // 网页 2, 页网 1, 页 1, seo 2.
        assert_eq!(weights("han_bigram", false), [1.0, 1.0, 2.0, 2.0]);
        assert_eq!(weights("han_bigram", true), [1.0, 1.0, 2.0]);
        // No pair crosses punctuation, a space or the end of a sentence.
        let pairs = |text: &str| {
            let mut out = Vec::new();
            pairs_of_han(pipeline.analyse(text).tokens(), &mut out);
            out
        };
        let [whole, cut] = ["网页搜索", "网。页,搜!索"].map(pairs);
        assert_eq!((whole.len(), cut.len()), (3, 4));
        assert_eq!(pairs("网页, 搜索"), [whole[0], whole[2]]);
        assert_eq!(pairs("网页 seo搜索").len(), 3);
        assert!(Units { name: "word", han_only: false }.features().is_none());
        assert_eq!(weights("word", true).iter().sum::<f64>(), weights("word", false).iter().sum::<f64>() - 2.0);
    }
}
