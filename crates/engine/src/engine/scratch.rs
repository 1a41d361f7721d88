//! Provides scratch memory that stages reuse from row to row. Small scratch data is kept in memory, and large scratch data in a temporary
//! file.

use std::path::Path;

use dupsift_algorithms::steps::groups::Scratch;
use dupsift_core::error::Result;
use dupsift_spill::shuffle::Mapped;

/// The maximum number of bytes that are held in memory.
const IN_MEMORY: usize = 4 << 20;

/// Holds the scratch memory of one thread.
pub(crate) struct WorkScratch<'d> {
    dir: &'d Path,
    memory: Vec<u8>,
    file: Option<Mapped<u8>>,
}

impl<'d> WorkScratch<'d> {
    /// Returns scratch memory whose temporary files are in this folder.
    pub(crate) fn new(dir: &'d Path) -> WorkScratch<'d> {
        WorkScratch { dir, memory: Vec::new(), file: None }
    }
}

impl Scratch for WorkScratch<'_> {
    fn bytes(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.file.is_none() && len <= IN_MEMORY {
            return self.memory.bytes(len);
        }
        let there: &[u8] = self.file.as_deref().unwrap_or(&self.memory);
        if self.file.is_none() || there.len() < len {
            // The size doubles whenever the memory grows, so each byte is copied once on average.
            let most = if self.file.is_none() { len } else { len.max(2 * there.len()) };
            let mut larger: Mapped<u8> = Mapped::new(self.dir, "window", most)?;
            larger[..there.len()].copy_from_slice(there);
            (self.file, self.memory) = (Some(larger), Vec::new());
        }
        Ok(self.file.as_deref_mut().unwrap_or_default())
    }

    fn clear(&mut self) {
        self.file = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_moves_to_a_file_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut scratch = WorkScratch::new(folder.path());
        let byte = |at: usize| (at % 251) as u8;
        for (from, to) in [(0, 10), (10, IN_MEMORY), (IN_MEMORY, IN_MEMORY + 1), (IN_MEMORY + 1, 3 * IN_MEMORY)] {
            let bytes = scratch.bytes(to).unwrap();
            assert!(bytes[..from].iter().enumerate().all(|(at, &is)| is == byte(at)), "{from} to {to}");
            (from..to).for_each(|at| bytes[at] = byte(at));
            assert_eq!(scratch.file.is_some(), to > IN_MEMORY);
        }
        scratch.clear();
        assert!(scratch.file.is_none() && scratch.bytes(5).unwrap().len() >= 5);
    }
}
