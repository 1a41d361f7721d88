//! Writes the tables, the corpus and the data for the report page.

use std::collections::BTreeSet;

use super::Contaminated;
use super::fates::Fates;
use super::places::{Place, Places};
use super::reference::{Known, Reference};
use super::report::{ExampleReport, SuiteReport};
use super::search::Searched;
use super::verdicts::{Relation, Verdicts};
use super::{LISTED, NEARLY};
use dupsift_contamination::{Bound, Item, raw_places};
use dupsift_core::error::Result;
use dupsift_engine::pass::{CorpusReport, Edited, Folder, Session, copy};
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{
    ContaminatedBuilder, ContaminatedRow, ItemBuilder, ItemRow, contaminated_schema, item_schema, suite_schema,
    suite_table,
};

/// The number of items that the page shows for each evaluation set.
const EXAMPLES: usize = 10;
/// The number of public items that the page shows.
const PUBLIC_EXAMPLES: usize = 20;

/// Holds counts and examples for the record.
pub(crate) struct Written {
    /// The number of rows in `contaminated/`.
    pub found: u64,
    /// The counts for each evaluation set.
    pub suites: Vec<SuiteReport>,
    /// The items with the highest scores in each evaluation set.
    pub examples: Vec<ExampleReport>,
    /// The items that occur in the most documents.
    pub public: Vec<ExampleReport>,
    /// The number of items that were not searched for because all their n-grams are in too many other items.
    pub shared: u64,
}

/// Writes `contaminated/`, `items/` and `suites/`.
///
/// # Errors
/// Returns an error if the disk is full or the run is interrupted.
pub(crate) fn tables(
    session: &Session<'_>,
    stage: &Stage,
    reference: &Reference,
    verdicts: &Verdicts<'_>,
    places: &Places<'_>,
) -> Result<Written> {
    let running = session.engine.clock.stage("write tables");
    let mut writer =
        TableWriter::create(&stage.file("contaminated/part-00000.parquet")?, contaminated_schema(places.ids.kind()))?;
    let mut builder = ContaminatedBuilder::new(places.ids.kind());
    let mut suites = suites(reference, verdicts);
    let mut examples = Examples { session, reference, verdicts, best: vec![Vec::new(); reference.suites.len()] };
    // The evaluation sets with items that score at least 0.8 in the current document, those with items that score at least 0.5, and those
    // with variants of items.
    let (mut doc, mut of_doc) = (0, [BTreeSet::new(), BTreeSet::new(), BTreeSet::new()]);
    let mut count = |of_doc: &mut [BTreeSet<usize>; 3]| {
        let [nearly, listed, variants] = of_doc;
        std::mem::take(variants).into_iter().for_each(|suite| suites[suite].variants += 1);
        std::mem::take(nearly).into_iter().for_each(|suite| suites[suite].documents_80 += 1);
        std::mem::take(listed).into_iter().for_each(|suite| suites[suite].documents_50 += 1);
    };
    let mut found = 0;
    places.each(session, |number, spans| {
        if doc != number {
            count(&mut of_doc);
            doc = number;
        }
        let id = places.ids.of(doc);
        for span in spans.iter().filter(|span| span.is_best) {
            for known in reference.listed(span.item) {
                builder.push(&ContaminatedRow {
                    id: id.as_ref(),
                    doc,
                    eval_id: &known.id,
                    suite: &reference.suites[known.suite],
                    relation: span.relation.name(),
                    score: span.score.into(),
                    grams: [reference.items.gram_count(span.item) as u64, span.grams.into()],
                    answer_found: span.answer_found,
                    characters: span.characters.map(u64::from),
                    bytes: span.bytes.map(u64::from),
                    text: &span.texts[1],
                })?;
                found += 1;
                if builder.is_full() {
                    writer.write(&builder.finish()?)?;
                }
                if span.relation == Relation::Variant {
                    of_doc[2].insert(known.suite);
                    continue;
                }
                for (suites, least) in of_doc.iter_mut().zip([NEARLY, LISTED]) {
                    if f64::from(span.score) >= least {
                        suites.insert(known.suite);
                    }
                }
                examples.offer(span, known, || id.as_ref().to_string());
            }
        }
        Ok(())
    })?;
    count(&mut of_doc);
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    let (_, bytes) = writer.close()?;
    let shared = write_items(stage, reference, verdicts)?;
    let mut writer = TableWriter::create(&stage.file("suites/part-00000.parquet")?, suite_schema())?;
    writer.write(&suite_table(suites.iter().map(|suite| (suite.suite.as_str(), suite.numbers())))?)?;
    writer.close()?;
    running.end(found, found, bytes);
    let public = public(reference, verdicts);
    Ok(Written {
        found,
        suites,
        examples: examples.best.into_iter().flatten().map(|(_, one)| one).collect(),
        public,
        shared,
    })
}

