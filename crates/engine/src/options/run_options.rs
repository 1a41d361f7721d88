//! What a run is asked to do.

use std::path::PathBuf;
use std::time::Duration;

use super::corpus::CorpusFiles;
use super::cut::CutOptions;
use super::machine;
use super::value::{Given, Value};
use dupsift_algorithms::stage::recipe::Recipe;
use dupsift_algorithms::stage::remove_if::RemoveIf;
use dupsift_core::encoding::Encoding;
use dupsift_core::error::{Error, Result};
use dupsift_files::io::{Coding, Quoting, Separator, Taking};
use dupsift_pages::PurifyOptions;
use dupsift_text::{Field, TextOptions};

/// A whole run.
#[derive(Clone)]
pub struct RunOptions {
    /// Files, folders or globs.
    pub inputs: Vec<String>,
    /// The folder that the inputs were typed in; empty: the current one.
    pub folder: PathBuf,
    /// The output folder.
    pub out: PathBuf,
    /// Whether an output folder that exists may be replaced.
    pub overwrite: bool,
    /// Whether the result is published where a guard would hold it back.
    pub accept: bool,
    /// Whether the run makes the index of a reference: the run that asked for it reports its guards.
    pub is_reference: bool,
    /// The share of broken rows above which a result does not replace an earlier one; none: the default for so many rows.
    pub max_rejected_share: Option<f64>,
    /// The share of a large file above which what goes does not replace an earlier result.
    pub max_removed_share: f64,
    /// The share of removed near-duplicates that may look like pages of one template.
    pub max_template_share: f64,
    /// Files of fewer rows are not guarded against removals.
    pub guard_rows: u64,
    /// The output of an earlier run that pairs are counted against.
    pub previous: Option<PathBuf>,
    /// The column that says where a row comes from, of whose values is told what goes of each.
    pub source_column: Option<String>,
    /// How many times the pairs a document of that run there may be.
    pub max_pairs_factor: u64,
    /// How many times less text than the earlier run a run may have.
    pub max_shrink_factor: u64,
    /// How many times the candidates a document that earlier nights of an index let expect there may be.
    pub max_candidates_factor: u64,
    /// Whether each `.txt` and `.html` file is one document.
    pub whole_files: bool,
    /// What separates fields of separated values; `None`: what the name of each file says.
    pub separator: Option<Separator>,
    /// Whether fields of separated values may stand in quotes.
    pub quotes: Quoting,
    /// The encoding of JSON lines and `.txt` files.
    pub encoding: Encoding,
    /// The column of texts, or of pages.
    pub text_column: String,
    /// Whether that column holds pages, HTML in any charset.
    pub html: bool,
    /// Whether the user named it.
    pub text_required: bool,
    /// The column that says what a server said of a page, for pages alone; a corpus need not have it.
    pub content_type_column: String,
    /// The column of the addresses of pages, likewise.
    pub url_column: String,
    /// Which of these two the user named, so that a corpus without them is an error.
    pub page_columns_required: [bool; 2],
    /// The column of ids.
    pub id_column: String,
    /// Whether the user named the id column, so that its absence is an error.
    pub id_required: bool,
    /// The columns beside the text, by [`Field`]; a corpus need not have them.
    pub field_columns: [String; Field::ALL.len()],
    /// Which of these the user named, so that a corpus without them is an error.
    pub fields_required: [bool; Field::ALL.len()],
    /// Further columns that a verb reads, of any type.
    pub other_columns: Vec<String>,
    /// Algorithms and words.
    pub recipe: Recipe,
    /// The output whose statistics, models and number of documents stand for those of this corpus.
    pub stats: Option<PathBuf>,
    /// The index that the corpus is matched against, and added to.
    pub index: Option<PathBuf>,
    /// What the corpus is matched against without being added to it.
    pub reference: Option<PathBuf>,
    /// What the corpus is called there; none: as the output.
    pub batch: Option<String>,
    /// The documents that a new index is made for.
    pub planned_documents: Option<u64>,
    /// Where the stop words of the recipe were read, for the record.
    pub stop_words_file: Option<PathBuf>,
    /// Where the dictionary of the recipe was read, for the record.
    pub dictionary_file: Option<PathBuf>,
    /// Worker threads, at least 1.
    pub threads: usize,
    /// The memory budget in bytes.
    pub memory: u64,
    /// Where work files go; none: a hidden folder beside `out`.
    pub work: Option<PathBuf>,
    /// The time between two moments at which what is done is put down; none for never.
    pub checkpoint: Option<Duration>,
    /// Whether what an earlier run has put down is taken up.
    pub resumes: bool,
    /// Which document of several survives.
    pub keep: Keep,
    /// Whether documents are removed at all: not where algorithms are only compared.
    pub removes: bool,
    /// Which pairs decide on removal.
    pub decide: Decide,
    /// What must be so for a document to go for a kept one that it forms a pair with.
    pub remove_if: RemoveIf,
    /// Whether documents linked by a chain of pairs alone are removed too.
    pub remove_chains: bool,
    /// What is written of the corpus itself.
    pub corpus: CorpusFiles,
    /// What is cut out of the documents that are kept.
    pub cut: CutOptions,
    /// Above this size a group of equal signatures is written as pairs with its representative.
    pub max_group: u64,
    /// The most comparisons within one group of a method that compares.
    pub max_candidates: u64,
    /// Whether rows that cannot meet another are left out before they are written, at the price of a second signing.
    pub prefilter: bool,
    /// Whether the first bad row or file ends the run.
    pub strict: bool,
    /// Whether report.html is written.
    pub report: bool,
    /// Only this many documents from the start.
    pub limit: Option<u64>,
}

