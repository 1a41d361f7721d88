//! Describes data after the last member of a compressed file, and decides whether such data is reported as a note or as lost data.

/// The maximum number of bytes after the last member that may be unrelated data, such as a signature; more bytes mean that data was lost.
const FEW_BYTES: u64 = 1 << 10;

/// Data after the last member of a compressed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rest {
    /// The position of the first byte.
    pub start: u64,
    pub bytes: u64,
    pub only_zeros: bool,
    /// Whether the data differs from the beginning of a member in only one byte.
    pub is_damaged: bool,
}

/// Describes the data after the last member, for a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Behind {
    said: String,
    lost: u64,
}

impl Behind {
    pub(crate) fn of(rest: &Rest) -> Behind {
        let Rest { start, bytes, .. } = *rest;
        let is_lost = !rest.only_zeros && (bytes > FEW_BYTES || rest.is_damaged);
        let what = match (rest.only_zeros, is_lost) {
            (true, _) => "zeros and were ignored",
            (false, false) => "not compressed data and were ignored",
            (false, true) => "damaged, because no compressed data begins there; the rows before them are used",
        };
        Behind {
            said: format!("the last {bytes} bytes, from byte {start}, are {what}"),
            lost: if is_lost { bytes } else { 0 },
        }
    }

    /// Returns either a note or the lost part.
    pub(crate) fn notes(behind: Option<Behind>) -> (Vec<String>, Option<Lost>) {
        match behind {
            None => (Vec::new(), None),
            Some(Behind { said, lost: 0 }) => (vec![said], None),
            Some(Behind { said: why, lost: bytes }) => (Vec::new(), Some(Lost { why, bytes })),
        }
    }
}

/// A part of a file from which no row could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// A description of the problem.
    pub why: String,
    /// The size of the part on disk, in bytes.
    pub bytes: u64,
}
