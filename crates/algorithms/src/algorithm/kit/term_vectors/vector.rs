//! Computes weighted vectors of documents, and the cosine of two vectors with early termination.
//!
//! A vector has length 1. The terms of all vectors are in the same order, rarest first. After each term, the remaining terms add at most
//! the product of the two remaining lengths to the cosine, so the comparison of unrelated texts ends early (the bound of Bayardo, Ma,
//! Srikant 2007, applied at each step).
//!
//! ```text
//! weight = tf ln(1 + N / df)           sublinear: (1 + ln tf) ln(1 + N / df)
//! head H: the terms of the text share 1 - H of the squares, those of the first line, as other terms, H;
//!         so cosine = (1 - H) cosine of the texts + H cosine of the first lines
//! gap = the largest difference of the weight of one term of the text, both texts at length 1
//! ```
//!
//! The gap separates pages with the same template, which differ in one heavy term (their topic), from versions of the same page, which
//! differ in many light terms.

use std::sync::LazyLock;

use crate::algorithm::kit::by_count::ByCount;
use crate::algorithm::kit::prefix::{Term, below, rare_first_by};
use crate::algorithm::kit::units::{Unit, Units};
use crate::corpus::CorpusStats;
use dupsift_core::float;
use dupsift_core::hash::combine;
use dupsift_text::{Analysis, Frequency};

/// Defines how documents become vectors.
pub(crate) struct Weighing<'c> {
    /// Whether the weight of a term is proportional to 1 + ln tf instead of tf.
    pub sublinear: bool,
    /// The share of the first line in the vector: at least 0 and below 1.
    pub head: f64,
    /// The units that count as terms.
    pub units: Units,
    /// The frequencies of the terms.
    pub stats: &'c CorpusStats,
    /// The weight factor of a term as a function of its document frequency, if rare terms count more.
    pub idf: Option<ByCount>,
}

/// Returns ln(1 + N / df). A corpus that was not counted is treated as one document.
pub(crate) fn idf(stats: &CorpusStats) -> ByCount {
    let documents = stats.documents().max(1);
    ByCount::new(documents, move |df| float::ln(1.0 + documents as f64 / df as f64))
}

/// Holds 1 + ln n for each n.
static LOGS: LazyLock<[f64; 256]> =
    LazyLock::new(|| std::array::from_fn(|n| if n < 2 { n as f64 } else { log(n as u64) }));

fn log(count: u64) -> f64 {
    1.0 + float::ln(count as f64)
}

/// Computes the sublinear weight of a term, 1 + ln n, where n is the number of its occurrences. A logarithm is expensive, so those of small
/// numbers are in a table.
#[derive(Clone, Copy)]
pub(super) struct Sublinear(&'static [f64; 256]);

impl Sublinear {
    /// Returns the weights.
    pub(super) fn new() -> Sublinear {
        Sublinear(&LOGS)
    }

    /// Returns the weight of a term that occurs this many times, at least once.
    #[inline]
    pub(super) fn of(self, count: u64) -> f64 {
        self.0.get(count as usize).copied().unwrap_or_else(|| log(count))
    }
}

/// Separates the terms of the first line from the terms of the text. The lowest bit of a hash shows whether the term belongs to the first
/// line.
const HEAD: u64 = 0x6669_7273_7420_6C69;

/// Returns whether a term belongs to the first line.
pub(crate) fn is_head(hash: u64) -> bool {
    hash & 1 == 1
}

/// Holds the vector of a document.
pub(crate) struct Vector {
    /// The terms with their weights, rarest first. All weights are above 0, and their squares add up to 1. The list is empty for a
    /// document without terms.
    pub terms: Vec<Weighed>,
    /// The factors by which the weights were multiplied: one for the text, and one for the first line.
    pub factors: [f64; 2],
}

/// Holds a term of a vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weighed {
    /// The term.
    pub term: Term,
    /// The number of occurrences in the text, or in the first line.
    pub count: u32,
    /// The rank in the corpus: [`Frequency::rank`](dupsift_text::Frequency::rank).
    pub rank: u64,
    /// The hash of the word, which is the same in the text and in the first line.
    pub word: u64,
}

impl Vector {
    /// Returns the terms without counts and ranks.
    pub(crate) fn terms(&self) -> Vec<Term> {
        self.terms.iter().map(|weighed| weighed.term).collect()
    }
}

