//! Writes log lines to stderr, as text or as JSON, without disturbing progress bars.
//!
//! A line is written within [`Bars::suspend`], which hides the bars, writes the complete line, and shows the bars again. A closed stderr
//! does not end a run.
//!
//! Every line on stderr is JSON with `--log-format json`, including errors in the command line and the configuration file. The format is
//! therefore determined before the command line and the file are parsed.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::escape::{escaped, one_line};
use super::progress::{Bars, Lines};
use dupsift_core::error::did_you_mean;
use dupsift_engine::engine::{Progress, tell_stages};
use dupsift_engine::options::{Settings, Spelling};

/// Selects the format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// Human-readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The environment variable that selects log lines, unless `--quiet` or `--verbose` is given.
const ENVIRONMENT: &str = "RUST_LOG";
/// The beginnings of the names of crates that access the network. At no level are their lines logged, because these may contain credentials.
const NETWORK: [&str; 6] = ["h2", "hyper", "object_store", "reqwest", "rustls", "want"];
/// The prefix of this program's module names.
const OURS: &str = env!("CARGO_CRATE_NAME");

/// Whether lines are JSON in this process.
static JSON: AtomicBool = AtomicBool::new(false);
/// Whether only warnings and errors are logged.
static QUIET: AtomicBool = AtomicBool::new(false);
/// The progress bars, which are hidden while a line is written.
static BARS: RwLock<Option<Arc<Bars>>> = RwLock::new(None);

/// Returns whether lines are JSON, or `false` if this is not known yet.
pub fn is_json() -> bool {
    JSON.load(Ordering::Relaxed)
}

/// Returns whether only warnings and errors are logged.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Determines the format from the words of the command line, and makes panic messages use this format.
pub fn listen(typed: impl Iterator<Item = OsString>) {
    if types_json(typed) {
        send(LogFormat::Json);
    }
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if is_json() {
            tracing::error!("{}", panic.to_string().replace('\n', " "));
        } else {
            told(panic);
        }
    }));
}

fn types_json(mut typed: impl Iterator<Item = OsString>) -> bool {
    let mut words = typed.by_ref().take_while(|word| word != "--");
    while let Some(word) = words.next() {
        let value = match word.to_str() {
            Some("--log-format") => words.next(),
            Some(word) => word.strip_prefix("--log-format=").map(OsString::from),
            None => None,
        };
        if let Some(value) = value {
            return value == "json";
        }
    }
    false
}

/// Determines the format from the text of a configuration file, even if other parts of the file are invalid.
pub fn listen_to_config(text: &str) {
    let is = |line: &str| {
        line.split_once('=').is_some_and(|(key, value)| key.trim() == "log-format" && value.contains("json"))
    };
    if text.lines().any(is) {
        send(LogFormat::Json);
    }
}

/// Returns how progress is shown: as bars on a terminal, as log lines for JSON, and otherwise not at all.
fn progress(wanted: bool, format: LogFormat) -> Progress {
    match (wanted, io::stderr().is_terminal(), format) {
        (false, ..) | (true, false, LogFormat::Text) => Progress::hidden(),
        (true, true, _) => {
            let bars = Arc::new(Bars::default());
            *BARS.write().unwrap_or_else(PoisonError::into_inner) = Some(bars.clone());
            Progress::to(bars)
        }
        (true, false, LogFormat::Json) => Progress::to(Arc::new(Lines::default())),
    }
}

/// Starts logging to stderr in the requested format, together with the progress display.
pub fn start(settings: &Settings) -> (LogFormat, Progress) {
    let format = if settings.text("log-format") == Some("json") { LogFormat::Json } else { LogFormat::Text };
    let (quiet, verbose) = (settings.switch("quiet"), settings.switch("verbose"));
    QUIET.store(quiet, Ordering::Relaxed);
    let progress = progress(!quiet && !settings.switch("no-progress"), format);
    match (quiet, verbose) {
        (true, _) => _ = send_from(format, &level(Level::WARN)),
        (false, true) => _ = send_from(format, &level(Level::DEBUG)),
        (false, false) => send(format),
    }
    (format, progress)
}

/// Starts logging like [`start`], but for a command that may run for hours: if there are no bars, a line is logged at the end of each
/// stage.
pub fn start_long(settings: &Settings) -> (LogFormat, Progress) {
    if settings.switch("verbose") || !io::stderr().is_terminal() {
        tell_stages();
    }
    start(settings)
}

/// Returns the default level. JSON logs contain a line for each stage; text logs do not, because users see bars and the summary.
fn usual(format: LogFormat) -> Level {
    if format == LogFormat::Json { Level::DEBUG } else { Level::INFO }
}

/// Starts logging to stderr at the level in `RUST_LOG`. Only the first call has an effect.
pub fn send(format: LogFormat) {
    let typed = std::env::var(ENVIRONMENT).ok().filter(|typed| !typed.trim().is_empty());
    match typed.as_deref().map(asked) {
        None => _ = send_from(format, &level(usual(format))),
        Some(Ok(asked)) => _ = send_from(format, &asked),
        Some(Err(why)) => {
            if send_from(format, &level(usual(format))) {
                tracing::warn!("{why}");
            }
        }
    }
}

/// Returns a filter for this level and more severe levels.
fn level(level: Level) -> Targets {
    Targets::new().with_default(level)
}

