//! Lists the values for shell completion: names of algorithms, their parameters, presets and tokenizers.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use dupsift_algorithms::algorithm::{ALGORITHMS, specs};
use dupsift_algorithms::recipe::PRESETS;
use dupsift_text::TokenizerKind;

/// The known values of each option: complete values, and the beginnings of values that continue with a number or a name.
pub(crate) const BEGINNINGS: &[(&str, &[&str])] = &[
    ("add", &["cluster_size", "copies", "sources", "duplicates", "cluster_size,copies,sources", "none"]),
    ("checkpoint", &["0s", "30s", "5m", "never"]),
    ("corpus", &["annotate", "drop", "keep", "keep,drop", "annotate,keep,drop", "none"]),
    ("cut", &["lines", "none", "paragraphs", "runs:", "sentences:"]),
    ("decide", &["all", "any", "at-least:"]),
    ("judge", &["jaccard:", "lcs:", "versions", "versions:", "words:"]),
    ("keep", &["doc asc", "doc desc", "length asc", "length desc", "none"]),
    ("purify", &["docview", "docview:", "readability", "readability:", "visible"]),
    ("remove-if", &["contained:", "contained:0.8:0.9", "pair"]),
    ("scope", &["across:", "all", "within:"]),
];

/// The names of algorithms and, for each parameter of an algorithm, the text up to the parameter's value.
pub(crate) static LISTED: LazyLock<Vec<String>> = LazyLock::new(listed);

fn listed() -> Vec<String> {
    let of_one = |algorithm: &&'static dyn dupsift_algorithms::algorithm::Algorithm| {
        let name = algorithm.name();
        let own = specs(*algorithm).into_iter().map(|spec| spec.name);
        let own = own.chain(algorithm.facts().shorthands.iter().map(|short| short.name)).chain(["as"]);
        let presets = algorithm.facts().presets.iter().map(move |(preset, _)| format!("{name}:preset={preset}"));
        let parameters = own.map(move |own| format!("{name}:{own}="));
        [name.to_string()].into_iter().chain(parameters).chain(presets).collect::<Vec<_>>()
    };
    ALGORITHMS.iter().flat_map(of_one).chain(["all".to_owned()]).collect()
}

/// Returns a parser that accepts any text. For completion, the parser offers the values that [`BEGINNINGS`] lists for this option.
pub(crate) fn words_of(option: &str) -> impl TypedValueParser<Value = String> {
    Known(Words::These(BEGINNINGS.iter().find(|(known, _)| *known == option).map_or(&[], |(_, words)| words)))
}

/// Adds completions to an argument. Any other text is also accepted, because values are validated elsewhere.
pub(crate) fn completed(argument: Arg, option: &str) -> Arg {
    let words = match option {
        "algorithms" => (|| LISTED.iter().map(String::as_str).collect()) as fn() -> Vec<&'static str>,
        "preset" => || PRESETS.iter().map(|preset| preset.name).collect(),
        "tokenizer" => || TokenizerKind::NAMES.to_vec(),
        _ => match BEGINNINGS.iter().find(|(known, _)| *known == option) {
            Some((_, beginnings)) => {
                return argument.value_parser(Known(Words::These(beginnings))).hide_possible_values(true);
            }
            None => return argument,
        },
    };
    argument.value_parser(Known(Words::Made(words))).hide_possible_values(true)
}

/// Accepts any text, and lists some known values for completion.
#[derive(Clone)]
struct Known(Words);

/// Identifies the source of the known values.
#[derive(Clone, Copy)]
enum Words {
    Made(fn() -> Vec<&'static str>),
    These(&'static [&'static str]),
}

impl TypedValueParser for Known {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &std::ffi::OsStr,
    ) -> std::result::Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = match self.0 {
            Words::Made(make) => make(),
            Words::These(words) => words.to_vec(),
        };
        Some(Box::new(words.into_iter().map(PossibleValue::new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::options::{OPTIONS, Settings};

    #[test]
    fn what_is_complete_is_a_value_of_its_option() {
        for (name, words) in BEGINNINGS {
            let option = OPTIONS.iter().find(|option| option.name == *name).unwrap();
            for word in words.iter().filter(|word| !word.ends_with(':')) {
                assert!(Settings::default().give(option, &(*word).into()).is_ok(), "{name}: {word}");
            }
        }
    }
}
