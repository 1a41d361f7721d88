//! Similarity measures: arithmetic on plain slices.

mod contained;
mod cosine;
mod edit;
mod jaccard;
mod partition;
mod retrieval;
mod subsequence;
mod surplus;
mod title_phrases;
mod titles;
mod versions;
mod weights;

pub use contained::{Contained, Part, contained, grams_of, has_number, numbers_of, titles_differ, write_contents};
pub use cosine::cosine;
pub use edit::{Profile, lcs_similarity, may_reach, most_common};
pub use jaccard::{common, common_at_least, jaccard};
pub use partition::Partitions;
pub use retrieval::Retrieval;
pub use subsequence::{Decided, Undecided};
pub use surplus::{split_word_counts, surplus, write_word_counts};
pub use title_phrases::TitleDifference;
pub use titles::{LONGEST_TITLE, TitleWords};
pub use versions::{Both, CROWD, FirstLine, Surplus, Versions};
pub use weights::weight_distance;
