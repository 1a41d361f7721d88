//! Computes the clusters of one algorithm (`steps/clusters.rs`) using arrays in temporary files, and writes the `clusters/` table.

use std::path::Path;

use crate::classes::Link;
use crate::engine::numbers::Numbers;
use crate::job::pair::group::Relation;
use crate::job::read::keep::KeepOrder;
use crate::reading::ids::Ids;
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::clusters::Clusters;
use dupsift_core::error::Result;
use dupsift_core::row::Docs;
use dupsift_publish::{Stage, TableWriter};
use dupsift_spill::shuffle::{AtomicBits, Mapped, Sorted};
use dupsift_tables::{ClusterBuilder, ClusterRow, cluster_schema};

/// Counts clusters and their documents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClusterCounts {
    /// The number of clusters of at least two documents.
    pub clusters: u64,
    /// The number of documents in clusters.
    pub clustered: u64,
    /// The size of the largest cluster.
    pub largest: u64,
}

/// Builds and writes the clusters of one relation. Also returns the size of the table in bytes.
pub(crate) fn write(
    session: &Session<'_>,
    stage: &Stage,
    bound: &Bound<'_>,
    relation: &Relation,
    keep: &KeepOrder,
    ids: &Ids<'_>,
) -> Result<(ClusterCounts, u64)> {
    let documents = session.documents();
    let nodes = if relation.pairs.rows() == 0 { 0 } else { documents as usize };
    let mut parents = Numbers::new(session.engine.dir, "parents", nodes, documents)?;
    let mut best = Numbers::new(session.engine.dir, "representatives", documents as usize, documents)?;
    let mut similarities: Mapped<u32> = Mapped::new(session.engine.dir, "similarities", nodes)?;
    let parents = (nodes > 0).then(|| parents.slots());
    let mut clusters = Clusters::new(relation, parents, best.slots(), &mut similarities);
    relation.each_joining(|pair| {
        clusters.join(&pair);
        session.engine.go_on()
    })?;
    let members = members(session, relation, &mut clusters, keep)?;
    relation.each_joining(|pair| {
        clusters.compare(&pair);
        session.engine.go_on()
    })?;
    let equal = bound.scheme.equal.similarity;
    let path = stage.path().join(format!("clusters/algorithm={}/part-00000.parquet", relation.label));
    write_table(
        session,
        &path,
        &members,
        |root| clusters.best(root),
        |doc, best| {
            let is_pair = doc == best || relation.across.as_ref().is_none_or(|across| across.differ(doc, best));
            clusters.similarity(doc, best, equal).filter(|_| is_pair)
        },
        ids,
    )
}

/// Writes the table from (root, document) rows in order. Returns the counts, and the size of the table in bytes.
fn write_table(
    session: &Session<'_>,
    path: &Path,
    members: &Sorted,
    best: impl Fn(u64) -> u64,
    similarity: impl Fn(u64, u64) -> Option<f32>,
    ids: &Ids<'_>,
) -> Result<(ClusterCounts, u64)> {
    let mut writer = TableWriter::create(path, cluster_schema(ids.kind()))?;
    let mut builder = ClusterBuilder::new(ids.kind());
    let mut counts = ClusterCounts::default();
    let link = Link::new(session);
    for partition in 0..members.partitions() {
        let records = members.load(partition, session.engine.budget.a_thread)?;
        for group in records.groups() {
            session.engine.go_on()?;
            // A cluster that consists only of indexed documents belongs to an earlier batch.
            if group.clone().all(|at| link.read(records.record(at)).1 < session.base) {
                continue;
            }
            let size = group.len() as u64;
            counts.clusters += 1;
            counts.clustered += size;
            counts.largest = counts.largest.max(size);
            let best = best(link.read(records.record(group.start)).0);
            let best_id = ids.of(best);
            for at in group {
                let (_, doc) = link.read(records.record(at));
                builder.push(&ClusterRow {
                    id: ids.of(doc).as_ref(),
                    cluster_id: best_id.as_ref(),
                    cluster_size: size,
                    is_representative: doc == best,
                    similarity_to_representative: similarity(doc, best),
                    doc: session.number(doc),
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
    let (_, bytes) = writer.close()?;
    Ok((counts, bytes))
}

/// Returns a (root, document) row for every document in a cluster, in order.
fn members(
    session: &Session<'_>,
    relation: &Relation,
    clusters: &mut Clusters<'_, Relation>,
    keep: &KeepOrder,
) -> Result<Sorted> {
    let link = Link::new(session);
    let rows = (2 * (relation.pairs.rows() + relation.classes.extra_copies())).min(session.documents());
    let shuffle = link.shuffle(session, &format!("{}-members", relation.label), rows)?;
    let mut writer = shuffle.writer();
    let mut push = |clusters: &mut Clusters<'_, Relation>, representative: u64, docs: Docs<'_>| -> Result<()> {
        session.engine.go_on()?;
        let root = clusters.member(representative, keep.best(docs), |a, b| keep.better(a, b));
        docs.iter().try_for_each(|doc| link.push(&mut writer, root, doc))
    };
    // A class of duplicates that all have the same scope belongs to a cluster only if the class occurs in a pair.
    let is_apart =
        |doc: u64| relation.across.as_ref().is_some_and(|across| !across.are_several(&relation.classes, doc));
    for class in relation.classes(0..session.documents()).filter(|class| !is_apart(class.get(0))) {
        push(clusters, class.get(0), class)?;
    }
    if relation.pairs.rows() > 0 {
        let seen = AtomicBits::new(session.engine.dir, "seen", session.documents() as usize)?;
        relation.each_joining(|pair| {
            for doc in [pair.a, pair.b] {
                if seen.set(doc as usize) && (clusters.is_alone(doc) || is_apart(doc)) {
                    push(clusters, doc, relation.members(doc))?;
                }
            }
            Ok(())
        })?;
    }
    writer.flush()?;
    drop(writer);
    shuffle.finish()
}
