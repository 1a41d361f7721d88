//! Reads the file given by `--config`. The file contains the inputs and options of the command, under their long names. The command line
//! takes precedence over the file.
//!
//! ```text
//! inputs = ["crawl/", "more/*.jsonl"]
//! algorithms = ["exact", "minhash:bands=20,rows=5"]
//! memory = "4GiB"
//! strict = true
//! ```
//!
//! Error messages contain the file, the line and the key. Relative paths are resolved from the working directory, as on the command line.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;

use crate::cli::terminal::log;
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_engine::options::{Settings, Spelling, Value, Verb, options_of, read_text};

/// The key for input files, folders and globs, which have no flag.
pub const INPUTS: &str = "inputs";

/// Holds the content of a configuration file.
#[derive(Debug, Default)]
pub struct Config {
    /// The options in the file.
    pub settings: Settings,
    /// The inputs; empty if the file has none.
    pub inputs: Vec<String>,
}

/// Reads a configuration file and validates it as far as possible. If `listens` is set, the log format in the file takes effect.
///
/// # Errors
/// Returns an error if the file cannot be read, is not TOML, has an unknown key, or has an invalid value.
pub fn read(verb: Verb, path: &Path, listens: bool) -> Result<Config> {
    let text = read_text("config", path)?;
    if listens {
        log::listen_to_config(&text);
    }
    parse(verb, &path.display().to_string(), &text)
}

fn parse(verb: Verb, name: &str, text: &str) -> Result<Config> {
    let at = |span: Option<Range<usize>>| match span {
        Some(span) => format!("{name}, line {}", 1 + text[..span.start.min(text.len())].matches('\n').count()),
        None => name.to_string(),
    };
    let keys: BTreeMap<Spanned<String>, Spanned<toml::Value>> = toml::from_str(text).map_err(|error| {
        let message = error.message().trim().replace('\n', "; ");
        Error::usage(format!("{}: {message}; expected lines such as key = value", at(error.span())))
    })?;
    let mut config = Config::default();
    for (key, value) in &keys {
        let wrong = |why: String| Error::usage(format!("{}: {}", at(Some(key.span())), Spelling::Keys.of(&why)));
        if key.get_ref() == INPUTS {
            config.inputs = match of_toml(value.get_ref()) {
                Some(Value::Text(input)) => vec![input],
                Some(Value::Texts(inputs)) => inputs,
                _ => {
                    return Err(wrong(format!(
                        "{INPUTS}: expected a string or a list of strings, got {}",
                        value.get_ref()
                    )));
                }
            };
            continue;
        }
        let Some(option) = options_of(verb).find(|option| option.name == key.get_ref()) else {
            let hint = did_you_mean(key.get_ref(), options_of(verb).map(|option| option.name).chain([INPUTS]));
            return Err(Error::usage(format!(
                "{}: there is no option {:?}{hint}; expected a long flag of `dupsift {}` without --",
                at(Some(key.span())),
                key.get_ref(),
                verb.name()
            )));
        };
        let given = of_toml(value.get_ref())
            .ok_or_else(|| wrong(format!("`{}`: expected {}, got {}", option.name, option.kind, value.get_ref())))?;
        config.settings.give(option, &given).map_err(|error| wrong(error.to_string()))?;
    }
    Ok(config)
}

