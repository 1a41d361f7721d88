//! Implements `dupsift index`, which shows the content of an index and maintains the index between runs.

use std::path::Path;

use anyhow::{Context, Result};
use bytesize::ByteSize;

use crate::cli::signals::cancel_on_signal;
use crate::cli::terminal::log;
use crate::cli::terminal::log::LogFormat;
use crate::cli::typed::args::IndexVerb;
use crate::cli::{Exit, print_result, say};
use dupsift_core::number::{counted, counted_as, thousands};
use dupsift_engine::options::cores_allowed;
use dupsift_incremental::upkeep::copies;
use dupsift_incremental::upkeep::{self, Forget, Held, Restored};

/// The memory limit for merging, in bytes.
const MEMORY: u64 = 512 << 20;

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not an index, if a file is damaged, or if the disk is full.
pub fn index(verb: IndexVerb) -> Result<Exit> {
    log::send(LogFormat::Text);
    let cancel = cancel_on_signal()?;
    match verb {
        IndexVerb::Info { dir, json } => info(&dir, json),
        IndexVerb::Copies { dir, out } => {
            let written = copies::write(&dir, &out, MEMORY, cores_allowed(), &cancel)?;
            let documents = counted_as(written, "document occurs|documents occur");
            Ok(print_result(&format!("{documents} more than once; see {}\n", out.display()), Exit::Done))
        }
        IndexVerb::Verify { dir } => {
            let (files, bytes) = upkeep::verify(&dir, &cancel)?;
            Ok(print_result(&format!("{} verified ({})\n", counted(files, "file"), ByteSize(bytes)), Exit::Done))
        }
        IndexVerb::Compact { dir } => {
            let (before, after) = upkeep::compact(&dir, MEMORY, cores_allowed(), &cancel)?;
            Ok(print_result(
                &match before == after {
                    true => {
                        format!("{}; nothing to merge yet\n", counted(before as u64, "row folder"))
                    }
                    false => {
                        format!("{} merged into {}\n", counted(before as u64, "row folder"), thousands(after as u64))
                    }
                },
                Exit::Done,
            ))
        }
        IndexVerb::Forget { dir, id, batch } => {
            let what = batch.map_or_else(|| Forget::Ids(id.into_iter().collect()), Forget::Batch);
            let count = upkeep::forget(&dir, &what)?;
            let forgotten = counted(count, "document");
            Ok(print_result(&format!("{forgotten} forgotten\n"), Exit::Done))
        }
        IndexVerb::Restore { dir, generation } => {
            Ok(print_result(&restored(&upkeep::restore(&dir, generation)?), Exit::Done))
        }
    }
}

fn restored(restored: &Restored) -> String {
    let Restored { manifest, left_out, unknown } = restored;
    let batches = counted_as(manifest.batches.len() as u64, "batch|batches");
    let mut lines = format!("restored generation {}: {batches}\n", manifest.generation);
    if !left_out.is_empty() {
        lines +=
            &format!("no longer in the index: {}; run these batches again with --overwrite\n", left_out.join(", "));
    }
    if *unknown {
        lines += "a later generation could not be read; run the batches that it added again, or repeat the `dupsift index forget` that created it\n";
    }
    lines
}

fn info(dir: &Path, json: bool) -> Result<Exit> {
    let Held { manifest, rows_bytes, text_bytes } = upkeep::info(dir)?;
    if json {
        say(&(serde_json::to_string_pretty(&manifest).context("cannot write JSON")? + "\n")).context("cannot print")?;
        return Ok(Exit::Done);
    }
    let mut lines = format!(
        "{documents} in {batches}, {texts} ({text_size}), rows in {folders} ({row_size}), generation {}\n",
        manifest.generation,
        documents = counted(manifest.next_doc, "document"),
        batches = counted_as(manifest.batches.len() as u64, "batch|batches"),
        texts = counted(manifest.texts, "distinct text"),
        text_size = ByteSize(text_bytes),
        folders = counted(manifest.rows.len() as u64, "folder"),
        row_size = ByteSize(rows_bytes),
    );
    lines += &format!(
        "planned for {}, created by dupsift {}\n",
        counted(manifest.documents_planned, "document"),
        manifest.dupsift
    );
    if manifest.forgotten() > 0 {
        lines += &format!("{} forgotten\n", counted_as(manifest.forgotten(), "document is|documents are"));
    }
    for line in &manifest.recipe {
        lines += &format!("  {}: {}\n", line.name, line.value);
    }
    for batch in &manifest.batches {
        lines += &format!(
            "  {name}: {rows} starting at document {first}, {new_texts}, {} seen before; {output}\n",
            thousands(batch.seen),
            name = batch.name,
            rows = counted(batch.rows, "row"),
            first = thousands(batch.first_doc),
            new_texts = counted(batch.texts, "new text"),
            output = batch.out.display()
        );
    }
    Ok(print_result(&lines, Exit::Done))
}
