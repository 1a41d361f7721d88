//! Determines the paths of the copies of all files, relative to the folder of the copies.

use crate::corpus::source::{InputFile, Source};
use dupsift_core::error::{Error, Result};
use dupsift_publish::STANDARD_INPUT;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

impl Source {
    /// Returns the path of each file's copy, relative to the folder of the copies. Files before `from` are skipped because they are not
    /// part of the corpus. The path is the file's label. If a label would lead out of the folder, all paths are instead relative to the
    /// deepest folder that contains all files.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if two files would have the same path.
    pub fn places(&self, from: usize) -> Result<Vec<String>> {
        let files = &self.files[from..];
        let leads_out = |label: &str| {
            label.contains("://") || !Path::new(label).components().all(|part| matches!(part, Component::Normal(_)))
        };
        let labels = files.iter().map(|file| match file.is_standard_input() {
            true => format!("{STANDARD_INPUT}{}{}", file.format.facts().endings[0], file.coding.packing.ending()),
            false => file.label.clone(),
        });
        let places: Vec<String> =
            if files.iter().any(|file| leads_out(&file.label)) { below_all(files)? } else { labels.collect() };
        let mut known = BTreeSet::new();
        match places.iter().find(|place| !known.insert(place.as_str())) {
            None => Ok(places),
            Some(place) => Err(Error::wrong(
                "corpus",
                format!("two input files would be written to {place:?}; rename one of them"),
            )),
        }
    }
}

/// Returns the paths of the files relative to the deepest folder that contains all of them.
fn below_all(files: &[InputFile]) -> Result<Vec<String>> {
    let real = |file: &InputFile| {
        let folder = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if file.staged.is_some() {
            return Ok((folder.to_path_buf(), file.path.clone()));
        }
        let folder = folder.canonicalize().map_err(Error::reading("look at the folder", folder))?;
        Ok((folder.clone(), folder.join(file.path.file_name().unwrap_or_default())))
    };
    let files = files.iter().map(real).collect::<Result<Vec<_>>>()?;
    let mut above = files.first().map(|(folder, _)| folder.clone()).unwrap_or_default();
    while !files.iter().all(|(folder, _)| folder.starts_with(&above)) && above.pop() {}
    let below =
        |(_, path): &(PathBuf, PathBuf)| path.strip_prefix(&above).unwrap_or(path).to_string_lossy().into_owned();
    Ok(files.iter().map(below).collect())
}
