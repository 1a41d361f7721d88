//! Recognizes folders written by dupsift: results and indexes. Such folders are not read as input unless you specify them.
//!
//! A result is recognized by `run.json` and the files next to it, an index by its file names. All of these names are in the folder listing,
//! which is read anyway; a file is opened only if the folder contains a `run.json`.

use super::names::{HELD, SUCCESS};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use dupsift_core::safe_fs::listing::{self, is_absent, is_folder, is_there};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The record of a result.
const RECORD: &str = "run.json";
/// The record of a corpus that was written from a finished run into a separate folder.
const OF_CORPUS: &str = crate::place::overwrite::APPLIED;
/// The names of the marker files and folders that a result contains next to its record.
const BESIDE: [&str; 16] = [
    SUCCESS,
    HELD,
    "attributes",
    "clean",
    "clusters",
    "compare",
    "contaminated",
    "deduped",
    "dropped",
    "flags",
    "model",
    "pages",
    "pairs",
    "passages",
    "rejected",
    "removed",
];
/// The folders of an index.
const OF_INDEX: [&str; 3] = ["batches", "rows", "statistics"];
/// The file with the number of the newest generation in an index; it remains if the generations are lost.
const RECORDED: &str = "generation.json";
/// The lock file that gives one process at a time access to an index.
const LOCK: &str = "lock";
/// The maximum number of bytes that are read from a record; the limit exists because any file may have this name.
pub const MOST_RECORD: u64 = 16 << 20;
/// The number of bytes at the beginning of a record that are checked if the record cannot be parsed.
const HEAD: usize = 4 << 10;

/// The kind of a folder written by dupsift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ours {
    /// The output of `run`, `compare` or `stream`, or a model of `purify`.
    Result,
    /// The text of web pages, written by `purify`.
    Pages,
    /// An index for incremental runs.
    Index,
}

impl Ours {
    /// Returns the kind of folder as one word, for messages and records.
    pub fn word(self) -> &'static str {
        match self {
            Ours::Result => "result",
            Ours::Pages => "pages",
            Ours::Index => "index",
        }
    }

    /// Returns the kind of a folder; `None` if dupsift did not write the folder. Lists only folders that dupsift may have written, because
    /// other folders may be large.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if it is unknown whether dupsift wrote the folder.
    pub fn at(folder: &Path) -> Result<Option<Ours>> {
        let mut has_one = false;
        for name in [RECORD, OF_CORPUS].iter().chain(&OF_INDEX) {
            has_one = has_one || is_there(&folder.join(name))?;
        }
        if !has_one || !is_folder(folder)? {
            return Ok(None);
        }
        Ours::of(folder, &listing::names(folder).map_err(Error::reading("list the folder", folder))?)
    }

    /// Returns the kind of a folder that contains entries with these names; `None` if dupsift did not write it.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if its record cannot be read.
    pub fn of(folder: &Path, names: &[OsString]) -> Result<Option<Ours>> {
        let has = |name: &str| names.iter().any(|there| there == name);
        if has(RECORD) && BESIDE.into_iter().any(has) {
            return of_record(&folder.join(RECORD));
        }
        if has(OF_CORPUS) && BESIDE.into_iter().any(has) {
            return of_record(&folder.join(OF_CORPUS));
        }
        let has_folder = OF_INDEX.into_iter().any(has);
        let is_generation = |name: &OsString| {
            let name = name.to_string_lossy();
            if name == RECORDED {
                return true;
            }
            let number = ["manifest-", "intent-"].iter().find_map(|prefix| name.strip_prefix(prefix));
            let number = number.and_then(|rest| rest.strip_suffix(".json"));
            number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        // During the first run, an index contains only a lock and folders.
        let is_begun = || has(LOCK) && names.iter().all(|name| name == LOCK || OF_INDEX.iter().any(|own| name == own));
        Ok((has_folder && (names.iter().any(is_generation) || is_begun())).then_some(Ours::Index))
    }
}

/// Returns the kind of result to which this record belongs; `None` if dupsift did not write the record.
fn of_record(path: &Path) -> Result<Option<Ours>> {
    /// The fields of a record that identify its writer.
    #[derive(Deserialize)]
    struct Record {
        #[serde(rename = "dupsift")]
        _version: String,
        #[serde(rename = "schema_version")]
        _schema: u32,
        /// Present only in records written by `purify`.
        #[serde(default)]
        prefix: Option<serde::de::IgnoredAny>,
    }
    let bytes = match safe_fs::read_beginning(path, MOST_RECORD) {
        Ok(bytes) => bytes,
        // A name that does not belong to a regular file is not a record.
        Err(error) if error.raw_os_error().is_none_or(|code| code == libc::ENXIO) || is_absent(&error) => {
            return Ok(None);
        }
        Err(error) => return Err(Error::reading("read", path)(error)),
    };
    Ok(match serde_json::from_slice::<Record>(&bytes) {
        Ok(record) if record.prefix.is_some() => Some(Ours::Pages),
        Ok(_) => Some(Ours::Result),
        // A record that cannot be parsed is recognized by its beginning.
        Err(_) => {
            let head = String::from_utf8_lossy(&bytes[..bytes.len().min(HEAD)]);
            (head.contains("\"schema_version\"") && head.contains("\"dupsift\"")).then_some(Ours::Result)
        }
    })
}

