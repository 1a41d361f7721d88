//! Tests `dupsift apply`, which writes the same corpus for a finished run as a run with `--corpus` would.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::kit::{Doc, Ran, Table, files_below, json_lines, names_in, numbered, program, removed_ids, run, write_docs};

const ALL: &str = "annotate,keep,drop";

/// Returns texts, some of which are identical or nearly identical, or have lines in common.
fn docs(count: usize) -> Vec<Doc> {
    let words = |seed: usize, count: usize| {
        (0..count).map(|word| format!("w{:05}", (seed * 7919 + word * 104_729) % 99_991)).collect::<Vec<_>>().join(" ")
    };
    let text = |number: usize| {
        let base = words(number / 4, 60);
        let page = match number % 4 {
            0 => base,
            1 => base + " and a few more words at its end",
            2 => words(number / 4, 60),
            _ => words(1000 + number, 80),
        };
        format!("{page}\nAll rights reserved by the owners of this site and of the others, whoever they are.\n")
    };
    numbered((0..count).map(text))
}

/// Writes a corpus in three formats, with invalid rows.
fn corpus(folder: &Path) -> PathBuf {
    let (folder, docs) = (folder.join("corpus"), docs(90));
    fs::create_dir_all(folder.join("deep")).unwrap();
    write_docs(&folder.join("a.parquet"), &docs[..30], 7);
    let mut lines = json_lines(&docs[30..60]);
    lines.extend_from_slice(b"{\"id\": \"broken\", \"text\": \n{\"id\": \"null\", \"text\": null}\n");
    lines.extend(json_lines(&docs[25..35]));
    fs::write(folder.join("deep/b.jsonl"), lines).unwrap();
    let record = |doc: &Doc| format!("{},\"{}\",x\n", doc.id, doc.text);
    let records: String = docs[50..].iter().map(record).collect();
    fs::write(folder.join("c.csv"), format!("id,text,more\n{records}")).unwrap();
    folder
}

fn apply(out: &Path, more: &[&str]) -> Ran {
    Ran::of(program().arg("apply").arg(out).arg("--no-progress").args(more).output().unwrap())
}

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = files_below(folder).into_iter();
    files.map(|file| (file.strip_prefix(folder).unwrap().to_path_buf(), fs::read(&file).unwrap())).collect()
}

/// Returns the files in the corpus folders.
fn of_corpus(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = bytes(out);
    all.retain(|path, _| ["attributes", "deduped", "dropped"].iter().any(|name| path.starts_with(name)));
    all
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn files_that_were_added_after_the_run_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let lines = |name: &str, docs: &[Doc]| {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        fs::write(at(name), json_lines(docs)).unwrap();
    };
    let docs = numbered(["One text.", "One text.", "Two."]);
    lines("c/a.jsonl", &docs);
    fs::write(at("c/bad.jsonl.gz"), "not packed").unwrap();
    run(&[&at("c")], &at("out"), &["--algorithms", "exact"]).ends_with(3);
    run(&[&at("c/*.jsonl")], &at("glob"), &["--algorithms", "exact"]).ends_with(0);
    run(&[&at("c/a.jsonl")], &at("file"), &["--algorithms", "exact"]).ends_with(0);
    let unnamed = |out: &str| {
        let ran = apply(&at(out), &["--corpus", "keep", "--overwrite"]).ends_with(0);
        assert!(!ran.stderr.contains("added to the corpus"), "{out}: {}", ran.stderr);
    };
    ["out", "glob", "file"].into_iter().for_each(unnamed);
    lines("c/later/b.jsonl", &docs);
    let named = |out: &str, more: &[&str], said: &str| {
        let ran = apply(&at(out), &[&["--corpus", "keep", "--overwrite"], more].concat()).ends_with(0);
        assert!(ran.stderr.contains(said), "{out}: {}", ran.stderr);
    };
    named("out", &[], "1 file was added to the corpus after the run, such as ");
    named("out", &[], "c/later/b.jsonl; run again with `--overwrite` to include it");
    ["glob", "file"].into_iter().for_each(unnamed);
    lines("c/z.jsonl", &docs);
    named("out", &["--out", text(&at("other"))], "2 files were added");
    named("glob", &[], "c/z.jsonl");
    // The corpus may be in another place now.
    fs::rename(at("c"), at("moved")).unwrap();
    named("out", &["--input", text(&at("moved"))], "2 files were added");
    named("glob", &["--input", text(&at("moved"))], "moved/z.jsonl");
}

