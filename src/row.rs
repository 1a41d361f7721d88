//! Plain data between an algorithm and a table: signature rows, the window of rows that share a key, and pairs.
//!
//! A row on its way through the shuffle is a byte string of fixed width whose bytes compare like the tuple
//! (position, key, order, doc): big-endian numbers in that order, the sketch behind them. So the shuffle sorts bytes and
//! needs to know nothing of algorithms.
//!
//! ```text
//! position 0, 1 or 2 | key 8 or 16 | order 0 or 4 | doc 4 or 8 | sketch 0..=256      bytes
//! ```

/// Why a document has no signature, as run.json counts it: a short phrase such as `"no words"`.
pub type Reason = &'static str;

/// What one algorithm's rows hold; the same for every document of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// How many positions (tables, bands, rules) there are: a row's position is below this number. 1 to 65,536.
    pub positions: u32,
    /// Bits of the key that are stored: 64 or 128.
    pub key_bits: u32,
    /// Whether rows of one key are ordered by something (a length) before the document number.
    pub ordered: bool,
    /// Bytes of the sketch that travels with a row, at most 256.
    pub sketch: usize,
}

impl RowShape {
    /// One 64-bit key a document, nothing else: what most single-signature algorithms need.
    pub const KEY64: RowShape = RowShape { positions: 1, key_bits: 64, ordered: false, sketch: 0 };
}

/// One row as an algorithm sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'r> {
    /// Which of the algorithm's keys this is (table, band, rule).
    pub position: u32,
    /// The key: documents that share position and key meet.
    pub key: u128,
    /// What rows of one key are ordered by before the document: the length for 3+5, else 0.
    pub order: u32,
    /// The document's global row number.
    pub doc: u64,
    /// The algorithm's own bytes.
    pub sketch: &'r [u8],
}

/// Where the fields stand in the bytes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    shape: RowShape,
    position_width: usize,
    key_width: usize,
    order_width: usize,
    doc_width: usize,
}

impl RowLayout {
    /// The layout for a corpus of that many rows (documents are numbered below it).
    pub fn new(shape: RowShape, documents: u64) -> RowLayout {
        RowLayout {
            shape,
            position_width: match shape.positions {
                0..=1 => 0,
                2..=256 => 1,
                _ => 2,
            },
            key_width: if shape.key_bits > 64 { 16 } else { 8 },
            order_width: if shape.ordered { 4 } else { 0 },
            doc_width: doc_width(documents),
        }
    }

    /// Bytes of a row.
    pub fn width(&self) -> usize {
        self.group_width() + self.order_width + self.doc_width + self.shape.sketch
    }

    /// Bytes at the front of a row that name its group: position and key.
    pub fn group_width(&self) -> usize {
        self.position_width + self.key_width
    }

    /// Appends one row's bytes.
    pub fn encode(&self, row: &Row<'_>, out: &mut Vec<u8>) {
        debug_assert_eq!(row.sketch.len(), self.shape.sketch);
        out.extend_from_slice(&(row.position as u16).to_be_bytes()[2 - self.position_width..]);
        out.extend_from_slice(&row.key.to_be_bytes()[16 - self.key_width..]);
        out.extend_from_slice(&row.order.to_be_bytes()[4 - self.order_width..]);
        out.extend_from_slice(&row.doc.to_be_bytes()[8 - self.doc_width..]);
        out.extend_from_slice(row.sketch);
    }

    /// Reads one row back; `bytes` are [`RowLayout::width`] long.
    pub fn decode<'r>(&self, bytes: &'r [u8]) -> Row<'r> {
        let (position, rest) = bytes.split_at(self.position_width);
        let (key, rest) = rest.split_at(self.key_width);
        let (order, rest) = rest.split_at(self.order_width);
        let (doc, sketch) = rest.split_at(self.doc_width);
        Row {
            position: big_endian(position) as u32,
            key: key.iter().fold(0, |value, &byte| value << 8 | u128::from(byte)),
            order: big_endian(order) as u32,
            doc: big_endian(doc),
            sketch,
        }
    }
}

/// Bytes that a document number takes in a corpus of that many rows.
fn doc_width(documents: u64) -> usize {
    if documents <= 1 << 32 { 4 } else { 8 }
}

fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// What one document emits for one algorithm: rows, or the reason why there are none, and flags.
#[derive(Debug, Default)]
pub struct Signatures {
    rows: Vec<(u32, u128, u32)>,
    sketches: Vec<u8>,
    none: Option<Reason>,
    flags: Vec<Reason>,
}

impl Signatures {
    /// Empties it for the next document; the memory is kept.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.sketches.clear();
        self.none = None;
        self.flags.clear();
    }

    /// One row at a position below the shape's number, with a sketch of the shape's width.
    pub fn push(&mut self, position: u32, key: u128, order: u32, sketch: &[u8]) {
        self.rows.push((position, key, order));
        self.sketches.extend_from_slice(sketch);
    }

    /// The document has no signature, for that reason.
    pub fn none(&mut self, reason: Reason) {
        self.none = Some(reason);
    }

    /// Something about this document is worth counting ("one sentence").
    pub fn flag(&mut self, what: Reason) {
        self.flags.push(what);
    }

    /// The reason for having no signature; an algorithm that emitted nothing and gave none gets a general one.
    pub fn reason(&self) -> Option<Reason> {
        self.none.or(if self.rows.is_empty() { Some("nothing to sign") } else { None })
    }

    /// What was flagged.
    pub fn flags(&self) -> &[Reason] {
        &self.flags
    }

    /// The rows of the document `doc`, none where there is a [`Signatures::reason`].
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

