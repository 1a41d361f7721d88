//! Repositories on the Hugging Face hub. The branch is resolved to a commit first, so that all files belong to the same version.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use reqwest::header::{ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, LINK, RANGE, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use crate::Access;
use crate::address::Address;
use crate::fetch::without_secrets;
use crate::http::{CONNECT, Counting, LONGEST_PAUSE, STALL, choose_cryptography, retry_after};
use crate::protocol::{Protocol, Refusal, Reply};
use crate::store::Object;
use dupsift_core::error::{Error, Result};

/// The number of attempts for each request about a repository.
const TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The characters that are encoded in a part of a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A repository at a revision.
pub(crate) struct Hub {
    address: Address,
    client: Client,
    requests: Counting,
    /// The URL of the hub, without a slash at its end.
    endpoint: String,
    token: Option<String>,
    /// The kind of the repository in URLs: `datasets`, `spaces` or `models`.
    kind: &'static str,
    /// The name, such as `OWNER/NAME`.
    name: String,
    revision: String,
    /// The commit of the revision, as soon as it is known.
    commit: RefCell<Option<String>>,
}

#[derive(Deserialize)]
struct Revision {
    sha: String,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    oid: String,
    #[serde(default)]
    size: u64,
    path: String,
    lfs: Option<Large>,
}

#[derive(Deserialize)]
struct Large {
    oid: String,
    size: u64,
}

/// Splits the part of an address that names a repository into the kind, the name and the revision.
pub(crate) fn repository(bucket: &str) -> Option<(&'static str, String, String)> {
    let (named, revision) = bucket.split_once('@').unwrap_or((bucket, "main"));
    let (kind, name) = match named.split_once('/')? {
        ("datasets", name) => ("datasets", name),
        ("spaces", name) => ("spaces", name),
        ("models", name) => ("models", name),
        _ => ("models", named),
    };
    let revision = percent_decode_str(revision).decode_utf8().ok()?;
    // The hub's own abbreviation.
    let revision = revision.strip_prefix('~').map_or_else(|| revision.to_string(), |of| format!("refs/convert/{of}"));
    Some((kind, name.to_owned(), revision))
}

impl Hub {
    /// # Errors
    /// Returns [`Error::Usage`] if the address or the environment is not valid.
    pub(crate) fn open(address: &Address, access: &Access, requests: &Counting) -> Result<Hub> {
        let cannot = |why: String| Error::usage(format!("{address} cannot be read: {why}"));
        let (kind, name, revision) = repository(&address.bucket)
            .ok_or_else(|| cannot("expected hf://datasets/OWNER/NAME[@REVISION]/PATH".to_owned()))?;
        let by_variable = || std::env::var("HF_ENDPOINT").ok().filter(|endpoint| !endpoint.is_empty());
        let endpoint = access.storage.endpoint.clone().or_else(by_variable);
        let endpoint = endpoint.unwrap_or_else(|| "https://huggingface.co".to_owned());
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let is_plain = endpoint.starts_with("http:");
        if is_plain && access.storage.allow_http == Some(false) {
            return Err(cannot("the endpoint has no encryption, and `storage` has allow_http=false".to_owned()));
        }
        choose_cryptography();
        let client = Client::builder().connect_timeout(CONNECT).read_timeout(STALL).https_only(!is_plain);
        let client = client.user_agent(concat!("dupsift/", env!("CARGO_PKG_VERSION"))).build();
        let client = client.map_err(|error| cannot(error.to_string()))?;
        let token = if access.storage.anonymous == Some(true) { None } else { token() };
        Ok(Hub {
            address: address.clone(),
            client,
            requests: requests.clone(),
            endpoint,
            token,
            kind,
            name,
            revision,
            commit: RefCell::default(),
        })
    }

