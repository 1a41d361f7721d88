//! `clusters/`: connected components of one algorithm's pairs, each with its representative.

use super::classes::number;
use super::group::Relation;
use super::ids::Ids;
use super::keep::KeepOrder;
use super::workers::Job;
use crate::batch::{ClusterBuilder, ClusterRow, cluster_schema};
use crate::error::Result;
use crate::io::{Stage, TableWriter};
use crate::shuffle::{Mapped, Sorted};
use crate::stage::connect::Forest;
use crate::stage::recipe::Bound;

/// Bytes of a row: root and document.
const ROW: usize = 16;

/// How many clusters there are.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterCounts {
    /// Clusters of two and more.
    pub clusters: u64,
    /// Documents in them.
    pub clustered: u64,
    /// The size of the largest.
    pub largest: u64,
}

/// Builds and writes the clusters of one relation.
pub fn write(
    job: &Job<'_>,
    stage: &Stage,
    bound: &Bound<'_>,
    relation: &Relation,
    keep: &KeepOrder,
    ids: &Ids,
) -> Result<ClusterCounts> {
    let running = job.clock.stage(format!("cluster {}", relation.label));
    let documents = job.documents() as usize;
    let mut parents: Mapped<u64> = Mapped::new(job.dir, "parents", documents)?;
    let mut forest = Forest::new(&mut parents);
    for partition in 0..relation.pairs.partitions() {
        relation.each_pair(job, partition, |pair| {
            forest.union(pair.a, pair.b);
            Ok(())
        })?;
    }
    let members = members(job, relation, &mut forest)?;

    // The class of each cluster's representative, plus one, by root; then the similarity of other classes to it.
    let mut chosen: Mapped<u64> = Mapped::new(job.dir, "representatives", documents)?;
    for partition in 0..members.partitions() {
        let records = members.load(partition, job.budget.a_thread)?;
        for group in records.groups() {
            let docs = group.clone().map(|at| number(&records.record(at)[8..]));
            let best = docs.reduce(|a, b| if keep.better(b, a) { b } else { a }).unwrap_or(0);
            chosen[number(&records.record(group.start)[..8]) as usize] = best + 1;
        }
    }
    let mut similarities: Mapped<u32> = Mapped::new(job.dir, "similarities", documents)?;
    let class = |doc: u64| relation.classes.representative(doc);
    for partition in 0..relation.pairs.partitions() {
        relation.each_pair(job, partition, |pair| {
            let representative = class(chosen[forest.root(pair.a) as usize] - 1);
            for (one, other) in [(pair.a, pair.b), (pair.b, pair.a)] {
                if one == representative {
                    similarities[other as usize] = pair.score.similarity.to_bits() + 1;
                }
            }
            Ok(())
        })?;
    }

    let path = stage.path().join(format!("clusters/algorithm={}/part-00000.parquet", relation.label));
    let mut writer = TableWriter::create(&path, cluster_schema(ids.kind()))?;
    let mut builder = ClusterBuilder::new(ids.kind());
    let mut counts = ClusterCounts::default();
    for partition in 0..members.partitions() {
        let records = members.load(partition, job.budget.a_thread)?;
        for group in records.groups() {
            let size = group.len() as u64;
            counts.clusters += 1;
            counts.clustered += size;
            counts.largest = counts.largest.max(size);
            let best = chosen[number(&records.record(group.start)[..8]) as usize] - 1;
            let best_id = ids.of(job, best);
            for at in group {
                let doc = number(&records.record(at)[8..]);
                let similarity = if class(doc) == class(best) {
                    Some(bound.signer.equal().similarity)
                } else {
                    similarities[class(doc) as usize].checked_sub(1).map(f32::from_bits)
                };
                builder.push(&ClusterRow {
                    id: ids.of(job, doc).as_ref(),
                    cluster_id: best_id.as_ref(),
                    cluster_size: size,
                    is_representative: doc == best,
                    similarity_to_representative: similarity,
                    doc,
                })?;
                if builder.is_full() {
                    writer.write(&builder.finish()?)?;
                }
            }
        }
        members.remove(partition)?;
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    writer.close()?;
    running.end(relation.pairs.rows(), counts.clustered, members.spilled_bytes());
    Ok(counts)
}

/// (root, document) for every document that is in a cluster, in order.
fn members(job: &Job<'_>, relation: &Relation, forest: &mut Forest<'_>) -> Result<Sorted> {
    let rows = relation.pairs.rows() * 2 + relation.classes.surplus();
    let shuffle = job.ordered(&format!("{}-members", relation.label), ROW, 8, 8, rows)?;
    let mut writer = shuffle.writer();
    let mut seen: Mapped<u8> = Mapped::new(job.dir, "seen", job.documents() as usize)?;
    let mut push = |forest: &mut Forest<'_>, representative: u64, docs: &[u64]| -> Result<()> {
        if std::mem::replace(&mut seen[representative as usize], 1) == 1 {
            return Ok(());
        }
        let root = forest.root(representative);
        docs.iter().try_for_each(|doc| {
            let mut row = [0; ROW];
            row[..8].copy_from_slice(&root.to_be_bytes());
            row[8..].copy_from_slice(&doc.to_be_bytes());
            writer.push(&row)
        })
    };
    relation.each_class(|class| push(forest, class[0], class))?;
    for partition in 0..relation.pairs.partitions() {
        relation.each_pair(job, partition, |pair| {
            push(forest, pair.a, relation.members(&pair.a))?;
            push(forest, pair.b, relation.members(&pair.b))
        })?;
    }
    writer.flush()?;
    drop(writer);
    shuffle.finish()
}
