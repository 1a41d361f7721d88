//! The vector of a document in numbers, as comparisons read it: some ten bytes a term.
//!
//! ```text
//! number 0     the length of the text's part of the vector
//!        1, 2  what the weights of the text were multiplied with, and those of the first line
//!        3     terms
//!        then  the hash of each term, rare first
//!        then  bytes, eight a number, the first one lowest: for each term, how far its document frequency is above that of the
//!              term before, and its occurrences; seven bits a byte, the lowest first, the top bit where more follow (LEB128)
//! ```
//!
//! A weight is worked out anew from occurrences and frequency, by the steps that made it, so it is the same. Where it would not be,
//! 0 stands for the occurrences, and the weight behind it as a Float32. Weights are given out as Float32 has them.

use std::sync::LazyLock;

use super::vector::{Vector, Weighing, is_head};
use crate::float;

/// Numbers before the hashes.
const HEADER: usize = 4;

/// Logarithms that were worked out in another way are as near as that.
const NEAR: f64 = 1e-9;

/// 1 + ln n.
type Logs = [f64; 256];

static LOGS: LazyLock<Logs> = LazyLock::new(|| std::array::from_fn(|n| if n < 2 { n as f64 } else { log(n as u64) }));

fn log(count: u64) -> f64 {
    1.0 + float::ln(count as f64)
}

/// A term as the evidence of a document has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stated {
    /// Documents that have it.
    pub df: u64,
    /// Its hash; its place in the order that all documents share is that of (df, hash).
    pub hash: u64,
    /// How often the document has it; 0 where only the weight is known.
    pub count: u64,
    /// Its weight in the vector.
    pub weight: f64,
}

/// The terms of a document, read one after the other.
pub struct Terms<'e> {
    weighing: &'e Weighing<'e>,
    logs: &'e Logs,
    /// The length of the text's part.
    pub text: f64,
    factors: [f64; 2],
    hashes: std::slice::Iter<'e, u64>,
    packed: &'e [u64],
    at: usize,
    df: u64,
}

impl Weighing<'_> {
    /// The vector in numbers.
    pub fn evidence(&self, vector: &Vector, out: &mut Vec<u64>) {
        let Vector { terms, factors } = vector;
        out.reserve(HEADER + terms.len() + terms.len() / 2);
        let (at, mut text) = (out.len(), 0.0);
        out.extend([0, factors[0].to_bits(), factors[1].to_bits(), terms.len() as u64]);
        for term in terms {
            out.push(term.hash);
            text += if is_head(term.hash) { 0.0 } else { term.weight * term.weight };
        }
        out[at] = f64::sqrt(text).to_bits();
        let (mut packer, mut before, logs) = (Packer { word: 0, bits: 0, out }, 0, &*LOGS);
        for term in terms {
            let more = term.df - before;
            before = term.df;
            let count = self.count(term.weight, term.df, factors[usize::from(is_head(term.hash))], logs);
            if more < 0x80 && (1..0x80).contains(&count) {
                packer.two(more | count << 8);
                continue;
            }
            packer.number(more);
            packer.number(count);
            if count == 0 {
                (term.weight as f32).to_le_bytes().into_iter().for_each(|byte| packer.byte(byte));
            }
        }
        packer.end();
    }

    /// The terms of a document's evidence; none of a document that was not read.
    pub fn terms<'e>(&'e self, evidence: &'e [u64]) -> Option<Terms<'e>> {
        let (&[text, first, second, count], rest) = evidence.split_first_chunk::<HEADER>()?;
        let (hashes, packed) = rest.split_at_checked(usize::try_from(count).ok()?)?;
        let [text, first, second] = [text, first, second].map(f64::from_bits);
        Some(Terms {
            weighing: self,
            logs: &LOGS,
            text,
            factors: [first, second],
            hashes: hashes.iter(),
            packed,
            at: 0,
            df: 0,
        })
    }

    /// What a term counts that stands so often, by its inverse document frequency.
    #[inline]
    fn weight(&self, count: u64, idf: f64, factor: f64, logs: &Logs) -> f64 {
        let tf = match count {
            1 => 1.0,
            _ if !self.sublinear => count as f64,
            count => logs.get(count as usize).copied().unwrap_or_else(|| log(count)),
        };
        tf * idf * factor
    }

    #[inline]
    fn idf(&self, df: u64) -> f64 {
        self.idf.as_ref().map_or(1.0, |idf| idf.of(df))
    }

    /// How often a term of that weight stands in its text; 0 if no number of occurrences has it.
    #[inline]
    fn count(&self, weight: f64, df: u64, factor: f64, logs: &Logs) -> u64 {
        let idf = self.idf(df);
        // Nearly all terms stand once.
        if (idf * factor) as f32 == weight as f32 { 1 } else { self.larger_count(weight, idf, factor, logs) }
    }

    #[inline(never)]
    fn larger_count(&self, weight: f64, idf: f64, factor: f64, logs: &Logs) -> u64 {
        let tf = weight / (factor * idf);
        let count = match () {
            () if !self.sublinear => tf.round() as u64,
            () if tf < logs[2] + NEAR => 2,
            () if tf < logs[3] + NEAR => 3,
            // A hair below each of them.
            () if tf < logs[logs.len() - 1] => logs.partition_point(|log| *log < tf - NEAR) as u64,
            () => float::exp(tf - 1.0).round() as u64,
        };
        if self.weight(count, idf, factor, logs) as f32 == weight as f32 { count } else { 0 }
    }
}

