//! Defines the command-line arguments of each command.
//!
//! Most options come from the table of options ([`crate::cli::typed::options`]). The table contains the options that describe work on a corpus. These
//! options are also Python keywords, may be set in a configuration file, and are recorded in `run.json`. Flags outside the table affect
//! only a single call. They specify what the call reads (`--truth`, `--docs`), how the output is printed (`--json`, `--markdown`,
//! `--full`), a remark (`--reason`), or the path of the configuration file (`--config`). A test in this file lists all of these flags.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, value_parser};

use super::config::INPUTS;
use super::known::words_of;
use super::options::{CONFIG, Options};
use dupsift_core::error::{Error, Result};
use dupsift_engine::options::{Settings, Verb as Of};
use dupsift_engine::reading::input_endings;

/// The examples at the end of `run -h`.
const EXAMPLES: &str = "\
Examples:
  dupsift run docs.jsonl --out out
  dupsift run crawl/ --out mon --corpus keep   # also write the corpus
  dupsift run crawl/ --out tue --index seen    # also match earlier runs";

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "dupsift", version, about = "Finds and removes near-duplicate documents in text corpora")]
#[command(
    after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, but rows or files were rejected or a guard fired; 4 held \
                  back by a guard, with the previous output unchanged; 129, 130, 143 stopped by SIGHUP, SIGINT, SIGTERM. \
                  RUST_LOG=LEVEL sets the log level unless -v or -q does"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Find duplicates and decide which documents to remove
    #[command(visible_alias = "dedup", after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Run(Box<RunArguments>),
    /// Compare algorithms and presets on a corpus by recall, precision and F1, and recommend one
    ///
    /// Nothing is removed, and no removal list is written. The pairs found by all algorithms are pooled, and the judge (--judge) decides
    /// from the two texts of each pair whether they are duplicates. Recall is relative to the duplicates in this pool: duplicates that
    /// no algorithm finds do not count.
    ///
    /// The last line recommends the setting with the highest F1. Among settings whose F1 is at most 0.01 lower, presets are preferred
    /// (except fineweb, which is for comparisons with other tools), then the setting with the highest precision, then the first on the
    /// command line. If the highest F1 is below 0.5, the line states that no setting suits the corpus.
    Compare(Box<CompareArguments>),
    /// Extract title, keywords, abstract, body and links from HTML pages or web archives
    Purify(Box<PurifyArguments>),
    /// Find documents that contain items of an evaluation set, and write the corpus without them
    Contaminated(Box<ContaminatedArguments>),
    /// Flag documents that repeat an earlier document in this input or in previous inputs, using a Bloom filter
    Stream(Box<StreamArguments>),
    /// Publish a result that a guard held back
    Accept(AcceptArguments),
    /// Remove a result that a guard held back
    Reject(RejectArguments),
    /// Remove temporary files that killed runs left behind
    ///
    /// Lists what it removes. Leaves active runs and your own files alone.
    Clean(CleanArguments),
    /// Inspect and maintain an index that run --index created
    #[command(subcommand)]
    Index(IndexVerb),
    /// Write the corpus of a finished run without the removed documents
    ///
    /// Adds the folders deduped/, dropped/ and attributes/ to the output and changes nothing else in it. A different removal rule
    /// (--remove-if, --threshold) requires a new folder (--out), which also contains the new removed/. Fails if the texts, the
    /// ids or other columns that the run used have changed.
    Apply(ApplyArguments),
    /// Draw removals for labeling, as CSV
    ///
    /// Prints the columns id_a (the removed document), id_b (the document that is kept instead), label (empty), weight (the number of removals
    /// that the row stands for) and similarity. Exact copies are not drawn. Fill in the column label with y, n or unsure, and pass the
    /// file to evaluate --truth.
    Sample(SampleArguments),
    /// Measure precision and recall of a finished run against labeled pairs or clusters
    Evaluate(EvaluateArguments),
    /// Print the summary of a finished run again, or list its documents, pairs, clusters or rules
    Show(Box<ShowArguments>),
    /// Write report.html for a finished run
    Report(ReportArguments),
    /// List the algorithms, or describe one
    Algorithms(AlgorithmsArguments),
    /// Explain why a document was removed, or why two documents are or aren't a pair
    Explain(Box<ExplainArguments>),
    /// Write the manual to a folder, as Markdown or man pages
    Manual {
        /// A new folder
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Write man pages instead, one per verb
        #[arg(long)]
        man: bool,
    },
    /// Print a shell completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print nightly.sh, a script for daily runs from cron
    Nightly,
}

