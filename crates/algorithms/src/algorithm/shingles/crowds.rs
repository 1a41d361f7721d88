//! Finds crowds in a window. A crowd consists of documents that are all similar to one document, such as pages with the same template.
//! Nearly all documents of a crowd form pairs with each other. If all of them were compared, the number of pairs and the cost would
//! grow with the square of the crowd's size.
//!
//! A document with more than [`WHOLE`] similar documents in a window becomes the head of a crowd that contains them. Two documents in a
//! crowd are compared only if they are near each other in the order of the elements that the head lacks, or if one of them is among the
//! first documents of the crowd. Skipped comparisons are counted. If the pages of a template are only partly similar, they form several
//! crowds, and a document may be in more than one crowd. Documents that share no crowd are compared as usual.

pub(crate) use dupsift_core::row::{FIRST, WHOLE};

/// The number of following documents with which each document in a crowd is compared, in the order of the elements that the head lacks.
pub(crate) const NEAREST: usize = 8;
/// The maximum number of crowds in a window. Each crowd is one bit of a word.
const MOST: u32 = 64;
/// The maximum number of rows in a window that keeps crowd masks in memory.
const MOST_ROWS: usize = 1 << 20;

/// Holds the crowds of a window, by the positions of its documents.
#[derive(Debug)]
pub(crate) struct Crowds {
    /// The crowds that contain each document, as bits. The list is empty if the window is too small or too large.
    masks: Vec<u64>,
    made: u32,
}

impl Crowds {
    /// Returns an empty list of crowds for a window with this many documents.
    pub(crate) fn new(documents: usize) -> Crowds {
        let counts = (WHOLE as usize + 1..=MOST_ROWS).contains(&documents);
        Crowds { masks: vec![0; if counts { documents } else { 0 }], made: 0 }
    }

    /// Returns whether the window can have crowds.
    pub(crate) fn is_open(&self) -> bool {
        !self.masks.is_empty()
    }

    /// Returns the crowds of a document as bits.
    #[inline]
    pub(crate) fn mask(&self, place: usize) -> u64 {
        self.masks.get(place).copied().unwrap_or(0)
    }

    /// Opens a crowd with this head, unless there are too many crowds.
    fn open(&mut self, head: usize) -> Option<u64> {
        let crowd = 1u64.checked_shl(self.made).filter(|_| self.made < MOST && head < self.masks.len())?;
        self.made += 1;
        self.masks[head] |= crowd;
        Some(crowd)
    }

    /// Adds a document to a crowd.
    pub(crate) fn join(&mut self, crowd: u64, place: usize) {
        self.masks[place] |= crowd;
    }

    /// Returns the positions of the documents in a crowd, in order.
    pub(crate) fn members(&self, crowd: u64) -> impl Iterator<Item = usize> + '_ {
        self.masks.iter().enumerate().filter(move |(_, mask)| **mask & crowd != 0).map(|(place, _)| place)
    }
}

/// Holds the similar documents found so far for one document.
#[derive(Debug)]
pub(crate) struct Finding {
    place: usize,
    similar: Vec<u32>,
    crowd: Option<u64>,
}

impl Finding {
    /// Returns an empty list for the document at this position.
    pub(crate) fn new(place: usize) -> Finding {
        Finding { place, similar: Vec::new(), crowd: None }
    }

    /// Returns the number of similar documents found so far. Once a crowd is open, this function returns [`WHOLE`].
    pub(crate) fn found(&self) -> usize {
        if self.crowd.is_some() { WHOLE as usize } else { self.similar.len() }
    }

    /// Returns the crowd that the document heads.
    pub(crate) fn crowd(&self) -> Option<u64> {
        self.crowd
    }

    /// Adds a similar document, and opens a crowd if there are too many similar documents.
    pub(crate) fn add(&mut self, other: usize, crowds: &mut Crowds) {
        if let Some(crowd) = self.crowd {
            return crowds.join(crowd, other);
        }
        // If no further crowd can be opened, nothing needs to be counted.
        if self.similar.len() > WHOLE as usize || other >= crowds.masks.len() {
            return;
        }
        self.similar.push(other as u32);
        if self.similar.len() > WHOLE as usize {
            self.crowd = crowds.open(self.place);
            if let Some(crowd) = self.crowd {
                self.similar.drain(..).for_each(|place| crowds.join(crowd, place as usize));
            }
        }
    }
}

/// Returns a key that groups documents with the same bits beyond the bits of the head. The key holds the first four bits that the head
/// lacks, starting at word `from` and wrapping around.
pub(crate) fn own_key(bits: &[u64], head: &[u64], from: usize) -> u64 {
    let (mut key, mut left) = (0, 4);
    for at in (from..bits.len()).chain(0..from.min(bits.len())) {
        let mut own = bits[at] & !head[at];
        while own != 0 && left > 0 {
            left -= 1;
            key |= ((at as u64 * 64 + u64::from(own.trailing_zeros())) & 0xFFFF) << (16 * left);
            own &= own - 1;
        }
        if left == 0 {
            break;
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_with_many_similar_ones_heads_a_crowd() {
        let mut crowds = Crowds::new(1_000);
        let mut finding = Finding::new(3);
        (4..4 + WHOLE as usize).for_each(|other| finding.add(other, &mut crowds));
        assert_eq!((finding.crowd(), crowds.mask(4)), (None, 0));
        finding.add(900, &mut crowds);
        finding.add(901, &mut crowds);
        let crowd = finding.crowd().unwrap();
        let members: Vec<usize> = crowds.members(crowd).collect();
        assert_eq!((members.len(), members[0], crowds.mask(901)), (WHOLE as usize + 3, 3, crowd));
        // Small windows have no crowds.
        let mut crowds = Crowds::new(200);
        let mut finding = Finding::new(0);
        (1..200).chain(1..200).for_each(|other| finding.add(other, &mut crowds));
        assert_eq!((finding.crowd(), crowds.mask(1)), (None, 0));
    }

    #[test]
    fn keys_are_the_first_bits_of_their_own() {
        let head = [0b1, 0];
        assert_eq!(own_key(&[0b101, 0b10], &head, 0), 2 << 48 | 65 << 32);
        assert_eq!(own_key(&[0b101, 0b10], &head, 1), 65 << 48 | 2 << 32);
        assert_eq!(own_key(&[0b111_1101, 0], &head, 0), 2 << 48 | 3 << 32 | 4 << 16 | 5);
        assert_eq!(own_key(&head, &head, 0), 0);
    }
}
