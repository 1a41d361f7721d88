//! Finds where the items of a JSON array end, so that an array can be read in the same way as lines.
//!
//! Only brackets, commas and strings are tracked; each item is parsed later, like a line. An item therefore ends at the comma or bracket
//! that follows it, and the text between two items is blank. Items go on after the bracket that closes the array, because the bracket may
//! belong to a broken item, and because another array or lines may follow.
//!
//! A missing, misplaced or surplus comma or bracket between two items is counted and costs nothing. A missing quote, bracket or brace costs
//! one item. An item ends before a brace where JSON allows none: after a complete value, in an object where a name is expected, or at the
//! beginning of the line after a string that was not closed. A string ends with its line. In an object, a closing bracket is ignored, and a
//! closing brace also closes the lists in the object.
//!
//! An item that was cut off in a list contains later items, until brackets do not match or to the end of the file. The file is then read once
//! more; see [`CutOff`]. If the file is truncated, its last item is cut off, and lines in this item are not items.

use crate::cut_off::CutOff;

/// The state of a read of an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Items {
    /// The byte that ended the previous item: a comma, the bracket that opens or closes the array, or the brace of the next item. A null
    /// byte at the beginning of the file.
    previous: u8,
    /// Whether the array that was opened last is closed.
    is_closed: bool,
    /// The number of missing, misplaced and surplus commas and brackets between items.
    defects: u64,
    open: Open,
    in_string: bool,
    /// Whether the next byte belongs to an escape sequence.
    is_escaped: bool,
    /// The first byte of the current item, and the last byte outside of strings, without white space; 0 at the beginning of an item. The
    /// last byte is a line feed after a string that was not closed on its line, also if a comma follows.
    first: u8,
    last: u8,
    /// The offset of the current item.
    from: u64,
    /// The greatest indentation of a line that may begin the next item, and whether such a line ends the current item.
    column: Option<u64>,
    splits: bool,
    /// The indentation of the current line, if only white space and commas precede this place. Some files have the comma before an item on
    /// the item's line.
    indentation: Option<u64>,
    /// Whether the current item contains a line that may begin the next item, and whether a valid item did.
    has_line: bool,
    has_lines: bool,
    /// The first broken item that contains such a line.
    broken: Option<CutOff>,
}

/// The brackets and braces that are open in an item.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    depth: u64,
    /// Whether each is a brace; the lowest bit is the innermost. Those beyond the width count as brackets.
    braces: u128,
    is_mismatched: bool,
}

impl Open {
    fn push(&mut self, is_brace: bool) {
        self.depth += 1;
        self.braces = self.braces << 1 | u128::from(is_brace);
    }

    /// Closes the innermost brace and the brackets in it, or a bracket if no brace is known.
    fn close_brace(&mut self) {
        let brackets = self.braces.trailing_zeros();
        let closed = if brackets < u128::BITS { brackets + 1 } else { 1 };
        self.is_mismatched |= closed > 1;
        self.braces = self.braces.checked_shr(closed).unwrap_or(0);
        self.depth = self.depth.saturating_sub(closed.into());
    }

    /// Closes the innermost bracket unless it is in a brace that is still open.
    fn close_bracket(&mut self) {
        if self.braces & 1 == 0 {
            self.braces >>= 1;
            self.depth = self.depth.saturating_sub(1);
        } else {
            self.is_mismatched = true;
        }
    }
}

/// The end of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct End {
    /// The position of the byte that ends the item.
    pub at: usize,
    /// Whether this byte begins the next item; otherwise it belongs to neither.
    pub begins_next: bool,
    /// The number of bytes before this byte in its line, if they are white space.
    pub indentation: Option<u64>,
}

impl Items {
    /// Returns the state at the beginning of the file, before the bracket that opens the array, or, unless `is_first`, between two items.
    pub(crate) fn new(is_first: bool) -> Items {
        Items {
            previous: if is_first { 0 } else { b',' },
            is_closed: false,
            defects: 0,
            open: Open::default(),
            in_string: false,
            is_escaped: false,
            first: 0,
            last: 0,
            from: 0,
            column: None,
            splits: false,
            indentation: None,
            has_line: false,
            has_lines: false,
            broken: None,
        }
    }

