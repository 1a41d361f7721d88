//! Implements `explain`, which shows why two documents of a finished run are a pair, or why they are not.
//!
//! The result is read from the tables of the run. To find the reason, the two documents are signed again with the statistics and
//! models of the run, so the signatures are the same.

pub(crate) mod choice;
mod copy_groups;
mod documents;
pub(crate) mod explanation;
mod fate;
mod likeness;
mod look;
mod relation;
mod rows;
mod seek;
mod shared_windows;
mod verdicts;
mod window_sizes;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use crate::finished::Finished;
use crate::finished::tables::{ids_of, passages, removals};
use copy_groups::CopyGroup;
use documents::{At, both, partner, text_of};
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::measure::{contained, write_contents};
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::recipe::remove_if::{RemoveIf, Stays};
use dupsift_algorithms::recipe::{Chosen, Recipe};
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::job::read_back::{self, Frozen};
use dupsift_engine::options::{RemovalOptions, RunOptions};
use dupsift_engine::reading::document::View;
use dupsift_engine::session::Session;
use dupsift_incremental::{Again, ReadAgain};
use dupsift_text::Analysis;
use explanation::*;
use likeness::{LCS_UNITS, LcsOf, Overlap, likeness};
use look::{Ended, Look, look};
use seek::{Seeking, may_be_shown, seek};
use verdicts::{Groups, Said, algorithm};

/// The reason why a document is not removed in favor of another one if `--keep-per` keeps a document for each value.
const DIFFERENT_VALUES: &str = "different values of keep-per";

