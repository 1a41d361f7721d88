//! clusters: finds the connected components of one algorithm's pairs, the best document of each component, and the similarity of each
//! remaining document to the best document.
//!
//! A class of equal documents is one node, identified by the document with the smallest number. The driver provides the arrays, and so
//! decides where they are stored. The arrays contain one number per document, all 0 at the start. A driver that processes one component at
//! a time numbers the documents of each component from 0.
//!
//! ```text
//! 1. every pair            join        -> components
//! 2. every class and every document that is in a pair   member -> (root, document), the best document of each root
//! 3. every pair again      compare     -> the similarity of each class to that of the best document
//! 4. (root, document) in order         -> clusters: `best`, `similarity`
//! ```

use super::connect::Forest;
use dupsift_core::row::{Docs, Pair, Slots};

/// Provides the classes of one algorithm.
pub trait Classes {
    /// Returns the document with the smallest number in the class.
    fn representative(&self, doc: u64) -> u64;

    /// Returns the documents in the class of a representative, including itself.
    fn members(&self, representative: u64) -> Docs<'_>;
}

/// Builds clusters.
pub struct Clusters<'c, C> {
    classes: &'c C,
    /// `None` if there are no pairs, in which case every class is a cluster.
    forest: Option<Forest<'c>>,
    /// `best[root]` is one plus the number of the best document in the cluster with this root.
    best: Slots<'c>,
    /// `similarities[representative]` is one plus the bits of the similarity to the class of the best document.
    similarities: &'c mut [u32],
}

impl<'c, C: Classes> Clusters<'c, C> {
    /// Creates clusters without pairs. If the algorithm finds no pairs, `parents` may be `None` and `similarities` empty.
    pub fn new(classes: &'c C, parents: Option<Slots<'c>>, best: Slots<'c>, similarities: &'c mut [u32]) -> Self {
        Clusters { classes, forest: parents.map(Forest::new), best, similarities }
    }

    /// Joins a pair of representatives. Pairs of documents that share only a template are ignored.
    pub fn join(&mut self, pair: &Pair) {
        if let Some(forest) = self.forest.as_mut().filter(|_| !pair.is_template()) {
            forest.union(pair.a, pair.b);
        }
    }

    /// Adds a class of two or more documents, or a document that is part of a pair but alone in its class. Call this once for each such
    /// class and document, after all pairs have been joined. `preferred` is the best of the added documents, and `better` returns whether
    /// one document is better than another. Returns the root of the cluster.
    pub fn member(&mut self, representative: u64, preferred: u64, better: impl Fn(u64, u64) -> bool) -> u64 {
        let root = self.root(representative);
        if self.best.get(root).checked_sub(1).is_none_or(|other| better(preferred, other)) {
            self.best.set(root, preferred + 1);
        }
        root
    }

    /// Returns whether a document in a pair is alone in its class. Such a document must be passed to [`Clusters::member`] once; larger
    /// classes are always passed.
    pub fn is_alone(&self, doc: u64) -> bool {
        self.classes.members(doc).len() == 1
    }

    /// Records the similarity of a pair, after all members have been added.
    pub fn compare(&mut self, pair: &Pair) {
        if pair.is_template() {
            return;
        }
        let root = self.root(pair.a);
        let best = self.classes.representative(self.best(root));
        for (one, other) in [(pair.a, pair.b), (pair.b, pair.a)] {
            if one == best {
                self.similarities[other as usize] = pair.score.similarity.to_bits() + 1;
            }
        }
    }

    /// Returns the best document of the cluster with this root.
    pub fn best(&self, root: u64) -> u64 {
        self.best.get(root).saturating_sub(1)
    }

    /// Returns the similarity of a document to the best document of its cluster, if they are a pair; `equal` is the similarity within a
    /// class.
    pub fn similarity(&self, doc: u64, best: u64, equal: f32) -> Option<f32> {
        let class = self.classes.representative(doc);
        if class == self.classes.representative(best) {
            return Some(equal);
        }
        self.similarities.get(class as usize)?.checked_sub(1).map(f32::from_bits)
    }

    fn root(&mut self, doc: u64) -> u64 {
        self.forest.as_mut().map_or(doc, |forest| forest.root(doc))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::row::{Related, RelationKind, Score, Why};

    /// The classes {0, 4} and {1, 3}; all other documents are alone.
    struct Two;

    impl Classes for Two {
        fn representative(&self, doc: u64) -> u64 {
            match doc {
                4 => 0,
                3 => 1,
                doc => doc,
            }
        }

        fn members(&self, representative: u64) -> Docs<'_> {
            match representative {
                0 => Docs::Wide(&[0, 4]),
                1 => Docs::Wide(&[1, 3]),
                doc => Docs::One(doc),
            }
        }
    }

    #[test]
    fn components_of_classes_with_the_best_document_of_each() {
        let pair = |a, b, similarity| Pair::new(a, b, Score { similarity, distance: None }, 1);
        let related =
            Some(Related { relation: RelationKind::Template, why: Why::Near, next_best: 0.5, other_title: false });
        // Documents 5 and 6 share only a template, so document 6 is in no cluster.
        let pairs = [pair(0, 2, 0.75), pair(0, 5, 0.5), Pair { related, ..pair(5, 6, 0.9) }];
        let (mut parents, mut best, mut similarities) = (vec![0u32; 7], vec![0u32; 7], vec![0u32; 7]);
        let parents = Some(Slots::Narrow(&mut parents));
        let mut clusters = Clusters::new(&Two, parents, Slots::Narrow(&mut best), &mut similarities);
        pairs.iter().for_each(|pair| clusters.join(pair));
        // The document with the larger number is preferred.
        let better = |a, b| a > b;
        assert_eq!([0, 2, 5].map(|doc| clusters.is_alone(doc)), [false, true, true]);
        let roots = [(0, 4), (1, 3), (2, 2), (5, 5)].map(|(doc, best)| clusters.member(doc, best, better));
        assert_eq!((roots, clusters.best(0), clusters.best(1)), ([0, 1, 0, 0], 5, 3));
        pairs.iter().for_each(|pair| clusters.compare(pair));
        let similarities = [0, 2, 4, 5].map(|doc| clusters.similarity(doc, 5, 1.0));
        assert_eq!(similarities, [Some(0.5), None, Some(0.5), Some(1.0)]);
        assert_eq!(clusters.similarity(1, 3, 0.9), Some(0.9));
    }

    #[test]
    fn without_pairs_every_class_is_a_cluster() {
        let mut best = vec![0u64; 7];
        let mut clusters = Clusters::new(&Two, None, Slots::Wide(&mut best), &mut []);
        assert_eq!(clusters.member(1, 3, |a, b| a > b), 1);
        assert_eq!((clusters.best(1), clusters.similarity(1, 3, 1.0)), (3, Some(1.0)));
    }
}