#[test]
fn a_record_with_a_path_out_of_its_folder_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_docs(&at("c/a.parquet"), &numbered(["One text.", "One text.", "Two."]), 10);
    fs::write(at("evil"), "mine").unwrap();
    let typed = |words: &[&str]| Ran::of(program().current_dir(folder.path()).args(words).output().unwrap());
    let change = |record: &str, change: &dyn Fn(&mut serde_json::Value)| {
        let mut value = serde_json::from_slice(&fs::read(at(record)).unwrap()).unwrap();
        change(&mut value);
        fs::write(at(record), serde_json::to_vec(&value).unwrap()).unwrap();
    };
    let made = || {
        let _ = fs::remove_dir_all(at("out"));
        run(&[&at("c")], &at("out"), &["--algorithms", "exact"]).ends_with(0);
        apply(&at("out"), &["--corpus", "keep"]).ends_with(0);
    };
    type Change<'c> = &'c dyn Fn(&mut serde_json::Value);
    let changes: [(&str, Change<'_>); 5] = [
        ("out/run.json", &|value| value["files"].as_array_mut().unwrap().push("../../evil".into())),
        ("out/run.json", &|value| value["files"].as_array_mut().unwrap().push("/etc/passwd".into())),
        ("out/run.json", &|value| value["algorithms"][0]["label"] = "../../evil".into()),
        ("out/applied.json", &|value| value["files"].as_array_mut().unwrap().push("removed/../../evil".into())),
        ("out/applied.json", &|value| {
            let folder = value["corpus"]["folders"]["deduped"].clone();
            value["corpus"]["folders"]["../evil"] = folder;
        }),
    ];
    for (at_once, (record, made_so)) in changes.into_iter().enumerate() {
        made();
        change(record, made_so);
        for words in [
            &["explain", "out", "d0", "d1"][..],
            &["report", "out"],
            &["show", "out"],
            &["apply", "out", "--corpus", "drop"],
        ] {
            typed(words).ends_with(1).says(&[record, "it is damaged: it lists the file", "which is not in its folder"]);
        }
        if ![2, 4].contains(&at_once) {
            let again = ["run", "c", "--out", "out", "--overwrite", "--algorithms", "exact"];
            typed(&again).ends_with(1).says(&[record, "it is damaged"]);
        }
        assert_eq!(fs::read_to_string(at("evil")).unwrap(), "mine");
    }
}

#[test]
fn a_finished_run_gives_the_bytes_of_a_run_with_that_corpus_and_changes_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let cases: [(&str, &[&str]); 7] = [
        ("none", &["--algorithms", "exact", "--keep", "none"]),
        ("exact", &["--algorithms", "exact"]),
        ("pairs", &["--algorithms", "exact,minhash:threshold=0.5", "--source-column", "id"]),
        (
            "agree",
            &[
                "--algorithms",
                "exact,minhash:threshold=0.5",
                "--decide",
                "all",
                "--remove-if",
                "pair",
                "--keep",
                "id desc",
            ],
        ),
        (
            "chain",
            &["--algorithms", "minhash:threshold=0.5", "--chain", "remove", "--limit", "105", "--remove-if", "pair"],
        ),
        ("lines", &["--algorithms", "minhash:threshold=0.5", "--cut", "lines", "--max-cut-share", "1"]),
        (
            "runs",
            &[
                "--algorithms",
                "exact",
                "--cut",
                "runs:60",
                "--cut-first",
                "--min-chars-left",
                "600",
                "--max-cut-share",
                "1",
            ],
        ),
    ];
    for (name, more) in cases {
        let (with, without) =
            (folder.path().join(format!("{name}-with")), folder.path().join(format!("{name}-without")));
        run(&[&corpus], &with, &[more, &["--corpus", ALL]].concat()).ends_with(3);
        let told = run(&[&corpus], &without, more).ends_with(3).stdout;
        let last = format!("next: dupsift apply {} --corpus keep\n", text(&without));
        assert!(told.contains(&last), "{told}");
        let before = bytes(&without);
        // Adds one folder first, then the other two together.
        let told = apply(&without, &[]).ends_with(0).stdout;
        assert!(told.contains(" kept, ") && told.contains("\ndeduped/: "), "{told}");
        apply(&without, &["--corpus", "drop,annotate", "--threads", "1"]).ends_with(0);
        assert!(!of_corpus(&with).is_empty());
        assert_eq!(of_corpus(&without), of_corpus(&with), "{name}");
        let mut after = bytes(&without);
        after.retain(|path, _| !of_corpus(&without).contains_key(path) && path != Path::new("applied.json"));
        assert_eq!(after, before, "{name}");
        assert_eq!(names_in(folder.path()).iter().filter(|name| name.starts_with('.')).count(), 0);
        // The record lists these folders, so the output can be replaced.
        run(&[&corpus], &without, &[more, &["--overwrite", "--accept"]].concat()).ends_with(3);
        assert!(!without.join("deduped").exists());
    }
}

