//! Encodes numbers of any magnitude as bytes that sort in exactly the same order as the numbers. The bytes hold a sign, a power of ten, and
//! the digits.
//!
//! All significant digits are stored, so 2^53 + 1 differs from 2^53. `1`, `1.0` and `01` are encoded as the same bytes.

/// Specifies whether a string is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A number.
    Number,
    /// NaN, which some writers use for a missing value. NaN counts as null.
    NaN,
    /// Not a number.
    NoNumber,
}

/// The possible first bytes, in the same order as the kinds of numbers.
const LEAST: u8 = 0;
const NEGATIVE: u8 = 1;
const ZERO: u8 = 2;
const POSITIVE: u8 = 3;
const GREATEST: u8 = 4;

/// The number 2^64.
const WHOLE: f64 = 18_446_744_073_709_551_616.0;

/// Appends the number that a string represents. A number consists of digits; a sign, a decimal point, a power of ten and surrounding spaces
/// are optional. `inf` and `infinity` are also numbers, and `true` and `false` count as 1 and 0. If the string is not a number, nothing is
/// appended.
pub(crate) fn put_text(text: &str, out: &mut Vec<u8>) -> Read {
    let text = text.trim();
    let (is_negative, rest) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    match rest.first() {
        Some(b'0'..=b'9' | b'.') => {}
        Some(b'i' | b'I') if is_word(rest, &["inf", "infinity"]) => {
            out.push(if is_negative { LEAST } else { GREATEST });
            return Read::Number;
        }
        Some(b'n' | b'N') if is_word(rest, &["nan"]) => return Read::NaN,
        Some(b't' | b'T') if is_word(text.as_bytes(), &["true"]) => {
            return number(put_number(false, b"1", &[], 0, out));
        }
        Some(b'f' | b'F') if is_word(text.as_bytes(), &["false"]) => {
            return number(put_number(false, b"0", &[], 0, out));
        }
        _ => return Read::NoNumber,
    }
    let (whole, rest) = digits(rest);
    let (fraction, rest) = if let [b'.', rest @ ..] = rest { digits(rest) } else { (&[][..], rest) };
    let Some(power) = power(rest).filter(|_| !whole.is_empty() || !fraction.is_empty()) else { return Read::NoNumber };
    number(put_number(is_negative, whole, fraction, power, out))
}

fn number(is_one: bool) -> Read {
    if is_one { Read::Number } else { Read::NoNumber }
}

fn is_word(text: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Splits a string into its leading digits and the rest.
fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(text.iter().position(|sign| !sign.is_ascii_digit()).unwrap_or(text.len()))
}

