//! Implements `purify --train`, which learns a category model from labeled pages, and reads such models.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{combine, hash64};
use dupsift_core::safe_fs::listing::is_file;
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::options::RunOptions;
use dupsift_engine::pass::{
    BadInputReport, GuardReport, Guarded, Losses, OtherInputReport, Progress, PurifyReport, Rejecter, RejectionsReport,
    SCHEMA_VERSION, Seen, Session, StageReport, Unit, Writes, carry_out, check, each_page, find_inputs, guards,
    interruptible, last_pass, look_into, notes, of_corpus, write_rejected,
};
use dupsift_input::{Asked, Split, TableReader, Want};
use dupsift_pages::{LeftOut, Model, ModelRow, Purifier, Trainer, TrainingOptions, category_text};
use dupsift_publish::{SUCCESS, Stage, TableWriter};
use dupsift_tables::{
    CATEGORY_COLUMNS, CategoryBuilder, CategoryRow, Cell, Documents, IdsSeen, RejectReason, Rejection,
    categories_found, category_schema,
};

/// The path of the table in the output folder.
const TABLE: &str = "model/part-00000.parquet";
/// The number of bytes of page data that a thread reads at a time.
const PIECE_BYTES: usize = 16 << 20;
/// The memory that each count takes up while pages are read, in bytes.
const A_COUNT: usize = 64;

/// Describes a finished training run; stored in `run.json`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct TrainingReport {
    /// The version of the format of this record and its table.
    pub schema_version: u32,
    /// The version of the program.
    pub dupsift: String,
    /// The column that contains the labels.
    pub label_column: String,
    /// The tokenizer, the normalization and their versions, which determine the words in the model.
    pub text: String,
    /// Counts of the processed pages.
    pub purified: PurifyReport,
    /// The input files that could not be used.
    pub bad_inputs: Vec<BadInputReport>,
    /// The inputs whose rows were read in addition to the corpus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_inputs: Vec<OtherInputReport>,
    /// The number of input files that were not read, by file extension.
    #[serde(default)]
    pub unread: std::collections::BTreeMap<String, u64>,
    /// The folders inside the inputs that were skipped because they were written by dupsift, each with its type of content.
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub skipped_folders: std::collections::BTreeMap<String, String>,
    /// The number of rows in all usable files; with `--limit`, the number of rows within the limit.
    pub rows: u64,
    /// The number of pages that have a label and contain text.
    pub pages: u64,
    /// The number of rows without a label.
    pub unlabelled: u64,
    /// The rejected rows.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// The number of pages per class.
    pub classes: std::collections::BTreeMap<String, u64>,
    /// The number of words in the model.
    pub words: u64,
    /// The number of words that were left out of the model because they occur on only one page.
    pub rare_words: u64,
    /// The number of words that were left out of the model because it had reached its maximum number of words.
    pub words_beyond: u64,
    /// The exponent n if only about one in 2^n words was counted; 0 if all words were counted.
    pub halvings: u32,
    /// The share of all word occurrences whose word is in the model.
    pub known_share: f64,
    /// A hash of the model, in hexadecimal.
    pub model: String,
    /// The guards that fired. The exit code is 3, or 4 if a guard prevented publication of the result.
    #[serde(default)]
    pub guards: Vec<GuardReport>,
    /// One entry per stage, in order.
    pub stages: Vec<StageReport>,
    /// The warnings of the training run.
    pub warnings: Vec<String>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// User and system CPU seconds of the process.
    pub cpu_seconds: f64,
    /// The highest sampled anonymous memory use, in bytes.
    pub peak_memory_bytes: u64,
}

impl Guarded for TrainingReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        &self.other_inputs
    }
}