impl Weighing<'_> {
    /// Returns the vector of a document.
    pub(crate) fn vector(&self, document: &Analysis<'_>) -> Vector {
        // A text with one line is its own first line: its terms are weighted once and appear twice.
        let line = (self.head > 0.0).then(|| document.first_line());
        // Reserves room for all words in one allocation; see `allocator.rs`.
        let words = |document: &Analysis<'_>| if self.units.are_words() { document.counted().len() } else { 0 };
        let mut terms = Vec::with_capacity(words(document) + line.map_or(0, |line| words(line.unwrap_or(document))));
        self.weigh(document, &mut terms);
        terms.iter_mut().for_each(|weighed| weighed.term.hash &= !1);
        let factors;
        if let Some(line) = line.filter(|_| !terms.is_empty()) {
            let text = terms.len();
            let head = |hash: u64| combine(HEAD, hash & !1) | 1;
            match line {
                Some(line) => self.weigh(line, &mut terms),
                None => terms.extend_from_within(..),
            }
            let (body, line) = terms.split_at_mut(text);
            line.iter_mut().for_each(|weighed| weighed.term.hash = head(weighed.term.hash));
            let share = if line.is_empty() { 0.0 } else { self.head };
            factors = [scale(body, 1.0 - share), scale(line, share)];
        } else {
            factors = [scale(&mut terms, 1.0), 1.0];
        }
        rare_first_by(&mut terms, |weighed| weighed.term);
        Vector { terms, factors }
    }

    /// Appends the terms of a text, with weights that are not scaled.
    fn weigh(&self, document: &Analysis<'_>, out: &mut Vec<Weighed>) {
        let sublinear = Sublinear::new();
        let weigh = |Unit { hash, count, frequency: Frequency { df, rank, .. } }| {
            let tf = if self.sublinear { sublinear.of(count.into()) } else { count.into() };
            let weight = self.idf.as_ref().map_or(tf, |idf| tf * idf.of(df));
            Weighed { term: Term { hash, weight, df }, count, rank, word: hash }
        };
        self.units.count(document, self.stats, weigh, out);
    }
}

/// Scales the weights so that their squares add up to `square`. Returns the factor.
fn scale(terms: &mut [Weighed], square: f64) -> f64 {
    let squares = terms.iter().map(|weighed| weighed.term.weight * weighed.term.weight);
    let factor = (square / squares.sum::<f64>()).sqrt();
    terms.iter_mut().for_each(|weighed| weighed.term.weight *= factor);
    factor
}

/// Holds the similarity of two vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Likeness {
    /// The cosine, from 0 to 1.
    pub cosine: f64,
    /// The gap, from 0 to 1; 0 for equal texts.
    pub gap: f64,
}

/// The tolerance for weights that are rounded to Float32.
const HAIR: f64 = 1e-6;
/// The number of terms between two checks of the bound.
const STEP: usize = 16;

