//! Defines all errors as one type. Each message states the expected and the actual value, the location of the problem, and how to fix it.
//!
//! The library returns [`Error`]; only the binary turns it into text and an exit code. Without `--strict`, a bad *row* is not an error; it
//! is counted and skipped (see `tables::rejected`).

use std::fmt;
use std::path::{Path, PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The result of every fallible function of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Classifies an error by its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request is invalid: a different option, parameter or name is needed.
    Usage,
    /// The input cannot be used.
    Input,
    /// Results or temporary files cannot be written to their folder or disk.
    Output,
    /// The disk that holds temporary files or an index returned bytes that differ from the bytes that were written.
    Damaged,
    /// The run was stopped on request; nothing failed.
    Interrupted,
    /// The program has a bug.
    Internal,
}

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid request: a wrong parameter, an unknown name, or a missing column.
    #[error("{said}")]
    Usage {
        /// The name of the option, if the error concerns one.
        option: Option<&'static str>,
        /// The problem, as text: the expected and the actual value.
        said: String,
    },

    /// A file or folder that you specified does not exist.
    #[error("{said}")]
    Missing {
        /// The missing path.
        path: PathBuf,
        /// The problem, as text, including the expected value.
        said: String,
    },

    /// A bug in the program.
    #[error("{0}; this is a bug in dupsift {version}: please report this line and the command that you ran", version = VERSION)]
    Internal(String),

    /// An operating-system call on a file or folder failed.
    #[error("cannot {action} {}: {}", path.display(), system_said(source))]
    Io {
        /// Whether the path is read or written.
        kind: Kind,
        /// The attempted operation, as a verb phrase: "read", "create the folder".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error that the system returned.
        source: std::io::Error,
    },

    /// A disk is full, or a limit on file sizes was reached.
    #[error("{source}; {said}")]
    Full {
        /// The error of the failed write.
        source: Box<Error>,
        /// A description of how much more space is needed and which data is kept.
        said: String,
    },

    /// An unusable input file; without `--strict`, the file is skipped and the run continues.
    #[error("{}: {why}", path.display())]
    BadFile {
        /// The input file.
        path: PathBuf,
        /// The problem, as text: the expected and the actual value.
        why: String,
    },

    /// A bad row under `--strict`.
    #[error("{}, row {row}: {why} (`strict` stops at the first bad row)", path.display())]
    BadRow {
        /// The input file.
        path: PathBuf,
        /// The row in the file, counted from 0.
        row: u64,
        /// The problem, as text: the expected and the actual value.
        why: String,
    },

    /// The memory limit is too low for the run.
    #[error("`memory={asked}` is too small for this run; the minimum is {least}")]
    Memory {
        /// The requested limit, in human-readable form.
        asked: String,
        /// The lowest limit that is accepted.
        least: String,
    },

    /// A part of a file that is read at once is too large to be read within the memory limit.
    #[error(
        "{}: reading {} of column {column:?} takes {bytes}, but `memory={}` leaves only {}; pass `memory={least}` or more{}", path.display(), part[0], asked[0], asked[1], part[1])]
    LargePage {
        /// The input file.
        path: PathBuf,
        /// The part, such as `a page`, and the alternative to a higher limit, as the end of the message; empty if there is none.
        part: &'static [&'static str; 2],
        /// The column that takes up most of the part.
        column: String,
        /// The size of the part, in human-readable form.
        bytes: String,
        /// The memory limit, and how much of it remains for the part.
        asked: Box<[String; 2]>,
        /// The lowest limit that is accepted.
        least: String,
    },

    /// A row of a file is too large to be written within the memory limit.
    #[error(
        "{}: a row has {bytes} outside the page column, which is too much to write with `memory={asked}`; pass `memory={least}` or more, or leave out the longest column (`columns`)", path.display())]
    LongRow {
        /// The input file.
        path: PathBuf,
        /// The size of the row's values, in human-readable form.
        bytes: String,
        /// The requested limit, in human-readable form.
        asked: String,
        /// The lowest limit that is accepted.
        least: String,
    },

    /// The content of a temporary file differs from the data that was written.
    #[error("temporary file {} is damaged: {why}; check the disk that holds `work`, and start the run again", path.display())]
    Damaged {
        /// The temporary file.
        path: PathBuf,
        /// The problem with the file, as text.
        why: String,
    },

    /// An index contains generations that cannot be read.
    #[error("the index {} is damaged: {why}; nothing was changed; {way_out}", dir.display())]
    DamagedIndex {
        /// The folder of the index.
        dir: PathBuf,
        /// The damaged file and the problem, as text.
        why: String,
        /// The way to fix the index.
        way_out: String,
    },

    /// Columns that were read could not be decoded or combined.
    #[error("cannot {action}: {source}")]
    Columns {
        /// The attempted operation.
        action: String,
        /// The error that the library returned.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// Arrow, Parquet or JSON data could not be written.
    #[error("cannot {action}: {source}")]
    Table {
        /// The attempted operation.
        action: String,
        /// The error that the library returned.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// The run was interrupted with Ctrl-C, or the process received a signal to stop.
    #[error("interrupted; no output was written")]
    Interrupted,
}

impl Error {
    /// Returns an [`Error::Usage`] that is not about a specific option.
    pub fn usage(said: impl Into<String>) -> Error {
        Error::Usage { option: None, said: said.into() }
    }

    /// Returns an [`Error::Usage`] that states what is wrong with an option.
    pub fn wrong(option: &'static str, why: impl fmt::Display) -> Error {
        Error::Usage { option: Some(option), said: format!("`{option}`: {why}") }
    }

    /// Returns an [`Error::Usage`] that states what is wrong with a value of an option.
    pub fn wrong_value(option: &'static str, value: impl fmt::Display, why: impl fmt::Display) -> Error {
        Error::Usage { option: Some(option), said: format!("`{option}={value}`: {why}") }
    }

    /// Attributes this usage error to an option.
    pub fn of(self, option: &'static str) -> Error {
        match self {
            Error::Usage { said, .. } => Error::wrong(option, said),
            Error::Missing { path, said } => Error::Missing { path, said: format!("`{option}`: {said}") },
            other => other,
        }
    }

    /// Returns the kind of the error, which depends on its cause.
    pub fn kind(&self) -> Kind {
        match self {
            Error::Usage { .. } | Error::Memory { .. } | Error::LargePage { .. } | Error::LongRow { .. } => Kind::Usage,
            Error::Missing { .. } | Error::BadFile { .. } | Error::BadRow { .. } | Error::Columns { .. } => Kind::Input,
            Error::Io { kind, .. } => *kind,
            Error::Table { .. } | Error::Full { .. } => Kind::Output,
            Error::Damaged { .. } | Error::DamagedIndex { .. } => Kind::Damaged,
            Error::Interrupted => Kind::Interrupted,
            Error::Internal(_) => Kind::Internal,
        }
    }

    /// Returns the option that must have a different value, if any.
    pub fn option(&self) -> Option<&'static str> {
        match self {
            Error::Usage { option, .. } => *option,
            Error::Memory { .. } | Error::LargePage { .. } | Error::LongRow { .. } => Some("memory"),
            _ => None,
        }
    }

    /// Returns a function for `map_err` that creates an [`Error::Io`] for a path that is written.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { kind: Kind::Output, action, path, source }
    }

    /// Returns a function for `map_err` that creates an [`Error::Io`] for a path that is read.
    pub fn reading(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { kind: Kind::Input, action, path, source }
    }

    /// Returns a function for `map_err` that creates an [`Error::Table`].
    pub fn table<E: std::error::Error + Send + Sync + 'static>(action: impl Into<String>) -> impl FnOnce(E) -> Error {
        let action = action.into();
        move |source| Error::Table { action, source: Box::new(source) }
    }

    /// Returns a function for `map_err` that creates an [`Error::Columns`].
    pub fn columns<E: std::error::Error + Send + Sync + 'static>(action: impl Into<String>) -> impl FnOnce(E) -> Error {
        let action = action.into();
        move |source| Error::Columns { action, source: Box::new(source) }
    }

    /// Returns the system's error code if the cause is a full disk, a quota or a limit on file sizes. Libraries wrap the system's error in
    /// their own errors, which preserve only the message.
    pub fn full(&self) -> Option<i32> {
        let is_written = matches!(self, Error::Io { .. } | Error::Table { .. }) && self.kind() == Kind::Output;
        let said = if is_written { self.to_string() } else { String::new() };
        [libc::ENOSPC, libc::EDQUOT, libc::EFBIG].into_iter().find(|code| said.contains(&format!("(os error {code})")))
    }
}

