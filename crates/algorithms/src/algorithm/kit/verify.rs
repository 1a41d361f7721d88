//! Implements the text checks that all algorithms share: `verify=jaccard:T`, `lcs:T` or `cosine:T`.

use super::shingling::Shingling;
use super::top_words::distinct_words;
use crate::algorithm::contract::{Decided, Kind, ParamSpec, Verify};
use crate::measure::{cosine, jaccard, lcs_similarity};
use dupsift_core::float;
use dupsift_core::row::Pair;
use dupsift_text::Analysis;

/// The names of the checks.
pub(crate) const CHECKS: &[&str] = &["jaccard", "lcs", "cosine"];

/// The `verify` parameter for algorithms that do not verify by default.
pub const VERIFY: ParamSpec = ParamSpec {
    name: "verify",
    kind: Kind::Verify(CHECKS),
    default: "none",
    help: "check each pair against its texts: jaccard of shingles, lcs = 2 LCS / (|a| + |b|) in characters, or cosine of word counts",
};

/// The maximum length, in characters, of texts that `lcs` compares character by character. Longer texts are compared word by word, because
/// the cost is the product of the lengths.
pub(crate) const LCS_CHARACTERS: usize = 200_000;

/// Returns the check with this name and threshold, or `None` if the name is unknown. Jaccard compares the shingles of `shingling`.
pub fn check(name: &str, threshold: f64, shingling: Shingling) -> Option<Box<dyn Verify>> {
    Some(match name {
        "jaccard" => Box::new(Jaccard { shingling, threshold }),
        "lcs" => Box::new(Lcs { threshold }),
        "cosine" => Box::new(Cosine { threshold }),
        _ => return None,
    })
}

/// Checks the exact Jaccard similarity of the shingle sets.
struct Jaccard {
    shingling: Shingling,
    threshold: f64,
}

impl Verify for Jaccard {
    fn name(&self) -> String {
        let unit = if self.shingling.chars { "chars" } else { "words" };
        format!("jaccard:{} of {}-{unit} shingles", self.threshold, self.shingling.ngram)
    }

    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.shingling.cut(document, out);
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        // The size of the smaller set divided by the size of the larger set is an upper bound on the similarity. The test uses a quotient,
        // like the similarity. A product would round differently and reject a contained set that reaches the threshold exactly.
        let (few, many) = (a.len().min(b.len()), a.len().max(b.len()));
        if few as f64 / (many as f64) < self.threshold {
            return Ok(None);
        }
        let similarity = jaccard(a, b);
        Ok((similarity >= self.threshold).then(|| candidate.with_similarity(similarity as f32)))
    }
}

/// Checks 2 LCS / (|a| + |b|) on the characters of the canonical text, or on words for very long texts. Pairs are undecided if comparing
/// words would take too long as well.
struct Lcs {
    threshold: f64,
}

impl Verify for Lcs {
    fn name(&self) -> String {
        format!("lcs:{}", self.threshold)
    }

    /// Appends the number of characters (0 if there are too many to compare) and the number of words, then the characters and the words,
    /// packed two per number.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let canonical = document.canonical();
        let characters = canonical.chars().count();
        let kept = if characters > LCS_CHARACTERS { 0 } else { characters };
        out.push(kept as u64);
        out.push(document.words().len() as u64);
        pack(canonical.chars().take(kept).map(u32::from), out);
        pack(document.words().iter().map(|word| word.hash as u32), out);
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        let ((a_chars, a_words), (b_chars, b_words)) = (unpack(a), unpack(b));
        let similarity = if a_chars.is_empty() || b_chars.is_empty() {
            lcs_similarity(a_words, b_words, self.threshold)?
        } else {
            lcs_similarity(a_chars, b_chars, self.threshold)?
        };
        Ok(similarity.map(|value| candidate.with_similarity(value as f32)))
    }
}

/// Appends units, packed two per number.
pub fn pack(mut units: impl Iterator<Item = u32>, out: &mut Vec<u64>) {
    while let Some(low) = units.next() {
        // The order in memory is the same on all little-endian machines. The stored evidence never leaves the machine.
        let pair = [low, units.next().unwrap_or(0)];
        out.push(bytemuck::cast(pair));
    }
}

