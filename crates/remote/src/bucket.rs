//! A bucket, repository or web server, whose objects are found, listed and fetched by its protocol.
//!
//! The network library runs on the thread that calls it: several requests wait at the same time, and their bytes are written one after
//! another, which a disk does anyway.

use std::fs::File;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt as _, TryStreamExt as _};
use tokio::runtime::{Builder, Runtime};

use crate::Access;
use crate::address::{Address, Kind};
use crate::fetch::{Fetched, fetch};
use crate::http::Counting;
use crate::hub::Hub;
use crate::protocol::Protocol;
use crate::store::{Object, Outcome, Store, Traffic};
use crate::stores::ObjectStores;
use dupsift_core::error::{Error, Result};

/// The number of objects that are fetched at the same time.
const AT_A_TIME: usize = 8;
/// The interval at which `stop` is checked.
const CHECK: Duration = Duration::from_millis(100);

pub(crate) struct Bucket {
    runtime: Runtime,
    protocol: Box<dyn Protocol>,
    http: Counting,
    fetched: Fetched,
    /// Whether nobody waits for the replies any longer.
    stop: Arc<AtomicBool>,
}

impl Bucket {
    /// # Errors
    /// Returns [`Error::Usage`] if the environment is incomplete.
    pub(crate) fn open(address: &Address, access: &Access) -> Result<Bucket> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::usage(format!("the network cannot be used: {error}")))?;
        let http = Counting::default();
        let protocol: Box<dyn Protocol> = match address.kind {
            Kind::Hub => Box::new(Hub::open(address, access, &http)?),
            Kind::S3 | Kind::Google | Kind::Azure | Kind::Web => Box::new(ObjectStores::open(address, access, &http)?),
        };
        Ok(Bucket { runtime, protocol, http, fetched: Fetched::default(), stop: access.stop.clone() })
    }

    /// Waits for replies, at most until the work is abandoned.
    fn wait<T>(&self, replies: impl Future<Output = Result<T>>) -> Result<T> {
        let stopped = async {
            while !self.stop.load(Relaxed) {
                tokio::time::sleep(CHECK).await;
            }
        };
        self.runtime.block_on(async {
            match select(pin!(replies), pin!(stopped)).await {
                Either::Left((done, _)) => done,
                Either::Right(_) => Err(Error::Interrupted),
            }
        })
    }
}

impl Store for Bucket {
    fn find(&self, key: &str) -> Result<Option<Object>> {
        if key.is_empty() || key.ends_with('/') { Ok(None) } else { self.wait(self.protocol.find(key)) }
    }

    fn list(&self, folder: &str) -> Result<Vec<Object>> {
        let mut all = self.wait(self.protocol.list(folder))?;
        all.sort_by(|a, b| a.key.cmp(&b.key));
        Ok(all)
    }

    fn fetch(
        &self,
        objects: &[Object],
        create: &dyn Fn(usize) -> Result<File>,
        arrived: &dyn Fn(u64),
        done: &dyn Fn(usize, File, Outcome) -> Result<()>,
    ) -> Result<()> {
        let one = |at: usize| async move {
            let file = create(at)?;
            let outcome = fetch(&*self.protocol, &objects[at], &file, &self.fetched, arrived).await;
            let outcome = outcome.map_err(Error::io("write the copy of", objects[at].address.as_ref()))?;
            done(at, file, outcome)
        };
        let all = futures_util::stream::iter(0..objects.len()).map(one).buffer_unordered(AT_A_TIME);
        self.wait(all.try_collect::<()>())
    }

    fn traffic(&self) -> Traffic {
        let Fetched { retries, bytes } = &self.fetched;
        Traffic { requests: self.http.requests(), retries: retries.load(Relaxed), bytes: bytes.load(Relaxed) }
    }
}