/// The least memory in bytes that one thread may take for unpacking: what the usual levels of Zstandard ask for.
const LEAST_WINDOW: u64 = 8 << 20;
/// What the footer of a Parquet file may take beside half of the memory limit, in bytes.
const FOOTER_BESIDES: u64 = 64 << 20;

impl RunOptions {
    /// How the input files are taken.
    pub fn taking(&self) -> Taking {
        // A quarter of the budget, for all threads may unpack at once.
        let window_bytes = (self.memory / 4 / self.threads.max(1) as u64).max(LEAST_WINDOW);
        let (encoding, separator) = (self.encoding, self.separator);
        // One large footer is in memory at a time, beside a part of what is promised besides the budget.
        let footer_bytes = self.memory / 2 + FOOTER_BESIDES;
        let coding =
            Coding { encoding, separator, quoting: self.quotes, window_bytes, footer_bytes, ..Coding::default() };
        Taking { whole_files: self.whole_files, coding }
    }

    /// Returns whether a table may name any document.
    pub fn names_all(&self) -> bool {
        self.corpus.annotate || self.cut.what.is_some()
    }

    /// Options that nothing has been put into yet, not even the defaults of the table.
    pub(super) fn blank(inputs: Vec<String>) -> RunOptions {
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
            recipe: Recipe {
                algorithms: Vec::new(),
                text: TextOptions::default(),
                count_copies: false,
                within: None,
                purify: PurifyOptions::default(),
            },
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
            keep: Keep { keys: Vec::new() },
            removes: true,
            decide: Decide::All,
            remove_if: RemoveIf::Pair,
            remove_chains: false,
            corpus: CorpusFiles::default(),
            cut: CutOptions::default(),
            max_group: 0,
            max_candidates: 0,
            prefilter: false,
            strict: false,
            report: true,
            limit: None,
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

/// The order in which documents are preferred (`--keep`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Keys in order of weight; the document number decides last.
    pub keys: Vec<KeepKey>,
}

/// One key of the order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeepKey {
    /// `length` (characters of the text), `doc` (the row number), or a column of the corpus.
    pub column: String,
    /// Whether larger values come first.
    pub descending: bool,
}

impl Keep {
    /// Parses `"score desc, length desc, id asc"`; a key without a direction is ascending, but `length` has to have one.
    ///
    /// # Errors
    /// An empty key, or another word than `asc` or `desc`.
    pub fn parse(typed: &str) -> Result<Keep> {
        let keys = typed.split(',').map(|item| {
            let words: Vec<&str> = item.split_whitespace().collect();
            let (column, descending) = match words[..] {
                // Nearly all who type that mean the longest, and would get the shortest.
                ["length"] => {
                    return Err(Error::wrong_value(
                        "keep",
                        "length",
                        "expected length desc, which keeps the longest, or length asc, which keeps the shortest",
                    ));
                }
                [column] | [column, "asc"] => (column, false),
                [column, "desc"] => (column, true),
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
            Ok(KeepKey { column: column.to_string(), descending })
        });
        let mut keys = keys.collect::<Result<Vec<_>>>()?;
        if keys.iter().all(|key| key.column != "doc") {
            keys.push(KeepKey { column: "doc".into(), descending: false });
        }
        Ok(Keep { keys })
    }

    /// The columns of the corpus that the order reads.
    pub fn columns(&self) -> Vec<String> {
        let own = |key: &&KeepKey| key.column != "length" && key.column != "doc";
        self.keys.iter().filter(own).map(|key| key.column.clone()).collect()
    }
}

impl std::fmt::Display for Keep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = |key: &KeepKey| format!("{} {}", key.column, if key.descending { "desc" } else { "asc" });
        f.write_str(&self.keys.iter().map(key).collect::<Vec<_>>().join(", "))
    }
}

/// Which pairs decide on removal (`--decide`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decide {
    /// Pairs that at least so many algorithms found; 1 is `any`.
    AtLeast(usize),
    /// Pairs that every algorithm found.
    All,
    /// Pairs of the algorithm with this label.
    Label(String),
}

impl Decide {
    /// Parses `any`, `all`, `at-least:K` or the label of one of the algorithms.
    ///
    /// # Errors
    /// Anything else, with what is there.
    pub fn parse(typed: &str, labels: &[&str]) -> Result<Decide> {
        if let Some(count) = typed.strip_prefix("at-least:") {
            return match count.parse() {
                Ok(count) if (1..=labels.len()).contains(&count) => Ok(Decide::AtLeast(count)),
                _ => Err(Error::wrong_value(
                    "decide",
                    typed,
                    format_args!("expected a number from 1 to {}, the algorithms of this run", labels.len()),
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
        assert_eq!(Keep::parse(&keep.to_string()).unwrap(), keep);
        assert_eq!(keep.columns(), ["score", "id"]);
        assert!(Keep::parse("score down").unwrap_err().to_string().contains("COLUMN desc"));
        assert!(Keep::parse("").is_err());
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
