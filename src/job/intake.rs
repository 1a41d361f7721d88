//! What the first reading takes down of every row, whatever the algorithms: its id, its length and what else `--keep` asks
//! for, the hash of its text, or why it cannot be used.

use super::copies;
use super::headings::Headings;
use super::keep::{KeepOrder, Recorder};
use super::rejected::{Rejected, Rejecter};
use super::workers::Job;
use crate::batch::{Documents, IdsSeen};
use crate::error::Result;
use crate::io::Want;
use crate::shuffle::{Shuffle, Sorted, Writer};
use crate::stage::note;
use crate::text::Analysis;

/// The takers, for all threads.
pub struct Intake<'j> {
    job: &'j Job<'j>,
    ids: Shuffle,
    keep: Recorder<'j>,
    rejecter: Rejecter,
    hashes: Option<Shuffle>,
    headings: Option<Headings>,
}

/// What one thread takes down.
pub struct Taker<'w> {
    ids: Writer<'w>,
    rejected: Writer<'w>,
    hashes: Option<Writer<'w>>,
    lengths: Vec<u32>,
    took: Took,
}

/// What one thread took.
#[derive(Debug, Default)]
pub struct Took {
    ids_seen: IdsSeen,
    used: u64,
    text_bytes: u64,
}

/// What was taken down.
pub struct Taken {
    /// The order of preference.
    pub keep: KeepOrder,
    /// Rows set aside.
    pub rejected: Rejected,
    /// The hashes of all texts, where copies were not known before.
    pub hashes: Option<Sorted>,
    /// The first lines of all texts, where an algorithm asks for them.
    pub headings: Option<Headings>,
    /// Kinds of ids.
    pub ids_seen: IdsSeen,
    /// Rows whose id stood before.
    pub duplicate_ids: u64,
    /// Documents with a text.
    pub used: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Bytes that went to disk.
    pub spilled_bytes: u64,
}

impl<'j> Intake<'j> {
    /// Hashes of texts are taken where copies are not known yet.
    pub fn new(job: &'j Job<'j>, hashes: bool) -> Result<Intake<'j>> {
        Ok(Intake {
            job,
            ids: job.shuffle("ids", 8, 8, job.documents())?,
            keep: Recorder::new(job)?,
            rejecter: Rejecter::new(job)?,
            hashes: hashes.then(|| copies::shuffle(job)).transpose()?,
            headings: job.options.recipe.relates().then(|| Headings::new(job)).transpose()?,
        })
    }

    /// The columns that are taken down beside what `want` asks for.
    pub fn want(&self, want: Want) -> Want {
        let mut want = Want { id: true, ..want };
        let fields = self.job.field_columns();
        let keep = self.job.options.keep.columns();
        want.plain.extend(keep.iter().filter(|name| !fields.contains(name)).cloned());
        want.others.extend(keep);
        want
    }

    /// For one thread.
    pub fn taker(&self) -> Taker<'_> {
        Taker {
            ids: self.ids.writer(),
            rejected: self.rejecter.writer(),
            hashes: self.hashes.as_ref().map(Shuffle::writer),
            lengths: Vec::new(),
            took: Took::default(),
        }
    }

    /// Takes a row of a batch down but for its text, which is returned where it can be used.
    pub fn row<'b>(&self, taker: &mut Taker<'_>, batch: &'b Documents, row: usize) -> Result<Option<&'b str>> {
        if let Some(id) = batch.id(row) {
            taker.ids.push(&note::id_hash(id).to_be_bytes())?;
        }
        match batch.text(row).text() {
            Ok(text) => Ok(Some(text)),
            Err(why) => {
                self.rejecter.push(self.job, &mut taker.rejected, batch, row, &why)?;
                taker.lengths.push(0);
                Ok(None)
            }
        }
    }

    /// Takes down what a text says of itself.
    pub fn text(&self, taker: &mut Taker<'_>, doc: u64, document: &Analysis<'_>) -> Result<()> {
        taker.took.used += 1;
        taker.took.text_bytes += document.raw().len() as u64;
        taker.lengths.push(note::length(document));
        if let Some(headings) = &self.headings {
            headings.take(doc, document);
        }
        taker.hashes.as_mut().map_or(Ok(()), |writer| copies::push(writer, doc, document))
    }

    /// Ends a batch, of which every row was taken down.
    pub fn batch(&self, taker: &mut Taker<'_>, batch: &Documents) -> Result<()> {
        taker.took.ids_seen.merge(batch.ids_seen());
        let recorded = self.keep.record(batch, &taker.lengths);
        taker.lengths.clear();
        recorded
    }

    /// Ends the work of a thread.
    pub fn close(taker: Taker<'_>) -> Result<Took> {
        for mut writer in [Some(taker.ids), Some(taker.rejected), taker.hashes].into_iter().flatten() {
            writer.flush()?;
        }
        Ok(taker.took)
    }

    /// Ends the taking down.
    pub fn finish(self, threads: Vec<Took>) -> Result<Taken> {
        let mut all = Took::default();
        for one in threads {
            all.ids_seen.merge(&one.ids_seen);
            all.used += one.used;
            all.text_bytes += one.text_bytes;
        }
        let ids = self.ids.finish()?;
        let duplicate_ids = count_repeated(self.job, &ids)?;
        let hashes = self.hashes.map(Shuffle::finish).transpose()?;
        Ok(Taken {
            spilled_bytes: ids.spilled_bytes() + hashes.as_ref().map_or(0, Sorted::spilled_bytes),
            keep: self.keep.finish()?,
            rejected: self.rejecter.finish()?,
            hashes,
            headings: self.headings,
            ids_seen: all.ids_seen,
            duplicate_ids,
            used: all.used,
            text_bytes: all.text_bytes,
        })
    }
}

/// Rows beyond the first of each value.
fn count_repeated(job: &Job<'_>, values: &Sorted) -> Result<u64> {
    let surplus = job.work(
        values.partitions(),
        || Ok(0),
        |surplus, partition| {
            let records = values.load(partition, job.budget.a_thread)?;
            *surplus += (records.len() - records.groups().count()) as u64;
            values.remove(partition)
        },
        Ok,
    )?;
    Ok(surplus.iter().sum())
}
