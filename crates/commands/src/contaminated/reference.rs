//! Finds and reads the evaluation set, and holds it in memory.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use bytesize::ByteSize;

use super::answers::{Given, Meaning};
use super::{Contaminated, ItemColumn, SHOWN};
use dupsift_contamination::{Builder, Item, Items, Words};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::number::{counted, thousands};
use dupsift_engine::engine::Progress;
use dupsift_engine::options::{CorpusFiles, CutOptions, RunOptions};
use dupsift_engine::pass::{Inputs, OtherInput, Rejecter, Session, find_others, interruptible, look_into, other_input};
use dupsift_input::several_texts::several;
use dupsift_input::{Asked, Want};
use dupsift_tables::nested::lists::of_json;
use dupsift_tables::{Cell, IdsSeen, TextColumn};

/// The evaluation set may use at most the memory limit divided by this number.
const SHARE: u64 = 4;

/// The number of bytes that a name or other string takes in addition to its characters.
const A_TEXT: u64 = 64;

/// The number of bytes that a byte of a JSON list may take in memory: an empty string has three bytes with its separator.
const LIST_IN_MEMORY: usize = size_of::<String>() / 3;

/// Holds the opened files of an evaluation set.
pub(crate) struct Against {
    options: RunOptions,
    inputs: Inputs,
}

impl Against {
    /// Returns the local files of the evaluation set, including unreadable files.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Path> {
        let bad = self.inputs.bad.iter().map(|file| &*file.path);
        self.inputs.source.local_paths().chain(bad)
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.inputs.source.documents()
    }
}

/// Finds and opens the files of the evaluation set.
///
/// # Errors
/// Returns an error if a file is missing or if no file has a required column.
pub(crate) fn look(options: &Contaminated, progress: &Progress, cancel: &AtomicBool) -> Result<Against> {
    let mut run = options.run.clone();
    run.input.paths = options.against.clone();
    run.columns.text_column = options.item.name.clone();
    run.columns.text_required = false;
    run.columns.html = false;
    run.columns.id_column = options.item_id.name.clone();
    run.columns.id_required = false;
    run.columns.other_columns =
        [vec![options.answer.name.clone(), options.suite.name.clone()], names_of(&options.choices)].concat();
    run.columns.list_columns =
        [&options.item, &options.choices, &options.answer].into_iter().flat_map(names_of).collect();
    run.columns.page_columns_required = [false; 2];
    // --limit applies only to the corpus.
    run.sampling.limit = None;
    run.output.report = false;
    run.output.corpus = CorpusFiles::default();
    run.cut = CutOptions::default();
    let named = [
        ("item-column", &options.item, true),
        ("item-id-column", &options.item_id, options.item_id.required),
        ("choices-column", &options.choices, options.choices.required),
        ("answer-column", &options.answer, options.answer.required),
        ("suite-column", &options.suite, options.suite.required),
    ];
    let each = named.into_iter().filter(|(.., required)| *required).flat_map(|(option, column, _)| {
        let is_several = ["item-column", "choices-column"].contains(&option);
        let names = if is_several { names_of(column) } else { vec![column.name.clone()] };
        names.into_iter().map(move |column| Asked { option, column, plain: false })
    });
    let asked = each.collect();
    let opened = run.clone();
    let found = find_others(&run, progress, cancel).map_err(|error| error.of("against"))?;
    let inputs = interruptible(cancel, move || {
        // If none of the file formats has named columns, each document is an item, and no column is required.
        let names_columns = found.files.iter().any(|file| file.format.facts().names_columns);
        look_into(&opened, found, if names_columns { asked } else { Vec::new() })
    })?;
    Ok(Against { options: run, inputs })
}

/// Returns the names of the columns. Several columns are either joined into one text or hold one choice each.
fn names_of(column: &ItemColumn) -> Vec<String> {
    let names = several(&column.name);
    if names.is_empty() { vec![column.name.clone()] } else { names }
}

/// Holds a row of the evaluation set, except its words.
#[derive(Debug)]
pub(crate) struct Known {
    /// The item that is searched for. Rows with the same words have the same item.
    pub item: Item,
    /// Whether matches are listed with this row's id. Of rows with the same texts in one evaluation set, only the first is listed.
    pub is_listed: bool,
    /// The item's id, or `FILE#ROW`.
    pub id: String,
    /// The number of the item's evaluation set.
    pub suite: usize,
    /// The beginning of the item's text.
    pub text: String,
}

/// Holds the evaluation set in memory.
pub(crate) struct Reference {
    /// The items to search for.
    pub items: Items,
    /// The rows of the evaluation set.
    pub known: Vec<Known>,
    /// The rows by item, and where those of each item end.
    by_item: (Vec<u32>, Vec<usize>),
    /// The names of the evaluation sets, in order.
    pub suites: Vec<String>,
    /// The memory that the evaluation set takes during the search, in bytes.
    pub bytes: u64,
    /// The rows and files that could not be read.
    pub losses: OtherInput,
}