    /// Sends a request once, and waits as long as a busy hub asks for.
    async fn send(&self, request: RequestBuilder) -> std::result::Result<Response, Refusal> {
        self.requests.count();
        // A body that is compressed on the way would have another length.
        let request = request.header(ACCEPT_ENCODING, "identity");
        let request = match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        };
        let reply = timeout(STALL, request.send()).await.map_err(|_| Refusal::Again(stalled()))?;
        let reply = reply.map_err(|error| Refusal::Again(said(&error)))?;
        let status = reply.status();
        match status {
            _ if status.is_success() => Ok(reply),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Refusal::Final(format!(
                "access is denied ({}); if the repository is private or gated, set HF_TOKEN",
                status.as_u16()
            ))),
            StatusCode::NOT_FOUND => Err(Refusal::Final("it does not exist (404)".to_owned())),
            _ => {
                if matches!(status.as_u16(), 429 | 503)
                    && let Some(pause) =
                        retry_after(reply.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()))
                {
                    sleep(pause).await;
                }
                let why = format!("the hub replied {status}");
                Err(if status.is_client_error() && status.as_u16() != 429 && status.as_u16() != 408 {
                    Refusal::Final(why)
                } else {
                    Refusal::Again(why)
                })
            }
        }
    }

    /// Asks for JSON, several times if necessary. Returns `None` if what is asked for does not exist.
    async fn ask<T: DeserializeOwned>(
        &self,
        key: &str,
        request: impl Fn() -> RequestBuilder,
    ) -> Result<Option<(T, HeaderMap)>> {
        let (mut tries, mut pause) = (0, FIRST_PAUSE);
        loop {
            let why = match self.send(request()).await {
                Ok(reply) => {
                    let headers = reply.headers().clone();
                    let body = timeout(STALL * 4, reply.bytes()).await;
                    match body.map_err(|_| stalled()).and_then(|body| body.map_err(|error| said(&error))) {
                        Ok(body) => match serde_json::from_slice(&body) {
                            Ok(value) => return Ok(Some((value, headers))),
                            Err(error) => format!("the reply is not what a hub sends: {error}"),
                        },
                        Err(why) => why,
                    }
                }
                Err(Refusal::Final(why)) if why.ends_with("(404)") => return Ok(None),
                Err(Refusal::Final(why)) => return Err(self.failed(key, why)),
                Err(Refusal::Again(why)) => why,
            };
            tries += 1;
            if tries >= TRIES {
                return Err(self.failed(key, format!("{why} ({TRIES} attempts)")));
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn failed(&self, key: &str, why: String) -> Error {
        Error::BadFile { path: self.address.with_key(key).to_string().into(), why: format!("cannot be listed: {why}") }
    }

    /// Returns the URL of a question about the repository.
    fn api(&self, question: &str) -> String {
        format!("{}/api/{}/{}/{question}", self.endpoint, self.kind, encoded(&self.name))
    }

    /// Returns the commit of the revision; `None` if the repository or the revision does not exist.
    async fn commit(&self) -> Result<Option<String>> {
        if let Some(commit) = self.commit.borrow().clone() {
            return Ok(Some(commit));
        }
        let url = self.api(&format!("revision/{}", utf8_percent_encode(&self.revision, ENCODED)));
        let found = self.ask::<Revision>("", || self.client.get(&url)).await?;
        let commit = found.map(|(revision, _)| revision.sha);
        *self.commit.borrow_mut() = commit.clone();
        Ok(commit)
    }

    fn object(&self, entry: Entry, commit: &str) -> Object {
        let (etag, bytes) = match entry.lfs {
            Some(Large { oid, size }) => (oid, size),
            None => (entry.oid, entry.size),
        };
        Object {
            address: self.address.with_key(&entry.path).to_string(),
            key: entry.path,
            bytes,
            etag: Some(etag),
            version: Some(commit.to_owned()),
        }
    }

    async fn find_one(&self, key: &str) -> Result<Option<Object>> {
        let Some(commit) = self.commit().await? else { return Ok(None) };
        let url = self.api(&format!("paths-info/{commit}"));
        let body = serde_json::json!({"paths": [key]}).to_string();
        let request = || self.client.post(&url).header("content-type", "application/json").body(body.clone());
        let found = self.ask::<Vec<Entry>>(key, request).await?;
        let entries = found.into_iter().flat_map(|(entries, _)| entries);
        Ok(entries.into_iter().find(|entry| entry.kind == "file").map(|entry| self.object(entry, &commit)))
    }

    async fn list_all(&self, folder: &str) -> Result<Vec<Object>> {
        let Some(commit) = self.commit().await? else { return Ok(Vec::new()) };
        let folder = folder.trim_matches('/');
        let below = if folder.is_empty() { String::new() } else { format!("/{}", encoded(folder)) };
        let mut url = self.api(&format!("tree/{commit}{below}?recursive=true&expand=false"));
        let mut objects = Vec::new();
        let mut is_first = true;
        loop {
            let Some((entries, headers)) = self.ask::<Vec<Entry>>(folder, || self.client.get(&url)).await? else {
                // Only the first page may be missing: then there is no such folder.
                return if is_first {
                    Ok(objects)
                } else {
                    Err(self.failed(folder, "a part of the list does not exist (404)".to_owned()))
                };
            };
            objects
                .extend(entries.into_iter().filter(|entry| entry.kind == "file").map(|one| self.object(one, &commit)));
            match next(&headers) {
                None => return Ok(objects),
                // The token must not be sent elsewhere.
                Some(next) if next.starts_with(&format!("{}/", self.endpoint)) => url = next,
                Some(_) => return Err(self.failed(folder, "the list continues on another server".to_owned())),
            }
            is_first = false;
        }
    }

    async fn get_from(&self, object: &Object, from: u64) -> std::result::Result<Reply, Refusal> {
        let commit = object.version.as_deref().unwrap_or(&self.revision);
        // The paths of datasets and spaces begin with their kind, those of models do not.
        let kind = if self.kind == "models" { String::new() } else { format!("{}/", self.kind) };
        let (name, commit) = (encoded(&self.name), utf8_percent_encode(commit, ENCODED));
        let url = format!("{}/{kind}{name}/resolve/{commit}/{}", self.endpoint, encoded(&object.key));
        let mut request = self.client.get(url);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-{}", object.bytes - 1));
        }
        let reply = self.send(request).await?;
        let text = |name| reply.headers().get(name).and_then(|value| value.to_str().ok());
        let (size, range) = if from > 0 {
            let range = text(CONTENT_RANGE).and_then(content_range);
            match range.filter(|_| reply.status() == StatusCode::PARTIAL_CONTENT) {
                Some((range, size)) => (size, range),
                None => return Err(Refusal::Again("the hub did not send the part that was asked for".to_owned())),
            }
        } else {
            let size = text(CONTENT_LENGTH).and_then(|length| length.parse().ok()).unwrap_or(object.bytes);
            (size, 0..size)
        };
        let body = reply.bytes_stream().map(|part| part.map_err(|error| said(&error))).boxed_local();
        // The commit pins the object, and other servers have ETags of their own.
        Ok(Reply { size, range, etag: None, body })
    }
}

impl Protocol for Hub {
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

/// Encodes the parts of a path. Slashes stay, because the hub allows more requests of such paths.
fn encoded(path: &str) -> String {
    path.split('/').map(|part| utf8_percent_encode(part, ENCODED).to_string()).collect::<Vec<_>>().join("/")
}

/// Returns the token of the user: from the environment, or from the file that the tool of the hub writes.
fn token() -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let of_home = || {
        let cache = || variable("XDG_CACHE_HOME").or_else(|| Some(format!("{}/.cache", variable("HOME")?)));
        let home = variable("HF_HOME").or_else(|| Some(format!("{}/huggingface", cache()?)))?;
        Some(format!("{home}/token"))
    };
    let of_file = || {
        let path = PathBuf::from(variable("HF_TOKEN_PATH").or_else(of_home)?);
        dupsift_core::safe_fs::read(&path, MOST_TOKEN).ok().and_then(|bytes| String::from_utf8(bytes).ok())
    };
    let token = variable("HF_TOKEN").or_else(of_file)?;
    Some(token.trim().to_owned()).filter(|token| !token.is_empty())
}

/// The largest file with a token that is read, in bytes.
const MOST_TOKEN: u64 = 64 << 10;

/// Returns the URL of the next page from the header `Link`.
fn next(headers: &HeaderMap) -> Option<String> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    Some(next.split_once('<')?.1.split_once('>')?.0.to_owned())
}