/// Trains a category model on labeled pages.
pub(super) fn train(
    options: RunOptions,
    label_column: &str,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<TrainingReport> {
    let mut options = options;
    options.columns.other_columns = vec![label_column.to_owned()];
    check(&options)?;
    let labels = Asked { option: "train", column: label_column.to_owned(), plain: false };
    let run = options.clone();
    let found = find_inputs(&options, progress, cancel, Writes::Input)?;
    let inputs = interruptible(cancel, move || look_into(&run, found, vec![labels]))?;
    carry_out(&options, inputs, progress, cancel, |session, stage, losses, _| {
        attempt(session, label_column, stage, losses)
    })
}

fn attempt(session: &Session<'_>, label_column: &str, stage: &Stage, losses: &Losses<'_>) -> Result<TrainingReport> {
    let running = session.engine.clock.stage("train");
    let rejecter = Rejecter::new(session)?;
    let (trainer, counts) = read_pages(session, label_column, &rejecter)?;
    let pages = trainer.documents();
    let (model, left_out) = trainer.finish()?;
    let (rows, bytes) = write(stage, &model)?;
    running.end(session.documents(), rows, bytes);
    let Counts { purified, unlabelled, ids_seen } = counts;
    let rejected = rejecter.finish()?;
    let ids = last_pass::ids_of_rejected(session, &ids_seen, &rejected)?;
    write_rejected(session, stage, &rejected, losses, &ids)?;
    let rejections = rejected.report();
    let (seconds, cpu_seconds, peak_memory_bytes) = session.engine.clock.totals();
    let guards = guards::of_reading(session, stage, losses, session.documents() - rejections.rows, &rejections, None)?;
    let LeftOut { rare, beyond, halvings, occurrences, kept } = left_out;
    let documents = model.rows().take_while(|row| row.word.is_none());
    Ok(TrainingReport {
        schema_version: SCHEMA_VERSION,
        dupsift: env!("CARGO_PKG_VERSION").to_string(),
        label_column: label_column.to_owned(),
        text: session.pipeline.identity(),
        purified,
        bad_inputs: losses.bad_inputs(),
        other_inputs: losses.other_inputs(),
        unread: session.source.unread.by_ending().clone(),
        skipped_folders: session.source.unread.skipped_folders(),
        rows: session.documents(),
        pages,
        unlabelled,
        rejections,
        classes: documents.map(|row| (row.class.to_owned(), row.count)).collect(),
        words: model.words() as u64,
        rare_words: rare,
        words_beyond: beyond,
        halvings,
        known_share: if occurrences == 0 { 0.0 } else { kept as f64 / occurrences as f64 },
        model: digest(&model),
        guards,
        stages: session.engine.clock.stages(),
        warnings: notes(session, losses.bad),
        seconds,
        cpu_seconds,
        peak_memory_bytes,
    })
}

/// Counts the rows that were read.
struct Counts {
    purified: PurifyReport,
    unlabelled: u64,
    ids_seen: IdsSeen,
}

/// Reads the pages, and passes the labeled pages to a trainer.
fn read_pages(session: &Session<'_>, label_column: &str, rejecter: &Rejecter) -> Result<(Trainer, Counts)> {
    // All threads share one trainer, so that the number of threads does not affect which words are dropped to save memory.
    let max_held = (session.engine.budget.rows / A_COUNT).max(1);
    let trainer = Mutex::new(Trainer::new(TrainingOptions { max_held, ..TrainingOptions::default() }));
    let want = Want {
        others: vec![label_column.to_owned()],
        spelled: true,
        id: true,
        batch_bytes: session.engine.budget.batch,
        ..Want::default()
    };
    let purifier = Purifier::new(session.options.pages.purify);
    let splits = session.source.splits(PIECE_BYTES);
    let splits: Vec<Split> = splits.into_iter().filter(|split| split.first_doc < session.documents()).collect();
    let bar = session.engine.progress.stage("train", session.documents(), Unit::Documents);
    let read_limit = session.engine.read_limit();
    let counts = session.engine.work(
        splits.len(),
        || Ok((PurifyReport::default(), 0u64, IdsSeen::default(), rejecter.writer())),
        |(purified, unlabelled, ids_seen, rejected), piece| {
            let mut each = |batch: &Documents| {
                let labels = batch.spelled_column(label_column)?;
                let broken: BTreeMap<usize, Rejection> = batch.lost_of(label_column).collect();
                each_page(session, &purifier, batch, purified, |row, seen| {
                    let page = match seen {
                        Seen::Page(page) => page,
                        Seen::Null => {
                            return rejecter.push(session, rejected, batch, row, &RejectReason::NullText.into());
                        }
                        Seen::Bad(why) => return rejecter.push(session, rejected, batch, row, why),
                    };
                    let label = match labels.as_ref().map_or(Cell::Null, |labels| labels.get(row)) {
                        Cell::Text(label) => label,
                        Cell::Null => match broken.get(&row) {
                            Some(why) => return rejecter.push(session, rejected, batch, row, why),
                            None => return Ok(*unlabelled += 1),
                        },
                        Cell::Bad(why) => return rejecter.push(session, rejected, batch, row, &why),
                    };
                    let text = category_text(page.title.as_deref(), page.body.as_deref());
                    let document = session.pipeline.analyse(&text);
                    // The text is segmented before the lock is taken, so that other threads do not wait.
                    document.counted();
                    trainer.lock().unwrap_or_else(PoisonError::into_inner).add(label, &document)
                })?;
                ids_seen.merge(batch.ids_seen());
                bar.add(batch.len() as u64);
                Ok(())
            };
            session.read_piece(&read_limit, &splits[piece], &want, &mut each)
        },
        |(purified, unlabelled, ids_seen, mut rejected)| rejected.flush().map(|()| (purified, unlabelled, ids_seen)),
    )?;
    session.engine.none_bad()?;
    let trainer = trainer.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut purified = of_corpus(PurifyReport::default(), session);
    let (mut unlabelled, mut ids_seen) = (0, IdsSeen::default());
    for (thread, without, ids) in counts {
        purified.merge(&thread);
        unlabelled += without;
        ids_seen.merge(&ids);
    }
    Ok((trainer, Counts { purified, unlabelled, ids_seen }))
}

fn write(stage: &Stage, model: &Model) -> Result<(u64, u64)> {
    let mut writer = TableWriter::create(&stage.file(TABLE)?, category_schema())?;
    let mut builder = CategoryBuilder::default();
    for row in model.rows() {
        builder.push(row.class, row.word, row.count);
        if builder.is_full() {
            writer.write(&builder.finish()?)?;
        }
    }
    writer.write(&builder.finish()?)?;
    writer.close()
}

/// Returns the hash of all rows of the model, which is stored in the record.
fn digest(model: &Model) -> String {
    let row = |hash: u64, row: ModelRow<'_>| {
        let word = row.word.map_or(0, |word| hash64(word.as_bytes()));
        combine(combine(combine(hash, hash64(row.class.as_bytes())), word), row.count)
    };
    format!("{:016x}", model.rows().fold(1, row))
}

