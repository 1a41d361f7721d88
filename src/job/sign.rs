//! The second pass: the signatures of all algorithms from one reading, with all else that every document must be asked for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::classes::Classes;
use super::copies;
use super::document::View;
use super::evidence::{Evidence, Taking};
use super::keep::{KeepOrder, Recorder};
use super::rejected::{Rejected, Rejecter};
use super::workers::Job;
use crate::batch::{Cell, Documents, IdRef, IdsSeen};
use crate::error::Result;
use crate::hash::hash64;
use crate::io::Want;
use crate::row::{RowLayout, Signatures};
use crate::shuffle::{AtomicBits, Shuffle, Sorted, Writer};
use crate::stage::recipe::Bound;
use crate::stage::sift::Sieve;
use crate::stage::sign::sign;
use crate::text::Analysis;

/// The rows of one algorithm.
pub struct SignedRows {
    /// How they are laid out.
    pub layout: RowLayout,
    /// The rows, by key.
    pub rows: Sorted,
    /// Which documents have a signature.
    pub signed: Arc<AtomicBits>,
    /// Documents by whether they have a signature.
    pub tally: SignTally,
    /// What the check needs, where it was taken along the way.
    pub evidence: Option<Evidence>,
}

/// Documents of one algorithm, exact copies counted one by one.
#[derive(Clone, Debug, Default)]
pub struct SignTally {
    /// With a signature.
    pub signed: u64,
    /// Without one, by reason.
    pub unsigned: BTreeMap<&'static str, u64>,
    /// Worth knowing about.
    pub flagged: BTreeMap<&'static str, u64>,
    /// Rows that the sieve left out.
    pub sifted: u64,
    /// What signing the sampled documents took of this algorithm alone, all that is shared being there already.
    pub sampled: Duration,
}

impl SignTally {
    fn add(&mut self, out: &Signatures, copies: u64) {
        match out.reason() {
            Some(reason) => *self.unsigned.entry(reason).or_default() += copies,
            None => self.signed += copies,
        }
        for flag in out.flags() {
            *self.flagged.entry(flag).or_default() += copies;
        }
    }

    fn merge(&mut self, other: &SignTally) {
        self.signed += other.signed;
        self.sifted += other.sifted;
        self.sampled += other.sampled;
        other.unsigned.iter().for_each(|(reason, count)| *self.unsigned.entry(reason).or_default() += count);
        other.flagged.iter().for_each(|(flag, count)| *self.flagged.entry(flag).or_default() += count);
    }
}

/// What the second pass found.
pub struct Signed {
    /// By algorithm.
    pub algorithms: Vec<SignedRows>,
    /// The hashes of all texts, where copies were not known before.
    pub hashes: Option<Sorted>,
    /// The order of preference.
    pub keep: KeepOrder,
    /// Rows set aside.
    pub rejected: Rejected,
    /// Kinds of ids.
    pub ids_seen: IdsSeen,
    /// Rows whose id stood before.
    pub duplicate_ids: u64,
    /// Documents with a text.
    pub used: u64,
    /// Bytes of their texts.
    pub text_bytes: u64,
    /// Bytes of the texts whose signing was timed.
    pub sampled_bytes: u64,
}

/// One document in so many is timed, of a large corpus.
const TIMED: u64 = 128;
/// So many are timed at least, where there are as many.
const TIMED_AT_LEAST: u64 = 512;

struct Worker<'w> {
    rows: Vec<Writer<'w>>,
    tallies: Vec<SignTally>,
    hashes: Option<Writer<'w>>,
    ids: Writer<'w>,
    rejected: Writer<'w>,
    ids_seen: IdsSeen,
    used: u64,
    text_bytes: u64,
    sampled_bytes: u64,
    segmented: u64,
    scratch: (Signatures, Vec<u64>),
    numbers: Vec<u64>,
    record: Vec<u8>,
    lengths: Vec<u32>,
}

