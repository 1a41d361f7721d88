//! The HTTP client of all stores. It limits the time without a byte, counts requests, and waits as long as a busy store asks for.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Once};
use std::time::Duration;

use async_trait::async_trait;
use object_store::client::{
    ClientOptions, HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService,
    ReqwestConnector,
};

/// The time in which a connection must be established.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
/// The time without a byte after which a request counts as stalled.
pub(crate) const STALL: Duration = Duration::from_secs(30);
/// The longest pause between two attempts.
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(120);

/// Returns the options of the client. The complete request has no time limit, because objects may be large.
pub(crate) fn client_options() -> ClientOptions {
    ClientOptions::new().with_connect_timeout(CONNECT).with_timeout_disabled().with_read_timeout(STALL)
}

/// Connects and counts requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counting {
    requests: Arc<AtomicU64>,
}

impl Counting {
    /// Returns the number of requests sent so far.
    pub(crate) fn requests(&self) -> u64 {
        self.requests.load(Relaxed)
    }

    /// Counts a request.
    pub(crate) fn count(&self) {
        self.requests.fetch_add(1, Relaxed);
    }
}

/// Chooses the library for cryptography. If the process has chosen one already, that one is used.
pub(crate) fn choose_cryptography() {
    static RING: Once = Once::new();
    RING.call_once(|| _ = rustls::crypto::ring::default_provider().install_default());
}

impl HttpConnector for Counting {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        choose_cryptography();
        let inner = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(Client { inner, requests: self.requests.clone() }))
    }
}

struct Client {
    inner: HttpClient,
    requests: Arc<AtomicU64>,
}

impl fmt::Debug for Client {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Client")
    }
}

#[async_trait]
impl HttpService for Client {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.requests.fetch_add(1, Relaxed);
        let stalled = |elapsed| HttpError::new(HttpErrorKind::Timeout, elapsed);
        let response = tokio::time::timeout(STALL, self.inner.execute(request)).await.map_err(stalled)??;
        if matches!(response.status().as_u16(), 429 | 503)
            && let Some(pause) =
                retry_after(response.headers().get("retry-after").and_then(|value| value.to_str().ok()))
        {
            tokio::time::sleep(pause).await;
        }
        Ok(response)
    }
}

/// Returns the pause that a `Retry-After` header asks for in seconds. A date is ignored; the pauses between attempts grow anyway.
pub(crate) fn retry_after(value: Option<&str>) -> Option<Duration> {
    let seconds = value?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_store_is_given_the_time_that_it_asks_for_but_not_more_than_two_minutes() {
        let seconds = |value| retry_after(Some(value)).map(|pause| pause.as_secs());
        assert_eq!((seconds("7"), seconds(" 0 "), seconds("99999")), (Some(7), Some(0), Some(120)));
        assert_eq!((seconds("Sun, 29 Nov 2026 08:00:00 GMT"), seconds("-1"), retry_after(None)), (None, None, None));
    }
}