#[test]
fn another_rule_gives_what_a_run_by_that_rule_gives_in_a_folder_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = corpus(folder.path());
    let at = |name: &str| folder.path().join(name);
    let recipe = |threshold: &str| format!("minhash:bands=20,rows=5,verify=jaccard:{threshold}");
    let made = |name: &str, threshold: &str, more: &[&str]| {
        run(&[&corpus], &at(name), &[&["--algorithms", &recipe(threshold)], more].concat()).ends_with(3);
    };
    made("low", "0.5", &["--remove-if", "pair"]);
    made("high", "0.95", &["--remove-if", "pair", "--corpus", ALL]);
    made("contained", "0.5", &["--remove-if", "contained:0.99:1", "--corpus", ALL]);
    let before = bytes(&at("low"));
    let refused = apply(&at("low"), &["--threshold", "minhash=0.95"]).ends_with(2);
    refused.says(&["requires a separate folder", "`--out DIR`"]);
    let strict = at("strict");
    let told =
        apply(&at("low"), &["--threshold", "minhash=0.95", "--corpus", ALL, "--out", text(&strict)]).ends_with(0);
    assert!(told.stdout.contains("options: remove-if=pair; only pairs with minhash >= 0.95"), "{}", told.stdout);
    assert_eq!(of_corpus(&strict), of_corpus(&at("high")));
    let removed = |out: &Path| {
        let table = Table::read(&out.join("removed"));
        (
            table.texts("id"),
            table.texts("kept_id"),
            table.texts("reason"),
            table.floats("similarity"),
            table.numbers("doc"),
        )
    };
    assert_eq!(removed(&strict), removed(&at("high")));
    assert_ne!(removed(&strict), removed(&at("low")));
    assert_eq!(names_in(&strict), ["_SUCCESS", "applied.json", "attributes", "deduped", "dropped", "removed"]);
    let record: serde_json::Value = serde_json::from_slice(&fs::read(strict.join("applied.json")).unwrap()).unwrap();
    assert_eq!((&record["remove_if"], &record["thresholds"]["minhash"]), (&"pair".into(), &0.95.into()));
    assert_eq!(record["files"].as_array().unwrap().len(), files_below(&strict).len() - 2);

    apply(&at("contained"), &["--remove-if", "pair", "-o", text(&at("looser"))]).ends_with(0);
    assert_eq!(removed(&at("looser")), removed(&at("low")));
    // Writes the corpus for the same rule to a different folder, with the same table of removals as in the run.
    apply(&at("contained"), &["--remove-if", "contained:0.99:1", "-o", text(&at("same"))]).ends_with(0);
    assert_eq!(bytes(&at("same/deduped")), bytes(&at("contained/deduped")));
    assert_eq!(bytes(&at("same/removed")), bytes(&at("contained/removed")));
    assert_eq!(bytes(&at("low")), before);
}

