//! The passes over the documents, as the plan has them: the first reading, and the signing of those who wait for it. What an
//! earlier process has put down is taken up in place of them.

use std::sync::Arc;

use super::copies;
use super::count::{Counted, Counting};
use super::intake::Taken;
use super::reading::{self, Asked};
use super::recall;
use super::sift;
use super::sign::{SignedRows, Signing, rows, spilled};
use crate::job::member::{Found, Member, Step};
use crate::job::pair::classes::Classes;
use crate::job::products::{Counts, FIRST, Made, Pairs, Portions, RECALL, Rows, SECOND, Stock};
use crate::job::read_back::{Frozen, digest};
use crate::matching::meeting::{Keys, Meeting, Numbered};
use crate::reading::document::View;
use crate::reading::forward::Forward;
use crate::reading::purified_store::KeptPages;
use crate::session::Session;
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::stage::bound::Bound;
use dupsift_algorithms::stage::plan::{Plan, Signs};
use dupsift_algorithms::stage::sift::Sieve;
use dupsift_core::error::{Error, Result};

/// An algorithm with its place in the recipe.
type Placed<'c> = (usize, Member<'c, Step>);

/// One that has done nothing yet.
type Waits<'c> = (usize, Bound<'c>);

/// What is known after the first reading.
pub struct First<'n> {
    /// What was recorded of the rows.
    pub taken: Taken,
    /// The exact copies.
    pub copies: Arc<Classes>,
    /// What was counted, where something was.
    pub counts: Option<Counts>,
    /// The words of all documents, where they were kept.
    pub words: Option<Forward>,
    /// The algorithms that need no counts.
    pub members: Vec<Placed<'n>>,
    /// By what documents meet their copies in an index, where there is one.
    pub copy_keys: Option<Keys>,
}

/// What is known before the first reading.
pub struct Before<'n> {
    /// How documents are seen in it.
    pub view: View<'n>,
    corpus: Corpus<'n>,
    models: &'n [Vec<u64>],
}

impl<'n> Before<'n> {
    /// What came from another run, or nothing: `none` are the statistics of those who need none, and `documents_planned` the size
    /// that table schemes are chosen by then.
    pub fn new(
        session: &'n Session<'n>,
        frozen: Option<&'n Frozen>,
        none: &'n CorpusStats,
        documents_planned: u64,
    ) -> Before<'n> {
        match frozen {
            None => Before { view: View::first(session), corpus: Corpus::new(documents_planned, none), models: &[] },
            Some(Frozen { stats, models, report, .. }) => Before {
                view: View::after_count(session, None, stats),
                corpus: Corpus::new(report.documents_planned, stats),
                models,
            },
        }
    }
}

