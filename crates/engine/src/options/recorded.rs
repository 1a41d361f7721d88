//! Converts options to and from their values in run.json. Recorded options are read back when a finished run is inspected.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value as Json;

use super::settings::{Settings, resolve};
use super::spec::Verb;
use super::value::Value;
use super::{OPTIONS, RunOptions};
use dupsift_core::error::{Error, Result};
use dupsift_input::absolute;

/// The name under which the inputs are recorded next to the options. No flag has this name.
const INPUT: &str = "input";

/// Returns the value of every option for a run, by name. Numbers are JSON numbers, switches are booleans, and all other values are strings.
pub fn record(run: &RunOptions) -> BTreeMap<String, Json> {
    let shown = OPTIONS.iter().filter_map(|option| {
        let (_, get) = option.field?;
        Some((option.name.to_string(), to_json(&get(run)?)))
    });
    shown.chain([(INPUT.to_string(), run.input.paths.clone().into())]).collect()
}

fn to_json(value: &Value) -> Json {
    match value {
        Value::Switch(on) => (*on).into(),
        Value::Number(number) => (*number).into(),
        Value::Real(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Texts(texts) => texts.clone().into(),
        // Paths are made absolute because the record may be read from a different working directory.
        Value::Path(path) => absolute(path).display().to_string().into(),
    }
}

fn from_json(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(on) => Some((*on).into()),
        Json::Number(number) => number.as_u64().map(Value::Number).or(number.as_f64().map(Value::Real)),
        // In records of earlier versions, every value is a string.
        Json::String(text) => Some(text.as_str().into()),
        _ => None,
    }
}

/// Returns the recorded options of a finished run over `inputs` whose output is in `dir`. Resource limits are taken from `today`, because
/// the recorded limits do not apply to this machine.
///
/// # Errors
/// Returns an error if this version does not support an option in the record, or if a word list is missing.
pub fn options_again(
    recorded: &BTreeMap<String, Json>,
    inputs: Vec<String>,
    dir: &Path,
    today: &Settings,
) -> Result<RunOptions> {
    let mut settings = recall(recorded, dir)?;
    settings.set_path("out", dir);
    for name in ["threads", "memory", "work"] {
        settings.copy(name, today);
    }
    resolve(inputs, &settings.with_defaults(Verb::Run)?)
}

