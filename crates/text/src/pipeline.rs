//! Prepares the text options once, for use by every thread.

use std::ops::Range;

use hashbrown::HashSet;

use super::choices::{TextOptions, TokenizerKind};
use super::normal::{Letters, Normal, normal_word};
use super::pool;
use super::stem::Stems;
use super::tokenizer::bigram::Bigram;
use super::tokenizer::char::Char;
use super::tokenizer::dict::{Dict, JIEBA, Jieba, UserWords};
use super::tokenizer::starts::Starts;
use super::tokenizer::{Tokenizer, Unspaced, for_each_word, room_for_words};
use super::traditional::TABLE as TRADITIONAL;
use super::word::{Cut, Token, Word};
use dupsift_core::error::Result;
use dupsift_core::hash::{hash64, hash64_of_3, hash128};

/// The checked options and prepared resources, shared by all threads.
pub struct Pipeline {
    han: Box<dyn Tokenizer + Send + Sync>,
    unspaced: Unspaced,
    has_dictionary: bool,
    /// Whether joining the Han words yields the Han text, so that shingle tokens can be derived from the words.
    han_words_are_text: bool,
    letters: Letters,
    pub(super) stems: Option<Stems>,
    /// The 64-bit hashes of the stop words before stemming. About one in 10^15 other words has the same hash as a stop word.
    stop_words: HashSet<u64>,
    identity: String,
}

impl Pipeline {
    /// Checks the options. The Chinese dictionary is not loaded until the first Chinese word is found.
    ///
    /// # Errors
    /// Returns `Error::Usage` if the user dictionary has an invalid line, even if the tokenizer does not use the dictionary.
    pub fn new(options: &TextOptions) -> Result<Pipeline> {
        let letters = options.letters();
        let user_words = UserWords::parse(options.dictionary.as_deref(), letters)?;
        let (han, unspaced): (Box<dyn Tokenizer + Send + Sync>, Unspaced) = match options.tokenizer {
            TokenizerKind::Dict => (Box::new(Dict::new(user_words)), Unspaced::words()),
            TokenizerKind::Jieba => (Box::new(Jieba::new(user_words)), Unspaced::words()),
            TokenizerKind::Bigram => (Box::new(Bigram), Unspaced::characters()),
            TokenizerKind::Char => (Box::new(Char), Unspaced::characters()),
        };
        let mut stop_words = normal_stop_words(options);
        let identity = identity_of(options, &stop_words);
        Ok(Pipeline {
            han,
            unspaced,
            has_dictionary: options.tokenizer.has_dictionary(),
            han_words_are_text: options.tokenizer != TokenizerKind::Bigram,
            letters,
            stems: options.stem.then(Stems::new),
            stop_words: stop_words.drain(..).map(|word| hash64(word.as_bytes())).collect(),
            identity,
        })
    }

    /// Returns all settings and versions that affect words, and therefore signatures, as one line of `name=value` pairs for the manifest.
    /// Pipelines with the same identity return the same words for the same text.
    pub fn identity(&self) -> String {
        self.identity.clone()
    }

    /// Returns whether Han words come from a dictionary; if so, recording their starts saves time.
    pub fn has_dictionary(&self) -> bool {
        self.has_dictionary
    }

    /// Returns whether stop words were specified.
    pub fn has_stop_words(&self) -> bool {
        !self.stop_words.is_empty()
    }

    /// Calls `each` with the range of every word before stemming. `known` is the `han_starts` argument of [`Pipeline::analyse_again`].
    pub(super) fn each_place(&self, normal: &Normal, known: &[u8], each: &mut dyn FnMut(Range<usize>)) {
        let mut each = |place, _| each(place);
        if self.has_dictionary {
            for_each_word(&normal.text, &Starts::new(known), &self.unspaced, &mut each);
        } else {
            for_each_word(&normal.text, self.han.as_ref(), &self.unspaced, &mut each);
        }
    }

    /// Calls `each` with the range of every shingle token.
    pub(super) fn each_token(&self, normal: &Normal, each: &mut dyn FnMut(Range<usize>)) {
        for_each_word(&normal.text, &Char, &self.unspaced, &mut |place, _| each(place));
    }

    pub(super) fn normalise(&self, raw: &str) -> Option<Normal> {
        Normal::of(raw, self.letters)
    }

    /// Splits text into words and sentences. `known` contains the starts of Han words, if an earlier pass recorded them.
    pub(super) fn cut_words(&self, normal: &Normal, known: Option<&[u8]>) -> Cut {
        match known {
            Some(bits) => self.cut_words_by(&Starts::new(bits), false, normal),
            None => self.cut_words_by(self.han.as_ref(), self.has_dictionary, normal),
        }
    }