/// Checks that the page shows only commands that work, and that a stricter rule after a run with `pair` is refused with an error that
/// contains the ids.
#[test]
fn the_page_names_the_commands_that_work() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let versions = |number: usize| {
        let base: Vec<String> =
            (0..80).map(|word| format!("w{:05}", (number / 3 * 7919 + word * 104_729) % 99_991)).collect();
        format!("{} other{number} words{number}", base[number % 3..].join(" "))
    };
    fs::write(at("a.jsonl"), json_lines(&numbered((0..60).map(versions)))).unwrap();
    let (input, index) = (at("a.jsonl"), at("seen"));
    let own = "--corpus keep";
    let stricter = "--remove-if contained:1:1";
    let cases: &[(&str, &[&str], [bool; 2])] = &[
        ("plain", &[], [true, true]),
        ("strict", &["--remove-if", "contained:1:1"], [true, false]),
        ("pair", &["--remove-if", "pair"], [true, false]),
        ("chain", &["--remove-if", "pair", "--chain", "remove"], [true, false]),
        ("cut", &["--cut", "lines", "--max-cut-share", "1"], [true, false]),
        ("sample", &["--sample", "50"], [false, false]),
        ("reference", &["--reference", text(&input)], [true, false]),
        ("index", &["--index", text(&index)], [true, true]),
        ("later", &["--index", text(&index), "--batch", "later"], [true, false]),
        ("across", &["--scope", "across:id"], [true, false]),
    ];
    for (name, more, named) in cases {
        let out = at(name);
        let ran = run(
            &[&at("a.jsonl")],
            &out,
            &[&["--algorithms", "exact,minhash", "--max-removed-share", "1"], *more].concat(),
        );
        let told = ran.ends_with(0).stdout.contains(&format!("next: dupsift apply {} {own}", out.display()));
        let page = fs::read_to_string(out.join("report.html")).unwrap();
        let has = |end: &str| page.contains(&format!("dupsift apply {} {end}", out.display()));
        assert_eq!(([has(own), has(stricter)], told), (*named, named[0]), "{name}");
        if named[0] {
            apply(&out, &["--corpus", "keep"]).ends_with(0);
        }
        let strict = at(&format!("{name}-strict"));
        let applied = apply(&out, &["--remove-if", "contained:1:1", "--out", text(&strict)]);
        assert!(!named[1] || applied.code == 0, "{name}: {}", applied.stderr);
        match *name {
            "pair" => applied.ends_with(2).says(&[
                "the run did not compare document \"",
                "which `--remove-if contained:1:1` would keep; run again with this rule",
            ]),
            "later" => applied.ends_with(2).says(&["the output of a run without `--index`"]),
            "reference" => applied.ends_with(2).says(&["the output of a run without `--reference`"]),
            _ => applied,
        };
    }
}

