//! Collects the files and rows that could not be read, both in the corpus and in the other inputs, which contain documents or labels.
//!
//! A job passes on all of its losses as one value. The `rejected/` table, the guards, the record and the exit code are derived from that
//! value. A job that reads another input must add the losses of that input, so that no loss is overlooked.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::rejected::RejectionsReport;
use crate::session::Session;
use dupsift_algorithms::steps::guard::{Fired, ReadCounts};
use dupsift_input::BadInput;

/// The name of the corpus in the `input` column of `rejected/`.
pub const CORPUS: &str = "corpus";

/// Describes an input file that could be used only partially or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct BadInputReport {
    /// The name of the file, as used in ids.
    pub file: String,
    /// A description of the problem, with the expected and the actual value.
    pub why: String,
}

impl From<&BadInput> for BadInputReport {
    fn from(file: &BadInput) -> BadInputReport {
        BadInputReport { file: file.label.clone(), why: file.why.clone() }
    }
}

/// Holds the data that `run.json` records about an input other than the corpus.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct OtherInputReport {
    /// The name of the input, such as `reference` or `forget`.
    pub input: String,
    /// The files of the input that could be used only partially or not at all.
    pub bad_inputs: Vec<BadInputReport>,
    /// The number of rows in all usable files.
    pub rows: u64,
    /// The number of rows that were used.
    pub used: u64,
    /// The counts of the rejected rows, which are listed in `rejected/`.
    #[serde(flatten)]
    pub rejections: RejectionsReport,
    /// Additional warnings about the input.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl OtherInputReport {
    /// Returns whether part of the input could not be read.
    pub fn is_lossy(&self) -> bool {
        self.rejections.rows > 0 || !self.bad_inputs.is_empty()
    }
}

/// Holds the counts and losses of an input other than the corpus.
#[derive(Clone, Debug)]
pub struct OtherInput {
    /// The counts, for the record.
    pub report: OtherInputReport,
    /// The guards that fired while the input was read.
    pub fired: Vec<Fired>,
    /// A table in the format of `rejected/` with the rejected rows and files of this input.
    pub rejected: PathBuf,
}

impl OtherInput {
    /// Creates the record of an input that was read. `fired` holds the guards that fired during reading, and the `rejected` table lists the
    /// rows and files that could not be used.
    pub fn new(report: OtherInputReport, fired: Vec<Fired>, rejected: PathBuf) -> OtherInput {
        let guard = |fired: Fired| Fired { sentence: format!("{}: {}", report.input, fired.sentence), ..fired };
        let fired = fired.into_iter().map(guard).collect();
        OtherInput { report, fired, rejected }
    }
}

/// Holds everything that a job could not read.
#[derive(Clone, Debug)]
pub struct Losses<'l> {
    /// The files of the corpus that could be used only partially or not at all.
    pub bad: &'l [BadInput],
    /// The other inputs.
    pub others: Vec<&'l OtherInput>,
}

impl<'l> Losses<'l> {
    /// Returns the losses of a job that read the inputs in `others` in addition to the corpus.
    pub fn new(bad: &'l [BadInput], others: &'l [OtherInput]) -> Losses<'l> {
        Losses { bad, others: others.iter().collect() }
    }

    /// Adds the losses of another input.
    pub fn with(mut self, other: Option<&'l OtherInput>) -> Losses<'l> {
        self.others.extend(other);
        self
    }

    /// Returns the bad files of the corpus for the record.
    pub fn bad_inputs(&self) -> Vec<BadInputReport> {
        self.bad.iter().map(BadInputReport::from).collect()
    }

    /// Returns the other inputs for the record.
    pub fn other_inputs(&self) -> Vec<OtherInputReport> {
        self.others.iter().map(|other| other.report.clone()).collect()
    }

    /// Returns the guards that fired while the other inputs were read.
    pub fn fired(&self) -> impl Iterator<Item = Fired> + '_ {
        self.others.iter().flat_map(|other| other.fired.iter().cloned())
    }
}

/// Counts the rows and files that a session read. The files in `bad` could be used only partially or not at all.
pub(crate) fn read_counts(session: &Session<'_>, bad: &[BadInput], used: u64, broken: u64) -> ReadCounts {
    let (files, bad_bytes) = (&session.source.files, bad.iter().map(|file| file.bytes).sum::<u64>());
    // The size of a file that was partially used already includes the lost bytes.
    let gone = bad.iter().filter(|file| !file.takes_part);
    ReadCounts {
        rows: session.rows(),
        used,
        broken,
        bad_files: bad.len() as u64,
        bad_bytes,
        bytes: files.iter().map(|file| file.bytes).chain(gone.clone().map(|file| file.bytes)).sum(),
        unknown_files: bad.iter().filter(|file| file.bytes == 0).count() as u64,
        files: files.len() as u64 + gone.count() as u64,
    }
}