/// Converts a TOML value; returns `None` for dates and tables, which no option accepts.
fn of_toml(value: &toml::Value) -> Option<Value> {
    match value {
        toml::Value::Boolean(on) => Some((*on).into()),
        // No option accepts a negative number. Negative numbers are kept as text so that the error message can show them.
        toml::Value::Integer(number) => {
            Some(u64::try_from(*number).map_or_else(|_| number.to_string().into(), Value::Number))
        }
        toml::Value::Float(number) => Some((*number).into()),
        toml::Value::String(text) => Some(text.as_str().into()),
        toml::Value::Array(texts) => {
            let texts = texts.iter().map(|text| text.as_str().map(str::to_string));
            texts.collect::<Option<Vec<_>>>().map(Value::Texts)
        }
        toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::options::{Kind, OPTIONS};

    #[test]
    fn every_option_is_a_key() {
        for verb in Verb::MAKING {
            for option in OPTIONS {
                let default = option.default_of(verb).value;
                let value = match option.kind {
                    Kind::Switch => "true".to_string(),
                    Kind::Whole(low, _) => low.to_string(),
                    Kind::Share | Kind::Rate | Kind::Sample => "0.5".to_string(),
                    Kind::Size => "'1GiB'".to_string(),
                    Kind::Choice(words) => format!("'{}'", words[0].0),
                    Kind::Texts => "['a', 'b']".to_string(),
                    Kind::Text(_) if option.name == "preset" => "'broad'".to_string(),
                    _ if option.name == "storage" => "'region=x'".to_string(),
                    _ => format!("'{}'", default.unwrap_or("x")),
                };
                let read = parse(verb, "a.toml", &format!("{} = {value}\n", option.name));
                assert_eq!(read.is_ok(), option.verbs.contains(&verb), "{}: {read:?}", option.name);
                assert!(read.is_err() || read.unwrap().settings.value(option.name).is_some());
            }
        }
    }

    #[test]
    fn mistakes_name_line_and_key() {
        let fail = |text: &str| parse(Verb::Run, "a.toml", text).unwrap_err().to_string();
        assert_eq!(
            fail("out = 'x'\n\nthreds = 2\n"),
            "a.toml, line 3: there is no option \"threds\"; did you mean \"threads\"?; \
             expected a long flag of `dupsift run` without --"
        );
        assert!(fail("text_column = 'x'").contains("did you mean \"text-column\"?"));
        assert!(fail("[run]\nout = 'x'").starts_with("a.toml, line 1: there is no option \"run\""));
        assert_eq!(fail("stem = true\nout = 3\n"), "a.toml, line 2: out: expected a path, got 3");
        assert_eq!(fail("chain = 'drop'"), "a.toml, line 1: chain: expected keep or remove, got \"drop\"");
        let number = fail("memory = 1.5");
        assert!(number.starts_with("a.toml, line 1: memory: expected a size") && number.ends_with("got 1.5"));
        assert!(fail("limit = -1").contains("limit: expected a whole number of at least 1, got \"-1\""));
        assert!(fail("limit = { a = 1 }").contains("limit: expected a whole number"));
        assert!(fail("\n\nalgorithms = 'minhsh'").starts_with("a.toml, line 3: there is no algorithm \"minhsh\""));
        let broken = fail("a = 1\nout = \n");
        assert!(broken.starts_with("a.toml, line 2: ") && !broken.contains('\n'), "{broken}");
    }

    #[test]
    fn lists_are_lists_and_inputs_are_no_option() {
        let file =
            parse(Verb::Run, "a.toml", "inputs = 'a'\nkeep = ['date desc', 'length desc']\ncorpus = ['keep', 'drop']")
                .unwrap();
        assert_eq!(
            (&file.inputs[..], file.settings.text("keep")),
            (&["a".to_string()][..], Some("date desc,length desc"))
        );
        assert_eq!(file.settings.text("corpus"), Some("keep,drop"));
        let fail = |text: &str| parse(Verb::Run, "a.toml", text).unwrap_err().to_string();
        assert_eq!(fail("inputs = 3"), "a.toml, line 1: inputs: expected a string or a list of strings, got 3");
        assert!(fail("input = 'a'").contains("did you mean \"inputs\"?"));
        assert!(fail("id-column = ['a', 'b']").contains("id-column: expected the name of a column"));
    }

    #[test]
    fn the_example_of_the_manual_is_a_configuration() {
        let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/options.md"));
        let example = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        let file = parse(Verb::Run, "dupsift.toml", example).unwrap();
        assert!(file.inputs.len() == 2 && file.settings.with_defaults(Verb::Run).is_ok());
    }

    #[test]
    fn files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nightly.toml");
        std::fs::write(&path, "threads = 0\n").unwrap();
        let message = read(Verb::Run, &path, false).unwrap_err().to_string();
        assert!(message.contains("nightly.toml, line 1: threads: expected a whole number from 1 to 1024"), "{message}");
        let message = read(Verb::Run, &folder.path().join("none.toml"), false).unwrap_err().to_string();
        assert!(message.contains("none.toml`: the file cannot be read"), "{message}");
    }
}
