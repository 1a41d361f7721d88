//! Selects what is written of the corpus itself (`--corpus`).

use std::fmt;

use dupsift_core::error::{Error, Result, did_you_mean};

/// Selects what is written of the corpus in addition to the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusFiles {
    /// `attributes/`: a row of marks for each row.
    pub annotate: bool,
    /// `deduped/`: the kept rows.
    pub keep: bool,
    /// `dropped/`: the removed rows.
    pub drop: bool,
}

/// The accepted words.
const WORDS: [&str; 3] = ["annotate", "keep", "drop"];

impl CorpusFiles {
    /// Parses `none`, or any of `annotate`, `keep` and `drop`, separated by commas.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for any other word.
    pub fn parse(typed: &str) -> Result<CorpusFiles> {
        let mut files = CorpusFiles::default();
        if typed.trim() == "none" {
            return Ok(files);
        }
        for word in typed.split(',').map(str::trim) {
            match word {
                "annotate" => files.annotate = true,
                "keep" => files.keep = true,
                "drop" => files.drop = true,
                other => {
                    let hint = did_you_mean(other, WORDS);
                    let expected = "expected a comma-separated list of these, or none";
                    let why = format!("{other:?} is not annotate, keep or drop{hint}; {expected}");
                    return Err(Error::wrong("corpus", why));
                }
            }
        }
        Ok(files)
    }

    /// Returns whether nothing is written.
    pub fn is_none(self) -> bool {
        self == CorpusFiles::default()
    }

    /// Returns whether corpus files are rewritten.
    pub fn copies(self) -> bool {
        self.keep || self.drop
    }
}

impl fmt::Display for CorpusFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let asked = WORDS.into_iter().zip([self.annotate, self.keep, self.drop]);
        let asked: Vec<&str> = asked.filter(|(_, asked)| *asked).map(|(word, _)| word).collect();
        f.write_str(if asked.is_empty() { "none" } else { "" })?;
        f.write_str(&asked.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_parsed_and_printed_back() {
        let parse = |typed: &str| CorpusFiles::parse(typed).map(|files| files.to_string());
        assert_eq!(parse("drop, keep").unwrap(), "keep,drop");
        assert_eq!(parse("drop,annotate,drop").unwrap(), "annotate,drop");
        assert_eq!(parse("none").unwrap(), "none");
        assert!(parse("kept").unwrap_err().to_string().contains("did you mean \"keep\"?"));
        assert!(parse("").is_err() && parse("keep,none").is_err());
    }
}
