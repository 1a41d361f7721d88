//! What was typed, and nothing of what it means: the arguments of each verb, and those of its options that stand in the table
//! ([`super::options`]).
//!
//! The table holds what a configuration file may say, what `run.json` records and what Python has as keywords: what can be asked of a
//! corpus. Flags that stand here and not there are about one call alone: what it looks at (`--truth`, `--docs`), in which form it prints
//! (`--json`, `--markdown`, `--full`), what a person says to it (`--reason`), and where the rest is read (`--config`). A test
//! below lists all of them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::config::INPUTS;
use super::known::words_of;
use super::options::{CONFIG, Options};
use dupsift_core::error::{Error, Result};
use dupsift_engine::options::{Settings, Verb as Of};
use dupsift_engine::reading::input_endings;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "dupsift",
    version,
    about = "Sifts duplicates out of document corpora: Parquet or JSONL in, Parquet out"
)]
#[command(
    after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, but rows were rejected or a guard fired; \
                        4 finished, but held back: what stood at --out still does; 129, 130, 143 stopped by SIGHUP, SIGINT, \
                        SIGTERM. RUST_LOG=LEVEL says which log lines are told where neither -v nor -q does"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Find duplicates: pairs, clusters and a removal list
    #[command(visible_alias = "dedup")]
    Run(Box<RunArguments>),
    /// Run algorithms and presets and judge their pairs: recall, precision and F of each, how they agree, and which to take
    ///
    /// Nothing is removed, and no removal list is written. The pairs that any of them found are pooled, each is judged by its two
    /// texts (--judge), and recall is over the duplicates of this pool: what none of them found counts nowhere.
    ///
    /// The sentence at the end says which to take: the one with the largest F; of those whose F is at most .01 below it presets
    /// come first (but fineweb, which is there to compare with other tools), then the higher precision, then the order in which
    /// they were asked for. If the largest F is below .5, it says that none is right for the corpus.
    Compare(Box<CompareArguments>),
    /// Take pages apart: HTML or web archives in, title, keywords, abstract, body and links of each page out
    Purify(Box<PurifyArguments>),
    /// Find the documents that contain items of an evaluation set, and write the corpus without them
    Contaminated(Box<ContaminatedArguments>),
    /// Flag each document whose like came before, in this input or in earlier ones, by a counting Bloom filter
    Stream(Box<StreamArguments>),
    /// Take a result that a guard held back: it becomes the output that it was made for
    Accept(AcceptArguments),
    /// Remove what runs that were killed left of an output that was never finished
    Clean(CleanArguments),
    /// Look after the index of run --index: what it holds, whether its files are whole, fewer of them, documents to forget
    #[command(subcommand)]
    Index(IndexVerb),
    /// Write the corpus of a finished run: without the removed documents, only these, or a row of marks for each row
    ///
    /// The folders deduped/, dropped/ and attributes/ are added to the output, and nothing else changes in it. With another rule of removal
    /// (--remove-if, --threshold) the result is a folder of its own (--out), with a removed/ by that rule. Files of which texts,
    /// ids or other columns that the run read have changed since are refused.
    Apply(ApplyArguments),
    /// Measure a finished run against labelled pairs or clusters: precision, recall, F1, B-cubed, ARI of each algorithm
    Evaluate(EvaluateArguments),
    /// Print the summary of a finished run, as it was printed at its end
    Show {
        /// The output folder of a finished run or comparison, or of apply
        #[arg(value_name = "OUT")]
        dir: PathBuf,
    },
    /// Write report.html of a finished run again
    Report(ReportArguments),
    /// List the algorithms, or show one: inputs, parameters, source, when not to use it
    Algorithms(AlgorithmsArguments),
    /// Tell why two documents of a finished run are a pair, or none: signatures, scores, a side-by-side difference
    Explain(Box<ExplainArguments>),
    /// Write the manual into a folder, as Markdown
    Manual {
        /// The folder
        #[arg(value_name = "DIR")]
        dir: PathBuf,
        /// Pages for man instead, a file a verb
        #[arg(long)]
        man: bool,
    },
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print nightly.sh, the script that cron runs every night
    Nightly,
}

