//! Reads the model of unknown words from jieba's file format, for the build script.

use super::best_path::Cutter;
use super::letters::Letters;
use super::unknown::{NEVER, Unknown};
use super::vocabulary::Vocabulary;

impl Cutter {
    /// Returns a cutter for a dictionary and a model of unknown words.
    pub(crate) fn new(vocabulary: &Vocabulary, model: &str) -> Cutter {
        Cutter::of(vocabulary, Unknown::characters(model), |letters| Unknown::new(model, letters))
    }
}

impl Unknown {
    /// Reads the model. The first lines of the model contain the numbers for `first` and `follows`; then there is one line for each
    /// position in a word, with entries `character:weight`.
    fn new(model: &str, letters: &Letters) -> Unknown {
        let mut lines = lines(model);
        let mut four = || {
            let mut numbers = lines.next().unwrap_or_default().split(' ').filter_map(|number| number.parse().ok());
            [(); 4].map(|()| numbers.next().unwrap_or(NEVER))
        };
        let first = four();
        let follows = [(); 4].map(|()| four());
        let mut seen = vec![[NEVER; 4]; letters.covered() as usize + 1];
        for (place, line) in lines.enumerate().take(4) {
            for (c, weight) in pairs(line) {
                let number = letters.number(c);
                if number <= letters.covered() {
                    seen[number as usize][place] = weight.parse().unwrap_or(NEVER);
                }
            }
        }
        Unknown { first, follows, seen: seen.into() }
    }

    /// Returns the characters that the model covers.
    fn characters(model: &str) -> impl Iterator<Item = char> {
        lines(model).skip(5).take(4).flat_map(pairs).map(|(c, _)| c)
    }
}

fn lines(model: &str) -> impl Iterator<Item = &str> {
    model.lines().filter(|line| !line.starts_with('#'))
}

fn pairs(line: &str) -> impl Iterator<Item = (char, &str)> {
    line.split(',').filter_map(|pair| {
        let (character, weight) = pair.split_once(':')?;
        Some((character.chars().next()?, weight))
    })
}
