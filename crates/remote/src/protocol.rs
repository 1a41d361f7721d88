//! Defines what a protocol offers: to find, list and send objects. The requests wait on one thread.

use bytes::Bytes;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::LocalBoxStream;

use crate::store::Object;
use dupsift_core::error::Result;

/// The reason why an object could not be sent.
pub(crate) enum Refusal {
    /// Another attempt would end in the same way.
    Final(String),
    /// Another attempt may succeed.
    Again(String),
}

/// The beginning of a reply, and its body.
pub(crate) struct Reply {
    /// The size of the complete object in bytes.
    pub(crate) size: u64,
    /// The positions of the bytes in the body.
    pub(crate) range: std::ops::Range<u64>,
    /// The ETag of the object, in the form in which lists have it.
    pub(crate) etag: Option<String>,
    /// The parts of the body, or the reason why it ends too early.
    pub(crate) body: LocalBoxStream<'static, std::result::Result<Bytes, String>>,
}

pub(crate) trait Protocol {
    /// Returns the object with this key; `None` if there is none.
    fn find<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<Object>>>;

    /// Returns all objects in a folder and its subfolders. Fails if any part of the list cannot be read.
    fn list<'a>(&'a self, folder: &'a str) -> LocalBoxFuture<'a, Result<Vec<Object>>>;

    /// Asks once for the bytes of an object from a position to its end.
    fn get<'a>(&'a self, object: &'a Object, from: u64) -> LocalBoxFuture<'a, std::result::Result<Reply, Refusal>>;
}
