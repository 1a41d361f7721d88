//! Defines the plain data that algorithms and tables exchange: signature rows, the window of rows that share a key, and pairs.
//!
//! In the shuffle, a row is a fixed-width byte string that consists of the big-endian numbers position, scope, key, order and doc, followed
//! by the sketch. Comparing the bytes of two rows compares these numbers in this order, so the shuffle sorts bytes and does not depend on
//! algorithms.
//!
//! ```text
//! position 0, 1 or 2 | scope 0 or 8 | key 8 or 16 | order 0 or 4 | doc 4 or 8 | sketch 0..=256      bytes
//! ```

mod docs;
mod link;
mod pair;
mod pairs;
mod related;
mod sketched;
mod sketches;

pub use docs::{Docs, Slots};
pub use link::LinkLayout;
pub use pair::{Pair, PairLayout, Score};
pub use pairs::{FIRST, Pairs, WHOLE, firsts, reach};
pub use related::{Related, RelationKind, Why};
pub use sketched::{NEAREST_CANDIDATES, Nearness};
pub use sketches::Sketches;

/// The value of the `matched_by` column for exact copies.
pub const COPY: &str = "copy";

/// The reason why a document has no signature, as counted in run.json: a short phrase such as `"no words"`.
pub type Reason = &'static str;

/// The parameters that determine the layout of an algorithm's rows, which are the same for every document in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// The number of positions (tables, bands, rules), from 1 to 65,536. Positions are numbered from 0.
    pub positions: u32,
    /// The number of key bits that are stored: 64 or 128.
    pub key_bits: u32,
    /// Whether rows with the same key are sorted first by a value, such as a length, and then by document number.
    pub ordered: bool,
    /// The size in bytes of the sketch that is stored with a row, at most 256.
    pub sketch: usize,
}

impl RowShape {
    /// The shape of rows that contain only one 64-bit key per document. Most algorithms with a single signature use this shape.
    pub const KEY64: RowShape = RowShape { positions: 1, key_bits: 64, ordered: false, sketch: 0 };
}

/// A decoded row, as an algorithm sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'r> {
    /// The index of the key among the algorithm's keys (the number of the table, band or rule).
    pub position: u32,
    /// The key: documents with the same position and key are compared.
    pub key: u128,
    /// The value by which rows with the same key are sorted, such as a length or a combination of further keys ([`order_by`]); 0 if these
    /// rows are sorted only by document number.
    pub order: u32,
    /// The document's global row number.
    pub doc: u64,
    /// The sketch that is stored with the row.
    pub sketch: &'r [u8],
}

/// The layout of the fields in the bytes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    shape: RowShape,
    position_width: usize,
    scope_width: usize,
    key_width: usize,
    order_width: usize,
    doc_width: usize,
}

impl RowLayout {
    /// Returns the layout for a corpus with this many rows; every document number is less than the number of rows.
    pub fn new(shape: RowShape, documents: u64) -> RowLayout {
        RowLayout {
            shape,
            position_width: match shape.positions {
                0..=1 => 0,
                2..=256 => 1,
                _ => 2,
            },
            scope_width: 0,
            key_width: if shape.key_bits > 64 { 16 } else { 8 },
            order_width: if shape.ordered { 4 } else { 0 },
            doc_width: doc_width(documents),
        }
    }

    /// Returns the layout with or without scopes. If `scoped` is set, rows contain a scope before the key. Rows with the same key then
    /// match only if they have the same scope.
    pub fn scoped(self, scoped: bool) -> RowLayout {
        RowLayout { scope_width: if scoped { 8 } else { 0 }, ..self }
    }

    /// Returns the shape of the rows.
    pub fn shape(&self) -> RowShape {
        self.shape
    }

    /// Returns the number of bytes in a row.
    pub fn width(&self) -> usize {
        self.group_width() + self.order_width + self.doc_width + self.shape.sketch
    }

    /// Returns the number of bytes at the beginning of a row that identify its group: position, scope and key.
    pub fn group_width(&self) -> usize {
        self.position_width + self.scope_width + self.key_width
    }

    /// Appends the bytes of a row with scope 0.
    pub fn encode(&self, row: &Row<'_>, out: &mut Vec<u8>) {
        self.encode_in(0, row, out);
    }

