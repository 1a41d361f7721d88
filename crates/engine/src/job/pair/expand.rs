//! Expands classes and pairs of representatives to ordered pairs of documents.
//!
//! Pairs of two unique documents are already in order and remain in the list that grouping produced. This module lists and sorts only the
//! pairs that classes represent. The two lists are merged when the pairs are read. Documents with the same text form a star, in which
//! each copy is paired with the best document.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::iter::Peekable;

use super::across::Across;
use super::contents::Alike;
use super::group::Relation;
use crate::classes::Classes;
use crate::engine::threads::{Engine, UNKNOWN};
use crate::job::read::keep::KeepOrder;
use crate::job::run_report::AlgorithmReport;
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::expand::{Texts, between, equal_texts, of_both, of_class, within};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{Docs, Pair, PairLayout};
use dupsift_spill::shuffle::{AtomicBits, Sorted, Writer};

/// Holds the document pairs of one algorithm.
pub(crate) struct DocumentPairs {
    /// The pairs that classes represent. All other pairs are in the relation.
    listed: Sorted,
    layout: PairLayout,
    /// The number of pairs, including pairs that are not written.
    total: u64,
    /// The number of pairs without an indexed document; `None` if the run uses no index.
    of_batch: Option<u64>,
    /// The number of pairs whose documents share a template.
    templates: u64,
    /// The number of classes for which only pairs with the best document are written.
    large_groups: u64,
}

impl DocumentPairs {
    /// Adds the pair counts to the report of the algorithm.
    pub(crate) fn note(&self, report: &mut AlgorithmReport) {
        (report.pairs, report.pairs_of_batch) = (self.total, self.of_batch);
        (report.templates, report.large_groups) = (self.templates, self.large_groups);
    }

    /// Returns the number of parts in which the pairs can be read.
    pub(crate) fn parts(&self) -> usize {
        self.listed.partitions()
    }

    /// Calls `each` with the pairs of one part, in order, and removes the part. `relation` is the relation that was expanded.
    ///
    /// # Errors
    /// Returns an error if the disk cannot be read, and any error from `each`.
    pub(crate) fn each_of(
        &self,
        engine: &Engine<'_>,
        relation: &Relation,
        part: usize,
        mut each: impl FnMut(Pair) -> Result<()>,
    ) -> Result<()> {
        let records = match self.listed.rows_of(part) {
            0 => None,
            _ => Some(self.listed.load(part, engine.budget.a_thread)?),
        };
        let bytes = records.as_ref().map_or(&[][..], |records| records.bytes());
        let mut listed = bytes.chunks_exact(self.layout.width()).map(|bytes| self.layout.decode(bytes)).peekable();
        relation.pairs.each_of(part, |pair| {
            if stays(relation, &pair) {
                before(&mut listed, &pair, &mut each)?;
                each(pair)?;
            }
            Ok(())
        })?;
        listed.try_for_each(&mut each)?;
        self.listed.remove(part)
    }
}

/// Holds the data needed to expand pairs.
struct Expanding<'e> {
    bound: &'e Bound<'e>,
    relation: &'e Relation,
    alike: &'e Alike,
    keep: &'e KeepOrder,
    shown: &'e AtomicBits,
    layout: PairLayout,
    max_group: u64,
    session: &'e Session<'e>,
}

/// The distinct texts of a class, grouped by exact copies.
type TextsOf<'t, B> = Texts<'t, Classes, B>;

/// Caches the best document of each large group, because it is looked up for many pairs. The number of entries is limited so that memory
/// does not grow.
#[derive(Default)]
struct Centres {
    /// The best document of each group, keyed by the group's first document and size.
    best: RefCell<HashMap<(u64, usize), u64>>,
    /// The second document of each group, which is the best document outside the scope of the group's best document; keyed by the best
    /// document and the group's size.
    seconds: RefCell<HashMap<(u64, usize), Option<u64>>>,
}

impl Centres {
    /// The minimum number of documents in a cached group.
    const LARGE: usize = 64;
    const MOST: usize = 1 << 12;

    /// Returns the best document whose scope differs from the scope of `best`.
    fn second(&self, across: &Across, best: u64, members: Docs<'_>, keep: &KeepOrder) -> Option<u64> {
        let find = || across.second(best, members, |a, b| keep.better(a, b));
        if members.len() < Centres::LARGE {
            return find();
        }
        let (mut known, key) = (self.seconds.borrow_mut(), (best, members.len()));
        if let Some(&second) = known.get(&key) {
            return second;
        }
        if known.len() >= Centres::MOST {
            known.clear();
        }
        let second = find();
        known.insert(key, second);
        second
    }

