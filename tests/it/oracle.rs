//! Compares the pairs of each algorithm with the pairs that a second, slow implementation finds by comparing all documents with each other.

use std::collections::{BTreeMap, BTreeSet};

use dupsift::algorithm::{Corpus, Params, by_name, specs};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::row::Signatures;
use dupsift_text::{Pipeline, TextOptions};

use crate::kit::{Doc, doc_pairs, done, made_docs, pairs, stars, write_docs};

const DOCUMENTS: usize = 400;

/// Holds the corpus, its words, and its sentences. Each sentence is stored in canonical form, with its number of words.
struct Made {
    docs: Vec<Doc>,
    words: Vec<Vec<String>>,
    sentences: Vec<Vec<(usize, String)>>,
    folder: tempfile::TempDir,
}

fn made() -> Made {
    let mut docs = made_docs(DOCUMENTS);
    // Includes short texts, and a text without words.
    for (at, text) in
        ["да", "нет да", "Да! Нет...", "?!", "网页", "!", "a b c d e f", "f e d c b a."].iter().enumerate()
    {
        docs[50 * at].text = text.to_string();
    }
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let (mut words, mut sentences) = (Vec::new(), Vec::new());
    for doc in &docs {
        let analysis = pipeline.analyse(&doc.text);
        words.push(analysis.words().iter().map(|word| analysis.word(word).to_string()).collect());
        let sentence = |range: &std::ops::Range<u32>| {
            let mut text = String::new();
            analysis.write_sentence(range, &mut text);
            (range.len(), text)
        };
        sentences.push(analysis.sentences().iter().map(sentence).collect());
    }
    let folder = tempfile::tempdir().unwrap();
    write_docs(&folder.path().join("a.parquet"), &docs, 64);
    Made { docs, words, sentences, folder }
}

impl Made {
    /// Returns the pairs that the program finds.
    fn found(&self, algorithm: &str) -> Vec<(usize, usize)> {
        let done = done(self.folder.path(), &["--algorithms", &format!("{algorithm},as=x")]);
        doc_pairs(&done.out(), "x")
    }

    /// Returns all pairs of documents that are duplicates according to `same`, or copies.
    fn all(&self, same: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
        let pairs = (0..self.docs.len()).flat_map(|a| (a + 1..self.docs.len()).map(move |b| (a, b)));
        let pairs = pairs.filter(|&(a, b)| same(a, b) || self.docs[a].text == self.docs[b].text);
        stars(pairs, &self.docs).into_iter().collect()
    }
}

fn check(found: Vec<(usize, usize)>, expected: Vec<(usize, usize)>, what: &str) {
    assert!(expected.len() > 30, "{what}: only {} pairs to find", expected.len());
    let (found, expected): (BTreeSet<_>, BTreeSet<_>) = (found.into_iter().collect(), expected.into_iter().collect());
    let missed: Vec<_> = expected.difference(&found).take(5).collect();
    let wrong: Vec<_> = found.difference(&expected).take(5).collect();
    assert!(missed.is_empty() && wrong.is_empty(), "{what}: missed {missed:?}, wrong {wrong:?}");
}

/// Returns the bits of each document directly from the signer: the bytes of its key, and its sketch.
fn fingerprints(docs: &[Doc], name: &str, typed: &[(&str, &str)]) -> Vec<Option<(u128, Vec<u8>)>> {
    let algorithm = by_name(name).unwrap();
    let typed: Vec<(String, String)> =
        typed.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let params = Params::check(name, &specs(algorithm), &typed).unwrap();
    let stats = CorpusStats::none();
    let signer = algorithm.signer(&params, &Corpus::new(docs.len() as u64, &stats)).unwrap();
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let sign = |doc: &Doc| {
        let mut out = Signatures::default();
        signer.sign(&pipeline.analyse(&doc.text), &mut out);
        out.rows(0).next().map(|row| (row.key, row.sketch.to_vec()))
    };
    docs.iter().map(sign).collect()
}

