//! Generates python/dupsift/_keywords.py, the types of keywords in Python, from the table of options.

use dupsift_algorithms::recipe::PRESETS;
use dupsift_engine::options::{Kind, OptionSpec, Verb, in_groups};
use dupsift_text::TokenizerKind;

const HEAD: &str = r#""""The keywords of the functions, for type checkers. Generated from the table of options by `make golden`; do not edit."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict
"#;

/// Returns the type of a keyword.
fn type_of(option: &OptionSpec) -> String {
    let words = |words: &mut dyn Iterator<Item = &'static str>| {
        format!("Literal[{}]", words.map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", "))
    };
    let said = match (option.name, option.kind) {
        // A path or a frame; the frames of the libraries have no common type.
        ("reference", _) => "object",
        ("storage", _) => "str | Mapping[str, str | bool]",
        ("preset", _) => return words(&mut PRESETS.iter().map(|preset| preset.name)),
        ("tokenizer", _) => return words(&mut TokenizerKind::NAMES.iter().copied()),
        (_, Kind::Choice(choices)) => return words(&mut choices.iter().map(|(word, _)| *word)),
        (_, Kind::Switch) => "bool",
        (_, Kind::Whole(..)) => "int",
        (_, Kind::Share | Kind::Rate) => "float",
        (_, Kind::Sample) => "int | float",
        (_, Kind::Size) => "str | int",
        (_, Kind::Path) => "str | os.PathLike[str]",
        (_, Kind::Texts) => "str | Sequence[str]",
        (_, Kind::Column | Kind::Text(_)) if option.is_list() => "str | Sequence[str]",
        (_, Kind::Column | Kind::Text(_)) => "str",
    };
    said.into()
}

/// Returns the file. `not_of_frames` are the keywords that `dedup` does not have.
fn file(not_of_frames: &[&str]) -> String {
    let class = |name: &str, function: &str, verb, but: &[&str]| {
        let fields = in_groups(verb).into_iter().filter(|option| !option.flag_only).filter_map(|option| {
            let keyword = option.name.replace('-', "_");
            (!but.contains(&keyword.as_str())).then(|| format!("    {keyword}: {}\n", type_of(option)))
        });
        let fields: String = fields.collect();
        format!(
            "\n\nclass {name}(TypedDict, total=False):\n    \"\"\"The keywords of ``{function}``.\"\"\"\n\n{fields}"
        )
    };
    // The output folder and the evaluation set are arguments of their own.
    let own = &["out", "against"];
    [
        HEAD.to_owned(),
        class("DedupOptions", "dedup", Verb::Run, not_of_frames),
        class("RunOptions", "run", Verb::Run, own),
        class("CompareOptions", "compare", Verb::Compare, own),
        class("PurifyOptions", "purify", Verb::Purify, own),
        class("ContaminatedOptions", "contaminated", Verb::Contaminated, own),
    ]
    .concat()
}

/// Run the tests with UPDATE_EXPECT=1 to rewrite the file.
#[test]
fn the_keywords_of_python_are_those_of_the_table() {
    let verbs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/python/dupsift/_verbs.py")).unwrap();
    let list = verbs.split("\nNOT_OF_FRAMES = (").nth(1).and_then(|rest| rest.split(')').next()).expect("the list");
    let not_of_frames: Vec<&str> = list.split(", ").map(|quoted| quoted.trim_matches('"')).collect();
    expect_test::expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/python/dupsift/_keywords.py")]
        .assert_eq(&file(&not_of_frames));
}
