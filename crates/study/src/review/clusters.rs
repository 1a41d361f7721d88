//! Counts the clusters in the tables, and selects examples.

use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::lowest::Lowest;
use dupsift_core::error::Result;
use dupsift_tables::Clustered;

/// The maximum number of documents that are shown per cluster, in addition to the representative.
const MEMBERS: usize = 2;

/// Counts clusters by size.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClusterReview {
    /// The number of clusters of each size.
    pub sizes: BTreeMap<u64, u64>,
}

/// Holds a cluster that is shown on the page.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LargeCluster {
    /// The position of the cluster's algorithm in the record.
    pub algorithm: usize,
    /// The number of documents in the cluster.
    pub size: u64,
    /// The number of the representative.
    pub representative: u64,
    /// The number of documents that are equal to the representative according to the algorithm's own measure.
    pub equal: u64,
    /// The members with the lowest similarity to the representative, lowest first. Members that are equal to the representative according
    /// to the algorithm's own measure are excluded.
    pub members: Vec<Member>,
}

/// Holds a document in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Member {
    /// The document number.
    pub doc: u64,
    /// The similarity of the document to the representative; `None` if the two are not a pair.
    pub similarity: Option<f32>,
}

impl LargeCluster {
    /// Returns the pairs that the representative forms with each of the other documents shown, smaller document number first.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let with = |doc: u64| (doc.min(self.representative), doc.max(self.representative));
        self.members.iter().map(move |member| with(member.doc))
    }

    /// Returns the documents that are shown.
    pub fn docs(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.representative).chain(self.members.iter().map(|member| member.doc))
    }
}

/// Reads the table of clusters of one algorithm. Returns the sizes, the largest clusters that contain more than exact copies, and the
/// largest clusters of exact copies; at most `most` clusters of each kind.
pub(crate) fn read(
    documents: impl Iterator<Item = Result<Clustered>>,
    most: usize,
) -> Result<(ClusterReview, Vec<LargeCluster>)> {
    let mut review = ClusterReview::default();
    let (mut largest, mut copies) = (Lowest::new(most), Lowest::new(most));
    let mut rest = 0;
    let mut cluster = LargeCluster::default();
    let mut members: Lowest<(f32, u64), Member> = Lowest::new(MEMBERS);
    for document in documents {
        let Clustered { doc, size, is_representative, similarity } = document?;
        if rest == 0 {
            rest = size;
            cluster = LargeCluster { size, ..LargeCluster::default() };
            members = Lowest::new(MEMBERS);
            *review.sizes.entry(size).or_default() += 1;
        }
        if is_representative {
            cluster.representative = doc;
        } else if similarity.is_none_or(|similarity| similarity < 1.0) {
            members.offer((similarity.unwrap_or(-1.0), doc), || Member { doc, similarity });
        } else {
            cluster.equal += 1;
        }
        rest = rest.saturating_sub(1);
        if rest == 0 {
            let mut done = std::mem::take(&mut cluster);
            // Clusters of exact copies are listed separately, because they must not crowd out other clusters.
            let kind = if members.iter().next().is_none() { &mut copies } else { &mut largest };
            kind.offer((Reverse(done.size), done.representative), || {
                done.members = members.iter().map(|(_, member)| *member).collect();
                done
            });
        }
    }
    Ok((review, largest.into_values().chain(copies.into_values()).collect()))
}

/// Returns the largest clusters of the deciding algorithms, then the largest clusters of exact copies. If the clusters of several
/// algorithms have the same representative, only the largest of these clusters is returned.
pub(crate) fn largest(
    tables: &[(ClusterReview, Vec<LargeCluster>)],
    deciding: &[bool],
    most: usize,
) -> Vec<LargeCluster> {
    let mut all: Vec<LargeCluster> = tables
        .iter()
        .enumerate()
        .filter(|(algorithm, _)| deciding[*algorithm])
        .flat_map(|(algorithm, (_, large))| large.iter().map(move |one| LargeCluster { algorithm, ..one.clone() }))
        .collect();
    all.sort_by_key(|one| (Reverse(one.size), one.algorithm, one.representative));
    let mut seen = BTreeSet::new();
    all.retain(|one| seen.insert(one.representative));
    let (mut others, mut copies): (Vec<LargeCluster>, Vec<LargeCluster>) =
        all.into_iter().partition(|one| !one.members.is_empty());
    others.truncate(most);
    copies.truncate(most);
    others.append(&mut copies);
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(docs: &[(u64, Option<f32>)]) -> Vec<Result<Clustered>> {
        let size = docs.len() as u64;
        let row = |(at, &(doc, similarity)): (usize, &(u64, Option<f32>))| {
            Ok(Clustered { doc, size, is_representative: at == 0, similarity })
        };
        docs.iter().enumerate().map(row).collect()
    }

    #[test]
    fn the_largest_are_kept_with_the_members_farthest_from_them() {
        let rows = [
            cluster(&[(1, Some(1.0)), (2, Some(1.0))]),
            cluster(&[(3, Some(1.0)), (4, Some(0.9)), (5, None), (6, Some(0.8)), (7, Some(1.0))]),
            cluster(&[(8, Some(1.0)), (9, Some(0.7))]),
        ];
        let (review, large) = read(rows.into_iter().flatten(), 2).unwrap();
        assert_eq!(review.sizes, BTreeMap::from([(2, 2), (5, 1)]));
        assert_eq!(
            large.iter().map(|one| (one.size, one.representative)).collect::<Vec<_>>(),
            [(5, 3), (2, 8), (2, 1)]
        );
        assert_eq!(large[0].docs().collect::<Vec<_>>(), [3, 5, 6]);
        assert_eq!(large[0].members[0].similarity, None);
        assert_eq!(large[1].docs().collect::<Vec<_>>(), [8, 9]);
        assert!(large[2].members.is_empty());
        assert_eq!((large[0].equal, large[1].equal, large[2].equal), (1, 0, 1));
        assert_eq!(large[0].pairs().collect::<Vec<_>>(), [(3, 5), (3, 6)]);
    }

    #[test]
    fn a_cluster_of_several_algorithms_is_shown_once() {
        let one = |representative, size| LargeCluster { representative, size, ..LargeCluster::default() };
        let tables = [
            (ClusterReview::default(), vec![one(1, 5), one(2, 4)]),
            (ClusterReview::default(), vec![one(1, 9)]),
            (ClusterReview::default(), vec![one(7, 99)]),
        ];
        let shown = largest(&tables, &[true, true, false], 10);
        assert_eq!(shown.iter().map(|one| (one.algorithm, one.size)).collect::<Vec<_>>(), [(1, 9), (0, 4)]);
        assert_eq!(largest(&tables, &[true, true, true], 1)[0].size, 99);
    }
}
