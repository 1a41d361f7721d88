//! Document counts by script and length: in the whole corpus, and among removed documents.
//!
//! While the text of a document is read, its script and length are recorded and the document is added to the totals ([`shape`]). After the
//! decision, separate totals are computed for the removed documents; no text is read again.

use serde::{Deserialize, Serialize};

/// The number of bytes at the beginning of a text that determine its script: 64 Chinese characters, or 192 English letters.
const LOOKED_AT: usize = 192;

/// Describes the script of a text, determined from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Script {
    /// Han characters without kana.
    Chinese,
    /// Kana, with or without Han characters.
    Japanese,
    /// Mostly Cyrillic letters.
    Cyrillic,
    /// Mostly Latin letters.
    Latin,
    /// Other letters, or none.
    Other,
}

impl Script {
    /// All scripts, in the order of reports.
    pub const ALL: [Script; 5] = [Script::Chinese, Script::Japanese, Script::Cyrillic, Script::Latin, Script::Other];

    /// Returns the script of the letters at the beginning of a text.
    pub fn of(text: &str) -> Script {
        let [han, kana, cyrillic, latin, other] = counts(text);
        match () {
            () if han + kana + cyrillic + latin + other == 0 => Script::Other,
            () if kana > 0 && 10 * kana > han && 3 * (han + kana) > cyrillic.max(latin).max(other) => Script::Japanese,
            // A Chinese character carries as much information as several letters.
            () if 3 * han > cyrillic.max(latin).max(other) => Script::Chinese,
            () if other > cyrillic.max(latin) => Script::Other,
            () if cyrillic > latin => Script::Cyrillic,
            () => Script::Latin,
        }
    }

    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Script::Chinese => "Chinese",
            Script::Japanese => "Japanese",
            Script::Cyrillic => "Cyrillic",
            Script::Latin => "Latin",
            Script::Other => "other or none",
        }
    }
}

const HAN: usize = 0;
const KANA: usize = 1;
const CYRILLIC: usize = 2;
const LATIN: usize = 3;
const OTHER: usize = 4;
/// The index of characters that are not letters.
const NONE: usize = 5;

/// Holds the bytes at the beginning of a text that are examined, and two more bytes.
type Beginning = [u8; LOOKED_AT + 2];

/// Counts the characters at the beginning of a text by script, from Han to other letters.
///
/// Most characters can be assigned to a script by their first bytes, which allows several characters to be counted at a time; if the text
/// contains other characters, each character is examined individually.
fn counts(text: &str) -> [u64; 5] {
    let text = &text[..text.floor_char_boundary(LOOKED_AT)];
    let mut bytes = [0; LOOKED_AT + 2];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    let bytes = &bytes;
    let all = count(bytes, |a, _, _| a >= 0xC0);
    let accented = count(bytes, |a, _, _| within(a, 0xC3, 0xC8));
    let cyrillic = count(bytes, |a, _, _| within(a, 0xD0, 0xD3));
    let han = count(bytes, |a, b, _| within(a, 0xE5, 0xE9) | (a == 0xE4) & (b >= 0xB8));
    let kana = count(bytes, |a, b, _| (a == 0xE3) & within(b, 0x81, 0x83));
    // Spaces and punctuation: up to U+00BF, U+2000 to U+203F, U+3000 to U+3004, U+3008 to U+3020, U+FF00 to U+FF20.
    let marks = count(bytes, |a, b, c| {
        let cjk = (a == 0xE3) & (b == 0x80) & !within(c, 0x85, 0x87) | (a == 0xEF) & (b == 0xBC);
        (a == 0xC2) | (a == 0xE2) & (b == 0x80) | cjk & (c <= 0xA0)
    });
    if accented + cyrillic + han + kana + marks < all {
        let mut counts = [0; 6];
        text.chars().for_each(|letter| counts[count_of(letter)] += 1);
        return [counts[HAN], counts[KANA], counts[CYRILLIC], counts[LATIN], counts[OTHER]];
    }
    let latin = accented + count(bytes, |a, _, _| within(a | 0x20, b'a', b'z'));
    [han, kana, cyrillic, latin, 0].map(u64::from)
}

fn within(byte: u8, least: u8, most: u8) -> bool {
    byte.wrapping_sub(least) <= most - least
}

/// Returns the number of positions at which a byte and the two following bytes satisfy `are`. The number fits in a byte, so the compiler
/// can vectorize the count.
fn count(bytes: &Beginning, are: impl Fn(u8, u8, u8) -> bool) -> u8 {
    const { assert!(LOOKED_AT < 256) };
    (0..LOOKED_AT).fold(0, |sum, at| sum + u8::from(are(bytes[at], bytes[at + 1], bytes[at + 2])))
}

/// Returns the index of a character's script.
fn count_of(letter: char) -> usize {
    match letter {
        'a'..='z' | 'A'..='Z' => LATIN,
        '\u{C0}'..='\u{24F}' => LATIN,
        '\u{400}'..='\u{52F}' => CYRILLIC,
        '\u{3040}'..='\u{30FF}' => KANA,
        '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}' => HAN,
        // Spaces and punctuation, without a table lookup.
        '\0'..='\u{BF}'
        | '\u{2000}'..='\u{206F}'
        | '\u{3000}'..='\u{3004}'
        | '\u{3008}'..='\u{3020}'
        | '\u{FF00}'..='\u{FF20}' => NONE,
        _ if letter.is_alphabetic() => OTHER,
        _ => NONE,
    }
}

/// The minimum number of characters in each length class.
pub const LENGTHS: [u32; 7] = [0, 100, 300, 1_000, 3_000, 10_000, 30_000];

/// Encodes the shape of a document: the script in the highest four bits, the number of bytes in the other bits.
pub fn shape(text: &str) -> u64 {
    (Script::of(text) as u64) << 60 | text.len() as u64 & (u64::MAX >> 4)
}

