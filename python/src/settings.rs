//! Keyword arguments as settings: the table of options is the list of keywords, with `_` where a flag has `-`.

use dupsift::error::{Error, Result, did_you_mean};
use dupsift::options::{Kind, OptionSpec, Settings, Value, Verb, in_groups, ours, resolve};
use dupsift::reading;
use pyo3::prelude::*;

use crate::frame::Asked;

/// The value of a keyword argument.
#[derive(FromPyObject)]
pub enum Given {
    /// True or False.
    Switch(bool),
    /// A whole number of at least 0.
    Number(u64),
    /// Any other number.
    Real(f64),
    /// A text.
    Text(String),
    /// A list of texts.
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

/// Keywords of the table that mean nothing to a caller in Python: log lines go to `logging`.
const NOT_HERE: &[&str] = &["log-format", "dry-run", "quiet", "verbose"];

/// The options of a verb that are keywords.
pub fn keywords(verb: Verb) -> impl Iterator<Item = &'static OptionSpec> {
    in_groups(verb).into_iter().filter(|option| !NOT_HERE.contains(&option.name))
}

/// How an option is called here.
pub fn keyword(option: &OptionSpec) -> String {
    option.name.replace('-', "_")
}

/// Settings of a verb: what was given, then the defaults.
///
/// # Errors
/// [`Error::Usage`]: an unknown keyword, or a value that its option would not take.
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

/// The columns of a frame that a run with these keywords reads, in order, each with the keyword that named it if one did: such a column
/// has to be there. And whether the run writes the corpus, so that it needs the other columns too.
///
/// # Errors
/// As [`settings`].
pub fn frame_columns(given: Vec<(String, Given)>) -> Result<(Vec<Asked>, bool)> {
    let settings = settings(Verb::Run, given)?;
    let run = resolve(Vec::new(), &settings)?;
    let columns = reading::columns(&run);
    let named: Vec<(String, String)> = keywords(Verb::Run)
        .filter(|option| settings.is_typed(option.name))
        .flat_map(|option| {
            let names = match option.name {
                "keep" => run.keep.columns(),
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
    let text = (columns.text.clone(), Some(if run.html { "html_column" } else { "text_column" }.to_owned()));
    let given = named
        .iter()
        .filter(|(name, _)| *name != columns.text)
        .map(|(name, keyword)| (name.clone(), Some(keyword.clone())));
    let others =
        std::iter::once(&columns.id).chain(&columns.others).filter(|name| usual(name) && **name != columns.text);
    let others = others.map(|name| (name.clone(), None));
    Ok((std::iter::once(text).chain(given).chain(others).collect(), run.corpus.copies()))
}

/// Holds name, heading, what it takes, what it says of itself, its default in words.
type Keyword = (String, &'static str, String, &'static str, Option<&'static str>);

/// The keywords of a verb: name, heading, what it takes, what it says of itself, its default in words or None.
///
/// # Errors
/// ValueError where there is no such verb.
#[pyfunction]
pub fn options(verb: &str) -> PyResult<Vec<Keyword>> {
    let Some(verb) = Verb::ALL.into_iter().find(|one| one.name() == verb) else {
        return Err(pyo3::exceptions::PyValueError::new_err(format!("there is no verb {verb:?}")));
    };
    let row = |option: &'static OptionSpec| {
        (keyword(option), option.heading, option.kind.to_string(), option.help_of(verb), option.shown_of(verb))
    };
    Ok(keywords(verb).map(row).collect())
}
