//! The passes over the documents, as the plan has them: the first reading, and the signing of those who wait for it. What an
//! earlier process has put down is taken up in place of them.

use std::sync::Arc;

use super::classes::Classes;
use super::count::{Counted, Counting};
use super::document::View;
use super::forward::Forward;
use super::intake::Taken;
use super::member::Member;
use super::products::{Counts, Pairs, Rows, Stock};
use super::purified::KeptPages;
use super::reading::{self, Asked};
use super::sign::{SignedRows, Signing, rows, spilled};
use super::step::{Found, Step};
use super::workers::Job;
use super::{copies, recall, sift};
use crate::algorithm::Corpus;
use crate::corpus::CorpusStats;
use crate::error::{Error, Result};
use crate::row::RowLayout;
use crate::stage::bound::Bound;
use crate::stage::plan::{Plan, Signs};
use crate::stage::sift::Sieve;

/// An algorithm with its place in the recipe.
type Placed<'c> = (usize, Member<'c, Step>);

/// One that has done nothing yet.
type Waits<'c> = (usize, Bound<'c>);

/// What is known after the first reading.
pub struct First<'n> {
    /// What was taken down of the rows.
    pub taken: Taken,
    /// The exact copies.
    pub copies: Arc<Classes>,
    /// What was counted, where something was.
    pub counts: Option<Counts>,
    /// The words of all documents, where they were kept.
    pub words: Option<Forward>,
    /// The algorithms that need no counts.
    pub members: Vec<Placed<'n>>,
}

/// The first reading, with what has to come before it. `none` are the statistics of those who need none.
pub fn first<'n>(job: &Job<'_>, plan: &Plan, stock: &Stock<'_>, none: &'n CorpusStats) -> Result<First<'n>> {
    if let Some(pages) = stock.take::<KeptPages>(|keys| &keys.pages)? {
        job.purified.know(pages);
    }
    let bound = job.options.recipe.bind_where(&Corpus::new(job.documents(), none), &[], |at| plan.signs_first(at))?;
    let places = (0..plan.signs.len()).filter(|&at| plan.signs_first(at));
    let (mut members, bound) = take_members(job, stock, places.zip(bound).collect())?;

    let mut notes = stock.take::<Taken>(|keys| &keys.notes)?;
    let mut copies = stock.take::<Classes>(|keys| &keys.copies)?;
    // Statistics and models that count each text once have to know the copies before they count.
    if plan.copies_first && copies.is_none() {
        let found = copies::fold(job, &copies::read(job)?)?;
        copies = Some(stock.offer(stock.due(), |keys| &keys.copies, found)?);
    }
    let (mut counts, mut words) = take_counts(plan, stock)?;
    let counting = plan.counts.filter(|_| counts.is_none());
    let takes = notes.is_none() || copies.is_none();
    if takes || counting.is_some() || !bound.is_empty() {
        let (places, bound): (Vec<usize>, Vec<Bound<'n>>) = bound.into_iter().unzip();
        let sieve = if plan.sifts_first() { Some(sift::sift(job, &bound, None, &View::first(job))?) } else { None };
        let counting = counting.map(|counts| Counting::new(job, counts.needs, counts.keeps)).transpose()?;
        let early = copies.as_ref().filter(|_| plan.copies_first);
        let read = reading::first(job, &bound, takes, counting, early, sieve.as_ref())?;
        let due = stock.due();
        if let Some(pages) = job.purified.kept().filter(|_| due) {
            stock.offer(due, |keys| &keys.pages, pages)?;
        }
        if let Some(mut taken) = read.taken {
            if let Some(hashes) = taken.hashes.take() {
                copies = Some(stock.offer(due, |keys| &keys.copies, copies::fold(job, &hashes)?)?);
            }
            notes = Some(stock.offer(due, |keys| &keys.notes, taken)?);
        }
        if let Some(Counted { stats, cuts, forward, .. }) = read.counted {
            counts = Some(stock.offer(due, |keys| &keys.counts, Counts { stats, cuts })?);
            words = forward.map(|words| stock.offer(due, |keys| &keys.words, words)).transpose()?;
        }
        let text_bytes = notes.as_ref().map_or(0, |notes| notes.text_bytes);
        for ((at, bound), rows) in places.into_iter().zip(bound).zip(read.signed) {
            members.push((at, signed(job, stock, due, bound, at, (rows, text_bytes, sieve.as_ref()))?));
        }
    }
    match (notes, copies) {
        (Some(taken), Some(copies)) => Ok(First { taken, copies: Arc::new(copies), counts, words, members }),
        _ => Err(Error::Usage("nothing was noted of the rows; this is a defect of the program".into())),
    }
}

/// Statistics that were put down, with the words that are still needed.
fn take_counts(plan: &Plan, stock: &Stock<'_>) -> Result<(Option<Counts>, Option<Forward>)> {
    if plan.counts.is_none() {
        return Ok((None, None));
    }
    let mut asks_words = false;
    for at in (0..plan.signs.len()).filter(|&at| plan.signs[at] == Signs::Kept) {
        asks_words |= !stock.has(|keys| &keys.members[at].near)? && !stock.has(|keys| &keys.members[at].rows)?;
    }
    let words = if asks_words { stock.take::<Forward>(|keys| &keys.words)? } else { None };
    if asks_words && words.is_none() {
        return Ok((None, None));
    }
    Ok((stock.take::<Counts>(|keys| &keys.counts)?, words))
}

