//! The first pass: counts of words and features over all documents, and the hashes that find exact copies.

use std::sync::atomic::Ordering::Relaxed;

use super::classes::Classes;
use super::copies;
use super::cuts::{Cuts, CutsWriter};
use super::document::View;
use super::workers::Job;
use crate::algorithm::Stats;
use crate::batch::Cell;
use crate::corpus::{COUNT_GROUP, COUNT_WIDTH, CorpusStats, Counts, TermTable, TermTableWriter};
use crate::corpus::{decode_count, encode_count, snapshot};
use crate::error::Result;
use crate::hash::hash64;
use crate::shuffle::{Order, Shuffle, Sorted, Spec, Writer};
use crate::stage::count::Tally;

/// What the first pass found.
pub struct Counted {
    /// The statistics.
    pub stats: CorpusStats,
    /// The hashes of all texts, where they were not known before.
    pub hashes: Option<Sorted>,
    /// Where Chinese words begin.
    pub cuts: Option<Cuts>,
}

/// Reads all documents once. `copies`, where it is known, leaves surplus copies out of the counts.
pub fn count(job: &Job<'_>, stats: Stats, copies: Option<&Classes>) -> Result<Counted> {
    let running = job.clock.stage("count");
    let words = stats.words.then(|| terms(job, "words")).transpose()?;
    let features = stats.features.then(|| terms(job, "features")).transpose()?;
    let kinds = job.options.recipe.features();
    let hashes = if copies.is_none() { Some(copies::shuffle(job)?) } else { None };
    let cuts = CutsWriter::new(job)?;
    let view = View::first(job);

    struct Worker<'w> {
        tally: Tally<'w>,
        words: Option<Writer<'w>>,
        features: Option<Writer<'w>>,
        hashes: Option<Writer<'w>>,
        scratch: Vec<u8>,
        segmented: u64,
    }
    let totals = job.read(
        "count",
        &view.want(),
        || {
            Ok(Worker {
                tally: Tally::new(stats, &kinds, job.budget.a_thread),
                words: words.as_ref().map(Shuffle::writer),
                features: features.as_ref().map(Shuffle::writer),
                hashes: hashes.as_ref().map(Shuffle::writer),
                scratch: Vec::new(),
                segmented: 0,
            })
        },
        |worker, batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                let analysis = view.document(doc, text, &columns, row);
                if let Some(writer) = &mut worker.hashes {
                    copies::push(writer, doc, &analysis)?;
                }
                if copies.is_some_and(|copies| copies.is_surplus(doc)) {
                    continue;
                }
                worker.tally.add(&analysis);
                worker.segmented += analysis.segmented();
                if let Some(cuts) = &cuts {
                    cuts.push(doc, &analysis, &mut worker.scratch)?;
                }
                drain(&mut worker.tally.words, &mut worker.words, false)?;
                drain(&mut worker.tally.features, &mut worker.features, false)?;
            }
            Ok(())
        },
        |mut worker| {
            drain(&mut worker.tally.words, &mut worker.words, true)?;
            drain(&mut worker.tally.features, &mut worker.features, true)?;
            for mut writer in [worker.words, worker.features, worker.hashes].into_iter().flatten() {
                writer.flush()?;
            }
            job.segmented.fetch_add(worker.segmented, Relaxed);
            Ok((worker.tally.documents, worker.tally.tokens))
        },
    )?;
    let (counted, tokens) = totals.iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let (words, words_spilled) = table(job, "words", words, 1)?;
    let (features, features_spilled) = table(job, "features", features, 2)?;
    let hashes = hashes.map(Shuffle::finish).transpose()?;
    let identity = hash64(job.pipeline.identity().as_bytes());
    let id = snapshot(identity, counted, tokens, &words, &features);
    let stats = CorpusStats::new(counted, tokens, id, words, features);
    let cuts = cuts.map(CutsWriter::finish).transpose()?;
    let spilled = words_spilled
        + features_spilled
        + hashes.as_ref().map_or(0, Sorted::spilled_bytes)
        + cuts.as_ref().map_or(0, Cuts::bytes);
    running.end(job.documents(), stats.words.len() as u64, spilled);
    Ok(Counted { stats, hashes, cuts })
}

/// A shuffle for partial counts whose partitions follow the terms.
fn terms(job: &Job<'_>, name: &str) -> Result<Shuffle> {
    // About one distinct term for each forty bytes of text, by far the most that was seen.
    let bytes: u64 = job.source.files.iter().map(|file| file.text_bytes).sum();
    let spec = Spec {
        name: name.to_string(),
        width: COUNT_WIDTH,
        group_width: COUNT_GROUP,
        order: Order::Range { below: u64::MAX },
        range_width: COUNT_GROUP,
        partitions: job.budget.partitions(bytes / 40 * COUNT_WIDTH as u64).max(job.pool.current_num_threads()),
    };
    Shuffle::new(spec, job.dir, &job.memory)
}

fn drain(counts: &mut Option<Counts>, writer: &mut Option<Writer<'_>>, last: bool) -> Result<()> {
    match (counts, writer) {
        (Some(counts), Some(writer)) if last || counts.is_full() => {
            counts.drain(|term, df, cf| writer.push(&encode_count(term, df, cf)))
        }
        _ => Ok(()),
    }
}

/// Adds up the partial counts into the term table; terms in fewer than `least` documents are left out.
fn table(job: &Job<'_>, name: &str, partial: Option<Shuffle>, least: u64) -> Result<(TermTable, u64)> {
    let Some(partial) = partial else { return Ok((TermTable::empty(), 0)) };
    let partial = partial.finish()?;
    let mut writer = TermTableWriter::create(&job.dir.join(format!("{name}.terms")))?;
    for partition in 0..partial.partitions() {
        let records = partial.load(partition, job.budget.a_thread)?;
        for group in records.groups() {
            let term = decode_count(records.record(group.start)).0;
            let (df, cf) = group.fold((0u64, 0u64), |sum, at| {
                let (_, df, cf) = decode_count(records.record(at));
                (sum.0 + u64::from(df), sum.1 + u64::from(cf))
            });
            if df >= least {
                writer.push(term, df, cf)?;
            }
        }
        partial.remove(partition)?;
    }
    Ok((writer.finish()?, partial.spilled_bytes()))
}
