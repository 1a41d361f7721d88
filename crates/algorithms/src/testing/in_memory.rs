//! Runs all steps of an algorithm on a few texts in memory, so that tests can check it against an exhaustive comparison.

use std::collections::{BTreeMap, BTreeSet};

use super::examples::params;
use crate::algorithm::contract::{Algorithm, Corpus};
use crate::corpus::{CorpusStats, TermTable, TermTableWriter};
use crate::steps::copies::NoCopies;
use crate::steps::group::{Compared, Windows};
use crate::steps::groups::of_rows;
use dupsift_core::hash::splitmix64;
use dupsift_core::row::{Pair, Pairs, RowLayout, Signatures, Sketches};
use dupsift_text::{Analysis, FieldValues, Pipeline, TextOptions};

/// Holds the results of a run.
pub(crate) struct TestPairs {
    /// The pairs by their document numbers.
    pub pairs: BTreeMap<(usize, usize), Pair>,
    /// The number of candidate pairs, each counted once.
    pub candidates: usize,
    /// The number of comparisons skipped.
    pub left_out: u64,
    /// The documents without a signature, and the reasons.
    pub unsigned: BTreeMap<usize, &'static str>,
}

impl TestPairs {
    /// Returns the document numbers of the pairs.
    pub(crate) fn numbers(&self) -> BTreeSet<(usize, usize)> {
        self.pairs.keys().copied().collect()
    }
}

/// Holds the sketches by document number.
struct InMemory(Vec<Vec<u64>>);

impl Sketches for InMemory {
    fn copy(&self, doc: u64, to: &mut [u64]) {
        to.copy_from_slice(&self.0[doc as usize][..to.len()]);
    }
}

/// Runs all steps: counts, signs, groups and checks.
pub(crate) fn run(algorithm: &dyn Algorithm, typed: &str, texts: &[String]) -> TestPairs {
    run_beside(algorithm, typed, texts, &vec![FieldValues::default(); texts.len()])
}

