//! The record of what a corpus is made of.

use serde::{Deserialize, Serialize};

use crate::stage::parts::Amount;

/// What a corpus is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartsReport {
    /// By the letters at the beginning of each text.
    pub by_script: Vec<PartReport>,
    /// By the characters of each text.
    pub by_length: Vec<PartReport>,
}

impl PartsReport {
    /// Of all, and of what goes.
    pub fn all(&self) -> [Amount; 2] {
        let mut sums = [Amount::default(); 2];
        for part in &self.by_script {
            sums[0].add(part.all);
            sums[1].add(part.removed);
        }
        sums
    }
}

/// A part of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartReport {
    /// Its name; of a length the least characters.
    pub part: String,
    /// How much there is.
    #[serde(flatten)]
    pub all: Amount,
    /// How much of it goes.
    pub removed: Amount,
}
