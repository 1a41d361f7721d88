//! A finished output folder, read back: its record, its tables, and the corpus that it was made from.
//!
//! What looks at a result (`evaluate`, `compare`, `explain`, the report) reads what was written, so that a result says
//! the same today and in a year. Tables are read a batch at a time, in their order.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::apply::AppliedReport;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, counted_as};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::engine::heard::heard;
use dupsift_engine::job::read::saved_inputs::hash_files;
use dupsift_engine::job::read_back::Of;
use dupsift_engine::job::run_report::SCHEMA_VERSION;
use dupsift_engine::job::{InputReport, RunReport};
use dupsift_engine::options::{Kind, OPTIONS, RunOptions, Settings, options_again};
use dupsift_engine::reading::content_hashes;
use dupsift_engine::reading::inputs::{Inputs, look_into};
use dupsift_engine::session::Session;
use dupsift_files::io::{DASH, FoundFile, HELD, InputFile, SUCCESS, TableReader, find_all};
use dupsift_files::tables::{
    CLUSTER_COLUMNS, Clustered, PAIR_COLUMNS, PairFound, PairWeighed, REMOVAL_COLUMNS, RemovalFound, WEIGHED_COLUMNS,
    clustered, pairs_found, pairs_weighed, removals_found,
};
use dupsift_incremental::{Again, place_of};
use dupsift_index::IndexReport;
use serde_json::Value as Json;

/// The record of an evaluation.
pub(crate) const EVALUATION: &str = "evaluation.json";

/// An output folder with its record.
pub struct Finished {
    dir: PathBuf,
    /// What stands in run.json.
    pub report: RunReport,
    /// Where the corpus is now, if somebody says so.
    moved: Option<PathBuf>,
}

impl Finished {
    /// The options under which the output was made, with the folder where it stands now and the resources of today.
    ///
    /// # Errors
    /// A record whose options this version does not know; files of words that are not there any more.
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

    /// Returns the same output, with its corpus in another folder than at the time of the run, or in another file.
    pub fn with_corpus(self, corpus: Option<&Path>) -> Finished {
        Finished { moved: corpus.map(Path::to_path_buf), ..self }
    }

    /// Returns where a file of a corpus is that was moved to `to`: at the end of its path that is longest of those that are there, with as many
    /// bytes as were recorded if there is such a file. The file itself if `to` is one.
    fn moved(&self, file: &InputReport, to: &Path) -> PathBuf {
        let recorded = Path::new(&self.report.folder).join(&file.path);
        let parts: Vec<_> = recorded.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        let ends = (0..parts.len()).map(|first| to.join(parts[first..].iter().collect::<PathBuf>()));
        let there: Vec<PathBuf> = ends.chain([to.to_path_buf()]).filter(|place| place.is_file()).collect();
        let is_same = |place: &&PathBuf| place.metadata().is_ok_and(|there| there.len() == file.bytes);
        let found = there.iter().find(is_same).or(there.first());
        found.cloned().unwrap_or_else(|| to.join(&file.file))
    }

    /// Returns where a file of the corpus stands, or where it stood if it is not there any more.
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

