//! Reads lines that some programs write although they are not valid JSON: half of a surrogate pair, which Python and JavaScript write if text
//! was truncated, and the numbers `NaN` and `Infinity`, which Python and DuckDB write.
//!
//! Only lines that the parser rejects are looked at, so valid lines cost nothing. The line in the file stays as it is.
//!
//! ```text
//! {"text":"cut \ud83d", "score":NaN}    ->    {"text":"cut \ufffd", "score":null}
//! ```

/// The names of numbers that JSON cannot represent, in lowercase and without a sign.
const NAMES: [&str; 3] = ["nan", "infinity", "inf"];

/// The replacement for a number that JSON cannot represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// A null.
    Null,
    /// A number of the same length, so that all positions in the line stay the same.
    SameLength,
}

/// Returns the line with U+FFFD in place of each lone surrogate, and with other values in place of numbers that JSON cannot represent.
/// Returns `None` if the line contains neither.
pub(super) fn mended(line: &str, instead: Instead) -> Option<String> {
    let bytes = line.as_bytes();
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string(line, at + 1, &mut copied, &mut out),
            b'-' | b'+' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                let ends = |byte: &u8| !(byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
                let end = bytes[at..].iter().position(ends).map_or(bytes.len(), |length| at + length);
                if is_beyond_json(&line[at..end]) {
                    out.push_str(&line[copied..at]);
                    match instead {
                        Instead::Null => out.push_str("null"),
                        Instead::SameLength => {
                            out.extend(std::iter::once('0').chain(std::iter::repeat_n(' ', end - at - 1)))
                        }
                    }
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&line[copied..]);
    Some(out)
}

/// Calls `read` with the line, and once more with the mended line if the first call fails and something can be mended.
///
/// # Errors
/// Returns the error of the first call if nothing can be mended, otherwise the error of the second call.
pub(super) fn read<T, E>(line: &[u8], read: impl Fn(&[u8]) -> Result<T, E>) -> Result<T, E> {
    read(line).or_else(|error| {
        let line = std::str::from_utf8(line).ok().and_then(|line| mended(line, Instead::Null));
        line.map_or(Err(error), |line| read(line.as_bytes()))
    })
}

/// Copies the rest of a string that begins at `at`, up to the last replaced surrogate, and returns the position after the string.
fn string(line: &str, mut at: usize, copied: &mut usize, out: &mut String) -> usize {
    let bytes = line.as_bytes();
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found;
        if bytes[at] == b'"' {
            return at + 1;
        }
        match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => at += 12,
            Some(0xD800..=0xDFFF) => {
                out.push_str(&line[*copied..at]);
                out.push_str("\\ufffd");
                at += 6;
                *copied = at;
            }
            _ => at += 2,
        }
    }
    bytes.len()
}

/// Returns the UTF-16 code unit of the escape that begins at this position, if there is one.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit: u16, digit| Some(unit << 4 | char::from(*digit).to_digit(16)? as u16))
}

/// Returns whether a value is one of [`NAMES`], or a number that is too large for a float.
fn is_beyond_json(value: &str) -> bool {
    let unsigned = value.trim_start_matches(['+', '-']);
    let is_number = || unsigned.starts_with(|sign: char| sign.is_ascii_digit());
    NAMES.iter().any(|name| unsigned.eq_ignore_ascii_case(name))
        || (is_number() && value.parse().is_ok_and(f64::is_infinite))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_and_numbers_beyond_json_are_replaced() {
        let is =
            |line: &str, expected: &str| assert_eq!(mended(line, Instead::Null).as_deref(), Some(expected), "{line}");
        is(r#"{"a":"x\ud83d"}"#, r#"{"a":"x\ufffd"}"#);
        is(r#"{"a":"\ude00\uD83D y\ud83d\ud83d\ude00"}"#, r#"{"a":"\ufffd\ufffd y\ufffd\ud83d\ude00"}"#);
        is(r#"{"a\ud800":NaN,"b":[-Infinity,nan, inf]}"#, r#"{"a\ufffd":null,"b":[null,null, null]}"#);
        is(r#"{"a":1e999,"b":-1E400}"#, r#"{"a":null,"b":null}"#);
        for line in
            [r#"{"a":"NaN \\ud83d \ud83d\ude00"}"#, r#"{"a":1e5,"b":true,"c":[]}"#, "", "\"", "\"\\", r#""\ud8"#]
        {
            assert_eq!(mended(line, Instead::Null), None, "{line}");
        }
        let line = r#"{"é":NaN,"a":"\ud83d","b":-Infinity}"#;
        let same = mended(line, Instead::SameLength).expect("mended");
        assert_eq!((same.len(), same.find("\"b\"")), (line.len(), line.find("\"b\"")));
        assert!(serde_json::from_str::<serde_json::Value>(&same).is_ok(), "{same}");
    }

    #[test]
    fn a_line_that_cannot_be_mended_keeps_its_error() {
        let parse = |line: &[u8]| read(line, |line| serde_json::from_slice::<serde_json::Value>(line));
        assert_eq!(parse(br#"{"a":NaN}"#).expect("mended"), serde_json::json!({ "a": null }));
        assert!(parse(br#"{"a":nul}"#).is_err() && parse(b"{\"a\":NaN,\"b\":\"\xFF\"}").is_err());
        assert!(parse(br#"{"a":NaN,}"#).is_err());
    }
}
