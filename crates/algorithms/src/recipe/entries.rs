//! entries: determines the entries of `compare`, that is, the algorithms and presets to compare. An entry is an algorithm or a preset; the
//! pairs of a preset are the union of the pairs of its algorithms.
//!
//! The argument of `compare` is a list of algorithms and presets: `minhash,balanced,strict`. An algorithm that belongs to several entries
//! runs only once.
//!
//! ```text
//! minhash,balanced -> algorithms   minhash, exact, versions
//!                     entries      minhash {0}, balanced {1, 2}
//! ```

use super::preset::{PRESETS, Preset, preset};
use super::{Chosen, Named, Recipe, split_list};
use dupsift_core::error::{Error, Result};

/// Describes an algorithm or a preset that is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The label of the algorithm, or the name of the preset.
    pub name: String,
    /// The indices of the entry's algorithms in the list of all algorithms that run.
    pub algorithms: Vec<usize>,
    /// Whether the entry is a preset.
    pub preset: bool,
    /// The options that select the entry: `--preset balanced`, `--algorithms minhash`. If a preset has its own removal options, only its
    /// algorithms are listed.
    pub typed: String,
}

/// Holds all entries and their algorithms.
#[derive(Clone)]
pub struct Entries {
    /// The algorithms that run, with unique labels: the algorithms in the list, then the algorithms that only presets contain.
    pub algorithms: Vec<Chosen>,
    /// The entries: the algorithms in the list, then the presets.
    pub entries: Vec<Entry>,
}

impl Entries {
    /// Parses a list of algorithms, like [`Recipe::parse_algorithms`], that may contain presets.
    ///
    /// # Errors
    /// Returns the errors of `parse_algorithms`, and an error for a preset with parameters or for two entries with the same name.
    pub fn parse(typed: &str) -> Result<Entries> {
        let (named, presets) = split_presets(typed)?;
        let algorithms = if named.is_empty() && !presets.is_empty() { Vec::new() } else { Recipe::choose_all(named)? };
        let mut compared = Entries { entries: Vec::new(), algorithms };
        for (at, chosen) in compared.algorithms.iter().enumerate() {
            compared.entries.push(alone(at, chosen)?);
        }
        presets.into_iter().try_for_each(|preset| compared.add(preset))?;
        Ok(compared)
    }

    /// Returns the entries for comparing a preset with its own algorithms. If the preset has a single algorithm, the preset is the only
    /// entry.
    ///
    /// # Errors
    /// Returns an error for an unknown name.
    pub fn of_preset(name: &str) -> Result<Entries> {
        let preset = preset(name)?;
        let mut compared = Entries::parse(preset.algorithms)?;
        if compared.algorithms.len() == 1 {
            compared.entries.clear();
        }
        compared.add(preset)?;
        Ok(compared)
    }

    fn add(&mut self, preset: &'static Preset) -> Result<()> {
        if self.entries.iter().any(|one| one.name == preset.name) {
            return Err(Error::usage(format!(
                "{0} is the name of a preset and is given twice; give it once, or use as= to give an algorithm a different name",
                preset.name
            )));
        }
        let mut algorithms = Vec::new();
        for chosen in Recipe::parse_algorithms(preset.algorithms)? {
            let same = |one: &Chosen| one.algorithm.name() == chosen.algorithm.name() && one.params == chosen.params;
            let at = match self.algorithms.iter().position(same) {
                Some(at) => at,
                None => {
                    let taken = |label: &str| self.algorithms.iter().any(|one| one.label == label);
                    let mut label = chosen.label.clone();
                    while taken(&label) {
                        label = format!("{}_{label}", preset.name);
                    }
                    self.algorithms.push(Chosen { label, ..chosen });
                    self.algorithms.len() - 1
                }
            };
            algorithms.push(at);
        }
        // The other options of a preset, which imitate another tool, were not compared.
        let typed = match preset.options {
            [] => format!("`preset={}`", preset.name),
            _ => format!("`algorithms={}`", preset.algorithms),
        };
        self.entries.push(Entry { name: preset.name.into(), algorithms, preset: true, typed });
        Ok(())
    }
}

impl Entry {
    /// Returns whether the bits in `found` include one of the entry's algorithms.
    pub fn finds(&self, found: u64) -> bool {
        self.algorithms.iter().any(|&at| found >> at & 1 == 1)
    }
}

/// Returns a set of bits for each entry: the entries related to it, including itself. Two entries are related if one contains all
/// algorithms of the other.
pub fn related(entries: &[Entry]) -> Vec<u64> {
    let within = |a: &Entry, b: &Entry| a.algorithms.iter().all(|at| b.algorithms.contains(at));
    let of = |one: &Entry| {
        let others = entries.iter().enumerate();
        others.filter(|(_, other)| within(one, other) || within(other, one)).fold(0, |bits, (at, _)| bits | 1 << at)
    };
    entries.iter().map(of).collect()
}

/// Returns the bits of the entries that include at least one of the algorithms in `found`.
pub fn finders(entries: &[Entry], found: u64) -> u64 {
    entries.iter().enumerate().fold(0, |bits, (at, one)| bits | u64::from(one.finds(found)) << at)
}

