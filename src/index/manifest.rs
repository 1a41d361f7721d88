//! The manifest: what an index consists of, one file a generation, with a checksum over all that it says.
//!
//! A generation is whole or not there: its file gets its name by one rename, and what it names was made durable before. The
//! highest whole one counts; the last [`KEPT`] are kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folder::{BATCHES, Named, ROWS, STATISTICS, is_folder, names, sync_folder, write_durably};
use crate::error::{Error, Result};
use crate::files::{self, MOST_JSON};
use crate::hash::hash128;
use crate::io::is_plain;
use crate::spelling::opt;

/// Version of the files of an index. 2: words of documents beside the rows; 3: fences in runs.
pub const FORMAT: u32 = 3;
/// Generations that are kept.
pub const KEPT: usize = 8;

/// No generation is as high, and no index has as many bytes.
const MOST: u64 = 1 << 60;

const PREFIX: &str = "manifest-";
const INTENT: &str = "intent-";
const HELD: &str = "held";
const ENDING: &str = ".json";

/// All that an index consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`FORMAT`].
    pub format: u32,
    /// Counted up with every change.
    pub generation: u64,
    /// Version of the program that wrote it.
    pub dupsift: String,
    /// What signatures depend on, a line each: another index with other lines cannot be met.
    pub recipe: Vec<Line>,
    /// The number of documents that table schemes are chosen by.
    pub documents_planned: u64,
    /// The folder of the statistics and models, below `statistics/`.
    pub statistics: String,
    /// Its files; manifests of earlier versions do not name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statistics_files: Vec<Named>,
    /// The number of the next document.
    pub next_doc: u64,
    /// Different texts.
    pub texts: u64,
    /// The nights, in their order.
    pub batches: Vec<Batch>,
    /// The rows, each folder those of a range of documents, in their order.
    pub rows: Vec<Rows>,
    /// Documents that are to be met no more: ranges of numbers, ascending, apart from each other.
    pub forgotten: Vec<[u64; 2]>,
}

/// A line of the recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// What it is about: the label of an algorithm, `text`.
    pub name: String,
    /// Values with commas between.
    pub value: String,
}

/// A night.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// What the user calls it.
    pub name: String,
    /// Its folder, below `batches/`.
    pub folder: String,
    /// The number of its first document.
    pub first_doc: u64,
    /// Its rows, rejected ones and copies too: so many numbers it has.
    pub rows: u64,
    /// Texts that it brought.
    pub texts: u64,
    /// A hash of its input files.
    pub inputs: String,
    /// The output of its run.
    pub out: PathBuf,
    /// The generation that it was matched against.
    pub read_generation: u64,
    /// Exact copies of earlier documents in it.
    pub seen: u64,
    /// Its documents with a text.
    pub used: u64,
    /// By algorithm: candidates.
    pub candidates: BTreeMap<String, u64>,
    /// Its parts, in order of the documents.
    pub parts: Vec<Part>,
}

/// A file of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The file.
    pub file: Named,
    /// The number of its first document; the others follow, one a row.
    pub first_doc: u64,
    /// Its rows.
    pub rows: u64,
}

/// Rows of signatures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// The folder, below `rows/`.
    pub folder: String,
    /// The number of the first document of which rows may be here.
    pub first_doc: u64,
    /// The number behind the last one.
    pub end_doc: u64,
    /// The files, one an algorithm.
    pub files: Vec<Named>,
}

#[derive(Serialize, Deserialize)]
struct Signed {
    manifest: Manifest,
    xxh3: String,
}

impl Manifest {
    /// The newest whole generation in a folder; none where there is no manifest.
    ///
    /// # Errors
    /// [`Error::Damaged`] where there are some and none is whole; [`Error::Usage`] where the newest is of another version.
    pub fn newest(dir: &Path) -> Result<Option<Manifest>> {
        let mut last = None;
        for generation in generations(dir)?.into_iter().rev() {
            let path = dir.join(name(generation));
            match read(&path) {
                Ok(manifest) if manifest.format == FORMAT => return Ok(Some(manifest)),
                Ok(manifest) => {
                    return Err(Error::wrong(
                        opt("index"),
                        format_args!(
                            "{} is of format {}; expected {FORMAT}, that of this version: use the dupsift {} that wrote it, or make another index",
                            path.display(),
                            manifest.format,
                            manifest.dupsift
                        ),
                    ));
                }
                Err(error) => {
                    tracing::warn!("{error}; an earlier generation is taken");
                    last = Some(error);
                }
            }
        }
        last.map_or(Ok(None), Err)
    }