/// Takes up what was put down of these algorithms; those of which there is nothing come back to sign.
fn take_members<'c>(
    job: &Job<'_>,
    stock: &Stock<'_>,
    bound: Vec<Waits<'c>>,
) -> Result<(Vec<Placed<'c>>, Vec<Waits<'c>>)> {
    let (mut members, mut sign) = (Vec::new(), Vec::new());
    for (at, bound) in bound {
        match take_member(job, stock, &bound, at)? {
            Some((report, now)) => {
                members.push((at, Member::taken_up(bound, &job.options.recipe.algorithms[at], report, now)))
            }
            None => sign.push((at, bound)),
        }
    }
    Ok((members, sign))
}

fn take_member(
    job: &Job<'_>,
    stock: &Stock<'_>,
    bound: &Bound<'_>,
    at: usize,
) -> Result<Option<(super::AlgorithmReport, Step)>> {
    if let Some(Pairs { report, pairs, classes }) = stock.take(|keys| &keys.members[at].near)? {
        return Ok(Some((report, Step::Near(Found { pairs, classes, evidence: None }))));
    }
    let has_pairs = stock.has(|keys| &keys.members[at].pairs)?;
    let relates = bound.signer.relating().is_some();
    let rows = if has_pairs && !relates { None } else { stock.take::<Rows>(|keys| &keys.members[at].rows)? };
    let Some(rows) = rows else {
        let pairs = if relates { None } else { stock.take::<Pairs>(|keys| &keys.members[at].pairs)? };
        return Ok(pairs
            .map(|Pairs { report, pairs, classes }| (report, Step::Found(Found { pairs, classes, evidence: None }))));
    };
    if let Some(Pairs { report, pairs, classes }) = stock.take(|keys| &keys.members[at].pairs)? {
        return Ok(Some((report, Step::Found(Found { pairs, classes, evidence: rows.evidence }))));
    }
    let layout = RowLayout::new(bound.signer.shape(), job.documents());
    let Rows { report, rows, evidence, sketches } = rows;
    let rows = SignedRows { layout, rows, tally: Default::default(), evidence, sketches };
    Ok(Some((report, Step::Rows(rows))))
}

/// An algorithm that has signed; its rows are put down where that is due.
fn signed<'c>(
    job: &Job<'_>,
    stock: &Stock<'_>,
    due: bool,
    bound: Bound<'c>,
    at: usize,
    (rows, text_bytes, sieve): (SignedRows, u64, Option<&Sieve>),
) -> Result<Member<'c, Step>> {
    let mut member = Member::signed(bound, &job.options.recipe.algorithms[at], rows, text_bytes);
    member.sifted(at, sieve);
    member.then(|_, signed, report| {
        let SignedRows { layout, rows, tally, evidence, sketches } = signed;
        let rows = Rows { report: report.clone(), rows, evidence, sketches };
        let Rows { rows, evidence, sketches, .. } = stock.offer(due, |keys| &keys.members[at].rows, rows)?;
        Ok(Step::Rows(SignedRows { layout, rows, tally, evidence, sketches }))
    })
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
    /// Bytes of all texts.
    pub text_bytes: u64,
}

/// Signs with the algorithms that had to wait: from the words that were kept, or in another reading. All algorithms come
/// back, in the order of the recipe.
pub fn sign<'c>(
    job: &Job<'_>,
    plan: &Plan,
    stock: &Stock<'_>,
    first: Vec<Placed<'c>>,
    waiting: Waiting<'c>,
) -> Result<Vec<Member<'c, Step>>> {
    let Waiting { view, stats, copies, words, models, text_bytes } = waiting;
    let corpus = Corpus::new(job.documents(), stats);
    let bound = job.options.recipe.bind_where(&corpus, models, |at| !plan.signs_first(at))?;
    let places = (0..plan.signs.len()).filter(|&at| !plan.signs_first(at));
    let (mut members, bound) = take_members(job, stock, places.zip(bound).collect())?;
    members.extend(first);
    if !bound.is_empty() {
        let (places, bound): (Vec<usize>, Vec<Bound<'c>>) = bound.into_iter().unzip();
        let view = view.with_copies(Some(copies));
        let sieve = if plan.sifts { Some(sift::sift(job, &bound, Some(copies), &view)?) } else { None };
        let rows = sign_again(job, &bound, &view, stats, copies, words, sieve.as_ref())?;
        let due = stock.due();
        for ((at, bound), rows) in places.into_iter().zip(bound).zip(rows) {
            let mut member = signed(job, stock, due, bound, at, (rows, text_bytes, sieve.as_ref()))?;
            member.report.model = models.get(at).filter(|model| !model.is_empty()).map(|model| recall::digest(model));
            members.push((at, member));
        }
        if due {
            stock.forget(|keys| &keys.words)?;
        }
    }
    members.sort_by_key(|(at, _)| *at);
    Ok(members.into_iter().map(|(_, member)| member).collect())
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