/// The first reading, with what has to come before it.
pub fn first<'n>(
    session: &Session<'_>,
    plan: &Plan,
    stock: &Stock<'_>,
    before: &Before<'n>,
    joining: Option<&dyn Meeting>,
) -> Result<First<'n>> {
    if let Some(pages) = stock.take::<KeptPages>(|keys| &keys.pages)? {
        session.pages.know(pages);
    }
    let bound = session.options.recipe.bind_where(&before.corpus, before.models, |at| plan.signs_first(at))?;
    let places = (0..plan.signs.len()).filter(|&at| plan.signs_first(at));
    let (mut members, bound) = take_members(session, stock, places.zip(bound).collect())?;

    let mut notes = take_notes(session, stock)?;
    let mut copies = take_copies(session, plan, stock)?;
    let ((mut counts, mut words), mut copy_keys) = (take_counts(plan, stock)?, None);
    let counting = plan.counts.filter(|_| counts.is_none());
    let takes = notes.is_none() || copies.is_none();
    if takes || counting.is_some() || !bound.is_empty() {
        let (places, bound): (Vec<usize>, Vec<Bound<'n>>) = bound.into_iter().unzip();
        let sieve = if plan.sifts_first() { Some(sift::sift(session, &bound, None, &before.view)?) } else { None };
        let counting = counting.map(|counts| Counting::new(session, counts.needs, counts.keeps)).transpose()?;
        let early = copies.as_ref().filter(|_| plan.copies_first);
        let (counts_too, knows_pages) = (counting.is_some(), session.pages.stored().is_some());
        let made =
            Made { notes: takes, copies: copies.is_none(), counts: counts_too, members: places.clone(), knows_pages };
        let (portions, sieve) = (Portions::new(FIRST, made), sieve.as_ref());
        let kept = Some((stock, &portions));
        let read = reading::first(session, &before.view, &bound, takes, counting, early, sieve, joining, kept)?;
        copy_keys = read.copy_keys;
        let due = stock.due() || stock.has_portions(&portions)?;
        if let Some(pages) = session.pages.kept().filter(|_| due) {
            stock.offer(due, |keys| &keys.pages, pages)?;
        }
        if let Some(mut taken) = read.taken {
            if let Some(hashes) = taken.hashes.take() {
                copies = Some(stock.offer(due, |keys| &keys.copies, copies::fold(session, &hashes)?)?);
            }
            notes = Some(stock.offer(due, |keys| &keys.notes, taken)?);
        }
        if let Some(counted) = read.counted {
            (counts, words) = offer_counts(stock, due, counted)?;
        }
        let text_bytes = notes.as_ref().map_or(0, |notes| notes.text_bytes);
        for ((at, bound), rows) in places.into_iter().zip(bound).zip(read.signed) {
            let model = model_of(before.models, at);
            members.push((at, signed(session, stock, due, bound, at, model, (rows, text_bytes, sieve))?));
        }
        if due {
            stock.forget_portions(&portions, 0)?;
        }
    }
    match (notes, copies) {
        (Some(taken), Some(copies)) => Ok(First { taken, copies: Arc::new(copies), counts, words, members, copy_keys }),
        _ => Err(Error::Internal("nothing was noted of the rows".into())),
    }
}

/// What the record says of a model, where there is one.
fn model_of(models: &[Vec<u64>], at: usize) -> Option<String> {
    models.get(at).filter(|model| !model.is_empty()).map(|model| digest(model))
}

/// What was noted of rows, and put down. Scopes are noted from here on, unless they were.
fn take_notes(session: &Session<'_>, stock: &Stock<'_>) -> Result<Option<Taken>> {
    let notes = stock.take::<Taken>(|keys| &keys.notes)?;
    match notes.as_ref().and_then(|notes| notes.scopes.clone()) {
        Some(noted) => session.scopes.know(noted),
        None => session.scopes.begin(session.engine, &session.options.recipe, session.documents())?,
    }
    Ok(notes)
}

/// The exact copies, where they were put down, or where they are to be known before the first reading.
fn take_copies(session: &Session<'_>, plan: &Plan, stock: &Stock<'_>) -> Result<Option<Classes>> {
    let copies = stock.take::<Classes>(|keys| &keys.copies)?;
    // Statistics and models that count each text once have to know the copies before they count.
    if plan.copies_first && copies.is_none() {
        let found = copies::fold(session, &copies::read(session)?)?;
        return stock.offer(stock.due(), |keys| &keys.copies, found).map(Some);
    }
    Ok(copies)
}

/// Statistics that were put down, with the words that are still needed.
fn take_counts(plan: &Plan, stock: &Stock<'_>) -> Result<(Option<Counts>, Option<Forward>)> {
    if plan.counts.is_none() {
        return Ok((None, None));
    }
    let mut asks_words = false;
    for at in (0..plan.signs.len()).filter(|&at| plan.signs[at] == Signs::Kept) {
        let later = stock.has(|keys| &keys.members[at].near)? || stock.has(|keys| &keys.members[at].pairs)?;
        asks_words |= !later && !stock.has(|keys| &keys.members[at].rows)?;
    }
    // Words are of no use without the counts, and are kept again where these are counted again.
    if asks_words && !stock.has(|keys| &keys.words)? {
        return Ok((None, None));
    }
    let Some(counts) = stock.take::<Counts>(|keys| &keys.counts)? else { return Ok((None, None)) };
    let words = if asks_words { stock.take::<Forward>(|keys| &keys.words)? } else { None };
    Ok((Some(counts), words))
}

