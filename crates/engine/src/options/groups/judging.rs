//! Options of `compare`: how pairs are judged.

use super::COMPARE;
use crate::options::help_groups::JUDGING;
use crate::options::spec::{OptionSpec, in_words, is};
use crate::options::value::Kind;
use dupsift_algorithms::judge::Judge;

/// The maximum for `--oracle-sample`, which corresponds to half a trillion pairs.
const MOST_ORACLE: u64 = 1_000_000;

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(JUDGING, COMPARE, "judge", "JUDGE", Kind::Text(|typed| Judge::parse(typed).map(drop)),
        "Rule that decides whether two documents are duplicates: versions[:T] (one text contains at least the share T of the other's 3-grams, 0.8 by default; the numbers agree; no word is much more frequent in one of the texts), lcs:T (2 LCS / (a + b) in characters is at least T), words:T (the same ratio in words), or jaccard:T (the Jaccard similarity of shingles is at least T). Characters are counted in the canonical text, so the tokenizer matters for Chinese")
        .default(is("versions")),
    // Judging a sample of this size takes at most about as long as the run itself, and the margin of error for a share of the pairs is one
    // third of a percentage point.
    OptionSpec::new(JUDGING, COMPARE, "judge-sample", "N", Kind::Whole(1, u64::MAX),
        "For each algorithm that finds more pairs than this, judge a sample of about this size")
        .default(is("100000")),
    OptionSpec::new(JUDGING, COMPARE, "oracle-sample", "N", Kind::Whole(0, MOST_ORACLE),
        "Size of a sample in which every document is compared with every other, to find duplicates that all algorithms miss")
        .default(in_words("0", "0, off")),
];
