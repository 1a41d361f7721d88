//! Computes the result of one algorithm for two documents, without the rest of the corpus. If the documents are not a pair, the
//! result states the reason.
//!
//! The rows of the two documents pass through the windows that would exist without other documents, and through verification. Effects of
//! other documents in a window (a chain of neighbors, a limit on comparisons) are visible only in the output tables of the run.

use super::shared_windows::Windows;
use dupsift_algorithms::algorithm::Verify;
use dupsift_algorithms::measure::{
    Subjects, Surplus, TitleWords, Undecided, Versions, contained, subjects, write_contents,
};
use dupsift_algorithms::recipe::bound::{Bound, Check};
use dupsift_algorithms::steps::copies::NoCopies;
use dupsift_algorithms::steps::group::{self, Equal, EqualKeys, folds};
use dupsift_algorithms::steps::groups::of_rows;
use dupsift_core::error;
use dupsift_core::row::{Pair, Pairs, Reason, Row, RowLayout, Score, Signatures};
use dupsift_text::{Analysis, Heading};

/// Holds a document with its number.
pub(crate) type Numbered<'d, 'a> = (u64, &'d Analysis<'a>);

/// Holds one signature row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Emitted {
    /// The position of the row; see [`Row`].
    pub position: u32,
    /// The key of the row; see [`Row`].
    pub key: u128,
    /// The order of the row; see [`Row`].
    pub order: u32,
    /// The sketch of the row; see [`Row`].
    pub sketch: Vec<u8>,
    /// A readable description of the row, if there is one.
    pub description: Option<String>,
}

/// Describes the last stage that two documents reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ended {
    /// At least one of the two documents has no signature.
    Unsigned,
    /// The documents are in different scopes, so they are not compared.
    Scoped,
    /// Both documents have the same scope, but only documents with different scopes are compared.
    SameScope,
    /// The documents share no key.
    Apart,
    /// The documents share a key, but their sketches rule the pair out.
    Sketched,
    /// The documents were compared, and the method rejected the pair.
    Judged,
    /// The documents were compared, and verification rejected the pair.
    Checked,
    /// The documents were compared, but verification would take too long for texts of this length.
    Undecided,
    /// The documents are a pair.
    Pair(Pair),
}

/// Holds the result of one check on the texts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Checked {
    /// The check, as typed.
    pub name: String,
    /// Whether the two documents pass.
    pub passes: bool,
    /// The similarity. The similarity may be below the threshold if the same check was also run with a lower threshold.
    pub similarity: Option<f32>,
}

/// Holds the result of one algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    /// The rows of both documents, ordered by position and key, or the reason why there are none.
    pub signatures: [Result<Vec<Emitted>, Reason>; 2],
    /// The last stage that the two documents reach.
    pub ended: Ended,
    /// The method's own score, if the method rejects the pair but returns a score at a lower threshold.
    pub own: Option<Score>,
    /// The checks on the texts, if both documents have a signature.
    pub checks: Vec<Checked>,
    /// The number of bits in which the fingerprints differ, for a method that compares fingerprints.
    pub bits_apart: Option<u32>,
    /// A description of the documents' sketches, for a method that keeps them.
    pub sketches: Option<String>,
    /// The rule that classifies pairs, and the values that it computes from the texts.
    pub classification: Option<Classification>,
    /// The windows that contain both documents, if each of these windows may contain too many rows for all of its pairs to be compared.
    pub windows: Option<Windows>,
    /// The reason why none of these windows compared the two documents.
    pub cut: Option<String>,
}

/// Holds the values that the rule for classifying pairs computes from two texts, besides their containment.
#[derive(Clone, Debug)]
pub(crate) struct Classification {
    /// The rule that classifies pairs.
    pub rule: Versions,
    /// The words with the largest surplus over the other text, one for each text.
    pub words: [SurplusWord; 2],
    /// Whether the first lines are equal.
    pub same_line: bool,
    /// The first-line words that are rarest in the other text, one for each text.
    pub titles: [MissingWord; 2],
    /// How what identifies one document relates to what identifies the other.
    pub subjects: Subjects,
}

/// Holds the first-line word that is rarest in the other text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MissingWord {
    /// The result of comparing the first line with the other text.
    pub title: TitleWords,
    /// The word as written.
    pub word: Option<String>,
}

/// Holds the word in which a text differs most from another text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SurplusWord {
    /// The surplus of the word.
    pub surplus: Surplus,
    /// The word as written.
    pub word: Option<String>,
}

