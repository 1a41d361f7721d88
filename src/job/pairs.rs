//! `pairs/`: from classes and pairs of representatives to pairs of documents, in order, with the user's ids.
//!
//! Pairs of two documents that are alone in their classes are in order already, and stay in the list that grouping made.
//! Only what classes stand for is listed and sorted here; the two are merged when the table is written.

use std::iter::Peekable;

use super::classes::Classes;
use super::group::Relation;
use super::ids::Ids;
use super::keep::KeepOrder;
use super::workers::{Job, UNKNOWN};
use crate::batch::{PairBuilder, PairRow, pair_schema};
use crate::error::Result;
use crate::io::{Stage, TableWriter};
use crate::row::{Pair, PairLayout};
use crate::shuffle::{AtomicBits, Sorted, Writer};
use crate::stage::expand::{between, within};
use crate::stage::recipe::Bound;

/// The bit of a pair of exact copies, above those of any method's rules.
const COPY: u16 = 1 << 15;

/// Pairs of documents of one algorithm.
pub struct DocumentPairs {
    /// Those that classes stand for; the others stand in the relation.
    listed: Sorted,
    layout: PairLayout,
    /// Pairs in all, written or not.
    pub total: u64,
    /// Classes of which only pairs with the best document are written.
    pub large_groups: u64,
}

/// What one thread expanded.
struct Expander<'s> {
    writer: Writer<'s>,
    record: Vec<u8>,
    total: u64,
    large_groups: u64,
}

impl Expander<'_> {
    fn push(&mut self, layout: &PairLayout, shown: &AtomicBits, pair: &Pair) -> Result<()> {
        shown.set(pair.a as usize);
        shown.set(pair.b as usize);
        self.record.clear();
        layout.encode(pair, &mut self.record);
        self.writer.push(&self.record)
    }
}

/// Expands one relation; notes each document that stands in a pair in `shown`.
pub fn expand(
    job: &Job<'_>,
    bound: &Bound<'_>,
    relation: &Relation,
    copies: &Classes,
    keep: &KeepOrder,
    shown: &AtomicBits,
) -> Result<DocumentPairs> {
    let running = job.clock.stage(format!("expand {}", relation.label));
    let layout = PairLayout::new(job.documents());
    let max_group = job.options.max_group;
    let name = format!("{}-documents", relation.label);
    let out = job.ordered(&name, layout.width(), layout.group_width(), layout.group_width() / 2, UNKNOWN)?;
    let pieces = relation.pairs.parts();
    let begin = |piece: usize| (job.documents() as u128 * piece as u128 / pieces as u128) as u64;
    let bar = job.bar(&format!("expand {}", relation.label), pieces);
    let counts = job.work(
        pieces,
        || Ok(Expander { writer: out.writer(), record: Vec::new(), total: 0, large_groups: 0 }),
        |state, piece| {
            for class in relation.classes(begin(piece)..begin(piece + 1)) {
                job.go_on()?;
                state.large_groups += u64::from(class.len() as u64 > max_group);
                state.total += within(
                    class,
                    max_group,
                    |members| keep.best(members),
                    |a, b| {
                        let same_text = copies.representative(a) == copies.representative(b);
                        let matched = if same_text { COPY } else { 1 };
                        state.push(&layout, shown, &Pair::new(a, b, bound.signer.equal(), matched))
                    },
                )?;
            }
            for pair in relation.pairs.part(piece) {
                job.go_on()?;
                if stays(relation, &pair) {
                    shown.set(pair.a as usize);
                    shown.set(pair.b as usize);
                    state.total += 1;
                    continue;
                }
                let (a, b) = (relation.members(pair.a), relation.members(pair.b));
                state.total += between(
                    a,
                    b,
                    max_group,
                    |members| keep.best(members),
                    |x, y| {
                        let matched = if x < y { pair.matched } else { bound.signer.mirrored(pair.matched) };
                        state.push(&layout, shown, &Pair::new(x, y, pair.score, matched))
                    },
                )?;
            }
            bar.add(1);
            Ok(())
        },
        |mut state| state.writer.flush().map(|()| (state.total, state.large_groups)),
    )?;
    let listed = out.finish()?;
    let (total, large_groups) = counts.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    running.end(relation.pairs.rows(), listed.rows(), listed.spilled_bytes());
    Ok(DocumentPairs { listed, layout, total, large_groups })
}

/// Whether a pair of representatives is a pair of documents as it stands: no other document is equal to either.
fn stays(relation: &Relation, pair: &Pair) -> bool {
    relation.members(pair.a).len() == 1 && relation.members(pair.b).len() == 1
}

