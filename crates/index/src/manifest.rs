//! Defines the manifest, which describes the content of an index. Each generation has one manifest file, which includes a checksum of its
//! own content.
//!
//! A generation is either complete or missing: its file gets its final name in a single rename, after all files that it lists are durable
//! (see [`Generations`](crate::Generations)).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::files::folder::{BATCHES, Named, ROWS, STATISTICS, is_folder};
use crate::files::sums::check_list;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_core::hash::hash128;
use dupsift_publish::is_plain;
use dupsift_spill::shuffle::run::{RUN, Run};

/// The version of the index files. Version 2 added the sketch words of documents, version 3 added fences to runs, and version 4 added
/// publications to batches and checksums to the blocks of document files, version 5 recorded which list of checksums belongs to a file, and
/// version 6 added the kept documents of copies.
pub const FORMAT: u32 = 6;

/// An upper bound for generation numbers and for the size of an index in bytes.
const MOST: u64 = 1 << 60;

/// Describes the content of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format version, [`FORMAT`].
    pub format: u32,
    /// The generation number, which increases by one with every change.
    pub generation: u64,
    /// The version of the program that wrote the manifest.
    pub dupsift: String,
    /// The settings that affect signatures, one per line. A batch can be matched only if its recipe consists of the same lines.
    pub recipe: Vec<Line>,
    /// The number of documents for which the LSH table schemes are chosen.
    pub documents_planned: u64,
    /// The folder with the statistics and models, below `statistics/`.
    pub statistics: String,
    /// The files in the statistics folder; manifests from earlier versions do not list them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statistics_files: Vec<Named>,
    /// The number of the next document.
    pub next_doc: u64,
    /// The number of distinct texts.
    pub texts: u64,
    /// The batches, in order.
    pub batches: Vec<Batch>,
    /// The row folders, one per range of documents, in order.
    pub rows: Vec<Rows>,
    /// The documents that must no longer be matched, as ascending, disjoint ranges of document numbers.
    pub forgotten: Vec<[u64; 2]>,
}

/// Holds a line of the recipe.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The subject: the label of an algorithm, or `text`.
    pub name: String,
    /// The values, separated by commas.
    pub value: String,
}

/// Describes a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The name of the batch.
    pub name: String,
    /// The folder of the batch, below `batches/`.
    pub folder: String,
    /// The number of the batch's first document.
    pub first_doc: u64,
    /// The number of rows in the batch, including rejected rows and copies. Each row has a document number.
    pub rows: u64,
    /// The number of distinct texts that the batch added.
    pub texts: u64,
    /// A hash of the names, sizes, first and last bytes, and row counts of the batch's input files.
    pub inputs: String,
    /// A hash of the file system metadata of the input files.
    #[serde(default)]
    pub stamps: String,
    /// A hash of the content that was read, which is compared if the metadata differs.
    #[serde(default)]
    pub contents: String,
    /// The output folder of the run that processed the batch.
    pub out: PathBuf,
    /// The generation that the batch was matched against.
    pub read_generation: u64,
    /// The generation that added the batch.
    pub generation: u64,
    /// Identifies this publication of the batch. The record of the batch's output contains the same value; no other record does.
    pub publication: String,
    /// The number of documents in the batch that are exact copies of indexed documents.
    pub seen: u64,
    /// The number of documents in the batch that contain text.
    pub used: u64,
    /// The number of candidate pairs per algorithm.
    pub candidates: BTreeMap<String, u64>,
    /// The document files of the batch, in document order.
    pub parts: Vec<DocumentFile>,
}

/// Describes a document file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentFile {
    /// The file.
    pub file: Named,
    /// The file with the checksums of the blocks of the document file.
    pub sums: Named,
    /// The number of the first document in the file; the other documents follow, one per row.
    pub first_doc: u64,
    /// The number of rows.
    pub rows: u64,
}

