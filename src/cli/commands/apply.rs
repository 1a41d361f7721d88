//! Implements `dupsift apply`, which writes the corpus of a finished run without repeating the run.

use anyhow::{Context, Result};

use crate::cli::signals::{cancel_on_signal, ignore_file_size_signal};
use crate::cli::terminal::log;
use crate::cli::typed::args::ApplyArguments;
use crate::cli::{Exit, print_result};
use crate::report::{applied, planned};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_core::error::{Error, Result as Checked};
use dupsift_engine::options::{AddedColumns, CorpusFiles};
use dupsift_study::{self as study, ApplyOptions, Finished};

/// Runs the command.
///
/// # Errors
/// Returns an error if the folder is not a finished run, if the corpus is missing or has changed, or if the output lacks information that
/// the rule requires.
pub fn apply(arguments: &ApplyArguments) -> Result<Exit> {
    let asked = ApplyOptions {
        corpus: CorpusFiles::parse(&arguments.corpus)?,
        add: AddedColumns::parse(&arguments.add)?,
        remove_if: arguments.remove_if.as_deref().map(RemoveIf::parse).transpose()?,
        thresholds: arguments.threshold.iter().map(|typed| threshold(typed)).collect::<Checked<_>>()?,
        out: arguments.out.clone(),
        overwrite: arguments.overwrite,
    };
    let settings = arguments.options.settings()?;
    let finished = Finished::open(&arguments.dir)?.with_corpus(arguments.input.as_deref());
    let (_, progress) = log::start(&settings);
    ignore_file_size_signal();
    let cancel = cancel_on_signal()?;
    if arguments.dry_run {
        let options = finished.options(&settings)?;
        let table = study::planned(&finished, &options, &asked, &progress, &cancel)
            .with_context(|| format!("cannot apply {}", arguments.dir.display()))?;
        return Ok(print_result(&planned(&table, &asked.thresholds), Exit::Done));
    }
    let report = study::apply(&finished, &settings, &asked, &progress, &cancel)
        .with_context(|| format!("cannot apply {}", arguments.dir.display()))?;
    Ok(print_result(&applied(&report, asked.out.as_deref().unwrap_or(&arguments.dir)), Exit::Done))
}

/// Parses `LABEL=T`: a label and a threshold.
fn threshold(typed: &str) -> Checked<(String, f64)> {
    let parsed =
        typed.rsplit_once('=').and_then(|(label, share)| Some((label.trim().to_owned(), share.trim().parse().ok()?)));
    parsed.filter(|(label, share): &(String, f64)| !label.is_empty() && (0.0..=1.0).contains(share)).ok_or_else(|| {
        Error::wrong_value(
            "threshold",
            typed,
            "expected LABEL=T, with the label of an algorithm in the run and a number from 0 to 1, such as minhash=0.9",
        )
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_threshold_is_a_label_and_a_share() {
        let parse = |typed| super::threshold(typed).map_err(|error| error.to_string());
        assert_eq!(parse("minhash=0.9"), Ok(("minhash".into(), 0.9)));
        assert_eq!(parse(" a = 1"), Ok(("a".into(), 1.0)));
        for wrong in ["0.9", "minhash", "minhash=", "=0.9", "minhash=1.5", "minhash=NaN", "minhash=-1"] {
            assert!(parse(wrong).unwrap_err().contains("expected LABEL=T"), "{wrong}");
        }
    }
}
