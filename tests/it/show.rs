//! Tests the lists of `dupsift show`, `explain` without an id, `apply --dry-run`, and `sample` with `evaluate`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;

use crate::kit::{Done, Ran, Table, done, program, record, samples};

static RUN: LazyLock<Done> = LazyLock::new(|| done(samples(), &[]));

fn ran(verb: &str, out: &Path, more: &[&str]) -> Ran {
    Ran::of(program().arg(verb).arg(out).args(more).args(["--threads", "2", "--no-progress"]).output().unwrap())
}

fn json(out: &Path, more: &[&str]) -> Value {
    serde_json::from_str(&ran("show", out, &[more, &["--json"]].concat()).ends_with(0).stdout).unwrap()
}

fn rows(listing: &Value) -> &Vec<Value> {
    listing["rows"].as_array().unwrap()
}

#[test]
fn every_removal_is_listed_as_the_table_has_it() {
    let out = RUN.out();
    let removed = Table::read(&out.join("removed"));
    let listing = json(&out, &["--removed", "--limit", "100000"]);
    let ids: Vec<&str> = rows(&listing).iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, removed.texts("id"));
    assert_eq!(listing["total"], record(&out)["removal"]["removed"]);
    let first = json(&out, &["--removed", "--limit", "3"]);
    assert_eq!((rows(&first).as_slice(), &first["total"]), (&rows(&listing)[..3], &listing["total"]));
}

#[test]
fn the_most_doubtful_come_first() {
    let out = RUN.out();
    for list in ["--removed", "--kept-similar", "--clusters"] {
        let all = json(&out, &[list, "--worst", "--limit", "100000"]);
        let doubts: Vec<f64> = rows(&all).iter().map(|row| row["doubt"].as_f64().unwrap()).collect();
        assert!(!doubts.is_empty() && doubts.is_sorted_by(|a, b| a >= b), "{list}");
        assert_eq!(all["total"], doubts.len() as u64, "{list}");
        let few = json(&out, &[list, "--worst", "--limit", "5"]);
        assert_eq!(rows(&few)[..], rows(&all)[..5], "{list}");
    }
    // A copy is never doubtful.
    let all = json(&out, &["--removed", "--worst", "--limit", "100000"]);
    assert!(rows(&all).iter().filter(|row| row["reason"] == "copy").all(|row| row["doubt"] == 0.0));
}

#[test]
fn a_kept_pair_has_two_kept_documents_and_a_reason() {
    let out = RUN.out();
    let removed: BTreeSet<String> = Table::read(&out.join("removed")).texts("id").into_iter().collect();
    let all = json(&out, &["--kept-similar", "--limit", "100000"]);
    let pairs = rows(&all);
    let docs: Vec<Vec<u64>> = pairs
        .iter()
        .map(|row| row["docs"].as_array().unwrap().iter().map(|doc| doc.as_u64().unwrap()).collect())
        .collect();
    assert!(docs.is_sorted_by(|a, b| a < b), "a pair is listed once");
    for pair in pairs {
        let ids = pair["ids"].as_array().unwrap();
        assert!(ids.iter().all(|id| !removed.contains(id.as_str().unwrap())), "{pair}");
    }
    let whys: BTreeSet<&str> = pairs.iter().map(|pair| pair["why"].as_str().unwrap()).collect();
    assert!(whys.contains("unique text") && whys.contains("same template"), "{whys:?}");
}

#[test]
fn text_and_source_select_rows() {
    let out = RUN.out();
    let listing = json(&out, &["--removed", "--grep", "PowerShell", "--limit", "100000"]);
    let (total, matching) = (listing["total"].as_u64().unwrap(), listing["matching"].as_u64().unwrap());
    assert!(0 < matching && matching < total && matching == rows(&listing).len() as u64, "{matching} of {total}");
    let file = record(&out)["inputs"][0]["file"].as_str().unwrap().to_owned();
    let of_file = json(&out, &["--removed", "--source", &file, "--limit", "100000"]);
    let rows_of_file = record(&out)["inputs"][0]["rows"].as_u64().unwrap();
    let is_of_file = |row: &&Value| row["doc"].as_u64().unwrap() < rows_of_file;
    let all = json(&out, &["--removed", "--limit", "100000"]);
    assert_eq!(rows(&of_file).iter().collect::<Vec<_>>(), rows(&all).iter().filter(is_of_file).collect::<Vec<_>>());
    ran("show", &out, &["--removed", "--source", "nowhere"]).ends_with(2).says(&["no document comes from it", &file]);
}

