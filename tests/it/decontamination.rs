//! `run --reference`: documents that a corpus is held against, and that never go.

use std::path::{Path, PathBuf};

use crate::kit::{Doc, Table, done, made_docs, pairs, record, removed_ids, result_bytes, run, sample_docs, write_docs};

const ALGORITHMS: &str = "exact,minhash:verify=jaccard:0.5";

struct Place(tempfile::TempDir);

impl Place {
    /// Two halves of a corpus, the second of which has copies and edited copies of the first.
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

/// By an index, by the files that it was made of, and by the output of a run over them: the same, which is what a night would be.
#[test]
fn a_reference_is_an_index_an_output_or_files() {
    let (place, old, new) = Place::new();
    let index = place.at("index");
    let made = place.run("old", "made", &["--index", text(&index)]);
    let by_index = place.run("new", "by-index", &["--reference", text(&index)]);
    let before = std::fs::read_dir(index.join("batches")).unwrap().count();
    for (name, reference) in [("by-files", place.at("old")), ("by-output", made)] {
        let out = place.run("new", name, &["--reference", text(&reference)]);
        assert!(result_bytes(&by_index) == result_bytes(&out), "{name}");
    }
    assert_eq!(before, 1);
    let night = place.run("new", "night", &["--index", text(&index)]);
    assert!(result_bytes(&by_index) == result_bytes(&night), "a reference is matched as the nights before are");
    // Old documents stand in pairs, and go never.
    let begins = old.len() as i64;
    let met = pairs(&by_index, "minhash").iter().filter(|pair| pair.doc_a < begins).count();
    assert!(met > new.len() / 20, "{met}");
    let removed = Table::read(&by_index.join("removed"));
    assert!(removed.numbers("doc").into_iter().all(|doc| doc >= begins));
    assert!(removed.texts("reason").iter().filter(|reason| *reason == "seen").count() > old.len() / 10);
    assert_eq!(record(&by_index)["index"]["texts"].as_u64(), Some(0));
    assert!(removed_ids(&by_index).iter().any(|id| id.ends_with("-again")));
}

#[test]
fn a_reference_that_is_none_is_told() {
    let (place, ..) = Place::new();
    let refused = |more: &[&str], says: &str| {
        let more = [&["--algorithms", ALGORITHMS], more].concat();
        run(&[&place.at("new")], &place.at("out"), &more).ends_with(2).says(&[says]);
    };
    refused(&["--reference", text(&place.at("nowhere"))], "nowhere");
    refused(&["--reference", text(&place.at("old")), "--index", text(&place.at("index"))], "leave one of them out");
    let other = done(&place.at("old"), &["--algorithms", "exact", "--index", text(&place.at("other"))]);
    refused(&["--reference", text(&place.at("other"))], "minhash here, and not there");
    drop(other);
    // Files whose documents are met by nothing take nothing away.
    write_docs(&place.at("odd/docs.parquet"), &made_docs(20), 10);
    let plain = place.run("new", "plain", &[]);
    let odd = place.run("new", "odd-out", &["--reference", text(&place.at("odd"))]);
    assert_eq!(removed_ids(&plain), removed_ids(&odd));
}
