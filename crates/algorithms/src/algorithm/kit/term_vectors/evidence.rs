//! Encodes the vector of a document as numbers for comparison. A term takes about two bytes.
//!
//! ```text
//! number 0     the length of the text's part of the vector
//!        1, 2  the factors of the weights of the text, and of those of the first line
//!        3     number of terms; a term in both text and first line counts once
//!        then  bytes, eight per number, that encode numbers with seven bits per byte, lowest first; the top bit
//!              is set if more follow (LEB128). For each term, in the order of the term numbers:
//!              2 (its number - the lowest one that it can have), + 1 if more follows; if not, it occurs once in the text
//!              2 (occurrences in the text), + 1 if it is in the first line; if so, the occurrences there follow
//! ```
//!
//! The number of a term is its rank in the corpus, which also determines its document frequency. Terms that were not counted come after all
//! ranked terms, ordered by their hashes. Weights are recomputed with the same operations as in signing and rounded to Float32.

use super::vector::{Sublinear, Vector, Weighed, Weighing, is_head};
use crate::corpus::Dfs;

/// The number of header values before the terms.
const HEADER: usize = 4;

/// Holds a term as stored in the evidence of a document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stated {
    /// The position of the term in the order shared by all documents: twice the term number, plus 1 for a term of the first line.
    pub place: u64,
    /// The number of documents that contain the term.
    pub df: u64,
    /// The number of occurrences in the document.
    pub count: u64,
    /// The weight of the term in the vector.
    pub weight: f64,
}

impl Stated {
    /// Returns whether the term belongs to the first line.
    pub(crate) fn is_head(&self) -> bool {
        self.place & 1 == 1
    }
}

/// Reads the terms of a document one by one.
pub(crate) struct Terms<'e> {
    weighing: &'e Weighing<'e>,
    sublinear: Sublinear,
    /// The length of the part of the vector that represents the text.
    pub text: f64,
    factors: [f64; 2],
    left: u64,
    packed: std::slice::Iter<'e, u8>,
    /// The lowest number that the next term can have.
    next: u64,
    dfs: Dfs<'e>,
    /// The last term, if it is to be returned a second time as a term of the first line.
    head: Option<Stated>,
}

impl Weighing<'_> {
    /// Returns the position of a term, given its hash and rank.
    pub(crate) fn place(&self, hash: u64, rank: u64) -> u64 {
        number_of(hash, rank, self.ranks()) << 1 | u64::from(is_head(hash))
    }

    fn ranks(&self) -> u64 {
        self.units.table(self.stats).len() as u64
    }

    /// Appends the vector as numbers.
    pub(crate) fn evidence(&self, vector: &Vector, out: &mut Vec<u64>) {
        let Vector { terms, factors } = vector;
        let (ranks, mut text) = (self.ranks(), 0.0);
        let (mut body, mut heads) = (Vec::with_capacity(terms.len()), Vec::with_capacity(terms.len() / 2));
        for &Weighed { term, count, rank, word } in terms {
            let numbered = (number_of(word, rank, ranks), u64::from(count));
            if is_head(term.hash) {
                heads.push(numbered);
            } else {
                text += term.weight * term.weight;
                body.push(numbered);
            }
        }
        in_order(&mut body);
        in_order(&mut heads);
        out.reserve(HEADER + terms.len() / 2);
        let header = out.len();
        out.extend([f64::sqrt(text).to_bits(), factors[0].to_bits(), factors[1].to_bits(), 0]);
        let (mut packer, mut next, mut distinct) = (Packer { word: 0, bits: 0, out }, 0, 0);
        let (mut body, mut heads) = (body.into_iter(), heads.into_iter());
        let [mut of_body, mut of_heads] = [&mut body, &mut heads].map(|numbers| numbers.next().unwrap_or(END));
        loop {
            let number = of_body.0.min(of_heads.0);
            if number == END.0 {
                break;
            }
            let (mut count, mut head) = (0, 0);
            if of_body.0 == number {
                (count, of_body) = (of_body.1, body.next().unwrap_or(END));
            }
            if of_heads.0 == number {
                (head, of_heads) = (of_heads.1, heads.next().unwrap_or(END));
            }
            let gap = (number - next) << 1;
            if (count, head) == (1, 0) {
                packer.number(gap);
            } else {
                packer.number(gap | 1);
                packer.number(count << 1 | u64::from(head > 0));
                if head > 0 {
                    packer.number(head);
                }
            }
            (next, distinct) = (number + 1, distinct + 1);
        }
        packer.end();
        out[header + HEADER - 1] = distinct;
    }

    /// Returns the terms in a document's evidence, or `None` if the document was not read.
    pub(crate) fn terms<'e>(&'e self, evidence: &'e [u64]) -> Option<Terms<'e>> {
        let (&[text, first, second, left], packed) = evidence.split_first_chunk::<HEADER>()?;
        let [text, first, second] = [text, first, second].map(f64::from_bits);
        Some(Terms {
            weighing: self,
            sublinear: Sublinear::new(),
            text,
            factors: [first, second],
            left,
            packed: bytemuck::cast_slice(packed).iter(),
            next: 0,
            dfs: self.units.table(self.stats).dfs(),
            head: None,
        })
    }

    /// Returns the weight of one occurrence of a word with this document frequency.
    #[inline]
    pub(crate) fn idf(&self, df: u64) -> f64 {
        self.idf.as_ref().map_or(1.0, |idf| idf.of(df))
    }
}

