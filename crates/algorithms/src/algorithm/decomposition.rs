//! `decomposition` (A11): compares documents that have similar lengths and share a rare word. Their similarity is measured by the longest
//! common subsequence of words.
//!
//! Source: Zelenkov, Segalovich 2007, the decomposition method. The paper states only that the length in words separates documents well,
//! that lists of documents with a shared feature are found, and that recall and precision are nearly perfect. The steps in this file are
//! dupsift's interpretation; they find every pair that reaches the threshold of the following measure:
//!
//! ```text
//! sim(a, b) = 2 LCS(a, b) / (|a| + |b|) over words >= tau
//! lengths:    the shorter has at least tau / (2 - tau) of the longer one's words      0.739 for tau = 0.85
//! lists:      words by occurrence, (w,1) (w,2) .., rare first; a document enters the lists of its first
//!             |d| - ceil(|d| tau / (2 - tau)) + 1                                     9 of 31 for tau = 0.85
//! ```
//!
//! Cost: a first pass for the counts, one row for each listed word that another document also contains, and a check of each pair that the
//! positions of the first shared word do not rule out. The check accounts for most of the cost, and its work is bounded
//! ([`crate::measure`]): long texts that are neither clearly similar nor clearly different are left undecided and counted. Limitations: a
//! copy with reordered paragraphs is as dissimilar as an unrelated text; similarity of words does not imply similarity of characters.
//! `max_list` limits the cost at the expense of completeness.

use std::cmp::Reverse;

use super::contract::{
    Algorithm, Corpus, Decided, Facts, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer, Verify,
};
use crate::corpus::CorpusStats;
use crate::measure::{common, lcs_similarity};
use dupsift_core::error::Result;
use dupsift_core::hash::combine;
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;

/// Implements the `decomposition` algorithm.
pub(crate) struct Decomposition;

