//! Compares exhaustive algorithms, which find every pair that satisfies their definition, with an implementation that applies the
//! definition to all pairs in the sample corpus.
//!
//! This slow implementation shares nothing with the algorithms except the words of a document and, for bit vectors, the vectors.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use dupsift::algorithm::{Corpus, Params, by_name, specs};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::row::Signatures;
use dupsift_text::{Pipeline, TextOptions};

use crate::kit::{Doc, doc_pairs, done, sample_docs, samples, stars};

type Pairs = BTreeSet<(usize, usize)>;

/// Holds the samples: their words as numbers, counted per document, and the document frequency of each word.
struct Words {
    docs: Vec<Doc>,
    names: Vec<String>,
    order: Vec<Vec<u32>>,
    counts: Vec<BTreeMap<u32, u32>>,
    df: Vec<u32>,
}

fn words() -> Words {
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let (mut numbers, mut names) = (HashMap::new(), Vec::new());
    let docs = sample_docs();
    let order: Vec<Vec<u32>> = docs
        .iter()
        .map(|doc| {
            let analysis = pipeline.analyse(&doc.text);
            let number = |word: &str| {
                *numbers.entry(word.to_string()).or_insert_with(|| {
                    names.push(word.to_string());
                    names.len() as u32 - 1
                })
            };
            let spelled: Vec<String> = analysis.words().iter().map(|word| analysis.word(word).to_string()).collect();
            spelled.iter().map(String::as_str).map(number).collect()
        })
        .collect();
    let mut df = vec![0; names.len()];
    let count = |words: &Vec<u32>| {
        let mut counts = BTreeMap::new();
        words.iter().for_each(|word| *counts.entry(*word).or_insert(0) += 1);
        counts
    };
    let counts: Vec<BTreeMap<u32, u32>> = order.iter().map(count).collect();
    counts.iter().flat_map(BTreeMap::keys).for_each(|&word| df[word as usize] += 1);
    Words { docs, names, order, counts, df }
}

fn found(algorithm: &str) -> Pairs {
    let done = done(samples(), &["--algorithms", &format!("{algorithm}as=x")]);
    doc_pairs(&done.out(), "x").into_iter().collect()
}

/// Returns all pairs of documents for which `same` is true.
fn all(documents: usize, same: impl Fn(usize, usize) -> bool) -> Pairs {
    let pairs = (0..documents).flat_map(|a| (a + 1..documents).map(move |b| (a, b)));
    pairs.filter(|&(a, b)| same(a, b)).collect()
}

#[track_caller]
fn check(found: Pairs, expected: Pairs, least: usize) {
    let expected = stars(expected, &sample_docs());
    assert!(expected.len() > least, "only {} pairs to find", expected.len());
    let missed: Vec<_> = expected.difference(&found).take(5).collect();
    let wrong: Vec<_> = found.difference(&expected).take(5).collect();
    assert!(missed.is_empty() && wrong.is_empty(), "of {}: missed {missed:?}, wrong {wrong:?}", expected.len());
}

/// Returns the number of elements that two sorted lists have in common.
fn common<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    common
}

/// Returns the dot product of two sparse vectors sorted by term. For unit vectors, this is the cosine similarity.
fn product(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, sum) = (i + 1, j + 1, sum + a[i].1 * b[j].1),
        }
    }
    sum
}

fn of_length_one(mut vector: Vec<(u32, f64)>) -> Vec<(u32, f64)> {
    let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    vector.iter_mut().for_each(|(_, weight)| *weight /= length);
    vector
}

#[test]
fn cosine() {
    let words = words();
    let documents = words.counts.iter().filter(|counts| !counts.is_empty()).count() as f64;
    let vector = |counts: &BTreeMap<u32, u32>| {
        let idf = |word: u32| (1.0 + documents / f64::from(words.df[word as usize])).ln();
        of_length_one(counts.iter().map(|(&word, &tf)| (word, f64::from(tf) * idf(word))).collect())
    };
    let vectors: Vec<_> = words.counts.iter().map(vector).collect();
    check(found("cosine:"), all(vectors.len(), |a, b| product(&vectors[a], &vectors[b]) >= 0.9), 800);
}

#[test]
fn decomposition() {
    let words = words();
    let bags: Vec<Vec<u32>> = words
        .order
        .iter()
        .map(|order| {
            let mut bag = order.clone();
            bag.sort_unstable();
            bag
        })
        .collect();
    let same = |a: usize, b: usize| {
        let (x, y) = (&words.order[a], &words.order[b]);
        let reaches = |common: usize| 2.0 * common as f64 / (x.len() + y.len()) as f64 >= 0.85;
        // A common subsequence cannot have more words than the two documents have in common.
        reaches(x.len().min(y.len())) && reaches(common(&bags[a], &bags[b])) && reaches(longest_common(x, y))
    };
    check(found("decomposition:"), all(bags.len(), same), 800);
}

