//! The options of `dupsift purify`: those of a run that say something about pages, and its own.

use std::path::PathBuf;

use clap::Args;

use super::settings::{LogFormat, Settings, Typed};

/// `dupsift purify`.
#[derive(Debug, Args)]
pub struct PurifyArguments {
    /// Files, folders or globs: .parquet, .jsonl, .jsonl.gz, .jsonl.zst, .warc, .warc.gz, .warc.zst (or .wet for .warc)
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<String>,

    /// Output folder; it appears under this name when the work is done, complete or not at all
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub out: Option<PathBuf>,
    /// Replace the output folder if it exists
    #[arg(long, help_heading = "Files")]
    pub overwrite: bool,
    /// Folder for work files [default: a hidden folder beside the output, removed after success]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub work: Option<PathBuf>,
    /// Column of pages, HTML in whatever charset [default: html; of web archives it is not needed]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub html_column: Option<String>,
    /// Column of ids [default: id; where it is not there, ids are FILE#ROW]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub id_column: Option<String>,
    /// Column of what servers said of pages, such as text/html; charset=gbk [default: content_type; a corpus need not have it]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub content_type_column: Option<String>,
    /// Column of the addresses of pages [default: url; a corpus need not have it]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub url_column: Option<String>,
    /// Only this many pages from the start
    #[arg(long, value_name = "N", help_heading = "Files")]
    pub limit: Option<Typed>,
    /// Stop at the first bad row or file
    #[arg(long, help_heading = "Files")]
    pub strict: bool,

    /// How pages become texts: docview, readability or visible, each with :name=value,... such as docview:other=skip
    /// [default: readability]
    #[arg(long, value_name = "METHOD", help_heading = "Pages")]
    pub purify: Option<String>,
    /// Columns of the files to write beside those of the page: all, none, or names with commas between
    /// [default: all but the page itself]
    #[arg(long, value_name = "LIST", help_heading = "Pages")]
    pub columns: Option<String>,
    /// Write the pages themselves too
    #[arg(long, help_heading = "Pages")]
    pub keep_html: bool,
    /// What stands before the names of the columns of the page
    #[arg(long, value_name = "TEXT", default_value = "page_", help_heading = "Pages")]
    pub prefix: String,

    /// Output of a run: keywords are weighed by its word statistics, else by their frequency in the page alone
    #[arg(long, value_name = "DIR", help_heading = "Elements")]
    pub stats: Option<PathBuf>,
    /// Output of --train: each page gets a category
    #[arg(long, value_name = "DIR", help_heading = "Elements")]
    pub model: Option<PathBuf>,
    /// Learn categories from this column of labels and write the model instead of pages
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["model", "stats", "columns", "keep_html"])]
    #[arg(help_heading = "Elements")]
    pub train: Option<String>,

    /// How Chinese becomes words: dict, bigram or char [default: dict]
    #[arg(long, value_name = "NAME", help_heading = "Words")]
    pub tokenizer: Option<String>,
    /// Words that are no keywords, one a line [default: function words of Chinese, Russian and English]
    #[arg(long, value_name = "FILE", help_heading = "Words")]
    pub stop_words: Option<PathBuf>,
    /// Chinese words besides those of the built-in dictionary, one a line: WORD, WORD FREQUENCY or WORD FREQUENCY TAG
    #[arg(long, value_name = "FILE", help_heading = "Words")]
    pub dictionary: Option<PathBuf>,
    /// Read Russian ё as е
    #[arg(long, help_heading = "Words")]
    pub yo_to_e: bool,
    /// Reduce Russian and English words to their stems
    #[arg(long, help_heading = "Words")]
    pub stem: bool,

    /// Worker threads [default: the cores allowed]
    #[arg(long, value_name = "N", help_heading = "Resources")]
    pub threads: Option<Typed>,
    /// Memory budget, such as 4GiB, 512MB or a number of bytes [default: half of what machine or cgroup allows]
    #[arg(long, value_name = "SIZE", help_heading = "Resources")]
    pub memory: Option<Typed>,

    /// Form of log lines [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Watching")]
    pub log_format: Option<LogFormat>,
    /// No progress bars
    #[arg(long, help_heading = "Watching")]
    pub no_progress: bool,
}

impl PurifyArguments {
    /// What of it is said of every run, as a run has it.
    pub fn settings(&self) -> Settings {
        let typed = self;
        Settings {
            out: typed.out.clone(),
            overwrite: Some(typed.overwrite),
            work: typed.work.clone(),
            html_column: Some(typed.html_column.clone().unwrap_or_else(|| DEFAULT_HTML.into())),
            id_column: typed.id_column.clone(),
            content_type_column: typed.content_type_column.clone(),
            url_column: typed.url_column.clone(),
            limit: typed.limit.clone(),
            strict: Some(typed.strict),
            // No algorithm is asked; the cheapest one stands where there has to be one.
            algorithms: Some("exact".into()),
            purify: typed.purify.clone(),
            tokenizer: typed.tokenizer.clone(),
            stop_words: typed.stop_words.clone(),
            dictionary: typed.dictionary.clone(),
            yo_to_e: Some(typed.yo_to_e),
            stem: Some(typed.stem),
            threads: typed.threads.clone(),
            memory: typed.memory.clone(),
            log_format: typed.log_format,
            no_progress: Some(typed.no_progress),
            no_report: Some(true),
            ..Settings::default()
        }
    }
}

/// The column of pages where none is named.
const DEFAULT_HTML: &str = "html";
