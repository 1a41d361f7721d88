//! From signature rows to what each algorithm says: classes and confirmed pairs.

use std::sync::Arc;

use super::classes::Classes;
use super::contents::{Contents, TakingContents};
use super::document::View;
use super::evidence::Evidence;
use super::found_pairs::Found;
use super::group::{Grouped, Relation, group};
use super::headings::Headings;
use super::margin;
use super::member::{Member, each};
use super::pair_list::PairList;
use super::sign::SignedRows;
use super::tell::{Known, tell};
use super::verify::{Wanted, confirm, documents_of, take_evidence, verify_last};
use super::workers::Job;
use crate::error::Result;
use crate::shuffle::AtomicBits;

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

/// Candidates of one algorithm.
struct Met {
    grouped: Grouped,
    evidence: Option<Evidence>,
    /// Their documents, where what a check needs of these is still to be read.
    documents: Option<Arc<AtomicBits>>,
}

/// Groups the rows of each algorithm, checks what met, and applies the rules that look at all pairs. Also returns what documents
/// say that were read on the way.
pub fn relate<'c>(
    job: &Job<'_>,
    members: Vec<Member<'c, SignedRows>>,
    corpus: Corpus<'_>,
) -> Result<(Vec<Member<'c, Relation>>, Contents)> {
    let members = group_all(job, members, corpus.copies)?;
    let (members, contents) = verify(job, members, corpus)?;
    let (members, contents) = tell_all(job, members, corpus, contents)?;
    let (members, contents) = verify_last(job, members, (corpus.view, contents))?;
    let members = each(members, |bound, found, _| {
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

fn group_all<'c>(
    job: &Job<'_>,
    members: Vec<Member<'c, SignedRows>>,
    copies: &Classes,
) -> Result<Vec<Member<'c, Met>>> {
    each(members, |bound, signed, report| {
        let documents = match bound.confirm_candidates() {
            Some(_) if signed.evidence.is_none() => {
                Some(Arc::new(AtomicBits::new(job.dir, &format!("{}-met", bound.label), job.documents() as usize)?))
            }
            _ => None,
        };
        let grouped = group(job, bound, &signed, copies, documents.as_deref())?;
        (report.compared, report.left_out) = (grouped.compared, grouped.left_out);
        report.spilled_bytes = grouped.spilled_bytes;
        Ok(Met { grouped, evidence: signed.evidence, documents })
    })
}

/// Checks the candidates of every algorithm that has a check, and holds them against each other where it has a margin.
fn verify<'c>(
    job: &Job<'_>,
    members: Vec<Member<'c, Met>>,
    corpus: Corpus<'_>,
) -> Result<(Vec<Member<'c, Found>>, Contents)> {
    let wanted: Vec<Wanted<'_>> = members
        .iter()
        .map(|Member { bound, now, .. }| Wanted {
            label: &bound.label,
            check: bound.confirm_candidates(),
            documents: now.documents.clone(),
        })
        .collect();
    let (late, contents) = take_evidence(job, &wanted, corpus.view, Contents::none(corpus.copies))?;
    drop(wanted);
    let mut late = late.into_iter();
    let members = each(members, |bound, met, report| {
        let evidence = met.evidence.or(late.next().flatten());
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
        let pairs = match bound.margin {
            Some(margin) => {
                let left = margin::apply(job, &bound.label, &pairs, margin)?;
                report.beyond_margin = pairs.rows() - left.rows();
                left
            }
            None => pairs,
        };
        Ok(Found { pairs, classes: met.grouped.classes, evidence })
    });
    Ok((members?, contents))
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
    members: Vec<Member<'c, Found>>,
    corpus: Corpus<'_>,
    contents: Contents,
) -> Result<(Vec<Member<'c, Found>>, Contents)> {
    let mut wanted = Vec::new();
    for member in members.iter().filter(|member| member.bound.signer.relating().is_some()) {
        wanted.push(documents_of(job, &member.now.pairs)?);
    }
    if wanted.is_empty() {
        return Ok((members, contents));
    }
    let docs = wanted.iter().flat_map(|bits| bits.iter());
    let contents = TakingContents::new(job, contents, docs)?.read(job, corpus.view)?;
    let members = each(members, |bound, found, report| {
        let (Some(relating), Some(headings)) = (bound.signer.relating(), corpus.headings) else { return Ok(found) };
        let Some(evidence) = &found.evidence else { return Ok(found) };
        let common = headings.common(job, corpus.copies, relating.0.titles)?;
        let known = Known { evidence, contents: &contents, headings, common: &common };
        let (pairs, relations) = tell(job, &bound.label, relating, &found.pairs, &known)?;
        report.relations = Some(relations);
        Ok(Found { pairs, ..found })
    });
    Ok((members?, contents))
}
