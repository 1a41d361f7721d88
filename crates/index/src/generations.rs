//! Manages the generations of an index: determines which files hold them, which generation is current, and whether all generations can be
//! read.
//!
//! ```text
//! manifest-00000031.json   a generation; the highest one counts, the last KEPT are kept
//! intent-00000032.json     the generation that a run is about to publish: it counts if its output is complete
//! held.json                the generation of a result that a guard holds back
//! generation.json          the number of the highest manifest, so that a missing one is noticed
//! ```
//!
//! Each file is written completely or not at all. Therefore, a file that is missing or cannot be read was damaged after it was written.
//! Nothing is removed from a damaged index, and an earlier generation becomes current only on request (`restore`).

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::files::folder::{BATCHES, names, unfinished, write_durably, write_durably_for};
use crate::manifest::{Batch, FORMAT, Manifest};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::safe_fs::listing::{is_file, is_folder};
use dupsift_core::safe_fs::{self, MOST_JSON, Readers, sync_folder};

/// The number of generations that are kept.
pub(crate) const KEPT: usize = 8;
/// An upper bound for generation numbers; a file name with a larger number is not a generation.
const MOST: u64 = 1 << 48;

const PREFIX: &str = "manifest-";
const INTENT: &str = "intent-";
const HELD: &str = "held.json";
const RECORDED: &str = "generation.json";
const ENDING: &str = ".json";

/// The maximum number of attempts to list a folder while another process is renaming its files.
const ATTEMPTS: usize = 20;

#[derive(Serialize, Deserialize)]
struct Signed {
    manifest: Manifest,
    xxh3: String,
}

/// Reads the format number from a manifest of any format.
#[derive(Deserialize)]
struct AnyFormat {
    manifest: FormatOnly,
}

#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
    #[serde(default)]
    dupsift: String,
}

/// Holds the recorded number of the newest generation.
#[derive(Serialize, Deserialize)]
struct Recorded {
    generation: u64,
    xxh3: String,
}

/// Holds all generations in an index folder.
#[derive(Debug, Default)]
pub struct Generations {
    /// The manifests, in ascending order.
    pub manifests: Vec<Manifest>,
    /// The generation that a run was about to publish.
    pub intended: Option<Manifest>,
    /// The held generation, whose publication was prevented by a guard. The held generation does not have to be the successor of the newest
    /// generation.
    pub held: Option<Manifest>,
}

/// Lists the generation files in an index folder.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// The recorded number of the newest generation; `None` if no number is recorded.
    recorded: Option<u64>,
    /// The numbers of the manifests, in ascending order.
    pub manifests: Vec<u64>,
    /// The numbers of the intents, in ascending order.
    pub intents: Vec<u64>,
    /// Whether there is a held generation.
    pub held: bool,
}

impl Generations {
    /// Reads all generations in an index folder; an empty or missing folder has none.
    ///
    /// # Errors
    /// Returns [`Error::DamagedIndex`] if a generation is missing or cannot be read, and [`Error::Usage`] if a generation has a different
    /// format.
    pub fn read(dir: &Path) -> Result<Generations> {
        settled(|| {
            let listed = Listed::of(dir)?;
            let mut manifests = Vec::new();
            manifests.extend(listed.newest(dir)?);
            let intended = listed.intended(dir)?;
            let held = if listed.held { Some(one(dir, &listed, HELD, None)?) } else { None };
            for pair in listed.manifests.windows(2).rev() {
                if pair[0] + 1 != pair[1] {
                    return Err(damaged(dir, &listed, format!("{} is missing", manifest_name(pair[1] - 1))));
                }
                manifests.push(one(dir, &listed, &manifest_name(pair[0]), Some(pair[0]))?);
            }
            manifests.reverse();
            Ok(Generations { manifests, intended, held })
        })
    }

    /// Reads the newest generation and the generation that a run was about to publish; a reader needs no other generation.
    ///
    /// # Errors
    /// Returns the errors of [`Generations::read`], for these two generations.
    pub fn newest(dir: &Path) -> Result<(Option<Manifest>, Option<Manifest>)> {
        settled(|| {
            let listed = Listed::of(dir)?;
            Ok((listed.newest(dir)?, listed.intended(dir)?))
        })
    }

