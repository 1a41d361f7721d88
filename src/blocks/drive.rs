//! The order of steps: what the cluster does, then what the local driver makes of it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::cluster::{Cluster, Frame, Step};
use super::gather::{self, Tallies};
use super::kind::{Kind, What};
use super::known;
use super::map::Pass;
use super::opened::{Layout, corpus, tasks};
use super::refused;
use super::sum::SUMMED;
use crate::algorithm::Corpus;
use crate::corpus::CorpusStats;
use crate::engine::products::Products;
use crate::engine::progress::Progress;
use crate::engine::threads::Engine;
use crate::error::{Error, Result};
use crate::io::{BadInput, Stage};
use crate::job::products::{Counts, Stock};
use crate::job::read_back::digest;
use crate::job::run::{Finish, attempt, carry_out};
use crate::job::{RunReport, learn};
use crate::options::RunOptions;
use crate::reading::document::View;
use crate::reading::inputs::Inputs;
use crate::reading::reader::Reader;
use crate::stage::plan::Plan;

/// Runs the whole job, its passes on the cluster.
///
/// # Errors
/// As [`crate::job::run()`]; what a cluster does not do; what went wrong there.
pub fn run(
    options: &RunOptions,
    inputs: Inputs,
    cluster: &(dyn Cluster + Sync),
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    refused::check(options, &inputs)?;
    carry_out(options, inputs, progress, cancel, |engine, reader, stage, bad, products| {
        attempt_on(cluster, (engine, reader, stage, bad, products), finish)
    })
}

type Work<'w> = (&'w Engine<'w>, &'w Reader<'w>, &'w Stage, &'w [BadInput], &'w Products<'w>);

fn attempt_on(
    cluster: &dyn Cluster,
    (engine, reader, stage, bad, products): Work<'_>,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    crate::job::corpus_files::check(engine, reader)?;
    let plan = Plan::new(&reader.options.recipe, reader.documents(), false, false)?;
    let stock = Stock::new(engine, reader, &plan, None, products);
    let driver = Driver { engine, reader, cluster, plan: &plan, stock: &stock };
    driver.passes()?;
    let mut report = attempt(engine, reader, stage, bad, products, |_| Ok(()))?;
    report.driver = Some(cluster.name().to_owned());
    report.taken_up.clear();
    finish(engine, reader, stage, report)
}

/// The steps before the local driver goes on.
struct Driver<'d> {
    engine: &'d Engine<'d>,
    reader: &'d Reader<'d>,
    cluster: &'d dyn Cluster,
    plan: &'d Plan,
    stock: &'d Stock<'d>,
}

