//! Assigns names to batches. Each name stands for one set of files, so a batch is recognized when it is run again.

pub(crate) mod job;
pub(crate) mod place;
pub(crate) mod published;
pub(crate) mod recipe;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::safe_fs::Readers;
use dupsift_core::safe_fs::listing::{self, is_folder};
use dupsift_engine::job::run_report::{IndexReport, RunReport};
use dupsift_engine::job::saved::of_file;
use dupsift_engine::options::RunOptions;
use dupsift_index::{Batch, Index, Manifest, stop_at};
use dupsift_input::InputFile;
use place::place_of;
use published::{is_output_of, record, state};
use recipe::lines;

/// Identifies a batch by its name and its files.
pub(crate) struct Named {
    /// The name of the batch.
    pub name: String,
    /// A hash of the names, sizes, first and last bytes, and row counts of the input files.
    pub inputs: String,
    /// A hash of the file system metadata of the input files.
    pub stamps: String,
}

impl Named {
    /// Identifies the batch that consists of `files`. The name comes from the option or, if it is not given, from the last component of the
    /// output path.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the name is invalid, or an error if a file cannot be read.
    pub(crate) fn new(options: &RunOptions, files: &[InputFile]) -> Result<Named> {
        let last = || options.output.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = options.incremental.batch.clone().or_else(last).unwrap_or_default();
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(Error::wrong("batch", format_args!("{name:?} cannot be the name of a batch; expected a word")));
        }
        let mut lines = format!("{:?}\n", options.sampling.limit);
        let mut stamps = String::new();
        for file in files {
            lines.push_str(&of_file(file)?);
            stamps.push_str(&format!("{}\n", file.seen()));
        }
        let hash = |lines: String| format!("{:032x}", hash128(lines.as_bytes()));
        Ok(Named { name, inputs: hash(lines), stamps: hash(stamps) })
    }
}

/// Indicates whether a batch still has to be run.
pub(crate) enum Begun {
    /// The batch is already published with the same options; holds its record.
    Published(Box<RunReport>),
    /// The batch must be run; holds its earlier result if the batch is recomputed.
    Run(Option<MadeAgain>),
}

/// Describes the earlier result of a batch that is being recomputed.
pub(crate) struct MadeAgain {
    /// The number of rows in the earlier result.
    pub rows: u64,
    /// The ranges of forgotten documents in the batch, which stay forgotten.
    pub forgotten: Vec<[u64; 2]>,
}

/// The options that are ignored when checking whether a batch is already published: file paths, resource limits, guards (which only
/// determine whether the result is published), and options that the index itself compares.
const FREE: [&str; 22] = [
    "accept",
    "batch",
    "checkpoint",
    "dictionary",
    "guard-rows",
    "index",
    "input",
    "max-candidates-factor",
    "max-pairs-factor",
    "max-rejected-share",
    "max-removed-share",
    "max-shrink-factor",
    "memory",
    "out",
    "overwrite",
    "planned-documents",
    "previous",
    "resume",
    "stats",
    "stop-words",
    "threads",
    "work",
];

/// Checks whether the index already has a batch with this name. Returns the record of that batch if it was published with the same options.
/// If the batch has to be recomputed, `manifest` is reset to the state of the index before that batch. `contents` reads the files and
/// returns a hash of their content; it is called only if the file system metadata differs.
///
/// # Errors
/// Returns [`Error::Usage`] if another batch has the same name, if the batch was run with different options, if later batches follow it, or
/// if the output folder holds the result of a different run.
pub(crate) fn begin(
    manifest: &mut Option<Manifest>,
    dir: &Path,
    options: &RunOptions,
    named: &Named,
    contents: &dyn Fn() -> Result<Option<String>>,
) -> Result<Begun> {
    let Some(now) = &*manifest else { return Ok(Begun::Run(None)) };
    let Some(at) = now.batches.iter().position(|batch| batch.name == named.name) else { return Ok(Begun::Run(None)) };
    let (batch, shown) = (&now.batches[at], format!("`batch={}`", named.name));
    let is_other = || Ok(batch.stamps != named.stamps && contents()?.as_ref() != Some(&batch.contents));
    if batch.inputs != named.inputs || is_other()? {
        return Err(Error::usage(format!(
            "{shown} is already in the index, but with different input files (its result is {}); give this run a different name with `batch`",
            batch.out.display(),
        )));
    }
    let later = now.batches.get(at + 1);
    // The output is also recognized if the index and its outputs were moved.
    let is_there = is_output_of(batch, &options.output.folder)?;
    if is_there && !options.output.overwrite {
        let record = record(&options.output.folder)?;
        let differences = other_options(&record, now, options)?;
        if differences.is_empty() {
            tracing::info!("{shown} was already published in {}", options.output.folder.display());
            return Ok(Begun::Published(Box::new(record)));
        }
        let way_out = match later {
            None => "use `overwrite` to write it again, or give this run a different name with `batch`".to_owned(),
            Some(_) => "give this run a different name with `batch`".to_owned(),
        };
        return Err(Error::usage(format!(
            "{shown} was already published in {}, with different options: {}; {way_out}",
            options.output.folder.display(),
            differences.join(", ")
        )));
    }
    let stands = is_there || is_output_of(batch, &batch.out)?;
    if let Some(later) = later {
        let result = match stands {
            true => format!("its result is {}", batch.out.display()),
            false => format!(
                "its result is no longer in {}; to include its documents in a result again, forget them first: `dupsift index forget {}` with {shown}",
                batch.out.display(),
                dir.display()
            ),
        };
        return Err(Error::usage(format!(
            "{shown} is already in the index, followed by {}; {result}; give this run a different name with `batch`",
            later.name
        )));
    }
    if !options.output.overwrite && stands {
        return Err(Error::usage(format!(
            "{shown} was already published in {}; pass `overwrite` to write it again to {}",
            batch.out.display(),
            options.output.folder.display()
        )));
    }
    if !options.output.overwrite && listing::is_there(&options.output.folder)? {
        return Err(Error::usage(format!(
            "the result in {} differs from that of {shown}, which is in the index; use `overwrite` to replace it, or pass another `out`",
            options.output.folder.display()
        )));
    }
    let forgotten = now.forgotten_in(batch.first_doc, batch.first_doc + batch.rows);
    let again = MadeAgain { rows: batch.rows, forgotten };
    *manifest = Some(without_last(now)?).filter(|manifest| !manifest.batches.is_empty());
    Ok(Begun::Run(Some(again)))
}

