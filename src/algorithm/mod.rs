//! The family: one file a member, a contract below them, this list above them.
//!
//! To add a member write its file, then two lines here, both in alphabetical order: its `mod` and its place in
//! [`ALGORITHMS`]. Help, checks, laws, golden files and documentation are loops over that list.

pub mod contract;
pub mod kit;
pub mod params;

mod core_words;
mod exact;
mod keywords;
mod long_sent;
mod minhash;
mod repeats;
mod segments;
mod sentence_marks;
mod simhash;
mod tf;
mod tf_idf;
mod three_plus_five;

#[cfg(test)]
mod laws;

pub use contract::{Algorithm, Confirm, Corpus, Features, Learner, Notes, Signer, Stats};
pub use params::{Kind, ParamSpec, Params};

use crate::error::{Error, Result, did_you_mean};

/// Every member.
pub const ALGORITHMS: &[&dyn Algorithm] = &[
    &core_words::CoreWords,
    &exact::Exact,
    &keywords::Keywords,
    &long_sent::LongSent,
    &minhash::MinHash,
    &repeats::Repeats,
    &segments::Segments,
    &sentence_marks::SentenceMarks,
    &simhash::SimHash,
    &tf::Tf,
    &tf_idf::TfIdf,
    &three_plus_five::ThreePlusFive,
];

/// The member of that name or alias.
///
/// # Errors
/// An unknown name, with the nearest known one and the whole list.
pub fn by_name(name: &str) -> Result<&'static dyn Algorithm> {
    let known = |algorithm: &&&dyn Algorithm| algorithm.name() == name || algorithm.facts().aliases.contains(&name);
    ALGORITHMS.iter().find(known).copied().ok_or_else(|| {
        let names: Vec<&str> = ALGORITHMS.iter().map(|algorithm| algorithm.name()).collect();
        let hint = did_you_mean(name, names.iter().copied());
        Error::Usage(format!("there is no algorithm {name:?}{hint}; there are: {}", names.join(", ")))
    })
}

/// The parameters of a member: its own, and those that all members share.
pub fn specs(algorithm: &dyn Algorithm) -> Vec<ParamSpec> {
    let mut specs = algorithm.facts().params.to_vec();
    if specs.iter().all(|spec| spec.name != kit::verify::VERIFY.name) {
        specs.push(kit::verify::VERIFY);
    }
    specs
}
