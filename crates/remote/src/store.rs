//! Defines what a store offers, independently of the network library.

use std::fs::File;

use dupsift_core::error::Result;

/// An object as it was listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The address, such as `s3://bucket/crawl/a.parquet`. It contains neither credentials nor a query.
    pub address: String,
    /// The name of the object in its bucket.
    pub key: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The ETag, which changes whenever the object is replaced.
    pub etag: Option<String>,
    /// The version, if the bucket keeps versions and the store reports it.
    pub version: Option<String>,
}

/// The result of fetching an object: the reason why it cannot be read, if it cannot.
pub type Outcome = std::result::Result<(), String>;

/// The requests that were sent to a store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of requests, including requests that failed.
    pub requests: u64,
    /// The number of attempts after the first attempt to fetch an object.
    pub retries: u64,
    /// The number of bytes of objects that were received.
    pub bytes: u64,
}

/// A bucket whose objects can be listed and fetched.
pub trait Store {
    /// Returns the object with this key; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the store cannot tell.
    fn find(&self, key: &str) -> Result<Option<Object>>;

    /// Returns all objects in a folder and its subfolders, sorted by key. An empty folder means the whole bucket.
    ///
    /// # Errors
    /// Returns an error if a part of the list cannot be read, so a list is never incomplete.
    fn list(&self, folder: &str) -> Result<Vec<Object>>;

    /// Copies objects to files, several at a time. `create` returns the empty file for the object at an index, `arrived` receives the number
    /// of bytes that were added to a file, and `done` receives each file with the outcome. An object that has changed since
    /// it was listed is not copied.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, or the errors of `create` and `done`.
    fn fetch(
        &self,
        objects: &[Object],
        create: &dyn Fn(usize) -> Result<File>,
        arrived: &dyn Fn(u64),
        done: &dyn Fn(usize, File, Outcome) -> Result<()>,
    ) -> Result<()>;

    /// Returns the requests sent so far.
    fn traffic(&self) -> Traffic;
}
