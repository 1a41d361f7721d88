//! Finds the keywords of a page (docs/methods/docview.md): the words with the highest weights, tf * ln(N / df).
//!
//! In tf, an occurrence counts once in the body, twice in a heading (`h1` to `h3`), and three times in the title. If a heading is also a
//! line of the body, its words were already counted once in the body, so the heading adds one to their counts instead of two. Without a
//! corpus, the weight of a word is tf. A word that occurs in every document of the corpus has weight 0 and is not a keyword.
//!
//! A keyword must have at least one letter and at least two characters. A single Han character may be a keyword only if Chinese text is not
//! split with a dictionary, because most single-character words in a dictionary are particles. Stop words are skipped: the user's stop
//! words or, if there are none, the lists in [`crate::elements::function_words`]. A keyword is shown in normalized spelling. If several words have
//! the same stem, the word that occurs first in the title, headings and body is shown.
//!
//! ```text
//! title "Tea", heading "Tea shops" (a line of the body too), body "Tea shops\nGreen tea of Hangzhou"
//! tea: 3 + 1 + 2 = 6    shops: 1 + 1 = 2    green 1    hangzhou 1                               [by hand]
//! ```

use std::collections::HashMap;
use std::ops::Range;

use super::function_words::is_function_word;
use crate::page::Page;
use dupsift_core::float;
use dupsift_core::hash::hash64;
use dupsift_text::{Analysis, Frequencies, Frequency, Pipeline};

/// The maximum number of keywords per page.
pub(crate) const MOST_KEYWORDS: usize = 20;

/// The weights of an occurrence in the title and in a heading.
const IN_TITLE: u64 = 3;
const IN_HEADING: u64 = 2;

/// A keyword of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyword {
    /// The word in normalized spelling.
    pub word: String,
    /// The weight: tf, or tf * ln(N / df) in a corpus; greater than 0.
    pub weight: f64,
}

/// The word statistics of a corpus.
#[derive(Clone, Copy)]
pub struct CorpusWords<'c> {
    /// N: the number of documents with at least one word.
    pub documents: u64,
    /// The document frequencies, by word hash; the words must have been analyzed with the same text options.
    pub frequencies: &'c dyn Frequencies,
}

/// A part of the body and its words.
#[derive(Clone, Debug)]
pub(crate) struct ClauseWords {
    /// The range of the part in the body.
    pub place: Range<usize>,
    /// The range of the part's words in [`Gathered::words`].
    pub words: Range<usize>,
}

/// A distinct word.
struct Found {
    hash: u64,
    tf: u64,
    letters: String,
}

/// The words of a page with their counts.
pub(crate) struct Gathered<'p> {
    pipeline: &'p Pipeline,
    numbers: HashMap<u64, usize>,
    found: Vec<Found>,
    /// The hashes of all words in the body, in order.
    pub words: Vec<u64>,
    /// The clauses of the body, in order.
    pub clauses: Vec<ClauseWords>,
}

