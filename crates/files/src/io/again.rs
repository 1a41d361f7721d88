//! What a look at a file leaves for its readings, and what they have made of it.

use super::format::Piece;
use super::packing::Packing;
use super::repacking::Again;
use super::source::{InputFile, Source};
use std::sync::Arc;

impl InputFile {
    /// Its text is read from where it was packed again; where that is not whole, the file is one piece.
    pub(super) fn take_again(&mut self, again: Again) {
        if self.format.names_columns() && self.coding.packing != Packing::Plain {
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
    /// Bytes of lines that were unpacked of compressed files so far: as many as these hold where each was read through once.
    pub fn unpacked_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.unpacked.so_far()).sum()
    }

    /// Bytes of work files that hold texts which are packed again; where none was yet, about what they would take, which is six tenths of
    /// the text.
    pub fn repacked_bytes(&self) -> u64 {
        let there: u64 =
            self.files.iter().filter_map(|file| file.repacked.as_ref()).map(|repacked| repacked.bytes()).sum();
        let is_taken = |file: &&InputFile| file.format.names_columns() && !file.coding.can_be_cut();
        let about = || self.files.iter().filter(is_taken).map(|file| file.text_bytes / 10 * 6).sum();
        if there > 0 { there } else { about() }
    }
}
