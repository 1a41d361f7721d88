//! The stores of the library `object_store`. Settings that were not given come from the environment.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error as StoreError, GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt as _, RetryConfig,
};

use crate::Access;
use crate::address::{Address, Kind};
use crate::fetch::{CHANGED, said};
use crate::http::{Counting, LONGEST_PAUSE, client_options};
use crate::protocol::{Protocol, Refusal, Reply};
use crate::store::Object;
use dupsift_core::error::{Error, Result};

/// The number of times that a request for a part of a list is repeated.
const LIST_RETRIES: usize = 7;

/// A store of the library, opened twice.
pub(crate) struct ObjectStores {
    address: Address,
    /// Repeats failed requests.
    lists: Box<dyn ObjectStore>,
    /// Sends each request once, because `fetch` repeats them.
    gets: Box<dyn ObjectStore>,
}

impl ObjectStores {
    /// # Errors
    /// Returns [`Error::Usage`] if the environment is incomplete.
    pub(crate) fn open(address: &Address, access: &Access, http: &Counting) -> Result<ObjectStores> {
        let (lists, gets) = (of(address, access, http, retry(LIST_RETRIES))?, of(address, access, http, retry(0))?);
        Ok(ObjectStores { address: address.clone(), lists, gets })
    }

    fn object(&self, key: &str, there: ObjectMeta) -> Object {
        Object {
            address: self.address.with_key(key).to_string(),
            key: key.to_owned(),
            bytes: there.size,
            etag: there.e_tag.map(quoted),
            version: there.version,
        }
    }

    fn failed(&self, key: &str, error: &StoreError) -> Error {
        let path = self.address.with_key(key).to_string().into();
        Error::BadFile { path, why: format!("cannot be listed: {}", said(error)) }
    }

    /// Returns a key as the library expects it.
    fn path(&self, key: &str) -> std::result::Result<Path, object_store::path::Error> {
        if self.address.kind == Kind::Web { Path::from_url_path(key) } else { Path::parse(key) }
    }

    fn checked_path(&self, key: &str) -> Result<Path> {
        self.path(key)
            .map_err(|_| Error::usage(format!("{:?} is not a valid key", self.address.with_key(key).to_string())))
    }

    async fn find_one(&self, key: &str) -> Result<Option<Object>> {
        match self.lists.head(&self.checked_path(key)?).await {
            Ok(there) => Ok(Some(self.object(key, there))),
            Err(StoreError::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.failed(key, &error)),
        }
    }

    async fn list_all(&self, folder: &str) -> Result<Vec<Object>> {
        if self.address.kind == Kind::Web {
            let path = self.address.to_string();
            let said = format!(
                "{path:?} does not exist, or it is no single file; a web server cannot be searched, so pass the address of each file"
            );
            return Err(Error::Missing { path: path.into(), said });
        }
        let path = self.checked_path(folder.trim_end_matches('/'))?;
        let all = self.lists.list(Some(&path)).try_collect::<Vec<_>>().await;
        let all = all.map_err(|error| self.failed(folder, &error))?;
        let object = |there: ObjectMeta| {
            let key = there.location.to_string();
            self.object(&key, there)
        };
        Ok(all.into_iter().map(object).collect())
    }

    async fn get_from(&self, object: &Object, from: u64) -> std::result::Result<Reply, Refusal> {
        let path = self.path(&object.key).map_err(|_| Refusal::Final("its name is not a valid key".to_owned()))?;
        let range = (from > 0).then_some(GetRange::Bounded(from..object.bytes));
        // A weak ETag never matches; it is compared with that of the reply.
        let if_match = object.etag.clone().filter(|etag| !etag.starts_with("W/"));
        let version = object.version.clone();
        let asked = GetOptions { if_match, version, range, ..GetOptions::default() };
        let reply = self.gets.get_opts(&path, asked).await.map_err(|error| match error {
            StoreError::Precondition { .. } => Refusal::Final(CHANGED.to_owned()),
            StoreError::NotFound { .. } => Refusal::Final("the object has been deleted since it was listed".to_owned()),
            StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => Refusal::Final(said(&error)),
            error => Refusal::Again(said(&error)),
        })?;
        let (size, range, etag) = (reply.meta.size, reply.range.clone(), reply.meta.e_tag.clone().map(quoted));
        let body = reply.into_stream().map_err(|error| said(&error)).boxed_local();
        Ok(Reply { size, range, etag, body })
    }
}

