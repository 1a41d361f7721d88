//! Collects the content of `report.html` for a finished run: statistics about its tables, and the text of a few documents.
//!
//! Tables of pairs and clusters are read once, in order. Only the documents that are shown and one column of sources are read from the
//! corpus. Samples are drawn by a seeded hash, so the same result gives the same page. Memory is bounded: the numbers of bins, samples and
//! names per algorithm are fixed, and n documents have at most sqrt(2 n) distinct cluster sizes.

mod banding;
mod clusters;
mod compared;
mod crossing;
mod facets;
pub(crate) mod lowest;
pub(crate) mod page;
pub(crate) mod places;
mod preset;
mod relations;
mod removed;
mod shown;
pub(crate) mod sources;
pub(crate) mod tally;

pub use banding::Banding;
pub(crate) use clusters::ClusterReview;
pub use clusters::{LargeCluster, Member};
pub use compared::PairComparison;
pub use crossing::Crossing;
pub use facets::Facet;
pub use relations::PairRelation;
pub use removed::RemovalSample;
pub(crate) use removed::RemovedReview;
pub use shown::ShownText;
pub use sources::SourceReview;
pub use tally::{BINS, PairSample, SAMPLE_BINS, bin_range, sample_range};

use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::comparison::ComparisonReport;
use crate::finished::Finished;
use crate::finished::pool::{Agreement, MOST_POOLED, Pool};
use crossing::{Files, Group};
use dupsift_algorithms::recipe::remove_if::{Bounds, RemoveIf};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::job::guards::previous_run;
use dupsift_engine::job::run_report::RunReport;
use dupsift_engine::session::Session;
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::RemovalFound;
use places::Places;
use preset::{preset, with_higher_threshold};
use sources::Sources;
use tally::Tally;

/// Holds everything on the page that is not in `run.json`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Review {
    /// One entry per algorithm, in the order of the record.
    pub algorithms: Vec<AlgorithmReview>,
    /// The number of written pairs that both algorithms of each combination found; only the first [`MOST_POOLED`] algorithms are
    /// included.
    pub agreement: Agreement,
    /// The number of distinct pairs that the first [`MOST_POOLED`] algorithms wrote.
    pub pooled: u64,
    /// The distinct pairs, counted by input file.
    pub files: Crossing,
    /// The distinct pairs, counted by the values in a column of the corpus.
    pub sources: SourceReview,
    /// The labels of the algorithms whose pairs and clusters are shown as text: the algorithms whose pairs determine which documents are
    /// removed, or else all algorithms.
    pub deciding: Vec<String>,
    /// The largest clusters of the deciding algorithms, largest first.
    pub large: Vec<LargeCluster>,
    /// The verified pairs with the lowest similarity, taken from each deciding algorithm in turn, lowest first.
    pub least: Vec<PairSample>,
    /// Randomly sampled pairs, by similarity bin (see [`SAMPLE_BINS`]).
    pub samples: Vec<Vec<PairSample>>,
    /// The texts of all documents that are shown, by number.
    pub texts: BTreeMap<u64, ShownText>,
    /// The comparison of each pair that is shown, by the numbers of its documents.
    #[serde(serialize_with = "as_list")]
    pub compared: BTreeMap<(u64, u64), PairComparison>,
    /// The relations of the pairs that an algorithm classifies.
    #[serde(serialize_with = "as_list")]
    pub relations: BTreeMap<(u64, u64), PairRelation>,
    /// The removals; empty if the run removes nothing.
    pub removed: RemovedReview,
    /// The columns whose values are shown: those of `--keep`, of the scope, and of sources.
    pub columns: Vec<String>,
    /// The ways to group the removals in the sample.
    pub facets: Vec<Facet>,
    /// The bounds for removal; `None` if every pair is sufficient for removal.
    pub bounds: Option<Bounds>,
    /// The name of the preset that consists of the algorithms of the run, if there is one.
    pub preset: Option<&'static str>,
    /// The option for the preset with a higher threshold, as typed on the command line; `None` if the preset has no threshold.
    pub with_threshold: Option<String>,
    /// The record of the previous run, if the options specify a previous run and it still exists.
    pub before: Option<Box<RunReport>>,
    /// The reason why there are no texts; `None` if there are texts.
    pub no_texts: Option<String>,
    /// The result of `compare`, if the run is a comparison.
    pub comparison: Option<ComparisonReport>,
}