/// Describes a folder of signature rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rows {
    /// The folder, below `rows/`.
    pub folder: String,
    /// The number of the first document that may have rows in this folder.
    pub first_doc: u64,
    /// The number of the last document that may have rows in this folder, plus one.
    pub end_doc: u64,
    /// The files, one per algorithm.
    pub files: Vec<Named>,
}

impl Rows {
    /// Opens one of the files, given its name without the suffix, in the index folder `dir`. The blocks of rows are verified when they are
    /// read.
    ///
    /// # Errors
    /// Returns [`Damaged`](dupsift_core::error::Error::Damaged) if the file is missing or damaged, or if it is not the file that the manifest
    /// lists.
    pub fn open(&self, dir: &Path, name: &str) -> Result<Run> {
        let path = dir.join(ROWS).join(&self.folder).join(format!("{name}{RUN}"));
        let run = Run::open(&path)?;
        let known = self.files.iter().find(|file| path.ends_with(&file.name));
        check_list(&path, run.list(), known.and_then(|file| file.list))?;
        Ok(run)
    }
}

impl Manifest {
    /// Returns the reason why the manifest is invalid, if it is: its numbers contradict each other, or it contains a name that this program
    /// would not assign and that could lead outside the index.
    pub(super) fn fault(&self) -> Option<String> {
        let folders = self.batches.iter().map(|batch| (BATCHES, &batch.folder));
        let folders = folders.chain(self.rows.iter().map(|rows| (ROWS, &rows.folder)));
        let folders = folders.chain((!self.statistics.is_empty()).then_some((STATISTICS, &self.statistics)));
        let foreign = folders.into_iter().find(|(kind, name)| !is_folder(kind, name));
        if let Some((kind, name)) = foreign {
            return Some(format!("it lists the folder {name:?}, which is not a valid folder name for {kind}"));
        }
        let files = self.batches.iter().flat_map(|batch| batch.parts.iter().flat_map(|part| [&part.file, &part.sums]));
        let files = files.chain(self.rows.iter().flat_map(|rows| &rows.files));
        let files = files.filter(|file| !is_plain(&file.name));
        let below = self.statistics_files.iter().filter(|file| !file.name.split('/').all(is_plain));
        if let Some(file) = files.chain(below).next() {
            return Some(format!("it lists the file {:?}, which is not an index file", file.name));
        }
        self.numbers_fault()
    }

    fn numbers_fault(&self) -> Option<String> {
        if self.next_doc >= MOST || self.texts > self.next_doc {
            return Some(format!("it has {} texts and {} documents, which is impossible", self.texts, self.next_doc));
        }
        let ends = |first: u64, rows: u64| first.checked_add(rows).is_some_and(|end| end <= self.next_doc);
        for batch in &self.batches {
            let parts =
                batch.parts.iter().all(|part| part.first_doc >= batch.first_doc && ends(part.first_doc, part.rows));
            if !ends(batch.first_doc, batch.rows) || !parts {
                return Some(format!("its batch {:?} has documents after the last document of the index", batch.name));
            }
            if batch.texts > batch.rows {
                return Some(format!(
                    "its batch {:?} has more texts ({}) than rows ({})",
                    batch.name, batch.texts, batch.rows
                ));
            }
        }
        let parts = self.batches.iter().flat_map(|batch| batch.parts.iter().map(|part| &part.file));
        let files = parts.chain(self.rows.iter().flat_map(|rows| &rows.files)).chain(&self.statistics_files);
        let bytes = files.fold(0, |bytes: u64, file| bytes.saturating_add(file.bytes));
        if self.generation >= MOST || bytes >= MOST {
            return Some(format!(
                "it is generation {} and has {bytes} bytes in total, which is impossible",
                self.generation
            ));
        }
        let rows = self.rows.iter().all(|rows| rows.first_doc <= rows.end_doc && rows.end_doc <= self.next_doc);
        let apart = self.forgotten.windows(2).all(|two| two[0][1] < two[1][0]);
        let known = self.forgotten.last().is_none_or(|last| last[1] <= self.next_doc);
        let forgotten = apart && known && self.forgotten.iter().all(|[from, to]| from < to);
        (!rows || !forgotten)
            .then(|| "it has document ranges that are reversed or end after the last document".to_owned())
    }

