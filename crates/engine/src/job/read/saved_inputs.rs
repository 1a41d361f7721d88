//! Checks whether saved work is based on the input files of this run.
//!
//! A file counts as unchanged if its size, times, device and inode match. A copy that preserves the size and the modification time has a
//! different ctime. However, backing up a file, renaming it or changing its permissions also changes the ctime. Therefore, if anything
//! differs, the rows that the saved work used are read once more and compared by hash before the work is resumed or discarded.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::intake::Intake;
use crate::engine::checkpoints::{Checkpoints, is_same};
use crate::reading::document::View;
use crate::session::Session;
use crate::session::content_hashes::{self, ContentHashes, Sum};
use dupsift_core::error::Result;
use dupsift_core::number::counted;
use dupsift_input::{RowFilter, Source, Want};
use dupsift_publish::LedgerInput;

/// Returns the columns that are hashed.
pub fn columns(session: &Session<'_>) -> Vec<String> {
    want(session).others
}

fn want(session: &Session<'_>) -> Want {
    Intake::wanted(session, View::first(session).want())
}

/// Discards saved work whose input files have changed, and logs a message.
///
/// # Errors
/// Returns an error if a file cannot be read or the run is interrupted.
pub fn check(session: &Session<'_>, checkpoints: &Checkpoints<'_>) -> Result<()> {
    if checkpoints.is_empty() {
        return Ok(());
    }
    let known = checkpoints.inputs();
    let by_label: BTreeMap<&str, &LedgerInput> = known.files.iter().map(|input| (&*input.label, input)).collect();
    let files = session.source.files.iter().enumerate();
    // Files that the saved work does not include are detected by the keys, so this check skips them.
    let differ = files
        .filter_map(|(at, file)| Some((at, *by_label.get(&*file.label)?)).filter(|(_, known)| !is_same(known, file)));
    let differ: BTreeMap<usize, &LedgerInput> = differ.collect();
    let Some(first) = differ.keys().next().map(|at| &session.source.files[*at]) else { return Ok(()) };
    let why = if known.hashed < known.used || known.columns != columns(session) {
        Some((first, "may have been replaced, and its contents cannot be verified"))
    } else {
        let running = session.engine.clock.stage("compare inputs");
        let now = read(session, &differ)?;
        let rows = differ.values().map(|known| known.rows).sum();
        running.end(rows, rows, 0);
        let other = differ.iter().find(|(at, known)| now.get(at) != Some(&known.contents));
        other.map(|(at, _)| (&session.source.files[*at], "has different contents"))
    };
    match why {
        None => {
            let (files, label) = (counted(differ.len() as u64, "input file"), &first.label);
            tracing::info!(
                "{files}, such as {label}, changed only in name, location or permissions; the contents are the same"
            );
            Ok(())
        }
        Some((file, why)) => {
            tracing::warn!("{} {why}; the saved state of an earlier run is discarded", file.path.display());
            checkpoints.discard()
        }
    }
}

/// Reads these files, and hashes the rows that were hashed for the ledger.
fn read(session: &Session<'_>, files: &BTreeMap<usize, &LedgerInput>) -> Result<BTreeMap<usize, Sum>> {
    let ends: Vec<(u64, u64)> = files
        .iter()
        .map(|(at, known)| (session.source.files[*at].first_doc, session.source.files[*at].first_doc + known.rows))
        .collect();
    let pieces = session.pieces().into_iter().filter(|piece| files.contains_key(&piece.file));
    let of_files = session.of_pieces(pieces.collect());
    let sums = hash(&of_files, Some(ends))?;
    Ok(files.keys().map(|at| (*at, sums[*at])).collect())
}

/// Reads these files, and returns a hash of the data that the first pass reads from each file.
///
/// # Errors
/// Returns an error if a file cannot be read or the run is interrupted.
pub fn hash_files(session: &Session<'_>, files: &BTreeSet<usize>) -> Result<BTreeMap<usize, Sum>> {
    let pieces = session.pieces().into_iter().filter(|piece| files.contains(&piece.file));
    let of_files = session.of_pieces(pieces.collect());
    let sums = hash(&of_files, None)?;
    Ok(files.iter().map(|at| (*at, sums[*at])).collect())
}

/// Reads all rows of a corpus, and returns a hash of the data that the first pass reads from each file.
///
/// # Errors
/// Returns an error if a file cannot be read or the run is interrupted.
pub fn hash_all(session: &Session<'_>) -> Result<Vec<Sum>> {
    hash(session, None)
}

fn hash(session: &Session<'_>, within: Option<Vec<(u64, u64)>>) -> Result<Vec<Sum>> {
    let rows = within.map(|ends| {
        let passes = move |doc| {
            let at = ends.partition_point(|(first, _)| *first <= doc);
            at.checked_sub(1).is_some_and(|at| doc < ends[at].1)
        };
        RowFilter::Where(Arc::new(passes))
    });
    let want = Want { rows, ..want(session) };
    let sums = ContentHashes::new(session.source.files.len());
    session.read(
        "compare inputs",
        &want,
        || Ok(Vec::new()),
        |rows, batch| {
            rows.clear();
            for row in 0..batch.len() {
                session.engine.go_on()?;
                let text = batch.text(row).text().map(|text| dupsift_core::hash::hash128(text.as_bytes()));
                rows.push(content_hashes::row(batch, row, text.as_ref().copied()));
            }
            if !rows.is_empty() {
                let (file, sum) = content_hashes::sum(session.source, batch, &want.others, rows)?;
                sums.add(file, sum);
            }
            Ok(())
        },
        |_| Ok(()),
    )?;
    Ok(sums.sums())
}

/// Returns one line that identifies the contents of a whole corpus.
pub fn line(source: &Source, sums: &[Sum]) -> String {
    let lines =
        source.files.iter().zip(sums).map(|(file, sum)| format!("{:?} {}\n", file.label, content_hashes::word(sum)));
    format!("{:032x}", dupsift_core::hash::hash128(lines.collect::<String>().as_bytes()))
}
