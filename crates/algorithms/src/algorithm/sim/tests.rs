//! Tests `sim` on worked examples, and compares it with the definition.

use super::*;
use crate::testing::examples::{params, sign, sign_with, words_of_rows};
use crate::testing::in_memory::{all_pairs, counts, run, texts};

fn distance(typed: &str, a: &[(u64, f64)], b: &[(u64, f64)]) -> f64 {
    let stats = CorpusStats::none();
    let signer = SimSigner {
        words: 5,
        min_keywords: 1,
        delta: 1.0,
        quad: typed == "quad",
        by_digest: true,
        by_distance: true,
        both: false,
        weight: "tf",
        min_df: 1,
        stats: &stats,
    };
    let bytes = |terms: &[(u64, f64)]| {
        let terms: Vec<Term> = terms.iter().map(|&(hash, weight)| Term { hash, weight, df: 1 }).collect();
        sketch(&terms, 5)
    };
    let (a, b) = (bytes(a), bytes(b));
    let row = |sketch| Row { position: 0, key: 0, order: 0, doc: 0, sketch };
    signer.distance(&row(&a), &row(&b), None).unwrap()
}

#[test]
fn distances_of_the_worked_vectors() {
    let one = [(1, 12.0), (2, 10.0), (3, 7.0)];
    let (near, double) = ([(1, 11.0), (2, 10.0), (3, 8.0)], [(1, 24.0), (2, 20.0), (3, 14.0)]);
    let third = [(1, 12.0), (2, 10.0), (4, 7.0)];
    for (typed, to_near, to_double) in [("cosine", 0.0034, 0.0), ("quad", 0.0035, 0.2)] {
        assert!((distance(typed, &one, &near) - to_near).abs() < 5e-5, "{typed}");
        assert!((distance(typed, &one, &double) - to_double).abs() < 1e-7, "{typed}");
        assert!((distance(typed, &one, &third) - 0.1672).abs() < 5e-5, "{typed}");
        assert_eq!(distance(typed, &one, &[(8, 1.0)]), 1.0);
        assert_eq!(distance(typed, &one, &one), 0.0);
        // One of five equally heavy keywords is replaced.
        let five = |last| [(1, 1.0), (2, 1.0), (3, 1.0), (4, 1.0), (last, 1.0)];
        assert!((distance(typed, &five(5), &five(6)) - 0.2).abs() < 1e-12);
    }
}

#[test]
fn each_key_has_a_keyword_or_the_list() {
    let pipeline = dupsift_text::Pipeline::new(&dupsift_text::TextOptions::default()).unwrap();
    let stats = CorpusStats::none();
    let signer = |typed| Sim.signer(&params(&Sim, typed), &Corpus::new(9, &stats)).unwrap();
    let document = pipeline.analyse("в б б а а а г");
    let words = |typed| words_of_rows(&*signer(typed), &document);
    assert_eq!(words("words=3,combine=md5_only"), ["а б в"]);
    assert_eq!(words("words=3,combine=and"), ["а б в"]);
    let (all, keywords) = (words("words=3"), words("words=3,combine=sim_only"));
    assert_eq!((&*all[0], &all[1..]), ("а б в", &keywords[..]));
    assert!(
        !keywords.is_empty() && keywords.iter().all(|word| ["а", "б", "в"].contains(&word.as_str())),
        "{keywords:?}"
    );
    // A word that is not a keyword has no key.
    assert_eq!(signer("words=3").words_of_keys(&document, &[hash64("г".as_bytes()).into()]), [None]);
    assert_eq!(signer("").words_of_keys(&pipeline.analyse("!"), &[md5(b"")]), [None]);
}

