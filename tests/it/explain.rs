//! Tests that what `dupsift explain` reports about two documents agrees with the run, for every algorithm.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use dupsift_engine::engine::Progress;
use dupsift_study::{self as study, ExplainedAlgorithm, Explanation, Finished, Verdict};
use serde_json::Value;

use crate::kit::{
    ALL, Doc, Done, PairLine, Ran, Table, done, labels, numbered, pairs, program, record, samples, write_docs,
};

/// A run of all algorithms on the samples.
static RUN: LazyLock<Done> = LazyLock::new(|| done(samples(), &["--algorithms", ALL]));

fn explain(out: &Path, a: i64, b: i64) -> Explanation {
    let finished = Finished::open(out).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    let asked = [a.to_string(), b.to_string()];
    let (progress, cancel) = (Progress::hidden(), AtomicBool::new(false));
    study::explain(&finished, &options, &asked, true, &progress, &cancel).unwrap()
}

/// Runs `dupsift explain` as a separate process.
fn typed(out: &Path, more: &[&str]) -> Ran {
    Ran::of(program().arg("explain").arg(out).args(more).args(["--no-progress", "--threads", "2"]).output().unwrap())
}

type Tables = BTreeMap<String, BTreeMap<(i64, i64), PairLine>>;

fn tables(out: &Path) -> Tables {
    let table = |label: &String| {
        let lines = pairs(out, label).into_iter().map(|line| ((line.doc_a, line.doc_b), line)).collect();
        (label.clone(), lines)
    };
    labels(out).iter().map(table).collect()
}

/// Returns the similarity of the two documents, computed only from their texts and their recomputed signatures.
fn today(one: &ExplainedAlgorithm) -> Option<f32> {
    match one.checks.last() {
        Some(check) => check.similarity.filter(|_| one.checks.iter().all(|check| check.passes)),
        None => one.score.map(|score| score.similarity),
    }
}

fn agrees(found: &Explanation, tables: &Tables) -> BTreeSet<String> {
    let docs = [found.documents[0].doc, found.documents[1].doc].map(|doc| doc as i64);
    let mut paired = BTreeSet::new();
    assert_eq!(found.algorithms.len(), tables.len());
    for one in &found.algorithms {
        let place = format!("{} {docs:?}: {}", one.label, one.why);
        let known = tables[&one.label].get(&(docs[0].min(docs[1]), docs[0].max(docs[1])));
        assert_eq!(one.verdict == Verdict::Pair, known.is_some(), "{place}");
        // Two documents that are a pair on their own are also a pair in this run, because the run skipped no comparisons.
        assert_ne!(one.verdict, Verdict::LeftOut, "{place}");
        let Some(known) = known else { continue };
        let pair = one.pair.as_ref().unwrap();
        assert_eq!((pair.similarity, pair.distance, pair.verified), (known.similarity, known.distance, known.verified));
        assert_eq!(one.unsigned, [None, None], "{place}");
        // Only with `three_plus_five` can two documents be a pair because of the documents between them in a chain.
        let chained = one.why.contains("other documents in the group");
        assert!(!chained || one.label == "three_plus_five", "{place}");
        if !chained {
            assert_eq!(today(one), Some(known.similarity), "{place}");
            paired.insert(one.label.clone());
        }
    }
    paired
}

#[test]
fn signatures_and_scores_are_those_of_the_run_for_every_algorithm() {
    let out = RUN.out();
    let tables = tables(&out);
    let mut asked = BTreeSet::new();
    for table in tables.values() {
        // Exact copies have their own test, because every algorithm reports them as a pair.
        let near: Vec<&(i64, i64)> =
            table.iter().filter(|(_, line)| line.matched_by != "copy").map(|(docs, _)| docs).collect();
        asked.extend([0, near.len() / 2, near.len().saturating_sub(1)].iter().filter_map(|&at| near.get(at)).copied());
    }
    let mut paired = BTreeSet::new();
    for (a, b) in asked {
        paired.extend(agrees(&explain(&out, a, b), &tables));
    }
    let found: BTreeSet<String> =
        tables.iter().filter(|(_, table)| !table.is_empty()).map(|(label, _)| label.clone()).collect();
    assert_eq!(paired, found, "every member with pairs was seen with one");
}

