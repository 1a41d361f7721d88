//! Reads and writes the filter of the `stream` command. One run writes the file for the next run.
//!
//! The file consists of a line with the name of the format, a JSON line that describes the keys, and the filter's numbers (little-endian).
//! The JSON line includes a hash of the numbers and of the rest of the line. Files are read and written in pieces so that memory holds only
//! one copy of the filter.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Read, Seek as _, Write as _};
use std::path::Path;

use bytesize::ByteSize;
use serde::{Deserialize, Serialize};

use super::keys::Sizing;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{combine, hash64};
use dupsift_core::number::{counted, thousands};
use dupsift_core::safe_fs;
use dupsift_spill::bloom::CountingBloom;

/// The first line of the file.
const FORMAT: &str = "dupsift counting bloom filter 3";

/// The text before the hash in the JSON line.
const HASH: &str = "\"hash\":\"";

/// Describes the contents of a filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FilterFacts {
    /// The algorithm whose signature is the key, with its parameters.
    pub recipe: String,
    /// A hash of the recipe and of all settings that affect the extraction of words, in hexadecimal.
    pub identity: String,
    /// The number of keys that were inserted and not removed.
    pub keys: u64,
    /// The false-positive rate for which the filter was built.
    pub rate: f64,
    /// The count of the numbers that follow the JSON line.
    pub numbers: u64,
    /// A hash of the numbers and of the preceding fields, in hexadecimal.
    pub hash: String,
}

/// Computes the hash of a filter from its JSON line and the hash of its numbers. The hash `own` in the line is excluded.
fn hash_of(line: &str, own: &str, of_numbers: u64) -> String {
    let line = line.replacen(&format!("{HASH}{own}"), HASH, 1);
    format!("{:016x}", combine(of_numbers, hash64(line.as_bytes())))
}

/// Reads the numbers in a file one by one, and keeps the first error.
struct Numbers<R> {
    from: R,
    left: usize,
    hash: u64,
    failed: Option<std::io::Error>,
}

impl<R: Read> Iterator for Numbers<R> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        if self.left == 0 || self.failed.is_some() {
            return None;
        }
        let mut bytes = [0; 8];
        if let Err(error) = self.from.read_exact(&mut bytes) {
            self.failed = Some(error);
            return None;
        }
        self.left -= 1;
        let number = u64::from_le_bytes(bytes);
        self.hash = combine(self.hash, number);
        Some(number)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<R: Read> ExactSizeIterator for Numbers<R> {}

/// Checks that a filter for `keys` keys fits in its share of the memory.
///
/// # Errors
/// Returns [`Error::Usage`] with the number of keys that would fit, if the filter is too large.
pub(crate) fn has_room(keys: u64, sizing: Sizing, memory: u64, most_bytes: usize) -> Result<()> {
    let bytes = sizing.bytes_for(keys);
    if bytes <= most_bytes as u64 {
        return Ok(());
    }
    let why = format!(
        "the filter needs {}, which is more than half of `memory={}`; use at most {}, or `memory={}`",
        ByteSize(bytes),
        ByteSize(memory),
        counted(sizing.documents_within(most_bytes as u64), if sizing.each == 1 { "key" } else { "document" }),
        ByteSize(bytes.saturating_mul(2))
    );
    Err(Error::wrong_value("keys", keys, why))
}

/// Returns a warning if a new filter is too small for `keys` keys.
pub(crate) fn cut(keys: u64, sizing: Sizing, filter: &CountingBloom) -> Option<String> {
    (sizing.bytes_for(keys) > filter.bytes()).then(|| {
        format!(
            "the filter is sized for {}, not for {} (ten times the number of documents), because `memory` is too small",
            counted(sizing.documents_within(filter.bytes()), if sizing.each == 1 { "key" } else { "document" }),
            thousands(keys)
        )
    })
}

/// Checks that the header of the file has one of these identities, and that the counters fit in memory. The numbers are not read.
///
/// # Errors
/// See [`read`].
pub(crate) fn check(path: &Path, recipe: &str, identities: &[&str], most_bytes: usize) -> Result<()> {
    open(path, recipe, identities, most_bytes).map(|_| ())
}

