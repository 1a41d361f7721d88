//! The table of options. A new option is one entry here and, where it says something of a run, one field of
//! [`RunOptions`](super::RunOptions): help, configuration files, run.json and docs/options.md follow.
//!
//! Options stand in the order of help. Their values are put into a run in that order too, so `--decide`, which may name an
//! algorithm, stands after those that choose the algorithms.

use super::help_groups::*;
use super::spec::{NONE, OptionSpec, Verb, depends, in_words, is};
use super::value::{Kind, Value};
use super::words::{self, CHAIN, FORMATS, prefix};
use super::{CorpusFiles, Decide, Keep};
use dupsift_algorithms::stage::contest::{Contest, EVERYTHING};
use dupsift_algorithms::stage::judge::Judge;
use dupsift_algorithms::stage::recipe::{DEFAULT_PRESET, Recipe, parse_purify, preset, purify_name};
use dupsift_algorithms::stage::remove_if::RemoveIf;
use dupsift_core::encoding::Encoding;
use dupsift_core::error::Result;
use dupsift_files::io::{Quoting, Separator};
use dupsift_passages::{Cut, CutAt};
use dupsift_text::Field;

const EVERY: &[Verb] = &Verb::ALL;
/// Verbs that make an output folder of a corpus.
const MAKING: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Purify, Verb::Contaminated];
/// Verbs to which Chinese words matter.
const WORDING: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Purify];
/// Verbs that work on texts of documents.
const FINDERS: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream];
/// Verbs that read texts of documents.
const TEXTS: &[Verb] = &[Verb::Run, Verb::Compare, Verb::Stream, Verb::Contaminated];
/// Verbs that take options for deciding which documents go; `stream` does nothing with them.
const DECIDING: &[Verb] = &[Verb::Run, Verb::Stream];
const RUN: &[Verb] = &[Verb::Run];
const COMPARE: &[Verb] = &[Verb::Compare];
/// Verbs that go on where an earlier run was ended.
const RESUMING: &[Verb] = &[Verb::Run, Verb::Compare];
/// Verbs that may work for hours.
const LONG: &[Verb] = RESUMING;
const STREAM: &[Verb] = &[Verb::Stream];
const EVALUATE: &[Verb] = &[Verb::Evaluate];
const PURIFY: &[Verb] = &[Verb::Purify];
const CONTAMINATED: &[Verb] = &[Verb::Contaminated];
/// Verbs with a threshold.
const THRESHOLD: &[Verb] = &[Verb::Run, Verb::Stream, Verb::Contaminated];
/// Verbs that may write the corpus again.
const COPYING: &[Verb] = &[Verb::Run, Verb::Contaminated];
/// Verbs that may take the counts of a run.
const COUNTING: &[Verb] = &[Verb::Run, Verb::Purify];

const MAX_THREADS: u64 = super::machine::MAX_THREADS as u64;
/// The most documents of `--oracle-sample`: half a trillion pairs.
const MOST_ORACLE: u64 = 1_000_000;

/// Every text is well formed, as far as it can be told here.
fn any(_: &str) -> Result<()> {
    Ok(())
}

