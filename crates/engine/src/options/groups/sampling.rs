//! Options that restrict a run to a part of the documents.

use super::{MAKING, RESUMING};
use crate::options::help_groups::INPUT;
use crate::options::sample_size::SampleSize;
use crate::options::spec::{NONE, OptionSpec, Verb, is};
use crate::options::value::{Kind, Value};

/// Selects the documents that are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct SamplingOptions {
    /// The number of documents to read from the start of the corpus; `None` reads all documents.
    pub limit: Option<u64>,
    /// The size of the sample to read; `None` reads all documents.
    pub size: Option<SampleSize>,
    /// The random seed for samples.
    pub seed: u64,
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(INPUT, MAKING, "limit", "N", Kind::Whole(1, u64::MAX), "Read only the first N documents")
        .but(&[(Verb::Purify, "Read only the first N pages", NONE)])
        .field(|run, given| Ok(run.sampling.limit = Some(given.number())), |run| run.sampling.limit.map(Value::from)),
    OptionSpec::new(INPUT, RESUMING, "sample", "N|SHARE", Kind::Sample,
        "Read only a random sample: N documents, or a share such as 0.05. Fewer duplicates are found, because both documents \
         of a pair must be in the sample")
        .field(
            |run, given| Ok(run.sampling.size = Some(SampleSize::parse(given.text())?)),
            |run| run.sampling.size.map(|size| size.to_string().into()),
        ),
    OptionSpec::new(INPUT, RESUMING, "seed", "N", Kind::Whole(0, u64::MAX), "Random seed for `sample`")
        .default(is("0"))
        .but(&[(Verb::Compare, "Random seed for the samples", is("0"))])
        .field(|run, given| Ok(run.sampling.seed = given.number()), |run| Some(run.sampling.seed.into())),
];
