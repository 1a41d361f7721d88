//! Why a row, or a whole file, could not be used: a value that can be counted, and beside it the part that differs from row to
//! row.

use dupsift_core::shown::shortened;
use std::fmt;

/// Why a row could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RejectReason {
    /// There is no text: null, or the field is not there.
    NullText,
    /// The bytes are not those of a text in UTF-8.
    NotUtf8,
    /// A line is not an object of JSON.
    NotJson,
    /// A value is of a type that is no text, or no id.
    WrongType,
    /// More bytes than can be worked on.
    TooLong,
    /// A record of a web archive, or of separated values, that is damaged or not as the format says; an object with a field twice.
    BrokenRecord,
    /// The body of an answer cannot be unpacked.
    DamagedBody,
    /// The body of an answer is packed in a way that is not read.
    UnreadEncoding,
    /// The parser gave up on the page.
    ParserFailed,
    /// The whole file cannot be used.
    UnusableFile,
    /// The answer is of a type that holds no page.
    NotHtml,
    /// The answer of the server is not the page that was asked for.
    HttpStatus,
    /// The page is of a type that is left out.
    SkippedPage,
    /// The page has no text.
    NoBody,
    /// A label lacks one of its two ids.
    NullId,
}

impl RejectReason {
    /// All of them, in the order of their codes.
    pub const ALL: [RejectReason; 15] = [
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
    ];

    /// As it stands in `rejected/`, in run.json and in the summary.
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
        }
    }

    /// Whether something is wrong with the row. If not, the row is left out by its kind: it is what it should be, but not what
    /// the corpus is made of.
    pub const fn is_broken(self) -> bool {
        !matches!(
            self,
            RejectReason::NotHtml | RejectReason::HttpStatus | RejectReason::SkippedPage | RejectReason::NoBody
        )
    }

    /// A number for work files.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The reason with that code.
    pub fn of_code(code: u8) -> Option<RejectReason> {
        RejectReason::ALL.get(usize::from(code)).copied()
    }
}

impl fmt::Display for RejectReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text())
    }
}

/// Why one row could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The reason.
    pub reason: RejectReason,
    /// What differs from row to row: numbers of bytes, messages of parsers. May be empty.
    pub detail: String,
}

impl Rejection {
    /// A rejection with its detail, of which no more is kept than a message shows.
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
    fn a_rejection_is_told_with_its_detail() {
        assert_eq!(Rejection::from(RejectReason::NullText).to_string(), "null text");
        assert_eq!(Rejection::new(RejectReason::HttpStatus, "404").to_string(), "HTTP status: 404");
    }
}
