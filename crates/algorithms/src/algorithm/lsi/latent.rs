//! Learns the reduced space for `lsi` from the TF-IDF vectors of a sample, and computes the coordinates of documents in this space.

use super::svd::{OVERSAMPLED, Rows, truncated};
use crate::algorithm::contract::{Corpus, Learner, Notes};
use crate::algorithm::kit::places::Places;
use crate::algorithm::kit::training::{Sample, room_for};
use crate::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_core::float;
use dupsift_core::hash::splitmix64;
use dupsift_core::number::counted;
use dupsift_text::{Analysis, Counted};

/// The number of header values in a model: documents, words, directions.
const HEAD: usize = 3;

/// Returns the weight of a word, (1 + ln tf) idf.
fn weight(counted: &Counted, idf: f64) -> f64 {
    (1.0 + float::ln(f64::from(counted.tf))) * idf
}

/// Learns the space from the corpus.
pub(crate) struct LatentLearner<'c> {
    /// The lowest document frequency of a vocabulary word.
    pub rarest: u64,
    /// The highest document frequency of a vocabulary word.
    pub commonest: u64,
    /// The sample of documents that is used for learning.
    pub sample: Sample,
    /// The number of directions to find.
    pub dimensions: usize,
    /// The number of passes of the decomposition.
    pub passes: usize,
    /// The seed of the decomposition's initial block.
    pub seed: u64,
    /// The counts of the corpus.
    pub stats: &'c CorpusStats,
}

impl Learner for LatentLearner<'_> {
    /// Appends words and weights alternately. The vector of weights has unit length.
    fn note(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        if !self.sample.has(document) {
            return;
        }
        let begin = out.len();
        let mut squares = 0.0;
        for (counted, frequency) in document.counted().iter().zip(document.frequencies()) {
            if counted.word.stop || !(self.rarest..=self.commonest).contains(&frequency.df) {
                continue;
            }
            let weight = weight(counted, self.stats.idf(frequency.df));
            squares += weight * weight;
            out.extend([counted.word.hash, weight.to_bits()]);
        }
        let length = squares.sqrt();
        for weight in out[begin..].iter_mut().skip(1).step_by(2) {
            *weight = (f64::from_bits(*weight) / length).to_bits();
        }
    }

    /// Returns the header, the words, the singular values, and the components of each word, packed two per number.
    fn learn(&self, notes: &Notes<'_>) -> Result<Vec<u64>> {
        let mut words = Vec::new();
        for at in 0..notes.count {
            words.extend(notes.get(at).iter().step_by(2));
            // Most words have been seen before, so with regular deduplication the list never becomes much longer than the vocabulary.
            if words.len() > 1 << 20 || at + 1 == notes.count {
                notes.go_on()?;
                words.sort_unstable();
                words.dedup();
            }
        }
        // Four blocks of 8-byte numbers; see `svd`.
        room_for(notes, words.len() * (self.dimensions + OVERSAMPLED) * 32, "lsi")?;
        let places = Places::new(words.iter().copied());
        let matrix = Sampled { notes, places: &places, columns: words.len() };
        let svd = truncated(&matrix, self.dimensions, self.passes, self.seed)?;
        let mut model = vec![notes.count as u64, words.len() as u64, svd.values.len() as u64];
        model.extend(words);
        model.extend(svd.values.iter().map(|value| value.to_bits()));
        for components in svd.vectors.chunks(svd.values.len().max(1)) {
            let pair = |pair: &[f64]| [pair[0] as f32, pair.get(1).copied().unwrap_or(0.0) as f32];
            model.extend(components.chunks(2).map(pair).map(bytemuck::cast::<[f32; 2], u64>));
        }
        Ok(model)
    }
}

/// Presents the sampled documents as a matrix.
struct Sampled<'s, 'n> {
    notes: &'s Notes<'n>,
    places: &'s Places,
    columns: usize,
}

