//! Implements the command-line commands, with keywords instead of flags. A command that writes an output returns the output folder.

use std::path::PathBuf;

use dupsift::cli::commands::run::called;
use dupsift::error::{Error, Result};
use dupsift::report::{self, DryRun, Screen};
use dupsift::{start, start_sample};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_commands::purify::Purify;
use dupsift_engine::job;
use dupsift_engine::options::{AddedColumns, CorpusFiles, Spelling, Verb, resolve};
use dupsift_engine::reading::again::work_again;
use dupsift_engine::reading::{self, Writes};
use dupsift_study::{
    self as study, ApplyOptions, Choice, CompareOptions, Finished, ListOptions, Listed, SampleOptions, Survivors,
};
use pyo3::prelude::*;

use crate::call::call;
use crate::columns::Column;
use crate::error::raised;
use crate::settings::Asked;
use crate::settings::{Given, settings};

type Keywords = Vec<(String, Given)>;
/// A function that receives the progress of stages; see `call.rs`.
type Teller = Option<Py<PyAny>>;

/// The width of a printed explanation.
const WIDTH: usize = 120;

/// Finds duplicates.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn run(py: Python<'_>, inputs: Vec<String>, options: Keywords, told: Teller) -> PyResult<PathBuf> {
    call(py, told, move |cancel, progress| {
        let settings = settings(Verb::Run, options)?;
        let options = resolve(inputs, &settings)?;
        let report = start(&options, None, progress, cancel)?;
        Ok(job::stands_in(&report, &options.output.folder))
    })
}

/// Estimates a run without writing an output. If a sample is requested, runs over the sample in a temporary folder. Returns the record as
/// JSON and as text.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn estimate(py: Python<'_>, inputs: Vec<String>, options: Keywords, told: Teller) -> PyResult<(String, String)> {
    call(py, told, move |cancel, progress| {
        let settings = settings(Verb::Run, options)?;
        let options = resolve(inputs, &settings)?;
        job::check_dry(&options)?;
        let inputs = reading::look(&options, cancel)?;
        let of_sample =
            || -> Result<_> { Ok((dupsift::estimate(&options, &inputs)?, start_sample(&options, progress, cancel)?)) };
        let sample = options.sampling.size.map(|_| of_sample()).transpose()?;
        let mut whole = options;
        whole.sampling.size = None;
        let (estimate, called) = (dupsift::estimate(&whole, &inputs)?, called(&settings, &whole));
        let sample = sample.as_ref().map(|(sampled, report)| (sampled, report));
        let record = DryRun::new(&whole, &estimate, sample.map(|(_, report)| report));
        Ok((json(&record)?, report::dry_run(&called, &estimate, sample)))
    })
}

/// Compares algorithms and presets.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn compare(py: Python<'_>, inputs: Vec<String>, options: Keywords, told: Teller) -> PyResult<PathBuf> {
    call(py, told, move |cancel, progress| {
        let settings = settings(Verb::Compare, options)?;
        let options = CompareOptions::resolve(inputs, &settings)?;
        study::check_compare(&options)?;
        job::check(&options.run)?;
        let inputs = reading::look_and_write(&options.run, progress, cancel, Writes::Texts)?;
        let compared = study::compare(&options, inputs, progress, cancel, &report::page)?;
        Ok(job::stands_in(&compared, &options.run.output.folder))
    })
}

/// Extracts the elements of web pages, or trains a category model.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn purify(py: Python<'_>, inputs: Vec<String>, options: Keywords, told: Teller) -> PyResult<PathBuf> {
    call(py, told, move |cancel, progress| {
        let command = Purify::resolve(inputs, &settings(Verb::Purify, options)?)?;
        let out = command.run.output.folder.clone();
        Ok(job::stands_in(&command.run(progress, cancel)?, &out))
    })
}

/// Compares a finished run with labels, and returns the record as JSON and as text.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    folder: PathBuf,
    truth: Vec<String>,
    options: Keywords,
    full: bool,
    input: Option<PathBuf>,
) -> PyResult<(String, String)> {
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(input.as_deref());
        let settings = settings(Verb::Evaluate, options)?;
        let (options, quotes) = (finished.options(&settings)?, study::truth_quotes(&settings));
        let report = study::evaluate(&finished, &options, &truth, quotes, progress, cancel)?;
        Ok((json(&report)?, spelled(report::evaluation(&report, &folder, full))))
    })
}

