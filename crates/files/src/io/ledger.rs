//! The list of what a run has put down in its work folder, for the run that goes on after it was killed.
//!
//! ```text
//! { "crc": 3735928559, "ledger": { "build": ..., "set_aside": [...], "products": { KEY: { "name": ..., "files": [...] } } } }
//! ```
//!
//! The checksum is a CRC-32 of the text of the inner object. The file is written under another name and then renamed: it is always
//! that of some moment, and files that it does not list are of no use. The disk space of the next one is set aside under that name,
//! so that a product for which the disk had just room enough is listed.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::work_files::{LEDGER, is_product};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, MOST_JSON, private};

/// Bytes that are set aside for a ledger at least.
const SPACE: u64 = 64 << 10;

/// What a run has put down.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The program that wrote it: another one takes nothing up.
    pub build: String,
    /// Input files that turned out to be damaged when they were read.
    pub set_aside: Vec<SetAside>,
    /// By their keys.
    pub products: BTreeMap<String, LedgerEntry>,
    /// The input files that the products were made of.
    #[serde(default)]
    pub inputs: LedgerInputs,
}

/// The input files that products were made of, by which a run that goes on knows whether they are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerInputs {
    /// The columns whose values are hashed beside texts and ids.
    pub columns: Vec<String>,
    /// Products were made of documents before this one.
    pub used: u64,
    /// The hashes of contents are those of documents before this one.
    pub hashed: u64,
    /// The files, in the order of their documents.
    pub files: Vec<LedgerInput>,
}

/// An input file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerInput {
    /// How it is called in `FILE#ROW`.
    pub label: String,
    /// What the file system said of it.
    pub stamp: String,
    /// Rows of it whose contents are hashed.
    pub rows: u64,
    /// The hash of their contents.
    pub contents: [u64; 2],
}

/// An input file that a run continues without.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAside {
    /// The file.
    #[serde(with = "path_of_any_bytes")]
    pub path: PathBuf,
    /// What was expected and what came.
    pub why: String,
    /// What the file system said of it then: another file under its name may be whole.
    #[serde(default)]
    pub seen: String,
}

/// A product: what a stage left behind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// What it is, for messages.
    pub name: String,
    /// Its files.
    pub files: Vec<LedgerFile>,
    /// Its plain data.
    #[serde(default)]
    pub data: serde_json::Value,
}

/// A file of a product.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerFile {
    /// Its name in the work folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// What tells it from another one of the same name and size.
    pub crc: u32,
}

#[derive(Serialize, Deserialize)]
struct Signed {
    crc: u32,
    ledger: Box<RawValue>,
}

