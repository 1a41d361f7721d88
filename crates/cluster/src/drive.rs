//! Runs the steps of a job in order, first on the cluster and then on the local driver.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use super::cluster::{Cluster, Pass, Step};
use super::driver::Driver;
use super::gather::{self, Tallies};
use super::kind::{Kind, What};
use super::known::{self, Facts};
use super::learn;
use super::opened::{Layout, corpus};
use super::refused;
use super::relate::{self, Signed};
use super::sum::SUMMED;

use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::{Error, Result};
use dupsift_engine::classes::Classes;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::RunReport;
use dupsift_engine::job::read::saved_counts::SavedCounts;
use dupsift_engine::job::run::{Finish, carry_out};
use dupsift_engine::job::saved::SavedState;
use dupsift_engine::job::story::{self, CompleteOutput, Variant};
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::inputs::Inputs;
use dupsift_engine::session::Session;

/// Runs the complete job, with its passes on the cluster.
///
/// # Errors
/// Returns the same errors as [`dupsift_engine::job::run()`], an error if the job cannot run on a cluster, or an error from the cluster.
pub fn run(
    options: &RunOptions,
    inputs: Inputs,
    cluster: &(dyn Cluster + Sync),
    progress: &Progress,
    cancel: &AtomicBool,
    finish: &Finish<'_>,
) -> Result<RunReport> {
    refused::check(options, &inputs)?;
    carry_out(options, inputs, progress, cancel, |session, stage, losses, checkpoints| {
        story::attempt(session, stage, losses, checkpoints, &mut OnCluster { cluster, finish })
    })
}

/// Adapts a run so that its passes run on a cluster. The rest of the run resumes from the saved state of these passes.
struct OnCluster<'c> {
    cluster: &'c (dyn Cluster + Sync),
    finish: &'c Finish<'c>,
}

impl Variant for OnCluster<'_> {
    fn prepare(&mut self, session: &Session<'_>, plan: &Plan, saved: &SavedState<'_>) -> Result<()> {
        Driver { session, cluster: self.cluster, plan, saved }.steps()
    }

    fn written(&mut self, CompleteOutput { session, stage, mut report, .. }: CompleteOutput<'_>) -> Result<RunReport> {
        report.driver = Some(self.cluster.name().to_owned());
        report.resumed.clear();
        (self.finish)(session, stage, report)
    }
}

