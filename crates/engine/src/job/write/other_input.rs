//! Collects the unreadable rows and files of inputs other than the corpus, for `rejected/`, the guards and the record.

use super::rejected::list_rejected;
use crate::job::decide::last_pass;
use crate::reading::input_notes;
use crate::reading::inputs::Inputs;
use crate::reading::losses::{BadInputReport, OtherInput, OtherInputReport, read_counts};
use crate::reading::rejected::Rejected;
use crate::session::Session;
use dupsift_algorithms::steps::guard;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::is_there;
use dupsift_publish::REJECTED;
use dupsift_tables::IdsSeen;

/// Lists the rows and files of an input that could not be read.
///
/// # Errors
/// Returns an error if the disk is full or the run is interrupted.
pub fn lost(
    name: &str,
    session: &Session<'_>,
    inputs: &Inputs,
    ids_seen: &IdsSeen,
    rejected: &Rejected,
) -> Result<OtherInput> {
    let ids = last_pass::ids_of_rejected(session, ids_seen, rejected)?;
    let table = session.engine.dir.join(format!("{name}{REJECTED}"));
    // The table may remain from an earlier attempt that ended because a file of the corpus was damaged.
    if is_there(&table)? {
        std::fs::remove_file(&table).map_err(Error::io("remove", &table))?;
    }
    list_rejected(session, &table, &inputs.bad, rejected, &ids)?.close()?;
    let rejections = rejected.report();
    let used = session.documents() - rejections.rows;
    let counts = read_counts(session, &inputs.bad, used, rejections.broken);
    let report = OtherInputReport {
        input: name.to_owned(),
        bad_inputs: inputs.bad.iter().map(BadInputReport::from).collect(),
        rows: session.documents(),
        used,
        warnings: input_notes::of_reading(session, &rejections).into_iter().chain(ids_seen.warning()).collect(),
        rejections,
    };
    Ok(OtherInput::new(report, guard::reading(&counts, session.options.guards.max_rejected_share), table))
}
