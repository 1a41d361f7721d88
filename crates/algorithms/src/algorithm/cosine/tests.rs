//! Tests `cosine` on worked examples, and compares it with the definition.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::measure::cosine;
use crate::testing::examples::sign;
use crate::testing::in_memory::{all_pairs, counts, run, texts};
use dupsift_core::hash::hash64;

#[test]
fn worked_values() {
    let of = |typed: &str, a: &str, b: &str| {
        let found = run(&Cosine, typed, &[a.to_string(), b.to_string()]);
        found.pairs.get(&(0, 1)).map(|pair| pair.score.similarity)
    };
    assert_eq!(of("idf=false,threshold=0.75", "a b c d", "d c b e"), Some(0.75));
    assert_eq!(of("idf=false,threshold=0.76", "a b c d", "d c b e"), None);
    // The vector of a text repeated twice has the same direction.
    assert_eq!(of("idf=false,threshold=1", "a b b", "a b b, a b b."), Some(1.0));
    // The weights are ln 2 for the shared words and ln 3 for the other words.
    let (common, own) = (2f64.ln().powi(2), 3f64.ln().powi(2));
    let expected = (3.0 * common / (3.0 * common + own)) as f32;
    assert_eq!(of("threshold=0.5", "a b c d", "d c b e"), Some(expected));
    // Characters: 网 2 页 2 and 网 2 页 1.
    let hanzi = of("unit=hanzi,han_only=true,idf=false,threshold=0.9", "网页 a 网页", "网页网 b").unwrap();
    assert!((f64::from(hanzi) - 6.0 / (8.0f64 * 5.0).sqrt()).abs() < 1e-6);
}

#[test]
fn what_has_no_vector_has_no_signature() {
    assert_eq!(sign(&Cosine, "", "?!"), Err("no words"));
    assert_eq!(sign(&Cosine, "unit=hanzi,han_only=true", "no Chinese"), Err("no Han characters"));
    // Without counts, any term may occur in other documents. After the first of four equally weighted terms, 0.87 of the length remains.
    assert_eq!(sign(&Cosine, "threshold=0.9", "a b c d").unwrap().len(), 1);
    assert_eq!(sign(&Cosine, "threshold=0.8", "a b c d").unwrap().len(), 2);
}

/// Checks all pairs of random texts against the definition.
#[test]
fn finds_exactly_the_pairs_of_the_definition() {
    let texts = texts(7, 160, 30);
    let counts = counts(&texts);
    let df = |word: &str| counts.iter().filter(|counts| counts.contains_key(word)).count() as f64;
    for (typed, sublinear, idf) in [("", false, true), ("tf=sublinear", true, true), ("idf=false", false, false)] {
        let vectors: Vec<Vec<(u64, f64)>> = counts
            .iter()
            .map(|counts| {
                let weigh = |word: &str, tf: f64| {
                    let tf = if sublinear { 1.0 + tf.ln() } else { tf };
                    if idf { tf * (1.0 + texts.len() as f64 / df(word)).ln() } else { tf }
                };
                let terms = counts.iter().map(|(word, &tf)| (hash64(word.as_bytes()), weigh(word, tf)));
                terms.collect::<BTreeMap<u64, f64>>().into_iter().collect()
            })
            .collect();
        for threshold in [0.95, 0.9, 0.6, 0.3] {
            let found = run(&Cosine, &format!("{typed},threshold={threshold}"), &texts);
            let expected = all_pairs(texts.len(), |a, b| cosine(&vectors[a], &vectors[b]) >= threshold);
            assert!(expected.len() > 20 && found.candidates < texts.len() * texts.len() / 2);
            assert_eq!(found.numbers(), expected, "{typed} {threshold}");
        }
    }
}

#[test]
fn heavy_terms_find_nearly_all_of_what_is_near() {
    let texts = texts(5, 200, 30);
    let exact = run(&Cosine, "threshold=0.8", &texts);
    let heavy = run(&Cosine, "threshold=0.8,join=heavy,heavy=6", &texts);
    assert!(heavy.numbers().is_subset(&exact.numbers()));
    let (found, all) = (heavy.pairs.len(), exact.pairs.len());
    assert!(all > 20 && found * 100 >= all * 95, "{found} of {all}");
}

#[test]
fn pairs_of_characters_are_found_as_well() {
    let texts = texts(3, 120, 30);
    // Each word becomes a Han character.
    let han: Vec<String> = texts
        .iter()
        .map(|text| {
            let number = |word: &str| word[1..].parse::<u32>().ok();
            text.split(' ').filter_map(|word| char::from_u32(0x4E00 + number(word)?)).collect()
        })
        .collect();
    let words = run(&Cosine, "idf=false,threshold=0.8", &texts).numbers();
    assert!(words.len() > 20);
    assert_eq!(run(&Cosine, "idf=false,threshold=0.8,unit=hanzi", &han).numbers(), words);
    let pairs: BTreeSet<_> = run(&Cosine, "idf=false,threshold=0.8,unit=han_bigram", &han).numbers();
    assert!(!pairs.is_empty() && pairs.is_subset(&words), "{} of {}", pairs.len(), words.len());
}