    /// Marks ranges of documents as forgotten.
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

    /// Returns a hash of everything in an index that precedes a document. The hash is unique to the index, because it covers the batches
    /// and the record of the statistics, which contains the time when the statistics were computed.
    pub fn identity(&self, before: u64) -> String {
        let files = self.statistics_files.iter().map(|file| format!("{} {}\n", file.name, file.xxh3));
        let batches = self.batches.iter().filter(|batch| batch.first_doc < before);
        let batches =
            batches.map(|batch| format!("{} {} {} {}\n", batch.first_doc, batch.inputs, batch.contents, batch.name));
        format!("{:032x}", hash128(files.chain(batches).collect::<String>().as_bytes()))
    }

    /// Returns a hash of the batches that precede a document. The hash is the same for each index of the same files.
    pub fn identity_of_files(&self, before: u64) -> String {
        let batches = self.batches.iter().filter(|batch| batch.first_doc < before);
        let batches =
            batches.map(|batch| format!("{} {} {} {}\n", batch.first_doc, batch.rows, batch.inputs, batch.contents));
        format!("{:032x}", hash128(batches.collect::<String>().as_bytes()))
    }

    /// Returns the kind and the name of each folder that contains files of the index.
    pub fn folders(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let statistics = Some(&*self.statistics).filter(|name| !name.is_empty()).map(|name| (STATISTICS, name));
        let batches = self.batches.iter().map(|batch| (BATCHES, &*batch.folder));
        statistics.into_iter().chain(batches).chain(self.rows.iter().map(|rows| (ROWS, &*rows.folder)))
    }

    /// Returns the files of the index, each with the kind and the name of its folder.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &str, &Named)> {
        let documents = self.batches.iter().flat_map(|batch| {
            let files = batch.parts.iter().flat_map(|part| [&part.file, &part.sums]);
            files.map(move |file| (BATCHES, &*batch.folder, file))
        });
        let rows = self.rows.iter().flat_map(|rows| rows.files.iter().map(|file| (ROWS, &*rows.folder, file)));
        let statistics = self.statistics_files.iter().map(|file| (STATISTICS, &*self.statistics, file));
        documents.chain(rows).chain(statistics)
    }

    /// Returns whether a document is forgotten.
    pub fn is_forgotten(&self, doc: IndexDoc) -> bool {
        let next = self.forgotten.partition_point(|range| range[0] <= doc.0);
        next > 0 && doc.0 < self.forgotten[next - 1][1]
    }

    /// Returns the ranges of forgotten documents from number `from` up to, but not including, `to`.
    pub fn forgotten_in(&self, from: u64, to: u64) -> Vec<[u64; 2]> {
        let within = self.forgotten.iter().map(|range| [range[0].max(from), range[1].min(to)]);
        within.filter(|range| range[0] < range[1]).collect()
    }

    /// Returns the number of forgotten documents.
    pub fn forgotten(&self) -> u64 {
        self.forgotten.iter().map(|[from, to]| to - from).sum()
    }

    /// Returns the differences between the recipe of this index and another recipe, one per line.
    pub fn differences(&self, here: &[Line]) -> Vec<String> {
        let find =
            |lines: &[Line], name: &str| lines.iter().find(|line| line.name == name).map(|line| line.value.clone());
        let mut differences = Vec::new();
        for Line { name, value } in &self.recipe {
            match find(here, name) {
                Some(other) if other == *value => {}
                Some(other) => differences.extend(differing(name, value, &other)),
                None => differences.push(format!("{name} in the index, but not in this run")),
            }
        }
        let new = here.iter().filter(|line| find(&self.recipe, &line.name).is_none());
        differences.extend(new.map(|line| format!("{} in this run, but not in the index", line.name)));
        differences
    }
}

