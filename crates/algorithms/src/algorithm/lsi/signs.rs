//! Finds candidate pairs of unit vectors with a high cosine: by sign bits (Charikar 2002), or by comparing all pairs.

use super::latent::dot;
use dupsift_core::float;
use dupsift_core::hash::{combine, splitmix64};
use dupsift_core::row::{Pair, Pairs, Row, RowShape, Score, Signatures, Window};
use dupsift_text::Analysis;

/// Holds random directions. Each table uses the signs along its own directions; `bits` is their number.
pub(crate) struct Signs {
    tables: usize,
    bits: usize,
    dimensions: usize,
    /// The directions, one after the other. All components are +1 or -1.
    directions: Vec<f32>,
}

impl Signs {
    /// Returns the tables of sign bits. `bits` is at most 64.
    pub(crate) fn new(tables: usize, bits: usize, dimensions: usize, seed: u64) -> Signs {
        let sign = |at: u64| if splitmix64(seed, at) >> 63 == 0 { 1.0 } else { -1.0 };
        let directions = (0..(tables * bits * dimensions) as u64).map(sign).collect();
        Signs { tables, bits, dimensions, directions }
    }

    /// Returns the shape of the rows, one row per table.
    pub(crate) fn shape(&self) -> RowShape {
        RowShape { positions: self.tables as u32, ..RowShape::KEY64 }
    }

    /// Emits the rows of a document.
    pub(crate) fn push(&self, vector: &[f32], out: &mut Signatures) {
        let mut directions = self.directions.chunks_exact(self.dimensions);
        for table in 0..self.tables {
            let signs = directions.by_ref().take(self.bits);
            let bits = signs.fold(0u64, |bits, direction| bits << 1 | u64::from(dot(direction, vector) >= 0.0));
            // Keys are hashes, so they spread evenly.
            out.push(table as u32, combine(table as u64, bits).into(), 0, &[]);
        }
    }

    /// Returns the candidate pair formed by two documents whose rows share a key.
    pub(crate) fn met(a: &Row<'_>, b: &Row<'_>) -> Option<Pair> {
        Some(Pair::new(a.doc, b.doc, Score::EQUAL, 1))
    }

    /// Returns the probability that two vectors with this cosine share a key in at least one table.
    pub(crate) fn probability(&self, cosine: f64) -> f64 {
        let agree = 1.0 - float::acos(cosine.clamp(-1.0, 1.0)) / std::f64::consts::PI;
        1.0 - (1.0 - agree.powi(self.bits as i32)).powi(self.tables as i32)
    }

    /// Describes the scheme and the share of pairs that it finds, for run.json.
    pub(crate) fn describe(&self, threshold: f64) -> String {
        let probability = self.probability(threshold);
        format!(
            "{} tables of {} sign bits find a pair at the threshold with a probability of {probability:.3}",
            self.tables, self.bits
        )
    }
}

/// The number of documents in a block of [`AllPairs`].
const BLOCK: u64 = 2000;

/// Compares all pairs of documents. Documents are divided into blocks by the hash of their text, and each pair of blocks is a group. A row
/// contains the document's vector rounded to bytes. The rounded vectors rule out nearly all pairs, so the exact vectors are rarely needed.
pub(crate) struct AllPairs {
    blocks: u64,
    dimensions: usize,
    threshold: f64,
}

impl AllPairs {
    /// Returns the scheme for vectors with at most 248 dimensions.
    pub(crate) fn new(documents: u64, dimensions: usize, threshold: f64) -> AllPairs {
        AllPairs { blocks: documents.div_ceil(BLOCK).max(1), dimensions, threshold }
    }

    /// Returns the number of blocks. Each block adds one row per document.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Returns the shape of the rows. The key identifies two blocks, and the order shows which of the two blocks contains the row's
    /// document.
    pub(crate) fn shape(&self) -> RowShape {
        RowShape { positions: 1, key_bits: 64, ordered: true, sketch: 8 + self.dimensions }
    }

