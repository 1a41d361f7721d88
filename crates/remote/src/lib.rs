//! Reads objects from object stores. This is the only crate that accesses the network, and it does so only for an address that you typed.
//!
//! Objects are listed once and copied to local files, so that readers of files do not depend on the network. Without the feature `network`,
//! [`open`] refuses every address.

// Tests write files to their own folders.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod address;
#[cfg(feature = "network")]
mod bucket;
#[cfg(feature = "network")]
mod fetch;
#[cfg(feature = "network")]
mod http;
#[cfg(feature = "network")]
mod hub;
#[cfg(feature = "network")]
mod protocol;
mod storage;
mod store;
#[cfg(feature = "network")]
mod stores;

pub use storage::Storage;
pub use store::{Object, Outcome, Store, Traffic};

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use address::Address;
use dupsift_core::error::Result;

/// How stores are reached, and how long.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The settings that were given.
    pub storage: Storage,
    /// Whether the work was abandoned, so that requests end with [`dupsift_core::error::Error::Interrupted`].
    pub stop: Arc<AtomicBool>,
}

/// Opens the store of an address. Credentials, and settings that are not given, come from the environment.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Usage`] if the program was built without access to the network, or if the environment is
/// incomplete.
#[cfg(feature = "network")]
pub fn open(address: &Address, access: &Access) -> Result<Box<dyn Store>> {
    Ok(Box::new(bucket::Bucket::open(address, access)?))
}

/// Refuses every address, because the program was built without access to the network.
///
/// # Errors
/// Returns [`dupsift_core::error::Error::Usage`].
#[cfg(not(feature = "network"))]
pub fn open(address: &Address, _access: &Access) -> Result<Box<dyn Store>> {
    Err(address::refused(&address.to_string(), address::Use::Read))
}
