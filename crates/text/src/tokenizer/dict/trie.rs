//! Builds the tree of words: assigns places to the children of each node.

use std::cmp::Reverse;

use super::letters::Letters;
use super::words::{FREQUENT, Node, Pair, Rows, Words};

impl Words {
    /// Builds the tree of `count` words, given in ascending order with their frequencies and their nonzero frequency classes. Words that
    /// contain a character that never joins other characters are skipped. Also returns the class of each letter as a word of its own; 0 if
    /// the letter is not a word.
    pub(crate) fn new<'w>(
        sorted: impl Iterator<Item = (&'w str, u64, u32)>,
        count: usize,
        letters: &Letters,
    ) -> (Words, Vec<u32>) {
        let list = List::new(sorted, count, letters);
        let mut children = Vec::new();
        let all = letters.alone() as usize + 1;
        let mut ones = vec![0; all];

        list.children(0, list.classes.len() as u32, 0, &mut children);
        let mut nodes = Vec::new();
        for child in &children {
            ones[child.letter as usize] = child.class;
            nodes.extend(child.node(child.letter as usize));
        }
        // Letters are numbered by frequency, so sorting by letter puts frequent pairs close to each other.
        nodes.sort_unstable_by_key(|node| node.parent);
        let mut next = Vec::new();
        let (mut pairs_of, mut bases_of) = (vec![0; all], vec![0; all]);
        let (mut pairs, mut rows, mut array) = (vec![0], Rows::new(), Places::new(letters.alone(), 0));
        for node in nodes.drain(..) {
            list.children(node.from, node.to, 1, &mut children);
            children.sort_unstable_by_key(|child| child.letter);
            let (frequent, others) = children.split_at(children.partition_point(|child| child.letter < FREQUENT));
            rows.add(node.parent as u16, frequent.iter().map(|child| child.letter));
            let base = if others.is_empty() { 0 } else { array.place(others) };
            for (child, number) in others.iter().zip(frequent.len() as u32..) {
                array.places[base + child.letter as usize] = u32::from(child.letter) | number << 16;
            }
            (pairs_of[node.parent], bases_of[node.parent]) = (pairs.len() as u32, base as u32);
            for child in &children {
                next.extend(child.node(pairs.len()));
                pairs.push(Pair::new(child.class).0);
            }
        }
        let others = array.finish();

        // The levels of the tree are placed one after the other; within a level, the most frequent nodes are first.
        let mut bases = vec![0; pairs.len()];
        let mut array = Places::new(letters.alone(), list.spelled.len() - list.classes.len());
        let mut depth = 2;
        while !next.is_empty() {
            std::mem::swap(&mut nodes, &mut next);
            nodes.sort_by_cached_key(|node| Reverse(list.frequency(node)));
            for node in nodes.drain(..) {
                list.children(node.from, node.to, depth, &mut children);
                let base = array.place(&children);
                for child in &children {
                    let place = base + child.letter as usize;
                    array.places[place] = Node::new(child.class, child.letter).0;
                    next.extend(child.node(place));
                }
                if depth == 2 {
                    let pair =
                        children.iter().fold(Pair(pairs[node.parent]), |pair, child| pair.with_third(child.letter));
                    (pairs[node.parent], bases[node.parent]) = (pair.0, base as u32);
                } else {
                    array.places[node.parent] = Node(array.places[node.parent]).with_base(base).0;
                }
            }
            depth += 1;
        }
        let words = Words {
            pairs_of: pairs_of.into(),
            rows: rows.finish().into(),
            bases_of: bases_of.into(),
            others: others.into(),
            pairs: pairs.into(),
            bases: bases.into(),
            places: array.finish().into(),
        };
        (words, ones)
    }
}

/// A node with children: its place, and the range of the longer words that begin with its letters.
struct Range {
    parent: usize,
    from: u32,
    to: u32,
}

/// A child of a node: its letter, the class of the word that ends at it, and the range of the words that begin with its letters.
struct Child {
    letter: u16,
    class: u32,
    from: u32,
    to: u32,
}

impl Child {
    /// Returns the child as a node; `None` if it has no children.
    fn node(&self, place: usize) -> Option<Range> {
        let from = self.from + u32::from(self.class != 0);
        (from < self.to).then_some(Range { parent: place, from, to: self.to })
    }
}

/// The words, spelled with letter numbers.
struct List {
    spelled: Vec<u16>,
    starts: Vec<u32>,
    classes: Vec<u32>,
    /// `before[i]` is the sum of the frequencies of the first `i` words.
    before: Vec<u64>,
}

