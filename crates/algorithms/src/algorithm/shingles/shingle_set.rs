//! Computes the fingerprints that represent a text in `shingles`. The fingerprints are the hashes of windows of characters, graphemes or
//! words: either all hashes or a sketch.
//!
//! Sketches (Broder 1997): MIN_s keeps the s smallest fingerprints and has a fixed size. MOD_m keeps the fingerprints divisible by m; their
//! number grows with the text and may be zero for a short text.

use std::borrow::Cow;

use icu_segmenter::{GraphemeClusterSegmenter, GraphemeClusterSegmenterBorrowed};

use super::all_pairs::Size;
use super::bitmap::{self, Folded};
use super::rarest::least;
use crate::algorithm::contract::{FeatureKind, Params};
use crate::algorithm::kit::prefix::Term;
use crate::algorithm::kit::shingling::word_texts;
use crate::corpus::CorpusStats;
use crate::measure::{common, common_at_least};
use dupsift_core::cpu::Level;
use dupsift_core::hash::{combine, hash64, mix64};
use dupsift_text::Analysis;
use dupsift_text::shingle::{char_windows, distinct, shingles};

const GRAPHEMES: GraphemeClusterSegmenterBorrowed<'static> = GraphemeClusterSegmenter::new();

/// Defines which fingerprints are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sketch {
    /// All fingerprints.
    Full,
    /// This many of the smallest fingerprints.
    MinS(usize),
    /// Fingerprints divisible by this number.
    ModM(u64),
}

/// Defines how two sets are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// |A n B| / |A u B|.
    Resemblance,
    /// |A n B| / |A| and |A n B| / |B|.
    Containment,
    /// The measure in the article's code: Dice, without the last shingle, and with repetitions counted.
    SeedCode,
}

/// Defines the shingles into which a text is split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShingleSets {
    /// The number of units in a shingle.
    pub ngram: usize,
    /// The unit: `scalar`, `grapheme` or `word`.
    pub unit: &'static str,
    /// Whether white space counts as a character.
    pub spaces: bool,
    /// The fingerprints that are kept.
    pub sketch: Sketch,
    /// The measure by which two sets are compared.
    pub measure: Measure,
    /// Whether the evidence includes a bitmap, which decides most pairs. The bitmap helps if there are many candidates and few of them are
    /// similar.
    pub bitmap: bool,
}

impl ShingleSets {
    /// Returns the settings from the parameters of `shingles`, without bitmaps.
    pub(crate) fn new(params: &Params) -> ShingleSets {
        ShingleSets {
            ngram: params.count("ngram"),
            unit: params.word("unit"),
            spaces: params.flag("spaces"),
            sketch: match params.word("sketch") {
                "min_s" => Sketch::MinS(params.count("s")),
                "mod_m" => Sketch::ModM(params.count("m") as u64),
                _ => Sketch::Full,
            },
            measure: match params.word("measure") {
                _ if params.flag("seed_code") => Measure::SeedCode,
                "containment" => Measure::Containment,
                _ => Measure::Resemblance,
            },
            bitmap: false,
        }
    }

    /// Returns the name of the check that compares these sets.
    pub(crate) fn check_name(&self, threshold: f64) -> String {
        let measure = match self.measure {
            Measure::Resemblance => "resemblance",
            Measure::Containment => "containment",
            Measure::SeedCode => "seed_code",
        };
        let sketch = match self.sketch {
            Sketch::Full => String::new(),
            Sketch::MinS(s) => format!(", estimated from the {s} smallest hashes"),
            Sketch::ModM(m) => format!(", estimated from one in {m} hashes"),
        };
        format!("{measure}:{threshold} of {}-{} shingles{sketch}", self.ngram, self.unit)
    }

    /// Returns the elements of a set with their document frequencies from the first pass.
    pub(crate) fn counted(&self, set: &[u64], stats: &CorpusStats) -> Vec<Term> {
        let (salt, mut terms) = (self.salt(), Vec::with_capacity(set.len()));
        let mut elements = set.iter();
        stats.feature_df_of_many(set.iter().map(|&element| combine(salt, element)), |df| {
            terms.extend(elements.next().map(|&hash| Term { hash, weight: 1.0, df }));
        });
        terms
    }

    /// Returns the salt that separates the fingerprints of these settings from the fingerprints of other settings and
    /// other features.
    fn salt(&self) -> u64 {
        hash64(FeatureKind::name(self).as_bytes())
    }

