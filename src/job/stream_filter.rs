//! The filter of the verb `stream` as a file: what one run leaves for the next.
//!
//! A line that names the format, a line of JSON that says what the keys are, then the numbers of the filter, little-endian.

use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bloom::CountingBloom;
use crate::error::{Error, Result};

/// The first line of the file.
const FORMAT: &str = "dupsift counting bloom filter 1";

/// What a filter holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The algorithm with its parameters, whose signature is the key.
    pub recipe: String,
    /// A hash of that and of all that words depend on, in hexadecimal.
    pub identity: String,
    /// Keys inserted and not removed.
    pub keys: u64,
    /// Numbers that follow.
    pub numbers: u64,
}

/// Reads a filter that was left for the recipe of this identity.
///
/// # Errors
/// [`Error::Usage`] for a file that is no such filter, was made with another recipe, or is larger than `most_bytes`.
pub fn read(path: &Path, recipe: &str, identity: &str, most_bytes: usize) -> Result<(CountingBloom, Held)> {
    let usage = |why: String| Error::Usage(format!("--filter {}: {why}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| usage(format!("cannot be read: {error}")))?.len();
    if size > most_bytes as u64 {
        return Err(usage(format!("{size} bytes, of which --memory allows {most_bytes}; raise --memory")));
    }
    let bytes = std::fs::read(path).map_err(|error| usage(format!("cannot be read: {error}")))?;
    let strange = || usage("expected the file filter.bloom that an earlier `dupsift stream` left".into());
    let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
    if lines.next() != Some(FORMAT.as_bytes()) {
        return Err(strange());
    }
    let held: Held = serde_json::from_slice(lines.next().unwrap_or_default()).map_err(|_| strange())?;
    if held.identity != identity {
        return Err(usage(format!(
            "it holds keys of {}, made with other words or another version perhaps; expected those of {recipe}",
            held.recipe
        )));
    }
    let (numbers, rest) = lines.next().unwrap_or_default().as_chunks::<8>();
    let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    if !rest.is_empty() || numbers.len() as u64 != held.numbers {
        return Err(usage(format!("it is cut off: {} numbers, {} expected", numbers.len(), held.numbers)));
    }
    Ok((CountingBloom::of_numbers(&numbers).ok_or_else(strange)?, held))
}

/// Writes a filter; `held.numbers` is filled in.
///
/// # Errors
/// [`Error::Io`].
pub fn write(path: &Path, filter: &CountingBloom, held: &Held) -> Result<()> {
    let numbers = filter.to_numbers();
    let held = Held { numbers: numbers.len() as u64, ..held.clone() };
    let json = serde_json::to_string(&held).map_err(Error::table("write the filter"))?;
    let failed = Error::io("write", path);
    let write = || -> std::io::Result<()> {
        let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
        writeln!(out, "{FORMAT}\n{json}")?;
        numbers.iter().try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
        out.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    };
    write().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_comes_back_and_a_strange_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("filter.bloom");
        let filter = CountingBloom::new(100, 1e-3, usize::MAX);
        (0..100).for_each(|key| filter.insert(key));
        let held = Held { recipe: "exact:form=raw".into(), identity: "ab".into(), keys: 100, numbers: 0 };
        write(&path, &filter, &held).unwrap();
        let (again, read_back) = read(&path, "exact", "ab", 1 << 20).unwrap();
        assert!((0..100).all(|key| again.count(key) > 0) && read_back.keys == 100);
        let refused = |identity: &str, most: usize| read(&path, "tf", identity, most).unwrap_err().to_string();
        assert!(refused("cd", 1 << 20).contains("exact:form=raw"));
        assert!(refused("ab", 10).contains("--memory"));
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
        assert!(refused("ab", 1 << 20).contains("cut off"));
        std::fs::write(&path, b"PAR1").unwrap();
        assert!(refused("ab", 1 << 20).contains("filter.bloom"));
    }
}
