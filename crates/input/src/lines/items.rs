//! Finds where the items of a JSON array end, so that an array can be read in the same way as lines.
//!
//! Only brackets, commas and strings are tracked; each item is parsed later, like a line. An item therefore ends at the comma or bracket
//! that follows it, and the text between two items is blank. What follows the array are lines.
//!
//! A missing comma costs nothing, and a missing quote or brace costs one item. An item ends before a brace where JSON allows none:
//! after a complete value, in an object where a name is expected, or at the beginning of the line after a string that was not closed. A
//! string ends with its line. If no such brace follows, the item lasts to the end of the file, which is then damaged.

/// The position of a read relative to the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Before,
    Inside,
    Behind,
}

/// The state of a read of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Items {
    place: Place,
    /// The number of open brackets and braces in the current item.
    depth: u64,
    in_string: bool,
    /// Whether the next byte belongs to an escape sequence.
    is_escaped: bool,
    /// The first byte of the current item, and the last byte outside of strings, without white space; 0 at the beginning of an item. The
    /// last byte is a line feed after a string that was not closed on its line.
    first: u8,
    last: u8,
}

/// The end of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The position of the byte that ends the item.
    pub at: usize,
    /// Whether this byte begins the next item; otherwise it belongs to neither.
    pub begins_next: bool,
}

impl Items {
    /// Returns the state at the beginning of the file, before the bracket that opens the array, or, unless `is_first`, between two items.
    pub fn new(is_first: bool) -> Items {
        let place = if is_first { Place::Before } else { Place::Inside };
        Items { place, depth: 0, in_string: false, is_escaped: false, first: 0, last: 0 }
    }

    /// Returns whether the read is between the brackets of the array.
    pub fn is_inside(&self) -> bool {
        self.place == Place::Inside
    }

    /// Returns whether nothing is open in the current item, so that it is complete if the file ends here.
    pub fn is_complete(&self) -> bool {
        self.depth == 0 && !self.in_string
    }

    /// Returns the end of the current item. If the item does not end in these bytes, they must not be passed again.
    pub fn end(&mut self, bytes: &[u8]) -> Option<End> {
        let end = self.found(bytes)?;
        (self.depth, self.in_string, self.is_escaped, self.first, self.last) = (0, false, false, 0, 0);
        Some(end)
    }

    fn found(&mut self, bytes: &[u8]) -> Option<End> {
        let end = |at| Some(End { at, begins_next: false });
        if self.place == Place::Behind {
            // The array goes on if a comma follows its bracket: the bracket belongs to a broken item.
            if bytes.first() != Some(&b',') || self.first != 0 {
                self.first = bytes.first().copied().unwrap_or(self.first);
                return memchr::memchr(b'\n', bytes).and_then(end);
            }
            self.place = Place::Inside;
        }
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_string {
                if std::mem::take(&mut self.is_escaped) && byte != b'\n' {
                    at += 1;
                    continue;
                }
                // Most bytes of a corpus are inside strings.
                at += memchr::memchr3(b'"', b'\\', b'\n', &bytes[at..])?;
                self.is_escaped = bytes[at] == b'\\';
                self.in_string = self.is_escaped;
                self.last = if self.in_string { self.last } else { bytes[at] };
            } else if !byte.is_ascii_whitespace() {
                match byte {
                    b'[' if self.place == Place::Before => {
                        self.place = Place::Inside;
                        return end(at);
                    }
                    b',' if self.depth == 0 => return end(at),
                    b']' if self.depth == 0 => {
                        self.place = Place::Behind;
                        return end(at);
                    }
                    b'{' if self.begins_item() => return Some(End { at, begins_next: true }),
                    b'"' => self.in_string = true,
                    b'[' | b'{' => self.depth += 1,
                    b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                self.first = if self.first == 0 { byte } else { self.first };
                self.last = byte;
            }
            at += 1;
        }
        None
    }

    /// Returns whether a brace at this place can only be the beginning of another item.
    fn begins_item(&self) -> bool {
        match self.depth {
            _ if self.last == b'\n' => true,
            0 => self.first != 0,
            depth => depth == 1 && self.first == b'{' && self.last != b':',
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::lines::line::{Line, Lines};
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

    #[test]
    fn a_broken_item_costs_no_later_one() {
        for broken in [
            r#"{"text":"a,"id":1},"#,
            r#"{"text":"a,"note":"see [1","id":1},"#,
            r#"{"text":"C:\\","path":"C:\"},"#,
            r#"{"text":"a\"#,
            r#"{"text":"a","id":1,"#,
            r#"{"text":"a","id":1"#,
            r#"{"text":"a","id":1}"#,
            r#"{"text":"a","tags":["b","id":1},"#,
            r#"{"text":["a","tags":{"b":1},"id":1},"#,
            r#"{"text":"a","tags":["b"]],"#,
            r#"{"text":"a","tags":["b"]]],"#,
            r#"{"text":"a"}},"#,
            r#"{"messages":[{"content":"a},{"content":"b"}]},"#,
        ] {
            for space in ["", "  ", "\t"] {
                let good = |id: u8| format!("{{\"text\":[{{\"b\":{id}}},\n {{}}],\n\"c\":{{}}}}");
                let all =
                    format!("[\n{space}{},\n{space}{broken}\n{space}{},\n{space}{}\n]\n", good(0), good(1), good(2));
                let texts = texts(&all);
                let kept = |id: u8| texts.iter().filter(|text| **text == good(id)).count();
                assert_eq!((0..3).map(kept).collect::<Vec<_>>(), [1, 1, 1], "{broken}: {texts:?}");
                assert!(texts.len() <= 5, "{texts:?}");
            }
        }
        // A string that is not closed on its line, in an item of several lines.
        let lines =
            "[\n  {\n    \"text\": \"a,\n    \"more\": [\n      {\n        \"b\": 1\n      }\n    ]\n  },\n  {}\n]";
        assert_eq!((texts(lines).len(), texts(lines)[1].as_str()), (2, "{}"));
        assert_eq!(
            texts(r#"[{"a":1 {"b":2},{"c":"x},{"d":"y"}"#),
            ["{\"a\":1", "{\"b\":2}", "{\"c\":\"x},{\"d\":\"y\"}"]
        );
    }

    #[test]
    fn an_array_without_its_end_is_damaged() {
        let damage = |text: &str| {
            let mut lines = Lines::new(text.as_bytes(), 0, 1000).items(true);
            while lines.step().expect("memory").is_some() {}
            lines.unclosed(0).map(|damage| damage.why)
        };
        for closed in ["[]", "[1]\n", "[{\"a\":[\"]\"]},\n{}]", "[{\"a\n{}]", "[1]]\n{", ""] {
            assert_eq!(damage(closed), None, "{closed}");
        }
        for open in ["[", "[1,", "[{}", "[{},\n{}\n"] {
            assert!(damage(open).is_some_and(|why| why.contains("truncated: its array")), "{open}");
        }
        for open in ["[1,{\"a\":1", "[{},{\"a\":\"x]}", "[1,{\"a\":[{},{]", "[{},\"a"] {
            let why = damage(open).expect("damage");
            assert!(why.contains("which begins at byte 3") || why.contains("which begins at byte 4"), "{open}: {why}");
        }
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
