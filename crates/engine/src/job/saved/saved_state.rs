//! Manages the checkpoints of one attempt at a run. All keys are computed when the first key is needed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bytesize::ByteSize;

use super::keys::RunKeys;
use crate::engine::checkpoints::{
    Checkpoint, CheckpointWriter, Checkpoints, Kept, Key, Left, PartialReader, PartialWriter,
};
use crate::job::read_back::Frozen;
use crate::options::RunOptions;
use crate::session::Session;
use crate::session::content_hashes::Sum;
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::Result;
use dupsift_core::number::counted;
use dupsift_input::{InputFile, Source};
use dupsift_publish::{LedgerInput, LedgerInputs, WorkFolder};
use dupsift_text::Pipeline;

/// Returns a line describing the work that an earlier run saved for these options and files, or `None` if no work was saved.
///
/// # Errors
/// Returns an error if a dictionary or stop-word list cannot be read.
pub fn left(options: &RunOptions, source: &Source, plan: &Plan) -> Result<Option<String>> {
    let folder = WorkFolder::would_be(&options.output.folder, options.resources.work.as_deref())
        .filter(|_| options.resources.resumes);
    let left = folder.map(|folder| Left::of(&folder)).unwrap_or_default();
    if left.is_empty() {
        return Ok(None);
    }
    let pipeline = Pipeline::new(&options.recipe.text)?;
    // If an input was replaced, the error is reported when the input is read.
    let Ok(keys) = RunKeys::new(options, source, &pipeline.identity(), &left.known_bad(), plan, (None, None)) else {
        return Ok(None);
    };
    let partials = partials_left(&left, &keys, plan);
    let keys =
        if options.duplicates.stats.is_some() { keys.of_texts().collect::<Vec<_>>() } else { keys.all().collect() };
    let there = left.of_keys(keys.into_iter().chain(&partials));
    Ok(there.map(|(names, Kept { cpu_seconds, bytes })| {
        let mut names = names;
        names.dedup();
        let (names, size) = (names.join(", "), ByteSize(bytes));
        let compared = match left.differing(source) as u64 {
            0 => String::new(),
            files => format!(", after checking that the contents of {} are unchanged", counted(files, "input file")),
        };
        format!("resumed from an earlier run ({cpu_seconds:.1} CPU s of work, {size}){compared}: {names}")
    }))
}

/// Returns the keys of the partial checkpoints from which the first and second passes would resume if they had to produce all missing
/// results.
fn partials_left(left: &Left, keys: &RunKeys, plan: &Plan) -> Vec<Key> {
    let has = |key: &Key| left.of_keys([key].into_iter()).is_some();
    let waits = |at: &usize| {
        ![&keys.algorithms[*at].rows, &keys.algorithms[*at].pairs, &keys.algorithms[*at].near].into_iter().any(has)
    };
    let (first, second): (Vec<usize>, Vec<usize>) =
        (0..plan.signs.len()).filter(waits).partition(|&at| plan.signs_first(at));
    let takes = !has(&keys.notes) || !has(&keys.copies);
    let counts = plan.counts.is_some() && !has(&keys.counts);
    let copies = takes && !has(&keys.copies);
    let knows_pages = has(&keys.pages);
    let first = Made { notes: takes, copies, counts, algorithms: first, knows_pages };
    let second = Made { algorithms: second, knows_pages, ..Made::default() };
    let readings = [(FIRST, first), (SECOND, second.clone()), (RECALL, second)];
    let partials = readings.into_iter().flat_map(|(reading, made)| {
        let partials = Partials::new(reading, made);
        (0..).map(move |at| partials.key(keys, at)).take_while(&has)
    });
    partials.collect()
}

/// The name of the pass that records row data and computes the signatures of algorithms that need no corpus counts.
pub const FIRST: &str = "the first pass";
/// The name of the pass that computes the signatures of algorithms that need corpus counts.
pub const SECOND: &str = "the second pass";
/// The name of the step that computes signatures from saved words.
pub const RECALL: &str = "the kept words";

/// Specifies the results that a pass produces.
#[derive(Clone, Default)]
pub struct Made {
    /// Whether the pass records row data.
    pub notes: bool,
    /// Whether the pass finds exact copies.
    pub copies: bool,
    /// Whether the pass counts words and records the words of the documents.
    pub counts: bool,
    /// The algorithms whose signature rows are produced.
    pub algorithms: Vec<usize>,
    /// Whether the text of the HTML pages has already been extracted.
    pub knows_pages: bool,
}

impl Made {
    /// Returns whether the pass produces no results.
    pub(crate) fn is_nothing(&self) -> bool {
        !self.notes && !self.copies && !self.counts && self.algorithms.is_empty()
    }
}

