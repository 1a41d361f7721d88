//! The small tables beside pairs and clusters: `rejected/` and `stats/`.

use super::ids::Ids;
use super::rejected::Rejected;
use super::workers::Job;
use crate::algorithm::Stats;
use crate::batch::{RejectedBuilder, TermBuilder, rejected_schema, term_schema};
use crate::corpus::{CorpusStats, TermTable};
use crate::error::{Error, Result};
use crate::io::{BadInput, Stage, TableWriter};

/// Files and rows that could not be used.
pub fn write_rejected(job: &Job<'_>, stage: &Stage, rejected: &Rejected, bad: &[BadInput], ids: &Ids) -> Result<()> {
    let mut writer = TableWriter::create(&stage.path().join("rejected/part-00000.parquet"), rejected_schema())?;
    let mut builder = RejectedBuilder::new();
    for file in bad {
        builder.push(&file.label, None, None, &file.why);
    }
    rejected.each(job, |doc, reason| {
        let (file, row) = job.source.locate(doc);
        builder.push(&file.label, Some(row), Some(ids.of(job, doc).as_ref()), reason);
        if builder.is_full() {
            writer.write(&builder.finish()?)?;
        }
        Ok(())
    })?;
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    writer.close().map(|_| ())
}

/// The counts of the first pass: words and sentences by hash, and what they sum up to.
pub fn write_stats(_job: &Job<'_>, stage: &Stage, stats: &CorpusStats, needs: Stats) -> Result<()> {
    if !needs.any() {
        return Ok(());
    }
    if needs.words {
        write_terms(stage, "words", &stats.words)?;
    }
    if needs.sentences {
        write_terms(stage, "sentences", &stats.sentences)?;
    }
    let summary = serde_json::json!({
        "documents": stats.documents(),
        "tokens": stats.tokens(),
        "mean_length": stats.mean_length(),
        "words": stats.words.len(),
        "repeated_sentences": stats.sentences.len(),
        "snapshot": format!("{:016x}", stats.snapshot()),
    });
    let json = serde_json::to_vec_pretty(&summary).map_err(Error::table("write the statistics"))?;
    stage.write_bytes("stats/stats.json", &json)
}

fn write_terms(stage: &Stage, name: &str, terms: &TermTable) -> Result<()> {
    let path = stage.path().join(format!("stats/{name}/part-00000.parquet"));
    let mut writer = TableWriter::create(&path, term_schema())?;
    let mut builder = TermBuilder::new();
    for at in 0..terms.len() {
        let (term, df, cf) = terms.entry(at);
        builder.push(term, df, cf);
        if builder.is_full() {
            writer.write(&builder.finish()?)?;
        }
    }
    if !builder.is_empty() {
        writer.write(&builder.finish()?)?;
    }
    writer.close().map(|_| ())
}
