//! Estimates the cost of a run before it starts, from the schema, the file sizes and the recipe. Reads file footers but no documents.

use bytesize::ByteSize;

use crate::engine::Leg;
use crate::engine::budget::Budget;
use crate::job::cut;
use crate::job::saved::left;
use crate::job::write::corpus_files::check_formats;
use crate::options::RunOptions;
use crate::reading::inputs::Inputs;
use crate::session::sample::{Sample, taking_part};
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::algorithm::contract::banding::Banding;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_algorithms::steps::passes::{Pass, Size, passes};
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::Result;
use dupsift_core::number::{counted, thousands};
use dupsift_input::{InputFile, Source};

/// Holds the estimate for a run.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// The number of rows in all files.
    pub documents: u64,
    /// The size of the input files on disk, in bytes.
    pub input_bytes: u64,
    /// The approximate size of the temporary files in bytes, excluding candidates to verify.
    pub disk_bytes: u64,
    /// The peak anonymous memory in bytes, excluding the allowance for the longest document.
    pub memory_bytes: u64,
    /// The lines to print.
    pub lines: Vec<String>,
    /// The passes of the run, in order.
    pub passes: Vec<Pass>,
    /// The passes and the subsequent steps, in the form that progress reports use.
    pub legs: Vec<Leg>,
}

/// The amount of work in each pass, relative to a counting pass (1.0). Each value is approximately the number of CPU seconds that the pass
/// takes for 100 MB of mixed text with the default algorithms.
const WORK: &[(&str, f64)] = &[
    ("copies", 0.4),
    ("prefilter", 0.6),
    ("first pass", 1.0),
    ("learn", 1.0),
    ("saved words", 0.5),
    ("second pass", 0.7),
    ("group", 0.1),
    ("verify", 0.1),
    ("margin", 0.02),
    ("relate", 0.15),
    ("verify last", 0.1),
    ("decide", 0.03),
    ("tables", 0.03),
    ("passages", 0.5),
    ("cut", 0.1),
];

fn legs(options: &RunOptions, passes: &[Pass]) -> Vec<Leg> {
    let work = |name: &str| WORK.iter().find(|(known, _)| *known == name).map_or(0.1, |(_, work)| *work);
    let leg = |pass: &Pass| Leg { stages: pass.stages.clone(), count: pass.count, work: work(pass.name) };
    let corpus = Leg { stages: vec!["write attributes/", "write deduped/", "write dropped/"], count: 1, work: 0.3 };
    let page = Leg { stages: vec!["report"], count: 1, work: 0.07 };
    let behind = [(!options.output.corpus.is_none(), corpus), (options.output.report, page)];
    passes.iter().map(leg).chain(behind.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, leg)| leg)).collect()
}

