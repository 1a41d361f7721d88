//! Defines the specification of an option: its name, kind of value, default and help text, and the field of a run that it sets.
//! [`OPTIONS`](super::OPTIONS) is the table of all options. Flags, configuration files, run.json and docs/options.md are derived from this
//! table.

use super::RunOptions;
use super::value::{Given, Kind, Value};
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_remote::address::{self, Use};

/// Lists the commands that have options in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// `run`
    Run,
    /// `compare`
    Compare,
    /// `stream`
    Stream,
    /// `purify`
    Purify,
    /// `contaminated`
    Contaminated,
    /// `evaluate`
    Evaluate,
    /// `explain`
    Explain,
    /// `report`
    Report,
    /// `apply`
    Apply,
    /// `show`
    Show,
}

impl Verb {
    /// All commands, in the order of their discriminants.
    pub const ALL: [Verb; 10] = [
        Verb::Run,
        Verb::Compare,
        Verb::Stream,
        Verb::Purify,
        Verb::Contaminated,
        Verb::Evaluate,
        Verb::Explain,
        Verb::Report,
        Verb::Apply,
        Verb::Show,
    ];

    /// The commands that write an output folder from a corpus and can read a configuration file.
    pub const MAKING: [Verb; 5] = [Verb::Run, Verb::Compare, Verb::Stream, Verb::Purify, Verb::Contaminated];

    /// Returns the name of the command, as typed.
    pub const fn name(self) -> &'static str {
        match self {
            Verb::Run => "run",
            Verb::Compare => "compare",
            Verb::Stream => "stream",
            Verb::Purify => "purify",
            Verb::Contaminated => "contaminated",
            Verb::Evaluate => "evaluate",
            Verb::Explain => "explain",
            Verb::Report => "report",
            Verb::Apply => "apply",
            Verb::Show => "show",
        }
    }
}

/// Holds the default of an option.
#[derive(Clone, Copy, Debug)]
pub struct Default {
    /// The default value, as it would be typed; `None` leaves the field unchanged.
    pub value: Option<&'static str>,
    /// The default, as shown in the help; `None` shows no default.
    pub shown: Option<&'static str>,
}

/// No default: a switch is off, and any other option is not set.
pub(crate) const NONE: Default = Default { value: None, shown: None };

/// Returns this value as the default.
pub(crate) const fn is(value: &'static str) -> Default {
    Default { value: Some(value), shown: Some(value) }
}

/// Returns this value as the default, with a description for the help.
pub(crate) const fn in_words(value: &'static str, shown: &'static str) -> Default {
    Default { value: Some(value), shown: Some(shown) }
}

/// Returns a default that depends on the machine or on other options; `shown` describes it in the help.
pub(crate) const fn depends(shown: &'static str) -> Default {
    Default { value: None, shown: Some(shown) }
}

/// States which results of a run depend on an option. The saved state is derived from it: if the value of an option changes, a killed run
/// recomputes these results, and all results that depend on them (`job/saved/keys.rs`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affects {
    /// What is read from the corpus, and therefore every result.
    Reading,
    /// The records of the rows, but no text and no signature.
    Notes,
    /// The statistics.
    Counts,
    /// The rows of every algorithm.
    Rows,
    /// The candidates and pairs of every algorithm.
    Pairs,
    /// The removed documents, and therefore the repeated passages.
    Removals,
    /// Results that depend on what the option names, such as algorithms, words or an index. The keys contain the identity of these.
    Identified,
    /// No result that is saved.
    Output,
}