    /// Emits one row for each block with which the document's block is compared, including that block itself.
    pub(crate) fn push(&self, document: &Analysis<'_>, vector: &[f32], out: &mut Signatures) {
        let own = document.raw_hash() as u64 % self.blocks;
        let sketch = rounded(vector);
        for other in 0..self.blocks {
            let key = combine(own.min(other), own.max(other));
            out.push(0, key.into(), u32::from(own > other), &sketch);
        }
    }

    /// Finds the pairs between two blocks, or within one block, whose vectors may reach the threshold.
    pub(crate) fn pairs(&self, window: &Window<'_>, out: &mut Pairs<'_>) {
        let judge = |a: &Row<'_>, b: &Row<'_>| {
            (most(a.sketch, b.sketch) >= self.threshold).then(|| Pair::new(a.doc, b.doc, Score::EQUAL, 1))
        };
        let rows = window.len();
        let lower = (0..rows).take_while(|&at| window.row(at).order == 0).count();
        // All rows of a block paired with itself have order 0. Among the rows of two different blocks, both orders occur. If one of these
        // blocks is empty, the rows of the other block have no partner.
        let alone = |row: Row<'_>| self.key_of_one_block(row.key);
        if rows > 0 && alone(window.row(0)) {
            return out.compare_all(window, judge);
        }
        let all = lower as u64 * (rows - lower) as u64;
        let reach = if all <= out.max_candidates { rows } else { (out.max_candidates / lower as u64).max(1) as usize };
        for at in 0..lower {
            let first = window.row(at);
            for other in lower..rows.min(lower.saturating_add(reach)) {
                out.compared += 1;
                if let Some(pair) = judge(&first, &window.row(other)) {
                    out.push(pair);
                }
            }
        }
        out.left_out += lower as u64 * (rows - lower).saturating_sub(reach) as u64;
    }

    fn key_of_one_block(&self, key: u128) -> bool {
        (0..self.blocks).any(|block| u128::from(combine(block, block)) == key)
    }
}

/// Returns the vector rounded to one byte per coordinate, in steps of its largest coordinate divided by 127. The step and the length of the
/// rounding error come first.
fn rounded(vector: &[f32]) -> Vec<u8> {
    let greatest = vector.iter().fold(0.0f32, |most, one| most.max(one.abs()));
    let step = if greatest > 0.0 { greatest / 127.0 } else { 1.0 };
    let steps: Vec<i8> = vector.iter().map(|one| (one / step).round() as i8).collect();
    let lost = |(one, &steps): (&f32, &i8)| (f64::from(*one) - f64::from(step) * f64::from(steps)).powi(2);
    // `lost` is slightly above the rounding error, because the error itself is rounded.
    let lost = (vector.iter().zip(&steps).map(lost).sum::<f64>().sqrt() * (1.0 + 1e-6)) as f32;
    let mut sketch = Vec::with_capacity(8 + vector.len());
    sketch.extend(step.to_le_bytes());
    sketch.extend(lost.to_le_bytes());
    sketch.extend(steps.iter().map(|&steps| steps as u8));
    sketch
}