/// Returns those differences between a requested run and a recorded run that affect the result.
fn other_options(report: &RunReport, manifest: &Manifest, options: &RunOptions) -> Result<Vec<String>> {
    let asked = dupsift_engine::options::record(options);
    let names: BTreeSet<&String> = asked.keys().chain(report.options.keys()).collect();
    let shown = |value: Option<&serde_json::Value>| match value {
        None => "none".to_owned(),
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    let differs = |name: &&String| !FREE.contains(&name.as_str()) && report.options.get(*name) != asked.get(*name);
    let mut differences: Vec<String> = names
        .into_iter()
        .filter(differs)
        .map(|name| {
            format!(
                "{name}: {} in the published run, {} in this run",
                shown(report.options.get(name)),
                shown(asked.get(name))
            )
        })
        .collect();
    if differences.is_empty() {
        // Word lists are compared by content.
        differences = manifest.differences(&lines(options)?);
    }
    Ok(differences)
}

/// Returns the state of the index before its last batch, with the current generation number.
fn without_last(manifest: &Manifest) -> Result<Manifest> {
    let mut before = manifest.clone();
    let Some(Batch { first_doc, texts, name, .. }) = before.batches.pop() else { return Ok(before) };
    before.next_doc = first_doc;
    before.texts = before.texts.saturating_sub(texts);
    if before.rows.iter().any(|rows| rows.first_doc < first_doc && rows.end_doc > first_doc) {
        return Err(Error::usage(format!(
            "{name} cannot be recomputed, because its rows were merged with rows from other batches"
        )));
    }
    before.rows.retain(|rows| rows.end_doc <= first_doc);
    // After the batch is recomputed, its forgotten documents are marked as forgotten again.
    before.forgotten = before.forgotten_in(0, first_doc);
    Ok(before)
}

/// Makes the index forget the held batch of this result. Returns whether the index held the batch: another batch may have replaced it.
///
/// # Errors
/// Returns an error if the index is used by another run, is damaged, or cannot be written.
pub fn reject(of: &IndexReport, report: &RunReport, held: &Path) -> Result<bool> {
    let dir = &place_of(of, report, held);
    if of.generation == of.read_generation || !is_folder(dir)? {
        return Ok(false);
    }
    let index = Index::open(dir, state)?;
    match index.held()?.is_some_and(|next| is_held_for(of, &next)) {
        true => index.hold_none().map(|()| true),
        false => Ok(false),
    }
}

/// Returns whether a held generation of an index belongs to this result.
fn is_held_for(of: &IndexReport, next: &Manifest) -> bool {
    let publication = next.batches.last().map(|batch| &batch.publication);
    next.generation == of.generation && publication == Some(&of.publication)
}

/// Publishes the held result in `held`, and adds its batch to the index. `publish` renames the result.
///
/// # Errors
/// Returns [`Error::Usage`] if the index has changed since the batch was matched against the index, or an error from `publish`.
pub fn accept(
    of: &IndexReport,
    report: &RunReport,
    held: &Path,
    publish: &mut dyn FnMut() -> Result<PathBuf>,
) -> Result<PathBuf> {
    if of.generation == of.read_generation {
        // The batch was matched against a reference, to which nothing is added.
        return publish();
    }
    let dir = &place_of(of, report, held);
    if !is_folder(dir)? {
        return Err(Error::usage(format!(
            "{} was matched against the index {}, which does not exist; move the index back, or move it to the same location relative to the output",
            of.batch,
            dir.display()
        )));
    }
    let mut index = Index::open(dir, state)?;
    let is_here = |batch: &Batch| !of.publication.is_empty() && batch.publication == of.publication;
    if index.manifest.as_ref().is_some_and(|manifest| manifest.batches.iter().any(is_here)) {
        // An earlier call was interrupted after it had published the result, and opening the index has completed its work.
        return publish();
    }
    let Some(next) = index.held()?.filter(|next| is_held_for(of, next)) else {
        return Err(Error::usage(format!(
            "the index {} no longer holds the data of the batch {}, because it has changed since; run the batch again on the same files with `accept`, or remove the result: dupsift reject {}",
            dir.display(),
            of.batch,
            held.display()
        )));
    };
    index.check_there(&next)?;
    index.intend(&next, &Readers::of([&*held.join("run.json")]))?;
    stop_at("intent");
    let out = publish()?;
    stop_at("output");
    index.publish(next)?;
    Ok(out)
}
