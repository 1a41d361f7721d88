//! Defines the kinds of rows in a block. A kind consists of a code and, for rows of an algorithm, the algorithm's position in
//! the recipe.

/// Lists the possible contents of rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// Notes on consecutive documents.
    Notes,
    /// Rejected rows.
    Rejected,
    /// The counts of a task.
    Tally,
    /// Hashes of ids.
    Ids,
    /// Hashes of texts.
    Copies,
    /// Partial counts of words.
    Words,
    /// Partial counts of features.
    Features,
    /// Signatures of an algorithm.
    Rows,
    /// Evidence that an algorithm uses to verify candidates.
    Evidence,
    /// Sketches of documents.
    Sketches,
    /// Links within classes: the first document of a class, and another document in the same class.
    Links,
    /// Words with their counts.
    WordTerms,
    /// Features with their counts.
    FeatureTerms,
    /// Second-round rows of an algorithm.
    Probes,
    /// Matching pairs, including repeated pairs.
    Pairs,
    /// The number of comparisons that were made, and the number that were skipped.
    Compared,
    /// Matching pairs without repeats.
    Candidates,
    /// Pairs that passed verification.
    Judged,
    /// Candidates that verification left undecided.
    Undecided,
    /// Notes on documents for a learning algorithm.
    Learnt,
    /// Contents of documents in pairs.
    Contents,
}

/// Identifies the contents of rows, and the algorithm to which the rows belong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Kind {
    /// The contents of the rows.
    pub what: What,
    /// The position of the algorithm in the recipe; 0 for rows that belong to no algorithm.
    pub algorithm: u16,
}

const ALL: [What; 21] = [
    What::Notes,
    What::Rejected,
    What::Tally,
    What::Ids,
    What::Copies,
    What::Words,
    What::Features,
    What::Rows,
    What::Evidence,
    What::Sketches,
    What::Links,
    What::WordTerms,
    What::FeatureTerms,
    What::Probes,
    What::Pairs,
    What::Compared,
    What::Candidates,
    What::Judged,
    What::Undecided,
    What::Learnt,
    What::Contents,
];

impl Kind {
    /// Returns a kind that belongs to no algorithm.
    pub fn of(what: What) -> Kind {
        Kind { what, algorithm: 0 }
    }

    /// Returns a kind for the algorithm at this position in the recipe.
    pub fn algorithm(what: What, at: usize) -> Kind {
        Kind { what, algorithm: at as u16 }
    }

    /// Encodes the kind as a number.
    pub fn code(self) -> i32 {
        (self.what as i32) << 16 | i32::from(self.algorithm)
    }

    /// Decodes the kind from its number.
    pub(crate) fn of_code(code: i32) -> Option<Kind> {
        let what = usize::try_from(code >> 16).ok().and_then(|at| ALL.get(at))?;
        Some(Kind { what: *what, algorithm: (code & 0xffff) as u16 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_names_one_kind() {
        for (at, what) in ALL.into_iter().enumerate() {
            assert_eq!(what as usize, at);
            for algorithm in [0, 7, u16::MAX] {
                let kind = Kind { what, algorithm };
                assert_eq!(Kind::of_code(kind.code()), Some(kind));
            }
        }
        assert_eq!([-1, (ALL.len() as i32) << 16].map(Kind::of_code), [None, None]);
    }
}