    fn cut_words_by<T: Tokenizer + ?Sized>(&self, tokenizer: &T, looks_up: bool, normal: &Normal) -> Cut {
        let mut words = pool::take(|pool| &mut pool.words, room_for_words(&normal.text));
        let mut sentences = pool::take(|pool| &mut pool.sentences, normal.pieces().len());
        let mut stems = String::new();
        let mut pieces = normal.pieces();
        let mut segmented = 0;
        let (mut first, mut end) = (0, pieces.next().map_or(0, |piece| piece.end));
        for_each_word(&normal.text, tokenizer, &self.unspaced, &mut |place, han| {
            // A space separates two pieces, so no word extends beyond the end of a piece.
            while place.start >= end {
                let count = words.len() as u32;
                if first < count {
                    sentences.push(first..count);
                }
                first = count;
                end = pieces.next().map_or(usize::MAX, |piece| piece.end);
            }
            if han && looks_up {
                segmented += (place.end - place.start) as u64 / 3;
            }
            words.push(self.word(&normal.text, place, han, &mut stems));
        });
        let count = words.len() as u32;
        if first < count {
            sentences.push(first..count);
        }
        Cut { words, sentences, stems, segmented }
    }

    /// Splits text into shingle tokens without the Chinese dictionary. The words are reused if they were already found.
    pub(super) fn cut_tokens(&self, normal: &Normal, cut: Option<&Cut>) -> Vec<Token> {
        let text = &normal.text;
        let mut tokens = pool::take(|pool| &mut pool.tokens, room_for_words(text));
        // The end of the previous token, if that token is a Han character. Other words may be stems, whose ranges are not in the text.
        let mut end = usize::MAX;
        match cut {
            Some(cut) if self.han_words_are_text => {
                for word in &cut.words {
                    if word.han {
                        let place = word.start as usize..word.end as usize;
                        let joined = place.start == end;
                        end = place.end;
                        push_characters(&text.as_bytes()[place], joined, &mut tokens);
                    } else {
                        end = usize::MAX;
                        tokens.push(Token { hash: word.hash, han: false, joined: false });
                    }
                }
            }
            _ => {
                for_each_word(text, &Whole, &self.unspaced, &mut |place, han| {
                    if han {
                        let joined = place.start == end;
                        end = place.end;
                        push_characters(&text.as_bytes()[place], joined, &mut tokens);
                        return;
                    }
                    end = usize::MAX;
                    let hash = match &self.stems {
                        None => hash64(&text.as_bytes()[place]),
                        Some(stems) => stems.hash(&text[place]),
                    };
                    tokens.push(Token { hash, han: false, joined: false });
                });
            }
        }
        tokens
    }

    // Called from several places, it is inlined into none of them by itself, and a call for each word costs a fifth of the word.
    #[inline(always)]
    fn word(&self, text: &str, place: Range<usize>, han: bool, stems: &mut String) -> Word {
        let hash = hash64(&text.as_bytes()[place.clone()]);
        let word = Word {
            start: place.start as u32,
            end: place.end as u32,
            hash,
            stop: !self.stop_words.is_empty() && self.is_stop_word(hash),
            han,
        };
        if self.stems.is_none() { word } else { self.stemmed(text, word, stems) }
    }

    // Most runs have neither stop words nor stems. If these functions were inlined, the code for a word would be called instead.
    #[inline(never)]
    fn is_stop_word(&self, hash: u64) -> bool {
        self.stop_words.contains(&hash)
    }

    #[inline(never)]
    fn stemmed(&self, text: &str, word: Word, stems: &mut String) -> Word {
        let Some(stemmers) = &self.stems else { return word };
        let surface = &text[word.start as usize..word.end as usize];
        let stem = stemmers.stem(surface);
        if *stem == *surface {
            return word;
        }
        let start = (text.len() + stems.len()) as u32;
        stems.push_str(&stem);
        Word { start, end: start + stem.len() as u32, hash: hash64(stem.as_bytes()), ..word }
    }
}

/// A tokenizer that returns a run of Han characters as one word. The caller splits the run into characters, which saves
/// a call per character.
struct Whole;

impl Tokenizer for Whole {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        out(0..run.len());
    }
}

/// Adds one token for each character in a run of Han characters.
#[inline]
fn push_characters(han: &[u8], joined: bool, tokens: &mut Vec<Token>) {
    let first = tokens.len();
    let (threes, rest) = han.as_chunks::<3>();
    // In nearly all runs, every character has three bytes; the first byte of a character shows its length.
    if rest.is_empty() && threes.iter().all(|one| one[0] & 0xF0 == 0xE0) {
        tokens.extend(threes.iter().map(|one| Token { hash: hash64_of_3(*one), han: true, joined: true }));
    } else {
        let characters = String::from_utf8_lossy(han);
        let hash = |c: char| hash64(c.encode_utf8(&mut [0; 4]).as_bytes());
        tokens.extend(characters.chars().map(|c| Token { hash: hash(c), han: true, joined: true }));
    }
    if let Some(token) = tokens.get_mut(first) {
        token.joined = joined;
    }
}

