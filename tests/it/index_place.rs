//! Provides helpers for the tests of the index: incremental runs with an index in a folder, and one run over all batches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::kit::{Doc, Numbers, PairLine, Ran, Table, labels, pairs, run, write_docs};

/// Holds a folder with an index, the files of its batches and their outputs.
pub(crate) struct IndexPlace {
    folder: tempfile::TempDir,
    algorithms: String,
    /// Additional options for every batch.
    pub more: Vec<String>,
    pub docs: Vec<Vec<Doc>>,
    /// The number of pairs with documents in earlier batches, set by [`law`].
    pub met: usize,
}

impl IndexPlace {
    pub(crate) fn new(algorithms: &str) -> IndexPlace {
        let folder = tempfile::tempdir().unwrap();
        IndexPlace { folder, algorithms: algorithms.into(), more: Vec::new(), docs: Vec::new(), met: 0 }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn out(&self, batch: usize) -> PathBuf {
        self.at(&format!("out/n{batch}"))
    }

    pub(crate) fn with(&self, inputs: &[PathBuf], out: &Path, more: &[&str]) -> Ran {
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        std::fs::create_dir_all(self.at("out")).unwrap();
        let always: Vec<&str> = self.more.iter().map(String::as_str).collect();
        run(&inputs, out, &[&["--algorithms", &self.algorithms, "--no-report"], &always[..], more].concat())
    }

    pub(crate) fn files(&self) -> Vec<PathBuf> {
        (0..self.docs.len()).map(|batch| self.at(&format!("in/{batch}.parquet"))).collect()
    }

    /// Runs a batch, for the first time or again.
    pub(crate) fn again(&self, batch: usize, more: &[&str]) -> Ran {
        let index = self.at("index");
        self.with(
            &[self.at(&format!("in/{batch}.parquet"))],
            &self.out(batch),
            &[&["--index", index.to_str().unwrap()], more].concat(),
        )
    }

    /// Runs a batch that is killed at a step of publication.
    pub(crate) fn killed_at(&self, batch: usize, step: &str) -> Ran {
        let mut command = crate::kit::program();
        command.arg("run").arg(self.at(&format!("in/{batch}.parquet"))).arg("--out").arg(self.out(batch));
        command.arg("--index").arg(self.at("index")).args(["--algorithms", &self.algorithms, "--no-report"]);
        command
            .args(["--no-progress", "--threads", "2", "--memory", "512MiB", "--max-template-share", "1"])
            .env("DUPSIFT_STOP_AT", step);
        Ran::of(command.output().unwrap())
    }

    pub(crate) fn batch(&mut self, docs: Vec<Doc>) -> Ran {
        let batch = self.docs.len();
        write_docs(&self.at(&format!("in/{batch}.parquet")), &docs, 300);
        self.docs.push(docs);
        self.again(batch, &[])
    }

    /// Runs a batch that contains copies of these documents, to repeat a batch from a different [`IndexPlace`].
    pub(crate) fn same_batch(&mut self, docs: &[Doc]) -> Ran {
        self.batch(docs.iter().map(same).collect())
    }

    /// Runs once over all batches with the counts from the index.
    pub(crate) fn together(&self, more: &[&str]) -> PathBuf {
        let (out, index) = (self.at("out/together"), self.at("index"));
        let more = [&["--stats", index.to_str().unwrap(), "--overwrite"], more].concat();
        self.with(&self.files(), &out, &more).ends_with(0);
        out
    }

    /// Returns the number of the first document in a batch.
    pub(crate) fn begins(&self, batch: usize) -> i64 {
        self.docs[..batch].iter().map(|docs| docs.len() as i64).sum()
    }

    /// Returns, for each document in all batches, whether an earlier document has the same text.
    pub(crate) fn surplus(&self) -> Vec<bool> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let texts =
            self.docs.iter().enumerate().flat_map(|(batch, docs)| docs.iter().map(move |doc| (batch, &*doc.text)));
        // A copy of the first document within the same batch also counts.
        texts.map(|(batch, text)| seen.insert(text, batch).is_some()).collect()
    }

    /// Checks that the containment shares of each pair are the same as in one run in batch order, which compares the same pairs.
    pub(crate) fn says_as(&self, ordered: &Path) {
        let surplus = self.surplus();
        for label in labels(ordered) {
            let all = shares(ordered, &label);
            for batch in 0..self.docs.len() {
                let (begins, ends) = (self.begins(batch), self.begins(batch + 1));
                let is_asked = |a: i64, b: i64| (begins..ends).contains(&b) && (a >= begins || !surplus[a as usize]);
                let expected: Vec<_> = all.iter().filter(|(a, b, _)| is_asked(*a, *b)).collect();
                let found = shares(&self.out(batch), &label);
                for (found, expected) in found.iter().zip(&expected) {
                    assert_eq!(found, *expected, "{label}, batch {batch}");
                }
                assert_eq!(found.len(), expected.len(), "{label}, batch {batch}");
            }
        }
    }