/// Every option, in the order of help.
#[rustfmt::skip]
pub static OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(JUDGING, COMPARE, "judge", "JUDGE", Kind::Text(|typed| Judge::parse(typed).map(drop)),
        "What makes two texts duplicates. versions, or versions:T for another T than .8: the share T of the 3-grams of one \
         stands in the other, the facts agree (seven tenths of the numbers of the text that has fewer stand in the other, or \
         three quarters of the 3-grams of each), and no word stands oftener in one than in the other by more than 2 % of its \
         words. lcs:T: 2 LCS / (a + b) on characters; words:T: the same on words; jaccard:T. \
         Characters are those of the canonical text, its words with one space between, so the tokenizer matters where words \
         are not written apart, as in Chinese")
        .default(is("versions")),
    // Judging costs about as much as the run then, or less, and a share of the pairs is known to a third of a percent.
    OptionSpec::new(JUDGING, COMPARE, "judge-sample", "N", Kind::Whole(1, u64::MAX),
        "Of an algorithm with more pairs than these judge a sample of about so many")
        .default(is("100000")),
    OptionSpec::new(JUDGING, COMPARE, "oracle-sample", "N", Kind::Whole(0, MOST_ORACLE),
        "Documents to hold each against each, for the duplicates that no algorithm found")
        .default(in_words("0", "0, none")),
    OptionSpec::new(JUDGING, COMPARE, "seed", "N", Kind::Whole(0, u64::MAX), "Seed of the samples").default(is("0")),

    OptionSpec::new(FILTER, STREAM, "filter", "FILE", Kind::Path,
        "The filter that an earlier stream left: OUT/filter.bloom"),
    OptionSpec::new(FILTER, STREAM, "forget", "INPUT", Kind::Texts,
        "Old versions of documents, to be taken out of the filter first; may be given several times"),
    OptionSpec::new(FILTER, STREAM, "keys", "N", Kind::Whole(1, u64::MAX), "Keys that a new filter is made for")
        .default(depends("ten times the documents of this input")),
    OptionSpec::new(FILTER, STREAM, "rate", "RATE", Kind::Rate,
        "Share of new documents that a new filter may flag by chance")
        .default(is("0.001")),

    OptionSpec::new(ITEMS, CONTAMINATED, "against", "INPUT", Kind::Texts,
        "The evaluation set: files, folders or globs with an item a row; may be given several times"),
    OptionSpec::new(ITEMS, CONTAMINATED, "item-column", "COLUMN", Kind::Column, "Column of the texts to search for")
        .default(is("question")),
    OptionSpec::new(ITEMS, CONTAMINATED, "item-id-column", "COLUMN", Kind::Column, "Column of the ids of items")
        .default(in_words("id", "id; without it, ids are FILE#ROW")),
    OptionSpec::new(ITEMS, CONTAMINATED, "answer-column", "COLUMN", Kind::Column,
        "Column of answers, which are looked for within 200 tokens of a span")
        .default(in_words("answer", "answer; an evaluation set need not have it")),
    OptionSpec::new(ITEMS, CONTAMINATED, "suite-column", "COLUMN", Kind::Column,
        "Column of the names by which items are counted together")
        .default(in_words("suite", "suite; without it, the name of the file")),
    OptionSpec::new(ITEMS, CONTAMINATED, "ngram", "N", Kind::Whole(3, 64),
        "Tokens of an n-gram: words, or Chinese characters")
        .default(is("5")),

    OptionSpec::new(FILES, MAKING, "out", "DIR", Kind::Path,
        "Output folder; it appears under this name when the run is done, complete or not at all")
        .field(|run, given| Ok(run.out = given.path()), |run| Some(run.out.clone().into())),
    OptionSpec::new(FILES, MAKING, "overwrite", "", Kind::Switch, "Replace the output folder if it exists")
        .field(|run, given| Ok(run.overwrite = given.switch()), |run| Some(run.overwrite.into())),
    OptionSpec::new(FILES, EVERY, "work", "DIR", Kind::Path, "Folder for work files")
        .default(depends("a hidden folder beside the output, removed after success"))
        .but(&[
            (Verb::Evaluate, "", depends("the one that DIR stands in")),
            (Verb::Explain, "", depends("the one that DIR stands in")),
            (Verb::Report, "", depends("the one that DIR stands in")),
            (Verb::Apply, "", depends("the temporary folder of the system")),
        ])
        .field(|run, given| Ok(run.work = Some(given.path())), |run| run.work.clone().map(Value::from)),
    OptionSpec::new(FILES, MAKING, "accept", "", Kind::Switch,
        "Publish the result even where a guard would hold it back; the guards are reported all the same")
        .field(|run, given| Ok(run.accept = given.switch()), |run| Some(run.accept.into())),
    OptionSpec::new(FILES, MAKING, "max-rejected-share", "SHARE", Kind::Share,
        "Hold the result back where more than this share of the rows is broken and an earlier output stands at `out`")
        .default(depends("0.05; 0.5 of fewer than 100 rows"))
        .field(
            |run, given| Ok(run.max_rejected_share = Some(given.real())),
            |run| run.max_rejected_share.map(Value::from),
        ),
    OptionSpec::new(FILES, RUN, "max-removed-share", "SHARE", Kind::Share,
        "Hold the result back where more than this share of a file is to be removed and an earlier output stands at `out`, or \
         `previous` is given")
        .default(is("0.5"))
        .field(|run, given| Ok(run.max_removed_share = given.real()), |run| Some(run.max_removed_share.into())),
    OptionSpec::new(FILES, RUN, "guard-rows", "N", Kind::Whole(0, u64::MAX), "Rows from which on `max-removed-share` guards a file")
        .default(is("10000"))
        .field(|run, given| Ok(run.guard_rows = given.number()), |run| Some(run.guard_rows.into())),
    OptionSpec::new(FILES, RUN, "max-cut-share", "SHARE", Kind::Share,
        "Keep the previous output if `cut` cuts more than this share of the text of the kept documents")
        .default(is("0.5"))
        .field(|run, given| Ok(run.cut.max_share = given.real()), |run| Some(run.cut.max_share.into())),
    OptionSpec::new(FILES, RUN, "max-template-share", "SHARE", Kind::Share,
        "Keep the previous output if more than this share of the removed near-duplicates look like pages of one template")
        .default(is("0.2"))
        .field(|run, given| Ok(run.max_template_share = given.real()), |run| Some(run.max_template_share.into())),
    OptionSpec::new(FILES, RUN, "previous", "DIR", Kind::Path,
        "Output of an earlier run; where a guard fires the result is held back, even if nothing stands at `out`")
        .field(|run, given| Ok(run.previous = Some(given.path())), |run| run.previous.clone().map(Value::from)),
    OptionSpec::new(FILES, RUN, "source-column", "COLUMN", Kind::Column,
        "Column that says where a row comes from: `max-removed-share` guards each of its values too, run.json says what goes of each with \
         `guard-rows` rows, and attributes/ how many meet in a cluster")
        .field(|run, given| Ok(run.source_column = Some(given.text().to_owned())), |run| run.source_column.clone().map(Value::from)),
    OptionSpec::new(FILES, RUN, "max-pairs-factor", "N", Kind::Whole(1, u64::MAX),
        "Hold the result back where an algorithm has more than so many times the pairs a document that it has in `previous`; from \
         1,000 pairs on")
        .default(is("5"))
        .field(|run, given| Ok(run.max_pairs_factor = given.number()), |run| Some(run.max_pairs_factor.into())),
    OptionSpec::new(FILES, RUN, "max-shrink-factor", "N", Kind::Whole(1, u64::MAX),
        "Hold the result back where there is so many times less text than `previous` had, from 100 documents there on; of a night of an `index`: \
         less text a document")
        .default(is("10"))
        .field(|run, given| Ok(run.max_shrink_factor = given.number()), |run| Some(run.max_shrink_factor.into())),
    OptionSpec::new(FILES, RUN, "max-candidates-factor", "N", Kind::Whole(1, u64::MAX),
        "Hold a night with `index` back where an algorithm has more than so many times the candidates a document that earlier nights let \
         expect; from 1,000 candidates on")
        .default(is("10"))
        .field(|run, given| Ok(run.max_candidates_factor = given.number()), |run| Some(run.max_candidates_factor.into())),
    OptionSpec::new(FILES, MAKING, "whole-files", "", Kind::Switch,
        "Read each .txt, .md and .html file as one document, whose id is its path")
        .but(&[(Verb::Purify, "Read each .txt, .md and .html file as one page, whose id is its path", NONE)])
        .field(|run, given| Ok(run.whole_files = given.switch()), |run| Some(run.whole_files.into())),
    OptionSpec::new(FILES, MAKING, "encoding", "NAME", Kind::Text(|typed| Encoding::parse(typed).map(drop)),
        "Encoding of JSON lines, separated values and .txt files: utf-8, auto (found out for each file) or a name such as gbk or \
         windows-1251")
        .default(is("utf-8"))
        .field(
            |run, given| Ok(run.encoding = Encoding::parse(given.text())?),
            |run| Some(run.encoding.to_string().into()),
        ),
    OptionSpec::new(FILES, MAKING, "separator", "CHARACTER", Kind::Text(|typed| Separator::parse(typed).map(drop)),
        "Separator in separated values, such as ; or tab; by default a comma in .csv and a tab in .tsv files")
        .field(
            |run, given| Ok(run.separator = Some(Separator::parse(given.text())?)),
            |run| run.separator.map(|separator| separator.to_string().into()),
        ),
    OptionSpec::new(FILES, MAKING, "quotes", "QUOTES", Kind::Choice(Quoting::ALL),
        "Quotes in separated values: double, a field may stand in double quotes, each quote in it written twice; none, a quote is a \
         character like any other and each line is a record")
        .default(is("double"))
        .field(|run, given| Ok(run.quotes = Quoting::of(given.text())), |run| Some(run.quotes.name().into())),
    OptionSpec::new(FILES, EVALUATE, "truth-quotes", "QUOTES", Kind::Choice(Quoting::ALL),
        "Quotes in labels that are separated values: double or none, as `quotes` of a run")
        .default(is("double")),
    OptionSpec::new(FILES, TEXTS, "text-column", "COLUMN", Kind::Column,
        "Column of texts; of several, as title,text, the values become one text, one below the other, where no column has that whole name")
        .list()
        .default(is("text"))
        .but(&[(Verb::Purify, "", NONE)])
        .field(
            |run, given| Ok((run.text_column, run.html, run.text_required) = (given.text().into(), false, given.typed)),
            |run| (!run.html).then(|| run.text_column.clone().into()),
        ),
    OptionSpec::new(FILES, MAKING, "html-column", "COLUMN", Kind::Column,
        "Column of pages, HTML in any charset, in place of texts; of web archives it is not needed")
        .but(&[(
            Verb::Purify,
            "Column of pages, HTML in any charset",
            in_words("html", "html; of web archives it is not needed"),
        )])
        .field(
            |run, given| Ok((run.text_column, run.html, run.text_required) = (given.text().into(), true, given.typed)),
            |run| run.html.then(|| run.text_column.clone().into()),
        ),
    OptionSpec::new(FILES, MAKING, "id-column", "COLUMN", Kind::Column, "Column of ids")
        .default(in_words("id", "id; where it is not there, ids are FILE#ROW"))
        .field(
            |run, given| Ok((run.id_column, run.id_required) = (given.text().into(), given.typed)),
            |run| Some(run.id_column.clone().into()),
        ),
    OptionSpec::new(FILES, FINDERS, "title-column", "COLUMN", Kind::Column,
        "Column of titles, for algorithms that read them")
        .default(in_words("title", "title; a corpus need not have it"))
        .field(|run, given| Ok(run.name_field(Field::Title, given)), |run| Some(run.field_name(Field::Title))),
    OptionSpec::new(FILES, FINDERS, "keywords-column", "COLUMN", Kind::Column,
        "Column of the keywords that pages name themselves")
        .default(in_words("keywords", "keywords; a corpus need not have it"))
        .field(|run, given| Ok(run.name_field(Field::Keywords, given)), |run| Some(run.field_name(Field::Keywords))),
    OptionSpec::new(FILES, FINDERS, "description-column", "COLUMN", Kind::Column, "Column of descriptions")
        .default(in_words("description", "description; a corpus need not have it"))
        .field(
            |run, given| Ok(run.name_field(Field::Description, given)),
            |run| Some(run.field_name(Field::Description)),
        ),
    OptionSpec::new(FILES, MAKING, "content-type-column", "COLUMN", Kind::Column,
        "Column of what servers said of pages, such as text/html; charset=gbk")
        .default(in_words("content_type", "content_type; a corpus need not have it"))
        .field(
            |run, given| Ok((run.content_type_column, run.page_columns_required[0]) = (given.text().into(), given.typed)),
            |run| Some(run.content_type_column.clone().into()),
        ),
    OptionSpec::new(FILES, MAKING, "url-column", "COLUMN", Kind::Column, "Column of the addresses of pages")
        .default(in_words("url", "url; a corpus need not have it"))
        .field(
            |run, given| Ok((run.url_column, run.page_columns_required[1]) = (given.text().into(), given.typed)),
            |run| Some(run.url_column.clone().into()),
        ),
    OptionSpec::new(FILES, MAKING, "limit", "N", Kind::Whole(1, u64::MAX), "Only this many documents from the start")
        .but(&[(Verb::Purify, "Only this many pages from the start", NONE)])
        .field(|run, given| Ok(run.limit = Some(given.number())), |run| run.limit.map(Value::from)),
    OptionSpec::new(FILES, MAKING, "strict", "", Kind::Switch, "Stop at the first bad row or file")
        .field(|run, given| Ok(run.strict = given.switch()), |run| Some(run.strict.into())),
    OptionSpec::new(FILES, TEXTS, "no-report", "", Kind::Switch,
        "Write no report.html; `dupsift report` makes it later")
        .but(&[(Verb::Purify, "", in_words("true", "")), (Verb::Contaminated, "Write no report.html", NONE)])
        .field(|run, given| Ok(run.report = !given.switch()), |run| Some((!run.report).into())),

    OptionSpec::new(FINDING, FINDERS, "algorithms", "LIST", Kind::Text(|typed| Contest::parse(typed).map(drop)),
        "Algorithms, such as three_plus_five,minhash:bands=20,rows=5 or all; see `dupsift algorithms`")
        .list()
        .default(in_words(DEFAULT_PRESET.algorithms, "those of `preset=balanced`"))
        .but(&[
            (Verb::Compare, "Algorithms and presets to compare, such as balanced,strict,minhash:bands=20,rows=5; see `dupsift algorithms`",
                in_words(EVERYTHING, "all of both")),
            (Verb::Stream, "One algorithm, whose signature is the key; see `dupsift algorithms`", is("exact")),
            // No algorithm is asked; the cheapest one stands where there has to be one.
            (Verb::Purify, "", is("exact")),
            (Verb::Contaminated, "", is("exact")),
        ])
        .field(
            |run, given| Ok(run.recipe.algorithms = Contest::parse(given.text())?.algorithms),
            |run| {
                let all: Vec<String> = run.recipe.algorithms.iter().map(ToString::to_string).collect();
                Some(all.join(",").into())
            },
        ),
    OptionSpec::new(FINDING, FINDERS, "preset", "NAME", Kind::Text(|typed| preset(typed).map(drop)),
        "Algorithms by need, in place of `algorithms`: balanced, strict, broad or fineweb; see `dupsift algorithms`")
        .but(&[(Verb::Compare, "A preset and its algorithms, in place of `algorithms`: balanced, strict, broad or fineweb", NONE)])
        .field(
            |run, given| Ok(run.recipe.algorithms = Recipe::parse_algorithms(preset(given.text())?.algorithms)?),
            |_| None,
        ),
    OptionSpec::new(FINDING, THRESHOLD, "threshold", "T", Kind::Share,
        "Similarity from which on two documents are duplicates, for the one algorithm of `algorithms`: `algorithms=minhash` \
         `threshold=0.8` is `algorithms=minhash:threshold=0.8`")
        .but(&[(Verb::Contaminated, "Score from which on a document is contaminated by an item, from 0 to 1", is("0.8"))]),
    OptionSpec::new(FINDING, FINDERS, "count-copies", "", Kind::Switch,
        "Whether exact copies count in word statistics")
        .default(is("true"))
        .field(
            |run, given| Ok(run.recipe.count_copies = given.switch()),
            |run| Some(run.recipe.count_copies.into()),
        ),
    OptionSpec::new(FINDING, RUN, "scope", "SCOPE", Kind::Text(|typed| words::within(typed).map(drop)),
        "within:COLUMN compares documents with those of the same value of this column alone; rows without a value with each other")
        .default(is("all"))
        .field(|run, given| Ok(run.recipe.within = words::within(given.text())?), |run| Some(words::of_within(&run.recipe).into())),
    OptionSpec::new(FINDING, RUN, "index", "DIR", Kind::Path,
        "Match against everything already seen, and add what is new; the first run makes the folder. Earlier documents are never removed")
        .field(|run, given| Ok(run.index = Some(given.path())), |run| run.index.clone().map(Value::from)),
    OptionSpec::new(FINDING, RUN, "reference", "PATH", Kind::Path,
        "Match against an index, an earlier output, or files, whose documents never go; nothing is added to an index")
        .field(|run, given| Ok(run.reference = Some(given.path())), |run| run.reference.clone().map(Value::from)),
    OptionSpec::new(FINDING, RUN, "batch", "NAME", Kind::Text(any), "Name of this run in the index")
        .default(depends("the last part of `out`"))
        .field(|run, given| Ok(run.batch = Some(given.text().into())), |run| run.batch.clone().map(Value::from)),
    OptionSpec::new(FINDING, RUN, "planned-documents", "N", Kind::Whole(1, u64::MAX),
        "Documents that a new index is made for: what table schemes are chosen by")
        .default(depends("a hundred times those of this run, at least a hundred million"))
        .field(|run, given| Ok(run.planned_documents = Some(given.number())), |run| run.planned_documents.map(Value::from)),
    OptionSpec::new(FINDING, FINDERS, "max-group", "N", Kind::Whole(2, u64::MAX),
        "If more different texts than this have equal signatures, write only the pairs with the best document. Exact copies never count: each is a pair with the best document of its text")
        .default(is("1000"))
        .field(|run, given| Ok(run.max_group = given.number()), |run| Some(run.max_group.into())),
    // All pairs of a group of 4,472 rows.
    OptionSpec::new(FINDING, FINDERS, "max-candidates", "N", Kind::Whole(1, u64::MAX),
        "Most comparisons within one group; what is left out is counted, and the pairs depend on the order of the documents then")
        .default(is("10000000"))
        .field(|run, given| Ok(run.max_candidates = given.number()), |run| Some(run.max_candidates.into())),

    OptionSpec::new(RESOURCES, FINDERS, "prefilter", "", Kind::Switch,
        "Sign twice, and write only rows whose key comes more than once: less disk, more time")
        .field(|run, given| Ok(run.prefilter = given.switch()), |run| Some(run.prefilter.into())),

    OptionSpec::new(WORDS, COUNTING, "stats", "DIR", Kind::Path,
        "Output of an earlier run: its statistics, models and number of documents in place of those of this corpus, so that \
         signatures depend on their document alone")
        .but(&[(
            Verb::Purify,
            "Output of a run: keywords are weighed by its word statistics, else by their frequency in the page alone",
            NONE,
        )])
        .field(|run, given| Ok(run.stats = Some(given.path())), |run| run.stats.clone().map(Value::from)),
    OptionSpec::new(WORDS, WORDING, "tokenizer", "NAME", Kind::Text(|typed| words::tokenizer(typed).map(drop)),
        "Chinese tokenizer: dict, jieba, bigram or char")
        .default(is("dict"))
        .field(
            |run, given| Ok(run.recipe.text.tokenizer = words::tokenizer(given.text())?),
            |run| Some(run.recipe.text.tokenizer.name().into()),
        ),
    OptionSpec::new(WORDS, WORDING, "stop-words", "FILE", Kind::Path,
        "Words that algorithms leave out of account, one a line")
        .but(&[(
            Verb::Purify,
            "Words that are no keywords, one a line",
            depends("function words of Chinese, Russian and English"),
        )])
        .field(words::read_stop_words, |run| run.stop_words_file.clone().map(Value::from)),
    OptionSpec::new(WORDS, WORDING, "dictionary", "FILE", Kind::Path,
        "Chinese words besides those of the built-in dictionary, one a line: WORD, WORD FREQUENCY or WORD FREQUENCY TAG")
        .field(words::read_dictionary, |run| run.dictionary_file.clone().map(Value::from)),
    OptionSpec::new(WORDS, MAKING, "yo-to-e", "", Kind::Switch, "Read Russian ё as е")
        .field(|run, given| Ok(run.recipe.text.yo_to_e = given.switch()), |run| Some(run.recipe.text.yo_to_e.into())),
    OptionSpec::new(WORDS, MAKING, "traditional", "", Kind::Switch,
        "Read traditional Chinese characters as simplified ones, for comparison only")
        .field(|run, given| Ok(run.recipe.text.traditional = given.switch()), |run| Some(run.recipe.text.traditional.into())),
    OptionSpec::new(WORDS, MAKING, "stem", "", Kind::Switch, "Reduce Russian and English words to their stems")
        .field(|run, given| Ok(run.recipe.text.stem = given.switch()), |run| Some(run.recipe.text.stem.into())),

    OptionSpec::new(PAGES, MAKING, "purify", "METHOD", Kind::Text(|typed| parse_purify(typed).map(drop)),
        "How pages become texts: docview, readability or visible, each with :name=value,... such as docview:other=skip")
        .default(is("readability"))
        .field(
            |run, given| Ok(run.recipe.purify = parse_purify(given.text())?),
            |run| Some(purify_name(&run.recipe.purify).into()),
        ),
    OptionSpec::new(PAGES, PURIFY, "columns", "LIST", Kind::Text(any),
        "Columns of the files to write beside those of the page: all, none, or names with commas between")
        .list()
        .default(in_words("all", "all but the page itself")),
    OptionSpec::new(PAGES, PURIFY, "keep-html", "", Kind::Switch, "Write the pages themselves too"),
    OptionSpec::new(PAGES, PURIFY, "prefix", "TEXT", Kind::Text(prefix),
        "What stands before the names of the columns of the page")
        .default(is("page_")),

    OptionSpec::new(ELEMENTS, PURIFY, "model", "DIR", Kind::Path, "Output of `train`: each page gets a category"),
    OptionSpec::new(ELEMENTS, PURIFY, "train", "COLUMN", Kind::Column,
        "Learn categories from this column of labels and write the model instead of pages"),

    OptionSpec::new(REMOVING, FINDERS, "keep", "KEYS", Kind::Text(|typed| Keep::parse(typed).map(drop)),
        "Which of several duplicates stays: columns, length or doc, each asc or desc")
        .list()
        .default(is("length desc"))
        .but(&[(Verb::Compare, "Which document stands for a cluster: the first by columns, length or doc, each asc or desc", is("length desc"))])
        .field(|run, given| Ok(run.keep = Keep::parse(given.text())?), |run| Some(run.keep.to_string().into())),
    OptionSpec::new(REMOVING, DECIDING, "decide", "RULE", Kind::Text(any),
        "Which pairs decide on removal: any, all, at-least:K, or those of one algorithm")
        .default(is("any"))
        .field(
            |run, given| {
                let labels: Vec<&str> = run.recipe.algorithms.iter().map(|chosen| chosen.label.as_str()).collect();
                Ok(run.decide = Decide::parse(given.text(), &labels)?)
            },
            |run| Some(run.decide.to_string().into()),
        ),
    OptionSpec::new(REMOVING, RUN, "remove-if", "RULE", Kind::Text(|typed| RemoveIf::parse(typed).map(drop)),
        "What else must be so for a document to go: pair, nothing; contained:T[:N], that at least the share T of its 3-grams and N of its numbers stand in the kept one")
        .default(is("contained:0.8:0.9"))
        .field(|run, given| Ok(run.remove_if = RemoveIf::parse(given.text())?), |run| Some(run.remove_if.to_string().into())),
    OptionSpec::new(REMOVING, DECIDING, "chain", "WHAT", Kind::Choice(CHAIN),
        "Whether a document stays that a chain of pairs, but no pair, links to the kept one")
        .default(is("keep"))
        .field(
            |run, given| Ok(run.remove_chains = given.text() == "remove"),
            |run| Some(if run.remove_chains { "remove" } else { "keep" }.into()),
        ),

    OptionSpec::new(REMOVING, COPYING, "corpus", "LIST", Kind::Text(|typed| CorpusFiles::parse(typed).map(drop)),
        "What to write of the corpus itself, file by file: annotate, a row of marks a row, in attributes/; keep, the rows that stay, in \
         deduped/; drop, the rows that go, in dropped/")
        .list()
        .default(is("none"))
        .but(&[(
            Verb::Contaminated,
            "What to write of the corpus itself, file by file: keep, the documents that are not contaminated, in clean/; drop, the others, in \
             dropped/",
            is("none"),
        )])
        .field(|run, given| Ok(run.corpus = CorpusFiles::parse(given.text())?), |run| Some(run.corpus.to_string().into())),

    OptionSpec::new(REMOVING, RUN, "cut", "WHAT", Kind::Text(|typed| Cut::parse(typed).map(drop)),
        "Find passages that an earlier kept document has, in the order of `keep`, and cut them out of deduped/ (with `corpus=keep`): \
         lines, paragraphs, sentences:N for N consecutive sentences, or runs:L for L equal characters or more")
        .default(is("none"))
        .field(
            |run, given| Ok(run.cut.what = Cut::parse(given.text())?),
            |run| Some(run.cut.what.map_or_else(|| "none".into(), |cut| cut.to_string()).into()),
        ),
    OptionSpec::new(REMOVING, RUN, "cut-at", "PLACE", Kind::Choice(CutAt::ALL), "Where cuts of `cut=runs:L` begin and end")
        .default(is("word"))
        .field(|run, given| Ok(run.cut.at = CutAt::of(given.text())), |run| Some(run.cut.at.name().into())),
    OptionSpec::new(REMOVING, RUN, "cut-min-chars", "N", Kind::Whole(0, u32::MAX as u64),
        "Keep lines, paragraphs or groups of sentences of fewer characters")
        .default(depends("15 for lines, 40 for paragraphs and sentences"))
        .field(
            |run, given| Ok(run.cut.min_chars = Some(given.number() as u32)),
            |run| run.cut.min_chars.map(|count| u64::from(count).into()),
        ),
    OptionSpec::new(REMOVING, RUN, "cut-copies", "N", Kind::Whole(2, u64::MAX), "Keep passages that occur less often in the corpus")
        .default(is("2"))
        .field(|run, given| Ok(run.cut.copies = given.number()), |run| Some(run.cut.copies.into())),
    OptionSpec::new(REMOVING, RUN, "cut-first", "", Kind::Switch, "Cut the first copy of a passage too")
        .field(|run, given| Ok(run.cut.first = given.switch()), |run| Some(run.cut.first.into())),
    OptionSpec::new(REMOVING, RUN, "min-chars-left", "N", Kind::Whole(0, u32::MAX as u64),
        "Remove a document if passages were cut and fewer characters are left, unless it has the first copy of a passage")
        .default(is("200"))
        .field(|run, given| Ok(run.cut.min_left = given.number() as u32), |run| Some(u64::from(run.cut.min_left).into())),

    OptionSpec::new(REMOVING, CONTAMINATED, "cut-spans", "", Kind::Switch,
        "Cut only the spans that have the threshold out of clean/, and keep the rest of their documents (with `corpus=keep`)"),

    OptionSpec::new(RESOURCES, EVERY, "threads", "N", Kind::Whole(1, MAX_THREADS), "Worker threads")
        .default(depends("the cores allowed"))
        .field(|run, given| Ok(run.threads = given.number() as usize), |run| Some((run.threads as u64).into())),
    OptionSpec::new(RESOURCES, EVERY, "memory", "SIZE", Kind::Size,
        "Memory budget, such as 4GiB, 512MB or a number of bytes")
        .default(depends("half of what machine or cgroup allows"))
        .field(|run, given| Ok(run.memory = given.number()), |run| Some(run.memory.into())),

    OptionSpec::new(RESOURCES, RESUMING, "checkpoint", "TIME", Kind::Text(|typed| words::checkpoint(typed).map(drop)),
        "Save progress at most this often, such as 30s, 5m, 0s (always) or never. After an interruption the same command resumes \
         from there")
        .default(is("30s"))
        .field(
            |run, given| Ok(run.checkpoint = words::checkpoint(given.text())?),
            |run| Some(words::of_checkpoint(run.checkpoint).into()),
        ),
    OptionSpec::new(RESOURCES, RESUMING, "resume", "", Kind::Switch,
        "Whether to resume an interrupted run with the same output")
        .default(is("true"))
        .field(|run, given| Ok(run.resumes = given.switch()), |run| Some(run.resumes.into())),

    OptionSpec::new(WATCHING, TEXTS, "dry-run", "", Kind::Switch,
        "Check inputs and options, print the estimate and the passes; read no documents, write nothing"),
    OptionSpec::new(WATCHING, EVERY, "log-format", "FORMAT", Kind::Choice(FORMATS), "Form of log lines")
        .default(is("text")),
    OptionSpec::new(WATCHING, EVERY, "no-progress", "", Kind::Switch, "No progress bars"),
    OptionSpec::new(WATCHING, LONG, "quiet", "", Kind::Switch, "Tell warnings and errors alone"),
    OptionSpec::new(WATCHING, LONG, "verbose", "", Kind::Switch, "Tell also when a stage begins, and each stage beside the bars"),
];

/// The options of a verb.
pub fn options_of(verb: Verb) -> impl Iterator<Item = &'static OptionSpec> {
    OPTIONS.iter().filter(move |option| option.verbs.contains(&verb))
}