    /// Returns the number of the newest generation; 0 if there is none.
    pub fn number(&self) -> u64 {
        self.manifests.last().map_or(0, |newest| newest.generation)
    }
}

impl Listed {
    pub(super) fn of(dir: &Path) -> Result<Listed> {
        // The recorded number must be read before the file names, because a writer records a number only after the manifest has its final
        // name.
        let recorded = recorded(dir)?;
        let mut listed = Listed { recorded, ..Listed::default() };
        for name in names(dir)? {
            listed.manifests.extend(number(&name, PREFIX));
            listed.intents.extend(number(&name, INTENT));
            listed.held |= name == HELD;
        }
        listed.manifests.sort_unstable();
        listed.intents.sort_unstable();
        Ok(listed)
    }

    /// Returns the newest generation, which must have the recorded number.
    fn newest(&self, dir: &Path) -> Result<Option<Manifest>> {
        let newest = self.manifests.last().copied();
        if let Some(recorded) = self.recorded.filter(|&recorded| recorded > newest.unwrap_or_default()) {
            return Err(damaged(dir, self, format!("{} is missing", manifest_name(recorded))));
        }
        newest.map(|number| one(dir, self, &manifest_name(number), Some(number))).transpose()
    }

    fn intended(&self, dir: &Path) -> Result<Option<Manifest>> {
        let read = |&number: &u64| one(dir, self, &intent_name(number), Some(number));
        self.intents.last().map(read).transpose()
    }
}

/// Returns whether a folder is an index, that is, whether it has or had a manifest.
///
/// # Errors
/// Returns [`Error::Io`].
pub(super) fn is_index(dir: &Path) -> Result<bool> {
    if recorded(dir)?.is_some() {
        return Ok(true);
    }
    // Lists a folder only if it has this subfolder, because other folders may be large.
    Ok(is_folder(&dir.join(BATCHES))? && !Listed::of(dir)?.manifests.is_empty())
}

/// Returns whether this module writes files with this name to an index folder.
pub(super) fn is_ours(name: &str) -> bool {
    let is_file = |name: &str| {
        [HELD, RECORDED].contains(&name) || number(name, PREFIX).is_some() || number(name, INTENT).is_some()
    };
    is_file(name) || unfinished(name).is_some_and(is_file)
}

/// Saves the next generation as an intent and makes it durable. It can be read by those of these users who may read the newest manifest.
pub(super) fn intend(dir: &Path, next: &Manifest, readers: &Readers) -> Result<()> {
    let (mut readers, listed) = (readers.clone(), Listed::of(dir)?);
    if let Some(&newest) = listed.manifests.last() {
        readers.restrict(Readers::of([&*dir.join(manifest_name(newest))]));
    }
    write_durably_for(dir, &intent_name(next.generation), &encode(next)?, &readers)
}

/// Writes a generation under its name, replacing an existing file, and makes it durable.
pub(super) fn write(dir: &Path, manifest: &Manifest) -> Result<()> {
    let name = manifest_name(manifest.generation);
    let readers = Readers::of([&*dir.join(&name)].into_iter().filter(|path| path.exists()));
    write_durably_for(dir, &name, &encode(manifest)?, &readers)
}

/// Makes the intended generation the newest generation. The change takes effect as soon as the file has its final name; a later failure
/// only causes a warning.
pub(super) fn come_true(dir: &Path, next: &Manifest) -> Result<()> {
    let from = dir.join(intent_name(next.generation));
    fs::rename(&from, dir.join(manifest_name(next.generation))).map_err(Error::io("rename", &from))?;
    if let Err(error) = sync_folder(dir).and_then(|()| record(dir, next.generation)) {
        tracing::warn!(
            "generation {} of the index {} is complete, but its number could not be recorded: {error}",
            next.generation,
            dir.display()
        );
    }
    Ok(())
}

/// Makes the intended generation the held generation, replacing an earlier held generation.
pub(super) fn hold(dir: &Path, next: &Manifest) -> Result<()> {
    rename(dir, &intent_name(next.generation), HELD)
}

/// Records the number of the newest generation.
pub(super) fn record(dir: &Path, generation: u64) -> Result<()> {
    let recorded = Recorded { generation, xxh3: checksum_of(generation) };
    write_durably(dir, RECORDED, &serde_json::to_vec(&recorded).map_err(Error::table("write the generation"))?)
}

