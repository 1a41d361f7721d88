//! `dupsift index`: what an index holds, and what is done with it between nights.

use std::path::Path;

use anyhow::{Context, Result};
use bytesize::ByteSize;

use super::args::IndexVerb;
use super::log::LogFormat;
use super::signals::cancel_on_signal;
use super::{Exit, log, say, tell};
use crate::nights::upkeep::{self, Forget, Held};
use crate::options::cores_allowed;

/// Bytes of memory that merging may take.
const MEMORY: u64 = 512 << 20;

/// Runs the verb.
///
/// # Errors
/// A folder that is no index; a damaged file; a full disk.
pub fn index(verb: IndexVerb) -> Result<Exit> {
    log::send(LogFormat::Text);
    let cancel = cancel_on_signal()?;
    match verb {
        IndexVerb::Info { dir, json } => info(&dir, json),
        IndexVerb::Verify { dir } => {
            let (files, bytes) = upkeep::verify(&dir, &cancel)?;
            Ok(tell(&format!("{files} files are what was written ({})\n", ByteSize(bytes)), Exit::Done))
        }
        IndexVerb::Compact { dir } => {
            let (before, after) = upkeep::compact(&dir, MEMORY, cores_allowed(), &cancel)?;
            Ok(tell(&format!("{before} folders of rows became {after}\n"), Exit::Done))
        }
        IndexVerb::Forget { dir, id, batch } => {
            let what = batch.map_or_else(|| Forget::Ids(id.into_iter().collect()), Forget::Batch);
            let count = upkeep::forget(&dir, &what)?;
            let rows = if count == 1 { "1 document is".to_owned() } else { format!("{count} documents are") };
            Ok(tell(&format!("{rows} met no more\n"), Exit::Done))
        }
    }
}

fn info(dir: &Path, json: bool) -> Result<Exit> {
    let Held { manifest, rows_bytes, text_bytes } = upkeep::info(dir)?;
    if json {
        say(&(serde_json::to_string_pretty(&manifest).context("cannot write JSON")? + "\n")).context("cannot print")?;
        return Ok(Exit::Done);
    }
    let mut lines = format!(
        "{} documents in {} nights, {} texts ({}), rows in {} folders ({}), generation {}\n",
        manifest.next_doc,
        manifest.batches.len(),
        manifest.texts,
        ByteSize(text_bytes),
        manifest.rows.len(),
        ByteSize(rows_bytes),
        manifest.generation
    );
    lines += &format!("made for {} documents, by dupsift {}\n", manifest.documents_planned, manifest.dupsift);
    if manifest.forgotten() > 0 {
        lines += &format!("{} documents are forgotten\n", manifest.forgotten());
    }
    for line in &manifest.recipe {
        lines += &format!("  {}: {}\n", line.name, line.value);
    }
    for night in &manifest.batches {
        lines += &format!(
            "  {}: {} rows from {} on, {} new texts, {} seen before; {}\n",
            night.name,
            night.rows,
            night.first_doc,
            night.texts,
            night.seen,
            night.out.display()
        );
    }
    Ok(tell(&lines, Exit::Done))
}
