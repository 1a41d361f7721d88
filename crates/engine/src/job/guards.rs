//! Applies the guards of a job. Guards check the values that [`dupsift_algorithms::steps::guard`] measures, and may prevent the publication
//! of the result.
//!
//! A result can be held back, that is, not published, only if it would replace an existing output or if `--previous` specifies an earlier
//! run. A first run has no earlier result to protect.

use std::fmt::Display;
use std::iter::repeat;
use std::path::{Path, PathBuf};

use super::run_report::{AlgorithmReport, GuardReport, InputReport, RunReport};
use crate::options::RunOptions;
use crate::reading::losses::{Losses, read_counts};
use crate::reading::source_values::SourceReport;
use crate::reading::{OtherInputReport, RejectionsReport};
use crate::session::Session;
use dupsift_algorithms::steps::guard::{
    Fired, PairCounts, TextCounts, cut, holds, pairs, reading, removal, shrunk, templates,
};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::is_file;
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_input::{InputFile, Source};
use dupsift_publish::{HELD, Stage, held_path};

/// A record that holds guards. The guards determine where the result of the job is stored.
pub trait Guarded {
    /// Returns the guards that fired.
    fn guards(&self) -> &[GuardReport];

    /// Returns the inputs, other than the corpus, whose rows were read.
    fn other_inputs(&self) -> &[OtherInputReport];

    /// Returns whether any rows or files of an input other than the corpus could not be read.
    fn lost_of_others(&self) -> bool {
        self.other_inputs().iter().any(OtherInputReport::is_lossy)
    }

    /// Returns whether a guard that fired would hold back a result that replaces an existing result.
    fn would_hold(&self) -> bool {
        self.guards().iter().any(|guard| holds(&guard.name))
    }

    /// Returns whether the result is held back. A result that is held back is stored next to the existing output.
    fn is_held(&self) -> bool {
        self.guards().iter().any(|guard| guard.held)
    }
}

impl Guarded for RunReport {
    fn guards(&self) -> &[GuardReport] {
        &self.guards
    }

    /// An accepted result is published even if a guard would otherwise hold it back.
    fn is_held(&self) -> bool {
        self.accepted.is_none() && self.guards.iter().any(|guard| guard.held)
    }

    fn other_inputs(&self) -> &[OtherInputReport] {
        &self.other_inputs
    }
}

/// Returns the folder that holds the result of a job with this `--out` folder. The result is in `out`, or in a folder next to `out` if the
/// result is held back.
pub fn stands_in(report: &impl Guarded, out: &Path) -> PathBuf {
    if report.is_held() { held_path(out) } else { out.to_path_buf() }
}

/// Returns the guards that were triggered by the input or by the removals of a run.
pub(crate) fn of_run(
    session: &Session<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    report: &RunReport,
) -> Result<Vec<GuardReport>> {
    check_held(session.options, report.inputs.iter().map(ReadFile::recorded).collect())?;
    let documents = &report.documents;
    let mut fired = over_reading(session, losses, documents.used, &documents.rejections);
    let (share, least) = (session.options.guards.max_removed_share, session.options.guards.guard_rows);
    // A batch of a daily crawl repeats most of the previous batch, so a high share of indexed documents does not indicate a problem with
    // the source.
    let goes = |file: &InputReport| removal(&file.file, file.rows, file.removed - file.seen, share, least);
    fired.extend(report.inputs.iter().filter_map(goes));
    fired.extend(
        report
            .cut
            .as_ref()
            .and_then(|found| cut(found.characters, found.characters_kept, session.options.guards.max_cut_share)),
    );
    let near = report.removal.as_ref().map(|removal| (removal.of_templates, removal.near_duplicates));
    fired.extend(near.and_then(|(some, all)| templates(some, all, session.options.guards.max_template_share)));
    let column = session.options.guards.source_column.as_deref().unwrap_or_default();
    let goes = |one: &SourceReport| {
        let whose = format!("{column} {:?}", one.source);
        removal(&whose, one.rows, one.removed - one.seen, share, least)
    };
    fired.extend(report.sources.iter().filter_map(goes));
    if let Some(previous) = &session.options.guards.previous {
        let before = previous_run(previous)?;
        fired.extend(over_pairs(report, &before, session.options.guards.max_pairs_factor));
        fired.extend(over_text(
            report,
            &before,
            session.options.incremental.index.is_some(),
            session.options.guards.max_shrink_factor,
        ));
    }
    decided(session, stage, fired)
}

/// Reads the record of the earlier run with which the job is compared.
///
/// # Errors
/// Returns [`Error::Usage`] if the folder has no record or if the record has a different version.
pub fn previous_run(folder: &Path) -> Result<RunReport> {
    let path = folder.join("run.json");
    let wrong = |why: &dyn Display| {
        let shown = folder.display();
        Error::wrong(
            "previous",
            format!("{shown} is not an output of dupsift run ({why}); expected the output folder of an earlier run"),
        )
    };
    let json = safe_fs::read(&path, MOST_JSON).map_err(|error| wrong(&format!("{}: {error}", path.display())))?;
    serde_json::from_slice(&json).map_err(|error| wrong(&error))
}

/// Identifies an input file, to compare the files of two runs.
struct ReadFile<'f> {
    name: &'f str,
    bytes: u64,
    stamp: String,
    /// The hash of the contents, if it is known.
    contents: Option<&'f str>,
}