#[test]
fn what_cannot_be_applied_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let write = |name: &str, docs: &[Doc]| fs::write(at(name), json_lines(docs)).unwrap();
    write("a.jsonl", &docs(40));
    let input = at("a.jsonl");
    let out = at("out");
    run(&[&input], &out, &["--algorithms", "exact,minhash"]).ends_with(0);
    let before = bytes(folder.path());
    let refused = |out: &Path, more: &[&str], says: &[&str]| {
        apply(out, more).ends_with(2).says(says);
    };
    refused(&out, &["--corpus", "kept"], &["did you mean \"keep\"?"]);
    refused(&out, &["--corpus", "none"], &["`none` would write nothing"]);
    refused(&out, &["--threshold", "0.9"], &["expected LABEL=T"]);
    refused(&out, &["--threshold", "minhahs=0.9", "-o", text(&at("new"))], &["did you mean \"minhash\"?"]);
    refused(&out, &["--remove-if", "all", "-o", text(&at("new"))], &["remove-if"]);
    refused(&out, &["-o", text(&out.join("deep"))], &["inside the output folder of the run"]);
    refused(&out, &["-o", folder.path().to_str().unwrap()], &["already exists", "`--overwrite` to replace it"]);
    assert_eq!(bytes(folder.path()), before);

    fs::create_dir(out.join("deduped")).unwrap();
    refused(&out, &[], &["deduped already exists; pass `--overwrite` to replace it"]);
    fs::remove_dir(out.join("deduped")).unwrap();
    // Replaces the content with different content that has the same length and the same number of rows.
    let mut others = docs(40);
    let changed = others[3].text.replacen('w', "x", 1);
    others[3].text = changed;
    write("a.jsonl", &others);
    refused(&out, &[], &["the corpus has changed since the run", "a.jsonl has different contents"]);
    write("a.jsonl", &others[..39]);
    refused(&out, &[], &["the corpus has changed since the run"]);
    fs::remove_file(&input).unwrap();
    assert_ne!(apply(&out, &[]).code, 0);
    assert_eq!(names_in(&out).iter().filter(|name| *name == "deduped" || *name == "applied.json").count(), 0);

    write("a.jsonl", &docs(40));
    run(&[&input], &at("cut"), &["--algorithms", "exact", "--cut", "lines", "--max-cut-share", "1"]).ends_with(0);
    refused(&at("cut"), &["--remove-if", "pair", "-o", text(&at("new"))], &["cuts depend on which documents are kept"]);
    // A threshold is accepted only for an algorithm whose pairs decide which documents are removed, and only once per algorithm. The
    // removal rule of a run with `--chain remove` cannot be changed.
    let new = at("new");
    let twice = ["--threshold", "minhash=0.9", "--threshold", "minhash=0.95", "-o", text(&new)];
    run(&[&input], &at("by"), &["--algorithms", "exact,minhash", "--decide", "exact"]).ends_with(0);
    refused(&at("by"), &["--threshold", "minhash=0.9", "-o", text(&at("new"))], &["minhash do not affect", "exact"]);
    run(&[&input], &at("both"), &["--algorithms", "exact,minhash"]).ends_with(0);
    refused(&at("both"), &twice, &["minhash has two thresholds"]);
    let chains = ["--algorithms", "exact,minhash", "--chain", "remove", "--remove-if", "pair"];
    run(&[&input], &at("chains"), &chains).ends_with(0);
    let other = ["--remove-if", "contained:0.9:1", "-o", text(&new)];
    refused(&at("chains"), &other, &["`--remove-if`", "complete chains"]);
    assert!(!at("new").exists());
    let compared_in = at("compared");
    let compared = ["compare", text(&input), "--out", text(&compared_in), "--algorithms", "exact", "--no-progress"];
    Ran::of(program().args(compared).output().unwrap()).ends_with(0);
    refused(&at("compared"), &[], &["a comparison removes no documents"]);
    let guard = ["--algorithms", "exact", "--overwrite", "--max-removed-share", "0.00001", "--guard-rows", "1"];
    run(&[&input], &out, &guard).ends_with(4);
    refused(&at("out.held"), &[], &["held back by a guard", "dupsift accept"]);
}

#[test]
fn a_batch_of_an_index_is_written_by_its_own_removals() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let docs = docs(60);
    for (name, docs) in [("a.jsonl", &docs[..30]), ("b.jsonl", &docs[20..])] {
        fs::write(at(name), json_lines(docs)).unwrap();
    }
    let seen = at("seen");
    for (name, out) in [("a.jsonl", "n1"), ("b.jsonl", "n2")] {
        run(&[&at(name)], &at(out), &["--algorithms", "exact", "--index", text(&seen)]).ends_with(0);
    }
    apply(&at("n2"), &["--corpus", "keep,drop"]).ends_with(0);
    let removed = Table::read(&at("n2/removed")).texts("id");
    let ids = |folder: &str| {
        let lines = fs::read_to_string(at(folder).join("b.jsonl")).unwrap();
        let id =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned();
        lines.lines().map(id).collect::<Vec<_>>()
    };
    assert_eq!(ids("n2/dropped"), removed);
    assert_eq!(ids("n2/dropped").len() + ids("n2/deduped").len(), 40);
    apply(&at("n2"), &["--corpus", "annotate"]).ends_with(2).says(&["was matched against the index"]);
}

