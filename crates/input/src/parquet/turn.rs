//! Limits the memory of large footers: only one of them is in memory at a time.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The number of bytes of memory that a footer takes per byte of its size in the file; a column chunk takes about 1.5 kB.
const IN_MEMORY: u64 = 14;
/// The size in the file, in bytes, above which only one footer is held in memory at a time.
const LARGE_FOOTER: u64 = 256 << 10;
/// The size in the file, in bytes, above which the memory of a footer is returned to the system. Otherwise, the heap of each thread would
/// keep the memory of the largest footer that the thread has read.
const RETURNED_FOOTER: u64 = 1 << 20;
/// Locked while a large footer is in memory.
static TURN: Mutex<()> = Mutex::new(());

/// Allows a thread to hold a large footer in memory. Drop the footer before the turn.
pub(super) struct Turn {
    is_returned: bool,
    _lock: MutexGuard<'static, ()>,
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_returned {
            dupsift_core::allocator::release();
        }
    }
}

/// Waits until no other large footer is in memory. Returns a [`Turn`] if this footer is large.
///
/// # Errors
/// Returns a message if the footer would take more than `most` bytes of memory.
pub(super) fn turn(file: &File, most: u64) -> Result<Option<Turn>, String> {
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    let mut length = [0; 4];
    // Read errors are reported when the footer is loaded.
    let is_there = bytes >= 8 && file.read_exact_at(&mut length, bytes - 8).is_ok();
    let length = if is_there { u64::from(u32::from_le_bytes(length)) } else { 0 };
    if length > bytes || length <= LARGE_FOOTER {
        return Ok(None);
    }
    let needed = length.saturating_mul(IN_MEMORY);
    if needed > most {
        return Err(format!(
            "the footer of the Parquet file has {length} bytes and would take about {needed} in memory, but only {most} is left; raise `memory`, or use a file with fewer columns or row groups"
        ));
    }
    let lock = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Some(Turn { is_returned: length > RETURNED_FOOTER, _lock: lock }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parquet::load::unread;
    use crate::testkit::file_of;

    #[test]
    fn large_footers_take_turns_and_one_beyond_the_memory_is_refused() {
        let length: u32 = 1 << 20;
        let bytes = [&b"PAR1"[..], &vec![0; length as usize], &length.to_le_bytes(), b"PAR1"].concat();
        let file = file_of(&bytes);
        let held = turn(&file, IN_MEMORY << 20).expect("room");
        assert!(held.is_some() && TURN.try_lock().is_err());
        drop(held);
        let refused = turn(&file, (IN_MEMORY << 20) - 1).err().expect("no room");
        assert!(refused.contains("footer") && refused.contains("`memory`"), "{refused}");
        assert!(turn(&file_of(b"PAR1"), 0).expect("too short to tell").is_none());
        // Copying waits for the same lock, so the file is recognized as invalid only after the lock is released.
        let held = turn(&file, u64::MAX).expect("room");
        let again = file.try_clone().expect("a handle");
        let copied = std::thread::spawn(move || crate::parquet::copy::check(&again, &|_, _| true).map(drop));
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(!copied.is_finished(), "a copy took no turn");
        drop(held);
        assert!(copied.join().expect("no panic").is_err());
        let held = turn(&file, u64::MAX).expect("room");
        let again = file.try_clone().expect("a handle");
        let labels = std::thread::spawn(move || {
            let path = std::path::Path::new("a.parquet");
            let (format, _) = crate::formats::of(path, crate::formats::TextFiles::Skipped).expect("a format");
            let ids = format.ids().expect("Parquet has ids");
            ids.read_ids(
                again,
                crate::compressed::coding::Coding::default(),
                crate::format::ids::IdColumns { ids: ["a", "b"], labels: &[] },
                &mut |_| Ok(true),
            )
            .is_err()
        });
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(!labels.is_finished(), "labels took no turn");
        drop(held);
        assert!(labels.join().expect("no panic"));
        assert!(unread(&file, "why").starts_with("the footer of the Parquet file cannot be read (1048588 bytes)"));
        assert!(unread(&file_of(&bytes[..99]), "why").starts_with("not a complete Parquet file (99 bytes)"));
    }
}
