//! The name of a night: given once to one set of files, so that a night that comes again is known.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::place::place_of;
use super::published::{is_output_of, record, state};
use super::recipe::lines;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_engine::job::run_report::{IndexReport, RunReport};
use dupsift_engine::job::saved::of_file;
use dupsift_engine::options::RunOptions;
use dupsift_files::io::InputFile;
use dupsift_index::{Batch, Index, Manifest, stop_at};

/// A night by its name and its files.
pub struct Named {
    /// What the user calls it.
    pub name: String,
    /// A hash of the files: names, sizes, ends and rows.
    pub inputs: String,
    /// A hash of what the file system says of them.
    pub stamps: String,
}

impl Named {
    /// By the option, or else the last part of the output's path.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name that cannot be one; files that cannot be read.
    pub fn new(options: &RunOptions, files: &[InputFile]) -> Result<Named> {
        let last = || options.out.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = options.batch.clone().or_else(last).unwrap_or_default();
        if name.is_empty() || name.chars().any(char::is_control) {
            return Err(Error::wrong("batch", format_args!("{name:?} cannot be the name of a batch; expected a word")));
        }
        let mut lines = format!("{:?}\n", options.limit);
        let mut stamps = String::new();
        for file in files {
            lines.push_str(&of_file(file)?);
            stamps.push_str(&format!("{}\n", file.seen()));
        }
        let hash = |lines: String| format!("{:032x}", hash128(lines.as_bytes()));
        Ok(Named { name, inputs: hash(lines), stamps: hash(stamps) })
    }
}

/// What is to be done with a batch.
pub enum Begun {
    /// It is published as it is asked for; this is its record.
    Published(Box<RunReport>),
    /// It is new, or made again.
    Run(Option<MadeAgain>),
}

/// What is known of a batch that is made again.
pub struct MadeAgain {
    /// The rows that it had.
    pub rows: u64,
    /// The ranges of its documents that were forgotten, and stay so.
    pub forgotten: Vec<[u64; 2]>,
}

/// Options that do not change what a result says: resources, guards, which only decide whether it is published, and what is compared by
/// the index itself.
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

/// Looks whether a batch of that name is in the index. If it is published as it is asked for, its record is returned; if it is to be
/// made again, `manifest` becomes what the index was before it. `contents` reads the files and returns a hash of what they hold; it is
/// called only if the file system says that they may be others.
///
/// # Errors
/// [`Error::Usage`] if another batch has the name, if it was made with other options, if batches came after it, or if its place has the
/// result of another run.
pub fn begin(
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
            "{shown} is already in the index, with other files and the result {}; give this run another name with `batch`",
            batch.out.display(),
        )));
    }
    let later = now.batches.get(at + 1);
    // Also where the index and its outputs were moved.
    let is_there = is_output_of(batch, &options.out)?;
    if is_there && !options.overwrite {
        let record = record(&options.out)?;
        let differences = other_options(&record, now, options)?;
        if differences.is_empty() {
            tracing::info!("{shown} is published already, in {}", options.out.display());
            return Ok(Begun::Published(Box::new(record)));
        }
        let way_out = match later {
            None => "`overwrite` makes it again; or give this run another name by `batch`".to_owned(),
            Some(_) => "give this run another name by `batch`".to_owned(),
        };
        return Err(Error::usage(format!(
            "{shown} was already published, in {}, with other options: {}; {way_out}",
            options.out.display(),
            differences.join(", ")
        )));
    }
    let stands = is_there || is_output_of(batch, &batch.out)?;
    if let Some(later) = later {
        let result = match stands {
            true => format!("its result is {}", batch.out.display()),
            false => format!(
                "its result is not in {} any more; to have its documents in a result, forget them (dupsift index forget {} {shown}) first",
                batch.out.display(),
                dir.display()
            ),
        };
        return Err(Error::usage(format!(
            "{shown} is already in the index, followed by {}; {result}; give this run another name with `batch`",
            later.name
        )));
    }
    if !options.overwrite && stands {
        return Err(Error::usage(format!(
            "{shown} was already published, in {}; pass `overwrite` to write it again to {}",
            batch.out.display(),
            options.out.display()
        )));
    }
    if !options.overwrite && options.out.symlink_metadata().is_ok() {
        return Err(Error::usage(format!(
            "{} holds another result than that of {shown}, which is in the index; `overwrite` replaces it by that of the batch; or give another `out`",
            options.out.display()
        )));
    }
    let forgotten = now.forgotten_in(batch.first_doc, batch.first_doc + batch.rows);
    let again = MadeAgain { rows: batch.rows, forgotten };
    *manifest = Some(without_last(now)?).filter(|manifest| !manifest.batches.is_empty());
    Ok(Begun::Run(Some(again)))
}

/// How a run that is asked for differs from one that was recorded, in what its result says.
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
        .map(|name| format!("{name} {} there, {} here", shown(report.options.get(name)), shown(asked.get(name))))
        .collect();
    if differences.is_empty() {
        // Files of words are compared by what they hold.
        differences = manifest.differences(&lines(options)?);
    }
    Ok(differences)
}

/// The index as it was before its last night, under the number that it has now.
fn without_last(manifest: &Manifest) -> Result<Manifest> {
    let mut before = manifest.clone();
    let Some(Batch { first_doc, texts, name, .. }) = before.batches.pop() else { return Ok(before) };
    before.next_doc = first_doc;
    before.texts = before.texts.saturating_sub(texts);
    if before.rows.iter().any(|rows| rows.first_doc < first_doc && rows.end_doc > first_doc) {
        return Err(Error::usage(format!("{name} cannot be recomputed: its rows were merged with others")));
    }
    before.rows.retain(|rows| rows.end_doc <= first_doc);
    // Those of the batch are forgotten again when it has been made again.
    before.forgotten = before.forgotten_in(0, first_doc);
    Ok(before)
}

/// Publishes a result that a guard held back in `held`, and in the index the night that it is: `publish` gives the result its name.
///
/// # Errors
/// [`Error::Usage`] where the index is another one than that which the night was matched against; what `publish` returns.
pub fn accept(
    of: &IndexReport,
    report: &RunReport,
    held: &Path,
    publish: &mut dyn FnMut() -> Result<PathBuf>,
) -> Result<PathBuf> {
    if of.generation == of.read_generation {
        // It was matched against a reference, to which nothing is added.
        return publish();
    }
    let dir = &place_of(of, report, held);
    if !dir.is_dir() {
        return Err(Error::usage(format!(
            "{} was matched against the index {}, which does not exist; move it back, or to the same place relative to the output",
            of.batch,
            dir.display()
        )));
    }
    let mut index = Index::open(dir, state)?;
    let is_it = |next: &Manifest| {
        let publication = next.batches.last().map(|batch| &batch.publication);
        next.generation == of.generation && publication == Some(&of.publication)
    };
    let Some(next) = index.held()?.filter(is_it) else {
        return Err(Error::usage(format!(
            "{} was matched against generation {} of the index {}, which no longer exists; run it again with `accept`",
            of.batch,
            of.read_generation,
            dir.display()
        )));
    };
    index.check_there(&next)?;
    index.intend(&next)?;
    stop_at("intent");
    let out = publish()?;
    stop_at("output");
    index.publish(next)?;
    Ok(out)
}
