//! Defines option values and their kinds, including the strings and numbers that each kind accepts.

use crate::options::sample_size::SampleSize;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use bytesize::ByteSize;

use dupsift_core::error::Result;

/// Defines the kinds of option values.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A value that is either on or off.
    Switch,
    /// An integer between two inclusive bounds.
    Whole(u64, u64),
    /// A share from 0 to 1, inclusive.
    Share,
    /// A number of documents, or a share of the documents.
    Sample,
    /// A share of at least 1e-9 and below 1.
    Rate,
    /// A size in bytes, such as `4GiB`.
    Size,
    /// The name of a column.
    Column,
    /// A string that the function checks.
    Text(fn(&str) -> Result<()>),
    /// Several strings, each given by a separate occurrence of the option.
    Texts,
    /// A file or a folder.
    Path,
    /// One of these words, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
}

/// Holds the value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The value of a [`Kind::Switch`].
    Switch(bool),
    /// The value of a [`Kind::Whole`] or [`Kind::Size`].
    Number(u64),
    /// The value of a [`Kind::Share`] or [`Kind::Rate`].
    Real(f64),
    /// The value of a [`Kind::Column`], [`Kind::Sample`], [`Kind::Text`] or [`Kind::Choice`].
    Text(String),
    /// The value of a [`Kind::Texts`].
    Texts(Vec<String>),
    /// The value of a [`Kind::Path`].
    Path(PathBuf),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Switch(on) => write!(f, "{on}"),
            Value::Number(number) => write!(f, "{number}"),
            // Small numbers would have hundreds of zeros.
            Value::Real(number) if *number != 0.0 && number.abs() < 1e-6 => write!(f, "{number:e}"),
            Value::Real(number) => write!(f, "{number}"),
            Value::Text(text) => f.write_str(text),
            Value::Texts(texts) => f.write_str(&texts.join(" ")),
            Value::Path(path) => write!(f, "{}", path.display()),
        }
    }
}

impl From<bool> for Value {
    fn from(on: bool) -> Value {
        Value::Switch(on)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Value {
        Value::Number(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Real(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text)
    }
}

impl From<PathBuf> for Value {
    fn from(path: PathBuf) -> Value {
        Value::Path(path)
    }
}

/// The lowest false-positive rate of a filter. The number of hashes and of counters per key is limited, so no filter reaches a much lower
/// one.
const LEAST_RATE: f64 = 1e-9;

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Switch => f.write_str("true or false"),
            Kind::Whole(low, u64::MAX) => write!(f, "a whole number of at least {low}"),
            Kind::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Kind::Share => f.write_str("a share from 0 to 1"),
            Kind::Sample => {
                f.write_str("a number of documents, such as 10000, or a share between 0 and 1, such as 0.05")
            }
            Kind::Rate => write!(f, "a number of at least {LEAST_RATE:e} and below 1"),
            Kind::Size => f.write_str("a size such as 4GiB, 512MB or a number of bytes"),
            Kind::Column => f.write_str("the name of a column"),
            Kind::Text(_) => f.write_str("a string"),
            Kind::Texts => f.write_str("a string or a list of strings"),
            Kind::Path => f.write_str("a path"),
            Kind::Choice(words) => f.write_str(&words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" or ")),
        }
    }
}

impl Kind {
    /// Converts a value to this kind. A number or a switch may be given as a string. Returns `None` if the value cannot be converted.
    pub fn take(self, value: &Value) -> Option<Value> {
        let within = |low: u64, high: u64| move |number: &u64| (low..=high).contains(number);
        let share = |number: &f64| (0.0..=1.0).contains(number);
        let rate = |number: &f64| (LEAST_RATE..1.0).contains(number);
        let real = || match value {
            Value::Real(number) => Some(*number),
            Value::Number(number) => Some(*number as f64),
            Value::Text(text) => text.trim().parse().ok(),
            _ => None,
        };
        match (self, value) {
            (Kind::Switch, Value::Text(text)) => text.parse().ok().map(Value::Switch),
            (Kind::Whole(low, high), Value::Number(number)) => {
                Some(*number).filter(within(low, high)).map(Value::Number)
            }
            (Kind::Whole(low, high), Value::Text(text)) => {
                text.trim().parse().ok().filter(within(low, high)).map(Value::Number)
            }
            (Kind::Size, Value::Number(bytes)) => Some(*bytes).filter(within(1, u64::MAX)).map(Value::Number),
            (Kind::Size, Value::Text(text)) => {
                let ByteSize(bytes) = ByteSize::from_str(text.trim()).ok()?;
                Some(bytes).filter(within(1, u64::MAX)).map(Value::Number)
            }
            (Kind::Sample, Value::Number(_) | Value::Real(_) | Value::Text(_)) => {
                // A share is formatted with a decimal point.
                let typed = if let Value::Real(share) = value { format!("{share:?}") } else { value.to_string() };
                SampleSize::parse(&typed).ok().map(|size| Value::Text(size.to_string()))
            }
            (Kind::Share, _) => real().filter(share).map(Value::Real),
            (Kind::Rate, _) => real().filter(rate).map(Value::Real),
            (Kind::Column, Value::Text(text)) if text.is_empty() => None,
            (Kind::Choice(words), Value::Text(text)) if words.iter().all(|(word, _)| word != text) => None,
            (Kind::Path, Value::Text(text)) => Some(Value::Path(text.into())),
            (Kind::Texts, Value::Text(text)) => Some(Value::Texts(vec![text.clone()])),
            (Kind::Switch, Value::Switch(_))
            | (Kind::Column | Kind::Text(_) | Kind::Choice(_), Value::Text(_))
            | (Kind::Path, Value::Path(_))
            | (Kind::Texts, Value::Texts(_)) => Some(value.clone()),
            _ => None,
        }
    }
}
/// Holds a value that is about to be set in the options for a run.
#[derive(Clone, Copy)]
pub struct Given<'v> {
    /// The checked value.
    pub value: &'v Value,
    /// Whether you gave the value explicitly. Values from the table or a record do not count.
    pub typed: bool,
}

impl Given<'_> {
    /// Returns the value of a switch.
    pub fn switch(self) -> bool {
        matches!(self.value, Value::Switch(true))
    }

    /// Returns the value of an integer or size option, or 0 if the table declares a different kind. A test of the table detects that
    /// mistake.
    pub fn number(self) -> u64 {
        if let Value::Number(number) = self.value { *number } else { 0 }
    }

    /// Returns the value of an option that specifies a share.
    pub fn real(self) -> f64 {
        if let Value::Real(number) = self.value { *number } else { 0.0 }
    }

    /// Returns the value of a string option.
    pub fn text(&self) -> &str {
        if let Value::Text(text) = self.value { text } else { "" }
    }

    /// Returns the value of a path option.
    pub fn path(self) -> PathBuf {
        if let Value::Path(path) = self.value { path.clone() } else { PathBuf::new() }
    }
}
