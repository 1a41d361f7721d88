//! Everything that can go wrong, as one type: each message says what was expected, what came, where, and the way out.
//!
//! The library returns [`Error`]; only the binary turns it into text and an exit code. A bad *row* is not an error: it is
//! counted and set aside (see `batch::rejected`), unless `--strict` asks for an end.

use std::path::{Path, PathBuf};

/// The result of every fallible function of the library.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The user asked for something that cannot be: a wrong parameter, an unknown name, a missing column.
    #[error("{0}")]
    Usage(String),

    /// An operating-system call on a file or folder failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb phrase: "read", "create the folder".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
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
    #[error("{}, row {row}: {why} (--strict stops at the first bad row)", path.display())]
    BadRow {
        /// The input file.
        path: PathBuf,
        /// The row in it, counted from 0.
        row: u64,
        /// What was expected and what came.
        why: String,
    },

    /// The memory budget is below what the work needs.
    #[error("--memory {asked} is too small for this work; the least that would do is {least}")]
    Memory {
        /// What was asked for, as the user reads sizes.
        asked: String,
        /// The least budget that is accepted.
        least: String,
    },

    /// A work file does not hold what was written to it.
    #[error("work file {} is damaged: {why}; is the disk of --work sound? Start the run again", path.display())]
    Damaged {
        /// The work file.
        path: PathBuf,
        /// What differs.
        why: String,
    },

    /// Reading or writing Arrow or Parquet data failed in a place that is not an input file.
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
    /// An [`Error::Io`], for `map_err`.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io { action, path, source }
    }

    /// An [`Error::Table`], for `map_err`.
    pub fn table<E: std::error::Error + Send + Sync + 'static>(action: impl Into<String>) -> impl FnOnce(E) -> Error {
        let action = action.into();
        move |source| Error::Table { action, source: Box::new(source) }
    }
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
    fn a_typing_error_finds_its_name_and_nonsense_finds_none() {
        assert_eq!(nearest("mihnash", ["minhash", "simhash"]), Some("minhash"));
        assert_eq!(nearest("minhsh", ["minhash", "simhash"]), Some("minhash"));
        assert_eq!(nearest("zzzzzzzz", ["minhash", "tf"]), None);
        assert_eq!(did_you_mean("band", ["bands", "rows"]), "; did you mean \"bands\"?");
    }
}
