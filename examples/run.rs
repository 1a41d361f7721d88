//! Runs a job: reads a corpus, writes an output folder, and says what would be removed.

/// The program.
pub fn main() -> dupsift::Result<()> {
    let options = [("out", "out/example"), ("algorithms", "exact,minhash:bands=20,rows=5"), ("overwrite", "true")];
    let report = dupsift::run(&["data-samples/docs/en.parquet"], &options)?;
    for algorithm in &report.algorithms {
        println!("{}: {} pairs", algorithm.label, algorithm.pairs);
    }
    if let Some(removal) = &report.removal {
        println!("{} documents stay; out/example/removed names {} others", removal.kept, removal.removed);
    }
    Ok(())
}
