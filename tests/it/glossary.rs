//! The words that docs/glossary.md refuses stand neither in names nor in sentences.
//!
//! In the last column of its table words in `code` are refused in names of files, modules, types, traits, functions and constants
//! of src, part by part (`a_held_one` and `HeldOne` have the parts held and one); names of more than four parts, as tests have
//! them, are sentences. Words in *italics* are refused in documents, comments and texts of the program.

use std::collections::BTreeSet;
use std::path::Path;

use super::sources::{sources, tokens, without_tests};

const MOST_PARTS: usize = 4;

fn read(file: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap()
}

/// Refused words: those of names, and those of sentences.
fn refused(glossary: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut names, mut sentences) = (BTreeSet::new(), BTreeSet::new());
    let cells = glossary
        .lines()
        .filter(|line| line.starts_with("| "))
        .filter_map(|line| line.trim_end_matches([' ', '|']).rsplit_once(" | ").map(|(_, last)| last));
    for cell in cells {
        let between = |mark: char| cell.split(mark).skip(1).step_by(2).map(str::to_lowercase).collect::<Vec<_>>();
        names.extend(between('`'));
        sentences.extend(between('*'));
    }
    (names, sentences)
}

/// The parts of a name, small.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut after_small = false;
    for c in name.chars() {
        if c == '_' || (c.is_uppercase() && after_small) {
            parts.push(String::new());
        }
        if c != '_' {
            parts.last_mut().unwrap().extend(c.to_lowercase());
        }
        after_small = c.is_lowercase() || c.is_ascii_digit();
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The names that code declares.
fn declared(code: &str) -> Vec<String> {
    const BEFORE: [&str; 8] = ["fn", "struct", "enum", "trait", "mod", "type", "const", "static"];
    let tokens = tokens(code);
    tokens.windows(2).filter(|pair| BEFORE.contains(&pair[0].as_str())).map(|pair| pair[1].clone()).collect()
}

/// Whether the word, or the words, stand in the sentence as such.
fn has(sentence: &str, word: &str) -> bool {
    let is_border = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    sentence.match_indices(word).any(|(at, _)| {
        is_border(sentence[..at].chars().next_back()) && is_border(sentence[at + word.len()..].chars().next())
    })
}

/// What a reader reads of a line of code: a comment, or the texts between quotation marks.
fn said(line: &str) -> String {
    match line.trim_start().starts_with("//") {
        true => line.to_lowercase(),
        false => line.split('"').skip(1).step_by(2).collect::<Vec<_>>().join(" | ").to_lowercase(),
    }
}

#[test]
fn no_name_has_a_refused_word() {
    let (refused, _) = refused(&read("docs/glossary.md"));
    assert!(refused.len() > 5, "{refused:?}");
    let (mut seen, mut wrong) = (0, Vec::new());
    for source in sources() {
        let files = source.name.trim_end_matches(".rs").split('/').map(str::to_string);
        for name in files.chain(declared(&source.text)) {
            let parts = parts(&name);
            seen += 1;
            if parts.len() <= MOST_PARTS && parts.iter().any(|part| refused.contains(part)) {
                wrong.push(format!("{}: {name}", source.name));
            }
        }
    }
    assert!(seen > 3000, "only {seen} names were understood");
    assert!(wrong.is_empty(), "docs/glossary.md has other words for these names:\n{}", wrong.join("\n"));
}

#[test]
fn no_sentence_has_a_refused_word() {
    let (_, refused) = refused(&read("docs/glossary.md"));
    assert!(refused.len() > 5, "{refused:?}");
    let mut lines: Vec<(String, usize, String)> = Vec::new();
    for source in sources().iter().filter(|source| !source.only_tests) {
        let text = without_tests(&source.text);
        lines.extend(text.lines().map(said).enumerate().map(|(at, line)| (source.name.clone(), at + 1, line)));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = |folder: &str| -> Vec<String> {
        let files = root.join(folder).read_dir().unwrap().map(|entry| entry.unwrap().file_name());
        files.map(|name| format!("{folder}/{}", name.to_string_lossy())).filter(|name| name.ends_with(".md")).collect()
    };
    let documents =
        [folder("docs"), folder("docs/methods"), vec!["README.md".into(), "ARCHITECTURE.md".into()]].concat();
    for name in documents.iter().filter(|name| *name != "docs/glossary.md") {
        let text = read(name).to_lowercase();
        lines.extend(text.lines().enumerate().map(|(at, line)| (name.clone(), at + 1, line.to_string())));
    }
    let wrong: Vec<String> = lines
        .iter()
        .flat_map(|(name, at, line)| {
            refused.iter().filter(|word| has(line, word)).map(move |word| format!("{name}, line {at} or so: {word}"))
        })
        .collect();
    assert!(lines.len() > 10_000, "only {} lines were read", lines.len());
    assert!(wrong.is_empty(), "docs/glossary.md has other words for these:\n{}", wrong.join("\n"));
}

#[test]
fn the_reader_of_the_glossary_reads_it() {
    let (names, sentences) = refused("| word | what | not |\n| one | *two* `three` | `Four`, five, *six seven* |\n");
    assert_eq!((names, sentences), (["four".to_string()].into(), ["six seven".to_string()].into()));
    assert_eq!(parts("a_heldOne_TWO3b"), ["a", "held", "one", "two3b"]);
    assert_eq!(declared("pub fn one(a: B) {} struct Two; // fn three\nconst FOUR: u8 = 1;"), ["one", "Two", "FOUR"]);
    assert!(has("it is taken down, then", "taken down") && !has("mistaken downward", "taken down"));
    assert_eq!(said("let a = \"Text\" + b(\"More\");"), "text | more");
}