impl<'f> ReadFile<'f> {
    fn recorded(file: &'f InputReport) -> ReadFile<'f> {
        let InputReport { file: name, bytes, stamp, contents, .. } = file;
        ReadFile { name, bytes: *bytes, stamp: stamp.clone(), contents: contents.as_deref() }
    }

    fn found(file: &'f InputFile) -> ReadFile<'f> {
        ReadFile { name: &file.label, bytes: file.bytes, stamp: file.seen().to_string(), contents: None }
    }

    fn differs(&self, other: &ReadFile<'_>) -> bool {
        // The hash covers the columns that were read, and an unchanged file may have been read for other columns.
        let is_changed = self.stamp != other.stamp
            && self.contents.zip(other.contents).is_some_and(|(contents, others)| contents != others);
        (self.name, self.bytes) != (other.name, other.bytes) || is_changed
    }
}

/// Checks the files of a run before it reads them; see [`check_held`].
pub(crate) fn check_held_before(options: &RunOptions, source: &Source) -> Result<()> {
    check_held(options, source.files.iter().map(ReadFile::found).collect())
}

/// Checks that a held result was made from the same files as this run, because `accept` replaces the held result.
///
/// # Errors
/// Returns [`Error::Usage`] if the files differ in name, size or contents. The contents are known after the first pass.
fn check_held(options: &RunOptions, mut now: Vec<ReadFile<'_>>) -> Result<()> {
    let folder = held_path(&options.output.folder);
    if !options.guards.accept || !is_file(&folder.join(HELD))? {
        return Ok(());
    }
    // The records of other commands do not list their files.
    let Ok(held) = previous_run(&folder) else { return Ok(()) };
    let mut then: Vec<ReadFile<'_>> = held.inputs.iter().map(ReadFile::recorded).collect();
    then.sort_by_key(|file| file.name);
    now.sort_by_key(|file| file.name);
    let pairs = then.iter().map(Some).chain(repeat(None)).zip(now.iter().map(Some).chain(repeat(None)));
    let differs = |(then, now): &(Option<&ReadFile<'_>>, Option<&ReadFile<'_>>)| match (then, now) {
        (Some(then), Some(now)) => then.differs(now),
        _ => true,
    };
    let Some((then, now)) = pairs.take(then.len().max(now.len())).find(differs) else { return Ok(()) };
    let name = then.or(now).map_or("", |file| file.name);
    Err(Error::usage(format!(
        "{folder} is the result of other files ({name} differs), and `accept` would replace it; pass the files of that run, or remove the result: dupsift reject {folder}",
        folder = folder.display(),
    )))
}

/// Returns the guards that were triggered by the pair counts of algorithms that both runs use. Pairs with indexed documents are not
/// counted: the first batch has no such pairs, and their number grows with the crawl.
fn over_pairs(now: &RunReport, before: &RunReport, factor: u64) -> Vec<Fired> {
    let of = |report: &RunReport, pairs| PairCounts { pairs, documents: report.documents.used };
    let guard = |one: &AlgorithmReport| {
        let known = before.algorithms.iter().find(|known| known.label == one.label)?;
        let count = |one: &AlgorithmReport| one.pairs_of_batch.unwrap_or(one.pairs);
        pairs(&one.label, of(now, count(one)), of(before, count(known)), factor)
    };
    now.algorithms.iter().filter_map(guard).collect()
}

/// Returns the guard on the amount of text, if it fired. An incremental run reads only new text, and there may be very little of it.
/// Therefore, the amount of text per document is compared.
fn over_text(now: &RunReport, before: &RunReport, is_incremental: bool, factor: u64) -> Option<Fired> {
    let of = |report: &RunReport| TextCounts { bytes: report.documents.text_bytes, documents: report.documents.used };
    shrunk(of(now), of(before), is_incremental, factor)
}

/// Returns the guards that were triggered by the input, and the guard in `others`, if any.
pub fn of_reading(
    session: &Session<'_>,
    stage: &Stage,
    losses: &Losses<'_>,
    used: u64,
    rejections: &RejectionsReport,
    others: Option<Fired>,
) -> Result<Vec<GuardReport>> {
    let mut fired = over_reading(session, losses, used, rejections);
    fired.extend(others);
    decided(session, stage, fired)
}

fn over_reading(session: &Session<'_>, losses: &Losses<'_>, used: u64, rejections: &RejectionsReport) -> Vec<Fired> {
    let read = read_counts(session, losses.bad, used, rejections.broken);
    let mut fired = reading(&read, session.options.guards.max_rejected_share);
    fired.extend(losses.fired());
    fired
}

/// Adds guards that were evaluated after the tables were written.
pub fn add(session: &Session<'_>, stage: &Stage, report: &mut RunReport, fired: Vec<Fired>) -> Result<()> {
    Ok(report.guards.extend(decided(session, stage, fired)?))
}

fn decided(session: &Session<'_>, stage: &Stage, fired: Vec<Fired>) -> Result<Vec<GuardReport>> {
    let holding = !session.options.guards.accept && (session.options.guards.previous.is_some() || stage.replaces()?);
    let report = |fired: Fired| GuardReport {
        name: fired.name.to_owned(),
        measured: fired.measured,
        limit: fired.limit,
        sentence: fired.sentence,
        held: holding,
    };
    let guards: Vec<GuardReport> = fired.into_iter().map(report).collect();
    if !session.options.incremental.is_reference {
        guards.iter().for_each(|guard| tracing::warn!("{}", guard.sentence));
    }
    Ok(guards)
}
