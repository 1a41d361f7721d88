//! Where documents of the tables stand in what is read. Tables of a night have the numbers of its index; what is read begins with the
//! few documents of the index that the night met.

use dupsift_core::error::{Error, Result};
use dupsift_engine::job::run_report::RunReport;
use dupsift_engine::session::Session;

/// The places of documents.
#[derive(Clone, Copy)]
pub struct Places<'r> {
    /// None where the corpus is not read: then a place is the number itself.
    session: Option<&'r Session<'r>>,
    first_doc: u64,
    documents: u64,
}

impl<'r> Places<'r> {
    /// Of a finished run, and its corpus if that is read.
    pub fn new(report: &RunReport, session: Option<&'r Session<'r>>) -> Places<'r> {
        let first_doc = report.index.as_ref().map_or(0, |index| index.first_doc);
        let alone = first_doc + report.documents.rows;
        Places { session, first_doc, documents: session.map_or(alone, Session::documents) }
    }

    /// The place of the first document of the corpus itself.
    pub fn base(&self) -> u64 {
        self.session.map_or(self.first_doc, |session| session.base)
    }

    /// All places are below.
    pub fn end(&self) -> u64 {
        self.documents
    }

    /// The place of a document of the tables.
    ///
    /// # Errors
    /// [`Error::Usage`] where a table names what is not in the corpus.
    pub fn of(&self, number: u64) -> Result<u64> {
        let place = self.session.map_or(Some(number), |session| session.document(number));
        place.filter(|&place| place < self.documents).ok_or_else(|| {
            Error::usage(format!(
                "a table names document {number}, which is not in the corpus: the output is damaged; run again"
            ))
        })
    }

    /// The number that the tables have for a place.
    pub fn number(&self, place: u64) -> u64 {
        self.session.map_or(place, |session| session.number(place))
    }
}