/// Explains why two documents are or aren't a pair, or why a document was removed; without ids, explains a removal that is drawn with this
/// seed, or the most doubtful one. Returns the record as JSON, the explanation as text, and the highlighted differences as HTML.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn explain(
    py: Python<'_>,
    folder: PathBuf,
    asked: Vec<String>,
    rows: bool,
    input: Option<PathBuf>,
    seed: u64,
    worst: bool,
) -> PyResult<(String, String, String)> {
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(input.as_deref());
        let options = finished.options(&settings(Verb::Explain, Vec::new())?)?;
        let explained = match asked[..] {
            [] => {
                let choice = if worst { Choice::Worst } else { Choice::Drawn(seed) };
                study::explain_any(&finished, &options, choice, progress, cancel)?
            }
            _ => study::explain(&finished, &options, &asked, rows, progress, cancel)?,
        };
        let (json, marked) = (json(&explained)?, report::marked(&explained));
        let screen = Screen { width: WIDTH, colours: false, full: false };
        Ok((json, report::explanation(&explained.spelled(Spelling::Keywords), screen), marked))
    })
}

/// Lists the rows of a finished run. Returns the list as JSON and as text.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn show(
    py: Python<'_>,
    folder: PathBuf,
    what: String,
    shown: (usize, bool),
    chosen: (Option<String>, Option<String>),
    input: Option<PathBuf>,
) -> PyResult<(String, String)> {
    let what = match what.as_str() {
        "removed" => Listed::Removed,
        "kept_similar" => Listed::KeptSimilar,
        "clusters" => Listed::Clusters,
        other => {
            let expected = "expected \"removed\", \"kept_similar\" or \"clusters\"";
            return Err(raised(py, Error::wrong_value("what", format_args!("{other:?}"), expected)));
        }
    };
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(input.as_deref());
        let options = finished.options(&settings(Verb::Show, Vec::new())?)?;
        let ((limit, worst), (grep, source)) = (shown, chosen);
        let asked = ListOptions { what, limit, worst, grep, source };
        let found = study::list(&finished, &options, &asked, progress, cancel)?;
        Ok((json(&found)?, spelled(report::listing(&found, &folder, WIDTH))))
    })
}

/// Counts what each removal rule removes. Returns the table as JSON and as text.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn rules(py: Python<'_>, folder: PathBuf, input: Option<PathBuf>) -> PyResult<(String, String)> {
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(input.as_deref());
        let options = finished.options(&settings(Verb::Show, Vec::new())?)?;
        let found = study::rules(&finished, &options, progress, cancel)?;
        Ok((json(&found)?, spelled(report::rule_table(&found, &folder))))
    })
}

/// Draws removals for labeling. Returns the sample as JSON and as CSV.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn sample(
    py: Python<'_>,
    folder: PathBuf,
    drawn: (usize, u64),
    by: (bool, bool),
    input: Option<PathBuf>,
) -> PyResult<(String, String)> {
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(input.as_deref());
        let options = finished.options(&settings(Verb::Show, Vec::new())?)?;
        let ((pairs, seed), (by_similarity, by_source)) = (drawn, by);
        let asked = SampleOptions { pairs, by_similarity, by_source, seed };
        let drawn = study::sample(&finished, &options, &asked, progress, cancel)?;
        Ok((json(&drawn)?, report::label_table(&drawn)))
    })
}

/// Publishes a held result, and returns its new folder.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn accept(py: Python<'_>, folder: PathBuf, reason: Option<String>) -> PyResult<PathBuf> {
    call(py, None, move |_, _| Ok(dupsift::accept(&folder, reason)?.out))
}

/// Removes a held result. Returns whether its index still had the batch, or `None` without an index.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn reject(py: Python<'_>, folder: PathBuf) -> PyResult<Option<bool>> {
    call(py, None, move |_, _| dupsift::reject(&folder))
}