impl Rows for Sampled<'_, '_> {
    fn rows(&self) -> usize {
        self.notes.count
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn row(&self, at: usize, out: &mut Vec<(usize, f64)>) -> Result<()> {
        if at.is_multiple_of(1024) {
            self.go_on()?;
        }
        let entries = self.notes.get(at).chunks_exact(2);
        out.extend(entries.filter_map(|entry| Some((self.places.of(entry[0])?, f64::from_bits(entry[1])))));
        Ok(())
    }

    fn go_on(&self) -> Result<()> {
        self.notes.go_on()
    }
}

struct Learnt<'c> {
    head: &'c [u64],
    places: Places,
    idf: Vec<f64>,
    /// The factor for each coordinate.
    scale: Vec<f64>,
    /// The components of each word, padded to full 64-bit numbers.
    components: &'c [f32],
}

/// Maps documents to their coordinates.
pub(crate) struct Latent<'c> {
    dimensions: usize,
    /// `None` if nothing was learned from the corpus. Every word then has its own random direction.
    learnt: Option<Learnt<'c>>,
}

impl<'c> Latent<'c> {
    /// Returns the space that the model of a corpus describes. `whitened` divides the coordinates by the singular values.
    pub(crate) fn new(corpus: &Corpus<'c>, dimensions: usize, whitened: bool) -> Latent<'c> {
        let Some((head, rest)) = corpus.model.split_at_checked(HEAD) else {
            return Latent { dimensions, learnt: None };
        };
        let (words, rest) = rest.split_at(head[1] as usize);
        let (values, components) = rest.split_at(head[2] as usize);
        let mut idf = Vec::with_capacity(words.len());
        corpus.stats.df_of_many(words.iter().copied(), |df| idf.push(corpus.stats.idf(df)));
        let scale = |&value: &u64| if whitened { 1.0 / f64::from_bits(value) } else { 1.0 };
        let learnt = Learnt {
            head,
            places: Places::new(words.iter().copied()),
            idf,
            scale: values.iter().map(scale).collect(),
            components: bytemuck::cast_slice(components),
        };
        Latent { dimensions: values.len(), learnt: Some(learnt) }
    }

    /// Returns the number of coordinates of a vector.
    pub(crate) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the coordinates of a document as a vector with unit length, or `None` if the document contains no words from the vocabulary.
    /// Words are added in the order of their hashes, so the word order of a document does not affect the last bits of the coordinates.
    pub(crate) fn vector(&self, document: &Analysis<'_>) -> Option<Vec<f32>> {
        let mut sums = vec![0.0f64; self.dimensions];
        let mut words: Vec<&Counted> = document.counted().iter().filter(|counted| !counted.word.stop).collect();
        words.sort_unstable_by_key(|counted| counted.word.hash);
        match &self.learnt {
            Some(learnt) => {
                let width = self.dimensions.next_multiple_of(2);
                for counted in words {
                    let Some(place) = learnt.places.of(counted.word.hash) else { continue };
                    let weight = weight(counted, learnt.idf[place]);
                    let components = &learnt.components[place * width..place * width + self.dimensions];
                    sums.iter_mut().zip(components).for_each(|(sum, &one)| *sum += weight * f64::from(one));
                }
                sums.iter_mut().zip(&learnt.scale).for_each(|(sum, scale)| *sum *= scale);
            }
            None => {
                for counted in words {
                    let sign = |at: usize| (splitmix64(counted.word.hash, at as u64) >> 63) as f64 - 0.5;
                    sums.iter_mut().enumerate().for_each(|(at, sum)| *sum += weight(counted, 1.0) * sign(at));
                }
            }
        }
        let length = sums.iter().map(|sum| sum * sum).sum::<f64>().sqrt();
        (length > 0.0).then(|| sums.iter().map(|sum| (sum / length) as f32).collect())
    }

    /// Returns a summary of the trained model for run.json.
    pub(crate) fn describe(&self) -> Option<String> {
        let head = self.learnt.as_ref()?.head;
        let [documents, words, directions] =
            [(0, "document"), (1, "word"), (2, "direction")].map(|(at, noun)| counted(head[at], noun));
        Some(format!("{directions} for {words}, learned from {documents}"))
    }
}

/// Returns the dot product, computed in eight parallel sums. The result is the same on every machine, and vector instructions make it fast.
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f64 {
    const SIDE: usize = 8;
    let mut sums = [0.0f64; SIDE];
    for (a, b) in a.chunks(SIDE).zip(b.chunks(SIDE)) {
        for ((sum, &x), &y) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(x) * f64::from(y);
        }
    }
    sums.iter().sum()
}
