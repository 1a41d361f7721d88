//! Creates the message for a JSON lines file in which no line is an object, with the likely fix.

use super::mended;

/// The number of characters of a parser message that are shown.
const SHOWN: usize = 120;

/// Returns a message that states what the line contains instead of an object.
pub(super) fn said(line: &[u8]) -> String {
    let (what, way_out) = kind(line);
    format!("{what}; expected one object per line{way_out}")
}

/// Returns whether the line is text, for example from a settings file. Bytes that are not text indicate damage.
pub(super) fn is_text(line: &[u8]) -> bool {
    std::str::from_utf8(line).is_ok() && !line.iter().any(|byte| *byte < b' ' && !byte.is_ascii_whitespace())
}

/// Returns whether the line opens an array and does not close it.
pub(super) fn is_open_array(line: &[u8]) -> bool {
    let array = mended::read(line.trim_ascii(), |line| serde_json::from_slice::<Vec<serde::de::IgnoredAny>>(line));
    line.trim_ascii().starts_with(b"[") && array.is_err_and(|error| error.is_eof())
}

fn kind(line: &[u8]) -> (String, &'static str) {
    let line = line.trim_ascii();
    let wide = line.starts_with(b"\xFF\xFE") || line.starts_with(b"\xFE\xFF");
    let zeros = line.iter().take(64).filter(|byte| **byte == 0).count();
    if wide || 4 * zeros >= line.len().min(64) {
        return ("it looks like UTF-16".to_owned(), "; try `encoding=auto`");
    }
    if line.iter().take(64).any(|byte| *byte < b' ' && !byte.is_ascii_whitespace()) {
        return ("it looks like binary data".to_owned(), "");
    }
    if std::str::from_utf8(line).is_err() {
        return ("it is not UTF-8".to_owned(), "; try `encoding=auto`, or the name of the encoding");
    }
    match line.first() {
        Some(b'[') => (
            "it is the start of an array".to_owned(),
            "; jq -c \".[]\" FILE writes each item of an array on its own line",
        ),
        Some(b'{') => {
            let error = mended::read(line, |line| serde_json::from_slice::<serde::de::IgnoredAny>(line)).err();
            if error.as_ref().is_some_and(serde_json::Error::is_eof) {
                return (
                    "an object that continues on the next line".to_owned(),
                    "; jq -c . FILE writes each object on one line",
                );
            }
            let error = error.map_or_else(|| "names that are not strings".to_owned(), |error| error.to_string());
            (error.chars().take(SHOWN).collect(), "")
        }
        _ => match mended::read(line, |line| serde_json::from_slice::<serde::de::IgnoredAny>(line)) {
            Ok(_) => ("it is not an object".to_owned(), ""),
            Err(error) => (error.to_string().chars().take(SHOWN).collect(), ""),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_is_and_the_way_out() {
        for (line, what, way_out) in [
            (&b"[{\"text\": \"a\"},"[..], "start of an array", "jq -c \".[]\""),
            (b"{", "continues on the next line", "jq -c . FILE"),
            (b"{\"text\": \"a", "continues on the next line", "jq -c . FILE"),
            (b"\xFF\xFE{\0\"\0", "UTF-16", "`encoding=auto`"),
            (b"{\0\"\0t\0e\0", "UTF-16", "`encoding=auto`"),
            (b"PK\x03\x04\x14", "binary data", "one object per line"),
            (b"\xB0\xA1", "not UTF-8", "`encoding=auto`"),
            (b"id,text", "expected value", "one object per line"),
            (b"7", "not an object", "one object per line"),
            (b"{\"a\": }", "expected value", "one object per line"),
        ] {
            let said = said(line);
            assert!(said.contains(what) && said.contains(way_out), "{said}");
            let is_damage = ["UTF-16", "binary data", "not UTF-8"].contains(&what);
            assert_eq!(is_text(line), !is_damage, "{what}");
        }
    }
}
