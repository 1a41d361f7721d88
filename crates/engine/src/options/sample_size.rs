//! Parses the size of a sample (`--sample`).

use std::fmt;

use dupsift_core::error::{Error, Result};

/// Specifies how many documents are sampled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SampleSize {
    /// A number of documents; if the corpus contains fewer, all documents are sampled.
    Count(u64),
    /// The probability with which each document is sampled.
    Share(f64),
}

impl SampleSize {
    /// Parses a number of documents (at least 1), or a share between 0 and 1, written with a decimal point.
    ///
    /// # Errors
    /// Returns an error for anything else.
    pub fn parse(typed: &str) -> Result<SampleSize> {
        let typed = typed.trim();
        let size = match typed.contains(['.', 'e']) {
            true => typed.parse().ok().filter(|share| *share > 0.0 && *share < 1.0).map(SampleSize::Share),
            false => typed.parse().ok().filter(|count| *count > 0).map(SampleSize::Count),
        };
        size.ok_or_else(|| {
            let expected = "expected a number of documents, such as 10000, or a share between 0 and 1, such as 0.05";
            Error::wrong_value("sample", format_args!("{typed:?}"), expected)
        })
    }
}

impl fmt::Display for SampleSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SampleSize::Count(count) => write!(f, "{count}"),
            SampleSize::Share(share) => write!(f, "{share}"),
        }
    }
}
