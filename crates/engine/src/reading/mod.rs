//! Converts rows of files to documents on all threads. The modules select files and columns, extract text from HTML pages, and record
//! rejected rows.

// The inputs: how they are opened, and what is said about them.
pub mod again;
pub mod input_notes;
pub mod inputs;

// Passes over the documents, on all threads.
pub mod parts;
pub(crate) mod read;

// A row as a document, and what the first pass records of it for later passes.
pub(crate) mod cuts;
pub mod document;
pub(crate) mod forward;
pub(crate) mod source_values;

// Text from pages.
pub mod purified;

// What the output shows of documents.
pub mod ids;

// What could not be read.
pub mod losses;
pub mod rejected;

pub use inputs::{Inputs, Writes, columns, input_endings, look, look_and_write, take_in};
pub use losses::{BadInputReport, OtherInput, OtherInputReport};
pub use rejected::RejectionsReport;
pub use source_values::SourceReport;
