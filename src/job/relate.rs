//! From signature rows to what each algorithm says: classes and confirmed pairs.

use std::sync::Arc;

use super::classes::Classes;
use super::contents::{Contents, TakingContents};
use super::document::View;
use super::evidence::Evidence;
use super::group::{Grouped, Relation, group};
use super::headings::Headings;
use super::margin;
use super::member::{Member, each};
use super::pair_list::PairList;
use super::products::{Pairs, Stock};
use super::run_report::AlgorithmReport;
use super::step::{Found, Met, Step};
use super::tell::{Known, tell};
use super::verify::{Wanted, confirm, documents_of, take_evidence, verify_last};
use super::workers::Job;
use crate::error::{Error, Result};
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

/// Groups the rows of each algorithm, checks what met, and applies the rules that look at all pairs. Also returns what documents
/// say that were read on the way.
pub fn relate<'c>(
    job: &Job<'_>,
    stock: &Stock<'_>,
    members: Vec<Member<'c, Step>>,
    corpus: Corpus<'_>,
) -> Result<(Vec<Member<'c, Relation>>, Contents)> {
    let members = group_all(job, members, corpus.copies)?;
    let (members, contents) = verify(job, stock, members, corpus)?;
    let (members, contents) = tell_all(job, members, corpus, contents)?;
    let (members, contents) = verify_last(job, members, (corpus.view, contents))?;
    let mut place = 0..members.len();
    let members = each(members, |bound, step, report| {
        let at = place.next().unwrap_or_default();
        let found = near(stock, at, step, report)?;
        Ok(Relation {
            label: bound.label.clone(),
            classes: found.classes.map_or_else(|| corpus.copies.clone(), Arc::new),
            pairs: found.pairs,
            equal: bound.signer.equal(),
            same: bound.signer.relating().map(|(rule, _)| rule.same()),
        })
    });
    Ok((members?, contents))
}

/// The pairs as they stay; they are put down where that is due, and what they were made of goes.
fn near(stock: &Stock<'_>, at: usize, step: Step, report: &AlgorithmReport) -> Result<Found> {
    match step {
        Step::Near(found) => Ok(found),
        Step::Found(Found { pairs, classes, evidence }) => {
            let due = stock.due();
            let pairs = Pairs { report: report.clone(), pairs, classes };
            let Pairs { pairs, classes, .. } = stock.offer(due, |keys| &keys.members[at].near, pairs)?;
            if due {
                stock.forget(|keys| &keys.members[at].pairs)?;
                stock.forget(|keys| &keys.members[at].rows)?;
            }
            Ok(Found { pairs, classes, evidence })
        }
        Step::Rows(_) | Step::Met(_) => {
            Err(Error::Usage("an algorithm was not grouped or not checked; this is a defect of the program".into()))
        }
    }
}

fn group_all<'c>(job: &Job<'_>, members: Vec<Member<'c, Step>>, copies: &Classes) -> Result<Vec<Member<'c, Step>>> {
    each(members, |bound, step, report| {
        let Step::Rows(signed) = step else { return Ok(step) };
        let documents = match bound.confirm_candidates() {
            Some(_) if signed.evidence.is_none() => {
                Some(Arc::new(AtomicBits::new(job.dir, &format!("{}-met", bound.label), job.documents() as usize)?))
            }
            _ => None,
        };
        let grouped = group(job, bound, &signed, copies, documents.as_deref())?;
        (report.compared, report.left_out) = (grouped.compared, grouped.left_out);
        report.spilled_bytes = grouped.spilled_bytes;
        Ok(Step::Met(Met { grouped, evidence: signed.evidence, documents }))
    })
}