impl Protocol for ObjectStores {
    fn find<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<Object>>> {
        self.find_one(key).boxed_local()
    }

    fn list<'a>(&'a self, folder: &'a str) -> LocalBoxFuture<'a, Result<Vec<Object>>> {
        self.list_all(folder).boxed_local()
    }

    fn get<'a>(&'a self, object: &'a Object, from: u64) -> LocalBoxFuture<'a, std::result::Result<Reply, Refusal>> {
        self.get_from(object, from).boxed_local()
    }
}

/// Returns how often failed requests are repeated.
fn retry(max_retries: usize) -> RetryConfig {
    let init_backoff = Duration::from_millis(200);
    let backoff = BackoffConfig { init_backoff, max_backoff: LONGEST_PAUSE, ..BackoffConfig::default() };
    RetryConfig { backoff, max_retries, retry_timeout: LONGEST_PAUSE * 8 }
}

/// Returns an ETag as replies have it. Lists of Azure omit the quotation marks.
fn quoted(etag: String) -> String {
    if etag.starts_with(['"', 'W']) { etag } else { format!("\"{etag}\"") }
}

/// Opens the store of an address.
///
/// # Errors
/// Returns [`Error::Usage`] if the environment is incomplete.
fn of(address: &Address, access: &Access, http: &Counting, retry: RetryConfig) -> Result<Box<dyn ObjectStore>> {
    let storage = &access.storage;
    let allowed_by = |variable: &str| std::env::var(variable).is_ok_and(|value| value == "true" || value == "1");
    let client = |variable: &str| {
        let is_typed = address.kind == Kind::Web && address.bucket.starts_with("http:");
        let allowed = storage.allow_http.unwrap_or_else(|| is_typed || allowed_by(variable));
        client_options().with_allow_http(allowed)
    };
    let bucket = &address.bucket;
    let opened: object_store::Result<Box<dyn ObjectStore>> = match address.kind {
        Kind::S3 => {
            let mut builder = AmazonS3Builder::from_env().with_client_options(client("AWS_ALLOW_HTTP"));
            if let Some(endpoint) = &storage.endpoint {
                builder = builder.with_endpoint(endpoint);
            }
            if let Some(region) = &storage.region {
                builder = builder.with_region(region);
            }
            if let Some(anonymous) = storage.anonymous {
                builder = builder.with_skip_signature(anonymous);
            }
            if let Some(virtual_hosted) = storage.virtual_hosted {
                builder = builder.with_virtual_hosted_style_request(virtual_hosted);
            }
            let builder = builder.with_bucket_name(bucket).with_retry(retry).with_http_connector(http.clone());
            builder.build().map(|store| Box::new(store) as _)
        }
        Kind::Google => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_client_options(client("GOOGLE_ALLOW_HTTP"));
            if let Some(endpoint) = &storage.endpoint {
                builder = builder.with_base_url(endpoint);
            }
            if let Some(anonymous) = storage.anonymous {
                builder = builder.with_skip_signature(anonymous);
            }
            let builder = builder.with_bucket_name(bucket).with_retry(retry).with_http_connector(http.clone());
            builder.build().map(|store| Box::new(store) as _)
        }
        Kind::Azure => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_client_options(client("AZURE_ALLOW_HTTP"));
            if let Some(endpoint) = &storage.endpoint {
                builder = builder.with_endpoint(endpoint.clone());
            }
            if let Some(anonymous) = storage.anonymous {
                builder = builder.with_skip_signature(anonymous);
            }
            let builder = builder.with_container_name(bucket).with_retry(retry).with_http_connector(http.clone());
            builder.build().map(|store| Box::new(store) as _)
        }
        Kind::Web | Kind::Hub => {
            let builder = HttpBuilder::new().with_url(bucket).with_client_options(client(""));
            builder.with_retry(retry).with_http_connector(http.clone()).build().map(|store| Box::new(store) as _)
        }
    };
    opened.map_err(|error| Error::usage(format!("{address} cannot be read: {}", said(&error))))
}
