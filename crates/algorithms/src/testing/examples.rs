//! Provides three documents with known results for worked examples (docs/methods/tf.md).

use crate::algorithm::contract::{Algorithm, Corpus, Decided, Params, Signer, Verify};
use crate::corpus::{CorpusStats, TermTable, TermTableWriter};
use dupsift_core::hash::hash64;
use dupsift_core::row::{Pair, Score, Signatures};
use dupsift_text::{Analysis, Pipeline, TextOptions};

/// The first document.
pub(crate) const D1: &str = "Кот спит на окне. Кот видит птицу за окном. Птица улетела.";
/// The sentences of [`D1`] in a different order, which make a duplicate.
pub(crate) const D2: &str = "Кот видит птицу за окном. Кот спит на окне! Птица улетела";
/// An unrelated document.
pub(crate) const D3: &str = "Собака спит на крыльце. Кот видит рыбу.";

/// Parses the parameters of an algorithm from `a=1,b=2`.
pub(crate) fn params(algorithm: &dyn Algorithm, typed: &str) -> Params {
    let typed: Vec<(String, String)> = typed
        .split(',')
        .filter_map(|item| item.split_once('='))
        .map(|(name, value)| (name.to_string(), value.to_string()))
        .collect();
    Params::check(algorithm.name(), &crate::algorithm::specs(algorithm), &typed).expect("parameters of a test")
}

/// Holds the output of an algorithm for one text: (position, key, order, sketch) rows, or the reason why there are no rows.
pub(crate) type Emitted = Result<Vec<(u32, u128, u32, Vec<u8>)>, &'static str>;

/// Signs one text with an algorithm that needs no statistics.
pub(crate) fn sign(algorithm: &dyn Algorithm, typed: &str, text: &str) -> Emitted {
    let stats = CorpusStats::none();
    let corpus = Corpus::new(1000, &stats);
    let signer = algorithm.signer(&params(algorithm, typed), &corpus).expect("parameters of a test");
    sign_with(signer.as_ref(), text)
}

/// Returns statistics for this many documents and words. `words` lists (word, df, cf) for some of the
/// words.
pub(crate) fn counted(documents: u64, tokens: u64, words: &[(&str, u64, u64)]) -> CorpusStats {
    let folder = tempfile::tempdir().expect("a folder");
    let mut terms: Vec<_> = words.iter().map(|&(word, df, cf)| (hash64(word.as_bytes()), df, cf)).collect();
    terms.sort_unstable();
    let mut writer = TermTableWriter::create(&folder.path().join("terms")).expect("a file");
    terms.iter().for_each(|&(term, df, cf)| writer.push(term, df, cf).expect("a term"));
    CorpusStats::new(documents, tokens, 1, writer.finish().expect("a table"), TermTable::empty())
}

/// Signs one text with an algorithm, using the statistics of a counted corpus.
pub(crate) fn sign_over(algorithm: &dyn Algorithm, typed: &str, stats: &CorpusStats, text: &str) -> Emitted {
    let corpus = Corpus::new(1000, stats);
    let signer = algorithm.signer(&params(algorithm, typed), &corpus).expect("parameters of a test");
    sign_counted(signer.as_ref(), stats, text)
}

/// Returns the only key that a single-signature algorithm emits for a text from the counted corpus.
pub(crate) fn key_over(
    algorithm: &dyn Algorithm,
    typed: &str,
    stats: &CorpusStats,
    text: &str,
) -> Result<u128, &'static str> {
    sign_over(algorithm, typed, stats, text).map(|rows| {
        assert_eq!(rows.len(), 1);
        rows[0].1
    })
}

/// Signs one text with a signer.
pub(crate) fn sign_with(signer: &dyn Signer, text: &str) -> Emitted {
    sign_counted(signer, &CorpusStats::none(), text)
}

/// Signs one text from a corpus with these counts.
pub(crate) fn sign_counted(signer: &dyn Signer, stats: &CorpusStats, text: &str) -> Emitted {
    let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
    let mut out = Signatures::default();
    signer.sign(&pipeline.analyse(text).counted_over(stats), &mut out);
    match out.reason() {
        Some(reason) => Err(reason),
        None => Ok(out.rows(0).map(|row| (row.position, row.key, row.order, row.sketch.to_vec())).collect()),
    }
}

/// Returns the words of a document's rows, in order. Checks that there are words for each row and none for an unknown key.
pub(crate) fn words_of_rows(signer: &dyn Signer, document: &Analysis<'_>) -> Vec<String> {
    let mut out = Signatures::default();
    signer.sign(document, &mut out);
    assert_eq!(out.reason(), None);
    let keys: Vec<u128> = out.rows(0).map(|row| row.key).chain([7]).collect();
    let mut words = signer.words_of_keys(document, &keys);
    assert_eq!((words.len(), words.pop()), (keys.len(), Some(None)));
    words.into_iter().map(|words| words.expect("each key has words")).collect()
}

/// Returns the only key that a single-signature algorithm emits for a text.
pub(crate) fn key(algorithm: &dyn Algorithm, typed: &str, text: &str) -> Result<u128, &'static str> {
    sign(algorithm, typed, text).map(|rows| {
        assert_eq!(rows.len(), 1);
        rows[0].1
    })
}

/// Returns the similarity that a check computes from two documents' evidence, if it reaches the threshold.
pub(crate) fn similarity(check: &dyn Verify, a: &[u64], b: &[u64]) -> Decided<f32> {
    let passed = check.compare(a, b, Pair::new(0, 1, Score::EQUAL, 1))?;
    Ok(passed.map(|pair| pair.score.similarity))
}
