//! Where the index of a night stands today, and whether what stands there is that index.

use std::path::{Path, PathBuf};

use super::published::state;
use crate::index::{Index, IndexReport, Manifest};

/// Whether an index has what the night was matched against.
pub fn is_same(manifest: &Manifest, night: &IndexReport) -> bool {
    let is_known = night.identity.is_empty() || night.identity == manifest.identity(night.first_doc);
    is_known && manifest.next_doc >= night.first_doc
}

/// Where the index of a night stands: by the path in its record, from the folder at hand or from that of the run; the first of the two that
/// has what the night was matched against, else one that is there.
pub fn place_of(night: &IndexReport, folder: &str) -> PathBuf {
    let places = [PathBuf::from(&night.folder), Path::new(folder).join(&night.folder)];
    let is_it = |dir: &&PathBuf| {
        let index = Index::look(dir, state).ok().flatten();
        index.and_then(|index| index.manifest.as_ref().map(|manifest| is_same(manifest, night))).unwrap_or(false)
    };
    let found = places.iter().find(is_it).or_else(|| places.iter().find(|dir| dir.is_dir()));
    found.unwrap_or(&places[0]).clone()
}