/// Opens a filter. Returns the file (positioned at the first number), the parsed header, and the JSON line of the header.
fn open(
    path: &Path,
    recipe: &str,
    identities: &[&str],
    most_bytes: usize,
) -> Result<(BufReader<File>, FilterFacts, String)> {
    let usage = |why: String| wrong(path, why);
    let unreadable = |error: std::io::Error| usage(format!("cannot be read: {error}"));
    let strange = || strange(path);
    let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut line = Vec::new();
    let mut next_line = |file: &mut BufReader<File>| -> Result<Vec<u8>> {
        line.clear();
        // No header is longer than 1 MiB. The limit keeps a large file that is not a filter from being read into memory.
        file.by_ref().take(1 << 20).read_until(b'\n', &mut line).map_err(unreadable)?;
        Ok(line.strip_suffix(b"\n").unwrap_or_default().to_vec())
    };
    if next_line(&mut file)? != FORMAT.as_bytes() {
        return Err(strange());
    }
    let line = String::from_utf8(next_line(&mut file)?).map_err(|_| strange())?;
    let held: FilterFacts = serde_json::from_str(&line).map_err(|_| strange())?;
    if !identities.contains(&held.identity.as_str()) {
        return Err(usage(format!(
            "it contains keys from {}, perhaps computed with different word lists or by a different version; expected keys from {recipe}",
            held.recipe
        )));
    }
    let bytes = held.numbers.saturating_mul(8);
    let length = file.get_ref().metadata().map_err(unreadable)?;
    let there = length.len().saturating_sub(file.stream_position().map_err(unreadable)?);
    if length.is_file() && bytes != there {
        let (what, count) = if bytes > there { ("it is truncated", there) } else { ("it is damaged", there) };
        return Err(usage(format!("{what}: expected {}, got {}", counted(bytes, "byte"), thousands(count))));
    }
    if !length.is_file() {
        return Err(usage("expected a file".into()));
    }
    // The file contains one number in addition to the counters, and the counters alone may fill the allowed memory completely.
    if bytes > most_bytes as u64 + 8 + 8 {
        return Err(usage(format!(
            "the counters take {}, but `memory` allows {}; raise `memory`",
            counted(bytes, "byte"),
            thousands(most_bytes as u64)
        )));
    }
    Ok((file, held, line))
}

fn wrong(path: &Path, why: String) -> Error {
    Error::wrong_value("filter", path.display(), why)
}

fn strange(path: &Path) -> Error {
    wrong(path, "expected the file filter.bloom from an earlier `dupsift stream`".into())
}

/// Reads a filter that was written for the recipe with the given identity.
///
/// # Errors
/// Returns [`Error::Usage`] if the file is not a filter, was written for a different recipe, is damaged, or has counters that take more
/// than `most_bytes`.
pub(crate) fn read(
    path: &Path,
    recipe: &str,
    identity: &str,
    most_bytes: usize,
) -> Result<(CountingBloom, FilterFacts)> {
    let usage = |why: String| wrong(path, why);
    let (file, held, line) = open(path, recipe, &[identity], most_bytes)?;
    let mut numbers = Numbers { from: file, left: held.numbers as usize, hash: 0, failed: None };
    let filter = CountingBloom::of_numbers(&mut numbers);
    if let Some(error) = numbers.failed {
        return Err(usage(format!("it is truncated ({error}); expected {} numbers", held.numbers)));
    }
    if hash_of(&line, &held.hash, numbers.hash) != held.hash || held.keys > i64::MAX as u64 {
        return Err(usage("it is damaged: its checksum does not match".into()));
    }
    Ok((filter.ok_or_else(|| strange(path))?, held))
}

