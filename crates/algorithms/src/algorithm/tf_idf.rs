//! `tf_idf` (A2): compares the six words with the highest TF IDF in the BM25 variant.
//!
//! Source: Zelenkov, Segalovich 2007, TF*IDF (recall 0.54, precision 0.96 in that study). Cost: a first pass for the counts, O(words) and
//! one lookup per distinct word, one row per document.
//!
//! ```text
//! weight = TF IDF,   TF = tf / (2 (0.25 + 0.75 dl / avgdl) + tf),   IDF = ln((N - df + 0.5) / (df + 0.5))
//! N = 10, df = 1, avgdl = dl, tf = 2:  TF = 2 / (2 + 2) = 0.5,  IDF = ln(9.5 / 1.5) = 1.8458,  weight 0.9229
//! ```
//!
//! Limitations: IDF is negative for words in more than half of the documents, and a larger TF then lowers their rank. This is intended, so
//! that very common words rank last. The weights depend on N and the mean length, so signatures are comparable only within one statistics
//! snapshot.

use super::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use super::kit::bm25::{B, Bm25, K};
use super::kit::digest::{DIGEST, StringKey, VERIFY_STRING};
use super::kit::top_words::{Heaviest, distinct_words};
use crate::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_core::row::Reason;
use dupsift_text::Analysis;

/// Implements the `tf_idf` algorithm.
pub(crate) struct TfIdf;

const FACTS: Facts = Facts {
    name: "tf_idf",
    aliases: &["A2"],
    source: "Zelenkov, Segalovich 2007, TF*IDF",
    summary: "Two documents are duplicates if their words with the highest TF-IDF are the same.",
    when_not_to_use: "if copies differ in typos or numbers, because rare words have the highest weight, and a single different word changes the signature",
    inputs: "text, word counts",
    params: &[
        ParamSpec { name: "words", kind: Kind::Int(1, 1000), default: "6", help: "number of words in the signature" },
        ParamSpec {
            name: "min_distinct",
            kind: Kind::Int(1, 1000),
            default: "6",
            help: "documents with fewer distinct words have no signature; the paper uses 1",
        },
        K,
        B,
        DIGEST,
        VERIFY_STRING,
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for TfIdf {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs::counted_words()
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(TfIdfSigner {
            words: params.count("words"),
            min_distinct: params.count("min_distinct"),
            tf: Bm25::new(params, corpus.stats),
            key: StringKey::new("tf_idf", params)?,
            stats: corpus.stats,
        }))
    }
}

struct TfIdfSigner<'c> {
    words: usize,
    min_distinct: usize,
    tf: Bm25,
    key: StringKey,
    stats: &'c CorpusStats,
}

impl TfIdfSigner<'_> {
    /// Returns the weight of a word with this IDF.
    fn weight(&self, tf: u32, idf: f64, length: usize) -> f64 {
        self.tf.tf(tf, length) * idf
    }

    /// Returns the heaviest words. Words are weighted in descending order of tf. Among words with the same tf, a word in a single document
    /// weighs the most. If even that weight is too low, the remaining words (usually all words that occur once) are not looked up.
    fn heaviest<'t>(&self, document: &'t Analysis<'_>) -> Heaviest<'t> {
        /// The number of words that are looked up before the bound is checked again.
        const AT_ONCE: usize = 32;
        let length = document.word_count();
        let most = self.stats.idf_bm25(1);
        let mut heaviest = Heaviest::new(self.words);
        if document.has_frequencies() {
            let words = document.counted().iter().zip(document.frequencies()).filter(|(counted, _)| !counted.word.stop);
            for (counted, frequency) in words {
                heaviest.push(self.weight(counted.tf, self.stats.idf_bm25(frequency.df), length), document, counted);
            }
            return heaviest;
        }
        let mut words = distinct_words(document);
        // Most words occur once, and need not be sorted.
        let mut often = 0;
        for at in 0..words.len() {
            if words[at].tf > 1 {
                words.swap(at, often);
                often += 1;
            }
        }
        words[..often].sort_unstable_by_key(|counted| std::cmp::Reverse(counted.tf));
        for now in words.chunks(AT_ONCE) {
            // The value is slightly above the bound, because the bound was rounded.
            let bound = self.weight(now[0].tf, most, length) * (1.0 + 1e-9);
            if most > 0.0 && heaviest.lightest().is_some_and(|lightest| bound < lightest) {
                break;
            }
            let mut next = now.iter();
            self.stats.df_of_many(now.iter().map(|counted| counted.word.hash), |df| {
                if let Some(counted) = next.next() {
                    heaviest.push(self.weight(counted.tf, self.stats.idf_bm25(df), length), document, counted);
                }
            });
        }
        heaviest
    }

    /// Returns the heaviest words in alphabetical order, joined with single spaces.
    fn string(&self, document: &Analysis<'_>) -> Result<String, Reason> {
        let distinct = document.counted().iter().filter(|counted| !counted.word.stop).count();
        if distinct == 0 {
            return Err("no words");
        }
        if distinct < self.min_distinct {
            return Err("fewer distinct words than min_distinct");
        }
        Ok(self.heaviest(document).join())
    }
}