/// Holds a trained model and its hash.
pub(crate) struct Categories {
    /// The model.
    pub model: Model,
    /// The hash of the model, in hexadecimal.
    pub digest: String,
}

impl Categories {
    /// Checks that the folder is the output of a training run that used the word segmentation `text`, and returns its record.
    ///
    /// # Errors
    /// Returns the errors of [`Categories::open`].
    pub(crate) fn check(dir: &Path, text: &str) -> Result<TrainingReport> {
        let record = dir.join("run.json");
        if !is_file(&dir.join(SUCCESS))? || !is_file(&dir.join(TABLE))? {
            return Err(Error::usage(format!(
                "{} is not a trained model; expected the output folder of dupsift purify with `train`",
                dir.display()
            )));
        }
        let json = safe_fs::read(&record, MOST_JSON).map_err(Error::reading("read", &record))?;
        let report: TrainingReport = serde_json::from_slice(&json).map_err(|error| bad(&record, &error.to_string()))?;
        if report.text != text {
            return Err(Error::usage(format!(
                "the model in {} was trained with {}, but this run uses {text}; train again, or use the same options",
                dir.display(),
                report.text,
            )));
        }
        Ok(report)
    }

    /// Reads the model from the output of a training run that used the same word segmentation.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the folder is not the output of a training run or the run used a different word segmentation, and
    /// [`Error::BadFile`] if the folder is damaged.
    pub(crate) fn open(dir: &Path, session: &Session<'_>) -> Result<Categories> {
        let report = Categories::check(dir, &session.pipeline.identity())?;
        let path = dir.join(TABLE);
        let mut rows: Vec<CategoryRow> = Vec::new();
        for batch in TableReader::open(&path, &CATEGORY_COLUMNS)? {
            rows.append(&mut categories_found(&batch?).ok_or_else(|| bad(&path, "a column has an unexpected type"))?);
        }
        let borrowed = rows.iter().map(|(class, word, count)| ModelRow { class, word: word.as_deref(), count: *count });
        let model = Model::from_rows(borrowed).map_err(|why| bad(&path, &why))?;
        let digest = digest(&model);
        if digest != report.model {
            return Err(bad(&path, "it does not match its training record"));
        }
        Ok(Categories { model, digest })
    }
}

fn bad(path: &Path, why: &str) -> Error {
    Error::BadFile { path: PathBuf::from(path), why: format!("{why}; train again") }
}