/// Estimates the cost of a run.
///
/// # Errors
/// Returns an error if the memory limit is too low, if parameters contradict each other, or if the formats of the files do not
/// support the requested output.
pub fn estimate(options: &RunOptions, inputs: &Inputs) -> Result<Estimate> {
    Budget::new(options.resources.memory, options.resources.threads)?;
    let source = &inputs.source;
    let (read, input_bytes) = size(options, source);
    let Size { documents, text_bytes, .. } = read;
    let stats = CorpusStats::none();
    let bound = options.recipe.bind(&Corpus::new(documents, &stats), &[])?;
    let plan = Plan::new(&options.recipe, documents, options.resources.prefilter, options.duplicates.stats.is_some())?;
    check_formats(options, source)?;
    let mut passes = passes(&plan, &options.recipe, &bound, read);
    // The passes that find passages come before the pass that writes the tables.
    let tables = passes.iter().position(|pass| pass.name == "tables").unwrap_or(passes.len());
    passes.splice(tables..tables, cut::passes(options, read));
    let readings = passes.iter().filter(|pass| pass.is_reading).count();
    let is_repacked = options.sampling.limit.is_none()
        && options.incremental.index.is_none()
        && options.incremental.reference.is_none();
    let repacked = if is_repacked { source.repacked_bytes() } else { 0 };
    let disk_bytes = passes.iter().map(|pass| pass.writes).sum::<u64>() + repacked;
    let memory_bytes = options.resources.memory + (150 << 20);
    let size = |bytes: u64| ByteSize(bytes).to_string();
    let (of, sample) = match options.sampling.size {
        Some(_) => {
            (format!(" of {}", counted(taking_part(options, source.documents()).0, "document")), " in the sample")
        }
        None => (String::new(), ""),
    };
    let again = bound.iter().any(|bound| bound.verify().is_some() && !bound.takes_evidence_early());
    let then = if again { ", then the documents in candidate pairs" } else { "" };
    let passes_over = match readings {
        1 => "one pass".to_owned(),
        more => format!("{more} passes"),
    };
    let curves = bound.iter().filter_map(|bound| Some(curve(&bound.label, bound.scheme.banding?)));
    let mut lines = vec![
        format!(
            "{}{of} in {} ({})",
            if of.is_empty() { counted(documents, "document") } else { format!("sample of {}", thousands(documents)) },
            counted(source.files.len() as u64, "file"),
            size(input_bytes)
        ),
        format!(
            "about {} of text{sample}, {passes_over}{then}; memory limit {}; temporary files about {}",
            size(text_bytes),
            size(options.resources.memory),
            size(disk_bytes)
        ),
    ];
    lines.extend(curves);
    let addresses = options.recipe.algorithms.iter().find(|one| one.compares_addresses() && options.removal.removes);
    if let (Some(one), RemoveIf::Pair) = (addresses, options.removal.remove_if) {
        lines.push(format!("{}: documents with equal web addresses are removed (`remove-if=pair`)", one.label));
    }
    // Checkpoints of an incremental run depend on the index, which an estimate does not open.
    if options.incremental.index.is_none() && options.incremental.reference.is_none() {
        lines.extend(left(options, source, &plan)?);
    }
    let legs = legs(options, &passes);
    Ok(Estimate { documents, input_bytes, disk_bytes, memory_bytes, lines, passes, legs })
}

/// Describes the share of pairs with a given similarity that become candidates.
fn curve(label: &str, banding: Banding) -> String {
    let at = |s: f64| format!("{:.0}% at {s}", 100.0 * banding.lets_through(s));
    let (bands, rows) = (counted(banding.bands as u64, "band"), counted(banding.rows as u64, "row"));
    format!(
        "{label}: {bands} of {rows}; expected recall by similarity: {}",
        [0.5, 0.6, 0.7, 0.8, 0.9].map(at).join(", ")
    )
}

/// Returns the approximate size of the temporary files in bytes, excluding candidates to verify.
///
/// # Errors
/// Returns an error if parameters contradict each other.
pub(crate) fn disk_bytes(options: &RunOptions, source: &Source) -> Result<u64> {
    let (size, stats) = (size(options, source).0, CorpusStats::none());
    let bound = options.recipe.bind(&Corpus::new(size.documents, &stats), &[])?;
    let plan =
        Plan::new(&options.recipe, size.documents, options.resources.prefilter, options.duplicates.stats.is_some())?;
    Ok(passes(&plan, &options.recipe, &bound, size).iter().map(|pass| pass.writes).sum())
}

/// Returns the size of the documents that will be read, and the size of the input files in bytes.
fn size(options: &RunOptions, source: &Source) -> (Size, u64) {
    let (documents, sample) = taking_part(options, source.documents());
    let documents = sample.map_or(documents, Sample::documents);
    let share = documents as f64 / source.documents().max(1) as f64;
    let sum = |bytes: fn(&InputFile) -> u64| (source.files.iter().map(bytes).sum::<u64>() as f64 * share) as u64;
    let page_bytes = sum(|file| if file.html { file.text_bytes } else { 0 });
    (Size { documents, text_bytes: sum(|file| file.text_bytes), page_bytes }, sum(|file| file.bytes))
}
