//! Finds the index of a batch even if the index has been moved, and checks that it is the same index.

use std::path::{Path, PathBuf};

use super::published::state;
use dupsift_engine::job::run_report::RunReport;
use dupsift_index::{Index, IndexReport, Manifest};

/// Returns whether an index contains everything that the batch was matched against.
pub(crate) fn is_same(manifest: &Manifest, batch: &IndexReport) -> bool {
    let identities = || [manifest.identity(batch.first_doc), manifest.identity_of_files(batch.first_doc)];
    let is_known = batch.identity.is_empty() || identities().contains(&batch.identity);
    is_known && manifest.next_doc >= batch.first_doc
}

/// Returns the index folder for a batch whose result is in `dir`: the first possible location whose index contains everything that the
/// batch was matched against, or, if there is none, the first possible location that exists.
pub fn place_of(batch: &IndexReport, report: &RunReport, dir: &Path) -> PathBuf {
    let places = report.places(&batch.folder, dir);
    let is_it = |dir: &&PathBuf| {
        let index = Index::look(dir, state).ok().flatten();
        index.and_then(|index| index.manifest.as_ref().map(|manifest| is_same(manifest, batch))).unwrap_or(false)
    };
    let found = places.iter().find(is_it).or_else(|| places.iter().find(|dir| dir.is_dir()));
    found.unwrap_or(&places[0]).clone()
}
