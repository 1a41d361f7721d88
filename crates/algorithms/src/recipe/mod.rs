//! The recipe: the algorithms, their parameters, and the options that determine how text is split into words. Both drivers use this object.
//!
//! A recipe is typed as text (`three_plus_five,minhash:bands=20,rows=5,as=minhash_loose`), checked once, printed back in full, and hashed,
//! so that a run can record its recipe.

pub mod bound;
pub mod entries;
mod preset;
pub mod remove_if;
pub mod threshold;

use std::collections::BTreeSet;
use std::fmt;

use crate::algorithm::{
    ALGORITHMS, Algorithm, Corpus, FeatureKind, Learner, Params, RELATE, Reads, Stats, by_name, specs,
};
use bound::Bound;
use dupsift_core::error::{Error, Result, did_you_mean, nearest};
use dupsift_core::hash::hash64;
use dupsift_text::{Field, Pipeline, TextOptions};

/// The maximum length of a label. With a prefix and a suffix, a label forms the name of a folder or file, and such a name can have at most
/// 255 bytes.
const MOST_LABEL: usize = 100;

/// Holds an algorithm with its parameters.
#[derive(Clone)]
pub struct Chosen {
    /// The method.
    pub algorithm: &'static dyn Algorithm,
    /// The name of the algorithm's output folder: its own name, or the value of `as=`.
    pub label: String,
    /// The checked parameters.
    pub params: Params,
}

impl Chosen {
    /// Returns the counts that the algorithm needs.
    pub fn needs_stats(&self) -> Stats {
        self.algorithm.needs(&self.params).stats()
    }

    /// Returns whether the algorithm compares web addresses; if so, the texts of a pair may have little in common.
    pub fn compares_addresses(&self) -> bool {
        self.algorithm.name() == "exact" && self.params.word("form") == "url"
    }

    /// Returns whether the algorithm classifies pairs as versions, contained texts or pages with the same template.
    pub fn relates(&self) -> bool {
        specs(self.algorithm).iter().any(|spec| spec.name == RELATE) && self.params.flag(RELATE)
    }

    /// Returns the algorithm with every threshold as low as possible; see [`Params::loosened`].
    pub fn loosened(&self) -> Chosen {
        Chosen { params: self.params.loosened(&specs(self.algorithm)), ..self.clone() }
    }
}

/// Holds everything that signatures depend on.
#[derive(Clone, Default)]
pub struct Recipe {
    /// The algorithms, in the order given, with unique labels.
    pub algorithms: Vec<Chosen>,
    /// The options that determine how text is split into words.
    pub text: TextOptions,
    /// Whether exact copies count in the statistics.
    pub count_copies: bool,
    /// The column of `scope=within:COLUMN`: only documents with the same value are compared. If this is `None`, all documents are compared.
    pub within: Option<String>,
    /// The column of `scope=across:COLUMN`: only documents with different values are compared. If this is `None`, all documents are
    /// compared. Signatures do not depend on this column.
    pub across: Option<String>,
}

impl Recipe {
    /// Returns the recipe that runs these algorithms with default options.
    pub fn new(algorithms: Vec<Chosen>) -> Recipe {
        Recipe { algorithms, ..Recipe::default() }
    }

    /// Parses a list of algorithms: names or aliases, each with `:name=value,...`, or `all`, which stands for all algorithms that are not
    /// in the list.
    ///
    /// # Errors
    /// Returns an error for unknown names and parameters, values out of range, or two algorithms with the same label.
    pub fn parse_algorithms(typed: &str) -> Result<Vec<Chosen>> {
        Recipe::choose_all(split_list(typed)?)
    }

    /// Returns the algorithms of a parsed list.
    pub(super) fn choose_all(named: Vec<Named>) -> Result<Vec<Chosen>> {
        // `all` excludes the algorithms that are also in the list: `all,lsi:passes=1` means every algorithm, with different parameters for
        // `lsi`.
        let mut typed = Vec::new();
        for (name, values) in named.iter().filter(|(name, _)| name != "all") {
            typed.push(choose(algorithm(name)?, values.clone())?);
        }
        let own: Vec<String> = typed.iter().map(|one| one.label.clone()).collect();
        let (mut chosen, mut typed): (Vec<Chosen>, _) = (Vec::new(), typed.into_iter());
        for (name, values) in named {
            if name == "all" {
                for algorithm in crate::algorithm::ALGORITHMS {
                    let one = choose(*algorithm, values.clone())?;
                    chosen.extend(Some(one).filter(|one| !own.contains(&one.label)));
                }
            } else {
                chosen.extend(typed.next());
            }
        }
        if chosen.is_empty() {
            return Err(Error::usage("`algorithms` is empty; name at least one algorithm (see `dupsift algorithms`)"));
        }
        for (at, one) in chosen.iter().enumerate() {
            if chosen[..at].iter().any(|other| other.label == one.label) {
                return Err(Error::usage(format!(
                    "{0} is given twice; give one of them a different name with {0}:as=NAME",
                    one.label
                )));
            }
        }
        Ok(chosen)
    }

