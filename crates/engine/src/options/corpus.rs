//! Selects which corpus files are written (`--corpus`).

use std::fmt;

use dupsift_core::error::{Error, Result, did_you_mean};

/// Selects the corpus files that are written in addition to the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusFiles {
    /// Whether `attributes/` is written, with a row of marks for each input row.
    pub annotate: bool,
    /// Whether the kept rows are written to `deduped/`.
    pub keep: bool,
    /// Whether the removed rows are written to `dropped/`.
    pub drop: bool,
}

const WORDS: [&str; 3] = ["annotate", "keep", "drop"];

impl CorpusFiles {
    /// Parses `none`, or one or more of `annotate`, `keep` and `drop`, separated by commas.
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

    /// Returns whether no corpus files are written.
    pub fn is_none(self) -> bool {
        self == CorpusFiles::default()
    }

    /// Returns whether copies of the corpus files are written.
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

/// Selects the columns that are added to the rows in `deduped/` (`--add`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddedColumns {
    /// Whether to add the number of documents in the cluster of each document.
    pub cluster_size: bool,
    /// Whether to add the number of documents with the same text.
    pub copies: bool,
    /// Whether to add the number of different sources in the cluster of each document.
    pub sources: bool,
    /// Whether to add the ids of the documents that were removed in favor of each document.
    pub duplicates: bool,
}

/// The names of the columns, which are also the accepted words.
const ADDED: [&str; 4] = ["cluster_size", "copies", "sources", DUPLICATES];

/// The name of the column that lists the ids of removed documents.
pub(crate) const DUPLICATES: &str = "duplicates";

impl AddedColumns {
    /// Parses `none`, or one or more column names, separated by commas.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for any other word.
    pub fn parse(typed: &str) -> Result<AddedColumns> {
        let mut added = AddedColumns::default();
        if typed.trim() == "none" {
            return Ok(added);
        }
        for word in typed.split(',').map(str::trim) {
            match word {
                "cluster_size" => added.cluster_size = true,
                "copies" => added.copies = true,
                "sources" => added.sources = true,
                DUPLICATES => added.duplicates = true,
                other => {
                    let hint = did_you_mean(other, ADDED);
                    let expected = "expected a comma-separated list of these, or none";
                    let why = format!("{other:?} is not cluster_size, copies, sources or duplicates{hint}; {expected}");
                    return Err(Error::wrong("add", why));
                }
            }
        }
        Ok(added)
    }

    /// Returns whether no column is added.
    pub fn is_none(self) -> bool {
        self == AddedColumns::default()
    }

    /// Returns the names of the columns, in the order in which they are added.
    pub fn names(self) -> Vec<&'static str> {
        let asked = ADDED.into_iter().zip([self.cluster_size, self.copies, self.sources, self.duplicates]);
        asked.filter(|(_, asked)| *asked).map(|(name, _)| name).collect()
    }

    /// Checks that the kept rows are written, because the columns are added to these rows.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the rows are not written.
    pub fn check(self, corpus: CorpusFiles) -> Result<()> {
        if self.is_none() || corpus.keep {
            return Ok(());
        }
        Err(Error::usage(format!(
            "`add={self}` adds columns to the rows in deduped/, which is not written; use it with `corpus=keep`"
        )))
    }
}

impl fmt::Display for AddedColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_none() { "none" } else { "" })?;
        f.write_str(&self.names().join(","))
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

    #[test]
    fn added_columns_are_parsed_and_printed_back() {
        let parse = |typed: &str| AddedColumns::parse(typed).map(|added| added.to_string());
        assert_eq!(parse("duplicates,sources, cluster_size").unwrap(), "cluster_size,sources,duplicates");
        assert_eq!(
            (parse("none").unwrap(), AddedColumns::parse("copies").unwrap().names()),
            ("none".into(), vec!["copies"])
        );
        assert!(parse("copys").unwrap_err().to_string().contains("did you mean \"copies\"?"));
        let copies = AddedColumns::parse("copies").unwrap();
        assert!(copies.check(CorpusFiles::parse("drop").unwrap()).unwrap_err().to_string().contains("`corpus=keep`"));
        assert!(copies.check(CorpusFiles::parse("keep").unwrap()).is_ok());
    }
}
