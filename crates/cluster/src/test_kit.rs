//! Helpers for the unit tests: a small corpus that is divided into tasks, and a cluster within the process.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};

use super::cluster::{Cluster, Frame, Step};
use super::kind::{Kind, What};
use super::known::Known;
use super::map::map;
use super::opened::{Layout, Machine, Opened, corpus};
use super::reduce::reduce;
use super::spool::{Block, Blocks};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::splitmix64;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::run::run;
use dupsift_engine::options::{RunOptions, Settings, Verb, resolve};
use dupsift_engine::reading::inputs::{Inputs, look};
use dupsift_engine::session::Session;

/// The number of buckets for rows.
pub(crate) const BUCKETS: u32 = 5;

/// The approximate number of bytes of text per task.
const TASK_BYTES: u64 = 8_000;

/// Holds a corpus of five files in the folder of a test. One task reads two of them.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

/// Returns a number below `below` that depends on a test and a place in it.
pub(crate) fn random(test: u64, place: u64, below: u64) -> u64 {
    splitmix64(test, place) % below
}

/// Returns a text of 60 words. The texts of a family differ in the words of their variants, and variant 0 has none.
fn text(family: u64, variant: u64) -> String {
    let letter = |word: u64, at| char::from(b'a' + random(99, 5 * word + at, 26) as u8);
    let word = |number: u64| (0..5).map(|at| letter(number, at)).collect::<String>();
    let is_changed = |at: u64| variant > 0 && at == variant * 19 % 60;
    let words =
        (0..60).map(|at| word(if is_changed(at) { 1_000_000 + 100 * family + variant } else { 100 * family + at }));
    words.collect::<Vec<_>>().join(" ")
}

impl Bench {
    /// The number of rows in the corpus.
    pub(crate) const ROWS: u64 = 90;
    /// The rows without a text.
    pub(crate) const REJECTED: [u64; 2] = [17, 44];

    /// Writes a corpus with many copies and similar texts. Every third id occurs twice.
    pub(crate) fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let mut begin = 0;
        for (file, rows) in [10, 30, 5, 15, 30].into_iter().enumerate() {
            let line = |row: u64| {
                let (family, variant) = (random(1, 2 * row, 18), random(1, 2 * row + 1, 4));
                let text = (!Bench::REJECTED.contains(&row)).then(|| text(family, variant));
                let id = if row.is_multiple_of(3) { row / 6 * 6 } else { row };
                serde_json::json!({"id": format!("d{id}"), "text": text, "score": row % 7}).to_string()
            };
            let lines: Vec<String> = (begin..begin + rows).map(line).collect();
            begin += rows;
            std::fs::write(folder.path().join(format!("{file}.jsonl")), lines.join("\n")).unwrap();
        }
        Bench { folder }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a new folder for temporary files.
    pub(crate) fn dir(&self) -> tempfile::TempDir {
        tempfile::tempdir_in(self.folder.path()).unwrap()
    }

    /// Returns the options of a run over the corpus that writes `out`.
    pub(crate) fn options(&self, out: &str, given: &[(&str, &str)]) -> RunOptions {
        let mut settings = Settings::default();
        let (input, out) = (self.at("*.jsonl").display().to_string(), self.at(out).display().to_string());
        let fixed = [("out", out.as_str()), ("threads", "1"), ("memory", "256MiB"), ("max-removed-share", "1")];
        for (name, value) in fixed.iter().chain(given) {
            settings.give_by_name(Verb::Run, name, &(*value).into()).unwrap();
        }
        resolve(vec![input], &settings.with_defaults(Verb::Run).unwrap()).unwrap()
    }

    /// Opens the corpus as a process of a cluster does.
    pub(crate) fn opened(&self, given: &[(&str, &str)], task_bytes: u64) -> Opened {
        let options = self.options("out", given);
        let source = look(&options, &AtomicBool::new(false)).unwrap().source;
        let folder = std::env::current_dir().unwrap();
        let layout = Layout { corpus: corpus(&source), folder, task_bytes, buckets: BUCKETS };
        Opened::open(options, layout).unwrap()
    }

    /// Opens the corpus, divided into several tasks.
    pub(crate) fn in_tasks(&self, given: &[(&str, &str)]) -> Opened {
        self.opened(given, TASK_BYTES)
    }

    /// Performs the run on one machine.
    pub(crate) fn on_one_machine(&self, out: &str, given: &[(&str, &str)]) -> Result<()> {
        let (options, cancel) = (self.options(out, given), AtomicBool::new(false));
        let inputs = look(&options, &cancel)?;
        run(&options, inputs, &Progress::hidden(), &cancel, &|_, _, report| Ok(report)).map(|_| ())
    }

    /// Performs the run on a cluster with this fault.
    pub(crate) fn on_cluster(&self, out: &str, given: &[(&str, &str)], fault: Fault) -> Result<()> {
        let (options, cancel, dir) = (self.options(out, given), AtomicBool::new(false), self.dir());
        let inputs: Inputs = look(&options, &cancel)?;
        let cluster = InProcess::new(&options, dir.path(), fault);
        super::run(&options, inputs, &cluster, &Progress::hidden(), &cancel, &|_, _, report| Ok(report))?;
        assert!(cluster.frames.lock().unwrap().is_empty(), "all blocks are released");
        Ok(())
    }
}