/// Returns the largest possible cosine of two unit vectors, given their rounded forms.
fn most(a: &[u8], b: &[u8]) -> f64 {
    let float = |bytes: &[u8], at: usize| {
        f64::from(f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]))
    };
    let product: i32 = a[8..].iter().zip(&b[8..]).map(|(&x, &y)| i32::from(x as i8) * i32::from(y as i8)).sum();
    let (lost_a, lost_b) = (float(a, 4), float(b, 4));
    // x y = x' y' + x' (y - y') + (x - x') y, where |x'| is at most 1 plus the rounding error.
    f64::from(product) * float(a, 0) * float(b, 0) + (1.0 + lost_a) * lost_b + lost_a + 1e-5
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_core::row::RowLayout;
    use dupsift_text::{Pipeline, TextOptions};

    /// Returns a unit vector that has the given cosine similarity to `base`. `number` selects the vector.
    fn near(base: &[f32], cosine: f64, number: u64) -> Vec<f32> {
        let random = |at: usize| (splitmix64(number, at as u64) >> 11) as f64 / 2f64.powi(52) - 1.0;
        let mut other: Vec<f64> = (0..base.len()).map(random).collect();
        let along: f64 = other.iter().zip(base).map(|(x, &y)| x * f64::from(y)).sum();
        other.iter_mut().zip(base).for_each(|(x, &y)| *x -= along * f64::from(y));
        let length = other.iter().map(|x| x * x).sum::<f64>().sqrt();
        let across = (1.0 - cosine * cosine).sqrt() / length;
        other.iter().zip(base).map(|(x, &y)| (x * across + f64::from(y) * cosine) as f32).collect()
    }

    fn base(dimensions: usize) -> Vec<f32> {
        let axis: Vec<f32> = (0..dimensions).map(|at| if at == 0 { 1.0 } else { 0.0 }).collect();
        near(&axis, 0.3, 77)
    }

    #[test]
    fn signs_meet_as_often_as_the_formula_says() {
        let base = base(100);
        let signs = Signs::new(16, 10, 100, 42);
        let keys = |vector: &[f32]| {
            let mut out = Signatures::default();
            signs.push(vector, &mut out);
            out.rows(0).map(|row| (row.position, row.key)).collect::<Vec<_>>()
        };
        let own = keys(&base);
        assert_eq!(own.len(), 16);
        for (cosine, expected) in [(0.98, 0.999), (0.9, 0.980), (0.7, 0.588), (0.0, 0.0155)] {
            assert!((signs.probability(cosine) - expected).abs() < 0.01, "{cosine}: {}", signs.probability(cosine));
            let met = (0..500).filter(|&n| keys(&near(&base, cosine, n)).iter().any(|key| own.contains(key))).count();
            assert!((met as f64 / 500.0 - expected).abs() < 0.08, "{cosine}: {met} of 500");
        }
    }

    #[test]
    fn the_bound_of_rounded_vectors_holds_and_is_near() {
        let base = base(100);
        for number in 0..300 {
            let cosine = number as f64 / 300.0;
            let other = near(&base, cosine, number);
            let (truth, bound) = (dot(&base, &other), most(&rounded(&base), &rounded(&other)));
            assert!(bound >= truth && bound < truth + 0.05, "{bound} for {truth}");
        }
    }

    /// Every pair of documents is compared once, whether or not both are in the same block.
    #[test]
    fn all_pairs_are_all_pairs() {
        let all = AllPairs::new(5 * BLOCK, 4, -1.0);
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let layout = RowLayout::new(all.shape(), 100);
        let mut rows = Vec::new();
        for doc in 0..40 {
            let mut out = Signatures::default();
            all.push(&pipeline.analyse(&format!("документ {doc}")), &near(&[1.0, 0.0, 0.0, 0.0], 0.5, doc), &mut out);
            rows.extend(out.rows(doc).map(|row| {
                let mut bytes = Vec::new();
                layout.encode(&row, &mut bytes);
                bytes
            }));
        }
        rows.sort_unstable();
        let (mut found, mut compared, mut left_out) = (Vec::new(), 0, 0);
        for bound in [u64::MAX, 10] {
            found.clear();
            (compared, left_out) = (0, 0);
            for group in rows.chunk_by(|a, b| a[..layout.group_width()] == b[..layout.group_width()]) {
                let bytes = group.concat();
                let mut sink = |pair: Pair| found.push((pair.a, pair.b));
                let mut pairs = Pairs::new(bound, &mut sink);
                all.pairs(&Window::new(layout, &bytes), &mut pairs);
                compared += pairs.compared;
                left_out += pairs.left_out;
            }
            found.sort_unstable();
            found.dedup();
            assert_eq!((found.len() as u64, compared + left_out), (compared, 780));
            assert_eq!(left_out == 0, bound == u64::MAX);
        }
        assert!(compared < 780 && left_out > 0);
    }
}