/// Counts the items of each evaluation set.
fn suites(reference: &Reference, verdicts: &Verdicts<'_>) -> Vec<SuiteReport> {
    let new = |name: &String| SuiteReport { suite: name.clone(), ..SuiteReport::default() };
    let mut suites: Vec<SuiteReport> = reference.suites.iter().map(new).collect();
    for known in &reference.known {
        let (suite, tally) = (&mut suites[known.suite], &verdicts.tallies[known.item as usize]);
        suite.items += 1;
        suite.too_short += u64::from(reference.items.is_too_short(known.item));
        suite.public += u64::from(verdicts.is_public(known.item));
        suite.found_80 += u64::from(tally.documents[0] > 0);
        suite.found_50 += u64::from(tally.documents[1] > 0);
    }
    suites
}

/// Writes `items/`, and returns the number of items that are shared.
fn write_items(stage: &Stage, reference: &Reference, verdicts: &Verdicts<'_>) -> Result<u64> {
    let mut writer = TableWriter::create(&stage.file("items/part-00000.parquet")?, item_schema())?;
    let (mut builder, mut shared) = (ItemBuilder::default(), 0);
    for known in &reference.known {
        let (item, tally) = (known.item, &verdicts.tallies[known.item as usize]);
        shared += u64::from(reference.items.is_shared(item));
        builder.push(&ItemRow {
            eval_id: &known.id,
            suite: &reference.suites[known.suite],
            tokens: reference.items.question_len(item) as u64,
            status: status(reference, verdicts, item),
            documents: [tally.documents[0], tally.documents[1], tally.variants],
            score: tally.score,
            text: &known.text,
        });
        if builder.is_full() {
            writer.write(&builder.finish()?)?;
        }
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    writer.close().map(|_| shared)
}

fn status(reference: &Reference, verdicts: &Verdicts<'_>, item: Item) -> &'static str {
    let tally = &verdicts.tallies[item as usize];
    match (tally.documents[1], tally.variants) {
        _ if reference.items.is_too_short(item) => "too short",
        _ if reference.items.is_shared(item) => "shared",
        _ if verdicts.is_public(item) => "public",
        (0, 0) => "not found",
        (0, _) => "variant",
        _ => "found",
    }
}

/// Collects the items with the highest scores, each with the first document in which it has this score.
struct Examples<'e> {
    session: &'e Session<'e>,
    reference: &'e Reference,
    verdicts: &'e Verdicts<'e>,
    /// The best items of each evaluation set, best first.
    best: Vec<Vec<(String, ExampleReport)>>,
}

impl Examples<'_> {
    fn offer(&mut self, span: &Place, known: &Known, id: impl FnOnce() -> String) {
        let (item, score) = (span.item, f64::from(span.score));
        let best = &mut self.best[known.suite];
        if let Some(at) = best.iter().position(|(other, _)| *other == known.id) {
            if best[at].1.score >= score {
                return;
            }
            best.remove(at);
        }
        let at = best.partition_point(|(_, one)| one.score >= score);
        if at < EXAMPLES {
            let example = ExampleReport {
                suite: self.reference.suites[known.suite].clone(),
                eval_id: known.id.clone(),
                item: known.text.clone(),
                covered: covered(self.session, &known.text, &span.covered),
                documents: self.verdicts.tallies[item as usize].documents[1],
                id: id(),
                score,
                answer_found: span.answer_found,
                texts: span.texts.clone(),
            };
            best.insert(at, (known.id.clone(), example));
            best.truncate(EXAMPLES);
        }
    }
}