/// Calls `work` with the session of a step over an opened corpus.
pub(crate) fn with_session<T>(opened: &Opened, dir: &Path, work: impl FnOnce(&Session<'_>) -> T) -> T {
    let machine = Machine::new(&opened.options).unwrap();
    let engine = machine.engine(dir);
    work(&opened.session(&engine))
}

/// Returns all blocks of a task.
pub(crate) fn all(mut blocks: Blocks) -> Vec<Block> {
    let mut found = Vec::new();
    while let Some(block) = blocks.take().unwrap() {
        found.push(block);
    }
    found
}

/// Returns the rows of a kind with their buckets, in order.
pub(crate) fn rows_of(blocks: &[Block], what: What, width: usize) -> Vec<(u32, Vec<u8>)> {
    let of_kind = blocks.iter().filter(|block| block.kind.what == what);
    let rows = |block: &Block| {
        assert_eq!(block.rows.len() % width, 0, "only complete rows");
        let bucket = block.bucket;
        block.rows.chunks_exact(width).map(|row| (bucket, row.to_vec())).collect::<Vec<_>>()
    };
    let mut found: Vec<_> = of_kind.flat_map(rows).collect();
    found.sort_unstable();
    found
}

/// Runs a step on blocks.
pub(crate) fn reduced(opened: &Opened, step: &Step, known: &Known, blocks: &[Block], dir: &Path) -> Result<Vec<Block>> {
    let mut left = blocks.to_vec();
    reduce(opened, step, known, &mut || Ok(left.pop()), dir).map(all)
}

/// Selects the fault of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    None,
    /// Each task runs twice, and the first result is dropped.
    Repeated,
    /// The blocks of a task are missing in the first pass.
    Lost,
    /// In the first pass, a task also reads the rows of another task.
    Twice,
}

/// Distributes work within the process. A frame is a list of blocks, and a task processes one bucket.
pub(crate) struct InProcess<'h> {
    options: &'h RunOptions,
    dir: &'h Path,
    fault: Fault,
    opened: OnceLock<Opened>,
    frames: Mutex<HashMap<Frame, Vec<Block>>>,
    made: AtomicU64,
}

impl<'h> InProcess<'h> {
    pub(crate) fn new(options: &'h RunOptions, dir: &'h Path, fault: Fault) -> InProcess<'h> {
        let (opened, frames, made) = Default::default();
        InProcess { options, dir, fault, opened, frames, made }
    }

    fn opened(&self) -> &Opened {
        self.opened.get().unwrap()
    }

    fn known(&self, path: Option<&Path>) -> Result<Known> {
        path.map_or_else(|| Ok(Known::none()), |path| Known::read(path, self.opened(), self.dir))
    }

    /// Stores blocks as a frame.
    pub(crate) fn keep(&self, blocks: Vec<Block>) -> Frame {
        let frame = self.made.fetch_add(1, Relaxed);
        self.frames.lock().unwrap().insert(frame, blocks);
        frame
    }
}

impl Cluster for InProcess<'_> {
    fn name(&self) -> &str {
        "in process"
    }

    fn sizes(&self) -> Result<(u64, u32)> {
        Ok((TASK_BYTES, BUCKETS))
    }

    fn begin(&self, layout: &Layout) -> Result<()> {
        let opened = Opened::open(self.options.clone(), layout.clone())?;
        assert!(self.opened.set(opened).is_ok(), "the cluster begins once");
        Ok(())
    }

    fn map(&self, step: &Step, tasks: usize, known: Option<&Path>) -> Result<Frame> {
        let Step::Map(pass) = step else { panic!("{step:?} takes rows") };
        assert!(tasks > 3, "{tasks}");
        let (known, mut out) = (self.known(known)?, Vec::new());
        for task in 0..tasks {
            let run = |task| map(self.opened(), pass, &known, task, self.dir).map(all);
            match self.fault {
                Fault::Lost if pass.notes && task == 2 => continue,
                Fault::Twice if pass.notes && task == 2 => out.extend(run(1)?),
                Fault::Repeated => drop(run(task)?),
                _ => {}
            }
            out.extend(run(task)?);
        }
        Ok(self.keep(out))
    }

    fn reduce(&self, step: &Step, of: &[(Frame, Vec<Kind>)], known: Option<&Path>) -> Result<Frame> {
        let (known, mut by_bucket, mut out) = (self.known(known)?, BTreeMap::<u32, Vec<Block>>::new(), Vec::new());
        for (frame, kinds) in of {
            for block in self.frames.lock().unwrap()[frame].iter().filter(|block| kinds.contains(&block.kind)) {
                let bucket = if step.brings_together() { block.bucket } else { 0 };
                by_bucket.entry(bucket).or_default().push(block.clone());
            }
        }
        for blocks in by_bucket.into_values() {
            if self.fault == Fault::Repeated {
                drop(reduced(self.opened(), step, &known, &blocks, self.dir)?);
            }
            out.extend(reduced(self.opened(), step, &known, &blocks, self.dir)?);
        }
        Ok(self.keep(out))
    }

    fn collect(&self, of: Frame, kinds: &[Kind], each: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        let blocks = self.frames.lock().unwrap()[&of].clone();
        blocks.into_iter().rev().filter(|block| kinds.contains(&block.kind)).try_for_each(each)
    }

    fn forget(&self, frame: Frame) -> Result<()> {
        self.frames.lock().unwrap().remove(&frame).map(drop).ok_or_else(|| Error::Internal("forgotten twice".into()))
    }
}
