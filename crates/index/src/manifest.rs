//! The manifest: what an index consists of, one file a generation, with a checksum over all that it says.
//!
//! A generation is complete or not there: its file gets its name by one rename, and what it names was made durable before
//! (see [`Generations`](super::Generations)).

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::folder::{BATCHES, Named, ROWS, STATISTICS, is_folder};
use dupsift_core::doc::IndexDoc;
use dupsift_core::hash::hash128;
use dupsift_files::io::is_plain;

/// Version of the files of an index. 2: words of documents with the rows; 3: fences in runs; 4: batches name their publication, and the
/// blocks of files of documents have checksums.
pub const FORMAT: u32 = 4;

/// No generation is as high, and no index has as many bytes.
const MOST: u64 = 1 << 60;

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
    /// A hash of its input files: their names, sizes, ends and rows.
    pub inputs: String,
    /// A hash of what the file system said of them.
    #[serde(default)]
    pub stamps: String,
    /// A hash of what was read of them, which tells where that differs.
    #[serde(default)]
    pub contents: String,
    /// The output of its run.
    pub out: PathBuf,
    /// The generation that it was matched against.
    pub read_generation: u64,
    /// The generation that added it.
    pub generation: u64,
    /// Identifies this publication of the batch: its output has the same value in its record, and no other output does.
    pub publication: String,
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
    /// The checksums of its blocks.
    pub sums: Named,
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

impl Manifest {
    /// What no manifest says: a name that is not of the form that this program gives, so that it may lead out of the index; numbers that
    /// contradict each other.
    pub(super) fn fault(&self) -> Option<String> {
        let folders = self.batches.iter().map(|batch| (BATCHES, &batch.folder));
        let folders = folders.chain(self.rows.iter().map(|rows| (ROWS, &rows.folder)));
        let folders = folders.chain((!self.statistics.is_empty()).then_some((STATISTICS, &self.statistics)));
        let foreign = folders.into_iter().find(|(kind, name)| !is_folder(kind, name));
        if let Some((kind, name)) = foreign {
            return Some(format!("it names the folder {name:?}, and no folder of {kind} is called so"));
        }
        let files = self.batches.iter().flat_map(|batch| batch.parts.iter().flat_map(|part| [&part.file, &part.sums]));
        let files = files.chain(self.rows.iter().flat_map(|rows| &rows.files));
        let files = files.filter(|file| !is_plain(&file.name));
        let below = self.statistics_files.iter().filter(|file| !file.name.split('/').all(is_plain));
        if let Some(file) = files.chain(below).next() {
            return Some(format!("it names the file {:?}, which is no file of an index", file.name));
        }
        self.numbers_fault()
    }

    fn numbers_fault(&self) -> Option<String> {
        if self.next_doc >= MOST || self.texts > self.next_doc {
            return Some(format!("it has {} texts of {} documents, which no index has", self.texts, self.next_doc));
        }
        let ends = |first: u64, rows: u64| first.checked_add(rows).is_some_and(|end| end <= self.next_doc);
        for batch in &self.batches {
            let parts =
                batch.parts.iter().all(|part| part.first_doc >= batch.first_doc && ends(part.first_doc, part.rows));
            if !ends(batch.first_doc, batch.rows) || !parts {
                return Some(format!("documents of its batch {:?} lie behind its last one", batch.name));
            }
            if batch.texts > batch.rows {
                return Some(format!("its batch {:?} has {} texts in {} rows", batch.name, batch.texts, batch.rows));
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
        let known = self.forgotten.last().is_none_or(|last| last[1] <= self.next_doc);
        let forgotten = apart && known && self.forgotten.iter().all(|[from, to]| from < to);
        (!rows || !forgotten)
            .then(|| "ranges of documents in it are turned around, or end behind its last one".to_owned())
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
        let nights =
            nights.map(|batch| format!("{} {} {} {}\n", batch.first_doc, batch.inputs, batch.contents, batch.name));
        format!("{:032x}", hash128(files.chain(nights).collect::<String>().as_bytes()))
    }

    /// The folders that hold its files: the folder of their kind, and the name.
    pub fn folders(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let statistics = Some(&*self.statistics).filter(|name| !name.is_empty()).map(|name| (STATISTICS, name));
        let batches = self.batches.iter().map(|batch| (BATCHES, &*batch.folder));
        statistics.into_iter().chain(batches).chain(self.rows.iter().map(|rows| (ROWS, &*rows.folder)))
    }

    /// Its files: the folder of their kind, the name of their own folder, and the file.
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

    /// The ranges of forgotten documents from a number on, before another one.
    pub fn forgotten_in(&self, from: u64, to: u64) -> Vec<[u64; 2]> {
        let within = self.forgotten.iter().map(|range| [range[0].max(from), range[1].min(to)]);
        within.filter(|range| range[0] < range[1]).collect()
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

#[cfg(test)]
mod tests {
    use std::path::Path;

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
        let expected = ["minhash: rows=8 there, rows=7 here", "tf there, and not here", "exact here, and not there"];
        assert_eq!(index.differences(&here), expected);
        assert!(index.differences(&there).is_empty());
    }

    /// An index with a batch, rows and statistics, as runs make it.
    fn made() -> Manifest {
        let file = |name: &str| Named { name: name.into(), bytes: 3, xxh3: "0".into() };
        let parts =
            vec![Part { file: file("part-000000.parquet"), sums: file("part-000000.sums"), first_doc: 0, rows: 5 }];
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
        let read = |publish: fn(&Path, &Manifest) -> dupsift_core::error::Result<()>,
                    is_there: fn(&Generations) -> bool| {
            let folder = tempfile::tempdir().unwrap();
            generations::intend(folder.path(), manifest).unwrap();
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