    /// Returns whether the array is open or was closed.
    pub(crate) fn has_begun(&self) -> bool {
        self.previous != 0
    }

    /// Returns whether the array has begun and has no closing bracket.
    pub(crate) fn lacks_end(&self) -> bool {
        self.has_begun() && !self.is_closed
    }

    /// Returns whether the current item ends with a closing bracket outside of strings.
    pub(crate) fn ends_with_bracket(&self) -> bool {
        !self.in_string && self.last == b']'
    }

    /// Returns the number of missing, misplaced and surplus commas and brackets.
    pub(crate) fn defects(&self) -> u64 {
        self.defects
    }

    /// Counts surplus commas, which were skipped. A comma after a misplaced bracket is right.
    pub(crate) fn skipped(&mut self, commas: usize) {
        self.defects += if self.previous == b']' { 0 } else { commas as u64 };
    }

    /// Begins an item at this offset. `column` is the number of bytes before it in its line, if no other item precedes it there.
    pub(crate) fn begin(&mut self, offset: u64, column: Option<u64>, cut_off: Option<CutOff>) {
        // The previous item has no end.
        if std::mem::take(&mut self.has_line) {
            self.is_broken();
        }
        let cut_off = cut_off.filter(|cut_off| offset >= cut_off.from);
        (self.from, self.splits) = (offset, cut_off.is_some());
        self.column = cut_off.map_or(column, |cut_off| Some(cut_off.column));
    }

    fn is_broken(&mut self) {
        let item = self.column.map(|column| CutOff { from: self.from, column });
        self.broken = self.broken.or(item);
    }

    /// Returns the first item that may be cut off, if lines in it may be items; valid once everything has been read.
    pub(crate) fn cut_off(&self) -> Option<CutOff> {
        self.broken.filter(|_| !self.has_lines)
    }

    /// Returns whether nothing is open in the current item, so that it is complete if the file ends here.
    pub(crate) fn is_complete(&self) -> bool {
        self.open.depth == 0 && !self.in_string
    }

    /// Returns the end of the current item. If the item does not end in these bytes, they must not be passed again.
    pub(crate) fn end(&mut self, bytes: &[u8]) -> Option<End> {
        let end = self.found(bytes)?;
        let (by, is_blank) = (bytes[end.at], self.first == 0);
        // A brace ends a complete item if the comma between them is missing, and otherwise a broken item.
        let is_defect = match by {
            b'{' => self.is_complete() && self.last != b'\n',
            b']' => is_blank && self.previous == b',',
            _ => false,
        };
        self.defects += u64::from(is_defect) + u64::from(self.previous == b']' && (!is_blank || by == b'['));
        if std::mem::take(&mut self.has_line) {
            match self.is_complete() && !self.open.is_mismatched && self.last != b'\n' {
                true => self.has_lines = true,
                false => self.is_broken(),
            }
        }
        self.is_closed = by == b']' || (self.is_closed && by != b'[');
        self.previous = by;
        (self.open, self.in_string, self.is_escaped, self.first, self.last) = (Open::default(), false, false, 0, 0);
        self.indentation = None;
        Some(end)
    }

