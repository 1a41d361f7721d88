//! Reads a finished output folder: its record, its tables, and its corpus.
//!
//! Everything that uses a result (`evaluate`, `compare`, `explain`, the report) reads the written files, so that every command sees the
//! same result. Tables are read one batch at a time, in order.

pub(crate) mod applied;
pub(crate) mod pool;
pub(crate) mod tables;

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

use applied::AppliedReport;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::number::{counted, counted_as};
use dupsift_core::safe_fs::listing::{is_file, is_there};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::engine::interruptible::interruptible;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::read::saved_inputs::hash_files;
use dupsift_engine::job::read_back::Of;
use dupsift_engine::job::run_report::SCHEMA_VERSION;
use dupsift_engine::job::write::stored_texts;
use dupsift_engine::job::{InputReport, RunReport};
use dupsift_engine::options::{Kind, OPTIONS, RunOptions, Settings, options_again};
use dupsift_engine::reading::again::work_again;
use dupsift_engine::reading::inputs::{Inputs, find_recorded, look_into};
use dupsift_engine::reading::losses::CORPUS;
use dupsift_engine::session::Session;
use dupsift_engine::session::content_hashes;
use dupsift_engine::session::sample::{Sample, taking_part};
use dupsift_incremental::{Again, place_of};
use dupsift_index::IndexReport;
use dupsift_input::{FoundFile, InputFile, Source, TableReader, find_all, searched};
use dupsift_publish::{DASH, FRAME, HELD, SUCCESS, leads_out};
use dupsift_remote::Object;
use dupsift_remote::address::Address;
use dupsift_tables::{
    CLUSTER_COLUMNS, Clustered, ListedPair, PAIR_COLUMNS, PAIR_FACT_COLUMNS, PairFound, REJECTED_FOR_COLUMNS,
    REMOVAL_COLUMNS, RejectReason, RemovalFound, clustered, listed_pairs, pairs_found, rejected_for, removals_found,
};
use serde_json::Value as Json;

/// The file name of the record of an evaluation.
pub(crate) const EVALUATION: &str = "evaluation.json";

/// The JSON file in the temporary folder of a data frame that lists the frame columns that the run did not read; `python/dupsift/_frames.py` writes it.
const LEFT_OUT: &str = "left_out.json";

/// Holds an output folder with its record.
pub struct Finished {
    dir: PathBuf,
    /// The content of `run.json`.
    pub report: RunReport,
    /// The current location of the corpus, if given.
    moved: Option<PathBuf>,
    /// The folder and the record that were opened; `None` for the folder of an unfinished run, which no other run replaces.
    seen: Option<Seen>,
}

/// Identifies a folder and its record, to notice that another run has replaced them.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// The device and inode of the folder.
    folder: (u64, u64),
    /// A hash of the record.
    record: u128,
}

impl Seen {
    fn of(dir: &Path, record: &[u8]) -> std::io::Result<Seen> {
        let there = dir.metadata()?;
        Ok(Seen { folder: (there.dev(), there.ino()), record: hash128(record) })
    }
}

impl Finished {
    /// Returns the options of the run, except that the folder and the resources come from `today`.
    ///
    /// # Errors
    /// Returns an error if this version does not support an option in the record, or if a word list no longer exists.
    pub fn options(&self, today: &Settings) -> Result<RunOptions> {
        let inputs = self.report.inputs.iter().map(|file| self.stands(file)).collect();
        let mut recorded = self.report.options.clone();
        for option in OPTIONS.iter().filter(|option| matches!(option.kind, Kind::Path)) {
            if let Some(Json::String(path)) = recorded.get_mut(option.name) {
                let there = self.report.option_path(path, &self.dir);
                *path = there.map_or_else(|| path.clone(), |place| place.to_string_lossy().into_owned());
            }
        }
        options_again(&recorded, inputs, &self.dir, today)
    }

    /// Returns the same output with the current location of a corpus that was moved after the run.
    pub fn with_corpus(self, corpus: Option<&Path>) -> Finished {
        Finished { moved: corpus.map(Path::to_path_buf), ..self }
    }