impl Iterator for Terms<'_> {
    type Item = Stated;

    #[inline]
    fn next(&mut self) -> Option<Stated> {
        let hash = *self.hashes.next()?;
        self.df += self.number()?;
        let (df, factor) = (self.df, self.factors[usize::from(is_head(hash))]);
        let count = self.number()?;
        let weight = if count > 0 {
            self.weighing.weight(count, self.weighing.idf(df), factor, self.logs) as f32
        } else {
            f32::from_le_bytes([self.byte()?, self.byte()?, self.byte()?, self.byte()?])
        };
        Some(Stated { df, hash, count, weight: weight.into() })
    }
}

impl Terms<'_> {
    /// What the weights of the text were multiplied with.
    pub fn factor(&self) -> f64 {
        self.factors[0]
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let word = self.packed.get(self.at / 8)?;
        let byte = (word >> (8 * (self.at % 8))) as u8;
        self.at += 1;
        Some(byte)
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        if first < 0x80 {
            return Some(first.into());
        }
        let (mut number, mut shift) = (u64::from(first & 0x7f), 7);
        loop {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

/// Bytes that are put together to numbers.
struct Packer<'o> {
    word: u64,
    bits: u32,
    out: &'o mut Vec<u64>,
}

impl Packer<'_> {
    fn byte(&mut self, byte: u8) {
        self.word |= u64::from(byte) << self.bits;
        self.bits += 8;
        if self.bits == u64::BITS {
            self.out.push(self.word);
            (self.word, self.bits) = (0, 0);
        }
    }

    /// Two bytes, the lower one first.
    #[inline]
    fn two(&mut self, bytes: u64) {
        self.word |= bytes << self.bits;
        self.bits += 16;
        if self.bits >= u64::BITS {
            self.out.push(self.word);
            self.bits -= u64::BITS;
            // With 8 bits over, they are the upper byte.
            self.word = if self.bits == 8 { bytes >> 8 } else { 0 };
        }
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    fn end(self) {
        if self.bits > 0 {
            self.out.push(self.word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::cosine::vector::idf;
    use crate::algorithm::kit::prefix::Term;
    use crate::algorithm::kit::units::Units;
    use crate::corpus::CorpusStats;
    use crate::hash::splitmix64;

    fn stated(weighing: &Weighing<'_>, evidence: &[u64]) -> Vec<Stated> {
        weighing.terms(evidence).expect("evidence").collect()
    }

    /// Two terms of text: one that stands once, of 2 documents; one that stands 300 times, of 202.
    #[test]
    fn a_worked_example() {
        let stats = CorpusStats::none();
        let units = Units { name: "word", han_only: false };
        let weighing = Weighing { sublinear: false, idf: None, head: 0.0, units, stats: &stats };
        let term = |hash, weight, df| Term { hash, weight, df };
        let vector = Vector { terms: vec![term(6, 0.5, 2), term(4, 150.0, 202)], factors: [0.5, 1.0] };
        let mut out = vec![7];
        weighing.evidence(&vector, &mut out);
        let length = (0.25f64 + 22_500.0).sqrt();
        // 2, 1; 200 is 1100 1000: 48 with the top bit, 1; 300 is 10 0010 1100: 2c with the top bit, 2.
        let packed = u64::from_le_bytes([2, 1, 0xc8, 1, 0xac, 2, 0, 0]);
        assert_eq!(out, [7, length.to_bits(), 0.5f64.to_bits(), 1f64.to_bits(), 2, 6, 4, packed]);
        let expected =
            [(2, 6, 1, 0.5), (202, 4, 300, 150.0)].map(|(df, hash, count, weight)| Stated { df, hash, count, weight });
        assert_eq!(stated(&weighing, &out[1..]), expected);
        assert!(weighing.terms(&[]).is_none() && weighing.terms(&out[1..4]).is_none());
        // Cut off, it ends; nothing breaks.
        assert_eq!(stated(&weighing, &out[1..7]).len(), 0);
    }

    /// Any occurrences, frequencies and factors: the weights come back as Float32 has them, and so do the occurrences.
    #[test]
    fn weights_and_occurrences_come_back() {
        let stats = CorpusStats::none();
        for seed in 0..200_u64 {
            let next = |at: u64, below: u64| splitmix64(seed, at) % below;
            let units = Units { name: "word", han_only: false };
            let (sublinear, with_idf) = (seed % 2 == 0, seed % 3 > 0);
            let idf = with_idf.then(|| idf(&stats));
            let weighing = Weighing { sublinear, idf, head: 0.1, units, stats: &stats };
            let factors = [0.001 + next(1, 1000) as f64 / 777.0, 0.001 + next(2, 1000) as f64 / 333.0];
            let mut counts = Vec::new();
            let mut terms: Vec<Term> = (0..next(3, 300))
                .map(|at| {
                    let count = 1 + next(10 + at, [1, 3, 300, 3_000_000][(at % 4) as usize]);
                    let (hash, df) =
                        (splitmix64(seed + 9, at), 1 + next(900 + at, [3, 1000, 1 << 40][(at % 3) as usize]));
                    counts.push((df, hash, count));
                    let factor = factors[usize::from(is_head(hash))];
                    Term { hash, weight: weighing.weight(count, weighing.idf(df), factor, &LOGS), df }
                })
                .collect();
            // One that no number of occurrences has.
            terms.push(Term { hash: 2, weight: 0.5 * weighing.idf(1 << 41) * factors[0], df: 1 << 41 });
            counts.push((1 << 41, 2, 0));
            crate::algorithm::kit::prefix::rare_first(&mut terms);
            counts.sort_unstable();
            let mut out = Vec::new();
            weighing.evidence(&Vector { terms: terms.clone(), factors }, &mut out);
            let found = stated(&weighing, &out);
            assert_eq!(found.len(), terms.len());
            for ((found, term), count) in found.iter().zip(&terms).zip(&counts) {
                assert_eq!((found.df, found.hash, found.weight), (term.df, term.hash, f64::from(term.weight as f32)));
                assert_eq!((found.df, found.hash), (count.0, count.1));
                // Beyond some hundred thousand two numbers of occurrences may have one weight.
                let near = found.count.abs_diff(count.2) <= if count.2 > 100_000 { count.2 / 10_000 } else { 0 };
                assert!(near || found.count == 0 && count.2 > 100_000, "{found:?} {count:?}");
            }
        }
    }
}