#[test]
fn the_digest_is_of_the_sorted_keywords() {
    // Without counts, the weight of a word is its share of the words in the text.
    let rows = sign(&Sim, "words=3,combine=md5_only", "в б б а а а г").unwrap();
    assert_eq!((rows.len(), rows[0].1), (1, md5("а б в".as_bytes())));
    let rows = sign(&Sim, "words=3", "в б б а а а г").unwrap();
    assert_eq!(rows[0].1, md5("а б в".as_bytes()));
    assert!(rows.len() > 1 && rows[1..].iter().all(|row| row.0 == SIM && row.3 == rows[0].3));
    assert_eq!(sign(&Sim, "", "а б"), Err("fewer keywords than min_keywords"));
    assert_eq!(sign(&Sim, "", "?!"), Err("no keywords"));
    let stats = CorpusStats::none();
    let refused = Sim.signer(&params(&Sim, "words=2"), &Corpus::new(9, &stats)).err().unwrap().to_string();
    assert!(refused.contains("min_keywords=3") && refused.contains("words=2"));
    let signer = Sim.signer(&params(&Sim, "combine=md5_only"), &Corpus::new(9, &stats)).unwrap();
    assert!(signer.scheme().is_equivalence() && sign_with(signer.as_ref(), "а б в").is_ok());
}

#[test]
fn words_of_one_document_are_no_keywords_and_words_of_all_weigh_nothing() {
    let of = |text: &str| text.to_string();
    let texts = [of("a b c d one"), of("a b c d two"), of("x y z d"), of("x y z d")];
    // d is in every text, so its weight is nearly zero; "one" and "two" are in a single document.
    let found = run(&Sim, "", &texts);
    assert_eq!(found.numbers(), [(0, 1), (2, 3)].into());
    assert_eq!(found.pairs[&(0, 1)].matched, 0b11);
    assert_eq!(run(&Sim, "min_df=1,combine=md5_only", &texts).numbers(), [(2, 3)].into());
}

/// Compares the results for all pairs of random texts with the definition, and the results for the four values of `combine` with each
/// other.
#[test]
fn finds_exactly_the_pairs_of_the_definition() {
    let texts = texts(5, 160, 40);
    let counts = counts(&texts);
    let df = |word: &str| counts.iter().filter(|counts| counts.contains_key(word)).count() as f64;
    let keywords: Vec<Vec<(&str, f64)>> = counts
        .iter()
        .zip(&texts)
        .map(|(counts, text)| {
            let length = text.split(' ').count() as f64;
            let all = counts.iter().filter(|(word, _)| df(word) >= 2.0);
            let idf = |word: &str| (texts.len() as f64 / df(word)).ln();
            let mut all: Vec<_> = all.map(|(word, tf)| (*word, tf / length * idf(word))).collect();
            all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
            all.truncate(6);
            all.sort_by(|a, b| a.0.cmp(b.0));
            all
        })
        .collect();
    let words = |at: usize| -> Vec<&str> { keywords[at].iter().map(|one| one.0).collect() };
    let near = |a: usize, b: usize, quad: bool, delta: f64| {
        let other = |word: &str| keywords[b].iter().find(|one| one.0 == word).map_or(0.0, |one| one.1);
        let product: f64 = keywords[a].iter().map(|one| one.1 * other(one.0)).sum();
        let square = |at: usize| keywords[at].iter().map(|one| one.1 * one.1).sum::<f64>();
        let length = if quad { (square(a) + square(b)) / 2.0 } else { (square(a) * square(b)).sqrt() };
        1.0 - product / length < delta
    };
    for (distance, delta) in [("cosine", 0.1), ("cosine", 0.4), ("quad", 0.1), ("quad", 0.4)] {
        let quad = distance == "quad";
        let of = |combine: &str| {
            let typed = format!("words=6,delta={delta},distance={distance},combine={combine}");
            run(&Sim, &typed, &texts).numbers()
        };
        let [or, and, sim, md5] = ["or", "and", "sim_only", "md5_only"].map(of);
        assert!(sim.len() > 20 && and.len() > 5, "{} {}", sim.len(), and.len());
        assert_eq!(sim, all_pairs(texts.len(), |a, b| near(a, b, quad, delta)));
        assert_eq!(md5, all_pairs(texts.len(), |a, b| words(a) == words(b)));
        assert_eq!((or, and), (&sim | &md5, &sim & &md5));
    }
}
