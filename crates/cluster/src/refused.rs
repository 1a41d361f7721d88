//! Rejects options that a run on a cluster does not support, before the run begins.

use bytesize::ByteSize;

use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::algorithm::Growth;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::Recipe;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, thousands};
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::inputs::Inputs;

/// The maximum number of documents for a join that compares all documents with each other.
pub(crate) const MOST_COMPARED: u64 = 20_000;

/// Returns the number of comparisons if all documents are compared with each other.
pub(crate) fn all_with_all_of(documents: u64) -> f64 {
    documents as f64 * documents.saturating_sub(1) as f64 / 2.0
}

/// Checks the options and the inputs.
///
/// # Errors
/// Returns [`Error::Usage`] with a suggestion.
pub fn check(options: &RunOptions, inputs: &Inputs) -> Result<()> {
    let given = [
        (options.incremental.index.is_some(), "index"),
        (options.incremental.reference.is_some(), "reference"),
        (options.duplicates.stats.is_some(), "stats"),
        (options.sampling.size.is_some(), "sample"),
        (options.recipe.scope_column().is_some(), "scope"),
        (options.cut.what.is_some(), "cut"),
    ];
    if let Some((_, name)) = given.into_iter().find(|(given, _)| *given) {
        return Err(Error::wrong(
            name,
            format_args!("not supported on a cluster; remove it, or use one machine (dupsift run)"),
        ));
    }
    if options.resources.prefilter {
        return Err(Error::wrong(
            "prefilter",
            format_args!("not supported on a cluster, and has no effect on the result; remove it"),
        ));
    }
    if inputs.source.has_pages() {
        return Err(Error::usage(
            "web pages are not supported on a cluster; extract their text with `dupsift purify` first, or use one machine (dupsift run)",
        ));
    }
    let documents = inputs.source.documents();
    all_with_all(&options.recipe, options.sampling.limit.map_or(documents, |limit| limit.min(documents)))
}

/// Rejects joins that compare all documents with each other, and states their cost: no number of machines makes n^2 / 2 comparisons cheap.
fn all_with_all(recipe: &Recipe, documents: u64) -> Result<()> {
    if documents <= MOST_COMPARED {
        return Ok(());
    }
    let stats = CorpusStats::none();
    for bound in recipe.bind(&Corpus::new(documents, &stats), &[])? {
        let Growth::Quadratic { rows, instead } = bound.scheme.growth else { continue };
        let bytes = rows.saturating_mul(bound.layout(documents).width() as u64).saturating_mul(documents);
        return Err(Error::usage(format!(
            "{} compares all documents with each other, which a cluster run supports for up to {most} documents: {documents} documents need {:.1e} comparisons and {rows} per document, so {bytes} must be shuffled; use {instead}, or run on one machine (dupsift run)",
            bound.label,
            all_with_all_of(documents),
            most = thousands(MOST_COMPARED),
            documents = thousands(documents),
            rows = counted(rows, "row"),
            bytes = ByteSize(bytes)
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_with_all_is_refused_above_a_number_of_documents() {
        let refused = |recipe: &str, documents| {
            let recipe = Recipe { count_copies: true, ..Recipe::new(Recipe::parse_algorithms(recipe).unwrap()) };
            all_with_all(&recipe, documents).err().map(|error| error.to_string()).unwrap_or_default()
        };
        for recipe in ["shingles:join=exact", "lsi:join=exact", "shingles,lsi,cosine,minhash"] {
            assert_eq!(refused(recipe, MOST_COMPARED), "", "{recipe}");
        }
        for recipe in ["shingles,lsi,cosine,minhash", "shingles:join=lsh,lsi:join=bits", "shingles:preset=contained"] {
            assert_eq!(refused(recipe, 1_000_000_000), "", "{recipe}");
        }
        let shingles = refused("exact,shingles:join=exact", 1_000_000);
        for part in ["shingles compares all", "5.0e11 comparisons", "667 rows per document", "use join=lsh"] {
            assert!(shingles.contains(part), "{part}: {shingles}");
        }
        for (recipe, part) in [("lsi:join=exact", "use join=bits"), ("shingles:exact_limit=10000000", "use join=lsh")] {
            let told = refused(recipe, MOST_COMPARED + 1);
            assert!(told.contains(part) && told.contains("2.0e8 comparisons"), "{told}");
        }
    }
}
