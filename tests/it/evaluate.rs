//! Tests the figures of `dupsift evaluate`. Checks a finished run against labeled pairs and clusters by brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::Float64Type;
use serde_json::Value;

use crate::kit::{
    ALL, Doc, Done, Numbers, Ran, Table, done, id_pairs, labels, made_docs, names_in, numbered, pairs, program, python,
    run, sample_docs, samples, write_columns, write_docs,
};

const TRUTH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data-samples/truth/pairs.parquet");

pub(crate) fn evaluate(out: &Path, truth: &[&Path], more: &[&str]) -> Ran {
    let mut command = program();
    command.arg("evaluate").arg(out).arg("--no-progress");
    truth.iter().for_each(|file| _ = command.arg("--truth").arg(file));
    Ran::of(command.args(more).output().unwrap())
}

pub(crate) fn evaluation(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("evaluation/evaluation.json")).unwrap()).unwrap()
}

fn figure(value: &Value) -> Option<f64> {
    assert!(value.is_null() || value.is_f64() || value.is_i64(), "{value}");
    value.as_f64()
}

/// Returns a label for each document. Documents in the same component have the same label.
fn components(docs: &[Doc], pairs: &BTreeSet<(String, String)>) -> Vec<usize> {
    let number: BTreeMap<&str, usize> = docs.iter().enumerate().map(|(at, doc)| (doc.id.as_str(), at)).collect();
    let mut labels: Vec<usize> = (0..docs.len()).collect();
    let edges: Vec<(usize, usize)> = pairs.iter().map(|(a, b)| (number[a.as_str()], number[b.as_str()])).collect();
    loop {
        let before = labels.clone();
        for &(a, b) in &edges {
            let least = labels[a].min(labels[b]);
            (labels[a], labels[b]) = (least, least);
        }
        if before == labels {
            return labels;
        }
    }
}

/// Computes B-cubed precision and recall, and the adjusted Rand index, directly from their definitions over all pairs of documents.
fn partition_measures(truth: &[usize], predicted: &[usize]) -> [f64; 3] {
    let n = truth.len();
    let (mut precision, mut recall) = (0.0, 0.0);
    let (mut together, mut t, mut p) = (0.0, 0.0, 0.0);
    for d in 0..n {
        let (mut both, mut in_truth, mut in_predicted) = (0.0, 0.0, 0.0);
        for e in 0..n {
            let (same_t, same_p) = (truth[d] == truth[e], predicted[d] == predicted[e]);
            in_truth += f64::from(same_t);
            in_predicted += f64::from(same_p);
            both += f64::from(same_t && same_p);
        }
        precision += both / in_predicted;
        recall += both / in_truth;
        together += (both - 1.0) / 2.0;
        t += (in_truth - 1.0) / 2.0;
        p += (in_predicted - 1.0) / 2.0;
    }
    let all = (n * (n - 1) / 2) as f64;
    let below = (t + p) / 2.0 - t * p / all;
    let ari = if below == 0.0 { 1.0 } else { (together - t * p / all) / below };
    [precision / n as f64, recall / n as f64, ari]
}

fn over(a: usize, b: usize) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

fn f1(precision: Option<f64>, recall: Option<f64>) -> Option<f64> {
    let (p, r) = (precision?, recall?);
    (p + r > 0.0).then(|| 2.0 * p * r / (p + r))
}

#[track_caller]
pub(crate) fn near(what: &str, came: &Value, expected: Option<f64>) {
    let came = figure(came);
    let same = match (came, expected) {
        (Some(came), Some(expected)) => (came - expected).abs() < 1e-9,
        (came, expected) => came == expected,
    };
    assert!(same, "{what}: {came:?} is not {expected:?}");
}

/// Returns the document that represents each text: the first document that has the text and is in the ground truth, or else the first
/// document that has the text.
fn texts(docs: &[Doc], named: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut first: BTreeMap<(&str, Option<&str>), &str> = BTreeMap::new();
    for doc in docs.iter().filter(|doc| named.contains(&doc.id)).chain(docs) {
        first.entry((&doc.text, doc.title.as_deref())).or_insert(&doc.id);
    }
    let of = |doc: &Doc| (doc.id.clone(), first[&(doc.text.as_str(), doc.title.as_deref())].to_string());
    docs.iter().map(of).collect()
}

