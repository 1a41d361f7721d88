//! Creates the message for a JSON lines file in which no line is an object, with the likely fix.

use crate::format::signs;
use crate::lines::mended;

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

/// Returns why a line is not JSON although parts of it are: it has a byte order mark, or consists of several lines.
pub(super) fn of_parts(line: &[u8]) -> Option<(&'static str, &'static str)> {
    if line.starts_with(b"\xEF\xBB\xBF") {
        return Some(signs::MARK);
    }
    // A carriage return in a string is escaped.
    let is_end =
        |at: usize| line[at + 1..].trim_ascii_start().starts_with(b"{") && line[..at].trim_ascii_end().ends_with(b"}");
    memchr::memchr(b'\r', line).filter(|&at| is_end(at)).map(|_| signs::RETURNS)
}

fn kind(line: &[u8]) -> (String, &'static str) {
    let line = line.trim_ascii();
    if let Some((what, way_out)) = signs::of_text(line) {
        return (what.to_owned(), way_out);
    }
    if let Some((what, way_out)) = of_parts(line) {
        return (what.to_owned(), way_out);
    }
    match line.first() {
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
            Ok(_) if line.starts_with(b"[") => {
                ("it is a list".to_owned(), "; jq -c '.[][]' FILE writes the items of the lists, each on one line")
            }
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
            (&b"{"[..], "continues on the next line", "jq -c . FILE"),
            (b"{\"text\": \"a", "continues on the next line", "jq -c . FILE"),
            (b"\xFF\xFE{\0\"\0", "UTF-16", "`encoding=auto`"),
            (b"{\0\"\0t\0e\0", "UTF-16", "`encoding=auto`"),
            (b"\xFF\xFE\0\0{\0\0\0", "UTF-32", "iconv -f UTF-32"),
            (b"{\0\0\0\"\0\0\0t\0\0\0", "UTF-32", "iconv -f UTF-32"),
            (b"\0\0\0{\0\0\x04\x35", "UTF-32", "iconv -f UTF-32"),
            (b"PK\x03\x04\x14", "binary data", "one object per line"),
            (b"\xB0\xA1", "not UTF-8", "`encoding=auto`"),
            (b"id,text", "expected value", "one object per line"),
            (b"{\"text\":1}\r{\"text\":2}", "carriage return", "tr "),
            (b"\xEF\xBB\xBF{}", "byte order mark", "sed "),
            (b"7", "not an object", "one object per line"),
            (b"[{\"text\":\"a\"}]", "it is a list", "jq -c '.[][]' FILE"),
            (b"{\"a\": }", "expected value", "one object per line"),
        ] {
            let said = said(line);
            assert!(said.contains(what) && said.contains(way_out), "{said}");
            let is_damage = ["UTF-16", "UTF-32", "binary data", "not UTF-8"].contains(&what);
            assert_eq!(is_text(line), !is_damage, "{what}");
        }
    }
}
