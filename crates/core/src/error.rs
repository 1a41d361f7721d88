//! Everything that can go wrong, as one type: each message says what was expected, what came, where, and the way out.
//!
//! The library returns [`Error`]; only the binary turns it into text and an exit code. A bad *row* is not an error: it is
//! counted and set aside (see `batch::rejected`), unless `--strict` asks for an end.

use std::fmt;
use std::path::{Path, PathBuf};

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The result of every fallible function of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Where the way out is to be looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// In what was asked for: another option, parameter or name would do.
    Usage,
    /// In what is read.
    Input,
    /// In where results and work files are written.
    Output,
    /// In the disk of the work files or of an index: it gave back other bytes than were written.
    Damaged,
    /// Nowhere: the run was asked to stop.
    Interrupted,
    /// In the program.
    Internal,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user asked for something that cannot be: a wrong parameter, an unknown name, a missing column.
    #[error("{said}")]
    Usage {
        /// The name of the option that it is about, if it is about one.
        option: Option<&'static str>,
        /// What was expected and what came.
        said: String,
    },

    /// A file or folder that was named is not there.
    #[error("{said}")]
    Missing {
        /// What is not there.
        path: PathBuf,
        /// What was expected.
        said: String,
    },

    /// The program contradicts itself.
    #[error("{0}; this is a defect of dupsift {version}: please report this line, and what was run", version = VERSION)]
    Internal(String),

    /// An operating-system call on a file or folder failed.
    #[error("cannot {action} {}: {}", path.display(), system_said(source))]
    Io {
        /// Whether it is something that is read, or where something is written.
        kind: Kind,
        /// What was tried, as a verb phrase: "read", "create the folder".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// A disk is full, or files may not grow beyond a limit.
    #[error("{source}; {said}")]
    Full {
        /// What could not be written.
        source: Box<Error>,
        /// How much more is needed, and what is kept.
        said: String,
    },

    /// An input file that cannot be used as a whole; without `--strict` it is set aside and the rest is done.
    #[error("{}: {why}", path.display())]
    BadFile {
        /// The input file.
        path: PathBuf,
        /// What was expected and what came.
        why: String,
    },

    /// A bad row under `--strict`.
    #[error("{}, row {row}: {why} (`strict` stops at the first bad row)", path.display())]
    BadRow {
        /// The input file.
        path: PathBuf,
        /// The row in it, counted from 0.
        row: u64,
        /// What was expected and what came.
        why: String,
    },

    /// The memory budget is below what the work needs.
    #[error("`memory={asked}` is too small for this work; the least that would do is {least}")]
    Memory {
        /// What was asked for, as the user reads sizes.
        asked: String,
        /// The least budget that is accepted.
        least: String,
    },

    /// A page of a file is more than what may be read at a time.
    #[error(
        "{}: a page of column {column:?} takes {bytes} while it is read, and `memory={}` leaves {} for it; pass \
         `memory={least}` or more, or write the file with smaller pages (fewer rows a batch: write_batch_size of pyarrow)", path.display(), asked[0], asked[1])]
    LargePage {
        /// The input file.
        path: PathBuf,
        /// The column.
        column: String,
        /// What the page takes, as the user reads sizes.
        bytes: String,
        /// The memory limit, and how much of it is left for a page.
        asked: Box<[String; 2]>,
        /// The least budget that is accepted.
        least: String,
    },

    /// A row of a file is more than what may be written at a time.
    #[error(
        "{}: a row has {bytes} in the columns beside its page, more than `memory={asked}` allows to write; the least that \
         would do is {least}, or leave the longest column out (`columns`)", path.display())]
    LongRow {
        /// The input file.
        path: PathBuf,
        /// What its values take, as the user reads sizes.
        bytes: String,
        /// What was asked for.
        asked: String,
        /// The least budget that is accepted.
        least: String,
    },

    /// A work file does not hold what was written to it.
    #[error("work file {} is damaged: {why}; is the disk of `work` sound? Start the run again", path.display())]
    Damaged {
        /// The work file.
        path: PathBuf,
        /// What differs.
        why: String,
    },

    /// An index whose generations cannot all be read.
    #[error("the index {} is damaged: {why}; nothing was changed; {way_out}", dir.display())]
    DamagedIndex {
        /// The index.
        dir: PathBuf,
        /// The file, and what is wrong with it.
        why: String,
        /// What helps.
        way_out: String,
    },

    /// Columns that were read could not be put together, but for damage of a file.
    #[error("cannot {action}: {source}")]
    Columns {
        /// What was tried.
        action: String,
        /// What the library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// Arrow, Parquet or JSON data could not be written.
    #[error("cannot {action}: {source}")]
    Table {
        /// What was tried.
        action: String,
        /// What the library said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },

    /// The user pressed Ctrl-C, or the process was asked to end.
    #[error("interrupted; nothing was written under the final name")]
    Interrupted,
}

impl Error {
    /// An [`Error::Usage`] that is about no single option.
    pub fn usage(said: impl Into<String>) -> Error {
        Error::Usage { option: None, said: said.into() }
    }

    /// An [`Error::Usage`]: what is wrong with this option.
    pub fn wrong(option: &'static str, why: impl fmt::Display) -> Error {
        Error::Usage { option: Some(option), said: format!("`{option}`: {why}") }
    }

    /// An [`Error::Usage`]: what is wrong with this value of the option.
    pub fn wrong_value(option: &'static str, value: impl fmt::Display, why: impl fmt::Display) -> Error {
        Error::Usage { option: Some(option), said: format!("`{option}={value}`: {why}") }
    }

    /// This error of what was asked for, with the option by which it was asked.
    pub fn of(self, option: &'static str) -> Error {
        match self {
            Error::Usage { said, .. } => Error::wrong(option, said),
            Error::Missing { path, said } => Error::Missing { path, said: format!("`{option}`: {said}") },
            other => other,
        }
    }

    /// Where the way out is to be looked for.
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

    /// The option that another value of would do.
    pub fn option(&self) -> Option<&'static str> {
        match self {
            Error::Usage { option, .. } => *option,
            Error::Memory { .. } | Error::LargePage { .. } | Error::LongRow { .. } => Some("memory"),
            _ => None,
        }
    }

    /// An [`Error::Io`] of a place that is written to, for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { kind: Kind::Output, action, path, source }
    }

    /// An [`Error::Io`] of something that is read, for `map_err`.
    pub fn reading(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { kind: Kind::Input, action, path, source }
    }

    /// An [`Error::Table`], for `map_err`.
    pub fn table<E: std::error::Error + Send + Sync + 'static>(action: impl Into<String>) -> impl FnOnce(E) -> Error {
        let action = action.into();
        move |source| Error::Table { action, source: Box::new(source) }
    }

    /// An [`Error::Columns`], for `map_err`.
    pub fn columns<E: std::error::Error + Send + Sync + 'static>(action: impl Into<String>) -> impl FnOnce(E) -> Error {
        let action = action.into();
        move |source| Error::Columns { action, source: Box::new(source) }
    }

    /// The code of the system, where this is said of a full disk, a quota or a limit of file sizes. Libraries put errors of their own
    /// around that of the system, of which only the words are left.
    pub fn full(&self) -> Option<i32> {
        let is_written = matches!(self, Error::Io { .. } | Error::Table { .. }) && self.kind() == Kind::Output;
        let said = if is_written { self.to_string() } else { String::new() };
        [libc::ENOSPC, libc::EDQUOT, libc::EFBIG].into_iter().find(|code| said.contains(&format!("(os error {code})")))
    }
}