/// Converts pairs of documents to pairs of the documents that represent their texts; copies become pairs with their representative.
fn over_texts(pairs: &BTreeSet<(String, String)>, texts: &BTreeMap<String, String>) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for (a, b) in pairs {
        let (x, y) = (&texts[a], &texts[b]);
        if x == y {
            let copies = [a, b].into_iter().filter(|doc| *doc != x);
            found.extend(copies.map(|doc| (doc.min(x).clone(), doc.max(x).clone())));
        } else {
            found.insert((x.min(y).clone(), x.max(y).clone()));
        }
    }
    found
}

/// Compares every figure for every algorithm with the algorithm's tables. If the ground truth consists of clusters, each text is in the
/// cluster of the document that represents it.
fn check(out: &Path, docs: &[Doc], truth: &BTreeSet<(String, String)>, (true_labels, of_clusters): (&[usize], bool)) {
    let report = evaluation(out);
    let named: BTreeSet<String> = truth.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let texts = texts(docs, &named);
    let stands = |(a, b): &&(String, String)| {
        let (x, y) = (&texts[a], &texts[b]);
        if x == y { a == x || b == x } else { a == x && b == y }
    };
    let truth = truth.iter().filter(|pair| !of_clusters || stands(pair)).cloned().collect();
    let truth = &over_texts(&truth, &texts);
    let clusters_by = |found: &BTreeSet<(String, String)>| components(docs, found);
    let pages = |pairs: &BTreeSet<(String, String)>| {
        pairs.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect::<BTreeSet<String>>()
    };
    let true_pages = named;
    assert_eq!(report["truth"]["pairs"].as_u64().unwrap() as usize, truth.len());
    assert_eq!(report["truth"]["pages"].as_u64().unwrap() as usize, true_pages.len());
    let algorithms = report["algorithms"].as_array().unwrap();
    assert_eq!(algorithms.len(), labels(out).len());
    for one in algorithms {
        let label = one["label"].as_str().unwrap();
        // Documents that only share a template are not duplicates.
        let duplicates = pairs(out, label).into_iter().filter(|pair| pair.related.0 != "template");
        let sorted = |a: String, b: String| if a < b { (a, b) } else { (b, a) };
        let written: BTreeSet<(String, String)> = duplicates.map(|pair| sorted(pair.id_a, pair.id_b)).collect();
        let found = over_texts(&written, &texts);
        let correct: BTreeSet<(String, String)> = found.intersection(truth).cloned().collect();
        let count = |name: &str| one[name].as_u64().unwrap() as usize;
        assert_eq!((count("pairs"), count("pairs_true")), (found.len(), correct.len()), "{label}");
        let (p, r) = (over(correct.len(), found.len()), over(correct.len(), truth.len()));
        near(label, &one["pairwise"]["precision"], p);
        near(label, &one["pairwise"]["recall"], r);
        near(label, &one["pairwise"]["f1"], f1(p, r));
        // A page counts as correct if it is in a true pair of copies, or if its text is in a true pair of two different texts.
        let (copies, others): (BTreeSet<_>, BTreeSet<_>) =
            correct.iter().cloned().partition(|(a, b)| texts[a] == texts[b]);
        let (copies, others) = (pages(&copies), pages(&others));
        let is_right = |id: &&String| copies.contains(*id) || others.contains(&texts[*id]);
        let (detected, right) = (pages(&written).len(), true_pages.iter().filter(is_right).count());
        assert_eq!((count("pages"), count("pages_true")), (detected, right), "{label}");
        let (p, r) = (over(right, detected), over(right, true_pages.len()));
        near(label, &one["pagewise"]["precision"], p);
        near(label, &one["pagewise"]["recall"], r);
        near(label, &one["pagewise"]["f1"], f1(p, r));
        near(label, &one["pagewise"]["gamma"], f1(p, r).map(|f| f / 2.0));
        let [precision, recall, ari] = partition_measures(true_labels, &clusters_by(&written));
        near(label, &one["b_cubed"]["precision"], Some(precision));
        near(label, &one["b_cubed"]["recall"], Some(recall));
        near(label, &one["b_cubed"]["f1"], f1(Some(precision), Some(recall)));
        near(label, &one["ari"], Some(ari));
    }
}

