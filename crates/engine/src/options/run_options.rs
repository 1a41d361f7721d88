//! Defines the options for a run.

use std::path::PathBuf;
use std::time::Duration;

use super::corpus::{AddedColumns, CorpusFiles};
use super::cut::CutOptions;
use super::machine;
use super::purifier::purify_name;
use super::value::{Given, Value};
use crate::reading::sample::SampleSize;
use dupsift_algorithms::recipe::Recipe;
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_core::encoding::Encoding;
use dupsift_core::error::{Error, Result};
use dupsift_input::{Coding, Quoting, Separator, Taking, TextFiles};
use dupsift_pages::PurifyOptions;
use dupsift_text::{Field, Pipeline};

/// Holds all options for a run.
#[derive(Clone)]
pub struct RunOptions {
    /// The input files, folders or globs.
    pub inputs: Vec<String>,
    /// The folder to which input paths are relative; empty for the current folder.
    pub folder: PathBuf,
    /// The output folder.
    pub out: PathBuf,
    /// Whether an existing output folder may be replaced.
    pub overwrite: bool,
    /// Whether the result is published even if a guard would prevent it.
    pub accept: bool,
    /// Whether the run builds the index of a reference. The run that requested the index then reports the guards.
    pub is_reference: bool,
    /// The share of defective rows above which the result does not replace an earlier result; `None` selects the default for the number of
    /// rows.
    pub max_rejected_share: Option<f64>,
    /// The share of removed rows in a large file above which the result does not replace an earlier result.
    pub max_removed_share: f64,
    /// The share of removed near-duplicates that look like pages from the same template, above which the result does not replace an earlier
    /// result.
    pub max_template_share: f64,
    /// The minimum number of rows that a file must have for the removal guard to apply.
    pub guard_rows: u64,
    /// The output of an earlier run whose pair counts are compared with the pair counts of this run.
    pub previous: Option<PathBuf>,
    /// The column with the source of each row. Removals are reported for each source.
    pub source_column: Option<String>,
    /// The maximum number of pairs per document, as a multiple of the number in the `previous` run.
    pub max_pairs_factor: u64,
    /// The maximum factor by which the amount of text may shrink compared with the `previous` run.
    pub max_shrink_factor: u64,
    /// The maximum number of candidates per document, as a multiple of the number expected from earlier batches in the index.
    pub max_candidates_factor: u64,
    /// Whether each `.txt` and `.html` file is one document.
    pub whole_files: bool,
    /// Whether each line of a `.txt` file is one document.
    pub text_lines: bool,
    /// Whether links that lead out of the inputs are followed to folders and to files that are not in a data format.
    pub follow_links: bool,
    /// The separator between the fields of separated values; `None` derives the separator from each file name.
    pub separator: Option<Separator>,
    /// Whether fields of separated values may be quoted.
    pub quotes: Quoting,
    /// The encoding of JSON Lines and `.txt` files.
    pub encoding: Encoding,
    /// The column that holds the text or HTML page of each document.
    pub text_column: String,
    /// Whether the text column holds HTML pages, in any charset.
    pub html: bool,
    /// Whether you specified the text column.
    pub text_required: bool,
    /// The optional column that holds the content type that the server sent with each page.
    pub content_type_column: String,
    /// The optional column that holds the URL of each page.
    pub url_column: String,
    /// Whether you specified each of the two page columns. It is an error if the corpus lacks a specified column.
    pub page_columns_required: [bool; 2],
    /// The column that holds the ids.
    pub id_column: String,
    /// Whether you specified the id column. If so, it is an error if the corpus lacks the column.
    pub id_required: bool,
    /// The columns other than the text column, by [`Field`]. These columns are optional.
    pub field_columns: [String; Field::ALL.len()],
    /// Whether you specified each of these columns. It is an error if the corpus lacks a specified column.
    pub fields_required: [bool; Field::ALL.len()],
    /// Additional columns that a command reads, of any type.
    pub other_columns: Vec<String>,
    /// The columns that may hold lists of strings. Such a column may be an additional column or one of several text columns.
    pub list_columns: Vec<String>,
    /// The algorithms and the options for text processing.
    pub recipe: Recipe,
    /// How the text is extracted from pages, if the corpus contains pages.
    pub purify: PurifyOptions,
    /// The output of an earlier run whose statistics, models and document count replace the values that would be computed from the corpus.
    pub stats: Option<PathBuf>,
    /// The index against which the corpus is matched and to which it is then added.
    pub index: Option<PathBuf>,
    /// The reference against which the corpus is matched. The corpus is not added to the reference.
    pub reference: Option<PathBuf>,
    /// The name of the corpus in the index; `None` uses the name of the output.
    pub batch: Option<String>,
    /// The planned number of documents in a new index.
    pub planned_documents: Option<u64>,
    /// The path of the stop-word file, for the record.
    pub stop_words_file: Option<PathBuf>,
    /// The path of the dictionary file, for the record.
    pub dictionary_file: Option<PathBuf>,
    /// The number of worker threads, at least 1.
    pub threads: usize,
    /// The memory limit in bytes.
    pub memory: u64,
    /// The folder for temporary files; `None` uses a hidden folder next to `out`.
    pub work: Option<PathBuf>,
    /// The time between checkpoints; `None` disables checkpoints.
    pub checkpoint: Option<Duration>,
    /// Whether the run resumes from checkpoints of an earlier run.
    pub resumes: bool,
    /// The order of preference, which determines which document is kept.
    pub keep: Keep,
    /// Whether documents are removed; false if algorithms are only compared.
    pub removes: bool,
    /// The pairs that decide which documents are removed.
    pub decide: Decide,
    /// The condition for removing a document that forms a pair with a kept document.
    pub remove_if: RemoveIf,
    /// Whether documents linked only by a chain of pairs are also removed.
    pub remove_chains: bool,
    /// The corpus files to write.
    pub corpus: CorpusFiles,
    /// The columns that are added to the kept rows.
    pub add: AddedColumns,
    /// The passages to cut from kept documents.
    pub cut: CutOptions,
    /// The maximum size of a group with equal signatures for which all pairs are written. In larger groups, only pairs with the
    /// representative are written.
    pub max_group: u64,
    /// The maximum number of comparisons within one group, for algorithms that compare the rows of a group.
    pub max_candidates: u64,
    /// Whether rows that cannot match any other row are dropped before they are written. Dropping these rows requires computing signatures
    /// twice.
    pub prefilter: bool,
    /// Whether the first bad row or file ends the run.
    pub strict: bool,
    /// Whether the output stores the texts of removed documents and of the documents kept instead.
    pub keep_texts: bool,
    /// Whether report.html is written.
    pub report: bool,
    /// The number of documents to read from the start of the corpus; `None` reads all documents.
    pub limit: Option<u64>,
    /// The size of the sample to read; `None` reads all documents.
    pub sample: Option<SampleSize>,
    /// The random seed for samples.
    pub seed: u64,
}

