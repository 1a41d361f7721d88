//! The words of the dictionary as a tree of characters, in a double array (Aoe 1989): whether a node has a child by a letter
//! is one look at one place.
//!
//! The child of a node by a letter stands at the base of the node + the letter. No two nodes have the same base, so that the
//! letter in a place says whose child it is. Words of frequent characters are given their places first, side by side:
//! most of what text asks for lies in a small part of the array.

use std::cmp::Reverse;
use std::hint::select_unpredictable;

use super::letters::Letters;

/// A node as it stands in its place: the letter that leads to it, the base of its children, the class of its word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node(u64);

/// The letter has the 16 bits below these, the class of the frequency the 20 above.
const BASE_BITS: u32 = 28;
/// The root needs no place of its own. Base 0 is nobody's, so that a node without children need not be treated apart.
const ROOT_BASE: usize = 1;

impl Node {
    /// No node: it has no word and no children.
    pub const NONE: Node = Node(0);
    /// The node of no letters.
    pub const ROOT: Node = Node((ROOT_BASE as u64) << 16);

    #[inline]
    fn base(self) -> usize {
        (self.0 >> 16 & ((1 << BASE_BITS) - 1)) as usize
    }

    /// Whether longer words begin with this one.
    #[inline]
    pub fn has_children(self) -> bool {
        self.base() != 0
    }

    /// The class of the frequency of the word that ends here, 0 if none does.
    #[inline]
    pub fn class(self) -> usize {
        (self.0 >> (16 + BASE_BITS)) as usize
    }
}

/// The tree.
pub struct Words {
    places: Vec<Node>,
}

impl Words {
    /// The child of a node by a letter, [`Node::NONE`] where there is none.
    ///
    /// Whether there is one is as good as random, so that nothing is made to depend on it but the place of the next look:
    /// the processor would guess wrong and wait.
    #[inline]
    pub fn child(&self, node: Node, letter: u16) -> Node {
        let place = self.places.get(node.base() + letter as usize).copied().unwrap_or(Node::NONE);
        select_unpredictable(place.0 as u16 == letter, place, Node::NONE)
    }

    /// The tree of `count` words in ascending order, each with its frequency and the class of it, which is not 0. Words with
    /// a character that joins no other are left out.
    pub fn new<'w>(sorted: impl Iterator<Item = (&'w str, u64, u32)>, count: usize, letters: &Letters) -> Words {
        let list = List::new(sorted, count, letters);
        let mut array = Builder::new(letters.alone(), list.spelled.len());
        // One depth of the tree after the other. The root is given the first base that there is.
        let mut nodes = vec![Range { place: None, from: 0, to: list.classes.len() as u32 }];
        let (mut next, mut children) = (Vec::new(), Vec::new());
        let mut depth = 0;
        while !nodes.is_empty() {
            for node in nodes.drain(..) {
                list.children(&node, depth, &mut children);
                let base = array.place(node.place, &children);
                for child in &children {
                    let from = child.from + u32::from(child.class != 0);
                    if from < child.to {
                        next.push(Range { place: Some(base + child.letter as usize), from, to: child.to });
                    }
                }
            }
            next.sort_by_cached_key(|node| Reverse(list.frequency(node)));
            std::mem::swap(&mut nodes, &mut next);
            depth += 1;
        }
        array.finish()
    }
}

/// A node that has children: where it stands and the words that begin with it and go on.
struct Range {
    place: Option<usize>,
    from: u32,
    to: u32,
}

/// A child: its letter, the class of its word, and the words that begin with it.
struct Child {
    letter: u16,
    class: u32,
    from: u32,
    to: u32,
}

/// Words by the numbers of their letters.
struct List {
    spelled: Vec<u16>,
    starts: Vec<u32>,
    classes: Vec<u32>,
    /// The frequencies of all words before each.
    before: Vec<u64>,
}

