//! Holds the options of separated values: the quotation and the separator of fields.

use dupsift_core::error::{Error, Result};

/// Determines whether fields may be quoted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quoting {
    /// Double quotes, as in RFC 4180.
    #[default]
    Double,
    /// Quotation marks are treated as ordinary characters, and every line is a record.
    None,
}

impl Quoting {
    /// All values with their descriptions.
    pub const ALL: &'static [(&'static str, &'static str)] = &[
        ("double", "A field can be quoted, and a quotation mark inside it is doubled"),
        ("none", "Quotation marks are ordinary characters, and every line is a record"),
    ];

    /// Returns the value with this name; double quotes if the name is unknown.
    pub fn of(name: &str) -> Quoting {
        if name == Quoting::None.name() { Quoting::None } else { Quoting::Double }
    }

    /// Returns the name of the value.
    pub fn name(self) -> &'static str {
        match self {
            Quoting::Double => "double",
            Quoting::None => "none",
        }
    }
}

/// A field separator that does not depend on the file name: one ASCII character, or a tab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Separator(u8);

impl Separator {
    /// Parses one character, or `tab`.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for anything else.
    pub fn parse(typed: &str) -> Result<Separator> {
        let byte = match typed.as_bytes() {
            b"tab" | b"\\t" => Some(b'\t'),
            &[byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\r' | b'\n' | 0) => Some(byte),
            _ => None,
        };
        byte.map(Separator).ok_or_else(|| {
            Error::wrong(
                "separator",
                format_args!("it is {typed:?}; expected one ASCII character such as ; or |, or tab"),
            )
        })
    }

    /// Returns the separator as a byte.
    pub(crate) fn byte(self) -> u8 {
        self.0
    }
}

impl std::fmt::Display for Separator {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == b'\t' { out.write_str("tab") } else { write!(out, "{}", char::from(self.0)) }
    }
}
