//! Checks typed parameter values such as `bands=14` against the specification of an algorithm.
//!
//! The error for an unknown name suggests a similar name, and the error for a wrong value states the valid range. Algorithms receive only
//! checked values.

use std::collections::BTreeMap;
use std::fmt;

use dupsift_core::error::{Error, Result, did_you_mean};

/// Defines the type and range of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A whole number within inclusive bounds.
    Int(i64, i64),
    /// A number within inclusive bounds.
    Real(f64, f64),
    /// `true` or `false`.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A check on the texts: `none`, or one of these names with a threshold from 0 to 1, such as `jaccard:0.7`.
    Verify(&'static [&'static str]),
    /// A margin: `none`, `0.1`, `either:0.1` or `either:0.1:0.3`; see [`Margin`].
    Margin,
}

/// Describes one parameter of an algorithm.
#[derive(Clone, Copy, Debug)]
pub struct ParamSpec {
    /// The name on the command line.
    pub name: &'static str,
    /// The type and range.
    pub kind: Kind,
    /// The default value, as written on the command line.
    pub default: &'static str,
    /// The help text, which is one sentence.
    pub help: &'static str,
}

/// Defines a shorthand parameter. Several other parameters replace it before the values are checked.
#[derive(Clone, Copy, Debug)]
pub struct Shorthand {
    /// The name on the command line.
    pub name: &'static str,
    /// The type and range.
    pub kind: Kind,
    /// The help text, which is one sentence.
    pub help: &'static str,
    /// The parameters that the shorthand determines. None of these parameters may be given together with the shorthand.
    pub decides: &'static [&'static str],
    /// Returns the parameters that the shorthand stands for, with their values. Parameters that are not in `decides` can be given
    /// explicitly, and then take precedence.
    pub stands_for: fn(f64) -> Vec<(&'static str, String)>,
}

impl Shorthand {
    /// Replaces the shorthand in the typed values with the parameters that it stands for.
    ///
    /// # Errors
    /// Returns an error if the value is out of range, or if a parameter that the shorthand determines is also given.
    pub fn expand(&self, owner: &str, typed: &mut Vec<(String, String)>) -> Result<()> {
        let Some(at) = typed.iter().position(|(name, _)| name == self.name) else { return Ok(()) };
        let (name, value) = typed.remove(at);
        let Some(Value::Real(number)) = self.kind.parse(&value) else {
            return Err(Error::usage(format!("{owner}: {name}={value} is not {}", self.kind)));
        };
        if let Some((other, _)) =
            typed.iter().find(|(other, _)| self.decides.contains(&other.as_str()) || *other == name)
        {
            return Err(Error::usage(format!(
                "{owner}: {name}={value} sets {parameters}; expected either {name}= or {other}=",
                parameters = self.decides.join(" and ")
            )));
        }
        for (name, value) in (self.stands_for)(number) {
            if typed.iter().all(|(other, _)| other != name) {
                typed.push((name.to_string(), value));
            }
        }
        Ok(())
    }
}

/// Holds a checked value.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Int(i64),
    Real(f64),
    Flag(bool),
    Word(&'static str),
    Verify(Option<(&'static str, f64)>),
    Margin(Option<Margin>),
}

/// Holds the value of [`Kind::Margin`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The maximum difference between the similarity of a pair and the best similarity of its documents, from 0 to 1.
    pub within: f64,
    /// Whether a pair is kept if it is within the margin of only one of its two documents.
    pub either: bool,
    /// The distance up to which pairs within a cluster are kept even if the margin alone would remove them.
    pub whole: Option<f64>,
}

impl Margin {
    fn parse(typed: &str) -> Option<Margin> {
        let (either, typed) = match typed.strip_prefix("either:") {
            Some(rest) => (true, rest),
            None => (false, typed.strip_prefix("each:").unwrap_or(typed)),
        };
        let (within, whole) = match typed.split_once(':') {
            Some((within, whole)) => (within, Some(whole.parse().ok().filter(|value| (0.0..=1e9).contains(value))?)),
            None => (typed, None),
        };
        let within = within.parse().ok().filter(|value| (0.0..=1.0).contains(value))?;
        Some(Margin { within, either, whole })
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.either { "either:" } else { "" }, self.within)?;
        self.whole.map_or(Ok(()), |whole| write!(f, ":{whole}"))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => write!(f, "{value}"),
            Value::Real(value) => write!(f, "{value}"),
            Value::Flag(value) => write!(f, "{value}"),
            Value::Word(value) => f.write_str(value),
            Value::Verify(None) => f.write_str("none"),
            Value::Verify(Some((name, threshold))) => write!(f, "{name}:{threshold}"),
            Value::Margin(None) => f.write_str("none"),
            Value::Margin(Some(margin)) => write!(f, "{margin}"),
        }
    }
}

/// Alternative names for choices, with the names that they stand for.
const FORMER_WORDS: &[(&str, &str)] = &[("xxh64", "xxh3_64"), ("xxh128", "xxh3_128")];

