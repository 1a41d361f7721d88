//! Decides which occurrences of a unit or run are repeats.

use std::cell::Cell;
use std::ops::Range;

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

/// Describes the occurrences of one unit, or of consecutive runs that always occur together, in order of preference.
pub struct Occurrences<'o> {
    /// The number of occurrences.
    pub count: usize,
    /// The number of consecutive runs; 1 for a unit.
    pub runs: u32,
    /// Returns the rank of an occurrence's document in the order of preference, and the position of the occurrence's unit or first run in
    /// that document.
    pub at: &'o dyn Fn(usize) -> (u64, u32),
    /// Returns whether no part of a run, given by the number of its occurrence and its number in the occurrence, is cut as part of another
    /// passage, according to what is known so far. Also returns the number of the first run for which the answer may be different.
    pub is_whole: &'o dyn Fn(usize, u32) -> (bool, u32),
    /// Returns whether two documents, given by their ranks, are compared with each other; `None` if all documents are.
    pub compares: Option<&'o dyn Fn(u64, u64) -> bool>,
}

impl Rule {
    /// Returns whether units may overlap, so that the first copy of one may be cut as part of another.
    pub fn overlaps(&self) -> bool {
        match self.cut {
            Cut::Lines | Cut::Paragraphs => false,
            Cut::Sentences(count) => count > 1,
            Cut::Runs(_) => true,
        }
    }

    /// Calls `each` with the index of each occurrence to cut, with the index of the first copy for which it is cut, and with the numbers of
    /// the runs for which this is so.
    ///
    /// # Errors
    /// Returns any error from `each`.
    pub fn repeats<E>(
        &self,
        all: &Occurrences<'_>,
        mut each: impl FnMut(usize, usize, Range<u32>) -> Result<(), E>,
    ) -> Result<(), E> {
        if (all.count as u64) < self.copies.max(2) {
            return Ok(());
        }
        let mut from = 0;
        while from < all.runs {
            // The runs up to `end` have the same result, because it depends only on the answers of `is_whole`.
            let end = Cell::new(all.runs);
            let is_whole = |number: usize| {
                let (is_whole, until) = (all.is_whole)(number, from);
                end.set(end.get().min(until.max(from + 1)));
                is_whole
            };
            let mut is_repeated = false;
            if self.cuts_first || all.runs > from + 1 {
                self.after_first(all, &is_whole, |_, _| Ok::<_, E>(is_repeated = true))?;
            }
            let runs = from..end.get();
            if !self.cuts_first {
                self.after_first(all, &is_whole, |number, first| each(number, first, runs.clone()))?;
            } else if is_repeated {
                (0..all.count).try_for_each(|number| each(number, 0, runs.clone()))?;
            }
            from = runs.end;
        }
        Ok(())
    }