/// Like `run`, but each text has its own set of fields.
pub(crate) fn run_beside(
    algorithm: &dyn Algorithm,
    typed: &str,
    texts: &[String],
    fields: &[FieldValues<'_>],
) -> TestPairs {
    let folder = tempfile::tempdir().expect("a folder");
    let params = params(algorithm, typed);
    let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
    let stats = count(algorithm, typed, texts, fields, (&pipeline, folder.path()));
    let corpus = Corpus::new(texts.len() as u64, &stats);
    let signer = algorithm.signer(&params, &corpus).expect("parameters of a test");
    let scheme = signer.scheme();
    let analyse =
        |doc: usize| -> Analysis<'_> { pipeline.analyse(&texts[doc]).with_fields(fields[doc]).counted_over(&stats) };

    let layout = RowLayout::new(scheme.shape, texts.len() as u64);
    let mut unsigned = BTreeMap::new();
    let (mut rows, mut sketches): (Vec<Vec<u8>>, Vec<Vec<u64>>) = Default::default();
    for doc in 0..texts.len() {
        let mut out = Signatures::default();
        signer.sign(&analyse(doc), &mut out);
        unsigned.extend(out.reason().map(|reason| (doc, reason)));
        sketches.push(out.sketch_of_document().to_vec());
        for row in out.rows(doc as u64) {
            let mut bytes = Vec::new();
            layout.encode(&row, &mut bytes);
            rows.push(bytes);
        }
    }

    let mut met: BTreeMap<(usize, usize), Pair> = BTreeMap::new();
    let mut sink = |pair: Pair| {
        let numbers = (pair.a as usize, pair.b as usize);
        met.entry(numbers).and_modify(|known| *known = known.merge(pair)).or_insert(pair);
    };
    let sketches = InMemory(sketches);
    let out = Pairs::new(10_000_000, &mut sink).with_sketches((scheme.sketch_words > 0).then_some(&sketches));
    let mut windows = Windows::new(&*signer, layout, None::<&NoCopies>, out);
    let mut scratch = Vec::new();
    for group in of_rows(rows, layout.group_width()) {
        windows.group(&group, &mut scratch, |_| false).expect("memory");
    }
    let Compared { left_out, far, .. } = windows.finish();
    let candidates = met.len();
    let pairs = match signer.verify() {
        None => met,
        Some(check) => {
            let evidence = |doc| {
                let mut numbers = Vec::new();
                check.evidence(&analyse(doc), &mut numbers);
                numbers
            };
            let evidence: Vec<Vec<u64>> = (0..texts.len()).map(evidence).collect();
            met.into_iter()
                .filter_map(|((a, b), pair)| Some(((a, b), check.compare(&evidence[a], &evidence[b], pair).ok()??)))
                .collect()
        }
    };
    TestPairs { pairs, candidates, left_out: left_out + far, unsigned }
}

/// Returns the counts that the algorithm needs and the counts of all words, stored in files in the folder.
pub(crate) fn count(
    algorithm: &dyn Algorithm,
    typed: &str,
    texts: &[String],
    fields: &[FieldValues<'_>],
    (pipeline, folder): (&Pipeline, &std::path::Path),
) -> CorpusStats {
    let kind = algorithm.needs(&params(algorithm, typed)).features;
    let (mut words, mut features) = (BTreeMap::<u64, (u64, u64)>::new(), BTreeMap::<u64, (u64, u64)>::new());
    let (mut documents, mut tokens) = (0, 0);
    for (text, fields) in texts.iter().zip(fields) {
        let document = pipeline.analyse(text).with_fields(*fields);
        documents += u64::from(!document.words().is_empty());
        tokens += document.words().len() as u64;
        for counted in document.counted() {
            let (df, cf) = words.entry(counted.word.hash).or_default();
            *df += 1;
            *cf += u64::from(counted.tf);
        }
        let mut all = Vec::new();
        kind.iter().for_each(|kind| kind.hashes(&document, &mut all));
        all.into_iter().collect::<BTreeSet<u64>>().into_iter().for_each(|feature| {
            let (df, cf) = features.entry(feature).or_default();
            *df += 1;
            *cf += 1;
        });
    }
    features.retain(|_, (df, _)| *df > 1);
    let table = |name: &str, counts: BTreeMap<u64, (u64, u64)>| -> TermTable {
        let mut writer = TermTableWriter::create(&folder.join(name)).expect("a table");
        counts.into_iter().for_each(|(term, (df, cf))| writer.push(term, df, cf).expect("a row"));
        writer.finish().expect("a table")
    };
    CorpusStats::new(documents, tokens, 1, table("words", words), table("features", features))
}

/// Returns groups of random texts: each text repeats the previous one with a few words changed, dropped or moved, or starts a new group. A
/// few words are common and most are rare, as in real text.
pub(crate) fn texts(seed: u64, count: usize, length: usize) -> Vec<String> {
    let mut at = 0;
    let mut random = |below: u64| {
        at += 1;
        splitmix64(seed, at) % below
    };
    let word = |n: u64| format!("w{}", n * n * n / 8_000);
    let mut all: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let fresh = random(4) == 0;
        let mut words = match all.last() {
            Some(last) if !fresh => last.clone(),
            _ => (0..length / 2 + random(length as u64) as usize).map(|_| word(random(100))).collect(),
        };
        for _ in 0..random(length as u64 / 4) {
            let place = random(words.len() as u64) as usize;
            match random(4) {
                0 if words.len() > 2 => drop(words.remove(place)),
                1 => words.insert(place, word(random(100))),
                2 => words.rotate_left(place),
                _ => words[place] = word(random(100)),
            }
        }
        all.push(words);
    }
    all.into_iter().map(|words| words.join(" ")).collect()
}

/// Returns the number of occurrences of each word in each text. Words are separated by single spaces.
pub(crate) fn counts(texts: &[String]) -> Vec<BTreeMap<&str, f64>> {
    let mut all = Vec::new();
    for text in texts {
        let mut counts = BTreeMap::new();
        text.split(' ').for_each(|word| *counts.entry(word).or_insert(0.0) += 1.0);
        all.push(counts);
    }
    all
}

/// Returns all pairs of numbers below `count` for which `same` is true.
pub(crate) fn all_pairs(count: usize, same: impl Fn(usize, usize) -> bool) -> BTreeSet<(usize, usize)> {
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    pairs.filter(|&(a, b)| same(a, b)).collect()
}
