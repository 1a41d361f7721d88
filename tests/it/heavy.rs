//! Tests the heavy join of `cosine` and `versions`. Compares its result with the result of the exact join, and checks that its work grows
//! only in proportion to the corpus.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::kit::{Numbers, Table, assert_same_bytes, done, numbered, record, samples, write_docs};

/// Returns the similarity of each pair (a, b), and the algorithm's report.
fn found(input: &Path, algorithm: &str, more: &[&str]) -> (BTreeMap<(i64, i64), f32>, serde_json::Value) {
    let algorithm = format!("{algorithm},as=x");
    let done = done(input, &[&["--algorithms", &algorithm], more].concat());
    let table = Table::read(&done.out().join("pairs/algorithm=x"));
    let (a, b, similarity) = (table.numbers("doc_a"), table.numbers("doc_b"), table.floats("similarity"));
    let pairs = (0..a.len()).map(|row| ((a[row], b[row]), similarity[row].unwrap())).collect();
    (pairs, record(&done.out())["algorithms"][0].clone())
}

fn number(run: &serde_json::Value, name: &str) -> u64 {
    run[name].as_u64().unwrap()
}

/// Checks that the heavy join finds only pairs that the exact join also finds, with the same similarity, and misses at most one in 1,000.
#[test]
fn the_heavy_join_finds_what_the_exact_one_does() {
    for threshold in [0.6, 0.68, 0.9] {
        let of =
            |join: &str| found(samples(), &format!("versions:relate=false,threshold={threshold},join={join}"), &[]);
        let ((exact, exact_run), (heavy, heavy_run)) = (of("exact"), of("heavy"));
        assert!(heavy.iter().all(|(pair, similarity)| exact.get(pair) == Some(similarity)), "{threshold}");
        let lost = exact.len() - heavy.len();
        assert!(exact.len() > 800 && lost * 1_000 <= exact.len(), "{threshold}: {lost} of {} lost", exact.len());
        assert!(number(&heavy_run, "candidates") < 4 * heavy.len() as u64, "{heavy_run}");
        // At a high threshold, the exact join makes few comparisons.
        let (exact, heavy) = (number(&exact_run, "compared"), number(&heavy_run, "compared"));
        assert!(threshold > 0.68 || heavy * 2 < exact, "{exact} {heavy}");
    }
}

#[test]
fn threads_and_memory_do_not_show_in_the_heavy_join() {
    let run = |more: &[&str]| done(samples(), &[&["--algorithms", "versions"], more].concat());
    let first = run(&["--threads", "2", "--memory", "1GiB"]);
    for more in [["--threads", "1", "--memory", "32MiB"], ["--threads", "5", "--memory", "96MiB"]] {
        assert_same_bytes(&first.out(), &run(&more).out(), &more.join(" "));
    }
}

/// Checks that a warning is given if the threshold is so low that texts on the same subject form pairs although they do not share two heavy
/// terms.
#[test]
fn a_threshold_too_low_for_the_heavy_join_is_reported() {
    for (settings, told) in [("threshold=0.3", true), ("threshold=0.6", false), ("threshold=0.3,join=exact", false)] {
        let (pairs, run) = found(samples(), &format!("versions:relate=false,{settings}"), &["--limit", "200"]);
        let notes = run["notes"].to_string();
        assert_eq!(notes.contains("join=exact finds all of them"), told, "{settings}: {notes}");
        assert!(!pairs.is_empty());
    }
}

/// Returns pages from the same template, each with some words (`own` is their number) that occur on only two other pages. Every tenth page
/// repeats the previous page except for one word.
fn template_pages(pages: usize, own: usize) -> Vec<String> {
    let template: String = (0..60).map(|n| format!("template{n} ")).collect();
    let mut numbers = Numbers(7);
    let mut all: Vec<Vec<usize>> = Vec::new();
    for page in 0..pages {
        let mut words: Vec<usize> = match page % 10 {
            9 => all[page - 1].clone(),
            _ => (0..own).map(|_| numbers.below(pages * own / 3)).collect(),
        };
        words[0] = if page % 10 == 9 { numbers.below(pages * own / 3) } else { words[0] };
        all.push(words);
    }
    let page = |words: &Vec<usize>| words.iter().map(|n| format!(" own{n}")).collect::<String>();
    all.iter().map(|words| template.clone() + &page(words)).collect()
}