/// Returns the length of the longest common subsequence, computed by dynamic programming.
fn longest_common(a: &[u32], b: &[u32]) -> usize {
    let mut row = vec![0u32; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[b.len()] as usize
}

#[test]
fn shingles() {
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let sets: Vec<Vec<u32>> = sample_docs()
        .iter()
        .map(|doc| {
            let characters: Vec<char> = pipeline.analyse(&doc.text).text().chars().collect();
            let windows = characters.windows(5.min(characters.len()).max(1));
            let next = |window: &[char], numbers: &mut HashMap<String, u32>| {
                let count = numbers.len() as u32;
                *numbers.entry(window.iter().collect()).or_insert(count)
            };
            let set: BTreeSet<u32> = windows.map(|window| next(window, &mut numbers)).collect();
            set.into_iter().collect()
        })
        .collect();
    // Counts the shared elements of all pairs: for each shingle of a document, visits all documents that contain the shingle.
    let mut documents_of: Vec<Vec<u32>> = vec![Vec::new(); numbers.len()];
    sets.iter()
        .enumerate()
        .for_each(|(doc, set)| set.iter().for_each(|&one| documents_of[one as usize].push(doc as u32)));
    let overlaps: Vec<Vec<u32>> = sets
        .iter()
        .map(|set| {
            let mut overlap = vec![0; sets.len()];
            set.iter().flat_map(|&one| &documents_of[one as usize]).for_each(|&doc| overlap[doc as usize] += 1);
            overlap
        })
        .collect();
    let same = |a: usize, b: usize| {
        let overlap = overlaps[a][b] as usize;
        overlap as f64 / (sets[a].len() + sets[b].len() - overlap).max(1) as f64 >= 0.2
    };
    check(found("shingles:join=exact,"), all(sets.len(), same), 10_000);
    for threshold in [0.5, 0.8] {
        let contained = |a: usize, b: usize| {
            f64::from(overlaps[a][b]) >= threshold * sets[a].len().min(sets[b].len()).max(1) as f64 - 1e-9
        };
        let expected = all(sets.len(), contained);
        for join in ["exact", "rarest"] {
            let found = found(&format!("shingles:measure=containment,threshold={threshold},join={join},"));
            check(found, expected.clone(), 1_000);
        }
    }
}

/// Returns the heaviest words of a document with their weights, sorted by descending weight and then by word.
fn heaviest(words: &Words, doc: usize, count: usize, weight: impl Fn(u32, u32) -> f64) -> Vec<(u32, f64)> {
    let weighed = words.counts[doc].iter().map(|(&word, &tf)| (word, weight(word, tf)));
    let mut weighed: Vec<(u32, f64)> = weighed.filter(|one| one.1 > 0.0).collect();
    let name = |word: u32| &words.names[word as usize];
    weighed.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| name(a.0).cmp(name(b.0))));
    weighed.truncate(count);
    weighed.sort_by_key(|one| one.0);
    weighed
}

#[test]
fn keyword_match() {
    let words = words();
    let of = |doc| heaviest(&words, doc, 10, |_, tf| f64::from(tf)).into_iter().map(|one| one.0).collect::<Vec<_>>();
    let keywords: Vec<Vec<u32>> = (0..words.docs.len()).map(of).collect();
    check(found("keyword_match:"), all(keywords.len(), |a, b| common(&keywords[a], &keywords[b]) >= 8), 800);
}

#[test]
fn sim() {
    let words = words();
    let documents = words.counts.iter().filter(|counts| !counts.is_empty()).count() as f64;
    let of = |doc: usize| {
        let length = words.order[doc].len() as f64;
        heaviest(&words, doc, 5, |word, tf| match words.df[word as usize] {
            1 => 0.0,
            df => f64::from(tf) / length * (documents / f64::from(df)).ln(),
        })
    };
    let keywords: Vec<Vec<(u32, f64)>> = (0..words.docs.len()).map(of).collect();
    let names = |doc: usize| keywords[doc].iter().map(|one| one.0).collect::<Vec<_>>();
    let lists: Vec<Vec<u32>> = (0..keywords.len()).map(names).collect();
    let vectors: Vec<_> = keywords.iter().cloned().map(of_length_one).collect();
    let signed = |doc: usize| lists[doc].len() >= 3;
    let near = |a: usize, b: usize| 1.0 - product(&vectors[a], &vectors[b]) < 0.1;
    let md5 = all(lists.len(), |a, b| signed(a) && signed(b) && lists[a] == lists[b]);
    let sim = all(lists.len(), |a, b| signed(a) && signed(b) && near(a, b));
    check(found("sim:combine=md5_only,"), md5.clone(), 800);
    check(found("sim:combine=sim_only,"), sim.clone(), 800);
    check(found("sim:"), &md5 | &sim, 800);
    check(found("sim:combine=and,"), &md5 & &sim, 800);
}

/// Returns the bit vector of each document directly from the signer, because this test covers only the use of the vectors.
fn vectors(name: &str, docs: &[Doc]) -> Vec<Option<Vec<u8>>> {
    let algorithm = by_name(name).unwrap();
    let params = Params::check(name, &specs(algorithm), &[]).unwrap();
    let stats = CorpusStats::none();
    let signer = algorithm.signer(&params, &Corpus::new(docs.len() as u64, &stats)).unwrap();
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let vector = |doc: &Doc| {
        let mut out = Signatures::default();
        signer.sign(&pipeline.analyse(&doc.text), &mut out);
        out.rows(0)
            .next()
            .map(|row| if row.sketch.is_empty() { row.key.to_be_bytes().to_vec() } else { row.sketch.to_vec() })
    };
    docs.iter().map(vector).collect()
}

#[test]
fn hamming_distances() {
    let docs = sample_docs();
    for (name, distance) in [("simhash", 3), ("random_projection", 11)] {
        let vectors = vectors(name, &docs);
        let apart = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum::<u32>();
        let same = |a: usize, b: usize| match (&vectors[a], &vectors[b]) {
            (Some(a), Some(b)) => apart(a, b) <= distance,
            _ => false,
        };
        check(found(&format!("{name}:")), all(docs.len(), same), 500);
    }
}