impl List {
    fn new<'w>(sorted: impl Iterator<Item = (&'w str, u64, u32)>, count: usize, letters: &Letters) -> List {
        // The capacity is reserved in advance, because a growing list occupies its old and its new memory at the same time.
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

    /// Collects the children of the node at this depth on the path that these words share.
    fn children(&self, from: u32, to: u32, depth: u32, out: &mut Vec<Child>) {
        out.clear();
        for word in from..to {
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

/// The places in the tree, while they are assigned.
struct Places<T> {
    places: Vec<T>,
    /// A bit for each free place.
    free: Vec<u64>,
    /// A bit for each free base.
    unused: Vec<u64>,
    /// `from[n]` is the block of 64 bases at which the search begins for a node with at least 2^n and fewer than 2^(n+1) children. The
    /// start of the search never moves back, so the running time is linear, but some holes remain.
    from: [usize; 17],
    /// The block of 64 places at which the search for the place of an only child begins. An only child can use any free place.
    from_only: usize,
    largest: usize,
}

impl<T: Copy + Default> Places<T> {
    fn new(largest: u16, room: usize) -> Places<T> {
        let largest = largest as usize;
        let places = Vec::with_capacity(room + 2 * largest);
        let mut array = Places { places, free: Vec::new(), unused: Vec::new(), from: [0; 17], from_only: 0, largest };
        array.reach(0);
        // Base 0 is reserved for nodes without children.
        array.unused[0] &= !1;
        array
    }

    /// Grows the lists, so that all possible children of the 64 bases in a block have a place.
    fn reach(&mut self, block: usize) {
        let blocks = block + self.largest / 64 + 3;
        if blocks > self.free.len() {
            self.free.resize(blocks, u64::MAX);
            self.unused.resize(blocks, u64::MAX);
            self.places.resize(blocks * 64, T::default());
        }
    }

    /// Assigns places to the children of a node, and returns the base.
    fn place(&mut self, children: &[Child]) -> usize {
        let base = match children {
            [only] => self.for_only(only.letter as usize),
            _ => self.for_all(children),
        };
        self.unused[base / 64] &= !(1 << (base % 64));
        for child in children {
            let place = base + child.letter as usize;
            self.free[place / 64] &= !(1 << (place % 64));
        }
        base
    }

    fn for_all(&mut self, children: &[Child]) -> usize {
        let size = children.len().max(1).ilog2() as usize;
        loop {
            let block = self.from[size];
            self.reach(block);
            let room = |child: &Child| self.free_from(block * 64 + child.letter as usize);
            let fits = children.iter().try_fold(self.unused[block], |fits, child| match fits & room(child) {
                0 => None,
                fits => Some(fits),
            });
            match fits {
                Some(fits) if fits != 0 => return block * 64 + fits.trailing_zeros() as usize,
                _ => self.from[size] += 1,
            }
        }
    }

    fn for_only(&mut self, letter: usize) -> usize {
        /// The maximum number of 64-place blocks that are searched for a place. If the search fails, the only child is placed like the
        /// children of other nodes.
        const PATIENCE: usize = 64;
        self.reach(self.from_only);
        while self.free[self.from_only] == 0 {
            self.from_only += 1;
            self.reach(self.from_only);
        }
        for block in self.from_only..self.from_only + PATIENCE {
            self.reach(block);
            let mut free = self.free[block];
            while free != 0 {
                let place = block * 64 + free.trailing_zeros() as usize;
                let base = place.saturating_sub(letter);
                if self.unused[base / 64] >> (base % 64) & 1 == 1 {
                    return base;
                }
                free &= free - 1;
            }
        }
        self.for_all(&[Child { letter: letter as u16, class: 0, from: 0, to: 0 }])
    }

    /// Returns the `free` bits of the 64 places that begin at `place`.
    fn free_from(&self, place: usize) -> u64 {
        let (block, shift) = (place / 64, place % 64);
        // There are two shifts, because a single shift by 64 would overflow.
        self.free[block] >> shift | self.free[block + 1] << 1 << (63 - shift)
    }

    /// Returns all places up to the last place that is in use.
    fn finish(mut self) -> Vec<T> {
        let last = self.free.iter().rposition(|&free| free != u64::MAX);
        self.places.truncate(last.map_or(0, |last| last * 64 + 64 - (!self.free[last]).leading_zeros() as usize));
        self.places
    }
}
