//! Converts the table of options to clap arguments. [`Options`] is part of the arguments of a command. These options are combined with the
//! file given by `--config` to form [`Settings`]. A switch may be typed as `--strict=false` to override the file.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, value_parser};

use super::config;
use super::known::completed;
use dupsift_core::error::{Error, Result};
use dupsift_engine::options::{Kind, OF_ONE_VERB, OptionSpec, Settings, Spelling, Value, Verb, in_groups, options_of};

pub(crate) const CONFIG: &str = "config";
/// Options that also have a short form.
const LETTERS: [(&str, char); 3] = [("out", 'o'), ("quiet", 'q'), ("verbose", 'v')];

/// Holds the options that were given on the command line. The command is identified by its position in [`Verb::ALL`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options<const VERB: usize> {
    typed: Vec<(&'static str, Value)>,
    config: Option<PathBuf>,
    /// An input that may belong to an option whose pattern the shell expanded.
    stray: Option<Stray>,
}

/// Options that specify files outside the corpus.
const OTHER_FILES: [&str; 3] = ["reference", "forget", "against"];
/// The name of the argument for the inputs of a command.
const INPUT: &str = "inputs";

/// Describes an input that directly follows the value of an option that specifies files.
#[derive(Clone, Debug, PartialEq)]
struct Stray {
    option: &'static str,
    value: String,
    input: String,
}

impl Stray {
    /// Finds the second file of an unquoted pattern. Without this check, that file would be read as part of the corpus. An input right
    /// after the value is suspicious if other inputs precede the option, or if the input and the value are files in the same folder.
    fn find(verb: Verb, matches: &ArgMatches) -> Option<Stray> {
        let inputs: Vec<(usize, &String)> =
            matches.indices_of(INPUT)?.zip(matches.get_many::<String>(INPUT)?).collect();
        for option in options_of(verb).filter(|option| OTHER_FILES.contains(&option.name)) {
            let values = match typed(option, matches) {
                Some(Value::Texts(texts)) => texts,
                Some(value) => vec![value.to_string()],
                None => continue,
            };
            for (at, value) in matches.indices_of(option.name)?.zip(values) {
                let Some((_, input)) = inputs.iter().find(|(place, _)| *place == at + 1) else { continue };
                let (one, other) = (Path::new(&value), Path::new(input));
                let is_beside = one.parent() == other.parent() && one.is_file() && other.is_file();
                if is_beside || inputs.iter().any(|(place, _)| *place < at) {
                    return Some(Stray { option: option.name, value, input: (*input).clone() });
                }
            }
        }
        None
    }

    fn refused(&self) -> Error {
        let folder = Path::new(&self.value).parent().filter(|folder| !folder.as_os_str().is_empty());
        let pattern = folder.unwrap_or(Path::new(".")).join("*");
        Error::usage(format!(
            "{} follows --{option} {} and would be read as an input; quote a pattern to name several files, as in --{option} '{}', and put \
             inputs before all options",
            self.input,
            self.value,
            pattern.display(),
            option = self.option
        ))
    }
}

impl<const VERB: usize> Options<VERB> {
    /// Returns the settings. The command line takes precedence over the configuration file, and the file takes precedence over the
    /// defaults.
    ///
    /// # Errors
    /// Returns an error if an option has an invalid value, or if the configuration file is invalid.
    pub fn settings(&self) -> Result<Settings> {
        Ok(self.settings_and_inputs()?.0)
    }

