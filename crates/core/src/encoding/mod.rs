//! Parses the names of encodings, and detects the encoding of text files.

pub mod detect;

use crate::error::{Error, Result, did_you_mean};

/// The encoding of files that do not declare an encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8; rows that are not valid UTF-8 are rejected.
    #[default]
    Utf8,
    /// The encoding is detected from the bytes of each file.
    Auto,
    /// The given encoding.
    Named(&'static encoding_rs::Encoding),
}

/// The names for spelling suggestions; all labels of the WHATWG Encoding Standard are accepted.
const USUAL: [&str; 12] = [
    "utf-8",
    "auto",
    "gbk",
    "gb18030",
    "gb2312",
    "big5",
    "windows-1251",
    "koi8-r",
    "utf-16le",
    "utf-16be",
    "iso-8859-1",
    "windows-1252",
];

impl Encoding {
    /// Parses `utf-8`, `auto` or a label of the WHATWG Encoding Standard, such as `gbk`.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for an unknown name.
    pub fn parse(typed: &str) -> Result<Encoding> {
        let label = typed.trim().to_ascii_lowercase();
        if label == "auto" {
            return Ok(Encoding::Auto);
        }
        match encoding_rs::Encoding::for_label_no_replacement(label.as_bytes()) {
            Some(encoding) if encoding == encoding_rs::UTF_8 => Ok(Encoding::Utf8),
            Some(encoding) => Ok(Encoding::Named(encoding)),
            None => Err(Error::wrong(
                "encoding",
                format_args!(
                    "there is no encoding {typed:?}{}; expected utf-8, auto, or a label of the WHATWG Encoding \
                 Standard such as gbk, big5 or windows-1251",
                    did_you_mean(&label, USUAL)
                ),
            )),
        }
    }
}

impl std::fmt::Display for Encoding {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Encoding::Utf8 => out.write_str("utf-8"),
            Encoding::Auto => out.write_str("auto"),
            Encoding::Named(encoding) => out.write_str(&encoding.name().to_ascii_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_and_printed_back() {
        for name in ["utf-8", "auto", "gbk", "big5", "windows-1251"] {
            assert_eq!(Encoding::parse(name).unwrap().to_string(), name);
        }
        assert_eq!(Encoding::parse("GB2312").unwrap().to_string(), "gbk");
        assert!(Encoding::parse("windows1251x").unwrap_err().to_string().contains("did you mean"));
    }
}
