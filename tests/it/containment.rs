//! Tests the search for texts contained in other texts, which uses the rarest shingles of the smaller text. The result equals the result of
//! comparing all pairs, but the cost grows only in proportion to the corpus.

use std::path::Path;

use crate::kit::{Numbers, Table, assert_same_bytes, done, numbered, record, result_bytes, samples, write_docs};

/// Returns (id, id, similarity, rules) for each pair, and the report of the algorithm.
fn found(input: &Path, settings: &str, more: &[&str]) -> (Vec<(i64, i64, String)>, serde_json::Value) {
    let algorithm = format!("shingles:measure=containment,{settings},as=x");
    let done = done(input, &[&["--algorithms", &algorithm], more].concat());
    let table = Table::read(&done.out().join("pairs/algorithm=x"));
    let (a, b, similarity) = (table.numbers("doc_a"), table.numbers("doc_b"), table.floats("similarity"));
    let pairs = (0..a.len()).map(|row| (a[row], b[row], format!("{:?}", similarity[row]))).collect();
    (pairs, record(&done.out())["algorithms"][0].clone())
}

fn number(run: &serde_json::Value, name: &str) -> u64 {
    run[name].as_u64().unwrap()
}

#[test]
fn the_rarest_find_what_comparing_all_with_all_does() {
    for settings in ["threshold=0.8", "threshold=0.5,unit=word,ngram=2", "threshold=0.95,sketch=mod_m,m=5"] {
        let of = |join: &str| {
            let algorithm = format!("shingles:measure=containment,{settings},join={join},as=x");
            done(samples(), &["--algorithms", &algorithm])
        };
        let (exact, rarest) = (of("exact"), of("rarest"));
        let bytes = |out: &Path| {
            let mut bytes = result_bytes(out);
            bytes.retain(|name, _| ["pairs", "clusters", "removed"].iter().any(|part| name.starts_with(part)));
            bytes
        };
        let (expected, bytes) = (bytes(&exact.out()), bytes(&rarest.out()));
        assert!(expected.len() >= 3 && bytes == expected, "{settings}: {:?}", bytes.keys());
        let [exact, rarest] = [exact, rarest].map(|done| record(&done.out())["algorithms"][0].clone());
        assert!(number(&exact, "pairs") > 500, "{settings}");
        let [candidates, before] = [&rarest, &exact].map(|run| number(run, "candidates"));
        assert!(candidates < 3 * number(&exact, "pairs") && candidates < before, "{settings}: {candidates} {before}");
        assert!(number(&rarest, "compared") * 2 < number(&exact, "compared"), "{settings}: {rarest}");
    }
}

#[test]
fn threads_and_memory_do_not_show_in_the_rarest() {
    let run = |more: &[&str]| done(samples(), &[&["--algorithms", "shingles:preset=contained"], more].concat());
    let first = run(&["--threads", "2", "--memory", "1GiB"]);
    for more in [["--threads", "1", "--memory", "32MiB"], ["--threads", "5", "--memory", "96MiB"]] {
        assert_same_bytes(&first.out(), &run(&more).out(), &more.join(" "));
    }
}

/// Returns text that consists of this many eight-letter words.
fn words(count: usize, numbers: &mut Numbers) -> String {
    let mut word = || (0..8).map(|_| char::from(b'a' + numbers.below(26) as u8)).chain([' ']).collect::<String>();
    (0..count).map(|_| word()).collect()
}

/// Returns pages whose first half is a template. Every tenth page contains the previous page and additional text of the same length.
fn template_pages(pages: usize) -> Vec<String> {
    let mut numbers = Numbers(7);
    let template = words(40, &mut numbers);
    let mut all: Vec<String> = Vec::new();
    for page in 0..pages {
        let own = words(40, &mut numbers);
        all.push(match page % 10 {
            9 => format!("{} {own} {own}", all[page - 1]),
            _ => template.clone() + &own,
        });
    }
    all
}

/// Checks the growth of the cost by counting comparisons instead of measuring time.
#[test]
fn pages_of_a_template_cost_in_proportion() {
    let folder = tempfile::tempdir().unwrap();
    let counts = [400, 1_600].map(|pages| {
        let input = folder.path().join(format!("{pages}.parquet"));
        write_docs(&input, &numbered(template_pages(pages)), 500);
        let (found, run) = found(&input, "threshold=0.8", &[]);
        assert_eq!(found.len(), pages / 10);
        assert!(found.iter().all(|&(a, b, _)| (a % 10, b) == (8, a + 1)));
        (number(&run, "compared"), number(&run, "candidates"))
    });
    let [small, large] = counts;
    assert!(large.0 < 1_600 * 20 && large.1 < 1_600 / 4, "{counts:?}");
    assert!(large.0 <= 5 * small.0 && large.1 <= 5 * small.1, "{counts:?}");
}

/// Checks that short texts with different words do not form candidate pairs with texts that have many words. Judged only by its bitmap,
/// which is full, a text with many words could contain any short text.
#[test]
fn long_texts_among_short_ones_are_no_candidates() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(3);
    let mut texts: Vec<String> = (0..20).map(|_| words(20_000, &mut numbers)).collect();
    texts.extend((0..400).map(|_| words(30, &mut numbers)));
    // Ten of the long texts contain a short text.
    (0..10).for_each(|at| texts[at] = format!("{} {}", texts[at], texts[100 + at]));
    let input = folder.path().join("long.parquet");
    write_docs(&input, &numbered(texts), 100);
    let (pairs, run) = found(&input, "threshold=0.8", &[]);
    assert_eq!(
        pairs.iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>(),
        (0..10).map(|n| (n, 100 + n)).collect::<Vec<_>>()
    );
    assert!(number(&run, "candidates") < 1_000, "{run}");
}

/// Checks that comparisons are limited and skipped comparisons are counted if all documents use the same shingle as a key.
#[test]
fn what_the_bound_leaves_out_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("short.parquet");
    let texts = (0..250).map(|n| format!("spring{}", char::from_u32(0x4E00 + n).unwrap()));
    write_docs(&input, &numbered(texts), 100);
    let (all, whole) = found(&input, "threshold=0.6", &[]);
    assert_eq!((all.len(), number(&whole, "left_out")), (250 * 249 / 2, 0));
    let (some, run) = found(&input, "threshold=0.6", &["--max-candidates", "3000"]);
    assert!(some.len() < all.len() && number(&run, "left_out") > 0, "{run}");
    assert_eq!(number(&run, "compared") + number(&run, "left_out"), number(&whole, "compared"));
}