#[test]
fn simhash_pairs_are_all_fingerprints_within_the_distance() {
    let made = made();
    for (bits, distance) in [(64u32, 3u32), (64, 10), (128, 12), (64, 0)] {
        let (bits_typed, distance_typed) = (bits.to_string(), distance.to_string());
        let prints = fingerprints(
            &made.docs,
            "simhash",
            &[("bits", &bits_typed), ("distance", &distance_typed), ("min_features", "3")],
        );
        let apart = |a: usize, b: usize| Some((prints[a].as_ref()?.0 ^ prints[b].as_ref()?.0).count_ones());
        let expected = made.all(|a, b| apart(a, b).is_some_and(|apart| apart <= distance));
        let algorithm = format!("simhash:bits={bits},distance={distance},min_features=3");
        let done = done(made.folder.path(), &["--algorithms", &algorithm]);
        for pair in pairs(&done.out(), "simhash") {
            let apart = apart(pair.doc_a as usize, pair.doc_b as usize).unwrap() as f32;
            assert_eq!((pair.distance, pair.similarity), (Some(apart), 1.0 - apart / bits as f32), "{algorithm}");
        }
        check(doc_pairs(&done.out(), "simhash"), expected, &algorithm);
    }
}

#[test]
fn random_projection_pairs_are_all_vectors_within_the_distance() {
    let made = made();
    for (bits, distance) in [(384u32, 11u32), (384, 24), (256, 16), (64, 3), (128, 0)] {
        let (bits_typed, distance_typed) = (bits.to_string(), distance.to_string());
        let typed = [("bits", &bits_typed[..]), ("max_distance", &distance_typed[..]), ("min_features", "3")];
        let vectors = fingerprints(&made.docs, "random_projection", &typed);
        let apart = |a: usize, b: usize| {
            let (a, b) = (&vectors[a].as_ref()?.1, &vectors[b].as_ref()?.1);
            assert_eq!(a.len() as u32 * 8, bits);
            Some(a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>())
        };
        let expected = made.all(|a, b| apart(a, b).is_some_and(|apart| apart <= distance));
        let algorithm = format!("random_projection:bits={bits},max_distance={distance},min_features=3");
        let done = done(made.folder.path(), &["--algorithms", &algorithm]);
        for pair in pairs(&done.out(), "random_projection") {
            let apart = apart(pair.doc_a as usize, pair.doc_b as usize).unwrap() as f32;
            assert_eq!((pair.distance, pair.similarity), (Some(apart), 1.0 - apart / bits as f32), "{algorithm}");
        }
        check(doc_pairs(&done.out(), "random_projection"), expected, &algorithm);
    }
}

/// Returns windows of five units. A unit is a word or a single Han character; a shorter document is one window.
fn windows(words: &[String]) -> BTreeSet<String> {
    let is_han = |c: char| ('\u{4e00}'..='\u{9fff}').contains(&c);
    let mut units: Vec<String> = Vec::new();
    for word in words {
        if word.chars().all(is_han) {
            units.extend(word.chars().map(String::from));
        } else {
            units.push(word.clone());
        }
    }
    match units.len() {
        0 => BTreeSet::new(),
        1..5 => [units.join(" ")].into(),
        _ => units.windows(5).map(|window| window.join(" ")).collect(),
    }
}

#[test]
fn minhash_similarities_are_exact_and_pairs_above_the_threshold_are_found() {
    let made = made();
    let sets: Vec<BTreeSet<String>> = made.words.iter().map(|words| windows(words)).collect();
    let jaccard = |a: usize, b: usize| {
        let common = sets[a].intersection(&sets[b]).count();
        let union = sets[a].len() + sets[b].len() - common;
        if union == 0 { 0.0 } else { common as f64 / union as f64 }
    };
    for threshold in [0.7, 0.4] {
        // 60 bands of 3 rows miss about one in 50 pairs with a similarity of 0.4, and practically no pairs with a similarity of 0.7.
        let algorithm = format!("minhash:bands=60,rows=3,verify=jaccard:{threshold},as=x");
        let done = done(made.folder.path(), &["--algorithms", &algorithm]);
        let found = pairs(&done.out(), "x");
        for pair in &found {
            let exact = jaccard(pair.doc_a as usize, pair.doc_b as usize);
            assert!(exact >= threshold && pair.verified, "{pair:?} has {exact}");
            assert_eq!(pair.similarity, exact as f32, "{pair:?}");
        }
        let expected = made.all(|a, b| jaccard(a, b) >= threshold);
        assert!(
            expected.len() > 100 && found.len() as f64 >= 0.98 * expected.len() as f64,
            "{} of {}",
            found.len(),
            expected.len()
        );
        let surely = made.all(|a, b| jaccard(a, b) >= 0.7);
        let found: BTreeSet<(usize, usize)> = doc_pairs(&done.out(), "x").into_iter().collect();
        assert!(surely.iter().all(|pair| found.contains(pair)));
    }
}