/// Returns the system's error if a file could not be read because too many files are open, in this process or in the whole system; such a
/// file is not damaged. Libraries wrap the system's error in their own errors, which preserve only the message.
pub fn too_many_open(said: &str) -> Option<std::io::Error> {
    let code = [libc::EMFILE, libc::ENFILE].into_iter().find(|code| said.contains(&format!("(os error {code})")))?;
    Some(std::io::Error::from_raw_os_error(code))
}

/// Returns the system's message; if too many files are open, the text also states which limit was reached and how to raise it.
pub(crate) fn system_said(error: &std::io::Error) -> String {
    let said = error.to_string();
    match too_many_open(&said).and_then(|error| error.raw_os_error()) {
        Some(libc::EMFILE) => {
            let is_limit = most_open_files().map_or_else(String::new, |limit| format!(" is {limit}"));
            said + &format!(
                "; the limit on open files for this process (`ulimit -n`){is_limit}: raise it, for example `ulimit -n 4096`, or lower `threads`"
            )
        }
        Some(_) => {
            said + "; the system-wide limit on open files (`sysctl fs.file-max`) was reached: raise it, or close other programs"
        }
        None => said,
    }
}

/// Returns the maximum number of files that this process may have open.
#[allow(unsafe_code)]
fn most_open_files() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes only to the struct that is passed to it.
    (unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0).then_some(limit.rlim_cur)
}

