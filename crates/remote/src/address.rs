//! Recognizes remote addresses, such as `s3://bucket/docs`, and refuses those that cannot be read or written.

use std::fmt;

use dupsift_core::error::{Error, Result};

/// The purpose for which a remote address was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Files are read from the address.
    Read,
    /// A folder is written to the address.
    Write,
}

/// The kinds of stores that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Stores with the protocol of Amazon S3.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
    /// A web server, whose files cannot be listed.
    Web,
    /// The Hugging Face hub.
    Hub,
}

/// An address of an object, of a folder or of several objects in a store that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) kind: Kind,
    /// The name of the bucket or container; for a web server, its URL, such as `https://example.org`; on the hub, the repository with its
    /// revision, such as `datasets/OWNER/NAME@REVISION`.
    pub(crate) bucket: String,
    /// The key after the bucket; a folder may end in a slash.
    pub key: String,
}

impl Address {
    /// Returns the address in a text; `None` if the text is a local path, or if the address cannot be read.
    pub fn of(text: &str) -> Option<Address> {
        let (scheme, rest) = scheme(text)?;
        if !cfg!(feature = "network") || has_user(rest) {
            return None;
        }
        let kind = match scheme.as_str() {
            "s3" | "s3a" | "s3n" => Kind::S3,
            "gs" | "gcs" => Kind::Google,
            "az" | "azure" => Kind::Azure,
            // A query may be a signature, which is a secret.
            "http" | "https" if !rest.contains(['?', '#']) => Kind::Web,
            "hf" => return Address::of_hub(rest),
            _ => return None,
        };
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() || bucket.contains('@') {
            return None;
        }
        let bucket = if kind == Kind::Web { format!("{scheme}://{bucket}") } else { bucket.to_owned() };
        Some(Address { kind, bucket, key: key.to_owned() })
    }

    /// Returns an address on the hub, which begins with a kind (models have none), an owner and a name.
    fn of_hub(rest: &str) -> Option<Address> {
        let is_kind = ["datasets/", "spaces/", "models/"].iter().any(|kind| rest.starts_with(kind));
        let mut slashes = rest.match_indices('/').map(|(at, _)| at).skip(if is_kind { 2 } else { 1 });
        let (bucket, key) = match slashes.next() {
            Some(at) => (&rest[..at], &rest[at + 1..]),
            None => (rest, ""),
        };
        let parts = bucket.split('/').filter(|part| !part.is_empty() && !part.starts_with('@')).count();
        let is_whole = parts == if is_kind { 3 } else { 2 };
        is_whole.then(|| Address { kind: Kind::Hub, bucket: bucket.to_owned(), key: key.to_owned() })
    }