/// `dupsift algorithms`.
#[derive(Debug, Args)]
pub struct AlgorithmsArguments {
    /// One algorithm, by name or alias; without it all are listed
    pub name: Option<String>,
    /// Print JSON, with everything
    #[arg(long)]
    pub json: bool,
    /// Print Markdown, as in docs/algorithms.md
    #[arg(long, conflicts_with = "json")]
    pub markdown: bool,
}

/// `dupsift explain`.
#[derive(Debug, Args)]
pub struct ExplainArguments {
    /// The output folder of a finished run
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// One document: its id, or FILE#ROW
    #[arg(value_name = "ID_A")]
    pub a: String,
    /// The other one; without it the one that ID_A goes for, or is most alike
    #[arg(value_name = "ID_B")]
    pub b: Option<String>,
    /// ID_A and ID_B are document numbers, the columns doc of the tables
    #[arg(long)]
    pub docs: bool,
    /// Print JSON, with all signatures
    #[arg(long)]
    pub json: bool,
    /// Show all: equal lines of the texts, all rows of signatures
    #[arg(long)]
    pub full: bool,
    /// The folder, or the file, that the corpus of the run is in now, if it was moved
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// The options of the table: what the look at it may take.
    #[command(flatten)]
    pub options: Options<{ Of::Explain as usize }>,
}

/// A verb that makes an output folder of a corpus.
#[derive(Debug, Args)]
pub struct Making<const VERB: usize> {
    /// The options of the table. They look at where the inputs stand, so they are taken first.
    #[command(flatten)]
    pub options: Options<VERB>,
    /// Files, folders or globs, by the endings that are read.
    #[arg(
        required_unless_present = CONFIG,
        value_name = "INPUT",
        help = said_of_inputs(VERB)
    )]
    inputs: Vec<String>,
}

/// What may stand as an input of a verb.
fn said_of_inputs(verb: usize) -> String {
    let dash = if verb == Of::Purify as usize { "" } else { "; - is JSON lines from standard input" };
    format!("Files, folders or globs: {}{dash}", input_endings())
}

