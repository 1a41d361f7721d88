//! Converts rows of files to documents on all threads. The modules select files and columns, extract text from HTML pages, and record
//! rejected rows.

pub mod again;
pub mod content_hashes;
pub(crate) mod cuts;
pub mod document;
pub(crate) mod forward;
pub mod ids;
pub mod input_notes;
pub mod inputs;
pub mod kept_texts;
pub mod losses;
pub mod parts;
pub mod purified;
pub(crate) mod purified_store;
pub(crate) mod purify_report;
pub(crate) mod read;
pub mod rejected;
pub mod sample;
pub(crate) mod scopes;
pub(crate) mod source_values;

pub use inputs::{Inputs, Writes, columns, input_endings, look, look_and_write, take_in};
pub use losses::{BadInputReport, OtherInput, OtherInputReport};
pub use purify_report::PurifyReport;
pub use rejected::RejectionsReport;
pub use source_values::SourceReport;
