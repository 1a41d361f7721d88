//! Implements `dupsift manual`, which writes man pages or the pages in docs/. The pages are embedded in the program, so they match its
//! version.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::cli::typed::args::Arguments;
use crate::cli::{Exit, say};
use dupsift_core::error::Error;
use dupsift_core::number::counted;
use dupsift_core::safe_fs::{self, listing};

/// Lists pages, each with its path below docs/ and its text.
macro_rules! pages {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/", $name)))),*]
    };
}

/// All pages in docs/ except the benchmarks and the pages for contributors in docs/dev.
const PAGES: &[(&str, &str)] = pages![
    "SUMMARY.md",
    "algorithms.md",
    "buckets.md",
    "choosing.md",
    "concepts.md",
    "contaminated.md",
    "cut.md",
    "evaluation.md",
    "exit-codes.md",
    "faq.md",
    "guards.md",
    "incremental.md",
    "inputs.md",
    "limits.md",
    "migrating.md",
    "options.md",
    "outputs.md",
    "pages.md",
    "python.md",
    "recipes.md",
    "report.md",
    "resuming.md",
    "scheduling.md",
    "sizing.md",
    "slurm-and-cloud.md",
    "spark.md",
    "stream.md",
    "troubleshooting.md",
    "tutorial.md",
    "versions.md",
    "methods/common.md",
    "methods/contamination.md",
    "methods/conversations.md",
    "methods/core_words.md",
    "methods/cosine.md",
    "methods/decomposition.md",
    "methods/descr_words.md",
    "methods/docview.md",
    "methods/exact.md",
    "methods/fingerprint.md",
    "methods/goals.md",
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
    "methods/passages.md",
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
    "methods/versions.md",
];

/// Runs the command: writes the pages into a folder, which is created if it is missing.
///
/// # Errors
/// Returns an error if the folder cannot be written.
pub(crate) fn manual(dir: &Path, for_man: bool) -> Result<Exit> {
    let cannot = || format!("cannot write the manual to {}", dir.display());
    if for_man {
        fs::create_dir_all(dir).with_context(cannot)?;
        clap_mangen::generate_to(Arguments::command(), dir).with_context(cannot)?;
        return Ok(Exit::Done);
    }
    fs::create_dir_all(dir).with_context(cannot)?;
    if !listing::names(dir).with_context(cannot)?.is_empty() {
        return Err(Error::usage(format!("{} is not empty; expected a new folder", dir.display())).into());
    }
    for (name, text) in PAGES {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap_or(dir)).with_context(cannot)?;
        safe_fs::write(&path, without_dead_links(name, text).as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let pages = counted(PAGES.len() as u64, "page");
    say(&format!("wrote {pages} of the manual as Markdown; table of contents: {}\n", dir.join("SUMMARY.md").display()))
        .context("cannot print the location of the manual")?;
    Ok(Exit::Done)
}

/// Returns the text of a page without its pictures. Links to pages that are not written become plain text.
fn without_dead_links(page: &str, text: &str) -> String {
    let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with("![")) {
        let mut rest = line;
        while let Some((before, behind)) = rest.split_once("](") {
            let (target, after) = behind.split_once(')').unwrap_or((behind, ""));
            if is_there(folder, target) {
                out += &format!("{before}]({target})");
            } else {
                let (plain, name) = before.rsplit_once('[').unwrap_or(("", before));
                let file = target.split('#').next().unwrap_or_default().trim_start_matches("../");
                out += &format!("{plain}{name} ({file}, in the sources)");
            }
            rest = after;
        }
        out += rest;
        out.push('\n');
    }
    out
}

/// Returns whether a link on a page in a folder leads to a page that is written, to an external address, or to an anchor on the page
/// itself.
fn is_there(folder: &str, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    let name = match path.strip_prefix("../") {
        Some(above) if !folder.is_empty() => above.to_owned(),
        _ if folder.is_empty() => path.to_owned(),
        _ => format!("{folder}/{path}"),
    };
    path.is_empty() || path.contains("://") || PAGES.iter().any(|(page, _)| *page == name)
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
                if name.ends_with(".md") && name != "benchmarks.md" {
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
        for (name, text) in PAGES {
            let page = fs::read_to_string(dir.join(name)).expect("there");
            assert!(page.lines().next() == text.lines().next() && page.len() > 100 || *name == "SUMMARY.md", "{name}");
            // Checks that every link leads to a page that is written.
            let here = dir.join(name);
            for link in page.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                let is_page = link.ends_with(".md");
                assert!(!is_page || here.parent().expect("a folder").join(link).is_file(), "{name}: {link}");
            }
        }
        assert!(manual(&dir, false).is_err(), "a folder with files is not written to");
        manual(&dir.join("man"), true).expect("written");
        assert!(dir.join("man/dupsift-run.1").is_file());
    }

    #[test]
    fn links_that_lead_out_are_named() {
        let told = without_dead_links(
            "methods/exact.md",
            "A ([measured](../benchmarks.md#x), [B](../versions.md)).\n![a](a.svg)\n[it](../../README.md) [C](common.md#c) [d](#d)",
        );
        assert_eq!(
            told,
            "A (measured (benchmarks.md, in the sources), [B](../versions.md)).\nit (README.md, in the sources) [C](common.md#c) [d](#d)\n"
        );
    }
}
