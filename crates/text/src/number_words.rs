//! Finds numbers written in words: Chinese numerals, and English and Russian number words.
//!
//! Notices from the same template may differ only in dates and sums, which may be written in words. Values below [`LEAST`] are
//! ignored, because they occur in other words and phrases (一样, one of them). Ordinals, fractions and "dozen" are ignored.
//!
//! ```text
//! "一千二百户, 十九日"                                -> 1200  19
//! "seven thousand tons, forty-one ships, two men"   -> 7000  41
//! "сто двадцать пять рублей, сорока дней"           -> 125  40
//! ```

/// The smallest number that is recognized.
pub const LEAST: u64 = 11;

/// The minimum length of a sequence of Chinese digits without units that counts as a number, for example a year.
const LEAST_DIGITS: usize = 4;
/// The maximum length of a sequence of Chinese digits that counts as a number.
const MOST_DIGITS: usize = 18;

/// Returns the byte position and the value of each number written in words in normalized text, in order.
pub fn number_words(text: &str) -> Vec<(usize, u64)> {
    let mut found = Vec::new();
    let mut spoken = Spoken::default();
    let mut at = 0;
    // The end of the previous word.
    let mut last = 0;
    while let Some((c, next)) = character_at(text, at) {
        let start = at;
        at = next;
        if c == ' ' {
            continue;
        }
        if is_numeral(c) {
            while let Some((_, next)) = character_at(text, at).filter(|(c, _)| is_numeral(*c)) {
                at = next;
            }
            let value = of_numerals(&text[start..at]).filter(|value| *value >= LEAST);
            spoken.end(&mut found);
            found.extend(value.map(|value| (start, value)));
            last = at;
        } else if is_letter(c) {
            at = word_end(text, at);
            if spoken.last.is_some() && !matches!(&text[last..start], " " | "-") {
                spoken.end(&mut found);
            }
            if spoken.last.is_some() || may_be_part(&text.as_bytes()[start..at]) {
                spoken.word(start, &text[start..at], &mut found);
            }
            last = at;
        }
    }
    spoken.end(&mut found);
    found
}

/// Returns the end of the word that goes on at a position.
fn word_end(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        // Words in English need no look at whole characters.
        while bytes.get(at).is_some_and(u8::is_ascii_lowercase) {
            at += 1;
        }
        match character_at(text, at) {
            Some((c, next)) if is_in_word(c) && !is_numeral(c) => at = next,
            _ => return at,
        }
    }
}

/// Returns the character at a position, and the position after it. The characters of most text are decoded without a loop or a call.
#[inline(always)]
fn character_at(text: &str, at: usize) -> Option<(char, usize)> {
    let decoded = match *text.as_bytes().get(at..)? {
        [first @ ..0x80, ..] => return Some((first as char, at + 1)),
        [first @ 0xC0..0xE0, second, ..] => (u32::from(first & 0x1F) << 6 | u32::from(second & 0x3F), at + 2),
        [first @ 0xE0..0xF0, second, third, ..] => {
            (u32::from(first & 0xF) << 12 | u32::from(second & 0x3F) << 6 | u32::from(third & 0x3F), at + 3)
        }
        _ => {
            let c = text[at..].chars().next()?;
            (c as u32, at + c.len_utf8())
        }
    };
    Some((char::from_u32(decoded.0)?, decoded.1))
}

/// Like `char::is_alphabetic`, but without a table lookup for the most common letters.
#[inline]
fn is_letter(c: char) -> bool {
    is_common_letter(c) || c.is_alphabetic()
}

/// Like `char::is_alphanumeric`, but without a table lookup for the most common letters.
#[inline]
fn is_in_word(c: char) -> bool {
    is_common_letter(c) || c.is_alphanumeric()
}

#[inline]
fn is_common_letter(c: char) -> bool {
    matches!(c, 'a'..='z' | 'а'..='я' | '\u{4E00}'..='\u{9FFF}')
}

