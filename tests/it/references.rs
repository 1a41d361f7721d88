//! Tests that everything cited in comments and documents exists in the repository: files, and for each algorithm a page with its steps.
//! `links.rs` checks the links in documents.
//!
//! A citation is a word that ends in `.rs`, `.md` or `.py`. In Rust sources only comments are checked, because code also contains names of
//! corpus files. A cited file is searched for in the root folder, next to the citing file, in the citing file's top folder, and in the
//! folders of sources, tests and scripts. A name that is in capitals or consists of a single letter is a placeholder.

use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::path::{Component, Path, PathBuf};

use dupsift::algorithm::ALGORITHMS;

/// Folders in the repository whose files are checked, and single files.
const READ: &[&str] = &["src", "crates", "tests/it", "benches", "scripts", "fuzz/fuzz_targets", "docs"];
const SINGLE: &[&str] =
    &["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "Makefile", "data-samples/README.md"];

/// Files that a page tells its reader to save.
const SAVED: &[&str] = &["make_crawl.py"];

/// Folders in which a citation without its full path may be found.
const ROOTS: &[&str] =
    &["", "src", "crates/algorithms/src/algorithm", "tests", "tests/it", "scripts", "benches", "benches/lab"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the text of each file to check, by path from the root.
fn texts() -> BTreeMap<String, String> {
    let mut files: Vec<PathBuf> = SINGLE.iter().map(|file| root().join(file)).filter(|path| path.exists()).collect();
    let mut folders: Vec<PathBuf> = READ.iter().map(|folder| root().join(folder)).collect();
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ["rs", "md", "py", "sh"].iter().any(|one| ending == *one)) {
                files.push(path);
            }
        }
    }
    let name = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    files.iter().map(|path| (name(path), read_to_string(path).unwrap())).collect()
}

/// Returns the lines that are checked, with their numbers. In Rust files, only comments are checked.
fn read_lines<'t>(name: &str, text: &'t str) -> Vec<(usize, &'t str)> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line));
    if !name.ends_with(".rs") {
        return lines.collect();
    }
    lines.filter(|(_, line)| line.trim_start().starts_with("//")).collect()
}

/// Returns the citations in a line, each with the text after it.
fn citations(line: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let is_inside = |c: char| c.is_ascii_alphanumeric() || "_./-*{}<>$:".contains(c);
    let mut rest = line;
    while let Some(start) = rest.find(is_inside) {
        rest = &rest[start..];
        let end = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches(['.', ':', '-']);
        let behind = &rest[word.len()..];
        let ends = [".rs", ".md", ".py"].iter().any(|ending| word.len() > ending.len() && word.ends_with(ending));
        if ends && !word.contains(['*', '{', '<', '$', ':']) && !word.starts_with('/') && !is_placeholder(word) {
            found.push((word, behind));
        }
        rest = &rest[end..];
    }
    found
}

/// Returns whether a part of the path is in capitals without being a known file (`docs/methods/NAME.md`), or consists of a single letter
/// (`x.rs`).
fn is_placeholder(word: &str) -> bool {
    const KNOWN: &[&str] = &["README", "ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SUMMARY"];
    word.rsplit('/').any(|part| {
        let stem = part.split('.').next().unwrap_or_default();
        stem.chars().all(|c| c.is_ascii_uppercase()) && !KNOWN.contains(&stem) || stem.len() == 1
    })
}

/// Returns the file that is cited in the file `from`.
fn resolve(from: &str, cited: &str) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = ROOTS.iter().map(PathBuf::from).collect();
    folders.extend(root().join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path().join("src")));
    let mut folder = Path::new(from);
    folders.push(folder.with_extension(""));
    // Adds the folder of the file, and its parent folders within the top folder.
    while let Some(above) = folder.parent() {
        folders.push(above.into());
        folder = above;
    }
    folders.iter().map(|folder| plain(&root().join(folder).join(cited))).find(|path| path.is_file())
}

/// Returns the path without `..`.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut all, part| {
        if part == Component::ParentDir {
            all.pop();
        } else {
            all.push(part);
        }
        all
    })
}

#[test]
fn every_citation_of_a_comment_or_document_is_a_file() {
    let (mut seen, mut wrong) = (0, Vec::new());
    for (name, text) in texts() {
        // A changelog may mention files that no longer exist.
        if name == "CHANGELOG.md" {
            continue;
        }
        for (number, line) in read_lines(&name, &text) {
            for (cited, behind) in citations(line) {
                seen += 1;
                if !SAVED.contains(&cited) && resolve(&name, cited).is_none() {
                    wrong.push(format!("{name}:{number}: {cited} is no file"));
                }
                let by_number = behind.trim_start_matches([',', ')']).strip_prefix(' ').is_some_and(|behind| {
                    behind.starts_with(|c: char| c.is_ascii_digit()) || behind.starts_with("section ")
                });
                if cited.ends_with(".md") && by_number {
                    wrong.push(format!("{name}:{number}: {cited} has no numbers; name its heading"));
                }
            }
        }
    }
    assert!(seen > 250, "only {seen} citations were understood");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Returns the name and the default for each row in a page's parameter table.
fn parameters(page: &str) -> Vec<[String; 2]> {
    let rows = page.lines().skip_while(|line| *line != "## Parameters").skip(1);
    let rows = rows.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
    let cell = |cell: &str| cell.trim().trim_matches('`').to_string();
    rows.map(|row| row.split(" | ").map(|part| cell(part.trim_start_matches('|'))))
        .filter_map(|mut cells| Some([cells.next()?, cells.next()?]))
        .collect()
}

#[test]
fn every_member_has_a_page_with_its_parameters() {
    for algorithm in ALGORITHMS {
        let name = algorithm.name();
        let page = read_to_string(root().join(format!("docs/methods/{name}.md"))).unwrap_or_default();
        assert!(page.starts_with(&format!("# {name}\n")), "docs/methods/{name}.md does not begin with # {name}");
        for heading in ["Steps", "Parameters", "Example", "When to use it", "Cost"] {
            assert!(page.contains(&format!("\n## {heading}\n")), "docs/methods/{name}.md has no heading {heading}");
        }
        let specs = algorithm.facts().params.iter();
        let expected: Vec<[String; 2]> = specs.map(|spec| [spec.name.into(), spec.default.into()]).collect();
        assert_eq!(parameters(&page), expected, "docs/methods/{name}.md: names and defaults");
    }
}

#[test]
fn the_reader_of_citations_reads_citations() {
    let of = |line| citations(line).into_iter().map(|(word, _)| word).collect::<Vec<_>>();
    assert_eq!(of("see `ab/cd.rs`, docs/cd.md: (de.py). ef.rs's"), ["ab/cd.rs", "docs/cd.md", "de.py", "ef.rs"]);
    assert!(of("docs/NAME.md, /tmp/x.py, part-*.md, {x}.rs, x.rs, .rs and .md").is_empty());
    assert_eq!(of("README.md"), ["README.md"]);
    assert_eq!(
        resolve("crates/algorithms/src/algorithm/tf.rs", "kit/bm25.rs"),
        Some(root().join("crates/algorithms/src/algorithm/kit/bm25.rs"))
    );
    assert_eq!(resolve("crates/algorithms/src/algorithm/tf.rs", "kit/no.rs"), None);
    assert_eq!(read_lines("a.rs", "code(\"a.md\");\n    // see b.md"), [(2, "    // see b.md")]);
}