#[test]
fn documents_that_are_no_pair_are_explained() {
    let out = RUN.out();
    let tables = tables(&out);
    let rows = record(&out)["documents"]["rows"].as_i64().unwrap();
    let mut verdicts = BTreeSet::new();
    for at in 0..12 {
        // The larger number is given first, for variety.
        let (a, b) = (rows - 1 - at * 17, at * 31);
        for one in explain(&out, a, b).algorithms {
            verdicts.insert(format!("{:?}", one.verdict));
        }
        agrees(&explain(&out, a, b), &tables);
    }
    // Tests pairs of one algorithm that other algorithms compared and rejected.
    let minhash: Vec<&(i64, i64)> = tables["minhash"].keys().collect();
    let strict: Vec<_> = minhash.into_iter().filter(|docs| !tables["simhash"].contains_key(docs)).take(3).collect();
    assert!(!strict.is_empty());
    for (a, b) in strict {
        let found = explain(&out, *b, *a);
        agrees(&found, &tables);
        verdicts.extend(found.algorithms.iter().map(|one| format!("{:?}", one.verdict)));
        let simhash = found.algorithms.iter().find(|one| one.label == "simhash").unwrap();
        assert!(simhash.bits_apart.is_some_and(|bits| bits > 3), "{}", simhash.why);
    }
    assert!(["NoCommonKey", "BelowThreshold", "NoSignature"].iter().all(|one| verdicts.contains(*one)), "{verdicts:?}");
}

/// Checks two documents that share only two heavy words: `explain` reports that they were not compared because their signs differ, and also
/// reports the result that verification would have produced.
#[test]
fn documents_that_signs_keep_apart_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    let text = |own: &str| format!("альфа бета {}", (0..30).map(|n| format!("{own}{n} ")).collect::<String>());
    write_docs(&input, &numbered([text("раз"), text("два"), text("три") + "гамма", text("три")]), 10);
    let done = done(&input, &["--algorithms", "cosine:join=heavy,threshold=0.6"]);
    let cosine = explain(&done.out(), 0, 1).algorithms.remove(0);
    assert_eq!((cosine.verdict, cosine.common_keys > 0, cosine.pair.is_none()), (Verdict::SketchesDiffer, true, true));
    assert!(cosine.why.contains(" of 512 random-projection signs differ, but at most 188 may"), "{}", cosine.why);
    assert!(cosine.why.contains("the check cosine:0.6") && !cosine.checks[0].passes, "{}", cosine.why);
    let pair = explain(&done.out(), 2, 3).algorithms.remove(0);
    assert_eq!(pair.verdict, Verdict::Pair, "{}", pair.why);
}

/// Checks two texts, each of which occurs three times. Words that occur in only one of these texts form no keys in the run, although the
/// counts of the run include the copies.
#[test]
fn copies_are_signed_as_the_run_counted_them() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    let words = |own: &str| (0..30).map(|n| format!("{own}{n} ")).collect::<String>();
    let text = |own: &str| words(own) + &words("общее");
    let texts = ["раз", "раз", "раз", "два", "два", "два"].map(text);
    let strangers = (0..40).map(|n| words(&format!("чужое{n}x")));
    write_docs(&input, &numbered(texts.into_iter().chain(strangers)), 10);
    let done = done(&input, &["--algorithms", "cosine:join=heavy,threshold=0.3"]);
    let cosine = |a: i64, b: i64| explain(&done.out(), a, b).algorithms.remove(0);
    let pair = cosine(0, 3);
    assert_eq!((pair.verdict, pair.common_keys), (Verdict::Pair, 15 * 15 / 4), "{}", pair.why);
    assert!(!pair.why.contains("between them"), "{}", pair.why);
    assert_eq!(cosine(5, 1).rows, cosine(1, 5).rows);
    // The best of the three copies is the first.
    for (a, b) in [(1, 5), (5, 1), (0, 4), (2, 3)] {
        let pair = cosine(a, b);
        assert_eq!((pair.verdict, pair.pair.is_none()), (Verdict::PairNotWritten, true), "{}", pair.why);
        assert!(pair.why.starts_with("56 shared keys, and the check cosine:0.3"), "{}", pair.why);
        let (first, second) = if a < b { ("d0", "d3") } else { ("d3", "d0") };
        let stands = format!("listed as the pair of {first} and {second}, which contain the same two texts");
        assert!(pair.why.ends_with(&stands), "{}", pair.why);
    }
    assert_eq!(cosine(1, 7).verdict, Verdict::NoCommonKey);
    let copies = cosine(1, 2);
    assert_eq!(copies.verdict, Verdict::PairNotWritten);
    assert!(copies.why.contains("they are exact copies, and pairs/ lists each"), "{}", copies.why);
}