impl<'p> Gathered<'p> {
    /// Counts the words of a page whose body consists of these clauses.
    pub(crate) fn of(page: &Page, clauses: &[Range<usize>], pipeline: &'p Pipeline) -> Gathered<'p> {
        let mut all =
            Gathered { pipeline, numbers: HashMap::new(), found: Vec::new(), words: Vec::new(), clauses: Vec::new() };
        all.count(&pipeline.analyse(page.title.as_deref().unwrap_or_default()), IN_TITLE);
        let body = page.body.as_deref().unwrap_or_default();
        let mut lines = HashMap::new();
        if !page.headings.is_empty() {
            body.lines().for_each(|line| *lines.entry(line_hash(line)).or_insert(0_usize) += 1);
        }
        for heading in page.headings.lines() {
            // Each line of the body can match only one heading.
            let in_body = lines.get_mut(&line_hash(heading)).filter(|left| **left > 0).map(|left| *left -= 1).is_some();
            all.count(&pipeline.analyse(heading), IN_HEADING - u64::from(in_body));
        }
        for place in clauses {
            let clause = pipeline.analyse(&body[place.clone()]);
            all.count(&clause, 1);
            let start = all.words.len();
            all.words.extend(clause.words().iter().map(|word| word.hash));
            all.clauses.push(ClauseWords { place: place.clone(), words: start..all.words.len() });
        }
        all
    }

    fn count(&mut self, text: &Analysis<'_>, times: u64) {
        let own_list = self.pipeline.has_stop_words();
        for (word, place) in text.words().iter().zip(text.places()) {
            if word.stop {
                continue;
            }
            match self.numbers.get(&word.hash) {
                Some(&number) => self.found[number].tf += times,
                None => {
                    let letters = &text.text()[place];
                    if self.may_be_keyword(letters, word.han) && (own_list || !is_function_word(letters)) {
                        self.numbers.insert(word.hash, self.found.len());
                        self.found.push(Found { hash: word.hash, tf: times, letters: letters.to_owned() });
                    }
                }
            }
        }
    }

    fn may_be_keyword(&self, letters: &str, han: bool) -> bool {
        let long_enough = letters.chars().nth(1).is_some() || han && !self.pipeline.has_dictionary();
        long_enough && letters.contains(char::is_alphabetic)
    }

    /// Returns the words with the highest weights in descending order; ties are in code point order. Each keyword is returned with the hash
    /// of the word or of its stem.
    pub(crate) fn keywords(&self, corpus: Option<&CorpusWords<'_>>) -> Vec<(u64, Keyword)> {
        let mut frequencies = Vec::new();
        if let Some(corpus) = corpus {
            let hashes: Vec<u64> = self.found.iter().map(|found| found.hash).collect();
            corpus.frequencies.look_up(&hashes, &mut frequencies);
        }
        frequencies.resize(self.found.len(), Frequency::UNKNOWN);
        let weight = |found: &Found, known: &Frequency| match corpus {
            Some(corpus) => found.tf as f64 * float::ln(corpus.documents as f64 / known.df as f64),
            None => found.tf as f64,
        };
        let weighed = self.found.iter().zip(&frequencies).map(|(found, known)| (weight(found, known), found));
        let mut weighed: Vec<(f64, &Found)> = weighed.filter(|(weight, _)| *weight > 0.0).collect();
        weighed.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.letters.cmp(&b.1.letters)));
        weighed.truncate(MOST_KEYWORDS);
        let keyword = |(weight, found): (f64, &Found)| (found.hash, Keyword { word: found.letters.clone(), weight });
        weighed.into_iter().map(keyword).collect()
    }
}