    /// Returns the best of these documents. A group is identified by its first document and its size.
    fn of(&self, members: Docs<'_>, keep: &KeepOrder) -> u64 {
        if members.len() < Centres::LARGE {
            return keep.best(members);
        }
        let (mut known, key) = (self.best.borrow_mut(), (members.get(0), members.len()));
        if let Some(&best) = known.get(&key) {
            return best;
        }
        if known.len() >= Centres::MOST {
            known.clear();
        }
        let best = keep.best(members);
        known.insert(key, best);
        best
    }
}

/// Holds the pairs that one thread expanded.
struct Expanded<'s> {
    writer: Writer<'s>,
    record: Vec<u8>,
    total: u64,
    of_batch: u64,
    templates: u64,
    large_groups: u64,
}

impl Expanded<'_> {
    fn count(&mut self, [all, of_batch]: [u64; 2]) {
        self.total += all;
        self.of_batch += of_batch;
    }
}

impl Expanding<'_> {
    /// Expands the pairs within one class.
    fn class(&self, class: Docs<'_>, centres: &Centres, to: &mut Expanded<'_>) -> Result<()> {
        if self.old(class) == class.len() as u64 {
            return Ok(());
        }
        let texts = self.texts(class, centres);
        if let Some(across) = &self.relation.across {
            return if across.are_several(&self.relation.classes, class.get(0)) {
                self.class_across(across, (class, &texts), centres, to)
            } else {
                Ok(())
            };
        }
        equal_texts(&texts, |best, doc| self.pair_of_class(best, doc, to).map(|found| to.count(found)))?;
        let count = texts.count();
        if count <= self.max_group {
            return within(&texts, self.max_group, |a, b| self.pair_of_class(a, b, to).map(|found| to.count(found)));
        }
        // Only some of the pairs are written, but all pairs are counted.
        within(&texts, self.max_group, |a, b| self.pair_of_class(a, b, to).map(|_| ()))?;
        to.large_groups += 1;
        let old = self.old_texts(&texts)?;
        let pairs_of = |count: u64| count * count.saturating_sub(1) / 2;
        to.count([pairs_of(count) - pairs_of(old), pairs_of(count - old)]);
        Ok(())
    }

    /// Expands the pairs across scopes within one class that spans several scopes. Works like [`Expanding::class`], but a document in the
    /// same scope as the best document is paired with the best document in a different scope. Only pairs that are written are counted.
    fn class_across(
        &self,
        across: &Across,
        (class, texts): (Docs<'_>, &TextsOf<'_, impl Fn(Docs<'_>) -> u64>),
        centres: &Centres,
        to: &mut Expanded<'_>,
    ) -> Result<()> {
        let star = |best: u64, second: Option<u64>, doc: u64, to: &mut Expanded<'_>| {
            let centre = if across.differ(best, doc) { Some(best) } else { second };
            let found = centre.filter(|&centre| centre != doc).map(|centre| self.pair_of_class(centre, doc, to));
            found.transpose().map(|found| to.count(found.unwrap_or_default()))
        };
        texts.each(|best, members| {
            let second = centres.second(across, best, members, self.keep);
            members.iter().filter(|&doc| doc != best).try_for_each(|doc| star(best, second, doc, to))
        })?;
        if texts.count() > self.max_group {
            to.large_groups += 1;
            let best = centres.of(class, self.keep);
            let second = centres.second(across, best, class, self.keep);
            let copies = self.alike.copies();
            // If `second` is the best document of its text, the loop below also visits that text.
            let comes_up = second.is_some_and(|second| {
                copies.is_alone(second) || centres.of(copies.members(second), self.keep) == second
            });
            texts.each(|text, _| {
                let centre = if across.differ(best, text) { Some(best) } else { second };
                let is_known = |doc: u64| copies.representative(doc) == copies.representative(text);
                match centre.is_none_or(is_known) || text == best && comes_up {
                    true => Ok(()),
                    false => star(best, second, text, to),
                }
            })?;
        } else {
            within(texts, self.max_group, |a, b| {
                self.both_across(across, centres, [a, b], &mut |x, y| {
                    self.pair_of_class(x, y, to).map(|found| to.count(found))
                })
            })?;
        }
        class.iter().for_each(|doc| _ = self.shown.set(doc as usize));
        Ok(())
    }

    /// Calls `each` with the pairs that two texts form across scopes. Each text is identified by its best document. If the two best
    /// documents have the same scope, each is paired with the other text's best copy in a different scope.
    fn both_across(
        &self,
        across: &Across,
        centres: &Centres,
        [a, b]: [u64; 2],
        each: &mut dyn FnMut(u64, u64) -> Result<()>,
    ) -> Result<()> {
        if across.differ(a, b) {
            return each(a, b);
        }
        let second = |best: u64| centres.second(across, best, self.alike.copies().members(best), self.keep);
        second(b).map_or(Ok(()), |b| each(a, b))?;
        second(a).map_or(Ok(()), |a| each(a, b))
    }

    /// Writes a pair within a class. Returns two counts, each 0 or 1: the number of pairs that belong to this run, and the number of pairs
    /// without an indexed document.
    fn pair_of_class(&self, a: u64, b: u64, to: &mut Expanded<'_>) -> Result<[u64; 2]> {
        if self.session.are_old(a, b) {
            return Ok([0, 0]);
        }
        let are_copies = |pair: &Pair| self.alike.note(pair);
        let pair = of_class(&self.bound.scheme, self.relation.same, a, b, are_copies);
        self.push((&mut to.writer, &mut to.record), &pair)?;
        Ok([1, u64::from(pair.a >= self.session.base)])
    }

    /// Returns the distinct texts of a class.
    fn texts<'t>(&'t self, class: Docs<'t>, centres: &'t Centres) -> TextsOf<'t, impl Fn(Docs<'_>) -> u64 + 't> {
        Texts::new(class, self.alike.copies(), |members: Docs<'_>| centres.of(members, self.keep))
    }

    /// Returns the number of indexed documents in a class.
    fn old(&self, class: Docs<'_>) -> u64 {
        if self.session.base == 0 { 0 } else { class.iter().take_while(|&doc| doc < self.session.base).count() as u64 }
    }

    /// Returns the number of texts whose best document is indexed.
    fn old_texts(&self, texts: &TextsOf<'_, impl Fn(Docs<'_>) -> u64>) -> Result<u64> {
        let mut old = 0;
        if self.session.base > 0 {
            texts.each(|best, _| Ok::<_, Error>(old += u64::from(best < self.session.base)))?;
        }
        Ok(old)
    }

    /// Expands a pair of representatives. If both documents are unique, the pair remains in its list.
    fn pair(&self, pair: &Pair, centres: &Centres, to: &mut Expanded<'_>) -> Result<()> {
        self.alike.note(pair);
        let mut found = [0, 0];
        if stays(self.relation, pair) {
            self.show(pair);
            found = [1, u64::from(pair.a >= self.session.base)];
        } else {
            let [a, b] = [pair.a, pair.b].map(|doc| self.relation.members(doc));
            let (a, b) = (self.texts(a, centres), self.texts(b, centres));
            if let Some(across) = &self.relation.across {
                let found = self.pair_across(across, pair, [&a, &b], centres, to)?;
                to.count([found, 0]);
                to.templates += if pair.is_template() { found } else { 0 };
                return Ok(());
            }
            between(&a, &b, self.max_group, |x, y| {
                if self.session.are_old(x, y) {
                    return Ok(());
                }
                found = [found[0] + 1, found[1] + u64::from(x.min(y) >= self.session.base)];
                let pair = of_both(&self.bound.scheme, pair, x, y);
                // Indexed documents in the same class do not form a pair in this run, so the expansion of the class has not recorded them.
                if self.session.base > 0 {
                    self.alike.note(&pair);
                }
                self.push((&mut to.writer, &mut to.record), &pair)
            })?;
            let counts = [a.count(), b.count()];
            if counts.iter().any(|&count| count > self.max_group) {
                let old = [self.old_texts(&a)?, self.old_texts(&b)?];
                found[0] = counts[0] * counts[1] - old[0] * old[1];
                found[1] = (counts[0] - old[0]) * (counts[1] - old[1]);
            }
        }
        to.count(found);
        to.templates += if pair.is_template() { found[0] } else { 0 };
        Ok(())
    }

    /// Expands a pair of classes across scopes, and returns the number of pairs that were written. All documents of both classes are marked
    /// as shown in a pair, even if the table contains only a copy of a document.
    fn pair_across(
        &self,
        across: &Across,
        pair: &Pair,
        texts: [&TextsOf<'_, impl Fn(Docs<'_>) -> u64>; 2],
        centres: &Centres,
        to: &mut Expanded<'_>,
    ) -> Result<u64> {
        let classes = [pair.a, pair.b].map(|doc| self.relation.members(doc));
        let [a, b] = [0, 1].map(|at| {
            let mut listed = texts[at].listed(self.max_group);
            if let ([best], 2..) = (&listed[..], texts[at].count()) {
                listed.extend(centres.second(across, *best, classes[at], self.keep));
            }
            listed
        });
        let is_large = texts.iter().any(|texts| texts.count() > self.max_group);
        let (mut found, mut known) = (0, HashSet::new());
        for (x, y) in a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))) {
            self.both_across(across, centres, [x, y], &mut |x, y| {
                // A class and one of its texts may have the same best document in a different scope.
                if is_large && !known.insert((x, y)) {
                    return Ok(());
                }
                found += 1;
                let pair = of_both(&self.bound.scheme, pair, x, y);
                self.alike.note(&pair);
                self.push((&mut to.writer, &mut to.record), &pair)
            })?;
        }
        if !pair.is_template() {
            for class in classes {
                // The last document of a class is marked last, so its mark shows whether the whole class has been marked.
                if !self.shown.get(class.get(class.len() - 1) as usize) || class.len() < Centres::LARGE {
                    class.iter().for_each(|doc| _ = self.shown.set(doc as usize));
                }
            }
        }
        Ok(found)
    }

    fn push(&self, (writer, record): (&mut Writer<'_>, &mut Vec<u8>), pair: &Pair) -> Result<()> {
        self.show(pair);
        record.clear();
        self.layout.encode(pair, record);
        writer.push(record)
    }

    fn show(&self, pair: &Pair) {
        self.shown.set(pair.a as usize);
        self.shown.set(pair.b as usize);
    }
}