    /// Appends the fingerprints of the shingles in order, including repetitions. Returns whether the text is shorter than a shingle; if
    /// so, the whole text is one shingle.
    pub(crate) fn cut(&self, document: &Analysis<'_>, out: &mut Vec<u64>) -> bool {
        let from = out.len();
        // Punctuation alone does not make documents similar, so a text without words has no shingles.
        if document.tokens().is_empty() {
            return true;
        }
        let units = if self.unit == "word" {
            shingles(document.tokens(), self.ngram, false, out);
            document.tokens().len()
        } else {
            self.each_window(&self.characters(document), |window| out.push(hash64(window.as_bytes())))
        };
        let short = units < self.ngram;
        // The article's code counts L - N shingles, so a text of N characters has no shingles. In dupsift, a text of N characters is one
        // shingle.
        if self.measure == Measure::SeedCode && out.len() > from + 1 {
            out.pop();
        }
        short
    }

    /// Returns the text that is split into windows of characters or graphemes.
    fn characters<'t>(&self, document: &'t Analysis<'_>) -> Cow<'t, str> {
        if self.spaces { document.text().into() } else { document.text().replace(' ', "").into() }
    }

    /// Passes the windows of characters or graphemes to `each`, in order. Returns the number of these units.
    fn each_window(&self, text: &str, mut each: impl FnMut(&str)) -> usize {
        if self.unit != "grapheme" {
            char_windows(text, self.ngram).for_each(each);
            return text.chars().count();
        }
        let bounds: Vec<usize> = GRAPHEMES.segment_str(text).collect();
        let units = bounds.len().saturating_sub(1);
        if units > 0 {
            let ends = bounds.iter().skip(self.ngram.min(units));
            bounds.iter().zip(ends).for_each(|(&start, &end)| each(&text[start..end]));
        }
        units
    }