/// Returns the values that differ between two comma-separated lists.
fn differing(name: &str, there: &str, here: &str) -> Option<String> {
    let (theirs, ours): (Vec<&str>, Vec<&str>) = (there.split(',').collect(), here.split(',').collect());
    let only = |of: &[&str], other: &[&str]| -> String {
        let only: Vec<&str> = of.iter().filter(|value| !other.contains(value)).copied().collect();
        if only.is_empty() { "nothing more".to_owned() } else { only.join(",") }
    };
    Some(format!("{name}: {} in the index, {} in this run", only(&theirs, &ours), only(&ours, &theirs)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generations::{self, Generations};
    use dupsift_core::error::Error;

    fn line(name: &str, value: &str) -> Line {
        Line { name: name.into(), value: value.into() }
    }

    #[test]
    fn forgotten_ranges_stay_apart() {
        let mut index = Manifest::default();
        index.forget(vec![[10, 20], [3, 4]]);
        index.forget(vec![[4, 5], [15, 25], [30, 31]]);
        assert_eq!((index.forgotten(), &index.forgotten[..]), (18, &[[3, 5], [10, 25], [30, 31]][..]));
        let known: Vec<u64> = (0..40).filter(|&doc| index.is_forgotten(IndexDoc(doc))).collect();
        assert_eq!(known, [3, 4].into_iter().chain(10..25).chain([30]).collect::<Vec<_>>());
    }

    #[test]
    fn recipes_are_told_apart_line_by_line() {
        let there = [line("minhash", "minhash:bands=14,rows=8"), line("text", "rules=1"), line("tf", "tf:")];
        let here = [line("text", "rules=1"), line("minhash", "minhash:bands=14,rows=7"), line("exact", "exact:")];
        let index = Manifest { recipe: there.to_vec(), ..Manifest::default() };
        let expected = [
            "minhash: rows=8 in the index, rows=7 in this run",
            "tf in the index, but not in this run",
            "exact in this run, but not in the index",
        ];
        assert_eq!(index.differences(&here), expected);
        assert!(index.differences(&there).is_empty());
    }

    /// Returns the manifest that a run writes for an index with a batch, rows and statistics.
    fn made() -> Manifest {
        let file = |name: &str| Named { name: name.into(), bytes: 3, xxh3: "0".into(), list: None };
        let parts = vec![DocumentFile {
            file: file("part-000000.parquet"),
            sums: file("part-000000.sums"),
            first_doc: 0,
            rows: 5,
        }];
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

    /// Returns whether a manifest, stored with a correct checksum, can be read as an intent, as a held generation, and as a published
    /// generation.
    fn reads(manifest: &Manifest) -> [bool; 3] {
        let read = |publish: fn(&Path, &Manifest) -> dupsift_core::error::Result<()>,
                    is_there: fn(&Generations) -> bool| {
            let folder = tempfile::tempdir().unwrap();
            generations::intend(folder.path(), manifest, &Default::default()).unwrap();
            publish(folder.path(), manifest).unwrap();
            match Generations::read(folder.path()) {
                Ok(known) => is_there(&known),
                Err(error) => {
                    assert!(matches!(error, Error::DamagedIndex { .. }), "{error}");
                    false
                }
            }
        };
        [
            read(|_, _| Ok(()), |known| known.intended.is_some()),
            read(generations::hold, |known| known.held.is_some()),
            read(generations::come_true, |known| !known.manifests.is_empty()),
        ]
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
            // An index has no statistics before its first batch.
            for name in names.into_iter().filter(|name| what != "statistics" || !name.is_empty()) {
                let mut other = made();
                change(&mut other, name.to_owned());
                assert_eq!(reads(&other), [false; 3], "{what} {name:?}");
            }
        }
    }

    #[test]
    fn numbers_that_contradict_each_other_make_the_manifest_damaged() {
        let changes: [fn(&mut Manifest); 11] = [
            |manifest| manifest.next_doc = u64::MAX,
            |manifest| manifest.texts = 6,
            |manifest| manifest.batches[0].texts = 6,
            |manifest| manifest.forgotten = vec![[1, 2], [3, 6]],
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
