//! `dupsift manual`: the pages of docs/, which the program has in it, so that they fit the version; or pages for man.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use super::args::Arguments;
use super::{Exit, tell};
use crate::number::counted;

/// Pages by their names below docs/, each with its text.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", $name)))),*]
    };
}

/// All but the measurements, which are of who changes the program.
const PAGES: &[(&str, &str)] = pages![
    "SUMMARY.md",
    "algorithms.md",
    "cleaned.md",
    "commands.md",
    "concepts.md",
    "configuration.md",
    "evaluation.md",
    "family.md",
    "faq.md",
    "glossary.md",
    "index.md",
    "inputs.md",
    "limits.md",
    "nightly.md",
    "options.md",
    "outputs.md",
    "pages.md",
    "python.md",
    "resuming.md",
    "sizing.md",
    "spark.md",
    "stream.md",
    "troubleshooting.md",
    "versions.md",
    "which-duplicates.md",
    "methods/common.md",
    "methods/core_words.md",
    "methods/cosine.md",
    "methods/decomposition.md",
    "methods/descr_words.md",
    "methods/docview.md",
    "methods/exact.md",
    "methods/fingerprint.md",
    "methods/heavy_sent.md",
    "methods/idf_hash.md",
    "methods/imatch.md",
    "methods/keyword_match.md",
    "methods/keywords.md",
    "methods/lex_rand.md",
    "methods/log_shingles.md",
    "methods/long_sent.md",
    "methods/lsi.md",
    "methods/megashingles.md",
    "methods/minhash.md",
    "methods/near_page.md",
    "methods/opt_freq.md",
    "methods/random_projection.md",
    "methods/repeats.md",
    "methods/segments.md",
    "methods/sentence_marks.md",
    "methods/shingles.md",
    "methods/sim.md",
    "methods/simhash.md",
    "methods/tf.md",
    "methods/tf_idf.md",
    "methods/tf_ridf.md",
    "methods/three_plus_five.md",
];

/// Runs the verb: writes the pages into a folder, which is made where it is not there.
///
/// # Errors
/// A folder that cannot be written to.
pub fn manual(dir: &Path, for_man: bool) -> Result<Exit> {
    let cannot = || format!("cannot write the manual to {}", dir.display());
    if for_man {
        fs::create_dir_all(dir).with_context(cannot)?;
        clap_mangen::generate_to(Arguments::command(), dir).with_context(cannot)?;
        return Ok(Exit::Done);
    }
    for (name, text) in PAGES {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap_or(dir)).with_context(cannot)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    let pages = counted(PAGES.len() as u64, "page");
    Ok(tell(&format!("{pages} of the manual, as Markdown: {}\n", dir.join("index.md").display()), Exit::Done))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_page_is_in_the_program() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let mut there = BTreeSet::new();
        for below in ["", "methods/"] {
            for file in fs::read_dir(docs.join(below)).expect("docs") {
                let name = file.expect("a file").file_name().into_string().expect("a name");
                if name.ends_with(".md") && name != "measurements.md" {
                    there.insert(format!("{below}{name}"));
                }
            }
        }
        assert_eq!(PAGES.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>(), there);
    }

    #[test]
    fn pages_are_written_as_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let dir = folder.path().join("new/manual");
        manual(&dir, false).expect("written");
        assert!(PAGES.iter().all(|(name, text)| fs::read_to_string(dir.join(name)).expect("there") == *text));
        manual(&dir.join("man"), true).expect("written");
        assert!(dir.join("man/dupsift-run.1").is_file());
    }
}
