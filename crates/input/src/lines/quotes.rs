//! Finds where records of separated values end: at a line feed outside quotes. Follows RFC 4180 as most programs implement it: a quote
//! opens a quoted field only at the beginning of the field, and a doubled quote inside quotes is a literal quote.
//!
//! Only a delimiter or a line break may follow a closing quote. If anything else follows, the record is broken and ends at the end of its
//! line, so that no other row is lost. A quote opened by mistake is detected only at the next quote, perhaps many lines later. The lines
//! that looked like a single record are then read again, starting from the second line. The lines are also read again if a multi-line
//! record has the wrong number of fields, has no closing quote, or is too long for a row.
//!
//! This module splits the records itself, because the csv-core crate does not distinguish an empty field from an empty quoted string,
//! accepts text after a closing quote, and ends an open quote at the end of the file. In this module, an empty field must be null, text
//! after a closing quote must cause the row to be rejected, and the lines after an open quote must be read again.

use std::borrow::Cow;

use crate::dialect::Quoting;

/// The UTF-8 byte order mark.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Describes how fields are separated and quoted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dialect {
    pub delimiter: u8,
    pub quoting: Quoting,
}

/// The state of a byte-by-byte scan of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quotes {
    dialect: Dialect,
    at: At,
    /// The number of delimiters so far.
    delimiters: usize,
    /// The number of fields that a multi-line record must have; `None` if unknown.
    expected: Option<usize>,
    /// Whether a quoted field contains a line break.
    has_lines: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In a byte order mark, after this many of its bytes.
    Mark(usize),
    /// Before the first byte of a field.
    Start,
    /// In a field without quotes.
    Bare,
    Quoted,
    /// After a quote inside quotes, which may be the closing quote or the first of two quotes.
    Quote,
    /// After a closing quote and a carriage return.
    Return,
    /// After text that follows a closing quote, or if quoting is off: only a line break is special.
    Line,
}

/// The result of scanning a record, with a byte position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordEnd {
    /// The position of the line feed that ends the record.
    End(usize),
    /// The position of the first line feed inside quotes.
    Inside(usize),
    /// The position, in a multi-line record, of a byte that cannot follow a closing quote.
    Broken(usize),
    /// The position, in a multi-line record, at which a wrong number of fields was detected.
    Miscounted(usize),
}

impl Quotes {
    /// Starts a record. The first record of a file may begin with a byte order mark.
    pub(crate) fn new(dialect: Dialect, expected: Option<usize>, is_first: bool) -> Quotes {
        let at = match (dialect.quoting, is_first) {
            (Quoting::None, _) => At::Line,
            (Quoting::Double, true) => At::Mark(0),
            (Quoting::Double, false) => At::Start,
        };
        Quotes { dialect, at, delimiters: 0, expected, has_lines: false }
    }

    /// Scans the next bytes up to the first result. The scan may continue after [`RecordEnd::Inside`].
    pub(crate) fn find(&mut self, bytes: &[u8]) -> Option<RecordEnd> {
        let delimiter = self.dialect.delimiter;
        let mut place = 0;
        while let Some(&first) = bytes.get(place) {
            let rest = &bytes[place..];
            let jump = match self.at {
                At::Mark(marked) if MARK.get(marked) == Some(&first) => {
                    self.at = At::Mark(marked + 1);
                    1
                }
                At::Mark(_) => {
                    self.at = At::Start;
                    0
                }
                At::Quoted => {
                    let quote_or_end =
                        if self.has_lines { memchr::memchr(b'"', rest) } else { memchr::memchr2(b'"', b'\n', rest) };
                    let before = quote_or_end?;
                    if rest[before] == b'\n' {
                        self.has_lines = true;
                        return Some(RecordEnd::Inside(place + before));
                    }
                    self.at = At::Quote;
                    before + 1
                }
                At::Bare => {
                    let before = memchr::memchr2(b'\n', delimiter, rest)?;
                    if rest[before] == b'\n' {
                        return Some(self.end(place + before));
                    }
                    self.at = At::Start;
                    self.delimiters += 1;
                    before + 1
                }
                At::Line => return memchr::memchr(b'\n', rest).map(|before| RecordEnd::End(place + before)),
                At::Start | At::Quote | At::Return if first == b'\n' => return Some(self.end(place)),
                At::Start | At::Quote if first == delimiter => {
                    self.at = At::Start;
                    self.delimiters += 1;
                    1
                }
                At::Start | At::Quote if first == b'"' => {
                    self.at = At::Quoted;
                    1
                }
                At::Start => {
                    self.at = At::Bare;
                    1
                }
                At::Quote if first == b'\r' => {
                    self.at = At::Return;
                    1
                }
                At::Quote | At::Return if self.has_lines => return Some(RecordEnd::Broken(place)),
                At::Quote | At::Return => {
                    self.at = At::Line;
                    0
                }
            };
            place += jump;
            if self.has_lines && self.expected.is_some_and(|expected| self.delimiters >= expected) {
                return Some(RecordEnd::Miscounted(place));
            }
        }
        None
    }

