//! The parameters of the algorithms that sign documents by term vectors.

use super::heavy_join::MOST_TERMS;
use crate::algorithm::contract::{Kind, ParamSpec};
use crate::algorithm::kit::minwise::SEED;

/// The parameter that selects how occurrences are counted.
pub(crate) const TF: ParamSpec = ParamSpec {
    name: "tf",
    kind: Kind::Choice(&["raw", "sublinear"]),
    default: "raw",
    help: "raw: number of occurrences; sublinear: 1 + ln of that number",
};
/// The parameter that selects how pairs are found.
pub(crate) const JOIN: ParamSpec = ParamSpec {
    name: "join",
    kind: Kind::Choice(&["exact", "heavy"]),
    default: "exact",
    help: "exact: finds every pair; heavy: finds pairs that share two of their heaviest terms and most random-projection signs. join=heavy avoids quadratic cost and, at thresholds of 0.6 or more, misses about one pair in a thousand",
};
/// The parameter for the number of terms per document that `join=heavy` uses.
pub(crate) const HEAVY: ParamSpec = ParamSpec {
    name: "heavy",
    kind: Kind::Int(2, MOST_TERMS as i64),
    default: "15",
    help: "join=heavy: how many of the heaviest terms to use per text, not counting terms that occur in no other text",
};
/// The parameter for the highest document frequency of the terms that `join=heavy` uses.
pub(crate) const MAX_DF: ParamSpec = ParamSpec {
    name: "max_df",
    kind: Kind::Real(0.0001, 1.0),
    default: "0.02",
    help: "join=heavy: ignore terms that occur in more than this share of all documents; terms in at most 400 documents are always used",
};
/// The parameter for the seed of the random projections.
pub(crate) const PROJECTIONS: ParamSpec = ParamSpec { help: "join=heavy: seed of the random projections", ..SEED };
