//! Another threshold without another run: which documents go by the pairs that reach it.
//!
//! The rules are those of the run: the same order of preference, the same survivor rule, over the pairs that its tables have. What
//! the run did not write it cannot say, so a threshold can only rise; and where a document goes for a kept one only if it is contained
//! there, that has to be known of each pair that is asked about: of pairs that the run did not look at it is not, and then there is
//! no answer. The margin and the forms are those of the run. Pairs are held in memory, about 64 bytes each.
//!
//! ```text
//! pairs of each algorithm --threshold--> links of classes of copies --decide--> removals
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::finished::Finished;
use dupsift_algorithms::measure::{Contained, Part};
use dupsift_algorithms::stage::connect::Forest;
use dupsift_algorithms::stage::note;
use dupsift_algorithms::stage::survive::Relation;
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_core::number::counted;
use dupsift_core::row::Slots;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::job::read::keep::{KeepOrder, KeepRecorder};
use dupsift_engine::job::run_report::AlgorithmReport;
use dupsift_engine::job::write::decide::{Deciding, decide_by};
use dupsift_engine::job::write::removals;
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::again::work_again;
use dupsift_engine::reading::document::View;
use dupsift_engine::session::Session;
use dupsift_files::io::{RowFilter, Want};
use dupsift_spill::shuffle::AtomicBits;

/// Shares stand in the tables with 32 bits: to so many parts a bound such as .7 is what it was.
const PARTS: f64 = 1e6;

/// What stays by other thresholds.
#[derive(Clone, Debug, Default)]
pub struct Survivors {
    /// Rows of the corpus.
    pub rows: u64,
    /// The documents that go, in their order, each with the kept one that it goes for.
    pub removed: Vec<(u64, u64)>,
}

