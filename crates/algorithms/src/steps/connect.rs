//! connect: finds clusters as connected components, by union-find with the smallest number as the root.
//!
//! The caller provides the slice of parents, which may be a memory-mapped file so that a billion documents take no anonymous memory. A
//! value of 0 means that a node is its own root, and n + 1 means that its parent is n. Paths are halved during lookups, so a union takes a
//! nearly constant number of steps; the root is the smallest number of its component, regardless of the order of the unions.

use dupsift_core::row::Slots;

/// Holds a union-find forest with one parent per node.
pub struct Forest<'p> {
    parents: Slots<'p>,
}

impl<'p> Forest<'p> {
    /// Returns a forest over parents that are all 0, or over the parents of a finished forest.
    pub fn new(parents: Slots<'p>) -> Forest<'p> {
        Forest { parents }
    }

    /// Returns the smallest node of the component.
    pub fn root(&mut self, node: u64) -> u64 {
        let mut node = node;
        while let Some(parent) = self.parent(node) {
            if let Some(grandparent) = self.parent(parent) {
                self.parents.set(node, grandparent + 1);
            }
            node = parent;
        }
        node
    }

    /// Joins the components of two nodes.
    pub fn union(&mut self, x: u64, y: u64) {
        let (x, y) = (self.root(x), self.root(y));
        if x != y {
            self.parents.set(x.max(y), x.min(y) + 1);
        }
    }

    fn parent(&self, node: u64) -> Option<u64> {
        self.parents.get(node).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Compares the result with the definition: labels spread along the edges until nothing changes.
        #[test]
        fn components_are_those_of_the_definition(edges in proptest::collection::vec((0u64..30, 0u64..30), 0..40)) {
            let mut parents = vec![0; 30];
            let mut forest = Forest::new(Slots::Narrow(&mut parents));
            edges.iter().for_each(|&(x, y)| forest.union(x, y));
            let mut labels: Vec<u64> = (0..30).collect();
            for _ in 0..30 {
                for &(x, y) in &edges {
                    let label = labels[x as usize].min(labels[y as usize]);
                    labels[x as usize] = label;
                    labels[y as usize] = label;
                }
            }
            proptest::prop_assert_eq!((0..30).map(|node| forest.root(node)).collect::<Vec<_>>(), labels);
        }
    }
}
