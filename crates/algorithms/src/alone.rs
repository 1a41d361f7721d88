//! Computes the signature of one text or the similarity of two texts without a corpus, with the same code as a run.

use std::sync::OnceLock;

use crate::algorithm::Corpus;
use crate::corpus::CorpusStats;
use crate::judge::Judge;
use crate::recipe::Recipe;
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{Reason, Signatures};
use dupsift_text::{Pipeline, TextOptions};

/// Holds the output of an algorithm for one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The rows that are matched with the rows of other texts; empty if the text has no signature.
    pub rows: Vec<SignatureRow>,
    /// The sketch that filters candidate pairs, if the algorithm has one.
    pub sketch: Vec<u64>,
    /// The reason why the text has no signature, if it has none.
    pub reason: Option<Reason>,
}

/// Holds one row of a signature. Texts that share a position and a key are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureRow {
    /// The number of the table, band or rule that the key belongs to.
    pub position: u32,
    /// The key.
    pub key: u128,
    /// The value by which rows with the same key are sorted, such as a length, or 0 if they are not sorted.
    pub order: u32,
    /// The sketch of the row.
    pub sketch: Vec<u8>,
}

/// Returns the signature that an algorithm computes for a text. `algorithm` has the syntax of `--algorithms`, such as `simhash` or
/// `minhash:bands=20,rows=5`.
///
/// # Errors
/// Returns [`Error::Usage`] for an unknown name or parameter, more than one algorithm, or an algorithm that needs a corpus.
pub fn sign(text: &str, algorithm: &str) -> Result<Signature> {
    let chosen = Recipe::parse_algorithms(algorithm)?;
    let [one] = chosen.as_slice() else {
        return Err(Error::usage(format!("{algorithm:?} lists {} algorithms; expected one", chosen.len())));
    };
    let none = CorpusStats::none();
    let corpus = Corpus::new(1, &none);
    if one.needs_stats().any() || one.algorithm.learner(&one.params, &corpus)?.is_some() {
        return Err(Error::usage(format!(
            "{}: its signatures depend on the corpus; use an algorithm that needs only one text, such as exact, minhash or simhash",
            one.label
        )));
    }
    let mut out = Signatures::default();
    one.algorithm.signer(&one.params, &corpus)?.sign(&pipeline()?.analyse(text), &mut out);
    let rows = out.rows(0).map(|row| SignatureRow {
        position: row.position,
        key: row.key,
        order: row.order,
        sketch: row.sketch.to_vec(),
    });
    Ok(Signature { rows: rows.collect(), sketch: out.sketch_of_document().to_vec(), reason: out.reason() })
}

/// Returns the similarity of two texts, from 0 to 1. The measure is `lcs` (2 LCS / (|a| + |b|) on characters), `words` (the same on words)
/// or `jaccard` (on shingles of five words, or of another size or unit, as in `jaccard:words3` or `jaccard:chars8`). Equal texts have
/// similarity 1; a text without words is not similar to any other text.
///
/// # Errors
/// Returns [`Error::Usage`] for an unknown measure, or for texts so long that comparing them would take more than about a second.
pub fn similarity(a: &str, b: &str, measure: &str) -> Result<f64> {
    let judge = Judge::measure(measure)?;
    let evidence = |text: &str| -> Result<Vec<u64>> {
        let mut out = Vec::new();
        judge.evidence(&pipeline()?.analyse(text), &mut out);
        Ok(out)
    };
    let similarity = judge
        .similarity(&evidence(a)?, &evidence(b)?)
        .map_err(|_| Error::usage(format!("the texts are too long for {measure}; use shorter texts, or jaccard")))?;
    Ok(similarity.unwrap_or(if a == b { 1.0 } else { 0.0 }))
}

fn pipeline() -> Result<&'static Pipeline> {
    static PIPELINE: OnceLock<Pipeline> = OnceLock::new();
    match PIPELINE.get() {
        Some(made) => Ok(made),
        None => Pipeline::new(&TextOptions::default()).map(|made| PIPELINE.get_or_init(|| made)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::ALGORITHMS;

    #[test]
    fn equal_texts_have_equal_signatures_and_no_text_has_none() {
        let mut signed = 0;
        for algorithm in ALGORITHMS {
            let text = "The cat sat on the mat. The dog lay beside it, and slept for three hours.";
            match sign(text, algorithm.name()) {
                Ok(signature) => {
                    signed += 1;
                    assert_eq!(signature, sign(text, algorithm.name()).unwrap());
                    assert_eq!(signature.rows.is_empty(), signature.reason.is_some(), "{}", algorithm.name());
                    assert!(sign("", algorithm.name()).unwrap().reason.is_some(), "{}", algorithm.name());
                }
                Err(error) => assert!(error.to_string().contains("depend on the corpus"), "{error}"),
            }
        }
        assert!(signed > 8 && signed < ALGORITHMS.len(), "{signed}");
    }

    #[test]
    fn near_texts_share_keys() {
        let keys = |text: &str| sign(text, "minhash").unwrap().rows.into_iter().map(|row| (row.position, row.key));
        let text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen ";
        let other = text.repeat(6) + "sixteen";
        assert!(keys(&text.repeat(6)).any(|key| keys(&other).any(|other| other == key)));
    }

    #[test]
    fn worked_similarities() {
        assert_eq!(similarity("a b c d e f", "b c d e f g", "jaccard").unwrap(), 1.0 / 3.0);
        assert_eq!(similarity("a b c d e f", "b c d e f g", "jaccard:words5").unwrap(), 1.0 / 3.0);
        assert_eq!(similarity("a b c d", "A, b c e!", "jaccard:words2").unwrap(), 0.5);
        assert_eq!(similarity("abcd", "bcde", "jaccard:chars2").unwrap(), 0.5);
        assert_eq!(similarity("a b c d", "a b c e", "lcs").unwrap(), 12.0 / 14.0);
        assert_eq!(similarity("one two three four", "one two three five", "words").unwrap(), 0.75);
        for measure in ["lcs", "words", "jaccard"] {
            assert_eq!(similarity("кот", "", measure).unwrap(), 0.0);
            assert_eq!(similarity("?!", "!?", measure).unwrap(), 0.0);
            assert_eq!(similarity("?!", "?!", measure).unwrap(), 1.0);
            assert_eq!(similarity("", "", measure).unwrap(), 1.0);
            assert_eq!(similarity("Кот спит.", "кот спит", measure).unwrap(), 1.0);
            assert_eq!(similarity("кот", "пёс", measure).unwrap(), 0.0);
        }
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let fail = |error: Error| error.to_string();
        assert!(fail(sign("a", "minhsh").unwrap_err()).contains("did you mean \"minhash\"?"));
        assert!(fail(sign("a", "exact,minhash").unwrap_err()).contains("lists 2 algorithms"));
        assert!(fail(similarity("a", "b", "jacard").unwrap_err()).contains("did you mean \"jaccard\"?"));
        for measure in ["jaccard:", "jaccard:words0", "jaccard:words1001", "jaccard:5", "jaccard:0.5", "lcs:words5"] {
            assert!(fail(similarity("a", "b", measure).unwrap_err()).contains("jaccard:words5"), "{measure}");
        }
    }
}
