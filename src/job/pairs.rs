//! `pairs/`: from classes and pairs of representatives to pairs of documents, in order, with the user's ids.

use super::classes::Classes;
use super::group::{Relation, each_pair};
use super::ids::Ids;
use super::keep::KeepOrder;
use super::workers::Job;
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
    pairs: Sorted,
    layout: PairLayout,
    /// Pairs in all, written or not.
    pub total: u64,
    /// Different pairs of representatives that were expanded.
    pub links: u64,
    /// Classes of which only pairs with the best document are written.
    pub large_groups: u64,
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
    let rows = relation.pairs.rows() + relation.classes.surplus();
    let name = format!("{}-documents", relation.label);
    let out = job.ordered(&name, layout.width(), layout.group_width(), layout.group_width() / 2, rows)?;
    let best = |members: &[u64]| keep.best(members);
    let push = |writer: &mut Writer<'_>, record: &mut Vec<u8>, pair: Pair| {
        shown.set(pair.a as usize);
        shown.set(pair.b as usize);
        record.clear();
        layout.encode(&pair, record);
        writer.push(record)
    };

    let (mut total, mut large_groups) = (0, 0);
    let (mut writer, mut record) = (out.writer(), Vec::new());
    relation.each_class(|class| {
        large_groups += u64::from(class.len() as u64 > max_group);
        total += within(class, max_group, best, |a, b| {
            let same_text = copies.representative(a) == copies.representative(b);
            let matched = if same_text { COPY } else { 1 };
            push(&mut writer, &mut record, Pair::new(a, b, bound.signer.equal(), matched))
        })?;
        Ok::<_, crate::error::Error>(())
    })?;
    writer.flush()?;
    let bar = job.bar(&format!("expand {}", relation.label), relation.pairs.partitions());
    let counts = job.work(
        relation.pairs.partitions(),
        || Ok((out.writer(), Vec::new(), 0, 0)),
        |(writer, record, total, links), partition| {
            relation.each_pair(job, partition, |pair| {
                *links += 1;
                let (a, b) = (relation.members(&pair.a), relation.members(&pair.b));
                *total += between(a, b, max_group, best, |x, y| {
                    push(writer, record, Pair::new(x, y, pair.score, pair.matched))
                })?;
                Ok(())
            })?;
            bar.add(1);
            Ok(())
        },
        |(mut writer, _, total, links)| writer.flush().map(|()| (total, links)),
    )?;
    drop(writer);
    let pairs = out.finish()?;
    total += counts.iter().map(|one| one.0).sum::<u64>();
    let links = counts.iter().map(|one| one.1).sum();
    running.end(relation.pairs.rows(), pairs.rows(), pairs.spilled_bytes());
    Ok(DocumentPairs { pairs, layout, total, links, large_groups })
}

/// Writes the table; returns how many pairs it holds.
pub fn write(job: &Job<'_>, stage: &Stage, bound: &Bound<'_>, pairs: &DocumentPairs, ids: &Ids) -> Result<u64> {
    let running = job.clock.stage(format!("write pairs {}", bound.label));
    let path = stage.path().join(format!("pairs/algorithm={}/part-00000.parquet", bound.label));
    let mut writer = TableWriter::create(&path, pair_schema(ids.kind()))?;
    let mut builder = PairBuilder::new(ids.kind());
    let verified = bound.confirm().is_some();
    let bar = job.bar(&format!("write pairs {}", bound.label), pairs.pairs.partitions());
    for partition in 0..pairs.pairs.partitions() {
        let mut first = None;
        each_pair(job, &pairs.pairs, &pairs.layout, partition, |pair| {
            if first.as_ref().is_none_or(|(doc, _)| *doc != pair.a) {
                first = Some((pair.a, ids.of(job, pair.a)));
            }
            let (Some((_, id_a)), id_b) = (&first, ids.of(job, pair.b)) else { return Ok(()) };
            builder.push(&PairRow {
                id_a: id_a.as_ref(),
                id_b: id_b.as_ref(),
                similarity: pair.score.similarity,
                distance: pair.score.distance,
                matched_by: &matched_by(bound.signer.rules(), pair.matched),
                verified,
                doc_a: pair.a,
                doc_b: pair.b,
            })?;
            if builder.is_full() {
                writer.write(&builder.finish()?)?;
            }
            Ok(())
        })?;
        pairs.pairs.remove(partition)?;
        bar.add(1);
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    let (rows, bytes) = writer.close()?;
    running.end(rows, rows, bytes);
    Ok(rows)
}

/// The names of the rules whose bits are set, joined by `+`.
fn matched_by(rules: &[&str], matched: u16) -> String {
    let names = rules.iter().enumerate().filter(|(bit, _)| matched >> bit & 1 == 1).map(|(_, name)| *name);
    names.chain((matched & COPY != 0).then_some("copy")).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    #[test]
    fn rules_are_named() {
        let rules = ["first", "two_of_three"];
        assert_eq!(super::matched_by(&rules, 3), "first+two_of_three");
        assert_eq!(super::matched_by(&rules, 2), "two_of_three");
        assert_eq!(super::matched_by(&rules, super::COPY), "copy");
    }
}