/// Decides again, by pairs of at least these similarities, each of an algorithm by its label. The options are those of the record, with
/// what was asked for now.
///
/// # Errors
/// [`Error::Usage`] for a label that the run does not have, a threshold below what it knows, and where its tables do not say enough; a
/// corpus that is gone; a request to stop.
pub fn rethreshold(
    finished: &Finished,
    options: &RunOptions,
    thresholds: &[(String, f64)],
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<Survivors> {
    check_resources(options)?;
    let report = &finished.report;
    let Some(removal) = &report.removal else {
        return Err(Error::usage(
            "a comparison removes nothing, so that no threshold changes what stays; expected the output of a run",
        ));
    };
    let labels: Vec<&str> = report.algorithms.iter().map(|one| one.label.as_str()).collect();
    if let Some((unknown, _)) = thresholds.iter().find(|(label, _)| !labels.contains(&label.as_str())) {
        let hint = did_you_mean(unknown, labels.iter().copied());
        let names = labels.join(", ");
        return Err(Error::usage(format!("{unknown:?} is no algorithm of this run{hint}; they are: {names}")));
    }
    let deciding = Deciding::new(&options.decide, &labels);
    let mut known = Vec::new();
    for &at in &deciding.chosen {
        let one = &report.algorithms[at];
        let threshold = thresholds.iter().find(|(label, _)| *label == one.label).map(|(_, threshold)| *threshold);
        known.push(Links::read(finished, one, threshold, options)?);
    }
    finished.is_of_its_corpus()?;
    let inputs = finished.corpus(options, cancel)?;
    work_again(options, &inputs.source, progress, cancel, |session| {
        finished.check_contents(session)?;
        let shown = Arc::new(AtomicBits::new(session.engine.dir, "shown", session.documents() as usize)?);
        for links in &known {
            links.links.iter().for_each(|link| _ = shown.set(link.doc as usize));
            links.copies.iter().flatten().for_each(|&doc| _ = shown.set(doc as usize));
        }
        let keep = order(session, &shown, &removal.keep_columns)?;
        let look = |doc, kept| look(&known, doc, kept);
        let decided = decide_by(session, &deciding, || Ok(known.iter().collect()), (&keep, |_| None), &shown, look)?;
        let mut survivors = Survivors { rows: session.documents(), removed: Vec::new() };
        removals::each(&decided, session.engine.budget.a_thread, |doc, kept| Ok(survivors.removed.push((doc, kept))))?;
        Ok(survivors)
    })
}

/// The order of preference of the documents in question, whose lengths and other columns are read for it. Columns compare as in the run.
fn order(session: &Session<'_>, shown: &Arc<AtomicBits>, compared_as: &BTreeMap<String, String>) -> Result<KeepOrder> {
    let running = session.engine.clock.stage("read lengths");
    let (recorder, view, bits) = (KeepRecorder::new(session)?, View::first(session), shown.clone());
    let rows = RowFilter::Where(Arc::new(move |doc| bits.get(doc as usize)));
    let want = KeepRecorder::want(session, Want { rows: Some(rows), ..view.want() });
    session.read(
        "read lengths",
        &want,
        || Ok(Vec::new()),
        |lengths, batch| {
            let columns = view.columns(batch)?;
            lengths.clear();
            for row in 0..batch.len() {
                session.engine.go_on()?;
                let length = |text| note::length(&view.document(batch.doc(row), text, &columns, row));
                lengths.push(batch.text(row).text().map_or(0, length));
            }
            recorder.record(batch, lengths)
        },
        |_| Ok(()),
    )?;
    running.end(shown.count(), shown.count(), 0);
    recorder.finish_as(compared_as)
}

/// How much of a document stands in a kept one, and the other way round; none for copies.
fn look(known: &[Links], doc: u64, kept: u64) -> Result<Option<[Contained; 2]>> {
    let mut are_copies = false;
    for links in known {
        let (a, b) = (links.class(doc), links.class(kept));
        are_copies |= a == b;
        if let Some([of_it, of_kept]) = links.between(a, b).and_then(|link| Some([link.shares[0]?, link.shares[1]?])) {
            return Ok(Some([of_it, of_kept].map(as_parts)));
        }
    }
    if are_copies {
        return Ok(None);
    }
    Err(Error::usage(format!(
        "the run did not look at how much of document {doc} stands in document {kept}, which now stays; expected `remove-if=pair`, or another run with \
         that threshold"
    )))
}

fn as_parts([grams, numbers]: [f32; 2]) -> Contained {
    let part = |share: f32| Part { common: (f64::from(share) * PARTS).round() as u64, all: PARTS as u64 };
    Contained { grams: part(grams), numbers: part(numbers), facts: part(numbers) }
}

/// The pairs of one algorithm that reach the threshold, as links of classes of copies.
struct Links {
    /// Classes of two documents or more, each in order, the first one its name; in order of these.
    copies: Vec<Vec<u64>>,
    /// Each document of them with the first of its class; in order.
    class: Vec<(u64, u64)>,
    /// In both directions, in order of (doc, other).
    links: Vec<Link>,
}

struct Link {
    doc: u64,
    other: u64,
    similarity: f32,
    /// Of 3-grams and numbers: of `doc` in `other`, and the other way round.
    shares: [Option<[f32; 2]>; 2],
}

impl Links {
    fn read(finished: &Finished, one: &AlgorithmReport, threshold: Option<f64>, options: &RunOptions) -> Result<Links> {
        let (label, max_group) = (&one.label, options.max_group);
        let any_title = options.remove_if.bounds().is_none();
        let (mut links, mut first, mut lowest) =
            (Links { copies: Vec::new(), class: Vec::new(), links: Vec::new() }, Vec::new(), f32::INFINITY);
        for pair in finished.pairs_weighed(label)? {
            let pair = pair?;
            lowest = lowest.min(pair.similarity);
            let [a, b] = pair.docs;
            if pair.copy {
                first.push((a, b));
            } else if (any_title || !pair.other_title)
                && threshold.is_none_or(|threshold| pair.similarity >= threshold as f32)
            {
                let (similarity, [of_a, of_b]) = (pair.similarity, pair.shares);
                links.links.push(Link { doc: a, other: b, similarity, shares: [of_a, of_b] });
                links.links.push(Link { doc: b, other: a, similarity, shares: [of_b, of_a] });
            }
        }
        if let Some(threshold) = threshold {
            check(one, threshold, lowest)?;
        }
        links.classes(&first);
        if one.pairs_written < one.pairs && one.large_groups > 0 {
            let missing = one.pairs - one.pairs_written;
            return Err(Error::usage(format!(
                "{} of {label} not written, of groups above `max-group={max_group}`; expected a run with a larger one",
                counted(missing, "pair")
            )));
        }
        let class = |doc| links.class(doc);
        let named = links.links.iter().map(|link| [class(link.doc), class(link.other)]).collect::<Vec<_>>();
        links.links.iter_mut().zip(named).for_each(|(link, [doc, other])| (link.doc, link.other) = (doc, other));
        links.links.sort_by_key(|link| (link.doc, link.other, link.shares[0].is_none()));
        links.links.dedup_by_key(|link| (link.doc, link.other));
        Ok(links)
    }

    /// From pairs of copies, which connect each class.
    fn classes(&mut self, pairs: &[(u64, u64)]) {
        let mut docs: Vec<u64> = pairs.iter().flat_map(|&(a, b)| [a, b]).collect();
        docs.sort_unstable();
        docs.dedup();
        let mut parents = vec![0; docs.len()];
        let mut forest = Forest::new(Slots::Wide(&mut parents));
        let place = |doc: &u64| docs.partition_point(|other| other < doc) as u64;
        pairs.iter().for_each(|(a, b)| forest.union(place(a), place(b)));
        let mut members: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (at, &doc) in docs.iter().enumerate() {
            members.entry(forest.root(at as u64)).or_default().push(doc);
        }
        self.copies = members.into_values().collect();
        self.class = self.copies.iter().flat_map(|class| class.iter().map(|&doc| (doc, class[0]))).collect();
        self.class.sort_unstable();
    }

    fn class(&self, doc: u64) -> u64 {
        let at = self.class.binary_search_by_key(&doc, |(doc, _)| *doc);
        at.map_or(doc, |at| self.class[at].1)
    }

    fn between(&self, doc: u64, other: u64) -> Option<&Link> {
        let at = self.links.binary_search_by_key(&(doc, other), |link| (link.doc, link.other));
        at.ok().and_then(|at| self.links.get(at))
    }
}

impl Relation for &Links {
    fn class(&self, doc: u64) -> u64 {
        Links::class(self, doc)
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        let from = self.links.partition_point(|link| link.doc < class);
        let links = self.links[from..].iter().take_while(|link| link.doc == class);
        links.for_each(|link| each(link.other, link.similarity));
    }

    fn equal(&self) -> f32 {
        1.0
    }
}

/// Checks that the run knows all pairs of at least that similarity.
fn check(one: &AlgorithmReport, threshold: f64, lowest: f32) -> Result<()> {
    let checked =
        one.verify.as_deref().and_then(|verify| verify.split(' ').next()?.rsplit_once(':')?.1.parse::<f64>().ok());
    let least = checked.unwrap_or(if lowest.is_finite() { f64::from(lowest) } else { 0.0 });
    if (least..=1.0).contains(&threshold) || (checked.is_none() && threshold as f32 == lowest) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{}={threshold}: the run knows the pairs of a similarity from {least:.3} to 1, so a threshold can only rise; expected a number \
         between the two",
        one.label
    )))
}