/// Checks that pages from the same template are not all compared with each other, even if they have fewer than eight unique words. Counts
/// comparisons instead of measuring time.
#[test]
fn pages_of_a_template_cost_in_proportion() {
    let folder = tempfile::tempdir().unwrap();
    for own in [2, 4, 7, 15] {
        let counts = [1_250, 5_000].map(|pages| {
            let input = folder.path().join(format!("{pages}-{own}.parquet"));
            write_docs(&input, &numbered(template_pages(pages, own)), 1_000);
            let of = |join: &str| found(&input, &format!("versions:relate=false,threshold=0.68,join={join}"), &[]);
            let ((exact, _), (heavy, run)) = (of("exact"), of("heavy"));
            let (exact, heavy): (BTreeSet<_>, BTreeSet<_>) = (exact.into_keys().collect(), heavy.into_keys().collect());
            let lost = exact.difference(&heavy).count();
            assert!(heavy.is_subset(&exact), "{pages} pages, {own} own words");
            assert!(own < 4 || exact.len() >= pages / 20, "{pages} pages, {own} own words: {} pairs", exact.len());
            assert!(lost * 500 <= exact.len(), "{pages} pages, {own} own words: {lost} of {} lost", exact.len());
            (number(&run, "compared"), number(&run, "candidates"))
        });
        let [small, large] = counts;
        assert!(large.0 <= 5_000 * 60, "{own} own words: {} comparisons of 5,000 pages", large.0);
        assert!(large.0 <= 5 * small.0 && large.1 <= 5 * small.1.max(100), "{own} own words: {counts:?}");
    }
}

/// Checks pages that consist mostly of their template, so that nearly all of their keys are common words. Two pages are compared only if
/// the template alone could make them a pair.
#[test]
fn pages_of_common_words_meet_where_these_could_make_a_pair() {
    let folder = tempfile::tempdir().unwrap();
    let mut pages = template_pages(600, 4);
    // Three pages contain only words from the template, in different orders. The last page also has a unique word.
    let words = |from: usize| (0..60).map(|n| format!("template{} ", (n * 7 + from) % 60)).collect::<String>();
    pages.extend([words(3), words(11), words(17) + "alone"]);
    let input = folder.path().join("common.parquet");
    write_docs(&input, &numbered(pages), 1_000);
    let of = |join: &str| found(&input, &format!("versions:relate=false,threshold=0.6,join={join}"), &[]);
    let ((exact, _), (heavy, run)) = (of("exact"), of("heavy"));
    assert!([(600, 601), (600, 602), (601, 602)].iter().all(|pair| exact.contains_key(pair)), "{exact:?}");
    assert_eq!(heavy, exact);
    assert!(number(&run, "compared") < 30 * 600, "{run}");
}

/// Checks a corpus with only one pair, and a corpus of texts with one or two words.
#[test]
fn small_corpora_and_short_texts_meet() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("short.parquet");
    let texts = ["one two three four", "one two three five", "alpha", "alpha, alpha", "alpha beta", "gamma", "!"];
    write_docs(&input, &numbered(texts.map(String::from)), 10);
    for threshold in [0.3, 0.6, 0.9] {
        let of = |join: &str| {
            found(&input, &format!("cosine:tf=sublinear,idf=false,threshold={threshold},join={join}"), &[]).0
        };
        assert_eq!(of("heavy"), of("exact"), "{threshold}");
    }
    assert_eq!(found(&input, "cosine:tf=sublinear,idf=false,threshold=0.6,join=heavy", &[]).0.len(), 4);
}
