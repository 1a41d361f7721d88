//! Holds the words of the dictionary and the user's words, with their frequencies.

use crate::float;
use std::collections::BTreeMap;
use std::iter::Peekable;

use super::letters::joins;

/// A dictionary and the words added to it.
pub(crate) struct Vocabulary<'d> {
    /// Lines of `word frequency tag`, sorted by word, without duplicates.
    dictionary: &'d str,
    added: BTreeMap<&'d str, u64>,
    total: u64,
}

impl<'d> Vocabulary<'d> {
    /// Returns the words of a dictionary, which consists of lines of `word frequency tag`, sorted by word, without duplicates.
    pub(crate) fn new(dictionary: &'d str) -> Vocabulary<'d> {
        let total = entries(dictionary).map(|(_, frequency)| frequency).sum();
        Vocabulary { dictionary, added: BTreeMap::new(), total }
    }

    /// Returns the sum of all frequencies.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Returns all words in ascending order, each with its frequency.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&'d str, u64)> {
        let added = self.added.iter().map(|(word, frequency)| (*word, *frequency));
        Merged { dictionary: entries(self.dictionary).peekable(), added: added.peekable() }
    }

    /// Adds a word or changes its frequency. The default frequency is the lowest frequency at which the word is not split.
    pub(crate) fn add(&mut self, word: &'d str, frequency: Option<u64>) {
        let frequency = frequency.unwrap_or_else(|| self.suggest(word));
        self.total = self.total + frequency - self.frequency(word).unwrap_or(0);
        self.added.insert(word, frequency);
    }

    /// Returns the frequency of a word; `None` if the vocabulary does not contain it.
    pub(crate) fn frequency(&self, word: &str) -> Option<u64> {
        self.added.get(word).copied().or_else(|| {
            let (found, frequency) = entries(self.from(word)).next()?;
            (found == word).then_some(frequency)
        })
    }

    /// Returns whether any word begins with this string.
    fn begins(&self, start: &str) -> bool {
        let added = self.added.range(start..).next().is_some_and(|(word, _)| word.starts_with(start));
        added || self.from(start).starts_with(start)
    }

    /// Returns the lines of the dictionary, starting with this word.
    fn from(&self, word: &str) -> &'d str {
        let lines = self.dictionary;
        // The requested line begins within this range or at its end.
        let (mut low, mut high) = (0, lines.len());
        while low < high {
            let middle = lines.floor_char_boundary(low.midpoint(high));
            let start = lines[low..middle].rfind('\n').map_or(low, |end| low + end + 1);
            let next = lines[middle..high].find('\n').map_or(high, |end| middle + end + 1);
            match entries(&lines[start..next]).next() {
                Some((found, _)) if found >= word => high = start,
                _ => low = next,
            }
        }
        &lines[low..]
    }

    /// Returns the frequency at which a word is slightly more probable than the words into which it would be split.
    fn suggest(&self, word: &str) -> u64 {
        let total = float::ln(self.total as f64);
        let sum = self.cut(word).iter().fold(0.0, |sum, part| {
            let frequency = self.frequency(part).unwrap_or(1);
            sum + float::ln(frequency as f64) - total
        });
        (float::exp(sum + total) as u64 + 1).max(self.frequency(word).unwrap_or(1))
    }

    /// Splits a word into the most probable shorter words, without the model of unknown words. Single ASCII letters and digits are joined.
    fn cut<'w>(&self, word: &'w str) -> Vec<&'w str> {
        let places: Vec<(usize, char)> = word.char_indices().collect();
        let place = |at: usize| places.get(at).map_or(word.len(), |&(place, _)| place);
        let is_mark = |c: char| c.is_ascii_alphanumeric() || "+#&._%-".contains(c);
        let goes_on = |at: usize| places.get(at).is_some_and(|&(_, c)| joins(c) || is_mark(c));
        let total = float::ln(self.total as f64);
        // `ways[i]` is the weight of the best path from character `i` to the end, and the end of the first word on that path.
        let mut ways = vec![(0.0, 0); places.len() + 1];
        for at in (0..places.len()).rev() {
            let mut best = (f64::NEG_INFINITY, at + 1);
            let mut end = at;
            while goes_on(end) {
                end += 1;
                let part = &word[place(at)..place(end)];
                if let Some(frequency) = self.frequency(part) {
                    let weight = float::ln(frequency as f64) - total + ways[end].0;
                    best = if weight >= best.0 { (weight, end) } else { best };
                }
                if !self.begins(part) {
                    break;
                }
            }
            if best.0 == f64::NEG_INFINITY {
                best.0 = if goes_on(at) { 0.0 - total + ways[at + 1].0 } else { 0.0 };
            }
            ways[at] = best;
        }
        let is_single = |at: usize| at < places.len() && ways[at].1 == at + 1 && places[at].1.is_ascii_alphanumeric();
        let (mut parts, mut at) = (Vec::new(), 0);
        while at < places.len() {
            let mut end = ways[at].1;
            while is_single(at) && is_single(end) {
                end += 1;
            }
            parts.push(&word[place(at)..place(end)]);
            at = end;
        }
        parts
    }
}