#[test]
fn three_plus_five_pairs_share_the_longest_sentence_or_two_of_three_and_the_length() {
    let made = made();
    let longest: Vec<Vec<String>> = made
        .sentences
        .iter()
        .map(|sentences| {
            let distinct: BTreeSet<(std::cmp::Reverse<usize>, String)> =
                sentences.iter().map(|(words, text)| (std::cmp::Reverse(*words), text.clone())).collect();
            distinct.into_iter().take(3).map(|(_, text)| text).collect()
        })
        .collect();
    let meets = |a: usize, b: usize| {
        let common = longest[a].iter().filter(|text| longest[b].contains(text)).count();
        !longest[a].is_empty() && !longest[b].is_empty() && (longest[a][0] == longest[b][0] || common >= 2)
    };
    let near = |a: usize, b: usize| {
        let (shorter, longer) =
            (made.words[a].len().min(made.words[b].len()), made.words[a].len().max(made.words[b].len()));
        longer as f64 * 0.85 <= shorter as f64
    };
    let small = |doc: usize| made.sentences[doc].len() < 5;
    check(made.found("three_plus_five:chain=pairwise"), made.all(|a, b| meets(a, b) && near(a, b)), "pairwise");
    let off = made.all(|a, b| meets(a, b) && (near(a, b) || !small(a) && !small(b)));
    check(made.found("three_plus_five:chain=off"), off, "off");
    let any = made.all(meets);
    check(made.found("three_plus_five:chain=off,small_doc_sentences=0"), any, "off, none small");
}

#[test]
fn long_sent_pairs_have_the_same_two_longest_sentences() {
    let made = made();
    let longest: Vec<Vec<&String>> = made
        .sentences
        .iter()
        .map(|sentences| {
            let mut sorted: Vec<&(usize, String)> = sentences.iter().collect();
            sorted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            sorted.dedup();
            sorted.into_iter().take(2).map(|(_, text)| text).collect()
        })
        .collect();
    check(
        made.found("long_sent:sentences=2"),
        made.all(|a, b| !longest[a].is_empty() && longest[a] == longest[b]),
        "long_sent",
    );
}

/// Returns the six heaviest distinct words; `None` if there are fewer than six.
fn heaviest(counts: &BTreeMap<&str, usize>, weight: impl Fn(&str, usize) -> f64) -> Option<BTreeSet<String>> {
    let mut weighed: Vec<(f64, &str)> = counts.iter().map(|(word, tf)| (weight(word, *tf), *word)).collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    (weighed.len() >= 6).then(|| weighed[..6].iter().map(|(_, word)| word.to_string()).collect())
}

fn counts(words: &[String]) -> BTreeMap<&str, usize> {
    let mut counts = BTreeMap::new();
    words.iter().for_each(|word| *counts.entry(word.as_str()).or_default() += 1);
    counts
}

#[test]
fn tf_pairs_have_the_same_six_most_frequent_words() {
    let made = made();
    let tops: Vec<_> = made.words.iter().map(|words| heaviest(&counts(words), |_, tf| tf as f64)).collect();
    check(made.found("tf:words=6"), made.all(|a, b| tops[a].is_some() && tops[a] == tops[b]), "tf");
}

#[test]
fn idf_hash_pairs_have_the_same_rarest_words_whatever_the_hash() {
    let made = made();
    let mut df: BTreeMap<&str, usize> = BTreeMap::new();
    made.words.iter().for_each(|words| counts(words).keys().for_each(|word| *df.entry(word).or_default() += 1));
    let rarest = |words: &Vec<String>| -> Vec<String> {
        let mut words: Vec<(usize, &str)> = counts(words).keys().map(|word| (df[word], *word)).collect();
        words.sort_unstable();
        // Keeps seven tenths of the words, rounded down.
        words.truncate((words.len() * 7 / 10).max(1));
        words.into_iter().map(|(_, word)| word.to_string()).collect()
    };
    let strings: Vec<Vec<String>> = made.words.iter().map(rarest).collect();
    let same = made.all(|a, b| !strings[a].is_empty() && strings[a] == strings[b]);
    for typed in ["hash=rs", "hash=js", "hash=pjw", "hash=elf", "hash=bkdr", "hash=sdbm", "hash=djb", "hash=ap"] {
        check(made.found(&format!("idf_hash:{typed}")), same.clone(), typed);
    }
    for typed in ["ap_2010=true,mask31=true", "hash=djb,signed_char=true"] {
        check(made.found(&format!("idf_hash:{typed}")), same.clone(), typed);
    }
}

