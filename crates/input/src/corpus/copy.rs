//! Copies an input file, or some of its rows.

use crate::copy::copying::{Copying, Fits};
use crate::corpus::segments::LargePage;
use crate::corpus::source::InputFile;
use crate::find::found::absolute;
use crate::find::standard_input::is_standard_input;
use crate::format::copies::{Change, Copies};
use crate::format::known::Look;
use crate::format::stretch::Stretch;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use dupsift_publish::DASH;
use std::fs;
use std::path::Path;

impl InputFile {
    /// Returns whether the file is standard input.
    pub(crate) fn is_standard_input(&self) -> bool {
        is_standard_input(&self.path, &self.label)
    }

    /// Returns the path of the file as it is recorded. The path is absolute because records may be read from a different working directory.
    /// Returns `-` for standard input.
    pub fn recorded_path(&self) -> String {
        if self.is_standard_input() { DASH.to_owned() } else { absolute(&self.path).display().to_string() }
    }

    /// Returns whether the format supports copying a subset of rows.
    pub fn can_be_copied(&self) -> bool {
        self.copies().is_ok()
    }

    /// Returns how a subset of the file's rows is copied.
    fn copies(&self) -> Result<&'static dyn Copies> {
        let copies = self.format.copies().map_err(str::to_owned);
        let checked = copies.and_then(|copies| copies.check(self.coding).map(|()| copies));
        checked.map_err(|why| Error::wrong("corpus", format!("{}: {why}", self.path.display())))
    }

    /// Checks that copied rows can have this change. Returns the reason if they cannot.
    fn changes(&self, change: Change) -> std::result::Result<(), String> {
        let name = self.format.facts().name;
        match self.format.copies() {
            Ok(copies) if copies.changes().contains(&change) => copies.check_changes(self.coding),
            _ => Err(match change {
                Change::Text => format!("text in {name} cannot be changed; convert the file to Parquet or JSON lines"),
                Change::Columns => {
                    format!("columns cannot be added to {name}; convert the file to Parquet or JSON lines")
                }
            }),
        }
    }

    /// Checks that the format supports copying a subset of rows.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the format does not support this.
    pub fn check_format(&self) -> Result<()> {
        self.copies().map(|_| ())
    }

    /// Checks that a subset of the file's rows can be copied. Returns the first page that does not fit into memory, if any.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the format does not support partial copies, or [`Error::BadFile`] if the file has become unreadable or
    /// has an unsupported column.
    pub fn check_copying(&self, fits: &Fits<'_>) -> Result<Option<LargePage>> {
        let large = self.copies()?.check_memory(self.reopen()?, fits).map_err(|why| self.bad(why))?;
        Ok(large.map(|Stretch { column, bytes, longest, unit, .. }| LargePage {
            path: self.path.clone(),
            column,
            bytes,
            longest,
            unit,
        }))
    }

    /// Checks that edited text can be written back to the file.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the format or the encoding does not support editing.
    pub fn check_editing(&self, option: &'static str) -> Result<()> {
        let why = |why: String| Error::wrong(option, format!("{}: {why}", self.path.display()));
        self.changes(Change::Text).map_err(why)
    }

    /// Checks that columns with these names can be added to the file.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the format or the encoding does not support this, or if the file already has such a column. Also returns
    /// an error if the file cannot be read.
    pub fn check_adding(&self, names: &[&str]) -> Result<()> {
        let wrong = |why: String| Error::wrong("add", format!("{}: {why}", self.path.display()));
        self.changes(Change::Columns).map_err(wrong)?;
        let known = self.format.columns(self.reopen()?, self.coding, Look::FirstRows).map_err(|why| self.bad(why))?;
        let known = known.unwrap_or_default().columns;
        match names.iter().find(|name| known.iter().any(|known| known.name == **name)) {
            None => Ok(()),
            Some(name) => Err(wrong(format!("it already has a column {name:?}; rename it, or do not add this column"))),
        }
    }

    /// Copies the chosen rows to a new file in an existing folder. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`] if this file is damaged, [`Error::Io`] if writing fails, or an error from `go_on`.
    pub fn copy_rows(&self, copying: &Copying<'_>) -> Result<u64> {
        let file = self.reopen()?;
        self.copies()?.copy_rows(file.try_clone().map_err(Error::reading("open", &self.path))?, copying)?;
        self.check_unchanged(&file)?;
        Ok(fs::metadata(copying.out).map_err(Error::io("look at", copying.out))?.len())
    }

    /// Returns whether the file can be copied byte for byte if all rows are chosen. This is possible if the file is undamaged or its format
    /// has no named columns.
    pub fn is_all_rows(&self) -> bool {
        self.lost.is_none() || !self.format.facts().names_columns
    }

    /// Copies the file byte for byte. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the same errors as [`InputFile::copy_rows`].
    pub fn copy_whole(&self, out: &Path) -> Result<u64> {
        let file = self.reopen()?;
        let bytes = safe_fs::copy(self.on_disk(), out).map_err(Error::io("copy a file of the corpus to", out))?;
        self.check_unchanged(&file)?;
        Ok(bytes)
    }
}
