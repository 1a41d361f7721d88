//! Converts errors from the library to exceptions. The cause of an error determines the class of the exception:
//!
//! | cause | class |
//! | --- | --- |
//! | an argument, a column, a name, too little memory | ValueError |
//! | a system error on a file or folder | OSError, FileNotFoundError and so on, with errno and filename |
//! | an input file or, with `strict=True`, a row | dupsift.InputError, which is also a ValueError |
//! | a damaged temporary file | dupsift.DamagedError |
//! | anything else | dupsift.Error |

use dupsift::error::{Error, Kind};
use dupsift_engine::options::Spelling;
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// Identifies the package's own exception classes, which are defined in `dupsift._errors`.
#[derive(Clone, Copy)]
pub enum Package {
    /// The base class.
    Error,
    /// The class for an input that cannot be used.
    InputError,
    /// The class for a damaged temporary file.
    DamagedError,
}

impl Package {
    /// Returns an exception of this class.
    pub fn raise(self, py: Python<'_>, sentence: String) -> PyErr {
        let name = match self {
            Package::Error => "Error",
            Package::InputError => "InputError",
            Package::DamagedError => "DamagedError",
        };
        let made = py.import("dupsift._errors").and_then(|module| module.getattr(name)?.call1((sentence,)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

/// Converts an error to an exception.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    let sentence = Spelling::Keywords.of(&error.to_string()).into_owned();
    // If the disk is full, the message is the system error, followed by how much space is missing.
    let (error, more) = match error {
        Error::Full { source, said } => (*source, format!("; {said}")),
        other => (other, String::new()),
    };
    let more = Spelling::Keywords.of(&more);
    match (error.kind(), error) {
        (Kind::Usage, _) => PyValueError::new_err(sentence),
        (_, Error::Missing { path, .. }) => {
            PyFileNotFoundError::new_err((libc::ENOENT, sentence, path.into_os_string()))
        }
        (_, Error::Io { action, path, source, .. }) => match source.raw_os_error() {
            Some(number) => {
                PyOSError::new_err((number, format!("cannot {action}: {source}{more}"), path.into_os_string()))
            }
            None => PyOSError::new_err(sentence),
        },
        (Kind::Input, _) => Package::InputError.raise(py, sentence),
        (Kind::Damaged, _) => Package::DamagedError.raise(py, sentence),
        (Kind::Interrupted, _) => PyKeyboardInterrupt::new_err(sentence),
        _ => Package::Error.raise(py, sentence),
    }
}