/// Explains why two documents of the run, given by id or by number, are or are not a pair. For a single document, explains why it was
/// removed in favor of another document. If the document was not removed, explains why it forms a pair with the most similar document.
///
/// # Errors
/// Returns an error if a document does not exist, if several documents have the id, or if the corpus, the statistics or the index have
/// changed since the run.
pub fn explain(
    finished: &Finished,
    options: &RunOptions,
    asked: &[String],
    by_number: bool,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Explanation> {
    finished.of_one_result(|| explain_one_result(finished, options, asked, by_number, progress, cancel))
}

fn explain_one_result(
    finished: &Finished,
    options: &RunOptions,
    asked: &[String],
    by_number: bool,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Explanation> {
    check_resources(options)?;
    let again = finished.again(Some(ReadAgain { options, progress, cancel }))?;
    let again = again.as_ref();
    finished.read(options, progress, cancel, |session, is_stored| {
        let running = session.engine.clock.stage("find documents");
        let seeking = Seeking { session, first_doc: finished.first_doc(), again, is_stored };
        let docs = seek(seeking, asked, by_number)?;
        let (docs, note) = match docs[..] {
            [a, b] => ([a, b], None),
            _ => partner(session.engine, finished, docs[0])?,
        };
        may_be_shown(&seeking, &docs)?;
        running.end(session.documents(), 2, 0);
        let mut explained = match again {
            Some(again) => {
                again.joined(session, docs, |joined| explain_both(joined, (finished, is_stored), docs, Some(again)))
            }
            None => explain_both(session, (finished, is_stored), docs, None),
        }?;
        explained.notes.extend(note);
        Ok(explained)
    })
}

/// Explains why the two documents with these numbers are or are not a pair.
fn explain_both(
    session: &Session<'_>,
    (finished, is_stored): (&Finished, bool),
    numbers: [u64; 2],
    again: Option<&Again<'_>>,
) -> Result<Explanation> {
    let gone = || Error::usage("the documents can no longer be read");
    let [Some(a), Some(b)] = numbers.map(|number| session.document(number)) else { return Err(gone()) };
    let docs = [a, b];
    session.scopes.begin(session.engine, &session.options.recipe, session.documents())?;
    let frozen = again.map(|again| again.statistics(session)).transpose()?;
    let known = match frozen {
        Some(Frozen { stats, models, report, .. }) => (stats, Some(models), report.documents_planned),
        None => (read_back::statistics(session, finished.of())?, None, read_back::documents_planned(finished.of())),
    };
    let (stats, models, planned) = known;
    let corpus = Corpus::new(planned, &stats);
    let models = models.map_or_else(|| read_back::models(session, finished.of(), &corpus), Ok)?;
    let bound = session.options.recipe.bind(&corpus, &models)?;
    let groups = groups(finished, &bound, numbers)?;
    let mut looked_up: Option<LookedUp> = None;
    let view = View::after_count(session, None, &stats);
    let running = session.engine.clock.stage("compare both documents");
    both(session, &view, docs, |first, second| {
        let signing = Signing { corpus: &corpus, models: &models, bound: &bound, groups, again, is_stored };
        looked_up = Some(look_up(session, &view, docs, [first, second], signing)?);
        Ok(())
    })?;
    running.end(2, 2, 0);
    let looked_up = looked_up.ok_or_else(gone)?;
    // Short texts may be processed before the interruption flag is ever checked, so the flag is checked here.
    session.engine.go_on()?;
    put_together(session, (finished, is_stored), looked_up, (&bound, groups, &view, again))
}

/// Returns the copies of the two documents; `None` if the corpus has no exact copies. The pairs of copies are the same for all algorithms.
fn groups(finished: &Finished, bound: &[Bound<'_>], docs: [u64; 2]) -> Result<Option<[CopyGroup; 2]>> {
    let any = bound.first().filter(|_| finished.report.documents.extra_copies > 0);
    any.map(|bound| copy_groups::copies(finished, &bound.label, docs)).transpose()
}

/// Holds the values that are computed from the two documents alone, without the tables.
struct LookedUp {
    /// The two documents, in the requested order.
    documents: [ExplainedDocument; 2],
    same: bool,
    /// One result per algorithm. The document with the smaller number is first.
    looks: Vec<Look>,
    measures: ExplainedMeasures,
    /// The containment of each document in the other document, in the requested order.
    contained: [ExplainedContained; 2],
    /// Whether the document with the larger number was requested first.
    swap: bool,
    /// Whether the documents have different values in the column of `--keep-per`.
    are_apart: bool,
}

/// Holds the data that is needed to sign the two documents.
struct Signing<'s> {
    corpus: &'s Corpus<'s>,
    models: &'s [Vec<u64>],
    bound: &'s [Bound<'s>],
    groups: Option<[CopyGroup; 2]>,
    again: Option<&'s Again<'s>>,
    /// Whether only the stored texts are available, not the corpus.
    is_stored: bool,
}

/// Signs the two documents, smaller number first, and compares them. `docs` contains their numbers in the requested order.
fn look_up(
    session: &Session<'_>,
    view: &View<'_>,
    docs: [u64; 2],
    [first, second]: [At<'_>; 2],
    signing: Signing<'_>,
) -> Result<LookedUp> {
    let Signing { corpus, models, bound, groups, again, is_stored } = signing;
    // Signatures may depend on the number of times that a text was counted in the statistics.
    let times = |doc: u64| {
        let group =
            groups.filter(|_| session.options.recipe.count_copies).map(|groups| groups[usize::from(doc != docs[0])]);
        group.map_or(1, |group| group.size)
    };
    let texts = [first, second].map(|(batch, row)| text_of(session, batch, row));
    let [Ok(a), Ok(b)] = texts else {
        if is_stored {
            return Err(Error::usage(
                "the corpus no longer exists or has changed, and texts/ contains only removed documents and those kept in their place; pass the id of a removed document, or pass `input=DIR` with the current location of the corpus",
            ));
        }
        let error = texts.into_iter().find_map(Result::err);
        return Err(error.unwrap_or_else(|| Error::usage("the documents can no longer be read")));
    };
    let columns = [view.columns(first.0)?, view.columns(second.0)?];
    // The document with the smaller number is first, as in the run.
    let analyses = [
        view.document(first.0.doc(first.1), a, &columns[0], first.1),
        view.document(second.0.doc(second.1), b, &columns[1], second.1),
    ];
    let [low, high] = [docs[0].min(docs[1]), docs[0].max(docs[1])];
    let [x, y] = analyses;
    let analyses = [x.counted_times(times(low)), y.counted_times(times(high))];
    let mut looks = looks(&session.options.recipe, (corpus, models), bound, [low, high], &analyses);
    let scopes = session.scopes.noted().filter(|_| session.options.recipe.across.is_some());
    if scopes.is_some_and(|scopes| scopes.of(low) == scopes.of(high)) {
        looks.iter_mut().for_each(|look| look.ended = Ended::SameScope);
    }
    let same = !a.trim_start().is_empty() && analyses[0].copy_hash() == analyses[1].copy_hash();
    let swap = docs[0] > docs[1];
    let mut documents =
        [explained(session, first, &analyses[0], again), explained(session, second, &analyses[1], again)];
    let [x, y] = &analyses;
    let measures = if swap { measures(likeness(y, x)) } else { measures(likeness(x, y)) };
    let asked_first = session.number(docs[0]);
    documents.sort_by_key(|document| document.doc != asked_first);
    let mut contained = contained_in(session.options.removal.remove_if, same, [x, y]);
    if swap {
        contained.reverse();
    }
    let are_apart = have_other_values(session.options.removal.keep_per.as_ref(), [first, second])?;
    Ok(LookedUp { documents, same, looks, measures, contained, swap, are_apart })
}

/// Returns whether two documents have different values in a column. A missing value counts as a value of its own.
fn have_other_values(column: Option<&String>, [(first, row), (second, other_row)]: [At<'_>; 2]) -> Result<bool> {
    let Some(column) = column else { return Ok(false) };
    let [values, others] = [first.spelled_column(column)?, second.spelled_column(column)?];
    let value = values.as_ref().and_then(|values| values.get(row).text().ok());
    Ok(value != others.as_ref().and_then(|others| others.get(other_row).text().ok()))
}

fn explained(
    session: &Session<'_>,
    (batch, row): At<'_>,
    analysis: &Analysis<'_>,
    again: Option<&Again<'_>>,
) -> ExplainedDocument {
    let (place, doc) = (batch.doc(row), session.number(batch.doc(row)));
    let (file, file_row) = match again.filter(|_| place < session.base) {
        Some(again) => again.place(doc),
        None => {
            let (file, row) = session.source.locate(place);
            (file.label.clone(), row)
        }
    };
    ExplainedDocument {
        id: batch.id(row).map_or_else(|| session.source.name_of(place), |id| id.to_string()),
        doc,
        file,
        row: file_row,
        characters: analysis.characters(),
        words: analysis.words().len() as u64,
        earlier: place < session.base,
        removed: None,
        passages: Vec::new(),
        text: analysis.raw().to_string(),
    }
}

/// Returns the result of each algorithm for the two documents.
fn looks(
    recipe: &Recipe,
    (corpus, models): (&Corpus<'_>, &[Vec<u64>]),
    bound: &[Bound<'_>],
    [low, high]: [u64; 2],
    analyses: &[Analysis<'_>; 2],
) -> Vec<Look> {
    // Computing a score below the threshold may take time proportional to the product of the text lengths.
    let short = analyses.iter().all(|text| text.words().len() <= LCS_UNITS);
    let each = bound.iter().enumerate().map(|(at, bound)| {
        let one = Recipe { algorithms: vec![recipe.algorithms[at].loosened()], ..recipe.clone() };
        // Binding fails if the lower threshold contradicts other parameters. In that case, no score below the threshold is reported.
        let loose = if short { one.bind(corpus, &models[at..=at]).ok() } else { None };
        let documents = [(low, &analyses[0]), (high, &analyses[1])];
        let loose = loose.as_ref().and_then(|loose| loose.first());
        look(bound, loose, corpus.documents, documents)
    });
    each.collect()
}

fn put_together(
    session: &Session<'_>,
    (finished, is_stored): (&Finished, bool),
    looked_up: LookedUp,
    (bound, groups, view, again): (&[Bound<'_>], Option<[CopyGroup; 2]>, &View<'_>, Option<&Again<'_>>),
) -> Result<Explanation> {
    let LookedUp { mut documents, same, mut looks, measures, contained, swap, are_apart } = looked_up;
    let docs = [documents[0].doc, documents[1].doc];
    let removals = removals(finished, &docs)?;
    let recipe = &session.options.recipe;
    let said = read_tables(session, (finished, is_stored), docs, same, &mut looks, (bound, groups, view))?;
    let others = said.iter().flat_map(Said::others).chain(removals.iter().map(|one| one.kept_doc));
    let mut ids: BTreeMap<u64, String> = ids_of(session, others.filter(|doc| !docs.contains(doc)).collect(), again)?;
    documents.iter().for_each(|document| drop(ids.insert(document.doc, document.id.clone())));
    // Indexed documents are read from temporary copies, whose file names are meaningless to the user.
    let own = |doc: u64| session.document(doc).filter(|&doc| doc >= session.base);
    let named = |doc: u64| own(doc).map_or_else(|| format!("document {doc}"), |doc| session.source.name_of(doc));
    let id = |doc: u64| ids.get(&doc).cloned().unwrap_or_else(|| named(doc));
    for document in &mut documents {
        let removal = removals.iter().find(|removal| removal.doc == document.doc);
        document.removed = removal.map(|removal| ExplainedRemoval {
            kept_id: id(removal.kept_doc),
            kept_doc: removal.kept_doc,
            similarity: removal.similarity,
            algorithm: removal.algorithm.clone(),
            reason: removal.reason.clone(),
        });
    }
    for found in passages(session.engine, finished, &docs)? {
        let passage = ExplainedPassage {
            start_byte: found.bytes[0],
            end_byte: found.bytes[1],
            copies: found.copies,
            first_doc: found.first_doc,
        };
        let of = documents.iter_mut().filter(|document| document.doc == found.doc);
        of.for_each(|document| document.passages.push(passage));
    }
    let reports = &finished.report.algorithms;
    let one = |(((chosen, mut look), bound), said): (((&Chosen, Look), &Bound<'_>), Said)| {
        if swap {
            look.signatures.reverse();
            look.classification.iter_mut().for_each(|classification| {
                classification.words.reverse();
                classification.titles.reverse();
            });
        }
        let report = reports.iter().find(|report| report.label == chosen.label);
        algorithm(chosen, report, (&documents, &contained), look, bound.scheme.shape.positions, said, same, &id)
    };
    let algorithms: Vec<ExplainedAlgorithm> =
        recipe.algorithms.iter().zip(looks).zip(bound).zip(said).map(one).collect();
    let notes = notes(session, finished);
    let pair = algorithms.iter().any(|one| one.verdict.is_pair());
    let remove_if = session.options.removal.remove_if.to_string();
    let removes = finished.report.removal.is_some();
    let mut contained = contained;
    // A chain of pairs may remove a document that does not form a pair with the kept document. A copy of an indexed document is
    // treated like the indexed document.
    let [a, b] = &documents;
    let RemovalOptions { decide, remove_if: rule, chains, .. } = &session.options.removal;
    let why = match () {
        () if !removes || a.is_removed_for(b) || b.is_removed_for(a) => None,
        () if are_apart => Some(DIFFERENT_VALUES),
        () if same || *chains => None,
        () => fate::stay(decide, *rule, &algorithms),
    };
    if let Some(why) = why {
        contained.iter_mut().for_each(|of| of.stays = Some(why));
    }
    Ok(Explanation { documents, exact_copies: same, pair, algorithms, measures, contained, removes, remove_if, notes })
}

/// Reads the rows about the two documents from each algorithm's tables. If there is no such row, checks whether too many documents share a
/// key for all of them to be compared.
fn read_tables(
    session: &Session<'_>,
    (finished, is_stored): (&Finished, bool),
    docs: [u64; 2],
    same: bool,
    looks: &mut [Look],
    (bound, groups, view): (&[Bound<'_>], Option<[CopyGroup; 2]>, &View<'_>),
) -> Result<Vec<Said>> {
    let mut said = Vec::new();
    for (bound, look) in bound.iter().zip(looks) {
        let one =
            Said::read(finished, &bound.label, docs, Groups { groups, most: session.options.duplicates.max_group })?;
        // The documents that share a key cannot all be counted in an incremental run, where other documents are in the index, or from
        // stored texts, which do not include all documents.
        let is_whole = session.indexed.is_none() && !is_stored;
        let windows = look.windows.as_ref().filter(|_| !same && one.is_silent() && is_whole);
        if let Some(windows) = windows {
            look.cut = windows.why_not_compared(bound, &window_sizes::count(session, bound, view, &windows.keys)?);
        }
        said.push(one);
    }
    Ok(said)
}

fn notes(session: &Session<'_>, finished: &Finished) -> Vec<String> {
    let mut notes = Vec::new();
    // The stored text of an HTML page is plain text.
    let is_same = |pages: bool| finished.report.recipe.identity == session.options.identity(session.pipeline, pages);
    let is_known = is_same(session.has_pages()) || finished.report.stored_texts.is_some() && is_same(true);
    if !is_known {
        notes.push(format!(
            "the run used a different version of dupsift ({}) or different word lists, so signatures may differ from those of the run",
            finished.report.dupsift
        ));
    }
    notes
}

/// Returns the containment of each text in the other text, and the reason why the text cannot be removed in favor of the other text.
fn contained_in(remove_if: RemoveIf, same: bool, texts: [&Analysis<'_>; 2]) -> [ExplainedContained; 2] {
    let [a, b] = texts.map(|text| {
        let mut contents = Vec::new();
        write_contents(text, &mut contents);
        contents
    });
    let [of_a, of_b] = contained(&a, &b);
    [[of_a, of_b], [of_b, of_a]].map(|both| {
        let bounds = remove_if.bounds().filter(|_| !same);
        ExplainedContained {
            common_grams: both[0].grams.common,
            grams: both[0].grams.all,
            common_numbers: both[0].numbers.common,
            numbers: both[0].numbers.all,
            common_facts: both[0].facts.common,
            facts: both[0].facts.all,
            stays: bounds.and_then(|bounds| bounds.stays(both)).map(Stays::name),
        }
    })
}

fn measures(likeness: likeness::Likeness) -> ExplainedMeasures {
    let overlap = |Overlap { jaccard, a_in_b, b_in_a }| ExplainedOverlap { jaccard, a_in_b, b_in_a };
    ExplainedMeasures {
        five_characters: overlap(likeness.five_characters),
        five_words: overlap(likeness.five_words),
        words: overlap(likeness.words),
        common_words: likeness.common_words,
        cosine: likeness.cosine,
        lcs: likeness.lcs.map(|lcs| lcs.0),
        lcs_of: likeness.lcs.map(|lcs| match lcs.1 {
            LcsOf::Characters => "characters",
            LcsOf::Words => "words",
        }),
    }
}