fn recall(recorded: &BTreeMap<String, Json>, dir: &Path) -> Result<Settings> {
    let wrong = |why: String| Error::BadFile {
        path: dir.join("run.json"),
        why: format!("options: {why}; expected the options of this version of dupsift"),
    };
    let mut settings = Settings::default();
    // A run whose record lacks this option removed every document that formed a pair with a kept document.
    let before = [("remove-if".to_string(), Json::from("pair"))];
    let earlier = before.iter().filter(|(name, _)| !recorded.contains_key(name)).map(|(name, json)| (name, json));
    for (name, json) in recorded.iter().filter(|(name, _)| *name != INPUT).chain(earlier) {
        let option = OPTIONS.iter().find(|option| option.name == name && option.field.is_some());
        let option = option.ok_or_else(|| wrong(format!("there is no option {name:?}")))?;
        let value = from_json(json).ok_or_else(|| wrong(format!("{name}: {json} is not a valid value")))?;
        settings.recall(option, &value).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(settings)
}

/// Returns a value that differs from the option's default.
#[cfg(test)]
pub(crate) fn another(option: &'static super::OptionSpec, words: &Path) -> Value {
    use super::Kind;
    match (option.kind, option.name) {
        (Kind::Switch, _) => Value::Switch(option.default_of(Verb::Run).value.is_none()),
        (_, "threads") => Value::Number(super::machine::cores_allowed() as u64 + 1),
        (Kind::Whole(low, _), _) => Value::Number(low + 3),
        (Kind::Size, _) => Value::Number(123 << 20),
        (Kind::Share | Kind::Rate, _) => Value::Real(0.125),
        (Kind::Choice(words), _) => words[1].0.into(),
        (Kind::Path, "stop-words" | "dictionary") => words.to_path_buf().into(),
        (_, "algorithms") => "tf".into(),
        (_, "preset") => "strict".into(),
        (_, "encoding") => "gbk".into(),
        (_, "separator") => ";".into(),
        (_, "storage") => "region=x".into(),
        (_, "tokenizer") => "bigram".into(),
        (_, "purify") => "visible".into(),
        (_, "keep") => "score desc".into(),
        (_, "checkpoint") => "300s".into(),
        (_, "scope") => "within:site".into(),
        (_, "decide") => "all".into(),
        (_, "remove-if") => "pair".into(),
        (_, "sample") => "0.25".into(),
        (_, "add") => "copies,sources".into(),
        (_, "corpus") => "annotate,drop".into(),
        (_, "cut") => "runs:100".into(),
        (_, "judge") => "words:0.5".into(),
        (Kind::Path, name) => Value::Path(format!("a/{name}").into()),
        (_, name) => name.replace('-', "_").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Kind;

    fn report(options: &[(&str, Json)]) -> BTreeMap<String, Json> {
        options.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
    }

    #[test]
    fn recorded_options_are_the_options() {
        let mut today = Settings::default();
        for (name, value) in [("threads", "2"), ("memory", "1GiB")] {
            today.give(OPTIONS.iter().find(|option| option.name == name).unwrap(), &value.into()).unwrap();
        }
        let text = [
            ("input", "a b".into()),
            ("algorithms", "minhash:bands=20".into()),
            ("strict", "true".into()),
            ("stem", "false".into()),
            ("traditional", "true".into()),
            ("threads", "3".into()),
            ("memory", "1.5 GiB".into()),
            ("max-group", "77".into()),
            ("max-rejected-share", "0.25".into()),
        ];
        let typed = [
            ("input", vec!["a", "b"].into()),
            ("algorithms", "minhash:bands=20".into()),
            ("strict", true.into()),
            ("stem", false.into()),
            ("traditional", true.into()),
            ("threads", 3.into()),
            ("memory", (3u64 << 29).into()),
            ("max-group", 77.into()),
            ("max-rejected-share", 0.25.into()),
        ];
        for options in [text, typed] {
            let run = options_again(&report(&options), vec![], Path::new("out"), &today).unwrap();
            // Recorded resource limits are not used when the run is inspected later.
            assert_eq!((run.resources.threads, run.resources.memory), (2, 1 << 30));
            assert_eq!((run.guards.strict, run.recipe.text.stem, run.duplicates.max_group), (true, false, 77));
            assert!(run.recipe.text.traditional);
            assert_eq!(
                (run.guards.max_rejected_share, run.recipe.algorithms[0].label.as_str()),
                (Some(0.25), "minhash")
            );
            assert!(!run.columns.id_required);
        }
        let strange = report(&[("strictt", true.into())]);
        assert!(recall(&strange, Path::new("out")).unwrap_err().to_string().contains("strictt"));
        let strange = report(&[("threads", Json::Null)]);
        assert!(recall(&strange, Path::new("out")).unwrap_err().to_string().contains("threads: null"));
    }

    /// The options that each of three runs leaves out, because they exclude options that the run has.
    const LEFT_OUT: [&[&str]; 3] = [
        &["preset", "html-column", "text-lines", "keep-per"],
        &["algorithms", "text-column", "whole-files", "keep-per"],
        &[
            "preset",
            "html-column",
            "text-lines",
            "cut",
            "cut-at",
            "cut-min-chars",
            "cut-copies",
            "cut-first",
            "index",
            "batch",
            "reference",
            "planned-documents",
        ],
    ];

    #[test]
    fn every_option_of_a_run_stands_in_its_record_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let words = folder.path().join("words.txt");
        std::fs::write(&words, "词语 3\n").unwrap();
        for left_out in LEFT_OUT {
            let mut settings = Settings::default();
            let of_run = || OPTIONS.iter().filter(|option| option.field.is_some() && !left_out.contains(&option.name));
            for option in of_run() {
                settings.give(option, &another(option, &words)).unwrap();
            }
            let run = resolve(vec!["in".into()], &settings.clone().with_defaults(Verb::Run).unwrap()).unwrap();
            let plain = {
                let mut settings = Settings::default();
                settings.set_path("out", Path::new("out"));
                record(&resolve(vec![], &settings.with_defaults(Verb::Run).unwrap()).unwrap())
            };
            let recorded = record(&run);
            for option in of_run().filter(|option| option.name != "preset") {
                let shown = recorded.get(option.name).unwrap_or_else(|| panic!("{} is not recorded", option.name));
                assert_ne!(Some(shown), plain.get(option.name), "{}: the value reached no field", option.name);
                let as_its_kind = match option.kind {
                    Kind::Switch => shown.is_boolean(),
                    Kind::Whole(..) | Kind::Size | Kind::Share | Kind::Rate => shown.is_number(),
                    _ => shown.is_string(),
                };
                assert!(as_its_kind, "{}: {shown}", option.name);
            }
            let again = recall(&recorded, Path::new("x"));
            let again = resolve(vec!["in".into()], &again.unwrap().with_defaults(Verb::Run).unwrap()).unwrap();
            assert_eq!(record(&again), recorded);
        }
    }

    #[test]
    fn every_default_is_a_value_and_every_name_stands_once() {
        for verb in Verb::ALL {
            let settings = Settings::default().with_defaults(verb).unwrap();
            for option in OPTIONS.iter().filter(|option| option.verbs.contains(&verb)) {
                let default = option.default_of(verb);
                assert_eq!(default.value.is_some(), settings.value(option.name).is_some(), "{}", option.name);
                let help = option.help_of(verb);
                assert!(!help.is_empty() && !help.contains("[default"), "{help}");
            }
        }
        for (at, option) in OPTIONS.iter().enumerate() {
            assert!(OPTIONS[..at].iter().all(|other| other.name != option.name), "{}", option.name);
            assert!(!option.verbs.is_empty(), "{}", option.name);
        }
    }
}