/// A number above the numbers of all terms, with a count of 0.
const END: (u64, u64) = (u64::MAX, 0);

/// Returns the number of a term, given its hash, its rank, and the number of ranks.
#[inline]
fn number_of(hash: u64, rank: u64, ranks: u64) -> u64 {
    if rank == u64::MAX { ranks + (hash >> 2) } else { rank }
}

/// Sorts numbers with their counts, and adds up the counts of equal numbers.
fn in_order(numbers: &mut Vec<(u64, u64)>) {
    // The numbers are already sorted, rarest first, except for those of terms that were not counted.
    if !numbers.is_sorted_by(|a, b| a.0 < b.0) {
        numbers.sort_unstable();
        numbers.dedup_by(|next, first| {
            let equal = next.0 == first.0;
            first.1 += if equal { next.1 } else { 0 };
            equal
        });
    }
}

impl Iterator for Terms<'_> {
    type Item = Stated;

    #[inline]
    fn next(&mut self) -> Option<Stated> {
        if let Some(head) = self.head.take() {
            return Some(head);
        }
        self.left = self.left.checked_sub(1)?;
        let gap = self.number()?;
        let number = self.next.wrapping_add(gap >> 1);
        self.next = number.wrapping_add(1);
        let df = self.dfs.of(number);
        let idf = self.weighing.idf(df);
        if gap & 1 == 0 {
            return Some(self.stated(number, 0, 1, (df, idf)));
        }
        let more = self.number()?;
        let text = self.stated(number, 0, more >> 1, (df, idf));
        if more & 1 == 1 {
            let times = self.number()?;
            let head = self.stated(number, 1, times, (df, idf));
            if text.count == 0 {
                return Some(head);
            }
            self.head = Some(head);
        }
        Some(text)
    }
}

impl Terms<'_> {
    #[inline]
    fn stated(&self, number: u64, head: usize, count: u64, (df, idf): (u64, f64)) -> Stated {
        let tf = match count {
            1 => 1.0,
            _ if !self.weighing.sublinear => count as f64,
            count => self.sublinear.of(count),
        };
        let weight = (tf * idf * self.factors[head]) as f32;
        Stated { place: number << 1 | head as u64, df, count, weight: weight.into() }
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let first = *self.packed.next()?;
        if first < 0x80 {
            return Some(first.into());
        }
        let (mut number, mut shift) = (u64::from(first & 0x7f), 7);
        loop {
            let byte = *self.packed.next()?;
            number |= u64::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
            shift += 7;
        }
    }
}

/// Packs bytes into numbers.
struct Packer<'o> {
    word: u64,
    bits: u32,
    out: &'o mut Vec<u64>,
}

