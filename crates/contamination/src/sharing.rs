//! Counts the items that share the words of an item.

/// An n-gram in more than this many items says nothing about any of them: it belongs to an instruction, a reading passage or a stock
/// phrase. Such n-grams are not searched for.
pub const SHARED: usize = 10;

/// Holds how many items share the n-grams around a token: the number for the rarest n-gram, and a flag if an n-gram is in more than
/// [`SHARED`] items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sharing(u8);

impl Sharing {
    const FLAG: u8 = 0x80;

    /// Adds an n-gram in this many items.
    pub(crate) fn add(&mut self, items: u8) {
        let rarest = self.items();
        let flag = if usize::from(items) > SHARED { Sharing::FLAG } else { self.0 & Sharing::FLAG };
        self.0 = flag | items.min(Sharing::FLAG - 1).min(if rarest == 0 { u8::MAX } else { rarest });
    }

    /// Returns the number of items that share the rarest n-gram, at most 127; 0 if there is none.
    pub(crate) fn items(self) -> u8 {
        self.0 & !Sharing::FLAG
    }

    /// Returns whether an n-gram around the token is in at most [`SHARED`] items.
    pub(crate) fn is_own(self) -> bool {
        usize::from(self.items()) <= SHARED
    }

    /// Returns whether every n-gram around the token is in at most [`SHARED`] items. This is false for all words of an instruction;
    /// [`Sharing::is_own`] is true for its first and last words, because some of their n-grams also contain other words of the item.
    pub(crate) fn is_only_own(self) -> bool {
        self.0 & Sharing::FLAG == 0
    }
}