impl Driver<'_> {
    /// All passes; what a driver before this one has put down is not made again.
    fn passes(&self) -> Result<()> {
        let (task_bytes, buckets) = self.cluster.sizes()?;
        let count = tasks(self.reader, task_bytes).len();
        if count == 0 {
            return Ok(());
        }
        self.cluster.begin(&Layout { corpus: corpus(self.reader.source), task_bytes, buckets })?;
        let mut missing = Vec::new();
        for at in 0..self.plan.signs.len() {
            if !self.stock.has(|keys| &keys.members[at].near)? && !self.stock.has(|keys| &keys.members[at].rows)? {
                missing.push(at);
            }
        }
        let (now, later): (Vec<usize>, Vec<usize>) = missing.into_iter().partition(|&at| self.plan.signs_first(at));
        let noted = self.stock.has(|keys| &keys.notes)? && self.stock.has(|keys| &keys.copies)?;
        let counted = self.plan.counts.is_none() || self.stock.has(|keys| &keys.counts)?;
        if noted && counted && now.is_empty() && later.is_empty() {
            return Ok(());
        }
        // Who needs no counts signs in the first pass, unless surplus copies are known by a later one.
        let copies_first = self.plan.copies_first;
        let first = Pass {
            notes: true,
            counts: self.plan.counts.is_some() && !copies_first,
            after_count: false,
            signs: if copies_first { Vec::new() } else { now.clone() },
        };
        self.first(first, count)?;
        if copies_first {
            let pass = Pass { notes: false, counts: true, after_count: false, signs: now };
            self.second(pass, count)?;
        }
        if later.is_empty() {
            return Ok(());
        }
        self.sign(later, count)
    }

    /// The first pass, with all that its rows are summed to.
    fn first(&self, pass: Pass, count: usize) -> Result<()> {
        let (engine, reader) = (self.engine, self.reader);
        let running = engine.clock.stage("first pass on the cluster");
        let counts = pass.counts;
        let signs = pass.signs.clone();
        let frame = self.cluster.map(&Step::Map(pass), count, None)?;
        let (mut taken, tallies) = gather::notes(engine, reader, self.cluster, frame)?;
        running.end(reader.documents(), 0, 0);
        let running = engine.clock.stage("sum on the cluster");
        let summed = self.cluster.reduce(&Step::Sum, frame, &SUMMED.map(|(what, ..)| Kind::of(what)))?;
        let (repeated, copies, terms) = gather::sums(engine, reader, self.cluster, summed)?;
        self.cluster.forget(summed)?;
        running.end(reader.documents(), copies.surplus(), 0);
        taken.duplicate_ids = repeated;
        self.segmented(&tallies);
        self.rows(frame, &tallies, &signs, &CorpusStats::none(), &[])?;
        self.cluster.forget(frame)?;
        self.stock.put(|keys| &keys.notes, taken)?;
        self.stock.put(|keys| &keys.copies, copies)?;
        if counts {
            let stats = gather::statistics(reader, &tallies, terms);
            self.stock.put(|keys| &keys.counts, Counts { stats, cuts: None })?;
        }
        Ok(())
    }

    /// The pass that counts, where copies had to be known for it.
    fn second(&self, pass: Pass, count: usize) -> Result<()> {
        let (engine, reader) = (self.engine, self.reader);
        let running = engine.clock.stage("count on the cluster");
        let signs = pass.signs.clone();
        let known = self.known(&CorpusStats::none(), &[])?;
        let frame = self.cluster.map(&Step::Map(pass), count, Some(&known))?;
        let tallies = gather::counted(self.cluster, frame)?;
        let kinds = [What::Words, What::Features].map(Kind::of);
        let summed = self.cluster.reduce(&Step::Sum, frame, &kinds)?;
        let (_, _, terms) = gather::sums(engine, reader, self.cluster, summed)?;
        self.cluster.forget(summed)?;
        self.segmented(&tallies);
        running.end(reader.documents(), 0, 0);
        self.rows(frame, &tallies, &signs, &CorpusStats::none(), &[])?;
        self.cluster.forget(frame)?;
        let stats = gather::statistics(reader, &tallies, terms);
        self.stock.put(|keys| &keys.counts, Counts { stats, cuts: None })
    }

    /// The pass in which those sign who had to wait.
    fn sign(&self, signs: Vec<usize>, count: usize) -> Result<()> {
        let (engine, reader) = (self.engine, self.reader);
        let gone = || Error::Internal("what the passes before have put down is gone".into());
        let stats = self.stock.take::<Counts>(|keys| &keys.counts)?.map(|counts| counts.stats);
        let stats = stats.ok_or_else(gone)?;
        let copies = Arc::new(self.stock.take(|keys| &keys.copies)?.ok_or_else(gone)?);
        let corpus = Corpus::new(reader.documents(), &stats);
        let view = View::after_count(engine, reader, None, &stats);
        let models = learn::learn(engine, reader, self.stock, &view, &corpus, Some(&*copies))?;
        for &at in &self.plan.learns {
            if !self.stock.has(|keys| &keys.members[at].model)? {
                self.stock.put(|keys| &keys.members[at].model, models[at].clone())?;
            }
        }
        let running = engine.clock.stage("sign on the cluster");
        let known = self.known(&stats, &models)?;
        let pass = Pass { notes: false, counts: false, after_count: true, signs: signs.clone() };
        let frame = self.cluster.map(&Step::Map(pass), count, Some(&known))?;
        let tallies = gather::counted(self.cluster, frame)?;
        self.segmented(&tallies);
        self.rows(frame, &tallies, &signs, &stats, &models)?;
        running.end(reader.documents(), 0, 0);
        self.cluster.forget(frame)
    }

    /// The rows of these algorithms, put down.
    fn rows(
        &self,
        frame: Frame,
        tallies: &Tallies,
        signs: &[usize],
        stats: &CorpusStats,
        models: &[Vec<u64>],
    ) -> Result<()> {
        let corpus = Corpus::new(self.reader.documents(), stats);
        let recipe = &self.reader.options.recipe;
        let bound = recipe.bind_where(&corpus, models, |at| signs.contains(&at))?;
        let bound: Vec<_> = signs.iter().copied().zip(bound).collect();
        let rows = gather::rows(self.engine, self.reader, self.cluster, (frame, tallies), &bound)?;
        for (at, mut rows) in rows {
            rows.report.model = models.get(at).filter(|model| !model.is_empty()).map(|model| digest(model));
            self.stock.put(|keys| &keys.members[at].rows, rows)?;
        }
        Ok(())
    }

    /// A file of what tasks have to know; it goes with the value.
    fn known(&self, stats: &CorpusStats, models: &[Vec<u64>]) -> Result<tempfile::TempPath> {
        let gone = || Error::Internal("the copies that were put down are gone".into());
        let copies = self.stock.take(|keys| &keys.copies)?.ok_or_else(gone)?;
        let file = tempfile::NamedTempFile::new_in(self.engine.dir);
        let path = file.map_err(Error::io("make a work file", self.engine.dir))?.into_temp_path();
        known::write(&path, self.reader, Some(&copies), stats, models)?;
        Ok(path)
    }

    fn segmented(&self, tallies: &Tallies) {
        let characters = tallies.iter().map(|tally| tally.segmented).sum();
        self.reader.segmented.fetch_add(characters, Relaxed);
    }
}