#[test]
fn fingerprint_pairs_have_the_same_heaviest_words_and_counts() {
    let made = made();
    let heaviest = |words: &Vec<String>| -> Vec<(String, usize)> {
        let mut words: Vec<(&str, usize)> = counts(words).into_iter().collect();
        words.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        words.into_iter().take(5).map(|(word, tf)| (word.to_string(), tf)).collect()
    };
    let strings: Vec<_> = made.words.iter().map(heaviest).collect();
    let same = made.all(|a, b| !strings[a].is_empty() && strings[a] == strings[b]);
    for typed in ["words=5", "words=5,order=sorted,digest=xxh3_64", "words=5,faithful=true"] {
        check(made.found(&format!("fingerprint:{typed}")), same.clone(), typed);
    }
}

#[test]
fn near_page_pairs_have_the_same_share_of_frequent_words() {
    let made = made();
    let frequent = |words: &Vec<String>| -> BTreeSet<String> {
        let mut words: Vec<(usize, &str)> = counts(words).into_iter().map(|(word, tf)| (tf, word)).collect();
        words.sort_unstable_by(|a, b| b.cmp(a));
        // Keeps half of the words, rounded down to a multiple of three.
        words.truncate(words.len() / 2 / 3 * 3);
        words.into_iter().map(|(_, word)| word.to_string()).collect()
    };
    let sets: Vec<_> = made.words.iter().map(frequent).collect();
    let same = made.all(|a, b| !sets[a].is_empty() && sets[a] == sets[b]);
    check(made.found("near_page:percentage=0.5,interval=3"), same, "near_page");
}

/// Checks the pairs that were found against a naive TF-IDF implementation. If `each_text_once` is set, each text is counted only once.
fn check_tf_idf(made: &Made, each_text_once: bool, found: Vec<(usize, usize)>) {
    let mut seen = BTreeSet::new();
    let counted: Vec<usize> =
        (0..made.docs.len()).filter(|doc| seen.insert(&made.docs[*doc].text) || !each_text_once).collect();
    let with_words = counted.iter().filter(|doc| !made.words[**doc].is_empty()).count() as f64;
    let mean = counted.iter().map(|doc| made.words[*doc].len()).sum::<usize>() as f64 / with_words;
    let mut df: BTreeMap<&str, usize> = BTreeMap::new();
    for doc in counted {
        counts(&made.words[doc]).keys().for_each(|word| *df.entry(word).or_default() += 1);
    }
    let weight = |word: &str, tf: usize, length: usize| {
        let (tf, df) = (tf as f64, df[word] as f64);
        let saturated = tf / (2.0 * (0.25 + 0.75 * (length as f64 / mean)) + tf);
        saturated * ((with_words - df + 0.5) / (df + 0.5)).ln()
    };
    let top = |words: &Vec<String>| heaviest(&counts(words), |word, tf| weight(word, tf, words.len()));
    let tops: Vec<_> = made.words.iter().map(top).collect();
    let same = made.all(|a, b| tops[a].is_some() && tops[a] == tops[b]);
    check(found, same, if each_text_once { "tf_idf, each text once" } else { "tf_idf" });
}

#[test]
fn tf_idf_pairs_have_the_same_six_words_of_greatest_weight() {
    let made = made();
    check_tf_idf(&made, false, made.found("tf_idf:words=6"));
    let done = done(made.folder.path(), &["--algorithms", "tf_idf", "--count-copies", "false"]);
    check_tf_idf(&made, true, doc_pairs(&done.out(), "tf_idf"));
}

#[test]
fn sentences_of_many_documents_are_left_out_where_asked() {
    let made = made();
    let mut df: BTreeMap<&str, usize> = BTreeMap::new();
    for sentences in &made.sentences {
        let distinct: BTreeSet<&str> = sentences.iter().map(|(_, text)| text.as_str()).collect();
        distinct.into_iter().for_each(|text| *df.entry(text).or_default() += 1);
    }
    let rare = |sentences: &Vec<(usize, String)>, most: usize| -> Vec<String> {
        let mut sorted: Vec<&(usize, String)> = sentences.iter().filter(|one| df[one.1.as_str()] <= most).collect();
        sorted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        sorted.dedup();
        sorted.into_iter().take(2).map(|(_, text)| text.clone()).collect()
    };
    for most in [2, 6] {
        let longest: Vec<Vec<String>> = made.sentences.iter().map(|sentences| rare(sentences, most)).collect();
        let same = made.all(|a, b| !longest[a].is_empty() && longest[a] == longest[b]);
        check(made.found(&format!("long_sent:max_sentence_df={most}")), same, &format!("at most {most} documents"));
    }
}
