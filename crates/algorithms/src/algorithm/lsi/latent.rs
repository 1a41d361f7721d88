//! The reduced space of `lsi`: learnt from the tf idf vectors of a sample, and where a document stands in it.

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

/// Numbers in front of a model: documents, words, directions.
const HEAD: usize = 3;

/// The weight of a word, (1 + ln tf) idf.
fn weight(counted: &Counted, idf: f64) -> f64 {
    (1.0 + float::ln(f64::from(counted.tf))) * idf
}

/// What the space is learnt by.
pub struct LatentLearner<'c> {
    /// The least document frequency of a word of the vocabulary.
    pub rarest: u64,
    /// The greatest.
    pub commonest: u64,
    /// Which documents are learnt from.
    pub sample: Sample,
    /// Directions wanted.
    pub dimensions: usize,
    /// Passes of the decomposition.
    pub passes: usize,
    /// The seed of its start.
    pub seed: u64,
    /// The counts of the corpus.
    pub stats: &'c CorpusStats,
}

impl Learner for LatentLearner<'_> {
    /// Words and weights in turn, of unit length.
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

    /// The head; the words; the singular values; for each word its components, two to a number.
    fn learn(&self, notes: &Notes<'_>) -> Result<Vec<u64>> {
        let mut words = Vec::new();
        for at in 0..notes.count {
            words.extend(notes.get(at).iter().step_by(2));
            // Most words have been seen before: the list never becomes much longer than the vocabulary.
            if words.len() > 1 << 20 || at + 1 == notes.count {
                notes.go_on()?;
                words.sort_unstable();
                words.dedup();
            }
        }
        // Four blocks of numbers of eight bytes, see `svd`.
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

/// The sampled documents as a matrix.
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

/// A space that was learnt.
struct Learnt<'c> {
    head: &'c [u64],
    places: Places,
    idf: Vec<f64>,
    /// What the coordinates are multiplied by.
    scale: Vec<f64>,
    /// For each word its components, rounded up to whole numbers of 64 bits.
    components: &'c [f32],
}

/// Where documents stand.
pub struct Latent<'c> {
    dimensions: usize,
    /// None for a corpus from which nothing was learnt: then every word is a random direction of its own.
    learnt: Option<Learnt<'c>>,
}

impl<'c> Latent<'c> {
    /// From the model of a corpus; `whitened` divides the coordinates by the singular values.
    pub fn new(corpus: &Corpus<'c>, dimensions: usize, whitened: bool) -> Latent<'c> {
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

    /// How many coordinates a vector has.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The coordinates of a document, of unit length; none for one without a word of the vocabulary. Words come in order of
    /// their hashes, so that the order of a document's words does not show in the last bits.
    pub fn vector(&self, document: &Analysis<'_>) -> Option<Vec<f32>> {
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

    /// What was learnt, for run.json.
    pub fn describe(&self) -> Option<String> {
        let head = self.learnt.as_ref()?.head;
        let [documents, words, directions] =
            [(0, "document"), (1, "word"), (2, "direction")].map(|(at, noun)| counted(head[at], noun));
        Some(format!("{directions} of {words}, learnt from {documents}"))
    }
}

/// The sum of products, in eight sums side by side: the same on every machine, and fast on those that can.
pub fn dot(a: &[f32], b: &[f32]) -> f64 {
    const SIDE: usize = 8;
    let mut sums = [0.0f64; SIDE];
    for (a, b) in a.chunks(SIDE).zip(b.chunks(SIDE)) {
        for ((sum, &x), &y) in sums.iter_mut().zip(a).zip(b) {
            *sum += f64::from(x) * f64::from(y);
        }
    }
    sums.iter().sum()
}
