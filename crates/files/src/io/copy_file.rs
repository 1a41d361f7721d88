//! Copying a file of the corpus: as a whole, or some of its rows.

use super::copying::{Copying, Fits};
use super::find::absolute;
use super::format::Stretch;
use super::names::DASH;
use super::segments::LargePage;
use super::source::{InputFile, Source};
use super::standard_input::is_standard_input;
use super::work_files::STANDARD_INPUT;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

impl InputFile {
    /// Whether it is what came by standard input.
    pub fn is_standard_input(&self) -> bool {
        is_standard_input(&self.path, &self.label)
    }

    /// Returns its absolute path, for a record that is read in other folders; `-` for standard input, which is nowhere any more.
    pub fn recorded_path(&self) -> String {
        if self.is_standard_input() { DASH.to_owned() } else { absolute(&self.path).display().to_string() }
    }

    /// Returns whether its format can be written without some of its rows.
    pub fn can_be_copied(&self) -> bool {
        self.format.copies(self.coding).is_ok()
    }

    /// Checks that rows can be left out of the file; gives the first page that does not fit, if there is one.
    ///
    /// # Errors
    /// [`Error::Usage`] where the format cannot do that; [`Error::BadFile`] where the file cannot be read any more, or has a
    /// column that nothing here can read.
    pub fn check_copying(&self, fits: &Fits<'_>) -> Result<Option<LargePage>> {
        if let Err(why) = self.format.copies(self.coding) {
            return Err(Error::wrong("corpus", format!("{}: {why}", self.path.display())));
        }
        let large = self.format.check_copying(self.reopen()?, fits).map_err(|why| self.bad(why))?;
        Ok(large.map(|Stretch { column, bytes, longest, .. }| LargePage {
            path: self.path.clone(),
            column,
            bytes,
            longest,
        }))
    }

    /// Checks that texts of the file can be written back when they were edited.
    ///
    /// # Errors
    /// [`Error::Usage`] if its format or its encoding does not allow that.
    pub fn check_editing(&self) -> Result<()> {
        let why = |why: String| Error::wrong("cut", format!("{}: {why}", self.path.display()));
        self.format.edits(self.coding).map_err(why)
    }

    /// Copies the chosen rows to a new file, whose folder is there; gives its bytes.
    ///
    /// # Errors
    /// [`Error::BadFile`] where this file is damaged; [`Error::Io`]; what `go_on` says.
    pub fn copy_rows(&self, copying: &Copying<'_>) -> Result<u64> {
        let file = self.reopen()?;
        self.format.copy_rows(file.try_clone().map_err(Error::reading("open", &self.path))?, copying)?;
        self.check_unchanged(&file)?;
        Ok(fs::metadata(copying.out).map_err(Error::io("look at", copying.out))?.len())
    }

    /// Whether a copy of all its rows is a copy of the file: nothing in it is damaged.
    pub fn is_all_rows(&self) -> bool {
        self.lost.is_none() || !self.format.names_columns()
    }

    /// Copies the file as it is; gives its bytes.
    ///
    /// # Errors
    /// As [`InputFile::copy_rows`].
    pub fn copy_whole(&self, out: &Path) -> Result<u64> {
        let file = self.reopen()?;
        let bytes = safe_fs::copy(&self.path, out).map_err(Error::io("copy a file of the corpus to", out))?;
        self.check_unchanged(&file)?;
        Ok(bytes)
    }
}

impl Source {
    /// Where a copy of each file stands in a folder, from the file with this place on (those before it are not of the corpus): as the
    /// file is called, or, where some file is called by a path that leads out of a folder, below what all of them have in common.
    ///
    /// # Errors
    /// [`Error::Usage`] where two files would have one place.
    pub fn places(&self, from: usize) -> Result<Vec<String>> {
        let files = &self.files[from..];
        let leads_out = |label: &str| !Path::new(label).components().all(|part| matches!(part, Component::Normal(_)));
        let labels = files.iter().map(|file| match file.is_standard_input() {
            true => format!("{STANDARD_INPUT}.jsonl{}", file.coding.packing.ending()),
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

/// The files by their paths below the deepest folder that holds all of them.
fn below_all(files: &[InputFile]) -> Result<Vec<String>> {
    let real = |file: &InputFile| {
        let folder = file.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
