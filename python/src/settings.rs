//! Converts keyword arguments to settings. The keywords are the names from the table of options, with `_` instead of `-`.

use dupsift::error::{Error, Result, did_you_mean};
use dupsift_engine::options::{Kind, OptionSpec, Settings, Spelling, Value, Verb, in_groups, ours, resolve};
use dupsift_engine::reading;
use pyo3::prelude::*;

/// A requested column: its name and, if the column must exist, the keyword that specified it.
pub type Asked = (String, Option<String>);

/// Holds the value of a keyword argument.
#[derive(FromPyObject)]
pub enum Given {
    /// True or False.
    Switch(bool),
    /// A whole number of at least 0.
    Number(u64),
    /// Any other number.
    Real(f64),
    /// A string.
    Text(String),
    /// A list of strings.
    Texts(Vec<String>),
}

impl From<Given> for Value {
    fn from(given: Given) -> Value {
        match given {
            Given::Switch(on) => on.into(),
            Given::Number(number) => number.into(),
            Given::Real(number) => number.into(),
            Given::Text(text) => text.into(),
            Given::Texts(texts) => Value::Texts(texts),
        }
    }
}

/// Returns the options of a command that are keywords. Log lines are passed to `logging` instead.
pub fn keywords(verb: Verb) -> impl Iterator<Item = &'static OptionSpec> {
    in_groups(verb).into_iter().filter(|option| !option.flag_only)
}

/// Returns the keyword for an option.
pub fn keyword(option: &OptionSpec) -> String {
    option.name.replace('-', "_")
}

/// Returns the settings of a command: the given values, and the default values of all other options.
///
/// # Errors
/// Returns [`Error::Usage`] for an unknown keyword, or a value that its option does not accept.
pub fn settings(verb: Verb, given: Vec<(String, Given)>) -> Result<Settings> {
    let mut settings = Settings::default();
    for (name, value) in given {
        let Some(option) = keywords(verb).find(|option| keyword(option) == name) else {
            let known: Vec<String> = keywords(verb).map(keyword).collect();
            let ours = ours(&name.replace('_', "-")).map(|ours| ours.replace('-', "_"));
            let hint = match ours.filter(|ours| known.contains(ours)) {
                Some(ours) => format!("; did you mean {ours:?}?"),
                None => did_you_mean(&name, known.iter().map(String::as_str)),
            };
            return Err(Error::usage(format!(
                "there is no keyword {name:?}{hint}; help(dupsift.{}) lists all",
                verb.name()
            )));
        };
        settings.give(option, &value.into())?;
    }
    settings.with_defaults(verb)
}

/// Returns the columns of a frame that a run with these keywords reads, in order. A column that was specified by a keyword is returned
/// together with that keyword, and must exist. Also returns whether the run writes the corpus and therefore needs all other columns.
///
/// # Errors
/// Returns the errors of [`settings`].
pub fn frame_columns(given: Vec<(String, Given)>) -> Result<(Vec<Asked>, bool)> {
    let settings = settings(Verb::Run, given)?;
    let run = resolve(Vec::new(), &settings)?;
    let columns = reading::columns(&run);
    let named: Vec<(String, String)> = keywords(Verb::Run)
        .filter(|option| settings.is_typed(option.name))
        .flat_map(|option| {
            let names = match option.name {
                "keep" => run.removal.keep.columns(),
                "scope" => run.recipe.scope_column().into_iter().cloned().collect(),
                name if matches!(option.kind, Kind::Column) => {
                    settings.text(name).map(str::to_owned).into_iter().collect()
                }
                _ => Vec::new(),
            };
            names.into_iter().map(|name| (name, keyword(option)))
        })
        .collect();
    let usual = |name: &String| named.iter().all(|(other, _)| other != name);
    let text = (columns.text.clone(), Some(if run.columns.html { "html_column" } else { "text_column" }.to_owned()));
    let given = named
        .iter()
        .filter(|(name, _)| *name != columns.text)
        .map(|(name, keyword)| (name.clone(), Some(keyword.clone())));
    let others =
        std::iter::once(&columns.id).chain(&columns.others).filter(|name| usual(name) && **name != columns.text);
    let others = others.map(|name| (name.clone(), None));
    Ok((std::iter::once(text).chain(given).chain(others).collect(), run.output.corpus.copies()))
}

/// A keyword: its name, its heading, its accepted values, its help, and a description of its default.
type Keyword = (String, &'static str, String, String, Option<String>);

/// Returns the keywords of a command: name, heading, accepted values, help, and a description of the default or None. If `flags` is set,
/// options in the help are spelled as command-line flags.
///
/// # Errors
/// Raises ValueError if there is no such command.
#[pyfunction]
#[pyo3(signature = (verb, flags = false))]
pub fn options(verb: &str, flags: bool) -> PyResult<Vec<Keyword>> {
    let Some(verb) = Verb::ALL.into_iter().find(|one| one.name() == verb) else {
        return Err(pyo3::exceptions::PyValueError::new_err(format!("there is no command {verb:?}")));
    };
    let row = |option: &'static OptionSpec| {
        let spelled = |text| if flags { Spelling::Flags } else { Spelling::Keywords }.of(text).into_owned();
        let (help, shown) = (spelled(option.help_of(verb)), option.shown_of(verb).map(spelled));
        (keyword(option), option.heading, option.kind.to_string(), help, shown)
    };
    Ok(keywords(verb).map(row).collect())
}
