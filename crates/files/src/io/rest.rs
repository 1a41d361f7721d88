//! What stands behind the last member of a compressed file and is none: how it is told, and whether data was lost with it.

/// Bytes behind the last member that may be something else, such as a signature; more than that is data that was lost.
const FEW_BYTES: u64 = 1 << 10;

/// What stands behind the last member and is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    /// Its first byte.
    pub start: u64,
    pub bytes: u64,
    pub only_zeros: bool,
    /// Whether it begins as a member does but for one byte.
    pub is_damaged: bool,
}

/// What a reader should know of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Behind {
    said: String,
    lost: u64,
}

impl Behind {
    pub fn of(rest: &Rest) -> Behind {
        let Rest { start, bytes, .. } = *rest;
        let is_lost = !rest.only_zeros && (bytes > FEW_BYTES || rest.is_damaged);
        let what = match (rest.only_zeros, is_lost) {
            (true, _) => "zeros and were left out",
            (false, false) => "no compressed data and were left out",
            (false, true) => "damaged: no compressed data begins there; the rows before them take part",
        };
        Behind {
            said: format!("the last {bytes} bytes, from byte {start}, are {what}"),
            lost: if is_lost { bytes } else { 0 },
        }
    }

    /// A note, or what was lost.
    pub fn notes(behind: Option<Behind>) -> (Vec<String>, Option<Lost>) {
        match behind {
            None => (Vec::new(), None),
            Some(Behind { said, lost: 0 }) => (vec![said], None),
            Some(Behind { said: why, lost: bytes }) => (Vec::new(), Some(Lost { why, bytes })),
        }
    }
}

/// A part of a file that no row could be read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// What is wrong with it.
    pub why: String,
    /// Its bytes on disk.
    pub bytes: u64,
}