/// Puts statistics down where that is due, with the words that were kept.
fn offer_counts(stock: &Stock<'_>, due: bool, counted: Counted) -> Result<(Option<Counts>, Option<Forward>)> {
    let Counted { stats, cuts, forward, .. } = counted;
    let counts = stock.offer(due, |keys| &keys.counts, Counts { stats, cuts })?;
    let words = forward.map(|words| stock.offer(due, |keys| &keys.words, words)).transpose()?;
    Ok((Some(counts), words))
}

/// Takes up what was put down of these algorithms; those of which there is nothing come back to sign.
fn take_members<'c>(
    session: &Session<'_>,
    stock: &Stock<'_>,
    bound: Vec<Waits<'c>>,
) -> Result<(Vec<Placed<'c>>, Vec<Waits<'c>>)> {
    let (mut members, mut sign) = (Vec::new(), Vec::new());
    for (at, bound) in bound {
        match take_member(session, stock, &bound, at)? {
            Some((report, now)) => {
                members.push((at, Member::taken_up(bound, &session.options.recipe.algorithms[at], report, now)))
            }
            None => sign.push((at, bound)),
        }
    }
    Ok((members, sign))
}

fn take_member(
    session: &Session<'_>,
    stock: &Stock<'_>,
    bound: &Bound<'_>,
    at: usize,
) -> Result<Option<(crate::job::AlgorithmReport, Step)>> {
    if let Some(Pairs { report, pairs, classes }) = stock.take(|keys| &keys.members[at].near)? {
        return Ok(Some((report, Step::Near(Found { pairs, classes, evidence: None }))));
    }
    let has_pairs = stock.has(|keys| &keys.members[at].pairs)?;
    let relates = bound.relating().is_some();
    let rows = if has_pairs && !relates { None } else { stock.take::<Rows>(|keys| &keys.members[at].rows)? };
    let Some(rows) = rows else {
        let pairs = if relates { None } else { stock.take::<Pairs>(|keys| &keys.members[at].pairs)? };
        return Ok(pairs
            .map(|Pairs { report, pairs, classes }| (report, Step::Found(Found { pairs, classes, evidence: None }))));
    };
    if let Some(Pairs { report, pairs, classes }) = stock.take(|keys| &keys.members[at].pairs)? {
        return Ok(Some((report, Step::Found(Found { pairs, classes, evidence: rows.evidence }))));
    }
    let layout = bound.layout(session.documents());
    let Rows { report, rows, evidence, sketches } = rows;
    let rows = SignedRows { layout, rows, tally: Default::default(), evidence, sketches, keys: None };
    Ok(Some((report, Step::Rows(rows))))
}

