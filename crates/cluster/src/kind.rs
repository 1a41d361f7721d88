//! What the rows of a block are: a code and, where rows are of one algorithm, its place in the recipe.

/// What rows are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum What {
    /// What is noted of documents that follow each other.
    Notes,
    /// Rows that cannot be used.
    Rejected,
    /// Counts of a task.
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
    /// Evidence that an algorithm takes while it signs.
    Evidence,
    /// Sketches of documents.
    Sketches,
    /// Documents of a class of exact copies.
    Links,
    /// Words with their counts.
    WordTerms,
    /// Features with their counts.
    FeatureTerms,
    /// Second-round rows of an algorithm.
    Probes,
    /// Pairs that met, as often as they did.
    Pairs,
    /// Comparisons made, and left out.
    Compared,
    /// Pairs that met, each once.
    Candidates,
    /// Pairs that passed the check.
    Judged,
    /// Candidates that the check left undecided.
    Undecided,
    /// What an algorithm that learns notes of documents.
    Learnt,
    /// What documents in pairs say.
    Contents,
}

/// What rows are, and of which algorithm.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Kind {
    /// What they are.
    pub what: What,
    /// The place of the algorithm in the recipe; 0 where they are of none.
    pub member: u16,
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
    /// Of no algorithm.
    pub fn of(what: What) -> Kind {
        Kind { what, member: 0 }
    }

    /// Of the algorithm at that place of the recipe.
    pub fn member(what: What, at: usize) -> Kind {
        Kind { what, member: at as u16 }
    }

    /// As a number.
    pub fn code(self) -> i32 {
        (self.what as i32) << 16 | i32::from(self.member)
    }

    /// From its number.
    pub fn of_code(code: i32) -> Option<Kind> {
        let what = usize::try_from(code >> 16).ok().and_then(|at| ALL.get(at))?;
        Some(Kind { what: *what, member: (code & 0xffff) as u16 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_names_one_kind() {
        for (at, what) in ALL.into_iter().enumerate() {
            assert_eq!(what as usize, at);
            for member in [0, 7, u16::MAX] {
                let kind = Kind { what, member };
                assert_eq!(Kind::of_code(kind.code()), Some(kind));
            }
        }
        assert_eq!([-1, (ALL.len() as i32) << 16].map(Kind::of_code), [None, None]);
    }
}