/// Writes a map as a list of keys and values, because a key of JSON is a string.
fn as_list<S: Serializer>(map: &BTreeMap<(u64, u64), impl Serialize>, to: S) -> std::result::Result<S::Ok, S::Error> {
    to.collect_seq(map)
}

/// Holds statistics about the tables of one algorithm.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AlgorithmReview {
    /// The number of written pairs in each similarity bin; see [`bin_range`].
    pub scores: [u64; BINS],
    /// The clusters, counted by size.
    pub clusters: ClusterReview,
}

/// The maximum number of clusters shown.
const LARGE: usize = 10;

/// Gives access to the corpus of a finished run.
#[derive(Clone, Copy)]
pub(crate) struct Read<'r> {
    /// The corpus, preceded by the indexed documents that are in the tables.
    pub session: &'r Session<'r>,
    /// Returns whether the text of a document must not be shown. The argument is the document's number in the tables.
    pub is_hidden: &'r dyn Fn(u64) -> bool,
}

impl<'r> Read<'r> {
    /// Creates an instance for a corpus whose documents may all be shown.
    pub(crate) fn whole(session: &'r Session<'r>) -> Read<'r> {
        Read { session, is_hidden: &|_| false }
    }
}

/// Reads the tables of a finished run, and the corpus if it is given. `dir` is for temporary files; `go_on` is called repeatedly.
///
/// # Errors
/// Returns an error if tables or the corpus cannot be read, or if the run is interrupted.
pub(crate) fn review(
    finished: &Finished,
    corpus: Option<Read<'_>>,
    dir: &Path,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Review> {
    let report = &finished.report;
    let deciding: Vec<bool> = report.algorithms.iter().map(|one| decides(report, &one.label)).collect();
    let places = Places::new(report, corpus.map(|corpus| corpus.session));
    let sources = match corpus {
        Some(Read { session, .. }) => sources::read(session, dir)?,
        None => Sources::unknown(),
    };
    let Paired { tallies, agreement, pooled, mut files, mut by_source } =
        paired(finished, &deciding, (&sources, places), dir, go_on)?;
    let clusters = read_clusters(finished, go_on)?;
    let large = clusters::largest(&clusters, &deciding, LARGE);
    let least = tally::least(&tallies, tally::LEAST);
    let samples = tally::samples(&tallies);
    let mut docs: BTreeSet<u64> = large.iter().flat_map(LargeCluster::docs).collect();
    docs.extend(least.iter().chain(samples.iter().flatten()).flat_map(|pair| [pair.a, pair.b]));
    let (mut removed, sample) =
        read_removed(finished, &docs, (&mut files, &mut by_source, &sources, places), dir, go_on)?;
    docs.extend(sample.iter().map(|one| one.doc));
    // The page shows the ids of the documents that were kept instead, but not their texts.
    docs.extend(removed.fates.values().map(|fate| fate.kept));
    let columns = corpus.map_or_else(Vec::new, |Read { session, .. }| shown_columns(session, sources.column()));
    let shown = match corpus {
        Some(Read { session, is_hidden }) => {
            docs.retain(|&doc| !is_hidden(doc));
            Some(shown::read(session, report, places, docs, &columns)?)
        }
        None => None,
    };
    let bounds = report.removal.as_ref().and_then(|removal| RemoveIf::parse(&removal.remove_if).ok()?.bounds());
    let pairs = least.iter().chain(samples.iter().flatten()).map(|pair| (pair.a, pair.b));
    let pairs = pairs.chain(large.iter().flat_map(LargeCluster::pairs));
    let drawn = sample.iter().map(|one| (one.doc.min(one.kept), one.doc.max(one.kept)));
    let pairs: BTreeSet<(u64, u64)> = pairs.chain(drawn).collect();
    let compared = match &shown {
        Some(shown) => compared::compare_all(shown, bounds, pairs.iter().copied())?,
        None => BTreeMap::new(),
    };
    let (mut relations, mut doubts) = (BTreeMap::new(), BTreeMap::<(u64, u64), [bool; 2]>::new());
    for (one, decides) in report.algorithms.iter().zip(&deciding).filter(|(one, _)| one.relations.is_some()) {
        let found = relations::relations(finished, &one.label, &pairs, go_on)?;
        for (pair, told) in found.iter().filter(|_| *decides) {
            let doubts = doubts.entry(*pair).or_default();
            doubts[0] |= told.other_title;
            doubts[1] |= told.others_as_near;
        }
        relations.extend(found);
    }
    removed.sample = removed::most_doubtful_first(&sample, &doubts);
    let texts = shown.map(|shown| shown.texts).unwrap_or_default();
    Ok(Review {
        facets: facets::facets(report, &columns, &removed.sample, &texts),
        columns,
        algorithms: tallies
            .iter()
            .zip(clusters)
            .map(|(tally, (clusters, _))| AlgorithmReview { scores: tally.scores, clusters })
            .collect(),
        agreement,
        pooled,
        files: files.crossing,
        sources: sources.review(by_source),
        deciding: labels(report, &deciding),
        large,
        least,
        samples,
        texts,
        compared,
        relations,
        removed,
        before: before(report),
        bounds,
        preset: preset(report),
        with_threshold: preset(report).and_then(with_higher_threshold),
        no_texts: None,
        comparison: comparison(finished)?,
    })
}

/// Holds the counts from the tables of pairs.
struct Paired {
    tallies: Vec<Tally>,
    agreement: Agreement,
    pooled: u64,
    files: Files,
    by_source: Option<Crossing>,
}

/// Reads the tables of pairs once.
fn paired(
    finished: &Finished,
    deciding: &[bool],
    (sources, places): (&Sources, Places<'_>),
    dir: &Path,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Paired> {
    let report = &finished.report;
    let mut files = Crossing::of_files(report, places.base());
    let mut by_source = sources.crossing();
    let paired = AtomicBits::new(dir, "paired", places.end() as usize)?;

    let mut tallies: Vec<Tally> = report
        .algorithms
        .iter()
        .zip(deciding)
        .map(|(one, &decides)| Tally::new(one.verify.is_some(), decides))
        .collect();
    let pooled = tallies.len().min(MOST_POOLED);
    let (first, rest) = tallies.split_at_mut(pooled);
    let tables = first.iter_mut().zip(&report.algorithms).map(|(tally, one)| {
        Ok(finished.pairs(&one.label)?.inspect(|pair| {
            if let Ok(pair) = pair {
                tally.add(pair);
            }
        }))
    });
    let mut agreement = Agreement::new(pooled);
    let mut together: u64 = 0;
    let mut gathered = Vec::with_capacity(GATHERED);
    for pair in Pool::new(tables.collect::<Result<Vec<_>>>()?)? {
        let pair = pair?;
        together += 1;
        agreement.add(pair.found);
        gathered.push((places.of(pair.a)?, places.of(pair.b)?));
        if gathered.len() == GATHERED {
            go_on()?;
            count(&gathered, &mut files, sources, &mut by_source, &paired);
            gathered.clear();
        }
    }
    count(&gathered, &mut files, sources, &mut by_source, &paired);
    for (tally, one) in rest.iter_mut().zip(&report.algorithms[pooled..]) {
        for (at, pair) in finished.pairs(&one.label)?.enumerate() {
            tally.add(&pair?);
            if at % GATHERED == 0 {
                go_on()?;
            }
        }
    }
    for doc in paired.iter() {
        files.count_paired(doc as u64);
        if let Some(crossing) = &mut by_source {
            crossing.count_paired(sources.of(doc as u64));
        }
    }
    Ok(Paired { tallies, agreement, pooled: together, files, by_source })
}

/// Reads the table of removals, and counts removals by file and by source. Returns an empty review for a comparison.
fn read_removed(
    finished: &Finished,
    shown: &BTreeSet<u64>,
    (files, by_source, sources, places): (&mut Files, &mut Option<Crossing>, &Sources, Places<'_>),
    dir: &Path,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<(RemovedReview, Vec<RemovalFound>)> {
    if finished.report.removal.is_none() {
        return Ok(Default::default());
    }
    let gone = AtomicBits::new(dir, "gone", places.end() as usize)?;
    let note = |doc| places.of(doc).map(|place| _ = gone.set(place as usize));
    let read = removed::read(finished.removals()?, |doc| shown.contains(&doc), &note, go_on)?;
    for doc in gone.iter() {
        files.count_removed(doc as u64);
        if let Some(crossing) = by_source {
            crossing.count_removed(sources.of(doc as u64));
        }
    }
    Ok(read)
}

/// Returns the columns whose values the page shows: those that the options name, and the column of sources that was found.
fn shown_columns(session: &Session<'_>, source: Option<&str>) -> Vec<String> {
    let options = session.options;
    let named = options.removal.keep.columns().into_iter();
    let scope = [&options.recipe.within, &options.recipe.across].into_iter().flatten().cloned();
    let sources = options.guards.source_column.iter().cloned().chain(source.map(str::to_owned));
    let mut columns: Vec<String> = Vec::new();
    for column in named.chain(scope).chain(sources) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

/// Reads the tables of clusters.
fn read_clusters(
    finished: &Finished,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Vec<(ClusterReview, Vec<LargeCluster>)>> {
    let mut clusters = Vec::new();
    for one in &finished.report.algorithms {
        let documents = finished.clusters(&one.label)?.enumerate();
        let documents =
            documents.map(|(at, document)| if at % GATHERED == 0 { go_on().and(document) } else { document });
        clusters.push(clusters::read(documents, LARGE)?);
    }
    Ok(clusters)
}

/// The number of pairs that are counted together. Separate loops for the statistics make fewer random memory accesses than one
/// loop for all of them.
const GATHERED: usize = 4096;

/// Counts pairs by origin; pairs with the same first document are consecutive.
fn count(
    pairs: &[(u64, u64)],
    files: &mut Files,
    sources: &Sources,
    by_source: &mut Option<Crossing>,
    paired: &AtomicBits,
) {
    for run in pairs.chunk_by(|x, y| x.0 == y.0) {
        let a = run[0].0;
        paired.set(a as usize);
        for &(_, b) in run {
            files.add(a, b);
            paired.set(b as usize);
        }
        if let Some(crossing) = by_source {
            let source = sources.of(a);
            run.iter().for_each(|&(_, b)| crossing.add(source, sources.of(b)));
        }
    }
}

fn labels(report: &RunReport, deciding: &[bool]) -> Vec<String> {
    report.algorithms.iter().zip(deciding).filter(|(_, decides)| **decides).map(|(one, _)| one.label.clone()).collect()
}

/// Returns whether the pairs of an algorithm are used to decide which documents are removed; `true` for all algorithms if nothing is
/// removed.
pub(crate) fn decides(report: &RunReport, label: &str) -> bool {
    let Some(decide) = report.removal.as_ref().map(|removal| &removal.decide) else { return true };
    !report.algorithms.iter().any(|one| one.label == *decide) || decide == label
}

/// Returns the record of the previous run that the options of this run specify; `None` if that run no longer exists or was replaced by this
/// run.
fn before(report: &RunReport) -> Option<Box<RunReport>> {
    let folder = report.options.get("previous")?.as_str()?;
    let before = previous_run(Path::new(folder)).ok()?;
    (before.started != report.started).then(|| Box::new(before))
}

fn comparison(finished: &Finished) -> Result<Option<ComparisonReport>> {
    let path = finished.dir().join("compare/comparison.json");
    match safe_fs::read(&path, MOST_JSON) {
        Ok(json) => serde_json::from_slice(&json).map(Some).map_err(|error| Error::BadFile {
            path,
            why: format!("{error}; expected a record written by this version of dupsift compare"),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::reading("read", &path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::{AlgorithmReport, RemovalReport};

    #[test]
    fn one_named_algorithm_decides_or_all_do() {
        let one = |label: &str| AlgorithmReport { label: label.into(), ..AlgorithmReport::default() };
        let report = |decide: &str| RunReport {
            algorithms: vec![one("exact"), one("minhash")],
            removal: Some(RemovalReport { decide: decide.into(), ..RemovalReport::default() }),
            ..RunReport::default()
        };
        let deciding = |decide: &str| ["exact", "minhash"].map(|label| decides(&report(decide), label));
        assert_eq!(deciding("any"), [true, true]);
        assert_eq!(deciding("at-least:2"), [true, true]);
        assert_eq!(deciding("minhash"), [false, true]);
    }
}
