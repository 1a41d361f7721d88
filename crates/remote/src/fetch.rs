//! Fetches one object: pins its ETag and version, checks the length of each body, and asks again only for the bytes that are missing.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use futures_util::StreamExt as _;
use object_store::Error;
use tokio::time::{sleep, timeout};

use crate::http::{LONGEST_PAUSE, STALL};
use crate::protocol::{Protocol, Refusal};
use crate::store::{Object, Outcome};

/// The number of attempts in a row that bring no byte.
const TRIES: u32 = 8;
/// The first pause between two attempts; each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);

/// The reason why an attempt ended before the object was complete.
enum Ended {
    /// The file cannot be written.
    Write(io::Error),
    Refused(Refusal),
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Ended {
        Ended::Refused(refusal)
    }
}

fn again(why: impl Into<String>) -> Ended {
    Ended::Refused(Refusal::Again(why.into()))
}

/// Counts what was fetched.
#[derive(Debug, Default)]
pub(crate) struct Fetched {
    pub(crate) retries: AtomicU64,
    pub(crate) bytes: AtomicU64,
}

/// Copies an object to an empty file. `arrived` receives the number of bytes whenever more of it is there.
///
/// # Errors
/// Returns an I/O error if the file cannot be written.
pub(crate) async fn fetch(
    protocol: &dyn Protocol,
    object: &Object,
    file: &File,
    counts: &Fetched,
    arrived: &dyn Fn(u64),
) -> io::Result<Outcome> {
    let is_pinned = object.etag.is_some() || object.version.is_some();
    let mut most = 0;
    let (mut have, mut tries, mut pause) = (0, 0, FIRST_PAUSE);
    // An empty range is an error, so an empty object is never asked for.
    while have < object.bytes {
        let before = have;
        let mut told = |have: u64| {
            arrived(have.saturating_sub(most));
            most = most.max(have);
        };
        let why = match attempt(protocol, object, file, &mut have, (counts, &mut told)).await {
            Ok(()) => continue,
            Err(Ended::Write(error)) => return Err(error),
            Err(Ended::Refused(Refusal::Final(why))) => return Ok(Err(why)),
            Err(Ended::Refused(Refusal::Again(why))) => why,
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
    protocol: &dyn Protocol,
    object: &Object,
    file: &File,
    have: &mut u64,
    (counts, told): (&Fetched, &mut dyn FnMut(u64)),
) -> Result<(), Ended> {
    let reply = protocol.get(object, *have).await?;
    // A store may ignore the condition.
    let is_other = matches!((&reply.etag, &object.etag), (Some(now), Some(listed)) if now != listed);
    if is_other || reply.size != object.bytes {
        return Err(Ended::Refused(Refusal::Final(CHANGED.to_owned())));
    }
    if reply.range != (*have..object.bytes) {
        return Err(again("the store sent other bytes than those asked for"));
    }
    let mut body = reply.body;
    loop {
        let part = match timeout(STALL, body.next()).await {
            Err(_) => return Err(again(format!("no byte arrived for {} s", STALL.as_secs()))),
            Ok(None) if *have < object.bytes => return Err(again("the reply ended too early")),
            Ok(None) => return Ok(()),
            Ok(Some(Err(why))) => return Err(again(why)),
            Ok(Some(Ok(part))) => part,
        };
        counts.bytes.fetch_add(part.len() as u64, Relaxed);
        if part.len() as u64 > object.bytes - *have {
            *have = 0;
            return Err(again("the reply is longer than the object"));
        }
        file.write_all_at(&part, *have).map_err(Ended::Write)?;
        *have += part.len() as u64;
        told(*have);
    }
}

pub(crate) const CHANGED: &str = "the object has changed since it was listed";

/// The number of characters of an error that are shown.
const MOST_SHOWN: usize = 300;

/// Returns the text of an error in one line, without secrets.
pub(crate) fn said(error: &Error) -> String {
    match error {
        Error::PermissionDenied { .. } => "access is denied (403)".to_owned(),
        Error::Unauthenticated { .. } => "the credentials are not accepted (401)".to_owned(),
        error => without_secrets(&error.to_string(), std::env::vars()),
    }
}

/// Returns a text in one line, without queries of URLs, which may be signatures, and without the values of variables that hold secrets.
pub(crate) fn without_secrets(text: &str, variables: impl Iterator<Item = (String, String)>) -> String {
    let is_secret = |name: &str| {
        ["AWS_", "AZURE_", "GOOGLE_", "HF_"].iter().any(|store| name.starts_with(store))
            && ["KEY", "SECRET", "TOKEN", "SAS", "PASSWORD", "CREDENTIALS"].iter().any(|part| name.contains(part))
    };
    let mut whole = text.to_owned();
    for (_, secret) in variables.filter(|(name, secret)| is_secret(name) && !secret.is_empty()) {
        whole = whole.replace(&secret, "***");
    }
    let without_query = |word: &str| match word.split_once('?') {
        Some((before, query)) if before.contains("://") => {
            let end = query.trim_start_matches(|letter: char| !"()\"'>".contains(letter));
            format!("{before}{end}")
        }
        _ => word.to_owned(),
    };
    let line = whole.split_whitespace().map(without_query).collect::<Vec<_>>().join(" ");
    line.chars().take(MOST_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_contain_neither_secrets_nor_signatures() {
        let variables = [("AWS_SECRET_ACCESS_KEY", "hidden"), ("AWS_REGION", "here"), ("AZURE_STORAGE_SAS_KEY", "")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let text = "error for url (https://a.b/c?sig=x&se=2026)\n  caused by hidden: what? here";
        assert_eq!(
            without_secrets(text, variables.into_iter()),
            "error for url (https://a.b/c) caused by ***: what? here"
        );
    }
}
