//! How rows of files become documents, on all threads: the files, what of them is asked for, pages that become texts, rows that
//! cannot be used.

pub(crate) mod again;
pub(crate) mod classes;
pub(crate) mod components;
pub(crate) mod content_hashes;
pub(crate) mod cuts;
pub(crate) mod document;
pub(crate) mod forward;
pub(crate) mod fresh;
pub(crate) mod guests;
pub(crate) mod ids;
pub(crate) mod input_notes;
pub(crate) mod inputs;
pub(crate) mod keep_column;
pub(crate) mod keep_number;
pub(crate) mod kept_texts;
pub(crate) mod losses;
pub(crate) mod meeting;
pub(crate) mod parts;
pub(crate) mod purified;
pub(crate) mod purified_store;
pub(crate) mod purify_report;
pub(crate) mod read;
pub(crate) mod reader;
pub(crate) mod rejected;
pub(crate) mod scopes;
pub(crate) mod source_values;

pub use inputs::{Inputs, Writes, input_endings, look, look_and_write, take_in};
pub use losses::{BadInputReport, OtherInput, OtherInputReport};
pub use purify_report::PurifyReport;
pub use reader::Reader;
pub use rejected::RejectionsReport;
pub use source_values::SourceReport;
