//! Runs the passes over documents on Apache Spark. The driver calls a Python object that moves blocks, and Spark tasks
//! call back into the library.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use dupsift::error::{Error, Result};
use dupsift::start;
use dupsift_cluster::{Block, Blocks, Cluster, Frame, Kind, Known, Layout, Opened, Step};
use dupsift_core::guard::guarded;
use dupsift_engine::job;
use dupsift_engine::options::{Verb, resolve};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::call::call;
use crate::error::{Package, raised};
use crate::settings::{Given, settings};

type Keywords = Vec<(String, Given)>;

/// Wraps `_cluster.Cluster`, the object that moves blocks.
struct OnSpark {
    object: Py<PyAny>,
}

const STEP: &str = "run a step on Spark";

impl OnSpark {
    fn ask<T>(&self, ask: impl for<'py> FnOnce(&Bound<'py, PyAny>) -> PyResult<T>) -> Result<T> {
        Python::attach(|py| ask(self.object.bind(py))).map_err(Error::table(STEP))
    }
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(Error::table("write JSON"))
}

fn codes(kinds: &[Kind]) -> Vec<i32> {
    kinds.iter().map(|kind| kind.code()).collect()
}

impl Cluster for OnSpark {
    fn name(&self) -> &str {
        "spark"
    }

    fn sizes(&self) -> Result<(u64, u32)> {
        self.ask(|object| object.call_method0("sizes")?.extract())
    }

    fn begin(&self, told: &Layout) -> Result<()> {
        let told = json(told)?;
        self.ask(|object| object.call_method1("begin", (told,)).map(drop))
    }

    fn map(&self, step: &Step, tasks: usize, known: Option<&Path>) -> Result<Frame> {
        let step = json(step)?;
        self.ask(|object| object.call_method1("map", (step, tasks, known))?.extract())
    }

    fn reduce(&self, step: &Step, of: &[(Frame, Vec<Kind>)], known: Option<&Path>) -> Result<Frame> {
        let of: Vec<(Frame, Vec<i32>)> = of.iter().map(|(frame, kinds)| (*frame, codes(kinds))).collect();
        let (together, step) = (step.brings_together(), json(step)?);
        self.ask(|object| object.call_method1("reduce", (step, of, known, together))?.extract())
    }

    fn collect(&self, of: Frame, kinds: &[Kind], each: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        let rows = self.ask(|object| Ok(object.call_method1("collect", (of, codes(kinds)))?.unbind()))?;
        while let Some(block) = block_of(&rows, STEP)? {
            each(block)?;
        }
        Ok(())
    }

    fn forget(&self, frame: Frame) -> Result<()> {
        self.ask(|object| object.call_method1("forget", (frame,)).map(drop))
    }
}

/// Finds duplicates. The passes over documents run on Spark.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn spark_run(
    py: Python<'_>,
    inputs: Vec<String>,
    options: Keywords,
    cluster: Py<PyAny>,
    told: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    call(py, told, move |cancel, progress| {
        let options = resolve(inputs, &settings(Verb::Run, options)?)?;
        let report = start(&options, Some(&OnSpark { object: cluster }), progress, cancel)?;
        Ok(job::stands_in(&report, &options.output.folder))
    })
}

/// Holds the corpus that a Spark process has opened.
#[pyclass(frozen)]
pub struct SparkCorpus(Opened);

#[pymethods]
impl SparkCorpus {
    /// Opens the files.
    #[new]
    fn new(py: Python<'_>, inputs: Vec<String>, options: Keywords, told: &str) -> PyResult<SparkCorpus> {
        work(py, || {
            let told: Layout = serde_json::from_str(told).map_err(Error::table("read the settings from the driver"))?;
            Opened::open(resolve(inputs, &settings(Verb::Run, options)?)?, told).map(SparkCorpus)
        })
    }
}

/// Holds the facts that tasks need about the complete corpus.
#[pyclass(frozen)]
pub struct SparkKnown(Known);

#[pymethods]
impl SparkKnown {
    /// Reads the facts from the driver's file, with temporary files in `folder`. If `path` is None, there are no facts.
    #[new]
    fn new(py: Python<'_>, corpus: &SparkCorpus, path: Option<PathBuf>, folder: PathBuf) -> PyResult<SparkKnown> {
        let known = || path.map_or_else(|| Ok(Known::none()), |path| Known::read(&path, &corpus.0, &folder));
        work(py, known).map(SparkKnown)
    }
}

/// Holds the blocks that a task returns.
#[pyclass(frozen)]
pub struct SparkBlocks(Mutex<Blocks>);

#[pymethods]
impl SparkBlocks {
    /// Returns the next block in the format that [`block_of`] reads; None after the last block.
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let block = work(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).take())?;
        let pack = |block: Block| {
            PyBytes::new_with(py, Block::HEAD + block.rows.len(), |bytes| {
                let (head, rows) = bytes.split_at_mut(Block::HEAD);
                head.copy_from_slice(&block.head());
                rows.copy_from_slice(&block.rows);
                Ok(())
            })
        };
        block.map(pack).transpose()
    }
}

/// Runs a map step for one task.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn spark_map(
    py: Python<'_>,
    corpus: &SparkCorpus,
    known: &SparkKnown,
    step: &str,
    task: usize,
    folder: PathBuf,
) -> PyResult<SparkBlocks> {
    let blocks = work(py, || match step_of(step)? {
        Step::Map(pass) => dupsift_cluster::map(&corpus.0, &pass, &known.0, task, &folder),
        _ => Err(Error::Internal("this step requires rows".into())),
    })?;
    Ok(SparkBlocks(Mutex::new(blocks)))
}

/// Runs a reduce step on the blocks of some buckets.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn spark_reduce(
    py: Python<'_>,
    corpus: &SparkCorpus,
    known: &SparkKnown,
    step: &str,
    rows: Py<PyAny>,
    folder: PathBuf,
) -> PyResult<SparkBlocks> {
    let mut next = move || block_of(&rows, "take blocks");
    let blocks = work(py, || dupsift_cluster::reduce(&corpus.0, &step_of(step)?, &known.0, &mut next, &folder))?;
    Ok(SparkBlocks(Mutex::new(blocks)))
}

/// Returns the next block from a Python iterator; `None` after the last block.
fn block_of(blocks: &Py<PyAny>, what: &'static str) -> Result<Option<Block>> {
    let next = Python::attach(|py| match blocks.bind(py).try_iter()?.next() {
        Some(block) => Ok(Some(block?.extract::<PyBackedBytes>()?)),
        None => Ok(None),
    });
    let Some(block) = next.map_err(|error: PyErr| Error::table(what)(error))? else { return Ok(None) };
    Block::of_bytes(&block).map(Some)
}

fn step_of(step: &str) -> Result<Step> {
    serde_json::from_str(step).map_err(Error::table("read a step"))
}

/// Runs work without the GIL. A panic becomes an exception.
fn work<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    match py.detach(|| guarded(work)) {
        Ok(result) => result.map_err(|error| raised(py, error)),
        Err(panic) => Err(Package::Error.raise(py, format!("dupsift failed unexpectedly: {panic}"))),
    }
}
