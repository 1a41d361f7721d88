//! Describes why a row or an entire file is unusable: a reason that can be counted, and details that differ from row to row.

use dupsift_core::shown::shortened;
use std::fmt;

/// The reason why a row is unusable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RejectReason {
    /// There is no text, because the field is null or missing.
    NullText,
    /// The bytes are not valid UTF-8.
    NotUtf8,
    /// A line is not a JSON object.
    NotJson,
    /// A value has a type that is not valid for the text or the id.
    WrongType,
    /// The text exceeds the size limit.
    TooLong,
    /// A record in a web archive or in a CSV or TSV file is damaged or invalid, or a JSON object has a duplicate field.
    BrokenRecord,
    /// The body of a response cannot be decompressed.
    DamagedBody,
    /// The body of a response has an unsupported encoding.
    UnreadEncoding,
    /// The HTML parser failed on the page.
    ParserFailed,
    /// The entire file is unusable.
    UnusableFile,
    /// According to its media type, the response does not contain a page.
    NotHtml,
    /// The server did not return the requested page.
    HttpStatus,
    /// The page has a type that is skipped.
    SkippedPage,
    /// The page has no text.
    NoBody,
    /// A labeled pair lacks one of its two ids.
    NullId,
    /// The text is empty or consists only of white space.
    EmptyText,
}

impl RejectReason {
    /// All reasons, in the order of their codes.
    pub const ALL: [RejectReason; 16] = [
        RejectReason::NullText,
        RejectReason::NotUtf8,
        RejectReason::NotJson,
        RejectReason::WrongType,
        RejectReason::TooLong,
        RejectReason::BrokenRecord,
        RejectReason::DamagedBody,
        RejectReason::UnreadEncoding,
        RejectReason::ParserFailed,
        RejectReason::UnusableFile,
        RejectReason::NotHtml,
        RejectReason::HttpStatus,
        RejectReason::SkippedPage,
        RejectReason::NoBody,
        RejectReason::NullId,
        RejectReason::EmptyText,
    ];

    /// Returns the wording used in `rejected/`, in run.json and in the summary.
    pub const fn text(self) -> &'static str {
        match self {
            RejectReason::NullText => "null text",
            RejectReason::NotUtf8 => "not UTF-8",
            RejectReason::NotJson => "not JSON",
            RejectReason::WrongType => "wrong type",
            RejectReason::TooLong => "too long",
            RejectReason::BrokenRecord => "broken record",
            RejectReason::DamagedBody => "damaged body",
            RejectReason::UnreadEncoding => "encoding not read",
            RejectReason::ParserFailed => "parser failed",
            RejectReason::UnusableFile => "unusable file",
            RejectReason::NotHtml => "not HTML",
            RejectReason::HttpStatus => "HTTP status",
            RejectReason::SkippedPage => "skipped page type",
            RejectReason::NoBody => "no body",
            RejectReason::NullId => "null id",
            RejectReason::EmptyText => "empty text",
        }
    }

    /// Returns whether something is wrong with the row. Otherwise, the row is valid but is skipped because of its kind.
    pub const fn is_broken(self) -> bool {
        !matches!(
            self,
            RejectReason::NotHtml | RejectReason::HttpStatus | RejectReason::SkippedPage | RejectReason::NoBody
        )
    }

    /// Returns the number that represents the reason in temporary files.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the reason with this code.
    pub fn of_code(code: u8) -> Option<RejectReason> {
        RejectReason::ALL.get(usize::from(code)).copied()
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

/// Describes why one row is unusable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The reason for the rejection.
    pub reason: RejectReason,
    /// Details about this row, such as a size or a parser message; may be empty.
    pub detail: String,
}

impl Rejection {
    /// Creates a rejection; the detail is shortened to the maximum length shown in messages.
    pub fn new(reason: RejectReason, detail: impl Into<String>) -> Rejection {
        let detail = detail.into();
        Rejection { reason, detail: shortened(&detail).into_owned() }
    }
}

impl From<RejectReason> for Rejection {
    fn from(reason: RejectReason) -> Rejection {
        Rejection::new(reason, "")
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rejection { reason, detail } = self;
        if detail.is_empty() { write!(out, "{reason}") } else { write!(out, "{reason}: {detail}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_texts_name_one_reason_each() {
        for (at, reason) in RejectReason::ALL.into_iter().enumerate() {
            assert_eq!((usize::from(reason.code()), RejectReason::of_code(reason.code())), (at, Some(reason)));
            let same = RejectReason::ALL.into_iter().filter(|other| other.text() == reason.text()).count();
            assert!(
                same == 1 && !reason.text().contains(|sign: char| sign.is_ascii_digit() && sign != '8'),
                "{reason}"
            );
        }
        assert_eq!(RejectReason::of_code(RejectReason::ALL.len() as u8), None);
    }

    #[test]
    fn what_is_left_out_by_its_kind_is_not_broken() {
        let by_kind: Vec<&str> =
            RejectReason::ALL.into_iter().filter(|reason| !reason.is_broken()).map(RejectReason::text).collect();
        assert_eq!(by_kind, ["not HTML", "HTTP status", "skipped page type", "no body"]);
    }

    #[test]
    fn a_rejection_is_reported_with_its_detail() {
        assert_eq!(Rejection::from(RejectReason::NullText).to_string(), "null text");
        assert_eq!(Rejection::new(RejectReason::HttpStatus, "404").to_string(), "HTTP status: 404");
    }
}