/// Returns the words in these lines, each with its frequency.
fn entries(lines: &str) -> impl Iterator<Item = (&str, u64)> {
    lines.lines().filter_map(|line| {
        let (word, rest) = line.split_once(' ')?;
        let digits = rest.bytes().take_while(u8::is_ascii_digit);
        Some((word, digits.fold(0, |number, digit| 10 * number + u64::from(digit - b'0'))))
    })
}

/// Merges two ascending lists. If a word is in both lists, the entry in the list of added words is used.
struct Merged<D: Iterator, A: Iterator> {
    dictionary: Peekable<D>,
    added: Peekable<A>,
}

impl<'d, D, A> Iterator for Merged<D, A>
where
    D: Iterator<Item = (&'d str, u64)>,
    A: Iterator<Item = (&'d str, u64)>,
{
    type Item = (&'d str, u64);

    fn next(&mut self) -> Option<(&'d str, u64)> {
        let Some((added, _)) = self.added.peek() else { return self.dictionary.next() };
        match self.dictionary.next_if(|(word, _)| word <= added) {
            Some((word, _)) if word == *added => self.added.next(),
            Some(entry) => Some(entry),
            None => self.added.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DICTIONARY: &str = "a股 3 n\n中 9 f\n中国 50 ns\n国 4 n\n国人 2 n";

    #[test]
    fn words_are_found_changed_and_added() {
        let mut vocabulary = Vocabulary::new(DICTIONARY);
        for (word, frequency) in [("a股", Some(3)), ("中", Some(9)), ("国人", Some(2)), ("a", None), ("国人民", None)]
        {
            assert_eq!(vocabulary.frequency(word), frequency, "{word}");
        }
        assert!(["a", "国", "国人"].iter().all(|start| vocabulary.begins(start)) && !vocabulary.begins("人"));
        vocabulary.add("国", Some(5));
        vocabulary.add("龘", Some(1));
        vocabulary.add("0", Some(2));
        let words: Vec<_> = vocabulary.words().collect();
        assert_eq!(words, [("0", 2), ("a股", 3), ("中", 9), ("中国", 50), ("国", 5), ("国人", 2), ("龘", 1)]);
        assert_eq!(vocabulary.total(), 72);
    }

    #[test]
    fn a_word_is_suggested_as_often_as_it_must_be_to_be_one() {
        let mut vocabulary = Vocabulary::new(DICTIONARY);
        assert_eq!(vocabulary.cut("中国人c3〇国人"), ["中国", "人", "c3", "〇", "国人"]);
        // The product 68 * 50/68 * 1/68 is less than 1; the result is one more than its rounded value.
        vocabulary.add("中国人", None);
        assert_eq!(vocabulary.frequency("中国人"), Some(1));
        // The product 69 * 50/69 * 50/69 is 36.2.
        assert_eq!(vocabulary.suggest("中国中国"), 37);
    }
}