/// Identifies the partial checkpoints of a pass that produces `made`. All keys are computed when the first key is needed.
pub struct Partials {
    pass: &'static str,
    made: Made,
    lines: OnceLock<String>,
}

impl Partials {
    /// Returns the partial checkpoints of this pass.
    pub fn new(pass: &'static str, made: Made) -> Partials {
        Partials { pass, made, lines: OnceLock::new() }
    }

    /// Returns the key of partial checkpoint number `at`, counted from 0.
    fn key(&self, keys: &RunKeys, at: u64) -> Key {
        let lines = self.lines.get_or_init(|| {
            let Made { notes, copies, counts, algorithms, knows_pages } = &self.made;
            let some = [(notes, &keys.notes), (copies, &keys.copies), (counts, &keys.counts), (counts, &keys.words)];
            let some = some.into_iter().filter_map(|(is_made, key)| is_made.then_some(key));
            let made = some.chain(algorithms.iter().map(|&at| &keys.algorithms[at].rows));
            made.map(|key| format!("{}\n", key.hash)).collect::<String>() + &format!("pages known {knows_pages}")
        });
        let what = format!("part of {}", self.pass);
        Key { hash: Key::new(what.clone(), &[lines, &at.to_string()]).hash, what }
    }
}

/// Holds the results that earlier processes saved for a run, and saves the results of this process.
pub struct SavedState<'j> {
    session: &'j Session<'j>,
    plan: &'j Plan,
    frozen: Option<&'j Frozen>,
    checkpoints: &'j Checkpoints<'j>,
    /// The columns that the content hashes of the input files cover.
    hashed_columns: Vec<String>,
    keys: OnceLock<RunKeys>,
}

