//! Implements the `contaminated` command, which finds the documents in a corpus that contain items from an evaluation set.
//!
//! ```text
//! answers   Turns positions in a list of choices into texts.
//! reference Reads the items and holds them in memory: tokens, n-grams, answers.
//! search    One pass over the corpus: finds spans of items with the tokens they cover, and counts how many documents contain each token.
//! verdicts  Scores each item in each document, picks the best span of each item, and tells leaks, variants and public items apart.
//! places    Locates the listed spans in a pass over only their documents, which also reads ids.
//! fates     Selects the documents that are removed and the spans that are cut.
//! write     Writes tables, the corpus without contaminated documents or spans, and the record.
//! ```
//!
//! `dupsift_contamination` defines n-grams, spans and scores.

mod answers;
mod fates;
mod found;
mod places;
mod reference;
mod report;
mod run;
mod search;
mod verdicts;
mod write;

use std::sync::atomic::AtomicBool;

use dupsift_contamination::NGRAM;
use dupsift_core::error::{Error, Result};
use dupsift_engine::options::{RunOptions, Settings, resolve};
use dupsift_engine::pass::{Inputs, Progress, Writes, check, check_dry, take_in};

use reference::Against;

pub use report::{ContaminationReport, ExampleReport, SuiteReport};
pub use run::Page;

/// The lowest score at which a document is listed as containing an item.
pub const LISTED: f64 = 0.5;
/// The lowest score at which an item counts as found almost completely.
pub(crate) const NEARLY: f64 = 0.8;
/// The maximum number of characters that tables show for a span or an item.
pub const SHOWN: usize = 500;

/// Describes a column of the evaluation set.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemColumn {
    /// The name of the column.
    pub name: String,
    /// Whether the column is required.
    pub required: bool,
}

/// States what a search would read.
#[derive(Clone, Copy, Debug)]
pub struct DryRun {
    /// The number of rows in the evaluation set.
    pub items: u64,
    /// The number of documents in the corpus.
    pub documents: u64,
}

/// Describes a contamination search: its options, in addition to the options that every run has.
#[derive(Clone)]
pub struct Contaminated {
    /// The options for columns, resources and the corpus.
    pub run: RunOptions,
    /// The files, folders or globs of the evaluation set.
    pub against: Vec<String>,
    /// The column with the text to search for.
    pub item: ItemColumn,
    /// The column with the item ids.
    pub item_id: ItemColumn,
    /// The column with the choices: a list, or several columns.
    pub choices: ItemColumn,
    /// The column with the answers.
    pub answer: ItemColumn,
    /// The column with the names of evaluation sets. If a row has no name, the file name is used.
    pub suite: ItemColumn,
    /// The number of tokens in an n-gram.
    pub ngram: u32,
    /// An item is public if more than this many documents contain it, but neither its answer nor another item.
    pub public_documents: u64,
    /// The lowest score at which a document counts as contaminated.
    pub threshold: f64,
    /// Whether spans are cut from documents that are otherwise kept.
    pub cut_spans: bool,
}

impl Contaminated {
    /// Creates the options from complete settings.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the evaluation set is missing, or if a run would reject an option.
    pub fn resolve(inputs: Vec<String>, settings: &Settings) -> Result<Contaminated> {
        let against = settings.texts("against").to_vec();
        if against.is_empty() {
            return Err(Error::wrong(
                "against",
                "the evaluation set is missing; expected files, folders or globs that contain items",
            ));
        }
        let run = resolve(inputs, settings)?;
        let column = |name: &str| ItemColumn {
            name: settings.text(name).unwrap_or_default().to_owned(),
            required: settings.is_typed(name),
        };
        let cut_spans = settings.switch("cut-spans");
        if run.output.corpus.annotate {
            return Err(Error::wrong(
                "corpus",
                "annotate is available only in `dupsift run`; expected keep, drop or none",
            ));
        }
        if cut_spans && !run.output.corpus.keep {
            return Err(Error::wrong("cut-spans", "no corpus is written; add `corpus=keep`"));
        }
        let threshold = settings.real("threshold").unwrap_or(NEARLY);
        if threshold < LISTED {
            let what = format_args!(
                "{threshold} is below {LISTED}, and lower scores are not meaningful; expected a score from {LISTED} to 1"
            );
            return Err(Error::wrong("threshold", what));
        }
        Ok(Contaminated {
            run,
            against,
            item: column("item-column"),
            item_id: column("item-id-column"),
            choices: column("choices-column"),
            answer: column("answer-column"),
            suite: column("suite-column"),
            ngram: settings.number("ngram").map_or(NGRAM, |tokens| tokens as u32),
            public_documents: settings.number("public-documents").unwrap_or(u64::MAX),
            threshold,
            cut_spans,
        })
    }

    /// Searches the corpus for the items, and writes the output folder. `page` renders report.html.
    ///
    /// # Errors
    /// Returns an error if the evaluation set is too large for the memory limit, or any other error that prevents a run from finishing.
    pub fn run(
        &self,
        page: Option<&Page<'_>>,
        progress: &Progress,
        cancel: &AtomicBool,
    ) -> Result<ContaminationReport> {
        check(&self.run)?;
        let (against, inputs) = self.open(Writes::Input, progress, cancel)?;
        run::contaminated(self, inputs, &against, progress, cancel, page)
    }

    /// Checks everything that can be checked without reading documents. Writes nothing.
    ///
    /// # Errors
    /// Returns the errors of [`Contaminated::run`] that can be detected early.
    pub fn dry_run(&self, cancel: &AtomicBool) -> Result<DryRun> {
        check_dry(&self.run)?;
        let (against, inputs) = self.open(Writes::Nothing, &Progress::hidden(), cancel)?;
        Ok(DryRun { items: against.rows(), documents: inputs.source.documents() })
    }

    fn open(&self, writes: Writes, progress: &Progress, cancel: &AtomicBool) -> Result<(Against, Inputs)> {
        Ok((reference::look(self, progress, cancel)?, take_in(&self.run, progress, cancel, writes)?))
    }

    /// Returns whether a score, rounded to 32 bits as in tables, reaches the threshold.
    pub fn reaches(&self, score: impl Into<f64>) -> bool {
        score.into() as f32 >= self.threshold as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::options::{Value, Verb};

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
        let options = Contaminated::resolve(Vec::new(), &settings).unwrap();
        // 0.7 rounded to 32 bits is less than 0.7 rounded to 64 bits.
        assert!(f64::from(0.7_f32) < 0.7 && options.reaches(0.7_f32) && options.reaches(0.7_f64));
        assert!(!options.reaches(0.699_999_9_f32) && options.reaches(0.700_000_1_f32));
    }
}
