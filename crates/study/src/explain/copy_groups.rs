//! Finds the exact copies of a document in the table of pairs of a finished run.
//!
//! In a group of g copies, the best copy forms a pair with each of the other copies, and these are the only pairs within the group.
//! Therefore, either the document itself or its only partner has g - 1 partners.
//!
//! ```text
//! copies a b c d, best b      pairs a-b, b-c, b-d: b has 3 partners, a has b
//! ```

use crate::finished::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_input::TableReader;
use dupsift_tables::{COPY_LOOK_UP_COLUMNS, copies_of};

/// Describes the copies of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyGroup {
    /// The number of copies, including the document itself.
    pub size: u64,
    /// The copy that forms a pair with the document, if there is exactly one. This copy is the best document of the group, unless the
    /// document itself is the best.
    pub partner: Option<u64>,
}

/// Returns the copies of two documents. Every algorithm's table of pairs contains the copies; `label` selects the table.
///
/// # Errors
/// Returns an error if the table is missing or damaged.
pub(crate) fn copies(finished: &Finished, label: &str, docs: [u64; 2]) -> Result<[CopyGroup; 2]> {
    let own = partners(finished, label, &docs)?;
    let only = own.map(|partners| partners.only());
    let asked: Vec<u64> = only.into_iter().flatten().collect();
    let mut of_partners = vec![Partners::default(); asked.len()];
    if !asked.is_empty() {
        // The two documents may be copies of each other.
        each(finished, label, &asked, |at, other| of_partners[at].add(other))?;
    }
    let mut of_partners = of_partners.into_iter();
    Ok([0, 1].map(|at| {
        let most = only[at].and_then(|_| of_partners.next()).map_or(0, |partners| partners.count);
        CopyGroup { size: own[at].count.max(most) + 1, partner: only[at] }
    }))
}

/// Counts the copies that form a pair with a document.
#[derive(Clone, Copy, Default)]
struct Partners {
    count: u64,
    first: Option<u64>,
}

impl Partners {
    fn add(&mut self, other: u64) {
        self.count += 1;
        self.first.get_or_insert(other);
    }

    fn only(self) -> Option<u64> {
        self.first.filter(|_| self.count == 1)
    }
}

fn partners(finished: &Finished, label: &str, docs: &[u64; 2]) -> Result<[Partners; 2]> {
    let mut partners = [Partners::default(); 2];
    each(finished, label, docs, |at, other| partners[at].add(other))?;
    Ok(partners)
}

/// Calls `then` for each pair of copies that includes a document from `docs`, passing the position of that document in `docs` and the
/// number of the other copy.
fn each(finished: &Finished, label: &str, docs: &[u64], mut then: impl FnMut(usize, u64)) -> Result<()> {
    let path = finished.pair_table(label);
    for batch in TableReader::open(&path, &COPY_LOOK_UP_COLUMNS)? {
        let found = copies_of(&batch?, docs).ok_or_else(|| Error::BadFile {
            path: path.clone(),
            why: "a column has an unexpected type; expected a table written by dupsift".into(),
        })?;
        for (doc, other) in found {
            docs.iter().enumerate().filter(|(_, known)| **known == doc).for_each(|(at, _)| then(at, other));
        }
    }
    Ok(())
}
