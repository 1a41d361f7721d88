//! Finds numbers in text. Two pages from the same template have the same words but different numbers.
//!
//! The text is normalized, so its digits are ASCII digits in every script. Two numbers are equal if their [`value`] is equal: a sign, an
//! exponent, a currency sign, a per mille sign or a comparison belongs to the number, and the way in which a number is written does not.

use std::borrow::Cow;

use icu_properties::props::GeneralCategory;
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};

/// The thousands separators, except the comma and the period.
const GROUP_MARKS: [&str; 3] = [" ", "'", "\u{2019}"];
/// The character between the numerator and the denominator of a fraction.
const FRACTION_SLASH: &str = "\u{2044}";
/// The minus signs: hyphen, minus, en dash.
const MINUS: [char; 3] = ['-', '\u{2212}', '\u{2013}'];
/// The signs of exponents.
const EXPONENT_SIGNS: [&str; 3] = ["+", "-", "\u{2212}"];
/// The comparisons that may precede a number.
const COMPARISONS: [char; 4] = ['<', '>', '\u{2264}', '\u{2265}'];
/// The sign after a number of thousandths.
const PER_MILLE: char = '\u{2030}';
/// The maximum number of three-digit groups in a number. A longer sequence of groups is a list of numbers.
const MAX_GROUPS: usize = 3;
/// The largest exponent that is replaced with zeros.
const MAX_EXPONENT: i32 = 30;

const CATEGORY: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();