    /// Opens the output folder of a run that is done.
    ///
    /// # Errors
    /// [`Error::Usage`] where the folder is none of a finished run, or one of another verb; [`Error::BadFile`] where run.json
    /// cannot be understood.
    pub fn open(dir: &Path) -> Result<Finished> {
        // Who decides about a result that was held back looks at it first.
        if !dir.join(SUCCESS).is_file() && !dir.join(HELD).is_file() {
            return Err(Error::usage(format!(
                "{} is not the output of a finished run, because it has no {SUCCESS}; expected the output folder of dupsift run",
                dir.display()
            )));
        }
        let path = dir.join("run.json");
        let other = |verb: String| {
            Error::usage(format!(
                "{} is an output of dupsift {verb}; expected the output folder of dupsift run or dupsift compare",
                dir.display()
            ))
        };
        if !path.exists() && dir.join(EVALUATION).is_file() {
            return Err(other("evaluate".into()));
        }
        if AppliedReport::is_alone(dir) {
            return Err(other("apply".into()));
        }
        let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
        let report: RunReport = serde_json::from_slice(&json).map_err(|error| match other_verb(&json) {
            Some(verb) => other(verb),
            None => Error::BadFile {
                path,
                why: format!("{error}; it was written by another version of dupsift; run again with `overwrite`"),
            },
        })?;
        if report.schema_version != SCHEMA_VERSION {
            let version = report.schema_version;
            return Err(Error::BadFile {
                path: dir.join("run.json"),
                why: format!(
                    "its schema version is {version}, and this dupsift writes version {SCHEMA_VERSION}: run again with `overwrite`"
                ),
            });
        }
        let mut finished = Finished::new(dir, report);
        // A corpus that was written later says as much as one of the run.
        if let Some(added) = AppliedReport::added(dir) {
            match &mut finished.report.corpus {
                Some(corpus) => corpus.folders.extend(added.folders),
                none => *none = Some(added),
            }
        }
        Ok(finished)
    }

    /// The tables of a run that stand in a folder already, with its record.
    pub fn new(dir: &Path, report: RunReport) -> Finished {
        Finished { dir: dir.to_path_buf(), report, moved: None }
    }

    /// Where its statistics are read back from.
    pub fn of(&self) -> Of<'_> {
        Of { dir: &self.dir, report: &self.report }
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The table of pairs of the algorithm with this label.
    pub fn pair_table(&self, label: &str) -> PathBuf {
        self.dir.join(format!("pairs/algorithm={label}/part-00000.parquet"))
    }

    /// The pairs of the algorithm with this label, in order of (a, b).
    ///
    /// # Errors
    /// A table that is not there or damaged, here or on the way.
    pub fn pairs(&self, label: &str) -> Result<impl Iterator<Item = Result<PairFound>> + use<>> {
        rows(self.pair_table(label), &PAIR_COLUMNS, pairs_found)
    }

    /// The same with all that the survivor rule asks of pairs.
    ///
    /// # Errors
    /// As [`Finished::pairs`].
    pub fn pairs_weighed(&self, label: &str) -> Result<impl Iterator<Item = Result<PairWeighed>> + use<>> {
        rows(self.pair_table(label), &WEIGHED_COLUMNS, pairs_weighed)
    }

    /// The table of clusters of the algorithm with this label.
    pub fn cluster_table(&self, label: &str) -> PathBuf {
        self.dir.join(format!("clusters/algorithm={label}/part-00000.parquet"))
    }

    /// The documents of the clusters of the algorithm with this label, cluster after cluster.
    ///
    /// # Errors
    /// As [`Finished::pairs`].
    pub fn clusters(&self, label: &str) -> Result<impl Iterator<Item = Result<Clustered>> + use<>> {
        rows(self.cluster_table(label), &CLUSTER_COLUMNS, clustered)
    }

    /// The documents that go, in their order; those of an earlier output without the table are none.
    ///
    /// # Errors
    /// As [`Finished::pairs`].
    pub fn removals(&self) -> Result<impl Iterator<Item = Result<RemovalFound>> + use<>> {
        rows(self.dir.join("removed/part-00000.parquet"), &REMOVAL_COLUMNS, removals_found)
    }

    /// What the run says of its index, where its tables name documents that came before its corpus.
    pub fn later_night(&self) -> Option<&IndexReport> {
        self.report.index.as_ref().filter(|index| index.first_doc > 0)
    }

