//! Offers what a command needs that makes one pass over a corpus with steps of its own: it opens the inputs, reads documents in a session,
//! collects rejected rows and losses, and publishes an output folder with a record. `crates/commands` imports nothing else from runs.

pub use crate::engine::StageReport;
pub use crate::engine::budget::Budget;
pub use crate::engine::interruptible::interruptible;
pub use crate::engine::progress::{Progress, Unit};
pub use crate::job::check::{check, check_dry};
pub use crate::job::decide::last_pass;
pub use crate::job::run::carry_out;
pub use crate::job::run_report::{BadInputReport, CorpusReport, GuardReport, OtherInputReport, SCHEMA_VERSION};
pub use crate::job::write::corpus_files::{Edited, Folder, check_editing, copy};
pub use crate::job::write::other_input;
pub use crate::job::write::rejected::write_rejected;
pub use crate::job::{Guarded, guards, read_back};
pub use crate::reading::document::View;
pub use crate::reading::ids::{Ids, TakingIds};
pub use crate::reading::inputs::{
    Inputs, Writes, check_named, check_there, find_inputs, find_others, look_into, look_others, notes, take_in,
};
pub use crate::reading::losses::{Losses, OtherInput};
pub use crate::reading::purified::{Seen, each_page, of_corpus};
pub use crate::reading::rejected::{Rejected, Rejecter};
pub use crate::reading::{RejectionsReport, input_notes};
pub use crate::session::PurifyReport;
pub use crate::session::Session;
