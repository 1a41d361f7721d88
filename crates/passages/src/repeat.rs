//! Decides which occurrences of a unit or run are repeats.

use crate::cut::Cut;

/// Holds the rule that determines which occurrences in a corpus are cut.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The unit to cut.
    pub cut: Cut,
    /// The minimum number of occurrences of a passage that is cut.
    pub copies: u64,
    /// Whether the first copy is also cut.
    pub cuts_first: bool,
}

impl Rule {
    /// Calls `each` with the index of each occurrence to cut, for one unit or run that has `count` occurrences, which are in order. `at`
    /// returns the rank of an occurrence's document in the order of preference, and the occurrence's position in that document.
    ///
    /// # Errors
    /// Returns any error from `each`.
    pub fn repeats<E>(
        &self,
        count: usize,
        at: impl Fn(usize) -> (u64, u32),
        mut each: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<(), E> {
        if (count as u64) < self.copies.max(2) {
            return Ok(());
        }
        let (first_doc, first) = at(0);
        // Within one document, repeated lines and paragraphs are kept. Repeated sentences and runs are cut if they do not overlap the first
        // copy.
        let distance = (!matches!(self.cut, Cut::Lines | Cut::Paragraphs)).then(|| u64::from(self.cut.length()));
        let is_repeat = |number: usize| {
            let (doc, position) = at(number);
            doc != first_doc || distance.is_some_and(|distance| u64::from(position) >= u64::from(first) + distance)
        };
        // Occurrences in the first document come first, and the last of them is farthest from the first copy.
        if !is_repeat(count - 1) {
            return Ok(());
        }
        (0..count).filter(|&number| self.cuts_first || is_repeat(number)).try_for_each(&mut each)
    }
}

/// Describes one unit or several consecutive runs that are to be cut. The first copies of the runs are also consecutive, and all runs have
/// the same number of occurrences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeat {
    /// The number of the first unit, or of the first character in the folded text.
    pub position: u32,
    /// The number of runs. Each run begins one position after the previous run.
    pub count: u32,
    /// The document with the first copy.
    pub first_doc: u64,
    /// The position in `first_doc`, in characters, at which the first copy of the first run begins.
    pub first_start: u32,
    /// The number of occurrences of each run.
    pub copies: u32,
}

impl Repeat {
    /// Appends the next repeat in a document if that repeat continues this one. Returns whether the repeat was appended.
    pub fn joins(&mut self, next: &Repeat) -> bool {
        let continues = u64::from(next.position) == u64::from(self.position) + u64::from(self.count)
            && next.first_doc == self.first_doc
            && u64::from(next.first_start) == u64::from(self.first_start) + u64::from(self.count)
            && next.copies == self.copies;
        self.count += if continues { next.count } else { 0 };
        continues
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(rule: Rule, at: &[(u64, u32)]) -> Vec<usize> {
        let mut out = Vec::new();
        let done = rule.repeats(at.len(), |number| at[number], |number| Ok::<_, ()>(out.push(number)));
        done.expect("no error");
        out
    }

    #[test]
    fn the_first_copy_stays() {
        let rule = |cut, copies, cuts_first| Rule { cut, copies, cuts_first };
        let two = [(3, 7), (5, 0)];
        for cut in [Cut::Lines, Cut::Paragraphs, Cut::Sentences(2), Cut::Runs(20)] {
            assert_eq!(repeats(rule(cut, 2, false), &two), [1]);
            assert_eq!(repeats(rule(cut, 2, true), &two), [0, 1]);
            assert!(repeats(rule(cut, 3, false), &two).is_empty());
            assert!(repeats(rule(cut, 2, true), &two[..1]).is_empty());
        }
        // Within one document, runs and sentences are repeats if they do not overlap the first copy; lines are never repeats.
        let one = [(3, 0), (3, 1), (3, 19), (3, 20), (3, 21)];
        assert_eq!(repeats(rule(Cut::Runs(20), 2, false), &one), [3, 4]);
        assert_eq!(repeats(rule(Cut::Sentences(19), 2, false), &one), [2, 3, 4]);
        assert!(repeats(rule(Cut::Lines, 2, true), &one).is_empty());
        assert!(repeats(rule(Cut::Runs(20), 2, true), &one[..3]).is_empty());
        assert_eq!(repeats(rule(Cut::Lines, 2, false), &[(3, 0), (3, 1), (4, 0), (4, 9)]), [2, 3]);
    }

    #[test]
    fn runs_that_continue_each_other_are_one_repeat() {
        let one = Repeat { position: 5, count: 1, first_doc: 2, first_start: 9, copies: 3 };
        let next = Repeat { position: 6, first_start: 10, ..one };
        let mut both = one;
        assert!(both.joins(&next) && both.count == 2);
        for other in [
            Repeat { position: 7, ..next },
            Repeat { first_start: 11, ..next },
            Repeat { copies: 4, ..next },
            Repeat { first_doc: 1, ..next },
        ] {
            let mut both = one;
            assert!(!both.joins(&other) && both == one);
        }
    }
}
