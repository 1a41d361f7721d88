//! Options for the output folder.

use std::path::PathBuf;

use super::{CONTAMINATED, COPYING, MAKING, PURIFY, RUN, TEXTS, any};
use crate::options::help_groups::OUTPUT;
use crate::options::spec::{Affects, NONE, OptionSpec, Verb, in_words, is};
use crate::options::value::Kind;
use crate::options::words::prefix;
use crate::options::{AddedColumns, CorpusFiles};

/// Selects what is written, and where.
#[derive(Clone, Debug)]
pub struct OutputOptions {
    /// The output folder.
    pub folder: PathBuf,
    /// Whether an existing output folder may be replaced.
    pub overwrite: bool,
    /// Whether report.html is written.
    pub report: bool,
    /// Whether the output stores the texts of removed documents and of the documents kept instead.
    pub keep_texts: bool,
    /// The corpus files to write.
    pub corpus: CorpusFiles,
    /// The columns that are added to the kept rows.
    pub add: AddedColumns,
}

impl Default for OutputOptions {
    fn default() -> OutputOptions {
        OutputOptions {
            folder: PathBuf::new(),
            overwrite: false,
            report: true,
            keep_texts: false,
            corpus: CorpusFiles::default(),
            add: AddedColumns::default(),
        }
    }
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(OUTPUT, MAKING, "out", "DIR", Kind::Path,
        "Output folder. It appears only when the output is complete")
        .brief("Output folder")
        .field(|run, given| Ok(run.output.folder = given.path()), |run| Some(run.output.folder.clone().into()))
        .affects(Affects::Output),
    OptionSpec::new(OUTPUT, MAKING, "overwrite", "", Kind::Switch, "Replace the output folder if it exists")
        .brief("Replace the output folder if it exists")
        .field(|run, given| Ok(run.output.overwrite = given.switch()), |run| Some(run.output.overwrite.into()))
        .affects(Affects::Output),
    OptionSpec::new(OUTPUT, TEXTS, "no-report", "", Kind::Switch,
        "Do not write report.html; `dupsift report` can write it later")
        .but(&[(Verb::Purify, "", in_words("true", "")), (Verb::Contaminated, "Write no report.html", NONE)])
        .field(|run, given| Ok(run.output.report = !given.switch()), |run| Some((!run.output.report).into()))
        .affects(Affects::Output),
    OptionSpec::new(OUTPUT, PURIFY, "columns", "LIST", Kind::Text(any),
        "Input columns to copy: all, none, or a comma-separated list")
        .list()
        .default(in_words("all", "all except the page")),
    OptionSpec::new(OUTPUT, PURIFY, "keep-html", "", Kind::Switch, "Copy the HTML of the pages, too"),
    OptionSpec::new(OUTPUT, PURIFY, "prefix", "TEXT", Kind::Text(prefix),
        "Prefix for the names of the page columns")
        .default(is("page_")),
    OptionSpec::new(OUTPUT, RUN, "keep-texts", "", Kind::Switch,
        "Also store the texts of the removed documents, and of the documents that were kept instead, in texts/. `dupsift explain` and `dupsift report` then work even after the corpus is deleted")
        .field(|run, given| Ok(run.output.keep_texts = given.switch()), |run| Some(run.output.keep_texts.into()))
        .affects(Affects::Output),
    OptionSpec::new(OUTPUT, COPYING, "corpus", "LIST", Kind::Text(|typed| CorpusFiles::parse(typed).map(drop)),
        "Comma-separated list of the parts of the corpus to write, file by file: keep (the kept rows, in deduped/), drop (the removed rows, in dropped/), annotate (a row of attributes for each input row, in attributes/)")
        .brief("Also write the corpus: keep, drop, annotate")
        .list()
        .default(is("none"))
        .but(&[(
            Verb::Contaminated,
            "Comma-separated list of the parts of the corpus to write, file by file: keep (documents without contamination, in clean/), drop (contaminated documents, in dropped/)",
            is("none"),
        )])
        .field(|run, given| Ok(run.output.corpus = CorpusFiles::parse(given.text())?), |run| Some(run.output.corpus.to_string().into()))
        .affects(Affects::Output),
    OptionSpec::new(OUTPUT, RUN, "add", "LIST", Kind::Text(|typed| AddedColumns::parse(typed).map(drop)),
        "Comma-separated list of columns to add to the rows in deduped/ (with `corpus=keep`): cluster_size, copies (the number of documents with the same text), sources (the number of different sources in the cluster: values of `source-column`, or files), duplicates (the list of the ids of the documents removed in favor of this row)")
        .list()
        .default(is("none"))
        .field(|run, given| Ok(run.output.add = AddedColumns::parse(given.text())?), |run| Some(run.output.add.to_string().into()))
        .affects(Affects::Output),
    OptionSpec::new(OUTPUT, CONTAMINATED, "cut-spans", "", Kind::Switch,
        "Cut only the contaminated spans, and keep the rest of each document in clean/ (with `corpus=keep`)"),
];
