//! plan: determines the passes of a run and the work in each pass from the recipe and the options, before any work begins.
//!
//! ```text
//! copies first   [statistics that count each text once] exact copies, in a separate pass
//! first pass     rows are noted; documents are counted; algorithms sign that need no counts
//! learn          [algorithms that learn] notes of all documents, then a model each
//! prefilter      [if requested] signatures into filters, before the next algorithms sign
//! kept words     algorithms sign from the words that were kept while they were counted
//! second pass    if words are not enough, they sign from the texts
//! ```

use crate::algorithm::{Corpus, Stats};
use crate::corpus::CorpusStats;
use crate::recipe::Recipe;
use dupsift_core::error::Result;

/// Defines when an algorithm signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// The algorithm signs in the first pass.
    First,
    /// The algorithm computes signatures from the kept words.
    Kept,
    /// The algorithm signs in a later pass.
    Again,
}

/// Describes what the first pass counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The statistics that the algorithms need.
    pub needs: Stats,
    /// Whether the words of first lines are kept, or `None` if no words are kept.
    pub keeps: Option<bool>,
}

/// Describes the passes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Whether copies are found before documents are counted.
    pub copies_first: bool,
    /// The counts of the first pass; `None` if no algorithm needs any.
    pub counts: Option<Counts>,
    /// The recipe indices of the algorithms that have models.
    pub learns: Vec<usize>,
    /// Whether rows are prefiltered.
    pub prefilters: bool,
    /// The time at which each algorithm signs.
    pub signs: Vec<Signs>,
}

impl Plan {
    /// Returns the plan for a recipe and this number of documents. If statistics and models are `known`, nothing is counted or learned.
    ///
    /// # Errors
    /// Returns an error if the parameters of an algorithm contradict each other.
    pub fn new(recipe: &Recipe, documents: u64, prefilters: bool, known: bool) -> Result<Plan> {
        let (none, needs) = (CorpusStats::none(), recipe.needs_stats());
        let learns: Vec<usize> =
            recipe.learners(&Corpus::new(documents, &none))?.into_iter().map(|(at, _)| at).collect();
        let counts = !known && (needs.any() || !learns.is_empty());
        // If words are kept, one pass is enough: algorithms that need no counts sign in that pass. If there is a second pass, all
        // algorithms wait for it: extra copies are known by then and need no rows.
        let keeps = recipe.keeps_words(!learns.is_empty(), prefilters);
        let signs = recipe.algorithms.iter().map(|chosen| match (counts, keeps) {
            (false, _) => Signs::First,
            (true, None) => Signs::Again,
            (true, Some(_)) if chosen.needs_stats().any() => Signs::Kept,
            (true, Some(_)) => Signs::First,
        });
        Ok(Plan {
            copies_first: counts && !recipe.count_copies,
            counts: counts.then_some(Counts { needs, keeps }),
            signs: signs.collect(),
            learns,
            prefilters,
        })
    }

    /// Returns whether an algorithm signs in the first pass.
    pub fn signs_first(&self, at: usize) -> bool {
        self.signs[at] == Signs::First
    }

    /// Returns whether rows are prefiltered before the first pass, because all algorithms sign in it.
    pub fn prefilters_first(&self) -> bool {
        self.prefilters && self.counts.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(algorithms: &str, count_copies: bool, prefilters: bool, known: bool) -> Plan {
        let algorithms = Recipe::parse_algorithms(algorithms).unwrap();
        let recipe = Recipe { count_copies, ..Recipe::new(algorithms) };
        Plan::new(&recipe, 1000, prefilters, known).unwrap()
    }

    fn plan(algorithms: &str, count_copies: bool, prefilters: bool) -> Plan {
        planned(algorithms, count_copies, prefilters, false)
    }

    #[test]
    fn who_needs_no_counts_signs_first_and_who_looks_at_words_alone_needs_no_second_reading() {
        let plain = plan("exact,minhash", true, false);
        assert_eq!((plain.counts, &plain.signs[..]), (None, &[Signs::First; 2][..]));
        let kept = plan("exact,cosine", true, false);
        assert_eq!((kept.counts.unwrap().keeps.is_some(), &kept.signs[..]), (true, &[Signs::First, Signs::Kept][..]));
        // Sentences are not kept, so texts are read a second time, and all algorithms wait for that pass.
        let again = plan("exact,cosine,long_sent:max_sentence_df=9", true, false);
        assert_eq!((again.counts.unwrap().keeps, &again.signs[..]), (None, &[Signs::Again; 3][..]));
        let learns = plan("exact,lsi", true, false);
        assert_eq!((&learns.learns[..], &learns.signs[..]), (&[1][..], &[Signs::Again; 2][..]));
    }

    #[test]
    fn copies_come_first_and_rows_are_prefiltered_where_that_is_asked_for() {
        assert!(plan("cosine", false, false).copies_first && !plan("exact", false, false).copies_first);
        assert!(plan("exact", true, true).prefilters_first() && !plan("cosine", true, true).prefilters_first());
        assert_eq!(plan("cosine", true, true).signs, [Signs::Again]);
    }

    #[test]
    fn with_what_is_known_already_all_sign_in_the_first_reading() {
        let known = planned("exact,cosine,lsi", false, true, true);
        assert_eq!((known.counts, known.copies_first, &known.learns[..]), (None, false, &[2][..]));
        assert!(known.prefilters_first() && known.signs == [Signs::First; 3]);
    }
}
