//! Crowds of a window: documents that are all similar to one of them, such as pages of one template. Comparing a crowd all
//! with all makes a pair of nearly every two documents, so that pairs and cost grow with the square of the template.
//!
//! A document that has more than [`WHOLE`] similar ones in a window heads a crowd of them. Two documents of a crowd are not
//! compared, unless they are near each other in the order of what they have and the head does not, or one of them is among
//! the first of the crowd. What is left out is counted. A document may stand in several crowds, so that a template whose
//! pages are similar only in part needs a few heads. Documents outside of a common crowd are compared as ever.

pub use dupsift_core::row::{FIRST, WHOLE};

/// Followers that each document of a crowd is compared with in the order of what is its own.
pub const NEAREST: usize = 8;
/// The most crowds of a window: each is a bit of a word.
const MOST: u32 = 64;
/// Rows of a window that may have their words in memory.
const MOST_ROWS: usize = 1 << 20;

/// The crowds of a window, by the places of its documents.
#[derive(Debug)]
pub struct Crowds {
    /// A bit for each crowd that a document stands in. Empty if the window is small or too large.
    masks: Vec<u64>,
    made: u32,
}

impl Crowds {
    /// Of a window of so many documents.
    pub fn new(documents: usize) -> Crowds {
        let counts = (WHOLE as usize + 1..=MOST_ROWS).contains(&documents);
        Crowds { masks: vec![0; if counts { documents } else { 0 }], made: 0 }
    }

    /// Whether there can be crowds.
    pub fn is_open(&self) -> bool {
        !self.masks.is_empty()
    }

    /// Returns the crowds of a document as bits.
    #[inline]
    pub fn mask(&self, place: usize) -> u64 {
        self.masks.get(place).copied().unwrap_or(0)
    }

    /// Opens a crowd with its head, unless there are too many.
    fn open(&mut self, head: usize) -> Option<u64> {
        let crowd = 1u64.checked_shl(self.made).filter(|_| self.made < MOST && head < self.masks.len())?;
        self.made += 1;
        self.masks[head] |= crowd;
        Some(crowd)
    }

    /// Adds a document to a crowd.
    pub fn join(&mut self, crowd: u64, place: usize) {
        self.masks[place] |= crowd;
    }

    /// Returns the places of the documents of a crowd, in order.
    pub fn members(&self, crowd: u64) -> impl Iterator<Item = usize> + '_ {
        self.masks.iter().enumerate().filter(move |(_, mask)| **mask & crowd != 0).map(|(place, _)| place)
    }
}

/// What a document has found similar so far.
#[derive(Debug)]
pub struct Finding {
    place: usize,
    similar: Vec<u32>,
    crowd: Option<u64>,
}

impl Finding {
    /// Nothing yet, of the document at a place.
    pub fn new(place: usize) -> Finding {
        Finding { place, similar: Vec::new(), crowd: None }
    }

    /// Returns how many similar documents were found, as far as they are counted.
    pub fn found(&self) -> usize {
        if self.crowd.is_some() { WHOLE as usize } else { self.similar.len() }
    }

    /// Returns the crowd that the document heads.
    pub fn crowd(&self) -> Option<u64> {
        self.crowd
    }

    /// Counts a similar document, and opens a crowd if these are too many.
    pub fn add(&mut self, other: usize, crowds: &mut Crowds) {
        if let Some(crowd) = self.crowd {
            return crowds.join(crowd, other);
        }
        // Once there can be no further crowd, nothing needs to be counted.
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

/// Returns a key that brings documents together that have the same bits beyond those of a head: the first four of them,
/// counted round from a word on.
pub fn own_key(bits: &[u64], head: &[u64], from: usize) -> u64 {
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
        // Small windows have none.
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