    /// Returns the location of a file in a corpus that was moved to `to`. The location is the longest suffix of the file's path that
    /// exists in this folder, preferably with the recorded size. Returns `to` itself if `to` is the file.
    fn moved(&self, file: &InputReport, to: &Path) -> PathBuf {
        let recorded = Path::new(&self.report.folder).join(&file.path);
        let parts: Vec<_> = recorded.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let ends = (0..parts.len()).map(|first| to.join(parts[first..].iter().collect::<PathBuf>()));
        let there: Vec<PathBuf> = ends.chain([to.to_path_buf()]).filter(|place| place.is_file()).collect();
        let is_same = |place: &&PathBuf| place.metadata().is_ok_and(|there| there.len() == file.bytes);
        let found = there.iter().find(is_same).or(there.first());
        found.cloned().unwrap_or_else(|| to.join(&file.file))
    }

    /// Returns the current path of a file in the corpus, or its recorded path if the file no longer exists.
    fn stands(&self, file: &InputReport) -> String {
        if file.path == DASH {
            return file.path.clone();
        }
        if let Some(to) = &self.moved {
            return self.moved(file, to).to_string_lossy().into_owned();
        }
        let found = self.report.input_file(file, &self.dir);
        found.map_or_else(|| file.path.clone(), |path| path.to_string_lossy().into_owned())
    }

    /// Opens the output folder of a finished run.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the folder is not the output of a finished run, or belongs to another command, and [`Error::BadFile`] if
    /// `run.json` cannot be parsed.
    pub fn open(dir: &Path) -> Result<Finished> {
        // A held result can be inspected before it is accepted.
        if !is_file(&dir.join(SUCCESS))? && !is_file(&dir.join(HELD))? {
            return Err(Error::usage(format!(
                "{} is not the output of a finished run: it contains no file {SUCCESS}; expected the output folder of dupsift run",
                dir.display()
            )));
        }
        let path = dir.join("run.json");
        let other = |verb: String| {
            Error::usage(format!(
                "{} is the output of dupsift {verb}; expected the output folder of dupsift run or dupsift compare",
                dir.display()
            ))
        };
        if !is_there(&path)? && is_file(&dir.join(EVALUATION))? {
            return Err(other("evaluate".into()));
        }
        if AppliedReport::is_alone(dir)? {
            return Err(other("apply".into()));
        }
        let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
        let seen = Seen::of(dir, &json).map_err(Error::reading("look at", dir))?;
        let report: RunReport = serde_json::from_slice(&json).map_err(|error| match other_verb(&json) {
            Some(verb) => other(verb),
            None => Error::BadFile {
                path,
                why: format!("{error}; it was written by a different version of dupsift; run again with `overwrite`"),
            },
        })?;
        if let Some(wrong) = report.leads_out() {
            return Err(leads_out(dir.join("run.json"), &wrong));
        }
        if report.schema_version != SCHEMA_VERSION {
            let version = report.schema_version;
            return Err(Error::BadFile {
                path: dir.join("run.json"),
                why: format!(
                    "its schema version is {version}, but this version of dupsift writes {SCHEMA_VERSION}; run again with `overwrite`"
                ),
            });
        }
        let mut finished = Finished { seen: Some(seen), ..Finished::new(dir, report) };
        // A corpus written later by `apply` is treated like a corpus written by the run.
        if let Some(added) = AppliedReport::added(dir)? {
            match &mut finished.report.corpus {
                Some(corpus) => corpus.folders.extend(added.folders),
                none => *none = Some(added),
            }
        }
        Ok(finished)
    }

    /// Creates an instance from a folder that contains the tables of a run, and from the record of the run.
    pub fn new(dir: &Path, report: RunReport) -> Finished {
        Finished { dir: dir.to_path_buf(), report, moved: None, seen: None }
    }

    /// Opens the folder again, because another run may have replaced it.
    ///
    /// # Errors
    /// Returns the same errors as [`Finished::open`].
    pub(super) fn opened_again(&self) -> Result<Finished> {
        Ok(Finished::open(&self.dir)?.with_corpus(self.moved.as_deref()))
    }

