//! From what the algorithms say to the tables of the output and the record of the run.

use std::sync::Arc;

use super::classes::Classes;
use super::contents::{Alike, Compared, Contents};
use super::decide;
use super::describe;
use super::document::View;
use super::group::Relation;
use super::guards;
use super::intake::Taken;
use super::last_reading;
use super::member::{Member, each};
use super::pairs;
use super::run_report::RunReport;
use super::tables::{Expanded, Tables, Written};
use super::workers::Job;
use crate::corpus::CorpusStats;
use crate::error::Result;
use crate::io::{BadInput, Stage};
use crate::shuffle::AtomicBits;
use crate::stage::plan::Plan;

/// What is known of the corpus.
#[derive(Clone, Copy)]
pub struct Corpus<'c> {
    /// What was taken down of the rows.
    pub taken: &'c Taken,
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// How documents are seen.
    pub view: &'c View<'c>,
    /// The counts.
    pub stats: &'c CorpusStats,
    /// By algorithm: what it has learnt, or nothing.
    pub models: &'c [Vec<u64>],
    /// Files that could not be used.
    pub bad: &'c [BadInput],
}

/// Decides what is removed, writes all tables, and makes the record. `contents` is what is known already of what documents say.
pub fn write(
    job: &Job<'_>,
    stage: &Stage,
    plan: &Plan,
    members: Vec<Member<'_, Relation>>,
    contents: Contents,
    corpus: Corpus<'_>,
) -> Result<RunReport> {
    let Corpus { taken, copies, view, stats, models, bad } = corpus;
    let shown = Arc::new(AtomicBits::new(job.dir, "shown", job.documents() as usize)?);
    let alike = Alike::new(job, copies)?;
    let mut members = each(members, |bound, relation, report| {
        let pairs = pairs::expand(job, bound, &relation, &alike, &taken.keep, &shown)?;
        (report.pairs, report.forms, report.large_groups) = (pairs.total, pairs.forms, pairs.large_groups);
        if bound.confirm().is_none() {
            report.candidates = relation.pairs.rows();
        }
        Ok(Expanded { relation, pairs })
    })?;
    taken.rejected.each(job, |doc, _, _| {
        shown.set(doc as usize);
        Ok(())
    })?;
    let looks = job.options.removes && job.options.remove_if.bounds().is_some() && !alike.is_empty();
    let taking = looks.then(|| alike.begin(job, contents)).transpose()?;
    let (ids, contents) = last_reading::read(job, view, &taken.ids_seen, &shown, taking)?;
    let relations: Vec<&Relation> = members.iter().map(|member| &member.now.relation).collect();
    let decide = || decide::decide(job, &relations, &taken.keep, &shown, contents.as_ref());
    let mut decided = job.options.removes.then(decide).transpose()?;
    let looked_at = decided.as_mut().and_then(|decided| decided.looked_at.take());
    let compared = looked_at.map(|looked_at| Compared { copies: copies.clone(), contents, looked_at });
    let label = |at: &usize| (members[*at].bound.label.as_str(), models[*at].as_slice());
    let tables = Tables {
        members: &members,
        keep: &taken.keep,
        copies,
        decided: decided.as_ref(),
        compared: compared.as_ref(),
        rejected: &taken.rejected,
        bad,
        ids: &ids,
        stats,
        needs: plan.counts.map(|counts| counts.needs).unwrap_or_default(),
        models: &plan.learns.iter().map(label).collect::<Vec<_>>(),
    };
    let written = tables.write(job, stage)?;
    note(&mut members, &written);
    let removal = decided.as_ref().map(|decided| describe::removal(job, taken.used, &written.removals, decided));
    let reports = members.into_iter().map(|member| member.report).collect();
    let mut report = describe::report(job, taken, copies, stats, reports, removal, &written.removals, bad);
    report.guards = guards::of_run(job, stage, bad, &report)?;
    Ok(report)
}

/// Notes what the tables hold of each algorithm.
fn note(members: &mut [Member<'_, Expanded>], written: &Written) {
    for ((Member { report, .. }, pairs), counts) in members.iter_mut().zip(&written.pairs).zip(&written.clusters) {
        [report.pairs_written, report.forms_written] = *pairs;
        (report.clusters, report.clustered, report.largest_cluster) =
            (counts.clusters, counts.clustered, counts.largest);
    }
}
