//! Computes clusters from the pairs on which removal is based. Each document is in exactly one cluster, possibly alone.

use crate::engine::numbers::Numbers;
use dupsift_algorithms::steps::connect::Forest;
use dupsift_core::error::Result;
use dupsift_core::row::Docs;
use std::path::Path;

/// Holds the clusters by document.
pub struct Components {
    /// The document number of each document's representative, plus one; 0 for a unique document.
    represented: Numbers,
    /// The number of documents that each representative represents.
    sizes: Numbers,
}

impl Components {
    /// Returns the connected components of the documents in `order` under the links from `connect`. The first document of a component in
    /// this order represents the component.
    pub fn new(
        dir: &Path,
        documents: u64,
        order: Docs<'_>,
        connect: impl FnOnce(&mut dyn FnMut(u64, u64)),
    ) -> Result<Components> {
        let numbers = |name: &str| Numbers::new(dir, name, documents as usize, documents);
        let (mut parents, mut best) = (numbers("component-parents")?, numbers("component-best")?);
        let (mut represented, mut sizes) = (numbers("component-represented")?, numbers("component-sizes")?);
        let mut forest = Forest::new(parents.slots());
        connect(&mut |x, y| forest.union(x, y));
        let (mut first, mut of, mut size) = (best.slots(), represented.slots(), sizes.slots());
        for doc in order.iter() {
            let root = forest.root(doc);
            if first.get(root) == 0 {
                first.set(root, doc + 1);
            }
            let representative = first.get(root);
            of.set(doc, representative);
            size.set(representative - 1, size.get(representative - 1) + 1);
        }
        Ok(Components { represented, sizes })
    }

    /// Returns the representative of a document's cluster, or the document itself if it is unique.
    pub fn representative(&self, doc: u64) -> u64 {
        self.represented.get(doc).checked_sub(1).unwrap_or(doc)
    }

    /// Returns the number of documents in a document's cluster.
    pub fn size(&self, doc: u64) -> u64 {
        self.sizes.get(self.representative(doc)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_order_represents_its_component() {
        let dir = tempfile::tempdir().unwrap();
        let order = [5u32, 1, 3, 0];
        let joins = |union: &mut dyn FnMut(u64, u64)| [(1, 5), (3, 1)].into_iter().for_each(|(x, y)| union(x, y));
        let components = Components::new(dir.path(), 6, Docs::Narrow(&order), joins).unwrap();
        let of: Vec<(u64, u64)> = (0..6).map(|doc| (components.representative(doc), components.size(doc))).collect();
        assert_eq!(of, [(0, 1), (5, 3), (2, 1), (5, 3), (4, 1), (5, 3)]);
    }
}
