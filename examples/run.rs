//! Runs a job: reads a corpus, writes an output folder, and prints what would be removed.

use dupsift::Job;

/// The program.
pub(crate) fn main() -> dupsift::Result<()> {
    let report = Job::new()
        .input("data-samples/docs/en.parquet")
        .output("out/example")
        .algorithms("exact,minhash:bands=20,rows=5")
        .option("overwrite", "true")
        .run()?;
    for algorithm in &report.algorithms {
        println!("{}: {} pairs", algorithm.label, algorithm.pairs);
    }
    if let Some(removal) = &report.removal {
        println!("{} documents are kept; out/example/removed names {} others", removal.kept, removal.removed);
    }
    Ok(())
}
