//! Selects the data from which models are learned: a sample of the documents and a subset of the vocabulary, both of bounded size. Both
//! selections depend only on the texts, so a model depends only on the corpus.

use crate::algorithm::contract::{Kind, Notes, ParamSpec};
use crate::corpus::CorpusStats;
use dupsift_core::error::{Error, Result};
use dupsift_text::Analysis;

/// The `sample` parameter. The default differs between algorithms.
pub(crate) const SAMPLE: ParamSpec = ParamSpec {
    name: "sample",
    kind: Kind::Int(1, i64::MAX),
    default: "200000",
    help: "approximate number of documents to learn from, chosen by the hash of their text",
};

/// Defines which documents belong to a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// The highest hash of a document in the sample.
    most: u64,
}

impl Sample {
    /// Returns a sample of approximately this size, or all documents if the corpus is not larger than that.
    pub(crate) fn new(size: usize, documents: u64) -> Sample {
        let share = size as f64 / documents.max(1) as f64;
        // The cast saturates: a number above the largest integer becomes that integer.
        Sample { most: if share >= 1.0 { u64::MAX } else { (share * 2f64.powi(64)) as u64 } }
    }

    /// Returns whether the document belongs to the sample.
    pub(crate) fn has(&self, document: &Analysis<'_>) -> bool {
        (document.raw_hash() >> 64) as u64 <= self.most
    }
}

/// Returns the lowest document frequency f, at least `least`, for which the number of words with a document frequency from f to `most`
/// (inclusive) does not exceed `words`.
pub(crate) fn frequency_for(stats: &CorpusStats, least: u64, most: u64, words: usize) -> u64 {
    let all = (0..stats.words.len()).map(|at| stats.words.entry(at).1);
    let mut inside: Vec<u64> = all.filter(|df| (least..=most).contains(df)).collect();
    if inside.len() <= words {
        return least;
    }
    // The most common word that must be excluded. Words with the same frequency are excluded too.
    let (_, &mut outside, _) = inside.select_nth_unstable_by(words, |a, b| b.cmp(a));
    outside + 1
}

/// Checks whether learning may use this much memory.
///
/// # Errors
/// Returns [`Error::Usage`] with the amount of memory that would be enough.
pub(crate) fn room_for(notes: &Notes<'_>, bytes: usize, owner: &str) -> Result<()> {
    if bytes <= notes.memory_bytes {
        return Ok(());
    }
    Err(Error::usage(format!(
        "{owner}: learning from {} documents takes {} MiB of memory, which is more than `memory` allows; raise `memory`, or use a smaller sample=N",
        notes.count,
        bytes >> 20
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::counted;
    use dupsift_text::{Pipeline, TextOptions};

    #[test]
    fn a_sample_has_about_its_size_and_depends_on_the_text_alone() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let text = |n: u32| format!("документ {n}");
        let of = |sample: Sample| (0..2000).filter(|&n| sample.has(&pipeline.analyse(&text(n)))).collect::<Vec<_>>();
        let (tenth, half) = (of(Sample::new(200, 2000)), of(Sample::new(1000, 2000)));
        assert!((140..260).contains(&tenth.len()) && (900..1100).contains(&half.len()));
        assert!(tenth.iter().all(|n| half.contains(n)), "a larger sample has all of a smaller one");
        assert_eq!(of(Sample::new(2000, 2000)).len(), 2000);
        assert_eq!(of(Sample::new(1, 0)).len(), 2000);
    }

    #[test]
    fn the_commonest_words_that_there_is_room_for() {
        let stats = counted(100, 100, &[("a", 2, 2), ("b", 3, 3), ("c", 3, 3), ("d", 9, 9), ("e", 60, 60)]);
        for (words, expected) in [(9, 2), (4, 2), (3, 3), (2, 4), (1, 4), (0, 10)] {
            assert_eq!(frequency_for(&stats, 2, 50, words), expected, "{words}");
        }
    }
}
