//! Reads standard input as a file of the corpus. The input is first written to the temporary folder, because a corpus is read more than
//! once.

use crate::compressed::coding::Coding;
use crate::compressed::packing::Packing;
use crate::find::found_file::FoundFile;
use crate::find::taking::Taking;
use crate::formats;
use crate::formats::TextFiles;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{Readers, private};
use dupsift_publish::{DASH, STANDARD_INPUT, WorkFolder};
use std::fs::Permissions;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// The number of bytes written at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// The stored input, in a temporary folder that stays locked.
pub struct Stored {
    /// The file in the temporary folder.
    pub file: FoundFile,
    /// The temporary folder that contains the file.
    pub work: WorkFolder,
}

/// Locks the temporary folder of an output and writes the input to this folder: JSON lines or text lines, plain or compressed. `readers`
/// are the users who may read the input.
///
/// # Errors
/// Returns the errors of [`WorkFolder::take`], or [`Error::Io`] if the disk is full or the input cannot be read.
pub fn store(
    (mut from, readers): (impl Read, &Readers),
    out: &Path,
    work: Option<&Path>,
    taking: Taking,
) -> Result<Stored> {
    let work = WorkFolder::take(out, work)?;
    let path = work.path().join(STANDARD_INPUT);
    let file = private::create(&path).map_err(Error::io("create", &path))?;
    // The folder is private. The permissions of the file show who may read an output made from it.
    let _ = file.set_permissions(Permissions::from_mode(0o666)).and_then(|()| readers.limit(&file));
    let mut to = BufWriter::with_capacity(BUFFER_BYTES, file);
    let (mut bytes, mut first, mut part) = (0u64, Vec::new(), vec![0; BUFFER_BYTES]);
    loop {
        let read = match from.read(&mut part) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(Error::reading("read", Path::new("standard input")))?,
        };
        let Some(there) = part.get(..read).filter(|there| !there.is_empty()) else { break };
        if first.len() < Packing::SIGN_BYTES {
            first.extend(there.iter().take(Packing::SIGN_BYTES));
        }
        bytes += read as u64;
        to.write_all(there).map_err(Error::io("write", &path))?;
    }
    to.flush().map_err(Error::io("write", &path))?;
    let coding = Coding { packing: Packing::of_bytes(&first), ..taking.coding };
    let format = if taking.text_files == TextFiles::Lines { formats::TEXT_LINES } else { formats::JSON_LINES };
    let (label, partitions) = (DASH.to_owned(), Vec::new());
    Ok(Stored {
        file: FoundFile { path, label, format, coding, is_guess: false, bytes, partitions, staged: None },
        work,
    })
}

/// Returns whether [`store`] wrote the file.
pub(crate) fn is_standard_input(path: &Path, label: &str) -> bool {
    label == DASH && path.file_name().is_some_and(|name| name == STANDARD_INPUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::gz;

    #[test]
    fn what_comes_stands_in_the_work_folder_as_long_as_the_lock_is_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let line = b"{\"text\": \"a\"}\n".repeat(30_000);
        for (bytes, packing) in
            [(line.clone(), Packing::Plain), (gz(&line), Packing::Gzip), (Vec::new(), Packing::Plain)]
        {
            let taken = store((bytes.as_slice(), &Readers::default()), &out, None, Taking::default()).expect("taken");
            assert_eq!((taken.file.coding.packing, taken.file.bytes), (packing, bytes.len() as u64));
            assert_eq!(std::fs::read(&taken.file.path).expect("the file"), bytes);
            assert!(is_standard_input(&taken.file.path, &taken.file.label));
            let second = store((b"".as_slice(), &Readers::default()), &out, None, Taking::default())
                .err()
                .expect("a lock")
                .to_string();
            assert!(second.contains("another run is writing"), "{second}");
            // Cleaning up before the first stage does not remove this file.
            taken.work.keep_only(|_| false).expect("cleared");
            assert!(taken.file.path.is_file());
            drop(taken);
            assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
        }
    }
}
