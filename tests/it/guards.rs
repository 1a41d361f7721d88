//! Tests each guard at its limit and just above it. A held result leaves everything else unchanged, and is published unchanged.

use std::path::{Path, PathBuf};

use crate::kit::{Ran, names_in, numbered, program, record, run, write_docs};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a corpus of `rows` documents, the first `copies` of which are copies of the same text.
    fn corpus(&self, rows: usize, copies: usize) {
        let text = |row: usize| if row < copies { "one text".to_owned() } else { format!("a text of its own {row}") };
        write_docs(&self.at("corpus/a.parquet"), &numbered((0..rows).map(text)), 1000);
    }

    fn run(&self, out: &str, more: &[&str]) -> Ran {
        let more = [&["--algorithms", "exact", "--overwrite", "--corpus", "keep"], more].concat();
        run(&[&self.at("corpus")], &self.at(out), &more)
    }

    fn guards(&self, out: &str) -> Vec<(String, bool)> {
        let guards = record(&self.at(out))["guards"].clone();
        let one = |guard: &serde_json::Value| (guard["name"].as_str().unwrap().to_owned(), guard["held"] == true);
        guards.as_array().unwrap().iter().map(one).collect()
    }
}

/// Returns all files below a folder with their bytes.
fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for name in names_in(folder) {
        match folder.join(&name) {
            path if path.is_dir() => {
                files.extend(tree(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
            }
            path => files.push((name, std::fs::read(path).unwrap())),
        }
    }
    files
}

#[test]
fn a_share_removed_is_guarded_at_its_bound() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    let limits = ["--guard-rows", "20", "--max-removed-share", "0.25"];
    place.corpus(20, 6);
    place.run("out", &limits).ends_with(0);
    let before = tree(&place.at("out"));
    // In this corpus, one more document is removed. The guard does not apply to a file with one row fewer.
    place.corpus(20, 7);
    place.run("out", &limits).ends_with(4).says(&["6 of the 20 documents in a.parquet would be removed (30.0%)"]);
    assert!(before == tree(&place.at("out")), "what stands has changed");
    assert_eq!(place.guards("out.held"), [("max-removed-share".to_owned(), true)]);
    let held = tree(&place.at("out.held"));
    Ran::of(program().arg("accept").arg(place.at("out.held")).output().unwrap()).ends_with(0);
    let accepted = tree(&place.at("out"));
    let tables = |tree: &[(String, Vec<u8>)]| {
        let own = |name: &str| !["run.json", "report.html", "_SUCCESS", "_HELD"].contains(&name);
        tree.iter().filter(|(name, _)| own(name)).cloned().collect::<Vec<_>>()
    };
    assert!(tables(&held) == tables(&accepted) && tables(&held).iter().any(|(name, _)| name == "deduped/a.parquet"));
    place.corpus(19, 19);
    place.run("out", &limits).ends_with(0);
    // In the first run, there is no earlier output to lose.
    place.corpus(20, 7);
    place.run("first", &limits).ends_with(3);
    assert_eq!(place.guards("first"), [("max-removed-share".to_owned(), false)]);
}

#[test]
fn pairs_are_guarded_against_an_earlier_run() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    let more = ["--max-removed-share", "1", "--max-shrink-factor", "1000"];
    let before = place.at("before");
    let against = [&more[..], &["--previous", before.to_str().unwrap(), "--max-pairs-factor", "3"]].concat();
    // 106 copies give 105 pairs, and 1,036 copies give 1,035 pairs. The number of pairs per document is 9.9 times as large with the same
    // number of documents, and 3.0 times as large with 3.29 times as many documents.
    place.corpus(10_000, 106);
    place.run("before", &more).ends_with(0);
    place.corpus(10_000, 1_036);
    place.run("out", &against).ends_with(4).says(&["pairs per document, 9.9 times the"]);
    assert_eq!(names_in(place.folder.path()), ["before", "corpus", "out.held"]);
    assert_eq!(place.guards("out.held"), [("max-pairs-factor".to_owned(), true)]);
    place.corpus(32_858, 1_036);
    place.run("out", &against).ends_with(0);
    place.corpus(32_857, 1_036);
    place.run("out", &against).ends_with(4);
    // Fewer than 1,000 pairs do not trigger the guard.
    place.corpus(1_010, 1_000);
    place.run("out", &against).ends_with(0);
    place
        .run("out", &[&more[..], &["--previous", "nowhere"]].concat())
        .ends_with(2)
        .says(&["nowhere is not an output of dupsift run"]);
}

#[test]
fn a_corpus_that_has_shrunk_is_guarded_against_an_earlier_run() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    place.corpus(1000, 0);
    place.run("before", &[]).ends_with(0);
    let before = place.at("before");
    let against = ["--previous", before.to_str().unwrap()];
    place.corpus(150, 0);
    place.run("some", &against).ends_with(0);
    place.corpus(50, 0);
    place
        .run("few", &against)
        .ends_with(4)
        .says(&[" of text, but the previous run had ", "more than the factor of 10 allowed by `--max-shrink-factor`"]);
    assert_eq!(place.guards("few.held"), [("max-shrink-factor".to_owned(), true)]);
    place.run("few", &[&against[..], &["--max-shrink-factor", "100"]].concat()).ends_with(0);
    // Rows with little text count as rows but add nearly nothing to the amount of text.
    let lines = |row| if row < 50 { format!("{{\"text\":\"one {row}\"}}\n") } else { "{\"text\":\".\"}\n".to_owned() };
    std::fs::remove_file(place.at("corpus/a.parquet")).unwrap();
    std::fs::write(place.at("corpus/a.jsonl"), (0..1000).map(lines).collect::<String>()).unwrap();
    place.run("empty", &against).ends_with(4).says(&[" of text, but the previous run had "]);
}

#[test]
fn rejected_rows_are_guarded_against_an_earlier_run_too() {
    let place = Place { folder: tempfile::tempdir().unwrap() };
    place.corpus(200, 0);
    place.run("before", &[]).ends_with(0);
    let lines = |broken: usize| {
        (0..200)
            .map(|row| if row < broken { "no object\n".into() } else { format!("{{\"text\":\"one {row}\"}}\n") })
            .collect::<String>()
    };
    std::fs::remove_file(place.at("corpus/a.parquet")).unwrap();
    let before = place.at("before");
    let against = ["--previous", before.to_str().unwrap()];
    std::fs::write(place.at("corpus/a.jsonl"), lines(10)).unwrap();
    place.run("out", &against).ends_with(3);
    std::fs::write(place.at("corpus/a.jsonl"), lines(11)).unwrap();
    place.run("next", &against).ends_with(4);
    place.run("next", &[]).ends_with(3);
}