/// Sets a checked value in the options for a run.
pub(crate) type Set = fn(&mut RunOptions, Given<'_>) -> Result<()>;
/// Returns the value of the option, in the form that run.json records; `None` if the option is not set.
pub(crate) type Get = fn(&RunOptions) -> Option<Value>;

/// Describes one option.
#[derive(Clone, Copy)]
pub struct OptionSpec {
    /// The long flag without `--`, and the key in configuration files and run.json.
    pub name: &'static str,
    /// The kind of the option's values.
    pub kind: Kind,
    /// The placeholder for the value in the help.
    pub value_name: &'static str,
    /// The help text, without the default.
    help: &'static str,
    /// The help text for `-h`; `None` if commands with many options omit this option from `-h`.
    pub brief: Option<&'static str>,
    default: Default,
    /// The heading under which the help shows the option.
    pub heading: &'static str,
    /// The commands that accept the option.
    pub verbs: &'static [Verb],
    /// The commands for which the option has a different help text or default.
    but: &'static [(Verb, &'static str, Default)],
    /// Whether the option accepts a list, either as one comma-separated string or as several strings.
    lists: bool,
    /// Whether only the command line and configuration files have the option.
    pub flag_only: bool,
    /// The functions that set and return the field of a run; `None` if a command or an interface looks up the option by name.
    pub field: Option<(Set, Get)>,
    /// The results that depend on the option.
    pub affects: Affects,
}

impl OptionSpec {
    /// Creates an option without a default. The command or the interface looks up the option by name.
    pub const fn new(
        heading: &'static str,
        verbs: &'static [Verb],
        name: &'static str,
        value_name: &'static str,
        kind: Kind,
        help: &'static str,
    ) -> OptionSpec {
        OptionSpec {
            name,
            kind,
            value_name,
            help,
            brief: None,
            default: NONE,
            heading,
            verbs,
            but: &[],
            lists: false,
            flag_only: false,
            field: None,
            affects: Affects::Reading,
        }
    }

    /// Sets the default.
    pub const fn default(self, default: Default) -> OptionSpec {
        OptionSpec { default, ..self }
    }

    /// Sets the help text for `-h`.
    pub const fn brief(self, brief: &'static str) -> OptionSpec {
        OptionSpec { brief: Some(brief), ..self }
    }

    /// Makes the option a list.
    pub const fn list(self) -> OptionSpec {
        OptionSpec { lists: true, ..self }
    }

    /// Returns whether the option accepts a list.
    pub const fn is_list(&self) -> bool {
        self.lists
    }

    /// Leaves the option out of the keywords of Python.
    pub const fn flag_only(self) -> OptionSpec {
        OptionSpec { flag_only: true, ..self }
    }

