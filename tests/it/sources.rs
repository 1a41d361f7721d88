//! The source files of the program, without their tests, and the string literals in them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One source file of the program.
pub(super) struct Source {
    /// The path from the root of the repository.
    pub name: String,
    pub text: String,
    /// Whether only tests see it.
    pub only_tests: bool,
}

/// Returns every source file of the program, those of all its crates.
pub(super) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = root.join("crates").read_dir().unwrap().map(|entry| entry.unwrap().path().join("src"));
    let mut sources = Vec::new();
    for folder in crates.chain([root.join("src")]) {
        let mut files = Vec::new();
        walk(&folder, &mut files);
        for path in files {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            sources.push(Source { name, text, only_tests: false });
        }
    }
    assert!(sources.len() > 50, "only {} files found below {}", sources.len(), root.display());
    // `#[cfg(test)] mod x;` makes a whole file a test, `#[path = "y.rs"]` between the two says which.
    let mut tested = BTreeSet::new();
    for source in &sources {
        let folder = if source.name.ends_with("mod.rs") || source.name.ends_with("/lib.rs") {
            source.name.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default()
        } else {
            format!("{}/", source.name.trim_end_matches(".rs"))
        };
        let beside = source.name.rsplit_once('/').map(|(folder, _)| format!("{folder}/")).unwrap_or_default();
        let mut lines = source.text.lines().map(str::trim);
        while lines.by_ref().any(|line| line == "#[cfg(test)]") {
            let mut named = None;
            for line in lines.by_ref() {
                named = line.strip_prefix("#[path = \"").map(|rest| rest.trim_end_matches("\"]")).or(named);
                if line.starts_with("#[") {
                    continue;
                }
                let module = line.strip_prefix("mod ").or(line.strip_prefix("pub mod "));
                if let Some(module) = module.and_then(|module| module.strip_suffix(';')) {
                    tested.insert(match named {
                        Some(file) => format!("{beside}{file}"),
                        None => format!("{folder}{module}.rs"),
                    });
                }
                break;
            }
        }
    }
    for source in &mut sources {
        source.only_tests = tested.contains(&source.name);
    }
    sources
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            walk(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The text without items under `#[cfg(test)]`: formatted code closes an item at the indentation that it began with.
pub(super) fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let item = lines.by_ref().find(|line| !line.trim_start().starts_with("#[")).unwrap_or_default();
        if item.trim_end().ends_with('{') {
            let end = format!("{indent}}}");
            lines.by_ref().find(|line| *line == end).expect("the item under #[cfg(test)] ends");
        }
    }
    kept
}

/// The texts between quotes in code, as they are written there.
pub(super) fn literals(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let before = &rest[..at];
        rest = &rest[at..];
        let hashes = before.len() - before.trim_end_matches('#').len();
        let raw = before.trim_end_matches('#').ends_with(['r', 'b']) && before.trim_end_matches('#').contains('r');
        rest = if rest.starts_with("//") {
            rest.split_once('\n').map_or("", |(_, next)| next)
        } else if let Some(text) = rest.strip_prefix('"') {
            let end = match (raw && hashes > 0).then(|| format!("\"{}", "#".repeat(hashes))) {
                Some(closing) => text.find(&closing),
                None => {
                    let mut escaped = false;
                    text.find(|letter| {
                        let ends = letter == '"' && !escaped;
                        escaped = letter == '\\' && !escaped;
                        ends
                    })
                }
            };
            let end = end.unwrap_or(text.len());
            found.push(text[..end].to_owned());
            text.get(end + 1..).unwrap_or_default()
        } else if let Some(quoted) = rest.strip_prefix("'\\") {
            quoted.get(1..).and_then(|rest| rest.split_once('\'')).map_or("", |(_, next)| next)
        } else if let Some(letter) = rest.strip_prefix('\'').filter(|rest| rest.chars().nth(1) == Some('\'')) {
            letter.split_once('\'').map_or("", |(_, next)| next)
        } else {
            &rest[1..]
        };
    }
    found
}