#[test]
fn folders_that_get_no_file_are_not_made_and_stop_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Nothing is removed, so `dropped/` is empty.
    fs::write(at("a.jsonl"), json_lines(&[docs(8).swap_remove(3), docs(8).swap_remove(7)])).unwrap();
    let input = at("a.jsonl");
    let with = run(&[&input], &at("with"), &["--algorithms", "exact", "--corpus", ALL]).ends_with(0);
    run(&[&input], &at("out"), &["--algorithms", "exact"]).ends_with(0);
    apply(&at("out"), &["--corpus", ALL]).ends_with(0);
    assert_eq!(of_corpus(&at("out")), of_corpus(&at("with")), "{}", with.stdout);
    assert_eq!(at("out/dropped").exists(), at("with/dropped").exists());
    assert!(at("out/deduped/a.jsonl").is_file() && at("out/applied.json").is_file());
    // A second call finds the existing folder.
    apply(&at("out"), &["--corpus", "keep"]).ends_with(2).says(&["deduped already exists"]);
}

#[test]
fn files_that_cannot_be_written_back_are_not_promised() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_docs(&at("a.parquet"), &docs(20), 7);
    let told = run(&[&at("a.parquet")], &at("parquet"), &["--algorithms", "exact"]).ends_with(0).stdout;
    assert!(told.contains("dupsift apply"), "{told}");
    write_arrow(&at("a.arrow"), &docs(20));
    let told = run(&[&at("a.arrow")], &at("arrow"), &["--algorithms", "exact"]).ends_with(0).stdout;
    assert!(!told.contains("dupsift apply"), "{told}");
    assert_eq!(show(&at("arrow")).ends_with(0).stdout.matches("dupsift apply").count(), 0);
    apply(&at("arrow"), &[]).ends_with(2).says(&["rows cannot be removed from Arrow files"]);
}

