//! Computes the keys of checkpoints. A key is a hash of a string that lists everything that affects the checkpoint.
//!
//! ```text
//! purified pages  copies, words
//! corpus         files, columns, --limit and everything else that affects what is read from them; --scope; with an index, the index and
//!                everything else that affects which of its documents take part
//! notes          corpus, pages, --keep, --source-column, --strict, ids; first lines if they are recorded
//! copies         corpus, pages, the columns that algorithms read
//! counts         copies, words, what is counted, --count-copies
//! model LABEL    counts, copies, the algorithm
//! indexed        copies (with an index: the documents that take part)
//! keys LABEL     rows (with an index: the keys of the documents); noted LABEL the same for pairs
//! rows LABEL     copies, words, the algorithm without verify= and margin=; the counts and the model that it needs; --prefilter
//! pairs LABEL    rows, --max-candidates, verify=
//! near LABEL     pairs, margin=, verify=; if pairs are classified by first lines, what these depend on: corpus, pages, words
//! contained      near of all algorithms
//! cut            contained, notes, --decide, --remove-if, --chain, --cut with its options
//! ```
//!
//! The number of threads, the memory limit, the output paths and the order of options do not affect any key.

use std::collections::BTreeMap;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use crate::engine::checkpoints::Key;
use crate::job::read_back::Frozen;
use crate::options::{Affects, OPTIONS, RunOptions, purify_name, record};
use dupsift_algorithms::algorithm::kit::margin::MARGIN;
use dupsift_algorithms::algorithm::kit::verify::VERIFY;
use dupsift_algorithms::recipe::Chosen;
use dupsift_algorithms::steps::plan::{Plan, Signs};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_input::InputFile;
use dupsift_input::Source;
use dupsift_text::Field;

/// The number of bytes to hash at each end of a file.
const ENDS: u64 = 64 << 10;

/// Holds the keys of one algorithm.
#[derive(Clone, Debug)]
pub struct AlgorithmKeys {
    /// The key of the learned model.
    pub model: Key,
    /// The key of the rows.
    pub rows: Key,
    /// The key of the document keys that an index stores.
    pub keys: Key,
    /// The key of the pairs that an index stores.
    pub noted: Key,
    /// The key of the verified pairs.
    pub pairs: Key,
    /// The key of the pairs that remain after the rules that consider all pairs.
    pub near: Key,
}

/// Holds the keys of a run.
#[derive(Clone, Debug)]
pub struct RunKeys {
    /// The key of the row records.
    pub notes: Key,
    /// The key of the exact copies.
    pub copies: Key,
    /// The key of the statistics.
    pub counts: Key,
    /// The key of the documents' words.
    pub words: Key,
    /// The key of the text extracted from HTML pages.
    pub pages: Key,
    /// The key of the exact-copy keys that an index stores.
    pub copy_keys: Key,
    /// The key of the participating indexed documents.
    pub indexed: Key,
    /// The key of the contents of documents that occur in pairs.
    pub contained: Key,
    /// The key of the repeated passages.
    pub cut: Key,
    /// The keys of each algorithm.
    pub algorithms: Vec<AlgorithmKeys>,
}

