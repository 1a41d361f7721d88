//! The counting Bloom filter in memory: texts come as they come, and each is told whether its like came before.

use std::sync::OnceLock;

use super::check::key;
use crate::bloom::CountingBloom;
use crate::corpus::CorpusStats;
use crate::error::{Error, Result};
use crate::hash::combine;
use crate::number::{counted, thousands};
use crate::row::{Reason, Signatures};
use crate::spelling::opt;
use crate::stage::bound::Bound;
use crate::stage::recipe::Recipe;
use crate::text::{Analysis, Pipeline};

/// What came before.
pub struct Seen {
    bound: Bound<'static>,
    pipeline: Pipeline,
    filter: CountingBloom,
    signatures: Signatures,
    keys: u64,
}

impl Seen {
    /// For so many keys: no more than the share `rate` of new texts is flagged by chance then.
    ///
    /// # Errors
    /// [`Error::Usage`]: an algorithm that has no one key or needs statistics; a rate that is none; a filter of more than `most_bytes`.
    pub fn new(recipe: &Recipe, keys: u64, rate: f64, most_bytes: usize) -> Result<Seen> {
        static NONE: OnceLock<CorpusStats> = OnceLock::new();
        let bound = key(recipe, NONE.get_or_init(CorpusStats::none))?;
        if !(rate > 0.0 && rate < 1.0) {
            return Err(Error::wrong(opt("rate"), format!("expected a number between 0 and 1, got {rate}")));
        }
        let bytes = CountingBloom::bytes_for(keys, rate);
        if bytes > most_bytes as u64 {
            return Err(Error::wrong(
                opt("keys"),
                format!(
                    "a filter for {} takes {}, more than the {} allowed; expected fewer keys, or more memory",
                    counted(keys, "key"),
                    counted(bytes, "byte"),
                    thousands(most_bytes as u64)
                ),
            ));
        }
        let (pipeline, filter) = (Pipeline::new(&recipe.text)?, CountingBloom::new(keys, rate, most_bytes));
        Ok(Seen { bound, pipeline, filter, signatures: Signatures::default(), keys: 0 })
    }

    /// Whether the like of the text came before; from now on it has come. None for a text without a key, such as white space.
    pub fn add(&mut self, text: &str) -> Option<bool> {
        let document = self.pipeline.analyse(text);
        self.signatures.clear();
        self.bound.signer.sign(&document, &mut self.signatures);
        let key = key_of(&document, &self.signatures).ok()?;
        let before = self.filter.count(key) > 0;
        self.filter.insert(key);
        self.keys += 1;
        Some(before)
    }

    /// Texts with a key that came.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The share of new texts that are flagged by chance by now.
    pub fn false_positives(&self) -> f64 {
        self.filter.false_positives(self.keys)
    }
}

/// The key of a document: its signature, never 0. A text without one, such as one that is too short, is known by its bytes: its
/// copies are duplicates to every algorithm. White space alone has no key.
pub(super) fn key_of(document: &Analysis<'_>, signatures: &Signatures) -> std::result::Result<u64, Reason> {
    let both = |key: u64, halves: u128| combine(combine(key, (halves >> 64) as u64), halves as u64);
    let key = match signatures.reason() {
        None => signatures.rows(0).fold(1, |key, row| both(key, row.key)),
        Some(reason) if document.raw().trim_start().is_empty() => return Err(reason),
        Some(_) => both(2, document.copy_hash()),
    };
    Ok(key.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::purify::PurifyOptions;
    use crate::text::TextOptions;

    fn seen(algorithm: &str, keys: u64) -> Result<Seen> {
        let recipe = Recipe {
            algorithms: Recipe::parse_algorithms(algorithm)?,
            text: TextOptions::default(),
            count_copies: true,
            within: None,
            purify: PurifyOptions::default(),
        };
        Seen::new(&recipe, keys, 0.001, 1 << 20)
    }

    #[test]
    fn what_came_before_is_told() {
        let mut seen = seen("exact", 1_000).unwrap();
        let told: Vec<Option<bool>> =
            ["a text", "another", "a text", " ", "another"].map(|text| seen.add(text)).to_vec();
        assert_eq!(told, [Some(false), Some(false), Some(true), None, Some(true)]);
        assert_eq!(seen.keys(), 4);
        assert!(seen.false_positives() < 0.001);
    }

    #[test]
    fn what_cannot_be_is_told() {
        assert!(seen("minhash", 10).err().unwrap().to_string().contains("cannot be a key"));
        assert!(seen("exact,tf", 10).err().unwrap().to_string().contains("one algorithm"));
        assert!(seen("exact", 1 << 40).err().unwrap().to_string().contains("expected fewer keys"));
    }
}