/// `dupsift algorithms`.
#[derive(Debug, Args)]
pub struct AlgorithmsArguments {
    /// Name or alias of an algorithm; by default, all are listed
    pub name: Option<String>,
    /// Print all details as JSON
    #[arg(long)]
    pub json: bool,
    /// Print Markdown
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

/// `dupsift show`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("list"))]
pub struct ShowArguments {
    /// Output folder of dupsift run, compare or apply; lists need one of dupsift run
    #[arg(value_name = "OUT")]
    pub dir: PathBuf,
    /// Print the full summary
    #[arg(short, long, conflicts_with = "list")]
    pub verbose: bool,
    /// List the removed documents, each with the document that is kept instead
    #[arg(long, group = "list")]
    pub removed: bool,
    /// List the pairs of similar documents that are both kept
    #[arg(long, group = "list")]
    pub kept_similar: bool,
    /// List the clusters
    #[arg(long, group = "list")]
    pub clusters: bool,
    /// List how many documents each removal rule removes, strictest rule first. Reads the corpus
    #[arg(long, group = "list")]
    pub rules: bool,
    /// Number of rows to print
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u32).range(1..), requires = "list", conflicts_with = "rules")]
    pub limit: u32,
    /// Print the most doubtful rows first
    #[arg(long, requires = "list", conflicts_with = "rules")]
    pub worst: bool,
    /// Print only rows with a document whose id or text contains TEXT. Reads the corpus
    #[arg(long, value_name = "TEXT", requires = "list", conflicts_with = "rules")]
    pub grep: Option<String>,
    /// Print only rows with a document from the input file S, or with S in the column source, domain or lang. Reads the corpus
    #[arg(long, value_name = "S", requires = "list", conflicts_with = "rules")]
    pub source: Option<String>,
    /// Print JSON
    #[arg(long, requires = "list")]
    pub json: bool,
    /// Current location of the corpus, if it was moved after the run
    #[arg(long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// The options of this command, from the table of options.
    #[command(flatten)]
    pub options: Options<{ Of::Show as usize }>,
}

/// `dupsift explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// Output folder of a finished run
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// A document: its id, or FILE#ROW [default: a removed document, drawn at random with a fixed seed]
    #[arg(value_name = "ID_A")]
    pub a: Option<String>,
    /// Another document [default: the document kept instead of ID_A, or the most similar document]
    #[arg(value_name = "ID_B")]
    pub b: Option<String>,
    /// Treat ID_A and ID_B as document numbers (the doc column in the tables)
    #[arg(long, requires = "a")]
    pub docs: bool,
    /// Without ID_A, the seed for drawing a removed document
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "a")]
    pub seed: u64,
    /// Without ID_A, explain the most doubtful removal
    #[arg(long, conflicts_with_all = ["a", "seed"])]
    pub worst: bool,
    /// Print JSON, with all signatures
    #[arg(long)]
    pub json: bool,
    /// Also print the lines that the texts share, and the keys of all signatures
    #[arg(long)]
    pub full: bool,
    /// Current location of the corpus, if it was moved after the run
    #[arg(long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// The options of this command, from the table of options.
    #[command(flatten)]
    pub options: Options<{ Of::Explain as usize }>,
}

/// Holds the arguments of a command that writes an output folder from a corpus.
#[derive(Debug, Args)]
pub struct Making<const VERB: usize> {
    /// The options from the table. These options check the positions of the inputs, so they are parsed first.
    #[command(flatten)]
    pub options: Options<VERB>,
    /// The input files, folders or globs; see [`said_of_inputs`].
    #[arg(
        required_unless_present = CONFIG,
        value_name = "INPUT",
        help = short_inputs(VERB),
        long_help = said_of_inputs(VERB)
    )]
    inputs: Vec<String>,
}

/// Returns a one-line description of the inputs that a command accepts.
fn short_inputs(verb: usize) -> &'static str {
    if verb == Of::Purify as usize {
        "Files, folders or globs: Parquet, JSON lines, CSV, Arrow, WARC"
    } else {
        "Files, folders or globs: Parquet, JSON lines, CSV, ...; - is stdin"
    }
}

/// Returns a description of the inputs that a command accepts, with their file extensions.
fn said_of_inputs(verb: usize) -> String {
    let dash = if verb == Of::Purify as usize { "" } else { "; - reads JSON lines from standard input" };
    format!("Files, folders or globs: {}{dash}", input_endings())
}

