//! Tests that the commands in docs/choosing.md run on the examples on that page and remove the documents that the
//! page mentions.

use std::path::Path;

use crate::kit::{Doc, Ran, Table, numbered, program, read_docs, samples, write_docs};

fn guide() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/choosing.md");
    std::fs::read_to_string(path).unwrap()
}

/// Returns the two example texts of each section, with names such as "Exact copies A".
fn examples(guide: &str) -> Vec<Doc> {
    let mut docs = Vec::new();
    for section in guide.split("\n## ").skip(1) {
        let title = section.lines().next().unwrap();
        let quoted = section.lines().filter_map(|line| line.strip_prefix('>'));
        let quoted: String = quoted.map(|line| format!("{}\n", line.trim())).collect();
        for part in quoted.split("\n\n") {
            let Some((letter, text)) = part.trim().split_once(": ") else { continue };
            let mut doc = numbered([text.split_whitespace().collect::<Vec<_>>().join(" ")]).remove(0);
            doc.id = format!("{title} {letter}");
            docs.push(doc);
        }
    }
    docs
}

/// Returns the commands in a section without the program name.
fn commands(guide: &str, section: &str) -> Vec<String> {
    let section = guide.split("\n## ").find(|part| part.starts_with(&format!("{section}\n"))).unwrap();
    section.lines().filter_map(|line| line.strip_prefix("dupsift ")).map(str::to_string).collect()
}

#[test]
fn what_the_guide_says_goes_does_go() {
    let guide = guide();
    let examples = examples(&guide);
    assert_eq!(examples.len(), 8);
    let folder = tempfile::tempdir().unwrap();
    let (corpus, out) = (folder.path().join("corpus"), folder.path().join("out"));
    std::fs::create_dir(&corpus).unwrap();
    // The examples are mixed with other documents, as in a corpus.
    let docs: Vec<Doc> = read_docs(&samples().join("en.parquet")).into_iter().chain(examples).collect();
    write_docs(&corpus.join("docs.parquet"), &docs, 500);
    let contained = "Contained texts";
    let goes = |one: &str, kept: &str| (one.to_string(), kept.to_string());
    let copies = goes("Exact copies B", "Exact copies A");
    let versions = goes("Versions A", "Versions B");
    let expected = [
        ("Exact copies", vec![copies.clone()]),
        ("Versions", vec![copies.clone(), versions.clone()]),
        (contained, vec![copies.clone(), versions.clone(), goes(&format!("{contained} A"), &format!("{contained} B"))]),
        ("Same template", vec![copies, versions, goes("Same template A", "Same template B")]),
    ];
    for (section, wanted) in expected {
        let commands = commands(&guide, section);
        assert_eq!(commands.len(), 1, "{section}");
        let typed = commands[0].replace("CORPUS", corpus.to_str().unwrap()).replace("OUT", out.to_str().unwrap());
        let mut command = program();
        command.args(typed.split_whitespace()).args(["--overwrite", "--no-report", "--no-progress", "--threads", "2"]);
        Ran::of(command.output().unwrap()).ends_with(0);
        let removed = Table::read(&out.join("removed"));
        let rows = removed.texts("id").into_iter().zip(removed.texts("kept_id"));
        let of_guide: Vec<(String, String)> = rows.filter(|(id, _)| id.ends_with(" A") || id.ends_with(" B")).collect();
        assert_eq!(of_guide, wanted, "{section}: {typed}");
        // The table at the top lists the same settings.
        let setting = commands[0].split_once("OUT").unwrap().1.trim();
        assert!(setting.is_empty() || guide.contains(&format!("| `{setting}` |")), "{setting}");
    }
    assert_eq!(commands(&guide, "Not sure?"), ["compare CORPUS --out OUT"]);
}
