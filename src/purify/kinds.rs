//! The rules that give blocks and pages their types, and the body its blocks (docs/methods/docview.md).

use super::page::{Block, Kind};
use crate::hash::hash64;
use crate::text::is_han;
use std::collections::HashMap;

/// A block whose words are too far from those of all is no part of the body, unless it is longer than that.
const LEAST_COSINE: f64 = 0.05;
const LONG_BLOCK: usize = 200;
/// The keyword vector of a page: so many of its commonest words.
const KEYWORDS: usize = 20;
/// Words of spaced scripts that are shorter hardly say what a text is about.
const LEAST_LETTERS: usize = 4;

/// What is counted of a block beside what it shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Links, also those that lead nowhere else.
    pub links: usize,
    /// Marks that end sentences, outside of links.
    pub marks: usize,
    /// Letters, and the Han characters among them.
    pub letters: usize,
    pub han: usize,
}

impl Counts {
    /// Counts the characters of a piece of text; how many are not white space.
    pub fn add(&mut self, text: &str, linked: bool) -> usize {
        let mut characters = 0;
        let mut stop = false;
        for c in text.chars() {
            // A full stop ends a sentence where no letter or digit follows: 3.14 and a.b hold none.
            self.marks += usize::from(stop && !c.is_alphanumeric());
            stop = !linked && c == '.';
            self.marks += usize::from(!linked && matches!(c, '!' | '?' | '…' | '。' | '！' | '？' | '；' | '｡'));
            characters += usize::from(!c.is_whitespace());
            if c.is_alphabetic() {
                self.letters += 1;
                self.han += usize::from(is_han(c));
            }
        }
        self.marks += usize::from(stop);
        characters
    }

    fn is_han(&self) -> bool {
        2 * self.han > self.letters
    }
}

/// The type of a block.
pub(super) fn of_block(block: &Block, counts: &Counts) -> Kind {
    let all = block.plain + block.linked;
    let least = if counts.is_han() { 15 } else { 30 };
    if all < 20 && block.images >= 1 {
        Kind::Pic
    } else if counts.links >= 2 && 2 * block.linked >= all {
        Kind::Hub
    } else if block.plain >= least && 2 * block.linked < all && (counts.marks >= 1 || block.plain >= 80) {
        Kind::Topic
    } else {
        Kind::Other
    }
}

/// The type of a page, and whether its topic blocks alone hold as many characters as a topic needs.
pub(super) fn of_page<'a>(blocks: impl Iterator<Item = (&'a Block, &'a Counts)>) -> (Kind, bool) {
    let (mut topic, mut plain, mut linked, mut images) = (0, 0, 0, 0);
    let mut counts = Counts::default();
    for (block, of_block) in blocks {
        topic += if block.kind == Kind::Topic { block.plain } else { 0 };
        plain += block.plain;
        linked += block.linked;
        images += block.images;
        counts.letters += of_block.letters;
        counts.han += of_block.han;
    }
    let least = if counts.is_han() { 50 } else { 100 };
    let kind = if topic >= least && 10 * topic >= 3 * plain {
        Kind::Topic
    } else if linked > 0 && linked >= plain {
        Kind::Hub
    } else if images >= 1 && plain + linked < 100 {
        Kind::Pic
    } else {
        Kind::Other
    };
    (kind, topic >= least)
}

/// The topic blocks, but for short ones that have nearly none of the keywords of all of them; one a line. The keywords are
/// the commonest words, weighted by how often they come; among equally common ones their hashes decide.
pub(super) fn body(blocks: &[Block]) -> String {
    let topics: Vec<(&Block, Vec<(u64, u64)>)> =
        blocks.iter().filter(|block| block.kind == Kind::Topic).map(|block| (block, words(&block.text))).collect();
    let mut all: HashMap<u64, u64> = HashMap::new();
    for (word, count) in topics.iter().flat_map(|(_, words)| words) {
        *all.entry(*word).or_default() += count;
    }
    let mut heaviest: Vec<(u64, u64)> = all.into_iter().map(|(word, count)| (count, word)).collect();
    heaviest.sort_unstable_by_key(|(count, word)| (std::cmp::Reverse(*count), *word));
    heaviest.truncate(KEYWORDS);
    let all: HashMap<u64, u64> = heaviest.into_iter().map(|(count, word)| (word, count)).collect();
    let length = |counts: &mut dyn Iterator<Item = u64>| {
        (counts.map(|count| u128::from(count) * u128::from(count)).sum::<u128>() as f64).sqrt()
    };
    let of_all = length(&mut all.values().copied());
    let kept = topics.iter().filter(|(block, words)| {
        let product: u128 = words
            .iter()
            .map(|(word, count)| u128::from(*count) * u128::from(all.get(word).copied().unwrap_or(0)))
            .sum();
        let norm = length(&mut words.iter().map(|(_, count)| *count)) * of_all;
        let near = norm > 0.0 && product as f64 / norm >= LEAST_COSINE;
        near || block.text.chars().count() >= LONG_BLOCK
    });
    kept.map(|(block, _)| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// How often each word of a text comes: words of spaced scripts in lower case, pairs of neighbours in Chinese.
fn words(text: &str) -> Vec<(u64, u64)> {
    let mut hashes = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty()) {
        let mut rest = run;
        while !rest.is_empty() {
            let han = rest.find(|c| !is_han(c)).unwrap_or(rest.len());
            let (chinese, other) = rest.split_at(han);
            let places: Vec<usize> = chinese.char_indices().map(|(at, _)| at).chain([chinese.len()]).collect();
            hashes.extend(places.windows(3).map(|place| hash64(&chinese.as_bytes()[place[0]..place[2]])));
            let end = other.find(is_han).unwrap_or(other.len());
            let (word, behind) = other.split_at(end);
            if word.chars().nth(LEAST_LETTERS - 1).is_some() {
                hashes.push(hash64(word.to_lowercase().as_bytes()));
            }
            rest = behind;
        }
    }
    hashes.sort_unstable();
    hashes.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u64)).collect()
}

#[cfg(test)]
#[path = "kinds_tests.rs"]
mod tests;
