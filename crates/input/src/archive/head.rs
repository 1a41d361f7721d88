//! Parses the header fields of web archive records and of the server responses in these records.
//!
//! Crawls store whatever servers send, so a single bad line must not invalidate an entire header: a line that is not a field is ignored.
//! Characters that `httparse` does not accept are replaced with spaces before it parses the lines.

use httparse::{EMPTY_HEADER, ParserConfig, Response};

/// The maximum length of a header in bytes.
pub(super) const HEAD_BYTES: usize = 64 << 10;

/// Header fields in order, with lowercase names and trimmed values; folded lines are joined by a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Parses the fields in these lines, which end with LF or CRLF. Bytes that are not UTF-8 become U+FFFD.
    pub(crate) fn of(lines: &[u8]) -> Fields {
        // The parser accepts only response headers, so a status line is added.
        let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
        let mut count = 0;
        for line in lines.split(|&byte| byte == b'\n') {
            let line = line.trim_ascii_end();
            if !line.is_empty() {
                head.extend(
                    line.iter().map(|&byte| if byte.is_ascii_control() && byte != b'\t' { b' ' } else { byte }),
                );
                head.extend(b"\r\n");
                count += 1;
            }
        }
        head.extend(b"\r\n");
        let mut headers = vec![EMPTY_HEADER; count];
        let mut response = Response::new(&mut headers);
        let parsed = ParserConfig::default()
            .allow_obsolete_multiline_headers_in_responses(true)
            .allow_spaces_after_header_name_in_responses(true)
            .allow_space_before_first_header_name(true)
            .ignore_invalid_headers_in_responses(true)
            .parse_response(&mut response, &head);
        if !parsed.is_ok_and(|parsed| parsed.is_complete()) {
            return Fields::default();
        }
        let fields = response.headers.iter().map(|header| {
            let value = String::from_utf8_lossy(header.value);
            let lines: Vec<&str> = value.split("\r\n").map(str::trim).filter(|line| !line.is_empty()).collect();
            (header.name.to_ascii_lowercase(), lines.join(" "))
        });
        Fields(fields.collect())
    }

    /// Returns the value of the first field with this lowercase name; `None` if it is missing or empty.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, value)| known == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// Returns the values of all fields with this name.
    pub(crate) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_whatever_stands_around_them() {
        let lines = b"WARC-Type: response\r\ncontent-LENGTH:7\nX-Folded: one\r\n  two\r\n\tthree\r\nNo colon here\r\nBad name: 1\r\n\
            Zero: a\0b\r\nTail : x  \r\nEmpty:\r\nTwice: 1\r\nTwice: 2\r\nURI: http://x/\xD0\xBA?\xFF\r\n: no name\r\n";
        let fields = Fields::of(lines);
        assert_eq!(fields.get("warc-type"), Some("response"));
        assert_eq!(fields.get("content-length"), Some("7"));
        assert_eq!(fields.get("x-folded"), Some("one two three"));
        assert_eq!(fields.get("zero"), Some("a b"));
        assert_eq!(fields.get("tail"), Some("x"));
        assert_eq!(fields.get("empty"), None);
        assert_eq!(fields.all("twice").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(fields.get("uri"), Some("http://x/к?\u{FFFD}"));
        assert_eq!(Fields::of(b""), Fields::default());
    }

    #[test]
    fn a_head_of_many_fields_is_read_whole() {
        let lines = "a:b\n".repeat(HEAD_BYTES / 4);
        assert_eq!(Fields::of(lines.as_bytes()).all("a").count(), HEAD_BYTES / 4);
    }

    #[test]
    fn any_bytes_are_taken() {
        for seed in 0..2000u64 {
            let byte = |at: u64| (dupsift_core::hash::mix64(seed << 32 | at) % 64 + (seed % 3) * 60) as u8;
            let bytes: Vec<u8> = (0..60).map(byte).chain(*b"\nlast: 1").collect();
            let bytes = [b"first: 1\n".as_slice(), &bytes].concat();
            let fields = Fields::of(&bytes);
            assert_eq!((fields.get("first").is_some(), fields.get("last")), (true, Some("1")), "{bytes:?}");
        }
    }
}
