//! Checks the algorithm, the filter and the documents to forget before the `stream` command reads any document.

use std::sync::atomic::AtomicBool;

use super::Stream;
use super::filter;
use super::keys::Sizing;
use dupsift_algorithms::algorithm::{Corpus, SharedKey};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::Recipe;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::{Error, Result};
use dupsift_engine::pass::{Budget, Inputs, check_there};
use dupsift_text::Pipeline;

/// Returns the algorithm whose signatures are the keys.
///
/// # Errors
/// Returns an error if the recipe does not have exactly one algorithm, or if the algorithm's signatures cannot be keys, for example because
/// they depend on statistics.
pub(super) fn key<'c>(recipe: &Recipe, none: &'c CorpusStats) -> Result<Bound<'c>> {
    let [chosen] = recipe.algorithms.as_slice() else {
        return Err(Error::usage("stream uses the signatures of one algorithm as keys; expected `algorithms=NAME`"));
    };
    let corpus = Corpus::new(1, none);
    let needs = recipe.needs_stats().any() || !recipe.learners(&corpus)?.is_empty();
    let bound = recipe.bind(&corpus, &[])?.pop();
    let is_one = |bound: &Bound<'_>| bound.scheme.is_equivalence() && bound.verify().is_none();
    match bound.filter(|bound| !needs && (is_one(bound) || bound.scheme.shared_key == SharedKey::Candidates)) {
        Some(bound) => Ok(bound),
        None => Err(Error::usage(format!(
            "stream: {} cannot be a key; expected an algorithm that pairs documents with equal signatures and needs neither corpus statistics nor verify, such as exact, tf, long_sent, minhash or megashingles",
            chosen.label
        ))),
    }
}

/// Returns the number of keys per document for an algorithm, and the false-positive rate.
pub(super) fn sizing(bound: &Bound<'_>, rate: f64) -> Sizing {
    Sizing { each: bound.scheme.shape.positions.into(), rate }
}

/// Returns the settings that affect keys: the algorithm with its parameters, and a hash. The hash also covers all settings that affect the
/// extraction of words.
pub(super) fn named(options: &Stream, pipeline: &Pipeline, pages: bool) -> (String, String) {
    let recipe = &options.run.recipe;
    let algorithms = recipe.algorithms.iter().map(ToString::to_string).collect();
    (algorithms, options.run.identity(pipeline, pages))
}

/// Runs the checks that do not require open inputs, in addition to [`dupsift_engine::job::check()`]. Checks the algorithm, the size of a new filter
/// or the header of an existing filter, and the `forget` files.
pub(crate) fn check(options: &Stream, cancel: &AtomicBool) -> Result<()> {
    check_key(options)?;
    let run = &options.run;
    if let Some(path) = &options.filter {
        let pipeline = Pipeline::new(&run.recipe.text)?;
        // It is not known yet whether the inputs contain HTML pages.
        let (recipe, of_texts) = named(options, &pipeline, false);
        let (_, of_pages) = named(options, &pipeline, true);
        let most_bytes = Budget::new(run.resources.memory, run.resources.threads)?.rows;
        filter::check(path, &recipe, &[&of_texts, &of_pages], most_bytes)?;
    }
    if options.forget.is_empty() {
        return Ok(());
    }
    let mut old = run.clone();
    old.input.paths = options.forget.clone();
    check_there(&old, cancel).map_err(|error| error.of("forget"))
}

/// Checks the algorithm, and the size of a new filter.
pub(super) fn check_key(options: &Stream) -> Result<()> {
    let none = CorpusStats::none();
    let bound = key(&options.run.recipe, &none)?;
    let Some(keys) = options.keys.filter(|_| options.filter.is_none()) else { return Ok(()) };
    let budget = Budget::new(options.run.resources.memory, options.run.resources.threads)?;
    filter::has_room(keys, sizing(&bound, options.rate), options.run.resources.memory, budget.rows)
}

/// Checks, before documents are read, that the filter contains the kind of keys that this run uses.
pub(crate) fn check_filter(options: &Stream, inputs: &Inputs) -> Result<()> {
    let budget = Budget::new(options.run.resources.memory, options.run.resources.threads)?;
    let Some(path) = &options.filter else { return Ok(()) };
    let (recipe, identity) = named(options, &Pipeline::new(&options.run.recipe.text)?, inputs.source.has_pages());
    filter::read(path, &recipe, &identity, budget.rows).map(|_| ())
}
