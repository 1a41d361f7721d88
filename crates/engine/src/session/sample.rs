//! Selects the documents that a run with `--sample` reads.
//!
//! A document is in the sample if the hash of its number and the seed is small enough. Therefore, the sample does not depend on the number
//! of threads, and no text has to be read to draw it. A larger sample contains all smaller samples with the same seed.

use crate::options::RunOptions;
use crate::options::sample_size::SampleSize;
use dupsift_core::hash::splitmix64;

/// The number of leading hash bits that select the bucket in which a hash is counted.
const BUCKET_BITS: u32 = 16;

/// Returns the number of rows within `--limit`, and the sample of these rows if only a sample is read.
pub fn taking_part(options: &RunOptions, rows: u64) -> (u64, Option<Sample>) {
    let rows = options.sampling.limit.map_or(rows, |limit| limit.min(rows));
    (rows, options.sampling.size.map(|size| Sample::draw(size, options.sampling.seed, rows)))
}

/// Identifies the documents in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    seed: u64,
    /// The largest hash of a sampled document.
    most: u64,
    /// The number of sampled documents.
    documents: u64,
}

impl Sample {
    /// Draws a sample of the first `documents` documents.
    pub fn draw(size: SampleSize, seed: u64, documents: u64) -> Sample {
        match size {
            SampleSize::Share(share) => {
                let most = (share * u64::MAX as f64) as u64;
                let count = (0..documents).filter(|&doc| splitmix64(seed, doc) <= most).count() as u64;
                Sample { seed, most, documents: count }
            }
            SampleSize::Count(count) if count >= documents => Sample { seed, most: u64::MAX, documents },
            SampleSize::Count(count) => Sample { seed, most: smallest(seed, documents, count), documents: count },
        }
    }

    /// Returns whether a document is in the sample.
    #[inline]
    pub fn has(self, doc: u64) -> bool {
        splitmix64(self.seed, doc) <= self.most
    }

    /// Returns the number of documents in the sample.
    pub fn documents(self) -> u64 {
        self.documents
    }
}

/// Returns the largest of the `count` smallest hashes. `count` must be at least 1 and less than `documents`. Counts the hashes by their
/// first bits, and then sorts the hashes in a single bucket. No two documents have the same hash, because hashing a number is a
/// permutation.
fn smallest(seed: u64, documents: u64, count: u64) -> u64 {
    let bucket = |hash: u64| (hash >> (u64::BITS - BUCKET_BITS)) as usize;
    let mut counts = vec![0_u64; 1 << BUCKET_BITS];
    (0..documents).for_each(|doc| counts[bucket(splitmix64(seed, doc))] += 1);
    let (mut before, mut last) = (0, 0);
    while before + counts[last] < count {
        before += counts[last];
        last += 1;
    }
    let mut hashes: Vec<u64> =
        (0..documents).map(|doc| splitmix64(seed, doc)).filter(|&hash| bucket(hash) == last).collect();
    hashes.sort_unstable();
    hashes[(count - before - 1) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_and_printed_back() {
        assert_eq!(SampleSize::parse("10000").unwrap(), SampleSize::Count(10_000));
        assert_eq!(SampleSize::parse("0.05").unwrap(), SampleSize::Share(0.05));
        for typed in ["1", "0.5", "0.001"] {
            assert_eq!(SampleSize::parse(typed).unwrap().to_string(), typed);
        }
        for wrong in ["0", "0.0", "1.0", "-1", "5%", "nan", "1.5", ""] {
            assert!(SampleSize::parse(wrong).unwrap_err().to_string().contains("such as 10000"), "{wrong}");
        }
    }

    #[test]
    fn a_sample_has_its_size_and_a_larger_one_contains_it() {
        let docs = |sample: Sample, all: u64| (0..all).filter(|&doc| sample.has(doc)).collect::<Vec<u64>>();
        for (all, count) in [(1, 1), (10, 3), (1000, 1), (1000, 999), (1000, 1000), (1000, 2000), (100_000, 7000)] {
            let sample = Sample::draw(SampleSize::Count(count), 7, all);
            let chosen = docs(sample, all);
            assert_eq!((chosen.len() as u64, sample.documents()), (count.min(all), count.min(all)));
            let larger = docs(Sample::draw(SampleSize::Count(count + count / 2), 7, all), all);
            assert!(chosen.iter().all(|doc| larger.binary_search(doc).is_ok()));
        }
        let share = Sample::draw(SampleSize::Share(0.05), 1, 100_000);
        assert_eq!(docs(share, 100_000).len() as u64, share.documents());
        assert!((4_700..5_300).contains(&share.documents()), "{}", share.documents());
        assert_ne!(docs(share, 1000), docs(Sample::draw(SampleSize::Share(0.05), 2, 1000), 1000));
        assert_eq!(Sample::draw(SampleSize::Count(5), 0, 0).documents(), 0);
    }
}
