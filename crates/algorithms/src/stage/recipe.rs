//! The recipe: which algorithms, with which parameters, over which words. Both drivers ask this one object.
//!
//! It is typed as text (`three_plus_five,minhash:bands=20,rows=5,as=minhash_loose`), checked once, printed back whole, and
//! hashed, so that a run can name what it was made with.

use std::collections::BTreeSet;
use std::fmt;

use super::bound::Bound;
use crate::algorithm::{
    ALGORITHMS, Algorithm, Corpus, FeatureKind, Learner, Params, RELATE, Reads, Stats, by_name, specs,
};
use dupsift_core::error::{Error, Result, did_you_mean, nearest};
use dupsift_core::hash::hash64;
use dupsift_pages::PurifyOptions;
use dupsift_text::{Field, Pipeline, TextOptions};

/// The longest label: with what is set before and behind it, it names folders and files, whose names have at most 255 bytes.
const MOST_LABEL: usize = 100;

/// One use of an algorithm.
#[derive(Clone)]
pub struct Chosen {
    /// The method.
    pub algorithm: &'static dyn Algorithm,
    /// The name of its output folder: the algorithm's own, or what `as=` says.
    pub label: String,
    /// Checked parameters.
    pub params: Params,
}

impl Chosen {
    /// Which counts the algorithm needs.
    pub fn needs_stats(&self) -> Stats {
        self.algorithm.needs(&self.params).stats()
    }

    /// Whether it tells versions from forms.
    pub fn relates(&self) -> bool {
        specs(self.algorithm).iter().any(|spec| spec.name == RELATE) && self.params.flag(RELATE)
    }

    /// The same algorithm with every threshold as low as it goes, see [`Params::loosened`].
    pub fn loosened(&self) -> Chosen {
        Chosen { params: self.params.loosened(&specs(self.algorithm)), ..self.clone() }
    }
}

/// Everything that signatures depend on.
#[derive(Clone)]
pub struct Recipe {
    /// The algorithms, in the order they were asked for, labels unique.
    pub algorithms: Vec<Chosen>,
    /// How text becomes words.
    pub text: TextOptions,
    /// Whether exact copies count in the statistics.
    pub count_copies: bool,
    /// The column within whose values documents are compared; none: with all others.
    pub within: Option<String>,
    /// How pages become texts, where the corpus has pages.
    pub purify: PurifyOptions,
}

impl Recipe {
    /// Parses a list of algorithms: names or aliases, each with `:name=value,...`, or `all`.
    ///
    /// # Errors
    /// Unknown names and parameters, values out of range, two algorithms under one label.
    pub fn parse_algorithms(typed: &str) -> Result<Vec<Chosen>> {
        Recipe::choose_all(split_list(typed)?)
    }

    /// The algorithms of a list that was taken apart.
    pub(super) fn choose_all(named: Vec<Named>) -> Result<Vec<Chosen>> {
        let mut chosen: Vec<Chosen> = Vec::new();
        for (name, values) in named {
            if name == "all" {
                for algorithm in crate::algorithm::ALGORITHMS {
                    chosen.push(choose(*algorithm, values.clone())?);
                }
            } else {
                chosen.push(choose(member(&name)?, values)?);
            }
        }
        if chosen.is_empty() {
            return Err(Error::usage("`algorithms` is empty; name at least one, see `dupsift algorithms`"));
        }
        for (at, one) in chosen.iter().enumerate() {
            if chosen[..at].iter().any(|other| other.label == one.label) {
                return Err(Error::usage(format!(
                    "{0} is given twice; give one of them another name, {0}:as=NAME",
                    one.label
                )));
            }
        }
        Ok(chosen)
    }

    /// Which counts the algorithms need.
    pub fn needs_stats(&self) -> Stats {
        self.algorithms.iter().map(Chosen::needs_stats).fold(Stats::NONE, Stats::union)
    }

    /// Whether words are kept while they are counted, so that no text is read again to sign it, and if so, whether those of first
    /// lines too. It is so where all algorithms that need counts look at counted words alone, and no other reading is needed:
    /// none learns anything, and rows are not prefiltered.
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

    /// Whether an algorithm tells versions from forms.
    pub fn relates(&self) -> bool {
        self.algorithms.iter().any(Chosen::relates)
    }

    /// The features that the first pass counts, each kind once.
    pub fn features(&self) -> Vec<Box<dyn FeatureKind>> {
        let mut kinds: Vec<Box<dyn FeatureKind>> = Vec::new();
        for kind in self.algorithms.iter().filter_map(|chosen| chosen.algorithm.needs(&chosen.params).features) {
            if kinds.iter().all(|known| known.name() != kind.name()) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// The columns beside the text that the algorithms read.
    pub fn fields(&self) -> BTreeSet<Field> {
        let of = |chosen: &Chosen| chosen.algorithm.needs(&chosen.params).fields;
        self.algorithms.iter().flat_map(of).copied().collect()
    }

    /// What the algorithms learn before they sign, each with the number of its algorithm.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn learners<'c>(&self, corpus: &Corpus<'c>) -> Result<Vec<(usize, Box<dyn Learner + 'c>)>> {
        let learners = self.algorithms.iter().enumerate();
        let learners =
            learners.map(|(at, chosen)| Ok(chosen.algorithm.learner(&chosen.params, corpus)?.map(|one| (at, one))));
        learners.filter_map(Result::transpose).collect()
    }

    /// The algorithms bound to a corpus, in order; `models` holds what each has learnt, or nothing.
    ///
    /// # Errors
    /// Parameters that contradict each other.
    pub fn bind<'c>(&self, corpus: &Corpus<'c>, models: &'c [Vec<u64>]) -> Result<Vec<Bound<'c>>> {
        self.bind_where(corpus, models, |_| true)
    }

    /// The same of those algorithms whose places in the recipe pass.
    ///
    /// # Errors
    /// As [`Recipe::bind`].
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

    /// A hash of the recipe and of the versions that words depend on; of a corpus with pages also of what these become.
    pub fn identity(&self, pipeline: &Pipeline, pages: bool) -> u64 {
        let purify = if pages { format!("\n{}", purify_name(&self.purify)) } else { String::new() };
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

pub use super::preset::{DEFAULT_PRESET, PRESETS, Preset, preset};
pub use super::purifier::{parse_purify, purify_name};

/// A name of a list with its values.
pub(super) type Named = (String, Vec<(String, String)>);

/// `a,b:x=1,y=2,c` as names with their values: an item with `=` first belongs to the name before it.
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

/// The algorithm of that name, or what else may be meant.
fn member(name: &str) -> Result<&'static dyn Algorithm> {
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
        // A shorthand that is mistyped is nearer than what Params::check knows.
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
        return Err(Error::usage(format!("as={label:?} names a folder: letters, digits, _ and - only")));
    }
    if label.len() > MOST_LABEL {
        let length = label.len();
        return Err(Error::usage(format!(
            "as={}... names a folder and has {length} letters; expected at most {MOST_LABEL}",
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
        assert!(list[0].starts_with("three_plus_five:chain=neighbours"));
        assert!(list[1].starts_with("minhash:bands=20,") && list[1].ends_with("verify=lcs:0.85,as=minhash_loose"));
        // What is printed can be typed again.
        assert_eq!(parse(&list.join(",")).unwrap(), list);
        assert_eq!(parse("all").unwrap().len(), crate::algorithm::ALGORITHMS.len());
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
        assert_eq!(beside, "minhash: threshold=0.8 chooses bands and rows; expected either threshold= or rows=");
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
