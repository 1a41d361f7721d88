//! Prepares an opened file for later reads, and counts the bytes that have been unpacked and repacked so far.

use crate::compressed::packing::Packing;
use crate::compressed::repacking::Again;
use crate::corpus::source::{InputFile, Source};
use crate::format::open::Piece;
use std::sync::Arc;

impl InputFile {
    /// Makes later reads use the repacked copy of the text if it exists. If the copy is incomplete, the file is treated as a single piece.
    pub(crate) fn take_again(&mut self, again: Again) {
        if self.format.facts().names_columns && self.coding.packing != Packing::Plain {
            self.unpacked.add(self.text_bytes);
        }
        match again {
            Again::No => {}
            Again::Lost => self.pieces = vec![Piece { rows: self.rows, bytes: self.text_bytes, ..Piece::default() }],
            Again::Whole(repacked) => self.repacked = Some(Arc::new(repacked)),
        }
    }
}

impl Source {
    /// Returns the total size in bytes of the lines unpacked from compressed files so far. Each complete read of a file adds the size of
    /// its text to the total.
    pub fn unpacked_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.unpacked.so_far()).sum()
    }

    /// Returns the size in bytes of the temporary files that hold repacked text. If no such file exists yet, returns an estimate: 60% of
    /// the size of the text.
    pub fn repacked_bytes(&self) -> u64 {
        let there: u64 =
            self.files.iter().filter_map(|file| file.repacked.as_ref()).map(|repacked| repacked.bytes()).sum();
        let is_taken = |file: &&InputFile| file.format.facts().names_columns && !file.coding.can_be_cut();
        let about = || self.files.iter().filter(is_taken).map(|file| file.text_bytes / 10 * 6).sum();
        if there > 0 { there } else { about() }
    }
}
