//! Where the index of a night stands today, and whether what stands there is that index.

use std::path::{Path, PathBuf};

use super::published::state;
use dupsift_engine::job::run_report::RunReport;
use dupsift_index::{Index, IndexReport, Manifest};

/// Whether an index has what the night was matched against.
pub fn is_same(manifest: &Manifest, night: &IndexReport) -> bool {
    let is_known = night.identity.is_empty() || night.identity == manifest.identity(night.first_doc);
    is_known && manifest.next_doc >= night.first_doc
}

/// Returns where the index of a night stands, whose result is in `dir`: the first place of it that has what the night was matched
/// against, else one that is there.
pub fn place_of(night: &IndexReport, report: &RunReport, dir: &Path) -> PathBuf {
    let places = report.places(&night.folder, dir);
    let is_it = |dir: &&PathBuf| {
        let index = Index::look(dir, state).ok().flatten();
        index.and_then(|index| index.manifest.as_ref().map(|manifest| is_same(manifest, night))).unwrap_or(false)
    };
    let found = places.iter().find(is_it).or_else(|| places.iter().find(|dir| dir.is_dir()));
    found.unwrap_or(&places[0]).clone()
}
