//! Builds the normalized pieces of a document's text, character by character.

/// The finished pieces and the current piece of the text.
pub(crate) struct Pieces {
    /// The normalized text so far. Each finished piece is followed by a space.
    pub text: Vec<u8>,
    /// The end of each finished piece in `text`, before the space that follows the piece.
    pub ends: Vec<u32>,
    /// The start of the current piece in `text`.
    pub start: usize,
    /// The beginning of the current piece in the original text, including any leading white space.
    pub begin: usize,
}

impl Pieces {
    /// Returns whether the current piece is still empty.
    #[inline]
    pub(crate) fn is_at_start(&self) -> bool {
        self.text.len() == self.start
    }

    /// Returns whether a space at the end of the text would be redundant.
    #[inline]
    pub(crate) fn is_behind_space(&self) -> bool {
        self.is_at_start() || self.text.last() == Some(&b' ')
    }

    /// Appends the normalized form of a character. Returns `false` if the character is not plain.
    #[inline]
    pub(crate) fn push(&mut self, c: char) -> bool {
        match plain(c) {
            Some(' ') => {
                if !self.is_behind_space() {
                    self.text.push(b' ');
                }
            }
            Some(ascii @ '\0'..='\x7F') => self.text.push(ascii as u8),
            Some(normal) => self.text.extend_from_slice(normal.encode_utf8(&mut [0; 4]).as_bytes()),
            None => return false,
        }
        true
    }

    /// Ends the current piece. A piece without visible characters is dropped. The next piece begins at `begin`.
    pub(crate) fn end(&mut self, begin: usize) {
        if self.text.len() > self.start && self.text.last() == Some(&b' ') {
            self.text.pop();
        }
        if self.text.len() > self.start {
            self.ends.push(self.text.len() as u32);
            self.text.push(b' ');
            self.start = self.text.len();
        }
        self.begin = begin;
    }
}

/// Returns the normalized form of a plain character; `None` for any other character.
#[inline]
pub(crate) fn plain(c: char) -> Option<char> {
    const LOW: [u16; 0x460] = {
        let mut table = [0; 0x460];
        let mut c = 0;
        while c < table.len() {
            table[c] = match c as u16 {
                0x09..=0x0D | 0xA0 => 0x20,
                upper @ (0x41..=0x5A | 0x410..=0x42F) => upper + 0x20,
                upper @ 0x400..=0x40F => upper + 0x50,
                same @ (1..=0x7F | 0xAB | 0xBB | 0x430..=0x45F) => same,
                _ => 0,
            };
            c += 1;
        }
        table
    };
    if let Some(&normal) = LOW.get(c as usize) {
        return if normal == 0 { None } else { char::from_u32(normal.into()) };
    }
    Some(match c {
        '\u{3400}'..='\u{9FFF}' => c,
        '\u{FF01}'..='\u{FF5E}' => ((c as u32 - 0xFEE0) as u8 as char).to_ascii_lowercase(),
        '\u{2028}' | '\u{2029}' | '\u{3000}' => ' ',
        '–' | '—' | '‘' | '’' | '“' | '”' | '„' | '•' => c,
        '\u{3001}'..='\u{3003}' | '\u{3005}' | '\u{3007}'..='\u{3011}' => c,
        _ => return None,
    })
}
