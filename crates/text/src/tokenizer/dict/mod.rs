//! Splits Chinese text, using a dictionary (jieba's words and the user's words) and jieba's hidden Markov model for unknown words.
//!
//! [`Dict`] is our own implementation. Tests compare its words with the words that jieba-rs finds; jieba-rs takes about three times as
//! long. [`Jieba`] (`tokenizer=jieba`) calls jieba-rs itself.
//!
//! ```text
//! data/            the packed dictionary and model of jieba-rs
//! vocabulary.rs    the words and their frequencies
//! letters.rs       the numbers of characters
//! words.rs         lookups in the tree of words
//! trie.rs          construction of the tree of words
//! best_path.rs     the most probable words of a run of characters
//! unknown.rs       joins the remaining characters into words
//! jieba.rs         the words of jieba-rs
//! listing.rs       lists the words in the tables
//! tables.rs        reads the tables in the program
//! parse.rs         reads the model in the build script
//! write.rs         writes the tables in the build script
//! ```
//!
//! The build script builds the tables from the dictionary and embeds them in the program, which uses them in place. The dictionary itself
//! is not embedded. If the user adds words, the dictionary is listed from the tables when the first Han run is split, and new
//! tables are built from the listed and the additional words. A run of more than [`RUN_LIMIT`] Han characters is not natural language. Such
//! a run is split into pieces of this length, which keeps memory use low and the running time linear.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;

use hashbrown::HashSet;

use super::super::normal::{Letters, normal_word};
use super::Tokenizer;
use super::han_words::{HanWords, runs_of_han};
use crate::simd::Classes;
use dupsift_core::error::{Error, Result};

mod best_path;
mod jieba;
#[cfg(test)]
mod laws;
mod letters;
mod listing;
#[cfg(test)]
mod parse;
mod tables;
mod trie;
mod unknown;
mod vocabulary;
mod words;
#[cfg(test)]
mod write;

use best_path::{Batch, Cutter};
pub(crate) use jieba::Jieba;
use letters::joins;
use tables::Reader;
use vocabulary::Vocabulary;

/// Aligns tables in memory.
#[repr(C, align(64))]
struct Aligned<B: ?Sized>(B);

/// The tables of the dictionary and the model, without the user's words.
static TABLES: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/dict.tables")));
const _: () = assert!(align_of::<Aligned<u8>>() == tables::ALIGNMENT);

/// The version of jieba-rs whose dictionary, model and results this module reproduces.
pub(crate) const JIEBA: &str = "0.11.0";

/// The maximum length of a run, in characters, that is segmented as a whole.
pub(crate) const RUN_LIMIT: usize = 4_096;

/// The minimum number of characters that are processed together, unless the text has fewer.
const BATCH: usize = 256;

/// The maximum frequency of a word in a user dictionary. The limit ensures that the sum over all words cannot overflow. The minimum
/// frequency is 1, because the logarithm of 0 would make the weights of all paths through the word useless.
const FREQUENCY_LIMIT: u64 = 1_000_000_000;

/// The maximum number of words in a user dictionary. The next constant is the maximum number of different characters in these words. The
/// tree cannot hold more.
const WORD_LIMIT: usize = 500_000;
const CHARACTER_LIMIT: usize = 40_000;

/// The dictionary tokenizer. The dictionary is loaded when it is first used.
pub(crate) struct Dict {
    user_words: UserWords,
    cutter: OnceLock<Cutter>,
}

/// The words of a user dictionary.
#[derive(Default)]
pub(crate) struct UserWords(Vec<UserWord>);

struct UserWord {
    word: String,
    frequency: Option<u64>,
}