impl Reference {
    /// Returns the listed rows with this item, in order.
    pub(crate) fn listed(&self, item: Item) -> impl Iterator<Item = &Known> {
        let (rows, ends) = &self.by_item;
        let start = item.checked_sub(1).map_or(0, |before| ends[before as usize]);
        rows[start..ends[item as usize]].iter().map(|&row| &self.known[row as usize])
    }
}

/// Holds an item that is being read.
struct Read {
    doc: u64,
    /// A hash of the question, the choices and the answers as they are written.
    hash: u128,
    question: Words,
    choices: Vec<Words>,
    answer: Given,
    id: String,
    suite: String,
    text: String,
}

impl Read {
    /// Returns the size of the item in bytes while it is being read.
    fn bytes(&self) -> u64 {
        let words: u64 = self.choices.iter().map(Words::bytes).sum::<u64>() + self.question.bytes();
        self.known_bytes() + self.answer.bytes() + words
    }

    /// Returns the size in bytes of what is kept of the item, except its words.
    fn known_bytes(&self) -> u64 {
        (self.id.len() + self.text.len()) as u64 + 4 * A_TEXT
    }

    /// Returns the number of tokens in the question and its choices.
    fn tokens(&self) -> usize {
        self.choices.iter().map(|choice| choice.hashes.len()).sum::<usize>() + self.question.hashes.len()
    }
}

/// Reads the evaluation set.
///
/// # Errors
/// Returns [`Error::Usage`] if the evaluation set exceeds its share of the memory or if one of its files is damaged. If `strict` is set,
/// also returns [`Error::Usage`] for the first bad row.
pub(crate) fn read(session: &Session<'_>, options: &Contaminated, against: &Against) -> Result<Reference> {
    let Against { options: run, inputs } = against;
    if let (true, Some(first)) = (run.guards.strict, inputs.bad.first()) {
        return Err(Error::wrong_value("against", first.path.display(), &first.why));
    }
    let of_items = Session::new(session.engine, run, &inputs.source, session.pipeline);
    of_items.check_pages()?;
    let (mut read, ids_seen, losses) = read_items(&of_items, options, inputs).map_err(|error| match error {
        Error::BadFile { path, why } => {
            Error::wrong_value("against", path.display(), format!("{why}; expected files that can be read completely"))
        }
        other => other,
    })?;
    let losses = other_input::lost("against", &of_items, inputs, &ids_seen, &losses)?;
    read.sort_unstable_by_key(|one| one.doc);
    let names: BTreeMap<String, usize> = read.iter().map(|one| (one.suite.clone(), 0)).collect();
    let suites: Vec<String> = names.into_keys().collect();
    let meanings: Vec<Meaning> = suites
        .iter()
        .map(|suite| Meaning::of(read.iter().filter(|one| one.suite == *suite).map(|one| &one.answer)))
        .collect();
    let mut builder = Builder::new(options.ngram);
    let (mut bytes, mut known, mut seen) = (0, Vec::with_capacity(read.len()), HashSet::new());
    for one in read {
        bytes += one.known_bytes() + one.question.number_bytes();
        let suite = suites.partition_point(|name| *name < one.suite);
        let texts = one.answer.texts(meanings[suite]);
        let answers: Vec<_> = texts.into_iter().map(|text| Words::of(&session.pipeline.analyse(text))).collect();
        let items = builder.len();
        let item = builder.push(&one.question, &one.choices, &answers);
        if builder.len() > items {
            let tokens = answers.iter().map(|answer| answer.hashes.len()).sum::<usize>() + one.tokens();
            bytes += Builder::bytes_of(tokens, session.options.resources.threads);
        }
        known.push(Known { item, is_listed: seen.insert((one.hash, suite)), id: one.id, suite, text: one.text });
    }
    let count = known.len() as u64;
    within(bytes, session.options.resources.memory, count, count)?;
    tracing::info!("{}: {} in memory", counted(count, "item"), ByteSize(bytes).display().iec());
    let mut rows: Vec<u32> = (0..known.len() as u32).filter(|&row| known[row as usize].is_listed).collect();
    rows.sort_by_key(|&row| known[row as usize].item);
    let end = |item: u32| rows.partition_point(|&row| known[row as usize].item <= item);
    let ends = (0..builder.len() as u32).map(end).collect();
    Ok(Reference { items: builder.build(), known, by_item: (rows, ends), suites, bytes, losses })
}

/// Checks that the first `items` of `all` items fit in their share of the memory.
fn within(bytes: u64, memory: u64, items: u64, all: u64) -> Result<()> {
    if bytes <= memory / SHARE {
        return Ok(());
    }
    let size = |bytes| ByteSize(bytes).display().iec().to_string();
    let expected = (bytes as f64 * SHARE as f64 * all.max(items) as f64 / items.max(1) as f64) as u64;
    Err(Error::wrong(
        "against",
        format!(
            "the first {items} of {all} need {bytes} of memory, more than a quarter of `memory={}`; use about `memory={}`, or search for fewer items at a time",
            size(memory),
            size(expected),
            items = thousands(items),
            all = counted(all.max(items), "item"),
            bytes = size(bytes)
        ),
    ))
}

