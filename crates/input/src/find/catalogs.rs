//! Recognizes folders whose own catalog lists the data files, so that other files in them are not mistaken for data.
//!
//! A dataset saved by Hugging Face `datasets` contains caches of `map` and `filter` with the same rows as its data. A Delta, Iceberg or
//! Hudi table contains files of earlier versions, which only its log can tell from the current ones.

use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, listing};
use dupsift_publish::MOST_RECORD;
use serde::Deserialize;
use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The file that lists the data files of a saved dataset.
const STATE: &str = "state.json";
/// The file that describes the columns of a saved or downloaded dataset.
const INFO: &str = "dataset_info.json";
/// Further files that describe datasets.
const ABOUT: [&str; 3] = ["dataset_dict.json", "dataset_infos.json", INFO];
/// The number of folders above an input that are checked for the log of a table: folders of partitions.
const MOST_ABOVE: usize = 8;

/// The reason why a file that stands beside data is not data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aside {
    /// The file describes the data.
    Description,
    /// The file is a cache of `datasets`.
    Cache,
    /// The list of the data files does not contain the file.
    Unlisted,
    /// The list of the data files contains the file, but it does not exist.
    Missing,
    /// The file lists data files and is damaged.
    Damaged,
}

impl Aside {
    /// Returns why rows may be missing; `None` if the file cannot contain rows that belong to the data.
    pub(crate) fn lost(self) -> Option<&'static str> {
        match self {
            Aside::Description | Aside::Cache => None,
            Aside::Unlisted => Some("state.json in its folder does not list it; pass the file by name to read it"),
            Aside::Missing => Some("it does not exist, although state.json in its folder lists it"),
            Aside::Damaged => Some("it is damaged: it lists data files that are not in its folder"),
        }
    }
}

/// The files that a folder's catalog lists.
#[derive(Debug, Default)]
pub(crate) struct Catalog {
    /// The data files of a saved dataset; `None` if no file lists them.
    listed: Option<BTreeSet<String>>,
    is_damaged: bool,
    is_dataset: bool,
}

impl Catalog {
    /// Reads the catalog of a folder that contains entries with these names. It is read only if `is_followed` returns true, because it may be
    /// a link that leads out of the inputs.
    pub(crate) fn of(folder: &Path, names: &[OsString], is_followed: impl FnOnce(&Path) -> bool) -> Catalog {
        let has = |name: &str| names.iter().any(|there| there == name);
        let state = Some(folder.join(STATE)).filter(|state| has(STATE) && is_followed(state));
        let mut listed = state.and_then(|state| listed(&state));
        let is_name = |name: &String| Path::new(name).file_name() == Some(name.as_ref());
        let is_damaged = listed.as_ref().is_some_and(|listed| !listed.iter().all(is_name));
        listed.iter_mut().for_each(|listed| listed.retain(is_name));
        Catalog { is_dataset: listed.is_some() || has(INFO), is_damaged, listed }
    }

    /// Returns the data files that are not among these names.
    pub(crate) fn missing(&self, names: &[OsString]) -> Vec<String> {
        let Some(listed) = &self.listed else { return Vec::new() };
        let there: HashSet<&OsStr> = names.iter().map(OsString::as_os_str).collect();
        listed.iter().filter(|name| !there.contains(OsStr::new(name))).cloned().collect()
    }

    /// Returns why a file in the folder is not data; `None` if it may be data.
    pub(crate) fn aside(&self, name: &str) -> Option<Aside> {
        if ABOUT.contains(&name) || (name == STATE && self.listed.is_some()) {
            let is_damaged = name == STATE && self.is_damaged;
            return Some(if is_damaged { Aside::Damaged } else { Aside::Description });
        }
        if !name.ends_with(".arrow") {
            return None;
        }
        let is_listed = self.listed.as_ref().map(|listed| listed.contains(name));
        match is_listed {
            Some(true) => None,
            _ if self.is_dataset && name.starts_with("cache-") => Some(Aside::Cache),
            Some(false) if name.starts_with("tmp") => Some(Aside::Cache),
            Some(false) => Some(Aside::Unlisted),
            None => None,
        }
    }
}

/// Returns the data files that a state file lists; `None` if it is not the state of a dataset.
fn listed(path: &Path) -> Option<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct State {
        #[serde(rename = "_data_files")]
        files: Vec<DataFile>,
    }
    #[derive(Deserialize)]
    struct DataFile {
        filename: String,
    }
    let bytes = safe_fs::read_beginning(path, MOST_RECORD).ok()?;
    let state: State = serde_json::from_slice(&bytes).ok()?;
    Some(state.files.into_iter().map(|file| file.filename).collect())
}