fn sorted_pairs(table: &Table) -> BTreeSet<(String, String)> {
    let pairs = table.texts("id_a").into_iter().zip(table.texts("id_b"));
    pairs.map(|(a, b)| if a < b { (a, b) } else { (b, a) }).collect()
}

#[test]
fn the_samples_against_their_pairs() {
    let done = done(samples(), &["--algorithms", "exact,minhash,three_plus_five,opt_freq,imatch"]);
    let short = evaluate(&done.out(), &[Path::new(TRUTH)], &[]).ends_with(0).stdout;
    assert!(
        short.contains(" algorithm         pairs   precision   recall      F1   B-cubed F1\n")
            && !short.contains("gamma"),
        "{short}"
    );
    let ran = evaluate(&done.out(), &[Path::new(TRUTH)], &["--full"]).ends_with(0);
    let docs = sample_docs();
    let truth = sorted_pairs(&Table::read(Path::new(TRUTH)));
    check(&done.out(), &docs, &truth, (&components(&docs, &truth), false));
    assert!(ran.stdout.contains("minhash") && ran.stdout.contains("gamma"), "{}", ran.stdout);
    assert_eq!(names_in(&done.out().join("evaluation")), ["_SUCCESS", "evaluation.json", "evaluation.parquet"]);

    // The table agrees with the record.
    let (report, table) = (evaluation(&done.out()), Table::read(&done.out().join("evaluation")));
    let mut algorithms = report["algorithms"].as_array().unwrap().clone();
    algorithms.extend([report["run"].clone(), report["removed"].clone()]);
    let names: Vec<&str> = algorithms.iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert_eq!(table.texts("algorithm"), names);
    for (column, part, name) in [
        ("pair_precision", "pairwise", "precision"),
        ("pair_recall", "pairwise", "recall"),
        ("pair_f1", "pairwise", "f1"),
        ("page_precision", "pagewise", "precision"),
        ("page_recall", "pagewise", "recall"),
        ("page_f1", "pagewise", "f1"),
        ("page_gamma", "pagewise", "gamma"),
        ("bcubed_precision", "b_cubed", "precision"),
        ("bcubed_recall", "b_cubed", "recall"),
        ("bcubed_f1", "b_cubed", "f1"),
    ] {
        let values = table.0.column_by_name(column).unwrap().as_primitive::<Float64Type>();
        assert_eq!(values.len(), algorithms.len());
        algorithms.iter().zip(values).for_each(|(one, value)| near(column, &one[part][name], value));
    }
    let pairs: Vec<i64> = algorithms.iter().map(|one| one["pairs"].as_i64().unwrap()).collect();
    assert_eq!(table.numbers("pairs"), pairs);

    // A second evaluation replaces the first and prints its record to stdout; the run can still be replaced.
    let again =
        evaluate(&done.out(), &[Path::new(TRUTH)], &["--json", "--threads", "1", "--memory", "48MiB"]).ends_with(0);
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap(), report);
    assert_eq!(evaluation(&done.out()), report);
    // The run can be replaced even if a killed evaluation left its hidden folder in the output.
    let died = done.out().join(".evaluation.dupsift-partial-1");
    std::fs::create_dir(&died).unwrap();
    std::fs::write(died.join("notes.txt"), "mine").unwrap();
    let refused = run(&[samples()], &done.out(), &["--algorithms", "exact", "--overwrite"]).ends_with(2);
    refused.says(&[".evaluation.dupsift-partial-1/notes.txt"]);
    std::fs::rename(died.join("notes.txt"), died.join("evaluation.json")).unwrap();
    run(&[samples()], &done.out(), &["--algorithms", "exact", "--overwrite"]).ends_with(0);
    assert!(!done.out().join("evaluation").exists(), "an evaluation of other pairs");
}

/// Returns generated documents with clusters, and a run on these documents whose pairs differ from the clusters.
fn made(folder: &Path) -> (Vec<Doc>, Vec<usize>, PathBuf, Done) {
    let docs = made_docs(400);
    let mut numbers = Numbers(5);
    let clusters: Vec<usize> = docs.iter().map(|_| numbers.below(150)).collect();
    let path = folder.join("docs.parquet");
    write_docs(&path, &docs, 64);
    let done = done(&path, &["--algorithms", ALL]);
    (docs, clusters, path, done)
}

