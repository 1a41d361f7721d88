//! How a file is compressed as a whole, by the last ending of its name.

/// A way of compressing a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// Not compressed.
    #[default]
    Plain,
    /// gzip: `.gz`
    Gzip,
    /// Zstandard: `.zst`
    Zstd,
}

/// All ways but the plain one: the ending, and how messages call it.
const PACKINGS: [(Packing, &str, &str); 2] = [(Packing::Gzip, ".gz", "gzip"), (Packing::Zstd, ".zst", "Zstandard")];

impl Packing {
    /// The endings of compressed files.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        PACKINGS.into_iter().map(|(_, ending, _)| ending)
    }

    /// The packing that a name in small letters ends in, and the name without that ending.
    pub fn of(name: &str) -> (Packing, &str) {
        let named = |(packing, ending, _): (Packing, &str, &str)| Some((packing, name.strip_suffix(ending)?));
        PACKINGS.into_iter().find_map(named).unwrap_or((Packing::Plain, name))
    }

    /// What its files end in; nothing for plain ones.
    pub(super) fn ending(self) -> &'static str {
        PACKINGS.into_iter().find(|(packing, ..)| *packing == self).map_or("", |(_, ending, _)| ending)
    }

    /// Bytes at the beginning of a file that tell how it is compressed.
    pub(super) const SIGN_BYTES: usize = 4;

    /// The packing that the first bytes of a file tell.
    pub(super) fn of_bytes(first: &[u8]) -> Packing {
        match first {
            [0x1F, 0x8B, ..] => Packing::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Packing::Zstd,
            _ => Packing::Plain,
        }
    }

    /// What messages add to the name of a format: ` in gzip`.
    pub(super) fn said(self) -> String {
        let named = PACKINGS.into_iter().find(|(packing, ..)| *packing == self);
        named.map_or_else(String::new, |(_, _, name)| format!(" in {name}"))
    }
}
