//! Splits original text into the lines, sentences and words that a person compares side by side.
//!
//! Lines are split after sentences, so that a page that consists of a single line is compared sentence by sentence. Lines that a program
//! wrapped are joined first, so that a paragraph with one more word is not different from there on. Empty lines, and white space at the
//! beginning and end of a line, are ignored.

/// Returns the text without everything after the first `most` characters, if it has more.
pub fn first_characters(text: &str, most: usize) -> Option<&str> {
    if text.len() <= most {
        return None;
    }
    text.char_indices().nth(most).map(|(end, _)| &text[..end])
}

/// The minimum number of characters of a line that may continue on the next line.
const WRAPPED: usize = 50;

/// Returns whether a paragraph goes on from a line to the next one: the line is long and ends within a sentence, and the next line begins
/// neither with a sign of markup nor with the number of an item.
fn goes_on(line: &str, next: &str) -> bool {
    let (line, next) = (line.trim(), next.trim_start());
    let first = next.split_whitespace().next().unwrap_or_default();
    let is_item = first.ends_with(['.', ')']) && first.starts_with(|first: char| first.is_ascii_digit());
    let begins = first.starts_with(|first: char| first.is_alphanumeric() || "(`\"'“«[".contains(first)) && !is_item;
    let ends = line.ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：', '；', '”', '」']);
    begins && !ends && line.chars().nth(WRAPPED - 1).is_some()
}

/// Returns the lines of a text. Lines that a program wrapped are one line, which contains line ends.
fn unwrapped(text: &str) -> Vec<&str> {
    let begin = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let mut found: Vec<&str> = Vec::new();
    let mut before: Option<&str> = None;
    for line in text.lines() {
        match found.last_mut() {
            Some(last) if before.is_some_and(|before| goes_on(before, line)) => {
                *last = &text[begin(last)..begin(line) + line.len()];
            }
            _ => found.push(line),
        }
        before = Some(line);
    }
    found
}

/// Returns the lines and sentences of a text.
pub fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in unwrapped(text) {
        let mut from = 0;
        for at in sentence_ends(line) {
            lines.push(line[from..at].trim());
            from = at;
        }
        lines.push(line[from..].trim());
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// Returns the positions in a line where sentences end: after Chinese punctuation, or after punctuation that is followed by a space.
fn sentence_ends(line: &str) -> impl Iterator<Item = usize> {
    let mut characters = line.char_indices().peekable();
    std::iter::from_fn(move || {
        while let Some((at, character)) = characters.next() {
            let next = characters.peek().map(|(_, next)| *next);
            let closes = |next: char| matches!(next, '”' | '’' | '»' | '」' | '』' | '）' | ')' | '"');
            let ends = match character {
                '。' | '！' | '？' | '；' => !next.is_some_and(closes),
                '.' | '!' | '?' | '…' => next.is_some_and(char::is_whitespace),
                '”' | '」' | '』' => line[..at].ends_with(['。', '！', '？']),
                _ => false,
            };
            if ends {
                return Some(at + character.len_utf8());
            }
        }
        None
    })
}

/// Splits a line into words, single characters of scripts without spaces, runs of white space, and single punctuation marks.
pub fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut from = 0;
    let mut last = None;
    for (at, character) in line.char_indices() {
        let kind = kind(character);
        if at > 0 && (kind == Kind::Single || last != Some(kind)) {
            words.push(&line[from..at]);
            from = at;
        }
        last = Some(kind);
    }
    words.push(&line[from..]);
    words.retain(|word| !word.is_empty());
    words
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Space,
    Single,
}

fn kind(character: char) -> Kind {
    // Each Han, kana or Thai character counts as a word; a combining mark belongs to the preceding letter.
    let unspaced = matches!(character,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}' | '\u{2E80}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    let combines = matches!(character, '\u{0300}'..='\u{036F}' | '\u{200D}' | '\u{FE00}'..='\u{FE0F}');
    if character.is_whitespace() {
        Kind::Space
    } else if (character.is_alphanumeric() && !unspaced) || combines {
        Kind::Letter
    } else {
        Kind::Single
    }
}

/// Returns the words of a line in alphabetical order and in lowercase, without spaces and punctuation.
pub fn sorted_words(line: &str) -> Vec<String> {
    let mut words: Vec<String> =
        words(line).into_iter().filter(|word| word.contains(char::is_alphanumeric)).map(str::to_lowercase).collect();
    words.sort_unstable();
    words
}

/// Returns twice the number of words that two lists of [`sorted_words`] share, divided by the number of words in both lists.
pub fn dice(a: &[String], b: &[String]) -> f64 {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let order = x.cmp(y);
        common += usize::from(order.is_eq());
        (i, j) = (i + usize::from(order.is_le()), j + usize::from(order.is_ge()));
    }
    if a.is_empty() && b.is_empty() { 0.0 } else { 2.0 * common as f64 / (a.len() + b.len()) as f64 }
}

/// Guesses the language of text from its letters, for fonts and screen readers. Returns an empty string if the language is unknown.
pub fn language(text: &str) -> &'static str {
    let (mut han, mut kana, mut cyrillic, mut latin) = (0, 0, 0, 0);
    for letter in text.chars() {
        match letter {
            '\0'..='\x7F' => latin += usize::from(letter.is_ascii_alphabetic()),
            '\u{3040}'..='\u{30FF}' => kana += 1,
            '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{3FFFF}' => han += 1,
            '\u{400}'..='\u{4FF}' => cyrillic += 1,
            letter if letter.is_alphabetic() => latin += 1,
            _ => {}
        }
    }
    match () {
        () if kana > 0 && 10 * kana > han => "ja",
        // A Chinese character carries as much information as several letters.
        () if 3 * han > cyrillic.max(latin) => "zh",
        () if cyrillic > latin => "ru",
        () => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_tell_languages() {
        let languages = ["网页 search 引擎", "поиск по web", "plain text", "検索エンジンの話", "", "123"].map(language);
        assert_eq!(languages, ["zh", "ru", "", "ja", "", ""]);
    }

    #[test]
    fn the_first_characters_are_complete() {
        assert_eq!([0, 1, 2, 3].map(|most| first_characters("аб", most)), [Some(""), Some("а"), None, None]);
        assert_eq!(first_characters("ab", 1), Some("a"));
    }
}
