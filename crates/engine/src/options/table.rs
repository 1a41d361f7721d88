//! Defines the table of options. To add an option, add an entry to the table and, if the option affects a run, a field to
//! [`RunOptions`](super::RunOptions). Help, configuration files, run.json and docs/options.md are derived from the table.
//!
//! The values of a run are set in table order. `--decide` may refer to an algorithm, so it comes after the options that choose the
//! algorithms. The help shows options in groups; see [`in_groups`].

use super::help_groups::*;
use super::purifier::{parse_purify, purify_name};
use super::spec::{NONE, OptionSpec, Verb, depends, in_words, is};
use super::value::{Kind, Value};
use super::words::{self, CHAIN, FORMATS, prefix};
use super::{AddedColumns, CorpusFiles, Decide, Keep};
use crate::reading::sample::SampleSize;
use dupsift_algorithms::judge::Judge;
use dupsift_algorithms::recipe::entries::{EVERYTHING, Entries};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_algorithms::recipe::{DEFAULT_PRESET, Recipe, preset};
use dupsift_core::encoding::Encoding;
use dupsift_core::error::Result;
use dupsift_input::{Quoting, Separator};
use dupsift_passages::{Cut, CutAt};
use dupsift_text::Field;

const EVERY: &[Verb] = &Verb::ALL;
/// The commands that write an output folder from a corpus.
const MAKING: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Purify, Verb::Contaminated];
/// The commands that split Chinese text into words.
const WORDING: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Purify];
/// The commands that find duplicates among documents.
const FINDERS: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream];
/// The commands that read document texts.
const TEXTS: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Contaminated];
/// The commands that accept the options for deciding which documents are removed. `stream` ignores these options.
const DECIDING: &[Verb] = &[Verb::Run, Verb::Stream];
const RUN: &[Verb] = &[Verb::Run];
const COMPARE: &[Verb] = &[Verb::Compare];
/// The commands that resume an interrupted run.
const RESUMING: &[Verb] = &[Verb::Run, Verb::Compare];
/// The commands that may run for hours.
const LONG: &[Verb] = RESUMING;
const STREAM: &[Verb] = &[Verb::Stream];
const EVALUATE: &[Verb] = &[Verb::Evaluate];
const PURIFY: &[Verb] = &[Verb::Purify];
const CONTAMINATED: &[Verb] = &[Verb::Contaminated];
/// The commands that accept a threshold.
const THRESHOLD: &[Verb] = &[Verb::Run, Verb::Stream, Verb::Contaminated];
/// The commands that may rewrite the corpus.
const COPYING: &[Verb] = &[Verb::Run, Verb::Contaminated];
/// The commands that may use the statistics of an earlier run.
const COUNTING: &[Verb] = &[Verb::Run, Verb::Purify];

const MAX_THREADS: u64 = super::machine::MAX_THREADS as u64;
/// The maximum for `--oracle-sample`, which corresponds to half a trillion pairs.
const MOST_ORACLE: u64 = 1_000_000;

/// Accepts any string. Used for options whose value is checked elsewhere.
fn any(_: &str) -> Result<()> {
    Ok(())
}