impl RunKeys {
    /// Returns the keys of a run over the files of `source` that are not in `left_out`. `words` is [`dupsift_text::Pipeline::identity`],
    /// and `matched` identifies the index that the corpus is matched against.
    ///
    /// # Errors
    /// Returns an error if an input cannot be read.
    pub fn new(
        options: &RunOptions,
        source: &Source,
        words: &str,
        left_out: &BTreeMap<PathBuf, String>,
        plan: &Plan,
        (frozen, matched): (Option<&Frozen>, Option<&str>),
    ) -> Result<RunKeys> {
        let recipe = &options.recipe;
        let mut corpus = String::new();
        for file in source.files.iter().filter(|file| !left_out.contains_key(&file.path)) {
            corpus.push_str(&of_file(file)?);
        }
        let values = |affects| values(options, affects);
        corpus.push_str(&values(Affects::Reading));
        if source.has_pages() {
            corpus.push_str(&purify_name(&options.pages.purify));
        }
        if let Some(matched) = matched {
            corpus.push_str(&format!("{matched} {}{}\n", values(Affects::Pairs), options.removal.chains));
            recipe.algorithms.iter().for_each(|chosen| corpus.push_str(&format!("{chosen}\n")));
        }
        let corpus = Key::new("corpus".into(), &[&corpus]).hash;
        let headings = if recipe.relates() { words } else { "" };
        let notes = Key::new("notes".into(), &[&corpus, &values(Affects::Notes), headings]);
        let headings = Key::new("first lines".into(), &[&corpus, headings]).hash;
        let fields: Vec<Field> = recipe.fields().into_iter().collect();
        let copies = Key::new("copies".into(), &[&corpus, &format!("{fields:?}")]);
        let kinds: Vec<String> = recipe.features().iter().map(|kind| kind.name()).collect();
        let counted = format!("{:?} {kinds:?} {}", plan.counts.map(|counts| counts.needs), values(Affects::Counts));
        let counts = Key::new("counts".into(), &[&copies.hash, words, &counted]);
        let before = frozen.map_or_else(|| copies.hash.clone(), |frozen| format!("{} {}", copies.hash, frozen.line()));
        let kept = format!("{:?}", plan.counts.and_then(|counts| counts.keeps));
        let algorithms = recipe.algorithms.iter().zip(&plan.signs).enumerate().map(|(at, (chosen, signs))| {
            let known = if *signs == Signs::First { &before } else { &counts.hash };
            let lines = Lines { words, copies: &copies.hash, known, headings: &headings };
            of_algorithm(options, chosen, plan.learns.contains(&at), *signs, lines)
        });
        let algorithms: Vec<AlgorithmKeys> = algorithms.collect();
        let pairs: Vec<&str> = algorithms.iter().map(|algorithm| algorithm.near.hash.as_str()).collect();
        let contained = Key::new("contained".into(), &pairs);
        let (letters, removals) = (format!("{:?}", recipe.text.letters()), values(Affects::Removals));
        Ok(RunKeys {
            cut: Key::new("repeated passages".into(), &[&notes.hash, &contained.hash, &letters, &removals]),
            contained,
            algorithms,
            copy_keys: Key::new("keys of copies".into(), &[&copies.hash]),
            indexed: Key::new("indexed documents".into(), &[&copies.hash, words]),
            words: Key::new("words".into(), &[&counts.hash, &kept]),
            pages: Key::new("purified pages".into(), &[&copies.hash, words]),
            notes,
            copies,
            counts,
        })
    }

    /// Returns all keys, in the order in which the work is done.
    pub fn all(&self) -> impl Iterator<Item = &Key> {
        let algorithms = self.algorithms.iter();
        let algorithms = algorithms.flat_map(|AlgorithmKeys { model, rows, keys, pairs, noted, near }| {
            [model, keys, rows, pairs, noted, near]
        });
        let RunKeys { pages, notes, copies, counts, words, copy_keys, indexed, .. } = self;
        [pages, notes, copies, counts, words, copy_keys, indexed]
            .into_iter()
            .chain(algorithms)
            .chain([&self.contained, &self.cut])
    }

    /// Returns the keys that do not depend on statistics.
    pub fn of_texts(&self) -> impl Iterator<Item = &Key> {
        [&self.pages, &self.notes, &self.copies].into_iter()
    }
}

/// Returns the options on which these results depend, with their values.
fn values(options: &RunOptions, affects: Affects) -> String {
    let recorded = record(options);
    let names = OPTIONS.iter().filter(|option| option.affects == affects).map(|option| option.name);
    names.filter_map(|name| Some(format!("{name} {}\n", recorded.get(name)?))).collect()
}

/// Holds the lines from which an algorithm's keys are built.
struct Lines<'l> {
    words: &'l str,
    copies: &'l str,
    known: &'l str,
    headings: &'l str,
}

fn of_algorithm(options: &RunOptions, chosen: &Chosen, learns: bool, signs: Signs, lines: Lines<'_>) -> AlgorithmKeys {
    let label = &chosen.label;
    // Parameters declared by the algorithm itself affect the signatures.
    let is_own = |name: &str| chosen.algorithm.facts().params.iter().any(|spec| spec.name == name);
    let given =
        |wanted: &str| chosen.params.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.to_string());
    let later = |wanted: &str| given(wanted).filter(|value| value != "none" && !is_own(wanted));
    let (verify, margin) = (later(VERIFY.name), later(MARGIN.name));
    let params = chosen.params.iter().filter(|(name, _)| is_own(name) || ![VERIFY.name, MARGIN.name].contains(name));
    let own: Vec<String> = params.map(|(name, value)| format!("{name}={value}")).collect();
    // The data for verifying candidates is recorded either while documents are signed or after the candidates are known.
    let early = verify.is_none() || margin.is_some() || chosen.relates();
    let own = format!("{}:{} {early}", chosen.algorithm.name(), own.join(","));
    let (signs, prefilters) = (format!("{signs:?}"), values(options, Affects::Rows));
    let model = Key::new(format!("model {label}"), &[lines.copies, lines.known, lines.words, &own]);
    let learnt = if learns { model.hash.as_str() } else { "" };
    let rows = [lines.copies, lines.known, lines.words, &own, learnt, &signs, &prefilters];
    let rows = Key::new(format!("rows {label}"), &rows);
    let bound = values(options, Affects::Pairs);
    let (verify, margin) = (verify.unwrap_or_default(), margin.unwrap_or_default());
    // If a rule that considers all pairs must run before verification, verification is part of the same stage as the rule.
    let before = if margin.is_empty() && !chosen.relates() { verify.as_str() } else { "" };
    let pairs = Key::new(format!("pairs {label}"), &[&rows.hash, &bound, before]);
    let headings = if chosen.relates() { lines.headings } else { "" };
    let near = Key::new(format!("near {label}"), &[&pairs.hash, &margin, &verify, headings]);
    let keys = Key::new(format!("keys {label}"), &[&rows.hash]);
    let noted = Key::new(format!("noted {label}"), &[&pairs.hash, &verify]);
    AlgorithmKeys { model, rows, keys, pairs, noted, near }
}