/// Parses `RUST_LOG`, which contains levels for all lines or for parts of the program. Fatal errors are always logged.
fn asked(typed: &str) -> Result<Targets, String> {
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_level = |text: &str| !text.is_empty() && text.parse::<LevelFilter>().is_ok();
    let is_known = |part: &str| match part.rsplit_once('=') {
        Some((_, of_one)) => is_level(of_one),
        None => part.starts_with(OURS) || is_level(part),
    };
    let wrong = |part: &str| {
        let hint = did_you_mean(part.rsplit('=').next().unwrap_or(part), LEVELS);
        let levels = LEVELS.join(", ");
        format!(
            "{ENVIRONMENT}={typed}: {part:?} is not a log level{hint}; expected a comma-separated list of {levels}, or PART=LEVEL such as {OURS}_engine::job=debug; the default level is used"
        )
    };
    let parts: Vec<&str> = typed.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    if let Some(part) = parts.iter().find(|part| !is_known(part)) {
        return Err(wrong(part));
    }
    let asked: Targets = parts.join(",").parse().map_err(|_| wrong(typed))?;
    let ends = concat!(env!("CARGO_CRATE_NAME"), "::cli");
    Ok(if asked.would_enable(ends, &Level::ERROR) { asked } else { asked.with_target(ends, Level::ERROR) })
}

/// Starts logging. Only the first call has an effect; returns whether this is the first call.
fn send_from(format: LogFormat, filter: &Targets) -> bool {
    let filter = NETWORK.iter().fold(filter.clone(), |filter, name| filter.with_target(*name, LevelFilter::OFF));
    let terminal = io::stderr().is_terminal();
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let colours = terminal && !plain && format == LogFormat::Text;
    let lines = tracing_subscriber::fmt()
        .with_max_level(Level::TRACE)
        .with_writer(BesideBars { format, colours })
        .with_ansi(colours)
        .with_target(false)
        // Prevents the logger from reporting a failed write to stderr on stderr itself.
        .log_internal_errors(false);
    // An error means that logging has already been started.
    let sent = match format {
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true).with_current_span(false).with_span_list(false);
            lines.finish().with(filter).try_init()
        }
        // Lines need timestamps in a log file, but not on a terminal.
        LogFormat::Text if terminal => lines.compact().without_time().finish().with(filter).try_init(),
        LogFormat::Text => lines.compact().finish().with(filter).try_init(),
    };
    if sent.is_ok() {
        JSON.store(format == LogFormat::Json, Ordering::Relaxed);
    }
    sent.is_ok()
}

#[derive(Clone, Copy)]
struct BesideBars {
    format: LogFormat,
    colours: bool,
}

impl<'w> MakeWriter<'w> for BesideBars {
    type Writer = BesideBars;

    fn make_writer(&'w self) -> BesideBars {
        *self
    }
}

impl BesideBars {
    /// Returns a line with options spelled as flags. The line is escaped by [`escaped`], except for colors, which come from the formatter.
    /// The formatter escapes its arguments.
    fn shown(self, line: &str) -> String {
        let line = &*Spelling::Flags.of(line.strip_suffix('\n').unwrap_or(line));
        let shown = match self {
            BesideBars { colours: true, .. } => {
                line.split('\u{1b}').map(|part| one_line(part)).collect::<Vec<_>>().join("\u{1b}")
            }
            BesideBars { format: LogFormat::Json, .. } => escaped(line).into_owned(),
            BesideBars { .. } => one_line(line).into_owned(),
        };
        shown + "\n"
    }
}

impl Write for BesideBars {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let shown = self.shown(&String::from_utf8_lossy(line));
        let write = || {
            let _ = io::stderr().lock().write_all(shown.as_bytes());
        };
        match &*BARS.read().unwrap_or_else(PoisonError::into_inner) {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_is_found_among_words_that_make_no_sense() {
        let json = |line: &str| types_json(line.split(' ').map(OsString::from));
        assert!(json("dupsift rum --log-format json") && json("dupsift run --log-format=json --nonsense"));
        assert!(!json("dupsift run a") && !json("dupsift run --log-format text") && !json("dupsift run --log-format"));
        assert!(!json("dupsift run -- --log-format=json"));
    }

    #[test]
    fn the_environment_names_levels_and_parts() {
        let told = |typed: &str, part: &str, level| asked(typed).map(|asked| asked.would_enable(part, &level));
        assert_eq!(told("debug", "dupsift_engine::job", Level::DEBUG), Ok(true));
        assert_eq!(told("warn", "dupsift_engine::job", Level::INFO), Ok(false));
        assert_eq!(told(" info ,,", "dupsift_engine::job", Level::INFO), Ok(true));
        assert_eq!(told("warn,dupsift_engine::job=debug", "dupsift_engine::job::run", Level::DEBUG), Ok(true));
        assert_eq!(told("warn,dupsift_engine::job=debug", "dupsift_engine::engine", Level::DEBUG), Ok(false));
        // Fatal errors are logged at every level.
        assert_eq!(told("off", "dupsift::cli::output", Level::ERROR), Ok(true));
        assert_eq!(told("off", "dupsift_engine::job", Level::ERROR), Ok(false));
        assert!(asked("debg").unwrap_err().contains("did you mean \"debug\"?"));
        assert!(asked("dupsift=deb").is_err() && asked("dupsift=").is_err() && asked("other").is_err());
    }

    #[test]
    fn lines_are_one_line_each() {
        let writer = |format, colours| BesideBars { format, colours };
        assert_eq!(writer(LogFormat::Text, false).shown("a\nb\u{1b}\n"), "a\\nb\\u001b\n");
        assert_eq!(writer(LogFormat::Json, false).shown("{\"a\":\"\u{9b}\"}\n"), "{\"a\":\"\\u009b\"}\n");
        assert_eq!(
            writer(LogFormat::Text, true).shown("\u{1b}[33mWARN\u{1b}[0m a\rb\n"),
            "\u{1b}[33mWARN\u{1b}[0m a\\u000db\n"
        );
    }
}
