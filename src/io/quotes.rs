//! Where records of separated values end: at a line feed that stands in no quotes. RFC 4180, as programs write it: a quote opens
//! a field at its beginning alone, a doubled one within quotes is one of the text, and what stands behind a closing one belongs to the field.

use std::borrow::Cow;

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A place in a record, from byte to byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes {
    delimiter: u8,
    at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// So many bytes of a mark have come.
    Mark(usize),
    /// Before the first byte of a field.
    Start,
    /// In a field without quotes, or behind its closing quote.
    Bare,
    Quoted,
    /// Behind a quote within quotes: the closing one, or the first of two.
    Quote,
}

impl Quotes {
    /// The beginning of a record; of the first one of a file, which may bear a mark.
    pub fn new(delimiter: u8, is_first: bool) -> Quotes {
        Quotes { delimiter, at: if is_first { At::Mark(0) } else { At::Start } }
    }

    /// The same at the beginning of a record.
    pub fn again(self, is_first: bool) -> Quotes {
        Quotes::new(self.delimiter, is_first)
    }

    /// Goes over the bytes that come next: where among them the line feed is that ends the record.
    pub fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut place = 0;
        while let Some(&first) = bytes.get(place) {
            let jump = match self.at {
                At::Mark(marked) if MARK.get(marked) == Some(&first) => {
                    self.at = At::Mark(marked + 1);
                    1
                }
                At::Mark(_) => {
                    self.at = At::Start;
                    0
                }
                At::Quoted => match memchr::memchr(b'"', &bytes[place..]) {
                    None => return None,
                    Some(before) => {
                        self.at = At::Quote;
                        before + 1
                    }
                },
                At::Bare => match memchr::memchr2(b'\n', self.delimiter, &bytes[place..]) {
                    None => return None,
                    Some(before) if bytes[place + before] == b'\n' => return Some(place + before),
                    Some(before) => {
                        self.at = At::Start;
                        before + 1
                    }
                },
                At::Start | At::Quote if first == b'\n' => return Some(place),
                At::Start | At::Quote => {
                    self.at = match first {
                        b'"' => At::Quoted,
                        byte if byte == self.delimiter => At::Start,
                        _ => At::Bare,
                    };
                    1
                }
            };
            place += jump;
        }
        None
    }

    /// Whether a quote is open.
    pub fn is_open(&self) -> bool {
        self.at == At::Quoted
    }
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'l> {
    /// As it stands.
    Bare(&'l str),
    /// What stands between its quotes, doubled ones as they are, and what stands behind them.
    Quoted(&'l str, &'l str),
}

impl<'l> Field<'l> {
    /// Its text; none where there is nothing, not even quotes.
    pub fn text(self) -> Option<Cow<'l, str>> {
        match self {
            Field::Bare("") => None,
            Field::Bare(text) => Some(text.into()),
            Field::Quoted(text, "") if !text.contains('"') => Some(text.into()),
            Field::Quoted(text, behind) => Some((text.replace("\"\"", "\"") + behind).into()),
        }
    }

    /// About how many bytes that is.
    pub fn bytes(self) -> usize {
        match self {
            Field::Bare(text) => text.len(),
            Field::Quoted(text, behind) => text.len() + behind.len(),
        }
    }
}

/// Calls `each` with the fields of a record, in order; false where a quote is open at its end.
pub(super) fn fields<'l>(record: &'l str, delimiter: u8, each: &mut dyn FnMut(Field<'l>)) -> bool {
    let mut rest = record;
    loop {
        let quoted = rest.strip_prefix('"');
        let (text, behind) = match quoted.map(|quoted| Some((quoted, closing(quoted)?))) {
            None => ("", rest),
            Some(None) => return false,
            Some(Some((quoted, close))) => (&quoted[..close], &quoted[close + 1..]),
        };
        let end = memchr::memchr(delimiter, behind.as_bytes());
        let bare = &behind[..end.unwrap_or(behind.len())];
        each(if quoted.is_some() { Field::Quoted(text, bare) } else { Field::Bare(bare) });
        match end {
            None => return true,
            Some(end) => rest = &behind[end + 1..],
        }
    }
}