impl Kind {
    fn parse(self, typed: &str) -> Option<Value> {
        match self {
            Kind::Int(low, high) => typed.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Int),
            Kind::Real(low, high) => typed.parse().ok().filter(|value| (low..=high).contains(value)).map(Value::Real),
            Kind::Flag => typed.parse().ok().map(Value::Flag),
            Kind::Choice(words) => {
                let typed = FORMER_WORDS.iter().find(|(former, _)| *former == typed).map_or(typed, |(_, now)| now);
                words.iter().find(|word| **word == typed).map(|word| Value::Word(word))
            }
            Kind::Verify(_) if typed == "none" => Some(Value::Verify(None)),
            Kind::Verify(names) => {
                let (name, threshold) = typed.split_once(':')?;
                let name = names.iter().find(|known| **known == name)?;
                let threshold = threshold.parse().ok().filter(|value| (0.0..=1.0).contains(value))?;
                Some(Value::Verify(Some((name, threshold))))
            }
            Kind::Margin if typed == "none" => Some(Value::Margin(None)),
            Kind::Margin => Margin::parse(typed).map(|margin| Value::Margin(Some(margin))),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Int(low, high) => write!(f, "a whole number from {low} to {high}"),
            Kind::Real(low, high) => write!(f, "a number from {low} to {high}"),
            Kind::Flag => f.write_str("true or false"),
            Kind::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Verify(names) => {
                write!(
                    f,
                    "none or {}, with T from 0 to 1",
                    names.iter().map(|n| format!("{n}:T")).collect::<Vec<_>>().join(", ")
                )
            }
            Kind::Margin => f.write_str("none, M or either:M with M from 0 to 1, optionally followed by :D to keep pairs that connect a cluster up to distance D"),
        }
    }
}

/// The names of parameters that only set how much two documents must have in common. Algorithms that have their own check or require a
/// minimum share use these names.
pub(crate) const THRESHOLDS: &[&str] = &["threshold", "tau", "share", "min_common", "common"];

/// Holds the checked parameters for one use of an algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    values: BTreeMap<&'static str, Value>,
}

impl Params {
    /// Checks typed values against the specification. Parameters that were not typed get their default values.
    ///
    /// # Errors
    /// Returns an error if a name is not in `specs`, a value is out of range, or a name is given twice. `owner` names the algorithm in the
    /// message.
    pub fn check(owner: &str, specs: &[ParamSpec], typed: &[(String, String)]) -> Result<Params> {
        let mut values = BTreeMap::new();
        for (name, value) in typed {
            let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
                let names: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
                let hint = did_you_mean(name, names.iter().copied());
                return Err(Error::usage(format!(
                    "{owner} has no parameter {name:?}{hint}; available: {}",
                    names.join(", ")
                )));
            };
            let Some(checked) = spec.kind.parse(value) else {
                let hint = match spec.kind {
                    Kind::Choice(words) => did_you_mean(value, words.iter().copied()),
                    _ => String::new(),
                };
                return Err(Error::usage(format!("{owner}: {name}={value} is not {}{hint}", spec.kind)));
            };
            if values.insert(spec.name, checked).is_some() {
                return Err(Error::usage(format!("{owner}: {name} is given twice")));
            }
        }
        for spec in specs {
            if !values.contains_key(spec.name) {
                let value = spec.kind.parse(spec.default).ok_or_else(|| {
                    Error::Internal(format!("{owner}: the default {}={} is not {}", spec.name, spec.default, spec.kind))
                })?;
                values.insert(spec.name, value);
            }
        }
        Ok(Params { values })
    }

    /// Returns the value of a [`Kind::Int`] parameter, or 0 if the algorithm did not declare the name with this kind (a test of the
    /// registry detects this).
    pub(crate) fn int(&self, name: &str) -> i64 {
        match self.values.get(name) {
            Some(Value::Int(value)) => *value,
            _ => 0,
        }
    }

    /// Returns the value of a [`Kind::Int`] parameter whose range excludes negative values.
    pub fn count(&self, name: &str) -> usize {
        usize::try_from(self.int(name)).unwrap_or(0)
    }

    /// Returns the value of a [`Kind::Real`] parameter.
    pub fn real(&self, name: &str) -> f64 {
        match self.values.get(name) {
            Some(Value::Real(value)) => *value,
            _ => 0.0,
        }
    }

    /// Returns the value of a [`Kind::Flag`] parameter.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.values.get(name), Some(Value::Flag(true)))
    }

    /// Returns the value of a [`Kind::Choice`] parameter.
    pub fn word(&self, name: &str) -> &'static str {
        match self.values.get(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }

    /// Returns the name and threshold of a [`Kind::Verify`] parameter, or `None` for `none`.
    pub fn verify(&self, name: &str) -> Option<(&'static str, f64)> {
        match self.values.get(name) {
            Some(Value::Verify(check)) => *check,
            _ => None,
        }
    }

    /// Returns the value of a [`Kind::Margin`] parameter, or `None` for `none`.
    pub fn margin(&self, name: &str) -> Option<Margin> {
        match self.values.get(name) {
            Some(Value::Margin(margin)) => *margin,
            _ => None,
        }
    }

    /// Returns the same parameters with every threshold at its lowest allowed value, so that a check also reports scores below the
    /// threshold. [`THRESHOLDS`] lists the names of these parameters.
    pub fn loosened(&self, specs: &[ParamSpec]) -> Params {
        let mut values = self.values.clone();
        for spec in specs {
            let Some(value) = values.get_mut(spec.name) else { continue };
            match (spec.kind, &*value) {
                (Kind::Verify(_), Value::Verify(Some((name, _)))) => *value = Value::Verify(Some((name, 0.0))),
                (Kind::Real(low, _), _) if THRESHOLDS.contains(&spec.name) => *value = Value::Real(low),
                (Kind::Int(low, _), _) if THRESHOLDS.contains(&spec.name) => *value = Value::Int(low),
                _ => {}
            }
        }
        Params { values }
    }

    /// Returns whether a parameter differs from its default.
    pub fn differs(&self, spec: &ParamSpec) -> bool {
        self.values.get(spec.name) != spec.kind.parse(spec.default).as_ref()
    }

    /// Returns a parameter in the form `name=value`.
    pub fn typed(&self, name: &str) -> String {
        self.values.get(name).map_or_else(String::new, |value| format!("{name}={value}"))
    }

    /// Returns every parameter with its value, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.values.iter().map(|(name, value)| (*name, value.to_string()))
    }
}

impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&all.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[ParamSpec] = &[
        ParamSpec { name: "bands", kind: Kind::Int(1, 100), default: "14", help: "" },
        ParamSpec { name: "ratio", kind: Kind::Real(0.0, 1.0), default: "0.85", help: "" },
        ParamSpec { name: "chain", kind: Kind::Choice(&["on", "pairwise", "off"]), default: "on", help: "" },
        ParamSpec { name: "verify", kind: Kind::Verify(&["jaccard", "lcs"]), default: "jaccard:0.7", help: "" },
        ParamSpec { name: "margin", kind: Kind::Margin, default: "none", help: "" },
    ];

    fn check(typed: &str) -> std::result::Result<String, String> {
        let typed: Vec<_> = typed
            .split(',')
            .filter_map(|item| item.split_once('='))
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        Params::check("minhash", SPECS, &typed).map(|params| params.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_checked_and_printed_back() {
        assert_eq!(check("").unwrap(), "bands=14,chain=on,margin=none,ratio=0.85,verify=jaccard:0.7");
        assert_eq!(check("bands=20,verify=none").unwrap(), "bands=20,chain=on,margin=none,ratio=0.85,verify=none");
        assert_eq!(check("verify=lcs:0.85").unwrap(), "bands=14,chain=on,margin=none,ratio=0.85,verify=lcs:0.85");
        for margin in ["0.1", "either:0.01", "0.02:0.3", "either:0.02:12", "none"] {
            let printed = check(&format!("margin={margin}")).unwrap();
            assert_eq!(printed, format!("bands=14,chain=on,margin={margin},ratio=0.85,verify=jaccard:0.7"));
        }
    }

    #[test]
    fn thresholds_are_loosened_and_nothing_else() {
        let params = Params::check("minhash", SPECS, &[("ratio".into(), "0.9".into())]).unwrap();
        assert_eq!(params.loosened(SPECS).to_string(), "bands=14,chain=on,margin=none,ratio=0.9,verify=jaccard:0");
        let specs = [ParamSpec { name: "threshold", kind: Kind::Real(0.01, 1.0), default: "0.8", help: "" }];
        let params = Params::check("cosine", &specs, &[]).unwrap();
        assert_eq!(params.loosened(&specs).to_string(), "threshold=0.01");
    }

    #[test]
    fn messages_name_the_range_and_the_likely_name() {
        assert_eq!(check("bands=0").unwrap_err(), "minhash: bands=0 is not a whole number from 1 to 100");
        assert_eq!(
            check("band=3").unwrap_err(),
            "minhash has no parameter \"band\"; did you mean \"bands\"?; available: bands, ratio, chain, verify, margin"
        );
        assert_eq!(check("ratio=nan").unwrap_err(), "minhash: ratio=nan is not a number from 0 to 1");
        assert!(check("chain=pairwize").unwrap_err().ends_with("did you mean \"pairwise\"?"));
        assert!(check("verify=jaccard:7").unwrap_err().contains("none or jaccard:T, lcs:T, with T from 0 to 1"));
        assert_eq!(check("margin=each:0.1").unwrap(), check("margin=0.1").unwrap());
        for wrong in ["2", "0.1:", "0.1:-1", "-0.1", "x", "neither:0.1"] {
            assert!(check(&format!("margin={wrong}")).unwrap_err().contains("is not none, M or either:M"));
        }
        assert!(check("bands=1,bands=2").unwrap_err().contains("given twice"));
    }
}
