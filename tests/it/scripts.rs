//! Runs the scripts that read output folders on the output of a run on the samples, and compares what they print with the tables of this
//! run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use serde_json::Value;

use crate::kit::{
    Ran, Table, doc_pairs, done, json_lines, labels, numbered, pairs, program, python, record, sample_docs, samples,
    write_columns,
};

fn script(name: &str, arguments: &[&str]) -> Ran {
    let output = python(&format!("scripts/{name}.py")).args(arguments).output();
    Ran::of(output.unwrap_or_else(|error| panic!("cannot start Python: {error}; try `make venv`")))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn rows(path: &Path) -> RecordBatch {
    Table::read(path).0
}

/// Fails unless the two tables have the same columns, types and rows.
#[track_caller]
fn assert_same_table(left: &Path, right: &Path) {
    let (left, right) = (rows(left), rows(right));
    assert_eq!(left.schema().fields(), right.schema().fields());
    assert!(left.num_rows() > 10, "too few rows to show anything");
    assert_eq!(left, right);
}

#[test]
fn rethreshold_at_the_runs_own_threshold_gives_the_runs_own_tables() {
    let to = tempfile::tempdir().unwrap();
    for (keep, chain, remove_if) in [
        ("length desc", "keep", "contained:0.7:0.8"),
        ("title asc, url desc", "keep", "contained:0.9"),
        ("title asc, url desc", "keep", "pair"),
        ("length asc", "remove", "pair"),
    ] {
        for label in ["minhash", "simhash", "tf"] {
            let rules = ["--decide", label, "--keep", keep, "--chain", chain, "--remove-if", remove_if];
            let done = done(samples(), &[&["--algorithms", "minhash,simhash,tf"], &rules[..]].concat());
            let out = done.out();
            let verify = record(&out)["algorithms"][0]["verify"].as_str().unwrap().to_string();
            let own = verify.strip_prefix("jaccard:").and_then(|rest| rest.split(' ').next()).unwrap();
            let threshold = if label == "minhash" { own } else { "0" };
            let arguments = ["--algorithm", label, "--threshold", threshold, "--to", text(to.path())];
            let ran = script("rethreshold", &[&[text(&out)], &arguments[..]].concat()).ends_with(0);
            assert!(ran.stdout.contains(&format!("{label} from")), "{}", ran.stdout);
            assert_same_table(&to.path().join("clusters.parquet"), &out.join(format!("clusters/algorithm={label}")));
            assert_same_table(&to.path().join("removed.parquet"), &out.join("removed"));
        }
    }
}

#[test]
fn rethreshold_above_it_gives_what_a_run_with_that_threshold_gives() {
    let to = tempfile::tempdir().unwrap();
    let of = |threshold: &str| {
        let minhash = format!("minhash:bands=40,rows=4,verify=jaccard:{threshold}");
        done(samples(), &["--algorithms", &minhash, "--decide", "minhash"])
    };
    let (loose, strict) = (of("0.6"), of("0.85"));
    let arguments = ["--algorithm", "minhash", "--to", text(to.path()), "--threshold"];
    let again =
        |out: &Path, threshold: &str| script("rethreshold", &[&[text(out)], &arguments[..], &[threshold]].concat());
    again(&loose.out(), "0.85").ends_with(0);
    assert_same_table(&to.path().join("clusters.parquet"), &strict.out().join("clusters"));
    assert_same_table(&to.path().join("removed.parquet"), &strict.out().join("removed"));
    again(&strict.out(), "0.6").ends_with(1).says(&["has no pairs below 0.85", "run again with a lower threshold"]);
    again(&strict.out(), "1.5").ends_with(2).says(&["expected a number from 0 to 1"]);
    let unknown = ["--algorithm", "minhsh", "--threshold", "0.9", "--to", text(to.path())];
    let strict = strict.out();
    script("rethreshold", &[&[text(&strict)], &unknown[..]].concat())
        .ends_with(1)
        .says(&["\"minhsh\"".replace('"', "'").as_str(), "available: minhash"]);
    script("rethreshold", &[&[text(samples())], &unknown[..]].concat()).ends_with(1).says(&["not a finished output"]);
}

/// Returns whether a figure has the expected value, or whether both are undefined. Printed decimals may differ in the last bit.
fn near(told: &Value, expected: Option<f64>) -> bool {
    match (told.as_f64(), expected) {
        (Some(told), Some(expected)) => (told - expected).abs() < 1e-12,
        (told, expected) => told.is_none() && expected.is_none(),
    }
}

#[test]
fn overlap_counts_what_the_tables_of_pairs_have_in_common() {
    let done = done(samples(), &["--algorithms", "exact,minhash,three_plus_five,opt_freq"]);
    let ran = script("overlap", &[text(&done.out()), "--json"]).ends_with(0);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let found: BTreeMap<String, BTreeSet<(usize, usize)>> = labels(&done.out())
        .into_iter()
        .map(|label| (label.clone(), doc_pairs(&done.out(), &label).into_iter().collect()))
        .collect();
    for (a, in_a) in &found {
        let others: BTreeSet<(usize, usize)> =
            found.iter().filter(|(b, _)| *b != a).flat_map(|(_, b)| b).copied().collect();
        assert_eq!(told["alone"][a].as_u64().unwrap() as usize, in_a.difference(&others).count(), "{a}");
        for (b, in_b) in &found {
            let common = in_a.intersection(in_b).count();
            assert_eq!(told["common"][a][b].as_u64().unwrap() as usize, common, "{a} {b}");
            let share = (!in_a.is_empty()).then(|| common as f64 / in_a.len() as f64);
            assert!(near(&told["share"][a][b], share), "{a} {b}");
            let all = in_a.union(in_b).count();
            let jaccard = (all > 0).then(|| common as f64 / all as f64);
            assert!(near(&told["jaccard"][a][b], jaccard), "{a} {b}");
        }
    }
    let shown = script("overlap", &[text(&done.out()), "--algorithms", "minhash,exact"]).ends_with(0).stdout;
    assert!(shown.contains("Jaccard") && !shown.contains("opt_freq"), "{shown}");
    script("overlap", &[text(&done.out()), "--algorithms", "minhash,exct"]).ends_with(1).says(&["'exct'"]);
}

#[test]
fn clusters_are_shown_with_the_texts_of_their_documents() {
    let done = done(samples(), &["--algorithms", "minhash"]);
    let docs = sample_docs();
    let out = done.out();
    let told = |more: &[&str]| -> Vec<Value> {
        let ran = script("clusters", &[&[text(&out), "--json"], more].concat()).ends_with(0);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let table = Table::read(&out.join("clusters"));
    let (ids, clusters, sizes) = (table.texts("id"), table.texts("cluster_id"), table.numbers("cluster_size"));
    let mut largest: Vec<i64> =
        sizes.iter().zip(table.flags("is_representative")).filter(|(_, head)| *head).map(|(size, _)| *size).collect();
    largest.sort_by_key(|size| std::cmp::Reverse(*size));
    let glob = format!("{}/*.parquet", text(samples()));
    let shown = told(&["--largest", "7", "--documents", "1000", "--input", &glob]);
    let shown_sizes: Vec<i64> = shown.iter().map(|cluster| cluster["size"].as_i64().unwrap()).collect();
    assert_eq!(shown_sizes, largest[..7]);
    for cluster in &shown {
        let members = cluster["documents"].as_array().unwrap();
        assert_eq!(members.len() as u64, cluster["size"].as_u64().unwrap());
        assert_eq!(members[0]["id"], cluster["cluster"], "the representative comes first");
        for member in members {
            let doc = &docs[member["doc"].as_u64().unwrap() as usize];
            assert_eq!(
                (member["id"].as_str(), member["text"].as_str()),
                (Some(doc.id.as_str()), Some(doc.text.as_str()))
            );
        }
    }
    let by_id = told(&["--id", &ids[5], "--documents", "2"]);
    assert_eq!((by_id.len(), by_id[0]["cluster"].as_str()), (1, Some(clusters[5].as_str())));
    let page = script("clusters", &[text(&out), "--id", &ids[5], "--chars", "20"]).ends_with(0).stdout;
    assert!(
        page.contains(&format!("cluster {} of {} documents", clusters[5], sizes[5])) && page.contains(&ids[5]),
        "{page}"
    );
    script("clusters", &[text(&out), "--id", "none"]).ends_with(1).says(&["'none' is in no cluster"]);
    script("clusters", &[text(&out), "--input", text(&out)]).ends_with(1).says(&["pass its inputs as --input"]);
}

#[test]
fn json_lines_are_read_by_row_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let docs = numbered((0..40).map(|n| format!("Текст номер {} из многих.", n % 15)));
    let lines = String::from_utf8(json_lines(&docs)).unwrap().replacen('\n', "\n\nno json\n", 1);
    let path = folder.path().join("docs.jsonl");
    std::fs::write(&path, lines).unwrap();
    let done = crate::kit::ended(&path, &["--algorithms", "exact"], 3);
    let (to, out) = (folder.path().join("to"), done.out());
    let arguments = ["--algorithm", "exact", "--threshold", "1", "--to", text(&to)];
    script("rethreshold", &[&[text(&out)], &arguments[..]].concat()).ends_with(0);
    assert_same_table(&to.join("clusters.parquet"), &out.join("clusters"));
    assert_same_table(&to.join("removed.parquet"), &out.join("removed"));
    assert_eq!(pairs(&out, "exact").len(), 25);
}

#[test]
fn clusters_of_documents_with_one_id_stay_apart_and_steer_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    let ids = ["same\u{1B}", "b", "same\u{1B}", "d\u{202E}", "e"];
    let texts = ["one \u{1B}[31m\u{7}", "one \u{1B}[31m\u{7}", "two \u{9B}1m", "two \u{9B}1m", "three"];
    let column = |values: [&str; 5]| Arc::new(StringArray::from_iter_values(values)) as ArrayRef;
    write_columns(&file, &[("id", column(ids)), ("text", column(texts))], 10);
    let done = done(&file, &["--algorithms", "exact"]);
    let out = done.out();
    let told = |more: &[&str]| script("clusters", &[&[text(&out)], more].concat()).ends_with(0).stdout;
    let page = told(&[]);
    assert_eq!(page.matches("cluster same\u{241B} of 2 documents").count(), 2, "{page}");
    assert!(page.contains("one \u{241B}[31m\u{2407}") && page.contains("two <U+009B>1m"), "{page}");
    assert!(page.contains("d<U+202E>\n"), "{page}");
    assert_eq!(told(&["--id", "same\u{1B}"]), page);
    assert_eq!(told(&["--id", "b"]).matches(" of 2 documents").count(), 1);
    let json = told(&["--json"]);
    for shown in [&page, &json] {
        assert!(!shown.contains(|letter: char| (letter.is_control() && letter != '\n') || letter == '\u{202E}'));
    }
    let clusters: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(clusters.as_array().unwrap().len(), 2);
    assert_eq!(clusters[1]["documents"][1]["id"], "d\u{202E}");
    assert_eq!(clusters[1]["documents"][1]["text"], "two \u{9B}1m");
}