/// Refuses a folder that is a table with a log.
///
/// # Errors
/// Returns [`Error::Usage`] with the command that exports the rows of the table.
pub(crate) fn refuse_table(folder: &Path, names: &[OsString]) -> Result<()> {
    let has = |name: &str| names.iter().any(|there| there == name);
    let shown = folder.display();
    let (kind, export) = if has("_delta_log") {
        ("a Delta table", duckdb("delta_scan", folder))
    } else if has("metadata") && has("data") && is_iceberg(&folder.join("metadata")) {
        ("an Iceberg table", duckdb("iceberg_scan", folder))
    } else if has(".hoodie") {
        let read = format!("spark.read.format(\"hudi\").load({:?})", shown.to_string());
        ("a Hudi table", format!("{read}.write.parquet(\"DIR\")"))
    } else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "{shown} is {kind}, whose folder may contain files that are no longer part of the table; export its rows first: {export}"
    )))
}

/// Refuses a folder inside a table, such as a partition.
///
/// # Errors
/// Returns the same error as [`refuse_table`].
pub(crate) fn refuse_inside_table(folder: &Path) -> Result<()> {
    for (inside, above) in folder.ancestors().zip(folder.ancestors().skip(1)).take(MOST_ABOVE) {
        // The data of an Iceberg table is in one of its folders, so that other folders named `metadata` do not matter.
        let is_of_iceberg = inside.ends_with("data");
        let signs =
            ["_delta_log", ".hoodie"].into_iter().chain(["metadata", "data"].into_iter().filter(|_| is_of_iceberg));
        let there = signs.filter(|sign| above.join(sign).is_dir()).map(OsString::from);
        refuse_table(above, &there.collect::<Vec<_>>())?;
    }
    Ok(())
}

fn duckdb(scan: &str, folder: &Path) -> String {
    format!("duckdb -c \"COPY (FROM {scan}('{}')) TO 'table.parquet'\"", folder.display())
}

