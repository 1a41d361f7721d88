//! Computes how many documents each removal rule removes, from the pairs of a finished run and without writing anything.
//!
//! A rule may need the containment of a document in another one that the run did not compare. Such a document counts as kept, and the rule
//! is marked: a new run with this rule may remove more documents.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::Serialize;

use super::deciding::DecidingPairs;
use super::documents::order;
use super::own_tables::{REMOVED, wrong_table};
use super::written_pairs::{look, shown};
use super::{ApplyOptions, removal};
use crate::apply::applicable::{refuse, refuse_sample};
use crate::finished::Finished;
use dupsift_algorithms::measure::Contained;
use dupsift_algorithms::recipe::remove_if::{Bounds, RemoveIf};
use dupsift_core::error::{Error, Result};
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::job::decide::decide_by;
use dupsift_engine::job::decide::decided;
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::again::work_again;
use dupsift_engine::session::Session;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells};

/// The rules that are compared with the rule of the run, strictest first; `pair` follows.
const RULES: [Bounds; 5] = [
    Bounds { grams: 1.0, numbers: 1.0 },
    Bounds { grams: 0.95, numbers: 1.0 },
    Bounds { grams: 0.9, numbers: 1.0 },
    Bounds { grams: 0.8, numbers: 0.9 },
    Bounds { grams: 0.6, numbers: 0.5 },
];

/// Holds what each rule removes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RuleTable {
    /// The number of documents that the run used.
    pub documents: u64,
    /// The rules, strictest first.
    pub rules: Vec<RuleFigures>,
    /// Why the table contains only the rule of the run; `None` if it contains other rules.
    pub only_own: Option<String>,
}

/// Holds what one rule removes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RuleFigures {
    /// The rule, as a value of `remove-if`.
    pub rule: String,
    /// Whether it is the rule of the run.
    pub of_the_run: bool,
    /// The number of removed documents.
    pub removed: u64,
    /// The number of bytes of text in the removed documents.
    pub removed_bytes: u64,
    /// The number of comparisons that the rule needs and the run did not make. If it is not 0, `apply` refuses the rule, and a new run
    /// decides.
    pub not_compared: u64,
}

impl RuleFigures {
    /// Returns whether the figures are those of a new run with this rule.
    pub fn is_exact(&self) -> bool {
        self.not_compared == 0
    }
}

/// Returns what each rule removes. `options` contains the recorded options.
///
/// # Errors
/// Returns an error if nothing is removed, if the run read a sample, if the corpus is missing or has changed, or if the call is interrupted.
pub fn rules(finished: &Finished, options: &RunOptions, progress: &Progress, cancel: &AtomicBool) -> Result<RuleTable> {
    finished.of_one_result(|| {
        let own = prepared(finished, options)?;
        let mut all: Vec<RemoveIf> = RULES.into_iter().map(RemoveIf::Contained).chain([RemoveIf::Pair]).collect();
        if !all.contains(&own) {
            all.push(own);
        }
        all.sort_by(strictest_first);
        let is_other = |rule: &RemoveIf| rule.to_string() != removal(finished).map_or("", |removal| &removal.remove_if);
        let other = ApplyOptions { remove_if: all.iter().copied().find(is_other), ..ApplyOptions::default() };
        let only_own = match refuse(finished, &other.over(options), true, true) {
            Ok(()) => None,
            Err(error) => Some(error.to_string()),
        };
        if only_own.is_some() {
            all = vec![own];
        }
        figures(finished, options, &all, &[], progress, cancel).map(|table| RuleTable { only_own, ..table })
    })
}

