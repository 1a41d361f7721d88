//! Compares the rows of a window, and passes the pairs that are found to a sink.

use super::sketched::Sketched;
use super::{Pair, Row, Sketches, Window};

/// Passes pairs to a sink, and counts the comparisons that are skipped because of the limit.
pub struct Pairs<'p> {
    sink: &'p mut dyn FnMut(Pair),
    /// The maximum number of comparisons in one group.
    pub max_candidates: u64,
    /// The number of comparisons made.
    pub compared: u64,
    /// The number of comparisons skipped because of the limit.
    pub left_out: u64,
    /// The number of comparisons skipped in large windows because the rows are too far apart.
    pub far: u64,
    /// The buffers for the current window: one word per row, and the positions of the rows with which the current row is compared.
    words: Vec<u64>,
    places: Vec<u32>,
    sketches: Option<&'p dyn Sketches>,
}

/// [`Pairs::compare_some`] holds the words of a window's rows in memory only if the window has at most this many rows.
const MOST_WORDS: usize = 1 << 20;

/// The maximum number of rows in a window in which [`Pairs::compare_nearest`] compares all pairs.
pub const WHOLE: u64 = 256;
/// The minimum number of following rows with which each row of a large window is compared.
const NEAREST: u64 = 8;
/// The number of documents in a large window that are compared with all other documents in the window. These are the documents with the
/// smallest numbers. Therefore, even a document that is similar to many others is compared with a document that is kept.
pub const FIRST: usize = 4;

/// Returns the number of following rows with which [`Pairs::compare_nearest`] compares each row in a window of this many rows. In a large
/// window, the total number of comparisons is about the same as with [`WHOLE`] rows, but there are at least 8 comparisons per row.
pub fn reach(rows: u64) -> u64 {
    if rows <= WHOLE { rows } else { (WHOLE * WHOLE / 2 / rows).max(NEAREST) }
}

/// Returns the positions of the [`FIRST`] documents (or fewer) with the smallest numbers in a window, ordered by number.
pub fn firsts(window: &Window<'_>) -> Vec<usize> {
    let mut firsts: Vec<(u64, usize)> = Vec::with_capacity(FIRST + 1);
    for at in 0..window.len() {
        let doc = window.row(at).doc;
        if firsts.len() < FIRST || firsts.last().is_some_and(|last| doc < last.0) {
            let place = firsts.partition_point(|first| first.0 < doc);
            firsts.insert(place, (doc, at));
            firsts.truncate(FIRST);
        }
    }
    firsts.into_iter().map(|(_, at)| at).collect()
}