/// Parses the part of a string that follows the digits of a number. Returns the power of ten (0 for an empty string), or `None` if the
/// string is not a power of ten.
fn power(text: &[u8]) -> Option<i64> {
    let (is_negative, rest) = match text {
        [] => return Some(0),
        [b'e' | b'E', b'-', rest @ ..] => (true, rest),
        [b'e' | b'E', b'+', rest @ ..] | [b'e' | b'E', rest @ ..] => (false, rest),
        _ => return None,
    };
    let (all, behind) = digits(rest);
    if all.is_empty() || !behind.is_empty() {
        return None;
    }
    let size = all.iter().fold(0i64, |size, digit| size.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some(if is_negative { -size } else { size })
}

/// Appends a float with the fewest digits that identify it, unless the float is NaN. Returns whether the float was appended.
pub(crate) fn put_float(value: f64, out: &mut Vec<u8>) -> bool {
    if value.is_nan() {
        return false;
    }
    // A float in the range of 64-bit integers is written exactly.
    if value.fract() == 0.0 && value.abs() <= WHOLE {
        return put_number(value < 0.0, (value.abs() as u128).to_string().as_bytes(), &[], 0, out);
    }
    put_text(&format!("{value:e}"), out) == Read::Number
}

/// Appends a number that is given as a power of ten and the digits before and after the decimal point. Always returns true.
pub(crate) fn put_number(is_negative: bool, whole: &[u8], fraction: &[u8], power: i64, out: &mut Vec<u8>) -> bool {
    let digit = |at: usize| if at < whole.len() { whole[at] } else { fraction[at - whole.len()] };
    let all = whole.len() + fraction.len();
    let Some(first) = (0..all).find(|&at| digit(at) != b'0') else {
        out.push(ZERO);
        return true;
    };
    let last = (first..all).rev().find(|&at| digit(at) != b'0').unwrap_or(first);
    // The number is 0.DIGITS times ten to this power, where DIGITS begins with its first nonzero digit.
    let power = power.saturating_add(whole.len() as i64 - first as i64);
    let power = (power.clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32 ^ 1 << 31).to_be_bytes();
    let begin = out.len() + 1;
    out.push(if is_negative { NEGATIVE } else { POSITIVE });
    out.extend_from_slice(&power);
    out.extend((first..=last).map(digit));
    if is_negative {
        out[begin..].iter_mut().for_each(|byte| *byte = !*byte);
        // Additional digits make a negative number smaller, so the largest byte marks the end of the digits.
        out.push(u8::MAX);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        (put_text(text, &mut out) == Read::Number).then_some(out)
    }

    fn of_float(value: f64) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(put_float(value, &mut out));
        out
    }

    #[test]
    fn numbers_stand_in_their_order() {
        let ascending = [
            "-inf",
            "-1e400",
            "-9007199254740993",
            "-9007199254740992",
            "-100",
            "-12.5",
            "-12",
            "-0.001",
            "0",
            "1e-400",
            "0.09",
            ".1",
            "0.11",
            "1",
            "007.5",
            "9",
            "10",
            "1e2",
            "+100.5",
            "9007199254740992",
            "9007199254740993",
            "123456789012345678901234567890",
            "123456789012345678901234567891",
            "1e400",
            "1E+99999999999999999999",
            "inf",
        ];
        let keys: Vec<Vec<u8>> = ascending.iter().map(|text| of(text).unwrap_or_else(|| panic!("{text}"))).collect();
        assert!(keys.windows(2).all(|two| two[0] < two[1]), "{keys:?}");
        for same in [
            ["100", "1e2"],
            ["+100", " 100 "],
            ["007", "7."],
            ["-0", "0e5"],
            ["1.50", "1.5"],
            ["true", "1"],
            ["FALSE", "0"],
            ["-Infinity", "-inf"],
            ["1E-2", ".01"],
        ] {
            assert_eq!(of(same[0]), of(same[1]), "{same:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_none_and_appends_nothing() {
        for text in [
            "",
            " ",
            "-",
            "+",
            ".",
            "e5",
            "1e",
            "1e+",
            "1_000",
            "1,200",
            "1 200",
            "0x10",
            "--1",
            "1.2.3",
            "2024-01-02",
            "12%",
            "١",
            "-true",
            "infinit",
            "1e5x",
            "NaN",
            "-nan",
        ] {
            let mut out = vec![7];
            let read = put_text(text, &mut out);
            assert_eq!(read == Read::NaN, text.to_lowercase().ends_with("nan"), "{text}");
            assert!(read != Read::Number && out == [7], "{text}");
        }
    }

    proptest! {
        #[test]
        fn floats_compare_as_they_do(a in any::<f64>(), b in any::<f64>()) {
            prop_assume!(!a.is_nan() && !b.is_nan());
            let both = [a + 0.0, b + 0.0];
            prop_assert_eq!(of_float(both[0]).cmp(&of_float(both[1])), both[0].total_cmp(&both[1]));
            let is_as_written = a.abs() < 9e15 || a.abs() > WHOLE;
            let written = of(&a.to_string());
            prop_assert!(!is_as_written || written == Some(of_float(a)));
        }

        #[test]
        fn whole_numbers_compare_as_they_do(a in any::<i128>(), b in any::<i64>()) {
            let key = |number: i128| of(&number.to_string());
            prop_assert_eq!(key(a).cmp(&key(b.into())), a.cmp(&b.into()));
            let near = i128::from(b) + 1;
            prop_assert!(key(b.into()) < key(near));
        }
    }
}