    /// Returns the counts that the algorithms need.
    pub fn needs_stats(&self) -> Stats {
        self.algorithms.iter().map(Chosen::needs_stats).fold(Stats::NONE, Stats::union)
    }

    /// Returns whether the words of first lines are kept, or `None` if words are not kept while they are counted. If words are kept,
    /// signing does not read the texts a second time. Words are kept if all algorithms that need counts use only counted words, and no
    /// other pass is needed: no algorithm learns, and rows are not prefiltered.
    pub fn keeps_words(&self, learns: bool, prefilters: bool) -> Option<bool> {
        let counted: Vec<&Chosen> = self.algorithms.iter().filter(|chosen| chosen.needs_stats().any()).collect();
        if counted.is_empty() || learns || prefilters {
            return None;
        }
        counted.into_iter().try_fold(false, |lines, chosen| match chosen.algorithm.needs(&chosen.params).reads {
            Reads::Words { first_line } if chosen.needs_stats() == Stats::WORDS => Some(lines | first_line),
            _ => None,
        })
    }

    /// Returns whether an algorithm classifies pairs as versions, contained texts or pages with the same template.
    pub fn relates(&self) -> bool {
        self.algorithms.iter().any(Chosen::relates)
    }

    /// Returns the kinds of features that the first pass counts, without duplicates.
    pub fn features(&self) -> Vec<Box<dyn FeatureKind>> {
        let mut kinds: Vec<Box<dyn FeatureKind>> = Vec::new();
        for kind in self.algorithms.iter().filter_map(|chosen| chosen.algorithm.needs(&chosen.params).features) {
            if kinds.iter().all(|known| known.name() != kind.name()) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Returns the columns that the algorithms read in addition to the text.
    pub fn fields(&self) -> BTreeSet<Field> {
        let of = |chosen: &Chosen| chosen.algorithm.needs(&chosen.params).fields;
        self.algorithms.iter().flat_map(of).copied().collect()
    }

    /// Returns the learners that run before signing, each with its algorithm's number.
    ///
    /// # Errors
    /// Returns an error for parameters that contradict each other.
    pub fn learners<'c>(&self, corpus: &Corpus<'c>) -> Result<Vec<(usize, Box<dyn Learner + 'c>)>> {
        let learners = self.algorithms.iter().enumerate();
        let learners =
            learners.map(|(at, chosen)| Ok(chosen.algorithm.learner(&chosen.params, corpus)?.map(|one| (at, one))));
        learners.filter_map(Result::transpose).collect()
    }

    /// Binds the algorithms to a corpus, in order; `models` holds the learned model of each algorithm, which is empty
    /// if it has none.
    ///
    /// # Errors
    /// Returns an error for parameters that contradict each other.
    pub fn bind<'c>(&self, corpus: &Corpus<'c>, models: &'c [Vec<u64>]) -> Result<Vec<Bound<'c>>> {
        self.bind_where(corpus, models, |_| true)
    }

    /// Works like [`Recipe::bind`], but binds only the algorithms whose positions in the recipe satisfy `passes`.
    ///
    /// # Errors
    /// Returns the same errors as [`Recipe::bind`].
    pub fn bind_where<'c>(
        &self,
        corpus: &Corpus<'c>,
        models: &'c [Vec<u64>],
        passes: impl Fn(usize) -> bool,
    ) -> Result<Vec<Bound<'c>>> {
        let bind = |(at, chosen): (usize, &Chosen)| {
            let corpus = Corpus { model: models.get(at).map_or(&[], Vec::as_slice), ..*corpus };
            let mut bound = Bound::new(chosen.label.clone(), chosen.algorithm, &chosen.params, &corpus)?;
            bound.scoped = self.within.is_some();
            Ok(bound)
        };
        self.algorithms.iter().enumerate().filter(|(at, _)| passes(*at)).map(bind).collect()
    }

    /// Returns the column that contains the scopes, if documents have scopes.
    pub fn scope_column(&self) -> Option<&String> {
        self.within.as_ref().or(self.across.as_ref())
    }

    /// Returns a hash of the recipe and of the software versions that affect words. If the corpus contains pages, the hash also covers
    /// `purify`, the name of the options for extracting text from pages.
    pub fn identity(&self, pipeline: &Pipeline, purify: Option<&str>) -> u64 {
        let purify = purify.map_or(String::new(), |name| format!("\n{name}"));
        hash64(format!("{self}\n{}{purify}", pipeline.identity()).as_bytes())
    }
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list: Vec<String> = self.algorithms.iter().map(Chosen::to_string).collect();
        write!(f, "{}; count_copies={}", list.join(","), self.count_copies)?;
        self.within.as_ref().map_or(Ok(()), |column| write!(f, "; scope=within:{column}"))
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.algorithm.name(), self.params)?;
        if self.label != self.algorithm.name() {
            write!(f, ",as={}", self.label)?;
        }
        Ok(())
    }
}