/// Checks 80 documents that share two heavy words, which are sufficient to make them similar. Documents 2n and 2n + 1 have further heavy
/// words in common.
#[test]
fn documents_that_a_large_window_keeps_apart_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let text = |n: usize| {
        let own = (0..14).map(|word| format!("слово{}x{word} ", n / 2));
        "альфа бета ".repeat(20)
            + &own.collect::<String>()
            + if n.is_multiple_of(2) { "утром" } else { "вечером" }
    };
    let run = |documents: usize| {
        let input = folder.path().join(format!("{documents}.parquet"));
        // The last document is a copy, which is not in the window.
        write_docs(&input, &numbered((0..documents).chain([5]).map(text)), 100);
        done(&input, &["--algorithms", "cosine:join=heavy,threshold=0.6"])
    };
    let (many, few) = (run(80), run(64));
    let cosine = |done: &Done, a: i64, b: i64| explain(&done.out(), a, b).algorithms.remove(0);
    let cut = cosine(&many, 0, 2);
    assert_eq!((cut.verdict, cut.pair.is_none()), (Verdict::NotCompared, true), "{}", cut.why);
    let figures = "80 documents share these two heavy terms; in groups of more than 64 documents, only documents that share a third heavy term are compared";
    assert!(cut.why.contains(figures) && cut.why.contains("though the check cosine:0.6"), "{}", cut.why);
    assert!(pairs(&few.out(), "cosine").len() > 64 * 63 / 2, "all are alike");
    assert_eq!(cosine(&many, 0, 1).verdict, Verdict::Pair);
    assert_eq!(cosine(&few, 0, 2).verdict, Verdict::Pair);
}

/// Checks that the reason given for rejecting a candidate is its score.
#[test]
fn the_score_of_a_refused_candidate_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    let text = |word: &str| format!("Кот видит большую птицу за высоким окном и долго ждёт её {word} на крыльце дома.");
    write_docs(&input, &numbered([text("утром"), text("днём"), text("утром")]), 10);
    let done = done(&input, &["--algorithms", "minhash:bands=50,rows=1,verify=jaccard:0.9,cosine"]);
    let found = explain(&done.out(), 0, 1);
    let minhash = &found.algorithms[0];
    assert_eq!((minhash.verdict, minhash.checks[0].passes), (Verdict::BelowThreshold, false));
    // There are fifteen words, and the twelfth differs. Four of the eleven windows of five words contain it.
    assert_eq!(minhash.checks[0].similarity, Some(7.0 / 15.0), "{}", minhash.why);
    assert!(minhash.why.contains("gives only 0.467"), "{}", minhash.why);
    let copies = explain(&done.out(), 2, 0);
    assert!(copies.exact_copies && copies.pair && !found.exact_copies);
    assert!(copies.algorithms.iter().all(|one| one.why == "they are exact copies"));
    let removed = copies.documents[0].removed.as_ref().unwrap();
    assert_eq!((removed.kept_doc, removed.kept_id.as_str(), copies.documents[1].removed.is_none()), (0, "d0", true));
    let cluster = copies.algorithms[0].clusters[0].as_ref().unwrap();
    assert_eq!((cluster.representative_doc, cluster.size), (0, 2));
}

/// Checks pairs that are not in the table. A copy is in a pair only with the best document that has the same text. In a group of more than
/// `--max-group` texts with the same signature, a text is in a pair only with the best text.
#[test]
fn a_pair_that_is_not_written_is_one_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    write_docs(&input, &numbered((0..5).map(|_| "Один и тот же текст.")), 10);
    let done = done(&input, &["--algorithms", "exact", "--max-group", "3"]);
    let verdict = |a, b| explain(&done.out(), a, b).algorithms[0].verdict;
    assert_eq!((verdict(0, 4), verdict(3, 4)), (Verdict::Pair, Verdict::PairNotWritten));
    let why = explain(&done.out(), 3, 4).algorithms.remove(0).why;
    assert!(why.contains("pairs/ lists each copy only with the best copy of the text"), "{why}");
    // The words are identical, but the texts are not.
    write_docs(&input, &numbered((0..5).map(|n| format!("Один и тот же текст{}", "!".repeat(n)))), 10);
    let done = crate::kit::done(&input, &["--algorithms", "tf:min_distinct=1", "--max-group", "3"]);
    let one = |a, b| explain(&done.out(), a, b).algorithms.remove(0);
    assert_eq!((one(0, 4).verdict, one(2, 3).verdict), (Verdict::Pair, Verdict::PairNotWritten));
    let why = one(2, 3).why;
    assert!(why.contains("in a cluster of 5 documents; more texts than `max-group=3` allows"), "{why}");
}

fn with_ids(ids: &[&str]) -> Vec<Doc> {
    let docs = numbered((0..ids.len()).map(|n| format!("Текст номер {n}, каких больше нет.")));
    docs.into_iter().zip(ids).map(|(doc, id)| Doc { id: id.to_string(), ..doc }).collect()
}