/// Compares two different documents in a corpus with this many rows. The document with the smaller number comes first. `loose` is the same
/// algorithm with low thresholds, to get scores below the threshold.
pub(crate) fn look(bound: &Bound<'_>, loose: Option<&Bound<'_>>, rows: u64, documents: [Numbered<'_, '_>; 2]) -> Look {
    let signatures = documents.map(|document| emitted(bound, document));
    let mut look = Look {
        signatures,
        ended: Ended::Unsigned,
        own: None,
        checks: Vec::new(),
        bits_apart: None,
        sketches: None,
        classification: None,
        windows: None,
        cut: None,
    };
    let [Ok(a), Ok(b)] = &look.signatures else { return look };
    let both = [(documents[0].0, a.as_slice()), (documents[1].0, b.as_slice())];
    let (met, pair) = meet(bound, rows, both);
    let loose = loose.filter(|loose| loose.scheme.shape == bound.scheme.shape);
    look.bits_apart = bound.scheme.probe_shape().and_then(|_| bits_apart(a, b));
    let texts = documents.map(|(_, text)| text);
    look.classification = classification(bound, texts);
    if let Some(check) = bound.verify() {
        look.checks = checked(check, loose.and_then(Bound::verify), texts);
    }
    let (mut near, mut windows) = (true, None);
    if bound.scheme.sketch_words > 0 {
        let sketches = texts.map(|text| sketch(bound, text));
        near = bound.signer.may_be_pair(&sketches[0], &sketches[1]);
        look.sketches =
            bound.signer.vectors().and_then(|vectors| vectors.describe_sketches(&sketches[0], &sketches[1]));
        let place = |row: &Emitted| (row.position, row.key);
        let of_b: Vec<(u32, u128)> = b.iter().map(place).collect();
        // Rows are ordered by position and key.
        let keys = a.iter().map(place).filter(|key| of_b.binary_search(key).is_ok()).collect();
        windows = Windows::of(bound, keys, sketches);
    }
    look.ended = match (met, pair, bound.verify()) {
        _ if texts[0].scope() != texts[1].scope() => Ended::Scoped,
        (false, ..) => Ended::Apart,
        (true, ..) if !near => Ended::Sketched,
        (true, None, _) => {
            look.own = loose.and_then(|loose| meet(loose, rows, both).1).map(|pair| pair.score);
            Ended::Judged
        }
        (true, Some(pair), None) => Ended::Pair(pair),
        (true, Some(pair), Some(check)) => {
            let [a, b] = evidence(texts, |text, out| check.evidence(text, out));
            match check.judge(&a, &b, pair) {
                Ok(checked) => checked.map_or(Ended::Checked, Ended::Pair),
                Err(Undecided) => Ended::Undecided,
            }
        }
    };
    look.windows = windows.filter(|_| matches!(look.ended, Ended::Pair(_)));
    look
}

/// Returns the rows of a document.
fn emitted(bound: &Bound<'_>, (doc, text): Numbered<'_, '_>) -> Result<Vec<Emitted>, Reason> {
    let mut out = Signatures::default();
    bound.signer.sign(text, &mut out);
    if let Some(reason) = out.reason() {
        return Err(reason);
    }
    let emitted = |row: Row<'_>| Emitted {
        position: row.position,
        key: row.key,
        order: row.order,
        sketch: row.sketch.to_vec(),
        description: bound.scheme.describe_row.map(|describe| describe(&row)),
    };
    let mut rows: Vec<Emitted> = out.rows(doc).map(emitted).collect();
    if bound.scheme.describe_row.is_none() {
        let keys: Vec<u128> = rows.iter().map(|row| row.key).collect();
        let words = bound.signer.words_of_keys(text, &keys);
        rows.iter_mut().zip(words).for_each(|(row, words)| row.description = words);
    }
    rows.sort_by_key(|row| (row.position, row.key));
    Ok(rows)
}

fn sketch(bound: &Bound<'_>, text: &Analysis<'_>) -> Vec<u64> {
    let mut out = Signatures::default();
    bound.signer.sign(text, &mut out);
    std::mem::take(out.document_sketch())
}

/// Holds the rows of one document with its number.
type Side<'r> = (u64, &'r [Emitted]);

fn rows<'r>(sides: [Side<'r>; 2]) -> impl Iterator<Item = Row<'r>> {
    sides.into_iter().flat_map(|(doc, rows)| {
        let row = move |one: &'r Emitted| Row {
            position: one.position,
            key: one.key,
            order: one.order,
            doc,
            sketch: &one.sketch,
        };
        rows.iter().map(row)
    })
}

