//! The classes of 64 bytes of a text, which all three kinds of code give alike.

/// What 64 bytes of a normalised text are, a bit a byte, the first byte lowest. A byte that is none of these is an ASCII
/// mark that may stand inside a word (`'` `.` `:` `,` `;` `"`). The text ends in borders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Of an ASCII letter or digit, or of a letter from U+0400 to U+047F.
    pub letter: u64,
    /// Of an ASCII character that ends words, a quotation mark, dash or Chinese mark that does.
    pub border: u64,
    /// Of a character from U+4E00 to U+9FFF.
    pub han: u64,
    /// Of any other character: the reader has to look at the characters themselves.
    pub other: u64,
}
