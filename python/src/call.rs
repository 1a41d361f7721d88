//! Calls into the library, which may take hours. The work runs on its own thread while the caller waits without the GIL, so that other
//! Python threads can run and a request to stop is noticed.
//!
//! ```text
//! calling thread: wait 100 ms -> log lines, progress -> signals? -> wait ...        (holds the GIL only between waits)
//! work thread:    the library, which checks `cancel`
//! ```

use std::collections::BTreeMap;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use dupsift::error::{Error, Result};
use dupsift_core::guard::guarded;
use dupsift_engine::engine::{Event, Progress, Sink, Unit, kept, stage_at_hand};
use dupsift_engine::job;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::{Package, raised};
use crate::logging;

/// The interval at which signals are checked.
const EVERY: Duration = Duration::from_millis(100);
/// The time that the caller waits for the work to end after a request to stop. If a step takes longer, the caller stops
/// waiting; the thread ends after that step.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// The number of work threads that have not ended.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
/// The process that loaded this module. A process forked from it must not remove its folders.
static PROCESS: OnceLock<u32> = OnceLock::new();

/// Records the process. This function is called once, when the module is loaded.
pub fn set_up() {
    PROCESS.get_or_init(process::id);
}

/// Removes the partial results of work that is still running on its thread. The interpreter calls this function at exit.
#[pyfunction]
pub fn leave(py: Python<'_>) {
    if AT_WORK.load(Ordering::SeqCst) > 0 && PROCESS.get() == Some(&process::id()) {
        py.detach(job::left);
    }
}

/// Runs the work and waits for it. `told` is called on the calling thread with the progress of each stage: the number and the name of the
/// stage, the number of units done, the total number of units, the unit, whether the stage has ended, the current step of the job, and the
/// number of steps.
///
/// # Errors
/// Returns the error from the work as an exception, or the exception raised by a signal handler, for example KeyboardInterrupt.
pub fn call<T: Send + 'static>(
    py: Python<'_>,
    told: Option<Py<PyAny>>,
    work: impl FnOnce(&AtomicBool, &Progress) -> Result<T> + Send + 'static,
) -> PyResult<T> {
    logging::start();
    let stages = Arc::new(Stages::default());
    let progress = told.as_ref().map_or_else(Progress::hidden, |_| Progress::to(stages.clone()));
    let cancel = Arc::new(AtomicBool::new(false));
    let (done, mut result) = sync_channel(1);
    let flag = cancel.clone();
    let thread = move || {
        AT_WORK.fetch_add(1, Ordering::SeqCst);
        let ended = guarded(|| work(&flag, &progress));
        AT_WORK.fetch_sub(1, Ordering::SeqCst);
        // If there is no receiver, the caller has stopped waiting.
        let _ = done.send(ended);
    };
    Builder::new()
        .name("dupsift".into())
        .spawn(thread)
        .map_err(|error| raised(py, Error::Table { action: "start a thread".into(), source: Box::new(error) }))?;
    let mut stopped: Option<(PyErr, Instant)> = None;
    loop {
        let said;
        (said, result) = py.detach(move || (result.recv_timeout(EVERY), result));
        // Each of the following calls may run Python code, including a signal handler.
        let mut heard = logging::hand_over(py);
        if let (Ok(()), Some(told)) = (&heard, &told) {
            heard = stages.hand_over(py, told);
        }
        heard = heard.and_then(|()| py.check_signals());
        match (said, stopped) {
            (Err(RecvTimeoutError::Timeout), None) => {
                stopped = heard.err().map(|error| (error, Instant::now()));
                cancel.fetch_or(stopped.is_some(), Ordering::Relaxed);
            }
            // After a second request to stop, the caller no longer waits for the work.
            (Err(RecvTimeoutError::Timeout), Some((error, since))) => {
                if heard.is_err() || since.elapsed() >= PATIENCE {
                    return Err(with_reason(py, error, ending(stage_at_hand())));
                }
                stopped = Some((error, since));
            }
            (_, Some((error, _))) => return Err(with_reason(py, error, left(stage_at_hand(), kept()))),
            (said, None) => return heard.and_then(|()| returned(py, said)),
        }
    }
}

/// Returns the value of the work, or converts its error or panic to an exception.
fn returned<T>(py: Python<'_>, said: Result<Result<Result<T>, String>, RecvTimeoutError>) -> PyResult<T> {
    match said {
        Ok(Ok(result)) => result.map_err(|error| raised(py, error)),
        Ok(Err(panic)) => Err(Package::Error.raise(py, format!("dupsift failed unexpectedly: {panic}"))),
        Err(_) => Err(Package::Error.raise(py, "the worker thread ended without a result".into())),
    }
}

/// The state of a stage: its name, the number of units done, the total number of units, the unit, whether the stage has ended, and the step
/// of the job and the number of steps (both 0 if unknown).
type Stage = (String, u64, u64, Unit, bool, [usize; 2]);

/// Holds the last pending event of each stage, because work threads do not wait for the interpreter.
#[derive(Default)]
struct Stages(Mutex<BTreeMap<u64, Stage>>);

impl Sink for Stages {
    fn tell(&self, event: &Event<'_>) {
        let steps = event.whole.map_or([0; 2], |whole| [whole.leg, whole.legs]);
        let now = (event.stage.to_owned(), event.done, event.total, event.unit, event.ends, steps);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(event.id, now);
    }
}

impl Stages {
    fn hand_over(&self, py: Python<'_>, told: &Py<PyAny>) -> PyResult<()> {
        let stages = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for (id, (stage, done, total, unit, ends, [step, steps])) in stages {
            told.call1(py, (id, stage, done, total, unit.name(), ends, step, steps))?;
        }
        Ok(())
    }
}

/// Adds the reason to a KeyboardInterrupt, as its message. Other exceptions are returned unchanged.
fn with_reason(py: Python<'_>, error: PyErr, reason: String) -> PyErr {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) { PyKeyboardInterrupt::new_err(reason) } else { error }
}

fn place(stage: Option<String>) -> String {
    stage.map_or_else(|| "before the first stage".to_owned(), |stage| format!("in {stage:?}"))
}

fn ending(stage: Option<String>) -> String {
    format!(
        "stopping {}; unfinished output is removed when the current step ends, or when the process exits",
        place(stage)
    )
}

fn left(stage: Option<String>, kept: Option<(f64, u64)>) -> String {
    let place = place(stage);
    match kept {
        None => format!("stopped {place}; no output was written"),
        Some((seconds, bytes)) => format!(
            "stopped {place}; make the same call again to resume ({seconds:.1} CPU s of work saved, {} MB)",
            bytes.div_ceil(1_000_000)
        ),
    }
}