impl Packer<'_> {
    #[inline]
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.word |= u64::from(byte) << self.bits;
        self.bits += 8;
        if self.bits == u64::BITS {
            self.out.push(self.word.to_le());
            (self.word, self.bits) = (0, 0);
        }
    }

    fn end(self) {
        if self.bits > 0 {
            self.out.push(self.word.to_le());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::kit::prefix::Term;
    use crate::algorithm::kit::term_vectors::vector::idf;
    use crate::algorithm::kit::units::Units;
    use crate::testing::examples::counted;
    use dupsift_core::float;
    use dupsift_core::hash::{hash64, splitmix64};

    const WORDS: Units = Units { name: "word", han_only: false };

    fn stated(weighing: &Weighing<'_>, evidence: &[u64]) -> Vec<Stated> {
        weighing.terms(evidence).expect("evidence").collect()
    }

    /// The text contains the rarest of three words once and the most common word 300 times, and the first line contains the most common
    /// word once. The text also contains a word that was not counted.
    #[test]
    fn a_worked_example() {
        let stats = counted(9, 99, &[("rare", 2, 2), ("seldom", 2, 9), ("common", 7, 70)]);
        let weighing = Weighing { sublinear: false, idf: None, head: 0.1, units: WORDS, stats: &stats };
        let [first, common] = [("rare", 0), ("common", 2)].map(|(word, place)| {
            let rank = stats.words.rank(stats.words.get(hash64(word.as_bytes())).unwrap().at);
            assert!(rank == place || word == "rare" && rank == 1);
            (hash64(word.as_bytes()) & !1, rank)
        });
        let weighed =
            |(hash, rank), weight, count| Weighed { term: Term { hash, weight, df: 9 }, count, rank, word: hash };
        let terms = vec![
            weighed((0x1234, u64::MAX), 0.5, 1),
            weighed(first, 0.5, 1),
            weighed((common.0 | 1, common.1), 0.1, 1),
            weighed(common, 150.0, 300),
        ];
        let mut out = vec![7];
        weighing.evidence(&Vector { terms, factors: [0.5, 0.1] }, &mut out);
        let length = (0.25f64 + 0.25 + 22_500.0).sqrt();
        // 601 in groups of seven bits is 100 1011001: d9 (with the top bit set), then 4. In hexadecimal, the number of the last term is 3 +
        // 1234 / 4 = 490. The lowest number that it can have is 3, and 490 - 3 = 48d.
        let gap = 2 * (3 + 0x1234 / 4 - 3);
        let bytes =
            [2 * first.1 as u8, 2 * (2 - first.1 as u8 - 1) + 1, 0xd9, 4, 1, gap as u8 | 0x80, (gap >> 7) as u8, 0];
        assert_eq!(out, [7, length.to_bits(), 0.5f64.to_bits(), 0.1f64.to_bits(), 3, u64::from_ne_bytes(bytes)]);
        let unknown = 3 + 0x1234 / 4;
        let expected =
            [(2 * first.1, 2, 1, 0.5), (4, 7, 300, 150.0), (5, 7, 1, f64::from(0.1f32)), (2 * unknown, 1, 1, 0.5)];
        let expected = expected.map(|(place, df, count, weight)| Stated { place, df, count, weight });
        assert_eq!(stated(&weighing, &out[1..]), expected);
        assert!(weighing.terms(&[]).is_none() && weighing.terms(&out[1..4]).is_none());
        // Truncated evidence ends early without an error.
        assert_eq!(stated(&weighing, &out[1..5]).len(), 0);
    }

    /// Damaged evidence is read without a panic.
    #[test]
    fn any_numbers_are_read() {
        let stats = counted(9, 99, &[("rare", 2, 2), ("common", 7, 70)]);
        let weighing = Weighing { sublinear: true, idf: Some(idf(&stats)), head: 0.1, units: WORDS, stats: &stats };
        for seed in 0..500 {
            let numbers: Vec<u64> = (0..seed % 40).map(|at| splitmix64(seed, at) << (seed % 64)).collect();
            let other: Vec<u64> = numbers.iter().map(|number| !number).collect();
            assert!(weighing.terms(&numbers).is_none_or(|terms| terms.count() <= 2 * 8 * numbers.len()));
            _ = weighing.compare(&numbers, &other, 0.5);
            _ = weighing.surplus(&other, &numbers);
        }
    }

    /// Checks that weights are restored to Float32 precision and occurrence counts exactly, for any ranks and factors.
    #[test]
    fn weights_and_occurrences_come_back() {
        let words: Vec<(String, u64)> = (0..400).map(|at| (at.to_string(), 1 + at % 7 * at)).collect();
        let words: Vec<(&str, u64, u64)> = words.iter().map(|(word, df)| (&**word, *df, df + 3)).collect();
        let stats = counted(3_000, 9_999, &words);
        for seed in 0..200_u64 {
            let next = |at: u64, below: u64| splitmix64(seed, at) % below;
            let idf = (seed % 3 > 0).then(|| idf(&stats));
            let weighing = Weighing { sublinear: seed % 2 == 0, idf, head: 0.1, units: WORDS, stats: &stats };
            let factors = [0.001 + next(1, 1000) as f64 / 777.0, 0.001 + next(2, 1000) as f64 / 333.0];
            let mut terms = Vec::new();
            for at in 0..next(3, 300) {
                let (word, df, _) = words[next(400 + at, 400) as usize];
                let known = stats.words.get(hash64(word.as_bytes())).unwrap();
                let (rank, df) = if at % 9 == 0 { (u64::MAX, 1) } else { (stats.words.rank(known.at), df) };
                let hash = if at % 9 == 0 { splitmix64(seed, at) } else { hash64(word.as_bytes()) };
                let hash = hash & !1 | u64::from(next(800 + at, 5) == 0);
                let count = 1 + next(10 + at, [1, 3, 300, 3_000_000][(at % 4) as usize]) as u32;
                let times = f64::from(count);
                let tf = if weighing.sublinear && count > 1 { 1.0 + float::ln(times) } else { times };
                let weight = tf * weighing.idf(df) * factors[usize::from(is_head(hash))];
                let place = weighing.place(hash, rank);
                if terms.iter().all(|(other, _)| *other != place) {
                    terms.push((place, Weighed { term: Term { hash, weight, df }, count, rank, word: hash }));
                }
            }
            let mut out = Vec::new();
            weighing.evidence(&Vector { terms: terms.iter().map(|(_, term)| *term).collect(), factors }, &mut out);
            terms.sort_by_key(|(place, _)| *place);
            let expected: Vec<Stated> = terms
                .iter()
                .map(|&(place, Weighed { term, count, .. })| Stated {
                    place,
                    df: term.df,
                    count: count.into(),
                    weight: f64::from(term.weight as f32),
                })
                .collect();
            assert_eq!(stated(&weighing, &out), expected);
        }
    }
}
