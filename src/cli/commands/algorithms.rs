//! Implements `dupsift algorithms`, which shows a list of all algorithms, one algorithm in detail, or everything as JSON.
//!
//! The output is instant, because it is generated from static facts about the algorithms; nothing is loaded.

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::Number;

use crate::cli::generated::handbook;
use crate::cli::typed::args::AlgorithmsArguments;
use crate::cli::{Exit, say};
use crate::report::table;
use dupsift_algorithms::algorithm::{ALGORITHMS, Algorithm, Kind, by_name, specs};
use dupsift_algorithms::recipe::{DEFAULT_PRESET, PRESETS};

/// The width of tables whose last column contains prose.
const WIDTH: u16 = 120;

/// Runs the command.
///
/// # Errors
/// Returns an error if the name is unknown or if stdout cannot be written.
pub fn algorithms(arguments: &AlgorithmsArguments) -> Result<Exit> {
    let text = match (&arguments.name, arguments.json) {
        (None, false) if arguments.markdown => handbook::all(),
        (Some(name), false) if arguments.markdown => handbook::one(by_name(name)?),
        (None, false) => list(),
        (Some(name), false) => one(by_name(name)?),
        (None, true) => json_of_all()?,
        (Some(name), true) => json(&Facts::of(by_name(name)?))?,
    };
    say(&text).context("cannot print the algorithms")?;
    Ok(Exit::Done)
}

/// Returns the facts about all algorithms as JSON.
///
/// # Errors
/// Returns an error if there is too little memory.
pub fn json_of_all() -> Result<String> {
    json(&ALGORITHMS.iter().map(|algorithm| Facts::of(*algorithm)).collect::<Vec<_>>())
}

fn json(facts: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(facts)? + "\n")
}

fn list() -> String {
    let rows = ALGORITHMS.iter().map(|algorithm| {
        let aliases = algorithm.facts().aliases.join(", ");
        [algorithm.name().into(), aliases, algorithm.facts().inputs.into(), algorithm.facts().summary.into()]
    });
    let list = table(["name", "aliases", "inputs", "summary"], rows, Some(WIDTH));
    let presets: String = PRESETS
        .iter()
        .map(|one| {
            let default = if one.name == DEFAULT_PRESET.name { " (default)" } else { "" };
            let options: String = one.options.iter().map(|(name, value)| format!(" --{name} {value}")).collect();
            format!("  {}{default}: {}\n    --algorithms {}{options}\n", one.name, one.summary, one.algorithms)
        })
        .collect();
    format!(
        "{list}\npresets, for --preset NAME:\n{presets}\n`dupsift algorithms NAME` describes one algorithm in full: its source, its parameters, and when not to use it.\n"
    )
}

fn one(algorithm: &dyn Algorithm) -> String {
    let aliases = algorithm.facts().aliases.join(", ");
    let aliases = if aliases.is_empty() { aliases } else { format!(" ({aliases})") };
    let mut text = format!("{}{aliases}\n\n{}\n\n", algorithm.name(), algorithm.facts().summary);
    let facts = [
        ("inputs", algorithm.facts().inputs),
        ("source", algorithm.facts().source),
        ("when not to use", algorithm.facts().when_not_to_use),
    ];
    for (fact, value) in facts {
        text += &format!("{:<17}{value}\n", format!("{fact}:"));
    }
    let rows = specs(algorithm)
        .into_iter()
        .map(|spec| [spec.name.to_string(), spec.default.to_string(), spec.kind.to_string(), spec.help.to_string()]);
    text += "\nparameters\n";
    text += &table(["name", "default", "value", "meaning"], rows, Some(WIDTH));
    if !algorithm.facts().presets.is_empty() {
        text += "\npresets\n";
        let rows =
            algorithm.facts().presets.iter().map(|(name, values)| [format!("preset={name}"), values.to_string()]);
        text += &table(["name", "stands for"], rows, None);
    }
    if !algorithm.facts().shorthands.is_empty() {
        text += "\nshorthands for several parameters\n";
        let rows = algorithm.facts().shorthands.iter();
        let rows = rows.map(|short| [short.name.to_string(), short.kind.to_string(), short.help.to_string()]);
        text += &table(["name", "value", "stands for"], rows, Some(WIDTH));
    }
    let example =
        algorithm.facts().params.first().map_or(String::new(), |spec| format!("{}={},", spec.name, spec.default));
    let name = algorithm.name();
    text + &format!(
        "\nusage: --algorithms {name} or {name}:{example}as=NAME, where NAME is the name of the output folder\n"
    )
}

