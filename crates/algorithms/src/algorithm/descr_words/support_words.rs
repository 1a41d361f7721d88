//! Chooses the support words for `descr_words`: a few high-quality words that describe as many documents as possible
//! (docs/methods/descr_words.md).
//!
//! f is the count of a word in a document divided by the count of the document's most frequent word. A word describes the documents in
//! which its f is above its threshold. Its quality is the share of these documents whose f is not near the threshold, so that a small edit
//! rarely moves f across it. A document is covered if enough words describe it. Each round has two phases. First, words are added, starting
//! with the word that helps the most documents, until no further word helps. Then the worst words are dropped while nearly all covered
//! documents stay covered. Each round requires a higher quality than the previous round.
//!
//! Memory: 256 bytes per candidate word, and four bytes for each document that a candidate describes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::HashMap;

use crate::algorithm::contract::Notes;
use crate::algorithm::kit::training::room_for;
use dupsift_core::error::Result;

/// The number of steps into which f is divided: step i is i/64 < f <= (i + 1)/64.
pub(crate) const STEPS: u64 = 64;

/// The thresholds i/64, from 0.05 to 0.95.
const THRESHOLDS: std::ops::RangeInclusive<usize> = 4..=60;

/// The share of documents that may become uncovered in one phase.
const LOSS: f64 = 0.001;

/// The maximum number of rounds; a dozen are usually enough.
const ROUNDS: u64 = 200;

/// Returns a word of a document as stored in notes: the hash, with the step of f in its low bits.
pub(crate) fn note_of(hash: u64, tf: u32, most: u32) -> u64 {
    let step = (u64::from(tf) * STEPS).div_ceil(u64::from(most)) - 1;
    word_of(hash) | step.min(STEPS - 1)
}

/// Returns the part of a hash that identifies the word.
pub(crate) fn word_of(hash: u64) -> u64 {
    hash & !(STEPS - 1)
}

/// Holds the criteria for choosing words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goals {
    /// The minimum number of sampled documents in which f must be above a word's threshold.
    pub documents: u32,
    /// The distance from the threshold, in steps, within which f counts as near.
    pub near: usize,
    /// The quality that the first round requires.
    pub quality: f64,
    /// The minimum number of words that describe a covered document.
    pub min_bits: u32,
    /// The target number of words.
    pub max_words: usize,
}

/// Holds the chosen words, and statistics about the choice.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Chosen {
    /// The words as returned by [`word_of`], in ascending order, with their thresholds in steps.
    pub words: Vec<(u64, u64)>,
    /// The number of candidate words.
    pub candidates: u64,
    /// The number of covered documents.
    pub covered: u64,
    /// The number of rounds until nothing changed or the set was small enough.
    pub rounds: u64,
}

struct Candidate {
    word: u64,
    threshold: usize,
    quality: f64,
    /// The range in `Set::documents` of the documents that the word describes.
    documents: std::ops::Range<usize>,
}

/// Chooses support words from notes made by [`note_of`].
///
/// # Errors
/// Returns the error of [`Notes::go_on`], or an error if there is not enough memory.
pub(crate) fn choose(notes: &Notes<'_>, goals: &Goals) -> Result<Chosen> {
    let (places, counts) = count(notes)?;
    let mut candidates: Vec<Option<Candidate>> = (0..counts.len()).map(|_| None).collect();
    let mut end = 0;
    for (&word, &place) in &places {
        candidates[place] = candidate(word, &counts[place], goals);
    }
    for (candidate, counts) in candidates.iter_mut().zip(&counts) {
        if let Some(candidate) = candidate {
            let begin = end;
            end += counts[candidate.threshold..].iter().map(|&count| count as usize).sum::<usize>();
            candidate.documents = begin..end;
        }
    }
    drop(counts);
    room_for(notes, 4 * end + 8 * notes.count, "descr_words")?;
    let mut documents = vec![0u32; end];
    let mut next: Vec<usize> =
        candidates.iter().map(|candidate| candidate.as_ref().map_or(0, |one| one.documents.start)).collect();
    for at in 0..notes.count {
        each(notes, at, |word, step| {
            let place = places[&word];
            if candidates[place].as_ref().is_some_and(|candidate| step >= candidate.threshold) {
                documents[next[place]] = at as u32;
                next[place] += 1;
            }
        })?;
    }
    let mut set = Set {
        candidates: candidates.into_iter().flatten().collect(),
        cover: vec![0; notes.count],
        documents,
        selected: Vec::new(),
        min_bits: goals.min_bits,
    };
    set.selected = vec![false; set.candidates.len()];
    let mut quality = goals.quality;
    let mut rounds = 0;
    while rounds < ROUNDS {
        notes.go_on()?;
        let before = set.selected.clone();
        set.grow(quality);
        set.shrink();
        rounds += 1;
        if set.len() <= goals.max_words || set.selected == before {
            break;
        }
        quality = set.chosen().map(|candidate| candidate.quality).fold(f64::INFINITY, f64::min);
    }
    let mut words: Vec<(u64, u64)> = set.chosen().map(|one| (one.word, one.threshold as u64)).collect();
    words.sort_unstable();
    let covered = set.cover.iter().filter(|&&cover| cover >= goals.min_bits).count() as u64;
    Ok(Chosen { words, candidates: set.candidates.len() as u64, covered, rounds })
}