impl<const VERB: usize> Making<VERB> {
    /// Returns the inputs and the settings. The command line takes precedence over the configuration file.
    ///
    /// # Errors
    /// Returns the errors of [`Options::settings`], or an error if neither the command line nor the file has inputs.
    pub fn asked(self) -> Result<(Vec<String>, Settings)> {
        let (settings, of_config) = self.options.settings_and_inputs()?;
        let inputs = if self.inputs.is_empty() { of_config } else { self.inputs };
        if inputs.is_empty() {
            return Err(Error::usage(format!(
                "no input given; expected INPUT, or {INPUTS} = [\"INPUT\"] in the `config` file",
            )));
        }
        Ok((inputs, settings))
    }
}

/// `dupsift run`.
pub type RunArguments = Making<{ Of::Run as usize }>;
/// `dupsift compare`.
pub type CompareArguments = Making<{ Of::Compare as usize }>;
/// `dupsift stream`.
pub type StreamArguments = Making<{ Of::Stream as usize }>;
/// `dupsift purify`.
pub type PurifyArguments = Making<{ Of::Purify as usize }>;

/// `dupsift contaminated`.
pub type ContaminatedArguments = Making<{ Of::Contaminated as usize }>;

/// `dupsift accept`.
#[derive(Debug, Args)]
pub struct AcceptArguments {
    /// The folder NAME.held that a run wrote next to its output NAME before it ended with exit code 4
    #[arg(value_name = "NAME.held")]
    pub dir: PathBuf,
    /// Why the result is correct; recorded in run.json
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// `dupsift reject`.
#[derive(Debug, Args)]
pub struct RejectArguments {
    /// The folder NAME.held that a run wrote next to its output NAME before it ended with exit code 4
    #[arg(value_name = "NAME.held")]
    pub dir: PathBuf,
}

/// `dupsift index`.
#[derive(Debug, Subcommand)]
pub enum IndexVerb {
    /// Show the contents of an index: options, batches, size
    Info {
        /// Folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
        /// Print the manifest as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a table of the documents that occur more than once, with the number of their copies and near-duplicates so far
    Copies {
        /// Folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
        /// Parquet file to write; it must not exist
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Check all files of an index for damage
    Verify {
        /// Folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
    },
    /// Merge the files of an index into fewer, larger ones
    Compact {
        /// Folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
    },
    /// Forget documents: later runs no longer match them. Word statistics and file sizes do not change
    Forget {
        /// Folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
        /// Id of the first indexed document with the text to forget; can be repeated
        #[arg(long, value_name = "ID", required_unless_present = "batch", conflicts_with = "batch")]
        id: Vec<String>,
        /// Forget all documents of this batch
        #[arg(long, value_name = "NAME")]
        batch: Option<String>,
    },
    /// Return to an earlier generation of a damaged index; later batches are removed
    Restore {
        /// Folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
        /// Number of the generation, from the error message or the file name manifest-NUMBER.json
        #[arg(value_name = "GENERATION")]
        generation: u64,
    },
}

/// `dupsift clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// Output folder of the killed runs; a finished output in it is not changed. Without OUT, only temporary folders are removed
    #[arg(value_name = "OUT")]
    pub out: Option<PathBuf>,
    /// Folder for temporary files of the killed runs [default: the system's temporary folder]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
}

/// `dupsift evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateArguments {
    /// Output folder of a finished run
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Labeled pairs (columns id_a, id_b) or clusters (columns id, cluster), as .parquet, .jsonl or .csv; can be repeated
    #[arg(long, required = true, value_name = "FILE")]
    pub truth: Vec<String>,
    /// Print JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Also print pair and document counts, B-cubed precision and recall, and the adjusted Rand index
    #[arg(long)]
    pub full: bool,
    /// Current location of the corpus, if it was moved after the run
    #[arg(long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// The options of this command, from the table of options.
    #[command(flatten)]
    pub options: Options<{ Of::Evaluate as usize }>,
}

/// `dupsift sample`.
#[derive(Debug, Args)]
pub struct SampleArguments {
    /// Output folder of a finished run
    #[arg(value_name = "OUT")]
    pub dir: PathBuf,
    /// Number of removals to draw
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = value_parser!(u32).range(1..))]
    pub pairs: u32,
    /// Comma-separated list of groups that are represented by their share: similarity, source (a value in the column source, domain or
    /// lang, or else an input file) [default: none, a simple random sample]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = ["similarity", "source"], hide_possible_values = true)]
    pub by: Vec<String>,
    /// Seed of the sample
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Current location of the corpus, if it was moved after the run
    #[arg(long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// The options for resources and the log, which are those of `show`.
    #[command(flatten)]
    pub options: Options<{ Of::Show as usize }>,
}