/// The minimum memory in bytes that one thread may use for decompression, which is enough for the usual Zstandard levels.
const LEAST_WINDOW: u64 = 8 << 20;
/// The number of bytes that a Parquet footer may occupy in addition to half of the memory limit.
const FOOTER_BESIDES: u64 = 64 << 20;

impl RunOptions {
    /// Returns how the input files are read.
    pub fn taking(&self) -> Taking {
        // The threads share a quarter of the memory limit, because all of them may decompress at the same time.
        let window_bytes = (self.memory / 4 / self.threads.max(1) as u64).max(LEAST_WINDOW);
        let (encoding, separator) = (self.encoding, self.separator);
        // Only one large footer is in memory at a time. The footer may also use part of the memory that is allowed in addition to the
        // limit.
        let footer_bytes = self.memory / 2 + FOOTER_BESIDES;
        let coding =
            Coding { encoding, separator, quoting: self.quotes, window_bytes, footer_bytes, ..Coding::default() };
        let text_files = match (self.whole_files, self.text_lines) {
            (true, _) => TextFiles::Whole,
            (false, true) => TextFiles::Lines,
            (false, false) => TextFiles::Skipped,
        };
        Taking { text_files, coding, follow_links: self.follow_links }
    }

    /// Returns a hash of everything that signatures depend on, in hexadecimal. If the corpus contains pages, the hash also covers how
    /// their text is extracted.
    pub fn identity(&self, pipeline: &Pipeline, pages: bool) -> String {
        let purify = pages.then(|| purify_name(&self.purify));
        format!("{:016x}", self.recipe.identity(pipeline, purify.as_deref()))
    }

    /// Returns whether every document may appear in a table, not only the documents in pairs.
    pub fn names_all(&self) -> bool {
        self.corpus.annotate || self.cut.what.is_some()
    }

