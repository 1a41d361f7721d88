//! Contains the algorithms (one file or folder each), the contract that they implement, and a list of all algorithms.
//!
//! To add an algorithm, write its file and add two lines to this file, both in alphabetical order: its `mod` and its entry in
//! [`ALGORITHMS`]. Help, checks, property tests, golden files and documentation all use this list. For the steps and an example, see
//! docs/dev/add-an-algorithm.md.

pub mod contract;
pub mod kit;

mod core_words;
mod cosine;
mod decomposition;
mod descr_words;
mod exact;
mod fingerprint;
mod heavy_sent;
mod idf_hash;
mod imatch;
mod keyword_match;
mod keywords;
mod lex_rand;
mod log_shingles;
mod long_sent;
mod lsi;
mod megashingles;
mod minhash;
mod near_page;
mod opt_freq;
mod random_projection;
mod repeats;
mod segments;
mod sentence_marks;
mod shingles;
mod sim;
mod simhash;
mod tf;
mod tf_idf;
mod tf_ridf;
mod three_plus_five;
mod versions;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod revisions;
#[cfg(test)]
mod skeleton;

pub(crate) use contract::Reads;
pub use contract::{
    Algorithm, Corpus, FeatureKind, Growth, Key, Kind, Learner, Margin, Notes, ParamSpec, Params, SharedKey, Shorthand,
    SignatureScheme, Signer, Stats, TermVectors, Verify,
};
pub(crate) use versions::RELATE;

use dupsift_core::error::{Error, Result, did_you_mean};

/// Lists all algorithms.
pub const ALGORITHMS: &[&dyn Algorithm] = &[
    &core_words::CoreWords,
    &cosine::Cosine,
    &decomposition::Decomposition,
    &descr_words::DescrWords,
    &exact::Exact,
    &fingerprint::Fingerprint,
    &heavy_sent::HeavySent,
    &idf_hash::IdfHash,
    &imatch::IMatch,
    &keyword_match::KeywordMatch,
    &keywords::Keywords,
    &lex_rand::LexRand,
    &log_shingles::LogShingles,
    &long_sent::LongSent,
    &lsi::Lsi,
    &megashingles::Megashingles,
    &minhash::MinHash,
    &near_page::NearPage,
    &opt_freq::OptFreq,
    &random_projection::RandomProjection,
    &repeats::Repeats,
    &segments::Segments,
    &sentence_marks::SentenceMarks,
    &shingles::Shingles,
    &sim::Sim,
    &simhash::SimHash,
    &tf::Tf,
    &tf_idf::TfIdf,
    &tf_ridf::TfRidf,
    &three_plus_five::ThreePlusFive,
    &versions::VersionsOfTexts,
];

/// Returns the algorithm with this name or alias.
///
/// # Errors
/// Returns an error if the name is unknown. The error suggests the most similar name and lists all names.
pub fn by_name(name: &str) -> Result<&'static dyn Algorithm> {
    let known = |algorithm: &&&dyn Algorithm| algorithm.name() == name || algorithm.facts().aliases.contains(&name);
    ALGORITHMS.iter().find(known).copied().ok_or_else(|| {
        let names: Vec<&str> = ALGORITHMS.iter().map(|algorithm| algorithm.name()).collect();
        let hint = did_you_mean(name, names.iter().copied());
        Error::usage(format!("there is no algorithm {name:?}{hint}; available: {}", names.join(", ")))
    })
}

/// Returns the parameters of an algorithm: its own parameters and the shared parameters.
pub fn specs(algorithm: &dyn Algorithm) -> Vec<ParamSpec> {
    let mut specs = algorithm.facts().params.to_vec();
    if specs.iter().all(|spec| spec.name != kit::verify::VERIFY.name) {
        specs.push(kit::verify::VERIFY);
    }
    specs.push(kit::margin::MARGIN);
    specs
}
