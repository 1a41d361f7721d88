//! Counts and samples the pairs in the table of one algorithm.

use super::lowest::Lowest;
use dupsift_core::hash::{combine, mix64};
use dupsift_tables::PairFound;
use serde::Serialize;

/// The maximum number of verified pairs that are shown because of their low similarity.
pub(crate) const LEAST: usize = 10;

/// The number of similarity bins: twenty of width 0.05, and one for exactly 1.
pub const BINS: usize = 21;

/// The lower ends of the bins from which pairs are sampled. The last bin contains the pairs whose similarity is 1.
pub const SAMPLE_BINS: [f32; 7] = [0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The number of pairs sampled from each bin. One pair with similarity 1 is sufficient.
const DRAWN: [usize; SAMPLE_BINS.len()] = [2, 2, 2, 2, 2, 2, 1];

/// The seed of the sample. The sample depends only on this seed and on document numbers.
const SEED: u64 = 2007;

/// The tolerance at the edges of bins, which is necessary because 0.7 cannot be represented exactly in 32 bits.
const EDGE: f32 = 1e-5;

/// Returns the bin that contains this similarity.
pub(crate) fn bin(similarity: f32) -> usize {
    if similarity >= 1.0 - EDGE / 10.0 {
        return BINS - 1;
    }
    (((similarity + EDGE) * (BINS - 1) as f32).max(0.0) as usize).min(BINS - 2)
}

/// Returns the range of similarities in a bin.
pub fn bin_range(bin: usize) -> (f64, f64) {
    let edge = |bin: usize| (bin as f64 / (BINS - 1) as f64).min(1.0);
    (edge(bin), edge(bin + 1))
}

/// Returns the range of a bin in [`SAMPLE_BINS`]; the range of the last bin is exactly 1.
pub fn sample_range(bin: usize) -> (f32, f32) {
    (SAMPLE_BINS[bin], SAMPLE_BINS.get(bin + 1).copied().unwrap_or(1.0))
}

fn sample_bin(similarity: f32) -> usize {
    if bin(similarity) == BINS - 1 {
        return SAMPLE_BINS.len() - 1;
    }
    SAMPLE_BINS[..SAMPLE_BINS.len() - 1].iter().rposition(|&low| similarity + EDGE >= low).unwrap_or(0)
}

/// Holds a pair that is shown on the page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairSample {
    /// The position of the algorithm that found the pair, in the order of the record.
    pub algorithm: usize,
    /// The smaller document number.
    pub a: u64,
    /// The larger document number.
    pub b: u64,
    /// The similarity in the table.
    pub similarity: f32,
}

/// Collects counts and samples for one algorithm.
pub(crate) struct Tally {
    /// The number of pairs in each similarity bin.
    pub scores: [u64; BINS],
    least: Option<Lowest<(f32, u64, u64), PairFound>>,
    drawn: Vec<Lowest<(u64, u64, u64), PairFound>>,
}

impl Tally {
    /// Creates an empty tally. `checked` states whether the pairs were verified by comparing the texts, and `decides` states whether the
    /// pairs are used to decide which documents are removed.
    pub(crate) fn new(checked: bool, decides: bool) -> Tally {
        let drawn = if decides { DRAWN.iter().map(|&most| Lowest::new(most)).collect() } else { Vec::new() };
        Tally { scores: [0; BINS], least: (checked && decides).then(|| Lowest::new(LEAST)), drawn }
    }

    /// Counts one pair.
    #[inline]
    pub(crate) fn add(&mut self, pair: &PairFound) {
        self.scores[bin(pair.similarity)] += 1;
        if let Some(least) = &mut self.least {
            least.offer((pair.similarity, pair.a, pair.b), || *pair);
        }
        if let Some(drawn) = self.drawn.get_mut(sample_bin(pair.similarity)) {
            let hash = mix64(combine(combine(SEED, pair.a), pair.b));
            drawn.offer((hash, pair.a, pair.b), || *pair);
        }
    }
}

