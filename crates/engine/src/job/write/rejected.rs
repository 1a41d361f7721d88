//! Writes `rejected/`, which lists the files and rows that could not be used.

use std::path::{Path, PathBuf};

use crate::reading::ids::Ids;
use crate::reading::losses::{CORPUS, Losses};
use crate::reading::rejected::Rejected;
use crate::session::Session;
use dupsift_core::error::Result;
use dupsift_input::{BadInput, TableReader};
use dupsift_publish::{Stage, TableWriter};
use dupsift_tables::{RejectReason, RejectedBuilder, rejected_of, rejected_schema};

/// Returns the path of the `rejected/` table in an output folder.
pub fn rejected_table(out: &Path) -> PathBuf {
    out.join("rejected/part-00000.parquet")
}

/// Writes the `rejected/` table of a job, which lists files and rows that could not be used, first for the corpus and then for every other
/// input.
pub fn write_rejected(
    session: &Session<'_>,
    stage: &Stage,
    rejected: &Rejected,
    losses: &Losses<'_>,
    ids: &Ids<'_>,
) -> Result<(u64, u64)> {
    let path = rejected_table(stage.path());
    let mut writer = list_rejected(session, &path, losses.bad, rejected, ids)?;
    let schema = rejected_schema();
    let columns: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    for other in &losses.others {
        for batch in TableReader::open(&other.rejected, &columns)? {
            writer.write(&rejected_of(&batch?, &other.report.input)?)?;
        }
    }
    writer.close()
}

/// Begins a table in the format of `rejected/` with the rejected files and rows of one reader.
pub(crate) fn list_rejected(
    session: &Session<'_>,
    path: &Path,
    bad: &[BadInput],
    rejected: &Rejected,
    ids: &Ids<'_>,
) -> Result<TableWriter> {
    let mut writer = TableWriter::create(path, rejected_schema())?;
    let mut builder = RejectedBuilder::new(CORPUS);
    for file in bad {
        builder.push(&file.label, None, None, RejectReason::UnusableFile, &file.why);
    }
    rejected.each(session.engine, |doc, reason, detail| {
        let (file, row) = session.source.locate(doc);
        builder.push(&file.label, Some(row), Some(ids.of(doc).as_ref()), reason, detail);
        if builder.is_full() {
            writer.write(&builder.finish()?)?;
        }
        Ok(())
    })?;
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    Ok(writer)
}