/// Returns the normalized stop words, sorted and without duplicates.
fn normal_stop_words(options: &TextOptions) -> Vec<String> {
    let mut words: Vec<String> = options
        .stop_words
        .iter()
        .map(|entry| normal_word(entry, options.letters()).trim_matches(|c: char| c.is_ascii_punctuation()).to_owned())
        .filter(|word| !word.is_empty())
        .collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The version of the text rules. Increase it whenever a change in this folder affects how text is split into words.
const RULES: u32 = 3;

fn identity_of(options: &TextOptions, stop_words: &[String]) -> String {
    let (major, minor, update) = char::UNICODE_VERSION;
    let mut identity = format!(
        "rules={RULES} tokenizer={} yo_to_e={} stem={} case=unicode-{major}.{minor}.{update} \
         icu_normalizer={ICU_NORMALIZER} icu_segmenter={ICU_SEGMENTER}",
        options.tokenizer.name(),
        options.yo_to_e,
        options.stem,
    );
    // Unused options must not change the identity.
    if options.traditional {
        identity += &format!(" traditional={TRADITIONAL}");
    }
    if options.stem {
        identity += &format!(" rust-stemmers={RUST_STEMMERS}");
    }
    if options.tokenizer.has_dictionary() {
        let dictionary = options.dictionary.as_deref().unwrap_or_default();
        identity += &format!(" jieba-rs={JIEBA} dictionary={}", fingerprint(dictionary));
    }
    identity + &format!(" stop_words={}", fingerprint(&stop_words.join("\n")))
}

fn fingerprint(contents: &str) -> String {
    if contents.is_empty() { "none".to_owned() } else { format!("{:032x}", hash128(contents.as_bytes())) }
}

// The versions of the crates whose code and Unicode data affect how text is split into words. A test compares these versions with the lock
// file.
const ICU_NORMALIZER: &str = "2.4.0";
const ICU_SEGMENTER: &str = "2.4.0";
const RUST_STEMMERS: &str = "1.2.0";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../Cargo.lock").replace("\r\n", "\n");
        for (name, version) in [
            ("icu_normalizer", ICU_NORMALIZER),
            ("icu_normalizer_data", ICU_NORMALIZER),
            ("icu_segmenter", ICU_SEGMENTER),
            ("icu_segmenter_data", ICU_SEGMENTER),
            ("jieba-rs", JIEBA),
            ("rust-stemmers", RUST_STEMMERS),
        ] {
            assert!(
                lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"\n")),
                "{name} is no longer {version}: words may differ; change the constant"
            );
        }
    }

    /// A tokenizer that must not be called.
    struct Forbidden;

    impl Tokenizer for Forbidden {
        fn cut(&self, run: &str, _: &mut dyn FnMut(Range<usize>)) {
            panic!("the words of {run} were not asked for");
        }
    }

    #[test]
    fn the_chinese_dictionary_is_left_alone_until_a_chinese_word_is_wanted() {
        let pipeline =
            Pipeline { han: Box::new(Forbidden), ..Pipeline::new(&TextOptions::default()).expect("defaults") };
        let chinese = pipeline.analyse("中文分词 и ещё");
        assert_eq!(chinese.text(), "中文分词 и ещё");
        assert_eq!(chinese.tokens().len(), 6);
        assert_eq!(chinese.characters(), 10);
        assert_eq!(pipeline.analyse("Кот и ภาษาไทย").words().len(), 4);
    }

    #[test]
    fn every_choice_shows_in_the_identity_and_no_spelling_does() {
        let identity = |change: fn(&mut TextOptions)| {
            let mut options = TextOptions::default();
            change(&mut options);
            Pipeline::new(&options).expect("good options").identity()
        };
        let changes: [fn(&mut TextOptions); 9] = [
            |_| {},
            |options| options.tokenizer = TokenizerKind::Jieba,
            |options| options.tokenizer = TokenizerKind::Bigram,
            |options| options.tokenizer = TokenizerKind::Char,
            |options| options.yo_to_e = true,
            |options| options.stem = true,
            |options| options.traditional = true,
            |options| options.stop_words = vec!["и".to_owned(), "the".to_owned()],
            |options| options.dictionary = Some("词 3".to_owned()),
        ];
        let mut all: Vec<String> = changes.map(identity).to_vec();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), changes.len());
        assert!(all.iter().all(|identity| identity.is_ascii() && !identity.contains('\n')));
        assert_eq!(
            identity(changes[7]),
            identity(|options| {
                options.stop_words = ["Ｔｈｅ", "И", "the", ""].map(str::to_owned).to_vec();
            })
        );
    }
}