    fn end(&self, place: usize) -> RecordEnd {
        let fits = self.expected.is_none_or(|expected| expected == self.delimiters + 1);
        if self.has_lines && !fits { RecordEnd::Miscounted(place) } else { RecordEnd::End(place) }
    }

    /// Returns whether a quoted field is open.
    pub(crate) fn is_inside(&self) -> bool {
        self.at == At::Quoted
    }

    /// Returns whether the file may end at this position in a multi-line record.
    pub(crate) fn may_end(&self) -> bool {
        self.at != At::Quoted && self.end(0) == RecordEnd::End(0)
    }
}

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field<'l> {
    /// The field without quotes.
    Bare(&'l str),
    /// The text between the quotes, in which quotes are still doubled.
    Quoted(&'l str),
}

impl<'l> Field<'l> {
    /// Returns the text of the field; `None` if the field is empty and unquoted.
    pub(crate) fn text(self) -> Option<Cow<'l, str>> {
        match self {
            Field::Bare("") => None,
            Field::Quoted(text) if text.contains('"') => Some(text.replace("\"\"", "\"").into()),
            Field::Bare(text) | Field::Quoted(text) => Some(text.into()),
        }
    }

    /// Returns the approximate size of the field in bytes.
    pub(crate) fn bytes(self) -> usize {
        let (Field::Bare(text) | Field::Quoted(text)) = self;
        text.len()
    }
}

/// Calls `each` with the fields of a record, in order.
///
/// # Errors
/// Returns the reason why the record is invalid.
pub(super) fn fields<'l>(
    record: &'l str,
    dialect: Dialect,
    each: &mut dyn FnMut(Field<'l>),
) -> std::result::Result<(), &'static str> {
    let is_quoted = |rest: &str| dialect.quoting == Quoting::Double && rest.starts_with('"');
    let mut rest = record;
    loop {
        let (field, behind) = if is_quoted(rest) {
            let quoted = &rest[1..];
            let close = closing(quoted).ok_or(
                "a quoted field is not closed properly: this line is rejected, and the next one is read as a new record",
            )?;
            (Field::Quoted(&quoted[..close]), &quoted[close + 1..])
        } else {
            let end = memchr::memchr(dialect.delimiter, rest.as_bytes()).unwrap_or(rest.len());
            (Field::Bare(&rest[..end]), &rest[end..])
        };
        match behind.as_bytes().first() {
            None => {
                each(field);
                return Ok(());
            }
            Some(first) if *first == dialect.delimiter => each(field),
            Some(_) => return Err("text follows a closing quote"),
        }
        rest = &behind[1..];
    }
}

