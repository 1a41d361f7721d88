//! The table of options as clap arguments: [`Options`] stands in the arguments of a verb, and becomes [`Settings`] together with
//! the file of `--config`. A switch may be typed as `--strict=false`, to take back what that file says.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use super::config;
use super::known::completed;
use crate::error::Result;
use crate::options::{Kind, OptionSpec, Settings, Value, Verb, options_of};
use crate::spelling::Spelling;

/// Verbs that make an output of a corpus, and read a configuration file.
const MAKING: [Verb; 4] = [Verb::Run, Verb::Compare, Verb::Stream, Verb::Purify];
pub(super) const CONFIG: &str = "config";
/// Options that have a letter, too.
const LETTERS: [(&str, char); 2] = [("quiet", 'q'), ("verbose", 'v')];

/// What was typed of the options of a verb, given by its place in [`Verb::ALL`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options<const VERB: usize> {
    typed: Vec<(&'static str, Value)>,
    config: Option<PathBuf>,
}

impl<const VERB: usize> Options<VERB> {
    /// What was typed and, where that says nothing, what the configuration file says, then the defaults.
    ///
    /// # Errors
    /// A value that its option does not take; a configuration file that is none.
    pub fn settings(&self) -> Result<Settings> {
        Ok(self.settings_and_inputs()?.0)
    }

    /// The same, and the inputs that the configuration file names.
    ///
    /// # Errors
    /// As [`Options::settings`].
    pub fn settings_and_inputs(&self) -> Result<(Settings, Vec<String>)> {
        let verb = Verb::ALL[VERB];
        let (mut settings, mut inputs) = (Settings::default(), Vec::new());
        for option in options_of(verb) {
            for (_, value) in self.typed.iter().filter(|(name, _)| *name == option.name) {
                settings.give(option, value)?;
            }
        }
        if let Some(path) = &self.config {
            let listens = settings.value("log-format").is_none();
            let file = config::read(verb, path, listens)?;
            (settings, inputs) = (settings.or(file.settings), file.inputs);
        }
        Ok((settings.with_defaults(verb)?, inputs))
    }
}

/// What help says of an option.
fn help(option: &OptionSpec, verb: Verb) -> String {
    let default = option.shown_of(verb, Spelling::Flags).map(|shown| format!(" [default: {shown}]"));
    format!("{}{}", option.help_of(verb, Spelling::Flags), default.unwrap_or_default())
}

fn argument(option: &'static OptionSpec, verb: Verb) -> Arg {
    // A handful of options needs no headings.
    let heading = MAKING.contains(&verb).then_some(option.heading);
    let argument = Arg::new(option.name).long(option.name).help(help(option, verb)).help_heading(heading);
    let letter = LETTERS.iter().find(|(name, _)| *name == option.name).map(|(_, letter)| *letter);
    let argument = argument.short(letter);
    match option.kind {
        Kind::Switch => {
            let argument =
                argument.value_name("true|false").value_parser(value_parser!(bool)).hide_possible_values(true);
            if option.is_plain_switch() {
                argument.num_args(0..=1).require_equals(true).default_missing_value("true")
            } else {
                argument
            }
        }
        Kind::Choice(words) => {
            let words = words.iter().map(|(word, help)| PossibleValue::new(*word).help(*help));
            argument.value_name(option.value_name).value_parser(PossibleValuesParser::new(words))
        }
        Kind::Path => argument.value_name(option.value_name).value_parser(value_parser!(PathBuf)),
        Kind::Texts => argument.value_name(option.value_name).action(ArgAction::Append),
        _ => completed(argument.value_name(option.value_name), option.name),
    }
}

fn typed(option: &'static OptionSpec, matches: &ArgMatches) -> Option<Value> {
    match option.kind {
        Kind::Switch => matches.get_one::<bool>(option.name).map(|on| (*on).into()),
        Kind::Path => matches.get_one::<PathBuf>(option.name).map(|path| path.clone().into()),
        Kind::Texts => {
            let texts: Vec<String> = matches.get_many(option.name)?.cloned().collect();
            Some(Value::Texts(texts))
        }
        _ => matches.get_one::<String>(option.name).map(|text| text.as_str().into()),
    }
}

impl<const VERB: usize> Args for Options<VERB> {
    fn augment_args(command: Command) -> Command {
        let verb = Verb::ALL[VERB];
        let config = Arg::new(CONFIG).long(CONFIG).value_name("FILE").value_parser(value_parser!(PathBuf));
        let config = config.help("Read options, and inputs, from this TOML file; what the command line says wins");
        let config = MAKING.contains(&verb).then_some(config);
        command.args(config).args(options_of(verb).map(|option| argument(option, verb)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const VERB: usize> FromArgMatches for Options<VERB> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let verb = Verb::ALL[VERB];
        let typed = options_of(verb).filter_map(|option| Some((option.name, typed(option, matches)?))).collect();
        let config = MAKING.contains(&verb).then(|| matches.get_one::<PathBuf>(CONFIG).cloned()).flatten();
        Ok(Options { typed, config })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::args::{Arguments, RunArguments};
    use crate::options::OPTIONS;

    fn run(line: &str) -> RunArguments {
        match Arguments::try_parse_from(line.split(' ')).unwrap().verb {
            crate::cli::args::Verb::Run(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_switch_can_be_taken_back() {
        let strict = |line: &str| run(line).options.settings().unwrap().value("strict").cloned();
        assert_eq!(strict("dupsift run a --strict"), Some(true.into()));
        assert_eq!(strict("dupsift run --strict=false a b"), Some(false.into()));
        assert_eq!(strict("dupsift run a"), None);
        // A switch takes no word after a space: that is an input.
        assert_eq!(run("dupsift run --overwrite false").asked().unwrap().0, ["false"]);
    }

    #[test]
    fn what_is_not_given_is_none() {
        let arguments = run("dupsift run a b");
        assert_eq!(arguments.options, Options::default());
        assert_eq!(run("dupsift dedup a b --out o").asked().unwrap().0, ["a", "b"]);
    }

    #[test]
    fn inputs_may_stand_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let both = write(
            "both.toml",
            "inputs = ['x', 'y']\nout = 'out'\nalgorithms = ['exact', 'minhash:bands=20', 'rows=5']\n",
        );
        let (inputs, settings) = run(&format!("dupsift run --config {both}")).asked().unwrap();
        assert_eq!((inputs.len(), settings.text("algorithms")), (2, Some("exact,minhash:bands=20,rows=5")));
        // What is typed wins.
        assert_eq!(run(&format!("dupsift run z --config {both}")).asked().unwrap().0, ["z"]);
        let none = write("none.toml", "out = 'out'\n");
        let told = run(&format!("dupsift run --config {none}")).asked().unwrap_err().to_string();
        assert!(told.starts_with("there is nothing to read; expected INPUT, or inputs = ["), "{told}");
    }

    #[test]
    fn every_option_stands_in_the_help_of_its_verbs_and_in_no_other() {
        let mut command = Arguments::command();
        command.build();
        for verb in Verb::ALL {
            let help = command.find_subcommand_mut(verb.name()).unwrap().render_long_help().to_string();
            let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
            for option in OPTIONS {
                let flag = format!("--{}", option.name);
                let is_there = words
                    .split([' ', '['])
                    .any(|word| word == flag && words.contains(&option.help_of(verb, Spelling::Flags)));
                assert_eq!(is_there, option.verbs.contains(&verb), "{} {flag}", verb.name());
            }
        }
    }
}