/// Finds folders written by dupsift that are reached through links; checks each folder only once.
#[derive(Default)]
pub struct Owners(BTreeMap<PathBuf, Option<Ours>>);

impl Owners {
    /// Returns the folder written by dupsift that is at this resolved path or contains the path. Ignores the folder at the path `named` and
    /// the folders that contain it, because you specified that path.
    ///
    /// # Errors
    /// Returns the errors of [`Ours::at`].
    pub fn of(&mut self, real: &Path, named: &Path) -> Result<Option<(PathBuf, Ours)>> {
        let mut found = None;
        for above in real.ancestors().take_while(|above| !named.starts_with(above)) {
            if let Some(kind) = self.kind(above)? {
                found = Some((above.to_path_buf(), kind));
            }
        }
        Ok(found)
    }

    fn kind(&mut self, folder: &Path) -> Result<Option<Ours>> {
        if let Some(known) = self.0.get(folder) {
            return Ok(*known);
        }
        let kind = Ours::at(folder)?;
        self.0.insert(folder.to_path_buf(), kind);
        Ok(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn kind(names: &[&str], record: Option<&str>) -> Option<Ours> {
        let folder = tempfile::tempdir().expect("a folder");
        if let Some(record) = record {
            fs::write(folder.path().join(RECORD), record).expect("written");
        }
        Ours::of(folder.path(), &names.iter().map(OsString::from).collect::<Vec<_>>()).expect("known")
    }

    #[test]
    fn a_folder_is_ours_by_its_record_and_what_stands_beside_it() {
        let ours = Some("{\"schema_version\": 1, \"dupsift\": \"0.1.0\", \"x\": [1]}");
        let cut = Some("{\n  \"schema_version\": 1,\n  \"dupsift\": \"0.1.0\",\n  \"rec");
        assert_eq!(kind(&["run.json", "_SUCCESS"], ours), Some(Ours::Result));
        assert_eq!(kind(&["_HELD", "run.json"], ours), Some(Ours::Result));
        assert_eq!(kind(&["run.json", "deduped"], cut), Some(Ours::Result));
        let pages = Some("{\"schema_version\": 1, \"dupsift\": \"0.1.0\", \"prefix\": \"\"}");
        assert_eq!(kind(&["run.json", "pages"], pages), Some(Ours::Pages));
        // These folders were not written by dupsift: they contain only a record, a record of another program, or Spark's marker file.
        assert_eq!(kind(&["run.json", "data"], ours), None);
        assert_eq!(kind(&["run.json", "_SUCCESS"], Some("{\"run\": 5}")), None);
        assert_eq!(kind(&["run.json", "_SUCCESS"], Some("not JSON")), None);
        assert_eq!(kind(&["part-00000.parquet", "_SUCCESS"], None), None);
    }

    #[test]
    fn a_record_that_is_no_file_or_has_no_end_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let record = folder.path().join(RECORD);
        let names = ["run.json", "_SUCCESS"].map(OsString::from);
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &record,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("a pipe");
        assert_eq!(Ours::of(folder.path(), &names).expect("known"), None);
        fs::remove_file(&record).expect("removed");
        fs::write(&record, "{\"schema_version\": 1, \"dupsift\": \"0.1.0\", ").expect("written");
        let file = fs::File::options().write(true).open(&record).expect("opened");
        file.set_len(50 << 30).expect("made longer");
        assert_eq!(Ours::of(folder.path(), &names).expect("known"), Some(Ours::Result));
    }

    #[test]
    fn an_index_is_known_by_its_names() {
        for names in [
            &["manifest-00000001.json", "batches"][..],
            &["lock", "batches"],
            &["intent-7.json", "rows"],
            &["generation.json", "batches"],
        ] {
            assert_eq!(kind(names, None), Some(Ours::Index), "{names:?}");
        }
        for names in [
            &["lock", "batches", "a.parquet"][..],
            &["batches", "rows"],
            &["manifest-a.json", "batches"],
            &["manifest-1.json"],
            &["lock"],
        ] {
            assert_eq!(kind(names, None), None, "{names:?}");
        }
    }
}
