//! Opens the corpus of a finished run again: finds its current location, and checks that it is the corpus that the run read. If the run
//! stored texts, they can be read instead.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, counted_as};
use dupsift_engine::engine::interruptible::interruptible;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::InputReport;
use dupsift_engine::job::read::saved_inputs::hash_files;
use dupsift_engine::job::write::stored_texts;
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::again::work_again;
use dupsift_engine::reading::inputs::{Inputs, find_recorded, look_into};
use dupsift_engine::session::Session;
use dupsift_engine::session::content_hashes;
use dupsift_engine::session::sample::{Sample, taking_part};
use dupsift_input::{FoundFile, InputFile, Source, find_all, searched};
use dupsift_publish::DASH;
use dupsift_remote::Object;
use dupsift_remote::address::Address;

impl Finished {
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
    pub(super) fn stands(&self, file: &InputReport) -> String {
        if file.path == DASH {
            return file.path.clone();
        }
        if let Some(to) = &self.moved {
            return self.moved(file, to).to_string_lossy().into_owned();
        }
        let found = self.report.input_file(file, &self.dir);
        found.map_or_else(|| file.path.clone(), |path| path.to_string_lossy().into_owned())
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
        let of_corpus = self.corpus(options, progress, cancel).and_then(|inputs| {
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
    pub fn corpus(&self, options: &RunOptions, progress: &Progress, cancel: &AtomicBool) -> Result<Inputs> {
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
        let found =
            find_recorded(options, objects(&called), progress, cancel).map_err(|error| self.not_there(error))?;
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

    /// Warns about files that were added to the inputs after the run, and that the run therefore did not read.
    pub(crate) fn warn_of_new_files(&self, options: &RunOptions, source: &Source) {
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