impl UserWords {
    /// Reads the contents of a user dictionary, if there is one.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a line does not have the form `word [frequency [tag]]`, or if a limit is exceeded.
    pub(crate) fn parse(dictionary: Option<&str>, letters: Letters) -> Result<UserWords> {
        let contents = dictionary.unwrap_or_default();
        let contents = contents.strip_prefix('\u{FEFF}').unwrap_or(contents);
        let user_words = contents
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(number, line)| {
                UserWord::parse(line, letters).map_err(|why| {
                    Error::usage(format!(
                        "dictionary line {}: expected \"word [frequency [tag]]\", got {line:?}: {why}; correct or remove that line",
                        number + 1
                    ))
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let characters: HashSet<char> = user_words.iter().flat_map(|user| user.word.chars()).collect();
        for (count, limit, what) in
            [(user_words.len(), WORD_LIMIT, "words"), (characters.len(), CHARACTER_LIMIT, "different characters")]
        {
            if count > limit {
                let expected = format!("dictionary: expected at most {limit} {what}, got {count}");
                return Err(Error::usage(format!("{expected}; leave out words that occur in no text")));
            }
        }
        Ok(UserWords(user_words))
    }

    /// Adds the words to a vocabulary, in the order of the file.
    fn add_to<'w>(&'w self, vocabulary: &mut Vocabulary<'w>) {
        for UserWord { word, frequency } in &self.0 {
            vocabulary.add(word, *frequency);
        }
    }
}

impl Dict {
    /// Returns a tokenizer that uses the user's words in addition to the built-in dictionary.
    pub(crate) fn new(user_words: UserWords) -> Dict {
        Dict { user_words, cutter: OnceLock::new() }
    }

    fn cutter(&self) -> &Cutter {
        self.cutter.get_or_init(|| {
            let mut tables = Reader::new(&TABLES.0);
            let built_in = Cutter::read(&mut tables);
            if self.user_words.0.is_empty() {
                return built_in;
            }
            let dictionary = built_in.dictionary(&tables.list());
            let mut vocabulary = Vocabulary::new(&dictionary);
            self.user_words.add_to(&mut vocabulary);
            built_in.with_words(&vocabulary)
        })
    }
}

impl UserWord {
    fn parse(line: &str, letters: Letters) -> std::result::Result<UserWord, String> {
        let mut fields = line.split_whitespace();
        let word = normal_word(fields.next().unwrap_or_default(), letters);
        if word.is_empty() {
            return Err("the word has no visible character".to_owned());
        }
        let frequency = match fields.next() {
            None => None,
            Some(field) => match field.parse::<u64>() {
                Ok(frequency) if (1..=FREQUENCY_LIMIT).contains(&frequency) => Some(frequency),
                _ => return Err(format!("{field:?} is not a whole number from 1 to {FREQUENCY_LIMIT}")),
            },
        };
        // The third field, the part of speech, is ignored.
        match fields.nth(1) {
            None => Ok(UserWord { word, frequency }),
            Some(field) => Err(format!("{field:?} is one field too many")),
        }
    }
}

thread_local! {
    /// The memory of the last batch. A batch never has many runs, so its memory is not limited.
    static LAST_BATCH: RefCell<Batch> = const { RefCell::new(Batch::new()) };
}

/// Returns an empty batch for Han runs. The batch reuses the memory of the last batch on this thread.
fn take_batch() -> Batch {
    LAST_BATCH.take()
}

/// Keeps the memory of a batch, so that the next batch on this thread can use it.
fn leave_batch(batch: Batch) {
    LAST_BATCH.set(batch);
}

/// Frees the memory of the last batch on this thread.
pub(crate) fn free_batch() {
    LAST_BATCH.set(Batch::new());
}

impl Tokenizer for Dict {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        let cutter = self.cutter();
        let mut batch = take_batch();
        let mut from = 0;
        while from < run.len() {
            let rest = &run[from..];
            let mut piece = &rest[..rest.char_indices().nth(RUN_LIMIT).map_or(rest.len(), |(place, _)| place)];
            while let Some(first) = piece.chars().next() {
                // A character that is a word of its own ends the run.
                let mut length = piece.find(|c| !joins(c)).unwrap_or(piece.len());
                if length == 0 {
                    length = first.len_utf8();
                    out(from..from + length);
                } else {
                    let numbers = piece[..length].chars().map(|c| cutter.letters().number(c));
                    cutter.add(numbers, &mut batch);
                    let mut ends = piece.char_indices().map(|(start, c)| start + c.len_utf8()).zip(1..);
                    let mut start = from;
                    cutter.cut(&mut batch, |_, characters| {
                        let end = ends.find(|&(_, number)| number == characters).map_or(start, |(end, _)| from + end);
                        out(start..end);
                        start = end;
                    });
                }
                piece = &piece[length..];
                from += length;
            }
        }
        leave_batch(batch);
    }

    fn cut_several(&self, text: &str, classes: &[Classes], from: usize, han_words: &mut HanWords) -> bool {
        let cutter = self.cutter();
        let mut batch = take_batch();
        han_words.clear();
        let pieces = runs_of_han(classes, from).flat_map(|run| {
            let starts = run.clone().step_by(3 * RUN_LIMIT);
            starts.map(move |start| start..run.end.min(start + 3 * RUN_LIMIT))
        });
        for piece in pieces {
            cutter.add(cutter.letters().of_common(&text.as_bytes()[piece.clone()]), &mut batch);
            han_words.starts.push(piece.start as u32);
            han_words.until = piece.end;
            if batch.characters() >= BATCH {
                break;
            }
        }
        cutter.cut(&mut batch, |run, end| han_words.ends.push(han_words.starts[run] + 3 * end as u32));
        leave_batch(batch);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Unspaced, for_each_word};
    use super::*;

    fn cut<'r>(dict: &Dict, run: &'r str) -> Vec<&'r str> {
        let mut words = Vec::new();
        dict.cut(run, &mut |word| words.push(&run[word]));
        words
    }

    #[test]
    fn known_words_unknown_words_and_the_users_words() {
        let plain = Dict::new(UserWords::default());
        assert!(plain.cutter.get().is_none());
        assert_eq!(cut(&plain, "我来到北京清华大学"), ["我", "来到", "北京", "清华大学"]);
        assert_eq!(cut(&plain, "他来到了网易杭研大厦"), ["他", "来到", "了", "网易", "杭研", "大厦"]);
        assert!(plain.cutter.get().is_some());
        let words = UserWords::parse(Some("\u{FEFF}来到北京 900000 n\r\n\r\n网易杭研\n"), Letters::default());
        let own = Dict::new(words.expect("a good dictionary"));
        assert_eq!(cut(&own, "我来到北京清华大学"), ["我", "来到北京", "清华大学"]);
        assert_eq!(cut(&own, "他来到了网易杭研大厦"), ["他", "来到", "了", "网易杭研", "大厦"]);
    }

    #[test]
    fn a_bad_line_is_named() {
        for (contents, part) in [
            ("词 3\n词 three", "line 2"),
            ("词 -1", "whole number"),
            ("词 0", "whole number"),
            ("词 99999999999999999999", "whole number"),
            ("词 1 n x", "one field too many"),
            ("\u{200B} 1", "no visible"),
        ] {
            let error = UserWords::parse(Some(contents), Letters::default()).err().expect("a bad line");
            assert!(matches!(&error, Error::Usage { said: message, .. } if message.contains(part)), "{error}");
        }
    }

    #[test]
    fn a_long_run_is_cut_at_the_limit_and_nothing_is_lost() {
        let dict = Dict::new(UserWords::default());
        let run = "中华人民共和国".repeat(2 * RUN_LIMIT / 7);
        let words = cut(&dict, &run);
        let mut of_text = Vec::new();
        for_each_word(&run, &dict, &Unspaced::characters(), &mut |word, _| of_text.push(&run[word]));
        assert_eq!(words, of_text);
        assert_eq!(words.concat(), run);
        // The length of the first piece, 4,096, is one more than a multiple of 7, so the piece ends in the middle of the word.
        let limit = "中".len() * RUN_LIMIT;
        let mut end = 0;
        assert!(words.iter().any(|word| {
            end += word.len();
            end == limit
        }));
    }
}