    /// Writes down what the next generation will be, and makes that durable.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn intend(&self, dir: &Path) -> Result<()> {
        let path = dir.join(format!("{INTENT}{:08}{ENDING}", self.generation));
        write_durably(&path, &self.encode()?)?;
        sync_folder(dir)
    }

    /// What was intended and did not come about.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn intended(dir: &Path) -> Result<Option<Manifest>> {
        let intents = names(dir)?.into_iter().filter(|name| name.starts_with(INTENT) && name.ends_with(ENDING));
        // A torn one was never made durable, so nothing followed it.
        Ok(intents.max().and_then(|name| read(&dir.join(name)).ok()))
    }

    /// Makes what was intended the newest generation.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn come_true(&self, dir: &Path) -> Result<()> {
        let from = dir.join(format!("{INTENT}{:08}{ENDING}", self.generation));
        fs::rename(&from, dir.join(name(self.generation))).map_err(Error::io("rename", &from))?;
        sync_folder(dir)
    }

    /// Writes down the generation that a night would make which a guard holds back, until it is accepted.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn hold(&self, dir: &Path) -> Result<()> {
        write_durably(&dir.join(HELD.to_owned() + ENDING), &self.encode()?)?;
        sync_folder(dir)
    }

    /// What is held back, where it follows this generation: none other can come after it any more.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn held_after(dir: &Path, generation: u64) -> Result<Option<Manifest>> {
        let path = dir.join(HELD.to_owned() + ENDING);
        if !path.is_file() {
            return Ok(None);
        }
        match read(&path) {
            Ok(held) if held.generation == generation + 1 => Ok(Some(held)),
            _ => Manifest::hold_none(dir).map(|()| None),
        }
    }

    /// Holds nothing back any more.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn hold_none(dir: &Path) -> Result<()> {
        let path = dir.join(HELD.to_owned() + ENDING);
        if !path.is_file() {
            return Ok(());
        }
        fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        sync_folder(dir)
    }

    /// Removes intents, and all generations but the last ones.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn forget_older(dir: &Path) -> Result<Vec<Manifest>> {
        let generations = generations(dir)?;
        let (old, kept) = generations.split_at(generations.len().saturating_sub(KEPT));
        let intents = names(dir)?.into_iter().filter(|name| name.starts_with(INTENT));
        for gone in old.iter().map(|&generation| name(generation)).chain(intents) {
            let path = dir.join(gone);
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(kept.iter().filter_map(|&generation| read(&dir.join(name(generation))).ok()).collect())
    }

    /// What no manifest says: a name that is not of the form that this program gives, so that it may lead out of the index; numbers that
    /// contradict each other.
    fn fault(&self) -> Option<String> {
        let folders = self.batches.iter().map(|batch| (BATCHES, &batch.folder));
        let folders = folders.chain(self.rows.iter().map(|rows| (ROWS, &rows.folder)));
        let folders = folders.chain((!self.statistics.is_empty()).then_some((STATISTICS, &self.statistics)));
        let foreign = folders.into_iter().find(|(kind, name)| !is_folder(kind, name));
        if let Some((kind, name)) = foreign {
            return Some(format!("it names the folder {name:?}, and no folder of {kind} is called so"));
        }
        let files = self.batches.iter().flat_map(|batch| batch.parts.iter().map(|part| &part.file));
        let files = files.chain(self.rows.iter().flat_map(|rows| &rows.files));
        let files = files.filter(|file| !is_plain(&file.name));
        let below = self.statistics_files.iter().filter(|file| !file.name.split('/').all(is_plain));
        if let Some(file) = files.chain(below).next() {
            return Some(format!("it names the file {:?}, which is no file of an index", file.name));
        }
        self.numbers_fault()
    }

    fn numbers_fault(&self) -> Option<String> {
        let ends = |first: u64, rows: u64| first.checked_add(rows).is_some_and(|end| end <= self.next_doc);
        for batch in &self.batches {
            let parts =
                batch.parts.iter().all(|part| part.first_doc >= batch.first_doc && ends(part.first_doc, part.rows));
            if !ends(batch.first_doc, batch.rows) || !parts {
                return Some(format!("documents of its batch {:?} lie behind its last one", batch.name));
            }
        }
        let parts = self.batches.iter().flat_map(|batch| batch.parts.iter().map(|part| &part.file));
        let files = parts.chain(self.rows.iter().flat_map(|rows| &rows.files)).chain(&self.statistics_files);
        let bytes = files.fold(0, |bytes: u64, file| bytes.saturating_add(file.bytes));
        if self.generation >= MOST || bytes >= MOST {
            return Some(format!(
                "it is generation {}, of {bytes} bytes in all, which no index reaches",
                self.generation
            ));
        }
        let rows = self.rows.iter().all(|rows| rows.first_doc <= rows.end_doc && rows.end_doc <= self.next_doc);
        let apart = self.forgotten.windows(2).all(|two| two[0][1] < two[1][0]);
        let forgotten = apart && self.forgotten.iter().all(|[from, to]| from < to);
        (!rows || !forgotten).then(|| "ranges of documents in it are turned around".to_owned())
    }

    fn encode(&self) -> Result<Vec<u8>> {
        let signed = Signed { manifest: self.clone(), xxh3: self.checksum()? };
        serde_json::to_vec_pretty(&signed).map_err(Error::table("write the manifest"))
    }

    fn checksum(&self) -> Result<String> {
        let plain = serde_json::to_vec(self).map_err(Error::table("write the manifest"))?;
        Ok(format!("{:032x}", hash128(&plain)))
    }

    /// Forgets ranges of documents.
    pub fn forget(&mut self, more: Vec<[u64; 2]>) {
        self.forgotten.extend(more);
        self.forgotten.sort_unstable();
        let mut apart: Vec<[u64; 2]> = Vec::new();
        for range in self.forgotten.drain(..) {
            match apart.last_mut() {
                Some(last) if range[0] <= last[1] => last[1] = last[1].max(range[1]),
                _ => apart.push(range),
            }
        }
        self.forgotten = apart;
    }

    /// A hash of all that an index has before a document, which no other index has: of the statistics, whose record says when they were
    /// made, and of the nights.
    pub fn identity(&self, before: u64) -> String {
        let files = self.statistics_files.iter().map(|file| format!("{} {}\n", file.name, file.xxh3));
        let nights = self.batches.iter().filter(|batch| batch.first_doc < before);
        let nights = nights.map(|batch| format!("{} {} {}\n", batch.first_doc, batch.inputs, batch.name));
        format!("{:032x}", hash128(files.chain(nights).collect::<String>().as_bytes()))
    }

    /// Whether a document is forgotten.
    pub fn is_forgotten(&self, doc: u64) -> bool {
        let next = self.forgotten.partition_point(|range| range[0] <= doc);
        next > 0 && doc < self.forgotten[next - 1][1]
    }

    /// How many numbers are forgotten.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.iter().map(|[from, to]| to - from).sum()
    }

    /// How the recipe of this index differs from another one, a line each.
    pub fn differences(&self, here: &[Line]) -> Vec<String> {
        let find =
            |lines: &[Line], name: &str| lines.iter().find(|line| line.name == name).map(|line| line.value.clone());
        let mut differences = Vec::new();
        for Line { name, value } in &self.recipe {
            match find(here, name) {
                Some(other) if other == *value => {}
                Some(other) => differences.extend(differing(name, value, &other)),
                None => differences.push(format!("{name} there, and not here")),
            }
        }
        let new = here.iter().filter(|line| find(&self.recipe, &line.name).is_none());
        differences.extend(new.map(|line| format!("{} here, and not there", line.name)));
        differences
    }
}

