//! Tests `run --reference`, which matches a corpus against documents that are never removed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::kit::{
    Doc, Ran, Table, done, made_docs, numbered, pairs, program, record, removed_ids, result_bytes, run, sample_docs,
    write_docs,
};

const ALGORITHMS: &str = "exact,minhash:verify=jaccard:0.5";

struct Place(tempfile::TempDir);

impl Place {
    /// Creates two halves of a corpus. The second half contains copies and edited copies of documents from the first half.
    fn new() -> (Place, Vec<Doc>, Vec<Doc>) {
        let place = Place(tempfile::tempdir().unwrap());
        let mut docs = sample_docs();
        let new = docs.split_off(docs.len() / 2);
        let copy = |doc: &Doc, more: &str| Doc {
            id: format!("{}-again", doc.id),
            text: format!("{}{more}", doc.text),
            title: None,
        };
        let again = docs
            .iter()
            .step_by(7)
            .map(|doc| copy(doc, ""))
            .chain(docs.iter().skip(3).step_by(9).map(|doc| copy(doc, " And more.")));
        let new: Vec<Doc> = new.into_iter().chain(again.collect::<Vec<_>>()).collect();
        write_docs(&place.at("old/docs.parquet"), &docs, 200);
        write_docs(&place.at("new/docs.parquet"), &new, 200);
        (place, docs, new)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, input: &str, out: &str, more: &[&str]) -> PathBuf {
        let out = self.at(out);
        let more = [&["--algorithms", ALGORITHMS, "--no-report"], more].concat();
        run(&[&self.at(input)], &out, &more).ends_with(0);
        out
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Checks that an index, the indexed files, and the output of a run on these files are equivalent as references, and that the result
/// equals the result of an incremental run.
#[test]
fn a_reference_is_an_index_an_output_or_files() {
    let (place, old, new) = Place::new();
    let index = place.at("index");
    let made = place.run("old", "made", &["--index", text(&index)]);
    let by_index = place.run("new", "by-index", &["--reference", text(&index)]);
    let before = std::fs::read_dir(index.join("batches")).unwrap().count();
    let begins = old.len() as i64;
    let kept_in = |out: &Path| {
        let removed = Table::read(&out.join("removed"));
        let names = removed.texts("kept_in");
        assert_eq!(names.len(), removed.len());
        for (name, kept) in names.iter().zip(removed.numbers("kept_doc")) {
            assert_eq!(name == "null", kept >= begins, "{name}");
        }
        names.into_iter().filter(|name| name != "null").collect::<BTreeSet<_>>()
    };
    assert_eq!(kept_in(&by_index), BTreeSet::from(["made".to_owned()]));
    for (name, reference) in [("by-files", place.at("old")), ("by-output", made)] {
        let out = place.run("new", name, &["--reference", text(&reference)]);
        // The name of the file differs from the name of the batch.
        assert_eq!(kept_in(&out), BTreeSet::from(["docs.parquet".to_owned()]));
        let [mut by_index, mut by_files] = [&by_index, &out].map(|out| result_bytes(out));
        for bytes in [&mut by_index, &mut by_files] {
            bytes.retain(|name, _| !name.starts_with("removed"));
        }
        assert!(by_index == by_files, "{name}");
        let rows = [&place.at("by-index"), &out].map(|out| {
            let removed = Table::read(&out.join("removed"));
            ["id", "kept_id", "reason", "algorithm", "similarity", "contained"].map(|column| removed.texts(column))
        });
        assert_eq!(rows[0], rows[1], "{name}");
    }
    assert_eq!(before, 1);
    let batch = place.run("new", "batch", &["--index", text(&index)]);
    assert!(result_bytes(&by_index) == result_bytes(&batch), "a reference is matched like earlier batches");
    // Reference documents occur in pairs but are never removed.
    let met = pairs(&by_index, "minhash").iter().filter(|pair| pair.doc_a < begins).count();
    assert!(met > new.len() / 20, "{met}");
    let removed = Table::read(&by_index.join("removed"));
    assert!(removed.numbers("doc").into_iter().all(|doc| doc >= begins));
    assert!(removed.texts("reason").iter().filter(|reason| *reason == "seen").count() > old.len() / 10);
    assert_eq!(record(&by_index)["index"]["texts"].as_u64(), Some(0));
    assert!(removed_ids(&by_index).iter().any(|id| id.ends_with("-again")));
}

/// Checks that documents of a reference are compared again as long as its files are the same, and that nothing is left behind.
#[test]
fn a_reference_is_read_again() {
    let (place, _, _) = Place::new();
    let reference = place.at("old");
    let words = ["--reference", text(&reference), "--algorithms", "exact,versions"];
    run(&[&place.at("new")], &place.at("out"), &words).ends_with(0);
    let options = record(&place.at("out"))["options"].clone();
    assert_eq!((options.get("stats"), &options["reference"]), (None, &text(&reference).into()));
    let removed = Table::read(&place.at("out/removed"));
    let leaks: Vec<usize> = (0..removed.len()).filter(|&row| removed.texts("kept_in")[row] != "null").collect();
    assert!(leaks.len() > 10, "{leaks:?}");
    let work = place.at("work");
    std::fs::create_dir(&work).unwrap();
    let typed = |verb: &str, more: &[&str]| {
        let mut command = program();
        command.arg(verb).arg(place.at("out")).args(more).args(["--threads", "2", "--work", text(&work)]);
        Ran::of(command.output().unwrap())
    };
    for &row in [leaks[0], leaks[leaks.len() - 1]].iter() {
        let (doc, kept_id) = (removed.numbers("doc")[row].to_string(), &removed.texts("kept_id")[row]);
        let said = typed("explain", &["--docs", &doc]).ends_with(0).stdout;
        assert!(said.contains("a was removed in favor of b"), "{said}");
        let place = said.lines().find(|line| line.starts_with("b: ")).unwrap();
        assert!(place.contains(kept_id.as_str()) && place.contains("docs.parquet row "), "{place}");
    }
    typed("explain", &["--worst"]).ends_with(0);
    let shown = typed("show", &["--removed", "--limit", "10000", "--json"]).ends_with(0).stdout;
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let named = shown["rows"].as_array().unwrap().iter().filter(|row| row["kept_in"] == "docs.parquet").count();
    assert_eq!(named, leaks.len());
    // A table that is too wide has a line for each column of a row.
    let shown = typed("show", &["--removed"]).ends_with(0).stdout;
    assert!(shown.lines().any(|line| line.ends_with("kept in") || line.starts_with("kept in  ")), "{shown}");
    typed("report", &[]).ends_with(0);
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
    // Files that differ are not compared, and neither are files that are missing.
    let docs = sample_docs();
    write_docs(&reference.join("docs.parquet"), &docs[1..docs.len() / 2 + 1], 200);
    let said = "look up matches in removed/";
    typed("explain", &["--worst"]).ends_with(2).says(&["its files have changed since the run", said]);
    std::fs::remove_dir_all(&reference).unwrap();
    typed("explain", &["--worst"]).ends_with(2).says(&["does not exist", said]);
}

/// Checks that a copied result used as a reference refers to its own corpus, not to a different corpus that has the same name and is
/// located next to the copy.
#[test]
fn a_copied_result_is_a_reference_by_its_own_corpus() {
    let place = Place(tempfile::tempdir().unwrap());
    let text_of = |at: usize| (0..60).map(|n| format!("w{at}x{n}")).collect::<Vec<_>>().join(" ");
    let docs = numbered((0..12).map(text_of));
    write_docs(&place.at("a/corpus/docs.parquet"), &docs[..4], 200);
    write_docs(&place.at("b/corpus/docs.parquet"), &docs[2..], 200);
    place.run("a/corpus", "a/result", &[]);
    std::fs::create_dir_all(place.at("b/result")).unwrap();
    for name in ["run.json", "_SUCCESS"] {
        std::fs::copy(place.at("a/result").join(name), place.at("b/result").join(name)).unwrap();
    }
    let reference = place.at("b/result");
    let out = place.run("b/corpus", "out", &["--reference", text(&reference)]);
    assert_eq!(removed_ids(&out), [docs[2].id.clone(), docs[3].id.clone()]);
    std::fs::remove_dir_all(place.at("a")).unwrap();
    let more = ["--algorithms", ALGORITHMS, "--reference", text(&reference)];
    run(&[&place.at("b/corpus")], &place.at("none"), &more)
        .ends_with(2)
        .says(&["its corpus no longer exists", "docs.parquet"]);
}

/// Checks that unreadable rows and files in a reference are counted, listed and reported, and trigger guards, in the same way as in the
/// corpus.
#[test]
fn what_cannot_be_read_of_a_reference_is_rejected() {
    let place = Place(tempfile::tempdir().unwrap());
    let docs = made_docs(6);
    write_docs(&place.at("new/docs.parquet"), &docs, 200);
    let line = |doc: &Doc| format!("{{\"id\":{:?},\"text\":{:?}}}\n", doc.id, doc.text);
    let torn = line(&docs[1]).replace("\"}\n", "\n");
    std::fs::create_dir(place.at("ref")).unwrap();
    std::fs::write(place.at("ref/a.jsonl"), line(&docs[0]) + &torn + "\r\n" + "{\"id\":\"n\"}\r\n").unwrap();
    std::fs::write(place.at("ref/b.parquet"), b"PAR1 is torn PAR1").unwrap();
    let cp1251 = b"{\"id\":\"q\",\"text\":\"\xc3\xee\xf0\xee\xe4\"}\n";
    std::fs::write(place.at("ref/c.jsonl"), [line(&docs[2]).as_bytes(), cp1251].concat()).unwrap();
    let out = place.at("out");
    let go = |out: &Path, reference: &Path, more: &[&str]| {
        let more = [&["--algorithms", "exact", "--no-report", "--reference", text(reference)], more].concat();
        run(&[&place.at("new")], out, &more)
    };
    let ran = go(&out, &place.at("ref"), &["--max-rejected-share", "1"]).ends_with(3);
    assert_eq!(removed_ids(&out), [docs[0].id.clone(), docs[2].id.clone()]);
    let rejected = Table::read(&out.join("rejected"));
    assert_eq!(rejected.texts("input"), ["reference"; 4]);
    assert_eq!(rejected.texts("file"), ["b.parquet", "a.jsonl", "a.jsonl", "c.jsonl"]);
    assert_eq!(rejected.texts("row"), ["null", "1", "2", "1"]);
    assert_eq!(rejected.texts("reason"), ["unusable file", "not JSON", "null text", "not UTF-8"]);
    assert_eq!(rejected.texts("id")[2], "n");
    let record = record(&out);
    let other = &record["other_inputs"][0];
    assert_eq!(
        (&other["input"], &other["rows"], &other["used"], &other["rejected"]),
        (&"reference".into(), &5.into(), &2.into(), &3.into())
    );
    assert_eq!(other["rejected_reasons"], serde_json::json!({ "not JSON": 1, "null text": 1, "not UTF-8": 1 }));
    assert_eq!(other["bad_inputs"][0]["file"], "b.parquet");
    assert_eq!(record["documents"]["rejected"], 0, "the corpus lost nothing");
    for said in [
        "no corpus rows rejected",
        "reference: 2 of 5 rows used; 3 rows rejected: 1 not JSON, 1 not UTF-8, 1 null text; see rejected/",
        "reference: skipped: b.parquet: ",
        "reference: warning: 1 row is not UTF-8; use `--encoding auto` to detect",
    ] {
        assert!(ran.stdout.contains(said), "{said:?} is not in\n{}", ran.stdout);
    }
    // If there are few rows, up to half of them may be invalid. If more are invalid, the earlier output is kept.
    let ran = go(&out, &place.at("ref"), &["--overwrite"]).ends_with(4);
    assert_eq!(ran.stderr.matches("3 of 5 rows are invalid").count(), 1, "{}", ran.stderr);
    ran.says(&["reference: 3 of 5 rows are invalid (60.0%)"]);
    assert_eq!(removed_ids(&out).len(), 2, "the earlier output stays");
    go(&place.at("strict"), &place.at("ref"), &["--strict"]).ends_with(1).says(&["b.parquet"]);
    // If the reference is an earlier output, the corpus of that output is read again.
    let before = place.at("before");
    run(&[&place.at("ref")], &before, &["--algorithms", "exact", "--max-rejected-share", "1"]).ends_with(3);
    go(&place.at("by-output"), &before, &["--max-rejected-share", "1"]).ends_with(3);
    assert_eq!(Table::read(&place.at("by-output/rejected")).texts("input"), ["reference"; 3]);
    // Rejected rows of the corpus come first, and `evaluate` ignores rejected rows of the reference.
    std::fs::write(place.at("new/z.jsonl"), line(&docs[3]) + "torn\n").unwrap();
    let both = place.at("both");
    go(&both, &place.at("ref"), &["--max-rejected-share", "1"]).ends_with(3);
    assert_eq!(Table::read(&both.join("rejected")).texts("input")[..2], ["corpus", "reference"]);
}

/// Checks that an unusable reference is reported. An empty file triggers a guard, like an empty corpus; any other unusable reference causes
/// an error that contains its path.
#[test]
fn a_reference_of_which_nothing_can_be_used_is_reported() {
    let place = Place(tempfile::tempdir().unwrap());
    write_docs(&place.at("new/docs.parquet"), &made_docs(6), 200);
    std::fs::write(place.at("empty.jsonl"), "").unwrap();
    std::fs::write(place.at("torn.parquet"), "PAR1").unwrap();
    std::fs::write(place.at("column.jsonl"), "{\"id\":1,\"tekst\":\"x\"}\n").unwrap();
    std::fs::create_dir(place.at("folder")).unwrap();
    std::fs::write(place.at("folder/image.png"), "x").unwrap();
    let go = |reference: &str| {
        let out = place.at(&format!("out-{}", reference.replace(['*', '/'], "_")));
        run(
            &[&place.at("new")],
            &out,
            &["--algorithms", "exact", "--no-report", "--reference", text(&place.at(reference))],
        )
    };
    go("empty.jsonl").ends_with(3).says(&["reference: nothing was read: the input has no rows"]);
    let guards = &record(&place.at("out-empty.jsonl"))["guards"];
    assert_eq!((&guards[0]["name"], guards[1].is_null()), (&"nothing-read".into(), true));
    go("torn.parquet").ends_with(1).says(&["torn.parquet", "it is the only input file"]);
    go("column.jsonl").ends_with(2).says(&["column.jsonl", "no column \"text\""]);
    go("none*.jsonl").ends_with(2).says(&["none*.jsonl"]);
    go("folder").ends_with(2).says(&["folder"]);
}

#[test]
fn a_reference_that_is_none_is_reported() {
    let (place, ..) = Place::new();
    let refused = |more: &[&str], says: &str| {
        let more = [&["--algorithms", ALGORITHMS], more].concat();
        run(&[&place.at("new")], &place.at("out"), &more).ends_with(2).says(&[says]);
    };
    refused(&["--reference", text(&place.at("nowhere"))], "nowhere");
    refused(&["--reference", text(&place.at("old")), "--index", text(&place.at("index"))], "remove one of them");
    let other = done(&place.at("old"), &["--algorithms", "exact", "--index", text(&place.at("other"))]);
    refused(&["--reference", text(&place.at("other"))], "minhash in this run, but not in the index");
    drop(other);
    // Nothing is removed if the reference documents match nothing in the corpus.
    write_docs(&place.at("odd/docs.parquet"), &made_docs(20), 10);
    let plain = place.run("new", "plain", &[]);
    let odd = place.run("new", "odd-out", &["--reference", text(&place.at("odd"))]);
    assert_eq!(removed_ids(&plain), removed_ids(&odd));
}

/// Checks that with `--keep none`, all corpus documents in a cluster are removed, even if the cluster contains a reference document. The
/// reference itself is never removed.
#[test]
fn all_of_a_cluster_are_removed_and_nothing_of_the_reference() {
    let place = Place(tempfile::tempdir().unwrap());
    let text = |name: &str| (0..30).map(|at| format!("{name}{at}")).collect::<Vec<_>>().join(" ");
    write_docs(&place.at("old/docs.parquet"), &numbered(vec![text("seen"), text("alone")]), 10);
    let new = ["seen", "twice", "twice", "once"].map(text).to_vec();
    write_docs(&place.at("new/docs.parquet"), &numbered(new), 10);
    let old = place.run("old", "bench", &[]);
    let out = place.run("new", "out", &["--keep", "none", "--reference", old.to_str().unwrap()]);
    let removed = Table::read(&out.join("removed"));
    let rows: Vec<[String; 2]> =
        removed.texts("id").into_iter().zip(removed.texts("reason")).map(|(id, reason)| [id, reason]).collect();
    assert_eq!(rows, [["d0", "seen"], ["d1", "representative"], ["d2", "copy"]]);
}