impl Weighing<'_> {
    /// Returns the likeness of two vectors, computed from their evidence, if the cosine reaches `least`.
    pub(crate) fn compare(&self, a: &[u64], b: &[u64], least: f64) -> Option<Likeness> {
        let (mut a, mut b) = (self.terms(a)?, self.terms(b)?);
        let least = below(least) - HAIR;
        // Each scale is the inverse of the length of the part that represents the text, because the gap is defined for text vectors with
        // length 1.
        let (a_scale, b_scale) = (1.0 / a.text, 1.0 / b.text);
        let (mut cosine, mut gap) = (0.0f64, 0.0f64);
        let (mut a_rest, mut b_rest) = (1.0f64, 1.0f64);
        let (mut x, mut y, mut steps) = (a.next(), b.next(), 0);
        while let (Some(of_a), Some(of_b)) = (x, y) {
            let order = of_a.place.cmp(&of_b.place);
            let x_weight = if order.is_le() { of_a.weight } else { 0.0 };
            let y_weight = if order.is_ge() { of_b.weight } else { 0.0 };
            cosine += x_weight * y_weight;
            a_rest -= x_weight * x_weight;
            b_rest -= y_weight * y_weight;
            if !(if order.is_le() { of_a } else { of_b }).is_head() {
                gap = gap.max((x_weight * a_scale - y_weight * b_scale).abs());
            }
            if order.is_le() {
                x = a.next();
            }
            if order.is_ge() {
                y = b.next();
            }
            steps += 1;
            if steps % STEP == 0 && cosine + (a_rest.max(0.0) * b_rest.max(0.0)).sqrt() < least {
                return None;
            }
        }
        for (rest, scale) in [(x.into_iter().chain(a), a_scale), (y.into_iter().chain(b), b_scale)] {
            let text = rest.filter(|term| !term.is_head());
            gap = text.map(|term| term.weight * scale).fold(gap, f64::max);
        }
        let cosine = if cosine > 1.0 - HAIR { 1.0 } else { cosine };
        (cosine >= least).then_some(Likeness { cosine, gap: if gap < HAIR { 0.0 } else { gap } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn likeness(head: f64, a: &str, b: &str) -> Option<Likeness> {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let stats = CorpusStats::none();
        let units = Units { name: "word", han_only: false };
        let weighing = Weighing { sublinear: true, idf: None, head, units, stats: &stats };
        let evidence = |text: &str| {
            let mut out = Vec::new();
            weighing.evidence(&weighing.vector(&pipeline.analyse(text)), &mut out);
            out
        };
        weighing.compare(&evidence(a), &evidence(b), 0.01)
    }

    fn near(found: Option<Likeness>, cosine: f64, gap: f64) -> bool {
        found.is_some_and(|found| (found.cosine - cosine).abs() < 1e-6 && (found.gap - gap).abs() < 1e-6)
    }

    #[test]
    fn worked_values() {
        // Each text has four words with weight 1, three of which are shared. Each of the remaining two words occurs in only one text, with
        // weight 1/2.
        assert!(near(likeness(0.0, "a b c d", "d c b e"), 0.75, 0.5));
        assert!(near(likeness(0.0, "a b c d", "d c b a"), 1.0, 0.0));
        assert_eq!(likeness(0.0, "a b", "c d"), None);
        assert_eq!(likeness(0.0, "", "c d"), None);
        // Four words weigh 1/2 each, nine words 1/3 each. The weights of the four shared words differ by 1/6, the weights of the other five
        // by 1/3.
        assert!(near(likeness(0.0, "a b c d", "a b c d e f g h i"), 2.0 / 3.0, 1.0 / 3.0));
    }

    #[test]
    fn the_first_line_has_its_share() {
        // The texts a b c d and d c b e have cosine 3/4. Their first lines are equal, share half of their words, or share nothing.
        assert!(near(likeness(0.2, "b c\na d", "c b\ne d"), 0.8 * 0.75 + 0.2, 0.5));
        assert!(near(likeness(0.2, "b c\na d", "c e\nb d"), 0.8 * 0.75 + 0.1, 0.5));
        assert!(near(likeness(0.2, "b c\na d", "e d\nb c"), 0.8 * 0.75, 0.5));
        // Decorative and blank lines do not count as first lines. A text with one line is its own first line.
        assert!(near(likeness(0.2, "\n---\n  \nb c\na d", "c b\ne d"), 0.8 * 0.75 + 0.2, 0.5));
        assert!(near(likeness(0.5, "a b c d", "d c b e"), 0.75, 0.5));
        // Compares a one-line text with a text whose first line has the same words.
        let e = 1.0 + 2f64.ln();
        let length = (4.0 + e * e).sqrt();
        assert!(near(likeness(0.5, "a b c d", "d c b a\ne e"), 0.5 * 2.0 / length + 0.5, e / length));
        // Equal texts have cosine 1, whatever the share of the first line.
        assert!(near(likeness(0.9, "b c\na d", "b c\nd a"), 1.0, 0.0));
    }

    /// The comparison stops early only if the complete comparison would fail.
    #[test]
    fn the_early_stop_changes_nothing() {
        let stats = CorpusStats::none();
        let units = Units { name: "word", han_only: false };
        let weighing = Weighing { sublinear: false, idf: None, head: 0.0, units, stats: &stats };
        let vector = |seed: u64| -> Vec<u64> {
            let mut terms: Vec<Weighed> = (0..120)
                .filter(|&n| !dupsift_core::hash::splitmix64(seed / 4, n).is_multiple_of(4) || seed % 4 == n % 4)
                .map(|n| Weighed {
                    term: Term { hash: n << 1, weight: 1.0 + (n % 13) as f64, df: 1 },
                    count: 1 + n as u32 % 13,
                    rank: n * 7 % 120,
                    word: n << 1,
                })
                .collect();
            let factors = [scale(&mut terms, 1.0), 1.0];
            let mut out = Vec::new();
            weighing.evidence(&Vector { terms, factors }, &mut out);
            out
        };
        let vectors: Vec<Vec<u64>> = (0..40).map(vector).collect();
        let mut both = [0; 2];
        for a in &vectors {
            for b in &vectors {
                let whole = weighing.compare(a, b, -1.0).expect("nothing is below");
                for least in [0.5, 0.7, 0.75, 0.8, 0.9, 0.99] {
                    let found = weighing.compare(a, b, least);
                    assert_eq!(found, Some(whole).filter(|whole| whole.cosine >= below(least) - HAIR));
                    both[usize::from(found.is_some())] += 1;
                }
            }
        }
        assert!(both.iter().all(|&count| count > 1000), "{both:?}");
    }
}
