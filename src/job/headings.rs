//! The first line of each document, taken down by its hash: two pages with one title are known by it, if few have it.

use super::classes::{Classes, number};
use super::products::{Found, Putting};
use super::workers::Job;
use crate::error::Result;
use crate::measure::FirstLine;
use crate::row::doc_width;
use crate::shuffle::{AtomicBits, AtomicCells};
use crate::text::{Analysis, Heading};

/// The first lines of all documents.
pub struct Headings {
    packed: AtomicCells<u64>,
}

impl Headings {
    /// None yet.
    pub fn new(job: &Job<'_>) -> Result<Headings> {
        Ok(Headings { packed: AtomicCells::new(job.dir, "headings", job.documents() as usize)? })
    }

    /// Takes down the one of a document.
    pub fn take(&self, doc: u64, document: &Analysis<'_>) {
        self.packed.store(doc as usize, Heading::of(document).map_or(0, Heading::pack));
    }

    /// Puts them down.
    pub fn put_down(&self, to: &mut Putting<'_>) -> Result<()> {
        to.cells(&self.packed)
    }

    /// Takes them up.
    pub fn take_up(from: &mut Found<'_>) -> Result<Headings> {
        Ok(Headings { packed: from.cells()? })
    }

    fn of(&self, doc: u64) -> Option<Heading> {
        Heading::unpack(self.packed.load(doc as usize))
    }

    /// The documents whose first line more than `most` texts have, copies counted once.
    pub fn common(&self, job: &Job<'_>, copies: &Classes, most: u64) -> Result<AtomicBits> {
        let running = job.clock.stage("common first lines");
        let common = AtomicBits::new(job.dir, "common-headings", job.documents() as usize)?;
        let width = doc_width(job.documents());
        let lines = job.shuffle("headings", 8 + width, 8, job.documents())?;
        let mut writer = lines.writer();
        for doc in 0..job.documents() {
            job.go_on()?;
            if let Some(heading) = self.of(doc).filter(|_| !copies.is_surplus(doc)) {
                let mut row = [0; 16];
                row[..8].copy_from_slice(&heading.line().to_be_bytes());
                row[8..8 + width].copy_from_slice(&doc.to_be_bytes()[8 - width..]);
                writer.push(&row[..8 + width])?;
            }
        }
        writer.flush()?;
        drop(writer);
        let lines = lines.finish()?;
        job.work(
            lines.partitions(),
            || Ok(()),
            |(), partition| {
                let records = lines.load(partition, job.budget.a_thread)?;
                for group in records.groups().filter(|group| group.len() as u64 > most) {
                    job.go_on()?;
                    group.into_iter().for_each(|at| _ = common.set(number(&records.record(at)[8..]) as usize));
                }
                lines.remove(partition)
            },
            Ok,
        )?;
        running.end(lines.rows(), common.count(), lines.spilled_bytes());
        Ok(common)
    }

    /// What the first lines of two documents say of them.
    pub fn compare(&self, common: &AtomicBits, a: u64, b: u64) -> FirstLine {
        let (Some(x), Some(y)) = (self.of(a), self.of(b)) else { return FirstLine::default() };
        FirstLine {
            same: x.line() == y.line() && !common.get(a as usize),
            titles: x.may_be_title() && y.may_be_title(),
        }
    }
}
