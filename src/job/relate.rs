//! From signature rows to what each algorithm says: classes and confirmed pairs.

use std::sync::Arc;

use super::classes::Classes;
use super::contents::{Contents, TakingContents};
use super::document::View;
use super::group::{Grouped, Relation, group};
use super::headings::Headings;
use super::margin;
use super::pair_list::PairList;
use super::run_report::AlgorithmReport;
use super::sign::SignedRows;
use super::tell::{Known, tell};
use super::verify::{documents_of, verify, verify_last};
use super::workers::Job;
use crate::error::Result;
use crate::row::Score;
use crate::shuffle::AtomicBits;
use crate::stage::bound::Bound;

/// What is known of the corpus when rows have been signed.
#[derive(Clone, Copy)]
pub struct Corpus<'c> {
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// How documents are seen.
    pub view: &'c View<'c>,
    /// Their first lines, where an algorithm asks for them.
    pub headings: Option<&'c Headings>,
}

/// What each algorithm says of pairs, with the score that all pairs of a class have; and what documents say that were read on
/// the way.
pub type Related = (Vec<(Relation, Score)>, Contents);

/// Groups the rows of each algorithm, checks what met, and applies the rules that look at all pairs.
pub fn relate(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    signed: &[SignedRows],
    corpus: Corpus<'_>,
    reports: &mut [AlgorithmReport],
) -> Result<Related> {
    let (grouped, met) = group_all(job, bound, signed, corpus.copies, reports)?;
    let contents = Contents::none(corpus.copies);
    let (verified, contents) = verify(job, bound, signed, &grouped, &met, (corpus.view, contents))?;
    let mut pairs = Vec::new();
    for (((bound, one), verified), report) in bound.iter().zip(&grouped).zip(verified).zip(reports.iter_mut()) {
        let found = match verified {
            Some(verified) => {
                (report.candidates, report.undecided) = (verified.candidates, verified.undecided);
                verified.pairs
            }
            None => {
                let merged = merge(job, &bound.label, one)?;
                report.candidates = if bound.confirm().is_some() { merged.rows() } else { 0 };
                merged
            }
        };
        pairs.push(match bound.margin {
            Some(margin) => {
                let left = margin::apply(job, &bound.label, &found, margin)?;
                report.beyond_margin = found.rows() - left.rows();
                left
            }
            None => found,
        });
    }
    let contents = tell_all(job, bound, signed, corpus, contents, (&mut pairs, reports))?;
    let (checked, contents) = verify_last(job, bound, pairs, (corpus.view, contents))?;
    let mut relations = Vec::new();
    for (((bound, one), (pairs, undecided)), report) in bound.iter().zip(grouped).zip(checked).zip(reports) {
        report.undecided += undecided;
        let relation = Relation {
            label: bound.label.clone(),
            classes: one.classes.map_or_else(|| corpus.copies.clone(), Arc::new),
            pairs,
            same: bound.signer.relating().map(|(rule, _)| rule.same()),
        };
        relations.push((relation, bound.signer.equal()));
    }
    Ok((relations, contents))
}

/// The documents of each algorithm's candidates, where what a check needs of them is still to be read.
type Met = Vec<Option<Arc<AtomicBits>>>;

fn group_all(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    signed: &[SignedRows],
    copies: &Classes,
    reports: &mut [AlgorithmReport],
) -> Result<(Vec<Grouped>, Met)> {
    let (mut grouped, mut met) = (Vec::new(), Vec::new());
    for ((bound, rows), report) in bound.iter().zip(signed).zip(reports) {
        let documents = match bound.confirm_candidates() {
            Some(_) if rows.evidence.is_none() => {
                Some(Arc::new(AtomicBits::new(job.dir, &format!("{}-met", bound.label), job.documents() as usize)?))
            }
            _ => None,
        };
        let one = group(job, bound, rows, copies, documents.as_deref())?;
        (report.compared, report.left_out, report.spilled_bytes) = (one.compared, one.left_out, one.spilled_bytes);
        grouped.push(one);
        met.push(documents);
    }
    Ok((grouped, met))
}

/// The pairs of a method whose candidates nothing checks.
fn merge(job: &Job<'_>, label: &str, grouped: &Grouped) -> Result<PairList> {
    let what = format!("merge {label}");
    let running = job.clock.stage(what.clone());
    let (pairs, _) = PairList::make(job, &what, &grouped.pairs, grouped.layout, || (), |(), pair| Some(pair))?;
    running.end(grouped.pairs.rows(), pairs.rows(), pairs.bytes());
    Ok(pairs)
}

/// Tells the pairs of each algorithm that asks for it, for which the texts of their documents are read, once for all.
fn tell_all(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    signed: &[SignedRows],
    corpus: Corpus<'_>,
    contents: Contents,
    (pairs, reports): (&mut [PairList], &mut [AlgorithmReport]),
) -> Result<Contents> {
    if bound.iter().all(|bound| bound.signer.relating().is_none()) {
        return Ok(contents);
    }
    let mut wanted = Vec::new();
    for (bound, pairs) in bound.iter().zip(&*pairs).filter(|(bound, _)| bound.signer.relating().is_some()) {
        wanted.push(documents_of(job, pairs)?);
        debug_assert!(bound.takes_evidence_early());
    }
    let docs = wanted.iter().flat_map(|bits| bits.iter());
    let contents = TakingContents::new(job, contents, docs)?.read(job, corpus.view)?;
    for (((bound, rows), pairs), report) in bound.iter().zip(signed).zip(pairs).zip(reports) {
        let (Some(relating), Some(evidence)) = (bound.signer.relating(), &rows.evidence) else { continue };
        let Some(headings) = corpus.headings else { continue };
        let common = headings.common(job, corpus.copies, relating.0.titles)?;
        let known = Known { evidence, contents: &contents, headings, common: &common };
        let (told, relations) = tell(job, &bound.label, relating, pairs, &known)?;
        (*pairs, report.relations) = (told, Some(relations));
    }
    Ok(contents)
}