impl<'j> SavedState<'j> {
    /// Returns the saved state of a run. The content hashes of the input files cover `hashed_columns`.
    pub fn new(
        session: &'j Session<'j>,
        plan: &'j Plan,
        frozen: Option<&'j Frozen>,
        checkpoints: &'j Checkpoints<'j>,
        hashed_columns: Vec<String>,
    ) -> SavedState<'j> {
        SavedState { session, plan, frozen, checkpoints, hashed_columns, keys: OnceLock::new() }
    }

    /// Returns the plan of the passes.
    pub fn plan(&self) -> &'j Plan {
        self.plan
    }

    fn keys(&self) -> Result<&RunKeys> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let keys = {
            let Session { options, source, pipeline, .. } = self.session;
            let matched = self.checkpoints.matched();
            let known = (self.frozen, matched.as_deref());
            RunKeys::new(options, source, &pipeline.identity(), &BTreeMap::new(), self.plan, known)?
        };
        Ok(self.keys.get_or_init(|| keys))
    }

    /// Returns the checkpoints, if there are any. Without checkpoints, no key is computed, because computing a key reads the input files.
    fn there(&self) -> Option<&'j Checkpoints<'j>> {
        Some(self.checkpoints).filter(|checkpoints| !checkpoints.is_empty())
    }

    /// Returns whether a checkpoint with this key exists.
    ///
    /// # Errors
    /// Returns an error if an input cannot be read.
    pub fn has(&self, key: impl Fn(&RunKeys) -> &Key) -> Result<bool> {
        let Some(checkpoints) = self.there() else { return Ok(false) };
        Ok(checkpoints.has(key(self.keys()?)))
    }

    /// Performs a step of the run. If an earlier process saved the result of the step, the result is restored. Otherwise, `work` computes
    /// the result, which is saved if a checkpoint is due.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be read or is full, and any error from `work`.
    pub fn step<T: Checkpoint>(
        &self,
        key: impl Fn(&RunKeys) -> &Key + Copy,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        match self.restore(key)? {
            Some(saved) => Ok(saved),
            None => {
                let made = work()?;
                self.offer(self.due(), key, made)
            }
        }
    }

    /// Restores the checkpoint with this key; returns `None` if the checkpoint is missing or damaged.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be read.
    pub fn restore<T: Checkpoint>(&self, key: impl Fn(&RunKeys) -> &Key) -> Result<Option<T>> {
        let Some(checkpoints) = self.there() else { return Ok(None) };
        checkpoints.restore(self.session.engine, self.session.documents(), key(self.keys()?))
    }

    /// Records that the state restored so far will not be used.
    pub(crate) fn restored_nothing(&self) {
        self.checkpoints.restored_nothing();
    }

    /// Returns whether the result of the current step should be saved.
    pub fn due(&self) -> bool {
        self.checkpoints.due()
    }

    /// Saves the result of a step if `due` is true and the result has not been saved yet.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn offer<T: Checkpoint>(&self, due: bool, key: impl Fn(&RunKeys) -> &Key, mut value: T) -> Result<T> {
        if due && !self.checkpoints.has(key(self.keys()?)) {
            self.made_of_all();
            self.checkpoints.save(self.session.engine, key(self.keys()?), &mut value)?;
        }
        Ok(value)
    }

    /// Saves the result of a step, regardless of how much time has passed.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn save<T: Checkpoint>(&self, key: impl Fn(&RunKeys) -> &Key, mut value: T) -> Result<()> {
        self.made_of_all();
        self.checkpoints.save(self.session.engine, key(self.keys()?), &mut value)
    }

    /// Records that later checkpoints depend on all documents.
    fn made_of_all(&self) {
        self.checkpoints.made_of(self.inputs(self.session.documents()));
    }

    /// Returns the input files of this run for the ledger. Checkpoints use only documents before number `used`.
    fn inputs(&self, used: u64) -> LedgerInputs {
        let Session { source, contents, .. } = self.session;
        let hashed = contents.documents();
        let file = |(file, contents): (&InputFile, Sum)| LedgerInput {
            label: file.label.clone(),
            stamp: file.seen().to_string(),
            rows: hashed.saturating_sub(file.first_doc).min(file.rows),
            contents,
        };
        let files = source.files.iter().zip(contents.sums()).map(file).collect();
        LedgerInputs { columns: self.hashed_columns.clone(), used, hashed, files }
    }

    /// Removes a checkpoint that no later step uses.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be written.
    pub fn forget(&self, key: impl Fn(&RunKeys) -> &Key) -> Result<()> {
        let Some(checkpoints) = self.there() else { return Ok(()) };
        checkpoints.forget(key(self.keys()?))
    }

    /// Restores a partial checkpoint of a pass. The function `restore` reads the bytes and returns whether they could be used. Returns
    /// `false` if there is no such checkpoint.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be read, and any error from `restore`.
    pub(crate) fn restore_partial(
        &self,
        partials: &Partials,
        at: u64,
        restore: impl FnOnce(&mut PartialReader<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let Some(checkpoints) = self.there() else { return Ok(false) };
        let key = partials.key(self.keys()?, at);
        let restored = checkpoints.restore_with(&key, |found| restore(&mut PartialReader::new(&found.bytes()?)))?;
        Ok(restored == Some(true))
    }

    /// Saves a partial checkpoint of a pass, and returns whether the disk had room for it.
    ///
    /// # Errors
    /// Returns an error if the checkpoint cannot be written for a reason other than a full disk.
    pub(crate) fn save_partial(
        &self,
        partials: &Partials,
        at: u64,
        save: impl FnOnce(&mut PartialWriter<'_>) -> Result<()>,
    ) -> Result<bool> {
        let save = |to: &mut CheckpointWriter<'_>| {
            to.stream(|writer| save(&mut PartialWriter::new(writer)))?;
            // During a first pass, the content hashes cover only the documents up to the end of the partial checkpoint.
            let documents = self.session.contents.documents();
            self.checkpoints.made_of(self.inputs(documents));
            Ok(())
        };
        let bytes = self.checkpoints.save_with(self.session.engine, &partials.key(self.keys()?, at), save)?;
        tracing::debug!(pass = partials.pass, partial = at, bytes, "partial checkpoint saved");
        Ok(bytes.is_some())
    }

    /// Returns whether partial checkpoints of a pass were saved. In that case, the result of the pass is saved as their replacement,
    /// because removing partial checkpoints without a replacement would lose work.
    ///
    /// # Errors
    /// Returns an error if an input cannot be read.
    pub(crate) fn has_partials(&self, partials: &Partials) -> Result<bool> {
        let Some(checkpoints) = self.there() else { return Ok(false) };
        Ok(checkpoints.has(&partials.key(self.keys()?, 0)))
    }

    /// Removes the partial checkpoints of a pass, starting at number `from`.
    ///
    /// # Errors
    /// Returns an error if the ledger cannot be written.
    pub(crate) fn forget_partials(&self, partials: &Partials, from: u64) -> Result<()> {
        let Some(checkpoints) = self.there() else { return Ok(()) };
        let keys = self.keys()?;
        // The first of these partial checkpoints may already have been removed because it was damaged.
        checkpoints.forget(&partials.key(keys, from))?;
        let mut there = (from + 1..).map(|at| partials.key(keys, at)).take_while(|key| checkpoints.has(key));
        there.try_for_each(|key| checkpoints.forget(&key))
    }
}