#[test]
fn what_a_threshold_cannot_change_is_said_once() {
    let folder = tempfile::tempdir().unwrap();
    let done = done(samples(), &["--algorithms", "exact"]);
    let (out, to) = (done.out(), folder.path().join("to"));
    let arguments = ["--algorithm", "exact", "--threshold", "0.9", "--to", text(&to)];
    let told = script("rethreshold", &[&[text(&out)], &arguments[..]].concat()).ends_with(0).stdout;
    assert!(told.contains("a threshold has no effect") && !told.contains("not searched for"), "{told}");
}

#[test]
fn a_reader_that_has_seen_enough_ends_a_script_quietly() {
    let done = done(samples(), &["--algorithms", "exact,minhash"]);
    for name in ["overlap", "clusters", "pairs_by_score"] {
        let mut command = python(&format!("scripts/{name}.py"));
        command.arg(done.out()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ended = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(ended.stderr, "", "{name}");
    }
}

#[test]
fn the_output_of_a_comparison_has_no_removals_to_work_on() {
    let folder = tempfile::tempdir().unwrap();
    let (out, to) = (folder.path().join("out"), folder.path().join("to"));
    let mut command = program();
    command.arg("compare").arg(samples()).arg("--out").arg(&out).args(["--algorithms", "exact,tf", "--no-progress"]);
    Ran::of(command.output().unwrap()).ends_with(0);
    let told = script("pairs_by_score", &[text(&out)]).ends_with(0).stdout;
    assert!(told.starts_with("2,455 documents\n") && told.contains("clusters by size"), "{told}");
    script("overlap", &[text(&out)]).ends_with(0);
    let arguments = ["--algorithm", "tf", "--threshold", "0.9", "--to", text(&to)];
    let refused = script("rethreshold", &[&[text(&out)], &arguments[..]].concat()).ends_with(1);
    assert_eq!(refused.stderr.lines().count(), 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("compare, which removes nothing"), "{}", refused.stderr);
}

/// Checks the last screen, which shows neither time nor memory and is therefore always the same.
#[test]
fn the_recording_of_the_manual_is_one_of_this_program() {
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("recording.svg");
    let ran = script("recording", &["--dupsift", env!("CARGO_BIN_EXE_dupsift"), "--write", text(&again)]).ends_with(0);
    assert!(ran.stdout.contains(" screens, "), "{}", ran.stdout);
    let last = |path: &Path| -> String {
        let page = std::fs::read_to_string(path).unwrap();
        let shown = page.split("visibility=\"visible\">").nth(1).and_then(|rest| rest.split("</g>").next());
        shown.expect("a screen that is seen").to_string()
    };
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recording.svg");
    assert!(last(&kept).contains("PSReadLine defaults to"), "{}", last(&kept));
    assert_eq!(last(&again), last(&kept), "renew it with `make recording WRITE=docs/recording.svg`");
    let told = std::fs::read_to_string(&again).unwrap();
    assert!(told.contains("1,630 kept, 825 removed"), "the summary of the run is not in it");
}