/// Lists every option.
#[rustfmt::skip]
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(JUDGING, COMPARE, "judge", "JUDGE", Kind::Text(|typed| Judge::parse(typed).map(drop)),
        "Rule that decides whether two documents are duplicates: versions[:T] (one text contains at least the share T of the other's 3-grams, 0.8 by default; the numbers agree; no word is much more frequent in one of the texts), lcs:T (2 LCS / (a + b) in characters is at least T), words:T (the same ratio in words), or jaccard:T (the Jaccard similarity of shingles is at least T). Characters are counted in the canonical text, so the tokenizer matters for Chinese")
        .default(is("versions")),
    // Judging a sample of this size takes at most about as long as the run itself, and the margin of error for a share of the pairs is one
    // third of a percentage point.
    OptionSpec::new(JUDGING, COMPARE, "judge-sample", "N", Kind::Whole(1, u64::MAX),
        "For each algorithm that finds more pairs than this, judge a sample of about this size")
        .default(is("100000")),
    OptionSpec::new(JUDGING, COMPARE, "oracle-sample", "N", Kind::Whole(0, MOST_ORACLE),
        "Size of a sample in which every document is compared with every other, to find duplicates that all algorithms miss")
        .default(in_words("0", "0, off")),

    OptionSpec::new(FILTER, STREAM, "filter", "FILE", Kind::Path,
        "Filter from an earlier `dupsift stream` (OUT/filter.bloom)"),
    OptionSpec::new(FILTER, STREAM, "forget", "INPUT", Kind::Texts,
        "Files with old versions of documents to remove from the filter first; can be repeated"),
    OptionSpec::new(FILTER, STREAM, "keys", "N", Kind::Whole(1, u64::MAX), "Planned number of keys in a new filter")
        .default(depends("ten times the number of documents in this input")),
    OptionSpec::new(FILTER, STREAM, "rate", "RATE", Kind::Rate,
        "Maximum false-positive rate of a new filter: the share of new documents that it may flag by mistake")
        .default(is("0.001")),

    OptionSpec::new(ITEMS, CONTAMINATED, "against", "INPUT", Kind::Texts,
        "The evaluation set: files, folders or globs with one item per row; can be repeated"),
    OptionSpec::new(ITEMS, CONTAMINATED, "item-column", "COLUMN", Kind::Column,
        "Column with the text of each item: a string, or a list of paragraphs or chat messages. Several columns, such as \
         question,choices, are joined")
        .default(is("question")),
    OptionSpec::new(ITEMS, CONTAMINATED, "item-id-column", "COLUMN", Kind::Column, "Column with item ids")
        .default(in_words("id", "id; without it, ids are FILE#ROW")),
    OptionSpec::new(ITEMS, CONTAMINATED, "choices-column", "COLUMN", Kind::Column,
        "Column with the list of choices that answers refer to by letter or position, or one column per choice: A,B,C,D")
        .default(in_words("choices", "choices; optional")),
    OptionSpec::new(ITEMS, CONTAMINATED, "answer-column", "COLUMN", Kind::Column,
        "Column with answers: strings, lists of equally correct strings, or the letters or positions of choices. The search for an answer covers a matching span and 200 tokens on either side")
        .default(in_words("answer", "answer; optional")),
    OptionSpec::new(ITEMS, CONTAMINATED, "suite-column", "COLUMN", Kind::Column,
        "Column with the suite of each item, for counts per suite")
        .default(in_words("suite", "suite; without it, the name of the file")),
    OptionSpec::new(ITEMS, CONTAMINATED, "ngram", "N", Kind::Whole(3, 64),
        "Number of tokens in an n-gram; a token is a word or a Chinese character")
        .default(is("5")),
    OptionSpec::new(ITEMS, CONTAMINATED, "public-documents", "N", Kind::Whole(0, u64::MAX),
        "Keep documents with an item that more than this many documents contain, without its answer and without other items, such as a quotation")
        .default(is("100")),

    OptionSpec::new(OUTPUT, MAKING, "out", "DIR", Kind::Path,
        "Output folder. It appears only when the output is complete")
        .brief("Output folder")
        .field(|run, given| Ok(run.out = given.path()), |run| Some(run.out.clone().into())),
    OptionSpec::new(OUTPUT, MAKING, "overwrite", "", Kind::Switch, "Replace the output folder if it exists")
        .brief("Replace the output folder if it exists")
        .field(|run, given| Ok(run.overwrite = given.switch()), |run| Some(run.overwrite.into())),
    OptionSpec::new(RESOURCES, EVERY, "work", "DIR", Kind::Path, "Folder for temporary files")
        .default(depends("a hidden folder next to the output, removed after success"))
        .but(&[
            (Verb::Evaluate, "", depends("the system's temporary folder")),
            (Verb::Explain, "", depends("the system's temporary folder")),
            (Verb::Report, "", depends("the system's temporary folder")),
            (Verb::Apply, "", depends("the system's temporary folder")),
        ])
        .field(|run, given| Ok(run.work = Some(given.path())), |run| run.work.clone().map(Value::from)),
    OptionSpec::new(GUARDS, MAKING, "accept", "", Kind::Switch,
        "Publish the result even if a guard fires; the guards are still reported")
        .field(|run, given| Ok(run.accept = given.switch()), |run| Some(run.accept.into())),
    OptionSpec::new(GUARDS, MAKING, "max-rejected-share", "SHARE", Kind::Share,
        "Keep the previous output if more than this share of rows is invalid")
        .default(depends("0.05; 0.5 for fewer than 100 rows"))
        .field(
            |run, given| Ok(run.max_rejected_share = Some(given.real())),
            |run| run.max_rejected_share.map(Value::from),
        ),
    OptionSpec::new(GUARDS, RUN, "max-removed-share", "SHARE", Kind::Share,
        "Keep the previous output if more than this share of the rows in a file is removed. With `previous`, this guard also applies if `out` does not exist yet")
        .default(is("0.5"))
        .field(|run, given| Ok(run.max_removed_share = given.real()), |run| Some(run.max_removed_share.into())),
    OptionSpec::new(GUARDS, RUN, "guard-rows", "N", Kind::Whole(0, u64::MAX), "Apply `max-removed-share` only to files with at least this many rows")
        .default(is("10000"))
        .field(|run, given| Ok(run.guard_rows = given.number()), |run| Some(run.guard_rows.into())),
    OptionSpec::new(GUARDS, RUN, "max-cut-share", "SHARE", Kind::Share,
        "Keep the previous output if `cut` removes more than this share of the text in the kept documents")
        .default(is("0.5"))
        .field(|run, given| Ok(run.cut.max_share = given.real()), |run| Some(run.cut.max_share.into())),
    OptionSpec::new(GUARDS, RUN, "max-template-share", "SHARE", Kind::Share,
        "Keep the previous output if more than this share of the removed near-duplicates look like pages with the same template")
        .default(is("0.2"))
        .field(|run, given| Ok(run.max_template_share = given.real()), |run| Some(run.max_template_share.into())),
    OptionSpec::new(GUARDS, RUN, "previous", "DIR", Kind::Path,
        "Output of an earlier run to compare with. If a guard fires, the result is not published, even if `out` does not exist yet")
        .field(|run, given| Ok(run.previous = Some(given.path())), |run| run.previous.clone().map(Value::from)),
    OptionSpec::new(GUARDS, RUN, "source-column", "COLUMN", Kind::Column,
        "Column with the source of each row. `max-removed-share` then applies to each source, run.json contains the number of removed rows for each source with at least `guard-rows` rows, and attributes/ contains the number of sources in each cluster")
        .field(|run, given| Ok(run.source_column = Some(given.text().to_owned())), |run| run.source_column.clone().map(Value::from)),
    OptionSpec::new(GUARDS, RUN, "max-pairs-factor", "N", Kind::Whole(1, u64::MAX),
        "Keep the previous output if an algorithm's number of pairs per document exceeds the number in `previous` by more than this factor. Applies only to algorithms with at least 1,000 pairs")
        .default(is("5"))
        .field(|run, given| Ok(run.max_pairs_factor = given.number()), |run| Some(run.max_pairs_factor.into())),
    OptionSpec::new(GUARDS, RUN, "max-shrink-factor", "N", Kind::Whole(1, u64::MAX),
        "Keep the previous output if the amount of input text has shrunk by more than this factor. Applies only if the previous input had at least 100 documents. With `index`, the average amount of text per document is compared instead")
        .default(is("10"))
        .field(|run, given| Ok(run.max_shrink_factor = given.number()), |run| Some(run.max_shrink_factor.into())),
    OptionSpec::new(GUARDS, RUN, "max-candidates-factor", "N", Kind::Whole(1, u64::MAX),
        "With `index`, do not publish the result if an algorithm's number of candidates per document exceeds the number in earlier runs by more than this factor. Applies only to algorithms with at least 1,000 candidates")
        .default(is("10"))
        .field(|run, given| Ok(run.max_candidates_factor = given.number()), |run| Some(run.max_candidates_factor.into())),
    OptionSpec::new(INPUT, MAKING, "whole-files", "", Kind::Switch,
        "Read each .txt, .md and .html file as one document, with its path as the id")
        .but(&[(Verb::Purify, "Read each .txt, .md and .html file as one page, with its path as the id", NONE)])
        .field(|run, given| Ok(run.whole_files = given.switch()), |run| Some(run.whole_files.into())),
    OptionSpec::new(INPUT, TEXTS, "text-lines", "", Kind::Switch, "Read each line of .txt files as one document")
        .field(|run, given| Ok(run.text_lines = given.switch()), |run| Some(run.text_lines.into())),
    OptionSpec::new(INPUT, MAKING, "follow-links", "", Kind::Switch,
        "Follow links that lead out of the inputs, to folders and to .txt, .md and .html files. Links to data files are always followed")
        .field(|run, given| Ok(run.follow_links = given.switch()), |run| Some(run.follow_links.into())),
    OptionSpec::new(INPUT, MAKING, "encoding", "NAME", Kind::Text(|typed| Encoding::parse(typed).map(drop)),
        "Encoding of JSON lines, CSV, TSV and .txt files: utf-8, auto (detected for each file), or a name such as gbk or \
         windows-1251")
        .default(is("utf-8"))
        .field(
            |run, given| Ok(run.encoding = Encoding::parse(given.text())?),
            |run| Some(run.encoding.to_string().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "separator", "CHARACTER", Kind::Text(|typed| Separator::parse(typed).map(drop)),
        "Separator in CSV files, such as ; or tab. The default is a comma in .csv files and a tab in .tsv files")
        .field(
            |run, given| Ok(run.separator = Some(Separator::parse(given.text())?)),
            |run| run.separator.map(|separator| separator.to_string().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "quotes", "QUOTES", Kind::Choice(Quoting::ALL),
        "Quotation marks in CSV files: double (a field can be quoted, and a quotation mark inside it is doubled) or none (quotation marks are ordinary characters, and every line is a record)")
        .default(is("double"))
        .field(|run, given| Ok(run.quotes = Quoting::of(given.text())), |run| Some(run.quotes.name().into())),
    OptionSpec::new(INPUT, EVALUATE, "truth-quotes", "QUOTES", Kind::Choice(Quoting::ALL),
        "Quotation marks in CSV files with labels: double or none, like `quotes` in `dupsift run`")
        .default(is("double")),
    OptionSpec::new(INPUT, TEXTS, "text-column", "COLUMN", Kind::Column,
        "Column with the text. The values of several columns, such as title,text, are joined with line breaks, unless a column with exactly this name exists")
        .brief("Column with the text")
        .list()
        .default(is("text"))
        .but(&[(Verb::Purify, "", NONE)])
        .field(
            |run, given| Ok((run.text_column, run.html, run.text_required) = (given.text().into(), false, given.typed)),
            |run| (!run.html).then(|| run.text_column.clone().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "html-column", "COLUMN", Kind::Column,
        "Column with HTML pages in any charset, read instead of the text column; not needed for web archives")
        .but(&[(
            Verb::Purify,
            "Column with HTML pages in any charset",
            in_words("html", "html; not needed for web archives"),
        )])
        .field(
            |run, given| Ok((run.text_column, run.html, run.text_required) = (given.text().into(), true, given.typed)),
            |run| run.html.then(|| run.text_column.clone().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "id-column", "COLUMN", Kind::Column, "Column with ids")
        .brief("Column with ids")
        .default(in_words("id", "id; without it, ids are FILE#ROW"))
        .field(
            |run, given| Ok((run.id_column, run.id_required) = (given.text().into(), given.typed)),
            |run| Some(run.id_column.clone().into()),
        ),
    OptionSpec::new(INPUT, FINDERS, "title-column", "COLUMN", Kind::Column,
        "Column with titles, for algorithms that use them")
        .default(in_words("title", "title; optional"))
        .field(|run, given| Ok(run.name_field(Field::Title, given)), |run| Some(run.field_name(Field::Title))),
    OptionSpec::new(INPUT, FINDERS, "keywords-column", "COLUMN", Kind::Column,
        "Column with the keywords from the page metadata")
        .default(in_words("keywords", "keywords; optional"))
        .field(|run, given| Ok(run.name_field(Field::Keywords, given)), |run| Some(run.field_name(Field::Keywords))),
    OptionSpec::new(INPUT, FINDERS, "description-column", "COLUMN", Kind::Column, "Column with descriptions")
        .default(in_words("description", "description; optional"))
        .field(
            |run, given| Ok(run.name_field(Field::Description, given)),
            |run| Some(run.field_name(Field::Description)),
        ),
    OptionSpec::new(INPUT, MAKING, "content-type-column", "COLUMN", Kind::Column,
        "Column with the HTTP content type of pages, such as text/html; charset=gbk")
        .default(in_words("content_type", "content_type; optional"))
        .field(
            |run, given| Ok((run.content_type_column, run.page_columns_required[0]) = (given.text().into(), given.typed)),
            |run| Some(run.content_type_column.clone().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "url-column", "COLUMN", Kind::Column, "Column with the URLs of pages")
        .default(in_words("url", "url; optional"))
        .field(
            |run, given| Ok((run.url_column, run.page_columns_required[1]) = (given.text().into(), given.typed)),
            |run| Some(run.url_column.clone().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "limit", "N", Kind::Whole(1, u64::MAX), "Read only the first N documents")
        .but(&[(Verb::Purify, "Read only the first N pages", NONE)])
        .field(|run, given| Ok(run.limit = Some(given.number())), |run| run.limit.map(Value::from)),
    OptionSpec::new(INPUT, RESUMING, "sample", "N|SHARE", Kind::Sample,
        "Read only a random sample: N documents, or a share such as 0.05. Fewer duplicates are found, because both documents \
         of a pair must be in the sample")
        .field(
            |run, given| Ok(run.sample = Some(SampleSize::parse(given.text())?)),
            |run| run.sample.map(|size| size.to_string().into()),
        ),
    OptionSpec::new(INPUT, RESUMING, "seed", "N", Kind::Whole(0, u64::MAX), "Random seed for `sample`")
        .default(is("0"))
        .but(&[(Verb::Compare, "Random seed for the samples", is("0"))])
        .field(|run, given| Ok(run.seed = given.number()), |run| Some(run.seed.into())),
    OptionSpec::new(INPUT, MAKING, "strict", "", Kind::Switch, "Stop at the first invalid row or file")
        .field(|run, given| Ok(run.strict = given.switch()), |run| Some(run.strict.into())),
    OptionSpec::new(OUTPUT, TEXTS, "no-report", "", Kind::Switch,
        "Do not write report.html; `dupsift report` can write it later")
        .but(&[(Verb::Purify, "", in_words("true", "")), (Verb::Contaminated, "Write no report.html", NONE)])
        .field(|run, given| Ok(run.report = !given.switch()), |run| Some((!run.report).into())),

    OptionSpec::new(DUPLICATES, FINDERS, "algorithms", "LIST", Kind::Text(|typed| Entries::parse(typed).map(drop)),
        "Algorithms, such as three_plus_five,minhash:bands=20,rows=5, or all; see `dupsift algorithms`")
        .brief("Algorithms, such as three_plus_five,minhash")
        .list()
        .default(in_words(DEFAULT_PRESET.algorithms, "the algorithms of `preset=balanced`"))
        .but(&[
            (Verb::Compare, "Algorithms and presets to compare, such as balanced,strict,minhash:bands=20,rows=5; see `dupsift algorithms`",
                in_words(EVERYTHING, "all algorithms and presets")),
            (Verb::Stream, "The algorithm whose signature is the key; see `dupsift algorithms`", is("exact")),
            // `purify` uses no algorithm, but a value is required, so the default is the cheapest algorithm.
            (Verb::Purify, "", is("exact")),
            (Verb::Contaminated, "", is("exact")),
        ])
        .field(
            |run, given| Ok(run.recipe.algorithms = Entries::parse(given.text())?.algorithms),
            |run| {
                let all: Vec<String> = run.recipe.algorithms.iter().map(ToString::to_string).collect();
                Some(all.join(",").into())
            },
        ),
    OptionSpec::new(DUPLICATES, FINDERS, "preset", "NAME", Kind::Text(|typed| preset(typed).map(drop)),
        "A set of algorithms, instead of `algorithms`: balanced, strict, broad or fineweb; see `dupsift algorithms`")
        .brief("Algorithms: balanced (default), strict, broad, fineweb")
        .but(&[(Verb::Compare, "A preset and its algorithms, instead of `algorithms`: balanced, strict, broad or fineweb", NONE)])
        .field(
            |run, given| Ok(run.recipe.algorithms = Recipe::parse_algorithms(preset(given.text())?.algorithms)?),
            |_| None,
        ),
    OptionSpec::new(DUPLICATES, THRESHOLD, "threshold", "T", Kind::Share,
        "Minimum similarity of duplicates, if `algorithms` lists only one algorithm: `algorithms=minhash` with `threshold=0.8` is the same as `algorithms=minhash:threshold=0.8`")
        .but(&[(Verb::Contaminated, "Minimum score of a contaminated document, from 0 to 1", is("0.8"))]),
    OptionSpec::new(DUPLICATES, FINDERS, "count-copies", "", Kind::Switch,
        "Whether word statistics include exact copies")
        .default(is("true"))
        .field(
            |run, given| Ok(run.recipe.count_copies = given.switch()),
            |run| Some(run.recipe.count_copies.into()),
        ),
    OptionSpec::new(DUPLICATES, RUN, "scope", "SCOPE", Kind::Text(|typed| words::scope(typed).map(drop)),
        "Documents to compare with each other: all, within:COLUMN (only documents with the same value in this column), or across:COLUMN (only documents with different values). Missing values count as equal to each other")
        .default(is("all"))
        .field(|run, given| words::set_scope(&mut run.recipe, given.text()), |run| Some(words::of_scope(&run.recipe).into())),
    OptionSpec::new(INCREMENTAL, RUN, "index", "DIR", Kind::Path,
        "Match against all documents from earlier runs, and add the new documents. The first run creates the folder. \
         Indexed documents are never removed")
        .brief("Match against all earlier runs, and add the new documents")
        .field(|run, given| Ok(run.index = Some(given.path())), |run| run.index.clone().map(Value::from)),
    OptionSpec::new(INCREMENTAL, RUN, "reference", "PATH", Kind::Path,
        "Match against an index, the output of an earlier run, or files. Documents in the reference are never removed, and a reference index is not changed")
        .field(|run, given| Ok(run.reference = Some(given.path())), |run| run.reference.clone().map(Value::from)),
    OptionSpec::new(INCREMENTAL, RUN, "batch", "NAME", Kind::Text(any), "Name of this run in the index")
        .default(depends("the last component of `out`"))
        .field(|run, given| Ok(run.batch = Some(given.text().into())), |run| run.batch.clone().map(Value::from)),
    OptionSpec::new(INCREMENTAL, RUN, "planned-documents", "N", Kind::Whole(1, u64::MAX),
        "Planned number of documents in a new index; determines the layout of its search tables")
        .default(depends("100 times the number of documents in this run, at least 100 million"))
        .field(|run, given| Ok(run.planned_documents = Some(given.number())), |run| run.planned_documents.map(Value::from)),
    OptionSpec::new(DUPLICATES, FINDERS, "max-group", "N", Kind::Whole(2, u64::MAX),
        "If more than this number of distinct texts share a signature, write only their pairs with the representative. Regardless of this limit, exact copies are paired only with the best copy of their text")
        .default(is("1000"))
        .field(|run, given| Ok(run.max_group = given.number()), |run| Some(run.max_group.into())),
    // The default allows all pairs in a group of 4,472 rows.
    OptionSpec::new(DUPLICATES, FINDERS, "max-candidates", "N", Kind::Whole(1, u64::MAX),
        "Maximum number of comparisons in one group. If there are more, the remaining comparisons are skipped and counted, and the pairs found depend on the order of the documents")
        .default(is("10000000"))
        .field(|run, given| Ok(run.max_candidates = given.number()), |run| Some(run.max_candidates.into())),

    OptionSpec::new(RESOURCES, FINDERS, "prefilter", "", Kind::Switch,
        "Compute signatures twice, and write only rows whose key occurs more than once. Saves disk space, but takes more time")
        .field(|run, given| Ok(run.prefilter = given.switch()), |run| Some(run.prefilter.into())),

    OptionSpec::new(DUPLICATES, COUNTING, "stats", "DIR", Kind::Path,
        "Output of an earlier run. The statistics, models and document count of that run are used, so a signature depends only on the document itself")
        .but(&[(
            Verb::Purify,
            "Output of an earlier run whose word statistics are used to weight keywords. By default, keywords are weighted only by their frequency in the page",
            NONE,
        )])
        .field(|run, given| Ok(run.stats = Some(given.path())), |run| run.stats.clone().map(Value::from)),
    OptionSpec::new(DUPLICATES, WORDING, "tokenizer", "NAME", Kind::Text(|typed| words::tokenizer(typed).map(drop)),
        "Chinese tokenizer: dict, jieba, bigram or char")
        .default(is("dict"))
        .field(
            |run, given| Ok(run.recipe.text.tokenizer = words::tokenizer(given.text())?),
            |run| Some(run.recipe.text.tokenizer.name().into()),
        ),
    OptionSpec::new(DUPLICATES, WORDING, "stop-words", "FILE", Kind::Path,
        "File with words that algorithms ignore, one per line")
        .but(&[(
            Verb::Purify,
            "File with words that are never keywords, one per line",
            depends("function words of Chinese, Russian and English"),
        )])
        .field(words::read_stop_words, |run| run.stop_words_file.clone().map(Value::from)),
    OptionSpec::new(DUPLICATES, WORDING, "dictionary", "FILE", Kind::Path,
        "File with additional Chinese words, one per line: WORD, WORD FREQUENCY or WORD FREQUENCY TAG")
        .field(words::read_dictionary, |run| run.dictionary_file.clone().map(Value::from)),
    OptionSpec::new(DUPLICATES, MAKING, "yo-to-e", "", Kind::Switch, "Treat Russian ё as е")
        .field(|run, given| Ok(run.recipe.text.yo_to_e = given.switch()), |run| Some(run.recipe.text.yo_to_e.into())),
    OptionSpec::new(DUPLICATES, MAKING, "traditional", "", Kind::Switch,
        "Treat traditional Chinese characters as their simplified forms when texts are compared")
        .field(|run, given| Ok(run.recipe.text.traditional = given.switch()), |run| Some(run.recipe.text.traditional.into())),
    OptionSpec::new(DUPLICATES, MAKING, "stem", "", Kind::Switch, "Reduce Russian and English words to their stems")
        .field(|run, given| Ok(run.recipe.text.stem = given.switch()), |run| Some(run.recipe.text.stem.into())),

    OptionSpec::new(INPUT, MAKING, "purify", "METHOD", Kind::Text(|typed| parse_purify(typed).map(drop)),
        "Method that extracts the text from pages: docview, readability or visible, with optional parameters :name=value,..., as in docview:other=skip")
        .default(is("readability"))
        .field(
            |run, given| Ok(run.purify = parse_purify(given.text())?),
            |run| Some(purify_name(&run.purify).into()),
        ),
    OptionSpec::new(OUTPUT, PURIFY, "columns", "LIST", Kind::Text(any),
        "Input columns to copy: all, none, or a comma-separated list")
        .list()
        .default(in_words("all", "all except the page")),
    OptionSpec::new(OUTPUT, PURIFY, "keep-html", "", Kind::Switch, "Copy the HTML of the pages, too"),
    OptionSpec::new(OUTPUT, PURIFY, "prefix", "TEXT", Kind::Text(prefix),
        "Prefix for the names of the page columns")
        .default(is("page_")),

    OptionSpec::new(ELEMENTS, PURIFY, "model", "DIR", Kind::Path, "Output of an earlier run with `train`; its model assigns a category to each page"),
    OptionSpec::new(ELEMENTS, PURIFY, "train", "COLUMN", Kind::Column,
        "Train a category model on the labels in this column, instead of writing pages"),

    OptionSpec::new(KEPT, FINDERS, "keep", "KEYS", Kind::Text(|typed| Keep::parse(typed).map(drop)),
        "Which of several duplicates is kept: the first one when sorted by columns, length or doc, each with asc or desc. With none, the preferred document is removed along with its duplicates")
        .brief("Which duplicate is kept: columns, length or doc; or none")
        .list()
        .default(is("length desc"))
        .but(&[(Verb::Compare, "Which document represents a cluster: the first one when sorted by columns, length or doc, each with asc or desc", is("length desc")),
            (Verb::Stream, "Which of several duplicates is kept: the first one when sorted by columns, length or doc, each with asc or desc", is("length desc"))])
        .field(|run, given| Ok(run.keep = Keep::parse(given.text())?), |run| Some(run.keep.to_string().into())),
    OptionSpec::new(KEPT, DECIDING, "decide", "RULE", Kind::Text(any),
        "Algorithms that must find a pair before a document is removed: any, all, at-least:K, or the label of a single algorithm")
        .default(is("any"))
        .field(
            |run, given| {
                let labels: Vec<&str> = run.recipe.algorithms.iter().map(|chosen| chosen.label.as_str()).collect();
                Ok(run.decide = Decide::parse(given.text(), &labels)?)
            },
            |run| Some(run.decide.to_string().into()),
        ),
    OptionSpec::new(KEPT, RUN, "remove-if", "RULE", Kind::Text(|typed| RemoveIf::parse(typed).map(drop)),
        "Condition for removing one document of a pair: pair (always) or contained:T[:N] (only if the kept document contains at least the share T of the removed document's 3-grams and the share N of its numbers)")
        .brief("Condition for removing a document: pair, or contained:T[:N]")
        .default(in_words("contained:0.8:0.9", "contained:0.8:0.9; pair for `algorithms=exact:form=url`"))
        .field(|run, given| Ok(run.remove_if = RemoveIf::parse(given.text())?), |run| Some(run.remove_if.to_string().into())),
    OptionSpec::new(KEPT, DECIDING, "chain", "WHAT", Kind::Choice(CHAIN),
        "What to do with documents that are linked to the kept document only through a chain of pairs")
        .default(is("keep"))
        .field(
            |run, given| Ok(run.remove_chains = given.text() == "remove"),
            |run| Some(if run.remove_chains { "remove" } else { "keep" }.into()),
        ),

    OptionSpec::new(OUTPUT, RUN, "keep-texts", "", Kind::Switch,
        "Also store the texts of the removed documents, and of the documents that were kept instead, in texts/. `dupsift explain` and `dupsift report` then work even after the corpus is deleted")
        .field(|run, given| Ok(run.keep_texts = given.switch()), |run| Some(run.keep_texts.into())),
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
        .field(|run, given| Ok(run.corpus = CorpusFiles::parse(given.text())?), |run| Some(run.corpus.to_string().into())),

    OptionSpec::new(OUTPUT, RUN, "add", "LIST", Kind::Text(|typed| AddedColumns::parse(typed).map(drop)),
        "Comma-separated list of columns to add to the rows in deduped/ (with `corpus=keep`): cluster_size, copies (the number of documents with the same text), sources (the number of different sources in the cluster: values of `source-column`, or files)")
        .list()
        .default(is("none"))
        .field(|run, given| Ok(run.add = AddedColumns::parse(given.text())?), |run| Some(run.add.to_string().into())),

    OptionSpec::new(PASSAGES, RUN, "cut", "WHAT", Kind::Text(|typed| Cut::parse(typed).map(drop)),
        "Find passages that also occur in an earlier kept document (in the order of `keep`), and cut them from deduped/ (with `corpus=keep`): lines, paragraphs, sentences:N (N consecutive sentences), or runs:L (at least L consecutive characters)")
        .default(is("none"))
        .field(
            |run, given| Ok(run.cut.what = Cut::parse(given.text())?),
            |run| Some(run.cut.what.map_or_else(|| "none".into(), |cut| cut.to_string()).into()),
        ),
    OptionSpec::new(PASSAGES, RUN, "cut-at", "PLACE", Kind::Choice(CutAt::ALL), "Where cuts made by `cut=runs:L` begin and end")
        .default(is("word"))
        .field(|run, given| Ok(run.cut.at = CutAt::of(given.text())), |run| Some(run.cut.at.name().into())),
    OptionSpec::new(PASSAGES, RUN, "cut-min-chars", "N", Kind::Whole(0, u32::MAX as u64),
        "Do not cut lines, paragraphs or groups of sentences with fewer characters than this")
        .default(depends("15 for lines, 40 for paragraphs and sentences"))
        .field(
            |run, given| Ok(run.cut.min_chars = Some(given.number() as u32)),
            |run| run.cut.min_chars.map(|count| u64::from(count).into()),
        ),
    OptionSpec::new(PASSAGES, RUN, "cut-copies", "N", Kind::Whole(2, u64::MAX), "Do not cut passages that occur fewer times than this in the corpus")
        .default(is("2"))
        .field(|run, given| Ok(run.cut.copies = given.number()), |run| Some(run.cut.copies.into())),
    OptionSpec::new(PASSAGES, RUN, "cut-first", "", Kind::Switch, "Cut the first copy of a passage, too")
        .field(|run, given| Ok(run.cut.first = given.switch()), |run| Some(run.cut.first.into())),
    OptionSpec::new(PASSAGES, RUN, "min-chars-left", "N", Kind::Whole(0, u32::MAX as u64),
        "Remove a document if fewer characters than this remain after cutting, unless the document contains the first copy of a passage")
        .default(is("200"))
        .field(|run, given| Ok(run.cut.min_left = given.number() as u32), |run| Some(u64::from(run.cut.min_left).into())),

    OptionSpec::new(OUTPUT, CONTAMINATED, "cut-spans", "", Kind::Switch,
        "Cut only the contaminated spans, and keep the rest of each document in clean/ (with `corpus=keep`)"),

    OptionSpec::new(RESOURCES, EVERY, "threads", "N", Kind::Whole(1, MAX_THREADS), "Worker threads")
        .brief("Worker threads")
        .default(depends("all available cores"))
        .field(|run, given| Ok(run.threads = given.number() as usize), |run| Some((run.threads as u64).into())),
    OptionSpec::new(RESOURCES, EVERY, "memory", "SIZE", Kind::Size,
        "Memory limit, such as 4GiB, 512MB or a number of bytes")
        .brief("Memory limit, such as 4GiB")
        .default(depends("half of the memory of the machine or cgroup"))
        .field(|run, given| Ok(run.memory = given.number()), |run| Some(run.memory.into())),

    OptionSpec::new(RESOURCES, RESUMING, "checkpoint", "TIME", Kind::Text(|typed| words::checkpoint(typed).map(drop)),
        "Minimum time between checkpoints: a time such as 30s or 5m, 0s to save as often as possible, or never. After an interruption, the same command resumes the run")
        .default(is("30s"))
        .field(
            |run, given| Ok(run.checkpoint = words::checkpoint(given.text())?),
            |run| Some(words::of_checkpoint(run.checkpoint).into()),
        ),
    OptionSpec::new(RESOURCES, RESUMING, "resume", "", Kind::Switch,
        "Whether to resume an interrupted run with the same output")
        .default(is("true"))
        .field(|run, given| Ok(run.resumes = given.switch()), |run| Some(run.resumes.into())),

    OptionSpec::new(LOG, TEXTS, "dry-run", "", Kind::Switch,
        "Check inputs and options, then print an estimate and a list of the passes. Reads no documents and writes nothing, so `out` is optional")
        .but(&[(
            Verb::Run,
            "Check inputs and options, then print an estimate and a list of the passes. Reads no documents and writes nothing, so `out` is \
             optional. With `sample`, also deduplicate the sample in a temporary folder, and estimate how many documents would be removed and how long it would take",
            NONE,
        )]),
    OptionSpec::new(LOG, EVERY, "log-format", "FORMAT", Kind::Choice(FORMATS), "Format of log lines")
        .default(is("text")),
    OptionSpec::new(LOG, EVERY, "no-progress", "", Kind::Switch, "Do not show progress bars"),
    OptionSpec::new(LOG, LONG, "quiet", "", Kind::Switch, "Print only warnings and errors"),
    OptionSpec::new(LOG, LONG, "verbose", "", Kind::Switch, "Print the full summary, and a log line for each stage"),
];

/// Returns the options of a command.
pub fn options_of(verb: Verb) -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(move |option| option.verbs.contains(&verb))
}

/// Returns the options of a command in help order, group by group.
pub fn in_groups(verb: Verb) -> Vec<&'static OptionSpec> {
    let mut options: Vec<&OptionSpec> = options_of(verb).collect();
    options.sort_by_key(|option| GROUPS.iter().position(|group| *group == option.heading));
    options
}