/// The error of a file that is not damaged, although it could not be read: too many files are open, in this process or in the
/// whole system. Libraries put errors of their own around that of the system, of which only the words are left.
pub fn too_many_open(said: &str) -> Option<std::io::Error> {
    let code = [libc::EMFILE, libc::ENFILE].into_iter().find(|code| said.contains(&format!("(os error {code})")))?;
    Some(std::io::Error::from_raw_os_error(code))
}

/// What the system said; where too many files are open, also which limit that is and the way out.
pub fn system_said(error: &std::io::Error) -> String {
    let said = error.to_string();
    match too_many_open(&said).and_then(|error| error.raw_os_error()) {
        Some(libc::EMFILE) => {
            let limit = most_open_files().map_or_else(String::new, |limit| format!(" is {limit}"));
            said + &format!(
                "; the limit of open files of this process (`ulimit -n`){limit}: raise it, for example `ulimit -n 4096`, or lower `threads`"
            )
        }
        Some(_) => {
            said + "; the limit of open files of the whole system (`sysctl fs.file-max`): raise it, or end other programs"
        }
        None => said,
    }
}

/// The most files that this process may have open at a time.
#[allow(unsafe_code)]
fn most_open_files() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to the struct that it is given, and to nothing else.
    (unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } == 0).then_some(limit.rlim_cur)
}

/// The name among `known` that is nearest to a mistyped one, for a did-you-mean.
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

/// `"; did you mean NAME?"` where a known name is near, else nothing.
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