#[test]
fn a_table_fits_the_terminal_and_its_ids_can_be_pasted() {
    let out = RUN.out();
    for (list, more) in
        [("--removed", "--worst"), ("--kept-similar", "--worst"), ("--clusters", "--worst"), ("--rules", "")]
    {
        let mut command: Command = program();
        command.arg("show").arg(&out).arg(list).args(Some(more).filter(|more| !more.is_empty()));
        command.env("COLUMNS", "80").args(["--threads", "2", "--no-progress"]);
        let shown = Ran::of(command.output().unwrap()).ends_with(0).stdout;
        // Only an id or a path may be longer.
        for line in shown.lines().filter(|line| line.chars().count() > 80) {
            let words = line.split_whitespace().filter(|word| word.contains('/')).count();
            assert!(words > 0, "{line}");
        }
        let Some(next) = shown.lines().find_map(|line| line.strip_prefix("next: dupsift explain ")) else { continue };
        let typed = format!("{} explain {next} --threads 2", env!("CARGO_BIN_EXE_dupsift"));
        Ran::of(Command::new("sh").args(["-c", &typed]).output().unwrap()).ends_with(0);
    }
}

#[test]
fn rules_remove_what_apply_removes() {
    let out = RUN.out();
    let table = json(&out, &["--rules"]);
    let rules = table["rules"].as_array().unwrap();
    assert_eq!(rules.last().unwrap()["rule"], "pair");
    let own: Vec<&Value> = rules.iter().filter(|rule| rule["of_the_run"] == true).collect();
    assert_eq!(own.len(), 1);
    assert_eq!(own[0]["removed"], record(&out)["removal"]["removed"]);
    let folder = tempfile::tempdir().unwrap();
    for rule in rules.iter().filter(|rule| rule["not_compared"] == 0) {
        let name = rule["rule"].as_str().unwrap();
        let removed = rule["removed"].as_u64().unwrap();
        let planned = ran("apply", &out, &["--remove-if", name, "--dry-run"]).ends_with(0).stdout;
        let said = format!("{} of 2,421 documents", dupsift_core::number::thousands(removed));
        assert!(planned.contains(&said) || planned.contains("would be removed"), "{planned}");
        let to = folder.path().join(name.replace(':', "_"));
        ran("apply", &out, &["--remove-if", name, "--out", to.to_str().unwrap()]).ends_with(0);
        assert_eq!(Table::read(&to.join("removed")).texts("id").len() as u64, removed, "{name}");
    }
    assert!(!out.join("deduped").exists(), "a dry run writes nothing");
    // A stricter rule removes less text.
    let bytes: Vec<u64> = rules.iter().map(|rule| rule["removed_bytes"].as_u64().unwrap()).collect();
    assert!(bytes.is_sorted(), "{bytes:?}");
}

#[test]
fn a_removal_is_explained_without_an_id() {
    let out = RUN.out();
    let explained = |more: &[&str]| -> Value {
        serde_json::from_str(&ran("explain", &out, &[more, &["--json"]].concat()).ends_with(0).stdout).unwrap()
    };
    let note = |explained: &Value| explained["notes"].to_string();
    let (first, again, other) = (explained(&[]), explained(&["--seed", "0"]), explained(&["--seed", "1"]));
    assert_eq!(first, again);
    assert_ne!(first["documents"][0]["id"], other["documents"][0]["id"]);
    let id = first["documents"][0]["id"].as_str().unwrap();
    assert!(note(&first).contains(&format!("drawn with `seed=0`: {id}")), "{}", note(&first));
    assert!(first["documents"][0]["removed"]["kept_id"] == first["documents"][1]["id"]);
    let worst = json(&out, &["--removed", "--worst", "--limit", "1"]);
    assert_eq!(explained(&["--worst"])["documents"][0]["id"], rows(&worst)[0]["id"]);
    ran("explain", &out, &["--worst", "--seed", "3"]).ends_with(2);
}

#[test]
fn a_run_without_removals_has_nothing_to_explain_or_to_list() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("one.jsonl");
    std::fs::write(&input, "{\"id\": \"a\", \"text\": \"A single document.\"}\n").unwrap();
    let one = done(&input, &[]);
    ran("explain", &one.out(), &[]).ends_with(2).says(&["removed no document", "pass the ids"]);
    for list in ["--removed", "--kept-similar", "--clusters"] {
        assert!(ran("show", &one.out(), &[list]).ends_with(0).stdout.starts_with("0 "), "{list}");
    }
    let table = ran("show", &one.out(), &["--rules"]).ends_with(0).stdout;
    assert!(table.contains("this run"), "{table}");
}

