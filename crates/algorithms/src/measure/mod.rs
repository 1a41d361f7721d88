//! Similarity measures: arithmetic on plain slices.

mod contained;
mod contents;
mod cosine;
mod edit;
mod jaccard;
mod partition;
mod retrieval;
mod subjects;
mod subsequence;
mod surplus;
mod titles;
mod versions;
mod weights;

pub use contained::{Contained, Part, contained, has_number};
pub(crate) use contained::{grams_of, numbers_of};
pub use contents::write_contents;
pub use cosine::cosine;
pub use edit::lcs_similarity;
pub(crate) use edit::{Profile, may_reach, most_common};
pub(crate) use jaccard::common_at_least;
pub use jaccard::{common, jaccard};
pub use partition::Partitions;
pub use retrieval::Retrieval;
pub use subjects::{Subjects, subjects};
pub use subsequence::{Decided, Undecided};
pub use surplus::surplus;
pub(crate) use surplus::{split_word_counts, write_word_counts};
pub(crate) use titles::LONGEST_TITLE;
pub use titles::TitleWords;
pub use versions::{Both, CROWD, FirstLine, Surplus, Versions};
pub(crate) use weights::weight_distance;
