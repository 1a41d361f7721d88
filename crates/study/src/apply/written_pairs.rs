//! Reads the pairs of a finished run as relations. `apply` uses them to decide which documents are kept, according to the rule of the run
//! or a different rule.
//!
//! Only the pairs that the run wrote are known, so a threshold can only be raised. If a rule requires the kept document to contain the
//! removed document, the containment must be known for each relevant pair; it is unknown for pairs that the run did not compare. The margin
//! and the templates are the same as in the run. Pairs are held in memory and take up about 64 bytes each.

use std::collections::BTreeMap;

use crate::finished::Finished;
use dupsift_algorithms::measure::{Contained, Part};
use dupsift_algorithms::steps::connect::Forest;
use dupsift_algorithms::steps::survive::Relation;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::counted_as;
use dupsift_core::row::Slots;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::run_report::AlgorithmReport;
use dupsift_engine::options::RunOptions;
use dupsift_spill::shuffle::AtomicBits;

/// Shares are rounded to multiples of 1 divided by this number. Tables store shares as 32-bit floats; rounding restores a bound such as
/// 0.7.
const PARTS: f64 = 1e6;

/// Returns the documents that are in at least one pair.
///
/// # Errors
/// Returns an error if the disk is full.
pub(crate) fn shown(engine: &Engine<'_>, documents: u64, known: &[Links]) -> Result<AtomicBits> {
    let shown = AtomicBits::new(engine.dir, "shown", documents as usize)?;
    for links in known {
        links.links.iter().for_each(|link| _ = shown.set(link.doc as usize));
        links.copies.iter().flatten().for_each(|&doc| _ = shown.set(doc as usize));
    }
    Ok(shown)
}

/// Returns the containment of `doc` in `kept`, and of `kept` in `doc`; `Some(None)` if they are copies. Returns `None` if the run did not
/// compare the two documents.
pub(crate) fn look(known: &[Links], doc: u64, kept: u64) -> Option<Option<[Contained; 2]>> {
    let mut are_copies = false;
    for links in known {
        let (a, b) = (links.class(doc), links.class(kept));
        are_copies |= a == b;
        if let Some([of_it, of_kept]) = links.between(a, b).and_then(|link| Some([link.shares[0]?, link.shares[1]?])) {
            return Some(Some([of_it, of_kept].map(as_parts)));
        }
    }
    are_copies.then_some(None)
}

fn as_parts([grams, numbers]: [f32; 2]) -> Contained {
    let part = |share: f32| Part { common: (f64::from(share) * PARTS).round() as u64, all: PARTS as u64 };
    Contained { grams: part(grams), numbers: part(numbers), facts: part(numbers) }
}

/// Holds the pairs of one algorithm that reach the threshold, as links between classes of copies.
pub(crate) struct Links {
    /// The classes of at least two documents. Documents are in order within a class, and classes are sorted by their first document.
    copies: Vec<Vec<u64>>,
    /// Pairs (document, first document in its class), in order.
    class: Vec<(u64, u64)>,
    /// The links in both directions, sorted by (doc, other).
    links: Vec<Link>,
}

struct Link {
    doc: u64,
    other: u64,
    similarity: f32,
    /// The share of `doc`'s 3-grams and the share of its numbers that are in `other`; then the same shares of `other` in `doc`.
    shares: [Option<[f32; 2]>; 2],
}

impl Links {
    /// Reads the pairs of an algorithm that reach a threshold, or all pairs if there is no threshold.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the threshold is lower than in the run, or an error if a table cannot be read.
    pub(crate) fn read(
        finished: &Finished,
        one: &AlgorithmReport,
        threshold: Option<f64>,
        options: &RunOptions,
    ) -> Result<Links> {
        let any_title = options.removal.remove_if.bounds().is_none();
        let (mut links, mut first, mut lowest) =
            (Links { copies: Vec::new(), class: Vec::new(), links: Vec::new() }, Vec::new(), f32::INFINITY);
        for pair in finished.listed_pairs(&one.label)? {
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
        let class = |doc| links.class(doc);
        let named = links.links.iter().map(|link| [class(link.doc), class(link.other)]).collect::<Vec<_>>();
        links.links.iter_mut().zip(named).for_each(|(link, [doc, other])| (link.doc, link.other) = (doc, other));
        links.links.sort_by_key(|link| (link.doc, link.other, link.shares[0].is_none()));
        links.links.dedup_by_key(|link| (link.doc, link.other));
        Ok(links)
    }

    /// Builds the classes from pairs of copies. The documents of a class are connected by these pairs.
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

/// Checks that the run wrote all pairs of an algorithm.
///
/// # Errors
/// Returns [`Error::Usage`] if a group was too large for all of its pairs to be written.
pub(crate) fn check_all_written(one: &AlgorithmReport, max_group: u64) -> Result<()> {
    if one.pairs_written >= one.pairs || one.large_groups == 0 {
        return Ok(());
    }
    let (missing, label) = (one.pairs - one.pairs_written, &one.label);
    Err(Error::usage(format!(
        "because of groups larger than `max-group={max_group}`, {} not written for {label}; run again with a larger value",
        counted_as(missing, "pair was|pairs were")
    )))
}

/// Checks that the run wrote all pairs with at least this similarity.
fn check(one: &AlgorithmReport, threshold: f64, lowest: f32) -> Result<()> {
    let checked =
        one.verify.as_deref().and_then(|verify| verify.split(' ').next()?.rsplit_once(':')?.1.parse::<f64>().ok());
    let least = checked.unwrap_or(if lowest.is_finite() { f64::from(lowest) } else { 0.0 });
    if (least..=1.0).contains(&threshold) || (checked.is_none() && threshold as f32 == lowest) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{}={threshold}: the run contains only pairs with a similarity from {least:.3} to 1, so the threshold can only be raised; expected a number in this range",
        one.label
    )))
}
