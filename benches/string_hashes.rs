//! Counts collisions of the eight string hashes on real text: `cargo bench --bench string_hashes -- [CORPUS]`.
//!
//! `idf_hash` signs every document with each hash. Two documents collide if their hashes are equal but their strings differ. `idf_hash`
//! also compares the strings, so it does not report these pairs. The survey that describes the method reports hundreds of collisions for
//! 1,000 files. 32-bit hashes hardly ever collide, so compare the survey's counts with the last column: the number of strings whose slot is
//! already taken in a table with as many slots as strings.

mod kit;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use anyhow::Result;
use dupsift::algorithm::Corpus;
use dupsift_algorithms::corpus::{CorpusStats, TermTable, TermTableWriter};
use dupsift_algorithms::recipe::Recipe;
use dupsift_core::row::Signatures;
use dupsift_text::{Pipeline, TextOptions};

/// The parameters for each row of the table.
const LINES: [&str; 12] = [
    "hash=rs",
    "hash=js",
    "hash=pjw",
    "hash=elf",
    "hash=bkdr",
    "hash=sdbm",
    "hash=djb",
    "hash=ap",
    "hash=ap,ap_2010=true",
    "hash=ap,mask31=true",
    "hash=ap,signed_char=true",
    "hash=djb,mask31=true",
];

fn main() -> Result<()> {
    let corpus = PathBuf::from(kit::arguments().first().map_or("data-samples/docs", String::as_str));
    // The limit is larger than any corpus, so every document is read.
    let texts = kit::sample(&corpus, 1_000_000)?;
    let pipeline = Pipeline::new(&TextOptions::default())?;
    let folder = tempfile::tempdir()?;
    let stats = count(&texts, &pipeline, &folder.path().join("terms"))?;

    let typed: Vec<String> =
        LINES.iter().map(|line| format!("idf_hash:{line},as={}", line.replace([',', '='], "-"))).collect();
    let recipe = Recipe {
        algorithms: Recipe::parse_algorithms(&typed.join(","))?,
        text: TextOptions::default(),
        count_copies: true,
        within: None,
        across: None,
    };
    let bound = recipe.bind(&Corpus::new(texts.len() as u64, &stats), &[])?;
    let mut keys = vec![HashSet::new(); LINES.len()];
    let mut out = Signatures::default();
    for text in &texts {
        let document = pipeline.analyse(text).counted_over(&stats);
        for (bound, keys) in bound.iter().zip(&mut keys) {
            out.clear();
            bound.signer.sign(&document, &mut out);
            keys.extend(out.rows(0).map(|row| row.key));
        }
    }

    let strings = keys[0].len();
    let chance = strings as f64 * (strings as f64 - 1.0) / 2.0 / 2f64.powi(32);
    println!("{} documents, {strings} different strings", texts.len());
    println!(
        "pairs expected of 32 even bits: {chance:.4}; places taken, of even bits: {:.0}",
        strings as f64 / std::f64::consts::E
    );
    println!("\n{:<26} {:>10} {:>16} {:>14}", "hash", "pairs", "strings in them", "places taken");
    for (line, keys) in LINES.iter().zip(&keys) {
        let (pairs, involved) = collisions(keys.iter().map(|key| (key >> 96) as u64));
        let places: HashSet<u64> = keys.iter().map(|key| (key >> 96) as u64 % strings as u64).collect();
        println!("{line:<26} {pairs:>10} {involved:>16} {:>14}", strings - places.len());
    }
    Ok(())
}

/// Returns the number of pairs of equal values, and the number of values in such pairs.
fn collisions(values: impl Iterator<Item = u64>) -> (u64, u64) {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts.values().filter(|count| **count > 1).fold((0, 0), |sum, n| (sum.0 + n * (n - 1) / 2, sum.1 + n))
}

/// Returns the document frequencies of all words.
fn count(texts: &[String], pipeline: &Pipeline, path: &std::path::Path) -> Result<CorpusStats> {
    let mut counts: HashMap<u64, (u64, u64)> = HashMap::new();
    let (mut documents, mut tokens) = (0, 0);
    for text in texts {
        let document = pipeline.analyse(text);
        documents += u64::from(!document.words().is_empty());
        tokens += document.words().len() as u64;
        for one in document.counted() {
            let (df, cf) = counts.entry(one.word.hash).or_default();
            (*df, *cf) = (*df + 1, *cf + u64::from(one.tf));
        }
    }
    let mut terms: Vec<(u64, (u64, u64))> = counts.into_iter().collect();
    terms.sort_unstable();
    let mut writer = TermTableWriter::create(path)?;
    terms.into_iter().try_for_each(|(term, (df, cf))| writer.push(term, df, cf))?;
    Ok(CorpusStats::new(documents, tokens, 0, writer.finish()?, TermTable::empty()))
}