/// Passes each word of one note, with its step, to `word`.
fn each(notes: &Notes<'_>, at: usize, mut word: impl FnMut(u64, usize)) -> Result<()> {
    if at.is_multiple_of(4096) {
        notes.go_on()?;
    }
    notes.get(at).iter().for_each(|&note| word(word_of(note), (note & (STEPS - 1)) as usize));
    Ok(())
}

/// Maps words to positions, and holds the number of documents at each step for every position. Positions follow the order of the notes.
type Counts = (HashMap<u64, usize>, Vec<[u32; STEPS as usize]>);

fn count(notes: &Notes<'_>) -> Result<Counts> {
    let mut places: HashMap<u64, usize> = HashMap::new();
    let mut counts: Vec<[u32; STEPS as usize]> = Vec::new();
    for at in 0..notes.count {
        each(notes, at, |word, step| {
            let place = *places.entry(word).or_insert_with(|| {
                counts.push([0; STEPS as usize]);
                counts.len() - 1
            });
            counts[place][step] += 1;
        })?;
    }
    Ok((places, counts))
}

/// Returns the word with its best threshold, or `None` if no threshold has enough documents above it. If several thresholds are equally
/// good, the lowest is used.
fn candidate(word: u64, counts: &[u32; STEPS as usize], goals: &Goals) -> Option<Candidate> {
    let sum = |range: std::ops::Range<usize>| counts[range].iter().sum::<u32>();
    let all = sum(0..counts.len());
    let mut best: Option<Candidate> = None;
    for threshold in THRESHOLDS {
        if sum(threshold..counts.len()) < goals.documents.max(1) {
            break;
        }
        let near = sum(threshold.saturating_sub(goals.near)..(threshold + goals.near).min(counts.len()));
        let quality = 1.0 - f64::from(near) / f64::from(all);
        if best.as_ref().is_none_or(|best| quality > best.quality) {
            best = Some(Candidate { word, threshold, quality, documents: 0..0 });
        }
    }
    best
}

/// Holds the words chosen so far.
struct Set {
    candidates: Vec<Candidate>,
    /// The note numbers, grouped by candidate.
    documents: Vec<u32>,
    selected: Vec<bool>,
    /// The number of chosen words that describe each document.
    cover: Vec<u32>,
    min_bits: u32,
}

impl Set {
    fn len(&self) -> usize {
        self.selected.iter().filter(|&&selected| selected).count()
    }

    fn chosen(&self) -> impl Iterator<Item = &Candidate> {
        self.candidates.iter().zip(&self.selected).filter(|(_, selected)| **selected).map(|(candidate, _)| candidate)
    }

    /// Returns the number of documents that a word describes and whose current cover satisfies `has`.
    fn with_cover(&self, at: usize, has: impl Fn(u32) -> bool) -> usize {
        let documents = &self.documents[self.candidates[at].documents.clone()];
        documents.iter().filter(|&&document| has(self.cover[document as usize])).count()
    }

    fn change(&mut self, at: usize, selected: bool) {
        self.selected[at] = selected;
        for &document in &self.documents[self.candidates[at].documents.clone()] {
            let cover = &mut self.cover[document as usize];
            *cover = if selected { *cover + 1 } else { *cover - 1 };
        }
    }

    /// Adds words with at least this quality until no word helps another document. Words are ranked by the number of documents that they
    /// help (descending), by quality (descending), then by word (ascending). Adding a word can only lower the number of documents that
    /// another word helps. So a word is added if it still ranks first after this number is recomputed for it.
    fn grow(&mut self, quality: f64) {
        let rank = |set: &Set, at: usize| {
            let candidate = &set.candidates[at];
            let helped = set.with_cover(at, |cover| cover < set.min_bits);
            // Quality is never negative, so its bits sort like its value.
            (helped, candidate.quality.to_bits(), Reverse(candidate.word), at)
        };
        let free =
            (0..self.candidates.len()).filter(|&at| !self.selected[at] && self.candidates[at].quality >= quality);
        let mut heap: BinaryHeap<_> = free.map(|at| rank(self, at)).collect();
        while let Some((_, _, _, at)) = heap.pop() {
            let now = rank(self, at);
            if now.0 == 0 {
                continue;
            }
            if heap.peek().is_none_or(|next| now >= *next) {
                self.change(at, true);
            } else {
                heap.push(now);
            }
        }
    }