/// Returns the columns of a data frame that a finished run read, as [`crate::frame::frame_columns`] does.
///
/// # Errors
/// Returns an error if the folder is not the output of a run over a data frame.
#[pyfunction]
pub fn columns_read(py: Python<'_>, folder: PathBuf) -> PyResult<(Vec<Asked>, bool)> {
    let columns = || {
        let finished = Finished::open(&folder)?;
        if finished.frame().is_none() {
            let shown = folder.display();
            return Err(Error::usage(format!(
                "{shown} is the result of files, not of a frame; pass the folder of the files"
            )));
        }
        let options = finished.options(&settings(Verb::Explain, Vec::new())?)?;
        let columns = reading::columns(&options);
        let keyword = if options.columns.html { "html_column" } else { "text_column" };
        let text = (columns.text, Some(keyword.to_owned()));
        let others = std::iter::once(columns.id).chain(columns.others).filter(|name| *name != text.0);
        let others: Vec<Asked> = others.map(|name| (name, None)).collect();
        Ok((std::iter::once(text).chain(others).collect(), options.output.corpus.copies()))
    };
    columns().map_err(|error| raised(py, error))
}

/// Returns whether a file has the contents that a finished run read.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn is_input(py: Python<'_>, folder: PathBuf, input: PathBuf) -> PyResult<bool> {
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(Some(&input));
        let options = finished.options(&settings(Verb::Explain, Vec::new())?)?;
        let compared = finished.corpus(&options, progress, cancel).and_then(|inputs| {
            work_again(&options, &inputs.source, progress, cancel, |session| finished.check_contents(session))
        });
        match compared {
            Ok(()) => Ok(true),
            Err(Error::Usage { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    })
}

/// Applies a different removal rule. Returns the mask of the kept rows, the numbers of the removed rows, and the row
/// that is kept instead of each removed row.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn survivors(
    py: Python<'_>,
    folder: PathBuf,
    remove_if: Option<String>,
    thresholds: Vec<(String, f64)>,
    input: Option<PathBuf>,
) -> PyResult<(Column, Column, Column)> {
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(input.as_deref());
        let options = finished.options(&settings(Verb::Apply, Vec::new())?)?;
        let remove_if = remove_if.as_deref().map(RemoveIf::parse).transpose()?;
        let asked = ApplyOptions { remove_if, thresholds, ..ApplyOptions::default() };
        let Survivors { rows, removed } = study::survivors(&finished, &options, &asked, progress, cancel)?;
        let mut kept = vec![true; rows as usize];
        removed.iter().for_each(|(doc, _)| kept[*doc as usize] = false);
        finished.blank_rows(|row| kept[row as usize] = false)?;
        let (docs, kept_docs): (Vec<u64>, Vec<u64>) = removed.into_iter().unzip();
        Ok((Column::of_flags(kept), Column::of_rows(docs), Column::of_rows(kept_docs)))
    })
}

/// Writes the corpus of a finished run to the folder of the run or to a different folder, and returns the summary.
///
/// # Errors
/// See `error.rs`.
#[pyfunction]
pub fn apply(
    py: Python<'_>,
    folder: PathBuf,
    corpus: String,
    out: Option<PathBuf>,
    remove_if: Option<String>,
    thresholds: Vec<(String, f64)>,
    input: Option<PathBuf>,
    add: String,
    overwrite: bool,
) -> PyResult<String> {
    call(py, None, move |cancel, progress| {
        let finished = Finished::open(&folder)?.with_corpus(input.as_deref());
        let settings = settings(Verb::Apply, Vec::new())?;
        let remove_if = remove_if.as_deref().map(RemoveIf::parse).transpose()?;
        let asked = ApplyOptions {
            corpus: CorpusFiles::parse(&corpus)?,
            add: AddedColumns::parse(&add)?,
            remove_if,
            thresholds,
            out,
            overwrite,
        };
        let report = study::apply(&finished, &settings, &asked, progress, cancel)?;
        Ok(spelled(report::applied(&report, asked.out.as_deref().unwrap_or(&folder))))
    })
}

/// Returns the text, with options spelled as keywords.
fn spelled(text: String) -> String {
    Spelling::Keywords.of(&text).into_owned()
}

fn json(report: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(report).map_err(Error::table("write JSON"))
}

/// Returns the summary of the run or comparison that wrote this folder, as printed on the command line.
///
/// # Errors
/// Returns an error if the folder is not the output of a finished run.
#[pyfunction]
pub fn summary(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    report::finished(&folder, report::Detail::Short).map(spelled).map_err(|error| raised(py, error))
}

/// Runs a command line, which begins with the name of the program, and returns the exit code.
#[pyfunction]
pub fn main(py: Python<'_>, typed: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| dupsift::cli::program(typed).code())
}