const FACTS: Facts = Facts {
    name: "decomposition",
    aliases: &["A11"],
    source: "Zelenkov, Segalovich 2007, the decomposition method",
    summary: "Two documents are duplicates if their longest common subsequence of words is long enough relative to both documents.",
    when_not_to_use: "if paragraphs are reordered; on more than a few hundred thousand documents, because the number of candidates grows quadratically and nearly all words are indexed if tau is below about 0.7",
    inputs: "text, word counts",
    params: &[
        ParamSpec {
            name: "tau",
            kind: Kind::Real(0.05, 1.0),
            default: "0.85",
            help: "minimum value of 2 LCS / (|a| + |b|) for a pair, measured in words; every such pair is found",
        },
        ParamSpec {
            name: "max_list",
            kind: Kind::Int(0, i64::MAX),
            default: "0",
            help: "skip index lists with more documents than this, and count their comparisons as skipped; 0: skip none",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for Decomposition {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs { word_counts: true, ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let tau = params.real("tau");
        Ok(Box::new(DecompositionSigner {
            tau,
            // The ratio is slightly below the exact value, so that rounding errors do not rule out a pair before the check.
            ratio: tau / (2.0 - tau) - 1e-9,
            max_list: params.count("max_list"),
            stats: corpus.stats,
        }))
    }
}

struct DecompositionSigner<'c> {
    tau: f64,
    ratio: f64,
    max_list: usize,
    stats: &'c CorpusStats,
}

impl DecompositionSigner<'_> {
    /// Returns whether texts with these lengths, the shorter first, can reach the threshold.
    fn near(&self, shorter: u32, longer: u32) -> bool {
        f64::from(longer) * self.ratio <= f64::from(shorter)
    }
}

/// Returns the occurrences of all words, each as (df, number of the occurrence, hash), rarest words first. Among equally rare words,
/// later occurrences come first, because fewer documents contain them.
fn occurrences(document: &Analysis<'_>) -> Vec<(u64, Reverse<u32>, u64)> {
    let mut all = Vec::with_capacity(document.words().len());
    for (counted, frequency) in document.counted().iter().zip(document.frequencies()) {
        all.extend((1..=counted.tf).map(|number| (frequency.df, Reverse(number), counted.word.hash)));
    }
    all.sort_unstable();
    all
}

impl Signer for DecompositionSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        // The sketch holds the position of the occurrence in the document's order, and the key of the previous occurrence.
        let shape = RowShape { ordered: true, sketch: 12, ..RowShape::KEY64 };
        SignatureScheme {
            rules: &["lcs"],
            // A quarter of the words of a typical page.
            rows_per_document: 100,
            ..SignatureScheme::new(shape)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let length = document.words().len();
        if length == 0 {
            return out.none("no words");
        }
        let common = (length as f64 * self.ratio).ceil().max(1.0) as usize;
        let last = length - common.min(length);
        let order = u32::try_from(length).unwrap_or(u32::MAX);
        let covered = self.stats.covers();
        let (mut before, mut pushed) = (0, false);
        for (at, (df, Reverse(number), word)) in occurrences(document).into_iter().enumerate().take(last + 1) {
            let key = combine(word, number.into());
            // A word in a single document matches no other document. One row is enough for exact copies.
            if !covered || df > 1 || (at == last && !pushed) {
                let mut sketch = [0; 12];
                sketch[..4].copy_from_slice(&(at as u32).to_le_bytes());
                sketch[4..].copy_from_slice(&u64::to_le_bytes(before));
                out.push(0, key.into(), order, &sketch);
                pushed = true;
            }
            before = key;
        }
    }

    /// Skips a pair if the previous list also contains both documents, because the pair was judged in that list. In the first list that
    /// contains both documents, only later words can also be shared. Every pair is found in the first such list.
    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        if a.sketch[4..] == b.sketch[4..] && a.sketch[4..] != [0; 8] {
            return None;
        }
        let rest = |row: &Row<'_>| {
            let at = u32::from_le_bytes([row.sketch[0], row.sketch[1], row.sketch[2], row.sketch[3]]);
            row.order.saturating_sub(at)
        };
        let bound = 2.0 * f64::from(rest(a).min(rest(b))) / (f64::from(a.order) + f64::from(b.order));
        (bound >= self.tau).then_some(Score { similarity: bound.min(1.0) as f32, distance: None })
    }

    /// Rows are ordered by length, so each row is compared with the rows after it, up to the first row that is too long.
    fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        let (rows, mut end, mut all) = (window.len(), 0, 0);
        let mut ends = Vec::with_capacity(rows);
        for at in 0..rows {
            let shorter = window.row(at).order;
            end = end.max(at + 1);
            while end < rows && self.near(shorter, window.row(end).order) {
                end += 1;
            }
            ends.push(end);
            all += (end - at - 1) as u64;
        }
        if self.max_list > 0 && rows > self.max_list {
            out.left_out += all;
            return;
        }
        // If the bound on comparisons would be exceeded, each row is compared only with the rows right after it.
        let reach = if all <= out.max_candidates { rows } else { (out.max_candidates / rows as u64).max(1) as usize };
        let mut compared = 0;
        for (at, &end) in ends.iter().enumerate() {
            let first = window.row(at);
            let end = end.min((at + 1).saturating_add(reach));
            for other in at + 1..end {
                let second = window.row(other);
                if let Some(score) = self.judge(&first, &second) {
                    out.push(Pair::new(first.doc, second.doc, score, 1));
                }
            }
            compared += (end - at - 1) as u64;
        }
        out.compared += compared;
        out.left_out += all - compared;
    }

    fn verify(&self) -> Option<&dyn Verify> {
        Some(self)
    }
}