/// Expands one relation. Records all documents in pairs in `shown`, and all documents in pairs that are not exact copies in `alike`.
pub(crate) fn expand(
    session: &Session<'_>,
    bound: &Bound<'_>,
    relation: &Relation,
    alike: &Alike,
    keep: &KeepOrder,
    shown: &AtomicBits,
) -> Result<DocumentPairs> {
    let running = session.engine.clock.stage(format!("expand {}", relation.label));
    let layout = relation.pairs.layout();
    let expanding = Expanding {
        bound,
        relation,
        alike,
        keep,
        shown,
        layout,
        max_group: session.options.duplicates.max_group,
        session,
    };
    let name = format!("{}-documents", relation.label);
    let out = session.engine.ordered(
        session.documents(),
        &name,
        layout.width(),
        layout.group_width(),
        layout.group_width() / 2,
        UNKNOWN,
    )?;
    let pieces = relation.pairs.parts();
    let begin = |piece: usize| (session.documents() as u128 * piece as u128 / pieces as u128) as u64;
    let bar = session.engine.bar(&format!("expand {}", relation.label), pieces);
    let counts = session.engine.work(
        pieces,
        || {
            let (writer, record) = (out.writer(), Vec::new());
            Ok((Expanded { writer, record, total: 0, of_batch: 0, templates: 0, large_groups: 0 }, Centres::default()))
        },
        |(expanded, centres), piece| {
            for class in relation.classes(begin(piece)..begin(piece + 1)) {
                session.engine.go_on()?;
                expanding.class(class, centres, expanded)?;
            }
            relation.pairs.each_of(piece, |pair| {
                session.engine.go_on()?;
                expanding.pair(&pair, centres, expanded)
            })?;
            bar.add(1);
            Ok(())
        },
        |(mut expanded, _)| {
            expanded
                .writer
                .flush()
                .map(|()| [expanded.total, expanded.of_batch, expanded.templates, expanded.large_groups])
        },
    )?;
    let listed = out.finish()?;
    let [total, of_batch, templates, large_groups] =
        [0, 1, 2, 3].map(|at| counts.iter().map(|counts| counts[at]).sum());
    running.end(relation.pairs.rows(), listed.rows(), listed.spilled_bytes());
    let of_batch = (session.base > 0).then_some(of_batch);
    Ok(DocumentPairs { listed, layout, total, of_batch, templates, large_groups })
}