/// Writes a filter with the header `held`. The fields `numbers` and `hash` of the header are filled in first.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be written.
pub(crate) fn write(path: &Path, filter: &CountingBloom, held: &FilterFacts) -> Result<()> {
    let hash = filter.numbers().fold(0, combine);
    let held = FilterFacts { numbers: filter.count_of_numbers(), hash: String::new(), ..held.clone() };
    let json = |held: &FilterFacts| serde_json::to_string(held).map_err(Error::table("write the filter"));
    let hash = hash_of(&json(&held)?, "", hash);
    let json = json(&FilterFacts { hash, ..held })?;
    let failed = Error::io("write", path);
    let write = || -> std::io::Result<()> {
        let mut out = BufWriter::new(safe_fs::create(path)?);
        writeln!(out, "{FORMAT}\n{json}")?;
        filter.numbers().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    };
    write().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_keys_than_there_is_room_for_are_refused_with_the_number_that_would_do() {
        let one = Sizing { each: 1, rate: 1e-3 };
        assert!(has_room(72_000, one, 1 << 20, 1 << 19).is_ok());
        let message = has_room(1_000_000_000_000_000, one, 1 << 20, 1 << 19).unwrap_err().to_string();
        assert!(message.contains("use at most 72,931 keys, or `memory=12.8 PiB`"), "{message}");
        let filter = CountingBloom::new(1_000_000, 1e-3, 1 << 19);
        assert!(cut(1_000_000, one, &filter).unwrap().contains("for 72,931 keys, not for 1,000,000"));
        assert_eq!(cut(1_000, one, &CountingBloom::new(1_000, 1e-3, 1 << 19)), None);
        let several = has_room(1_000_000, Sizing { each: 14, ..one }, 1 << 20, 1 << 19).unwrap_err().to_string();
        assert!(several.contains("use at most 3,7") && several.contains("documents"), "{several}");
    }

    #[test]
    fn a_filter_comes_back_and_a_strange_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("filter.bloom");
        let filter = CountingBloom::new(100, 1e-3, usize::MAX);
        (0..100).for_each(|key| filter.insert(key));
        let held = FilterFacts {
            recipe: "exact:form=raw".into(),
            identity: "ab".into(),
            keys: 100,
            rate: 1e-3,
            numbers: 0,
            hash: String::new(),
        };
        write(&path, &filter, &held).unwrap();
        let (again, read_back) = read(&path, "exact", "ab", 1 << 20).unwrap();
        assert!((0..100).all(|key| again.count(key) > 0) && read_back.keys == 100);
        let refused = |identity: &str, most: usize| read(&path, "tf", identity, most).unwrap_err().to_string();
        assert!(refused("cd", 1 << 20).contains("exact:form=raw"));
        assert!(refused("ab", 10).contains("raise `memory`"));
        let bytes = std::fs::read(&path).unwrap();
        let mut other = bytes.clone();
        *other.last_mut().unwrap() ^= 1;
        std::fs::write(&path, &other).unwrap();
        assert!(refused("ab", 1 << 20).contains("damaged"));
        // Every changed byte in the header must be detected, because it may change the number of keys or the rate.
        let head = bytes.iter().position(|&byte| byte == b'{').unwrap();
        let end = head + bytes[head..].iter().position(|&byte| byte == b'\n').unwrap();
        for at in head..end {
            let mut other = bytes.clone();
            other[at] ^= 1;
            std::fs::write(&path, &other).unwrap();
            let message = refused("ab", 1 << 20);
            assert!(
                ["damaged", "truncated", "filter.bloom", "different word lists", "raise `memory`"]
                    .iter()
                    .any(|said| message.contains(said)),
                "{at}: {message}"
            );
        }
        std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        assert!(refused("ab", 1 << 20).contains("truncated"));
        // The header claims at least a terabyte of counters. No memory may be allocated for these counters.
        let head = String::from_utf8_lossy(&bytes[..bytes.len() - 8 * filter.count_of_numbers() as usize]).into_owned();
        let says = format!("\"numbers\":{}", filter.count_of_numbers());
        assert!(head.contains(&says), "{head}");
        for numbers in [1 << 37, 1 << 61, u64::MAX] {
            std::fs::write(&path, head.replace(&says, &format!("\"numbers\":{numbers}"))).unwrap();
            let message = read(&path, "exact", "ab", usize::MAX >> 1).unwrap_err().to_string();
            assert!(message.contains("truncated"), "{message}");
        }
        std::fs::write(&path, [&bytes[..], &[0; 8]].concat()).unwrap();
        assert!(refused("ab", 1 << 20).contains("damaged"));
        std::fs::write(&path, b"PAR1").unwrap();
        assert!(refused("ab", 1 << 20).contains("filter.bloom"));
    }
}
