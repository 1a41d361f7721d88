//! Determines, part by part, whether a line is blank, and removes a byte order mark, which Windows editors write at the beginning of UTF-8
//! files and which is not part of the first line.

/// The UTF-8 byte order mark.
pub(super) const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The part of a line that has been read so far.
pub(super) struct Begun {
    /// The number of bytes of the byte order mark that have been matched so far.
    marked: usize,
    may_be_marked: bool,
    /// Whether the part contains only white space.
    pub is_blank: bool,
    /// Returns whether a byte may occur in a blank line.
    white: fn(&u8) -> bool,
    /// Whether the bytes are UTF-8 text, in which there is white space beyond ASCII, such as U+3000.
    is_utf8: bool,
    /// The first bytes of a character that may be white space beyond ASCII.
    letter: Vec<u8>,
}

impl Begun {
    /// Begins a line. `is_first` states whether the line is the first of a file, which may begin with a byte order mark.
    pub(crate) fn new(is_first: bool, white: fn(&u8) -> bool, is_utf8: bool) -> Begun {
        Begun { marked: 0, may_be_marked: is_first, is_blank: true, white, is_utf8, letter: Vec::new() }
    }

    /// Returns earlier bytes that turned out not to belong to a byte order mark, and the part without a byte order mark.
    pub(crate) fn goes_on<'p>(&mut self, mut part: &'p [u8]) -> (&'static [u8], &'p [u8]) {
        let mut no_mark: &[u8] = &[];
        while let (true, Some((first, rest))) = (self.may_be_marked, part.split_first()) {
            self.may_be_marked = *first == MARK[self.marked];
            if self.may_be_marked {
                self.marked += 1;
                part = rest;
                self.may_be_marked = self.marked < MARK.len();
            } else {
                no_mark = &MARK[..self.marked];
            }
        }
        self.is_blank = self.is_blank && no_mark.is_empty() && part.iter().all(|byte| self.is_white(*byte));
        (no_mark, part)
    }

    /// Returns whether the next byte may belong to a blank line.
    fn is_white(&mut self, byte: u8) -> bool {
        if self.letter.is_empty() && !(self.is_utf8 && is_first_of_white(byte)) {
            return (self.white)(&byte);
        }
        self.letter.push(byte);
        match std::str::from_utf8(&self.letter) {
            Ok(letter) => {
                let is_white = letter.chars().all(char::is_whitespace);
                self.letter.clear();
                is_white
            }
            Err(error) => error.error_len().is_none(),
        }
    }

    /// Returns the bytes of an incomplete byte order mark at the end of the line.
    pub(crate) fn ends(&mut self) -> &'static [u8] {
        let no_mark = if self.may_be_marked { &MARK[..self.marked] } else { &[] };
        self.is_blank = self.is_blank && no_mark.is_empty() && self.letter.is_empty();
        no_mark
    }
}

/// Returns whether white space beyond ASCII may begin with this byte in UTF-8.
fn is_first_of_white(byte: u8) -> bool {
    matches!(byte, 0xC2 | 0xE1 | 0xE2 | 0xE3)
}
