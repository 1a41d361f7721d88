//! Errors of the library as exceptions: which class, and its sentence.
//!
//! | what went wrong | class |
//! | --- | --- |
//! | an argument, a column, a name, too little memory | ValueError |
//! | the system, on a file or folder | OSError, FileNotFoundError and so on, with errno and filename |
//! | an input file or, with `strict=True`, a row | dupsift.InputError, a ValueError too |
//! | a work file that is not what was written | dupsift.DamagedError |
//! | all else | dupsift.Error |

use dupsift::error::{Error, Kind};
use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;

/// The classes that the package has of its own, in `dupsift._errors`.
#[derive(Clone, Copy)]
pub enum Package {
    /// The base.
    Error,
    /// An input that cannot be used.
    InputError,
    /// A damaged work file.
    DamagedError,
}

impl Package {
    /// An exception of this class.
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

/// The exception of an error.
pub fn raised(py: Python<'_>, error: Error) -> PyErr {
    let sentence = error.to_string();
    // A full disk is what the system said, with how much more is needed.
    let (error, more) = match error {
        Error::Full { source, said } => (*source, format!("; {said}")),
        other => (other, String::new()),
    };
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
