//! Writes `stats/`: the counts and models that signatures are computed with.

use dupsift_algorithms::algorithm::Stats;
use dupsift_algorithms::corpus::{CorpusStats, TermTable};
use dupsift_core::error::{Error, Result};
use dupsift_publish::{Stage, TableWriter};
use dupsift_tables::{TermBuilder, model_batch, model_schema, term_schema};

/// Writes the counts of the first pass: words and features by hash, and their totals.
pub(super) fn write_stats(stage: &Stage, stats: &CorpusStats, needs: Stats) -> Result<()> {
    if !needs.any() {
        return Ok(());
    }
    if needs.words {
        write_terms(stage, "words", &stats.words)?;
    }
    if needs.features {
        write_terms(stage, "features", &stats.features)?;
    }
    let summary = serde_json::json!({
        "documents": stats.documents(),
        "tokens": stats.tokens(),
        "mean_length": stats.mean_length(),
        "words": stats.words.len(),
        "repeated_features": stats.features.len(),
        "snapshot": format!("{:016x}", stats.snapshot()),
    });
    let json = serde_json::to_vec_pretty(&summary).map_err(Error::table("write the statistics"))?;
    stage.write_bytes("stats/stats.json", &json)
}

/// Writes the learned model of an algorithm. The model is required to compute the same signatures later.
pub(super) fn write_model(stage: &Stage, label: &str, model: &[u64]) -> Result<()> {
    let path = stage.path().join(format!("stats/models/{label}.parquet"));
    let mut writer = TableWriter::create(&path, model_schema())?;
    model_batch(model).try_for_each(|batch| writer.write(&batch?))?;
    writer.close().map(|_| ())
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