/// Holds an amount of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Amount {
    /// The number of documents.
    pub documents: u64,
    /// The number of characters in these documents.
    pub characters: u64,
    /// The number of bytes in these documents.
    pub bytes: u64,
}

impl Amount {
    /// Adds an amount to this amount.
    pub fn add(&mut self, more: Amount) {
        self.documents += more.documents;
        self.characters += more.characters;
        self.bytes += more.bytes;
    }
}

/// Holds the amounts by script and by length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Parts {
    /// The amounts by script, in the order of [`Script::ALL`].
    pub by_script: [Amount; Script::ALL.len()],
    /// The amounts by length, in the order of [`LENGTHS`].
    pub by_length: [Amount; LENGTHS.len()],
}

impl Parts {
    /// Adds a document, given its [`shape`] and its number of characters.
    pub fn add(&mut self, shape: u64, characters: u32) {
        let one = Amount { documents: 1, characters: characters.into(), bytes: Parts::bytes(shape) };
        let script = (shape >> 60) as usize;
        let length = LENGTHS.partition_point(|&least| least <= characters) - 1;
        self.by_script[script.min(Script::ALL.len() - 1)].add(one);
        self.by_length[length].add(one);
    }

    /// Returns the number of bytes in a text with this shape.
    pub fn bytes(shape: u64) -> u64 {
        shape & (u64::MAX >> 4)
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: &Parts) {
        self.by_script.iter_mut().zip(other.by_script).for_each(|(amount, more)| amount.add(more));
        self.by_length.iter_mut().zip(other.by_length).for_each(|(amount, more)| amount.add(more));
    }
}

/// Describes the composition of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartsReport {
    /// The parts by script, as determined from the beginning of each text.
    pub by_script: Vec<PartReport>,
    /// The parts by the number of characters in each text.
    pub by_length: Vec<PartReport>,
}

impl PartsReport {
    /// Returns the sums over all documents and over removed documents.
    pub fn all(&self) -> [Amount; 2] {
        let mut sums = [Amount::default(); 2];
        for part in &self.by_script {
            sums[0].add(part.all);
            sums[1].add(part.removed);
        }
        sums
    }
}

/// Describes one part of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartReport {
    /// The name of the part; for a length class, the minimum number of characters.
    pub part: String,
    /// The total amount.
    #[serde(flatten)]
    pub all: Amount,
    /// The removed amount.
    pub removed: Amount,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_tell_the_writing() {
        let texts =
            ["网页 search 引擎", "поиск по web", "plain text", "検索エンジンの話", "", "123", "ελληνικά", "Ünïcödé"];
        let names = texts.map(|text| Script::of(text).name());
        let other = "other or none";
        assert_eq!(names, ["Chinese", "Cyrillic", "Latin", "Japanese", other, other, other, "Latin"]);
        // Text far from the beginning has no effect.
        assert_eq!(Script::of(&("a".repeat(LOOKED_AT) + &"ж".repeat(9_999))), Script::Latin);
    }

    #[test]
    fn each_character_counts_where_its_letters_are() {
        for letter in '\0'..=char::MAX {
            let expected = match letter {
                '\u{AA}' | '\u{B5}' | '\u{BA}' => NONE,
                'a'..='z' | 'A'..='Z' | '\u{C0}'..='\u{24F}' => LATIN,
                '\u{400}'..='\u{52F}' => CYRILLIC,
                '\u{3040}'..='\u{30FF}' => KANA,
                '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}' => HAN,
                letter if letter.is_alphabetic() => OTHER,
                _ => NONE,
            };
            let mut counted = [0; 5];
            if expected < NONE {
                counted[expected] = 1;
            }
            let text = letter.to_string();
            assert_eq!(counts(&text), counted, "{letter:?}");
            // The adjacent letter has bytes that do not determine its script.
            counted[OTHER] += 1;
            assert_eq!(counts(&(text + "α")), counted, "{letter:?}");
        }
    }

    /// Checks adjacent letters of every length in bytes, up to and beyond the last byte that is examined. Bytes alone determine the script
    /// of some of these letters, but not of others.
    #[test]
    fn as_many_characters_count_as_are_looked_at() {
        for letters in ["網a。ж½か𠀀ñ ", "網a。ж½かñ ", "αж한"] {
            let text: String = letters.chars().cycle().take(3 * LOOKED_AT).collect();
            for long in (0..40).chain(LOOKED_AT - 9..LOOKED_AT + 9) {
                let begins = &text[..text.floor_char_boundary(long)];
                let looked_at = &begins[..begins.floor_char_boundary(LOOKED_AT)];
                let of = |letters: &str| looked_at.chars().filter(|&letter| letters.contains(letter)).count() as u64;
                assert_eq!(counts(begins), [of("網𠀀"), of("か"), of("ж"), of("añ"), of("α한")], "{letters} {long}");
            }
        }
    }

    #[test]
    fn documents_are_added_by_writing_and_by_length() {
        let (mut parts, mut more) = (Parts::default(), Parts::default());
        for text in ["字".repeat(99), "字".repeat(100), "ж".repeat(40_000)] {
            parts.add(shape(&text), text.chars().count() as u32);
        }
        more.add(shape(""), 0);
        parts.merge(&more);
        let amount = |documents, characters, bytes| Amount { documents, characters, bytes };
        assert_eq!(parts.by_script[0], amount(2, 199, 597));
        assert_eq!((parts.by_script[2], parts.by_script[4]), (amount(1, 40_000, 80_000), amount(1, 0, 0)));
        assert_eq!(parts.by_length.map(|amount| amount.documents), [2, 1, 0, 0, 0, 0, 1]);
    }
}