    /// Returns the settings, and the inputs that are listed in the configuration file.
    ///
    /// # Errors
    /// Returns the errors of [`Options::settings`].
    pub fn settings_and_inputs(&self) -> Result<(Settings, Vec<String>)> {
        let verb = Verb::ALL[VERB];
        if let Some(stray) = &self.stray {
            return Err(stray.refused());
        }
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

/// Returns the help text of an option.
fn help(option: &OptionSpec, verb: Verb) -> String {
    let default = option.shown_of(verb).map(|shown| format!(" [default: {shown}]"));
    Spelling::Flags.of(&format!("{}{}", option.help_of(verb), default.unwrap_or_default())).into_owned()
}

fn argument(option: &'static OptionSpec, verb: Verb) -> Arg {
    // Other commands have only a few options, which need no headings.
    let heading = Verb::MAKING.contains(&verb).then_some(option.heading);
    let is_short = !Verb::MAKING.contains(&verb) || option.brief.is_some() || OF_ONE_VERB.contains(&option.heading);
    let argument = Arg::new(option.name).long(option.name).long_help(help(option, verb)).help_heading(heading);
    // Only `run` has short help texts. Other commands describe some options differently, and always show the full text.
    let brief = option.brief.filter(|_| Verb::MAKING.contains(&verb) && verb == Verb::Run);
    let argument = argument.help(brief.map_or_else(|| help(option, verb), str::to_owned)).hide_short_help(!is_short);
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
        let config = config.help("Read options and inputs from this TOML file; the command line takes precedence");
        let config = config.hide_short_help(true);
        let config = Verb::MAKING.contains(&verb).then_some(config);
        command.args(config).args(in_groups(verb).into_iter().map(|option| argument(option, verb)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const VERB: usize> FromArgMatches for Options<VERB> {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, clap::Error> {
        let verb = Verb::ALL[VERB];
        let typed = options_of(verb).filter_map(|option| Some((option.name, typed(option, matches)?))).collect();
        let config = Verb::MAKING.contains(&verb).then(|| matches.get_one::<PathBuf>(CONFIG).cloned()).flatten();
        let stray = Verb::MAKING.contains(&verb).then(|| Stray::find(verb, matches)).flatten();
        Ok(Options { typed, config, stray })
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
    use crate::cli::typed::args::{Arguments, RunArguments};
    use dupsift_algorithms::algorithm::ALGORITHMS;
    use dupsift_engine::options::OPTIONS;
    use std::collections::BTreeSet;

    fn run(line: &str) -> RunArguments {
        match Arguments::try_parse_from(line.split(' ')).unwrap().verb {
            crate::cli::typed::args::Verb::Run(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_switch_can_be_taken_back() {
        let strict = |line: &str| run(line).options.settings().unwrap().value("strict").cloned();
        assert_eq!(strict("dupsift run a --strict"), Some(true.into()));
        assert_eq!(strict("dupsift run --strict=false a b"), Some(false.into()));
        assert_eq!(strict("dupsift run a"), None);
        // A switch takes no value after a space; the next word is an input.
        assert_eq!(run("dupsift run --overwrite false").asked().unwrap().0, ["false"]);
    }

    /// Checks command lines in which the shell has expanded `--reference bench/*.jsonl`.
    #[test]
    fn a_second_file_behind_an_option_is_no_input() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.jsonl", "b.jsonl"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let at = |name: &str| folder.path().join(name).display().to_string();
        let (a, b) = (at("a.jsonl"), at("b.jsonl"));
        let said = |line: &str| match Arguments::try_parse_from(line.split(' ')).unwrap().verb {
            crate::cli::typed::args::Verb::Run(arguments) => arguments.asked().map(|(inputs, _)| inputs),
            crate::cli::typed::args::Verb::Stream(arguments) => arguments.asked().map(|(inputs, _)| inputs),
            other => panic!("{other:?}"),
        };
        for line in [
            format!("dupsift run corpus --out o --reference {a} {b}"),
            format!("dupsift run corpus --reference {a} {b} --out o"),
            format!("dupsift run --reference {a} {b} corpus --out o"),
            format!("dupsift run corpus --out o --reference={a} {b}"),
            format!("dupsift stream corpus --out o --forget {a} {b} --filter f"),
            "dupsift run corpus --out o --reference bench other".to_string(),
        ] {
            let refused = said(&line).unwrap_err().to_string();
            assert!(refused.contains(" follows --") && refused.contains("quote a pattern"), "{line}: {refused}");
        }
        for line in [
            format!("dupsift run corpus {b} --out o --reference {a}"),
            "dupsift run --out o --reference bench corpus other".to_string(),
            format!("dupsift run --out o --reference bench corpus {b}"),
            format!("dupsift stream corpus {b} --out o --forget {a} --forget {b} --filter f"),
            format!("dupsift run corpus --stop-words {a} --out o"),
        ] {
            let inputs = said(&line).unwrap();
            assert!(inputs.contains(&"corpus".to_string()) && !inputs.contains(&a), "{line}: {inputs:?}");
        }
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
        // The command line takes precedence over the file.
        assert_eq!(run(&format!("dupsift run z --config {both}")).asked().unwrap().0, ["z"]);
        let none = write("none.toml", "out = 'out'\n");
        let told = run(&format!("dupsift run --config {none}")).asked().unwrap_err().to_string();
        assert!(told.starts_with("no input given; expected INPUT, or inputs = ["), "{told}");
    }

    #[test]
    fn an_option_that_help_names_is_one() {
        let command = Arguments::command();
        let long = command.get_subcommands().flat_map(|verb| verb.get_arguments().filter_map(|one| one.get_long()));
        let known: BTreeSet<&str> = long.chain(OPTIONS.iter().map(|option| option.name)).collect();
        let mut seen = 0;
        let of_options = OPTIONS.iter().flat_map(|option| {
            Verb::ALL.map(|verb| [Some(option.help_of(verb)), option.shown_of(verb)]).into_iter().flatten().flatten()
        });
        for told in of_options.chain(ALGORITHMS.iter().map(|algorithm| algorithm.facts().when_not_to_use)) {
            for named in told.split('`').skip(1).step_by(2).filter(|named| !named.starts_with("dupsift ")) {
                let name = named.split('=').next().unwrap_or_default();
                assert!(known.contains(name), "{told}: there is no option {name:?}");
                seen += 1;
            }
        }
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn every_option_stands_in_the_help_of_its_verbs_and_in_no_other() {
        let mut command = Arguments::command();
        command.build();
        for verb in Verb::ALL {
            let help = command.find_subcommand_mut(verb.name()).unwrap().render_long_help().to_string();
            let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
            for option in OPTIONS {
                let (flag, help) = (format!("--{}", option.name), Spelling::Flags.of(option.help_of(verb)));
                let is_there = words.split([' ', '[']).any(|word| word == flag && words.contains(&*help));
                assert_eq!(is_there, option.verbs.contains(&verb), "{} {flag}", verb.name());
            }
        }
    }
}