    /// Returns the address of another key in the same bucket.
    pub fn with_key(&self, key: &str) -> Address {
        Address { key: key.to_owned(), ..self.clone() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.kind {
            Kind::S3 => "s3://",
            Kind::Google => "gs://",
            Kind::Azure => "az://",
            Kind::Web => "",
            Kind::Hub => "hf://",
        };
        write!(to, "{scheme}{}/{}", self.bucket, self.key)
    }
}

/// Returns the scheme of a remote address in lower case, and what follows `://`; `None` for a local path.
fn scheme(text: &str) -> Option<(String, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    let is_remote = is_scheme && !std::path::Path::new(text).exists();
    is_remote.then(|| (scheme.to_ascii_lowercase(), rest))
}

/// Returns whether an address contains a user with a password, such as `USER:PASSWORD@host/path`.
pub(crate) fn has_user(rest: &str) -> bool {
    let host = rest.split('/').next().unwrap_or_default();
    host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Returns an error for a remote address that cannot be read, and explains how to copy the files. Accepts addresses that can be read, and
/// local paths.
///
/// # Errors
/// Returns [`Error::Usage`] with the command that copies files from the address.
pub fn refuse_unread(text: &str) -> Result<()> {
    if Address::of(text).is_some() { Ok(()) } else { refuse(text, Use::Read) }
}

/// Returns an error for a remote address and explains how to copy the files. Accepts local paths, and any string that is the path of an
/// existing file.
///
/// # Errors
/// Returns [`Error::Usage`] with the command that copies files between the address and a local folder.
pub fn refuse(text: &str, used: Use) -> Result<()> {
    if scheme(text).is_none() { Ok(()) } else { Err(refused(text, used)) }
}

/// Returns the error for a remote address, which explains how to copy the files.
pub(crate) fn refused(text: &str, used: Use) -> Error {
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    if has_user(rest) {
        return Error::usage(format!(
            "an address of {scheme}:// contains a password; addresses are recorded, so expected one without user and password"
        ));
    }
    if scheme == "file" {
        return Error::usage(format!("{text:?} is a URL; pass only the path: {rest}"));
    }
    // A query may be a signature, which is a secret.
    let text = if scheme.starts_with("http") { text.split(['?', '#']).next().unwrap_or(text) } else { text };
    let copy = |read: String, write: String| if used == Use::Read { read } else { write };
    let shown = quoted(text);
    // The name of a bucket may contain a dot.
    let object = rest.split_once('/').is_some_and(|(_, path)| is_file(path));
    let way_out = match scheme.as_str() {
        "s3" | "s3a" | "s3n" => {
            let address = quoted(&format!("s3://{rest}"));
            let read = match glob(rest) {
                Some((above, pattern)) => {
                    let above = quoted(&format!("s3://{above}"));
                    format!("aws s3 cp {above} DIR --recursive --exclude '*' --include '{pattern}'")
                }
                None if object => format!("aws s3 cp {address} DIR/"),
                None => format!("aws s3 sync {address} DIR"),
            };
            copy(read, format!("aws s3 sync DIR {address}"))
        }
        "gs" | "gcs" => {
            let address = quoted(&format!("gs://{rest}"));
            let read = match object || glob(rest).is_some() {
                true => format!("gcloud storage cp {address} DIR/"),
                false => format!("gcloud storage rsync -r {address} DIR"),
            };
            copy(read, format!("gcloud storage rsync -r DIR {address}"))
        }
        "hf" => hugging_face(rest, used),
        "http" | "https" => copy("curl -LO ADDRESS".to_owned(), "a tool of that server".to_owned()),
        "hdfs" | "viewfs" => copy(format!("hdfs dfs -get {shown} DIR"), format!("hdfs dfs -put DIR {shown}")),
        "abfs" | "abfss" | "wasb" | "wasbs" if used == Use::Read && cfg!(feature = "network") => {
            let (container, host) = rest.split('/').next().unwrap_or_default().split_once('@').unwrap_or_default();
            let (container, account) = (container, host.split('.').next().unwrap_or_default());
            let path = rest.split_once('/').map_or("", |(_, path)| path);
            return Error::usage(format!(
                "{text:?} is the address of another tool; pass {} and set AZURE_STORAGE_ACCOUNT_NAME={account}",
                quoted(&format!("az://{container}/{path}"))
            ));
        }
        "az" | "azure" | "abfs" | "abfss" | "wasb" | "wasbs" => {
            copy("azcopy copy ADDRESS DIR".to_owned(), "azcopy copy DIR ADDRESS".to_owned())
        }
        _ => copy("rclone copy ADDRESS DIR".to_owned(), "rclone copy DIR ADDRESS".to_owned()),
    };
    Error::usage(match used {
        Use::Read => {
            format!("{text:?} is a remote address that cannot be read here; copy it first: {way_out}")
        }
        Use::Write => {
            format!(
                "{text:?} is a remote address, but only local folders can be written; write to a local folder, then copy it: {way_out}"
            )
        }
    })
}

/// Returns the command that copies a repository, or one file of it, between Hugging Face and a local folder. An address without a kind is
/// that of a model.
fn hugging_face(rest: &str, used: Use) -> String {
    let kinds = [("datasets", "dataset"), ("spaces", "space"), ("models", "model")];
    let named = kinds.into_iter().find_map(|(word, kind)| Some((kind, rest.strip_prefix(word)?.strip_prefix('/')?)));
    let (kind, path) = named.unwrap_or(("model", rest));
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let name: Vec<&str> = parts.by_ref().take(2).collect();
    let name = name.join("/");
    let (name, revision) = name.split_once('@').unwrap_or((&name, ""));
    let revision = if revision.is_empty() { String::new() } else { format!(" --revision {}", quoted(revision)) };
    let file = parts.collect::<Vec<_>>().join("/");
    let file = if is_file(&file) { format!(" {}", quoted(&file)) } else { String::new() };
    let (name, of_kind) = (quoted(name), if kind == "model" { String::new() } else { format!("--repo-type {kind} ") });
    // Corpora are usually datasets.
    let or_dataset = if named.is_none() { " (for a dataset, add --repo-type dataset)" } else { "" };
    match used {
        Use::Read => format!("hf download {of_kind}{name}{file}{revision} --local-dir DIR{or_dataset}"),
        Use::Write => format!("hf upload {of_kind}{name} DIR{or_dataset}"),
    }
}

/// Returns whether a path leads to a single file, judging by its extension.
fn is_file(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    last.contains('.') && !last.contains(['*', '?', '['])
}

/// Splits a path into the folder before its first wildcard and the pattern; `None` if the path has no wildcard.
fn glob(path: &str) -> Option<(&str, &str)> {
    let wild = path.find(['*', '?', '['])?;
    Some(path.split_at(path[..wild].rfind('/').map_or(0, |slash| slash + 1)))
}

/// Quotes an address for the shell if necessary.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@%=".contains(letter);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_addresses_are_refused_with_the_command_that_copies_them() {
        let read = |text: &str| refuse(text, Use::Read).unwrap_err().to_string();
        for (address, command) in [
            ("s3://bucket/docs", "aws s3 sync s3://bucket/docs DIR"),
            ("S3A://bucket/docs", "aws s3 sync s3://bucket/docs DIR"),
            ("gs://bucket/x", "gcloud storage rsync -r gs://bucket/x DIR"),
            ("hf://datasets/org/name/data", "hf download --repo-type dataset org/name --local-dir DIR"),
            ("https://host/a.parquet", "curl -LO ADDRESS"),
            ("s3://bucket/docs/a.parquet", "aws s3 cp s3://bucket/docs/a.parquet DIR/"),
            ("s3a://my.bucket", "aws s3 sync s3://my.bucket DIR"),
            (
                "s3://bucket/x/*/b.parquet",
                "aws s3 cp s3://bucket/x/ DIR --recursive --exclude '*' --include '*/b.parquet'",
            ),
            ("gs://bucket/a.jsonl.gz", "gcloud storage cp gs://bucket/a.jsonl.gz DIR/"),
            ("gs://bucket/a*", "gcloud storage cp 'gs://bucket/a*' DIR/"),
            ("hf://a/b", "hf download a/b --local-dir DIR (for a dataset, add --repo-type dataset)"),
            ("hf://datasets/a/b", "hf download --repo-type dataset a/b --local-dir DIR"),
            (
                "hf://datasets/a/b@dev/data/c.parquet",
                "hf download --repo-type dataset a/b data/c.parquet --revision dev --local-dir DIR",
            ),
            ("hf://spaces/a/b", "hf download --repo-type space a/b --local-dir DIR"),
            ("https://host/a.parquet?x=1&y=2", "curl -LO ADDRESS"),
            ("hdfs://host/x", "hdfs dfs -get hdfs://host/x DIR"),
            ("sftp://host/x", "rclone copy ADDRESS DIR"),
            ("file:///data/x", "pass only the path: /data/x"),
        ] {
            assert!(read(address).ends_with(command), "{}", read(address));
        }
        let write = refuse("s3://bucket/out", Use::Write).unwrap_err().to_string();
        assert!(write.ends_with("then copy it: aws s3 sync DIR s3://bucket/out"), "{write}");
        let write = refuse("hf://datasets/a/b", Use::Write).unwrap_err().to_string();
        assert!(write.ends_with("hf upload --repo-type dataset a/b DIR"), "{write}");
    }

