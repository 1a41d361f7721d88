//! Buckets that speak the protocol of Amazon S3.
//!
//! The network library runs on the thread that calls it: several requests wait at the same time, and their bytes are written one after
//! another, which a disk does anyway.

use std::fs::File;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path;
use object_store::{BackoffConfig, Error as StoreError, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig};
use tokio::runtime::{Builder, Runtime};

use crate::address::Address;
use crate::fetch::{Fetched, fetch, said};
use crate::http::{Counting, LONGEST_PAUSE, client_options};
use crate::store::{Object, Outcome, Store, Traffic};
use dupsift_core::error::{Error, Result};

/// The number of objects that are fetched at the same time.
const AT_A_TIME: usize = 8;
/// The number of times that a request for a part of a list is repeated.
const LIST_RETRIES: usize = 7;

pub(crate) struct Bucket {
    address: Address,
    runtime: Runtime,
    /// Repeats failed requests.
    lists: AmazonS3,
    /// Sends each request once, because `fetch` repeats them.
    gets: AmazonS3,
    http: Counting,
    fetched: Fetched,
}

impl Bucket {
    /// # Errors
    /// Returns [`Error::Usage`] if the environment is incomplete.
    pub(crate) fn open(address: &Address) -> Result<Bucket> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::usage(format!("the network cannot be used: {error}")))?;
        let http = Counting::default();
        let store = |max_retries| {
            let backoff = BackoffConfig {
                init_backoff: Duration::from_millis(200),
                max_backoff: LONGEST_PAUSE,
                ..BackoffConfig::default()
            };
            let retry = RetryConfig { backoff, max_retries, retry_timeout: LONGEST_PAUSE * 8 };
            let allow_http = std::env::var("AWS_ALLOW_HTTP").is_ok_and(|value| value == "true" || value == "1");
            let builder = AmazonS3Builder::from_env()
                .with_client_options(client_options().with_allow_http(allow_http))
                .with_bucket_name(&address.bucket)
                .with_retry(retry)
                .with_http_connector(http.clone());
            builder.build().map_err(|error| Error::usage(format!("{address} cannot be read: {}", said(&error))))
        };
        let (lists, gets) = (store(LIST_RETRIES)?, store(0)?);
        Ok(Bucket { address: address.clone(), runtime, lists, gets, http, fetched: Fetched::default() })
    }

    fn object(&self, there: ObjectMeta) -> Object {
        let key = there.location.to_string();
        Object {
            address: self.address.with_key(&key).to_string(),
            key,
            bytes: there.size,
            etag: there.e_tag,
            version: there.version,
        }
    }

    fn failed(&self, key: &str, error: &StoreError) -> Error {
        let path = self.address.with_key(key).to_string().into();
        Error::BadFile { path, why: format!("cannot be listed: {}", said(error)) }
    }

    fn path(&self, key: &str) -> Result<Path> {
        Path::parse(key)
            .map_err(|_| Error::usage(format!("{:?} is not a valid key", self.address.with_key(key).to_string())))
    }
}

impl Store for Bucket {
    fn find(&self, key: &str) -> Result<Option<Object>> {
        if key.is_empty() || key.ends_with('/') {
            return Ok(None);
        }
        match self.runtime.block_on(self.lists.head(&self.path(key)?)) {
            Ok(there) => Ok(Some(self.object(there))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(key, &error)),
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Object>> {
        let path = self.path(folder.trim_end_matches('/'))?;
        let all = self.lists.list(Some(&path)).try_collect::<Vec<_>>();
        let all = self.runtime.block_on(all).map_err(|error| self.failed(folder, &error))?;
        let mut all: Vec<Object> = all.into_iter().map(|there| self.object(there)).collect();
        all.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(all)
    }

    fn fetch(
        &self,
        objects: &[Object],
        create: &dyn Fn(usize) -> Result<File>,
        done: &dyn Fn(usize, File, Outcome) -> Result<()>,
    ) -> Result<()> {
        let one = |at: usize| async move {
            let file = create(at)?;
            let outcome = fetch(&self.gets, &objects[at], &file, &self.fetched).await;
            let outcome = outcome.map_err(Error::io("write the copy of", objects[at].address.as_ref()))?;
            done(at, file, outcome)
        };
        let all = futures_util::stream::iter(0..objects.len()).map(one).buffer_unordered(AT_A_TIME);
        self.runtime.block_on(all.try_collect::<()>())
    }

    fn traffic(&self) -> Traffic {
        let Fetched { retries, bytes } = &self.fetched;
        Traffic { requests: self.http.requests(), retries: retries.load(Relaxed), bytes: bytes.load(Relaxed) }
    }
}
