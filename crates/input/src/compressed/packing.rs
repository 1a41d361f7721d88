//! Determines the compression of a file from its last file extension and its first bytes.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// A compression format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// No compression.
    #[default]
    Plain,
    /// gzip: `.gz`
    Gzip,
    /// Zstandard: `.zst`
    Zstd,
}

/// All compression formats, with their file extensions and their names in messages.
const PACKINGS: [(Packing, &str, &str); 2] = [(Packing::Gzip, ".gz", "gzip"), (Packing::Zstd, ".zst", "Zstandard")];

impl Packing {
    /// Returns the file extensions of compressed files.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        PACKINGS.into_iter().map(|(_, ending, _)| ending)
    }

    /// Returns the compression that a lowercase file name indicates, and the name without the compression's extension.
    pub fn of(name: &str) -> (Packing, &str) {
        let named = |(packing, ending, _): (Packing, &str, &str)| Some((packing, name.strip_suffix(ending)?));
        PACKINGS.into_iter().find_map(named).unwrap_or((Packing::Plain, name))
    }

    /// Returns the file extension; empty for plain files.
    pub(crate) fn ending(self) -> &'static str {
        PACKINGS.into_iter().find(|(packing, ..)| *packing == self).map_or("", |(_, ending, _)| ending)
    }

    /// The number of bytes at the beginning of a file that identify its compression.
    pub(crate) const SIGN_BYTES: usize = 4;

    /// Returns the compression that the first bytes of a file indicate.
    pub(crate) fn of_bytes(first: &[u8]) -> Packing {
        match first {
            [0x1F, 0x8B, ..] => Packing::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// Returns the compression of a file whose name indicates this compression. The content decides if it is compressed in a different way,
    /// or not compressed but text. Any other content is damaged data in the compression that the name indicates.
    pub(crate) fn of_file(self, path: &Path) -> Packing {
        let mut begin = [0; 64];
        let read = File::open(path).and_then(|file| file.read_at(&mut begin, 0)).unwrap_or(0);
        match Packing::of_bytes(&begin[..read]) {
            Packing::Plain if self != Packing::Plain && is_text(&begin[..read]) => Packing::Plain,
            Packing::Plain => self,
            found => found,
        }
    }

    /// Returns the suffix that follows a format's name in messages: ` in gzip`.
    pub(crate) fn said(self) -> String {
        let named = PACKINGS.into_iter().find(|(packing, ..)| *packing == self);
        named.map_or_else(String::new, |(_, _, name)| format!(" in {name}"))
    }
}

/// Returns whether these first bytes of a file are text in UTF-8; the last character may be incomplete.
fn is_text(begin: &[u8]) -> bool {
    let is_sign = |byte: &u8| *byte >= b' ' || byte.is_ascii_whitespace();
    let is_utf8 = std::str::from_utf8(begin).err().is_none_or(|error| error.error_len().is_none());
    !begin.is_empty() && is_utf8 && begin.iter().all(is_sign)
}
