//! Finds the first lines that many documents share. If few documents have the same first line, that line is treated as their title.

use super::links::Earlier;
use crate::classes::Classes;
use crate::job::read::headings::Headings;
use crate::session::Session;
use dupsift_algorithms::measure::FirstLine;
use dupsift_algorithms::steps::headings;
use dupsift_core::error::Result;
use dupsift_core::row::number;
use dupsift_spill::shuffle::AtomicBits;
use dupsift_spill::shuffle::run::Run;

impl Headings {
    /// Records the first lines of this batch for later runs.
    pub fn note(&self, session: &Session<'_>, copies: &Classes, earlier: &dyn Earlier) -> Result<()> {
        let own = (session.base..session.documents()).filter(|&doc| !copies.is_extra_copy(doc));
        earlier.note_lines(session.engine, &mut own.filter_map(|doc| Some((self.of(doc)?, doc))))
    }

    /// Returns the documents whose first line occurs in more than `most` documents. Exact copies count as one document. Documents from
    /// earlier runs are included.
    pub fn common(
        &self,
        session: &Session<'_>,
        copies: &Classes,
        most: u64,
        earlier: Option<&dyn Earlier>,
    ) -> Result<AtomicBits> {
        let running = session.engine.clock.stage("common first lines");
        let common = AtomicBits::new(session.engine.dir, "common-headings", session.documents() as usize)?;
        let documents = session.documents();
        let width = headings::width(documents);
        let lines = session.engine.shuffle("headings", width, headings::GROUP, documents)?;
        let mut writer = lines.writer();
        for doc in 0..session.documents() {
            session.engine.go_on()?;
            if let Some(heading) = self.of(doc).filter(|_| !copies.is_extra_copy(doc)) {
                writer.push(&headings::row(documents, heading, doc)[..width])?;
            }
        }
        writer.flush()?;
        drop(writer);
        let lines = lines.finish()?;
        let kept = earlier.map(|earlier| Ok((earlier, earlier.lines()?))).transpose()?;
        let partitions = lines.partitions();
        session.engine.work(
            partitions,
            || Ok(()),
            |(), partition| {
                let records = lines.load(partition, session.engine.budget.a_thread)?;
                let of_old = |(earlier, runs): &(&dyn Earlier, Vec<Run>)| {
                    earlier.count_lines(runs, (&records, partition, partitions))
                };
                let old = kept.as_ref().map(of_old).transpose()?.unwrap_or_default();
                for group in records.groups().filter(|group| kept.is_some() || group.len() as u64 > most) {
                    session.engine.go_on()?;
                    let rows = &records.bytes()[group.start * width..group.end * width];
                    // Participating indexed documents are already counted among all indexed documents.
                    let own = headings::common(documents, rows, 0).filter(|&doc| doc >= session.base).count() as u64;
                    if own + old.get(&number(&rows[..headings::GROUP])).copied().unwrap_or(0) <= most {
                        continue;
                    }
                    headings::common(documents, rows, 0).for_each(|doc| _ = common.set(doc as usize));
                }
                lines.remove(partition)
            },
            Ok,
        )?;
        running.end(lines.rows(), common.count(), lines.spilled_bytes());
        Ok(common)
    }

    /// Compares the first lines of two documents.
    pub fn compare(&self, common: &AtomicBits, a: u64, b: u64) -> FirstLine {
        headings::compare(self.of(a), self.of(b), || common.get(a as usize))
    }
}
