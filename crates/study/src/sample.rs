//! Draws removals for labeling. The sample is stratified, and each row has the number of removals that it stands for.
//!
//! Exact copies are left out, because they need no label. The table of removals is read twice: the first pass counts the removals of each
//! stratum, and the second draws from each stratum by a seeded hash, so the same seed gives the same sample.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::finished::Finished;
use crate::finished::tables::wrong_type;
use crate::review::bin_range;
use crate::review::lowest::Lowest;
use crate::review::sources::{self, Sources};
use crate::review::tally::bin;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::mix64;
use dupsift_core::number::counted;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::options::RunOptions;
use dupsift_input::TableReader;
use dupsift_tables::{LISTED_REMOVAL_COLUMNS, RemovalFound, listed_id, removals_found};

/// Selects the sample.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleOptions {
    /// The number of removals to draw.
    pub pairs: usize,
    /// Whether each range of similarities is represented by its share.
    pub by_similarity: bool,
    /// Whether each source is represented by its share: each value of the column of sources, or else each input file.
    pub by_source: bool,
    /// The seed.
    pub seed: u64,
}

/// Holds a sample of the removals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabelSample {
    /// The number of removals from which the sample is drawn: all but exact copies.
    pub removals: u64,
    /// The number of strata.
    pub strata: u64,
    /// The sample, in document order.
    pub pairs: Vec<SampledRemoval>,
}

/// A removal to be labeled.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SampledRemoval {
    /// The id of the removed document.
    pub id_a: String,
    /// The id of the document that is kept instead.
    pub id_b: String,
    /// The number of removals that this one stands for. The weights add up to the number of removals.
    pub weight: f64,
    /// The similarity of the two documents; `None` if only a chain of pairs connects them.
    pub similarity: Option<f32>,
    /// The number of the removed document.
    pub doc: u64,
    /// The number of the document that is kept instead.
    pub kept_doc: u64,
}

/// The bin of the similarity and the source; 0 if they do not matter.
type Stratum = (usize, u64);

/// Draws a sample of the removals. `options` contains the recorded options.
///
/// # Errors
/// Returns [`Error::Usage`] if there are no near-duplicates among the removals, or more strata than removals to draw. Also returns an error if
/// the corpus is needed and is missing or has changed, if a table cannot be read, or if the call is interrupted.
pub fn sample(
    finished: &Finished,
    options: &RunOptions,
    asked: &SampleOptions,
    progress: &Progress,
    cancel: &AtomicBool,
) -> Result<LabelSample> {
    finished.of_one_result(|| {
        check_resources(options)?;
        if finished.report.removal.is_none() {
            return Err(Error::usage("a comparison removes no documents; expected the output folder of dupsift run"));
        }
        if !asked.by_source {
            return drawn(finished, asked, &|_| 0, cancel);
        }
        let mut options = options.clone();
        // Columns of sources are known only if a page is written.
        options.output.report = true;
        finished.read(&options, progress, cancel, |session, _| {
            let sources: Sources = sources::read(session, session.engine.dir)?;
            let ends: Vec<u64> = session.source.files.iter().map(|file| file.first_doc + file.rows).collect();
            let first_doc = finished.first_doc();
            let has_column = sources.crossing().is_some();
            let source = |doc: u64| match doc.saturating_sub(first_doc) {
                doc if has_column => sources.of(doc),
                doc => ends.partition_point(|&end| end <= doc) as u64,
            };
            drawn(finished, asked, &source, cancel)
        })
    })
}

