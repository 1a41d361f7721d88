//! Pairs: what grouping finds, how alike, and how they travel through the shuffle.

use super::{Row, Window, doc_width, number};

/// How alike two documents are to one method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// 0 to 1, 1 for equal signatures.
    pub similarity: f32,
    /// The method's own distance, where it has one (bits for a fingerprint).
    pub distance: Option<f32>,
}

impl Score {
    /// Equal signatures, of a method without a distance.
    pub const EQUAL: Score = Score { similarity: 1.0, distance: None };
}

/// Two documents that a method calls duplicates, or, before verification, a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The smaller document number.
    pub a: u64,
    /// The larger one.
    pub b: u64,
    /// How alike.
    pub score: Score,
    /// One bit a rule of the method that found the pair, see `Signer::rules`.
    pub matched: u16,
}

impl Pair {
    /// The pair of two different documents, whichever is first.
    pub fn new(x: u64, y: u64, score: Score, matched: u16) -> Pair {
        Pair { a: x.min(y), b: x.max(y), score, matched }
    }

    /// One pair out of two sightings of it: the better score, all the rules.
    pub fn merge(self, other: Pair) -> Pair {
        let better = if other.score.similarity > self.score.similarity { other.score } else { self.score };
        Pair { score: better, matched: self.matched | other.matched, ..self }
    }
}

/// The bytes of a pair on its way through the shuffle: they compare like (a, b).
#[derive(Clone, Copy, Debug)]
pub struct PairLayout {
    doc_width: usize,
}

impl PairLayout {
    /// The layout for a corpus of that many rows.
    pub fn new(documents: u64) -> PairLayout {
        PairLayout { doc_width: doc_width(documents) }
    }

    /// Bytes of a pair.
    pub fn width(&self) -> usize {
        self.group_width() + 10
    }

    /// Bytes at the front that name the pair: both document numbers.
    pub fn group_width(&self) -> usize {
        2 * self.doc_width
    }

    /// Appends one pair's bytes.
    pub fn encode(&self, pair: &Pair, out: &mut Vec<u8>) {
        out.extend_from_slice(&pair.a.to_be_bytes()[8 - self.doc_width..]);
        out.extend_from_slice(&pair.b.to_be_bytes()[8 - self.doc_width..]);
        out.extend_from_slice(&pair.matched.to_be_bytes());
        out.extend_from_slice(&pair.score.similarity.to_be_bytes());
        out.extend_from_slice(&pair.score.distance.unwrap_or(f32::NAN).to_be_bytes());
    }

    /// Reads one pair back.
    pub fn decode(&self, bytes: &[u8]) -> Pair {
        let (a, rest) = bytes.split_at(self.doc_width);
        let (b, rest) = rest.split_at(self.doc_width);
        let float = |at: usize| f32::from_bits(number(&rest[at..at + 4]) as u32);
        let distance = float(6);
        Pair {
            a: number(a),
            b: number(b),
            matched: number(&rest[..2]) as u16,
            score: Score { similarity: float(2), distance: (!distance.is_nan()).then_some(distance) },
        }
    }
}

/// Where pairs go; what does not fit the bound on comparisons is counted here, never dropped silently.
pub struct Pairs<'p> {
    sink: &'p mut dyn FnMut(Pair),
    /// The most comparisons that one group may cost.
    pub max_candidates: u64,
    /// Comparisons made.
    pub compared: u64,
    /// Comparisons that the bound left out.
    pub left_out: u64,
}

impl<'p> Pairs<'p> {
    /// Pairs into a sink, under a bound on the comparisons of one group.
    pub fn new(max_candidates: u64, sink: &'p mut dyn FnMut(Pair)) -> Pairs<'p> {
        Pairs { sink, max_candidates, compared: 0, left_out: 0 }
    }

    /// One pair found. A document that met itself (two of its keys collided) is no pair.
    pub fn push(&mut self, pair: Pair) {
        if pair.a != pair.b {
            (self.sink)(pair);
        }
    }

    /// Compares all pairs of the window by `judge`. Where that is more than `max_candidates`, each row is compared with
    /// its nearest followers only, as many as the bound allows (at least one), and what was left out is counted.
    pub fn compare_all(&mut self, window: &Window<'_>, mut judge: impl FnMut(&Row<'_>, &Row<'_>) -> Option<Pair>) {
        let rows = window.len() as u64;
        let all = rows * rows.saturating_sub(1) / 2;
        let reach = if all <= self.max_candidates { rows } else { (self.max_candidates / rows).max(1) };
        let mut compared = 0;
        for i in 0..window.len() {
            let first = window.row(i);
            let end = window.len().min(i.saturating_add(1).saturating_add(reach as usize));
            for j in i + 1..end {
                if let Some(pair) = judge(&first, &window.row(j)) {
                    self.push(pair);
                }
            }
            compared += (end - i - 1) as u64;
        }
        self.compared += compared;
        self.left_out += all - compared;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{RowLayout, RowShape};

    #[test]
    fn pairs_survive_the_trip() {
        let layout = PairLayout::new(100);
        for distance in [None, Some(3.0)] {
            let pair = Pair::new(9, 4, Score { similarity: 0.75, distance }, 5);
            let mut out = Vec::new();
            layout.encode(&pair, &mut out);
            assert_eq!((out.len(), layout.decode(&out)), (layout.width(), pair));
            assert_eq!((pair.a, pair.b), (4, 9));
        }
    }

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
}
