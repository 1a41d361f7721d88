//! Fetches one object: pins its ETag and version, checks the length of each body, and asks again only for the bytes that are missing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{Error, GetOptions, GetRange, ObjectStore};
use tokio::time::{sleep, timeout};

use crate::http::{LONGEST_PAUSE, STALL};
use crate::store::{Object, Outcome};

/// The number of attempts in a row that bring no byte.
const TRIES: u32 = 8;
/// The first pause between two attempts; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The reason why an attempt ended before the object was complete.
enum Ended {
    /// The file cannot be written.
    Write(io::Error),
    /// Another attempt would end in the same way.
    Final(String),
    /// Another attempt may succeed.
    Again(String),
}

/// Counts what was fetched.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    pub(crate) retries: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// Copies an object to an empty file.
///
/// # Errors
/// Returns an I/O error if the file cannot be written.
pub(crate) async fn fetch(
    store: &dyn ObjectStore,
    object: &Object,
    file: &File,
    counts: &Fetched,
) -> io::Result<Outcome> {
    let Ok(path) = Path::parse(&object.key) else { return Ok(Err("its name is not a valid key".to_owned())) };
    let is_pinned = object.etag.is_some() || object.version.is_some();
    let (mut have, mut tries, mut pause) = (0, 0, FIRST_PAUSE);
    // An empty range is an error, so an empty object is never asked for.
    while have < object.bytes {
        let before = have;
        let why = match attempt(store, &path, object, file, &mut have, counts).await {
            Ok(()) => continue,
            Err(Ended::Write(error)) => return Err(error),
            Err(Ended::Final(why)) => return Ok(Err(why)),
            Err(Ended::Again(why)) => why,
        };
        if !is_pinned {
            // The rest could be that of another object.
            have = 0;
        }
        if have > before {
            (tries, pause) = (0, FIRST_PAUSE);
        }
        tries += 1;
        if tries >= TRIES {
            return Ok(Err(format!("{why} ({TRIES} attempts)")));
        }
        counts.retries.fetch_add(1, Relaxed);
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    Ok(Ok(()))
}

/// Asks once for the bytes from `have` on, and writes what arrives.
async fn attempt(
    store: &dyn ObjectStore,
    path: &Path,
    object: &Object,
    file: &File,
    have: &mut u64,
    counts: &Fetched,
) -> Result<(), Ended> {
    let range = (*have > 0).then(|| GetRange::Bounded(*have..object.bytes));
    let (if_match, version) = (object.etag.clone(), object.version.clone());
    let asked = GetOptions { if_match, version, range, ..GetOptions::default() };
    let reply = store.get_opts(path, asked).await.map_err(|error| match error {
        Error::Precondition { .. } => Ended::Final(CHANGED.to_owned()),
        Error::NotFound { .. } => Ended::Final("the object has been deleted since it was listed".to_owned()),
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Ended::Final(said(&error)),
        error => Ended::Again(said(&error)),
    })?;
    // A store may ignore the condition.
    let is_other = matches!((&reply.meta.e_tag, &object.etag), (Some(now), Some(listed)) if now != listed);
    if is_other || reply.meta.size != object.bytes {
        return Err(Ended::Final(CHANGED.to_owned()));
    }
    if reply.range != (*have..object.bytes) {
        return Err(Ended::Again("the store sent other bytes than those asked for".to_owned()));
    }
    let mut body = reply.into_stream();
    loop {
        let part = match timeout(STALL, body.next()).await {
            Err(_) => return Err(Ended::Again(format!("no byte arrived for {} s", STALL.as_secs()))),
            Ok(None) if *have < object.bytes => return Err(Ended::Again("the reply ended too early".to_owned())),
            Ok(None) => return Ok(()),
            Ok(Some(Err(error))) => return Err(Ended::Again(said(&error))),
            Ok(Some(Ok(part))) => part,
        };
        counts.bytes.fetch_add(part.len() as u64, Relaxed);
        if part.len() as u64 > object.bytes - *have {
            *have = 0;
            return Err(Ended::Again("the reply is longer than the object".to_owned()));
        }
        file.write_all_at(&part, *have).map_err(Ended::Write)?;
        *have += part.len() as u64;
    }
}

const CHANGED: &str = "the object has changed since it was listed";

/// The variables that hold secrets, which never become part of a message.
const SECRETS: [&str; 4] = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_TOKEN"];
/// The number of characters of an error that are shown.
const MOST_SHOWN: usize = 300;

/// Returns the text of an error in one line, without secrets.
pub(crate) fn said(error: &Error) -> String {
    let mut whole = match error {
        Error::PermissionDenied { .. } => return "access is denied (403)".to_owned(),
        Error::Unauthenticated { .. } => return "the credentials are not accepted (401)".to_owned(),
        error => error.to_string(),
    };
    for secret in SECRETS.iter().filter_map(|name| std::env::var(name).ok()).filter(|secret| !secret.is_empty()) {
        whole = whole.replace(&secret, "***");
    }
    let line = whole.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_SHOWN).collect()
}