/// Returns the name in `known` that is closest to a mistyped name, for spelling suggestions.
///
/// ```text
/// nearest("mihnash", ["minhash", "simhash"]) == Some("minhash")
/// ```
pub fn nearest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    known
        .into_iter()
        .map(|name| (strsim::damerau_levenshtein(typed, name), name))
        .filter(|(distance, name)| *distance <= 2.max(name.len() / 3))
        .min()
        .map(|(_, name)| name)
}

/// Returns `"; did you mean NAME?"` if a known name is close, otherwise an empty string.
pub fn did_you_mean<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    nearest(typed, known).map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_name_the_limit() {
        let error = || std::io::Error::from_raw_os_error(libc::EMFILE);
        let told = Error::io("open", Path::new("a.parquet"))(error()).to_string();
        let limit = most_open_files().expect("a limit");
        assert!(told.starts_with("cannot open a.parquet: Too many open files"), "{told}");
        assert!(told.contains(&format!("(`ulimit -n`) is {limit}: raise it")), "{told}");
        let wrapped = format!("External: {} at path x", error());
        assert_eq!(too_many_open(&wrapped).and_then(|error| error.raw_os_error()), Some(libc::EMFILE));
        assert!(system_said(&std::io::Error::other(wrapped)).contains("ulimit -n"));
        assert!(system_said(&std::io::Error::from_raw_os_error(libc::ENFILE)).contains("fs.file-max"));
        let other = std::io::Error::from_raw_os_error(libc::ENOENT);
        assert!(too_many_open(&other.to_string()).is_none() && system_said(&other) == other.to_string());
    }

    #[test]
    fn what_is_read_is_input_and_what_is_written_output() {
        let other = || std::io::Error::other("x");
        let (path, full) = (Path::new("a"), std::io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!(Error::columns("read a")(other()).kind(), Kind::Input);
        assert_eq!(Error::table("write a")(other()).kind(), Kind::Output);
        assert_eq!(Error::reading("read", path)(other()).kind(), Kind::Input);
        assert_eq!(Error::io("write", path)(other()).full(), None);
        let full = Error::Full { source: Box::new(Error::io("write", path)(full)), said: "more".into() };
        assert!(full.kind() == Kind::Output && full.to_string().ends_with("(os error 28); more"), "{full}");
    }

    #[test]
    fn a_typing_error_finds_its_name_and_nonsense_finds_none() {
        assert_eq!(nearest("mihnash", ["minhash", "simhash"]), Some("minhash"));
        assert_eq!(nearest("minhsh", ["minhash", "simhash"]), Some("minhash"));
        assert_eq!(nearest("zzzzzzzz", ["minhash", "tf"]), None);
        assert_eq!(did_you_mean("band", ["bands", "rows"]), "; did you mean \"bands\"?");
    }
}
