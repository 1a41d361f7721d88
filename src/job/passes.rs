//! The passes over the documents, as the plan has them: the first reading, and the signing of those who wait for it.

use std::sync::Arc;

use super::classes::Classes;
use super::count::{Counted, Counting};
use super::document::View;
use super::forward::Forward;
use super::intake::Taken;
use super::member::Member;
use super::reading::{self, Asked};
use super::sign::{SignedRows, Signing, rows, spilled};
use super::workers::Job;
use super::{copies, recall, sift};
use crate::algorithm::Corpus;
use crate::corpus::CorpusStats;
use crate::error::{Error, Result};
use crate::stage::bound::Bound;
use crate::stage::plan::Plan;
use crate::stage::sift::Sieve;

/// An algorithm that has signed.
pub type Signed<'c> = (Bound<'c>, SignedRows);

/// What is known after the first reading.
pub struct First<'n> {
    /// What was taken down of the rows.
    pub taken: Taken,
    /// The exact copies.
    pub copies: Arc<Classes>,
    /// What was counted, where something was.
    pub counted: Option<Counted>,
    /// The algorithms that need no counts, in their order.
    pub signed: Vec<Signed<'n>>,
    /// The filters that their rows went through.
    pub sieve: Option<Sieve>,
}

/// The first reading, with what has to come before it. `none` are the statistics of those who need none.
pub fn first<'n>(job: &Job<'_>, plan: &Plan, none: &'n CorpusStats) -> Result<First<'n>> {
    let recipe = &job.options.recipe;
    // Statistics and models that count each text once have to know the copies before they count.
    let early = if plan.copies_first { Some(copies::fold(job, &copies::read(job)?)?) } else { None };
    let bound = recipe.bind_where(&Corpus::new(job.documents(), none), &[], |at| plan.signs_first(at))?;
    let sieve = if plan.sifts_first() { Some(sift::sift(job, &bound, None, &View::first(job))?) } else { None };
    let counting = plan.counts.map(|counts| Counting::new(job, counts.needs, counts.keeps)).transpose()?;
    let reading::First { mut taken, counted, signed } =
        reading::first(job, &bound, counting, early.as_ref(), sieve.as_ref())?;
    let copies = match (early, taken.hashes.take()) {
        (Some(copies), _) => copies,
        (None, Some(hashes)) => copies::fold(job, &hashes)?,
        (None, None) => return Err(Error::Usage("no hashes of texts were taken".into())),
    };
    Ok(First { taken, copies: Arc::new(copies), counted, signed: bound.into_iter().zip(signed).collect(), sieve })
}

/// What those who wait for the first reading sign by.
pub struct Waiting<'c> {
    /// How documents are seen.
    pub view: &'c View<'c>,
    /// The counts.
    pub stats: &'c CorpusStats,
    /// The exact copies.
    pub copies: &'c Arc<Classes>,
    /// The words of all documents, where they were kept.
    pub words: Option<Forward>,
    /// By algorithm: what it has learnt, or nothing.
    pub models: &'c [Vec<u64>],
}

/// Signs with the algorithms that had to wait: from the words that were kept, or in another reading. All algorithms come
/// back, in the order of the recipe.
pub fn sign<'c>(
    job: &Job<'_>,
    plan: &Plan,
    first: Vec<Signed<'c>>,
    waiting: Waiting<'c>,
    mut sieve: Option<Sieve>,
    text_bytes: u64,
) -> Result<Vec<Member<'c, SignedRows>>> {
    let Waiting { view, stats, copies, words, models } = waiting;
    let recipe = &job.options.recipe;
    let bound = recipe.bind_where(&Corpus::new(job.documents(), stats), models, |at| !plan.signs_first(at))?;
    let mut waited = Vec::new();
    if !bound.is_empty() {
        let view = view.with_copies(Some(copies));
        if plan.sifts {
            sieve = Some(sift::sift(job, &bound, Some(copies), &view)?);
        }
        let signed = sign_again(job, &bound, &view, stats, copies, words, sieve.as_ref())?;
        waited = bound.into_iter().zip(signed).collect();
    }
    let (mut first, mut waited) = (first.into_iter(), waited.into_iter());
    let places = recipe.algorithms.iter().enumerate();
    let members = places.filter_map(|(at, chosen)| {
        let (bound, rows) = if plan.signs_first(at) { first.next() } else { waited.next() }?;
        let mut member = Member::signed(bound, chosen, rows, text_bytes);
        member.sifted(at, sieve.as_ref());
        member.report.model = models.get(at).filter(|model| !model.is_empty()).map(|model| recall::digest(model));
        Some(member)
    });
    Ok(members.collect())
}

fn sign_again(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    view: &View<'_>,
    stats: &CorpusStats,
    copies: &Classes,
    words: Option<Forward>,
    sieve: Option<&Sieve>,
) -> Result<Vec<SignedRows>> {
    let running = job.clock.stage(if words.is_some() { "recall kept words" } else { "sign" });
    let signing = Signing::new(job, bound, Some(copies), sieve)?;
    let tallies = match words {
        Some(words) => words.sign(job, view, stats, &signing)?,
        None => {
            let asked = Asked { signing: Some(&signing), copies: Some(copies), ..Asked::default() };
            reading::read(job, "sign", view, asked)?.into_iter().filter_map(|share| share.signed).collect()
        }
    };
    let signed = signing.finish(tallies)?;
    running.end(job.documents(), rows(&signed), spilled(&signed));
    Ok(signed)
}