/// Returns a description that is cheap to compute and distinguishes the opened file from other files: the size, a hash of both ends, and
/// the number of rows. The stamp or, if the stamp differs, the contents determine whether the rest of the file is unchanged
/// (`job/read/saved_inputs.rs`).
///
/// # Errors
/// Returns [`Error::BadFile`] if the file was replaced after it was opened.
pub fn of_file(file: &InputFile) -> Result<String> {
    let opened = file.reopen()?;
    let mut ends = vec![0; ENDS.min(file.bytes) as usize];
    let failed = || Error::reading("look at the input file", &file.path);
    opened.read_exact_at(&mut ends, 0).map_err(failed())?;
    let mut last = vec![0; ends.len()];
    let end = file.bytes - ends.len() as u64;
    opened.read_exact_at(&mut last, end).map_err(failed())?;
    ends.extend(last);
    let (bytes, hash, rows, html) = (file.bytes, hash128(&ends), file.rows, file.html);
    Ok(format!("{:?} {bytes} {hash:032x} {rows} {html}\n", file.label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Settings, Value, Verb, another, resolve};
    use crate::reading::look;
    use std::sync::atomic::AtomicBool;

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        /// Returns the keys of a run with this option, over a corpus of one document.
        fn keys(&self, given: Option<(&str, Value)>) -> RunKeys {
            let name = |name: &str| self.folder.path().join(name).display().to_string();
            let mut settings = Settings::default();
            // `seed` needs `sample`, and `chain` needs `remove-if`.
            let rule = given.iter().filter(|(name, _)| *name == "chain").map(|_| ("remove-if", "pair".into()));
            let own = [("out", name("out").into()), ("algorithms", "minhash".into()), ("sample", "0.5".into())];
            for (name, value) in own.into_iter().chain(rule).chain(given.clone()) {
                settings.give_by_name(Verb::Run, name, &value).unwrap();
            }
            let options = resolve(vec![name("corpus.jsonl")], &settings.with_defaults(Verb::Run).unwrap()).unwrap();
            let plain = resolve(vec![name("corpus.jsonl")], &plain(&name("out"))).unwrap();
            let source = look(&plain, &AtomicBool::new(false)).unwrap().source;
            let plan = Plan::new(&options.recipe, 1, options.resources.prefilter, false).unwrap();
            RunKeys::new(&options, &source, "words", &BTreeMap::new(), &plan, (None, None)).unwrap()
        }
    }

    fn plain(out: &str) -> Settings {
        let mut settings = Settings::default();
        settings.give_by_name(Verb::Run, "out", &out.into()).unwrap();
        settings.with_defaults(Verb::Run).unwrap()
    }

    #[test]
    fn a_new_value_changes_what_the_option_affects_and_nothing_before_it() {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        std::fs::write(place.folder.path().join("corpus.jsonl"), "{\"text\": \"one\"}\n").unwrap();
        let before = place.keys(None);
        let mut seen = 0;
        for option in OPTIONS.iter().filter(|option| option.field.is_some() && option.affects != Affects::Identified) {
            let name = option.name;
            let after = place.keys(Some((name, another(option, place.folder.path()))));
            let stages = |keys: &RunKeys| {
                let algorithm = &keys.algorithms[0];
                [&keys.copies, &keys.notes, &keys.counts, &algorithm.rows, &algorithm.pairs, &keys.contained, &keys.cut]
                    .map(|key| key.hash.clone())
            };
            let (before, after) = (stages(&before), stages(&after));
            let changed: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before != after).collect();
            // The order is that of `stages`: copies, notes, counts, rows, pairs, contained, cut.
            let expected = match option.affects {
                Affects::Reading => [true; 7],
                Affects::Notes => [false, true, false, false, false, false, true],
                Affects::Counts => [false, false, true, false, false, false, false],
                Affects::Rows => [false, false, false, true, true, true, true],
                Affects::Pairs => [false, false, false, false, true, true, true],
                Affects::Removals => [false, false, false, false, false, false, true],
                Affects::Identified | Affects::Output => [false; 7],
            };
            assert_eq!(changed, expected, "{name}");
            seen += 1;
        }
        assert!(seen > 40, "{seen}");
    }
}