impl List {
    fn new<'w>(sorted: impl Iterator<Item = (&'w str, u64, u32)>, count: usize, letters: &Letters) -> List {
        // Lists that grow hold their old and their new place at once.
        let mut list = List {
            spelled: Vec::with_capacity(3 * count),
            starts: Vec::with_capacity(count + 1),
            classes: Vec::with_capacity(count),
            before: Vec::with_capacity(count + 1),
        };
        list.starts.push(0);
        list.before.push(0);
        let mut sum = 0;
        for (word, frequency, class) in sorted {
            let from = list.spelled.len();
            list.spelled.extend(word.chars().map(|c| letters.number(c)));
            if list.spelled[from..].contains(&letters.alone()) {
                list.spelled.truncate(from);
                continue;
            }
            sum += frequency;
            list.starts.push(list.spelled.len() as u32);
            list.classes.push(class);
            list.before.push(sum);
        }
        list
    }

    fn frequency(&self, node: &Range) -> u64 {
        self.before[node.to as usize] - self.before[node.from as usize]
    }

    fn children(&self, node: &Range, depth: u32, out: &mut Vec<Child>) {
        out.clear();
        for word in node.from..node.to {
            let start = self.starts[word as usize] + depth;
            let letter = self.spelled[start as usize];
            match out.last_mut() {
                Some(child) if child.letter == letter => child.to = word + 1,
                _ => {
                    let ends = start + 1 == self.starts[word as usize + 1];
                    let class = if ends { self.classes[word as usize] } else { 0 };
                    out.push(Child { letter, class, from: word, to: word + 1 });
                }
            }
        }
    }
}

/// Places as they are given away.
struct Builder {
    places: Vec<Node>,
    /// A bit for each place that is free.
    free: Vec<u64>,
    /// A bit for each base that nobody has.
    unused: Vec<u64>,
    /// The 64 bases at which the search for room for 2^n children, but less than twice as many, begins. It never goes back:
    /// some holes stay, and time is linear.
    from: [usize; 17],
    largest: usize,
}

impl Builder {
    fn new(largest: u16, room: usize) -> Builder {
        let largest = largest as usize;
        let places = Vec::with_capacity(room + 2 * largest);
        let mut builder = Builder { places, free: Vec::new(), unused: Vec::new(), from: [0; 17], largest };
        builder.reach(0);
        builder.unused[0] &= !1;
        builder
    }

    /// Makes sure that the places of all children of 64 bases are there.
    fn reach(&mut self, block: usize) {
        let blocks = block + self.largest / 64 + 3;
        if blocks > self.free.len() {
            self.free.resize(blocks, u64::MAX);
            self.unused.resize(blocks, u64::MAX);
            self.places.resize(blocks * 64, Node::NONE);
        }
    }

    /// Gives places to the children of a node; returns their base.
    fn place(&mut self, parent: Option<usize>, children: &[Child]) -> usize {
        let size = children.len().max(1).ilog2() as usize;
        let base = loop {
            let block = self.from[size];
            self.reach(block);
            let room = |child: &Child| self.free_from(block * 64 + child.letter as usize);
            let fits = children.iter().try_fold(self.unused[block], |fits, child| match fits & room(child) {
                0 => None,
                fits => Some(fits),
            });
            match fits {
                Some(fits) if fits != 0 => break block * 64 + fits.trailing_zeros() as usize,
                _ => self.from[size] += 1,
            }
        };
        self.unused[base / 64] &= !(1 << (base % 64));
        for child in children {
            let place = base + child.letter as usize;
            self.free[place / 64] &= !(1 << (place % 64));
            self.places[place] = Node(u64::from(child.class) << (16 + BASE_BITS) | u64::from(child.letter));
        }
        if let Some(parent) = parent {
            self.places[parent].0 |= (base as u64) << 16;
        }
        base
    }

    /// The bits of 64 places from any place on.
    fn free_from(&self, place: usize) -> u64 {
        let (block, shift) = (place / 64, place % 64);
        // Two shifts, because there is none by 64.
        self.free[block] >> shift | self.free[block + 1] << 1 << (63 - shift)
    }

    fn finish(mut self) -> Words {
        let end = self.places.iter().rposition(|&node| node != Node::NONE).map_or(0, |last| last + 1);
        self.places.truncate(end);
        Words { places: self.places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_what_they_begin_with_are_found_and_nothing_else() {
        let words = [("中", 1), ("中国", 2), ("中国人民", 3), ("人民", 4), ("民国〇", 5)];
        let letters = Letters::new("中国人民".chars().map(|c| (c, 1)));
        let tree = Words::new(words.iter().map(|&(word, class)| (word, 1, class)), words.len(), &letters);
        let node = |word: &str| word.chars().fold(Node::ROOT, |node, c| tree.child(node, letters.number(c)));
        for (word, class, goes_on) in [
            ("中", 1, true),
            ("中国", 2, true),
            ("中国人", 0, true),
            ("中国人民", 3, false),
            ("人", 0, true),
            ("人民", 4, false),
        ] {
            assert_eq!((node(word).class(), node(word).has_children()), (class, goes_on), "{word}");
        }
        // A word with a character that joins nothing is not there.
        for word in ["国", "民", "民国", "中人", "中国民", "人民中", "龘", "〇", "中国人民民"] {
            assert_eq!(node(word), Node::NONE, "{word}");
        }
    }
}