/// Parses a header such as `bytes 10-19/20`.
fn content_range(value: &str) -> Option<(std::ops::Range<u64>, u64)> {
    let (range, size) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    Some((first.parse().ok()?..last.parse::<u64>().ok()?.checked_add(1)?, size.parse().ok()?))
}

fn stalled() -> String {
    format!("no byte arrived for {} s", STALL.as_secs())
}

/// Returns the text of an error in one line, without secrets.
fn said(error: &reqwest::Error) -> String {
    let mut whole = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        whole += &format!(": {inner}");
        source = inner.source();
    }
    without_secrets(&whole, std::env::vars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_has_a_kind_a_name_and_a_revision() {
        let of = |text: &str| repository(text).map(|(kind, name, revision)| format!("{kind} {name} {revision}"));
        for (text, expected) in [
            ("datasets/a/b", Some("datasets a/b main")),
            ("datasets/a/b@~parquet", Some("datasets a/b refs/convert/parquet")),
            ("datasets/a/b@refs%2Fpr%2F1", Some("datasets a/b refs/pr/1")),
            ("spaces/a/b@v1", Some("spaces a/b v1")),
            ("a/b", Some("models a/b main")),
            ("ab", None),
        ] {
            assert_eq!(of(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn headers_are_parsed() {
        assert_eq!(content_range("bytes 10-19/20"), Some((10..20, 20)));
        for wrong in ["bytes 10-/20", "bytes */20", "items 1-2/3", "bytes 1-18446744073709551615/3"] {
            assert_eq!(content_range(wrong), None, "{wrong}");
        }
        let headers = |link: &str| HeaderMap::from_iter([(LINK, link.parse().unwrap())]);
        assert_eq!(next(&headers("<https://a/b?cursor=x>; rel=\"next\"")).as_deref(), Some("https://a/b?cursor=x"));
        assert_eq!(next(&headers("<https://a/b>; rel=\"prev\"")), None);
        assert_eq!(encoded("a b/c+d.parquet"), "a%20b/c%2Bd.parquet");
    }
}