pub use self::preset::{DEFAULT_PRESET, PRESETS, Preset, preset};

/// Holds one name from a list, with its values.
pub(super) type Named = (String, Vec<(String, String)>);

/// Parses `a,b:x=1,y=2,c` into names with their values: an item with `=` belongs to the name before it.
pub(super) fn split_list(typed: &str) -> Result<Vec<Named>> {
    let mut list: Vec<Named> = Vec::new();
    for item in typed.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let value = match item.find([':', '=']) {
            Some(at) if item[at..].starts_with(':') => {
                list.push((item[..at].trim().to_string(), Vec::new()));
                &item[at + 1..]
            }
            Some(_) => item,
            None => {
                list.push((item.to_string(), Vec::new()));
                continue;
            }
        };
        let Some((_, values)) = list.last_mut() else {
            return Err(Error::wrong(
                "algorithms",
                format_args!("{item:?} comes before any algorithm; expected NAME:{item}"),
            ));
        };
        let Some((name, value)) = value.split_once('=') else {
            return Err(Error::wrong("algorithms", format_args!("{item:?} is not NAME or NAME:parameter=value")));
        };
        values.push((name.trim().to_string(), value.trim().to_string()));
    }
    Ok(list)
}

/// Returns the algorithm with this name, or an error with suggestions.
fn algorithm(name: &str) -> Result<&'static dyn Algorithm> {
    let algorithms = ALGORITHMS.iter().map(|one| one.name());
    match nearest(name, PRESETS.iter().map(|preset| preset.name)) {
        Some(meant) if by_name(name).is_err() && nearest(name, algorithms).is_none() => {
            let meant = format!("`preset={meant}`");
            Err(Error::usage(format!("there is no algorithm {name:?}; did you mean {meant}?")))
        }
        _ => by_name(name),
    }
}

