//! The name of a night: given once to one set of files, so that a night that comes again is known.

use std::path::{Path, PathBuf};

use super::place::place_of;
use crate::error::{Error, Result};
use crate::hash::hash128;
use crate::index::{Batch, Index, Manifest, State, stop_at};
use crate::io::{InputFile, SUCCESS};
use crate::job::products::of_file;
use crate::job::run_report::{IndexReport, RunReport};
use crate::options::RunOptions;
use crate::spelling::opt;

/// A night by its name and its files.
pub struct Named {
    /// What the user calls it.
    pub name: String,
    /// A hash of the files.
    pub inputs: String,
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
            return Err(Error::wrong(
                opt("batch"),
                format_args!("{name:?} cannot be the name of a night; expected a word"),
            ));
        }
        let mut lines = format!("{:?}\n", options.limit);
        for file in files {
            lines.push_str(&of_file(file)?);
        }
        Ok(Named { name, inputs: format!("{:032x}", hash128(lines.as_bytes())) })
    }
}

/// Looks whether a night of that name is in the index. If it is published as it is asked for, its record is returned; if it is to be
/// made again, the index is as it was before.
///
/// # Errors
/// [`Error::Usage`] where another night has the name, or nights came after it.
pub fn begin(index: &mut Index, options: &RunOptions, named: &Named) -> Result<Option<RunReport>> {
    let Some(manifest) = &index.manifest else { return Ok(None) };
    let Some(at) = manifest.batches.iter().position(|batch| batch.name == named.name) else { return Ok(None) };
    let (batch, shown) = (&manifest.batches[at], opt("batch").with(&named.name));
    if batch.inputs != named.inputs {
        return Err(Error::usage(format!(
            "{shown} is in the index already, with other files, whose result is {}; give this night another name by {}",
            batch.out.display(),
            opt("batch")
        )));
    }
    let stands = absolute(&options.out) == batch.out && batch.out.join(SUCCESS).is_file();
    if stands && !options.overwrite {
        tracing::info!("{shown} is published already, in {}", batch.out.display());
        return record(&batch.out).map(Some);
    }
    if at + 1 < manifest.batches.len() {
        return Err(Error::usage(format!(
            "{shown} is in the index already, and {} came after it; give this night another name by {}",
            manifest.batches[at + 1].name,
            opt("batch")
        )));
    }
    index.manifest = Some(without_last(manifest)?).filter(|manifest| !manifest.batches.is_empty());
    Ok(None)
}

/// The index as it was before its last night, under the number that it has now.
fn without_last(manifest: &Manifest) -> Result<Manifest> {
    let mut before = manifest.clone();
    let Some(Batch { first_doc, texts, name, .. }) = before.batches.pop() else { return Ok(before) };
    before.next_doc = first_doc;
    before.texts -= texts;
    if before.rows.iter().any(|rows| rows.first_doc < first_doc && rows.end_doc > first_doc) {
        return Err(Error::usage(format!("{name} cannot be made again: its rows were merged with others")));
    }
    before.rows.retain(|rows| rows.end_doc <= first_doc);
    // What was to be forgotten of it are numbers that other documents will have.
    before.forgotten.retain(|range| range[0] < first_doc);
    before.forgotten.iter_mut().for_each(|range| range[1] = range[1].min(first_doc));
    Ok(before)
}

/// Whether the output of a generation stands.
pub fn state(index: &Path, out: &Path, generation: u64) -> State {
    let stands = out.join(SUCCESS).is_file();
    let of_it = || {
        let report = record(out).ok()?;
        report.index.as_ref().map(|of| (of.generation, report.places(&of.folder, out)))
    };
    match of_it() {
        Some((found, folders))
            if stands && found == generation && folders.iter().any(|folder| absolute(folder) == absolute(index)) =>
        {
            State::Published
        }
        _ => State::Lost,
    }
}

/// The path from the root, as the index keeps it: the same before there is something and afterwards.
pub fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let below = |whole: &Path| Some(whole.parent()?.canonicalize().ok()?.join(whole.file_name()?));
    whole.canonicalize().ok().or_else(|| below(&whole)).unwrap_or(whole)
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
            "{} was matched against the index {}, which is not there; expected it there, or at the same place relative to the output",
            of.batch,
            dir.display()
        )));
    }
    let mut index = Index::open(dir, |out, generation| state(dir, out, generation))?;
    let is_it = |next: &Manifest| {
        let is_same = of.identity.is_empty() || next.identity(of.first_doc) == of.identity;
        is_same && next.generation == of.generation && next.batches.last().is_some_and(|batch| batch.name == of.batch)
    };
    let Some(next) = index.held()?.filter(is_it) else {
        return Err(Error::usage(format!(
            "{} was matched against generation {} of the index {}, which does not stand so any more; run it again with {}",
            of.batch,
            of.read_generation,
            dir.display(),
            opt("accept")
        )));
    };
    next.intend(dir)?;
    stop_at("intent");
    let out = publish()?;
    stop_at("output");
    index.publish(next)?;
    Ok(out)
}

fn record(out: &Path) -> Result<RunReport> {
    let path = out.join("run.json");
    let json = std::fs::read(&path).map_err(Error::reading("read", &path))?;
    serde_json::from_slice(&json).map_err(|error| Error::BadFile { path, why: error.to_string() })
}