/// `dupsift apply`.
#[derive(Debug, Args)]
pub struct ApplyArguments {
    /// Output folder of a finished run
    #[arg(value_name = "OUT")]
    pub dir: PathBuf,
    /// Comma-separated list of the parts of the corpus to write: keep (the kept rows, in deduped/), drop (the removed rows, in
    /// dropped/), annotate (a row of attributes for each input row, in attributes/)
    #[arg(long, value_name = "LIST", default_value = "keep", value_parser = words_of("corpus"), hide_possible_values = true)]
    pub corpus: String,
    /// Comma-separated list of columns to add to the rows in deduped/: cluster_size, copies, sources, duplicates
    #[arg(long, value_name = "LIST", default_value = "none", value_parser = words_of("add"), hide_possible_values = true)]
    pub add: String,
    /// A different removal rule: pair, contained:T or contained:T:N [default: the rule of the run]
    #[arg(long, value_name = "RULE", value_parser = words_of("remove-if"), hide_possible_values = true)]
    pub remove_if: Option<String>,
    /// For the algorithm LABEL, use only pairs with a similarity of at least T; can be repeated
    #[arg(long, value_name = "LABEL=T")]
    pub threshold: Vec<String>,
    /// Current location of the corpus, if it was moved after the run
    #[arg(long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// New folder for the result; required with a different rule [default: OUT]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print how many documents would be removed, and write nothing
    #[arg(long, conflicts_with_all = ["out", "overwrite", "add", "corpus"])]
    pub dry_run: bool,
    /// Replace the folder for the result, or the folders that an earlier call added to OUT
    #[arg(long)]
    pub overwrite: bool,
    /// The options of this command, from the table of options.
    #[command(flatten)]
    pub options: Options<{ Of::Apply as usize }>,
}

/// `dupsift report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Output folder of a finished run
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Current location of the corpus, if it was moved after the run
    #[arg(long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// The options of this command, from the table of options.
    #[command(flatten)]
    pub options: Options<{ Of::Report as usize }>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use dupsift_engine::options::options_of;

    /// The flags that are not in the table of options, by command.
    const OF_ONE_CALL: &[(&str, &[&str])] = &[
        ("run", &["config"]),
        ("compare", &["config"]),
        ("purify", &["config"]),
        ("contaminated", &["config"]),
        ("stream", &["config"]),
        ("accept", &["reason"]),
        ("reject", &[]),
        ("clean", &["work"]),
        ("index", &[]),
        ("apply", &["add", "corpus", "dry-run", "input", "out", "overwrite", "remove-if", "threshold"]),
        ("sample", &["by", "input", "json", "log-format", "memory", "no-progress", "pairs", "seed", "threads", "work"]),
        ("evaluate", &["full", "input", "json", "truth"]),
        (
            "show",
            &[
                "clusters",
                "grep",
                "input",
                "json",
                "kept-similar",
                "limit",
                "removed",
                "rules",
                "source",
                "verbose",
                "worst",
            ],
        ),
        ("report", &["input"]),
        ("algorithms", &["json", "markdown"]),
        ("explain", &["docs", "full", "input", "json", "seed", "worst"]),
        ("manual", &["man"]),
        ("completions", &[]),
        ("nightly", &[]),
    ];

    #[test]
    fn every_flag_stands_in_the_table_or_is_of_one_call() {
        let command = Arguments::command();
        let flags = command.get_subcommands().map(|verb| {
            let of = Of::ALL.into_iter().find(|of| of.name() == verb.get_name());
            let in_table = |name: &str| of.is_some_and(|of| options_of(of).any(|option| option.name == name));
            let mut others: Vec<&str> =
                verb.get_arguments().filter_map(|flag| flag.get_long()).filter(|name| !in_table(name)).collect();
            others.sort_unstable();
            (verb.get_name(), others)
        });
        let expected: Vec<(&str, Vec<&str>)> =
            OF_ONE_CALL.iter().map(|(verb, flags)| (*verb, flags.to_vec())).collect();
        assert_eq!(flags.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn clap_finds_no_contradiction() {
        Arguments::command().debug_assert();
    }
}