fn write_arrow(path: &Path, docs: &[Doc]) {
    use arrow::array::{ArrayRef, RecordBatch, StringArray};
    let column = |of: fn(&Doc) -> &String| -> ArrayRef {
        std::sync::Arc::new(StringArray::from_iter_values(docs.iter().map(of)))
    };
    let batch = RecordBatch::try_from_iter([("id", column(|doc| &doc.id)), ("text", column(|doc| &doc.text))]).unwrap();
    let mut writer = arrow::ipc::writer::FileWriter::try_new(fs::File::create(path).unwrap(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

/// Returns a summary without the line that contains times, because times vary.
fn timeless(summary: &str) -> String {
    summary.lines().filter(|line| !line.contains(" CPU seconds")).map(|line| format!("{line}\n")).collect()
}

fn show(dir: &Path) -> Ran {
    Ran::of(program().arg("show").arg(dir).output().unwrap())
}

/// Returns the output of `show -v`. The runs in these tests also use `-v`.
fn show_all(dir: &Path) -> String {
    Ran::of(program().args(["show", "-v"]).arg(dir).output().unwrap()).ends_with(0).stdout
}

#[test]
fn show_prints_what_was_printed_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.jsonl"), json_lines(&docs(40))).unwrap();
    let (input, out) = (at("a.jsonl"), at("out"));
    let told = run(&[&input], &out, &["--algorithms", "exact,minhash"]).ends_with(0).stdout;
    assert!(told.contains("\nnext: dupsift apply "), "{told}");
    assert_eq!(timeless(&show_all(&out)), timeless(&told));
    assert!(told.starts_with(&show(&out).ends_with(0).stdout));
    // The summary includes a corpus that `apply` wrote later, as if the run had written it.
    apply(&out, &["--corpus", "drop"]).ends_with(0);
    apply(&out, &[]).ends_with(0);
    let now = show(&out).ends_with(0).stdout;
    assert!(
        now.contains("\ncorpus: deduped/ ") && now.contains(", dropped/ ") && !now.contains("dupsift apply"),
        "{now}"
    );
    fs::remove_dir_all(out.join("dropped")).unwrap();
    assert!(!show(&out).ends_with(0).stdout.contains("dropped/"));
    let strict = apply(&out, &["--remove-if", "pair", "-o", text(&at("pairs"))]).ends_with(0).stdout;
    assert_eq!(show(&at("pairs")).ends_with(0).stdout, strict);
    Ran::of(program().arg("report").arg(at("pairs")).output().unwrap())
        .ends_with(2)
        .says(&["the output of dupsift apply"]);

    let guard = ["--algorithms", "exact", "--overwrite", "--max-removed-share", "0.00001", "--guard-rows", "1"];
    let held = run(&[&input], &out, &guard).ends_with(4).stdout;
    assert_eq!(timeless(&show_all(&at("out.held"))), timeless(&held));
    let (compared, arguments) = (at("compared"), ["--algorithms", "exact,minhash", "--no-progress"]);
    let command = program().arg("compare").arg(&input).arg("-o").arg(&compared).args(arguments).output().unwrap();
    let told = Ran::of(command).ends_with(0).stdout;
    assert_eq!(timeless(&show(&compared).ends_with(0).stdout), timeless(&told));
    show(folder.path()).ends_with(2).says(&["is not the output of a finished run"]);
}

#[test]
fn a_corpus_that_was_moved_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (out, corpus) = (at("out"), corpus(folder.path()));
    run(&[&corpus], &out, &["--algorithms", "exact"]).ends_with(3);
    fs::write(at("labels.csv"), "id_a,id_b\nd0,d2\n").unwrap();
    let look = |more: &[&str]| {
        let mut command = program();
        command.arg(more[0]).arg(&out).args(&more[1..]);
        Ran::of(command.output().unwrap())
    };
    let labels = at("labels.csv");
    let verbs: [&[&str]; 3] = [&["explain", "d0", "d2"], &["evaluate", "--truth", text(&labels)], &["report"]];
    let before: Vec<String> = verbs.iter().map(|verb| look(verb).ends_with(0).stdout).collect();
    // A file with the same name in another folder is a different file.
    fs::create_dir_all(at("new/place")).unwrap();
    fs::rename(&corpus, at("new/place/corpus")).unwrap();
    fs::write(at("new/a.parquet"), "").unwrap();
    for (verb, before) in verbs.iter().zip(&before) {
        let gone = look(verb);
        if verb[0] == "report" {
            gone.ends_with(2).says(&["report.html was not replaced"]).says(&["help: pass `--input DIR`"]);
        } else {
            gone.ends_with(2).says(&[
                "is no longer where it was",
                "a.parquet does not exist",
                "help: pass `--input DIR`",
            ]);
        }
        for place in ["new/place", "new/place/corpus"] {
            let place = at(place);
            let after = look(&[verb, &["--input", text(&place)][..]].concat()).ends_with(0).stdout;
            assert_eq!(&after, before, "{verb:?}");
        }
        let nowhere = look(&[verb, &["--input", text(&at("out"))][..]].concat());
        assert_ne!(nowhere.code, 0, "{verb:?}");
        assert!(nowhere.stderr.contains("a.parquet"), "{}", nowhere.stderr);
    }
    // In `apply`, `--input` specifies the folder of the corpus, because `--corpus` selects what to write.
    apply(&out, &[]).ends_with(2).says(&["is no longer where it was", "help: pass `--input DIR`"]);
    let place = at("new/place");
    apply(&out, &["--input", text(&place), "--corpus", ALL]).ends_with(0);
    run(&[&place.join("corpus")], &at("with"), &["--algorithms", "exact", "--corpus", ALL]).ends_with(3);
    assert_eq!(of_corpus(&out), of_corpus(&at("with")));
    let pairs = at("pairs");
    let strict = ["--remove-if", "pair", "--input", text(&place), "-o", text(&pairs)];
    apply(&out, &strict).ends_with(0);
}

#[test]
fn what_was_written_before_is_replaced_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("a.jsonl"), json_lines(&docs(40))).unwrap();
    let (input, out, other) = (at("a.jsonl"), at("out"), at("other"));
    run(&[&input], &out, &["--algorithms", "exact,minhash"]).ends_with(0);
    // Writes into the folder of the run.
    apply(&out, &["--corpus", ALL]).ends_with(0);
    let before = bytes(&out);
    apply(&out, &["--corpus", ALL]).ends_with(2).says(&["already exists; pass `--overwrite`"]);
    fs::write(out.join("deduped/a.jsonl"), "changed\n").unwrap();
    apply(&out, &["--corpus", ALL, "--overwrite"]).ends_with(0);
    assert_eq!(bytes(&out), before);
    apply(&out, &["--overwrite", "--add", "copies"]).ends_with(0);
    assert!(fs::read_to_string(out.join("deduped/a.jsonl")).unwrap().contains("\"copies\""));
    assert_eq!(fs::read(out.join("dropped/a.jsonl")).unwrap(), before[Path::new("dropped/a.jsonl")]);
    // Writes into a separate folder.
    let strict = ["--remove-if", "pair", "-o", text(&other)];
    apply(&out, &strict).ends_with(0);
    let before = bytes(&other);
    apply(&out, &strict).ends_with(2).says(&["already exists", "`--overwrite` to replace it"]);
    apply(&out, &[&strict[..], &["--overwrite"]].concat()).ends_with(0);
    assert_eq!(bytes(&other), before);
    // Neither the user's files nor the corpus are replaced.
    for place in [&out, &other] {
        fs::write(place.join("deduped/mine.txt"), "mine").unwrap();
    }
    let before = bytes(folder.path());
    apply(&out, &["--overwrite"]).ends_with(2).says(&["was not written by dupsift", "mine.txt"]);
    apply(&out, &[&strict[..], &["--overwrite"]].concat()).ends_with(2).says(&["mine.txt"]);
    assert_eq!(bytes(folder.path()), before);
    fs::remove_file(other.join("deduped/mine.txt")).unwrap();
    let again = at("again");
    run(&[&other.join("deduped")], &again, &["--algorithms", "exact"]).ends_with(0);
    let spared = apply(&again, &["-o", text(&other), "--overwrite"]).ends_with(2);
    spared.says(&["would be replaced, but contains the input"]);
    // A run recognizes the folders that `apply` replaced in an output, so the run can replace the output.
    fs::remove_file(out.join("deduped/mine.txt")).unwrap();
    run(&[&input], &out, &["--algorithms", "exact", "--overwrite"]).ends_with(0);
}

