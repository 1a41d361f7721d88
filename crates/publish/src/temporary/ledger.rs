//! Reads and writes the ledger in a run's temporary folder: the list of checkpoints from which a killed run resumes.
//!
//! ```text
//! { "crc": 3735928559, "ledger": { "build": ..., "skipped": [...], "checkpoints": { KEY: { "name": ..., "files": [...] } } } }
//! ```
//!
//! The checksum is the CRC-32 of the inner object's text. The file is written under a temporary name and then renamed, so it is always
//! consistent. Checkpoint files that are not listed in the ledger are ignored. Disk space for the next ledger is reserved under the
//! temporary name, so that the ledger can be written even if a checkpoint has filled the disk.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::place::work_files::{LEDGER, is_checkpoint_file};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, MOST_JSON, private};

/// The minimum number of bytes reserved for a ledger.
const SPACE: u64 = 64 << 10;

/// The saved state of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The program version that wrote the ledger; only the same version can resume from it.
    pub build: String,
    /// The input files that were found to be damaged when they were read.
    pub skipped: Vec<SkippedFile>,
    /// The checkpoints by key.
    pub checkpoints: BTreeMap<String, LedgerEntry>,
    /// The input files from which the checkpoints were computed.
    #[serde(default)]
    pub inputs: LedgerInputs,
    /// The index that the corpus was matched against, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matched: Option<LedgerMatch>,
}

/// The index that a run was matched against.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerMatch {
    /// An identifier for the content of the index.
    pub content: String,
    /// The number of document numbers that are reserved for indexed documents. The documents in the corpus are numbered after the indexed
    /// documents.
    pub base: u64,
}

/// The input files from which checkpoints were computed; a resumed run checks that they have not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerInputs {
    /// The columns whose values are hashed in addition to the text and the id.
    pub columns: Vec<String>,
    /// The checkpoints use only documents with numbers below this value.
    pub used: u64,
    /// The content hashes cover the documents with numbers below this value.
    pub hashed: u64,
    /// The files, in document order.
    pub files: Vec<LedgerInput>,
}

/// An input file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerInput {
    /// The label of the file, as used in `FILE#ROW`.
    pub label: String,
    /// The file system metadata of the file.
    pub stamp: String,
    /// The number of hashed rows in the file.
    pub rows: u64,
    /// The hash of the contents of the hashed rows.
    pub contents: [u64; 2],
}

/// An input file that a run skips.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedFile {
    /// The path of the file.
    #[serde(with = "path_of_any_bytes")]
    pub path: PathBuf,
    /// A description of the problem.
    pub why: String,
    /// The file system metadata of the file when it was found to be damaged. A different file with the same name may be intact.
    #[serde(default)]
    pub seen: String,
}

/// A checkpoint: the output of a stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// The name of the checkpoint in messages.
    pub name: String,
    /// The files of the checkpoint.
    pub files: Vec<LedgerFile>,
    /// The data that is stored in the ledger itself.
    #[serde(default)]
    pub data: serde_json::Value,
}

/// A file of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerFile {
    /// The name of the file in the temporary folder.
    pub name: String,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The checksum, which distinguishes the file from other files with the same name and size.
    pub crc: u32,
}

#[derive(Serialize, Deserialize)]
struct Signed {
    crc: u32,
    ledger: Box<RawValue>,
}

impl Ledger {
    /// Reads the ledger of a temporary folder; `None` if no run has written a ledger.
    ///
    /// # Errors
    /// Returns [`Error::Damaged`] if the content does not match its checksum, or [`Error::Io`].
    pub fn read(folder: &Path) -> Result<Option<Ledger>> {
        let path = folder.join(LEDGER);
        let bytes = match private::open(&path).and_then(|file| safe_fs::all_of(&file, MOST_JSON)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_) if path.is_dir() => {
                let shown = path.display();
                return Err(Error::usage(format!(
                    "{shown} already exists, but dupsift needs to write a file with this name; move or rename it"
                )));
            }
            Err(error) if [ErrorKind::InvalidInput, ErrorKind::InvalidData].contains(&error.kind()) => {
                return Err(Error::Damaged { path, why: error.to_string() });
            }
            Err(error) if path.is_symlink() => {
                return Err(Error::Damaged { path, why: format!("it is a link ({error})") });
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let damaged = |why: String| Error::Damaged { path: path.clone(), why };
        let signed: Signed = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        let found = crc32fast::hash(signed.ledger.get().as_bytes());
        if found != signed.crc {
            return Err(damaged(format!("it has checksum {found:08x} instead of {:08x}", signed.crc)));
        }
        let ledger: Ledger = serde_json::from_str(signed.ledger.get()).map_err(|error| damaged(error.to_string()))?;
        match ledger.foreign() {
            Some((key, name)) => Err(damaged(format!("it lists the file {name:?}, which is not part of {key:?}"))),
            None => Ok(Some(ledger)),
        }
    }

    /// Reserves disk space for the next ledger: twice the size of the current ledger. If the reservation fails, the space is allocated when
    /// it is needed.
    pub fn reserve(folder: &Path) {
        let (path, half) = paths(folder);
        let bytes = fs::metadata(&path).map_or(0, |there| there.len() * 2).max(SPACE);
        #[cfg(target_os = "linux")]
        if let Ok(file) = open(&half) {
            let _ = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (half, bytes);
    }

    /// Writes the ledger and reserves space for the next ledger. The previous ledger remains valid until the new ledger is written.
    ///
    /// # Errors
    /// Returns [`Error::Io`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        let (path, half) = paths(folder);
        let text = serde_json::to_string(self).map_err(Error::table("write the ledger"))?;
        let crc = crc32fast::hash(text.as_bytes());
        let ledger = RawValue::from_string(text).map_err(Error::table("write the ledger"))?;
        let bytes = serde_json::to_vec(&Signed { crc, ledger }).map_err(Error::table("write the ledger"))?;
        let written =
            open(&half).and_then(|file| file.write_all_at(&bytes, 0).and_then(|()| file.set_len(bytes.len() as u64)));
        written.map_err(Error::io("write", &half))?;
        private::rename(&half, LEDGER.as_ref()).map_err(Error::io("replace", &path))?;
        Ledger::reserve(folder);
        Ok(())
    }

    /// Returns the key and the file name of the first checkpoint file that does not follow the naming scheme.
    fn foreign(&self) -> Option<(&str, &str)> {
        let files = self
            .checkpoints
            .iter()
            .flat_map(|(key, checkpoint)| checkpoint.files.iter().map(move |file| (key.as_str(), file.name.as_str())));
        files.into_iter().find(|(key, name)| !is_checkpoint_file(key, name))
    }

    /// Returns whether a file in the temporary folder belongs to a checkpoint.
    pub fn lists(&self, name: &str) -> bool {
        self.checkpoints.values().flat_map(|checkpoint| &checkpoint.files).any(|file| file.name == name)
    }
}

/// Returns the paths of the ledger and of the file that becomes the next ledger.
fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join(LEDGER), folder.join(format!("{LEDGER}.half")))
}