/// Returns whether two documents are compared, and the pair that the method finds before verification.
fn meet(bound: &Bound<'_>, documents: u64, sides: [Side<'_>; 2]) -> (bool, Option<Pair>) {
    let layout = bound.layout(documents);
    let encoded = rows(sides).map(|row| bytes(layout, &row)).collect();
    if !folds(bound) {
        return compare(bound, layout, encoded);
    }
    let (mut keys, mut out) = (EqualKeys::new(bound, documents, &NoCopies), EqualRows::default());
    for rows in of_rows(encoded, layout.group_width()) {
        // This call cannot fail, because everything is in memory.
        _ = keys.group(&rows, true, &mut out);
    }
    if out.linked {
        return (true, Some(Pair::new(sides[0].0, sides[1].0, bound.scheme.equal, 1)));
    }
    bound.probe_layout(documents).map_or((false, None), |layout| compare(bound, layout, out.probes))
}

/// Holds the results for the keys that two documents share.
#[derive(Default)]
struct EqualRows {
    /// Whether the two documents are in the same class.
    linked: bool,
    probes: Vec<Vec<u8>>,
}

impl Equal for EqualRows {
    fn link(&mut self, representative: u64, doc: u64) -> error::Result<()> {
        self.linked |= representative != doc;
        Ok(())
    }

    fn probe(&mut self, row: &[u8]) -> error::Result<()> {
        self.probes.push(row.to_vec());
        Ok(())
    }
}

/// Returns whether both documents are in the same window, and the pair that the method finds.
fn compare(bound: &Bound<'_>, layout: RowLayout, rows: Vec<Vec<u8>>) -> (bool, Option<Pair>) {
    let (mut met, mut found) = (false, None);
    let mut sink = |pair: Pair| found = Some(found.map_or(pair, |known: Pair| known.merge(pair)));
    let out = Pairs::new(u64::MAX, &mut sink);
    let mut windows = group::Windows::new(&*bound.signer, layout, None::<&NoCopies>, out);
    let mut scratch = Vec::new();
    for rows in of_rows(rows, layout.group_width()) {
        let mut docs = rows.chunks_exact(layout.width()).map(|row| layout.decode(row).doc);
        let first = docs.next();
        met |= docs.any(|doc| Some(doc) != first);
        // This call cannot fail, because everything is in memory.
        _ = windows.group(&rows, &mut scratch, |_| false);
    }
    windows.finish();
    (met, found)
}

fn bytes(layout: RowLayout, row: &Row<'_>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(layout.width());
    layout.encode(row, &mut bytes);
    bytes
}

/// Returns the number of bits in which two fingerprints differ. A fingerprint consists of the key and sketch of a document's only row.
fn bits_apart(a: &[Emitted], b: &[Emitted]) -> Option<u32> {
    let ([a], [b]) = (a, b) else { return None };
    let sketch = a.sketch.iter().zip(&b.sketch).map(|(x, y)| (x ^ y).count_ones());
    Some((a.key ^ b.key).count_ones() + sketch.sum::<u32>())
}

fn checked(check: Check<'_>, loose: Option<Check<'_>>, texts: [&Analysis<'_>; 2]) -> Vec<Checked> {
    let similarity = |check: &dyn Verify| {
        let [a, b] = evidence(texts, |text, out| check.evidence(text, out));
        let judged = check.compare(&a, &b, Pair::new(0, 1, Score::EQUAL, 1));
        judged.ok().flatten().map(|pair| pair.score.similarity)
    };
    let loose: Vec<&dyn Verify> = loose.iter().flat_map(Check::each).collect();
    let each = check.each().enumerate().map(|(at, check)| {
        let passed = similarity(check);
        let reached = || loose.get(at).copied().and_then(similarity);
        Checked { name: check.name(), passes: passed.is_some(), similarity: passed.or_else(reached) }
    });
    each.collect()
}

/// Returns the values that the rule for classifying pairs computes from the texts.
fn classification(bound: &Bound<'_>, texts: [&Analysis<'_>; 2]) -> Option<Classification> {
    let ((rule, relating), own) = (bound.relating()?, bound.signer.verify()?);
    let [a, b] = evidence(texts, |text, out| own.evidence(text, out));
    let [of_a, of_b] = relating.surplus(&a, &b);
    let letters = |surplus: Surplus, text: &Analysis<'_>| {
        let counted = text.counted().iter().find(|counted| relating.is_word(surplus, counted.word.hash));
        counted.map(|counted| text.word(&counted.word).to_string())
    };
    let word = |surplus, text| SurplusWord { surplus, word: letters(surplus, text) };
    let missing = |title: TitleWords, text| MissingWord {
        title,
        word: letters(Surplus { word: title.word, ..Surplus::default() }, text),
    };
    let [in_a, in_b] = relating.titles(&a, &b, rule.titles);
    let titles = [missing(in_a, texts[0]), missing(in_b, texts[1])];
    let lines = texts.map(|text| Heading::of(text).map(Heading::line));
    let same_line = lines[0].is_some() && lines[0] == lines[1];
    let [says_a, says_b] = evidence(texts, write_contents);
    let subjects = subjects(&says_a, &says_b, contained(&says_a, &says_b));
    Some(Classification {
        rule: *rule,
        words: [word(of_a, texts[0]), word(of_b, texts[1])],
        same_line,
        titles,
        subjects,
    })
}