    /// Appends the bytes of a row with the given scope, which is omitted if the layout has no scope.
    pub fn encode_in(&self, scope: u64, row: &Row<'_>, out: &mut Vec<u8>) {
        debug_assert_eq!(row.sketch.len(), self.shape.sketch);
        // The widths are not known to the compiler, so copying each field would be a call.
        let (mut head, mut at) = ([0; HEAD], 0);
        let (high, low) = ((row.key >> 64) as u64, row.key as u64);
        put(&mut head, &mut at, self.position_width, row.position.into());
        put(&mut head, &mut at, self.scope_width, scope);
        put(&mut head, &mut at, self.key_width - 8, high);
        put(&mut head, &mut at, 8, low);
        put(&mut head, &mut at, self.order_width, row.order.into());
        put(&mut head, &mut at, self.doc_width, row.doc);
        out.extend_from_slice(&head[..at]);
        out.extend_from_slice(row.sketch);
    }

    /// Returns the scope of a row, or 0 if the layout has no scope.
    pub fn scope(&self, bytes: &[u8]) -> u64 {
        number(&bytes[self.position_width..self.position_width + self.scope_width])
    }

    /// Decodes a row of [`RowLayout::width`] bytes.
    pub fn decode<'r>(&self, bytes: &'r [u8]) -> Row<'r> {
        let (position, rest) = bytes.split_at(self.position_width);
        let (key, rest) = rest[self.scope_width..].split_at(self.key_width);
        let (order, rest) = rest.split_at(self.order_width);
        let (doc, sketch) = rest.split_at(self.doc_width);
        Row {
            position: number(position) as u32,
            key: match key.split_last_chunk::<8>() {
                Some((high, low)) => u128::from(number(high)) << 64 | u128::from(u64::from_be_bytes(*low)),
                None => 0,
            },
            order: number(order) as u32,
            doc: number(doc),
            sketch,
        }
    }
}

/// The maximum number of bytes in a row before its sketch.
const HEAD: usize = 2 + 8 + 16 + 4 + 8;

/// Writes the lowest `width` bytes of a number, highest first, and moves `at` past them. Always writes eight bytes; the next field
/// overwrites those that are not part of the number.
#[inline]
fn put(head: &mut [u8; HEAD], at: &mut usize, width: usize, number: u64) {
    if width > 0 {
        let bytes = (number << (u64::BITS as usize - 8 * width)).to_be_bytes();
        head[*at..*at + 8].copy_from_slice(&bytes);
        *at += width;
    }
}

/// Returns a value for [`Row::order`]. Sorting by this value puts documents that share further keys next to each other. The value consists
/// of one byte from each of the next four keys, in the order of these keys.
pub fn order_by(next: impl Iterator<Item = u64>) -> u32 {
    let bytes = next.map(|key| (key >> 56) as u32).chain(std::iter::repeat(0));
    bytes.take(4).fold(0, |order, byte| order << 8 | byte)
}

/// Returns the number of bytes that a document number takes in a corpus with this many rows.
pub fn doc_width(documents: u64) -> usize {
    if documents <= 1 << 32 { 4 } else { 8 }
}

/// Reads a big-endian number of up to eight bytes.
#[inline]
pub fn number(bytes: &[u8]) -> u64 {
    // Common widths are read in one step.
    if let Ok(bytes) = bytes.try_into() {
        return u32::from_be_bytes(bytes).into();
    }
    if let Ok(bytes) = bytes.try_into() {
        return u64::from_be_bytes(bytes);
    }
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// Holds the result of signing one document: flags, and either rows or the reason why there are no rows.
#[derive(Debug, Default)]
pub struct Signatures {
    rows: Vec<(u32, u128, u32)>,
    sketches: Vec<u8>,
    none: Option<Reason>,
    flags: Vec<Reason>,
    numbers: Vec<u64>,
    of_document: Vec<u64>,
}

impl Signatures {
    /// Returns an empty list that can be used while a document is being signed. If the list is passed to [`Signatures::leave_numbers`]
    /// afterwards, its memory is reused for the next document.
    pub fn take_numbers(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.numbers)
    }

    /// Accepts a list from [`Signatures::take_numbers`], to reuse its memory.
    pub fn leave_numbers(&mut self, mut numbers: Vec<u64>) {
        /// Longer lists are dropped, so that a thread does not keep the memory that its longest document needed.
        const KEPT_BYTES: usize = 1 << 20;
        if numbers.capacity() * 8 <= KEPT_BYTES {
            numbers.clear();
            self.numbers = numbers;
        }
    }

    /// Clears all data for the next document but keeps the allocated memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.sketches.clear();
        self.none = None;
        self.flags.clear();
        self.of_document.clear();
    }

    /// Adds a row. The position must be less than [`RowShape::positions`], and the sketch must have the size that the shape requires.
    pub fn push(&mut self, position: u32, key: u128, order: u32, sketch: &[u8]) {
        self.rows.push((position, key, order));
        self.sketches.extend_from_slice(sketch);
    }

    /// Returns the sketch of the whole document, which is initially empty. The algorithm must add the same number of words for every
    /// document.
    pub fn document_sketch(&mut self) -> &mut Vec<u64> {
        &mut self.of_document
    }

    /// Returns the sketch of the whole document.
    pub fn sketch_of_document(&self) -> &[u64] {
        &self.of_document
    }

    /// Records that the document has no signature, and the reason why.
    pub fn none(&mut self, reason: Reason) {
        self.none = Some(reason);
    }

    /// Adds a flag to this document, such as `"one sentence"`. A run counts how many documents have each flag.
    pub fn flag(&mut self, what: Reason) {
        self.flags.push(what);
    }

    /// Returns the reason why there is no signature, or a general reason if no row was added and no specific reason was given.
    pub fn reason(&self) -> Option<Reason> {
        self.none.or(if self.rows.is_empty() { Some("nothing to sign") } else { None })
    }

    /// Returns the flags.
    pub fn flags(&self) -> &[Reason] {
        &self.flags
    }

    /// Returns the rows of the document `doc`; there are none if [`Signatures::reason`] returns a reason.
    pub fn rows(&self, doc: u64) -> impl Iterator<Item = Row<'_>> {
        let count = if self.none.is_some() { 0 } else { self.rows.len() };
        let sketch = self.sketches.len().checked_div(self.rows.len()).unwrap_or(0);
        self.rows[..count].iter().enumerate().map(move |(at, &(position, key, order))| Row {
            position,
            key,
            order,
            doc,
            sketch: &self.sketches[at * sketch..(at + 1) * sketch],
        })
    }
}