/// Returns whether a character is a Chinese numeral. The low six bits of most other characters rule them out.
#[inline]
fn is_numeral(c: char) -> bool {
    const LOW: u64 = {
        let mut bits = 0;
        let mut rest: &[char] = &NUMERALS;
        while let [first, others @ ..] = rest {
            bits |= 1 << (*first as u32 & 63);
            rest = others;
        }
        bits
    };
    c >= '〇' && LOW >> (c as u32 & 63) & 1 == 1 && (digit(c).is_some() || unit(c).is_some() || group(c).is_some())
}

/// All characters that [`digit`], [`unit()`] or [`group`] knows.
const NUMERALS: [char; 20] = [
    '〇', '零', '一', '二', '两', '兩', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千', '万', '萬', '亿',
    '億',
];

fn digit(c: char) -> Option<u64> {
    Some(match c {
        '〇' | '零' => 0,
        '一' => 1,
        '二' | '两' | '兩' => 2,
        '三' => 3,
        '四' => 4,
        '五' => 5,
        '六' => 6,
        '七' => 7,
        '八' => 8,
        '九' => 9,
        _ => return None,
    })
}

fn unit(c: char) -> Option<u64> {
    Some(match c {
        '十' => 10,
        '百' => 100,
        '千' => 1000,
        _ => return None,
    })
}

fn group(c: char) -> Option<u64> {
    Some(match c {
        '万' | '萬' => 10_000,
        '亿' | '億' => 100_000_000,
        _ => return None,
    })
}

/// Returns the value of a sequence of Chinese numerals, which must consist of digits without units, or of digits with
/// units in descending order. Returns `None` for any other sequence.
fn of_numerals(row: &str) -> Option<u64> {
    let count = row.chars().count();
    // 两 is a digit only before a unit.
    if row.chars().all(|c| digit(c).is_some() && !matches!(c, '两' | '兩')) {
        let value = |row: &str| row.chars().filter_map(digit).fold(0, |value, digit| 10 * value + digit);
        return (LEAST_DIGITS..=MOST_DIGITS).contains(&count).then(|| value(row));
    }
    let (mut total, mut section, mut single, mut smallest) = (0_u64, 0_u64, None, u64::MAX);
    for c in row.chars() {
        if let Some(digit) = digit(c) {
            if single.is_some() {
                return None;
            }
            single = Some(digit).filter(|digit| *digit > 0);
        } else if let Some(unit) = unit(c) {
            // Ten is the only unit that may appear without a digit before it.
            let digit = single.take().or((unit == 10).then_some(1))?;
            if unit >= smallest {
                return None;
            }
            section += digit * unit;
            smallest = unit;
        } else if let Some(group) = group(c) {
            section += single.take().unwrap_or(0);
            // 亿 multiplies everything before it, as in 一万亿.
            let (value, before) = if group > 10_000 { (total.checked_add(section)?, 0) } else { (section, total) };
            if value == 0 {
                return None;
            }
            total = before.checked_add(value.checked_mul(group)?)?;
            (section, smallest) = (0, u64::MAX);
        }
    }
    total.checked_add(section + single.unwrap_or(0))
}

/// The part of a number that a word stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A number from 1 to 9.
    Unit(u64),
    /// A number from 10 to 19.
    Teen(u64),
    /// A multiple of ten, from 20 to 90.
    Tens(u64),
    /// A multiple of 100, from 100 to 900, in one Russian word.
    Hundreds(u64),
    /// The English word "hundred", which follows a smaller number.
    Hundred,
    /// Thousand, million, billion.
    Group(u64),
}

/// A number that is being read word by word.
#[derive(Debug, Default)]
struct Spoken {
    start: usize,
    /// The value of the groups that were read; `section` is the value after the last group.
    total: u64,
    section: u64,
    last: Option<Part>,
    /// The last group; the next group must be smaller.
    group: Option<u64>,
}

