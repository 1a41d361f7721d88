//! Tests `versions` on worked examples, and compares its results with the definition.

use std::collections::BTreeMap;

use super::*;
use crate::measure::cosine;
use crate::testing::in_memory::{all_pairs, counts, run, texts};
use dupsift_core::hash::hash64;

/// Checks that a corpus of at least a thousand documents gets a note about the pairs that the threshold excludes, and that the note names
/// the algorithm that finds these pairs.
#[test]
fn texts_inside_of_much_longer_ones_are_named() {
    let stats = crate::corpus::CorpusStats::none();
    let params = crate::testing::examples::params(&VersionsOfTexts, "");
    let notes =
        |documents| VersionsOfTexts.signer(&params, &Corpus::new(documents, &stats)).expect("a signer").scheme().notes;
    assert!(notes(999).is_empty());
    let notes = notes(1_000);
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].contains("cosine below 0.6") && notes[0].contains("; shingles:preset=contained finds"),
        "{notes:?}"
    );
}

/// Compares the results with (1 - H) times the cosine of the texts plus H times the cosine of their first lines, where H is the value of
/// `head` and the weights come from the whole corpus.
#[test]
fn the_share_of_the_first_line_keeps_the_join_exact() {
    // The first three words are on a separate line.
    let plain = texts(11, 140, 30);
    let broken: Vec<(String, String)> = plain
        .iter()
        .map(|text| {
            let place = text.match_indices(' ').nth(2).map_or(text.len(), |(place, _)| place);
            (text[..place].to_string(), format!("{}\n{}", &text[..place], text[place..].trim_start()))
        })
        .collect();
    let (lines, texts): (Vec<String>, Vec<String>) = broken.into_iter().unzip();
    let known = counts(&plain);
    let df = |word: &str| known.iter().filter(|counts| counts.contains_key(word)).count() as f64;
    let vectors = |texts: &[String]| -> Vec<Vec<(u64, f64)>> {
        let vector = |counts: &BTreeMap<&str, f64>| {
            let weigh = |word: &str, tf: f64| (1.0 + tf.ln()) * (1.0 + 140.0 / df(word)).ln();
            let terms = counts.iter().map(|(word, &tf)| (hash64(word.as_bytes()), weigh(word, tf)));
            terms.collect::<BTreeMap<u64, f64>>().into_iter().collect()
        };
        counts(texts).iter().map(vector).collect()
    };
    let (bodies, heads) = (vectors(&plain), vectors(&lines));
    for (head, threshold) in [(0.1, 0.7), (0.3, 0.8), (0.5, 0.5)] {
        let found =
            run(&VersionsOfTexts, &format!("join=exact,relate=false,head={head},threshold={threshold}"), &texts);
        let expected = all_pairs(texts.len(), |a, b| {
            (1.0 - head) * cosine(&bodies[a], &bodies[b]) + head * cosine(&heads[a], &heads[b]) >= threshold
        });
        assert!(expected.len() > 20 && found.candidates < texts.len() * texts.len() / 2);
        assert_eq!(found.numbers(), expected, "{head} {threshold}");
    }
}