    /// The documents before the corpus of a later night, as its index has them.
    ///
    /// # Errors
    /// [`Error::Usage`] where the index is not there.
    pub fn again(&self) -> Result<Option<Again<'_>>> {
        match self.later_night() {
            Some(night) => Again::open(night, &place_of(night, &self.report, &self.dir)).map(Some),
            None => Ok(None),
        }
    }

    /// The number that the tables have for the first document of the corpus.
    pub fn first_doc(&self) -> u64 {
        self.later_night().map_or(0, |index| index.first_doc)
    }

    /// Checks that its tables name documents of its corpus alone.
    ///
    /// # Errors
    /// [`Error::Usage`] for a later night of an index.
    pub fn is_of_its_corpus(&self) -> Result<()> {
        let Some(index) = self.later_night() else { return Ok(()) };
        // To a reference nothing is added; the index that it was made is gone.
        let against = if index.generation == index.read_generation {
            "a `reference`".to_owned()
        } else {
            format!("the index {}", index.folder)
        };
        Err(Error::usage(format!(
            "{} was matched against {against}: its tables name documents outside of its corpus; look up matches in removed/, or use the output of a run without `index`",
            self.dir.display()
        )))
    }

    /// The corpus of the run, opened again with the options of its record.
    ///
    /// # Errors
    /// [`Error::Usage`] where the files are not there any more, or hold other rows than they did; a request to stop.
    pub fn corpus(&self, options: &RunOptions, cancel: &AtomicBool) -> Result<Inputs> {
        if options.inputs.iter().any(|input| input == DASH) {
            return Err(Error::usage(format!(
                "{} is the output of a run over standard input, whose texts were not saved; expected the output of a run over files",
                self.dir.display()
            )));
        }
        let mut called = self.report.inputs.clone();
        called.iter_mut().for_each(|file| file.path = self.stands(file));
        let run = options.clone();
        let inputs = heard(cancel, move || {
            let mut found = find_all(&run.inputs, run.taking())?;
            // Those that turned out to be of another format then are left out now.
            let was_read = |path: &Path| called.iter().any(|known| Path::new(&known.path) == path);
            found.files.retain(|file| !file.is_guess || was_read(&file.path));
            // They have the order that the run had, wherever they stand now.
            let place = |file: &FoundFile| called.iter().position(|known| Path::new(&known.path) == file.path);
            found.files.sort_by_cached_key(place);
            // Files are called as the run called them: on its name depends which columns the folders of a file give it.
            if found.files.len() == called.len() {
                let named = found.files.into_iter().zip(&called);
                found.files = named.map(|(file, known)| file.called(&known.file)).collect();
            }
            look_into(&run, found, Vec::new())
        })?;
        let (files, known) = (&inputs.source.files, &self.report.inputs);
        let same = files.len() == known.len()
            && files.iter().zip(known).all(|(file, known)| file.bytes == known.bytes)
            && self.report.documents.rows
                == options.limit.map_or(inputs.source.documents(), |limit| limit.min(inputs.source.documents()));
        if !same {
            return Err(Error::usage(format!(
                "the corpus has changed since the run: {} of {} read, {} of {} there, or other sizes; run again with `overwrite`",
                counted(known.len() as u64, "file"),
                counted_as(self.report.documents.rows, "row was|rows were"),
                counted(files.len() as u64, "file"),
                counted_as(inputs.source.documents(), "row is|rows are")
            )));
        }
        Ok(inputs)
    }
}

impl Finished {
    /// Checks that the corpus has the contents that the run read, where the file system does not say so itself: then files are read
    /// through, and compared with the hashes of the record.
    ///
    /// # Errors
    /// [`Error::Usage`] with the first file that has others; a file that cannot be read; a request to stop.
    pub fn check_contents(&self, session: &Session<'_>) -> Result<()> {
        let both = || session.source.files.iter().zip(&self.report.inputs).enumerate();
        let differs =
            |file: &InputFile, known: &InputReport| known.contents.is_some() && known.stamp != file.seen().to_string();
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
            Some((_, (file, _))) => Err(Error::usage(format!(
                "the corpus has changed since the run: {} has other contents; run again with `overwrite`",
                file.path.display()
            ))),
        }
    }
}

/// The verb whose record that is, by an entry that no other one has.
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
            why: "a column is of another type; expected a table as dupsift writes it".into(),
        })
    });
    Ok(Rows { batches, now: Vec::new().into_iter() })
}

/// The rows of batches one after the other.
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
            // A failed batch is one failed row.
            match self.batches.next()? {
                Ok(rows) => self.now = rows.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