/// Returns what the rule in `asked` would remove, as [`apply`](super::apply()) decides it.
///
/// # Errors
/// Returns the errors of [`survivors`](super::survivors).
pub fn planned(
    finished: &Finished,
    options: &RunOptions,
    asked: &ApplyOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<RuleTable> {
    finished.of_one_result(|| {
        let own = prepared(finished, options)?;
        refuse(finished, &asked.over(options), asked.is_other(removal(finished)?), false)?;
        let rule = asked.remove_if.unwrap_or(own);
        figures(finished, options, &[rule], &asked.thresholds, progress, cancel)
    })
}

/// Checks what all rules need, and returns the rule of the run.
fn prepared(finished: &Finished, options: &RunOptions) -> Result<RemoveIf> {
    check_resources(options)?;
    removal(finished)?;
    refuse_sample(&finished.report)?;
    Ok(options.removal.remove_if)
}

fn strictest_first(a: &RemoveIf, b: &RemoveIf) -> std::cmp::Ordering {
    let shares = |rule: &RemoveIf| rule.bounds().map_or([-1.0; 2], |bounds| [bounds.grams, bounds.numbers]);
    let ([a, more], [b, less]) = (shares(a), shares(b));
    b.total_cmp(&a).then(less.total_cmp(&more))
}

/// Decides by each rule. The rule of the run without thresholds is read from `removed/`.
fn figures(
    finished: &Finished,
    options: &RunOptions,
    rules: &[RemoveIf],
    thresholds: &[(String, f64)],
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<RuleTable> {
    let own = &removal(finished)?.remove_if;
    let is_own = |rule: &RemoveIf| thresholds.is_empty() && rule.to_string() == *own;
    // Whether the titles matter depends on the kind of the rule, so the pairs are read once for each kind.
    let read = |is_pair: bool| -> Result<Option<DecidingPairs>> {
        let mut of_kind = rules.iter().filter(|rule| (**rule == RemoveIf::Pair) == is_pair && !is_own(rule));
        let Some(&rule) = of_kind.next() else { return Ok(None) };
        let mut options = options.clone();
        options.removal.remove_if = rule;
        DecidingPairs::read(finished, &options, thresholds).map(Some)
    };
    let kinds = [read(false)?, read(true)?];
    let inputs = finished.corpus(options, progress, cancel)?;
    work_again(options, &inputs.source, progress, cancel, |session| {
        finished.check_contents(session)?;
        let documents = session.documents();
        let mut named = AtomicBits::new(session.engine.dir, "named", documents as usize)?;
        for pairs in kinds.iter().flatten() {
            let shown = shown(session.engine, documents, &pairs.known)?;
            shown.iter().for_each(|doc| _ = named.set(doc));
        }
        let first_doc = finished.first_doc();
        let own_removed = || {
            let place = move |doc: u64| doc.checked_sub(first_doc).filter(|doc| *doc < documents);
            let removed = finished.removals()?;
            Ok::<_, Error>(removed.map(move |one| {
                one.and_then(|one| place(one.doc).ok_or_else(|| wrong_table(&finished.dir().join(REMOVED))))
            }))
        };
        let in_pairs = named;
        named = AtomicBits::new(session.engine.dir, "measured", documents as usize)?;
        in_pairs.iter().for_each(|doc| _ = named.set(doc));
        for doc in own_removed()? {
            named.set(doc? as usize);
        }
        let bytes = bytes(session, Arc::new(named))?;
        let in_pairs = Arc::new(in_pairs);
        let keep = match kinds.iter().any(Option::is_some) {
            true => Some(order(session, &in_pairs, &removal(finished)?.keep_columns)?),
            false => None,
        };
        let mut table = RuleTable { documents: finished.report.documents.used, ..RuleTable::default() };
        for rule in rules {
            let mut row = RuleFigures { rule: rule.to_string(), of_the_run: is_own(rule), ..RuleFigures::default() };
            let mut add = |doc: u64| {
                row.removed += 1;
                row.removed_bytes += bytes.load(doc as usize);
            };
            if is_own(rule) {
                for doc in own_removed()? {
                    add(doc?);
                }
            } else if let (Some(pairs), Some(keep)) = (&kinds[usize::from(*rule == RemoveIf::Pair)], &keep) {
                let mut options = session.options.clone();
                options.removal.remove_if = *rule;
                let session = Session::new(session.engine, &options, session.source, session.pipeline);
                let not_compared = AtomicU64::new(0);
                let look = |doc, kept| {
                    Ok(look(&pairs.known, doc, kept).unwrap_or_else(|| {
                        not_compared.fetch_add(1, Ordering::Relaxed);
                        // Nothing of the document is known to be in the kept one.
                        Some([Contained::default(); 2])
                    }))
                };
                let known = || Ok(pairs.known.iter().collect());
                let decided = decide_by(&session, &pairs.deciding, known, (keep, |_| None), &in_pairs, look)?;
                decided::each(&decided, session.engine.budget.a_thread, |doc, _| Ok(add(doc)))?;
                row.not_compared = not_compared.into_inner();
            }
            table.rules.push(row);
        }
        Ok(table)
    })
}

/// Reads how many bytes of text each of these documents has.
fn bytes(session: &Session<'_>, docs: Arc<AtomicBits>) -> Result<AtomicCells<u64>> {
    let bytes = AtomicCells::<u64>::new(session.engine.dir, "bytes", session.documents() as usize)?;
    let rows = RowFilter::Where(Arc::new(move |doc| docs.get(doc as usize)));
    let want = Want { rows: Some(rows), batch_bytes: session.engine.budget.batch, ..Want::default() };
    session.read(
        "read sizes",
        &want,
        || Ok(()),
        |(), batch| {
            session.engine.go_on()?;
            for row in 0..batch.len() {
                bytes.store(batch.doc(row) as usize, batch.text(row).text().map_or(0, |text| text.len() as u64));
            }
            Ok(())
        },
        Ok,
    )?;
    Ok(bytes)
}