    /// Checks that the folder still contains the result that was opened.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`] if another run has replaced the folder.
    pub fn check_not_replaced(&self) -> Result<()> {
        let record = || safe_fs::read(&self.dir.join("run.json"), MOST_JSON);
        match &self.seen {
            Some(seen) if record().and_then(|json| Seen::of(&self.dir, &json)).is_ok_and(|now| now == *seen) => Ok(()),
            None => Ok(()),
            Some(_) => Err(Error::BadFile {
                path: self.dir.clone(),
                why: "another run replaced the folder while it was being read; run the command again".to_owned(),
            }),
        }
    }

    /// Calls `work`, which reads the folder, and checks that all that it read belongs to the same result.
    ///
    /// # Errors
    /// Returns the errors of `work` and of [`Finished::check_not_replaced`].
    pub(super) fn of_one_result<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let done = self.unless_replaced(work)?;
        self.check_not_replaced().map(|()| done)
    }

    /// Calls `work`, which reads the folder and then publishes what it made, and which calls [`Finished::check_not_replaced`] before it
    /// publishes. If `work` fails because another run replaced the folder, the error says so.
    ///
    /// # Errors
    /// Returns the errors of `work` and of [`Finished::check_not_replaced`].
    pub(super) fn unless_replaced<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        match work() {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            // The files of a folder that was replaced seem to be missing or damaged.
            Err(error) => self.check_not_replaced().and(Err(error)),
            done => done,
        }
    }

    /// Returns the origin of the run's statistics.
    pub fn of(&self) -> Of<'_> {
        Of { dir: &self.dir, report: &self.report }
    }

    /// Returns the output folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Returns the path of an algorithm's table of pairs.
    pub(crate) fn pair_table(&self, label: &str) -> PathBuf {
        self.dir.join(format!("pairs/algorithm={label}/part-00000.parquet"))
    }

    /// Returns the pairs of an algorithm in (a, b) order, excluding pairs whose documents share only a template.
    ///
    /// # Errors
    /// Returns an error if the table is missing or damaged; damage that is found later is returned as an item.
    pub fn pairs(&self, label: &str) -> Result<impl Iterator<Item = Result<PairFound>> + use<>> {
        rows(self.pair_table(label), &PAIR_COLUMNS, pairs_found)
    }

    /// Like [`Finished::pairs`], but returns all the data that the survivor rule uses.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::pairs`].
    pub(crate) fn listed_pairs(&self, label: &str) -> Result<impl Iterator<Item = Result<ListedPair>> + use<>> {
        let pairs = rows(self.pair_table(label), PAIR_FACT_COLUMNS, listed_pairs)?;
        Ok(pairs.filter(|pair| pair.as_ref().map_or(true, |pair| !pair.template)))
    }

    /// Returns the path of an algorithm's table of clusters.
    pub(crate) fn cluster_table(&self, label: &str) -> PathBuf {
        self.dir.join(format!("clusters/algorithm={label}/part-00000.parquet"))
    }

    /// Returns the documents in the clusters of an algorithm, cluster by cluster.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::pairs`].
    pub fn clusters(&self, label: &str) -> Result<impl Iterator<Item = Result<Clustered>> + use<>> {
        rows(self.cluster_table(label), &CLUSTER_COLUMNS, clustered)
    }

    /// Returns the removed documents, in order.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::pairs`].
    pub fn removals(&self) -> Result<impl Iterator<Item = Result<RemovalFound>> + use<>> {
        rows(self.dir.join("removed/part-00000.parquet"), &REMOVAL_COLUMNS, removals_found)
    }

    /// Returns the index report if the tables contain documents that were indexed before the run.
    pub fn incremental(&self) -> Option<&IndexReport> {
        self.report.index.as_ref().filter(|index| index.first_doc > 0)
    }

    /// Opens the documents that were indexed before an incremental run; returns `None` for other runs.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the index does not exist.
    pub fn again(&self) -> Result<Option<Again<'_>>> {
        match self.incremental() {
            Some(batch) => Again::open(batch, &place_of(batch, &self.report, &self.dir)).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the number that the tables use for the first document in the corpus.
    pub fn first_doc(&self) -> u64 {
        self.incremental().map_or(0, |index| index.first_doc)
    }

    /// Returns the number of rows in the corpus within `limit`, including rejected rows and rows outside a sample.
    pub fn rows(&self) -> u64 {
        let rows = self.report.inputs.iter().map(|file| file.rows).sum();
        let limit = self.report.options.get("limit").and_then(Json::as_u64);
        limit.map_or(rows, |limit| limit.min(rows))
    }

    /// Calls `each` with the rows of the corpus whose text is blank. Rows are counted from the first row of the corpus.
    ///
    /// # Errors
    /// Returns an error if `rejected/` is damaged.
    pub fn blank_rows(&self, mut each: impl FnMut(u64)) -> Result<()> {
        let reason = RejectReason::EmptyText;
        if !self.report.documents.rejections.reasons.contains_key(reason.text()) {
            return Ok(());
        }
        let mut first = 0;
        let mut firsts: HashMap<&str, u64> = HashMap::new();
        for file in &self.report.inputs {
            firsts.insert(&file.file, first);
            first += file.rows;
        }
        let path = self.dir.join("rejected/part-00000.parquet");
        let found = rows(path, &REJECTED_FOR_COLUMNS, move |batch| rejected_for(batch, CORPUS, reason))?;
        for row in found {
            let (file, row) = row?;
            let row = firsts.get(&*file).and_then(|first| first.checked_add(row));
            row.filter(|row| *row < self.rows()).into_iter().for_each(&mut each);
        }
        Ok(())
    }

    /// Checks that the tables contain only documents from the run's own corpus.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if this is the output of an incremental run.
    pub(crate) fn is_of_its_corpus(&self) -> Result<()> {
        let Some(index) = self.incremental() else { return Ok(()) };
        // A run against a reference adds nothing to an index, and its temporary index no longer exists.
        let (against, option) = match index.generation == index.read_generation {
            true => ("a `reference`".to_owned(), "reference"),
            false => (format!("the index {}", index.folder), "index"),
        };
        Err(Error::usage(format!(
            "the run in {} was matched against {against}, so its tables refer to documents outside its corpus; look up matches in removed/, or use the output of a run without `{option}`",
            self.dir.display()
        )))
    }

    /// Opens the texts that the run stored, so that they can be read instead of the corpus, and returns the options for
    /// reading them. Returns `None` if the run stored no texts.
    fn stored(&self, options: &RunOptions, cancel: &AtomicBool) -> Result<Option<(RunOptions, Inputs)>> {
        if self.report.stored_texts.is_none() {
            return Ok(None);
        }
        let count = self.report.inputs.len();
        let path = |at: usize| stored_texts::path(&self.dir, at).to_string_lossy().into_owned();
        let blank = RunOptions::default();
        let mut options = options.clone();
        options.input.paths = (0..count).map(path).collect();
        options.columns.text_column = stored_texts::TEXT.to_owned();
        options.columns.id_column = stored_texts::ID.to_owned();
        options.removal.keep = blank.removal.keep;
        options.input.encoding = blank.input.encoding;
        options.columns.other_columns = Vec::new();
        options.guards.source_column = None;
        options.columns.html = false;
        options.columns.id_required = false;
        options.input.whole_files = false;
        options.output.report = false;
        let (run, names) = (options.clone(), self.report.inputs.iter().map(|file| file.file.clone()));
        let names: Vec<String> = names.collect();
        let inputs = interruptible(cancel, move || {
            let mut found = find_all(&run.input.paths, run.taking())?;
            // Files keep their names from the run.
            let place = |file: &FoundFile| run.input.paths.iter().position(|path| Path::new(path) == file.path);
            found.files.sort_by_cached_key(place);
            found.files = found.files.into_iter().zip(&names).map(|(file, name)| file.called(name)).collect();
            look_into(&run, found, Vec::new())
        })?;
        let rows = |at: usize| inputs.source.files.get(at).map(|file| file.rows);
        if (0..count).any(|at| rows(at) != Some(self.report.inputs[at].rows)) {
            let why = "the number of rows in the files differs from the number of rows in the corpus; run again with `overwrite`".to_owned();
            return Err(Error::BadFile { path: self.dir.join("texts"), why });
        }
        Ok(Some((options, inputs)))
    }

    /// Calls `work` on the corpus of the run, or on the texts that the run stored if the corpus no longer exists or has changed. The last
    /// argument of `work` is `true` if the stored texts are read.
    ///
    /// # Errors
    /// Returns the errors of [`Finished::corpus`] and [`Finished::check_contents`] if the run stored no texts, and any error from `work`.
    pub fn read<T>(
        &self,
        options: &RunOptions,
        progress: &Progress,
        cancel: &AtomicBool,
        work: impl Fn(&Session<'_>, bool) -> Result<T>,
    ) -> Result<T> {
        let is_there = Cell::new(false);
        // Texts that are here need not be downloaded.
        if self.moved.is_none()
            && !objects(&self.report.inputs).is_empty()
            && let Some((options, inputs)) = self.stored(options, cancel)?
        {
            return work_again(&options, &inputs.source, progress, cancel, |session| work(session, true));
        }
        let of_corpus = self.corpus(options, cancel).and_then(|inputs| {
            work_again(options, &inputs.source, progress, cancel, |session| {
                self.check_contents(session)?;
                is_there.set(true);
                work(session, false)
            })
        });
        match of_corpus {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(error) if !is_there.get() => match self.stored(options, cancel)? {
                Some((options, inputs)) => {
                    tracing::info!("texts are read from {}, because {error}", self.dir.join("texts").display());
                    work_again(&options, &inputs.source, progress, cancel, |session| work(session, true))
                }
                None => Err(error),
            },
            done => done,
        }
    }

    /// Opens the corpus of the run again, with the options in its record.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the files no longer exist or have different rows, or an error if the call is interrupted.
    pub fn corpus(&self, options: &RunOptions, cancel: &AtomicBool) -> Result<Inputs> {
        if options.input.paths.iter().any(|input| input == DASH) {
            return Err(Error::usage(format!(
                "{} is the output of a run that read standard input, which was not saved; expected the output of a run that read files",
                self.dir.display()
            )));
        }
        if let Some(error) = self.lost_frame() {
            return Err(error);
        }
        let mut called = self.report.inputs.clone();
        called.iter_mut().for_each(|file| file.path = self.stands(file));
        let run = options.clone();
        let found = find_recorded(options, objects(&called), &Progress::hidden(), cancel)
            .map_err(|error| self.not_there(error))?;
        let inputs = interruptible(cancel, move || {
            let mut found = found;
            // A file is ignored if it is only assumed to be JSON lines and the run did not read it.
            let was_read = |path: &Path| called.iter().any(|known| Path::new(&known.path) == path);
            found.files.retain(|file| !file.is_guess || was_read(&file.path));
            // The files are sorted into the order of the run, wherever they are stored.
            let place = |file: &FoundFile| called.iter().position(|known| Path::new(&known.path) == file.path);
            found.files.sort_by_cached_key(place);
            // Files keep their names from the run, because the folders in a name become columns.
            if found.files.len() == called.len() {
                let named = found.files.into_iter().zip(&called);
                found.files = named.map(|(file, known)| file.called(&known.file)).collect();
            }
            look_into(&run, found, Vec::new())
        });
        let inputs = inputs.map_err(|error| self.not_there(error))?;
        let (files, known) = (&inputs.source.files, &self.report.inputs);
        // All other files are compared by the hash of their contents, so columns that the run did not use may change.
        let is_other = |file: &InputFile, known: &InputReport| known.contents.is_none() && file.bytes != known.bytes;
        if files.len() == known.len()
            && let Some((file, known)) = files.iter().zip(known).find(|(file, known)| is_other(file, known))
        {
            return Err(self.changed(format_args!(
                ": {} had {} and now has {}",
                file.path.display(),
                counted(known.bytes, "byte"),
                counted(file.bytes, "byte")
            )));
        }
        let (all, sample) = taking_part(options, inputs.source.documents());
        let rows = sample.map_or(all, Sample::documents);
        if files.len() != known.len() || rows != self.report.documents.rows {
            return Err(self.changed(format_args!(
                ", which read {old_rows} in {old_files}; now there are {rows} in {files}",
                old_rows = counted(self.report.documents.rows, "row"),
                old_files = counted(known.len() as u64, "file"),
                rows = counted(rows, "row"),
                files = counted(files.len() as u64, "file")
            )));
        }
        Ok(inputs)
    }
}

impl Finished {
    /// Warns about files that were added to the inputs after the run, and that the run therefore did not read.
    pub(super) fn warn_of_new_files(&self, options: &RunOptions, source: &Source) {
        let places: Vec<String> =
            self.report.input_paths.iter().filter_map(|input| self.place_of_input(input)).collect();
        if places.is_empty() {
            return;
        }
        let found = match find_all(&places, options.taking()) {
            Ok(found) => found.files,
            Err(error @ Error::Io { .. }) => {
                tracing::warn!("files that were added to the corpus after the run cannot be found: {error}");
                return;
            }
            // The inputs contain nothing that could be read.
            Err(_) => return,
        };
        let known: BTreeSet<&Path> = source.files.iter().map(|file| file.path.as_path()).collect();
        let is_bad = |path: &Path| self.report.bad_inputs.iter().any(|bad| path.ends_with(&bad.file));
        // A file that is only assumed to be JSON lines may be one that the run did not read.
        let is_new = |file: &&FoundFile| !file.is_guess && !known.contains(&*file.path) && !is_bad(&file.path);
        let mut new = found.iter().filter(is_new);
        let Some(first) = new.next() else { return };
        let number = 1 + new.count() as u64;
        tracing::warn!(
            "{files_were} added to the corpus after the run, such as {first}; run again with `overwrite` to include {them}",
            files_were = counted_as(number, "file was|files were"),
            first = first.path.display(),
            them = if number == 1 { "it" } else { "them" }
        );
    }

    /// Returns the current place of a folder or glob that the run searched; `None` if the input is a file, or if no file of it was read.
    fn place_of_input(&self, input: &str) -> Option<String> {
        let (folder, pattern) = searched(input);
        let mut files = self.report.inputs.iter();
        files.find_map(|file| {
            let below = Path::new(&file.path).strip_prefix(folder).ok()?;
            let now = PathBuf::from(self.stands(file));
            let depth = below.components().count();
            // The corpus may be in another place now, in a folder with another name.
            let now = now.ancestors().nth(depth).filter(|_| depth > 0 && now.ends_with(below))?;
            let now = if pattern.is_empty() { now.to_path_buf() } else { now.join(&pattern) };
            Some(now.to_string_lossy().into_owned())
        })
    }

    /// Returns the file of the data frame that the run read; `None` if it read other files.
    pub fn frame(&self) -> Option<&InputReport> {
        let is_frame = |file: &InputReport| {
            let parent = Path::new(&file.path).parent().and_then(Path::file_name);
            parent.is_some_and(|name| name.to_string_lossy().starts_with(FRAME))
        };
        self.report.inputs.first().filter(|file| self.report.inputs.len() == 1 && is_frame(file))
    }

    /// Returns the error for a data frame whose temporary file was deleted; `None` if the location of the corpus is
    /// given or other files were read.
    fn lost_frame(&self) -> Option<Error> {
        let file = self.frame().filter(|_| self.moved.is_none())?;
        if Path::new(&self.report.folder).join(&file.path).exists() {
            return None;
        }
        let shown = self.dir.display();
        Some(Error::usage(format!(
            "{shown} is the result of a run on a data frame, which was not saved; in Python, pass the frame: dupsift.open({:?}, input=frame)",
            shown.to_string()
        )))
    }

    /// Checks that a data frame was saved with all its columns, so that a copy of the corpus is complete.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the columns that the run did not read.
    pub(crate) fn check_columns(&self, options: &RunOptions) -> Result<()> {
        for input in &options.input.paths {
            let Some(folder) = Path::new(input).parent() else { continue };
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            let path = folder.join(LEFT_OUT);
            if !name.starts_with(FRAME) || !path.is_file() {
                continue;
            }
            let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
            let names: Vec<String> = serde_json::from_slice(&json)
                .map_err(|error| Error::BadFile { path, why: format!("{error}; expected a list of column names") })?;
            let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            return Err(Error::usage(format!(
                "the run did not read all columns of the data frame (not read: {}); use result.filter(frame) in Python to filter the frame itself",
                names.join(", ")
            )));
        }
        Ok(())
    }

    /// Checks that the corpus still has the content that the run read. If the file system metadata cannot confirm that a file is unchanged,
    /// the file is read and compared with the hash in the record.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] with the first file that differs, or an error if a file cannot be read or the call is interrupted.
    pub fn check_contents(&self, session: &Session<'_>) -> Result<()> {
        let both = || session.source.files.iter().zip(&self.report.inputs).enumerate();
        let differs = |file: &InputFile, known: &InputReport| {
            // An object was downloaded under the ETag or version in the record.
            let is_pinned = file.staged.is_some() && (known.etag.is_some() || known.version.is_some());
            known.contents.is_some() && !is_pinned && known.stamp != file.seen().to_string()
        };
        let differ: BTreeSet<usize> =
            both().filter(|(_, (file, known))| differs(file, known)).map(|(at, _)| at).collect();
        if differ.is_empty() {
            return Ok(());
        }
        let running = session.engine.clock.stage("compare inputs");
        let now = hash_files(session, &differ)?;
        running.end(differ.len() as u64, 0, 0);
        let is_other = |at: usize, known: &InputReport| {
            now.get(&at).is_some_and(|sum| Some(content_hashes::word(sum)) != known.contents)
        };
        match both().find(|(at, (_, known))| is_other(*at, known)) {
            None => Ok(()),
            Some((_, (file, _))) => Err(self.changed(format_args!(": {} has different contents", file.path.display()))),
        }
    }

    /// Returns the error for a corpus that differs from the corpus that the run read; `how` completes the message.
    fn changed(&self, how: impl Display) -> Error {
        let way_out = match &self.moved {
            None => "run again with `overwrite`, or pass `input=DIR` with the current location of the corpus",
            Some(_) => "run again with `overwrite`, or set `input` to the current location of the corpus",
        };
        Error::usage(format!("the corpus has changed since the run{how}; {way_out}"))
    }

    /// Replaces the error for a missing file with an error that explains how to specify the current location of the
    /// corpus.
    fn not_there(&self, error: Error) -> Error {
        let Error::Missing { path, .. } = error else { return error };
        let shown = path.display();
        let said = match &self.moved {
            None => format!(
                "the corpus of the run is no longer where it was: {shown} does not exist; pass `input=DIR` with the current \
                 location of the corpus"
            ),
            Some(to) => format!(
                "the corpus of the run is not in {}: {shown} does not exist; pass the current location of the corpus as `input`",
                to.display()
            ),
        };
        Error::Missing { path, said }
    }
}

/// Returns the objects in stores, each with its name in tables.
fn objects(inputs: &[InputReport]) -> Vec<(Object, String)> {
    let is_object = |file: &&InputReport| Address::of(&file.path).is_some();
    let object = |file: &InputReport| {
        let InputReport { file: label, path, bytes, etag, version, .. } = file.clone();
        (Object { address: path, key: String::new(), bytes, etag, version }, label)
    };
    inputs.iter().filter(is_object).map(object).collect()
}

/// Returns the command that wrote a record. The command is recognized by an entry that other records do not contain.
fn other_verb(json: &[u8]) -> Option<String> {
    let record: serde_json::Value = serde_json::from_slice(json).ok()?;
    let entries = [
        ("label_column", "purify --train"),
        ("prefix", "purify"),
        ("filter_bytes", "stream"),
        ("item_bytes", "contaminated"),
    ];
    entries.into_iter().find(|(entry, _)| record.get(entry).is_some()).map(|(_, verb)| verb.to_owned())
}

fn rows<T, F: Fn(&arrow::array::RecordBatch) -> Option<Vec<T>>>(
    path: PathBuf,
    columns: &[&str],
    read: F,
) -> Result<impl Iterator<Item = Result<T>> + use<T, F>> {
    let table = TableReader::open(&path, columns)?;
    let batches = table.map(move |batch| {
        read(&batch?).ok_or_else(|| Error::BadFile {
            path: path.clone(),
            why: "a column has an unexpected type; expected a table written by dupsift".into(),
        })
    });
    Ok(Rows { batches, now: Vec::new().into_iter() })
}

/// Iterates over the rows in a sequence of batches.
struct Rows<B, T> {
    batches: B,
    now: std::vec::IntoIter<T>,
}

impl<B: Iterator<Item = Result<Vec<T>>>, T> Iterator for Rows<B, T> {
    type Item = Result<T>;

    #[inline]
    fn next(&mut self) -> Option<Result<T>> {
        loop {
            if let Some(row) = self.now.next() {
                return Some(Ok(row));
            }
            // A failed batch is returned as one failed row.
            match self.batches.next()? {
                Ok(rows) => self.now = rows.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