/// Returns the position of the closing quote.
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

    const COMMAS: Dialect = Dialect { delimiter: b',', quoting: Quoting::Double };
    const NO_QUOTES: Dialect = Dialect { delimiter: b',', quoting: Quoting::None };

    fn texts(record: &str, dialect: Dialect) -> std::result::Result<Vec<Option<String>>, &'static str> {
        let mut all = Vec::new();
        fields(record, dialect, &mut |field| all.push(field.text().map(Cow::into_owned)))?;
        Ok(all)
    }

    /// Returns all results of scanning some bytes; continues after each result that does not end a record.
    fn found(bytes: &[u8], expected: Option<usize>, is_first: bool) -> Vec<RecordEnd> {
        let (mut quotes, mut from, mut all) = (Quotes::new(COMMAS, expected, is_first), 0, Vec::new());
        while let Some(found) = quotes.find(&bytes[from..]) {
            let (RecordEnd::End(at) | RecordEnd::Inside(at) | RecordEnd::Broken(at) | RecordEnd::Miscounted(at)) =
                found;
            all.push(match found {
                RecordEnd::End(_) => RecordEnd::End(from + at),
                RecordEnd::Inside(_) => RecordEnd::Inside(from + at),
                RecordEnd::Broken(_) => RecordEnd::Broken(from + at),
                RecordEnd::Miscounted(_) => RecordEnd::Miscounted(from + at),
            });
            from += at + 1;
            match found {
                RecordEnd::End(_) => quotes = Quotes::new(COMMAS, expected, false),
                RecordEnd::Inside(_) => {}
                _ => break,
            }
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
            ("кот,猫", vec![Some("кот"), Some("猫")]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|text| text.map(str::to_owned)).collect();
            assert_eq!(texts(record, COMMAS), Ok(expected), "{record}");
        }
        for (record, why) in [
            ("a,\"b,c", "not closed properly"),
            ("\"a\"b,c", "text follows"),
            ("a,\"b\" ,c", "text follows"),
            ("\"a\"\r", "text follows"),
        ] {
            assert!(texts(record, COMMAS).is_err_and(|said| said.contains(why)), "{record}");
        }
        assert_eq!(texts("a,\"b\tc", Dialect { delimiter: b'\t', ..COMMAS }).map(|all| all.len()), Ok(2));
        let plain = ["\"a\" b", "\"c"].map(|text| Some(text.to_owned()));
        assert_eq!(texts("\"a\" b,\"c", NO_QUOTES), Ok(plain.to_vec()));
    }

    #[test]
    fn a_record_ends_where_no_quote_is_open() {
        use RecordEnd::{Broken, End, Inside, Miscounted};
        let of = |bytes: &[u8]| found(bytes, None, true);
        assert_eq!(of(b"a,b\nc\n"), [End(3), End(5)]);
        assert_eq!(of(b"\"a\nb\",c\nd\n"), [Inside(2), End(7), End(9)]);
        assert_eq!(of(b"a\"b\nc\n"), [End(3), End(5)]);
        assert_eq!(of(b"\"a\"\"\n\"\r\nc\n"), [Inside(4), End(7), End(9)]);
        // If text follows a closing quote, a single-line record ends at the end of its line, and a multi-line record is broken.
        assert_eq!(of(b"\"a\"b,\"c\nd\n"), [End(7), End(9)]);
        assert_eq!(of(b"\"a\nb\"c\n"), [Inside(2), Broken(5)]);
        assert_eq!(of(b"\"a\nb\"\r \n"), [Inside(2), Broken(6)]);
        // The number of fields is checked only in multi-line records.
        assert_eq!(found(b"a\na,b,c\n\"a\nb\"\n", Some(2), false), [End(1), End(7), Inside(10), Miscounted(13)]);
        assert_eq!(found(b"\"a\nb\",c\n\"a\nb\",c,d\n", Some(2), false)[..3], [Inside(2), End(7), Inside(10)]);
        assert!(matches!(found(b"\"a\nb\",c,d\n", Some(2), false)[..], [Inside(2), Miscounted(_)]));
        // A quote is recognized after a byte order mark, but only at the beginning of a file.
        assert_eq!(found(b"\xEF\xBB\xBF\"a\nb\"\n", None, true), [Inside(5), End(8)]);
        assert_eq!(found(b"\xEF\xBB\xBF\"a\nb\"\n", None, false), [End(5), End(8)]);
        let mut open = Quotes::new(COMMAS, None, true);
        assert!(open.find(b"a,\"b\nc") == Some(Inside(4)) && open.find(b"c").is_none() && !open.may_end());
        assert_eq!(Quotes::new(NO_QUOTES, None, true).find(b"a,\"b\nc"), Some(End(4)));
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
            let (mut quotes, mut from, mut place) = (Quotes::new(COMMAS, None, true), 0, 0);
            let mut read = Vec::new();
            while place < bytes.len() {
                let there = &bytes.as_bytes()[place..bytes.len().min(place + block)];
                match quotes.find(there) {
                    None => place += there.len(),
                    Some(RecordEnd::Inside(at)) => place += at + 1,
                    Some(RecordEnd::End(end)) => {
                        read.push(bytes[from..place + end].to_owned());
                        place += end + 1;
                        from = place;
                        quotes = Quotes::new(COMMAS, None, false);
                    }
                    other => prop_assert!(false, "{other:?}"),
                }
            }
            prop_assert_eq!(&read, &written);
            for (record, fields) in read.iter().zip(&records) {
                let expected: Vec<_> = fields.iter().cloned().map(Some).collect();
                prop_assert_eq!(texts(record, COMMAS), Ok(expected));
            }
        }
    }
}
