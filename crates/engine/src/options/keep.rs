//! Parses the order of preference (`--keep`).

use dupsift_core::error::{Error, Result};

/// Defines the order in which documents are preferred (`--keep`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// The keys, most important first. The document number breaks ties.
    pub keys: Vec<KeepKey>,
    /// Whether the preferred document is removed together with its duplicates.
    pub is_none: bool,
}

/// The value of `--keep` that removes all documents that have a duplicate.
const KEEP_NONE: &str = "none";

/// Defines one key of the order of preference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepKey {
    /// `length` (characters of the text), `doc` (the row number), or a column of the corpus.
    pub column: String,
    /// Whether larger values come first.
    pub descending: bool,
    /// Whether the direction was not typed.
    pub is_implied: bool,
}

impl Keep {
    /// Parses an order such as `"score desc, length desc, id asc"`. A key without a direction is ascending, but `length` requires a
    /// direction. `none` prefers the longest document, but also removes it.
    ///
    /// # Errors
    /// Returns an error for an empty key, or a word other than `asc` or `desc`.
    pub fn parse(typed: &str) -> Result<Keep> {
        if typed.trim() == KEEP_NONE {
            return Ok(Keep { is_none: true, ..Keep::parse("length desc")? });
        }
        let keys = typed.split(',').map(|item| {
            let words: Vec<&str> = item.split_whitespace().collect();
            let (column, descending, is_implied) = match words[..] {
                // Almost everyone who types only `length` wants to keep the longest document, but would keep the shortest.
                ["length"] => {
                    return Err(Error::wrong_value(
                        "keep",
                        "length",
                        "expected length desc, which keeps the longest, or length asc, which keeps the shortest",
                    ));
                }
                [column] => (column, false, true),
                [column, "asc"] => (column, false, false),
                [column, "desc"] => (column, true, false),
                _ => {
                    return Err(Error::wrong(
                        "keep",
                        format_args!(
                            "{:?} is not COLUMN, COLUMN asc or COLUMN desc; expected a comma-separated list of such keys",
                            item.trim()
                        ),
                    ));
                }
            };
            Ok(KeepKey { column: column.to_string(), descending, is_implied })
        });
        let mut keys = keys.collect::<Result<Vec<_>>>()?;
        if keys.iter().all(|key| key.column != "doc") {
            keys.push(KeepKey { column: "doc".into(), descending: false, is_implied: false });
        }
        Ok(Keep { keys, is_none: false })
    }

    /// Returns a note for each column without a direction: the order of its values is a guess.
    pub fn notes(&self) -> Vec<String> {
        let implied = self.keys.iter().filter(|key| key.is_implied && key.column != "doc");
        let note = |KeepKey { column, .. }: &KeepKey| {
            format!(
                "`keep={column}` keeps the smallest value, such as the oldest date; write \"{column} desc\" to keep the largest, or \"{column} asc\""
            )
        };
        implied.map(note).collect()
    }

    /// Returns the columns of the corpus to which the keys refer.
    pub fn columns(&self) -> Vec<String> {
        let own = |key: &&KeepKey| key.column != "length" && key.column != "doc";
        self.keys.iter().filter(own).map(|key| key.column.clone()).collect()
    }
}

impl std::fmt::Display for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_none {
            return f.write_str(KEEP_NONE);
        }
        let key = |key: &KeepKey| format!("{} {}", key.column, if key.descending { "desc" } else { "asc" });
        f.write_str(&self.keys.iter().map(key).collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_orders_are_parsed_and_printed_back() {
        let keep = Keep::parse("score desc, length desc,id").unwrap();
        assert_eq!(keep.to_string(), "score desc, length desc, id asc, doc asc");
        let again = Keep::parse(&keep.to_string()).unwrap();
        assert_eq!(again.to_string(), keep.to_string());
        // Only a direction that was not typed is noted.
        assert!(again.notes().is_empty() && keep.notes().len() == 1 && keep.notes()[0].contains("`keep=id` keeps"));
        assert_eq!(keep.columns(), ["score", "id"]);
        assert!(Keep::parse("score down").unwrap_err().to_string().contains("COLUMN desc"));
        assert!(Keep::parse("").is_err());
        let none = Keep::parse("none").unwrap();
        assert_eq!((none.to_string().as_str(), none.is_none, none.columns()), ("none", true, vec![]));
        assert_eq!(none.keys, Keep::parse("length desc").unwrap().keys);
        // If a direction follows, `none` is the name of a column.
        assert_eq!(Keep::parse("none asc").unwrap().columns(), ["none"]);
    }
}