impl Spoken {
    /// Reads the next word. If the word does not continue the current number, adds that number to `found`.
    fn word(&mut self, start: usize, word: &str, found: &mut Vec<(usize, u64)>) {
        // The word "and" is skipped in "one hundred and twenty".
        if word == "and" && matches!(self.last, Some(Part::Hundred | Part::Group(_))) {
            return;
        }
        let Some(part) = part(word) else { return self.end(found) };
        if !self.continues(part) {
            self.end(found);
            // A multiplier without a number before it, as in "thousands of", is not a number.
            if matches!(part, Part::Hundred | Part::Group(_)) {
                return;
            }
            self.start = start;
        }
        match part {
            Part::Unit(value) | Part::Teen(value) | Part::Tens(value) | Part::Hundreds(value) => self.section += value,
            Part::Hundred => self.section *= 100,
            Part::Group(group) => {
                self.total += self.section * group;
                (self.section, self.group) = (0, Some(group));
            }
        }
        self.last = Some(part);
    }

    fn continues(&self, part: Part) -> bool {
        match (self.last, part) {
            (None, _) => false,
            (Some(Part::Tens(_)), Part::Unit(_)) => true,
            (
                Some(Part::Hundred | Part::Hundreds(_) | Part::Group(_)),
                Part::Unit(_) | Part::Teen(_) | Part::Tens(_),
            )
            | (Some(Part::Group(_)), Part::Hundreds(_)) => true,
            (Some(Part::Unit(_) | Part::Teen(_)), Part::Hundred) => self.section < 100,
            (Some(Part::Group(_)), Part::Group(_)) => false,
            (Some(_), Part::Group(group)) => self.group.is_none_or(|last| group < last),
            _ => false,
        }
    }

    /// Ends the number that is being read, if there is one.
    fn end(&mut self, found: &mut Vec<(usize, u64)>) {
        let Spoken { start, total, section, last, .. } = std::mem::take(self);
        let value = total + section;
        if last.is_some() && value >= LEAST {
            found.push((start, value));
        }
    }
}

/// Returns `false` for most words that [`part`] does not know, without comparing them with each word that it knows.
#[inline]
fn may_be_part(word: &[u8]) -> bool {
    let [first, second, third, ..] = *word else { return false };
    match first {
        b'a'..=b'z' => word.len() <= LONGEST_ENGLISH && FIRST_OF_ENGLISH >> (first - b'a') & 1 == 1,
        // The Russian number words begin with о, д, п, в, м, т, ч, ш or с.
        0xD0 => matches!(second, 0xBE | 0xB4 | 0xBF | 0xB2 | 0xBC) && matches!(third, 0xD0 | 0xD1),
        0xD1 => matches!(second, 0x82 | 0x87 | 0x88 | 0x81) && matches!(third, 0xD0 | 0xD1),
        _ => false,
    }
}

/// The number of letters of "seventeen", the longest English number word.
const LONGEST_ENGLISH: usize = 9;
/// The first letters of the English number words, one bit per letter of the alphabet.
const FIRST_OF_ENGLISH: u32 = {
    let (letters, mut bits, mut at) = (b"otfsenhmb", 0, 0);
    while at < letters.len() {
        bits |= 1 << (letters[at] - b'a');
        at += 1;
    }
    bits
};

/// Returns the part of a number that an English or Russian word stands for; `None` if the word is not a number word.
fn part(word: &str) -> Option<Part> {
    // The shortest number words are "one" and "сто", and the longest is "четырнадцатью".
    if !(3..=26).contains(&word.len()) {
        return None;
    }
    Some(match word.as_bytes() {
        b"one" => Part::Unit(1),
        b"two" => Part::Unit(2),
        b"three" => Part::Unit(3),
        b"four" => Part::Unit(4),
        b"five" => Part::Unit(5),
        b"six" => Part::Unit(6),
        b"seven" => Part::Unit(7),
        b"eight" => Part::Unit(8),
        b"nine" => Part::Unit(9),
        b"ten" => Part::Teen(10),
        b"eleven" => Part::Teen(11),
        b"twelve" => Part::Teen(12),
        b"thirteen" => Part::Teen(13),
        b"fourteen" => Part::Teen(14),
        b"fifteen" => Part::Teen(15),
        b"sixteen" => Part::Teen(16),
        b"seventeen" => Part::Teen(17),
        b"eighteen" => Part::Teen(18),
        b"nineteen" => Part::Teen(19),
        b"twenty" => Part::Tens(20),
        b"thirty" => Part::Tens(30),
        b"forty" => Part::Tens(40),
        b"fifty" => Part::Tens(50),
        b"sixty" => Part::Tens(60),
        b"seventy" => Part::Tens(70),
        b"eighty" => Part::Tens(80),
        b"ninety" => Part::Tens(90),
        b"hundred" => Part::Hundred,
        b"thousand" => Part::Group(1000),
        b"million" => Part::Group(1_000_000),
        b"billion" => Part::Group(1_000_000_000),
        [0xD0 | 0xD1, ..] => return russian_part(word),
        _ => return None,
    })
}

