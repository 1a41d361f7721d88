//! The house stands floor on floor: who may import whom, by the `use` lines and paths of the sources themselves.
//!
//! Code under `#[cfg(test)]` is exempt from the rules on imports, and from nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const FLOOR_ONE: &[&str] = &["allocator", "cpu", "encoding", "error", "float", "guard", "hash", "row"];
const MOST_LINES: usize = 400;

/// A room, the rooms that it may import besides itself, and what it must never import from outside.
struct Rule {
    rooms: &'static [&'static str],
    may: &'static [&'static str],
    never: &'static [&'static str],
}

const ARROW: &str = "arrow*";

const RULES: &[Rule] = &[
    Rule { rooms: FLOOR_ONE, may: FLOOR_ONE, never: &[ARROW, "parquet", "rayon", "clap", "indicatif", "pyo3"] },
    Rule {
        rooms: &["text", "bloom"],
        may: FLOOR_ONE,
        never: &[ARROW, "parquet", "std::fs", "std::thread", "rayon", "clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["batch"],
        may: FLOOR_ONE,
        never: &["std::fs", "std::thread", "rayon", "clap", "indicatif", "pyo3"],
    },
    Rule { rooms: &["shuffle"], may: &["error"], never: &[ARROW, "parquet", "clap", "indicatif", "pyo3"] },
    Rule {
        rooms: &["purify", "corpus", "measure"],
        may: &["cpu", "encoding", "error", "float", "guard", "hash", "row", "text"],
        never: &[ARROW, "parquet", "std::fs", "std::thread", "rayon", "clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["io"],
        may: &["allocator", "encoding", "error", "guard", "hash", "row", "batch"],
        never: &["clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["algorithm"],
        may: &["cpu", "error", "float", "hash", "row", "text", "bloom", "corpus", "measure"],
        never: &[ARROW, "parquet", "std::fs", "std::thread", "rayon", "clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["stage"],
        may: &["error", "float", "hash", "row", "text", "bloom", "batch", "purify", "corpus", "measure", "algorithm"],
        never: &["std::fs", "std::thread", "rayon", "indicatif", "clap", "pyo3", "parquet"],
    },
    Rule {
        rooms: &["job"],
        may: &[
            "allocator",
            "encoding",
            "error",
            "guard",
            "hash",
            "row",
            "text",
            "bloom",
            "batch",
            "shuffle",
            "purify",
            "corpus",
            "measure",
            "io",
            "algorithm",
            "stage",
        ],
        never: &["clap", "pyo3"],
    },
    Rule {
        rooms: &["cli", "report"],
        may: &["encoding", "error", "hash", "text", "purify", "job", "measure", "stage", "algorithm", "cli", "report"],
        never: &[ARROW, "parquet", "rayon", "pyo3"],
    },
    Rule { rooms: &["lib"], may: &[], never: &[] },
    Rule { rooms: &["main"], may: &["allocator", "cli", "guard"], never: &[ARROW, "parquet", "rayon", "pyo3"] },
];

/// Files of `corpus` that may open files: the term table is memory-mapped.
const OPENS_FILES: &[&str] = &["corpus/table.rs"];
/// Modules of `algorithm` that are not members of the family.
const NOT_MEMBERS: &[&str] = &["mod", "contract", "params", "laws", "kit"];
/// What a member may import of its own room.
const FOR_MEMBERS: &[&str] = &["contract", "params", "kit"];

/// One file of src.
struct Source {
    /// Below src, with `/`.
    name: String,
    text: String,
    /// The module that it is: `algorithm/kit/mod.rs` is `["algorithm", "kit"]`.
    module: Vec<String>,
    /// Whether only tests see it.
    only_tests: bool,
}

impl Source {
    fn room(&self) -> &str {
        &self.module[0]
    }
}

fn sources() -> Vec<Source> {
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
    // `#[cfg(test)] mod x;` makes a whole file a test.
    let mut tested = BTreeSet::new();
    for source in &sources {
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        for pair in lines.windows(2).filter(|pair| pair[0] == "#[cfg(test)]") {
            let Some(name) = pair[1].strip_prefix("mod ").or(pair[1].strip_prefix("pub mod ")) else { continue };
            if let Some(name) = name.strip_suffix(';') {
                let mut module = if source.name == "lib.rs" { Vec::new() } else { source.module.clone() };
                module.push(name.to_string());
                tested.insert(module);
            }
        }
    }
    for source in &mut sources {
        source.only_tests = tested.contains(&source.module);
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
fn without_tests(text: &str) -> String {
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
fn tokens(code: &str) -> Vec<String> {
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

/// Every path of the code that has `::` in it; `use a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        at = path(&tokens, at, &[], &mut found).max(at + 1);
    }
    found.retain(|path| path.len() > 1);
    found
}

fn path(tokens: &[String], mut at: usize, before: &[String], found: &mut Vec<Vec<String>>) -> usize {
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

/// A path as seen from the root of the crate; none for a path that leads out of it.
fn inside(source: &Source, path: &[String]) -> Option<Vec<String>> {
    let root = |path: &[String]| Some(path.to_vec());
    match path[0].as_str() {
        "crate" => root(&path[1..]),
        "dupsift" if source.name == "main.rs" => root(&path[1..]),
        "self" => Some([&source.module, &path[1..]].concat()),
        "super" => {
            let up = path.iter().take_while(|name| *name == "super").count();
            let depth = source.module.len().checked_sub(up).expect("super stays inside of the crate");
            Some([&source.module[..depth], &path[up..]].concat())
        }
        _ => None,
    }
}

fn is_outside(path: &[String], what: &str) -> bool {
    let first = path[0].trim_start_matches("::");
    match what.split_once("::") {
        Some((std, part)) => first == std && path[1] == part,
        None if what == ARROW => first.starts_with("arrow_") || first == "arrow",
        None => first == what,
    }
}

#[test]
fn every_room_imports_downward_only() {
    let rules: BTreeMap<&str, &Rule> =
        RULES.iter().flat_map(|rule| rule.rooms.iter().map(move |room| (*room, rule))).collect();
    let sources = sources();
    let rooms: BTreeSet<&str> = sources.iter().map(Source::room).collect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for source in sources.iter().filter(|source| !source.only_tests) {
        let Some(rule) = rules.get(source.room()) else {
            wrong.push(format!("{}: the room {} has no rule here", source.name, source.room()));
            continue;
        };
        for path in paths(&without_tests(&source.text)) {
            if let Some(inside) = inside(source, &path) {
                let room = inside[0].as_str();
                seen += 1;
                if rooms.contains(room) && room != source.room() && !rule.may.contains(&room) {
                    wrong.push(format!("{}: {} may not import {}", source.name, source.room(), path.join("::")));
                }
                let upper = ["cli", "report"].contains(&source.room());
                if upper && room == "stage" && inside.get(1).is_none_or(|part| part != "recipe") {
                    wrong.push(format!(
                        "{}: of stage only the recipe may be imported, not {}",
                        source.name,
                        path.join("::")
                    ));
                }
                continue;
            }
            for never in rule.never.iter().filter(|never| is_outside(&path, never)) {
                if !(*never == "std::fs" && OPENS_FILES.contains(&source.name.as_str())) {
                    wrong.push(format!(
                        "{}: {} never imports {never}, but {}",
                        source.name,
                        source.room(),
                        path.join("::")
                    ));
                }
            }
        }
    }
    assert!(seen > 300, "only {seen} paths were understood");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Functions of the platform's library of mathematics: their last bits differ from machine to machine.
const INEXACT: &[&str] = &[
    "ln", "ln_1p", "log", "log2", "log10", "exp", "exp2", "exp_m1", "powf", "sin", "cos", "tan", "asin", "acos",
    "atan", "atan2", "sinh", "cosh", "tanh", "hypot", "cbrt",
];

#[test]
fn logarithms_and_the_like_are_those_of_the_room_float() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    // What is drawn for a person may differ in a bit.
    for source in sources().iter().filter(|source| !source.only_tests && source.room() != "report") {
        let tokens = tokens(&without_tests(&source.text));
        seen += tokens.windows(2).filter(|pair| pair[0] == "float" && pair[1] == "::").count();
        for call in tokens.windows(3).filter(|call| call[0] == "." && call[2] == "(") {
            if INEXACT.contains(&call[1].as_str()) {
                wrong.push(format!(
                    "{}: .{}() differs from machine to machine; take crate::float",
                    source.name, call[1]
                ));
            }
        }
    }
    assert!(seen > 20, "only {seen} calls of float were understood");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn members_of_the_family_know_the_contract_and_not_each_other() {
    let sources = sources();
    let in_algorithm = |source: &&Source| source.room() == "algorithm" && !source.only_tests;
    let members: BTreeSet<&str> = sources
        .iter()
        .filter(in_algorithm)
        .filter_map(|source| source.module.get(1).map(String::as_str))
        .filter(|name| !NOT_MEMBERS.contains(name))
        .collect();
    assert_eq!(members.len(), dupsift::algorithm::ALGORITHMS.len(), "one file a member: {members:?}");
    let mut wrong = Vec::new();
    for source in sources.iter().filter(|source| !source.only_tests) {
        let of_family = source.room() == "algorithm" && source.module.len() > 1;
        for path in paths(&without_tests(&source.text)) {
            let Some(inside) = inside(source, &path) else { continue };
            if inside[0] != "algorithm" || source.name == "algorithm/mod.rs" {
                continue;
            }
            let part = inside.get(1).map_or("", String::as_str);
            let own = source.module.get(1).is_some_and(|own| of_family && own == part);
            if of_family && !own && !FOR_MEMBERS.contains(&part) {
                wrong.push(format!("{}: {} is neither contract, params nor kit", source.name, path.join("::")));
            }
            if !of_family && members.contains(part) {
                wrong.push(format!("{}: {} is a member's own file", source.name, path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn files_are_short_begin_with_what_they_are_and_hold_nothing_unfinished() {
    let mut wrong = Vec::new();
    for source in sources() {
        let lines = source.text.lines().count();
        if lines > MOST_LINES {
            wrong.push(format!("{}: {lines} lines, above {MOST_LINES}; split it by subject", source.name));
        }
        if !source.text.starts_with("//! ") {
            wrong.push(format!("{}: does not begin with a //! header", source.name));
        }
        let tokens = tokens(&source.text);
        for call in tokens.windows(2).filter(|pair| pair[1] == "!") {
            if ["todo", "unimplemented", "dbg"].contains(&call[0].as_str()) {
                wrong.push(format!("{}: {}!", source.name, call[0]));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_paths_reads_paths() {
    let code = "use a::{b, c::{d as x, e}, self}; // use f::g\nlet y: ::parquet::X = super::z(\"h::i\", 'j', '\\'');";
    let found: Vec<String> = paths(code).iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a::b", "a::c::d", "a::c::e", "a::self", "::parquet::X", "super::z"]);
    let code =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n    use b::c;\n}\nfn d() {}\n#[cfg(test)]\nmod laws;\nuse e::f;\n";
    assert_eq!(without_tests(code), "fn a() {}\nfn d() {}\nuse e::f;\n");
    let source = Source {
        name: "algorithm/kit/x.rs".into(),
        text: String::new(),
        module: ["algorithm", "kit", "x"].map(String::from).to_vec(),
        only_tests: false,
    };
    let of = |path: &str| {
        inside(&source, &path.split("::").map(String::from).collect::<Vec<_>>()).map(|path| path.join("::"))
    };
    assert_eq!(of("super::super::exact").as_deref(), Some("algorithm::exact"));
    assert_eq!(of("crate::io::Source").as_deref(), Some("io::Source"));
    assert_eq!(of("std::fs"), None);
}
