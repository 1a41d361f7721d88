//! The verb `contaminated`: which documents of a corpus contain items of an evaluation set.
//!
//! ```text
//! reference The items are read and held in memory: tokens, n-grams, answers.
//! search    One pass over the corpus: spans of items with what they cover, and in how many documents each token occurs.
//! verdicts  Spans by document and item: the score of each, the best one of each item, items that are public.
//! places    The places of spans that are listed, by a pass over their documents alone, which reads ids too.
//! fates     Documents that are removed, and spans that are cut.
//! write     Tables, the corpus without contaminated documents or spans, the record.
//! ```
//!
//! What an n-gram, a span and a score are is defined in `dupsift_contamination`.

mod fates;
mod found;
mod places;
mod reference;
mod report;
mod run;
mod search;
mod verdicts;
mod write;

use crate::options::{RunOptions, Settings, resolve};
use dupsift_contamination::NGRAM;
use dupsift_core::error::{Error, Result};

pub use reference::{Against, look};
pub use report::{ContaminationReport, ExampleReport, SuiteReport};
pub use run::{check, contaminated};

/// The score from which on a document is listed with an item.
pub const LISTED: f64 = 0.5;
/// The score from which on an item counts as found nearly complete.
pub const NEARLY: f64 = 0.8;
/// An item in more documents than these is public.
pub const PUBLIC: u64 = 100;
/// Characters of a span, and of the text of an item, that tables show.
pub const SHOWN: usize = 500;

/// A column of the evaluation set, and whether you named it.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemColumn {
    /// Its name.
    pub name: String,
    /// Whether it has to be there.
    pub required: bool,
}

/// What a search for contamination is asked to do besides what every run is.
#[derive(Clone)]
pub struct ContaminatedOptions {
    /// Columns, resources, and the corpus.
    pub run: RunOptions,
    /// Files, folders or globs of the evaluation set.
    pub against: Vec<String>,
    /// The column of the texts that are searched for.
    pub item: ItemColumn,
    /// The column of the ids of items.
    pub item_id: ItemColumn,
    /// The column of answers.
    pub answer: ItemColumn,
    /// The column of the names of evaluation sets; a row without one takes the name of its file.
    pub suite: ItemColumn,
    /// Tokens of an n-gram.
    pub ngram: u32,
    /// The score from which on a document is contaminated.
    pub threshold: f64,
    /// Whether spans are cut, and the rest of their documents is kept.
    pub cut_spans: bool,
}

impl ContaminatedOptions {
    /// Returns the options that complete settings ask for.
    ///
    /// # Errors
    /// [`Error::Usage`] if the evaluation set is missing, and for what a run would refuse.
    pub fn resolve(inputs: Vec<String>, settings: &Settings) -> Result<ContaminatedOptions> {
        let against = settings.texts("against").to_vec();
        if against.is_empty() {
            return Err(Error::wrong(
                "against",
                "the evaluation set is missing; expected files, folders or globs of items",
            ));
        }
        let run = resolve(inputs, settings)?;
        let column = |name: &str| ItemColumn {
            name: settings.text(name).unwrap_or_default().to_owned(),
            required: settings.is_typed(name),
        };
        let cut_spans = settings.switch("cut-spans");
        if run.corpus.annotate {
            return Err(Error::wrong("corpus", "annotate is only for `dupsift run`; expected keep, drop or none"));
        }
        if cut_spans && !run.corpus.keep {
            return Err(Error::wrong("cut-spans", "no corpus is written; add `corpus=keep`"));
        }
        let threshold = settings.real("threshold").unwrap_or(NEARLY);
        if threshold < LISTED {
            let what = format_args!("{threshold} is below {LISTED}, where scores say nothing; expected {LISTED} to 1");
            return Err(Error::wrong("threshold", what));
        }
        Ok(ContaminatedOptions {
            run,
            against,
            item: column("item-column"),
            item_id: column("item-id-column"),
            answer: column("answer-column"),
            suite: column("suite-column"),
            ngram: settings.number("ngram").map_or(NGRAM, |tokens| tokens as u32),
            threshold,
            cut_spans,
        })
    }

    /// Returns whether a score, a number of 32 bits in tables, reaches the threshold.
    pub fn reaches(&self, score: impl Into<f64>) -> bool {
        score.into() as f32 >= self.threshold as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Value, Verb};

    #[test]
    fn a_score_of_the_threshold_reaches_it_with_32_bits() {
        let mut settings = Settings::default();
        let given = [
            ("against", Value::Texts(vec!["items".into()])),
            ("threshold", Value::Real(0.7)),
            ("out", Value::Path("out".into())),
        ];
        given.iter().for_each(|(name, value)| settings.give_by_name(Verb::Contaminated, name, value).unwrap());
        let settings = settings.with_defaults(Verb::Contaminated).unwrap();
        let options = ContaminatedOptions::resolve(Vec::new(), &settings).unwrap();
        // 0.7 with 32 bits is less than with 64.
        assert!(f64::from(0.7_f32) < 0.7 && options.reaches(0.7_f32) && options.reaches(0.7_f64));
        assert!(!options.reaches(0.699_999_9_f32) && options.reaches(0.700_000_1_f32));
    }
}
