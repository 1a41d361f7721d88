//! What was typed, and nothing of what it means: defaults, ranges and files are [`super::resolve`]'s.
//!
//! The options of a run, which stand in a configuration file too, are [`super::settings`].

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub use super::purify_args::PurifyArguments;
pub use super::settings::{Chain, LogFormat, Settings, Typed};

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "dupsift",
    version,
    about = "Sifts duplicates out of document corpora: Parquet or JSONL in, Parquet out"
)]
#[command(after_help = "Exit codes: 0 done; 1 failed; 2 wrong usage; 3 done, but rows were rejected or a guard fired")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What the program can do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Find duplicates: pairs, clusters and a removal list
    Run(Box<RunArguments>),
    /// Run many algorithms and judge their pairs: recall, precision and F of each, and how they agree
    Compare(Box<CompareArguments>),
    /// Take pages apart: HTML or web archives in, title, keywords, abstract, body and links of each page out
    Purify(Box<PurifyArguments>),
    /// Flag each document whose like came before, in this input or in earlier ones, by a counting Bloom filter
    Stream(Box<StreamArguments>),
    /// Measure a finished run against labelled pairs or clusters: precision, recall, F1, B-cubed, ARI of each algorithm
    Evaluate(EvaluateArguments),
    /// Write report.html of a finished run again
    Report(ReportArguments),
    /// List the algorithms, or show one: inputs, parameters, source, when not to use it
    Algorithms(AlgorithmsArguments),
    /// Tell why two documents of a finished run are a pair, or none: signatures, scores, a side-by-side difference
    Explain(Box<ExplainArguments>),
    /// Print a completion script for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
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
    /// The other one
    #[arg(value_name = "ID_B")]
    pub b: String,
    /// ID_A and ID_B are document numbers, the columns doc of the tables
    #[arg(long)]
    pub docs: bool,
    /// Print JSON, with all signatures
    #[arg(long)]
    pub json: bool,
    /// Show all: equal lines of the texts, all rows of signatures
    #[arg(long)]
    pub full: bool,
    /// What the look at it may take.
    #[command(flatten)]
    pub resources: Resources,
}

/// What a look at a finished run may take: what the run itself was allowed says nothing about this machine today.
#[derive(Clone, Debug, Default, Args)]
pub struct Resources {
    /// Worker threads [default: the cores allowed]
    #[arg(long, value_name = "N")]
    pub threads: Option<String>,
    /// Memory budget, such as 4GiB, 512MB or a number of bytes [default: half of what machine or cgroup allows]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Folder for work files [default: the one that DIR stands in]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// No progress bars
    #[arg(long)]
    pub no_progress: bool,
}

/// `dupsift run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Files, folders or globs: .parquet, .jsonl, .jsonl.gz, .jsonl.zst, .warc, .warc.gz, .warc.zst (or .wet for .warc)
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// Read options from this TOML file; what the command line says wins
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// All options that may stand in the configuration file too.
    #[command(flatten)]
    pub settings: Settings,
}

/// `dupsift compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Files, folders or globs: .parquet, .jsonl, .jsonl.gz, .jsonl.zst, .warc, .warc.gz, .warc.zst (or .wet for .warc)
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// What makes two texts duplicates: lcs:T (2 LCS / (a + b) on characters), words:T (the same on words) or jaccard:T.
    /// Characters are those of the canonical text, its words with one space between, so the tokenizer matters where words
    /// are not written apart, as in Chinese [default: lcs:0.85]
    #[arg(long, value_name = "JUDGE", help_heading = "Judging")]
    pub judge: Option<String>,
    /// Of an algorithm with more pairs than these judge a sample of about so many [default: 100000]
    #[arg(long, value_name = "N", help_heading = "Judging")]
    pub judge_sample: Option<Typed>,
    /// Documents to hold each against each, for the duplicates that no algorithm found [default: 0, none]
    #[arg(long, value_name = "N", help_heading = "Judging")]
    pub oracle_sample: Option<Typed>,
    /// Seed of the samples [default: 0]
    #[arg(long, value_name = "N", help_heading = "Judging")]
    pub seed: Option<Typed>,
    /// Read options from this TOML file; what the command line says wins
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The options of a run; --algorithms is by default all.
    #[command(flatten)]
    pub settings: Settings,
}

/// `dupsift stream`.
#[derive(Debug, Args)]
pub struct StreamArguments {
    /// Files, folders or globs: .parquet, .jsonl, .jsonl.gz, .jsonl.zst, .warc, .warc.gz, .warc.zst (or .wet for .warc)
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,
    /// The filter that an earlier stream left: OUT/filter.bloom
    #[arg(long, value_name = "FILE", help_heading = "The filter")]
    pub filter: Option<PathBuf>,
    /// Old versions of documents, to be taken out of the filter first; may be given several times
    #[arg(long, value_name = "INPUT", help_heading = "The filter")]
    pub forget: Vec<String>,
    /// Keys that a new filter is made for [default: ten times the documents of this input]
    #[arg(long, value_name = "N", help_heading = "The filter")]
    pub keys: Option<Typed>,
    /// Share of new documents that a new filter may flag by chance
    #[arg(long, value_name = "RATE", default_value_t = 0.001, help_heading = "The filter")]
    pub rate: f64,
    /// Read options from this TOML file; what the command line says wins
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The options of a run, of which those about pairs say nothing here; --algorithms names one, by default exact.
    #[command(flatten)]
    pub settings: Settings,
}

/// `dupsift evaluate`.
#[derive(Debug, Args)]
pub struct EvaluateArguments {
    /// The output folder of a finished run; its corpus has to stand where it was
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// Labelled pairs (columns id_a, id_b) or clusters (columns id, cluster), as .parquet or .jsonl; may be given several
    /// times
    #[arg(long, required = true, value_name = "FILE")]
    pub truth: Vec<String>,
    /// Print the record as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// What the look at it may take.
    #[command(flatten)]
    pub resources: Resources,
}

/// `dupsift report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The output folder of a finished run
    #[arg(value_name = "DIR")]
    pub dir: PathBuf,
    /// What the look at it may take.
    #[command(flatten)]
    pub resources: Resources,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn run(line: &str) -> RunArguments {
        match Arguments::try_parse_from(line.split(' ')).unwrap().verb {
            Verb::Run(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn clap_finds_no_contradiction() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_switch_can_be_taken_back() {
        assert_eq!(run("dupsift run a --strict").settings.strict, Some(true));
        let typed = run("dupsift run --strict=false a b").settings;
        let file = Settings { strict: Some(true), stem: Some(true), ..Settings::default() };
        let both = typed.or(file);
        assert_eq!((both.strict, both.stem), (Some(false), Some(true)));
        let typed = run("dupsift run --preset broad b").settings;
        let both = typed.or(Settings { algorithms: Some("tf".into()), ..Settings::default() });
        assert_eq!((both.algorithms, both.preset.as_deref()), (None, Some("broad")));
        // A switch takes no word after a space: that is an input.
        assert_eq!(run("dupsift run --overwrite false").inputs, ["false"]);
    }

    #[test]
    fn what_is_not_given_is_none() {
        let arguments = run("dupsift run a b");
        assert_eq!((arguments.inputs.len(), arguments.settings), (2, Settings::default()));
    }
}