/// Removes the given manifests (oldest first), then the given intents, and then the held generation if `held` is set. The remaining
/// generations then form a sequence without gaps, no matter when the process ends.
pub(super) fn remove(dir: &Path, manifests: &[u64], intents: &[u64], held: bool) -> Result<()> {
    let files = manifests.iter().map(|&number| manifest_name(number));
    let files = files.chain(intents.iter().map(|&number| intent_name(number))).chain(held.then(|| HELD.to_owned()));
    let mut any = false;
    for name in files {
        let path = dir.join(name);
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        any = true;
    }
    if any { sync_folder(dir) } else { Ok(()) }
}

/// Removes files whose writer died before finishing them.
pub(super) fn remove_unfinished(dir: &Path) -> Result<()> {
    for name in names(dir)?.into_iter().filter(|name| is_ours(name) && unfinished(name).is_some()) {
        let path = dir.join(name);
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
    }
    Ok(())
}

/// Reads the intent with this number, regardless of other files.
pub(super) fn read_intent(dir: &Path, number: u64) -> Result<Manifest> {
    one(dir, &Listed::default(), &intent_name(number), Some(number))
}

/// Returns the manifests that can be read, in ascending order.
pub(super) fn readable(dir: &Path, listed: &Listed) -> Vec<Manifest> {
    let read = |&number: &u64| decode(dir, &manifest_name(number), Some(number)).ok()?.ok();
    listed.manifests.iter().filter_map(read).collect()
}

fn rename(dir: &Path, from: &str, to: &str) -> Result<()> {
    let from = dir.join(from);
    fs::rename(&from, dir.join(to)).map_err(Error::io("rename", &from))?;
    sync_folder(dir)
}

fn manifest_name(generation: u64) -> String {
    format!("{PREFIX}{generation:08}{ENDING}")
}

fn intent_name(generation: u64) -> String {
    format!("{INTENT}{generation:08}{ENDING}")
}

/// Returns the number in the name of a manifest or an intent. Accepts only one way of writing each number.
fn number(name: &str, prefix: &str) -> Option<u64> {
    let number = name.strip_prefix(prefix)?.strip_suffix(ENDING)?.parse().ok()?;
    (number < MOST && name == format!("{prefix}{number:08}{ENDING}")).then_some(number)
}

fn checksum_of(generation: u64) -> String {
    format!("{:032x}", hash128(&generation.to_le_bytes()))
}

/// Returns the recorded number; `None` for an index that has published nothing, and for other folders.
fn recorded(dir: &Path) -> Result<Option<u64>> {
    let path = dir.join(RECORDED);
    let bytes = match safe_fs::read(&path, MOST_JSON) {
        Ok(bytes) => bytes,
        Err(_) if !is_file(&path)? => return Ok(None),
        Err(error) => return Err(Error::reading("read", &path)(error)),
    };
    // The number serves only to detect a missing file, so a damaged number is ignored.
    let recorded = serde_json::from_slice::<Recorded>(&bytes).ok();
    Ok(recorded.filter(|it| it.xxh3 == checksum_of(it.generation)).map(|it| it.generation))
}

/// Repeats the work if a listed file has disappeared, because writers rename files.
fn settled<T>(work: impl Fn() -> Result<T>) -> Result<T> {
    let mut attempt = 0;
    loop {
        match work() {
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound && attempt < ATTEMPTS => {
                attempt += 1;
            }
            other => return other,
        }
    }
}

fn one(dir: &Path, listed: &Listed, name: &str, number: Option<u64>) -> Result<Manifest> {
    decode(dir, name, number)?.map_err(|why| damaged(dir, listed, format!("{name} cannot be read: {why}")))
}

fn damaged(dir: &Path, listed: &Listed, why: String) -> Error {
    let way_out = match readable(dir, listed).last() {
        Some(Manifest { generation, batches, .. }) => {
            let last = batches.last().map_or_else(String::new, |batch| format!(", whose last batch is {}", batch.name));
            format!(
                "restore the file from a backup, or return to generation {generation}{last}, with: dupsift index restore {} {generation}",
                dir.display()
            )
        }
        None => "restore the file from a backup, or create another index".to_owned(),
    };
    Error::DamagedIndex { dir: dir.to_path_buf(), why, way_out }
}

