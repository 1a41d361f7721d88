//! Compares normal forms, words and pairs of the samples with the rules in docs/methods, which are reimplemented in plain Python.

use std::path::Path;

use dupsift_text::{Analysis, Pipeline, TextOptions};
use serde_json::json;

use crate::kit::{Doc, Ran, python, read_docs, run, samples, write_docs};

/// The algorithms whose rules are implemented in tests/algorithms.py, with labels for algorithms that occur more than once.
const COVERED: &str = "exact,exact:form=canonical,as=canonical,tf,tf_idf,tf_ridf,opt_freq,long_sent,heavy_sent,\
    three_plus_five,fingerprint,near_page,idf_hash,imatch,keyword_match,repeats,keywords,keywords:rule=1,as=keywords_1,\
    keywords:rule=2,as=keywords_2,keywords:rule=3,as=keywords_3,sim,segments,sentence_marks,core_words";

/// Returns a JSON line for each document, with its text in normal form and the words of its text and title.
fn told(docs: &[Doc]) -> String {
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let words = |analysis: &Analysis<'_>| -> Vec<String> {
        analysis.words().iter().map(|word| analysis.word(word).to_string()).collect()
    };
    let line = |doc: &Doc| {
        let text = pipeline.analyse(&doc.text);
        let title = pipeline.analyse(doc.title.as_deref().unwrap_or_default());
        json!({"normal": text.text(), "words": words(&text), "title": words(&title)}).to_string() + "\n"
    };
    docs.iter().map(line).collect()
}

/// Replaces capitals and spaces in the text with unusual forms, which normalization converts back.
fn in_other_letters(text: &str) -> String {
    let other = |c: char| match c {
        // Mathematical bold capitals have no lower case, and NFKC turns them into A to Z.
        'A'..='Z' => char::from_u32(0x1D400 + u32::from(c) - u32::from('A')).unwrap(),
        ' ' => '\u{3000}',
        _ => c,
    };
    text.replace("No.", "№.").chars().map(other).collect()
}

/// Returns the samples in a language, followed by every seventh sample rewritten by [`in_other_letters`].
fn documents(language: &str, folder: &Path) -> Vec<Doc> {
    std::fs::copy(samples().join(format!("{language}.parquet")), folder.join("samples.parquet")).unwrap();
    let mut docs = read_docs(folder);
    let again = |doc: &Doc| Doc {
        id: format!("{} again", doc.id),
        text: in_other_letters(&doc.text),
        title: doc.title.as_deref().map(in_other_letters),
    };
    let again: Vec<Doc> = docs.iter().step_by(7).map(again).collect();
    docs.extend(again);
    docs
}

#[track_caller]
fn hold_against_the_rules(language: &str) {
    let folder = tempfile::tempdir().unwrap();
    let docs = documents(language, folder.path());
    let [file, words, out] = ["docs.parquet", "words", "out"].map(|name| folder.path().join(name));
    write_docs(&file, &docs, 1000);
    std::fs::write(&words, told(&docs)).unwrap();
    let options = ["--title-column", "title", "--max-group", "100000", "--algorithms", COVERED];
    run(&[&file], &out, &options).ends_with(0);
    let arguments: [&Path; 3] = [&file, &words, &out];
    let ran = Ran::of(python("tests/algorithms.py").args(arguments).output().unwrap()).ends_with(0);
    assert_eq!(ran.stdout.lines().count(), 23, "{}", ran.stdout);
    println!("{}", ran.stdout);
}

#[test]
fn english_samples_have_the_pairs_of_the_rules() {
    hold_against_the_rules("en");
}

#[test]
fn russian_samples_have_the_pairs_of_the_rules() {
    hold_against_the_rules("ru");
}

#[test]
fn chinese_samples_have_the_pairs_of_the_rules() {
    hold_against_the_rules("zh");
}