fn russian_part(word: &str) -> Option<Part> {
    Some(match word {
        "один" | "одна" | "одно" | "одного" | "одной" | "одну" => Part::Unit(1),
        "два" | "две" | "двух" | "двум" | "двумя" => Part::Unit(2),
        "три" | "трех" | "трёх" | "трем" | "трём" | "тремя" => Part::Unit(3),
        "четыре" | "четырех" | "четырёх" | "четырем" | "четырём" | "четырьмя" => {
            Part::Unit(4)
        }
        "пять" | "пяти" | "пятью" => Part::Unit(5),
        "шесть" | "шести" | "шестью" => Part::Unit(6),
        "семь" | "семи" | "семью" => Part::Unit(7),
        "восемь" | "восьми" | "восемью" => Part::Unit(8),
        "девять" | "девяти" | "девятью" => Part::Unit(9),
        "десять" | "десяти" | "десятью" => Part::Teen(10),
        "одиннадцать" | "одиннадцати" | "одиннадцатью" => Part::Teen(11),
        "двенадцать" | "двенадцати" | "двенадцатью" => Part::Teen(12),
        "тринадцать" | "тринадцати" | "тринадцатью" => Part::Teen(13),
        "четырнадцать" | "четырнадцати" | "четырнадцатью" => Part::Teen(14),
        "пятнадцать" | "пятнадцати" | "пятнадцатью" => Part::Teen(15),
        "шестнадцать" | "шестнадцати" | "шестнадцатью" => Part::Teen(16),
        "семнадцать" | "семнадцати" | "семнадцатью" => Part::Teen(17),
        "восемнадцать" | "восемнадцати" | "восемнадцатью" => Part::Teen(18),
        "девятнадцать" | "девятнадцати" | "девятнадцатью" => Part::Teen(19),
        "двадцать" | "двадцати" | "двадцатью" => Part::Tens(20),
        "тридцать" | "тридцати" | "тридцатью" => Part::Tens(30),
        "сорок" | "сорока" => Part::Tens(40),
        "пятьдесят" | "пятидесяти" => Part::Tens(50),
        "шестьдесят" | "шестидесяти" => Part::Tens(60),
        "семьдесят" | "семидесяти" => Part::Tens(70),
        "восемьдесят" | "восьмидесяти" => Part::Tens(80),
        "девяносто" | "девяноста" => Part::Tens(90),
        "сто" | "ста" => Part::Hundreds(100),
        "двести" | "двухсот" => Part::Hundreds(200),
        "триста" | "трехсот" | "трёхсот" => Part::Hundreds(300),
        "четыреста" | "четырехсот" | "четырёхсот" => Part::Hundreds(400),
        "пятьсот" | "пятисот" => Part::Hundreds(500),
        "шестьсот" | "шестисот" => Part::Hundreds(600),
        "семьсот" | "семисот" => Part::Hundreds(700),
        "восемьсот" | "восьмисот" => Part::Hundreds(800),
        "девятьсот" | "девятисот" => Part::Hundreds(900),
        "тысяча" | "тысячи" | "тысячу" | "тысяч" => Part::Group(1000),
        "миллион" | "миллиона" | "миллионов" => Part::Group(1_000_000),
        "миллиард" | "миллиарда" | "миллиардов" => Part::Group(1_000_000_000),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<u64> {
        number_words(text).into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn chinese_numerals() {
        assert_eq!(of("一千二百户居民, 十九日, 估计费用七十五万元"), [1200, 19, 750_000]);
        assert_eq!(
            of("二〇〇三年 一九九八年 三亿五千万 一万零三十 一万亿"),
            [2003, 1998, 350_000_000, 10_030, 1_000_000_000_000]
        );
        assert_eq!(of("兩千萬 百分之十五 二十"), [20_000_000, 15, 20]);
        // These are not recognized: other words, two digits without a unit, units in the wrong order, and small numbers.
        assert_eq!(of("千万 万一 一一 五四运动 三三两两 十分 一样 百姓 八日 一十百"), [0; 0]);
        assert_eq!(of("九".repeat(30).as_str()), [0; 0]);
        assert_eq!(of(&"亿".repeat(9)), [0; 0]);
        assert_eq!(of("九千亿亿亿亿 一万万"), [0; 0]);
    }

    #[test]
    fn english_words() {
        assert_eq!(of("forty-one ships, seven thousand tons, one hundred and twenty men"), [41, 7000, 120]);
        assert_eq!(
            of("nineteen hundred; two million three hundred thousand five; nineteen ninety-eight"),
            [1900, 2_300_005, 19, 98]
        );
        assert_eq!(of("twelve, thirteen fourteen"), [12, 13, 14]);
        assert_eq!(of("one of them, ten men, thousands, a hundred, a thousand, seventeens, and nine"), [0; 0]);
        assert_eq!(of("one hundred and then; twenty. five; twenty, five"), [100, 20, 20]);
    }

    #[test]
    fn russian_words() {
        assert_eq!(of("сто двадцать пять рублей, сорока дней, двух тысяч пятисот"), [125, 40, 2500]);
        assert_eq!(of("три миллиона двести тысяч одиннадцать; два; семью; тысячи людей"), [3_200_011]);
        assert_eq!(of("трёхсот тридцати трёх"), [333]);
    }

    /// Checks the words that `part` knows, as they stand in this file.
    #[test]
    fn every_number_word_may_be_one() {
        let quoted = include_str!("number_words.rs").split('"').skip(1).step_by(2);
        let known: Vec<&str> = quoted.filter(|word| part(word).is_some()).collect();
        assert!(known.len() > 140 && known.contains(&"seventeen") && known.contains(&"миллиардов"), "{known:?}");
        assert!(known.iter().all(|word| may_be_part(word.as_bytes())), "{known:?}");
    }

    #[test]
    fn positions_are_those_of_the_first_word() {
        assert_eq!(number_words("a 十九日 and forty-one"), [(2, 19), (16, 41)]);
    }

    #[test]
    fn common_letters_are_letters() {
        let all = (0..=u32::from(char::MAX)).filter_map(char::from_u32);
        assert!(all.clone().filter(|c| is_common_letter(*c)).all(char::is_alphabetic));
        let known = |c: &char| digit(*c).or(unit(*c)).or(group(*c)).is_some();
        assert_eq!(all.clone().filter(known).min(), Some('〇'));
        assert!(all.clone().filter(known).eq({
            let mut numerals = NUMERALS;
            numerals.sort_unstable();
            numerals
        }));
        assert!(all.clone().all(|c| is_numeral(c) == known(&c) && is_letter(c) == c.is_alphabetic()));
        assert!(all.clone().all(|c| is_in_word(c) == c.is_alphanumeric()));
        let text: String = all.collect();
        assert!(text.char_indices().all(|(at, c)| character_at(&text, at) == Some((c, at + c.len_utf8()))));
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_numbers_in_order(text in "(one|two|twenty|hundred|thousand|billion|and|сто|тысяч|九|万|亿|百|十|零|-| |a|1){0,40}") {
            let found = number_words(&text);
            proptest::prop_assert!(found.is_sorted_by(|a, b| a.0 < b.0));
            proptest::prop_assert!(found.iter().all(|&(at, value)| value >= LEAST && text.is_char_boundary(at)));
        }
    }
}
