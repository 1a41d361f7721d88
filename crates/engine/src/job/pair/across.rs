//! Implements comparisons across scopes (`--scope across:COLUMN`): two documents form a pair only if they have different values in the
//! column.
//!
//! Signatures, classes and links are the same as in a run without scopes. Documents with the same scope do not form a pair, even if they
//! are in the same class. A class with at least two scopes is connected, because each document forms a pair with every document in a
//! different scope. Two classes are not linked if all of their documents have the same scope.

use super::pair_list::PairList;
use crate::classes::Classes;
use crate::session::Session;
use crate::session::scopes::Noted;
use dupsift_core::error::Result;
use dupsift_core::row::Docs;
use dupsift_spill::shuffle::AtomicCells;

/// Represents several scopes in [`Across::of_class`]. No single scope has this value.
const SEVERAL: u64 = 0;

/// Holds the scope of each document, and the scope of each class of one algorithm.
#[derive(Debug)]
pub struct Across {
    scopes: Noted,
    /// The scope of each class with at least two documents, or [`SEVERAL`], indexed by the first document of the class.
    of_class: AtomicCells<u64>,
}

impl Across {
    /// Returns the scopes of these classes, or `None` if documents are not compared across scopes.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    pub fn new(session: &Session<'_>, classes: &Classes) -> Result<Option<Across>> {
        let Some(scopes) = session.scopes.noted().filter(|_| session.options.recipe.across.is_some()) else {
            return Ok(None);
        };
        let of_class = AtomicCells::new(session.engine.dir, "class-scopes", session.documents() as usize)?;
        let across = Across { scopes, of_class };
        for class in classes.of(0..session.documents()) {
            session.engine.go_on()?;
            let first = across.scope(class.get(0));
            let is_one = class.iter().all(|doc| across.scope(doc) == first);
            across.of_class.store(class.get(0) as usize, if is_one { first } else { SEVERAL });
        }
        Ok(Some(across))
    }

    /// Returns the scope of a document.
    #[inline]
    pub fn scope(&self, doc: u64) -> u64 {
        self.scopes.of(doc).max(SEVERAL + 1)
    }

    /// Returns whether two documents are compared.
    #[inline]
    pub fn differ(&self, a: u64, b: u64) -> bool {
        self.scope(a) != self.scope(b)
    }

    /// Returns whether the class of a representative has documents in several scopes.
    pub(crate) fn are_several(&self, classes: &Classes, representative: u64) -> bool {
        !classes.is_alone(representative) && self.of_class.load(representative as usize) == SEVERAL
    }

    /// Returns whether at least one document of one class is compared with a document of the other class. Each class is identified by its
    /// representative.
    fn meet(&self, classes: &Classes, a: u64, b: u64) -> bool {
        let scope = |doc: u64| if classes.is_alone(doc) { self.scope(doc) } else { self.of_class.load(doc as usize) };
        let (a, b) = (scope(a), scope(b));
        a != b || a == SEVERAL
    }

    /// Filters pairs of classes. Keeps a pair if at least one document of one class is compared with a document of the other class.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    pub fn filter(&self, session: &Session<'_>, label: &str, classes: &Classes, pairs: &PairList) -> Result<PairList> {
        let what = format!("scope {label}");
        let running = session.engine.clock.stage(what.clone());
        let left = pairs.filter(session.engine, &what, |_, pair| self.meet(classes, pair.a, pair.b))?;
        running.end(pairs.rows(), left.rows(), left.bytes());
        Ok(left)
    }

    /// Returns the best document whose scope differs from the scope of `best`, if there is such a document. `better` returns whether one
    /// document is preferred to another.
    pub fn second(&self, best: u64, docs: Docs<'_>, better: impl Fn(u64, u64) -> bool) -> Option<u64> {
        docs.iter().filter(|&doc| self.differ(doc, best)).reduce(|a, b| if better(b, a) { b } else { a })
    }
}