impl<'p> Pairs<'p> {
    /// Passes pairs to `sink` and limits the comparisons in one group to `max_candidates`.
    pub fn new(max_candidates: u64, sink: &'p mut dyn FnMut(Pair)) -> Pairs<'p> {
        Pairs {
            sink,
            max_candidates,
            compared: 0,
            left_out: 0,
            far: 0,
            words: Vec::new(),
            places: Vec::new(),
            sketches: None,
        }
    }

    /// Sets the sketches of the documents, if the method uses sketches.
    pub fn with_sketches(self, sketches: Option<&'p dyn Sketches>) -> Pairs<'p> {
        Pairs { sketches, ..self }
    }

    /// Returns the sketches of the documents.
    pub fn sketches(&self) -> Option<&'p dyn Sketches> {
        self.sketches
    }

    /// Adds a pair. A document that matches itself (because two of its keys collided) does not form a pair.
    pub fn push(&mut self, pair: Pair) {
        if pair.a != pair.b {
            (self.sink)(pair);
        }
    }

    /// Compares all pairs in the window with `judge`. If the number of pairs exceeds `max_candidates`, each row is compared with a limited
    /// number of following rows (at least one), and the skipped comparisons are counted.
    pub fn compare_all(&mut self, window: &Window<'_>, mut judge: impl FnMut(&Row<'_>, &Row<'_>) -> Option<Pair>) {
        let reach = self.reach(window.len());
        for i in 0..window.len() {
            let first = window.row(i);
            let end = self.end(window.len(), i, reach);
            for j in i + 1..end {
                if let Some(pair) = judge(&first, &window.row(j)) {
                    self.push(pair);
                }
            }
        }
    }

    /// Compares the rows of a window at a cost proportional to their number. In a window of up to [`WHOLE`] rows, compares all pairs; in a
    /// larger window, compares each row with the nearest following rows ([`reach`]) and with the [`FIRST`] documents of the window. The
    /// rows must be ordered so that documents that share further keys are close to each other. Skipped comparisons are counted in
    /// [`Pairs::far`].
    pub fn compare_nearest(&mut self, window: &Window<'_>, mut judge: impl FnMut(&Row<'_>, &Row<'_>) -> Option<Pair>) {
        let rows = window.len();
        let near = reach(rows as u64);
        let reach = near.min((self.max_candidates / rows.max(1) as u64).max(1)) as usize;
        let mut compared = 0;
        for i in 0..rows {
            let first = window.row(i);
            for j in i + 1..self.end(rows, i, reach) {
                compared += 1;
                if let Some(pair) = judge(&first, &window.row(j)) {
                    self.push(pair);
                }
            }
        }
        let all = rows as u64 * (rows as u64).saturating_sub(1) / 2;
        if reach as u64 == near {
            let firsts = if compared < all { firsts(window) } else { Vec::new() };
            for (at, &place) in firsts.iter().enumerate() {
                // This document has already been compared with the neighboring rows and with the first documents that precede it.
                let others = (0..rows).filter(|other| other.abs_diff(place) > reach && !firsts[..at].contains(other));
                for other in others {
                    compared += 1;
                    if let Some(pair) = judge(&window.row(place.min(other)), &window.row(place.max(other))) {
                        self.push(pair);
                    }
                }
            }
            self.far += all - compared;
        } else {
            self.left_out += all - compared;
        }
        self.compared += compared;
    }

    /// Works like [`Pairs::compare_all`], but for methods that can rule out pairs based on one eight-byte word per row. `some` appends, in
    /// order, the positions of the rows that may form a pair with the first row, judging by their words; only the rows at these positions
    /// are passed to `judge`. The counts and pairs do not change, provided that `some` omits no pair that `judge` would accept.
    pub fn compare_some(
        &mut self,
        window: &Window<'_>,
        word: impl Fn(&Row<'_>) -> u64,
        some: impl Fn(u64, &[u64], &mut Vec<u32>),
        mut judge: impl FnMut(&Row<'_>, &Row<'_>) -> Option<Pair>,
    ) {
        let rows = window.len();
        if rows > MOST_WORDS {
            // The words of a large window would take too much memory.
            return self.compare_all(window, judge);
        }
        let reach = self.reach(rows);
        let (mut words, mut places) = (std::mem::take(&mut self.words), std::mem::take(&mut self.places));
        words.clear();
        words.extend((0..rows).map(|at| word(&window.row(at))));
        for i in 0..rows {
            let end = self.end(rows, i, reach);
            places.clear();
            some(words[i], &words[i + 1..end], &mut places);
            for &place in &places {
                if let Some(pair) = judge(&window.row(i), &window.row(i + 1 + place as usize)) {
                    self.push(pair);
                }
            }
        }
        (self.words, self.places) = (words, places);
    }

    /// Works like [`Pairs::compare_all`], but for documents that are compared based on the first `N` words of their sketches. Each document
    /// is compared with the following documents up to the position that `last` returns; pairs whose sketches differ in at most `most`
    /// places, as counted by `differing`, are passed to `judge`. In a window of more than [`WHOLE`] documents, a pair may be skipped if each
    /// of its documents has [`NEAREST_CANDIDATES`](super::NEAREST_CANDIDATES) nearer ones. Sketches are read in blocks, so memory does not grow with the length of the
    /// list.
    pub fn compare_sketches<const N: usize>(
        &mut self,
        docs: &[u64],
        sketches: &dyn Sketches,
        last: impl Fn(usize) -> usize,
        (most, differing): (u32, impl Fn(&[u64; N], &[u64; N]) -> u32),
        mut judge: impl FnMut(u64, u64, u32) -> Option<Pair>,
    ) {
        let last = |i: usize| last(i).clamp(i + 1, docs.len());
        let all: u64 = (0..docs.len()).map(|i| (last(i) - i - 1) as u64).sum();
        let reach = if all <= self.max_candidates { all } else { (self.max_candidates / docs.len() as u64).max(1) };
        let end = |i: usize| last(i).min((i + 1).saturating_add(reach as usize));
        let mut sketched = Sketched { docs, sketches, most, differing, words: std::mem::take(&mut self.words) };
        let mut found = |a: u64, b: u64, apart: u32| {
            if let Some(pair) = judge(a, b, apart) {
                self.push(pair);
            }
        };
        let ends: Vec<usize> = if docs.len() as u64 > WHOLE { (0..docs.len()).map(end).collect() } else { Vec::new() };
        let mut far = 0;
        if !ends.is_empty() && sketched.is_crowded(&ends) {
            far = sketched.nearest(&ends, &mut found);
        } else {
            sketched.all(end, &mut found);
        }
        self.words = sketched.words;
        self.far += far;
        let compared: u64 = (0..docs.len()).map(|i| (end(i) - i - 1) as u64).sum();
        self.compared += compared;
        self.left_out += all - compared;
    }

    /// Returns the maximum number of following rows with which each row is compared in a window of this size, and counts the skipped
    /// comparisons.
    fn reach(&mut self, rows: usize) -> usize {
        let rows = rows as u64;
        let all = rows * rows.saturating_sub(1) / 2;
        let reach = if all <= self.max_candidates { rows } else { (self.max_candidates / rows).max(1) };
        // Rows near the end have fewer following rows.
        let short = reach.min(rows.saturating_sub(1));
        let compared = rows * short - short * (short + 1) / 2;
        self.compared += compared;
        self.left_out += all - compared;
        reach as usize
    }

    /// Returns the end of the range of rows that follow row `i`.
    fn end(&self, rows: usize, i: usize, reach: usize) -> usize {
        rows.min(i.saturating_add(1).saturating_add(reach))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::sketched::{BLOCK, COLLECTED, NEAREST_CANDIDATES};
    use super::*;
    use crate::hash::splitmix64;
    use crate::row::{RowLayout, RowShape, Score};

    #[test]
    fn a_hot_group_is_compared_in_proportion_to_its_size_and_counted() {
        let layout = RowLayout::new(RowShape::KEY64, 1000);
        let mut bytes = Vec::new();
        (0..100).for_each(|doc| layout.encode(&Row { position: 0, key: 1, order: 0, doc, sketch: &[] }, &mut bytes));
        let window = Window::new(layout, &bytes);
        for (bound, compared) in [(4950, 4950), (1000, 100 * 10 - 55), (1, 99)] {
            let mut found = 0;
            let mut sink = |_| found += 1;
            let mut pairs = Pairs::new(bound, &mut sink);
            pairs.compare_all(&window, |x, y| Some(Pair::new(x.doc, y.doc, Score::EQUAL, 1)));
            assert_eq!((pairs.compared, pairs.left_out), (compared, 4950 - compared));
            assert_eq!(found, compared);
        }
    }

    #[test]
    fn a_large_window_costs_in_proportion_to_its_rows() {
        let layout = RowLayout::new(RowShape { ordered: true, ..RowShape::KEY64 }, 1 << 20);
        let run = |rows: u64, bound: u64| {
            let mut bytes = Vec::new();
            // The rows are in reverse order of their document numbers.
            (0..rows).for_each(|at| {
                let row = Row { position: 0, key: 1, order: at as u32, doc: rows - 1 - at, sketch: &[] };
                layout.encode(&row, &mut bytes);
            });
            let mut found = Vec::new();
            let mut sink = |pair: Pair| found.push((pair.a, pair.b));
            let mut pairs = Pairs::new(bound, &mut sink);
            pairs.compare_nearest(&Window::new(layout, &bytes), |x, y| Some(Pair::new(x.doc, y.doc, Score::EQUAL, 1)));
            let counts = [pairs.compared, pairs.far, pairs.left_out];
            let made = found.len() as u64;
            found.sort_unstable();
            found.dedup();
            assert_eq!((found.len() as u64, made), (counts[0], counts[0]), "{rows}: no comparison is made twice");
            assert_eq!(counts.iter().sum::<u64>(), rows * rows.saturating_sub(1) / 2, "{rows}");
            (found, counts)
        };
        for rows in [0, 1, 2, WHOLE] {
            assert_eq!(run(rows, u64::MAX).1, [rows * rows.saturating_sub(1) / 2, 0, 0]);
        }
        let (found, [compared, far, _]) = run(5_000, u64::MAX);
        assert!(found.contains(&(77, 77 + 8)) && !found.contains(&(77, 77 + 9)), "neighbors");
        assert!((0..4).all(|first| found.contains(&(first, 4_999))) && !found.contains(&(4, 4_999)), "the first ones");
        assert!(compared <= 12 * 5_000 && far > 0);
        let [twice, ..] = run(10_000, u64::MAX).1;
        assert!(twice <= 2 * compared + 500, "{twice} for {compared}");
        // Just above the limit, the cost does not increase suddenly.
        let [above, ..] = run(WHOLE + 1, u64::MAX).1;
        assert!((WHOLE * WHOLE / 3..=WHOLE * WHOLE).contains(&above), "{above}");
        // The limit on comparisons is respected, and skipped comparisons are counted.
        let (_, [compared, far, left_out]) = run(5_000, 10_000);
        assert!(compared <= 10_000 && far == 0 && left_out > 0);
    }

    /// The sketch of a document is a single word, the document number; documents are near if their numbers differ by 1 or by 7.
    #[test]
    fn documents_are_compared_by_sketches_in_blocks_as_one_by_one() {
        struct Numbered;
        impl Sketches for Numbered {
            fn copy(&self, doc: u64, to: &mut [u64]) {
                to.fill(doc);
            }
        }
        let count = 2 * BLOCK + 500;
        let docs: Vec<u64> = (0..count as u64).collect();
        let differing = |a: &[u64; 1], b: &[u64; 1]| u32::from(![1, 7].contains(&b[0].abs_diff(a[0])));
        // The three cases are a short list without a limit, a limit of ten following documents for each document, and individual limits,
        // some of which precede the document itself.
        let lasts: [&dyn Fn(usize) -> usize; 3] = [&|_| count, &|i| i + 11, &|i| if i % 2 == 0 { i + 3 } else { 0 }];
        for (last, most, docs) in [
            (lasts[0], u64::MAX, &docs[..40]),
            (lasts[0], 10 * count as u64, &docs),
            (lasts[1], u64::MAX, &docs),
            (lasts[2], u64::MAX, &docs),
        ] {
            let mut found = Vec::new();
            let mut sink = |pair: Pair| found.push((pair.a, pair.b));
            let mut pairs = Pairs::new(most, &mut sink);
            let judge = |a, b, _| Some(Pair::new(a, b, Score::EQUAL, 1));
            pairs.compare_sketches(docs, &Numbered, last, (0, differing), judge);
            let counts = (pairs.compared, pairs.left_out);
            assert_eq!(pairs.far, 0);
            let all = |i: usize| last(i).clamp(i + 1, docs.len());
            let end = |i: usize| if most == u64::MAX { all(i) } else { all(i).min(i + 11) };
            let sum = |end: &dyn Fn(usize) -> usize| (0..docs.len()).map(|i| (end(i) - i - 1) as u64).sum::<u64>();
            assert_eq!(counts, (sum(&end), sum(&all) - sum(&end)));
            let expected =
                |i: usize| [1, 7].map(|step| i + step).into_iter().filter(move |&j| j < end(i)).map(move |j| (i, j));
            let mut expected: Vec<(u64, u64)> =
                (0..docs.len()).flat_map(expected).map(|(i, j)| (i as u64, j as u64)).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert!(found == expected && !found.is_empty(), "{} for {}", found.len(), expected.len());
        }
    }

    /// In a large window, each document is paired with its nearest documents; of documents at the same distance, those with the smallest
    /// numbers are nearest.
    #[test]
    fn each_document_of_a_crowd_is_compared_with_the_nearest_ones() {
        struct Numbered(u64);
        impl Sketches for Numbered {
            fn copy(&self, doc: u64, to: &mut [u64]) {
                to.fill(splitmix64(7, doc) & self.0);
            }
        }
        let apart = |mask: u64, a: u64, b: u64| ((splitmix64(7, a) ^ splitmix64(7, b)) & mask).count_ones();
        let count = 2 * COLLECTED as u64 + 90;
        // All sketches are equal; few of the signs differ; all signs do.
        for (mask, most) in [(0, 5), (0xff, 4), (u64::MAX, 31)] {
            // With `before`, a document is compared with at most this many documents before or after it.
            for before in [count, 400] {
                // The list is not ordered by number.
                let docs: Vec<u64> = (0..count).map(|at| at * 1_003 % count).collect();
                let is_near = |i: usize, j: usize| {
                    i != j && i.abs_diff(j) as u64 <= before && apart(mask, docs[i], docs[j]) <= most
                };
                let mut expected = BTreeSet::new();
                for i in 0..docs.len() {
                    let near = (0..docs.len()).filter(|&j| is_near(i, j));
                    let mut near: Vec<_> = near.map(|j| (apart(mask, docs[i], docs[j]), docs[j])).collect();
                    near.sort_unstable();
                    near.truncate(NEAREST_CANDIDATES);
                    expected.extend(near.into_iter().map(|(_, doc)| (docs[i].min(doc), docs[i].max(doc))));
                }
                let (mut found, mut emitted) = (BTreeSet::new(), 0);
                let mut sink = |pair: Pair| {
                    emitted += 1;
                    found.insert((pair.a, pair.b));
                };
                let mut pairs = Pairs::new(u64::MAX, &mut sink);
                let judge = |a, b, at| {
                    assert_eq!(at, apart(mask, a, b));
                    Some(Pair::new(a, b, Score::EQUAL, 1))
                };
                let differing = |a: &[u64; 1], b: &[u64; 1]| (a[0] ^ b[0]).count_ones();
                let last = |i: usize| i + 1 + before as usize;
                pairs.compare_sketches(&docs, &Numbered(mask), last, (most, differing), judge);
                let near = (0..docs.len()).flat_map(|i| (i + 1..docs.len()).map(move |j| (i, j)));
                let near = near.filter(|&(i, j)| is_near(i, j)).count();
                let left_out = (near - expected.len()) as u64;
                // Pairs of documents in different blocks that are left out of one list count half.
                assert!(
                    pairs.far >= left_out && pairs.far < left_out + left_out / 4 && pairs.left_out == 0,
                    "{left_out}"
                );
                assert!(found == expected && emitted <= docs.len() * NEAREST_CANDIDATES, "{mask:x} {before}");
            }
        }
    }

    /// Checks that ruling out pairs based on their words does not change the result.
    #[test]
    fn what_is_ruled_out_by_words_is_compared_and_counted_all_the_same() {
        let layout = RowLayout::new(RowShape::KEY64, 1000);
        for (rows, bound) in [(0, 9), (1, 9), (2, 9), (100, 4950), (100, 1000), (100, 1)] {
            let mut bytes = Vec::new();
            (0..rows)
                .for_each(|doc| layout.encode(&Row { position: 0, key: 1, order: 0, doc, sketch: &[] }, &mut bytes));
            let window = Window::new(layout, &bytes);
            let is_pair = |x: u64, y: u64| (x ^ y).count_ones() < 3;
            let judge =
                |x: &Row<'_>, y: &Row<'_>| is_pair(x.doc, y.doc).then(|| Pair::new(x.doc, y.doc, Score::EQUAL, 1));
            let asked = std::cell::Cell::new(0);
            let judge = |x: &Row<'_>, y: &Row<'_>| {
                asked.set(asked.get() + 1);
                judge(x, y)
            };
            let run = |words: bool| {
                asked.set(0);
                let mut found = Vec::new();
                let mut sink = |pair: Pair| found.push((pair.a, pair.b));
                let mut pairs = Pairs::new(bound, &mut sink);
                if words {
                    let some = |first: u64, words: &[u64], places: &mut Vec<u32>| {
                        places.extend((0..words.len() as u32).filter(|&at| is_pair(first, words[at as usize])));
                    };
                    pairs.compare_some(&window, |row| row.doc, some, judge);
                } else {
                    pairs.compare_all(&window, judge);
                }
                let counts = (pairs.compared, pairs.left_out);
                (found, counts, asked.get())
            };
            let (all, some) = (run(false), run(true));
            assert_eq!((&all.0, all.1), (&some.0, some.1), "{rows} rows, {bound}");
            // Pairs that are ruled out are not passed to `judge`.
            assert_eq!((all.2, some.2), (all.1.0, some.0.len() as u64), "{rows} rows, {bound}");
        }
    }
}
