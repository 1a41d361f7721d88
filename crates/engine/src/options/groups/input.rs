//! Options for the input files and their formats.

use std::path::PathBuf;

use super::{EVALUATE, MAKING, TEXTS};
use crate::options::help_groups::INPUT;
use crate::options::spec::{Affects, NONE, OptionSpec, Verb, is};
use crate::options::value::{Kind, Value};
use dupsift_core::encoding::Encoding;
use dupsift_input::{Quoting, Separator};
use dupsift_remote::Storage;

/// Selects the input files and how they are read.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// The input files, folders or globs.
    pub paths: Vec<String>,
    /// The folder to which input paths are relative; empty for the current folder.
    pub folder: PathBuf,
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
    /// How object stores are reached.
    pub storage: Storage,
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(INPUT, MAKING, "whole-files", "", Kind::Switch,
        "Read each .txt, .md and .html file as one document, with its path as the id")
        .but(&[(Verb::Purify, "Read each .txt, .md and .html file as one page, with its path as the id", NONE)])
        .field(|run, given| Ok(run.input.whole_files = given.switch()), |run| Some(run.input.whole_files.into())),
    OptionSpec::new(INPUT, TEXTS, "text-lines", "", Kind::Switch, "Read each line of .txt files as one document")
        .field(|run, given| Ok(run.input.text_lines = given.switch()), |run| Some(run.input.text_lines.into())),
    OptionSpec::new(INPUT, MAKING, "follow-links", "", Kind::Switch,
        "Follow links that lead out of the inputs, to folders and to .txt, .md and .html files. Links to data files are always followed")
        .field(|run, given| Ok(run.input.follow_links = given.switch()), |run| Some(run.input.follow_links.into())),
    OptionSpec::new(INPUT, MAKING, "encoding", "NAME", Kind::Text(|typed| Encoding::parse(typed).map(drop)),
        "Encoding of JSON lines, CSV, TSV and .txt files: utf-8, auto (detected for each file), or a name such as gbk or \
         windows-1251")
        .default(is("utf-8"))
        .field(
            |run, given| Ok(run.input.encoding = Encoding::parse(given.text())?),
            |run| Some(run.input.encoding.to_string().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "separator", "CHARACTER", Kind::Text(|typed| Separator::parse(typed).map(drop)),
        "Separator in CSV files, such as ; or tab. The default is a comma in .csv files and a tab in .tsv files")
        .field(
            |run, given| Ok(run.input.separator = Some(Separator::parse(given.text())?)),
            |run| run.input.separator.map(|separator| separator.to_string().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "quotes", "QUOTES", Kind::Choice(Quoting::ALL),
        "Quotation marks in CSV files: double (a field can be quoted, and a quotation mark inside it is doubled) or none (quotation marks are ordinary characters, and every line is a record)")
        .default(is("double"))
        .field(|run, given| Ok(run.input.quotes = Quoting::of(given.text())), |run| Some(run.input.quotes.name().into())),
    OptionSpec::new(INPUT, MAKING, "storage", "NAME=VALUE,...", Kind::Text(|typed| Storage::parse(typed).map(drop)),
        "Settings of the object store: endpoint=URL, region=NAME, anonymous=true, allow_http=true, virtual_hosted=true. \
         By default, the environment variables of the store apply. Credentials are always taken from the environment")
        .field(
            |run, given| Ok(run.input.storage = Storage::parse(given.text())?),
            |run| Some(run.input.storage.to_string()).filter(|storage| !storage.is_empty()).map(Value::from),
        )
        .affects(Affects::Output),
    OptionSpec::new(INPUT, EVALUATE, "truth-quotes", "QUOTES", Kind::Choice(Quoting::ALL),
        "Quotation marks in CSV files with labels: double or none, like `quotes` in `dupsift run`")
        .default(is("double")),
];