/// Returns the byte ranges of the covered tokens within the beginning of an item.
fn covered(session: &Session<'_>, text: &str, bits: &[u64]) -> Vec<[u32; 2]> {
    let document = session.pipeline.analyse(text);
    let is_covered = |at: usize| bits.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
    let (mut bounds, mut at, mut before) = (Vec::new(), 0, false);
    document.each_token(&mut |place| {
        let now = is_covered(at);
        match (before, now) {
            (true, true) => _ = bounds.pop(),
            (_, true) => bounds.push(Bound::Start(place.start)),
            _ => {}
        }
        if now {
            bounds.push(Bound::End(place.end));
        }
        (before, at) = (now, at + 1);
    });
    let places = raw_places(text, document.text(), &bounds);
    places.chunks_exact(2).map(|place| [place[0] as u32, place[1] as u32]).collect()
}

fn public(reference: &Reference, verdicts: &Verdicts<'_>) -> Vec<ExampleReport> {
    let is_public = |known: &&Known| known.is_listed && verdicts.is_public(known.item);
    let mut public: Vec<&Known> = reference.known.iter().filter(is_public).collect();
    let tally = |known: &Known| &verdicts.tallies[known.item as usize];
    public.sort_by_key(|known| std::cmp::Reverse(tally(known).documents[1]));
    public.truncate(PUBLIC_EXAMPLES);
    let example = |known: &Known| ExampleReport {
        suite: reference.suites[known.suite].clone(),
        eval_id: known.id.clone(),
        item: known.text.clone(),
        documents: tally(known).documents[1],
        score: tally(known).score,
        ..ExampleReport::default()
    };
    public.into_iter().map(example).collect()
}

/// Writes the corpus and the removed documents, depending on the options. The written corpus omits either the contaminated documents or
/// only the contaminated spans.
///
/// # Errors
/// Returns an error if a file is damaged, the disk is full, or the run is interrupted.
pub(crate) fn corpus(
    session: &Session<'_>,
    options: &Contaminated,
    stage: &Stage,
    fates: &Fates,
    searched: &Searched,
) -> Result<CorpusReport> {
    let documents = session.documents();
    let rejected = AtomicBits::new(session.engine.dir, "set-aside", documents as usize)?;
    searched.rejected.each(session.engine, |doc, _, _| {
        rejected.set(doc as usize);
        Ok(())
    })?;
    let goes = |doc: u64| doc < documents && fates.removed.get(doc as usize);
    let stays = |doc: u64| doc < documents && !fates.removed.get(doc as usize) && !rejected.get(doc as usize);
    let (removed, rejected_rows) = (fates.removed.count(), rejected.count());
    let mut report = CorpusReport {
        written: session.options.output.corpus.to_string(),
        rows: session.rows(),
        kept: session.rows() - removed - rejected_rows,
        removed,
        rejected: rejected_rows,
        ..CorpusReport::default()
    };
    let (has, edit) = (|doc| fates.is_cut(doc), |doc, text: &str| fates.cut_out(doc, text));
    let edited = options.cut_spans.then_some(Edited { has: &has, edit: &edit });
    let clean = Folder { name: "clean", takes: &stays, has_empty: true, edited, added: None };
    let dropped = Folder { name: "dropped", takes: &goes, has_empty: false, edited: None, added: None };
    for (folder, asked) in [(clean, session.options.output.corpus.keep), (dropped, session.options.output.corpus.drop)]
    {
        if asked {
            report.folders.insert(folder.name.to_owned(), copy(session, stage, &folder)?);
        }
    }
    Ok(report)
}