/// Writes the table; returns how many pairs it holds, and its bytes.
pub fn write(
    job: &Job<'_>,
    stage: &Stage,
    bound: &Bound<'_>,
    relation: &Relation,
    pairs: &DocumentPairs,
    ids: &Ids<'_>,
) -> Result<(u64, u64)> {
    let path = stage.path().join(format!("pairs/algorithm={}/part-00000.parquet", bound.label));
    let mut writer = TableWriter::create(&path, pair_schema(ids.kind()))?;
    let mut builder = PairBuilder::new(ids.kind());
    let verified = bound.confirm().is_some();
    let bar = job.bar(&format!("write pairs {}", bound.label), pairs.listed.partitions());
    let mut names = MatchedBy::new(bound.signer.rules());
    for part in 0..pairs.listed.partitions() {
        let alone = relation.pairs.part(part).filter(|pair| stays(relation, pair));
        let records = match pairs.listed.rows_of(part) {
            0 => None,
            _ => Some(pairs.listed.load(part, job.budget.a_thread)?),
        };
        let bytes = records.as_ref().map_or(&[][..], |records| records.bytes());
        let listed = bytes.chunks_exact(pairs.layout.width()).map(|bytes| pairs.layout.decode(bytes));
        let mut first = None;
        for pair in Merged(alone.peekable(), listed.peekable()) {
            job.go_on()?;
            if first.as_ref().is_none_or(|(doc, _)| *doc != pair.a) {
                first = Some((pair.a, ids.of(pair.a)));
            }
            let Some((_, id_a)) = &first else { continue };
            builder.push(&PairRow {
                id_a: id_a.as_ref(),
                id_b: ids.of(pair.b).as_ref(),
                similarity: pair.score.similarity,
                distance: pair.score.distance,
                matched_by: names.of(pair.matched),
                verified,
                doc_a: pair.a,
                doc_b: pair.b,
            })?;
            if builder.is_full() {
                writer.write(&builder.finish()?)?;
            }
        }
        pairs.listed.remove(part)?;
        bar.add(1);
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    writer.close()
}

/// Two sequences of pairs in order as one.
struct Merged<A: Iterator<Item = Pair>, B: Iterator<Item = Pair>>(Peekable<A>, Peekable<B>);

impl<A: Iterator<Item = Pair>, B: Iterator<Item = Pair>> Iterator for Merged<A, B> {
    type Item = Pair;

    fn next(&mut self) -> Option<Pair> {
        match (self.0.peek(), self.1.peek()) {
            (Some(x), Some(y)) if (y.a, y.b) < (x.a, x.b) => self.1.next(),
            (None, _) => self.1.next(),
            _ => self.0.next(),
        }
    }
}

/// The names of the rules that found a pair, joined by `+`; the last one is kept, for it is nearly always the next one too.
struct MatchedBy<'r> {
    rules: &'r [&'r str],
    matched: u16,
    joined: String,
}

impl<'r> MatchedBy<'r> {
    fn new(rules: &'r [&'r str]) -> MatchedBy<'r> {
        MatchedBy { rules, matched: 0, joined: String::new() }
    }

    /// The names of the rules whose bits are set.
    fn of(&mut self, matched: u16) -> &str {
        if self.matched != matched {
            let names = self.rules.iter().enumerate().filter(|(bit, _)| matched >> bit & 1 == 1).map(|(_, name)| *name);
            self.joined = names.chain((matched & COPY != 0).then_some("copy")).collect::<Vec<_>>().join("+");
            self.matched = matched;
        }
        &self.joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Score;

    #[test]
    fn rules_are_named() {
        let rules = ["first", "two_of_three"];
        let mut names = MatchedBy::new(&rules);
        for (matched, expected) in [(3, "first+two_of_three"), (2, "two_of_three"), (2, "two_of_three"), (COPY, "copy")]
        {
            assert_eq!(names.of(matched), expected);
        }
    }

    #[test]
    fn two_sequences_in_order_are_merged_into_one() {
        let of = |pairs: &[(u64, u64)]| -> Vec<Pair> {
            pairs.iter().map(|&(a, b)| Pair::new(a, b, Score::EQUAL, 1)).collect()
        };
        let all = of(&[(1, 2), (1, 5), (2, 3), (4, 9), (7, 8)]);
        for taken in 0..1 << all.len() {
            let part = |bit| (0..all.len()).filter(move |at| taken >> at & 1 == bit).map(|at| all[at]).peekable();
            assert!(Merged(part(0), part(1)).eq(all.iter().copied()), "{taken:b}");
        }
    }
}
