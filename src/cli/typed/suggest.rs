//! Suggests replacements for unknown flags and commands, including names from other programs.
//!
//! ```text
//! --threshhold -> --threshold;  --minhash -> --algorithms minhash;  --bands -> minhash:bands=N;  --output -> --out;  deduplicate -> run
//! ```

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::args::Arguments;
use dupsift_algorithms::algorithm::{ALGORITHMS, Algorithm, specs};
use dupsift_algorithms::recipe::PRESETS;
use dupsift_core::error::{did_you_mean, nearest};
use dupsift_engine::options::ours;

/// Flags of other programs that are parameters in dupsift, or that dupsift does not need.
const ELSEWHERE: &[(&str, &str)] = &[
    ("input", "inputs are passed without a flag"),
    ("input-dir", "inputs are passed without a flag"),
    ("ngram-size", "--algorithms minhash:ngram=N"),
    (
        "num-perm",
        "--algorithms minhash:bands=B,rows=R (B times R hash functions), or minhash:threshold=T, which chooses B and R",
    ),
];
/// Commands of other programs, each with its equivalent in dupsift.
const VERBS: &[(&str, &str)] = &[
    ("dedupe", "run"),
    ("deduplicate", "run"),
    ("filter", REMOVES),
    ("near-dedup", "run"),
    ("remove", REMOVES),
    ("stats", "report"),
    ("why", "explain"),
];
/// The command that writes a corpus without the removed documents.
const REMOVES: &str = "run INPUT --out DIR --corpus keep";

/// Returns a message that replaces the message from clap; `None` if the suggestion from clap is equally good.
pub(crate) fn suggestion(told: &clap::Error, verb: Option<&str>) -> Option<String> {
    let context = |kind| match told.get(kind) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    match told.kind() {
        ErrorKind::UnknownArgument => {
            let (typed, verb) = (context(ContextKind::InvalidArg)?, verb?);
            let meant = typed.strip_prefix("--").and_then(|flag| of_flag(flag, verb));
            meant.or_else(|| {
                let is_number = typed.strip_prefix('-').is_some_and(|number| number.parse::<f64>().is_ok());
                Some(match typed.starts_with('-') {
                    true if is_number => {
                        format!("`dupsift {verb}` takes no negative numbers, such as {typed}; see dupsift {verb} --help")
                    }
                    true => format!(
                        "`dupsift {verb}` has no option {typed}; see dupsift {verb} --help (for an id or a file that begins with a dash, \
                         use '-- {typed}')"
                    ),
                    false => format!("`dupsift {verb}` takes no argument {typed}; see dupsift {verb} --help"),
                })
            })
        }
        ErrorKind::InvalidSubcommand => of_verb(context(ContextKind::InvalidSubcommand)?),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::NoEquals => of_value(told),
        ErrorKind::MissingRequiredArgument => {
            let Some(ContextValue::Strings(missing)) = told.get(ContextKind::InvalidArg) else { return None };
            let missing = missing.join(" and ");
            Some(match verb {
                Some(verb) => format!("`dupsift {verb}` needs {missing}; see dupsift {verb} --help"),
                None => format!("{missing} is missing; see dupsift --help"),
            })
        }
        _ => None,
    }
}

/// Returns a message for a value that an option does not accept, like the messages for the values that the library checks.
fn of_value(told: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(argument)) = told.get(ContextKind::InvalidArg) else { return None };
    let (name, placeholder) = argument.split_once([' ', '[', '=']).unwrap_or((argument, ""));
    let typed = match told.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(typed)) if !typed.is_empty() => typed,
        _ => {
            let placeholder = placeholder.trim_matches(['[', ']', '=']);
            return Some(format!("`{name}` needs a value; expected {name} {placeholder}").trim_end().to_owned());
        }
    };
    let known: Vec<&str> = match told.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(known)) => known.iter().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    let expected = match known.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => {
            let said = std::error::Error::source(told).map_or_else(String::new, ToString::to_string);
            match said.as_str() {
                "invalid digit found in string" | "number too large to fit in target type" => {
                    "a whole number".to_owned()
                }
                "invalid float literal" => "a number".to_owned(),
                _ => return Some(format!("`{name}`: {said}, got {typed:?}")),
            }
        }
    };
    Some(format!("`{name}`: expected {expected}, got {typed:?}{}", did_you_mean(typed, known)))
}

