//! The house stands floor on floor: who may import whom, by the `use` lines and paths of the sources themselves.
//!
//! Within rooms and between them, no files import each other in a circle (`imports.rs` says what counts as an import).
//!
//! Code under `#[cfg(test)]` is exempt from the rules on imports, and from nothing else.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{Graph, circles};
use super::sources::{Source, inside, paths, sources, tokens, without_tests};

const FLOOR_ONE: &[&str] =
    &["allocator", "cpu", "encoding", "error", "files", "float", "guard", "hash", "number", "row", "spelling"];

/// A room, the rooms that it may import besides itself, and what it must never import from outside.
struct Rule {
    rooms: &'static [&'static str],
    may: &'static [&'static str],
    never: &'static [&'static str],
}

const ARROW: &str = "arrow*";

/// What the reading of a corpus stands on.
const BELOW_READING: [&str; 22] = [
    "allocator",
    "encoding",
    "error",
    "files",
    "guard",
    "hash",
    "number",
    "row",
    "spelling",
    "text",
    "bloom",
    "batch",
    "shuffle",
    "purify",
    "corpus",
    "measure",
    "io",
    "index",
    "algorithm",
    "stage",
    "options",
    "engine",
];
const BELOW_JOB: [&str; 23] = with(BELOW_READING, "reading");
const BELOW_STUDY: [&str; 24] = with(BELOW_JOB, "job");
const BELOW_PAGES: [&str; 25] = with(BELOW_STUDY, "study");

/// These rooms and one more.
const fn with<const N: usize, const M: usize>(rooms: [&'static str; N], one: &'static str) -> [&'static str; M] {
    let mut all = [one; M];
    let mut at = 0;
    while at < N {
        all[at] = rooms[at];
        at += 1;
    }
    all
}

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
    Rule {
        rooms: &["shuffle"],
        may: &["error", "files", "spelling"],
        never: &[ARROW, "parquet", "clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["purify", "corpus", "measure"],
        may: &["cpu", "encoding", "error", "files", "float", "guard", "hash", "number", "row", "spelling", "text"],
        never: &[ARROW, "parquet", "std::fs", "std::thread", "rayon", "clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["io"],
        may: &["allocator", "encoding", "error", "files", "guard", "hash", "number", "row", "spelling", "batch"],
        never: &["clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["index"],
        may: &["error", "files", "guard", "hash", "number", "row", "batch", "shuffle", "io", "corpus", "spelling"],
        never: &["clap", "indicatif", "pyo3", "rayon"],
    },
    Rule {
        rooms: &["algorithm"],
        may: &["cpu", "error", "float", "hash", "number", "row", "spelling", "text", "bloom", "corpus", "measure"],
        never: &[ARROW, "parquet", "std::fs", "std::thread", "rayon", "clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["stage"],
        may: &[
            "error",
            "float",
            "hash",
            "number",
            "row",
            "spelling",
            "text",
            "bloom",
            "batch",
            "purify",
            "corpus",
            "measure",
            "algorithm",
        ],
        never: &["std::fs", "std::thread", "rayon", "indicatif", "clap", "pyo3", "parquet"],
    },
    Rule {
        rooms: &["options"],
        may: &["encoding", "error", "number", "spelling", "text", "purify", "io", "algorithm", "stage"],
        never: &[ARROW, "parquet", "rayon", "clap", "indicatif", "pyo3"],
    },
    Rule {
        rooms: &["engine"],
        may: &["allocator", "error", "files", "hash", "number", "row", "spelling", "shuffle", "io", "stage"],
        never: &[ARROW, "parquet", "clap", "indicatif", "pyo3"],
    },
    Rule { rooms: &["reading"], may: &BELOW_READING, never: &["rayon", "clap", "indicatif", "pyo3"] },
    Rule { rooms: &["job"], may: &BELOW_JOB, never: &["clap", "indicatif", "pyo3"] },
    // The index has the texts of documents that a later night names.
    Rule { rooms: &["study"], may: &with::<24, 25>(BELOW_STUDY, "nights"), never: &["clap", "indicatif", "pyo3"] },
    Rule { rooms: &["stream", "nights", "blocks"], may: &BELOW_STUDY, never: &["clap", "indicatif", "pyo3"] },
    // Models and statistics of finished runs are read back by the study.
    Rule { rooms: &["pages"], may: &BELOW_PAGES, never: &["clap", "indicatif", "pyo3"] },
    Rule {
        rooms: &["cli", "report"],
        may: &[
            "encoding",
            "error",
            "files",
            "guard",
            "hash",
            "number",
            "spelling",
            "text",
            "purify",
            "measure",
            "algorithm",
            "stage",
            "options",
            "engine",
            "reading",
            "job",
            "nights",
            "study",
            "pages",
            "stream",
            "cli",
            "report",
        ],
        never: &[ARROW, "parquet", "rayon", "pyo3"],
    },
    Rule {
        rooms: &["lib"],
        may: &["algorithm", "engine", "error", "job", "nights", "options", "reading", "report", "stage", "study"],
        never: &[],
    },
    Rule {
        rooms: &["main"],
        may: &["allocator", "cli", "guard", "spelling"],
        never: &[ARROW, "parquet", "rayon", "pyo3"],
    },
];

/// Files of `corpus` that may open files: the term table is memory-mapped.
const OPENS_FILES: &[&str] = &["corpus/table.rs", "corpus/table_parts.rs", "corpus/term_file.rs"];

fn is_outside(path: &[String], what: &str) -> bool {
    let first = path[0].trim_start_matches("::");
    match what.split_once("::") {
        Some((std, part)) => first == std && path[1] == part,
        None if what == ARROW => first.starts_with("arrow_") || first == "arrow",
        None => first == what,
    }
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let graph = Graph::of(&sources());
    assert!(graph.edges() > 1000, "only {} imports between files were understood", graph.edges());
    let mut wrong = Vec::new();
    for circle in circles(&graph) {
        let names = circle.join(", ");
        wrong.push(format!("these files import each other in a circle: {names}\n{}", graph.inside(&circle)));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
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
            if let Some(inside) = inside(&source.name, &source.module, &path) {
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
        inside(&source.name, &source.module, &path.split("::").map(String::from).collect::<Vec<_>>())
            .map(|path| path.join("::"))
    };
    assert_eq!(of("super::super::exact").as_deref(), Some("algorithm::exact"));
    assert_eq!(of("crate::io::Source").as_deref(), Some("io::Source"));
    assert_eq!(of("std::fs"), None);
}