#[test]
fn documents_are_named_by_id_by_row_or_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs");
    write_docs(&input.join("a.parquet"), &with_ids(&["кот-1", "кот-2", "twice"]), 2);
    write_docs(&input.join("below/b.parquet"), &with_ids(&["x#1", "twice"]), 2);
    let done = done(&input, &["--algorithms", "exact"]);
    let out = done.out();
    let docs = |more: &[&str]| {
        let told: Value =
            serde_json::from_str(&typed(&out, &[more, &["--json"]].concat()).ends_with(0).stdout).unwrap();
        [0, 1].map(|at| told["documents"][at]["doc"].as_i64().unwrap())
    };
    assert_eq!(docs(&["кот-2", "кот-1"]), [1, 0]);
    assert_eq!(docs(&["below/b.parquet#1", "x#1"]), [4, 3]);
    assert_eq!(docs(&["--docs", "2", "4"]), [2, 4]);
    typed(&out, &["twice", "кот-1"]).ends_with(2).says(&["2 documents have the id \"twice\"", "`--docs`: 2, 4"]);
    typed(&out, &["кот-3", "кот-1"]).ends_with(2).says(&["no document has the id \"кот-3\"; did you mean \"кот-1\"?"]);
    typed(&out, &["a.parquet#3", "кот-1"]).ends_with(2).says(&["FILE#ROW"]);
    typed(&out, &["--docs", "5", "0"]).ends_with(2).says(&["from 0 to 4", "\"5\""]);
    typed(&out, &["кот-1", "a.parquet#0"]).ends_with(2).says(&["the same document, number 0"]);
    typed(folder.path(), &["a", "b"]).ends_with(2).says(&["not the output of a finished run"]);
}

/// Checks that statistics and models from a different run are rejected, because they would give different signatures.
#[test]
fn statistics_and_models_of_another_run_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.parquet"), folder.path().join("two.parquet"));
    write_docs(&one, &with_ids(&["a", "b", "c"]), 10);
    write_docs(&two, &with_ids(&["a", "b", "c", "d"]), 10);
    let algorithms = ["--algorithms", "tf_idf,descr_words"];
    let (one, two) = (done(&one, &algorithms), done(&two, &algorithms));
    typed(&one.out(), &["a", "b"]).ends_with(0);
    let table = "stats/words/part-00000.parquet";
    std::fs::copy(two.out().join(table), one.out().join(table)).unwrap();
    typed(&one.out(), &["a", "b"]).ends_with(2).says(&["are damaged, or were written with different text options"]);
    std::fs::remove_file(two.out().join("stats/models/descr_words.parquet")).unwrap();
    typed(&two.out(), &["a", "b"]).ends_with(1).says(&["models/descr_words.parquet"]);
}

/// Checks a text that contains terminal control sequences.
#[test]
fn no_escape_sequence_of_a_text_reaches_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    let evil = "Красный \u{1b}[31mтекст\u{7} и \u{9b}2J конец \u{202e}строки";
    write_docs(&input, &numbered([evil.to_string(), evil.replace("конец", "начало")]), 10);
    let done = done(&input, &["--algorithms", "exact,minhash"]);
    let told = typed(&done.out(), &["d0", "d1", "--full"]).ends_with(0).stdout;
    assert!(told.contains("[-конец-]") && told.contains("{+начало+}"), "{told}");
    assert!(!told.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{told:?}");
}

#[test]
fn one_document_is_held_against_the_one_that_it_goes_for() {
    let out = RUN.out();
    let removed = Table::read(&out.join("removed"));
    let (ids, kept) = (removed.texts("id"), removed.texts("kept_id"));
    for row in [0, ids.len() / 2, ids.len() - 1] {
        let told = typed(&out, &[&ids[row], "--json"]).ends_with(0).stdout;
        let told: Value = serde_json::from_str(&told).unwrap();
        assert_eq!([&told["documents"][0]["id"], &told["documents"][1]["id"]], [&*ids[row], &*kept[row]]);
        assert_eq!(told["documents"][0]["removed"]["kept_id"], *kept[row]);
        assert!(told["notes"].as_array().unwrap().is_empty());
    }
    // A kept document is compared with the most similar document, and this choice is reported.
    let stays = kept.iter().find(|id| !ids.contains(id)).unwrap();
    let told = typed(&out, &[stays]).ends_with(0).stdout;
    assert!(told.contains("the first document is kept; the second document is the most similar"), "{told}");
}

#[test]
fn without_a_kept_document_none_is_said_to_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.parquet");
    let docs: Vec<Doc> = numbered((0..3).map(|n| format!("Текст номер {}, каких больше нет.", n / 2)));
    write_docs(&input, &docs, 8);
    let done = done(&input, &["--algorithms", "exact", "--keep", "none"]);
    let told = typed(&done.out(), &["--docs", "0", "1"]).ends_with(0).stdout;
    assert!(
        told.contains("is also removed, because this run keeps none of the duplicates") && !told.contains("a is kept"),
        "{told}"
    );
    let page = std::fs::read_to_string(done.out().join("report.html")).unwrap();
    assert!(!page.contains("B was kept"));
}
