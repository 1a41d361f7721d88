//! Formats data values for messages.

use crate::number::counted;
use std::borrow::Cow;

/// The maximum number of characters of a value that are shown in a message.
const SHOWN: usize = 200;

/// Formats a value for a message, a log line or a record; a long value is truncated and followed by its length in characters.
pub fn shortened(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(SHOWN) {
        None => Cow::Borrowed(value),
        Some((end, _)) => {
            Cow::Owned(format!("{}… ({})", &value[..end], counted(value.chars().count() as u64, "character")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_cut_between_characters() {
        assert_eq!(shortened("site"), "site");
        let longest = "字".repeat(SHOWN);
        assert_eq!(shortened(&longest), longest);
        assert_eq!(shortened(&format!("{longest}末末")), format!("{longest}… (202 characters)"));
    }
}