/// Returns the hash of a line, ignoring differences in white space.
fn line_hash(line: &str) -> u64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    hash64(words.join(" ").as_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use dupsift_text::{TextOptions, TokenizerKind, clauses};

    fn keywords(page: &Page, options: &TextOptions, corpus: Option<&CorpusWords<'_>>) -> Vec<(String, f64)> {
        keywords_by(page, &Pipeline::new(options).unwrap(), corpus)
    }

    fn keywords_by(page: &Page, pipeline: &Pipeline, corpus: Option<&CorpusWords<'_>>) -> Vec<(String, f64)> {
        let found = Gathered::of(page, &clauses(page.body.as_deref().unwrap_or_default()), pipeline).keywords(corpus);
        found.into_iter().map(|(_, keyword)| (keyword.word, keyword.weight)).collect()
    }

    fn page(title: &str, headings: &str, body: &str) -> Page {
        Page { title: Some(title.into()), headings: headings.into(), body: Some(body.into()), ..Page::default() }
    }

    fn owned(expected: &[(&str, f64)]) -> Vec<(String, f64)> {
        expected.iter().map(|&(word, weight)| (word.to_owned(), weight)).collect()
    }

    #[test]
    fn title_headings_and_body_count_as_they_should() {
        let options = TextOptions::default();
        let found = keywords(&page("Tea", "Tea  shops", "Tea shops\nGreen tea of Hangzhou"), &options, None);
        assert_eq!(found, owned(&[("tea", 6.0), ("shops", 2.0), ("green", 1.0), ("hangzhou", 1.0)]));
        // One of the two identical headings is also in the body; the third heading is not.
        let found = keywords(&page("", "Jasmine\nJasmine\nOolong", "Jasmine\nthe 3 and 2,000"), &options, None);
        assert_eq!(found, owned(&[("jasmine", 4.0), ("oolong", 2.0)]));
        assert_eq!(keywords(&Page::default(), &options, None), owned(&[]));
    }

    #[test]
    fn what_is_no_word_worth_the_name_is_none() {
        let body = "Это дубликат, и тот дубликат. The x 1 22 b2 3.14. 我们的网页，茶";
        let found = keywords(&page("", "", body), &TextOptions::default(), None);
        assert_eq!(found, owned(&[("дубликат", 2.0), ("b2", 1.0), ("网页", 1.0)]));
        // Chinese text is split into single characters, and the user's list contains only `и`.
        let options = TextOptions {
            tokenizer: TokenizerKind::Char,
            stop_words: vec!["И".into(), "дубликат".into()],
            ..TextOptions::default()
        };
        let found = keywords(&page("", "", "и это дубликат 茶 the x"), &options, None);
        assert_eq!(found, owned(&[("the", 1.0), ("это", 1.0), ("茶", 1.0)]));
    }

    #[test]
    fn words_of_one_stem_are_one_and_show_as_the_first() {
        let options = TextOptions { stem: true, ..TextOptions::default() };
        let found = keywords(&page("Duplicates", "", "A duplicate is duplicated. Сети и сетей"), &options, None);
        assert_eq!(found, owned(&[("duplicates", 5.0), ("сети", 2.0)]));
    }

    struct Known;

    impl Frequencies for Known {
        fn look_up(&self, words: &[u64], out: &mut Vec<Frequency>) {
            let df = |word: u64| match word {
                word if word == hash64(b"site") => 100,
                word if word == hash64(b"tea") => 10,
                _ => 1,
            };
            out.extend(words.iter().map(|&word| Frequency { df: df(word), cf: df(word), ..Frequency::UNKNOWN }));
        }
    }

    #[test]
    fn a_corpus_weighs_words() {
        let corpus = CorpusWords { documents: 100, frequencies: &Known };
        let found =
            keywords(&page("", "", "tea tea tea oolong site site site site"), &TextOptions::default(), Some(&corpus));
        // The weights are 3 ln 10 = 6.908 for tea, ln 100 = 4.605 for oolong, and 4 ln 1 = 0 for site.
        assert_eq!(found, owned(&[("tea", 3.0 * 10_f64.ln()), ("oolong", 100_f64.ln())]));
    }

    /// A pipeline with a stop-word list that excludes nothing, shared by all cases because the Chinese dictionary is slow to load.
    static OWN_LIST: LazyLock<Pipeline> = LazyLock::new(|| {
        Pipeline::new(&TextOptions { stop_words: vec!["zz".into()], ..TextOptions::default() }).unwrap()
    });

    proptest::proptest! {
        #[test]
        fn counts_by_clauses_are_those_of_the_body(body in "([a-d]{2}|кот|中文|网页|[,;.!，；。]|[0-9],[0-9]| |\n){0,40}") {
            let whole = OWN_LIST.analyse(&body);
            let mut expected: Vec<(f64, &str)> = whole
                .counted()
                .iter()
                .map(|one| (f64::from(one.tf), whole.word(&one.word)))
                .filter(|(_, word)| word.chars().count() > 1 && word.contains(char::is_alphabetic))
                .collect();
            expected.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
            expected.truncate(MOST_KEYWORDS);
            let found = keywords_by(&page("", "", &body), &OWN_LIST, None);
            let expected: Vec<(String, f64)> = expected.into_iter().map(|(weight, word)| (word.to_owned(), weight)).collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