    /// Sets different help texts and defaults for some commands. An empty string selects the help text that all commands share.
    pub const fn but(self, but: &'static [(Verb, &'static str, Default)]) -> OptionSpec {
        OptionSpec { but, ..self }
    }

    /// Binds the option to a field of a run.
    pub const fn field(self, set: Set, get: Get) -> OptionSpec {
        OptionSpec { field: Some((set, get)), ..self }
    }

    /// States which results depend on the option. By default, all results do.
    pub(crate) const fn affects(self, affects: Affects) -> OptionSpec {
        OptionSpec { affects, ..self }
    }

    /// Returns the default of the option for this command.
    pub fn default_of(&self, verb: Verb) -> Default {
        self.but.iter().find(|(other, ..)| *other == verb).map_or(self.default, |(_, _, default)| *default)
    }

    /// Returns the default, as shown in the help.
    pub fn shown_of(&self, verb: Verb) -> Option<&'static str> {
        self.default_of(verb).shown
    }

    /// Returns the help text, without the default.
    pub fn help_of(&self, verb: Verb) -> &'static str {
        let own = self.but.iter().find(|(other, words, _)| *other == verb && !words.is_empty());
        own.map_or(self.help, |(_, words, _)| words)
    }

    /// Returns whether the option may be typed without a value.
    pub fn is_plain_switch(&self) -> bool {
        matches!(self.kind, Kind::Switch) && self.default.value.is_none()
    }

    /// Checks and converts a value.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the expected and the given value if the value is not valid.
    pub fn check(&self, value: &Value) -> Result<Value> {
        let joined = match value {
            Value::Texts(items) if self.lists => Some(Value::Text(items.join(","))),
            _ => None,
        };
        let value = joined.as_ref().unwrap_or(value);
        let Some(taken) = self.kind.take(value) else {
            let got = match value {
                Value::Text(text) => format!("{text:?}"),
                other => other.to_string(),
            };
            let hint = match (self.kind, value) {
                (Kind::Choice(words), Value::Text(text)) => did_you_mean(text, words.iter().map(|(word, _)| *word)),
                _ => String::new(),
            };
            let option = self.name;
            return Err(match (self.kind, value) {
                (Kind::Column, Value::Text(_)) => {
                    Error::Usage { option: Some(option), said: format!("`{option}` is empty; expected {}", self.kind) }
                }
                _ => Error::wrong(option, format_args!("expected {}, got {got}{hint}", self.kind)),
            });
        };
        match (self.kind, &taken) {
            (Kind::Text(well_formed), Value::Text(text)) => well_formed(text)?,
            (Kind::Path, Value::Path(path)) => {
                let text = path.to_string_lossy();
                let checked = match self.name {
                    "out" => address::refuse(&text, Use::Write),
                    "reference" => address::refuse_unread(&text),
                    _ => address::refuse(&text, Use::Read),
                };
                checked.map_err(|error| error.of(self.name))?;
            }
            _ => {}
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(kind: Kind) -> OptionSpec {
        OptionSpec::new("Files", &[Verb::Run], "it", "IT", kind, "It")
    }

    fn fail(kind: Kind, value: impl Into<Value>) -> String {
        option(kind).check(&value.into()).unwrap_err().to_string()
    }

    #[test]
    fn sizes_are_read_as_people_write_them() {
        let sizes = [
            ("4GiB", 4 << 30),
            ("512MB", 512_000_000),
            ("1.5 GiB", 3 << 29),
            ("1048576", 1 << 20),
            ("64mib", 64 << 20),
        ];
        for (size, bytes) in sizes {
            assert_eq!(option(Kind::Size).check(&size.into()).unwrap(), Value::Number(bytes), "{size}");
        }
        for size in ["", "0", "lots", "-1", "4 gigs", "GiB", "1.2.3MB"] {
            assert!(fail(Kind::Size, size).contains("such as 4GiB"), "{size}");
        }
    }

    #[test]
    fn values_are_taken_as_numbers_and_as_text() {
        let check = |kind, value: Value| option(kind).check(&value).unwrap();
        assert_eq!(check(Kind::Whole(1, 9), 7.into()), check(Kind::Whole(1, 9), " 7 ".into()));
        assert_eq!(check(Kind::Share, 1.into()), Value::Real(1.0));
        assert_eq!(check(Kind::Share, "0.25".into()), Value::Real(0.25));
        assert_eq!(check(Kind::Rate, "1e-9".into()), Value::Real(1e-9));
        assert_eq!(check(Kind::Switch, "false".into()), Value::Switch(false));
        assert_eq!(check(Kind::Path, "a/b".into()), Value::Path("a/b".into()));
        let remote = fail(Kind::Path, "s3://bucket/x");
        assert!(remote.starts_with("`it`: \"s3://bucket/x\" is a remote address"), "{remote}");
        assert_eq!(check(Kind::Texts, "a".into()), Value::Texts(vec!["a".into()]));
    }

    #[test]
    fn what_is_wrong_is_answered_with_what_is_right() {
        assert_eq!(fail(Kind::Whole(1, 1024), "0"), "`it`: expected a whole number from 1 to 1024, got \"0\"");
        assert_eq!(fail(Kind::Whole(2, u64::MAX), 1), "`it`: expected a whole number of at least 2, got 1");
        assert_eq!(fail(Kind::Share, 1.5), "`it`: expected a share from 0 to 1, got 1.5");
        assert_eq!(fail(Kind::Share, "nan"), "`it`: expected a share from 0 to 1, got \"nan\"");
        assert_eq!(fail(Kind::Rate, 1.0), "`it`: expected a number of at least 1e-9 and below 1, got 1");
        assert_eq!(fail(Kind::Rate, "1e-300"), "`it`: expected a number of at least 1e-9 and below 1, got \"1e-300\"");
        assert_eq!(fail(Kind::Switch, "yes"), "`it`: expected true or false, got \"yes\"");
        assert_eq!(fail(Kind::Column, ""), "`it` is empty; expected the name of a column");
        assert_eq!(fail(Kind::Path, 3), "`it`: expected a path, got 3");
        let words = Kind::Choice(&[("keep", "They stay"), ("remove", "They go")]);
        assert_eq!(fail(words, "remov"), "`it`: expected keep or remove, got \"remov\"; did you mean \"remove\"?");
    }
}