fn evidence(texts: [&Analysis<'_>; 2], take: impl Fn(&Analysis<'_>, &mut Vec<u64>)) -> [Vec<u64>; 2] {
    texts.map(|text| {
        let mut out = Vec::new();
        take(text, &mut out);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_algorithms::algorithm::Corpus;
    use dupsift_algorithms::corpus::CorpusStats;
    use dupsift_algorithms::recipe::{Chosen, Recipe};
    use dupsift_text::{Pipeline, TextOptions};

    fn look_at(algorithm: &str, a: &str, b: &str) -> Look {
        let recipe = |algorithms: Vec<Chosen>| Recipe { count_copies: true, ..Recipe::new(algorithms) };
        let chosen = Recipe::parse_algorithms(algorithm).unwrap();
        let loose = recipe(chosen.iter().map(Chosen::loosened).collect());
        let stats = CorpusStats::none();
        let corpus = Corpus::new(100, &stats);
        let bound = recipe(chosen).bind(&corpus, &[]).unwrap();
        let loose = loose.bind(&corpus, &[]).unwrap();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let (a, b) = (pipeline.analyse(a), pipeline.analyse(b));
        look(&bound[0], loose.first(), 100, [(3, &a), (7, &b)])
    }

    const A: &str =
        "The quick brown fox jumps over the lazy dog near the old stone bridge. Then it sleeps all day long.";
    const B: &str =
        "The quick brown fox jumps over the lazy dog near the old stone bridge. Then it sleeps all night long.";
    const C: &str = "Собака спит на крыльце. Кот видит рыбу.";

    const D: &str = "Собака спит на крыльце, а кот видит рыбу в пруду за домом и ждёт, пока хозяин уйдёт на работу.";

    fn pair(look: &Look) -> Option<(u64, u64, f32)> {
        let Ended::Pair(pair) = look.ended else { return None };
        Some((pair.a, pair.b, pair.score.similarity))
    }

    #[test]
    fn the_ways_it_can_end() {
        assert_eq!(pair(&look_at("exact", A, A)), Some((3, 7, 1.0)));
        assert_eq!(look_at("exact", A, B).ended, Ended::Apart);
        assert_eq!(look_at("exact", A, " ").ended, Ended::Unsigned);
        assert!(look_at("exact", A, " ").signatures[1].is_err());
        assert!(pair(&look_at("minhash", A, B)).is_some_and(|(_, _, similarity)| similarity > 0.7));
        assert_eq!(look_at("minhash", A, C).ended, Ended::Apart);
        let strict = look_at("minhash:verify=jaccard:0.95", A, B);
        assert_eq!(strict.ended, Ended::Checked);
        let check = &strict.checks[0];
        assert!(!check.passes && check.similarity.is_some_and(|reached| reached > 0.7 && reached < 0.95));
    }

    /// Two checks with separate evidence both report their scores, even if the pair fails one of them.
    #[test]
    fn every_check_reports_its_score() {
        let look = look_at("shingles:threshold=0.9,verify=lcs:0.5", A, B);
        let told: Vec<(bool, bool)> =
            look.checks.iter().map(|check| (check.passes, check.similarity.is_some())).collect();
        assert_eq!(told, [(false, true), (true, true)]);
    }

    #[test]
    fn fingerprints_meet_in_the_second_round() {
        let look = look_at("simhash:distance=16", A, B);
        let Ended::Pair(pair) = look.ended else { panic!("{look:?}") };
        assert_eq!(pair.score.distance, look.bits_apart.map(|bits| bits as f32));
        let same = look_at("simhash", A, A);
        assert_eq!((super::tests::pair(&same), same.bits_apart), (Some((3, 7, 1.0)), Some(0)));
        let far = look_at("simhash", A, D);
        assert!(super::tests::pair(&far).is_none() && far.bits_apart.is_some_and(|bits| bits > 10));
    }

    #[test]
    fn rows_say_what_can_be_read() {
        let look = look_at("three_plus_five", A, B);
        let rows = look.signatures[0].as_ref().unwrap();
        assert_eq!(rows[0].description.as_deref(), Some("20 words, 2 sentences"));
    }
}
