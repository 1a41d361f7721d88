//! Chinese by dictionary: jieba with its built-in dictionary, the user's words, and the hidden Markov model for words that
//! neither knows.
//!
//! The dictionary (0.2 s and 20 MB) is loaded when the first run of Han characters is cut, and never in a run of the
//! program that meets none. A run of more than [`RUN_LIMIT`] characters without any other character between them is no
//! language; it is cut into pieces of that many, so that working memory stays small and time linear.

use std::ops::Range;
use std::sync::OnceLock;

use jieba_rs::Jieba;

use super::super::normal::normal_word;
use super::Tokenizer;
use crate::error::{Error, Result};

/// The version of jieba-rs, and with it of its dictionary and model, that words depend on.
pub const JIEBA: &str = "0.11.0";

/// The longest run, in characters, that is segmented as one.
pub const RUN_LIMIT: usize = 4_096;

/// The largest frequency that a user dictionary may give a word: the sum over all words must not overflow. The smallest
/// is 1: the logarithm of 0 would spoil the weights of everything before that word.
const FREQUENCY_LIMIT: usize = 1_000_000_000;

/// The dictionary tokenizer; the dictionary itself comes at first use.
pub struct Dict {
    user_words: Vec<UserWord>,
    jieba: OnceLock<Jieba>,
}

struct UserWord {
    word: String,
    frequency: Option<usize>,
    tag: Option<String>,
}

impl Dict {
    /// A tokenizer with the words of a user dictionary, given as the contents of its file.
    ///
    /// # Errors
    /// [`Error::Usage`] that names the first line that is not `word [frequency [tag]]`.
    pub fn new(user_dictionary: Option<&str>, yo_to_e: bool) -> Result<Dict> {
        let contents = user_dictionary.unwrap_or_default();
        let contents = contents.strip_prefix('\u{FEFF}').unwrap_or(contents);
        let user_words = contents
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .map(|(number, line)| {
                UserWord::parse(line, yo_to_e).map_err(|why| {
                    Error::Usage(format!(
                        "dictionary line {}: expected \"word [frequency [tag]]\", got {line:?}: {why}; correct or remove that line",
                        number + 1
                    ))
                })
            })
            .collect::<Result<_>>()?;
        Ok(Dict { user_words, jieba: OnceLock::new() })
    }

    /// Whether the dictionary has been loaded.
    pub fn is_loaded(&self) -> bool {
        self.jieba.get().is_some()
    }

    fn jieba(&self) -> &Jieba {
        self.jieba.get_or_init(|| {
            let mut jieba = Jieba::new();
            for UserWord { word, frequency, tag } in &self.user_words {
                jieba.add_word(word, *frequency, tag.as_deref());
            }
            jieba
        })
    }
}

impl UserWord {
    fn parse(line: &str, yo_to_e: bool) -> std::result::Result<UserWord, String> {
        let mut fields = line.split_whitespace();
        let word = normal_word(fields.next().unwrap_or_default(), yo_to_e);
        if word.is_empty() {
            return Err("the word has no visible character".to_owned());
        }
        let frequency = match fields.next() {
            None => None,
            Some(field) => match field.parse::<usize>() {
                Ok(frequency) if (1..=FREQUENCY_LIMIT).contains(&frequency) => Some(frequency),
                _ => return Err(format!("{field:?} is no whole number from 1 to {FREQUENCY_LIMIT}")),
            },
        };
        let tag = fields.next().map(str::to_owned);
        match fields.next() {
            None => Ok(UserWord { word, frequency, tag }),
            Some(field) => Err(format!("{field:?} is one field too many")),
        }
    }
}

impl Tokenizer for Dict {
    fn cut(&self, run: &str, out: &mut dyn FnMut(Range<usize>)) {
        let jieba = self.jieba();
        let mut start = 0;
        while start < run.len() {
            let rest = &run[start..];
            // A run that is short in bytes is short in characters: the common case needs no count.
            let length = if rest.len() <= RUN_LIMIT {
                rest.len()
            } else {
                rest.char_indices().nth(RUN_LIMIT).map_or(rest.len(), |(place, _)| place)
            };
            for word in jieba.cut(&rest[..length], true) {
                out(start + word.byte_start..start + word.byte_end);
            }
            start += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'r>(dict: &Dict, run: &'r str) -> Vec<&'r str> {
        let mut words = Vec::new();
        dict.cut(run, &mut |word| words.push(&run[word]));
        words
    }

    #[test]
    fn known_words_unknown_words_and_the_users_words() {
        let plain = Dict::new(None, false).expect("no dictionary");
        assert!(!plain.is_loaded());
        assert_eq!(cut(&plain, "我来到北京清华大学"), ["我", "来到", "北京", "清华大学"]);
        assert_eq!(cut(&plain, "他来到了网易杭研大厦"), ["他", "来到", "了", "网易", "杭研", "大厦"]);
        assert!(plain.is_loaded());
        let own = Dict::new(Some("\u{FEFF}来到北京 900000 n\r\n\r\n网易杭研\n"), false).expect("a good dictionary");
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
            let error = Dict::new(Some(contents), false).err().expect("a bad line");
            assert!(matches!(&error, Error::Usage(message) if message.contains(part)), "{error}");
        }
    }

    #[test]
    fn a_long_run_is_cut_at_the_limit_and_nothing_is_lost() {
        let dict = Dict::new(None, false).expect("no dictionary");
        let run = "中华人民共和国".repeat(2 * RUN_LIMIT / 7);
        let words = cut(&dict, &run);
        assert_eq!(words.concat(), run);
        // 4,096 is one more than a multiple of 7, so that the first piece ends in the middle of the word.
        let limit = "中".len() * RUN_LIMIT;
        let mut end = 0;
        assert!(words.iter().any(|word| {
            end += word.len();
            end == limit
        }));
    }
}