    /// Returns options in which no value is set, not even a default from the table.
    pub fn blank(inputs: Vec<String>) -> RunOptions {
        RunOptions {
            inputs,
            folder: PathBuf::new(),
            out: PathBuf::new(),
            overwrite: false,
            accept: false,
            is_reference: false,
            max_rejected_share: None,
            max_removed_share: 0.0,
            max_template_share: 0.0,
            guard_rows: 0,
            previous: None,
            source_column: None,
            max_pairs_factor: 0,
            max_shrink_factor: 0,
            max_candidates_factor: 0,
            whole_files: false,
            text_lines: false,
            follow_links: false,
            encoding: Encoding::Utf8,
            separator: None,
            quotes: Quoting::Double,
            text_column: String::new(),
            html: false,
            text_required: false,
            content_type_column: String::new(),
            url_column: String::new(),
            page_columns_required: [false; 2],
            id_column: String::new(),
            id_required: false,
            field_columns: [const { String::new() }; Field::ALL.len()],
            fields_required: [false; Field::ALL.len()],
            other_columns: Vec::new(),
            list_columns: Vec::new(),
            recipe: Recipe::new(Vec::new()),
            purify: PurifyOptions::default(),
            stats: None,
            index: None,
            reference: None,
            batch: None,
            planned_documents: None,
            stop_words_file: None,
            dictionary_file: None,
            threads: machine::cores_allowed(),
            memory: machine::half_of_memory_allowed(),
            work: None,
            checkpoint: None,
            resumes: false,
            keep: Keep { keys: Vec::new(), is_none: false },
            removes: true,
            decide: Decide::All,
            remove_if: RemoveIf::Pair,
            remove_chains: false,
            corpus: CorpusFiles::default(),
            add: AddedColumns::default(),
            cut: CutOptions::default(),
            max_group: 0,
            max_candidates: 0,
            keep_texts: false,
            prefilter: false,
            strict: false,
            report: true,
            limit: None,
            sample: None,
            seed: 0,
        }
    }

    pub(super) fn name_field(&mut self, field: Field, given: Given<'_>) {
        self.field_columns[field as usize] = given.text().into();
        self.fields_required[field as usize] = given.typed;
    }

    pub(super) fn field_name(&self, field: Field) -> Value {
        self.field_columns[field as usize].clone().into()
    }
}

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

/// Selects the pairs that decide which documents are removed (`--decide`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decide {
    /// Pairs found by at least this many algorithms; 1 is `any`.
    AtLeast(usize),
    /// Pairs found by every algorithm.
    All,
    /// Pairs found by the algorithm with this label.
    Label(String),
}

impl Decide {
    /// Parses `any`, `all`, `at-least:K` or the label of one of the algorithms.
    ///
    /// # Errors
    /// Returns an error that lists the accepted values if the value is not one of them.
    pub fn parse(typed: &str, labels: &[&str]) -> Result<Decide> {
        if let Some(count) = typed.strip_prefix("at-least:") {
            return match count.parse() {
                Ok(count) if (1..=labels.len()).contains(&count) => Ok(Decide::AtLeast(count)),
                _ => Err(Error::wrong_value(
                    "decide",
                    typed,
                    format_args!("expected a number from 1 to {}, the number of algorithms in this run", labels.len()),
                )),
            };
        }
        match typed {
            "any" => Ok(Decide::AtLeast(1)),
            "all" => Ok(Decide::All),
            label if labels.contains(&label) => Ok(Decide::Label(label.to_string())),
            other => {
                let known = labels.iter().copied().chain(["any", "all"]);
                let hint = dupsift_core::error::did_you_mean(other, known);
                let names = labels.join(", ");
                Err(Error::usage(format!(
                    "`decide={other:?}` is neither any, all, at-least:K nor an algorithm of this run{hint}; available: {names}"
                )))
            }
        }
    }
}

impl std::fmt::Display for Decide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decide::AtLeast(1) => f.write_str("any"),
            Decide::AtLeast(count) => write!(f, "at-least:{count}"),
            Decide::All => f.write_str("all"),
            Decide::Label(label) => f.write_str(label),
        }
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

    #[test]
    fn decisions_are_parsed_and_printed_back() {
        let labels = ["exact", "minhash"];
        for typed in ["any", "all", "at-least:2", "minhash"] {
            assert_eq!(Decide::parse(typed, &labels).unwrap().to_string(), typed);
        }
        assert!(Decide::parse("minhsh", &labels).unwrap_err().to_string().contains("did you mean \"minhash\"?"));
        assert!(Decide::parse("at-least:3", &labels).unwrap_err().to_string().contains("from 1 to 2"));
    }
}
