//! Opens the corpus in one process of a cluster. All processes open the same files as the driver and divide them into the same tasks.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{hash64, hash128};
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::resources::Resources;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::inputs::{Inputs, look};
use dupsift_engine::session::Session;
use dupsift_input::{Source, Split, absolute};
use dupsift_text::Pipeline;

/// Holds the data that the driver sends to all processes.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Layout {
    /// A hash of the files on the driver.
    pub corpus: String,
    /// The working folder of the driver, from which all processes resolve relative input paths.
    pub folder: PathBuf,
    /// The approximate number of bytes of text per task.
    pub task_bytes: u64,
    /// The number of buckets for rows.
    pub buckets: u32,
}

impl Layout {
    /// Returns the bucket of rows with this group.
    pub fn bucket(&self, group: &[u8]) -> u32 {
        (hash64(group) % u64::from(self.buckets.max(1))) as u32
    }
}

/// Holds the opened corpus.
pub struct Opened {
    /// The options of the run.
    pub options: RunOptions,
    /// The layout from the driver.
    pub layout: Layout,
    /// The opened files.
    pub source: Source,
    pipeline: Pipeline,
    tasks: Vec<Vec<Split>>,
}

impl Opened {
    /// Opens the input files listed in the options without reading them.
    ///
    /// # Errors
    /// Returns an error if inputs are missing or differ from the inputs on the driver.
    pub fn open(options: RunOptions, layout: Layout) -> Result<Opened> {
        let mut options = options;
        options.input.folder = layout.folder.clone();
        let Inputs { source, .. } = look(&options, &AtomicBool::new(false))?;
        let pipeline = Pipeline::new(&options.recipe.text)?;
        let corpus = corpus(&source);
        if corpus != layout.corpus {
            return Err(Error::usage(format!(
                "the input files differ from those on the machine that started the run ({} files, {} rows here); all machines must see the same file system, and the files must not change",
                source.files.len(),
                source.documents()
            )));
        }
        let documents = options.sampling.limit.map_or(source.documents(), |limit| limit.min(source.documents()));
        let tasks = tasks(&source, documents, layout.task_bytes);
        Ok(Opened { options, layout, source, pipeline, tasks })
    }

    /// Returns the session of one task, which reads its part of the corpus.
    ///
    /// # Errors
    /// Returns an error if there is no such task.
    pub fn task<'o>(&'o self, engine: &'o Engine<'o>, task: usize) -> Result<Session<'o>> {
        let no = || Error::Internal(format!("there is no task {task}; the number of tasks is {}", self.tasks.len()));
        let part = self.tasks.get(task).ok_or_else(no)?;
        Ok(self.session(engine).of_pieces(part.clone()))
    }

    /// Returns the session of a step that works on rows.
    pub fn session<'o>(&'o self, engine: &'o Engine<'o>) -> Session<'o> {
        Session::new(engine, &self.options, &self.source, &self.pipeline)
    }
}

/// Returns the pieces of each task, which are the same in all processes.
pub(crate) fn tasks(source: &Source, documents: u64, bytes: u64) -> Vec<Vec<Split>> {
    let (mut tasks, mut filled): (Vec<Vec<Split>>, u64) = (Vec::new(), 0);
    for split in source.splits(bytes.max(1) as usize) {
        if split.first_doc >= documents {
            continue;
        }
        if tasks.is_empty() || filled.saturating_add(split.text_bytes) > bytes {
            tasks.push(Vec::new());
            filled = 0;
        }
        filled += split.text_bytes;
        if let Some(task) = tasks.last_mut() {
            task.push(split);
        }
    }
    tasks
}

/// Returns a hash of the data that must be identical in all processes.
pub(crate) fn corpus(source: &Source) -> String {
    let lines = source.files.iter().map(|file| {
        let (label, path) = (&file.label, absolute(&file.path));
        format!("{label:?} {path:?} {} {} {}\n", file.bytes, file.rows, file.html)
    });
    let lines: String = lines.collect();
    format!("{:032x}", hash128(lines.as_bytes()))
}

/// Holds the resources of a task.
pub(crate) struct Machine {
    resources: Resources,
    progress: Progress,
    cancel: AtomicBool,
}

impl Machine {
    /// Reserves one thread and the amount of memory given in the options.
    ///
    /// # Errors
    /// Returns an error if there is too little memory.
    pub(crate) fn new(options: &RunOptions) -> Result<Machine> {
        let resources = Resources::new(options.resources.memory, 1)?;
        Ok(Machine { resources, progress: Progress::hidden(), cancel: AtomicBool::new(false) })
    }

    /// Returns the engine, with temporary files in this folder. A damaged file ends the task.
    pub(crate) fn engine<'e>(&'e self, dir: &'e Path) -> Engine<'e> {
        self.resources.engine(false, true, dir, &self.progress, &self.cancel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kit::Bench;

    #[test]
    fn every_row_within_the_limit_is_in_one_task() {
        let bench = Bench::new();
        let opened = bench.in_tasks(&[("algorithms", "exact")]);
        for bytes in [1, 500, 4_000, 9_000, u64::MAX] {
            // A file begins at row 40.
            for limit in [Bench::ROWS, 41, 40, 39, 1, 0] {
                let tasks = tasks(&opened.source, limit, bytes);
                let splits = tasks.iter().flatten();
                assert!(splits.clone().all(|split| split.first_doc < limit), "{bytes} {limit}");
                let rows: Vec<u64> =
                    splits.flat_map(|split| split.first_doc..(split.first_doc + split.rows).min(limit)).collect();
                assert_eq!(rows, (0..limit).collect::<Vec<_>>(), "{bytes} {limit}");
                assert!(tasks.iter().all(|task| !task.is_empty()));
                let text = |task: &[Split]| task.iter().map(|split| split.text_bytes).sum::<u64>();
                let is_full = |pair: &[Vec<Split>]| text(&pair[0]) + pair[1][0].text_bytes > bytes;
                assert!(tasks.windows(2).all(is_full), "a task begins only if the last one is full");
                assert!(tasks.iter().all(|task| task.len() == 1 || text(task) <= bytes));
            }
        }
    }

    #[test]
    fn a_process_with_other_files_is_refused() {
        let bench = Bench::new();
        let (opened, options) = (bench.in_tasks(&[("algorithms", "exact")]), bench.options("out", &[]));
        let open = || Opened::open(options.clone(), opened.layout.clone()).map(|_| ());
        assert!(open().is_ok());
        std::fs::write(bench.at("9.jsonl"), r#"{"text": "one more"}"#).unwrap();
        let error = open().unwrap_err().to_string();
        assert!(
            error.contains("differ from those on the machine that started the run (6 files, 91 rows here)"),
            "{error}"
        );
    }
}