/// Returns whether a pair of representatives represents no other pair, because both documents are unique.
fn stays(relation: &Relation, pair: &Pair) -> bool {
    relation.classes.is_alone(pair.a) && relation.classes.is_alone(pair.b)
}

/// Calls `each` with the pairs of an ordered sequence that precede `other`, and removes these pairs from the sequence.
fn before(
    listed: &mut Peekable<impl Iterator<Item = Pair>>,
    other: &Pair,
    mut each: impl FnMut(Pair) -> Result<()>,
) -> Result<()> {
    while let Some(pair) = listed.next_if(|pair| (pair.a, pair.b) < (other.a, other.b)) {
        each(pair)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::row::Score;

    #[test]
    fn two_sequences_in_order_are_merged_into_one() {
        let of = |pairs: &[(u64, u64)]| -> Vec<Pair> {
            pairs.iter().map(|&(a, b)| Pair::new(a, b, Score::EQUAL, 1)).collect()
        };
        let all = of(&[(1, 2), (1, 5), (2, 3), (4, 9), (7, 8)]);
        for taken in 0..1 << all.len() {
            let part = |bit| (0..all.len()).filter(move |at| taken >> at & 1 == bit).map(|at| all[at]);
            let (mut listed, mut merged) = (part(1).peekable(), Vec::new());
            for pair in part(0) {
                before(&mut listed, &pair, |pair| Ok(merged.push(pair))).expect("nothing fails");
                merged.push(pair);
            }
            merged.extend(listed);
            assert_eq!(merged, all, "{taken:b}");
        }
    }
}
