//! How options stand in messages: below the faces by name alone, and by names that there are.

use std::collections::BTreeSet;

use clap::CommandFactory;
use dupsift::algorithm::ALGORITHMS;
use dupsift::cli::args::Arguments;
use dupsift::options::{OPTIONS, Verb};
use dupsift::spelling::Spelling;

use super::sources::{literals, sources, without_tests};

const SPELLING: &str = "crates/core/src/spelling.rs";

/// Flags of other programs that messages name.
const OTHERS: &[&str] = &["long", "ultra"];

/// The flags within a text, without their dashes.
fn flags(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("--").filter_map(|(at, _)| {
        let begins = !text[..at].ends_with(|before: char| before == '-' || before.is_alphanumeric());
        let rest = &text[at + 2..];
        let end = rest.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-').unwrap_or(rest.len());
        (begins && rest.starts_with(|first: char| first.is_ascii_lowercase())).then(|| &rest[..end])
    })
}

/// The options of the table, and what else the verbs of the command line take.
fn known() -> BTreeSet<String> {
    let command = Arguments::command();
    let typed = command.get_subcommands().flat_map(|verb| verb.get_arguments().filter_map(|one| one.get_long()));
    typed.chain(OPTIONS.iter().map(|option| option.name)).map(str::to_owned).collect()
}

#[test]
fn no_message_below_the_faces_holds_a_flag() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let below = |name: &str| !name.starts_with("src/") && name != SPELLING;
    for source in sources().iter().filter(|source| !source.only_tests && below(&source.name)) {
        for literal in literals(&without_tests(&source.text)) {
            seen += 1;
            let found: Vec<&str> = flags(&literal).filter(|flag| !OTHERS.contains(flag)).collect();
            if !found.is_empty() || literal.contains("--{") {
                wrong.push(format!("{}: {literal:?}; take crate::spelling::opt", source.name));
            }
        }
    }
    assert!(seen > 3000, "only {seen} texts were understood");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_option_of_a_message_is_one() {
    let known = known();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for source in sources().iter().filter(|source| source.name != SPELLING) {
        for call in without_tests(&source.text).split(" opt(\"").skip(1).chain(source.text.split("(opt(\"").skip(1)) {
            let name = call.split('"').next().unwrap_or_default();
            seen += 1;
            if !known.contains(name) {
                wrong.push(format!("{}: there is no option {name:?}", source.name));
            }
        }
    }
    assert!(seen > 100, "only {seen} options were found");
    let help = OPTIONS.iter().flat_map(|option| {
        let told =
            Verb::ALL.map(|verb| (option.help_of(verb, Spelling::Flags), option.shown_of(verb, Spelling::Flags)));
        told.into_iter().flat_map(|(help, shown)| [help, shown.unwrap_or_default()])
    });
    let facts = ALGORITHMS.iter().map(|one| Spelling::Flags.fill(one.facts().when_not_to_use));
    for told in help.chain(facts) {
        wrong.extend(
            flags(&told).filter(|name| !known.contains(*name)).map(|name| format!("{told:?}: no option {name:?}")),
        );
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn flags_are_found() {
    let found = |text| flags(text).collect::<Vec<_>>();
    assert_eq!(found("give --out, or --max-group 5"), ["out", "max-group"]);
    assert_eq!(found("a -- b, a--b, ---c, --5, -- "), [""; 0]);
    assert_eq!(literals("let a = \"b\\\"c\"; // \"d\"\nf('\"', \"e\", r#\"g\"h\"#)"), ["b\\\"c", "e", "g\"h"]);
}