    /// Checks for each label that documents connected by the pairs of all batches are in the same cluster in one run.
    pub(crate) fn connects(&self, together: &Path) {
        let count = self.begins(self.docs.len()) as usize;
        for label in labels(together) {
            let of_batches = (0..self.docs.len()).flat_map(|batch| pairs(&self.out(batch), &label));
            let links = of_batches.filter(|pair| pair.related.0 != "template").map(|pair| (pair.doc_a, pair.doc_b));
            let clusters = Table::read(&together.join(format!("clusters/algorithm={label}")));
            let mut firsts: BTreeMap<String, i64> = BTreeMap::new();
            let members = clusters.texts("cluster_id").into_iter().zip(clusters.numbers("doc"));
            let of_one: Vec<(i64, i64)> =
                members.map(|(cluster, doc)| (*firsts.entry(cluster).or_insert(doc), doc)).collect();
            assert!(components(links, count) == components(of_one.into_iter(), count), "{label}");
        }
    }

    /// Checks that the pairs of all batches equal the pairs of one run, except that only the first document with an indexed text is
    /// matched. Returns the number of pairs whose documents are in different batches.
    pub(crate) fn agrees(&self, together: &Path) -> usize {
        (0..self.docs.len()).map(|batch| self.agrees_in(together, batch)).sum()
    }

    /// Checks one batch like [`IndexPlace::agrees`].
    pub(crate) fn agrees_in(&self, together: &Path, batch: usize) -> usize {
        let surplus = self.surplus();
        let mut met = 0;
        for label in labels(together) {
            let (begins, ends) = (self.begins(batch), self.begins(batch + 1));
            let is_asked = |pair: &PairLine| {
                let is_first = pair.doc_a >= begins || !surplus[pair.doc_a as usize];
                (begins..ends).contains(&pair.doc_b) && is_first
            };
            let expected: Vec<PairLine> = pairs(together, &label).into_iter().filter(is_asked).collect();
            let found = pairs(&self.out(batch), &label);
            met += found.iter().filter(|pair| pair.doc_a < begins).count();
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "{label}, batch {batch}");
            }
            assert_eq!(found.len(), expected.len(), "{label}, batch {batch}: {:?} {:?}", found.last(), expected.last());
        }
        met
    }
}

/// Distributes documents among batches, and repeats some of them in later batches with or without changes.
pub(crate) fn dealt(docs: Vec<Doc>, batches: usize, seed: u64) -> Vec<Vec<Doc>> {
    let mut numbers = Numbers(seed);
    let mut dealt: Vec<Vec<Doc>> = (0..batches).map(|_| Vec::new()).collect();
    for doc in docs {
        let batch = numbers.below(batches);
        for (later, docs) in dealt.iter_mut().enumerate().skip(batch + 1) {
            let (id, text) = match numbers.below(8) {
                0 => (format!("{}-{later}", doc.id), doc.text.clone()),
                1 => (format!("{}-{later}x", doc.id), format!("{} And {later} more words.", doc.text)),
                _ => continue,
            };
            docs.push(Doc { id, text, title: None });
        }
        dealt[batch].push(doc);
    }
    dealt
}

pub(crate) fn law(algorithms: &str, batches: Vec<Vec<Doc>>) -> IndexPlace {
    law_with(algorithms, &[], batches)
}

/// Runs batches like [`law`], with additional options.
pub(crate) fn law_with(algorithms: &str, more: &[&str], batches: Vec<Vec<Doc>>) -> IndexPlace {
    let mut place = IndexPlace::new(algorithms);
    place.more = more.iter().map(|&word| word.to_owned()).collect();
    for docs in batches {
        // If there is nothing to read, the exit code is 3.
        let code = if docs.is_empty() { 3 } else { 0 };
        place.batch(docs).ends_with(code);
    }
    let together = place.together(&[]);
    place.met = place.agrees(&together);
    place.connects(&together);
    place
}

pub(crate) fn same(doc: &Doc) -> Doc {
    Doc { id: doc.id.clone(), text: doc.text.clone(), title: None }
}

/// Runs a subcommand of `dupsift index`.
pub(crate) fn looked_after(index: &Path, more: &[&str]) -> Ran {
    let (verb, more) = more.split_first().unwrap();
    Ran::of(crate::kit::program().args(["index", verb]).arg(index).args(more).output().unwrap())
}

/// Returns the documents of each pair, and how much of each document is contained in the other: first for words, then for numbers.
fn shares(out: &Path, label: &str) -> Vec<(i64, i64, Vec<Option<f32>>)> {
    let table = Table::read(&out.join(format!("pairs/algorithm={label}")));
    let columns = ["contained_a", "contained_b", "numbers_a", "numbers_b"].map(|name| table.floats(name));
    let docs = table.numbers("doc_a").into_iter().zip(table.numbers("doc_b")).enumerate();
    docs.map(|(row, (a, b))| (a, b, columns.iter().map(|column| column[row]).collect())).collect()
}

/// Returns, for each document, the lowest-numbered document that links connect to it, directly or indirectly.
pub(crate) fn components(links: impl Iterator<Item = (i64, i64)>, count: usize) -> Vec<usize> {
    fn root(parents: &mut [usize], mut doc: usize) -> usize {
        while parents[doc] != doc {
            parents[doc] = parents[parents[doc]];
            doc = parents[doc];
        }
        doc
    }
    let mut parents: Vec<usize> = (0..count).collect();
    for (a, b) in links {
        let (a, b) = (root(&mut parents, a as usize), root(&mut parents, b as usize));
        parents[a.max(b)] = a.min(b);
    }
    (0..count).map(|doc| root(&mut parents, doc)).collect()
}
