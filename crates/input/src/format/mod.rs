//! Defines the interface of input formats. `formats` lists the formats.
//!
//! A format answers four questions: what is true of all its files ([`Facts`]), how a file is opened and read ([`Format`]), how some of its
//! rows are copied ([`Copies`]), and how ids are read from files that are not part of the corpus ([`Ids`]).

pub(crate) mod columns;
pub(crate) mod copies;
pub(crate) mod facts;
pub(crate) mod ids;
pub(crate) mod known;
pub(crate) mod nested;
pub(crate) mod open;
pub(crate) mod read;
pub(crate) mod schema;
pub(crate) mod signs;
pub(crate) mod starts;
pub(crate) mod stretch;
pub(crate) mod want;

use crate::compressed::coding::Coding;
use crate::format::copies::Copies;
use crate::format::facts::Facts;
use crate::format::ids::Ids;
use crate::format::known::{KnownColumns, Look};
use crate::format::open::{Opened, Opening, Unusable};
use crate::format::read::Reading;
use crate::format::starts::{Starts, Within};
use crate::format::stretch::Stretch;
use dupsift_core::error::Result;
use dupsift_tables::Documents;
use std::fmt::Debug;
use std::fs::File;

/// A format of input files.
pub trait Format: Debug + Sync {
    /// Returns what is true of all files of this format.
    fn facts(&self) -> &'static Facts;

    /// Returns the columns of a file.
    ///
    /// Returns `None` if the format has no fixed columns and the file has no rows.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn columns(&self, file: File, coding: Coding, look: Look<'_>) -> std::result::Result<Option<KnownColumns>, String>;

    /// Inspects a file to determine which of the requested columns it contains, how many rows it has, and where it can be split. If the file
    /// is read to its end and cannot be split, it may be repacked in the same pass.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be used.
    fn open(&self, file: File, opening: Opening<'_>) -> std::result::Result<Opened, Unusable>;

    /// Calls `each` with batches of the part's rows, in order.
    ///
    /// # Errors
    /// Returns `Reading::bad` if the file is damaged, and any error from `each`.
    fn read(&self, file: File, reading: &Reading<'_>, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()>;

    /// Returns how rows are copied.
    ///
    /// # Errors
    /// Returns the reason why rows of this format cannot be copied, and what to do instead.
    fn copies(&self) -> std::result::Result<&dyn Copies, &'static str>;

    /// Returns how ids are read; `None` if the format has no named columns.
    fn ids(&self) -> Option<&dyn Ids> {
        None
    }

    /// Returns the rows of a piece at which a read can begin without unpacking the preceding rows. The result is empty if pieces cannot be
    /// split or these rows are not known.
    fn starts_within(&self, _file: File, _piece: &Within<'_>) -> Starts {
        Starts::default()
    }

    /// Divides the rows of a part into consecutive stretches that can be read separately, and determines the memory that each stretch
    /// takes. Chunks of up to `small` bytes need not be inspected. The result is empty if a read holds only one batch in memory.
    ///
    /// # Errors
    /// Returns `Reading::bad` if the file is damaged.
    fn stretches(&self, _file: File, _reading: &Reading<'_>, _small: u64) -> Result<Vec<Stretch>> {
        Ok(Vec::new())
    }

    /// Returns the maximum total size of the values of these columns in one row, in bytes. If the size is at most `small` bytes, the result
    /// may be 0.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    fn longest_of(
        &self,
        _file: File,
        _coding: Coding,
        _names: &[String],
        _small: u64,
    ) -> std::result::Result<u64, String> {
        Ok(0)
    }
}
