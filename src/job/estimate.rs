//! What a run will take, said before it starts: from the schema, the sizes and the recipe; footers are read, no documents.

use bytesize::ByteSize;

use crate::algorithm::Corpus;
use crate::algorithm::contract::banding::Banding;
use crate::corpus::CorpusStats;
use crate::engine::budget::Budget;
use crate::error::Result;
use crate::io::{InputFile, Source};
use crate::job::products::left;
use crate::number::counted;
use crate::options::RunOptions;
use crate::reading::inputs::Inputs;
use crate::stage::passes::{Pass, Size, passes};
use crate::stage::plan::Plan;

/// The estimate.
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// Rows of all files.
    pub documents: u64,
    /// Bytes of input files on disk.
    pub input_bytes: u64,
    /// Bytes of work files, about, without candidates to verify.
    pub disk_bytes: u64,
    /// Anonymous memory at most, without the allowance for the longest document.
    pub memory_bytes: u64,
    /// Lines for the reader.
    pub lines: Vec<String>,
    /// The passes of the run, in order.
    pub passes: Vec<Pass>,
}

/// Estimates the work.
///
/// # Errors
/// Too little memory, or parameters that contradict each other.
pub fn estimate(options: &RunOptions, inputs: &Inputs) -> Result<Estimate> {
    Budget::new(options.memory, options.threads)?;
    let source = &inputs.source;
    let (read, input_bytes) = size(options, source);
    let Size { documents, text_bytes, .. } = read;
    let stats = CorpusStats::none();
    let bound = options.recipe.bind(&Corpus::new(documents, &stats), &[])?;
    let plan = Plan::new(&options.recipe, documents, options.sift, options.stats.is_some())?;
    let passes = passes(&plan, &options.recipe, &bound, read);
    let readings = passes.iter().filter(|pass| pass.is_reading).count();
    let disk_bytes = passes.iter().map(|pass| pass.writes).sum();
    let memory_bytes = options.memory + (150 << 20);
    let size = |bytes: u64| ByteSize(bytes).to_string();
    let again = bound.iter().any(|bound| bound.verify().is_some() && !bound.takes_evidence_early());
    let then = if again { "; then only documents that stand in a candidate pair" } else { "" };
    let curves = bound.iter().filter_map(|bound| Some(curve(&bound.label, bound.signer.banding()?)));
    let mut lines = vec![
        format!(
            "{} in {} ({} on disk, {} of text as far as the files tell)",
            counted(documents, "document"),
            counted(source.files.len() as u64, "file"),
            size(input_bytes),
            size(text_bytes)
        ),
        format!("readings of the corpus: {readings}{then}"),
        format!(
            "memory: at most {} + 30 times the longest document; work files: about {} and, where pairs are verified, what the candidates need",
            size(memory_bytes),
            size(disk_bytes)
        ),
    ];
    lines.extend(curves);
    // A night against an index has products of its own.
    if options.index.is_none() && options.reference.is_none() {
        lines.extend(left(options, source, &plan)?);
    }
    Ok(Estimate { documents, input_bytes, disk_bytes, memory_bytes, lines, passes })
}

/// How many of the pairs of a similarity bands let through.
fn curve(label: &str, banding: Banding) -> String {
    let at = |s: f64| format!("{:.0} % at {s}", 100.0 * banding.lets_through(s));
    let (bands, rows) = (counted(banding.bands as u64, "band"), counted(banding.rows as u64, "row"));
    format!(
        "{label}: {bands} of {rows}; expected recall by similarity: {}",
        [0.5, 0.6, 0.7, 0.8, 0.9].map(at).join(", ")
    )
}

/// Bytes of work files, about, without candidates to verify.
///
/// # Errors
/// Parameters that contradict each other.
pub fn disk_bytes(options: &RunOptions, source: &Source) -> Result<u64> {
    let (size, stats) = (size(options, source).0, CorpusStats::none());
    let bound = options.recipe.bind(&Corpus::new(size.documents, &stats), &[])?;
    let plan = Plan::new(&options.recipe, size.documents, options.sift, options.stats.is_some())?;
    Ok(passes(&plan, &options.recipe, &bound, size).iter().map(|pass| pass.writes).sum())
}

/// The size of what will be read, and the bytes of its files.
fn size(options: &RunOptions, source: &Source) -> (Size, u64) {
    let documents = options.limit.map_or(source.documents(), |limit| limit.min(source.documents()));
    let share = documents as f64 / source.documents().max(1) as f64;
    let sum = |bytes: fn(&InputFile) -> u64| (source.files.iter().map(bytes).sum::<u64>() as f64 * share) as u64;
    let page_bytes = sum(|file| if file.html { file.text_bytes } else { 0 });
    (Size { documents, text_bytes: sum(|file| file.text_bytes), page_bytes }, sum(|file| file.bytes))
}