/// Returns the numbers in normalized text, in order and as written. A number consists of digits, with a single `.`, `,` or `:` between two
/// digits. A number may contain groups of three digits, each after a space or an apostrophe (`1 200`), unless the next word is also a
/// number, as in a list. An exponent or a fraction belongs to the number before it. A date in digits is one number. A sign, a currency
/// sign, a per mille sign and a comparison next to the digits belong to the number.
///
/// ```text
/// "v1.2.3 от 15.03.2024, 12:30; 1,5 млн (3), 1 200" -> 1.2.3  15.03.2024  12:30  1,5  3  1 200
/// "10^6, 10^−6, 1 1⁄2, 1.5e3, 2020-11-12"           -> 10^6  10^−6  1 1⁄2  1.5e3  2020-11-12
/// "-41, .5, >41, 41‰, $41, 41 €, a-41"              -> -41  .5  >41  41‰  $41  41 €  41
/// ```
pub fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    // The position in the text, which is also the end of the number before it.
    let mut at = 0;
    std::iter::from_fn(move || {
        let last = at;
        at = next_digit(bytes, at);
        if at == bytes.len() {
            return None;
        }
        let digits = at;
        at = digits_end(bytes, digits);
        let (start, has_currency) = prefix_start(text, last, digits);
        at = suffix_end(text, at, has_currency);
        // The number begins and ends with complete characters.
        Some(&text[start..at])
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

/// Returns the end of the number whose digits begin at `start`.
fn digits_end(bytes: &[u8], start: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    if let Some(end) = grouped_end(bytes, start).or_else(|| date_end(bytes, start)) {
        return end;
    }
    let mut end = start;
    while digit(end) || (end > start && matches!(bytes.get(end), Some(b'.' | b',' | b':')) && digit(end + 1)) {
        end += 1;
    }
    exponent_end(bytes, end)
        .or_else(|| fraction_end(bytes, end))
        .or_else(|| power_end(bytes, start, end))
        .unwrap_or(end)
}

/// Returns the number of digits at a position.
fn digits_at(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether the digits at `start` are part of a word.
fn is_in_word(bytes: &[u8], start: usize) -> bool {
    start > 0 && bytes[start - 1].is_ascii_alphanumeric()
}

/// Returns the end of the exponent after a number that ends at `end`, if there is one.
fn exponent_end(bytes: &[u8], end: usize) -> Option<usize> {
    let exponent = bytes[end..].strip_prefix(b"^")?;
    let sign = EXPONENT_SIGNS.iter().find(|sign| exponent.starts_with(sign.as_bytes())).map_or(0, |sign| sign.len());
    let start = end + 1 + sign;
    Some(start + digits_at(bytes, start)).filter(|end| *end > start)
}

/// Returns the end of a power of ten such as `e3` or `e-6` after a number, unless the number is part of a word.
fn power_end(bytes: &[u8], start: usize, end: usize) -> Option<usize> {
    if is_in_word(bytes, start) || bytes[start..end].contains(&b':') {
        return None;
    }
    let power = bytes[end..].strip_prefix(b"e")?;
    let sign = EXPONENT_SIGNS.iter().find(|sign| power.starts_with(sign.as_bytes())).map_or(0, |sign| sign.len());
    let from = end + 1 + sign;
    let count = digits_at(bytes, from);
    let goes_on = bytes.get(from + count).is_some_and(|&next| next.is_ascii_alphabetic() || next >= 0x80);
    ((1..=3).contains(&count) && !goes_on).then_some(from + count)
}

/// Returns the end of the fraction after a number that ends at `end`, if there is one: `⁄2` after 1, or ` 1⁄2`.
fn fraction_end(bytes: &[u8], end: usize) -> Option<usize> {
    let numerator = if bytes[end..].starts_with(b" ") { 1 + digits_at(bytes, end + 1) } else { 0 };
    let start = end + numerator + FRACTION_SLASH.len();
    let is_fraction = numerator != 1 && bytes[end + numerator..].starts_with(FRACTION_SLASH.as_bytes());
    is_fraction.then(|| start + digits_at(bytes, start)).filter(|end| *end > start)
}

/// Returns the end of a date of three numbers with a hyphen or a slash between them, of which the first or the last one is a year.
fn date_end(bytes: &[u8], start: usize) -> Option<usize> {
    let first = digits_at(bytes, start);
    let mark = *bytes.get(start + first).filter(|mark| matches!(mark, b'-' | b'/'))?;
    let second = digits_at(bytes, start + first + 1);
    let third_at = start + first + 1 + second + 1;
    let third = digits_at(bytes, third_at);
    let is_date =
        matches!((first, second, third), (4, 1..=2, 1..=2) | (1..=2, 1..=2, 4)) && bytes[third_at - 1] == mark;
    let is_behind = start > 1 && bytes[start - 1] == mark && bytes[start - 2].is_ascii_digit();
    let end = third_at + third;
    let goes_on = bytes.get(end) == Some(&mark) && digits_at(bytes, end + 1) > 0;
    (is_date && !is_behind && !goes_on && !is_in_word(bytes, start)).then_some(end)
}

/// Returns the end of the number that begins at `start`, if the number uses a space or an apostrophe as its thousands separator. Such a
/// number consists of one to three digits, up to [`MAX_GROUPS`] groups of three digits, optional decimal places and an optional fraction.
fn grouped_end(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |from: usize| digits_at(bytes, from);
    let first = digits(start);
    let behind_number = start > 1 && bytes[start - 1] == b' ' && bytes[start - 2].is_ascii_digit();
    if !(1..=3).contains(&first) || bytes[start] == b'0' || is_in_word(bytes, start) || behind_number {
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

/// Returns where a number begins whose digits begin at `digits`, with the signs before it, and whether these contain a currency sign. The
/// number before it ends at `last`.
fn prefix_start(text: &str, last: usize, digits: usize) -> (usize, bool) {
    if digits == last {
        return (digits, false);
    }
    let before = |at: usize| text[last..at].chars().next_back();
    let opens = |c: char| matches!(c, ' ' | '(' | '[' | '{' | '=' | ':' | ',' | ';' | '/' | '*' | '^' | '~' | '±');
    let mut start = digits;
    if before(start) == Some('.') {
        let behind = before(start - 1);
        let may_begin = |c: char| opens(c) || MINUS.contains(&c) || COMPARISONS.contains(&c) || is_currency(c);
        if behind.map_or(start - 1 == 0, may_begin) {
            start -= 1;
        }
    }
    let currency = before(start).filter(|c| is_currency(*c));
    start -= currency.map_or(0, char::len_utf8);
    if let Some(minus) = before(start).filter(|c| MINUS.contains(c)) {
        let behind = start - minus.len_utf8();
        // A minus after a number is part of a range (`10 -15`).
        let is_range = last > 0 && text[last..behind].trim_end_matches(' ').is_empty();
        if !is_range && before(behind).is_none_or(|c| opens(c) || COMPARISONS.contains(&c)) {
            start = behind;
        }
    }
    let compared = text[last..start].trim_end_matches(' ');
    let compared = compared.strip_suffix('=').filter(|left| left.ends_with(['<', '>'])).unwrap_or(compared);
    if let Some(sign) = compared.chars().next_back().filter(|c| COMPARISONS.contains(c)) {
        let rest = &compared[..compared.len() - sign.len_utf8()];
        // A `>` with a space after it may begin a quotation, and one without may end a tag or an arrow.
        let is_adjacent = !text[last + compared.len()..start].contains(' ');
        let is_plain = sign != '>' || (is_adjacent && !is_tag(rest) && !rest.ends_with(['-', '=', '>']));
        if is_plain && !rest.ends_with('<') {
            start = last + rest.len();
        }
    }
    (start, currency.is_some())
}

/// Returns whether the end of a text is a tag of HTML without its `>`.
fn is_tag(text: &str) -> bool {
    let tail = &text.as_bytes()[text.len().saturating_sub(200)..];
    let open = tail.iter().rposition(|byte| matches!(byte, b'<' | b'>'));
    open.is_some_and(|at| {
        tail[at] == b'<' && tail.get(at + 1).is_some_and(|next| next.is_ascii_alphabetic() || *next == b'/')
    })
}

/// Returns the end of a number that ends at `end`, with the signs after it.
fn suffix_end(text: &str, end: usize, has_currency: bool) -> usize {
    let rest = &text[end..];
    let sign = rest.strip_prefix(' ').unwrap_or(rest);
    let Some(c) = sign.chars().next().filter(|c| *c == '$' || !c.is_ascii()) else { return end };
    let after = end + (rest.len() - sign.len()) + c.len_utf8();
    // A currency sign before the next number belongs to that number.
    let is_free = !text[after..].starts_with(char::is_alphanumeric);
    if c == PER_MILLE || (!has_currency && is_free && is_currency(c)) { after } else { end }
}

fn is_currency(c: char) -> bool {
    c == '$' || (c > '\u{7F}' && CATEGORY.get(c) == GeneralCategory::CurrencySymbol)
}

/// Returns the value of a number returned by [`numbers`] as text, so that `1,200`, `1 200`, `1.2e3` and `1200` are equal, but not `-1200`
/// and `$1200`. If it is not certain how a number must be read, the value is the number as it is written: `1.200` may be 1200 or 1.2.
pub fn value(number: &str) -> Cow<'_, str> {
    let core = number.trim_start_matches(|c: char| {
        MINUS.contains(&c) || COMPARISONS.contains(&c) || is_currency(c) || matches!(c, ' ' | '=')
    });
    let core = core.trim_end_matches(|c: char| c == PER_MILLE || is_currency(c) || c == ' ');
    let plain = plain_value(core);
    if core.len() == number.len() {
        return plain;
    }
    let (before, after) = number.split_once(core).unwrap_or_default();
    let comparison = before.chars().find(|c| COMPARISONS.contains(c)).map(|c| match c {
        '<' if before.contains('=') => '\u{2264}',
        '>' if before.contains('=') => '\u{2265}',
        c => c,
    });
    let mut value: String = comparison.into_iter().collect();
    value.extend(before.contains(MINUS).then_some('-'));
    value.push_str(&plain);
    value.extend(before.chars().chain(after.chars()).filter(|&c| c == PER_MILLE || is_currency(c)));
    Cow::Owned(value)
}

/// Returns the value of a number without signs around it.
fn plain_value(number: &str) -> Cow<'_, str> {
    if number.contains(FRACTION_SLASH) {
        return match number.rsplit_once(' ') {
            Some((whole, fraction)) => Cow::Owned(format!("{} {fraction}", plain_value(whole))),
            None => Cow::Borrowed(number),
        };
    }
    if let Some((number, power)) = number.split_once('^') {
        return Cow::Owned(format!("{}^{power}", plain_value(number)));
    }
    if let Some((number, power)) = number.split_once('e') {
        return Cow::Owned(times_power(&plain_value(number), power));
    }
    if let Some(mark) = number.chars().find(|c| matches!(c, '-' | '/')) {
        let parts: Vec<&str> = number.split(mark).map(|part| part.trim_start_matches('0')).collect();
        // The order of day and month is unknown if the year comes last.
        let mark = if parts[0].len() == 4 { "-" } else { "/" };
        return Cow::Owned(parts.join(mark));
    }
    if let Some(mark) = GROUP_MARKS.into_iter().find(|mark| number.contains(mark)) {
        let number = number.replace(mark, "");
        return Cow::Owned(decimal(number.split_once(['.', ',']), true).unwrap_or(number));
    }
    let (whole, fraction) = match number.rfind(['.', ',']) {
        Some(at) => (&number[..at], Some((number.as_bytes()[at], &number[at + 1..]))),
        None => return Cow::Borrowed(number),
    };
    // The last mark is a decimal mark if the whole part is grouped by the other mark, and no decimal mark if all marks separate groups.
    if let Some((mark, places)) = fraction
        && let Some(digits) = ungrouped(whole, if mark == b'.' { ',' } else { '.' })
    {
        return decimal(Some((&digits, places)), true).map_or(Cow::Borrowed(number), Cow::Owned);
    }
    if let Some(digits) = ungrouped(number, ',') {
        return Cow::Owned(digits);
    }
    if number.matches('.').count() > 1 {
        return ungrouped(number, '.').map_or(Cow::Borrowed(number), Cow::Owned);
    }
    let certain = fraction.is_some_and(|(mark, places)| mark == b'.' || places.len() < 3);
    let certain = certain && !whole.contains(',') || whole == "0";
    decimal(number.split_once(['.', ',']), false).filter(|_| certain).map_or(Cow::Borrowed(number), Cow::Owned)
}

/// Returns the digits of a number with marks between groups of three digits or, with commas, between groups of two digits and one last
/// group of three, as in India. Returns `None` for any other text.
fn ungrouped(number: &str, mark: char) -> Option<String> {
    let groups: Vec<&str> = number.split(mark).collect();
    let [first, inner @ .., last] = &groups[..] else { return None };
    let digits = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
    let of_three = (1..=3).contains(&first.len()) && inner.iter().all(|group| group.len() == 3);
    let of_two = mark == ',' && (1..=2).contains(&first.len()) && inner.iter().all(|group| group.len() == 2);
    let is_grouped = (of_three || of_two) && last.len() == 3 && !first.starts_with('0') && groups.iter().all(digits);
    is_grouped.then(|| groups.concat())
}

/// Returns a decimal number with a period and without zeros at its end. Returns `None` if a part is not a number or if the mark may separate
/// a group of three digits instead, unless the number is `grouped` by another mark.
fn decimal(parts: Option<(&str, &str)>, grouped: bool) -> Option<String> {
    let (whole, places) = parts?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let may_be_group = places.len() == 3 && (1..=3).contains(&whole.len()) && !whole.starts_with('0');
    if !digits(whole) || !digits(places) || places.is_empty() || (may_be_group && !grouped) {
        return None;
    }
    let (whole, places) = (if whole.is_empty() { "0" } else { whole }, places.trim_end_matches('0'));
    Some(if places.is_empty() { whole.to_owned() } else { format!("{whole}.{places}") })
}

/// Returns a number times a power of ten, without an exponent unless that would take too many zeros.
fn times_power(number: &str, power: &str) -> String {
    let power = power.trim_start_matches('+').replace('\u{2212}', "-");
    let (whole, places) = number.split_once('.').unwrap_or((number, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let shift = power.parse::<i32>().ok().filter(|shift| shift.abs() <= MAX_EXPONENT);
    let is_number = !whole.is_empty() && digits(whole) && digits(places);
    let Some(shift) = shift.filter(|_| is_number) else { return format!("{number}e{power}") };
    let zeros = MAX_EXPONENT as usize;
    let all = format!("{}{whole}{places}{}", "0".repeat(zeros), "0".repeat(zeros));
    let point = (zeros + whole.len()).saturating_add_signed(shift as isize);
    let (whole, places) = all.split_at(point);
    let (whole, places) = (whole.trim_start_matches('0'), places.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    if places.is_empty() { whole.to_owned() } else { format!("{whole}.{places}") }
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
        for text in ["12 345 678,90", "12345678,90", "12.345.678,9", "12,345,678.90"] {
            assert_eq!(of(text), ["12345678.9"]);
        }
        assert_eq!(
            of("1,234.5 1.234,5; 1.234.567 1234567 12,34,567"),
            ["1234.5", "1234.5", "1234567", "1234567", "1234567"]
        );
        assert_eq!(of("1,234,567.5 and 1 234 567.5"), ["1234567.5", "1234567.5"]);
        // The digits of years, lists, phone numbers, addresses, times, decimals and names are not grouped.
        assert_eq!(of("2024 200"), ["2024", "200"]);
        assert_eq!(of("100 200 300 400 500"), ["100", "200", "300", "400", "500"]);
        assert_eq!(of("8 800 555 35 35"), ["8", "800", "555", "35", "35"]);
        assert_eq!(of("5 100 1200 7 200"), ["5", "100", "1200", "7", "200"]);
        assert_eq!(of("10 192.168.0.1, 5 100:30"), ["10", "192.168.0.1", "5", "100:30"]);
        assert_eq!(
            of("0,200; 0 200; 1,5; 1,2000; 1,200,50; v5 200; 3 1000"),
            ["0.2", "0", "200", "1.5", "1,2000", "1,200,50", "5", "200", "3", "1000"]
        );
        assert_eq!(of("1,200:30 12,30:200 1.200"), ["1,200:30", "12,30:200", "1.200"]);
    }

    #[test]
    fn as_they_are_written() {
        let of = |text: &'static str| numbers(text).collect::<Vec<_>>();
        assert_eq!(of("v1.2.3 от 15.03.2024, 12:30; 1,5 млн (3)"), ["1.2.3", "15.03.2024", "12:30", "1,5", "3"]);
        assert_eq!(of("2024年5月7日"), ["2024", "5", "7"]);
        assert_eq!(of("1..2 .5 6. 7,,8"), ["1", "2", ".5", "6", "7", "8"]);
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

    #[test]
    fn what_is_another_number_has_another_value() {
        let of = |text: &str| numbers(text).map(|number| value(number).into_owned()).collect::<Vec<_>>();
        for (one, other) in [
            ("-41", "41"),
            (".5", "5"),
            ("1e-6", "1e6"),
            ("2020-11-12", "2020-12-11"),
            (">41", "<41"),
            ("p < 0.05", "p > 0.05"),
            ("p<=0.05", "p<0.05"),
            ("41%", "41\u{2030}"),
            ("$41", "\u{20AC}41"),
            ("41 \u{20AC}", "41 \u{A3}"),
            ("3.1.4", "3.14"),
        ] {
            assert_ne!(of(one), of(other));
            let [one, other] = [one, other].map(|text| format!("it is {text}, or so"));
            assert_ne!(of(&one), of(&other));
        }
        for (one, other) in [
            ("1.50", "1.5"),
            ("1.5e3", "1500"),
            ("1e-6", "0.000001"),
            (".5", "0.50"),
            ("\u{2212}41", "-41"),
            ("$41", "41 $"),
            ("<=5", "\u{2264} 5"),
            ("2020-01-05", "2020/1/5"),
            ("-.5", "-0.5"),
            ("-$1,200", "-1200$"),
        ] {
            assert_eq!(of(one), of(other), "{one}");
            assert_eq!(of(&format!("({one})")), of(other), "{one}");
        }
    }

    #[test]
    fn signs_that_are_no_part_of_a_number() {
        let of = |text: &'static str| numbers(text).collect::<Vec<_>>();
        assert_eq!(of("10-41, 10 -15, 10\u{2013}15, covid-19"), ["10", "41", "10", "15", "10", "15", "19"]);
        assert_eq!(of("<td>41</td> <td class=x>42 > 43 a->5 =>6"), ["41", "42", "43", "5", "6"]);
        assert_eq!(of("x > 5, y < 5, y>5"), ["5", "< 5", ">5"]);
        assert_eq!(of("7f3e5 3e5x 3e5 12:30e5 1e 2e+"), ["7", "3", "5", "3", "5", "3e5", "12:30", "5", "1", "2"]);
        assert_eq!(
            of("1-2-3 2020-11-12-13 12/11/2020 /2020/11/12/"),
            ["1", "2", "3", "2020", "11", "12", "13", "12/11/2020", "2020/11/12"]
        );
        assert_eq!(of("5 $6 7 $x"), ["5", "$6", "7"]);
        for text in ["1.200", "1.2.3", "12:30", "2024", "0007", "5a", "e5", "1e400"] {
            assert_eq!(value(text), text);
        }
    }

    proptest::proptest! {
        #[test]
        fn each_digit_is_in_one_number(text in "[0-9.,: 'ae年<>=$€‰/^\u{2212}\u{2044}-]{0,20}") {
            let mut last = 0;
            for number in numbers(&text) {
                let start = number.as_ptr() as usize - text.as_ptr() as usize;
                proptest::prop_assert!(start >= last && number.bytes().any(|byte| byte.is_ascii_digit()));
                proptest::prop_assert!(!value(number).is_empty());
                last = start + number.len();
            }
            let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
            proptest::prop_assert_eq!(numbers(&text).map(digits).sum::<usize>(), digits(&text));
        }
    }
}
