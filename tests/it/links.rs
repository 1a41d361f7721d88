//! Tests that every link in the documentation leads to an existing file and heading, and that the book contains every page once.
//! `references.rs` checks files that are mentioned without a link.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::kit::{Ran, python};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the lines of a page without code blocks and inline code.
fn prose(page: &str) -> Vec<String> {
    let mut code = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code {
            lines.push(line.split('`').step_by(2).collect::<Vec<_>>().join("`"));
        }
    }
    lines
}

/// Returns the anchor of a heading: letters, digits and `_` in lower case, and spaces as `-`. All other characters are removed.
fn anchor(heading: &str) -> String {
    let heading = heading.trim().to_lowercase();
    let kept = heading.chars().filter_map(|letter| match letter {
        ' ' | '-' => Some('-'),
        letter if letter.is_alphanumeric() || letter == '_' => Some(letter),
        _ => None,
    });
    kept.collect()
}

fn anchors(page: &str) -> BTreeSet<String> {
    let mut code = false;
    let lines = page.lines().filter(|line| {
        code ^= line.trim_start().starts_with("```");
        !code
    });
    let heading = |line: &str| line.starts_with('#').then(|| anchor(line.trim_start_matches('#')));
    lines.filter_map(heading).collect()
}

/// Returns the targets of `[text](target)`.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page).join("\n");
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_string()).collect()
}

/// Returns the broken links on a page.
fn broken(path: &Path) -> Vec<String> {
    let page = read(path);
    let folder = path.parent().expect("a file stands in a folder");
    let mut wrong = Vec::new();
    for link in links(&page) {
        if link.contains("://") {
            continue;
        }
        let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
        let to = if file.is_empty() { path.to_path_buf() } else { folder.join(file) };
        if !to.exists() {
            wrong.push(format!("{}: {link}: there is no such file", path.display()));
        } else if !heading.is_empty() && !anchors(&read(&to)).contains(heading) {
            wrong.push(format!("{}: {link}: there is no such heading", path.display()));
        }
    }
    wrong
}

fn pages_of_the_book() -> Vec<PathBuf> {
    let folders =
        ["docs", "docs/dev", "docs/methods"].map(|folder| std::fs::read_dir(root().join(folder)).expect("a folder"));
    let pages = folders.into_iter().flatten().map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> = pages.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let others = [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "data-samples/README.md",
        "python/README.md",
    ];
    let records = std::fs::read_dir(root().join("benches/records")).expect("a folder");
    let records = records.map(|entry| entry.expect("an entry").path());
    let pages: Vec<PathBuf> =
        others.iter().map(|page| root().join(page)).chain(pages_of_the_book()).chain(records).collect();
    let count: usize = pages.iter().map(|page| links(&read(page)).len()).sum();
    assert!(count > 100, "{count} links: the test sees too few");
    let wrong: Vec<String> = pages.iter().flat_map(|page| broken(page)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Files that have the address of the project, once it has one.
const ADDRESSED: [&str; 4] = ["Cargo.toml", "python/pyproject.toml", "CITATION.cff", "python/README.md"];

/// Runs the script that writes an address to the files below a folder.
fn address(folder: &Path, address: &str) {
    let mut command = python("scripts/address.py");
    command.arg("--root").arg(folder).arg(address);
    Ran::of(command.output().unwrap()).ends_with(0);
}

#[test]
fn the_address_of_the_project_is_the_same_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("python")).unwrap();
    for file in ADDRESSED {
        std::fs::copy(root().join(file), folder.path().join(file)).unwrap();
    }
    let texts = || ADDRESSED.map(|file| read(&folder.path().join(file)));
    let before = texts();
    match before[0].lines().find_map(|line| line.strip_prefix("repository = ")) {
        Some(written) => {
            address(folder.path(), written.trim_matches('"'));
            assert_eq!(texts(), before, "scripts/address.py writes other files");
        }
        None => assert!(!before[1].contains("[project.urls]") && !before[3].contains("/blob/main/")),
    }
    address(folder.path(), "https://old.example/a/dupsift");
    address(folder.path(), "https://new.example/b/dupsift/");
    for (file, text) in ADDRESSED.iter().zip(texts()) {
        assert!(text.contains("https://new.example/b/dupsift") && !text.contains("old.example"), "{file}: {text}");
    }
    let page = read(&folder.path().join("python/README.md"));
    assert!(links(&page).iter().all(|link| link.starts_with("https://new.example/b/dupsift/")), "{page}");
    assert!(page.contains("](https://new.example/b/dupsift/raw/main/docs/report.png)"), "{page}");
    let project: toml::Table = toml::from_str(&texts()[1]).unwrap();
    assert_eq!(project["project"]["urls"]["Homepage"].as_str(), Some("https://new.example/b/dupsift"));
}

#[test]
fn the_book_has_every_page_once() {
    let summary = root().join("docs/SUMMARY.md");
    let mut listed = links(&read(&summary));
    listed.sort();
    let there = pages_of_the_book();
    let there = there.iter().filter(|path| **path != summary);
    let there = there.filter_map(|path| path.strip_prefix(root().join("docs")).ok()?.to_str());
    assert_eq!(listed, there.collect::<Vec<_>>());
    assert_eq!(links(&read(&summary))[0], "tutorial.md", "what a new reader needs comes first");
}

#[test]
fn links_that_lead_nowhere_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("a.md");
    let text = "# One, two: `three` (4)\n[ok](#one-two-three-4) [ok](a.md) [web](https://a.b/#c)\n```\n# no heading\n[no](link)\n```\n`[no](link)`\n";
    std::fs::write(&page, text).unwrap();
    assert_eq!(broken(&page), Vec::<String>::new());
    std::fs::write(&page, format!("{text}[x](b.md) [y](#no-heading) [z](a.md#two)")).unwrap();
    let wrong = broken(&page);
    assert!(wrong.len() == 3 && wrong[0].ends_with("b.md: there is no such file"), "{wrong:?}");
    assert!(wrong[1..].iter().all(|one| one.ends_with("there is no such heading")), "{wrong:?}");
}