    /// Returns the fingerprints of a document's set in the order of the text, including repetitions, each with the text of its shingle.
    pub(crate) fn with_texts<'t>(&self, document: &'t Analysis<'_>) -> Vec<(u64, Cow<'t, str>)> {
        let (mut all, mut set) = (Vec::new(), Vec::new());
        self.cut(document, &mut all);
        self.of(document, &mut set);
        let texts = if self.unit == "word" {
            word_texts(document, self.ngram, false)
        } else {
            let mut texts = Vec::with_capacity(all.len());
            self.each_window(&self.characters(document), |window| texts.push(Cow::Owned(window.to_owned())));
            texts
        };
        // `seed_code` drops the last shingle, and a sketch does not keep all shingles.
        all.into_iter().zip(texts).filter(|(hash, _)| set.binary_search(hash).is_ok()).collect()
    }

    /// Returns the size of a document's set, and whether the set is a single shingle of the whole text. Writes the sorted set to `set`.
    pub(crate) fn of(&self, document: &Analysis<'_>, set: &mut Vec<u64>) -> (Size, bool) {
        let short = self.cut(document, set);
        let all = set.len();
        distinct(set);
        match self.sketch {
            Sketch::Full => {}
            Sketch::MinS(s) => set.truncate(s),
            Sketch::ModM(m) => set.retain(|fingerprint| mix64(*fingerprint).is_multiple_of(m)),
        }
        (Size::new(set.len(), all), short)
    }

    /// Returns the minimum number of elements that two sets of these sizes must share to reach the threshold.
    pub(crate) fn need(&self, threshold: f64, a: Size, b: Size) -> f64 {
        let (x, y) = (f64::from(a.distinct), f64::from(b.distinct));
        let need = match (self.measure, self.sketch) {
            (Measure::Containment, _) => threshold * x.min(y),
            (Measure::Resemblance, Sketch::MinS(_)) => threshold * x.max(y),
            (Measure::Resemblance, _) => threshold * (x + y) / (1.0 + threshold),
            (Measure::SeedCode, _) => {
                // All repeated occurrences may belong to shared shingles.
                let repeated = (a.all - a.distinct).max(b.all - b.distinct);
                threshold * (f64::from(a.all) + f64::from(b.all)) / 2.0 - f64::from(repeated)
            }
        };
        // The result is slightly below the exact value, because the value was rounded.
        need * (1.0 - 1e-9)
    }

    /// Appends the values that [`ShingleSets::compare`] needs from a document: the size, the distinct fingerprints, their counts if
    /// `seed_code` is set, and the bitmap.
    pub(crate) fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut set = Vec::new();
        let seed_code = self.measure == Measure::SeedCode;
        let (size, mut times) = if seed_code {
            self.cut(document, &mut set);
            let all = set.len();
            set.sort_unstable();
            let times: Vec<u64> = set.chunk_by(|a, b| a == b).map(|run| run.len() as u64).collect();
            set.dedup();
            (Size::new(set.len(), all), times)
        } else {
            (self.of(document, &mut set).0, Vec::new())
        };
        out.push(u64::from_le_bytes(size.to_bytes()));
        out.extend_from_slice(&set);
        out.append(&mut times);
        if self.bitmap {
            bitmap::write(&set, out);
        }
    }

    fn parts<'e>(&self, evidence: &'e [u64]) -> Option<Parts<'e>> {
        let (size, rest) = evidence.split_first()?;
        let size = Size::of(&size.to_le_bytes());
        let (set, rest) = rest.split_at_checked(size.distinct as usize)?;
        let with_times = if self.measure == Measure::SeedCode { set.len() } else { 0 };
        let (times, bitmap) = rest.split_at_checked(with_times)?;
        Some(Parts { size, set, times, bitmap })
    }

    /// Returns whether the sizes and bitmaps of two documents allow the documents to reach the threshold.
    pub(crate) fn may_reach(&self, threshold: f64, a: &[u64], b: &[u64]) -> bool {
        let (Some(a), Some(b)) = (self.parts(a), self.parts(b)) else { return false };
        let need = self.need(threshold, a.size, b.size);
        if f64::from(a.size.distinct.min(b.size.distinct)) < need {
            return false;
        }
        if a.bitmap.is_empty() || b.bitmap.is_empty() {
            return true;
        }
        let (small, large) = if a.bitmap.len() <= b.bitmap.len() { (&a, &b) } else { (&b, &a) };
        let mut folded = Vec::new();
        let large_bits = if large.bitmap.len() == small.bitmap.len() {
            large.bitmap
        } else {
            bitmap::fold(large.bitmap, small.bitmap.len(), &mut folded);
            &folded
        };
        let (x, y) = (Folded::new(small.bitmap, small.size.distinct), Folded::new(large_bits, large.size.distinct));
        f64::from(x.most_common(&y, Level::best())) >= need
    }

    /// Returns the result of [`ShingleSets::compare`] if the larger of the two values reaches the threshold.
    pub(crate) fn reach(&self, threshold: f64, a: &[u64], b: &[u64]) -> Option<(f64, f64)> {
        if !self.may_reach(threshold, a, b) {
            return None;
        }
        let shares = if self.measure == Measure::Containment {
            let (a, b) = (self.parts(a)?.set, self.parts(b)?.set);
            let common = common_at_least(a, b, least(threshold, a.len().min(b.len())))?;
            (share(common, a.len()), share(common, b.len()))
        } else {
            self.compare(a, b)?
        };
        (shares.0.max(shares.1) >= threshold).then_some(shares)
    }

    /// Returns the share of `a` that is in `b`, and the share of `b` that is in `a`, from 0 to 1. The two values differ only if the measure
    /// is containment.
    pub(crate) fn compare(&self, a: &[u64], b: &[u64]) -> Option<(f64, f64)> {
        let (Parts { set: a, times: a_times, .. }, Parts { set: b, times: b_times, .. }) =
            (self.parts(a)?, self.parts(b)?);
        let both = |value: f64| Some((value, value));
        match (self.measure, self.sketch) {
            (Measure::Containment, _) => {
                let common = common(a, b);
                Some((share(common, a.len()), share(common, b.len())))
            }
            (Measure::Resemblance, Sketch::MinS(s)) => {
                let (common, looked_at) = smallest(a, b, s);
                both(share(common, looked_at))
            }
            (Measure::Resemblance, _) => {
                let common = common(a, b);
                both(share(common, a.len() + b.len() - common))
            }
            (Measure::SeedCode, _) => {
                let all = a_times.iter().sum::<u64>() + b_times.iter().sum::<u64>();
                let most = occurrences_in(a, a_times, b).max(occurrences_in(b, b_times, a));
                both(share(2 * most as usize, all as usize).min(1.0))
            }
        }
    }
}

/// Counts the documents that contain each shingle, so that the rarest shingles can be chosen; see [`super::rarest`].
impl FeatureKind for ShingleSets {
    fn name(&self) -> String {
        let spaces = if self.spaces { "spaces" } else { "no spaces" };
        format!("shingles:{}:{}:{spaces}:{:?}", self.ngram, self.unit, self.sketch)
    }

