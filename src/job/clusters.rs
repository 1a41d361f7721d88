//! `clusters/`: connected components of one algorithm's pairs, each with its representative.

use std::path::Path;

use super::classes::Link;
use super::group::Relation;
use super::ids::Ids;
use super::keep::KeepOrder;
use super::numbers::Numbers;
use super::workers::Job;
use crate::batch::{ClusterBuilder, ClusterRow, cluster_schema};
use crate::error::Result;
use crate::io::{Stage, TableWriter};
use crate::row::Docs;
use crate::shuffle::{AtomicBits, Mapped, Sorted};
use crate::stage::bound::Bound;
use crate::stage::connect::Forest;

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

/// Builds and writes the clusters of one relation; also returns the bytes of the table.
pub fn write(
    job: &Job<'_>,
    stage: &Stage,
    bound: &Bound<'_>,
    relation: &Relation,
    keep: &KeepOrder,
    ids: &Ids<'_>,
) -> Result<(ClusterCounts, u64)> {
    let documents = job.documents();
    // Without pairs every class is a cluster, and its representative the root.
    let nodes = if relation.pairs.rows() == 0 { 0 } else { documents as usize };
    let mut parents = Numbers::new(job.dir, "parents", nodes, documents)?;
    let mut forest = Forest::new(parents.slots());
    relation.each_joining(|pair| {
        forest.union(pair.a, pair.b);
        job.go_on()
    })?;
    let mut root = |doc: u64| if nodes == 0 { doc } else { forest.root(doc) };
    let mut chosen = Numbers::new(job.dir, "representatives", documents as usize, documents)?;
    let members = members(job, relation, &mut root, keep, &mut chosen)?;
    let mut similarities: Mapped<u32> = Mapped::new(job.dir, "similarities", nodes)?;
    let class = |doc: u64| relation.classes.representative(doc);
    let similarities_of_classes = &mut similarities[..];
    relation.each_joining(|pair| {
        let representative = class(chosen.get(root(pair.a)) - 1);
        for (one, other) in [(pair.a, pair.b), (pair.b, pair.a)] {
            if one == representative {
                similarities_of_classes[other as usize] = pair.score.similarity.to_bits() + 1;
            }
        }
        job.go_on()
    })?;
    let equal = bound.signer.equal().similarity;
    let path = stage.path().join(format!("clusters/algorithm={}/part-00000.parquet", relation.label));
    Clusters { relation, members, chosen, similarities, equal, ids }.write(job, &path)
}

/// The clusters of one relation before they are written.
struct Clusters<'c> {
    relation: &'c Relation,
    /// Root and document of all that are in a cluster.
    members: Sorted,
    /// The best document of each cluster, plus one, by root.
    chosen: Numbers,
    /// The bits of the similarity of each class to that of the best document, plus one; 0 where they are no pair.
    similarities: Mapped<u32>,
    /// The similarity within a class.
    equal: f32,
    ids: &'c Ids<'c>,
}

impl Clusters<'_> {
    /// Writes the table; returns what it holds, and its bytes.
    fn write(&self, job: &Job<'_>, path: &Path) -> Result<(ClusterCounts, u64)> {
        let ids = self.ids;
        let mut writer = TableWriter::create(path, cluster_schema(ids.kind()))?;
        let mut builder = ClusterBuilder::new(ids.kind());
        let mut counts = ClusterCounts::default();
        let link = Link::new(job);
        for partition in 0..self.members.partitions() {
            let records = self.members.load(partition, job.budget.a_thread)?;
            for group in records.groups() {
                job.go_on()?;
                let size = group.len() as u64;
                counts.clusters += 1;
                counts.clustered += size;
                counts.largest = counts.largest.max(size);
                let best = self.chosen.get(link.read(records.record(group.start)).0) - 1;
                let best_id = ids.of(best);
                for at in group {
                    let (_, doc) = link.read(records.record(at));
                    builder.push(&ClusterRow {
                        id: ids.of(doc).as_ref(),
                        cluster_id: best_id.as_ref(),
                        cluster_size: size,
                        is_representative: doc == best,
                        similarity_to_representative: self.similarity(doc, best),
                        doc,
                    })?;
                    if builder.is_full() {
                        writer.write(&builder.finish()?)?;
                    }
                }
            }
            self.members.remove(partition)?;
        }
        if !builder.is_empty() {
            writer.write(&builder.finish()?)?;
        }
        let (_, bytes) = writer.close()?;
        Ok((counts, bytes))
    }

    /// The similarity of a document to the best one of its cluster, where the two are a pair.
    fn similarity(&self, doc: u64, best: u64) -> Option<f32> {
        let class = |doc: u64| self.relation.classes.representative(doc);
        if class(doc) == class(best) {
            return Some(self.equal);
        }
        self.similarities[class(doc) as usize].checked_sub(1).map(f32::from_bits)
    }
}

/// (root, document) for every document that is in a cluster, in order; the best document of each root goes to `chosen`.
fn members(
    job: &Job<'_>,
    relation: &Relation,
    root: &mut impl FnMut(u64) -> u64,
    keep: &KeepOrder,
    chosen: &mut Numbers,
) -> Result<Sorted> {
    let link = Link::new(job);
    let rows = (2 * (relation.pairs.rows() + relation.classes.surplus())).min(job.documents());
    let shuffle = link.shuffle(job, &format!("{}-members", relation.label), rows)?;
    let mut writer = shuffle.writer();
    let mut chosen = chosen.slots();
    let mut push = |representative: u64, docs: Docs<'_>| -> Result<()> {
        job.go_on()?;
        let root = root(representative);
        let best = keep.best(docs);
        if chosen.get(root).checked_sub(1).is_none_or(|other| keep.better(best, other)) {
            chosen.set(root, best + 1);
        }
        docs.iter().try_for_each(|doc| link.push(&mut writer, root, doc))
    };
    for class in relation.classes(0..job.documents()) {
        push(class.get(0), class)?;
    }
    if relation.pairs.rows() > 0 {
        let seen = AtomicBits::new(job.dir, "seen", job.documents() as usize)?;
        relation.each_joining(|pair| {
            for doc in [pair.a, pair.b] {
                // Classes of two and more are in already.
                if seen.set(doc as usize) {
                    let docs = relation.members(doc);
                    if docs.len() == 1 {
                        push(doc, docs)?;
                    }
                }
            }
            Ok(())
        })?;
    }
    writer.flush()?;
    drop(writer);
    shuffle.finish()
}