/// Where the quote is that closes what stands before it.
fn closing(quoted: &str) -> Option<usize> {
    let bytes = quoted.as_bytes();
    let mut place = 0;
    loop {
        place += memchr::memchr(b'"', &bytes[place..])?;
        if bytes.get(place + 1) != Some(&b'"') {
            return Some(place);
        }
        place += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(record: &str, delimiter: u8) -> Option<Vec<Option<String>>> {
        let mut all = Vec::new();
        fields(record, delimiter, &mut |field| all.push(field.text().map(Cow::into_owned))).then_some(all)
    }

    fn ends(bytes: &[u8], first: bool) -> Vec<usize> {
        let (mut quotes, mut from, mut all) = (Quotes::new(b',', first), 0, Vec::new());
        while let Some(end) = quotes.end(&bytes[from..]) {
            from += end + 1;
            all.push(from - 1);
            quotes = quotes.again(false);
        }
        all
    }

    #[test]
    fn fields_are_as_programs_write_them() {
        for (record, expected) in [
            ("a,b", vec![Some("a"), Some("b")]),
            ("", vec![None]),
            (",\"\",", vec![None, Some(""), None]),
            ("\"a,\"\"b\"\"\nc\",d", vec![Some("a,\"b\"\nc"), Some("d")]),
            ("a\"b\",c", vec![Some("a\"b\""), Some("c")]),
            ("\"a\"b,c", vec![Some("ab"), Some("c")]),
            ("кот,猫", vec![Some("кот"), Some("猫")]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|text| text.map(str::to_owned)).collect();
            assert_eq!(texts(record, b','), Some(expected), "{record}");
        }
        assert_eq!(texts("a,\"b,c", b','), None);
        assert_eq!(texts("a,b\tc", b'\t').map(|all| all.len()), Some(2));
    }

    #[test]
    fn a_record_ends_where_no_quote_is_open() {
        assert_eq!(ends(b"a,b\nc\n", true), [3, 5]);
        assert_eq!(ends(b"\"a\nb\",c\nd\n", true), [7, 9]);
        assert_eq!(ends(b"a\"b\nc\n", true), [3, 5]);
        assert_eq!(ends(b"\"a\"\"\n\"\nc\n", true), [6, 8]);
        // A mark does not hide a quote; it is one at the beginning of a file alone.
        assert_eq!(ends(b"\xEF\xBB\xBF\"a\nb\"\n", true), [8]);
        assert_eq!(ends(b"\xEF\xBB\xBF\"a\nb\"\n", false), [5, 8]);
        let mut open = Quotes::new(b',', true);
        assert!(open.end(b"a,\"b\nc").is_none() && open.is_open());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_whatever_the_blocks(
            records in proptest::collection::vec(proptest::collection::vec("[a,\"\n\r\t猫]{0,5}", 2..4), 1..6),
            block in 1usize..9,
        ) {
            let quoted = |field: &String| format!("\"{}\"", field.replace('"', "\"\""));
            let written: Vec<String> = records.iter().map(|record| record.iter().map(quoted).collect::<Vec<_>>().join(",")).collect();
            let bytes = written.join("\n") + "\n";
            let (mut quotes, mut from, mut place) = (Quotes::new(b',', true), 0, 0);
            let mut read = Vec::new();
            while place < bytes.len() {
                let there = &bytes.as_bytes()[place..bytes.len().min(place + block)];
                match quotes.end(there) {
                    None => place += there.len(),
                    Some(end) => {
                        read.push(bytes[from..place + end].to_owned());
                        place += end + 1;
                        from = place;
                        quotes = quotes.again(false);
                    }
                }
            }
            prop_assert_eq!(&read, &written);
            for (record, fields) in read.iter().zip(&records) {
                let expected: Vec<_> = fields.iter().cloned().map(Some).collect();
                prop_assert_eq!(texts(record, b','), Some(expected));
            }
        }
    }
}
