//! Compares `margin=` with its definition, applied to the pairs of the same algorithm without a margin.

use std::collections::{BTreeMap, BTreeSet};

use crate::kit::{Table, done, numbered, program, samples, write_docs};

/// A map from (a, b) to (similarity, distance), without exact copies, because the rule is applied to one document per group of copies.
type Scored = BTreeMap<(i64, i64), (f32, Option<f32>)>;

fn scored(algorithm: &str) -> (Scored, usize) {
    let done = done(samples(), &["--algorithms", &format!("{algorithm},as=x")]);
    let table = Table::read(&done.out().join("pairs/algorithm=x"));
    let (a, b) = (table.numbers("doc_a"), table.numbers("doc_b"));
    let (similarity, distance) = (table.floats("similarity"), table.floats("distance"));
    let matched = table.texts("matched_by");
    let rows = (0..a.len()).filter(|&row| matched[row] != "copy");
    let scored = rows.map(|row| ((a[row], b[row]), (similarity[row].unwrap(), distance[row]))).collect();
    (scored, matched.iter().filter(|matched| *matched == "copy").count())
}

/// Applies the definition of the rule to all pairs, and returns the kept pairs.
fn rule(all: &Scored, within: f32, either: bool, whole: Option<f32>) -> BTreeSet<(i64, i64)> {
    let mut best: BTreeMap<i64, f32> = BTreeMap::new();
    for (&(a, b), &(similarity, _)) in all {
        for doc in [a, b] {
            let known = best.entry(doc).or_insert(0.0);
            *known = known.max(similarity);
        }
    }
    let comes_within = |a: i64, b: i64, similarity: f32| {
        let (a, b) = (best[&a], best[&b]);
        similarity + within + 1e-6 >= if either { a.min(b) } else { a.max(b) }
    };
    let edges: BTreeSet<(i64, i64)> =
        all.iter().filter(|((a, b), score)| comes_within(*a, *b, score.0)).map(|(pair, _)| *pair).collect();
    let mut label: BTreeMap<i64, i64> = best.keys().map(|&doc| (doc, doc)).collect();
    loop {
        let mut changed = false;
        for (a, b) in &edges {
            let least = label[a].min(label[b]);
            changed |= label.insert(*a, least) != Some(least);
            changed |= label.insert(*b, least) != Some(least);
        }
        if !changed {
            break;
        }
    }
    let stays = |(&(a, b), &(similarity, distance)): (&(i64, i64), &(f32, Option<f32>))| {
        let near = whole.is_some_and(|whole| distance.unwrap_or(1.0 - similarity) <= whole + 1e-6);
        (edges.contains(&(a, b)) || (near && label[&a] == label[&b])).then_some((a, b))
    };
    all.iter().filter_map(stays).collect()
}

/// Checks the pairs against the definition. Copies of a text have the same best partner, so the definition may consider all copies although
/// the program considers only one.
#[test]
fn what_stays_is_what_the_definition_says() {
    for method in
        ["cosine:tf=sublinear,threshold=0.6", "minhash:bands=20,rows=4,verify=jaccard:0.4", "shingles:threshold=0.5"]
    {
        let (all, copies) = scored(method);
        for (typed, within, either, whole) in [
            ("0.05", 0.05, false, None),
            ("either:0.02", 0.02, true, None),
            ("either:0.02:0.25", 0.02, true, Some(0.25)),
            ("0:6", 0.0, false, Some(6.0)),
        ] {
            let (left, left_copies) = scored(&format!("{method},margin={typed}"));
            let expected = rule(&all, within, either, whole);
            assert_eq!(left.keys().copied().collect::<BTreeSet<_>>(), expected, "{method} {typed}");
            assert_eq!(left_copies, copies);
            assert!(left.iter().all(|(pair, score)| all[pair] == *score));
            assert!(whole == Some(6.0) || (!expected.is_empty() && expected.len() < all.len()), "{method} {typed}");
        }
    }
}

/// Checks five versions of a page, each of which is one step from the previous version. With only a margin, the pairs of consecutive
/// versions are kept; with `:D`, all ten pairs are kept.
#[test]
fn clusters_of_versions_stay_whole() {
    let words: Vec<String> = (0..120).map(|n| format!("w{n}")).collect();
    let version = |version: usize| -> String {
        let step = |(n, word): (usize, &String)| if n / 6 < version { format!("{word}x") } else { word.clone() };
        words.iter().enumerate().map(step).collect::<Vec<_>>().join(" ")
    };
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    write_docs(&input, &numbered((0..5).map(version)), 100);
    let count = |margin: &str| {
        let out = folder.path().join("out");
        let algorithm = format!("cosine:tf=sublinear,idf=false,threshold=0.5,margin={margin},as=x");
        let mut command = program();
        command.arg("run").arg(&input).arg("--out").arg(&out).args(["--overwrite", "--algorithms", &algorithm]);
        assert!(command.output().unwrap().status.success());
        Table::read(&out.join("pairs/algorithm=x")).numbers("doc_a").len()
    };
    assert_eq!((count("none"), count("0.01"), count("0.01:0.2")), (10, 4, 10));
}

#[test]
fn equal_signatures_have_no_margin() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let more = ["--algorithms", "tf:margin=0.1"];
    crate::kit::run(&[samples()], &out, &more).ends_with(2).says(&["equal signatures have none; add verify="]);
    crate::kit::run(&[samples()], &out, &["--algorithms", "tf:margin=0.1,verify=lcs:0.5"]).ends_with(0);
}

/// Checks that the edited version of a page with copies is found, although the heaviest words of the page occur only in the copies.
#[test]
fn a_copy_hides_no_version_from_heavy_keys() {
    let background = (0..300).map(|n| (0..60).map(|w| format!("b{}", (n * 37 + w * w * 11) % 900)).collect::<Vec<_>>());
    let version = |own: &str| -> String {
        let common = (0..90).map(|n| format!("b{}", n * 10));
        common.chain((0..9).map(|n| format!("{own}{n}"))).collect::<Vec<_>>().join(" ")
    };
    let folder = tempfile::tempdir().unwrap();
    for copies in [1, 2, 5] {
        let texts = background.clone().map(|words| words.join(" "));
        let pages = (0..copies).map(|_| version("x")).chain([version("y")]);
        let input = folder.path().join(format!("{copies}.parquet"));
        write_docs(&input, &numbered(pages.chain(texts)), 100);
        for algorithm in ["versions:as=x", "versions:join=exact,as=x"] {
            let done = done(&input, &["--algorithms", algorithm]);
            let table = Table::read(&done.out().join("pairs/algorithm=x"));
            let pairs = table.numbers("doc_a").into_iter().zip(table.numbers("doc_b")).collect::<BTreeSet<_>>();
            // Each copy is in a pair with the first document that has the same text, and the version is in a pair with this first document.
            let star = (1..=copies).map(|other| (0, other)).collect();
            assert_eq!(pairs, star, "{copies} copies, {algorithm}");
        }
    }
}