fn of_flag(typed: &str, verb: &str) -> Option<String> {
    let command = Arguments::command();
    let command = command.find_subcommand(verb)?;
    let flags: Vec<&str> = command.get_arguments().filter_map(|flag| flag.get_long()).collect();
    let name = typed.replace('_', "-").to_ascii_lowercase();
    let is_flag = |flag: &str| flags.contains(&flag);
    if is_flag(typed) {
        return Some(format!(
            "`--{typed}` is an option of `dupsift {verb}`; put options after the command: dupsift {verb} --{typed} ..."
        ));
    }
    let meant = if is_flag(&name) {
        format!("--{name}")
    } else if let Some(ours) = ours(&name).filter(|ours| is_flag(ours)) {
        format!("--{ours}")
    } else if let Some(said) = said_elsewhere(&name).filter(|_| is_flag("algorithms")) {
        return Some(format!("`dupsift {verb}` has no option --{typed}; {said}"));
    } else if let Some(meant) = of_algorithms(&name).filter(|_| is_flag("algorithms")) {
        meant
    } else {
        format!("--{}", nearest(&name, flags.iter().copied())?)
    };
    Some(format!("`dupsift {verb}` has no option --{typed}; did you mean {meant}?"))
}

fn said_elsewhere(name: &str) -> Option<&'static str> {
    ELSEWHERE.iter().find(|(word, _)| *word == name).map(|(_, said)| *said)
}

/// Returns the options that select the algorithm, preset or parameter with this name.
fn of_algorithms(name: &str) -> Option<String> {
    let plain = name.replace('-', "_");
    let is_called = |one: &&dyn Algorithm| {
        one.name() == plain || one.facts().aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    };
    if let Some(one) = ALGORITHMS.iter().copied().find(is_called) {
        return Some(format!("--algorithms {}", one.name()));
    }
    if let Some(preset) = PRESETS.iter().find(|preset| preset.name == name) {
        return Some(format!("--preset {}", preset.name));
    }
    let has = |one: &&dyn Algorithm| {
        specs(*one).iter().any(|spec| spec.name == plain)
            || one.facts().shorthands.iter().any(|short| short.name == plain)
    };
    let owners: Vec<&str> = ALGORITHMS.iter().copied().filter(has).map(|one| one.name()).collect();
    match owners[..] {
        [] => None,
        [one] => Some(format!("--algorithms {one}:{plain}=VALUE")),
        _ if owners.len() == ALGORITHMS.len() => Some(format!("--algorithms NAME:{plain}=VALUE")),
        _ => Some(format!("--algorithms NAME:{plain}=VALUE, where NAME is one of {}", owners.join(", "))),
    }
}

