//! Term vectors: the weighted terms of a document, the rows by which documents with similar vectors are found, and the comparison of two
//! vectors.

mod evidence;
mod heavy;
mod heavy_join;
mod params;
mod sign_sketch;
mod signer;
mod surplus;
mod titles;
mod vector;

pub(crate) use params::{HEAVY, JOIN, MAX_DF, PROJECTIONS, TF};
pub(crate) use signer::VectorSigner;
pub(crate) use vector::{Weighing, idf};