/// The rows of one (position, key), in order of (order, doc): a view, so that a group of a million rows costs nothing to hold.
#[derive(Clone, Copy, Debug)]
pub struct Window<'w> {
    layout: RowLayout,
    bytes: &'w [u8],
}

impl<'w> Window<'w> {
    /// A window over whole rows.
    pub fn new(layout: RowLayout, bytes: &'w [u8]) -> Window<'w> {
        debug_assert_eq!(bytes.len() % layout.width(), 0);
        Window { layout, bytes }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.layout.width()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The row at `at`, below [`Window::len`].
    pub fn row(&self, at: usize) -> Row<'w> {
        let width = self.layout.width();
        self.layout.decode(&self.bytes[at * width..(at + 1) * width])
    }

    /// The rows from `from` up to `to`.
    pub fn slice(&self, from: usize, to: usize) -> Window<'w> {
        let width = self.layout.width();
        Window { layout: self.layout, bytes: &self.bytes[from * width..to * width] }
    }
}

/// How alike two documents are to one method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// 0 to 1, 1 for equal signatures.
    pub similarity: f32,
    /// The method's own distance, where it has one (bits for a fingerprint).
    pub distance: Option<f32>,
}

impl Score {
    /// Equal signatures, of a method without a distance.
    pub const EQUAL: Score = Score { similarity: 1.0, distance: None };
}

/// Two documents that a method calls duplicates, or, before verification, a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The smaller document number.
    pub a: u64,
    /// The larger one.
    pub b: u64,
    /// How alike.
    pub score: Score,
    /// One bit a rule of the method that found the pair, see `Signer::rules`.
    pub matched: u16,
}

impl Pair {
    /// The pair of two different documents, whichever is first.
    pub fn new(x: u64, y: u64, score: Score, matched: u16) -> Pair {
        Pair { a: x.min(y), b: x.max(y), score, matched }
    }

    /// One pair out of two sightings of it: the better score, all the rules.
    pub fn merge(self, other: Pair) -> Pair {
        let better = if other.score.similarity > self.score.similarity { other.score } else { self.score };
        Pair { score: better, matched: self.matched | other.matched, ..self }
    }
}

/// The bytes of a pair on its way through the shuffle: they compare like (a, b).
#[derive(Clone, Copy, Debug)]
pub struct PairLayout {
    doc_width: usize,
}

impl PairLayout {
    /// The layout for a corpus of that many rows.
    pub fn new(documents: u64) -> PairLayout {
        PairLayout { doc_width: doc_width(documents) }
    }

    /// Bytes of a pair.
    pub fn width(&self) -> usize {
        self.group_width() + 10
    }

    /// Bytes at the front that name the pair: both document numbers.
    pub fn group_width(&self) -> usize {
        2 * self.doc_width
    }

    /// Appends one pair's bytes.
    pub fn encode(&self, pair: &Pair, out: &mut Vec<u8>) {
        out.extend_from_slice(&pair.a.to_be_bytes()[8 - self.doc_width..]);
        out.extend_from_slice(&pair.b.to_be_bytes()[8 - self.doc_width..]);
        out.extend_from_slice(&pair.matched.to_be_bytes());
        out.extend_from_slice(&pair.score.similarity.to_be_bytes());
        out.extend_from_slice(&pair.score.distance.unwrap_or(f32::NAN).to_be_bytes());
    }

    /// Reads one pair back.
    pub fn decode(&self, bytes: &[u8]) -> Pair {
        let (a, rest) = bytes.split_at(self.doc_width);
        let (b, rest) = rest.split_at(self.doc_width);
        let float = |at: usize| f32::from_bits(big_endian(&rest[at..at + 4]) as u32);
        let distance = float(6);
        Pair {
            a: big_endian(a),
            b: big_endian(b),
            matched: big_endian(&rest[..2]) as u16,
            score: Score { similarity: float(2), distance: (!distance.is_nan()).then_some(distance) },
        }
    }
}

/// Where pairs go; what does not fit the bound on comparisons is counted here, never dropped silently.
pub struct Pairs<'p> {
    sink: &'p mut dyn FnMut(Pair),
    /// The most comparisons that one group may cost.
    pub max_candidates: u64,
    /// Comparisons made.
    pub compared: u64,
    /// Comparisons that the bound left out.
    pub left_out: u64,
}

impl<'p> Pairs<'p> {
    /// Pairs into a sink, under a bound on the comparisons of one group.
    pub fn new(max_candidates: u64, sink: &'p mut dyn FnMut(Pair)) -> Pairs<'p> {
        Pairs { sink, max_candidates, compared: 0, left_out: 0 }
    }

    /// One pair found. A document that met itself (two of its keys collided) is no pair.
    pub fn push(&mut self, pair: Pair) {
        if pair.a != pair.b {
            (self.sink)(pair);
        }
    }

    /// Compares all pairs of the window by `judge`. Where that is more than `max_candidates`, each row is compared with
    /// its nearest followers only, as many as the bound allows (at least one), and what was left out is counted.
    pub fn compare_all(&mut self, window: &Window<'_>, mut judge: impl FnMut(&Row<'_>, &Row<'_>) -> Option<Pair>) {
        let rows = window.len() as u64;
        let all = rows * rows.saturating_sub(1) / 2;
        let reach = if all <= self.max_candidates { rows } else { (self.max_candidates / rows).max(1) };
        let mut compared = 0;
        for i in 0..window.len() {
            let first = window.row(i);
            let end = window.len().min(i.saturating_add(1).saturating_add(reach as usize));
            for j in i + 1..end {
                if let Some(pair) = judge(&first, &window.row(j)) {
                    self.push(pair);
                }
            }
            compared += (end - i - 1) as u64;
        }
        self.compared += compared;
        self.left_out += all - compared;
    }
}

#[cfg(test)]
mod tests;
