//! Every option of a run: [`Settings`] is read twice, from the command line by clap and from `--config` by serde, so a flag and
//! its key cannot drift apart. A switch may be typed as `--strict=false`, to take back what the configuration file says.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Deserialize;

/// A number or a size as it was typed; the configuration file may give it with or without quotes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "NumberOrText")]
pub struct Typed(pub String);

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or a text such as \"4GiB\"")]
enum NumberOrText {
    Number(i64),
    Text(String),
}

impl From<NumberOrText> for Typed {
    fn from(value: NumberOrText) -> Typed {
        match value {
            NumberOrText::Number(number) => Typed(number.to_string()),
            NumberOrText::Text(text) => Typed(text),
        }
    }
}

impl From<String> for Typed {
    fn from(text: String) -> Typed {
        Typed(text)
    }
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for machines.
    Json,
}

/// What happens to documents that are linked to the kept one by a chain of pairs alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Chain {
    /// They stay where they form no pair with a kept document.
    #[default]
    Keep,
    /// They go: one document stays of each cluster.
    Remove,
}

/// Every option of a run, each only where somebody gave it.
#[derive(Clone, Debug, Default, PartialEq, Args, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// Output folder; it appears under this name when the run is done, complete or not at all
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub out: Option<PathBuf>,
    /// Replace the output folder if it exists
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Files")]
    pub overwrite: Option<bool>,
    /// Folder for work files [default: a hidden folder beside the output, removed after success]
    #[arg(long, value_name = "DIR", help_heading = "Files")]
    pub work: Option<PathBuf>,
    /// Publish the result even where a guard would hold it back; the guards are reported all the same
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Files")]
    pub accept: Option<bool>,
    /// Hold the result back where more than this share of the rows is broken and an earlier output stands at --out
    /// [default: 0.05; 0.5 of fewer than 100 rows]
    #[arg(long, value_name = "SHARE", help_heading = "Files")]
    pub max_rejected_share: Option<f64>,
    /// Read each .txt and .html file as one document, whose id is its path
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Files")]
    pub whole_files: Option<bool>,
    /// Encoding of JSON lines and of .txt files: utf-8, auto (found out for each file) or a name such as gbk or
    /// windows-1251 [default: utf-8]
    #[arg(long, value_name = "NAME", help_heading = "Files")]
    pub encoding: Option<String>,
    /// Column of texts [default: text]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub text_column: Option<String>,
    /// Column of pages, HTML in whatever charset, in place of texts; of web archives it is not needed
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub html_column: Option<String>,
    /// Column of ids [default: id; where it is not there, ids are FILE#ROW]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub id_column: Option<String>,
    /// Column of titles, for algorithms that read them [default: title; a corpus need not have it]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub title_column: Option<String>,
    /// Column of the keywords that pages name themselves [default: keywords; a corpus need not have it]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub keywords_column: Option<String>,
    /// Column of descriptions [default: description; a corpus need not have it]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub description_column: Option<String>,
    /// Column of what servers said of pages, such as text/html; charset=gbk [default: content_type; a corpus need not have it]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub content_type_column: Option<String>,
    /// Column of the addresses of pages [default: url; a corpus need not have it]
    #[arg(long, value_name = "COLUMN", help_heading = "Files")]
    pub url_column: Option<String>,
    /// Only this many documents from the start
    #[arg(long, value_name = "N", help_heading = "Files")]
    pub limit: Option<Typed>,
    /// Stop at the first bad row or file
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Files")]
    pub strict: Option<bool>,
    /// Write no report.html; `dupsift report` makes it later
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Files")]
    pub no_report: Option<bool>,

    /// Algorithms, such as three_plus_five,minhash:bands=20,rows=5 or all; see `dupsift algorithms`
    /// [default: those of --preset balanced]
    #[arg(long, value_name = "LIST", help_heading = "Finding duplicates")]
    pub algorithms: Option<String>,
    /// Algorithms by need, in place of --algorithms: balanced, strict, broad or fineweb; see `dupsift algorithms`
    #[arg(long, value_name = "NAME", help_heading = "Finding duplicates")]
    pub preset: Option<String>,
    /// Whether exact copies count in word statistics [default: true]
    #[arg(long, value_name = SWITCH, hide_possible_values = true, help_heading = "Finding duplicates")]
    pub count_copies: Option<bool>,
    /// Of a group of equal signatures above this size, write only the pairs with its representative [default: 1000]
    #[arg(long, value_name = "N", help_heading = "Finding duplicates")]
    pub max_group: Option<Typed>,
    /// Most comparisons within one group; what is left out is counted [default: 10000000]
    #[arg(long, value_name = "N", help_heading = "Finding duplicates")]
    pub max_candidates: Option<Typed>,

    /// Sign twice, and write only rows whose key comes more than once: less disk, more time
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Resources")]
    pub sift: Option<bool>,

    /// How Chinese becomes words: dict, bigram or char [default: dict]
    #[arg(long, value_name = "NAME", help_heading = "Words")]
    pub tokenizer: Option<String>,
    /// Words that algorithms leave out of account, one a line
    #[arg(long, value_name = "FILE", help_heading = "Words")]
    pub stop_words: Option<PathBuf>,
    /// Chinese words besides those of the built-in dictionary, one a line: WORD, WORD FREQUENCY or WORD FREQUENCY TAG
    #[arg(long, value_name = "FILE", help_heading = "Words")]
    pub dictionary: Option<PathBuf>,
    /// Read Russian ё as е
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Words")]
    pub yo_to_e: Option<bool>,
    /// Reduce Russian and English words to their stems
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Words")]
    pub stem: Option<bool>,

    /// How pages become texts: docview, readability or visible, each with :name=value,... such as docview:other=skip
    /// [default: readability]
    #[arg(long, value_name = "METHOD", help_heading = "Pages")]
    pub purify: Option<String>,

    /// Which of several duplicates stays: columns, length or doc, each asc or desc [default: length desc]
    #[arg(long, value_name = "KEYS", help_heading = "Removing")]
    pub keep: Option<String>,
    /// Which pairs decide on removal: any, all, at-least:K, or those of one algorithm [default: any]
    #[arg(long, value_name = "RULE", help_heading = "Removing")]
    pub decide: Option<String>,
    /// Whether a document stays that a chain of pairs, but no pair, links to the kept one [default: keep]
    #[arg(long, value_enum, value_name = "WHAT", help_heading = "Removing")]
    pub chain: Option<Chain>,

    /// Worker threads [default: the cores allowed]
    #[arg(long, value_name = "N", help_heading = "Resources")]
    pub threads: Option<Typed>,
    /// Memory budget, such as 4GiB, 512MB or a number of bytes [default: half of what machine or cgroup allows]
    #[arg(long, value_name = "SIZE", help_heading = "Resources")]
    pub memory: Option<Typed>,

    /// Check inputs and options and print the estimate; read no documents, write nothing
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Watching")]
    pub dry_run: Option<bool>,
    /// Form of log lines [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", help_heading = "Watching")]
    pub log_format: Option<LogFormat>,
    /// No progress bars
    #[arg(long, value_name = SWITCH, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    #[arg(hide_possible_values = true, help_heading = "Watching")]
    pub no_progress: Option<bool>,
}