    #[cfg(feature = "network")]
    #[test]
    fn addresses_of_buckets_are_recognized() {
        let shown = |text: &str| Address::of(text).map(|address| address.to_string());
        for (text, expected) in [
            ("s3://bucket/a/b.parquet", Some("s3://bucket/a/b.parquet")),
            ("S3A://my.bucket/a/*.parquet", Some("s3://my.bucket/a/*.parquet")),
            ("s3n://bucket", Some("s3://bucket/")),
            ("s3:///a", None),
            ("s3://user:secret@bucket/a", None),
            ("gcs://bucket/a", Some("gs://bucket/a")),
            ("az://container/a", Some("az://container/a")),
            ("https://example.org:8000/a/b.parquet", Some("https://example.org:8000/a/b.parquet")),
            ("https://example.org/a.parquet?signature=secret", None),
            ("hf://datasets/a/b", Some("hf://datasets/a/b/")),
            ("hf://datasets/a/b@refs%2Fpr%2F1/c/d.parquet", Some("hf://datasets/a/b@refs%2Fpr%2F1/c/d.parquet")),
            ("hf://a/b/c.jsonl", Some("hf://a/b/c.jsonl")),
            ("hf://datasets/a", None),
            ("bucket/a", None),
        ] {
            assert_eq!(shown(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn passwords_are_refused_and_not_repeated() {
        for address in ["s3://me:secret@bucket/a", "https://me:secret@host/a.parquet?x=secret"] {
            let said = refuse(address, Use::Read).unwrap_err().to_string();
            assert!(said.contains("contains a password") && !said.contains("secret"), "{said}");
        }
        // The account of a container is not a password.
        let said = refuse("abfss://c@account.host/x y", Use::Read).unwrap_err().to_string();
        #[cfg(feature = "network")]
        assert!(said.ends_with("pass 'az://c/x y' and set AZURE_STORAGE_ACCOUNT_NAME=account"), "{said}");
        #[cfg(not(feature = "network"))]
        assert!(said.ends_with("azcopy copy ADDRESS DIR"), "{said}");
        let said = refuse("https://host/a.parquet?signature=secret", Use::Read).unwrap_err().to_string();
        assert!(said.contains("curl -LO") && !said.contains("secret"), "{said}");
    }

    #[test]
    fn paths_pass() {
        for path in ["docs", "/data/docs", "a/b:c", "C:/docs", "://x", "1s3://x", "a b://c", "*.parquet"] {
            assert!(refuse(path, Use::Read).is_ok(), "{path}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s3:").join("bucket");
        std::fs::create_dir_all(&path).unwrap();
        assert!(refuse(&format!("{}//bucket", folder.path().join("s3:").display()), Use::Write).is_ok());
    }
}