type Rows = (Vec<Read>, IdsSeen, dupsift_engine::pass::Rejected);

fn read_items(session: &Session<'_>, options: &Contaminated, inputs: &Inputs) -> Result<Rows> {
    let running = session.engine.clock.stage("read items");
    let rejecter = Rejecter::new(session)?;
    let want = Want {
        id: true,
        others: session.options.columns.other_columns.clone(),
        spelled: true,
        batch_bytes: session.engine.budget.batch,
        ..Want::default()
    };
    let (bytes, count) = (AtomicU64::new(0), AtomicU64::new(0));
    let results = session.read(
        "read items",
        &want,
        || Ok((Vec::new(), rejecter.writer(), IdsSeen::default())),
        |(items, rejected, ids_seen), batch| {
            let answers = batch.spelled_column(&options.answer.name)?;
            let suites = batch.spelled_column(&options.suite.name)?;
            let choice_columns = names_of(&options.choices);
            // The choices are a part of the item.
            let has_choices = names_of(&options.item).iter().any(|name| choice_columns.contains(name));
            let choices = choice_columns.iter().map(|name| batch.spelled_column(name)).collect::<Result<Vec<_>>>()?;
            let value = |column: &Option<TextColumn>, row| match column.as_ref().map(|column| column.get(row)) {
                Some(Cell::Text(text)) => Some(text.to_owned()),
                _ => None,
            };
            for row in 0..batch.len() {
                let text = match batch.text(row).text() {
                    Ok(text) => text,
                    Err(why) => {
                        rejecter.push(session, rejected, batch, row, &why)?;
                        continue;
                    }
                };
                // A list of many short values takes several times its bytes in memory.
                let of_list = |column: &Option<TextColumn>| match column.as_ref().map(|column| column.get(row)) {
                    Some(Cell::Text(text)) => text.len() * LIST_IN_MEMORY,
                    _ => 0,
                };
                let lists = choices.iter().chain([&answers]).map(of_list).sum::<usize>();
                let _long = session.engine.long_document(text.len() + lists)?;
                let doc = batch.doc(row);
                let choices = match &choices[..] {
                    [list] => value(list, row).and_then(|list| of_json(&list)).unwrap_or_default(),
                    // A missing choice keeps its position in the list. If none of the columns exists, the set has no choices.
                    columns if columns.iter().any(Option::is_some) => {
                        columns.iter().map(|column| value(column, row).unwrap_or_default()).collect()
                    }
                    _ => Vec::new(),
                };
                let answer = value(&answers, row);
                let written =
                    std::iter::once(text).chain(choices.iter().map(|choice| &**choice)).chain(answer.as_deref());
                let item = Read {
                    doc,
                    hash: written.fold(0, |hash, text| hash128(text.as_bytes()) ^ u128::rotate_left(hash, 1)),
                    question: Words::of_question(&session.pipeline.analyse(text)),
                    choices: match has_choices {
                        true => Vec::new(),
                        false => choices.iter().map(|choice| Words::of(&session.pipeline.analyse(choice))).collect(),
                    },
                    answer: Given::new(answer.as_deref(), choices),
                    id: batch.id(row).map_or_else(|| session.source.name_of(doc), |id| id.to_string()),
                    suite: value(&suites, row).unwrap_or_else(|| name_of(inputs, doc)),
                    text: text.chars().take(SHOWN).collect(),
                };
                // The tokens of answers are counted later, when the text of each answer is known.
                let own = item.bytes() + Builder::bytes_of(item.tokens(), session.options.resources.threads);
                let all = bytes.fetch_add(own, Relaxed) + own;
                within(all, session.options.resources.memory, count.fetch_add(1, Relaxed) + 1, session.documents())?;
                items.push(item);
            }
            ids_seen.merge(batch.ids_seen());
            Ok(())
        },
        |(items, mut rejected, ids_seen)| rejected.flush().map(|()| (items, ids_seen)),
    )?;
    let (mut items, mut ids_seen) = (Vec::new(), IdsSeen::default());
    for (some, seen) in results {
        items.extend(some);
        ids_seen.merge(&seen);
    }
    let rejected = rejecter.finish()?;
    running.end(session.documents(), items.len() as u64, 0);
    Ok((items, ids_seen, rejected))
}

/// Returns the default name of an evaluation set: the file name, without folders and file extensions.
fn name_of(inputs: &Inputs, doc: u64) -> String {
    let (file, _) = inputs.source.locate(doc);
    let name = Path::new(&file.label).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_items_are_refused_with_the_memory_that_would_do() {
        assert!(within(1 << 20, 4 << 20, 10, 10).is_ok());
        let message = within(3 << 20, 4 << 20, 10, 20).unwrap_err().to_string();
        let parts = ["10 of 20 items need 3.0 MiB", "a quarter of `memory=4.0 MiB`", "use about `memory=24.0 MiB`"];
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    }
}