#[test]
fn clusters_as_truth_mean_all_pairs_within_them() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, clusters, _, done) = made(folder.path());
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(docs.iter().map(|doc| &doc.id)));
    let names: ArrayRef = Arc::new(Int64Array::from_iter_values(clusters.iter().map(|&cluster| cluster as i64)));
    let truth = folder.path().join("truth.parquet");
    write_columns(&truth, &[("id", ids), ("cluster", names)], 50);
    evaluate(&done.out(), &[&truth], &[]).ends_with(0);
    let mut pairs = BTreeSet::new();
    for (i, a) in docs.iter().enumerate() {
        for (j, b) in docs.iter().enumerate().skip(i + 1) {
            if clusters[i] == clusters[j] {
                pairs.insert((a.id.clone().min(b.id.clone()), b.id.clone().max(a.id.clone())));
            }
        }
    }
    check(&done.out(), &docs, &pairs, (&clusters, true));
    let first = evaluation(&done.out());
    // Tests the same ground truth written as JSON lines, split into two files, with a repeated row and with numbers as strings.
    let (one, two) = (folder.path().join("one.jsonl"), folder.path().join("two.jsonl"));
    let line = |at: usize| format!("{{\"id\": {:?}, \"cluster\": \"{}\", \"note\": [1]}}\n", docs[at].id, clusters[at]);
    std::fs::write(&one, (0..200).map(line).collect::<String>()).unwrap();
    std::fs::write(&two, (199..docs.len()).map(line).collect::<String>()).unwrap();
    evaluate(&done.out(), &[&one, &two], &[]).ends_with(0);
    let second = evaluation(&done.out());
    assert_eq!(first["algorithms"], second["algorithms"]);
    assert_eq!(second["truth"]["repeated_rows"], 1);
    // A document in two clusters is invalid.
    std::fs::write(&one, line(0) + &line(0).replace(&format!("\"{}\"", clusters[0]), "\"other\"")).unwrap();
    evaluate(&done.out(), &[&one], &[])
        .ends_with(2)
        .says(&[&format!("is in more than one cluster of the truth, such as {};", docs[0].id)]);
    assert_eq!(evaluation(&done.out()), second, "what was there stays");
}

/// Compares the figures of a run that writes the pairs of large groups as stars with the figures of a run that writes all pairs.
#[test]
fn pairs_that_are_not_written_are_counted_or_said_to_be_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let made = made_docs(150);
    // There are groups of four copies, groups of four texts with the same signature, and single texts.
    let texts = made.iter().enumerate().flat_map(|(at, doc)| match at % 6 {
        0 => vec![doc.text.clone(); 4],
        3 => (0..4).map(|more| doc.text.clone() + &" ".repeat(more)).collect(),
        _ => vec![doc.text.clone()],
    });
    let docs = numbered(texts);
    let path = folder.path().join("docs.parquet");
    write_docs(&path, &docs, 64);
    let (whole, short) = (done(&path, &["--algorithms", ALL]), done(&path, &["--algorithms", ALL, "--max-group", "3"]));
    let mut numbers = Numbers(8);
    // Copies are adjacent, so clusters of adjacent documents are partly correct.
    let clusters: Vec<usize> = (0..docs.len()).map(|at| (at + numbers.below(3)) / 5).collect();
    let (of_clusters, of_pairs) = (folder.path().join("clusters.jsonl"), folder.path().join("pairs.jsonl"));
    let line = |at: usize| format!("{{\"id\": {:?}, \"cluster\": {}}}\n", docs[at].id, clusters[at]);
    std::fs::write(&of_clusters, (0..docs.len()).map(line).collect::<String>()).unwrap();
    let mut lines = String::new();
    for at in 0..docs.len() - 4 {
        let other = at + 1 + numbers.below(3);
        lines += &format!("{{\"id_a\": {:?}, \"id_b\": {:?}}}\n", docs[at].id, docs[other].id);
    }
    std::fs::write(&of_pairs, lines).unwrap();
    for truth in [&of_clusters, &of_pairs] {
        evaluate(&whole.out(), &[truth], &[]).ends_with(0);
        let told = evaluate(&short.out(), &[truth], &[]).ends_with(0).stdout;
        let (whole, report) = (evaluation(&whole.out()), evaluation(&short.out()));
        let (mut counted, mut unknown) = (0, 0);
        let algorithms = report["algorithms"].as_array().unwrap();
        for (known, one) in whole["algorithms"].as_array().unwrap().iter().zip(algorithms) {
            let label = one["label"].as_str().unwrap();
            let number = |one: &Value, name: &str| one[name].as_u64().unwrap();
            assert_eq!(number(known, "pairs_not_written"), 0, "{label}");
            assert_eq!((&known["b_cubed"], &known["ari"]), (&one["b_cubed"], &one["ari"]), "{label}");
            let not_written = number(one, "pairs_not_written");
            let warned = told.contains(&format!(
                "warning: {label}: because of groups larger than `--max-group`, {not_written} pairs were not written"
            ));
            assert_eq!(warned, not_written > 0, "{told}");
            if one["pairs"] == known["pairs"] {
                for field in ["pairs_true", "pages", "pages_true", "pairwise", "pagewise"] {
                    assert_eq!(one[field], known[field], "{label}: {field}");
                }
                counted += u64::from(not_written > 0);
            } else {
                assert_eq!(number(one, "pairs") + not_written, number(known, "pairs"), "{label}");
                let precision = number(one, "pairs_true") as f64 / number(one, "pairs") as f64;
                near(label, &one["pairwise"]["precision"], Some(precision));
                for figure in ["recall", "f1", "gamma"] {
                    assert!(one["pairwise"][figure].is_null() && one["pagewise"][figure].is_null(), "{label}: {one}");
                }
                assert!(one["pagewise"]["precision"].is_null() && told.contains("are unknown"), "{label}: {one}");
                unknown += 1;
            }
        }
        assert!(counted > 0 && unknown > 0, "{counted} and {unknown} decide nothing");
    }
}

