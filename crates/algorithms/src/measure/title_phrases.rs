//! Titles that follow the same pattern, such as the names of two functions or the titles of two counties' rules.
//!
//! A version with a different title still contains the phrases of the old title in its text. If two pages from the same template have
//! different titles, each page contains a phrase of its own title that the other page lacks, and usually repeats this phrase. If two titles
//! are names without white space, any difference counts, because two versions of a page do not name different functions.
//!
//! ```text
//! u "Rules of the Hualien branch\nThe Hualien branch shall ..."   v "Rules of the Yilan branch\nThe Yilan branch shall ..."
//! half of the words of both titles are equal; "the Hualien branch" is missing in v and twice in u, "the Yilan branch" is missing in u
//! -> another phrase
//! u "dba_open\n..."   v "dba_popen\n..."   -> another name
//! ```
//!
//! Source: dupsift's own rule, found by experiment; docs/versions.md shows its results. Cost: some 80 values per document, under a
//! microsecond per pair. Limitations: a phrase that occurs only once in each text proves nothing, because a title may be reworded.

use super::contained::GRAM;
use dupsift_core::hash::hash64;
use dupsift_text::shingle::shingles;
use dupsift_text::{Analysis, first_title, is_han, is_unspaced};

/// The maximum number of tokens in a title; a longer first line is a paragraph.
const LONGEST: usize = 40;
/// The number of initial letters that two forms of the same word share.
const STEM: usize = 4;
/// The number of leading values: the name, the mask of repeated phrases, and the number of tokens.
const HEAD: usize = 3;

/// Describes why two titles name different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitleDifference {
    /// Both titles are names without white space, and the names differ.
    Name,
    /// Each title has a phrase that the other text lacks, and one text repeats its phrase.
    Phrase,
}

/// Appends the title of a text, or nothing if the text has no title. `sorted` holds all 3-grams of the text in ascending order, including
/// repetitions.
pub(crate) fn write_title(document: &Analysis<'_>, sorted: &[u64], out: &mut Vec<u64>) {
    let Some(line) = first_title(document) else { return };
    let title = document.beside(line);
    let tokens = title.tokens();
    if tokens.len() > LONGEST {
        return;
    }
    let mut phrases = Vec::new();
    if tokens.len() >= GRAM {
        shingles(tokens, GRAM, false, &mut phrases);
    }
    let comes_twice = |phrase: &u64| {
        let first = sorted.partition_point(|gram| gram < phrase);
        sorted.get(first + 1) == Some(phrase)
    };
    let twice =
        phrases.iter().enumerate().filter(|(_, phrase)| comes_twice(phrase)).fold(0, |all, (at, _)| all | 1 << at);
    out.extend([name(title.text()), twice, tokens.len() as u64]);
    let start = out.len();
    for word in title.words() {
        let letters = title.word(word);
        if word.han {
            out.extend(letters.chars().map(|letter| hash64(letter.encode_utf8(&mut [0; 4]).as_bytes())));
        } else {
            out.push(hash64(stem(letters).as_bytes()));
        }
    }
    // Words that mix Han characters and letters may be split differently from tokens.
    if out.len() - start != tokens.len() {
        out.truncate(start);
        out.extend(tokens.iter().map(|token| token.hash));
    }
    out.append(&mut phrases);
}

/// Returns the first letters of a word; a word that contains a digit (a version or a number) has no other forms.
fn stem(word: &str) -> &str {
    let end = word.char_indices().nth(STEM).filter(|_| !word.contains(char::is_numeric));
    end.map_or(word, |(end, _)| &word[..end])
}

/// Returns the hash of a title that is a single name. Returns 0 if there is more than one word, for a script without spaces between words,
/// and for dates and other numbers.
fn name(title: &str) -> u64 {
    let name = title.trim_start_matches('#').trim();
    let is_number = name.contains(char::is_numeric) && !name.contains(char::is_alphabetic);
    if is_number || name.contains(|letter: char| letter.is_whitespace() || is_han(letter) || is_unspaced(letter)) {
        0
    } else {
        hash64(name.as_bytes()).max(1)
    }
}

/// Holds a title as [`write_title`] wrote it.
struct Title<'t> {
    name: u64,
    twice: u64,
    stems: &'t [u64],
    phrases: &'t [u64],
}