/// Returns the verified pairs with the lowest similarity. The pairs are taken from each algorithm in turn, because similarities according
/// to different measures are not comparable.
pub(crate) fn least(tallies: &[Tally], most: usize) -> Vec<PairSample> {
    let mut turns: Vec<_> = tallies
        .iter()
        .enumerate()
        .filter_map(|(algorithm, tally)| Some((algorithm, tally.least.as_ref()?)))
        .map(|(algorithm, least)| least.iter().map(move |(_, pair)| sample(algorithm, pair)))
        .collect();
    let mut chosen: Vec<PairSample> = Vec::with_capacity(most);
    loop {
        let before = chosen.len();
        for turn in &mut turns {
            let next = turn.find(|pair| !chosen.iter().any(|known| (known.a, known.b) == (pair.a, pair.b)));
            chosen.extend(next.filter(|_| chosen.len() < most));
        }
        if chosen.len() == before {
            return chosen;
        }
    }
}

/// Returns the pairs sampled from each bin across all algorithms.
pub(crate) fn samples(tallies: &[Tally]) -> Vec<Vec<PairSample>> {
    let of_bin = |bin: usize| {
        let mut lowest = Lowest::new(DRAWN[bin]);
        for (algorithm, tally) in tallies.iter().enumerate() {
            for (key, pair) in tally.drawn.get(bin).into_iter().flat_map(Lowest::iter) {
                lowest.offer(*key, || sample(algorithm, pair));
            }
        }
        lowest.into_values().collect()
    };
    (0..DRAWN.len()).map(of_bin).collect()
}

fn sample(algorithm: usize, pair: &PairFound) -> PairSample {
    PairSample { algorithm, a: pair.a, b: pair.b, similarity: pair.similarity }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(a: u64, b: u64, similarity: f32) -> PairFound {
        PairFound { a, b, similarity }
    }

    #[test]
    fn a_similarity_falls_into_the_bin_that_begins_with_it() {
        for edge in 0..20 {
            assert_eq!(bin(edge as f32 / 20.0), edge, "{edge}");
            let (low, high) = bin_range(edge);
            assert_eq!(bin(((low + high) / 2.0) as f32), edge);
        }
        assert_eq!((bin(1.0), bin(0.9999), bin(-0.5)), (20, 19, 0));
        assert_eq!(bin_range(20), (1.0, 1.0));
        let bins = [0.0, 0.49, 0.5, 0.7, 0.95, 1.0].map(sample_bin);
        assert_eq!(bins, [0, 0, 1, 3, 5, 6]);
        assert_eq!((sample_range(0), sample_range(6)), ((0.0, 0.5), (1.0, 1.0)));
    }

    #[test]
    fn a_pair_of_two_algorithms_is_shown_once() {
        let mut tallies = [Tally::new(true, true), Tally::new(true, true), Tally::new(false, true)];
        for doc in 0..30 {
            tallies[0].add(&pair(doc, doc + 1, 0.75 + doc as f32 / 1000.0));
            tallies[1].add(&pair(doc, doc + 1, 0.74 + doc as f32 / 1000.0));
            tallies[2].add(&pair(doc, doc + 1, 0.1));
        }
        assert_eq!(tallies[0].scores[15], 30);
        let least = least(&tallies, 10);
        assert_eq!(least.len(), 10);
        // Pairs are taken from the two algorithms in turn, even if all pairs of one algorithm have lower similarities.
        assert!(
            least.iter().enumerate().all(|(at, pair)| (pair.algorithm, pair.a) == (at % 2, at as u64)),
            "{least:?}"
        );
        tallies[1] = Tally::new(true, true);
        tallies[1].add(&pair(3, 4, 0.2));
        let few = super::least(&tallies, 10);
        assert_eq!(few[..3].iter().map(|pair| (pair.algorithm, pair.a)).collect::<Vec<_>>(), [(0, 0), (1, 3), (0, 1)]);
        assert_eq!(few.iter().filter(|pair| pair.a == 3).count(), 1);
        let samples = samples(&tallies);
        assert_eq!(samples.iter().map(Vec::len).collect::<Vec<_>>(), [2, 0, 0, 2, 0, 0, 0]);
        assert!(samples[3][0].a != samples[3][1].a);
    }

    #[test]
    fn what_does_not_decide_is_counted_and_not_shown() {
        let mut tally = Tally::new(true, false);
        tally.add(&pair(0, 1, 0.8));
        assert_eq!(tally.scores[16], 1);
        let tallies = [tally];
        assert!(least(&tallies, 10).is_empty() && samples(&tallies).iter().all(Vec::is_empty));
    }
}