fn encode(manifest: &Manifest) -> Result<Vec<u8>> {
    let signed = Signed { manifest: manifest.clone(), xxh3: checksum(manifest)? };
    serde_json::to_vec_pretty(&signed).map_err(Error::table("write the manifest"))
}

fn checksum(manifest: &Manifest) -> Result<String> {
    let plain = serde_json::to_vec(manifest).map_err(Error::table("write the manifest"))?;
    Ok(format!("{:032x}", hash128(&plain)))
}

/// Reads a manifest file; the inner error states why its bytes are invalid.
fn decode(dir: &Path, name: &str, number: Option<u64>) -> Result<std::result::Result<Manifest, String>> {
    let path = dir.join(name);
    let bytes = safe_fs::read(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
    let another_format = |format: u32, dupsift: &str| {
        Error::wrong(
            "index",
            format_args!(
                "{} has format {format}, but this version reads format {FORMAT}; use dupsift {dupsift}, which wrote it, or create another index",
                path.display()
            ),
        )
    };
    let signed: Signed = match serde_json::from_slice(&bytes) {
        Ok(signed) => signed,
        Err(error) => match serde_json::from_slice::<AnyFormat>(&bytes) {
            Ok(AnyFormat { manifest }) if manifest.format != FORMAT => {
                return Err(another_format(manifest.format, &manifest.dupsift));
            }
            _ => return Ok(Err(error.to_string())),
        },
    };
    let (found, manifest) = (checksum(&signed.manifest)?, signed.manifest);
    if found != signed.xxh3 {
        return Ok(Err(format!("its contents have checksum {found} instead of {}", signed.xxh3)));
    }
    if manifest.format != FORMAT {
        return Err(another_format(manifest.format, &manifest.dupsift));
    }
    if let Some(why) = manifest.fault() {
        return Ok(Err(why));
    }
    let is_it = number.is_none_or(|number| number == manifest.generation);
    Ok(if is_it { Ok(manifest) } else { Err(format!("it contains generation {}", manifest.generation)) })
}

/// Indicates whether the output of a batch is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The output is complete.
    Published,
    /// The output is missing or incomplete.
    Lost,
}

/// Returns the intended generation if it follows the newest generation and adds a batch whose output is complete.
pub(super) fn came_true(
    intended: Option<Manifest>,
    newest: u64,
    published: impl Fn(&Batch) -> Result<State>,
) -> Result<Option<Manifest>> {
    let Some(intended) = intended else { return Ok(None) };
    let Some(batch) = added(&intended, newest) else { return Ok(None) };
    Ok((published(batch)? == State::Published).then_some(intended))
}

