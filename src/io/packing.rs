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

    /// What messages add to the name of a format: ` in gzip`.
    pub(super) fn said(self) -> String {
        let named = PACKINGS.into_iter().find(|(packing, ..)| *packing == self);
        named.map_or_else(String::new, |(_, _, name)| format!(" in {name}"))
    }
}
