//! Reads objects from object stores. This is the only crate that accesses the network, and it does so only for an address that you typed.
//!
//! Objects are listed once and copied to local files, so that readers of files do not depend on the network. Without the feature `network`,
//! [`open`] refuses every address.

// Tests write files to their own folders.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod address;
#[cfg(feature = "network")]
mod fetch;
#[cfg(feature = "network")]
mod http;
#[cfg(feature = "network")]
mod s3;
mod store;

pub use store::{Object, Outcome, Store, Traffic};

use address::Address;
use dupsift_core::error::Result;

/// Opens the store of an address. The endpoint, region and credentials come from the environment.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Usage`] if the program was built without access to the network, or if the environment is
/// incomplete.
pub fn open(address: &Address) -> Result<Box<dyn Store>> {
    #[cfg(feature = "network")]
    return Ok(Box::new(s3::Bucket::open(address)?));
    #[cfg(not(feature = "network"))]
    Err(address::refused(&address.to_string(), address::Use::Read))
}