impl Ledger {
    /// Reads the ledger of a work folder; none where no run has written one.
    ///
    /// # Errors
    /// [`Error::Damaged`] where it is not what was written; [`Error::Io`].
    pub fn read(folder: &Path) -> Result<Option<Ledger>> {
        let path = folder.join(LEDGER);
        let bytes = match private::open(&path).and_then(|file| safe_fs::all_of(&file, MOST_JSON)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(_) if path.is_dir() => {
                let shown = path.display();
                return Err(Error::usage(format!(
                    "{shown} already exists, but dupsift needs to write a file of this name; move it away"
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
            return Err(damaged(format!("it has checksum {found:08x} and not {:08x}", signed.crc)));
        }
        let ledger: Ledger = serde_json::from_str(signed.ledger.get()).map_err(|error| damaged(error.to_string()))?;
        match ledger.foreign() {
            Some((key, name)) => Err(damaged(format!("it lists the file {name:?}, which no product {key:?} has"))),
            None => Ok(Some(ledger)),
        }
    }

    /// Sets aside the disk space of the next ledger: twice that of the one that is there. Where that cannot be, the space is asked for
    /// when it is needed.
    pub fn set_aside(folder: &Path) {
        let (path, half) = paths(folder);
        let bytes = fs::metadata(&path).map_or(0, |there| there.len() * 2).max(SPACE);
        #[cfg(target_os = "linux")]
        if let Ok(file) = open(&half) {
            let _ = rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, bytes);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (half, bytes);
    }

    /// Writes the ledger, and sets aside the space of the next one; until it is written, the earlier one stands.
    ///
    /// # Errors
    /// [`Error::Io`].
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
        Ledger::set_aside(folder);
        Ok(())
    }

    /// The first file, with the key of its product, whose name is not of the form that files of products have.
    fn foreign(&self) -> Option<(&str, &str)> {
        let files = self
            .products
            .iter()
            .flat_map(|(key, product)| product.files.iter().map(move |file| (key.as_str(), file.name.as_str())));
        files.into_iter().find(|(key, name)| !is_product(key, name))
    }

    /// Whether a file of the work folder belongs to a product.
    pub fn lists(&self, name: &str) -> bool {
        self.products.values().flat_map(|product| &product.files).any(|file| file.name == name)
    }
}

/// The ledger of a work folder, and the file that becomes the next one.
fn paths(folder: &Path) -> (PathBuf, PathBuf) {
    (folder.join(LEDGER), folder.join(format!("{LEDGER}.half")))
}

/// Opens the file that becomes the next ledger, with the space that it has; what is no such file is replaced.
fn open(half: &Path) -> std::io::Result<File> {
    private::open_or_create(half).or_else(|_| private::create(half))
}

/// A path as text, or as its bytes where it is none.
mod path_of_any_bytes {
    use serde::{Deserializer, Serializer};

    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub fn serialize<S: Serializer>(path: &Path, to: S) -> std::result::Result<S::Ok, S::Error> {
        let bytes = || Written::Bytes(path.as_os_str().as_encoded_bytes().to_vec());
        path.to_str().map_or_else(bytes, |text| Written::Text(text.to_owned())).serialize(to)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> std::result::Result<PathBuf, D::Error> {
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
            files: vec![file(&format!("{key}-0.run")), file(&format!("{key}-1.product"))],
            data: serde_json::json!({ "rows": 7 }),
        };
        let product = |letter: &str, name: &str| (letter.repeat(32), entry(&letter.repeat(32), name));
        let odd = OsString::from_vec(b"corpus/\xFF\".parquet".to_vec()).into();
        Ledger {
            build: "0.1.0 \"x\"".into(),
            set_aside: vec![
                SetAside {
                    path: "corpus/страница.jsonl".into(),
                    why: "half a \"line\"\n".into(),
                    seen: "7 1.2".into(),
                },
                SetAside { path: odd, why: String::new(), seen: String::new() },
            ],
            products: [product("5", "rows minhash"), product("f", "notes")].into(),
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
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        assert_eq!(Ledger::read(folder.path()).expect("none"), None);
        for ledger in [Ledger::default(), made(), Ledger::default()] {
            ledger.write(folder.path()).expect("written");
            assert_eq!(Ledger::read(folder.path()).expect("whole"), Some(ledger));
            let half = fs::metadata(paths(folder.path()).1).expect("set aside");
            assert!(fs::read_dir(folder.path()).expect("a folder").count() == 2 && half.len() == SPACE);
        }
        let (there, gone) = (format!("{}-0.run", "f".repeat(32)), format!("{}-0.run", "e".repeat(32)));
        assert!(made().lists(&there) && !made().lists(&gone) && !made().lists("notes"));
    }

    /// One that is longer than what was set aside, then a short one in its place.
    #[test]
    fn a_ledger_of_any_length_is_written_in_the_space_set_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        Ledger::set_aside(folder.path());
        let long = Ledger { build: "x".repeat(3 * SPACE as usize), ..made() };
        for ledger in [&long, &made(), &long] {
            ledger.write(folder.path()).expect("written");
            assert_eq!(Ledger::read(folder.path()).expect("whole").as_ref(), Some(ledger));
        }
        assert!(fs::metadata(paths(folder.path()).1).expect("set aside").len() > 6 * SPACE);
    }

    /// Each flipped bit and each cut: an error that names the file, or the same ledger.
    #[test]
    fn every_damage_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
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