    fn found(&mut self, bytes: &[u8]) -> Option<End> {
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
                self.indentation = (bytes[at] == b'\n').then_some(0);
            } else if byte.is_ascii_whitespace() {
                self.indentation = if byte == b'\n' { Some(0) } else { self.indentation.map(|bytes| bytes + 1) };
            } else {
                let end = |of: &Items, begins_next| Some(End { at, begins_next, indentation: of.indentation });
                match byte {
                    // Another array may follow.
                    b'[' if self.previous == 0 || (self.first == 0 && self.previous == b']') => {
                        return end(self, false);
                    }
                    b',' | b']' if self.open.depth == 0 => return end(self, false),
                    b'{' if self.begins_item() => return end(self, true),
                    b'"' => self.in_string = true,
                    b'[' | b'{' => {
                        self.has_line |= byte == b'{' && self.is_line();
                        self.open.push(byte == b'{');
                    }
                    b']' => self.open.close_bracket(),
                    b'}' => self.open.close_brace(),
                    _ => {}
                }
                self.first = if self.first == 0 { byte } else { self.first };
                self.last = if byte == b',' && self.last == b'\n' { self.last } else { byte };
                self.indentation = self.indentation.filter(|_| byte == b',').map(|bytes| bytes + 1);
            }
            at += 1;
        }
        None
    }

    /// Returns whether a brace at this place begins a line that may be the next item.
    fn is_line(&self) -> bool {
        self.first != 0 && self.indentation.zip(self.column).is_some_and(|(bytes, most)| bytes <= most)
    }

    /// Returns whether a brace at this place can only be the beginning of another item.
    fn begins_item(&self) -> bool {
        match self.open.depth {
            _ if self.last == b'\n' || (self.splits && self.is_line()) => true,
            0 => self.first != 0,
            depth => depth == 1 && self.first == b'{' && self.last != b':',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::CutOff;
    use crate::compressed::coding::Coding;
    use crate::lines::line::{Line, Lines};
    use proptest::prelude::*;
    use std::io::BufReader;

    /// Returns a read of an array from its beginning.
    fn array(text: &str) -> Lines<&[u8]> {
        Lines::new(text.as_bytes(), 0, 1000).items(Coding { is_array: true, ..Coding::default() })
    }

    /// Returns the first item that has no end, if lines after it may be items.
    fn cut_off(text: &str) -> Option<CutOff> {
        let mut lines = array(text);
        while lines.step().expect("memory").is_some() {}
        lines.cut_off()
    }

    /// Returns the items, and the offset of each, as a reader with a small buffer finds them.
    fn items(text: &str, from: u64, buffer: usize) -> Vec<(u64, String)> {
        let reader = BufReader::with_capacity(buffer, &text.as_bytes()[from as usize..]);
        let coding = Coding { is_array: true, cut_off: cut_off(text), ..Coding::default() };
        let mut lines = Lines::new(reader, from, 1000).items(coding);
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
        assert_eq!(texts("[{\"a\":1},{\"a\":"), ["{\"a\":1}", "{\"a\":"]);
    }

    #[test]
    fn items_go_on_after_a_closing_bracket() {
        for (text, expected, defects) in [
            ("[1,2]\n", &["1", "2"][..], 0),
            ("[]", &[], 0),
            ("[1,,2][3,4]\n{},\n{}", &["1", "2", "3", "4", "{}", "{}"], 3),
            ("[{}]\n{}\n{}", &["{}", "{}", "{}"], 2),
            ("[1],\n2,\n3]", &["1", "2", "3"], 1),
            ("[1]] 2, [3]", &["1", "2", "[3]"], 1),
            ("[1], [2]\n\n[3]", &["1", "2", "3"], 2),
            ("[1}},2]}],2]", &["1}}", "2", "}", "2"], 2),
            ("[,1\n,\n2,]", &["1", "2"], 2),
            ("[{} {}\n{}]", &["{}", "{}", "{}"], 2),
            ("[[1],[2]]", &["[1]", "[2]"], 0),
        ] {
            assert_eq!(texts(text), expected, "{text}");
            let mut lines = array(text);
            while lines.step().expect("memory").is_some() {}
            assert_eq!((lines.defects(), lines.unclosed(0).is_some()), (defects, false), "{text}");
        }
    }

    #[test]
    fn a_cut_off_item_costs_no_later_one() {
        let good = |id: u8| format!("{{\"text\":[{{\"b\":{id}}},\n    {{}}],\n   \"c\":{{}}}}");
        for broken in [
            r#"{"text":"a","tags":["b","#,
            r#"{"text":"a","tags":["b""#,
            r#"{"text":"a","tags":["b,"#,
            r#"{"text":"a","tags":["#,
            r#"{"text":"a","tags":[{"b":[{"#,
            r#"{"text":"a","tags":[{"b":"#,
            "{\"text\":\"a\",\"tags\":[\n    {\"b\":[\r",
        ] {
            for space in ["", "  ", "\t"] {
                let [a, b, c] = [good(0), good(1), good(2)];
                for all in [
                    format!("[\n{space}{a},\n{space}{broken}\n{space}{b},\n{space}{broken}\n{broken}\n{space}{c}\n]\n"),
                    format!("[\n{a}\n,{space}{broken}\n,{space}{b}\n,{space}{broken}\n,{broken}\n,{space}{c}\n]\n"),
                ] {
                    let texts = texts(&all);
                    assert_eq!(texts.iter().filter(|text| [&a, &b, &c].contains(text)).count(), 3, "{all}: {texts:?}");
                    assert_eq!(texts.len(), 6, "{texts:?}");
                }
            }
        }
        // A valid item may contain lines that look like items, and so may the last item of a truncated file.
        let valid = "[\n{\"a\":[\n{\"b\":1},\n{\"b\":2}\n]\n},\n{}]";
        assert_eq!((cut_off(valid), texts(valid).len()), (None, 2));
        let nested = "[\n{\"a\":[\n{}\n]},\n{\"b\":[\n{},\n{}]\n";
        assert_eq!(cut_off(nested), None, "another item has such lines");
        assert_eq!(cut_off("[\n{\"b\":[\n{},\n{}]\n"), Some(CutOff { from: 2, column: 0 }));
        assert_eq!(cut_off("[{}, {\"a\":[\n{},\n{}]"), None, "another item precedes it in its line");
    }

    #[test]
    fn brackets_in_an_item_that_do_not_match_cost_no_later_one() {
        for broken in [
            r#"{"text":see] this", "id":1},"#,
            r#"{"text":"a","tags":"b"],"id":1},"#,
            r#"{"text":see [1, "id":1},"#,
            r#"{"text":"a","tags":[["b",["c","id":1},"#,
            r#"{"text":"a","id":1}],"#,
            r#"{"text":"a","id":1}]"#,
            r#"{"text":"a","id":1]},"#,
        ] {
            let texts = texts(&format!("[\n{{\"id\":0}},\n{broken}\n{{\"id\":2}},\n{{\"id\":3}}\n]\n"));
            assert_eq!(texts.len(), 4, "{texts:?}");
            assert_eq!([&texts[0], &texts[2], &texts[3]], ["{\"id\":0}", "{\"id\":2}", "{\"id\":3}"]);
        }
        // More levels than are known.
        let deep = format!("[{}{},{{}}]", "{\"a\":[".repeat(70), "]}".repeat(70));
        assert_eq!((texts(&deep).len(), texts(&deep)[1].as_str()), (2, "{}"));
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
            let mut lines = array(text);
            while lines.step().expect("memory").is_some() {}
            lines.unclosed(0).map(|damage| damage.why)
        };
        for closed in ["[]", "[1]\n", "[{\"a\":[\"]\"]},\n{}]", "[{\"a\n{}]", "[1]]\n{}", ""] {
            assert_eq!(damage(closed), None, "{closed}");
        }
        for open in ["[", "[1,", "[{}", "[{},\n{}\n", "[1][2"] {
            assert!(damage(open).is_some_and(|why| why.contains("truncated: its array")), "{open}");
        }
        for open in ["[1,{\"a\":1", "[{},{\"a\":\"x]}", "[1,{\"a\":[{},{]", "[{},\"a", "[1]{\"a"] {
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
            for (number, (start, _)) in all.iter().enumerate() {
                prop_assert_eq!(&items(&text, *start, 7), &all[number..]);
            }
        }
    }
}
