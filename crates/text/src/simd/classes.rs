//! Defines the classes of bytes. All three implementations compute identical classes.

/// The classes of 64 bytes of normalized text, one bit per byte. The lowest bit belongs to the first byte. A byte without a class is an
/// ASCII mark that may be inside a word (`'` `.` `:` `,` `;` `"`). Bytes after the end of the text are borders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classes {
    /// Bytes of ASCII letters and digits, and of letters from U+0400 to U+047F.
    pub letter: u64,
    /// Bytes of characters that end words: ASCII characters, quotation marks, dashes and Chinese marks.
    pub border: u64,
    /// Bytes of characters from U+4E00 to U+9FFF.
    pub han: u64,
    /// Bytes of any other character, which the caller must decode.
    pub other: u64,
}