    /// Calls `each` with the index of each occurrence that repeats an earlier one, and with the index of that earlier occurrence.
    fn after_first<E>(
        &self,
        all: &Occurrences<'_>,
        is_whole: &dyn Fn(usize) -> bool,
        mut each: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<(), E> {
        // Within one document, repeated lines and paragraphs are kept. Repeated sentences and runs are cut if they do not overlap the first
        // copy.
        let distance = (!matches!(self.cut, Cut::Lines | Cut::Paragraphs)).then(|| u64::from(self.cut.length()));
        let compares = |a: u64, b: u64| all.compares.is_none_or(|compares| compares(a, b));
        // The first copy, and the first copy in a document that is compared with the document of the first copy. The second is needed only
        // if some documents are not compared with each other.
        let (mut first, mut second) = (None::<usize>, None::<usize>);
        for number in 0..all.count {
            let (doc, position) = (all.at)(number);
            let repeats = |other: &usize| {
                let (other, start) = (all.at)(*other);
                if other == doc {
                    distance.is_some_and(|distance| u64::from(position) >= u64::from(start) + distance)
                } else {
                    compares(other, doc)
                }
            };
            let original = first.filter(repeats).or_else(|| second.filter(repeats));
            if let Some(original) = original {
                each(number, original)?;
            }
            // Units that do not overlap are whole unless they are cut themselves.
            let may_be_first = original.is_none() || self.overlaps();
            if first.is_none() {
                first = (may_be_first && is_whole(number)).then_some(number);
            } else if second.is_none() && all.compares.is_some() {
                let is_second = may_be_first && first.is_some_and(|first| compares((all.at)(first).0, doc));
                second = (is_second && is_whole(number)).then_some(number);
            }
        }
        Ok(())
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
        of(rule, at, &|_| true, None).into_iter().map(|(repeat, _)| repeat).collect()
    }

    fn of(
        rule: Rule,
        at: &[(u64, u32)],
        is_whole: &dyn Fn(usize) -> bool,
        compares: Option<&dyn Fn(u64, u64) -> bool>,
    ) -> Vec<(usize, usize)> {
        let mut out = Vec::new();
        let is_whole = |number, _| (is_whole(number), 1);
        let all = Occurrences { count: at.len(), runs: 1, at: &|number| at[number], is_whole: &is_whole, compares };
        let done = rule.repeats(&all, |repeat, first, _| Ok::<_, ()>(out.push((repeat, first))));
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
    fn a_copy_that_is_cut_itself_is_not_the_first_copy() {
        let rule = Rule { cut: Cut::Runs(20), copies: 2, cuts_first: false };
        let at = [(3, 7), (5, 0), (6, 1), (6, 21)];
        assert_eq!(of(rule, &at, &|number| number != 0, None), [(2, 1), (3, 1)]);
        assert_eq!(of(rule, &at, &|number| number > 1, None), [(3, 2)]);
        assert!(of(rule, &at, &|number| number == 3, None).is_empty());
    }

    #[test]
    fn documents_that_are_not_compared_do_not_cut_each_other() {
        let rule = |cut| Rule { cut, copies: 2, cuts_first: false };
        // Documents with an even rank are compared only with documents with an odd rank.
        let compares = |a: u64, b: u64| a % 2 != b % 2;
        let at = [(2, 0), (4, 0), (5, 0), (6, 0), (7, 0)];
        // The line of 5 is cut, so 6 has no first copy.
        assert_eq!(of(rule(Cut::Lines), &at, &|_| true, Some(&compares)), [(2, 0), (4, 0)]);
        // Runs are cut for every possible first copy until it is known which copies are whole.
        assert_eq!(of(rule(Cut::Runs(20)), &at, &|_| true, Some(&compares)), [(2, 0), (3, 2), (4, 0)]);
        assert_eq!(of(rule(Cut::Runs(20)), &at, &|number| number < 2, Some(&compares)), [(2, 0), (4, 0)]);
        assert!(of(rule(Cut::Lines), &at[..2], &|_| true, Some(&compares)).is_empty());
        let first = Rule { cuts_first: true, ..rule(Cut::Lines) };
        assert!(of(first, &at[..2], &|_| true, Some(&compares)).is_empty());
        assert_eq!(of(first, &at, &|_| true, Some(&compares)).len(), 5);
    }

    #[test]
    fn runs_with_the_same_first_copy_are_repeats_together() {
        let at = [(3, 7), (5, 0), (6, 1)];
        let of = |cuts_first: bool, is_whole: &dyn Fn(usize, u32) -> (bool, u32)| {
            let rule = Rule { cut: Cut::Runs(20), copies: 2, cuts_first };
            let all = Occurrences { count: 3, runs: 10, at: &|number| at[number], is_whole, compares: None };
            let mut out = Vec::new();
            let done = rule.repeats(&all, |repeat, first, runs| Ok::<_, ()>(out.push((repeat, first, runs))));
            done.expect("no error");
            out
        };
        assert_eq!(of(false, &|_, _| (true, u32::MAX)), [(1, 0, 0..10), (2, 0, 0..10)]);
        assert_eq!(of(true, &|_, _| (true, u32::MAX)), [(0, 0, 0..10), (1, 0, 0..10), (2, 0, 0..10)]);
        // From the fourth run on, the first occurrence is cut.
        let third =
            |number: usize, run: u32| if number > 0 { (true, 10) } else { (run < 3, if run < 3 { 3 } else { 10 }) };
        assert_eq!(of(false, &third), [(1, 0, 0..3), (2, 0, 0..3), (2, 1, 3..10)]);
        assert!(of(false, &|_, run| (false, run + 4)).is_empty());
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