impl Verify for DecompositionSigner<'_> {
    fn name(&self) -> String {
        format!("lcs:{} of words", self.tau)
    }

    /// Appends the number of words, the words in text order, and the words in sorted order. Each number holds two values.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut words: Vec<u32> = document.words().iter().map(|word| word.hash as u32).collect();
        out.push(words.len() as u64);
        pack(&words, out);
        words.sort_unstable();
        pack(&words, out);
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        let (Some((a, a_sorted)), Some((b, b_sorted))) = (unpack(a), unpack(b)) else { return Ok(None) };
        // The number of shared words in any order is an upper bound that is much faster to compute.
        let common = common(a_sorted, b_sorted);
        if 2.0 * common as f64 / ((a.len() + b.len()) as f64) < self.tau {
            return Ok(None);
        }
        Ok(lcs_similarity(a, b, self.tau)?.map(|similarity| candidate.with_similarity(similarity as f32)))
    }
}

fn pack(words: &[u32], out: &mut Vec<u64>) {
    let pair = |pair: &[u32]| bytemuck::cast::<[u32; 2], u64>([pair[0], pair.get(1).copied().unwrap_or(0)]);
    out.extend(words.chunks(2).map(pair));
}

fn unpack(evidence: &[u64]) -> Option<(&[u32], &[u32])> {
    let (&count, packed) = evidence.split_first()?;
    let (in_order, sorted) = packed.split_at_checked(packed.len() / 2)?;
    let count = count as usize;
    Some((bytemuck::cast_slice(in_order).get(..count)?, bytemuck::cast_slice(sorted).get(..count)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{D1, D2, sign};
    use crate::testing::in_memory::{all_pairs, run, texts};
    use dupsift_core::hash::hash64;

    #[test]
    fn worked_values() {
        // 31 words: 31 x 0.7391 = 22.9, so 23 must be shared, and the first nine are listed.
        let words: Vec<String> = (0..31).map(|n| format!("w{n}")).collect();
        assert_eq!(sign(&Decomposition, "", &words.join(" ")).unwrap().len(), 9);
        assert_eq!(sign(&Decomposition, "tau=1", &words.join(" ")).unwrap().len(), 1);
        assert_eq!(sign(&Decomposition, "", "да").unwrap().len(), 1);
        assert_eq!(sign(&Decomposition, "", "?"), Err("no words"));
        let of = |tau: f64, a: &str, b: &str| {
            let found = run(&Decomposition, &format!("tau={tau}"), &[a.to_string(), b.to_string()]);
            found.pairs.get(&(0, 1)).map(|pair| pair.score.similarity)
        };
        assert_eq!(of(0.75, "a b c d", "a b x d"), Some(0.75));
        assert_eq!(of(0.76, "a b c d", "a b x d"), None);
        // The count of a repeated word is the lower of its counts in the two texts.
        assert_eq!(of(0.8, "a a a", "a a"), Some(0.8));
        // The first sentence is moved to the end: five of eleven words are in order.
        let moved = of(0.4, D1, D2).unwrap();
        assert!((0.4..0.85).contains(&moved), "{moved}");
    }

    #[test]
    fn finds_exactly_the_pairs_of_the_definition() {
        let texts = texts(11, 150, 40);
        let words: Vec<Vec<u32>> =
            texts.iter().map(|text| text.split(' ').map(|word| hash64(word.as_bytes()) as u32).collect()).collect();
        for tau in [0.95, 0.85, 0.7, 0.5] {
            let found = run(&Decomposition, &format!("tau={tau}"), &texts);
            let expected = all_pairs(texts.len(), |a, b| lcs_similarity(&words[a], &words[b], tau).unwrap().is_some());
            assert!(expected.len() > 10, "{tau}: {}", expected.len());
            assert_eq!(found.numbers(), expected, "{tau}");
            assert_eq!(found.left_out, 0);
        }
    }

    #[test]
    fn a_list_that_is_passed_over_is_counted() {
        let texts: Vec<String> = (0..5).map(|n| format!("a b c d e f{n}")).collect();
        let all = run(&Decomposition, "tau=0.8", &texts);
        assert_eq!((all.pairs.len(), all.left_out), (10, 0));
        let cut = run(&Decomposition, "tau=0.8,max_list=4", &texts);
        assert!(cut.pairs.is_empty() && cut.left_out >= 10);
        assert_eq!(run(&Decomposition, "tau=0.8,max_list=5", &texts).pairs.len(), 10);
    }
}
