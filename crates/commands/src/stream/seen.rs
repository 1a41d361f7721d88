//! Keeps a counting Bloom filter in memory and reports, for each document, whether a similar document was seen before.

use std::sync::OnceLock;

use bytesize::ByteSize;

use super::check::{key, sizing};
use super::keys::{Sizing, insert, keys_of, seen};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::Recipe;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, thousands};
use dupsift_core::row::Signatures;
use dupsift_engine::options::{Kind, Value, memory_allowed};
use dupsift_spill::bloom::CountingBloom;
use dupsift_text::Pipeline;

/// Holds a filter that records the documents seen before.
pub struct Seen {
    bound: Bound<'static>,
    pipeline: Pipeline,
    filter: CountingBloom,
    sizing: Sizing,
    signatures: Signatures,
    /// The keys of the current document.
    own: Vec<u64>,
    keys: u64,
}

impl Seen {
    /// Creates an empty filter for `keys` keys. As long as the filter contains at most `keys` keys, the share of new documents that are
    /// flagged by chance is at most `rate`.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the algorithm's signatures cannot be keys, if the rate is invalid, or if the filter is larger than
    /// `most_bytes` or the available memory.
    pub fn new(recipe: &Recipe, keys: u64, rate: f64, most_bytes: usize) -> Result<Seen> {
        static NONE: OnceLock<CorpusStats> = OnceLock::new();
        let bound = key(recipe, NONE.get_or_init(CorpusStats::none))?;
        if Kind::Rate.take(&Value::Real(rate)).is_none() {
            return Err(Error::wrong("rate", format!("expected {}, got {rate}", Kind::Rate)));
        }
        let sizing = sizing(&bound, rate);
        let bytes = sizing.bytes_for(keys);
        if bytes > most_bytes as u64 {
            return Err(Error::wrong(
                "keys",
                format!(
                    "a filter for {} needs {}, but the limit is {}; use fewer keys, or more memory",
                    counted(keys, "key"),
                    counted(bytes, "byte"),
                    thousands(most_bytes as u64)
                ),
            ));
        }
        let allowed = memory_allowed().unwrap_or(u64::MAX);
        if bytes > allowed {
            return Err(Error::wrong_value(
                "keys",
                keys,
                format!(
                    "the filter needs {}, but the machine or its cgroup has only {}; use at most {}",
                    ByteSize(bytes),
                    ByteSize(allowed),
                    counted(sizing.documents_within(allowed), "key"),
                ),
            ));
        }
        let (pipeline, filter) = (Pipeline::new(&recipe.text)?, sizing.filter(keys, most_bytes)?);
        let own = vec![0; sizing.each as usize];
        Ok(Seen { bound, pipeline, filter, sizing, signatures: Signatures::default(), own, keys: 0 })
    }

    /// Adds a document, and returns whether a similar document was seen before. Returns `None` if the document has no key, for example
    /// because it consists only of white space.
    pub fn add(&mut self, text: &str) -> Option<bool> {
        let mut document = self.pipeline.analyse(text);
        document.comparable();
        self.signatures.clear();
        self.bound.signer.sign(&document, &mut self.signatures);
        keys_of(&document, &self.signatures, &mut self.own).ok()?;
        let before = seen(&self.filter, &self.own)?;
        insert(&self.filter, &self.own);
        self.keys += 1;
        Some(before > 0)
    }

    /// Returns the number of added documents that have a key.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Returns the share of new documents that are currently flagged by chance.
    pub fn false_positives(&self) -> f64 {
        self.sizing.false_positives(&self.filter, self.keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(algorithm: &str) -> Result<Recipe> {
        Ok(Recipe { count_copies: true, ..Recipe::new(Recipe::parse_algorithms(algorithm)?) })
    }

    fn seen(algorithm: &str, keys: u64) -> Result<Seen> {
        Seen::new(&recipe(algorithm)?, keys, 0.001, 1 << 20)
    }

    #[test]
    fn what_came_before_is_reported() {
        let mut seen = seen("exact", 1_000).unwrap();
        let told: Vec<Option<bool>> =
            ["a text", "another", "a text", " ", "another"].map(|text| seen.add(text)).to_vec();
        assert_eq!(told, [Some(false), Some(false), Some(true), None, Some(true)]);
        assert_eq!(seen.keys(), 4);
        assert!(seen.false_positives() < 0.001);
    }

    #[test]
    fn one_band_that_came_before_is_enough() {
        let mut seen = seen("minhash:bands=20,rows=3,ngram=1", 1_000).unwrap();
        let text = |from: usize| (from..from + 40).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
        let told = [text(0), text(4), text(1_000), text(0), " ".into()].map(|text| seen.add(&text));
        assert_eq!(told, [Some(false), Some(true), Some(false), Some(true), None]);
        assert_eq!(seen.keys(), 4);
    }

    #[test]
    fn what_cannot_be_is_reported() {
        for keys in [1_000_000_000_000, u64::MAX] {
            let recipe = recipe("exact").unwrap();
            let message = Seen::new(&recipe, keys, 0.001, usize::MAX).err().unwrap().to_string();
            assert!(message.contains("the filter needs") && message.contains("use at most"), "{message}");
        }
        assert!(seen("simhash", 10).err().unwrap().to_string().contains("cannot be a key"));
        assert!(seen("exact,tf", 10).err().unwrap().to_string().contains("one algorithm"));
        assert!(seen("exact", 1 << 40).err().unwrap().to_string().contains("use fewer keys"));
    }
}
