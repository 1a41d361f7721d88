//! Determines the recipe of an index, and whether a run matches it.

use std::path::Path;

use dupsift_algorithms::algorithm::kit::margin::MARGIN;
use dupsift_algorithms::recipe::Chosen;
use dupsift_core::error::{Error, Result};
use dupsift_engine::options::RunOptions;
use dupsift_engine::reading::inputs::Inputs;
use dupsift_index::{Line, Manifest};
use dupsift_text::Pipeline;

/// The default number of documents for which a new index is planned. The default is the first number, or the number of documents in the
/// first batch times the second number, whichever is larger.
pub(crate) const PLANNED: (u64, u64) = (100_000_000, 100);

/// Checks that a run with these options can be matched against an index.
///
/// # Errors
/// Returns [`Error::Usage`] naming the option that makes this impossible.
pub(crate) fn check(options: &RunOptions, inputs: &Inputs) -> Result<()> {
    let refused = |what: String| Err(Error::wrong("index", what));
    if options.resources.prefilter {
        return refused("`prefilter` skips rows that later runs need; remove it".to_owned());
    }
    if inputs.source.has_pages() {
        return refused(
            "pages cannot be matched against an index; run `dupsift purify` first, then use its pages/ as input".into(),
        );
    }
    for chosen in &options.recipe.algorithms {
        let label = &chosen.label;
        if chosen.params.margin(MARGIN.name).is_some_and(|margin| margin.whole.is_some()) {
            return refused(format!(
                "{label}: margin=M:D depends on complete clusters, which change with each run; remove :D"
            ));
        }
        let name = chosen.algorithm.name();
        if name == "repeats" {
            return refused(format!(
                "{label}: finding repeated features requires all documents; remove this algorithm"
            ));
        }
        let joins = |name: &str| chosen.params.iter().any(|(known, value)| known == "join" && value == name);
        if matches!(name, "shingles" | "lsi") && joins("exact") {
            return refused(format!("{label}: join=exact compares each document with all others; use another join"));
        }
    }
    Ok(())
}

/// Compares the recipe of the run with the recipe of the index. Returns the number of documents for which LSH table schemes are chosen.
///
/// # Errors
/// Returns [`Error::Usage`] listing each line that differs.
pub(crate) fn compare(manifest: Option<&Manifest>, dir: &Path, options: &RunOptions, rows: u64) -> Result<u64> {
    let default = PLANNED.0.max(rows.saturating_mul(PLANNED.1));
    let Some(manifest) = manifest else { return Ok(options.incremental.planned_documents.unwrap_or(default)) };
    let mut differences = manifest.differences(&lines(options)?);
    if let Some(planned) =
        options.incremental.planned_documents.filter(|&planned| planned != manifest.documents_planned)
    {
        differences
            .push(format!("`planned-documents`: {} in the index, {planned} in this run", manifest.documents_planned));
    }
    if let Some(stats) = &options.duplicates.stats {
        differences.push(format!("`stats`: the index has its own statistics, but {} was passed", stats.display()));
    }
    if differences.is_empty() {
        return Ok(manifest.documents_planned);
    }
    let dir = dir.display();
    let option = if options.incremental.reference.is_some() { "reference" } else { "index" };
    Err(Error::usage(format!(
        "`{option}={dir}` was created with different options: {}; use the same options, or create another index",
        differences.join("; ")
    )))
}

/// Returns the settings on which signatures and pairs depend, one per line.
///
/// # Errors
/// Returns an error if the word segmentation cannot be set up.
pub(crate) fn lines(options: &RunOptions) -> Result<Vec<Line>> {
    let line = |name: &str, value: String| Line { name: name.to_owned(), value };
    let recipe = &options.recipe;
    let of = |one: &Chosen| line(&one.label, format!("{one},revision={}", one.algorithm.facts().revision));
    let mut lines: Vec<Line> = recipe.algorithms.iter().map(of).collect();
    lines.push(line("words", Pipeline::new(&recipe.text)?.identity().replace(' ', ",")));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::options::{OPTIONS, Settings, Verb, resolve};

    /// Checks that a run is rejected if an algorithm had a different revision when the index was created.
    #[test]
    fn another_revision_is_refused_by_its_line() {
        let mut settings = Settings::default();
        let out = OPTIONS.iter().find(|option| option.name == "out").expect("an option");
        settings.give(out, &"out".into()).expect("taken");
        let settings = settings.with_defaults(Verb::Run).expect("whole");
        let options = resolve(vec!["a".into()], &settings).expect("options");
        let mut there = Manifest { recipe: lines(&options).expect("lines"), ..Manifest::default() };
        let compare = |there: &Manifest| compare(Some(there), Path::new("index"), &options, 1);
        assert!(compare(&there).is_ok());
        let line = there.recipe.iter_mut().find(|line| line.value.contains(",revision=")).expect("of an algorithm");
        let (name, (rest, now)) = (line.name.clone(), line.value.split_once(",revision=").expect("a revision"));
        let now = now.to_owned();
        line.value = format!("{rest},revision=0");
        let said = compare(&there).expect_err("refused").to_string();
        assert!(said.contains(&format!("{name}: revision=0 in the index, revision={now} in this run")), "{said}");
    }
}
