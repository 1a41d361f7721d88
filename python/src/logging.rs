//! Passes the library's log lines to `logging.getLogger("dupsift")`.
//!
//! Work threads do not wait for the interpreter. These threads add their log lines to a list, and the thread that waits for the work passes
//! these lines on.

use std::fmt::{Debug, Write};
use std::sync::{Mutex, PoisonError};

use dupsift_engine::options::Spelling;
use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The pending lines, each with Python's log level.
static LINES: Mutex<Vec<(u8, String)>> = Mutex::new(Vec::new());
/// The maximum number of pending lines; any further lines are dropped.
const MOST: usize = 10_000;

/// Starts collecting log lines, unless the command-line program runs in this process and already logs them.
pub fn start() {
    // An error means that lines are already logged elsewhere.
    let _ = tracing::subscriber::set_global_default(Gatherer);
}

/// Passes the pending lines to Python.
///
/// # Errors
/// Returns any exception that the user's log handlers raise.
pub fn hand_over(py: Python<'_>) -> PyResult<()> {
    let lines = std::mem::take(&mut *LINES.lock().unwrap_or_else(PoisonError::into_inner));
    if lines.is_empty() {
        return Ok(());
    }
    let logger = py.import("logging")?.call_method1("getLogger", ("dupsift",))?;
    for (level, line) in lines {
        logger.call_method1("log", (level, "%s", line))?;
    }
    Ok(())
}

struct Gatherer;

impl Subscriber for Gatherer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("dupsift") && *metadata.level() <= Level::DEBUG
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let level = match *event.metadata().level() {
            Level::ERROR => 40,
            Level::WARN => 30,
            Level::INFO => 20,
            _ => 10,
        };
        let mut line = Line::default();
        event.record(&mut line);
        let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < MOST {
            lines.push((level, Spelling::Keywords.of(&line.0).into_owned()));
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Holds the message, then each field as `name=value`.
#[derive(Default)]
struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let gap = if self.0.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => {
                let fields = std::mem::take(&mut self.0);
                let gap = if fields.is_empty() { "" } else { " " };
                write!(self.0, "{value:?}{gap}{fields}")
            }
            name => write!(self.0, "{gap}{name}={value:?}"),
        };
    }
}