impl<const VERB: usize> Making<VERB> {
    /// What is read, and how: as typed and, where that says nothing, as the configuration file has it.
    ///
    /// # Errors
    /// As [`Options::settings`]; no inputs in either place.
    pub fn asked(self) -> Result<(Vec<String>, Settings)> {
        let (settings, of_config) = self.options.settings_and_inputs()?;
        let inputs = if self.inputs.is_empty() { of_config } else { self.inputs };
        if inputs.is_empty() {
            return Err(Error::usage(format!(
                "there is nothing to read; expected INPUT, or {INPUTS} = [\"INPUT\"] in the file of `config`",
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
    /// The folder NAME.held that a run with exit code 4 left beside its output NAME
    #[arg(value_name = "NAME.held")]
    pub dir: PathBuf,
    /// Why the result is right all the same; it is kept in run.json
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,
}

/// `dupsift index`.
#[derive(Debug, Subcommand)]
pub enum IndexVerb {
    /// Say what an index holds: its recipe, its nights, its size
    Info {
        /// The folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
        /// Print the manifest as JSON
        #[arg(long)]
        json: bool,
    },
    /// Compare all files with what was written
    Verify {
        /// The folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
    },
    /// Merge files of rows, eight of about one size into one; texts are never written anew
    Compact {
        /// The folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
    },
    /// Forget documents: no later night meets them, and a text that comes again is new. Statistics keep their counts, and the bytes stay
    Forget {
        /// The folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
        /// The id of a document that brought its text first; may be given several times
        #[arg(long, value_name = "ID", required_unless_present = "batch", conflicts_with = "batch")]
        id: Vec<String>,
        /// All documents of this night
        #[arg(long, value_name = "NAME")]
        batch: Option<String>,
    },
    /// Return to an earlier generation of an index whose newest one is damaged or lost; later batches are removed from it
    Restore {
        /// The folder of the index
        #[arg(value_name = "INDEX")]
        dir: PathBuf,
        /// The number of the generation, as the message about the damage or manifest-NUMBER.json in the folder has it
        #[arg(value_name = "GENERATION")]
        generation: u64,
    },
}

/// `dupsift clean`.
#[derive(Debug, Args)]
pub struct CleanArguments {
    /// The output folder that was asked for; it need not be there, and what stands there is not touched
    #[arg(value_name = "OUT")]
    pub out: PathBuf,
}

/// `dupsift evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateArguments {
    /// The output folder of a finished run; its corpus has to be where it was, or in --corpus
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Labelled pairs (columns id_a, id_b) or clusters (columns id, cluster), as .parquet, .jsonl or .csv; may be given
    /// several times
    #[arg(long, required = true, value_name = "FILE")]
    pub truth: Vec<String>,
    /// Print the record as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Print all figures: pairs, pages, B-cubed and the adjusted Rand index
    #[arg(long)]
    pub full: bool,
    /// The folder, or the file, that the corpus of the run is in now, if it was moved
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// The options of the table: what the look at it may take.
    #[command(flatten)]
    pub options: Options<{ Of::Evaluate as usize }>,
}

/// `dupsift apply`.
#[derive(Debug, Args)]
pub struct ApplyArguments {
    /// The output folder of a finished run
    #[arg(value_name = "OUT")]
    pub dir: PathBuf,
    /// What to write, as in a run: keep, the kept rows, in deduped/; drop, the removed rows, in dropped/; annotate, a row of marks for each row,
    /// in attributes/; several with commas between
    #[arg(long, value_name = "LIST", default_value = "keep", value_parser = words_of("corpus"), hide_possible_values = true)]
    pub corpus: String,
    /// Decide again by this rule, pair, contained:T or contained:T:N [default: that of the run]
    #[arg(long, value_name = "RULE", value_parser = words_of("remove-if"), hide_possible_values = true)]
    pub remove_if: Option<String>,
    /// Decide again by pairs of at least this similarity, of the algorithm with this label; may be given several times
    #[arg(long, value_name = "LABEL=T")]
    pub threshold: Vec<String>,
    /// The folder, or the file, that the corpus of the run is in now, if it was moved
    #[arg(long, value_name = "DIR")]
    pub input: Option<PathBuf>,
    /// A new folder for the result; another rule needs one [default: OUT]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The options of the table: what it may take.
    #[command(flatten)]
    pub options: Options<{ Of::Apply as usize }>,
}

/// `dupsift report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The output folder of a finished run
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// The folder, or the file, that the corpus of the run is in now, if it was moved
    #[arg(long, value_name = "DIR")]
    pub corpus: Option<PathBuf>,
    /// The options of the table: what the look at it may take.
    #[command(flatten)]
    pub options: Options<{ Of::Report as usize }>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use dupsift_engine::options::options_of;

    /// Flags that stand in no table, by verb.
    const OF_ONE_CALL: &[(&str, &[&str])] = &[
        ("run", &["config"]),
        ("compare", &["config"]),
        ("purify", &["config"]),
        ("contaminated", &["config"]),
        ("stream", &["config"]),
        ("accept", &["reason"]),
        ("clean", &[]),
        ("index", &[]),
        ("apply", &["corpus", "input", "out", "remove-if", "threshold"]),
        ("evaluate", &["corpus", "full", "json", "truth"]),
        ("show", &[]),
        ("report", &["corpus"]),
        ("algorithms", &["json", "markdown"]),
        ("explain", &["corpus", "docs", "full", "json"]),
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
