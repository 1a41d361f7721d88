//! Decides what `apply` can write from a finished run. The same checks are used by `apply` itself and by the summary and the report page of
//! a run, so that neither suggests a command that fails.

use std::path::Path;

use super::written_pairs::check_all_written;
use crate::finished::Finished;
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_core::error::{Error, Result};
use dupsift_engine::job::decide::Deciding;
use dupsift_engine::job::run_report::RunReport;
use dupsift_engine::options::{Kind, OPTIONS, RunOptions, Settings};
use dupsift_publish::DASH;

/// States what `apply` can write from a finished run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applicable {
    /// `apply` refuses the run.
    Nothing,
    /// `apply` writes the corpus according to the rule of the run.
    OwnRule,
    /// `apply` writes the corpus according to the rule of the run or any stricter rule.
    StricterRule,
}

/// Returns what `apply` can write from a run with this record.
pub fn applicable(report: &RunReport) -> Applicable {
    let is_of_files = report.inputs.iter().all(|input| input.path != DASH && !input.not_copied);
    if report.removal.is_none() || !is_of_files {
        return Applicable::Nothing;
    }
    let mut report = report.clone();
    // Files specified in options, such as stop-word lists, may have moved, but they do not affect this check.
    for option in OPTIONS.iter().filter(|option| matches!(option.kind, Kind::Path)) {
        report.options.remove(option.name);
    }
    let folder = report.folder.clone();
    let finished = Finished::new(Path::new(&folder), report);
    let Ok(options) = finished.options(&Settings::default()) else { return Applicable::Nothing };
    match [false, true].map(|is_other| refuse(&finished, &options, is_other, false)) {
        [Err(_), _] => Applicable::Nothing,
        // After a run with the rule `pair`, containment is known only for the pairs that the run compared.
        [Ok(()), Ok(())] if options.removal.remove_if != RemoveIf::Pair => Applicable::StricterRule,
        _ => Applicable::OwnRule,
    }
}

/// Rejects annotations, or a rule other than the rule of the run, if the tables of the run are not sufficient. `options` contains the rule.
///
/// # Errors
/// Returns [`Error::Usage`] with the reason.
pub(super) fn refuse(finished: &Finished, options: &RunOptions, is_other: bool, annotates: bool) -> Result<()> {
    refuse_sample(&finished.report)?;
    refuse_other(options, is_other)?;
    if is_other || annotates {
        refuse_scopes(options)?;
        finished.is_of_its_corpus()?;
        let labels: Vec<&str> = finished.report.algorithms.iter().map(|one| one.label.as_str()).collect();
        let deciding = Deciding::new(&options.removal.decide, &labels).chosen;
        deciding
            .iter()
            .try_for_each(|&at| check_all_written(&finished.report.algorithms[at], options.duplicates.max_group))?;
    }
    Ok(())
}

/// Rejects a different rule in two cases: if passages are cut, because the cuts depend on which documents are kept; and if complete chains
/// are removed, because a chain also contains documents that do not form a pair with the kept document.
fn refuse_other(options: &RunOptions, is_other: bool) -> Result<()> {
    if options.removal.chains && options.removal.remove_if != RemoveIf::Pair {
        let why = "the run removed complete chains (`chain=remove`), which works only with the rule `pair`; run again with `chain=keep`";
        return Err(Error::wrong("remove-if", why));
    }
    match options.cut.what.filter(|_| is_other) {
        None => Ok(()),
        Some(cut) => Err(Error::usage(format!(
            "the run cut passages (`cut={cut}`), and cuts depend on which documents are kept; use the run's rule, or run again"
        ))),
    }
}

/// Rejects a run that read only a sample of the corpus, because such a run does not determine which rows are kept.
///
/// # Errors
/// Returns [`Error::Usage`] for the record of such a run.
pub fn refuse_sample(report: &RunReport) -> Result<()> {
    let Some(size) = report.options.get("sample").filter(|size| !size.is_null()) else { return Ok(()) };
    let size = size.as_str().map_or_else(|| size.to_string(), str::to_owned);
    Err(Error::usage(format!(
        "the run read only a sample of the corpus (`sample={size}`), so most rows are neither kept nor removed; run again without \
         `sample`"
    )))
}

/// Rejects a run that compared documents across scopes if decisions must be recomputed from `pairs/`: the table does not contain scopes,
/// and a document represents only the copies in its own scope.
fn refuse_scopes(options: &RunOptions) -> Result<()> {
    match &options.recipe.across {
        None => Ok(()),
        Some(column) => Err(Error::usage(format!(
            "the run compared documents across the values of a column (`scope=across:{column}`), which are not in pairs/; use \
             `corpus=keep` or `corpus=drop` and the rule of the run, or run again"
        ))),
    }
}