/// The rows with the same position and key, ordered by (order, doc). A window is a view, so even a window of a million rows takes no
/// additional memory.
#[derive(Clone, Copy, Debug)]
pub struct Window<'w> {
    layout: RowLayout,
    bytes: &'w [u8],
}

impl<'w> Window<'w> {
    /// Returns a window over `bytes`, which must consist of complete rows.
    pub fn new(layout: RowLayout, bytes: &'w [u8]) -> Window<'w> {
        debug_assert_eq!(bytes.len() % layout.width(), 0);
        Window { layout, bytes }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.layout.width()
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the row at index `at`, which must be less than [`Window::len`].
    pub fn row(&self, at: usize) -> Row<'w> {
        let width = self.layout.width();
        self.layout.decode(&self.bytes[at * width..(at + 1) * width])
    }

    /// Returns the rows from `from` to `to`, exclusive.
    pub fn slice(&self, from: usize, to: usize) -> Window<'w> {
        let width = self.layout.width();
        Window { layout: self.layout, bytes: &self.bytes[from * width..to * width] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(position: u32, key: u128, order: u32, doc: u64, sketch: &[u8]) -> Row<'_> {
        Row { position, key, order, doc, sketch }
    }

    #[test]
    fn rows_survive_the_trip_and_compare_as_bytes() {
        let shape = RowShape { positions: 20, key_bits: 64, ordered: true, sketch: 3 };
        for documents in [10, u64::MAX] {
            let layout = RowLayout::new(shape, documents);
            let rows =
                [row(0, 7, 9, 3, b"abc"), row(0, 8, 1, 2, b"abd"), row(1, 0, 0, 1, b"xyz"), row(1, 0, 1, 0, b"...")];
            let bytes: Vec<Vec<u8>> = rows
                .iter()
                .map(|row| {
                    let mut out = Vec::new();
                    layout.encode(row, &mut out);
                    assert_eq!(layout.decode(&out), *row);
                    assert_eq!(out.len(), layout.width());
                    out
                })
                .collect();
            assert!(bytes.is_sorted());
        }
        // A row that occurs in two scopes belongs to two groups, even though the key is the same.
        let layout = RowLayout::new(shape, 10).scoped(true);
        let one = row(3, 7, 9, 3, b"abc");
        let bytes = [1, 2].map(|scope| {
            let mut out = Vec::new();
            layout.encode_in(scope, &one, &mut out);
            out
        });
        assert!(bytes.iter().all(|bytes| layout.decode(bytes) == one && bytes.len() == layout.width()));
        assert_eq!((layout.scope(&bytes[1]), layout.group_width()), (2, 1 + 8 + 8));
        assert_ne!(bytes[0][..layout.group_width()], bytes[1][..layout.group_width()]);
        let wide = RowLayout::new(RowShape { positions: 1, key_bits: 128, ordered: false, sketch: 0 }, 5);
        let mut out = Vec::new();
        wide.encode(&row(0, u128::MAX - 1, 0, 4, b""), &mut out);
        assert_eq!((out.len(), wide.decode(&out).key), (20, u128::MAX - 1));
    }
}
