//! Maps the document numbers in tables to positions in the corpus that is read. The tables of an incremental run contain the document
//! numbers of the index. The corpus that is read begins with the few indexed documents that are in the tables.

use dupsift_core::error::{Error, Result};
use dupsift_engine::job::run_report::RunReport;
use dupsift_engine::session::Session;

/// Maps document numbers to positions.
#[derive(Clone, Copy)]
pub(crate) struct Places<'r> {
    /// The session that reads the corpus. `None` if the corpus is not read; in that case, a position is the number itself.
    session: Option<&'r Session<'r>>,
    first_doc: u64,
    documents: u64,
}

impl<'r> Places<'r> {
    /// Returns the mapping for a finished run. `session` is the session that reads the corpus of the run, if there is one.
    pub(crate) fn new(report: &RunReport, session: Option<&'r Session<'r>>) -> Places<'r> {
        let first_doc = report.index.as_ref().map_or(0, |index| index.first_doc);
        let alone = first_doc + report.documents.sampled_from.unwrap_or(report.documents.rows);
        Places { session, first_doc, documents: session.map_or(alone, Session::documents) }
    }

    /// Returns the position of the first document that is not from the index.
    pub(crate) fn base(&self) -> u64 {
        self.session.map_or(self.first_doc, |session| session.base)
    }

    /// Returns the position after the last document.
    pub(crate) fn end(&self) -> u64 {
        self.documents
    }

    /// Returns the position of the document with this number in the tables.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a table contains a document that is not in the corpus.
    pub(crate) fn of(&self, number: u64) -> Result<u64> {
        let place = self.session.map_or(Some(number), |session| session.document(number));
        place.filter(|&place| place < self.documents).ok_or_else(|| {
            Error::usage(format!(
                "a table refers to document {number}, which is not in the corpus: the output is damaged; run again"
            ))
        })
    }

    /// Returns the number that the tables use for the document at a position.
    pub(crate) fn number(&self, place: u64) -> u64 {
        self.session.map_or(place, |session| session.number(place))
    }
}