/// Checks the candidates of every algorithm that has a check, and holds them against each other where it has a margin.
fn verify<'c>(
    job: &Job<'_>,
    stock: &Stock<'_>,
    members: Vec<Member<'c, Step>>,
    corpus: Corpus<'_>,
) -> Result<(Vec<Member<'c, Step>>, Contents)> {
    let wanted: Vec<Wanted<'_>> = members.iter().map(of_candidates).collect();
    let (late, contents) = take_evidence(job, &wanted, corpus.view, Contents::none(corpus.copies))?;
    drop(wanted);
    let mut late = late.into_iter().enumerate();
    let members = each(members, |bound, step, report| {
        let (at, late) = late.next().unwrap_or_default();
        let found = match step {
            Step::Met(met) => check(job, stock, at, bound, met, late, report)?,
            Step::Found(found) => found,
            _ => return Ok(step),
        };
        let Some(margin) = bound.margin else { return Ok(Step::Found(found)) };
        let left = margin::apply(job, &bound.label, &found.pairs, margin)?;
        report.beyond_margin = found.pairs.rows() - left.rows();
        Ok(Step::Found(Found { pairs: left, ..found }))
    });
    Ok((members?, contents))
}

/// What the check of an algorithm's candidates is asked about.
fn of_candidates<'m>(Member { bound, now, .. }: &'m Member<'_, Step>) -> Wanted<'m> {
    let (check, documents) = match now {
        Step::Met(met) => (bound.confirm_candidates(), met.documents.clone()),
        _ => (None, None),
    };
    Wanted { label: bound.label.clone(), check, documents }
}

/// Checks the candidates of one algorithm; what passes is put down where that is due.
fn check(
    job: &Job<'_>,
    stock: &Stock<'_>,
    at: usize,
    bound: &Bound<'_>,
    met: Met,
    late: Option<Evidence>,
    report: &mut AlgorithmReport,
) -> Result<Found> {
    let evidence = met.evidence.or(late);
    let pairs = match (bound.confirm_candidates(), &evidence) {
        (Some(check), Some(evidence)) => {
            let verified = confirm(job, &bound.label, check, &met.grouped, evidence)?;
            (report.candidates, report.undecided) = (verified.candidates, verified.undecided);
            verified.pairs
        }
        _ => {
            let merged = merge(job, &bound.label, &met.grouped)?;
            report.candidates = if bound.confirm().is_some() { merged.rows() } else { 0 };
            merged
        }
    };
    let found = Pairs { report: report.clone(), pairs, classes: met.grouped.classes };
    let Pairs { pairs, classes, .. } = stock.offer(stock.due(), |keys| &keys.members[at].pairs, found)?;
    Ok(Found { pairs, classes, evidence })
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
fn tell_all<'c>(
    job: &Job<'_>,
    members: Vec<Member<'c, Step>>,
    corpus: Corpus<'_>,
    contents: Contents,
) -> Result<(Vec<Member<'c, Step>>, Contents)> {
    let mut wanted = Vec::new();
    for Member { bound, now, .. } in &members {
        if let (Some(_), Step::Found(found)) = (bound.signer.relating(), now) {
            wanted.push(documents_of(job, &found.pairs)?);
        }
    }
    if wanted.is_empty() {
        return Ok((members, contents));
    }
    let docs = wanted.iter().flat_map(|bits| bits.iter());
    let contents = TakingContents::new(job, contents, docs)?.read(job, corpus.view)?;
    let members = each(members, |bound, step, report| {
        let Step::Found(found) = step else { return Ok(step) };
        let (Some(relating), Some(headings), Some(evidence)) =
            (bound.signer.relating(), corpus.headings, &found.evidence)
        else {
            return Ok(Step::Found(found));
        };
        let common = headings.common(job, corpus.copies, relating.0.titles)?;
        let known = Known { evidence, contents: &contents, headings, common: &common };
        let (pairs, relations) = tell(job, &bound.label, relating, &found.pairs, &known)?;
        report.relations = Some(relations);
        Ok(Step::Found(Found { pairs, ..found }))
    });
    Ok((members?, contents))
}
