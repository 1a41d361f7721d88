//! Log lines on stderr, as text for people or as JSON for machines, written so that they and the bars do not tear each other.
//!
//! A line goes through [`Progress::suspend`]: the bars step aside, the line is written whole, the bars come back. Stderr that
//! is closed is no reason to end a run.

use std::io::{self, IsTerminal, Write};

use tracing_subscriber::fmt::MakeWriter;

use crate::job::Progress;
use crate::job::options::Settings;

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line, for machines.
    Json,
}

/// What progress looks like: bars where there is a terminal, log lines where a machine reads, else nothing.
fn progress(wanted: bool, format: LogFormat) -> Progress {
    match (wanted, io::stderr().is_terminal(), format) {
        (false, ..) | (true, false, LogFormat::Text) => Progress::hidden(),
        (true, true, _) => Progress::bars(),
        (true, false, LogFormat::Json) => Progress::lines(),
    }
}

/// Sends log lines of this process to stderr in the form that was asked for, beside what shows the progress. Only the lines of
/// the first call have an effect.
pub fn start(settings: &Settings) -> (LogFormat, Progress) {
    let format = if settings.text("log-format") == Some("json") { LogFormat::Json } else { LogFormat::Text };
    let progress = progress(!settings.switch("no-progress"), format);
    send(format, &progress);
    (format, progress)
}

fn send(format: LogFormat, progress: &Progress) {
    let terminal = io::stderr().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    // A machine gets a line for each stage; a person gets bars and the summary.
    let level = if format == LogFormat::Json { tracing::Level::DEBUG } else { tracing::Level::INFO };
    let lines = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(BesideBars(progress.clone()))
        .with_ansi(terminal && !plain)
        .with_target(false)
        // Its last resort is to print to stderr, which is what has just failed.
        .log_internal_errors(false);
    // An error means that lines have a way out already.
    let _ = match format {
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
        // Who sits at the terminal knows the time; a file of log lines does not.
        LogFormat::Text if terminal => lines.compact().without_time().try_init(),
        LogFormat::Text => lines.compact().try_init(),
    };
}

#[derive(Clone)]
struct BesideBars(Progress);

struct Line<'p>(&'p Progress);

impl<'p> MakeWriter<'p> for BesideBars {
    type Writer = Line<'p>;

    fn make_writer(&'p self) -> Line<'p> {
        Line(&self.0)
    }
}

impl Write for Line<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| {
            let _ = io::stderr().lock().write_all(line);
        });
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