/// The values that differ, of lists with commas between them.
fn differing(name: &str, there: &str, here: &str) -> Option<String> {
    let (theirs, ours): (Vec<&str>, Vec<&str>) = (there.split(',').collect(), here.split(',').collect());
    let only = |of: &[&str], other: &[&str]| -> String {
        let only: Vec<&str> = of.iter().filter(|value| !other.contains(value)).copied().collect();
        if only.is_empty() { "nothing more".to_owned() } else { only.join(",") }
    };
    Some(format!("{name}: {} there, {} here", only(&theirs, &ours), only(&ours, &theirs)))
}

fn name(generation: u64) -> String {
    format!("{PREFIX}{generation:08}{ENDING}")
}

/// The generations in a folder, ascending.
fn generations(dir: &Path) -> Result<Vec<u64>> {
    let number = |name: String| name.strip_prefix(PREFIX)?.strip_suffix(ENDING)?.parse().ok();
    let mut generations: Vec<u64> = names(dir)?.into_iter().filter_map(number).collect();
    generations.sort_unstable();
    Ok(generations)
}

fn read(path: &Path) -> Result<Manifest> {
    let bytes =
        files::open(path).and_then(|file| files::all_of(&file, MOST_JSON)).map_err(Error::reading("read", path))?;
    let damaged = |why: String| Error::Damaged { path: path.to_path_buf(), why };
    let signed: Signed = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    let checksum = signed.manifest.checksum()?;
    if checksum != signed.xxh3 {
        return Err(damaged(format!("what it says has checksum {checksum} and not {}", signed.xxh3)));
    }
    // Names of another version are its own.
    match signed.manifest.fault().filter(|_| signed.manifest.format == FORMAT) {
        Some(why) => Err(damaged(why)),
        None => Ok(signed.manifest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, value: &str) -> Line {
        Line { name: name.into(), value: value.into() }
    }

    #[test]
    fn the_newest_whole_generation_counts() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        assert_eq!(Manifest::newest(dir).unwrap(), None);
        for generation in 1..=10 {
            let manifest = Manifest { format: FORMAT, generation, next_doc: 7 * generation, ..Manifest::default() };
            manifest.intend(dir).unwrap();
            assert_eq!(Manifest::intended(dir).unwrap().as_ref(), Some(&manifest));
            manifest.come_true(dir).unwrap();
            assert_eq!((Manifest::newest(dir).unwrap(), Manifest::intended(dir).unwrap()), (Some(manifest), None));
        }
        assert_eq!(Manifest::forget_older(dir).unwrap().len(), KEPT);
        assert_eq!(generations(dir).unwrap(), (3..=10).collect::<Vec<_>>());
        // A bit of the newest is turned; then all are.
        let torn = dir.join(name(10));
        fs::write(&torn, fs::read_to_string(&torn).unwrap().replace("70", "71")).unwrap();
        assert_eq!(Manifest::newest(dir).unwrap().unwrap().generation, 9);
        (3..=9).for_each(|generation| fs::write(dir.join(name(generation)), "{").unwrap());
        assert!(Manifest::newest(dir).unwrap_err().to_string().contains("manifest-00000003"));
    }

    #[test]
    fn forgotten_ranges_stay_apart() {
        let mut index = Manifest::default();
        index.forget(vec![[10, 20], [3, 4]]);
        index.forget(vec![[4, 5], [15, 25], [30, 31]]);
        assert_eq!((index.forgotten(), &index.forgotten[..]), (18, &[[3, 5], [10, 25], [30, 31]][..]));
        let known: Vec<u64> = (0..40).filter(|&doc| index.is_forgotten(doc)).collect();
        assert_eq!(known, [3, 4].into_iter().chain(10..25).chain([30]).collect::<Vec<_>>());
    }

    #[test]
    fn another_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let later = Manifest { format: FORMAT + 1, generation: 1, ..Manifest::default() };
        later.intend(folder.path()).unwrap();
        later.come_true(folder.path()).unwrap();
        let says = format!("is of format {}; expected {FORMAT}", FORMAT + 1);
        assert!(Manifest::newest(folder.path()).unwrap_err().to_string().contains(&says));
    }

    #[test]
    fn recipes_are_told_apart_line_by_line() {
        let there = [line("minhash", "minhash:bands=14,rows=8"), line("text", "rules=1"), line("tf", "tf:")];
        let here = [line("text", "rules=1"), line("minhash", "minhash:bands=14,rows=7"), line("exact", "exact:")];
        let index = Manifest { recipe: there.to_vec(), ..Manifest::default() };
        let expected = ["minhash: rows=8 there, rows=7 here", "tf there, and not here", "exact here, and not there"];
        assert_eq!(index.differences(&here), expected);
        assert!(index.differences(&there).is_empty());
    }

    /// An index with a batch, rows and statistics, as runs make it.
    fn made() -> Manifest {
        let file = |name: &str| Named { name: name.into(), bytes: 3, xxh3: "0".into() };
        let parts = vec![Part { file: file("part-000000.parquet"), first_doc: 0, rows: 5 }];
        let batch = Batch { name: "n1".into(), folder: "b-00000001".into(), rows: 5, parts, ..Batch::default() };
        let files = vec![file("exact.run"), file("+copies.run"), file("-x_1.run")];
        Manifest {
            format: FORMAT,
            generation: 1,
            statistics: "s-00000001".into(),
            statistics_files: vec![file("run.json"), file("stats/models/lsi.parquet")],
            next_doc: 5,
            batches: vec![batch],
            rows: vec![Rows { folder: "r-00000001".into(), first_doc: 0, end_doc: 5, files }],
            forgotten: vec![[1, 2], [3, 4]],
            ..Manifest::default()
        }
    }

    /// The way through the file system: what is intended, held back or named with the right checksum.
    fn reads(manifest: &Manifest) -> [bool; 3] {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        manifest.intend(dir).unwrap();
        let intended = Manifest::intended(dir).unwrap().is_some();
        manifest.hold(dir).unwrap();
        let held = Manifest::held_after(dir, 0).unwrap().is_some();
        manifest.come_true(dir).unwrap();
        let newest = Manifest::newest(dir);
        assert!(newest.is_ok() || matches!(newest, Err(Error::Damaged { .. })), "{newest:?}");
        [intended, held, newest.is_ok()]
    }

    #[test]
    fn a_name_that_leads_out_of_the_index_makes_the_manifest_damaged() {
        assert_eq!(reads(&made()), [true; 3]);
        let names =
            ["../b-00000001", "/b-00000001", "", ".", "..", "b-1/x", "b-", "b-x", "x-1", "b-1\0", ".partial-b-1"];
        type Change = fn(&mut Manifest, String);
        let changes: [(&str, Change); 6] = [
            ("a batch", |manifest, name| manifest.batches[0].folder = name),
            ("rows", |manifest, name| manifest.rows[0].folder = name.replacen('b', "r", 1)),
            ("statistics", |manifest, name| manifest.statistics = name.replacen('b', "s", 1)),
            ("a part", |manifest, name| manifest.batches[0].parts[0].file.name = format!("../{name}")),
            ("a run", |manifest, name| manifest.rows[0].files[1].name = format!("../{name}")),
            ("a table", |manifest, name| manifest.statistics_files[0].name = format!("stats/../../{name}")),
        ];
        for (what, change) in changes {
            // An index has no statistics until it has its first batch.
            for name in names.into_iter().filter(|name| what != "statistics" || !name.is_empty()) {
                let mut other = made();
                change(&mut other, name.to_owned());
                assert_eq!(reads(&other), [false; 3], "{what} {name:?}");
            }
        }
    }

    #[test]
    fn numbers_that_contradict_each_other_make_the_manifest_damaged() {
        let changes: [fn(&mut Manifest); 7] = [
            |manifest| manifest.rows[0].files[0].bytes = u64::MAX,
            |manifest| manifest.batches[0].rows = u64::MAX,
            |manifest| manifest.batches[0].first_doc = u64::MAX,
            |manifest| manifest.batches[0].parts[0].rows = 6,
            |manifest| manifest.rows[0].end_doc = 6,
            |manifest| manifest.forgotten = vec![[4, 3]],
            |manifest| manifest.forgotten = vec![[3, 4], [1, 2]],
        ];
        for change in changes {
            let mut other = made();
            change(&mut other);
            assert_eq!(reads(&other), [false; 3], "{other:?}");
        }
    }
}