const SWITCH: &str = "true|false";

impl Settings {
    /// These settings, and `other`'s where these say nothing.
    #[rustfmt::skip]
    pub fn or(self, other: Settings) -> Settings {
        // One choice of algorithms takes the place of the other, however either was typed.
        let chosen = self.algorithms.is_some() || self.preset.is_some();
        let (algorithms, preset) =
            if chosen { (self.algorithms, self.preset) } else { (other.algorithms, other.preset) };
        Settings {
            out: self.out.or(other.out),
            overwrite: self.overwrite.or(other.overwrite),
            work: self.work.or(other.work),
            accept: self.accept.or(other.accept),
            max_rejected_share: self.max_rejected_share.or(other.max_rejected_share),
            whole_files: self.whole_files.or(other.whole_files),
            encoding: self.encoding.or(other.encoding),
            text_column: self.text_column.or(other.text_column),
            html_column: self.html_column.or(other.html_column),
            content_type_column: self.content_type_column.or(other.content_type_column),
            url_column: self.url_column.or(other.url_column),
            purify: self.purify.or(other.purify),
            id_column: self.id_column.or(other.id_column),
            title_column: self.title_column.or(other.title_column),
            keywords_column: self.keywords_column.or(other.keywords_column),
            description_column: self.description_column.or(other.description_column),
            limit: self.limit.or(other.limit),
            strict: self.strict.or(other.strict),
            algorithms,
            preset,
            no_report: self.no_report.or(other.no_report),
            count_copies: self.count_copies.or(other.count_copies),
            max_group: self.max_group.or(other.max_group),
            max_candidates: self.max_candidates.or(other.max_candidates),
            sift: self.sift.or(other.sift),
            tokenizer: self.tokenizer.or(other.tokenizer),
            stop_words: self.stop_words.or(other.stop_words),
            dictionary: self.dictionary.or(other.dictionary),
            yo_to_e: self.yo_to_e.or(other.yo_to_e),
            stem: self.stem.or(other.stem),
            keep: self.keep.or(other.keep),
            decide: self.decide.or(other.decide),
            chain: self.chain.or(other.chain),
            threads: self.threads.or(other.threads),
            memory: self.memory.or(other.memory),
            dry_run: self.dry_run.or(other.dry_run),
            log_format: self.log_format.or(other.log_format),
            no_progress: self.no_progress.or(other.no_progress),
        }
    }

    /// The long names of all options, in the order of help: the keys of a configuration file.
    pub fn names() -> Vec<String> {
        let command = Settings::augment_args(clap::Command::new("run"));
        command.get_arguments().filter_map(|argument| argument.get_long().map(str::to_string)).collect()
    }
}