/// The texts, ids and number of rows must not change; other columns may.
#[test]
fn columns_that_the_run_did_not_use_are_copied_as_they_are_now() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let docs = docs(40);
    let with = |more: &str, docs: &[Doc]| {
        let lines = String::from_utf8(json_lines(docs)).unwrap();
        let lines: Vec<String> = lines.lines().map(|line| line.replacen('{', &format!("{{{more}"), 1)).collect();
        fs::write(at("a.jsonl"), lines.join("\n") + "\n").unwrap();
    };
    with("\"score\": 1, ", &docs);
    let input = at("a.jsonl");
    for out in ["out", "other"] {
        run(&[&input], &at(out), &["--algorithms", "exact,minhash"]).ends_with(0);
    }
    let removed = removed_ids(&at("out"));
    with("\"score\": 12345, \"language\": \"en\", ", &docs);
    apply(&at("out"), &["--corpus", "keep,drop"]).ends_with(0);
    let kept = fs::read_to_string(at("out/deduped/a.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), docs.len() - removed.len());
    assert!(kept.lines().all(|line| line.contains("\"score\": 12345") && line.contains("\"language\"")));
    // Rows, ids and texts must be the same.
    with("", &docs[1..]);
    apply(&at("other"), &[]).ends_with(2).says(&["the corpus has changed since the run, which read 40 rows"]);
    let mut changed = docs.clone();
    changed[3].id += "x";
    with("", &changed);
    apply(&at("other"), &[])
        .ends_with(2)
        .says(&["a.jsonl has different contents", "help: run again with `--overwrite`"]);
    // The run uses the column for `--keep`, so it must not change.
    with("\"score\": 1, ", &docs);
    run(&[&input], &at("kept"), &["--algorithms", "exact", "--keep", "score desc"]).ends_with(0);
    with("\"score\": 123, ", &docs);
    apply(&at("kept"), &[]).ends_with(2).says(&["a.jsonl has different contents"]);
}