impl KeySigner for TfIdfSigner<'_> {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        Ok(self.key.of(&self.string(document)?).into())
    }

    fn words(&self, document: &Analysis<'_>) -> Option<String> {
        self.string(document).ok()
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(self.key.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{TermTable, TermTableWriter};
    use crate::testing::examples::{params, sign_with};
    use dupsift_core::hash::{crc32, hash64};

    /// Returns the statistics of ten documents with an average length of four words. `words` lists the document frequencies.
    fn stats(folder: &std::path::Path, words: &[(&str, u64)]) -> CorpusStats {
        let mut terms: Vec<(u64, u64)> = words.iter().map(|(word, df)| (hash64(word.as_bytes()), *df)).collect();
        terms.sort_unstable();
        let mut writer = TermTableWriter::create(&folder.join("terms")).unwrap();
        terms.iter().for_each(|&(term, df)| writer.push(term, df, df).unwrap());
        CorpusStats::new(10, 40, 1, writer.finish().unwrap(), TermTable::empty())
    }

    #[test]
    fn worked_weights_and_signature() {
        let folder = tempfile::tempdir().unwrap();
        let words = [("кот", 9), ("окно", 1), ("птица", 2), ("и", 10)];
        let stats = stats(folder.path(), &words);
        let corpus = Corpus::new(10, &stats);
        let signer = |typed: &str| TfIdf.signer(&params(&TfIdf, typed), &corpus).unwrap();

        let plain = TfIdfSigner {
            words: 2,
            min_distinct: 1,
            tf: Bm25::new(&params(&TfIdf, ""), &stats),
            key: StringKey::new("tf_idf", &params(&TfIdf, "")).unwrap(),
            stats: &stats,
        };
        assert!(
            (plain.weight(2, stats.idf_bm25(stats.df(hash64("окно".as_bytes()))), 4) - 0.5 * (9.5f64 / 1.5).ln()).abs()
                < 1e-12
        );
        // If a word is in more than half of the documents, more occurrences lower its weight.
        let common = stats.idf_bm25(stats.df(hash64("кот".as_bytes())));
        assert!(plain.weight(3, common, 4) < plain.weight(1, common, 4));

        // Words that are not looked up would not have been chosen.
        let pipeline = dupsift_text::Pipeline::new(&dupsift_text::TextOptions::default()).unwrap();
        let text: String = (0..400u32).map(|n| format!("слово{} ", n * n % 151)).collect();
        let document = pipeline.analyse(&text);
        let words = distinct_words(&document);
        for count in [1, 2, 6, 40, 500] {
            let plain = TfIdfSigner { words: count, ..TfIdfSigner { stats: &stats, ..plain } };
            let mut all = Heaviest::new(count);
            for one in &words {
                let idf = stats.idf_bm25(stats.df(one.word.hash));
                all.push(plain.weight(one.tf, idf, document.words().len()), &document, one);
            }
            assert_eq!(plain.heaviest(&document).join(), all.join());
        }

        // The signature holds the two rarest words, in alphabetical order.
        let rows = sign_with(signer("words=2,min_distinct=1,digest=crc32").as_ref(), "Кот и птица и окно").unwrap();
        assert_eq!(rows[0].1, u128::from(crc32("окно птица".as_bytes())));
        let too_few = sign_with(signer("").as_ref(), "Кот и птица и окно");
        assert_eq!(too_few, Err("fewer distinct words than min_distinct"));
    }
}
