//! Document counts by script and length: in the whole corpus, and among removed documents.
//!
//! While the text of a document is read, its script and length are recorded and the document is added to the totals ([`shape`]). After the
//! decision, separate totals are computed for the removed documents; no text is read again.

use std::collections::BTreeMap;

use icu_properties::props::Script as UnicodeScript;
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed, PropertyNamesLong};
use serde::{Deserialize, Serialize};

/// The number of bytes of a text that determine its script: 64 Chinese characters, or 192 English letters.
const LOOKED_AT: usize = 192;
/// The number of stretches of a longer text from which these bytes are taken.
const STRETCHES: usize = 4;

/// The script of a character.
const SCRIPT: CodePointMapDataBorrowed<'static, UnicodeScript> = CodePointMapData::<UnicodeScript>::new();

/// Represents the script of most letters of a text by one of its letters. Texts with kana are represented by one, with or without Han
/// characters, and texts without letters by a character that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script(char);

impl Script {
    const NONE: Script = Script('\0');

    /// Returns the script of most letters in a sample of a text.
    pub fn of(text: &str) -> Script {
        let sample = Sample::of(text);
        let [han, kana, cyrillic, latin, other] = sample.counts();
        match () {
            () if han + kana + cyrillic + latin + other == 0 => Script::NONE,
            () if kana > 0 && 10 * kana > han && 3 * (han + kana) > cyrillic.max(latin).max(other) => Script('あ'),
            // A Chinese character carries as much information as several letters.
            () if 3 * han > cyrillic.max(latin).max(other) => Script('字'),
            () if other > cyrillic.max(latin) => sample.other_script(),
            () if cyrillic > latin => Script('ж'),
            () => Script('a'),
        }
    }

    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match SCRIPT.get(self.0) {
            UnicodeScript::Common => "none",
            UnicodeScript::Han => "Chinese",
            UnicodeScript::Hiragana => "Japanese",
            script => PropertyNamesLong::new().get(script).unwrap_or("other"),
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

/// Holds the bytes of a text that are examined, and two more bytes.
struct Sample {
    bytes: [u8; LOOKED_AT + 2],
    length: usize,
}

impl Sample {
    /// Takes a short text, or a stretch from the middle of each quarter of a longer text, whose beginning may be in another script.
    fn of(text: &str) -> Sample {
        let mut sample = Sample { bytes: [0; LOOKED_AT + 2], length: 0 };
        if text.len() <= LOOKED_AT {
            sample.push(text);
            return sample;
        }
        const LONG: usize = LOOKED_AT / STRETCHES;
        for at in 0..STRETCHES {
            let start = text.ceil_char_boundary((2 * at + 1) * text.len() / (2 * STRETCHES) - LONG / 2);
            sample.push(&text[start..text.floor_char_boundary(start + LONG)]);
        }
        sample
    }

    fn push(&mut self, text: &str) {
        let end = self.length + text.len();
        self.bytes[self.length..end].copy_from_slice(text.as_bytes());
        self.length = end;
    }

    /// Returns the characters.
    fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    /// Counts the characters by script, from Han to other letters.
    ///
    /// Most characters can be assigned to a script by their first bytes, which allows several characters to be counted at a time; if the
    /// sample contains other characters, each character is examined individually.
    fn counts(&self) -> [u64; 5] {
        let bytes = &self.bytes;
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
            self.text().chars().for_each(|letter| counts[count_of(letter)] += 1);
            return [counts[HAN], counts[KANA], counts[CYRILLIC], counts[LATIN], counts[OTHER]];
        }
        let latin = accented + count(bytes, |a, _, _| within(a | 0x20, b'a', b'z'));
        [han, kana, cyrillic, latin, 0].map(u64::from)
    }

    /// Returns the most frequent script of the letters that are counted as other letters.
    fn other_script(&self) -> Script {
        let mut counts = BTreeMap::new();
        for letter in self.text().chars().filter(|&letter| count_of(letter) == OTHER) {
            counts.entry(SCRIPT.get(letter)).or_insert((0, letter)).0 += 1;
        }
        // Of equally frequent scripts, the first one is returned.
        let most = counts.into_values().rev().max_by_key(|(count, _)| *count);
        most.map_or(Script::NONE, |(_, letter)| Script(letter))
    }
}

fn within(byte: u8, least: u8, most: u8) -> bool {
    byte.wrapping_sub(least) <= most - least
}

/// Returns the number of positions at which a byte and the two following bytes satisfy `are`. The number fits in a byte, so the compiler
/// can vectorize the count.
fn count(bytes: &[u8; LOOKED_AT + 2], are: impl Fn(u8, u8, u8) -> bool) -> u8 {
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

/// The number of bits in which a shape has the number of bytes.
const BYTE_BITS: u32 = 43;

/// Encodes the shape of a document: a letter of its script in the highest bits, the number of bytes in the other bits.
pub fn shape(text: &str) -> u64 {
    u64::from(u32::from(Script::of(text).0)) << BYTE_BITS | text.len() as u64 & ((1 << BYTE_BITS) - 1)
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Parts {
    /// The amounts by the name of the script.
    by_script: BTreeMap<String, Amount>,
    /// The amounts by length, in the order of [`LENGTHS`].
    pub by_length: [Amount; LENGTHS.len()],
}

impl Parts {
    /// Adds a document, given its [`shape`] and its number of characters.
    pub fn add(&mut self, shape: u64, characters: u32) {
        let one = Amount { documents: 1, characters: characters.into(), bytes: Parts::bytes(shape) };
        let length = LENGTHS.partition_point(|&least| least <= characters) - 1;
        let name = char::from_u32((shape >> BYTE_BITS) as u32).map_or(Script::NONE, Script).name();
        match self.by_script.get_mut(name) {
            Some(amount) => amount.add(one),
            None => _ = self.by_script.insert(name.to_owned(), one),
        }
        self.by_length[length].add(one);
    }

    /// Returns the number of bytes in a text with this shape.
    pub fn bytes(shape: u64) -> u64 {
        shape & ((1 << BYTE_BITS) - 1)
    }

    /// Returns the names of the scripts, largest number of documents first.
    pub fn scripts(&self) -> Vec<&str> {
        let mut names: Vec<_> = self.by_script.iter().collect();
        names.sort_by_key(|(_, amount)| std::cmp::Reverse(amount.documents));
        names.into_iter().map(|(name, _)| &**name).collect()
    }

    /// Returns the amount of documents in a script.
    pub fn of_script(&self, name: &str) -> Amount {
        self.by_script.get(name).copied().unwrap_or_default()
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: &Parts) {
        other.by_script.iter().for_each(|(name, &more)| self.by_script.entry(name.clone()).or_default().add(more));
        self.by_length.iter_mut().zip(other.by_length).for_each(|(amount, more)| amount.add(more));
    }
}

/// Describes the composition of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PartsReport {
    /// The parts by the script of most letters in a sample of each text, largest number of documents first.
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
        assert_eq!(names, ["Chinese", "Cyrillic", "Latin", "Japanese", "none", "none", "Greek", "Latin"]);
        let texts = ["الكتاب", "ספר", "หนังสือ", "किताब", "책은 여기", "বই", "புத்தகம்", "წიგნი", "መጽሐፍ", "ဂျ", "ខ្មែរ"];
        let expected = [
            "Arabic",
            "Hebrew",
            "Thai",
            "Devanagari",
            "Hangul",
            "Bengali",
            "Tamil",
            "Georgian",
            "Ethiopic",
            "Myanmar",
            "Khmer",
        ];
        assert_eq!(texts.map(|text| Script::of(text).name()), expected);
        // A beginning in another script does not decide.
        assert_eq!(Script::of(&("a".repeat(LOOKED_AT) + &"책".repeat(9_999))).name(), "Hangul");
        assert_eq!(Script::of(&("책".repeat(LOOKED_AT) + &"a".repeat(9_999))).name(), "Latin");
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
            assert_eq!(Sample::of(&text).counts(), counted, "{letter:?}");
            // The adjacent letter has bytes that do not determine its script.
            counted[OTHER] += 1;
            assert_eq!(Sample::of(&(text + "α")).counts(), counted, "{letter:?}");
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
                let sample = Sample::of(begins);
                assert!(long > LOOKED_AT || sample.text() == begins, "{letters} {long}");
                assert!(sample.length + 4 * STRETCHES > begins.len().min(LOOKED_AT), "{letters} {long}");
                let of =
                    |letters: &str| sample.text().chars().filter(|&letter| letters.contains(letter)).count() as u64;
                assert_eq!(sample.counts(), [of("網𠀀"), of("か"), of("ж"), of("añ"), of("α한")], "{letters} {long}");
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
        assert_eq!(parts.of_script("Chinese"), amount(2, 199, 597));
        assert_eq!(
            (parts.of_script("Cyrillic"), parts.of_script("none")),
            (amount(1, 40_000, 80_000), amount(1, 0, 0))
        );
        assert_eq!(parts.scripts(), ["Chinese", "Cyrillic", "none"]);
        assert_eq!(parts.by_length.map(|amount| amount.documents), [2, 1, 0, 0, 0, 0, 1]);
    }
}