/// Reads all documents once; surplus copies, where they are known already, are not signed. With a sieve only rows that may
/// meet another one are written.
pub fn sign_all(
    job: &Job<'_>,
    bound: &[Bound<'_>],
    copies: Option<&Classes>,
    view: &View<'_>,
    sieve: Option<&Sieve>,
) -> Result<Signed> {
    let running = job.clock.stage("sign");
    let documents = job.documents();
    let layouts: Vec<RowLayout> = bound.iter().map(|bound| RowLayout::new(bound.signer.shape(), documents)).collect();
    let mut shuffles = Vec::new();
    let mut signed_bits = Vec::new();
    for (bound, layout) in bound.iter().zip(&layouts) {
        let rows = documents * u64::from(bound.signer.shape().positions);
        shuffles.push(job.shuffle(&format!("{}-rows", bound.label), layout.width(), layout.group_width(), rows)?);
        signed_bits.push(Arc::new(AtomicBits::new(job.dir, &format!("{}-signed", bound.label), documents as usize)?));
    }
    let takes = |bound: &Bound<'_>| bound.takes_evidence_early();
    let taking = bound.iter().map(|one| takes(one).then(|| Taking::of_all(job.dir, &one.label, documents)).transpose());
    let taking = taking.collect::<Result<Vec<_>>>()?;
    let hashes = if copies.is_none() { Some(copies::shuffle(job)?) } else { None };
    let ids = job.shuffle("ids", 8, 8, documents)?;
    let keep = Recorder::new(job)?;
    let rejecter = Rejecter::new(job)?;
    let mut want = Want { id: true, ..view.want() };
    want.others.extend(job.options.keep.columns());

    let timed = (documents / TIMED_AT_LEAST).clamp(1, TIMED);
    let sign_batch = |worker: &mut Worker<'_>, batch: &Documents| -> Result<()> {
        worker.lengths.clear();
        let columns = view.columns(batch)?;
        for row in 0..batch.len() {
            let doc = batch.doc(row);
            if let Some(id) = batch.id(row) {
                worker.ids.push(&id_hash(id).to_be_bytes())?;
            }
            let text = match batch.text(row) {
                Cell::Text(text) => text,
                cell => {
                    let why = if let Cell::Bad(why) = &cell { why } else { "null text" };
                    rejecter.push(job, &mut worker.rejected, batch, row, why)?;
                    worker.lengths.push(0);
                    continue;
                }
            };
            worker.used += 1;
            worker.text_bytes += text.len() as u64;
            let analysis = view.document(doc, text, &columns, row);
            if let Some(writer) = &mut worker.hashes {
                copies::push(writer, doc, &analysis)?;
            }
            worker.lengths.push(u32::try_from(analysis.characters()).unwrap_or(u32::MAX));
            if copies.is_some_and(|copies| copies.is_surplus(doc)) {
                continue;
            }
            let alike = copies.map_or(1, |copies| copies.members(doc).len().max(1) as u64);
            let (writers, tallies, record) = (&mut worker.rows, &mut worker.tallies, &mut worker.record);
            let numbers = &mut worker.numbers;
            sign(bound, &analysis, &mut worker.scratch, |number, out, evidence| {
                tallies[number].add(out, alike);
                if out.reason().is_none() {
                    signed_bits[number].set(doc as usize);
                    if let Some(taking) = &taking[number] {
                        taking.take(doc, numbers, |numbers| numbers.extend_from_slice(evidence))?;
                    }
                    for row in out.rows(doc) {
                        if sieve.is_some_and(|sieve| !sieve.keeps(number, &row)) {
                            tallies[number].sifted += 1;
                            continue;
                        }
                        record.clear();
                        layouts[number].encode(&row, record);
                        writers[number].push(record)?;
                    }
                }
                Ok(())
            })?;
            if doc.is_multiple_of(timed) {
                worker.sampled_bytes += text.len() as u64;
                time(bound, &analysis, &mut worker.scratch.0, &mut worker.tallies);
            }
            worker.segmented += analysis.segmented();
        }
        worker.ids_seen.merge(batch.ids_seen());
        keep.record(batch, &worker.lengths)
    };

    let workers = job.read(
        "sign",
        &want,
        || {
            Ok(Worker {
                rows: shuffles.iter().map(Shuffle::writer).collect(),
                tallies: vec![SignTally::default(); bound.len()],
                hashes: hashes.as_ref().map(Shuffle::writer),
                ids: ids.writer(),
                rejected: rejecter.writer(),
                ids_seen: IdsSeen::default(),
                used: 0,
                text_bytes: 0,
                sampled_bytes: 0,
                segmented: 0,
                scratch: Default::default(),
                numbers: Vec::new(),
                record: Vec::new(),
                lengths: Vec::new(),
            })
        },
        sign_batch,
        |mut worker| {
            let writers = worker.rows.iter_mut().chain(&mut worker.hashes);
            for writer in writers.chain([&mut worker.ids, &mut worker.rejected]) {
                writer.flush()?;
            }
            job.segmented.fetch_add(worker.segmented, Relaxed);
            Ok((worker.tallies, worker.ids_seen, worker.used, worker.text_bytes, worker.sampled_bytes))
        },
    )?;

    let mut tallies = vec![SignTally::default(); bound.len()];
    let (mut ids_seen, mut used, mut text_bytes, mut sampled_bytes) = (IdsSeen::default(), 0, 0, 0);
    for (worker_tallies, worker_ids, worker_used, worker_bytes, worker_sampled) in workers {
        tallies.iter_mut().zip(&worker_tallies).for_each(|(sum, one)| sum.merge(one));
        ids_seen.merge(&worker_ids);
        used += worker_used;
        text_bytes += worker_bytes;
        sampled_bytes += worker_sampled;
    }
    let mut algorithms = Vec::new();
    let all = shuffles.into_iter().zip(layouts).zip(signed_bits).zip(tallies).zip(taking);
    for ((((shuffle, layout), signed), tally), taking) in all {
        let evidence = taking.map(Taking::end).transpose()?;
        algorithms.push(SignedRows { layout, rows: shuffle.finish()?, signed, tally, evidence });
    }
    let ids = ids.finish()?;
    let duplicate_ids = count_repeated(job, &ids)?;
    let hashes = hashes.map(Shuffle::finish).transpose()?;
    let spilled: u64 = algorithms.iter().map(|one| one.rows.spilled_bytes()).sum::<u64>()
        + hashes.as_ref().map_or(0, Sorted::spilled_bytes)
        + ids.spilled_bytes()
        + algorithms.iter().filter_map(|one| one.evidence.as_ref()).map(Evidence::bytes).sum::<u64>();
    running.end(documents, algorithms.iter().map(|one| one.rows.rows()).sum(), spilled);
    Ok(Signed {
        algorithms,
        hashes,
        keep: keep.finish()?,
        rejected: rejecter.finish()?,
        ids_seen,
        duplicate_ids,
        used,
        text_bytes,
        sampled_bytes,
    })
}

/// Signs a document again, when all that the algorithms share has been cut, and times each of them. Of two times the shorter
/// one counts: something else may have had the processor during the other.
fn time(bound: &[Bound<'_>], document: &Analysis<'_>, scratch: &mut Signatures, tallies: &mut [SignTally]) {
    for (bound, tally) in bound.iter().zip(tallies) {
        let mut once = || {
            scratch.clear();
            let begin = Instant::now();
            bound.signer.sign(document, scratch);
            begin.elapsed()
        };
        tally.sampled += once().min(once());
    }
}

/// The hash of an id as it would be written: the number 7 and the text "7" are the same id.
fn id_hash(id: IdRef<'_>) -> u64 {
    match id {
        IdRef::Text(text) => hash64(text.as_bytes()),
        IdRef::Bytes(bytes) => hash64(bytes),
        other => hash64(other.to_string().as_bytes()),
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