fn choose(algorithm: &'static dyn Algorithm, mut values: Vec<(String, String)>) -> Result<Chosen> {
    let mut take = |wanted: &str| {
        let at = values.iter().position(|(name, _)| name == wanted)?;
        Some(values.remove(at).1)
    };
    let (label, preset) = (take("as"), take("preset"));
    let specs = specs(algorithm);
    for short in algorithm.facts().shorthands {
        // A mistyped shorthand is detected before Params::check, which would suggest a less similar name.
        let unknown = values.iter().find(|(name, _)| name != short.name && specs.iter().all(|spec| spec.name != name));
        if let Some((name, _)) = unknown.filter(|(name, _)| nearest(name, [short.name]).is_some()) {
            let hint = did_you_mean(name, [short.name]);
            return Err(Error::usage(format!("{} has no parameter {name:?}{hint}", algorithm.name())));
        }
        short.expand(algorithm.name(), &mut values)?;
    }
    if let Some(preset) = preset {
        let presets = algorithm.facts().presets;
        let Some((_, settings)) = presets.iter().find(|(name, _)| *name == preset) else {
            let names: Vec<&str> = presets.iter().map(|(name, _)| *name).collect();
            let hint = did_you_mean(&preset, names.iter().copied());
            let known = if names.is_empty() { "none".into() } else { names.join(", ") };
            return Err(Error::usage(format!(
                "{} has no preset {preset:?}{hint}; available: {known}",
                algorithm.name()
            )));
        };
        let typed: Vec<String> = values.iter().map(|(name, _)| name.clone()).collect();
        let settings = settings.split(',').filter_map(|item| item.split_once('='));
        values.extend(
            settings
                .filter(|(name, _)| !typed.iter().any(|known| known == name))
                .map(|(name, value)| (name.to_string(), value.to_string())),
        );
    }
    let label = label.unwrap_or_else(|| algorithm.name().to_string());
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if label.is_empty() || !label.bytes().all(plain) {
        return Err(Error::usage(format!(
            "as={label:?} is not a valid folder name; use only letters, digits, _ and -"
        )));
    }
    if label.len() > MOST_LABEL {
        let length = label.len();
        return Err(Error::usage(format!(
            "as={}... has {length} characters; expected at most {MOST_LABEL}",
            &label[..20]
        )));
    }
    Ok(Chosen { algorithm, label, params: Params::check(algorithm.name(), &specs, &values)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(typed: &str) -> std::result::Result<Vec<String>, String> {
        let chosen = Recipe::parse_algorithms(typed).map_err(|error| error.to_string())?;
        Ok(chosen.iter().map(Chosen::to_string).collect())
    }

    #[test]
    fn lists_are_parsed_and_printed_back() {
        let list = parse("A12, minhash:bands=20,rows=5,as=minhash_loose,verify=lcs:0.85,exact").unwrap();
        assert_eq!(list.len(), 3);
        assert!(list[0].starts_with("three_plus_five:chain=neighbors"));
        assert!(list[1].starts_with("minhash:bands=20,") && list[1].ends_with("verify=lcs:0.85,as=minhash_loose"));
        // The printed list can be used as input.
        assert_eq!(parse(&list.join(",")).unwrap(), list);
        assert_eq!(parse("all").unwrap().len(), crate::algorithm::ALGORITHMS.len());
        let one_changed = parse("all,lsi:passes=1,lsi:passes=3,as=other").unwrap();
        assert_eq!(one_changed.len(), crate::algorithm::ALGORITHMS.len() + 1);
        let lsi: Vec<_> = one_changed.iter().filter(|one| one.starts_with("lsi:")).collect();
        assert!(lsi.len() == 2 && lsi[0].contains("passes=1") && lsi[1].contains("passes=3"), "{lsi:?}");
        assert!(
            parse("minhash:preset=core,rows=5").unwrap()[0]
                .contains("bands=50,family=multiply32,margin=none,min_shingles=1,ngram=2,rows=5")
        );
    }

    #[test]
    fn a_threshold_of_minhash_is_its_bands() {
        let of = |typed: &str| parse(typed).map(|list| list[0].clone());
        let banded = of("minhash:bands=13,rows=7,verify=jaccard:0.8").unwrap();
        assert_eq!(of("minhash:threshold=.8").unwrap(), banded);
        assert_eq!(of("minhash:preset=fineweb,threshold=0.8,ngram=5").unwrap(), banded);
        assert!(of("minhash:threshold=0.8,verify=none").unwrap().contains("bands=13,family=multiply32,"));
        let beside = of("minhash:threshold=0.8,rows=5").unwrap_err();
        assert_eq!(beside, "minhash: threshold=0.8 sets bands and rows; expected either threshold= or rows=");
        assert_eq!(of("minhash:threshold=8").unwrap_err(), "minhash: threshold=8 is not a number from 0.05 to 1");
        assert!(of("minhash:treshold=.8").unwrap_err().contains("did you mean \"threshold\"?"));
        assert!(of("minhash:threshold=.8,threshold=.9").is_err());
    }

    #[test]
    fn mistakes_are_explained() {
        assert!(parse("balancd").unwrap_err().ends_with("did you mean `preset=balanced`?"));
        assert!(parse("minhahs").unwrap_err().contains("did you mean \"minhash\"?"));
        assert!(parse("minhash,minhash:bands=3").unwrap_err().contains("minhash:as=NAME"));
        assert!(parse("bands=3").unwrap_err().contains("before any algorithm"));
        assert!(parse("minhash:bands").unwrap_err().contains("parameter=value"));
        assert!(parse("tf:as=../x").unwrap_err().contains("letters, digits"));
        assert!(parse("minhash:preset=finewep").unwrap_err().contains("did you mean \"fineweb\"?"));
        assert!(parse(" , ").unwrap_err().contains("at least one"));
    }
}
