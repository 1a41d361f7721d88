//! Values that a shell may complete: names of algorithms, of their parameters, of presets and tokenizers.

use std::sync::LazyLock;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use dupsift_algorithms::algorithm::{ALGORITHMS, specs};
use dupsift_algorithms::stage::recipe::PRESETS;
use dupsift_text::TokenizerKind;

/// Names of algorithms, and each of their parameters as it begins.
pub static LISTED: LazyLock<Vec<String>> = LazyLock::new(listed);

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

/// An argument whose values a shell may complete; any other text is taken all the same, for what is wrong with it is said elsewhere.
pub fn completed(argument: Arg, option: &str) -> Arg {
    let words = match option {
        "algorithms" => (|| LISTED.iter().map(String::as_str).collect()) as fn() -> Vec<&'static str>,
        "preset" => || PRESETS.iter().map(|preset| preset.name).collect(),
        "tokenizer" => || TokenizerKind::NAMES.to_vec(),
        _ => return argument,
    };
    argument.value_parser(Known(words)).hide_possible_values(true)
}

/// Any text, of which some are known.
#[derive(Clone)]
struct Known(fn() -> Vec<&'static str>);

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
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}