fn drawn(
    finished: &Finished,
    asked: &SampleOptions,
    source: &dyn Fn(u64) -> u64,
    cancel: &AtomicBool,
) -> Result<LabelSample> {
    let stratum = |one: &RemovalFound| -> Stratum {
        let similarity =
            if asked.by_similarity { one.similarity.map_or(0, |similarity| bin(similarity) + 1) } else { 0 };
        (similarity, source(one.doc))
    };
    let path = finished.dir().join("removed/part-00000.parquet");
    let mut counts: BTreeMap<Stratum, u64> = BTreeMap::new();
    read(&path, cancel, |_, _, one| Ok(*counts.entry(stratum(one)).or_default() += 1))?;
    let removals: u64 = counts.values().sum();
    if removals == 0 {
        return Err(Error::usage(
            "the run removed no near-duplicates, only exact copies or nothing; there is nothing to label",
        ));
    }
    let shares = shares(&counts, asked.pairs as u64)?;
    let mut strata: BTreeMap<Stratum, Lowest<(u64, u64), SampledRemoval>> =
        shares.iter().map(|(&stratum, &count)| (stratum, Lowest::new(count as usize))).collect();
    read(&path, cancel, |batch, at, one| {
        let key = (mix64(one.doc ^ mix64(asked.seed)), one.doc);
        let stratum = stratum(one);
        let Some(lowest) = strata.get_mut(&stratum).filter(|lowest| lowest.takes(key)) else { return Ok(()) };
        let id = |column| listed_id(batch, column, at).ok_or_else(|| wrong_type(&path));
        let sampled = SampledRemoval {
            id_a: id("id")?,
            id_b: id("kept_id")?,
            weight: counts[&stratum] as f64 / shares[&stratum] as f64,
            similarity: one.similarity,
            doc: one.doc,
            kept_doc: one.kept,
        };
        lowest.offer(key, || sampled);
        Ok(())
    })?;
    let mut pairs: Vec<SampledRemoval> = strata.into_values().flat_map(Lowest::into_values).collect();
    pairs.sort_unstable_by_key(|one| one.doc);
    Ok(LabelSample { removals, strata: shares.len() as u64, pairs })
}

/// Reads the removals that are not exact copies.
fn read(
    path: &Path,
    cancel: &AtomicBool,
    mut each: impl FnMut(&arrow::array::RecordBatch, usize, &RemovalFound) -> Result<()>,
) -> Result<()> {
    for batch in TableReader::open(path, &LISTED_REMOVAL_COLUMNS)? {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let batch = batch?;
        let listed = removals_found(&batch).ok_or_else(|| wrong_type(path))?;
        let near =
            listed.iter().enumerate().filter(|(_, one)| matches!(one.reason, "pair" | "chain") && one.doc != one.kept);
        near.into_iter().try_for_each(|(at, one)| each(&batch, at, one))?;
    }
    Ok(())
}

/// Divides the sample among the strata in proportion to their size. Each stratum gets at least one.
fn shares(counts: &BTreeMap<Stratum, u64>, pairs: u64) -> Result<BTreeMap<Stratum, u64>> {
    let (all, strata): (u64, u64) = (counts.values().sum(), counts.len() as u64);
    if pairs >= all {
        return Ok(counts.clone());
    }
    if pairs < strata {
        let ranges = counts.keys().filter_map(|(bin, _)| bin.checked_sub(1)).map(bin_range);
        let least = ranges.map(|(low, _)| low).fold(1.0, f64::min);
        return Err(Error::wrong_value(
            "pairs",
            pairs,
            format_args!(
                "the removals have {} (similarities from {least:.2}); pass at least this number, or remove a name from `by`",
                counted_as_strata(strata)
            ),
        ));
    }
    // The largest remainders get what rounding down leaves.
    let free = pairs - strata;
    let part = |count: u64| u128::from(count) * u128::from(free);
    let mut shares: BTreeMap<Stratum, u64> = counts
        .iter()
        .map(|(&stratum, &count)| (stratum, (1 + (part(count) / u128::from(all)) as u64).min(count)))
        .collect();
    let mut order: Vec<Stratum> = counts.keys().copied().collect();
    order.sort_by_key(|stratum| std::cmp::Reverse(part(counts[stratum]) % u128::from(all)));
    let mut left = pairs - shares.values().sum::<u64>();
    while left > 0 {
        for stratum in &order {
            let share = shares.entry(*stratum).or_default();
            if left > 0 && *share < counts[stratum] {
                *share += 1;
                left -= 1;
            }
        }
    }
    Ok(shares)
}

fn counted_as_strata(strata: u64) -> String {
    format!("{} by similarity and source", counted(strata, "group"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_divided_by_size_and_weighs_back() {
        let counts = BTreeMap::from([((1, 0), 1), ((2, 0), 60), ((3, 0), 539)]);
        let shares = |pairs| shares(&counts, pairs).map(|shares| shares.into_values().collect::<Vec<_>>());
        assert_eq!(shares(50).unwrap(), [1, 6, 43]);
        assert_eq!(shares(3).unwrap(), [1, 1, 1]);
        assert_eq!(shares(600).unwrap(), [1, 60, 539]);
        assert_eq!(shares(599).unwrap().iter().sum::<u64>(), 599);
        assert!(shares(2).unwrap_err().to_string().contains("3 groups"));
    }
}
