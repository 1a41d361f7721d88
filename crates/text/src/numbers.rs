//! Finds numbers in text. Two pages from the same template have the same words but different numbers.

use std::borrow::Cow;

/// The thousands separators, except the comma.
const GROUP_MARKS: [&str; 3] = [" ", "'", "\u{2019}"];
/// The character between the numerator and the denominator of a fraction.
const FRACTION_SLASH: &str = "\u{2044}";
/// The signs of exponents.
const EXPONENT_SIGNS: [&str; 3] = ["+", "-", "\u{2212}"];
/// The maximum number of three-digit groups in a number. A longer sequence of groups is a list of numbers.
const MAX_GROUPS: usize = 3;

/// Returns the numbers in normalized text, in order and as written. A number consists of digits, with a single `.`, `,` or `:` between two
/// digits. A number may contain groups of three digits, each after a space or an apostrophe (`1 200`), unless the next word is also a
/// number, as in a list. An exponent or a fraction belongs to the number before it.
///
/// ```text
/// "v1.2.3 от 15.03.2024, 12:30; 1,5 млн (3), 1 200" -> 1.2.3  15.03.2024  12:30  1,5  3  1 200
/// "10^6, 10^−6, 1 1⁄2" -> 10^6  10^−6  1 1⁄2
/// ```
pub fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = 0;
    std::iter::from_fn(move || {
        at = next_digit(bytes, at);
        let start = at;
        if let Some(end) = grouped_end(bytes, start) {
            at = end;
            return Some(&text[start..end]);
        }
        while digit(at) || (at > start && matches!(bytes.get(at), Some(b'.' | b',' | b':')) && digit(at + 1)) {
            at += 1;
        }
        if at > start {
            at = exponent_end(bytes, at).or_else(|| fraction_end(bytes, at)).unwrap_or(at);
        }
        // The number begins and ends with ASCII characters, so both ends are character boundaries.
        (at > start).then(|| &text[start..at])
    })
}

/// Returns the position of the first digit at or after `at`, or the length.
fn next_digit(bytes: &[u8], mut at: usize) -> usize {
    // The compiler turns a test of many bytes without a branch between them into vector code.
    while let Some((chunk, _)) = bytes[at..].split_first_chunk::<32>()
        && !chunk.iter().fold(false, |any, byte| any | byte.is_ascii_digit())
    {
        at += chunk.len();
    }
    at + bytes[at..].iter().take_while(|byte| !byte.is_ascii_digit()).count()
}

/// Returns the number of digits at a position.
fn digits_at(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the end of the exponent after a number that ends at `end`, if there is one.
fn exponent_end(bytes: &[u8], end: usize) -> Option<usize> {
    let exponent = bytes[end..].strip_prefix(b"^")?;
    let sign = EXPONENT_SIGNS.iter().find(|sign| exponent.starts_with(sign.as_bytes())).map_or(0, |sign| sign.len());
    let start = end + 1 + sign;
    Some(start + digits_at(bytes, start)).filter(|end| *end > start)
}

/// Returns the end of the fraction after a number that ends at `end`, if there is one: `⁄2` after 1, or ` 1⁄2`.
fn fraction_end(bytes: &[u8], end: usize) -> Option<usize> {
    let numerator = if bytes[end..].starts_with(b" ") { 1 + digits_at(bytes, end + 1) } else { 0 };
    let start = end + numerator + FRACTION_SLASH.len();
    let is_fraction = numerator != 1 && bytes[end + numerator..].starts_with(FRACTION_SLASH.as_bytes());
    is_fraction.then(|| start + digits_at(bytes, start)).filter(|end| *end > start)
}

/// Returns the end of the number that begins at `start`, if the number uses a space or an apostrophe as its thousands separator. Such a
/// number consists of one to three digits, up to [`MAX_GROUPS`] groups of three digits, optional decimal places and an optional fraction.
fn grouped_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |from: usize| digits_at(bytes, from);
    let first = digits(start);
    let in_word = start > 0 && bytes[start - 1].is_ascii_alphanumeric();
    let behind_number = start > 1 && bytes[start - 1] == b' ' && bytes[start - 2].is_ascii_digit();
    if !(1..=3).contains(&first) || bytes[start] == b'0' || in_word || behind_number {
        return None;
    }
    let mut end = start + first;
    let mark = GROUP_MARKS.map(str::as_bytes).into_iter().find(|mark| bytes[end..].starts_with(mark))?;
    let mut groups = 0;
    while bytes[end..].starts_with(mark) && digits(end + mark.len()) == 3 {
        end += mark.len() + 3;
        groups += 1;
    }
    let before_digit =
        |at: usize, marks: &[u8]| bytes.get(at).is_some_and(|byte| marks.contains(byte)) && digits(at + 1) > 0;
    let is_numerator = bytes[end..].starts_with(FRACTION_SLASH.as_bytes());
    if is_numerator && groups > 0 {
        // The last group is the numerator of the fraction.
        end -= mark.len() + 3;
        groups -= 1;
    } else if before_digit(end, b".,") {
        end += 1 + digits(end + 1);
    }
    if !(1..=MAX_GROUPS).contains(&groups) {
        return None;
    }
    fraction_end(bytes, end).or_else(|| (!is_numerator && !before_digit(end, b".,: ")).then_some(end))
}

