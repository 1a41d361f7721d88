//! Finds where the items of a JSON array end, so that an array can be read in the same way as lines.
//!
//! Only brackets, commas and strings are tracked; each item is parsed later, like a line. An item therefore ends at the comma or bracket
//! that follows it, and the text between two items is blank. What follows the array are lines.

/// The place of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Before,
    Inside,
    Behind,
}

/// The state of a read of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Items {
    place: Place,
    /// The number of open brackets and braces in the current item.
    depth: u64,
    in_string: bool,
    /// Whether the next byte belongs to an escape sequence.
    is_escaped: bool,
}

impl Items {
    /// Begins at the beginning of the file, before the bracket that opens the array, or else between two items.
    pub fn new(is_first: bool) -> Items {
        let place = if is_first { Place::Before } else { Place::Inside };
        Items { place, depth: 0, in_string: false, is_escaped: false }
    }

    /// Returns whether the read is between the brackets of the array.
    pub fn is_inside(&self) -> bool {
        self.place == Place::Inside
    }

    /// Returns the position of the byte that ends the current item. If the item does not end in these bytes, they must not be passed again.
    pub fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        if self.place == Place::Behind {
            return memchr::memchr(b'\n', bytes);
        }
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.is_escaped {
                self.is_escaped = false;
            } else if self.in_string {
                // Most bytes of a corpus are inside strings.
                at += memchr::memchr2(b'"', b'\\', &bytes[at..])?;
                (self.is_escaped, self.in_string) = (bytes[at] == b'\\', bytes[at] == b'\\');
            } else {
                match byte {
                    b'[' if self.place == Place::Before => {
                        self.place = Place::Inside;
                        return Some(at);
                    }
                    b'"' => self.in_string = true,
                    b'[' | b'{' => self.depth += 1,
                    b',' if self.depth == 0 => return Some(at),
                    b']' if self.depth == 0 => {
                        self.place = Place::Behind;
                        return Some(at);
                    }
                    b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::{Line, Lines};
    use proptest::prelude::*;
    use std::io::BufReader;

    /// Returns the items, and the offset of each, as a reader with a small buffer finds them.
    fn items(text: &str, from: u64, buffer: usize) -> Vec<(u64, String)> {
        let reader = BufReader::with_capacity(buffer, &text.as_bytes()[from as usize..]);
        let mut lines = Lines::new(reader, from, 1000).items(true);
        let mut out = Vec::new();
        while let Some((start, Line::Bytes(line))) = lines.next().expect("memory") {
            out.push((start, String::from_utf8_lossy(line.trim_ascii()).into_owned()));
        }
        assert_eq!(lines.offset, text.len() as u64);
        out
    }

    fn texts(text: &str) -> Vec<String> {
        items(text, 0, 3).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn items_end_at_commas_outside_of_strings_and_brackets() {
        assert_eq!(
            texts("\u{feff} [\n {\"a\": \"x, ]\\\"\\\\\", \"b\":[1,{}]},\n{\"c\":\n2} ]\n"),
            ["{\"a\": \"x, ]\\\"\\\\\", \"b\":[1,{}]}", "{\"c\":\n2}"]
        );
        assert!(texts("[]").is_empty() && texts(" [ , ,,\n,]").is_empty());
        assert_eq!(texts("[1,,2][3,4]\n{},\n{}"), ["1", "2", "[3,4]", "{},", "{}"], "what follows the array are lines");
        assert_eq!(texts("[{\"a\":1},{\"a\":"), ["{\"a\":1}", "{\"a\":"]);
        assert_eq!(texts("[1}},2]}],2]"), ["1}}", "2", "}],2]"]);
    }

    proptest! {
        #[test]
        fn a_read_that_begins_at_any_item_finds_the_items_from_there(
            text in "\\[[{}\\[\\],:\"\\\\ \na1]{0,60}",
            buffer in 1usize..9,
        ) {
            let all = items(&text, 0, buffer);
            // A read may begin at any item, but not at a line behind the array.
            let mut reading = Lines::new(text.as_bytes(), 0, 1000).items(true);
            for (number, (start, _)) in all.iter().enumerate() {
                prop_assert_eq!(reading.step().unwrap(), Some(*start));
                if reading.may_begin_here() {
                    prop_assert_eq!(&items(&text, *start, 7), &all[number..]);
                }
            }
        }
    }
}