/// Returns whether a folder contains the metadata of an Iceberg table, such as `v3.metadata.json` or `00003-UUID.metadata.json`.
fn is_iceberg(metadata: &Path) -> bool {
    let is_version = |name: &str| {
        let version = name.split(['.', '-']).next().unwrap_or_default();
        let version = version.strip_prefix('v').unwrap_or(version);
        !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
    };
    let Ok(names) = listing::names(metadata) else { return false };
    names.iter().any(|name| {
        let name = name.to_string_lossy();
        name == "version-hint.text" || (name.ends_with(".metadata.json") && is_version(&name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::inputs::{find, find_all};
    use crate::find::taking::Taking;
    use std::fs;

    fn write(folder: &Path, name: &str, bytes: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("written");
    }

    fn labels(input: &str) -> Vec<String> {
        find(&[input.to_owned()]).expect("found").into_iter().map(|file| file.label).collect()
    }

    const STATE_OF_TWO: &str =
        "{\"_data_files\": [{\"filename\": \"data-0.arrow\"}, {\"filename\": \"data-1.arrow\"}], \"_split\": null}";

    #[test]
    fn only_the_listed_files_of_a_saved_dataset_are_data() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = folder.path().to_string_lossy().into_owned();
        write(folder.path(), "dataset_dict.json", "{\"splits\": [\"train\", \"test\"]}");
        for split in ["train", "test"] {
            for name in ["cache-0a.arrow", "data-0.arrow", "data-1.arrow", "tmpx1.arrow", "dataset_info.json"] {
                write(folder.path(), &format!("{split}/{name}"), "");
            }
            write(folder.path(), &format!("{split}/state.json"), STATE_OF_TWO);
        }
        let expected = ["test/data-0.arrow", "test/data-1.arrow", "train/data-0.arrow", "train/data-1.arrow"];
        assert_eq!(labels(&input), expected);
        assert_eq!(labels(&format!("{input}/t*/*.arrow")), expected);
        assert_eq!(
            labels(&format!("{input}/train/cache-0a.arrow")),
            ["cache-0a.arrow"],
            "a file that is named is read"
        );
        let found = find_all(&[input], Taking::default()).expect("found");
        let notes = found.unread.notes().join("\n");
        assert!(notes.contains("test/cache-0a.arrow is not read: it is a cache"), "{notes}");
        assert!(notes.contains("train/tmpx1.arrow") && !notes.contains(".json"), "{notes}");
    }

    #[test]
    fn data_files_that_are_missing_or_not_listed_are_bad_inputs() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = folder.path().to_string_lossy().into_owned();
        let state = r#"{"_data_files": [{"filename": "data-0.arrow"}, {"filename": "data-1.arrow"}, {"filename": "../x.arrow"}]}"#;
        for (name, bytes) in
            [("s/data-0.arrow", ""), ("s/mydata.arrow", "abc"), ("s/cache-1.arrow", "abc"), ("s/state.json", state)]
        {
            write(folder.path(), name, bytes);
        }
        for input in [input.clone(), format!("{input}/s/*")] {
            let mut found = find_all(&[input], Taking::default()).expect("found");
            assert_eq!(
                found.files.iter().map(|file| file.label.rsplit('/').next()).collect::<Vec<_>>(),
                [Some("data-0.arrow")]
            );
            let lost = found.unread.take_data();
            let said: Vec<String> = lost.iter().map(|lost| format!("{}: {}", lost.label, lost.why)).collect();
            assert_eq!(said.len(), 3, "{said:?}");
            for (name, why) in [
                ("data-1.arrow", "does not exist, although state.json"),
                ("mydata.arrow", "does not list it; pass the file by name"),
                ("state.json", "it is damaged"),
            ] {
                assert!(said.iter().any(|said| said.contains(&format!("{name}: ")) && said.contains(why)), "{said:?}");
            }
            assert!(found.unread.notes().iter().all(|note| note.contains("cache-1.arrow")));
        }
    }

    #[test]
    fn a_folder_without_data_files_says_why() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "cache/cache-1.arrow", "abc");
        write(folder.path(), "cache/dataset_info.json", "{}");
        write(folder.path(), "state/state.json", r#"{"_data_files": [{"filename": "data-0.arrow"}]}"#);
        for (name, why) in [("cache", "is a cache of the datasets library"), ("state", "it does not exist, although")] {
            let said =
                find(&[folder.path().join(name).to_string_lossy().into_owned()]).expect_err("no data").to_string();
            assert!(said.contains("nothing to read in") && said.contains(why), "{said}");
        }
    }

    #[test]
    fn the_state_behind_a_link_that_is_not_followed_is_not_read() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "in/data-0.arrow", "");
        write(folder.path(), "in/mydata.arrow", "");
        write(folder.path(), "state.json", r#"{"_data_files": [{"filename": "data-0.arrow"}]}"#);
        std::os::unix::fs::symlink("../state.json", folder.path().join("in/state.json")).expect("a link");
        let input = [folder.path().join("in").to_string_lossy().into_owned()];
        let files = |follow_links: bool| {
            let found = find_all(&input, Taking { follow_links, ..Taking::default() }).expect("found");
            found.files.into_iter().map(|file| file.label).filter(|label| label.ends_with(".arrow")).collect::<Vec<_>>()
        };
        assert_eq!(files(true), ["data-0.arrow"]);
        assert_eq!(files(false), ["data-0.arrow", "mydata.arrow"]);
    }

    /// If each listed file were compared with each name, this test would take many seconds.
    #[test]
    fn files_of_a_dataset_with_many_shards_are_compared_in_time() {
        let shard = |at: usize| format!("data-{at:05}-of-50000.arrow");
        let listed = Some((0..50_000).map(shard).collect());
        let catalog = Catalog { listed, ..Catalog::default() };
        let names: Vec<OsString> = (1..50_000).rev().map(|at| shard(at).into()).collect();
        assert_eq!(catalog.missing(&names), [shard(0)]);
    }

    #[test]
    fn caches_beside_a_downloaded_dataset_are_left_out_and_those_alone_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let input = folder.path().to_string_lossy().into_owned();
        for name in ["cache-0a_00000_of_00002.arrow", "wiki-train.arrow"] {
            write(folder.path(), name, "");
        }
        assert_eq!(labels(&input).len(), 2);
        // This is the state of some other program.
        write(folder.path(), "state.json", "{\"epoch\": 5}");
        assert_eq!(labels(&input).len(), 3);
        write(folder.path(), "dataset_info.json", "{}");
        assert_eq!(labels(&input), ["state.json", "wiki-train.arrow"]);
    }

    #[test]
    fn tables_with_a_log_are_refused_with_the_command_that_exports_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
        write(folder.path(), "d/sales/_delta_log/00000000000000000000.json", "{}");
        write(folder.path(), "d/sales/lang=ru/part-0.parquet", "");
        write(folder.path(), "i/metadata/v1.metadata.json", "{}");
        write(folder.path(), "i/data/part-0.parquet", "");
        write(folder.path(), "h/.hoodie/hoodie.properties", "");
        write(folder.path(), "h/a.parquet", "");
        for (input, kind, command) in [
            ("d", "a Delta table", "delta_scan('"),
            ("d/sales", "a Delta table", "sales')"),
            ("d/sales/lang=ru", "a Delta table", "sales')"),
            ("d/sales/*/*.parquet", "a Delta table", "duckdb"),
            ("i", "an Iceberg table", "iceberg_scan('"),
            ("i/data", "an Iceberg table", "iceberg_scan('"),
            ("h", "a Hudi table", "spark.read"),
        ] {
            let why = find(&[at(input)]).expect_err("a table").to_string();
            assert!(why.contains(kind) && why.contains(command), "{input}: {why}");
        }
        assert_eq!(labels(&at("d/sales/lang=ru/part-0.parquet")), ["part-0.parquet"], "a file that is named is read");
        // Other folders may have the same names.
        write(folder.path(), "m/metadata/film.metadata.json", "{}");
        write(folder.path(), "m/data/part-0.parquet", "");
        assert_eq!(labels(&at("m")), ["data/part-0.parquet", "metadata/film.metadata.json"]);
    }
}