/// Removes the thousands separators from a number returned by [`numbers`], so that `1,200`, `1 200` and `1200` are equal.
pub fn value(number: &str) -> Cow<'_, str> {
    if number.contains(FRACTION_SLASH) {
        return match number.rsplit_once(' ') {
            Some((whole, fraction)) => Cow::Owned(format!("{} {fraction}", value(whole))),
            None => Cow::Borrowed(number),
        };
    }
    if let Some(mark) = GROUP_MARKS.into_iter().find(|mark| number.contains(mark)) {
        return Cow::Owned(number.replace(mark, ""));
    }
    if is_grouped_by_commas(number) { Cow::Owned(number.replace(',', "")) } else { Cow::Borrowed(number) }
}

fn is_grouped_by_commas(number: &str) -> bool {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && whole.len() > first.len()
        && groups.all(|group| group.len() == 3 && !group.contains(':'))
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_digits_are_one_number() {
        let of = |text: &'static str| numbers(text).map(value).collect::<Vec<_>>();
        for text in ["cost 1,200,", "cost 1 200.", "cost 1'200", "cost 1\u{2019}200 p", "cost 1200"] {
            assert_eq!(of(text), ["1200"], "{text}");
        }
        for text in ["12 345 678,90", "12345678,90"] {
            assert_eq!(of(text), ["12345678,90"]);
        }
        assert_eq!(of("1,234,567.5 and 1 234 567.5"), ["1234567.5", "1234567.5"]);
        // The digits of years, lists, phone numbers, addresses, times, decimals and names are not grouped.
        assert_eq!(of("2024 200"), ["2024", "200"]);
        assert_eq!(of("100 200 300 400 500"), ["100", "200", "300", "400", "500"]);
        assert_eq!(of("8 800 555 35 35"), ["8", "800", "555", "35", "35"]);
        assert_eq!(of("5 100 1200 7 200"), ["5", "100", "1200", "7", "200"]);
        assert_eq!(of("10 192.168.0.1, 5 100:30"), ["10", "192.168.0.1", "5", "100:30"]);
        assert_eq!(
            of("0,200; 0 200; 1,5; 1,2000; 1,200,50; v5 200; 3 1000"),
            ["0,200", "0", "200", "1,5", "1,2000", "1,200,50", "5", "200", "3", "1000"]
        );
        assert_eq!(of("1,200:30 12,30:200 1.200"), ["1,200:30", "12,30:200", "1.200"]);
    }

    #[test]
    fn as_they_are_written() {
        let of = |text: &'static str| numbers(text).collect::<Vec<_>>();
        assert_eq!(of("v1.2.3 от 15.03.2024, 12:30; 1,5 млн (3)"), ["1.2.3", "15.03.2024", "12:30", "1,5", "3"]);
        assert_eq!(of("2024年5月7日"), ["2024", "5", "7"]);
        assert_eq!(of("1..2 .5 6. 7,,8"), ["1", "2", "5", "6", "7", "8"]);
        assert!(of("нет, no: ни.одного").is_empty() && of("").is_empty());
    }

    #[test]
    fn exponents_and_fractions_belong_to_the_number_before_them() {
        let of = |text: &'static str| numbers(text).map(value).collect::<Vec<_>>();
        assert_eq!(of("10^6 10^-6 10^\u{2212}6 10^+6"), ["10^6", "10^-6", "10^\u{2212}6", "10^+6"]);
        assert_eq!(of("1.5^2, 2^n, 2^ 5, x^2"), ["1.5^2", "2", "2", "5", "2"]);
        assert_eq!(
            of("1 1\u{2044}2, 1\u{2044}2; 3 100\u{2044}200"),
            ["1 1\u{2044}2", "1\u{2044}2", "3 100\u{2044}200"]
        );
        assert_eq!(of("1 \u{2044}2 3\u{2044}x 4 5"), ["1", "2", "3", "4", "5"]);
        for text in ["1 200 1\u{2044}2", "1,200 1\u{2044}2", "1'200 1\u{2044}2", "1200 1\u{2044}2"] {
            assert_eq!(of(text), ["1200 1\u{2044}2"], "{text}");
        }
        assert_eq!(of("1 200 100\u{2044}300"), ["1200 100\u{2044}300"]);
        assert_eq!(of("5 1 200 1\u{2044}2"), ["5", "1", "200 1\u{2044}2"], "a list");
        assert_eq!(of("1'200'300\u{2044}400"), ["1", "200", "300\u{2044}400"]);
    }

    proptest::proptest! {
        #[test]
        fn each_begins_and_ends_with_a_digit(text in "[0-9.,: 'a年^\u{2212}\u{2044}-]{0,20}") {
            for number in numbers(&text) {
                let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
                proptest::prop_assert!(digit(number.as_bytes().first()) && digit(number.as_bytes().last()));
            }
            let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
            proptest::prop_assert_eq!(numbers(&text).map(digits).sum::<usize>(), digits(&text));
        }
    }
}