/// Returns the batch that an intent adds to the newest generation. Returns `None` for any other change to the index, because such a change
/// has no output that shows whether it was completed.
pub(super) fn added(intended: &Manifest, newest: u64) -> Option<&Batch> {
    let follows = intended.generation == newest + 1;
    intended.batches.last().filter(|batch| follows && batch.generation == intended.generation)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(generation: u64) -> Manifest {
        Manifest { format: FORMAT, generation, next_doc: 7 * generation, ..Manifest::default() }
    }

    fn made(upto: u64) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for generation in 1..=upto {
            intend(folder.path(), &manifest(generation), &Readers::default()).unwrap();
            assert_eq!(Generations::read(folder.path()).unwrap().intended, Some(manifest(generation)));
            come_true(folder.path(), &manifest(generation)).unwrap();
        }
        folder
    }

    fn said(dir: &Path) -> String {
        Generations::read(dir).unwrap_err().to_string()
    }

    #[test]
    fn the_newest_generation_counts_and_all_are_read() {
        let folder = made(10);
        let read = Generations::read(folder.path()).unwrap();
        assert_eq!(read.manifests, (1..=10).map(manifest).collect::<Vec<_>>());
        assert_eq!((read.number(), read.intended, read.held), (10, None, None));
        assert_eq!(Generations::newest(folder.path()).unwrap(), (Some(manifest(10)), None));
        remove(folder.path(), &[1, 2], &[], false).unwrap();
        assert_eq!(Generations::read(folder.path()).unwrap().manifests.len(), 8);
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(Generations::read(empty.path()).unwrap().number(), 0);
        assert_eq!(Generations::read(&empty.path().join("none")).unwrap().number(), 0);
    }

    /// Checks that every flipped bit and every truncation of a file is reported with the file name, and that no other generation is used
    /// instead of the damaged one.
    #[test]
    fn a_generation_that_cannot_be_read_is_named() {
        let folder = made(5);
        let path = folder.path().join("manifest-00000005.json");
        let whole = fs::read(&path).unwrap();
        for bit in 0..8 * whole.len() {
            let mut torn = whole.clone();
            torn[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &torn).unwrap();
            let newest = Generations::newest(folder.path());
            // Changes to white space or to the case of an exponent letter have no effect.
            if let Ok((Some(found), _)) = &newest {
                assert_eq!(found, &manifest(5), "bit {bit}");
                continue;
            }
            let error = newest.unwrap_err();
            assert!(matches!(error, Error::DamagedIndex { .. }), "bit {bit}: {error}");
            let said = error.to_string();
            assert!(said.contains("manifest-00000005.json") && said.ends_with(" 4"), "{said}");
        }
        for end in 0..whole.len() - 1 {
            fs::write(&path, &whole[..end]).unwrap();
            assert!(said(folder.path()).contains("manifest-00000005.json cannot be read"), "{end}");
        }
        fs::remove_file(&path).unwrap();
        assert!(said(folder.path()).contains("manifest-00000005.json is missing"));
        assert!(Generations::newest(folder.path()).is_err() && is_index(folder.path()).unwrap());
        fs::copy(folder.path().join("manifest-00000004.json"), &path).unwrap();
        assert!(said(folder.path()).contains("it contains generation 4"));
        fs::write(&path, &whole).unwrap();
        // Damage to an older generation does not affect a reader.
        fs::write(folder.path().join("manifest-00000002.json"), "{").unwrap();
        assert!(said(folder.path()).contains("manifest-00000002.json cannot be read"));
        assert!(Generations::newest(folder.path()).is_ok());
        fs::remove_file(folder.path().join("manifest-00000002.json")).unwrap();
        assert!(said(folder.path()).contains("manifest-00000002.json is missing"));
    }

    #[test]
    fn an_intent_and_what_is_held_have_to_be_readable_too() {
        let folder = made(2);
        intend(folder.path(), &manifest(3), &Readers::default()).unwrap();
        hold(folder.path(), &manifest(3)).unwrap();
        assert_eq!(Generations::read(folder.path()).unwrap().held, Some(manifest(3)));
        fs::write(folder.path().join(HELD), "").unwrap();
        assert!(said(folder.path()).contains("held.json cannot be read"));
        remove(folder.path(), &[], &[], true).unwrap();
        intend(folder.path(), &manifest(3), &Readers::default()).unwrap();
        fs::write(folder.path().join("intent-00000003.json"), "{}").unwrap();
        assert!(said(folder.path()).contains("intent-00000003.json cannot be read"));
        assert!(Generations::newest(folder.path()).is_err());
    }

    #[test]
    fn another_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let later = Manifest { format: FORMAT + 1, ..manifest(1) };
        intend(folder.path(), &later, &Readers::default()).unwrap();
        come_true(folder.path(), &later).unwrap();
        let says = format!("has format {}, but this version reads format {FORMAT}", FORMAT + 1);
        assert!(said(folder.path()).contains(&says));
        // The manifest has a different format, whose fields this version cannot read.
        let path = folder.path().join("manifest-00000001.json");
        fs::write(&path, r#"{"manifest": {"format": 3, "dupsift": "0.0.9"}, "xxh3": ""}"#).unwrap();
        assert!(said(folder.path()).contains("has format 3"));
    }

    #[test]
    fn names_of_other_files_are_no_generations() {
        for name in [
            "manifest-1.json",
            "manifest-00000001.json.bak",
            "manifest-.json",
            "manifest-99999999999999999.json",
            "held",
        ] {
            assert!(!is_ours(name), "{name}");
        }
        for name in ["manifest-00000001.json", "intent-123456789.json", "held.json", ".held.json.unfinished"] {
            assert!(is_ours(name), "{name}");
        }
    }
}