fn of_verb(typed: &str) -> Option<String> {
    let command = Arguments::command();
    let shown = |verb: &&Command| !verb.is_hide_set();
    let verbs = command.get_subcommands().filter(shown).flat_map(|verb| verb.get_name_and_visible_aliases());
    let other = VERBS.iter().find(|(word, _)| *word == typed).map(|(_, ours)| *ours);
    let said = format!("there is no command {typed:?}");
    if let Some(verb) = other.or_else(|| nearest(typed, verbs)) {
        return Some(format!("{said}; did you mean `dupsift {verb}`?"));
    }
    if let Some(meant) = of_algorithms(typed).filter(|meant| !meant.contains('=')) {
        return Some(format!("{said}; did you mean `dupsift run INPUT --out DIR {meant}`?"));
    }
    Path::new(typed).exists().then(|| format!("{said}; did you mean `dupsift run {typed} --out DIR`?"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn answer(line: &str) -> Option<String> {
        let error = Arguments::try_parse_from(line.split(' ')).unwrap_err();
        suggestion(&error, line.split(' ').nth(1))
    }

    fn meant(line: &str) -> String {
        answer(line).unwrap_or_else(|| panic!("nothing is said of {line}"))
    }

    #[test]
    fn flags_are_those_of_the_verb_or_what_others_call_so() {
        for (typed, ours) in [
            ("--algorithm minhash", "--algorithms"),
            ("--threshhold .8", "--threshold"),
            ("--text_column a", "--text-column"),
            ("--output o", "--out"),
            ("--jaccard-threshold .8", "--threshold"),
            ("--minhash", "--algorithms minhash"),
            ("--A12", "--algorithms three_plus_five"),
            ("--strct", "--strict"),
            ("--broad", "--preset broad"),
            ("--bands 20", "--algorithms NAME:bands=VALUE, where NAME is one of minhash, shingles"),
            ("--tau .8", "--algorithms decomposition:tau=VALUE"),
            ("--verify none", "--algorithms NAME:verify=VALUE"),
        ] {
            let said = meant(&format!("dupsift run docs {typed}"));
            assert!(said.ends_with(&format!("did you mean {ours}?")), "{said}");
        }
        assert!(meant("dupsift run docs --num-perm 128").ends_with("minhash:threshold=T, which chooses B and R"));
        let early = Arguments::try_parse_from(["dupsift", "--out", "o", "run", "docs"]).unwrap_err();
        let said = suggestion(&early, Some("run")).unwrap();
        assert!(said.ends_with("put options after the command: dupsift run --out ..."), "{said}");
        // Checks that flags of other commands are not suggested.
        for line in ["dupsift clean out --threshhold 1", "dupsift run docs --zzzzzzzz", "dupsift run docs -z"] {
            assert!(meant(line).contains("has no option -") && meant(line).contains("; see dupsift "), "{line}");
        }
        assert!(meant("dupsift run docs --threads -1").contains("takes no negative numbers, such as -1"));
        assert!(meant("dupsift report out more").starts_with("`dupsift report` takes no argument more"));
        assert!(meant("dupsift evaluate out --thruth x").ends_with("did you mean --truth?"));
    }

    #[test]
    fn values_say_what_was_expected() {
        for (line, said) in [
            ("dupsift run docs --chain drop", "`--chain`: expected keep or remove, got \"drop\""),
            ("dupsift run docs --strict=perhaps", "`--strict`: expected true or false, got \"perhaps\""),
            (
                "dupsift run docs --log-format jsn",
                "`--log-format`: expected text or json, got \"jsn\"; did you mean \"json\"?",
            ),
            ("dupsift run docs --out", "`--out` needs a value; expected --out <DIR>"),
            ("dupsift report", "`dupsift report` needs <DIR>; see dupsift report --help"),
            ("dupsift evaluate out", "`dupsift evaluate` needs --truth <FILE>; see dupsift evaluate --help"),
        ] {
            assert_eq!(meant(line), said);
        }
    }

    #[test]
    fn verbs_are_ours_or_what_is_done_with_a_name() {
        assert!(meant("dupsift rum docs").ends_with("did you mean `dupsift run`?"));
        assert!(meant("dupsift deduplicate docs").ends_with("did you mean `dupsift run`?"));
        assert!(meant("dupsift minhash docs").ends_with("--algorithms minhash`?"));
        assert!(meant("dupsift Cargo.toml").ends_with("did you mean `dupsift run Cargo.toml --out DIR`?"));
        assert!(meant("dupsift remove docs").ends_with("did you mean `dupsift run INPUT --out DIR --corpus keep`?"));
        assert!(meant("dupsift manuall").ends_with("did you mean `dupsift manual`?"));
        assert!(answer("dupsift zzzzzzzz").is_none());
        for (_, ours) in VERBS {
            let verb = ours.split(' ').next().unwrap_or_default();
            assert!(Arguments::command().find_subcommand(verb).is_some(), "{ours}");
        }
    }
}