impl<'t> Title<'t> {
    fn of(values: &'t [u64]) -> Option<Title<'t>> {
        let (&[name, twice, tokens], rest) = values.split_first_chunk::<HEAD>()?;
        let (stems, phrases) = rest.split_at_checked(tokens as usize)?;
        Some(Title { name, twice, stems, phrases })
    }

    /// Returns whether at least half of the words of this title are in the other title.
    fn shares_half(&self, other: &Title<'_>) -> bool {
        2 * self.stems.iter().filter(|stem| other.stems.contains(stem)).count() >= self.stems.len()
    }

    /// Returns two values: whether this title has a phrase that the other text lacks and that contains a word missing from the other title,
    /// and whether this text repeats such a phrase.
    fn own_phrase(&self, other: &Title<'_>, in_other: impl Fn(u64) -> bool) -> (bool, bool) {
        let windows = self.stems.windows(GRAM).zip(self.phrases).enumerate();
        let own = windows
            .filter(|(_, (stems, phrase))| stems.iter().any(|stem| !other.stems.contains(stem)) && !in_other(**phrase));
        own.fold((false, false), |(_, twice), (at, _)| (true, twice || self.twice >> at & 1 == 1))
    }
}

/// Returns how the titles of two texts differ, or `None` if they do not differ or if one text has no title. Each text is represented by its
/// title and its distinct 3-grams in ascending order.
pub(crate) fn title_difference([a, b]: [(&[u64], &[u64]); 2]) -> Option<TitleDifference> {
    let (title_a, title_b) = (Title::of(a.0)?, Title::of(b.0)?);
    if title_a.name != 0 && title_b.name != 0 {
        return (title_a.name != title_b.name).then_some(TitleDifference::Name);
    }
    if !title_a.shares_half(&title_b) || !title_b.shares_half(&title_a) {
        return None;
    }
    let within = |grams: &[u64], phrase| grams.binary_search(&phrase).is_ok();
    let (own_a, twice_a) = title_a.own_phrase(&title_b, |phrase| within(b.1, phrase));
    let (own_b, twice_b) = title_b.own_phrase(&title_a, |phrase| within(a.1, phrase));
    (own_a && own_b && (twice_a || twice_b)).then_some(TitleDifference::Phrase)
}

#[cfg(test)]
mod tests {
    use super::super::contained::{titles_differ, write_contents};
    use super::TitleDifference::{Name, Phrase};
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn of(a: &str, b: &str) -> Option<TitleDifference> {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let contents = |text: &str| {
            let mut out = Vec::new();
            write_contents(&pipeline.analyse(text), &mut out);
            out
        };
        let (a, b) = (contents(a), contents(b));
        assert_eq!(titles_differ(&a, &b), titles_differ(&b, &a));
        titles_differ(&a, &b)
    }

    #[test]
    fn names_are_equal_or_name_other_things() {
        assert_eq!(of("dba_open\nOpens a database", "dba_popen\nOpens a database"), Some(Name));
        assert_eq!(of("# [\nCompares", "# [[\nCompares"), Some(Name));
        assert_eq!(of("# chdir\nChanges", "# CHDIR\nChanges"), None);
        assert_eq!(of("CommonMark\\Render\nReturns", "CommonMark\\Render\\Man\nReturns"), Some(Name));
        // A title of several words, a line of Chinese and a date are not names.
        assert_eq!(of("2026-11-01\nA fire broke out", "2026-11-11\nA fire broke out"), None);
        assert_eq!(of("v1.2\nFixes a bug", "v1.3\nFixes a bug"), Some(Name));
        assert_eq!(of("Install\nRun it", "Install it\nRun it"), None);
        assert_eq!(of("安装\n运行", "卸载\n运行"), None);
        // A title in a script without spaces is not a name either.
        assert_eq!(of("การติดตั้ง\nA text", "การถอนการติดตั้ง\nA text"), None);
        assert_eq!(of("မြန်မာ\nA text", "မြန်မာစာ\nA text"), None);
        assert_eq!(of("はじめに\nA text", "おわりに\nA text"), None);
        assert_eq!(of("a line without a text", "line"), None);
    }

    #[test]
    fn one_pattern_with_another_phrase() {
        let rules = |county: &str, body: &str| {
            format!("Rules of the {county} branch\nThe {body} branch of the office shall obey.")
        };
        assert_eq!(of(&rules("Hualien", "Hualien"), &rules("Yilan", "Yilan")), Some(Phrase));
        // At least one of the two texts must repeat its phrase; a phrase that the other text contains does not count.
        assert_eq!(of(&rules("Hualien", "Hualien"), &rules("Yilan", "same")), Some(Phrase));
        assert_eq!(of(&rules("Hualien", "same"), &rules("Yilan", "same")), None);
        assert_eq!(of(&rules("Hualien", "Yilan"), &rules("Yilan", "Yilan")), None);
        let chinese =
            |place: &str| format!("農糧署{place}分署辦事細則\n農糧署{place}分署為處理內部單位之分工職掌，訂定本細則。");
        assert_eq!(of(&chinese("東區"), &chinese("南區")), Some(Phrase));
        // A title counts as reworded if it has different forms of the same words, or if fewer than half of its words are the same.
        assert_eq!(of("Изменить текст команды меню\nЧтобы", "Изменение текста команды меню\nЧтобы"), None);
        assert_eq!(of(&rules("Unit2017", "Unit2017"), &rules("Unit2018", "Unit2018")), Some(Phrase));
        assert_eq!(of("How to draw a red line\nDraw a red line", "Lines\nDraw a red line"), None);
    }
}
