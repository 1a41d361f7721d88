//! Refuses remote addresses (`s3://bucket/docs`): dupsift reads and writes local files only.

use crate::error::{Error, Result};

/// The purpose for which a remote address was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Files are read from the address.
    Read,
    /// A folder is written to the address.
    Write,
}

/// Returns an error for a remote address and explains how to copy the files. Accepts local paths, and any string that is the path of an
/// existing file.
///
/// # Errors
/// Returns [`Error::Usage`] with the command that copies files between the address and a local folder.
pub fn refuse(text: &str, used: Use) -> Result<()> {
    let Some((scheme, rest)) = text.split_once("://") else { return Ok(()) };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    if !is_scheme || std::path::Path::new(text).exists() {
        return Ok(());
    }
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "file" {
        return Err(Error::usage(format!("{text:?} is a URL; pass only the path: {rest}")));
    }
    let copy = |read: String, write: String| if used == Use::Read { read } else { write };
    let way_out = match scheme.as_str() {
        "s3" | "s3a" | "s3n" => copy(format!("aws s3 sync s3://{rest} DIR"), format!("aws s3 sync DIR s3://{rest}")),
        "gs" | "gcs" => {
            copy(format!("gcloud storage rsync -r gs://{rest} DIR"), format!("gcloud storage rsync -r DIR gs://{rest}"))
        }
        "hf" => {
            let (kind, name) = rest.split_once('/').unwrap_or(("models", rest));
            let kind = kind.trim_end_matches('s');
            let name: Vec<&str> = name.split('/').take(2).collect();
            let name = name.join("/");
            copy(
                format!("hf download --repo-type {kind} {name} --local-dir DIR"),
                format!("hf upload --repo-type {kind} {name} DIR"),
            )
        }
        "http" | "https" => copy(format!("curl -LO {text}"), "a tool of that server".to_owned()),
        "hdfs" | "viewfs" => copy(format!("hdfs dfs -get {text} DIR"), format!("hdfs dfs -put DIR {text}")),
        "az" | "abfs" | "abfss" | "wasb" | "wasbs" => {
            copy("azcopy copy ADDRESS DIR".to_owned(), "azcopy copy DIR ADDRESS".to_owned())
        }
        _ => copy("rclone copy ADDRESS DIR".to_owned(), "rclone copy DIR ADDRESS".to_owned()),
    };
    Err(Error::usage(match used {
        Use::Read => {
            format!("{text:?} is a remote address, but only local files can be read; copy it first: {way_out}")
        }
        Use::Write => {
            format!(
                "{text:?} is a remote address, but only local folders can be written; write to a local folder, then copy it: {way_out}"
            )
        }
    }))
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
            ("https://host/a.parquet", "curl -LO https://host/a.parquet"),
            ("hdfs://host/x", "hdfs dfs -get hdfs://host/x DIR"),
            ("abfss://c@host/x", "azcopy copy ADDRESS DIR"),
            ("sftp://host/x", "rclone copy ADDRESS DIR"),
            ("file:///data/x", "pass only the path: /data/x"),
        ] {
            assert!(read(address).ends_with(command), "{}", read(address));
        }
        let write = refuse("s3://bucket/out", Use::Write).unwrap_err().to_string();
        assert!(write.ends_with("then copy it: aws s3 sync DIR s3://bucket/out"), "{write}");
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
