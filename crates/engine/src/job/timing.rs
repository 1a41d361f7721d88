//! What signing takes of each algorithm alone, estimated from a sample of the documents.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use dupsift_algorithms::stage::bound::Bound;
use dupsift_core::row::Signatures;
use dupsift_text::Analysis;

/// One document in so many is timed, of a large corpus.
const TIMED: u64 = 128;
/// So many are timed at least, where there are as many.
const TIMED_AT_LEAST: u64 = 512;

/// Which documents are timed.
#[derive(Clone, Copy)]
pub struct Sample {
    /// One in so many.
    every: u64,
}

impl Sample {
    /// Of so many documents.
    pub fn of(documents: u64) -> Sample {
        Sample { every: (documents / TIMED_AT_LEAST).clamp(1, TIMED) }
    }

    /// Whether it has this document.
    pub fn has(self, doc: u64) -> bool {
        doc.is_multiple_of(self.every)
    }
}

/// What signing the sample took of one algorithm, all that is shared being there already.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub struct Timed {
    took: Duration,
    /// Bytes of the texts.
    bytes: u64,
}

impl Timed {
    /// Signs a document again, when all that the algorithms share has been cut. Of two times the shorter one counts: something
    /// else may have had the processor during the other.
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

    /// Adds what another thread timed.
    pub fn merge(&mut self, other: Timed) {
        self.took += other.took;
        self.bytes += other.bytes;
    }

    /// Seconds for texts of so many bytes.
    pub fn seconds(self, text_bytes: u64) -> f64 {
        self.took.as_secs_f64() * text_bytes as f64 / self.bytes.max(1) as f64
    }
}