/// Tests random partitions. Documents in the same predicted cluster have the same text, so `exact` finds exactly these clusters.
#[test]
fn figures_of_clusters_agree_with_scikit_learn_on_random_partitions() {
    let folder = tempfile::tempdir().unwrap();
    let mut numbers = Numbers(77);
    let mut command = python("tests/measures.py");
    // The shapes are many small clusters, few large clusters, no cluster in the result, a single cluster, and two documents. Ground truth
    // without clusters is rejected.
    let shapes = [(300, 120, 90), (300, 3, 5), (120, 60, 1), (120, 1, 60), (80, 1, 1), (80, 40, 100_000), (2, 1, 1)];
    let mut runs = Vec::new();
    for (at, (documents, true_clusters, predicted_clusters)) in shapes.into_iter().enumerate() {
        let predicted: Vec<usize> = (0..documents).map(|_| numbers.below(predicted_clusters)).collect();
        let truth: Vec<i64> = (0..documents).map(|_| numbers.below(true_clusters) as i64).collect();
        let docs = folder.path().join(format!("docs-{at}.parquet"));
        write_docs(&docs, &numbered(predicted.iter().map(|cluster| format!("Текст номер {cluster}."))), 50);
        let file = folder.path().join(format!("truth-{at}.parquet"));
        let ids: ArrayRef = Arc::new(StringArray::from_iter_values((0..documents).map(|doc| format!("d{doc}"))));
        let doc: ArrayRef = Arc::new(Int64Array::from_iter_values(0..documents as i64));
        write_columns(&file, &[("doc", doc), ("cluster", Arc::new(Int64Array::from(truth))), ("id", ids)], 100);
        let done = done(&docs, &["--algorithms", "exact,minhash"]);
        evaluate(&done.out(), &[&file], &[]).ends_with(0);
        command.arg(done.out()).arg(file);
        runs.push(done);
    }
    let said = Ran::of(command.output().unwrap()).ends_with(0).stdout;
    assert_eq!(said, format!("checked {}\n", 2 * shapes.len()));
}