impl Driver<'_> {
    /// Runs all steps, except the steps that an earlier driver has saved.
    fn steps(&self) -> Result<()> {
        let (task_bytes, buckets) = self.cluster.sizes()?;
        let mut missing = Vec::new();
        for (at, chosen) in self.session.options.recipe.algorithms.iter().enumerate() {
            let pairs = self.saved.has(|keys| &keys.algorithms[at].pairs)?;
            let rows = !chosen.relates() || self.saved.has(|keys| &keys.algorithms[at].rows)?;
            if !(self.saved.has(|keys| &keys.algorithms[at].near)? || pairs && rows) {
                missing.push(at);
            }
        }
        let noted = self.saved.has(|keys| &keys.notes)? && self.saved.has(|keys| &keys.copies)?;
        let counted = self.plan.counts.is_none() || self.saved.has(|keys| &keys.counts)?;
        if self.tasks() == 0 || noted && counted && missing.is_empty() {
            return Ok(());
        }
        let folder = std::env::current_dir().map_err(Error::io("look up", Path::new("the current folder")))?;
        self.cluster.begin(&Layout { corpus: corpus(self.session.source), folder, task_bytes, buckets })?;
        let (now, later): (Vec<usize>, Vec<usize>) = missing.iter().partition(|&&at| self.plan.signs_first(at));
        // Algorithms that do not require counts sign documents in the first pass, unless extra copies must be known
        // first.
        let copies_first = self.plan.copies_first;
        let first = Pass {
            notes: true,
            counts: self.plan.counts.is_some() && !copies_first,
            signs: if copies_first { Vec::new() } else { now.clone() },
            ..Pass::default()
        };
        let mut signed = vec![self.first(first)?];
        if copies_first {
            signed.push(self.second(Pass { counts: true, signs: now, ..Pass::default() })?);
        }
        if !missing.is_empty() { self.sign_and_relate(signed, later, &missing) } else { Ok(()) }
    }

    /// Runs the first pass and sums its rows.
    fn first(&self, pass: Pass) -> Result<Signed> {
        let session = self.session;
        let running = session.engine.clock.stage("first pass on the cluster");
        let (counts, algorithms) = (pass.counts, pass.signs.clone());
        let frame = self.cluster.map(&Step::Map(pass), self.tasks(), None)?;
        let (mut taken, tallies) = gather::notes(session, self.cluster, frame)?;
        running.end(session.documents(), 0, 0);
        let running = session.engine.clock.stage("sum on the cluster");
        let summed = [(frame, SUMMED.map(|(what, ..)| Kind::of(what)).to_vec())];
        let summed = self.cluster.reduce(&Step::Sum, &summed, None)?;
        let (repeated, copies, terms) = gather::sums(session, self.cluster, summed)?;
        self.cluster.forget(summed)?;
        running.end(session.documents(), copies.extra_copies(), 0);
        taken.duplicate_ids = repeated;
        self.segmented(&tallies);
        self.saved.save(|keys| &keys.notes, taken)?;
        self.saved.save(|keys| &keys.copies, copies)?;
        if counts {
            let stats = gather::statistics(session, &tallies, terms);
            self.saved.save(|keys| &keys.counts, SavedCounts { stats, cuts: None })?;
        }
        Ok(Signed { frame, tallies, algorithms })
    }

    /// Runs the counting pass, if this pass had to wait until the copies were known.
    fn second(&self, pass: Pass) -> Result<Signed> {
        let session = self.session;
        let running = session.engine.clock.stage("count on the cluster");
        let algorithms = pass.signs.clone();
        let (known, copies) = (self.file()?, self.copies()?);
        let facts = Facts { copies: Some(&copies), stats: &CorpusStats::none(), models: &[], places: None };
        known::write(&known, session, facts)?;
        let frame = self.cluster.map(&Step::Map(pass), self.tasks(), Some(&known))?;
        let tallies = gather::counted(self.cluster, frame)?;
        let kinds = [What::Words, What::Features].map(Kind::of).to_vec();
        let summed = self.cluster.reduce(&Step::Sum, &[(frame, kinds)], None)?;
        let (_, _, terms) = gather::sums(session, self.cluster, summed)?;
        self.cluster.forget(summed)?;
        self.segmented(&tallies);
        running.end(session.documents(), 0, 0);
        let stats = gather::statistics(session, &tallies, terms);
        self.saved.save(|keys| &keys.counts, SavedCounts { stats, cuts: None })?;
        Ok(Signed { frame, tallies, algorithms })
    }

    /// Runs the signing pass for algorithms that could not sign documents earlier, and then processes all rows.
    fn sign_and_relate(&self, mut signed: Vec<Signed>, later: Vec<usize>, missing: &[usize]) -> Result<()> {
        let session = self.session;
        let counts = self.saved.restore::<SavedCounts>(|keys| &keys.counts)?;
        let (stats, copies) = (counts.map_or_else(CorpusStats::none, |counts| counts.stats), self.copies()?);
        self.check_sampled(&stats, &copies, missing)?;
        let counted = self.plan.counts.is_some();
        let corpus = Corpus::new(session.documents(), &stats);
        let models = self.learn(&corpus, (&stats, &copies))?;
        if !later.is_empty() {
            let running = session.engine.clock.stage("sign on the cluster");
            let known = self.file()?;
            let facts = Facts { copies: Some(&copies), stats: &stats, models: &models, places: None };
            known::write(&known, session, facts)?;
            let pass = Pass { after_count: counted, signs: later.clone(), ..Pass::default() };
            let frame = self.cluster.map(&Step::Map(pass), self.tasks(), Some(&known))?;
            let tallies = gather::counted(self.cluster, frame)?;
            self.segmented(&tallies);
            signed.push(Signed { frame, tallies, algorithms: later });
            running.end(session.documents(), 0, 0);
        }
        let bound = session.options.recipe.bind_where(&corpus, &models, |at| missing.contains(&at))?;
        let bound: Vec<_> = missing.iter().copied().zip(bound).collect();
        self.relate(signed, &bound, relate::TaskCorpus { copies: &copies, stats: &stats, models: &models })
    }

    fn learn(&self, corpus: &Corpus<'_>, (stats, copies): (&CorpusStats, &Classes)) -> Result<Vec<Vec<u64>>> {
        let (mut models, mut learners) = (vec![Vec::new(); self.plan.signs.len()], Vec::new());
        for (at, learner) in self.session.options.recipe.learners(corpus)? {
            match self.saved.restore::<Vec<u64>>(|keys| &keys.algorithms[at].model)? {
                Some(model) => models[at] = model,
                None => learners.push((at, learner)),
            }
        }
        if learners.is_empty() {
            return Ok(models);
        }
        let running = self.session.engine.clock.stage("sample documents on the cluster");
        let known = self.file()?;
        known::write(&known, self.session, Facts { copies: Some(copies), stats, models: &[], places: None })?;
        let pass = Pass { learns: true, ..Pass::default() };
        let frame = self.cluster.map(&Step::Map(pass), self.tasks(), Some(&known))?;
        running.end(self.session.documents(), 0, 0);
        for (at, model) in learn::models(self.session, self.cluster, frame, &learners)? {
            models[at] = model.clone();
            self.saved.save(|keys| &keys.algorithms[at].model, model)?;
        }
        self.cluster.forget(frame)?;
        Ok(models)
    }

    fn segmented(&self, tallies: &Tallies) {
        let characters = tallies.iter().map(|tally| tally.segmented).sum();
        self.session.segmented.fetch_add(characters, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;
    use crate::test_kit::{Bench, Fault};

    /// Reads all files of an output except the record, whose times differ.
    fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
        let (mut found, mut left) = (BTreeMap::new(), vec![dir.to_path_buf()]);
        while let Some(folder) = left.pop() {
            for entry in folder.read_dir().unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => left.push(path),
                    false => _ = found.insert(path.strip_prefix(dir).unwrap().into(), std::fs::read(&path).unwrap()),
                }
            }
        }
        found.remove(Path::new("run.json")).expect("a record");
        found
    }

    /// Returns a part of the record of a run.
    fn record(dir: &Path, part: &str) -> serde_json::Value {
        let json = std::fs::read(dir.join("run.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&json).unwrap()[part].take()
    }

    /// Compares a run on a cluster with a run on one machine. Every task may run twice, because a cluster repeats failed tasks.
    #[test]
    fn a_cluster_has_the_result_of_one_machine_even_if_tasks_are_repeated() {
        for (given, fault) in [
            (&[("algorithms", "exact,minhash,cosine"), ("remove-if", "pair")][..], Fault::None),
            (
                &[("algorithms", "exact,minhash:verify=jaccard:0.7,cosine:join=heavy"), ("keep", "score desc")],
                Fault::Repeated,
            ),
            (&[("algorithms", "exact,simhash:distance=12,shingles,tf"), ("count-copies", "true")], Fault::None),
            (&[("algorithms", "cosine"), ("limit", "71"), ("max-candidates", "3")], Fault::Repeated),
        ] {
            let bench = Bench::new();
            bench.on_one_machine("one", given).unwrap();
            bench.on_cluster("cluster", given, fault).unwrap();
            let (one, cluster) = (bench.at("one"), bench.at("cluster"));
            let (expected, found) = (files(&one), files(&cluster));
            assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>(), "{given:?}");
            assert!(found.keys().any(|path| path.starts_with("pairs")), "{:?}", found.keys());
            for (path, bytes) in &expected {
                assert!(found[path] == *bytes, "{} {given:?}", path.display());
            }
            assert_eq!(record(&cluster, "driver"), "in process");
            for part in ["documents", "removal", "ids"] {
                assert_eq!(record(&cluster, part), record(&one, part), "{part} {given:?}");
            }
            let counts = |out: &Path| {
                let names =
                    ["label", "signed", "unsigned", "rows", "compared", "left_out", "candidates", "undecided", "pairs"];
                let of = |one: serde_json::Value| names.map(|name| one[name].clone());
                record(out, "algorithms").as_array_mut().unwrap().drain(..).map(of).collect::<Vec<_>>()
            };
            assert_eq!(counts(&cluster), counts(&one), "{given:?}");
        }
    }

    #[test]
    fn rows_that_no_task_or_two_tasks_read_are_an_error() {
        for (fault, expected) in [(Fault::Lost, "but the corpus has 90"), (Fault::Twice, "of 90 more than once")] {
            let bench = Bench::new();
            let error = bench.on_cluster("out", &[("algorithms", "exact")], fault).unwrap_err().to_string();
            assert!(error.contains(expected), "{fault:?}: {error}");
            assert!(!bench.at("out").exists());
        }
    }
}
