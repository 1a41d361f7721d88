//! Determines the compression of a file from its last file extension.

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
    pub(super) fn ending(self) -> &'static str {
        PACKINGS.into_iter().find(|(packing, ..)| *packing == self).map_or("", |(_, ending, _)| ending)
    }

    /// The number of bytes at the beginning of a file that identify its compression.
    pub(super) const SIGN_BYTES: usize = 4;

    /// Returns the compression that the first bytes of a file indicate.
    pub(super) fn of_bytes(first: &[u8]) -> Packing {
        match first {
            [0x1F, 0x8B, ..] => Packing::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// Returns the suffix that follows a format's name in messages: ` in gzip`.
    pub(super) fn said(self) -> String {
        let named = PACKINGS.into_iter().find(|(packing, ..)| *packing == self);
        named.map_or_else(String::new, |(_, _, name)| format!(" in {name}"))
    }
}
