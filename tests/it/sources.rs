//! The sources of the program as the tests of its order see them: files, the words of their code, and the paths in it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One file of src.
pub(super) struct Source {
    /// Below src, with `/`.
    pub name: String,
    pub text: String,
    /// The module that it is: `algorithm/kit/mod.rs` is `["algorithm", "kit"]`.
    pub module: Vec<String>,
    /// Whether only tests see it.
    pub only_tests: bool,
}

impl Source {
    pub fn room(&self) -> &str {
        &self.module[0]
    }
}

pub(super) fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    let mut sources: Vec<Source> = files
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            let mut module: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_string).collect();
            if module.len() > 1 && module.last().is_some_and(|last| last == "mod") {
                module.pop();
            }
            Source { name, text: std::fs::read_to_string(path).unwrap(), module, only_tests: false }
        })
        .collect();
    assert!(sources.len() > 50, "only {} files found below {}", sources.len(), root.display());
    // `#[cfg(test)] mod x;` makes a whole file a test, `#[path = "y.rs"]` between the two says which.
    let mut tested = BTreeSet::new();
    for source in &sources {
        let folder = if source.name.ends_with("mod.rs") || source.name == "lib.rs" {
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

/// The words and signs of code: comments, texts and characters are left out, `::` is one sign.
pub(super) fn tokens(code: &str) -> Vec<String> {
    let chars: Vec<char> = code.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let next = chars.get(at + 1).copied().unwrap_or(' ');
        match chars[at] {
            '/' if next == '/' => at += chars[at..].iter().take_while(|c| **c != '\n').count(),
            '"' => {
                at += 1;
                while at < chars.len() && chars[at] != '"' {
                    at += if chars[at] == '\\' { 2 } else { 1 };
                }
                at += 1;
            }
            '\'' if next == '\\' => at += 3 + chars[at + 3..].iter().take_while(|c| **c != '\'').count(),
            '\'' if chars.get(at + 2) == Some(&'\'') => at += 3,
            ':' if next == ':' => {
                tokens.push("::".to_string());
                at += 2;
            }
            c if c.is_alphanumeric() || c == '_' => {
                let word: String = chars[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').collect();
                at += word.chars().count();
                tokens.push(word);
            }
            c => {
                if !c.is_whitespace() {
                    tokens.push(c.to_string());
                }
                at += 1;
            }
        }
    }
    tokens
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

/// Every path of the code that has `::` in it; `use a::{b, c::d}` is `a::b` and `a::c::d`.
pub(super) fn paths(code: &str) -> Vec<Vec<String>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = path(&tokens, at, &[], &mut found).max(at + 1);
    }
    found.retain(|path| path.len() > 1);
    found
}

pub(super) fn path(tokens: &[String], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let is_word =
        |at: usize| tokens.get(at).is_some_and(|token| token.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token == sign);
    let mut names = before.to_vec();
    // `::parquet` names the crate where a module of ours has that name too.
    if is(at, "::") && before.is_empty() && is_word(at + 1) {
        at += 1;
        names.push(format!("::{}", tokens[at]));
        at += 1;
    } else if is_word(at) {
        names.push(tokens[at].clone());
        at += 1;
    } else {
        return at;
    }
    while is(at, "::") {
        if is_word(at + 1) {
            names.push(tokens[at + 1].clone());
            at += 2;
        } else if is(at + 1, "{") {
            at += 2;
            while at < tokens.len() && !is(at, "}") {
                // What a name is called here (`as x`) is no path.
                at = if is(at, "as") { at + 2 } else { path(tokens, at, &names, found).max(at + 1) };
            }
            return at + 1;
        } else {
            break;
        }
    }
    found.push(names);
    at
}

/// A path as seen from the root of the crate; none for a path that leads out of it, or begins with a name of the file.
pub(super) fn inside(file: &str, module: &[String], path: &[String]) -> Option<Vec<String>> {
    let root = |path: &[String]| Some(path.to_vec());
    match path[0].as_str() {
        "crate" => root(&path[1..]),
        "dupsift" if file == "main.rs" => root(&path[1..]),
        "self" => Some([module, &path[1..]].concat()),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            let depth = module.len().checked_sub(up).expect("super stays inside of the crate");
            Some([&module[..depth], &path[up..]].concat())
        }
        _ => None,
    }
}