/// Returns different texts, some of which are similar, as (documents, true pairs).
fn alike(count: usize) -> (Vec<Doc>, BTreeSet<(String, String)>) {
    // Words consist of letters only, because digits would count as numbers.
    let word = |number: usize| {
        number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).chain(['x']).collect::<String>()
    };
    let words = |seed: usize, count: usize| {
        (0..count).map(|at| word((seed * 7919 + at * 104_729) % 99_991)).collect::<Vec<_>>().join(" ")
    };
    let text = |number: usize| match number % 5 {
        0 => words(number / 5, 60),
        // The two texts are similar, but neither contains the numbers in the other.
        1 => format!("{} and more of 1{number} 2{number} 3{number}", words(number / 5, 60)),
        2 => format!("{} and more of 4{number} 5{number} 6{number} too", words(number / 5, 60)),
        3 => format!("{} {}", words(number / 5, 40), words(number, 25)),
        _ => words(1000 + number, 80),
    };
    let pairs = (0..count / 5).flat_map(|at| [(5 * at, 5 * at + 1), (5 * at, 5 * at + 2), (5 * at + 3, 5 * at + 4)]);
    let named = |(a, b)| [format!("d{a}"), format!("d{b}")];
    let sorted = pairs.map(named).map(|[a, b]| (a.clone().min(b.clone()), a.max(b)));
    (numbered((0..count).map(text)), sorted.collect())
}

#[test]
fn the_run_and_what_is_removed_are_measured_by_pairs_and_clusters() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, truth) = alike(150);
    let corpus = folder.path().join("corpus.parquet");
    write_docs(&corpus, &docs, 64);
    let [a, b] = [0, 1].map(|side| {
        let ids = truth.iter().map(|pair| if side == 0 { &pair.0 } else { &pair.1 });
        Arc::new(StringArray::from_iter_values(ids)) as ArrayRef
    });
    let labels = folder.path().join("labels.parquet");
    write_columns(&labels, &[("id_a", a), ("id_b", b)], 50);
    let true_clusters = components(&docs, &truth);
    let mut differ = false;
    for (decide, needed) in [("any", 1), ("at-least:2", 2), ("minhash", 0)] {
        let algorithms = "minhash:threshold=0.6,three_plus_five,shingles:measure=containment,threshold=0.7";
        let done = done(&corpus, &["--algorithms", algorithms, "--decide", decide]);
        evaluate(&done.out(), &[&labels], &[]).ends_with(0);
        let report = evaluation(&done.out());
        let mut found: BTreeMap<(String, String), usize> = BTreeMap::new();
        for label in ["minhash", "three_plus_five", "shingles"] {
            let counts = if needed == 0 { label == "minhash" } else { true };
            for pair in id_pairs(&done.out(), label).into_iter().filter(|_| counts) {
                *found.entry(pair).or_default() += 1;
            }
        }
        let run: BTreeSet<_> =
            found.into_iter().filter(|(_, count)| *count >= needed.max(1)).map(|(pair, _)| pair).collect();
        let removed = Table::read(&done.out().join("removed"));
        let stars: BTreeSet<_> = removed.texts("id").into_iter().zip(removed.texts("kept_id")).collect();
        let groups = components(&docs, &stars);
        let mut within = BTreeSet::new();
        for (i, a) in docs.iter().enumerate() {
            let others = docs.iter().enumerate().skip(i + 1).filter(|(j, _)| groups[i] == groups[*j]);
            within.extend(others.map(|(_, b)| (a.id.clone().min(b.id.clone()), a.id.clone().max(b.id.clone()))));
        }
        assert!(!run.is_empty() && !within.is_empty(), "{decide}");
        differ |= run != within;
        for (name, pairs, clusters) in [("run", &run, components(&docs, &run)), ("removed", &within, groups.clone())] {
            let one = &report[name];
            let right = pairs.intersection(&truth).count();
            assert_eq!(one["label"], format!("({name})"));
            assert_eq!((&one["pairs"], &one["pairs_true"]), (&pairs.len().into(), &right.into()), "{decide} {name}");
            near("precision", &one["pairwise"]["precision"], Some(right as f64 / pairs.len() as f64));
            near("recall", &one["pairwise"]["recall"], Some(right as f64 / truth.len() as f64));
            let [precision, recall, ari] = partition_measures(&true_clusters, &clusters);
            near("B-cubed precision", &one["b_cubed"]["precision"], Some(precision));
            near("B-cubed recall", &one["b_cubed"]["recall"], Some(recall));
            near("ARI", &one["ari"], Some(ari));
        }
    }
    assert!(differ);
}
