//! Classifies blocks and pages, and selects the blocks of the body (docs/methods/docview.md).

use crate::page::{Block, Kind};
use dupsift_core::hash::hash64;
use dupsift_text::is_han;
use std::collections::HashMap;

/// A block with fewer than `LONG_BLOCK` characters is excluded from the body if the cosine similarity between its words and the keywords of
/// the other blocks is below this limit.
const LEAST_COSINE: f64 = 0.05;
const LONG_BLOCK: usize = 200;
/// The number of keywords of a page. The keywords are the most common words.
const KEYWORDS: usize = 20;
/// The minimum number of letters that a word must have to be counted; in scripts that use spaces, shorter words say little about the topic.
const LEAST_LETTERS: usize = 4;

/// Counts of characters and links in a block.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    /// The number of links, including links that do not lead to another page.
    pub links: usize,
    /// The number of sentence-ending punctuation marks outside links.
    pub marks: usize,
    /// The number of letters, and how many of these letters are Han characters.
    pub letters: usize,
    pub han: usize,
}

impl Counts {
    /// Counts the characters in a piece of text; returns the number of characters that are not white space.
    pub(crate) fn add(&mut self, text: &str, linked: bool) -> usize {
        let mut characters = 0;
        let mut stop = false;
        for c in text.chars() {
            // A period ends a sentence only if no letter or digit follows, unlike in `3.14` and `a.b`.
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

/// Returns the type of a block.
pub(crate) fn of_block(block: &Block, counts: &Counts) -> Kind {
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

/// Returns the type of a page, and whether its topic blocks contain as many characters as a topic page requires.
pub(crate) fn of_page<'a>(blocks: impl Iterator<Item = (&'a Block, &'a Counts)>) -> (Kind, bool) {
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

/// Returns the topic blocks, one per line, without short blocks that contain hardly any keywords of the other blocks. The longest block is
/// always kept. The keywords are the most common words, weighted by frequency; ties are broken by their hashes.
pub(crate) fn body(blocks: &[Block]) -> String {
    let topics: Vec<Topic<'_>> = blocks.iter().filter(|block| block.kind == Kind::Topic).map(Topic::of).collect();
    let mut page: HashMap<u64, u64> = HashMap::new();
    for (word, count) in topics.iter().flat_map(|topic| &topic.words) {
        *page.entry(*word).or_default() += count;
    }
    let mut page: Vec<(u64, u64)> = page.into_iter().collect();
    commonest_first(&mut page);
    let longest = topics.iter().map(|topic| topic.characters).max().unwrap_or(0);
    let stays = |topic: &&Topic<'_>| {
        topic.characters >= LONG_BLOCK.min(longest)
            || cosine(&topic.words, &keywords_without(&page, &topic.words)) >= LEAST_COSINE
    };
    topics.iter().filter(stays).map(|topic| topic.text).collect::<Vec<_>>().join("\n")
}

/// A topic block: its text, its length, and the counts of its words by hash.
struct Topic<'a> {
    text: &'a str,
    characters: usize,
    words: Vec<(u64, u64)>,
}

impl<'a> Topic<'a> {
    fn of(block: &'a Block) -> Self {
        Self { text: &block.text, characters: block.text.chars().count(), words: words(&block.text) }
    }
}

fn commonest_first(words: &mut [(u64, u64)]) {
    words.sort_unstable_by_key(|(word, count)| (std::cmp::Reverse(*count), *word));
}

/// Returns the keywords that a page would have without one of its blocks. `page` holds the words of the page, most common first, and
/// `block` holds the words of the block in the order of their hashes. Words after the first `KEYWORDS + block.len()` words of the page
/// cannot be keywords, because at least `KEYWORDS` of the words before them are not in the block.
fn keywords_without(page: &[(u64, u64)], block: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let looked_at = &page[..page.len().min(KEYWORDS + block.len())];
    let left = looked_at.iter().map(|(word, count)| (*word, count - count_of(block, *word)));
    let mut left: Vec<(u64, u64)> = left.filter(|(_, count)| *count > 0).collect();
    commonest_first(&mut left);
    left.truncate(KEYWORDS);
    left
}

/// Returns the count of a word in a list sorted by hash.
fn count_of(words: &[(u64, u64)], word: u64) -> u64 {
    words.binary_search_by_key(&word, |(known, _)| *known).map_or(0, |at| words[at].1)
}

/// Returns the cosine similarity of two lists of word counts, both sorted by hash; 0 if either list is empty.
fn cosine(words: &[(u64, u64)], others: &[(u64, u64)]) -> f64 {
    let squares = |words: &[(u64, u64)]| words.iter().map(|(_, count)| u128::from(*count).pow(2)).sum::<u128>() as f64;
    let norm = (squares(words) * squares(others)).sqrt();
    let product: u128 =
        others.iter().map(|(word, count)| u128::from(*count) * u128::from(count_of(words, *word))).sum();
    if norm > 0.0 { product as f64 / norm } else { 0.0 }
}

/// Counts the words in a piece of text: lowercase words in scripts that use spaces, and pairs of adjacent characters in Chinese.
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
