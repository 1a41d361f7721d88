//! The pairs of a list by document, for random access.

use std::ops::Range;

use super::numbers::Numbers;
use super::pair_list::PairList;
use super::workers::Job;
use crate::error::Result;
use crate::row::Pair;
use crate::shuffle::Mapped;

/// The documents that each one forms a pair with, and how similar they are; as arrays in work files.
pub struct Links {
    /// By document: where its links begin; one more place says where the last ones end. Empty where there are none.
    begins: Numbers,
    /// The documents linked to.
    links: Numbers,
    /// The bits of the similarity of each link.
    similarities: Mapped<u32>,
}

impl Links {
    /// Of the pairs that pass.
    pub fn new(job: &Job<'_>, pairs: &PairList, passes: impl Fn(&Pair) -> bool) -> Result<Links> {
        let most = 2 * pairs.rows();
        // Two more than documents: while the links are filled in, place d + 1 moves from the begin of d to its end.
        let places = if most == 0 { 0 } else { job.documents() + 2 };
        let mut begins = Numbers::new(job.dir, "link-begins", places as usize, most)?;
        let mut at = begins.slots();
        pairs.each(|pair| {
            for doc in [pair.a, pair.b].into_iter().filter(|_| passes(&pair)) {
                at.set(doc + 2, at.get(doc + 2) + 1);
            }
            job.go_on()
        })?;
        let mut count = 0;
        for place in 0..places {
            count += at.get(place);
            at.set(place, count);
        }
        let mut links = Numbers::new(job.dir, "links", count as usize, job.documents())?;
        let mut similarities: Mapped<u32> = Mapped::new(job.dir, "link-similarities", count as usize)?;
        let (mut to, similarities_of_links) = (links.slots(), &mut similarities[..]);
        pairs.each(|pair| {
            for (from, linked) in [(pair.a, pair.b), (pair.b, pair.a)].into_iter().filter(|_| passes(&pair)) {
                let place = at.get(from + 1);
                to.set(place, linked);
                similarities_of_links[place as usize] = pair.score.similarity.to_bits();
                at.set(from + 1, place + 1);
            }
            job.go_on()
        })?;
        Ok(Links { begins, links, similarities })
    }

    /// Where the links of a document stand.
    pub fn range(&self, doc: u64) -> Range<usize> {
        if self.similarities.is_empty() {
            return 0..0;
        }
        self.begins.get(doc) as usize..self.begins.get(doc + 1) as usize
    }

    /// One link: the document, and the similarity.
    #[inline]
    pub fn get(&self, at: usize) -> (u64, f32) {
        (self.links.get(at as u64), f32::from_bits(self.similarities[at]))
    }

    /// The links of a document.
    pub fn of(&self, doc: u64) -> impl Iterator<Item = (u64, f32)> + '_ {
        self.range(doc).map(|at| self.get(at))
    }

    /// Puts the links of each document into an order.
    pub fn sort(
        &mut self,
        job: &Job<'_>,
        order: impl Fn(&(u64, f32), &(u64, f32)) -> std::cmp::Ordering,
    ) -> Result<()> {
        let mut of_one: Vec<(u64, f32)> = Vec::new();
        for doc in 0..job.documents() {
            let range = self.range(doc);
            if range.len() < 2 {
                continue;
            }
            job.go_on()?;
            of_one.clear();
            of_one.extend(self.of(doc));
            of_one.sort_unstable_by(&order);
            let mut links = self.links.slots();
            for (at, &(linked, similarity)) in range.zip(&of_one) {
                links.set(at as u64, linked);
                self.similarities[at] = similarity.to_bits();
            }
        }
        Ok(())
    }
}