fn drawn(out: &Path, more: &[&str]) -> Value {
    serde_json::from_str(&ran("sample", out, &[more, &["--json"]].concat()).ends_with(0).stdout).unwrap()
}

#[test]
fn a_sample_weighs_back_to_all_removals() {
    let out = RUN.out();
    let near = record(&out)["removal"]["reasons"]["pair"].as_u64().unwrap();
    for by in [&[][..], &["--by", "similarity"], &["--by", "similarity,source"]] {
        let sample = drawn(&out, &[&["--pairs", "100"][..], by].concat());
        let pairs = sample["pairs"].as_array().unwrap();
        assert_eq!((pairs.len(), sample["removals"].as_u64()), (100, Some(near)), "{by:?}");
        let weights: f64 = pairs.iter().map(|pair| pair["weight"].as_f64().unwrap()).sum();
        assert!((weights - near as f64).abs() < 1e-6, "{by:?}: {weights}");
        assert_eq!(sample["strata"].as_u64().unwrap() > 1, !by.is_empty());
    }
    assert_eq!(drawn(&out, &[]), drawn(&out, &["--seed", "0", "--pairs", "50"]));
    assert_ne!(drawn(&out, &[])["pairs"], drawn(&out, &["--seed", "1"])["pairs"]);
    let all = drawn(&out, &["--pairs", "100000"]);
    assert!(all["pairs"].as_array().unwrap().iter().all(|pair| pair["weight"] == 1.0));
    ran("sample", &out, &["--pairs", "1", "--by", "similarity"]).ends_with(2).says(&["groups", "pass at least"]);
}

#[test]
fn labels_say_how_many_removals_are_right() {
    let out = RUN.out();
    let csv = ran("sample", &out, &["--pairs", "50", "--by", "similarity"]).ends_with(0).stdout;
    let label = |at: usize| match at {
        0 | 1 => "n",
        2 => "unsure",
        3 => "",
        _ => "y",
    };
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("id_a,id_b,label,weight,similarity"));
    let mut labeled = String::from("id_a,id_b,label,weight,similarity\n");
    for (at, line) in lines.enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        labeled += &format!("{},{},{},{},{}\n", fields[0], fields[1], label(at), fields[3], fields[4]);
    }
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("labels.csv");
    std::fs::write(&truth, labeled).unwrap();
    let truth = truth.to_str().unwrap();
    let report: Value =
        serde_json::from_str(&ran("evaluate", &out, &["--truth", truth, "--json"]).ends_with(0).stdout).unwrap();
    let found = &report["labeled_removals"];
    let count = |name: &str| found[name].as_u64().unwrap();
    assert_eq!((count("right"), count("wrong"), count("undecided")), (46, 2, 2));
    assert_eq!(found["precision"], 46.0 / 48.0);
    let [low, high] = [0, 1].map(|at| found["interval"][at].as_f64().unwrap());
    assert!(0.85 < low && low < 46.0 / 48.0 && 46.0 / 48.0 < high && high < 1.0, "{found}");
    let said = ran("evaluate", &out, &["--truth", truth]).ends_with(0).stdout;
    assert!(said.contains("46 of 48 labeled are right, 2 unsure or not labeled: precision 0.958\n("), "{said}");
    assert!(said.contains("are a random sample") && !said.contains("not read"), "{said}");
    // Labels that all say "wrong" say so.
    let wrong: Vec<String> = csv.lines().map(|line| line.replacen(",,", ",n,", 1)).collect();
    std::fs::write(truth, wrong.join("\n")).unwrap();
    let said = ran("evaluate", &out, &["--truth", truth]).ends_with(0).stdout;
    assert!(said.contains("0 of 50 labeled are right: precision 0.000\n(95% interval 0.000-0."), "{said}");
    assert!(said.contains("are a random sample.\n") && said.contains("no figures for the algorithms"), "{said}");
    // A list of true pairs is not a sample of the removals.
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("data-samples/truth/pairs.parquet");
    let said = ran("evaluate", &out, &["--truth", all.to_str().unwrap(), "--json"]).ends_with(0).stdout;
    assert!(!said.contains("labeled_removals"), "{said}");
}