/// Opens the file that becomes the next ledger and keeps its reserved space. Creates a new file if the existing file cannot be opened.
fn open(half: &Path) -> std::io::Result<File> {
    private::open_or_create(half).or_else(|_| private::create(half))
}

/// Stores a path as text, or as bytes if it is not UTF-8.
mod path_of_any_bytes {
    use serde::{Deserializer, Serializer};

    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
        let bytes = || Written::Bytes(path.as_os_str().as_encoded_bytes().to_vec());
        path.to_str().map_or_else(bytes, |text| Written::Text(text.to_owned())).serialize(to)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> std::result::Result<PathBuf, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::Text(text) => text.into(),
            Written::Bytes(bytes) => OsString::from_vec(bytes).into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Ledger {
        let file = |name: &str| LedgerFile { name: name.into(), bytes: 1 << 60, crc: u32::MAX };
        let entry = |key: &str, name: &str| LedgerEntry {
            name: name.into(),
            files: vec![file(&format!("{key}-0.run")), file(&format!("{key}-1.saved"))],
            data: serde_json::json!({ "rows": 7 }),
        };
        let checkpoint = |letter: &str, name: &str| (letter.repeat(32), entry(&letter.repeat(32), name));
        let odd = OsString::from_vec(b"corpus/\xFF\".parquet".to_vec()).into();
        Ledger {
            build: "0.1.0 \"x\"".into(),
            skipped: vec![
                SkippedFile {
                    path: "corpus/страница.jsonl".into(),
                    why: "half a \"line\"\n".into(),
                    seen: "7 1.2".into(),
                },
                SkippedFile { path: odd, why: String::new(), seen: String::new() },
            ],
            checkpoints: [checkpoint("5", "rows minhash"), checkpoint("f", "notes")].into(),
            inputs: LedgerInputs {
                columns: vec!["score".into()],
                used: u64::MAX,
                hashed: 7,
                files: vec![LedgerInput {
                    label: "a \"b\".jsonl".into(),
                    stamp: "7 1.2 3.4 5:6".into(),
                    rows: 7,
                    contents: [u64::MAX, 0],
                }],
            },
            matched: Some(LedgerMatch { content: "5f".into(), base: 65_536 }),
        }
    }

    /// Returns a folder to which nobody else may write, regardless of the umask.
    fn private_folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(folder.path(), mode).expect("set");
        folder
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = private_folder();
        assert_eq!(Ledger::read(folder.path()).expect("none"), None);
        for ledger in [Ledger::default(), made(), Ledger::default()] {
            ledger.write(folder.path()).expect("written");
            assert_eq!(Ledger::read(folder.path()).expect("whole"), Some(ledger));
            let half = fs::metadata(paths(folder.path()).1).expect("reserved");
            assert!(fs::read_dir(folder.path()).expect("a folder").count() == 2 && half.len() == SPACE);
        }
        let (there, gone) = (format!("{}-0.run", "f".repeat(32)), format!("{}-0.run", "e".repeat(32)));
        assert!(made().lists(&there) && !made().lists(&gone) && !made().lists("notes"));
    }

    /// Writes a ledger that exceeds the reserved space, then a short ledger.
    #[test]
    fn a_ledger_of_any_length_is_written_in_the_space_set_aside() {
        let folder = private_folder();
        Ledger::reserve(folder.path());
        let long = Ledger { build: "x".repeat(3 * SPACE as usize), ..made() };
        for ledger in [&long, &made(), &long] {
            ledger.write(folder.path()).expect("written");
            assert_eq!(Ledger::read(folder.path()).expect("whole").as_ref(), Some(ledger));
        }
        assert!(fs::metadata(paths(folder.path()).1).expect("reserved").len() > 6 * SPACE);
    }

    /// After any bit flip or truncation, reading returns the same ledger or an error that names the file.
    #[test]
    fn every_damage_is_named() {
        let folder = private_folder();
        made().write(folder.path()).expect("written");
        let path = folder.path().join(LEDGER);
        let whole = fs::read(&path).expect("there");
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("written");
            Ledger::read(folder.path())
        };
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                match read(&flipped) {
                    Ok(ledger) => assert_eq!(ledger, Some(made())),
                    Err(error) => {
                        assert!(matches!(&error, Error::Damaged { path: named, .. } if *named == path), "{error}")
                    }
                }
            }
            assert!(matches!(read(&whole[..at]), Err(Error::Damaged { .. })), "{at}");
        }
    }
}
