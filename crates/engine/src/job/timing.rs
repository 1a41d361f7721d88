//! Estimates, from a sample of the documents, how long each algorithm alone takes to sign the corpus.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::row::Signatures;
use dupsift_text::Analysis;

/// The interval between timed documents in a large corpus.
const TIMED: u64 = 128;
/// The minimum number of timed documents, unless the corpus is smaller.
const TIMED_AT_LEAST: u64 = 512;

/// Selects the documents whose signing is timed.
#[derive(Clone, Copy)]
pub(crate) struct Sample {
    /// The interval between timed documents.
    every: u64,
}

impl Sample {
    /// Returns the sample for a corpus with this number of documents.
    pub(crate) fn of(documents: u64) -> Sample {
        Sample { every: (documents / TIMED_AT_LEAST).clamp(1, TIMED) }
    }

    /// Returns whether the sample contains this document.
    pub(crate) fn has(self, doc: u64) -> bool {
        doc.is_multiple_of(self.every)
    }
}

/// Holds the time that one algorithm took to sign the sample, excluding work that all algorithms share.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Timed {
    took: Duration,
    /// The total size of the text of timed documents, in bytes.
    bytes: u64,
}

impl Timed {
    /// Signs a document a second time, after the data shared by all algorithms has been computed, and measures the time. The shorter of two
    /// measurements is used, because another process may have used the CPU during the longer measurement.
    pub fn add(&mut self, bound: &Bound<'_>, document: &Analysis<'_>, bytes: u64, scratch: &mut Signatures) {
        let mut once = || {
            scratch.clear();
            let begin = Instant::now();
            bound.signer.sign(document, scratch);
            begin.elapsed()
        };
        self.took += once().min(once());
        self.bytes += bytes;
    }

    /// Adds the times that another thread measured.
    pub fn merge(&mut self, other: Timed) {
        self.took += other.took;
        self.bytes += other.bytes;
    }

    /// Returns the estimated time in seconds for this number of bytes of text.
    pub fn seconds(self, text_bytes: u64) -> f64 {
        self.took.as_secs_f64() * text_bytes as f64 / self.bytes.max(1) as f64
    }
}