/// Holds the facts about an algorithm for JSON output. Field names are part of the interface.
#[derive(Serialize)]
struct Facts {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
    source: &'static str,
    when_not_to_use: &'static str,
    inputs: &'static str,
    parameters: Vec<Parameter>,
    presets: Vec<Preset>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shorthands: Vec<Shorthand>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    /// The kind of the value: `int`, `real`, `flag`, `choice` or `verify`.
    kind: &'static str,
    default: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    low: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    high: Option<Number>,
    /// The allowed values of a choice, or the names of the checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<&'static [&'static str]>,
    /// A description of the kind and the range of the value.
    value: String,
    help: &'static str,
}

#[derive(Serialize)]
struct Preset {
    name: &'static str,
    values: &'static str,
}

#[derive(Serialize)]
struct Shorthand {
    name: &'static str,
    value: String,
    help: &'static str,
}

impl Facts {
    fn of(algorithm: &dyn Algorithm) -> Facts {
        let parameters = specs(algorithm).into_iter().map(|spec| {
            let (kind, low, high, words) = match spec.kind {
                Kind::Int(low, high) => ("int", Some(low.into()), Some(high.into()), None),
                Kind::Real(low, high) => ("real", Number::from_f64(low), Number::from_f64(high), None),
                Kind::Flag => ("flag", None, None, None),
                Kind::Choice(words) => ("choice", None, None, Some(words)),
                Kind::Verify(words) => ("verify", None, None, Some(words)),
                Kind::Margin => ("margin", Some(0.into()), Some(1.into()), None),
            };
            let (name, default, help) = (spec.name, spec.default, spec.help);
            Parameter { name, kind, default, low, high, words, value: spec.kind.to_string(), help }
        });
        let presets = algorithm.facts().presets.iter().map(|&(name, values)| Preset { name, values });
        let shorthands = algorithm.facts().shorthands.iter();
        let shorthands =
            shorthands.map(|short| Shorthand { name: short.name, value: short.kind.to_string(), help: short.help });
        Facts {
            name: algorithm.name(),
            aliases: algorithm.facts().aliases,
            summary: algorithm.facts().summary,
            source: algorithm.facts().source,
            when_not_to_use: algorithm.facts().when_not_to_use,
            inputs: algorithm.facts().inputs,
            parameters: parameters.collect(),
            presets: presets.collect(),
            shorthands: shorthands.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_member_is_left_out() {
        for algorithm in ALGORITHMS {
            let text = one(*algorithm);
            let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for fact in [
                algorithm.facts().source,
                algorithm.facts().summary,
                algorithm.facts().when_not_to_use,
                algorithm.facts().inputs,
            ] {
                assert!(joined.contains(fact), "{}: {fact}", algorithm.name());
            }
            for spec in specs(*algorithm) {
                assert!(text.lines().any(|line| line.trim_start().starts_with(spec.name)), "{}", spec.name);
            }
            assert!(list().contains(algorithm.name()));
            // A long name may be wrapped across lines, but no part of it may be lost.
            let all: String = list().split_whitespace().collect();
            assert!(algorithm.facts().aliases.iter().all(|alias| all.contains(alias)));
        }
    }

    #[test]
    fn lines_keep_their_width_and_end_in_no_space() {
        let texts = ALGORITHMS.iter().map(|algorithm| one(*algorithm)).chain([list()]);
        for line in texts.flat_map(|text| text.lines().map(str::to_string).collect::<Vec<_>>()) {
            assert!(!line.ends_with(' '), "{line:?}");
        }
        assert!(list().lines().all(|line| line.chars().count() <= WIDTH.into()));
    }

    #[test]
    fn json_says_what_help_says() {
        let facts = serde_json::to_value(Facts::of(by_name("minhash").unwrap())).unwrap();
        let bands = facts["parameters"].as_array().unwrap().iter().find(|one| one["name"] == "bands").unwrap();
        assert_eq!((&bands["kind"], &bands["low"], &bands["high"]), (&"int".into(), &1.into(), &1000.into()));
        assert_eq!(bands["value"], "a whole number from 1 to 1000");
        assert!(facts["presets"].as_array().unwrap().iter().any(|one| one["name"] == "fineweb"));
    }
}