fn unpack(evidence: &[u64]) -> (&[u32], &[u32]) {
    let [characters, words, packed @ ..] = evidence else { return (&[], &[]) };
    let units: &[u32] = bytemuck::cast_slice(packed);
    let (characters, words) = (*characters as usize, *words as usize);
    let from = characters.next_multiple_of(2);
    (&units[..characters], &units[from..from + words])
}

/// Checks the cosine of two texts. Each word has the weight 1 + ln tf, and stop words are skipped.
struct Cosine {
    threshold: f64,
}

impl Verify for Cosine {
    fn name(&self) -> String {
        format!("cosine:{}", self.threshold)
    }

    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut words = distinct_words(document);
        words.sort_unstable_by_key(|counted| counted.word.hash);
        out.extend(words.iter().flat_map(|counted| [counted.word.hash, counted.tf.into()]));
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        let vector = |evidence: &[u64]| -> Vec<(u64, f64)> {
            evidence.chunks_exact(2).map(|term| (term[0], 1.0 + float::ln(term[1] as f64))).collect()
        };
        let similarity = cosine(&vector(a), &vector(b));
        Ok((similarity >= self.threshold).then(|| candidate.with_similarity(similarity as f32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::similarity;
    use dupsift_text::{Pipeline, TextOptions};

    fn verify(name: &str, threshold: f64, a: &str, b: &str) -> Option<f32> {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let check = check(name, threshold, Shingling { ngram: 2, chars: false }).expect("a known check");
        let (mut x, mut y) = (Vec::new(), Vec::new());
        check.evidence(&pipeline.analyse(a), &mut x);
        check.evidence(&pipeline.analyse(b), &mut y);
        similarity(&*check, &x, &y).expect("short texts")
    }

    #[test]
    fn worked_values() {
        // The word pairs are {a b, b c, c d} and {a b, b c, c e}: two of four are shared.
        assert_eq!(verify("jaccard", 0.5, "a b c d", "A, b c e!"), Some(0.5));
        assert_eq!(verify("jaccard", 0.51, "a b c d", "a b c e"), None);
        // The canonical texts are seven characters long and differ in one character.
        assert_eq!(verify("lcs", 0.8, "a b c d", "a b c e"), Some(12.0 / 14.0));
        assert_eq!(verify("lcs", 0.9, "a b c d", "a b c e"), None);
        // Three of four words are shared.
        assert_eq!(verify("cosine", 0.7, "a b c d", "d c b e"), Some(0.75));
        assert_eq!(verify("cosine", 0.8, "a b c d", "d c b e"), None);
        assert!(check("jacard", 0.5, Shingling::DEFAULT).is_none());
    }

    /// Tests thresholds and set sizes whose product, after rounding, exceeds the smaller size.
    #[test]
    fn a_set_within_another_reaches_its_share_of_it_exactly() {
        let mut tight = 0;
        for percent in 1..100 {
            let threshold = f64::from(percent) / 100.0;
            let check = check("jaccard", threshold, Shingling::DEFAULT).expect("a known check");
            for many in 1..400u64 {
                let few = (threshold * many as f64).floor() as u64;
                if few as f64 / many as f64 >= threshold {
                    tight += usize::from((few as f64) < threshold * many as f64);
                    let (a, b): (Vec<u64>, Vec<u64>) = ((0..few).collect(), (0..many).collect());
                    assert!(
                        similarity(&*check, &a, &b).is_ok_and(|found| found.is_some()),
                        "{few} of {many} at {threshold}"
                    );
                }
            }
        }
        assert!(tight > 0, "no case was a hard one");
    }

    #[test]
    fn very_long_texts_are_compared_by_words() {
        let long = "слово ".repeat(LCS_CHARACTERS / 5);
        let other = format!("{long} конец");
        let similarity = verify("lcs", 0.85, &long, &other).expect("nearly equal");
        assert!(similarity > 0.9999 && similarity < 1.0);
    }
}
