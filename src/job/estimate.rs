//! What a run will take, said before it starts: from the schema, the sizes and the recipe; footers are read, no documents.

use bytesize::ByteSize;

use super::budget::Budget;
use super::inputs::Inputs;
use super::options::RunOptions;
use crate::algorithm::Corpus;
use crate::corpus::CorpusStats;
use crate::error::Result;
use crate::row::RowLayout;

/// Bytes a document that work files take whatever the algorithms: hashes of texts and ids, lengths, bitmaps, classes.
const BYTES_A_DOCUMENT: u64 = 120;
/// Bytes a document that an algorithm's classes and the decision take besides its rows.
const BYTES_AN_ALGORITHM: u64 = 48;

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
}

/// Estimates the work.
///
/// # Errors
/// Too little memory, or parameters that contradict each other.
pub fn estimate(options: &RunOptions, inputs: &Inputs) -> Result<Estimate> {
    Budget::new(options.memory, options.threads)?;
    let source = &inputs.source;
    let documents = options.limit.map_or(source.documents(), |limit| limit.min(source.documents()));
    let share = documents as f64 / source.documents().max(1) as f64;
    let sum =
        |bytes: fn(&crate::io::InputFile) -> u64| (source.files.iter().map(bytes).sum::<u64>() as f64 * share) as u64;
    let (input_bytes, text_bytes) = (sum(|file| file.bytes), sum(|file| file.text_bytes));
    let stats = CorpusStats::none();
    let bound = options.recipe.bind(&Corpus::new(documents, &stats), &[])?;
    let rows: u64 = bound
        .iter()
        .flat_map(|bound| {
            let second = bound.signer.probe_shape().map(|shape| (shape, shape.positions.into()));
            [Some((bound.signer.shape(), bound.signer.rows_a_document())), second]
        })
        .flatten()
        .map(|(shape, rows)| documents * rows * RowLayout::new(shape, documents).width() as u64)
        .sum();
    let needs = options.recipe.needs_stats();
    let learns = !options.recipe.learners(&Corpus::new(documents, &stats))?.is_empty();
    let counts = needs.any() || learns;
    let keeps_words = options.recipe.keeps_words(learns, options.sift).is_some();
    let more = [counts && !keeps_words, counts && !options.recipe.count_copies, learns, options.sift];
    let readings = 1 + more.iter().filter(|more| **more).count();
    let mut counts = if needs.any() { text_bytes / 10 } else { 0 } + if learns { text_bytes / 2 } else { 0 };
    if keeps_words {
        // Of the corpora that were measured a fifth to a third of the text; more where few words come again.
        counts += text_bytes / 3;
    }
    // Two numbers a distinct word: about as much as the text.
    let evidence = text_bytes * bound.iter().filter(|bound| bound.takes_evidence_early()).count() as u64;
    // What comes of pages is kept: of those that were measured, a tenth of their bytes.
    let purified = sum(|file| if file.html { file.text_bytes / 10 } else { 0 });
    let disk_bytes =
        purified + evidence + rows + documents * (BYTES_A_DOCUMENT + BYTES_AN_ALGORITHM * bound.len() as u64) + counts;
    let memory_bytes = options.memory + (150 << 20);
    let size = |bytes: u64| ByteSize(bytes).to_string();
    let again = bound.iter().any(|bound| bound.confirm().is_some() && !bound.takes_evidence_early());
    let then = if again { "; then only documents that stand in a candidate pair" } else { "" };
    let lines = vec![
        format!(
            "{documents} documents in {} files ({} on disk, {} of text as far as the files tell)",
            source.files.len(),
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
    Ok(Estimate { documents, input_bytes, disk_bytes, memory_bytes, lines })
}