    fn hashes(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut set = Vec::new();
        ShingleSets::of(self, document, &mut set);
        let salt = self.salt();
        out.extend(set.into_iter().map(|element| combine(salt, element)));
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Holds the parts of a document's evidence.
struct Parts<'e> {
    size: Size,
    set: &'e [u64],
    times: &'e [u64],
    bitmap: &'e [u64],
}

/// Takes the s smallest elements of the union of both sets. Returns the number of these elements that are in both sets, and the number of
/// elements that were taken.
fn smallest(a: &[u64], b: &[u64], s: usize) -> (usize, usize) {
    let (mut i, mut j, mut common, mut all) = (0, 0, 0, 0);
    while all < s && (i < a.len() || j < b.len()) {
        let (x, y) = (a.get(i), b.get(j));
        let takes_x = y.is_none() || x.is_some_and(|x| y.is_some_and(|y| x <= y));
        let takes_y = x.is_none() || y.is_some_and(|y| x.is_some_and(|x| y <= x));
        common += usize::from(takes_x && takes_y);
        i += usize::from(takes_x);
        j += usize::from(takes_y);
        all += 1;
    }
    (common, all)
}

/// Returns the number of occurrences in `a` that belong to elements of `b`.
fn occurrences_in(a: &[u64], times: &[u64], b: &[u64]) -> u64 {
    let found = a.iter().zip(times).filter(|(element, _)| b.binary_search(element).is_ok());
    found.map(|(_, times)| times).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    const PLAIN: ShingleSets = ShingleSets {
        ngram: 2,
        unit: "scalar",
        spaces: true,
        sketch: Sketch::Full,
        measure: Measure::Resemblance,
        bitmap: false,
    };

    fn cut(sets: ShingleSets, text: &str) -> (Vec<u64>, bool) {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let mut out = Vec::new();
        let short = sets.cut(&pipeline.analyse(text), &mut out);
        (out, short)
    }

    #[test]
    fn units_white_space_and_short_texts() {
        let hashes = |parts: &[&str]| parts.iter().map(|part| hash64(part.as_bytes())).collect::<Vec<_>>();
        assert_eq!(cut(PLAIN, "аб в"), (hashes(&["аб", "б ", " в"]), false));
        assert_eq!(cut(ShingleSets { spaces: false, ..PLAIN }, "аб в"), (hashes(&["аб", "бв"]), false));
        assert_eq!(cut(ShingleSets { ngram: 5, ..PLAIN }, "аб в"), (hashes(&["аб в"]), true));
        assert_eq!(cut(PLAIN, " "), (vec![], true));
        // A letter with a combining mark and no precomposed form is one grapheme and two scalars.
        let marked = "x\u{301}yz";
        assert_eq!(cut(ShingleSets { unit: "grapheme", ..PLAIN }, marked).0, hashes(&["x\u{301}y", "yz"]));
        assert_eq!(cut(PLAIN, marked).0.len(), 3);
        let graphemes = ShingleSets { unit: "grapheme", ngram: 4, ..PLAIN };
        assert_eq!(cut(graphemes, marked), (hashes(&[marked]), true));
        assert_eq!(cut(ShingleSets { unit: "word", ..PLAIN }, "one two, three").0.len(), 2);
        let (one, short) = cut(ShingleSets { unit: "word", ..PLAIN }, "one");
        assert_eq!((one.len(), short), (1, true));
        // The article's code drops the last shingle, unless it is the only one.
        let seed = ShingleSets { measure: Measure::SeedCode, ..PLAIN };
        assert_eq!(cut(seed, "абв").0, hashes(&["аб"]));
        assert_eq!(cut(seed, "аб").0, hashes(&["аб"]));
    }

    #[test]
    fn comparisons() {
        let size = |distinct, all| u64::from_le_bytes(Size::new(distinct, all).to_bytes());
        let set = |values: &[u64]| [&[size(values.len(), values.len())], values].concat();
        let (a, b) = (set(&[1, 2, 3, 4]), set(&[2, 4, 6]));
        assert_eq!(PLAIN.compare(&a, &b), Some((0.4, 0.4)));
        let contained = ShingleSets { measure: Measure::Containment, ..PLAIN };
        assert_eq!(contained.compare(&a, &b), Some((0.5, 2.0 / 3.0)));
        // The three smallest elements of the union are 1, 2 and 3. One of them is in both sets.
        let smallest = ShingleSets { sketch: Sketch::MinS(3), ..PLAIN };
        assert_eq!(smallest.compare(&a, &b), Some((1.0 / 3.0, 1.0 / 3.0)));
        assert_eq!(PLAIN.compare(&[], &b), None);
        // In one text, element 1 occurs twice and element 2 once; in the other, element 1 occurs once: 2 x 2 / (3 + 1),
        // the larger of the two directions.
        let seed = ShingleSets { measure: Measure::SeedCode, ..PLAIN };
        assert_eq!(seed.compare(&[size(2, 3), 1, 2, 2, 1], &[size(1, 1), 1, 1]), Some((1.0, 1.0)));
    }
}
