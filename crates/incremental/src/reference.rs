//! Implements `--reference`, which specifies documents that the corpus is matched against and that are never removed. A reference is an
//! index, an earlier output, or plain files, such as the files of a benchmark. If the reference is not an index, a temporary index is built
//! for the run.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::batch::published::state;
use crate::batch::recipe::PLANNED;
use crate::run_batch::{Purpose, matched};
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::counted;
use dupsift_core::safe_fs::listing::is_file;
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::run_report::{GuardReport, InputReport, OtherInputReport, RunReport};
use dupsift_engine::job::write::rejected::rejected_table;
use dupsift_engine::options::{CorpusFiles, RunOptions};
use dupsift_engine::reading::input_notes;
use dupsift_engine::reading::inputs::look_others;
use dupsift_engine::reading::losses::OtherInput;
use dupsift_engine::session::Session;
use dupsift_index::Index;
use dupsift_publish::{ReferenceFolder, Stage};

/// Creates the folder for a temporary index. The arguments are the output and the folder for temporary files.
pub(crate) type MakesFolder = fn(&Path, Option<&Path>) -> Result<ReferenceFolder>;

/// Provides a reference in the form of an index.
pub(crate) struct Reference {
    dir: PathBuf,
    /// The temporary index, which is removed after the run.
    made: Option<ReferenceFolder>,
    /// The input from which the index was built. `None` if the reference is an index itself.
    read: Option<OtherInput>,
    /// The files from which the index was built, each with the number of its first document.
    files: Vec<(IndexDoc, String)>,
}

impl Reference {
    /// Opens the index in a folder, or builds a temporary index from the files of the reference. `documents` is the number of documents in
    /// the corpus, and `folder` creates the folder for the temporary index.
    ///
    /// # Errors
    /// Returns an error if files are missing or cannot be read.
    pub(crate) fn open(
        options: &RunOptions,
        documents: u64,
        reference: &Path,
        folder: MakesFolder,
        (progress, cancel): (&Progress, &AtomicBool),
    ) -> Result<Reference> {
        if Index::look(reference, state)?.is_some() {
            return Ok(Reference { dir: reference.to_path_buf(), made: None, read: None, files: Vec::new() });
        }
        let made = folder(&options.output.folder, options.resources.work.as_deref())?;
        let dir = made.index();
        let planned = PLANNED.0.max(documents.saturating_mul(PLANNED.1));
        let mut of_files = options.clone();
        of_files.input.paths = files_of(reference)?;
        of_files.output.folder = made.output();
        of_files.guards.previous = None;
        of_files.resources.work = None;
        of_files.output.corpus = CorpusFiles::default();
        of_files.sampling.limit = None;
        of_files.guards.accept = true;
        of_files.incremental.is_reference = true;
        of_files.output.report = false;
        // There is no checkpoint, because the folder has a different name in each process.
        of_files.resources.checkpoint = None;
        of_files.resources.resumes = false;
        of_files.incremental.reference = None;
        of_files.incremental.planned_documents = Some(options.incremental.planned_documents.unwrap_or(planned));
        let inputs = look_others(&of_files, progress, cancel)?;
        let files = inputs.source.files.iter().map(|file| (IndexDoc(file.first_doc), file.label.clone())).collect();
        let warnings = RefCell::new(Vec::new());
        let finish = |session: &Session<'_>, _: &Stage, report: RunReport| {
            warnings.replace(input_notes::of_reading(session, &report.documents.rejections));
            Ok(report)
        };
        let report = matched(&of_files, inputs, progress, cancel, &finish, (&dir, Purpose::Append))?;
        let fired = report.guards.iter().filter_map(GuardReport::over_reading).collect();
        let documents = report.documents;
        let read = OtherInputReport {
            input: "reference".to_owned(),
            bad_inputs: report.bad_inputs,
            rows: documents.rows,
            used: documents.used,
            rejections: documents.rejections,
            warnings: warnings.into_inner(),
        };
        let read = OtherInput::new(read, fired, rejected_table(&of_files.output.folder));
        Ok(Reference { dir, made: Some(made), read: Some(read), files })
    }

    /// Returns the data that was read from the reference, and the rows and files that could not be read; `None` if the reference is an
    /// index, because its documents were read when the index was built.
    pub(crate) fn read(&self) -> Option<OtherInput> {
        self.read.clone()
    }

    /// Returns the requested statistics, unless the temporary index already uses them.
    pub(crate) fn stats(&self, options: &RunOptions) -> Option<PathBuf> {
        options.duplicates.stats.clone().filter(|_| self.made.is_none())
    }

    /// Returns the reason why a run is matched against the reference.
    pub(crate) fn purpose(&self) -> Purpose<'_> {
        if self.made.is_some() { Purpose::Files(&self.files) } else { Purpose::Reference }
    }

    /// Returns the name of the reference file that contains a document of the temporary index, and the row in this file; `None` if the
    /// reference is an index itself.
    pub(crate) fn place(&self, doc: u64) -> Option<(&str, u64)> {
        let at = self.files.partition_point(|(first, _)| first.0 <= doc).checked_sub(1)?;
        let (first, name) = &self.files[at];
        Some((name, doc - first.0))
    }

    /// Returns the folder of the index.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Returns the input files of the run that wrote `reference`, or `reference` itself if it is not an output of a run.
fn files_of(reference: &Path) -> Result<Vec<String>> {
    let path = reference.join("run.json");
    if !is_file(&path)? {
        return Ok(vec![reference.to_string_lossy().into_owned()]);
    }
    let json = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
    let report: RunReport = serde_json::from_slice(&json).map_err(|error| {
        Error::wrong(
            "reference",
            format_args!("{}: {error}; expected an index, an output of dupsift run, or files", path.display()),
        )
    })?;
    let stands = |file: &InputReport| match report.input_file(file, reference) {
        Some(place) => Ok(place.to_string_lossy().into_owned()),
        None => Err(Error::wrong_value(
            "reference",
            reference.display(),
            format_args!(
                "its corpus no longer exists: file {} of {} is missing; restore the files, or pass the reference texts themselves",
                file.path,
                counted(file.bytes, "byte")
            ),
        )),
    };
    report.inputs.iter().map(stands).collect()
}