    /// Drops words in ascending order of quality until dropping the next word would uncover too many documents.
    fn shrink(&mut self) {
        let mut worst: Vec<usize> = (0..self.candidates.len()).filter(|&at| self.selected[at]).collect();
        worst.sort_unstable_by(|&a, &b| {
            let (a, b) = (&self.candidates[a], &self.candidates[b]);
            a.quality.total_cmp(&b.quality).then_with(|| b.word.cmp(&a.word))
        });
        let mut left = (LOSS * self.cover.len() as f64) as usize;
        for at in worst {
            let Some(rest) = left.checked_sub(self.with_cover(at, |cover| cover == self.min_bits)) else { break };
            left = rest;
            self.change(at, false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOALS: Goals = Goals { documents: 1, near: 3, quality: 0.0, min_bits: 1, max_words: 1 };

    #[test]
    fn steps_are_open_below_and_closed_above() {
        // f = 1/64 is in step 0, anything above it in step 1, and f = 1 in the last step.
        let step = |tf, most| note_of(u64::MAX, tf, most) & (STEPS - 1);
        assert_eq!([step(1, 64), step(2, 127), step(2, 64), step(7, 7), step(1, 2)], [0, 1, 1, 63, 31]);
        assert_eq!(word_of(note_of(0xABCD_EF12, 3, 9)), word_of(0xABCD_EF12));
    }

    #[test]
    fn the_threshold_lies_where_few_documents_are() {
        let mut counts = [0; STEPS as usize];
        (counts[10], counts[12], counts[40], counts[41]) = (50, 50, 20, 20);
        // At thresholds of 16/64 and above, no lower frequency is near; at thresholds up to 37/64, no higher frequency
        // is near.
        let best = candidate(64, &counts, &GOALS).unwrap();
        assert_eq!((best.threshold, best.quality), (4, 1.0));
        let best = candidate(64, &counts, &Goals { near: 9, ..GOALS }).unwrap();
        assert_eq!((best.threshold, best.quality), (22, 1.0));
        // Every better threshold has too few documents above it.
        let best = candidate(64, &counts, &Goals { near: 9, documents: 60, ..GOALS }).unwrap();
        assert_eq!((best.threshold, best.quality), (4, 1.0 - 100.0 / 140.0));
        assert!(candidate(64, &counts, &Goals { documents: 141, ..GOALS }).is_none());
    }

    /// Returns word n as a note, always at f = 0.5.
    fn word(n: u64) -> u64 {
        n * STEPS + 31
    }

    #[test]
    fn the_word_that_helps_most_documents_comes_first() {
        // Word 1 covers three documents, words 2 and 3 cover two each, and word 4 covers one document that is already covered.
        let notes = [&[1, 2][..], &[1], &[1, 4], &[2, 3], &[3]].map(|of| of.iter().map(|&n| word(n)).collect());
        let notes = Notes::in_memory(&notes);
        let chosen = choose(&notes, &GOALS).unwrap();
        assert_eq!(chosen.words.iter().map(|one| one.0 / STEPS).collect::<Vec<_>>(), [1, 3]);
        assert_eq!((chosen.candidates, chosen.covered), (4, 5));
        // Both words are chosen in every document that has two words.
        let chosen = choose(&notes, &Goals { min_bits: 2, ..GOALS }).unwrap();
        assert_eq!((chosen.words.len(), chosen.covered), (4, 3));
        assert_eq!(choose(&Notes::in_memory(&[]), &GOALS).unwrap(), Chosen { rounds: 1, ..Chosen::default() });
    }

    /// At first, word 9 is needed for four documents, regardless of its f. Word 2 then covers one of these, so dropping word 9 uncovers
    /// only three. The next round requires a higher quality and adds word 3 for these three documents.
    #[test]
    fn quality_rises_from_round_to_round() {
        let document = |at: u64| match at {
            0..3 => vec![9 * STEPS + 63, word(3)],
            3 => vec![9 * STEPS + 63, word(2)],
            4..6 => vec![word(2)],
            _ => vec![9 * STEPS + at % STEPS, word(50)],
        };
        let notes: Vec<_> = (0..3000).map(document).collect();
        let notes = Notes::in_memory(&notes);
        let chosen = |goals: Goals| {
            let chosen = choose(&notes, &goals).unwrap();
            (chosen.rounds, chosen.covered, chosen.words.iter().map(|one| one.0 / STEPS).collect::<Vec<_>>())
        };
        assert_eq!(chosen(Goals { max_words: 9, ..GOALS }), (1, 2997, vec![2, 50]));
        assert_eq!(chosen(GOALS), (3, 3000, vec![2, 3, 50]));
        assert_eq!(chosen(Goals { max_words: 9, quality: 0.99, ..GOALS }), (1, 3000, vec![2, 3, 50]));
    }
}