/// An algorithm that has signed; its rows are put down where that is due.
fn signed<'c>(
    session: &Session<'_>,
    stock: &Stock<'_>,
    due: bool,
    bound: Bound<'c>,
    at: usize,
    model: Option<String>,
    (rows, text_bytes, sieve): (SignedRows, u64, Option<&Sieve>),
) -> Result<Member<'c, Step>> {
    let mut member = Member::signed(bound, &session.options.recipe.algorithms[at], rows, text_bytes);
    member.report.model = model;
    member.sifted(at, sieve);
    member.then(|_, signed, report| {
        let SignedRows { layout, rows, tally, evidence, sketches, keys } = signed;
        let rows = Rows { report: report.clone(), rows, evidence, sketches };
        let Rows { rows, evidence, sketches, .. } = stock.offer(due, |keys| &keys.members[at].rows, rows)?;
        Ok(Step::Rows(SignedRows { layout, rows, tally, evidence, sketches, keys }))
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
    /// The size that table schemes are chosen by.
    pub documents_planned: u64,
    /// How documents are numbered in an index, where there is one.
    pub numbered: Option<Numbered>,
}

/// Signs with the algorithms that had to wait: from the words that were kept, or in another reading. All algorithms come
/// back, in the order of the recipe.
pub fn sign<'c>(
    session: &Session<'_>,
    plan: &Plan,
    stock: &Stock<'_>,
    first: Vec<Placed<'c>>,
    waiting: Waiting<'c>,
) -> Result<Vec<Member<'c, Step>>> {
    let Waiting { view, stats, copies, words, models, text_bytes, documents_planned, numbered } = waiting;
    let corpus = Corpus::new(documents_planned, stats);
    let bound = session.options.recipe.bind_where(&corpus, models, |at| !plan.signs_first(at))?;
    let places = (0..plan.signs.len()).filter(|&at| !plan.signs_first(at));
    let (mut members, bound) = take_members(session, stock, places.zip(bound).collect())?;
    members.extend(first);
    if !bound.is_empty() {
        let (places, bound): (Vec<usize>, Vec<Bound<'c>>) = bound.into_iter().unzip();
        let view = view.with_copies(Some(copies));
        let sieve = if plan.sifts { Some(sift::sift(session, &bound, Some(copies), &view)?) } else { None };
        let knows_pages = session.pages.stored().is_some();
        let made = Made { members: places.clone(), knows_pages, ..Made::default() };
        let portions = Portions::new(if words.is_some() { RECALL } else { SECOND }, made);
        let again = Again { view: &view, stats, copies, words, numbered, kept: (stock, &portions) };
        let rows = sign_again(session, &bound, sieve.as_ref(), again)?;
        let due = stock.due();
        for ((at, bound), rows) in places.into_iter().zip(bound).zip(rows) {
            let model = model_of(models, at);
            members.push((at, signed(session, stock, due, bound, at, model, (rows, text_bytes, sieve.as_ref()))?));
        }
        if due {
            stock.forget(|keys| &keys.words)?;
            stock.forget_portions(&portions, 0)?;
        }
    }
    members.sort_by_key(|(at, _)| *at);
    Ok(members.into_iter().map(|(_, member)| member).collect())
}

/// What those sign by who wait for the first reading, when it is their turn.
struct Again<'a> {
    view: &'a View<'a>,
    stats: &'a CorpusStats,
    copies: &'a Classes,
    words: Option<Forward>,
    numbered: Option<Numbered>,
    kept: (&'a Stock<'a>, &'a Portions),
}

fn sign_again(
    session: &Session<'_>,
    bound: &[Bound<'_>],
    sieve: Option<&Sieve>,
    again: Again<'_>,
) -> Result<Vec<SignedRows>> {
    let Again { view, stats, copies, words, numbered, kept } = again;
    let running = session.engine.clock.stage(if words.is_some() { "recall kept words" } else { "sign" });
    let signing = Signing::new(session, bound, Some(copies), sieve, numbered)?;
    let portions = Some(kept).filter(|_| numbered.is_none());
    let tallies = match words {
        Some(words) => {
            // A run that goes on needs the words themselves.
            let portions = if kept.0.has(|keys| &keys.words)? { portions } else { None };
            recall::sign(&words, session.engine, view, stats, &signing, portions)?
        }
        None => {
            let asked = Asked { signing: Some(&signing), copies: Some(copies), portions, ..Asked::default() };
            reading::read(session, "sign", view, asked)?.into_iter().filter_map(|share| share.signed).collect()
        }
    };
    let signed = signing.finish(tallies)?;
    running.end(session.documents(), rows(&signed), spilled(&signed));
    Ok(signed)
}
