//! The partners of each document in the order that the search for the next best asks for, in work files.

use std::ops::Range;

use super::links::Links;
use super::pair_list::PairList;
use super::workers::Job;
use crate::error::Result;
use crate::stage::next_best::{MOST_PASSED, NextBest, Partner, Partners, next_best, order};

/// The partners of each document.
pub struct Neighbours {
    links: Links,
    near: f32,
}

impl Neighbours {
    /// Of pairs; those with a similarity of at least `near` are near.
    pub fn new(job: &Job<'_>, pairs: &PairList, near: f32) -> Result<Neighbours> {
        let mut links = Links::new(job, pairs, |_| true)?;
        links.sort(job, |x, y| order(near, x, y))?;
        Ok(Neighbours { links, near })
    }

    /// The best partner that either of two documents has outside of what is near to both.
    pub fn next_best(&self, a: u64, b: u64) -> NextBest {
        next_best(&self.links, self.near, MOST_PASSED, a, b)
    }
}

impl Partners for Links {
    fn range(&self, doc: u64) -> Range<usize> {
        Links::range(self, doc)
    }

    fn get(&self, at: usize) -> Partner {
        Links::get(self, at)
    }
}