/// Returns the first preset in a list of algorithms, if any.
///
/// # Errors
/// Returns an error for a list that cannot be parsed.
pub fn names_preset(typed: &str) -> Result<Option<&'static Preset>> {
    Ok(split_presets(typed)?.1.into_iter().next())
}

fn split_presets(typed: &str) -> Result<(Vec<Named>, Vec<&'static Preset>)> {
    let (mut named, mut presets) = (Vec::new(), Vec::new());
    for (name, values) in split_list(typed)? {
        match PRESETS.iter().find(|preset| preset.name == name) {
            Some(_) if !values.is_empty() => {
                return Err(Error::wrong_value(
                    "algorithms",
                    format_args!("{name}:..."),
                    "a preset takes no parameters",
                ));
            }
            Some(preset) => presets.push(preset),
            None => named.push((name, values)),
        }
    }
    Ok((named, presets))
}

/// Returns the entry for a single algorithm; an algorithm with default parameters is written as its name.
fn alone(at: usize, chosen: &Chosen) -> Result<Entry> {
    let name = chosen.algorithm.name();
    let plain = Recipe::parse_algorithms(name)?;
    let same = plain.iter().any(|plain| plain.params == chosen.params);
    let typed = if same { name.to_string() } else { format!("{name}:{}", chosen.params) };
    let typed = format!("`algorithms={typed}`");
    Ok(Entry { name: chosen.label.clone(), algorithms: vec![at], preset: false, typed })
}

/// The default list of `compare`: every algorithm and every preset.
pub const EVERYTHING: &str = "all,balanced,strict,broad,fineweb";

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(typed: &str) -> (Vec<String>, Vec<(String, Vec<usize>)>) {
        let compared = Entries::parse(typed).unwrap();
        let labels = compared.algorithms.iter().map(|one| one.label.clone()).collect();
        (labels, compared.entries.iter().map(|one| (one.name.clone(), one.algorithms.clone())).collect())
    }

    #[test]
    fn worked_examples() {
        let one = |name: &str, at: &[usize]| (name.to_string(), at.to_vec());
        let (labels, entries) = parsed("balanced,minhash");
        assert_eq!(labels, ["minhash", "exact", "versions"]);
        assert_eq!(entries, [one("minhash", &[0]), one("balanced", &[1, 2])]);
        // `versions` has a different threshold in the preset than in the list, and `broad` includes `balanced`.
        let (labels, entries) = parsed("versions:threshold=0.7,exact,balanced,broad");
        assert_eq!(labels, ["versions", "exact", "balanced_versions", "minhash"]);
        assert_eq!(entries[2..], [one("balanced", &[1, 2]), one("broad", &[1, 2, 3])]);
        let compared = Entries::of_preset("balanced").unwrap();
        let names: Vec<&str> = compared.entries.iter().map(|one| one.typed.as_str()).collect();
        assert!(names[0] == "`algorithms=exact`" && names[1].starts_with("`algorithms=versions"), "{names:?}");
        assert_eq!(names[2], "`preset=balanced`");
        let fineweb = Entries::of_preset("fineweb").unwrap().entries;
        assert_eq!((fineweb.len(), fineweb[0].typed.as_str()), (1, "`algorithms=minhash:preset=fineweb`"));
        // The last two entries are related to `exact` and to each other.
        assert_eq!(
            related(&Entries::parse("versions:threshold=0.7,exact,balanced,broad").unwrap().entries),
            [1, 0b1110, 0b1110, 0b1110]
        );
        // These entries find a pair that the second and the fourth algorithm found.
        assert_eq!(
            finders(&Entries::parse("versions:threshold=0.7,exact,balanced,broad").unwrap().entries, 0b1010),
            0b1110
        );
    }

    #[test]
    fn everything_is_every_algorithm_and_every_preset() {
        let compared = Entries::parse(EVERYTHING).unwrap();
        let count = crate::algorithm::ALGORITHMS.len();
        assert_eq!(compared.entries.len(), count + PRESETS.len());
        assert!(compared.entries[..count].iter().all(|one| one.typed == format!("`algorithms={}`", &one.name)));
        let presets = compared.entries[count..].iter().map(|one| one.name.as_str());
        assert!(presets.eq(PRESETS.iter().map(|preset| preset.name)));
        // A run accepts the list as it is printed.
        let all: Vec<String> = compared.algorithms.iter().map(ToString::to_string).collect();
        assert!(Recipe::parse_algorithms(&all.join(",")).is_ok());
    }

    #[test]
    fn mistakes_are_explained() {
        let fail = |typed: &str| Entries::parse(typed).err().expect("this should not pass").to_string();
        assert!(fail("balanced:bands=3").contains("a preset takes no parameters"), "{}", fail("balanced:bands=3"));
        assert!(fail("balanced,balanced").contains("twice"));
        assert!(fail("minhash:as=strict,strict").contains("as= to give an algorithm a different name"));
        assert!(fail("balansed").contains("balansed"));
        assert!(fail("").contains("name at least one"));
    }
}
