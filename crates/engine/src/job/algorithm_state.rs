//! Holds the state of one algorithm in a run. The results of the algorithm are first rows, then candidates, and finally classified pairs.

use super::run_report::AlgorithmReport;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::Result;

/// Holds an algorithm that is bound to the corpus, and the result of its last stage: rows, candidates or pairs.
pub struct AlgorithmState<'c, S> {
    /// The algorithm with its rules and checks.
    pub bound: Bound<'c>,
    /// The entry for run.json, which is still incomplete.
    pub report: AlgorithmReport,
    /// The result of the last stage.
    pub now: S,
}

impl<'c, S> AlgorithmState<'c, S> {
    /// Runs the next stage of this algorithm.
    pub fn then<T>(
        mut self,
        stage: impl FnOnce(&Bound<'c>, S, &mut AlgorithmReport) -> Result<T>,
    ) -> Result<AlgorithmState<'c, T>> {
        let now = stage(&self.bound, self.now, &mut self.report)?;
        Ok(AlgorithmState { bound: self.bound, report: self.report, now })
    }
}

/// Runs the next stage for all algorithms, one after the other.
pub fn each<'c, S, T>(
    algorithms: Vec<AlgorithmState<'c, S>>,
    mut stage: impl FnMut(&Bound<'c>, S, &mut AlgorithmReport) -> Result<T>,
) -> Result<Vec<AlgorithmState<'c, T>>> {
    algorithms.into_iter().map(|algorithm| algorithm.then(&mut stage)).collect()
}
