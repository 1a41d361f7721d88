//! Checks `simhash` against brute force: `cargo bench --bench simhash_oracle -- CORPUS OUT [PARAMETERS]`.
//!
//! Computes the Hamming distance between the fingerprints in every possible pair. The pairs within the maximum distance are compared with
//! the pairs in `OUT/pairs/algorithm=simhash/`, which a run over the same corpus wrote. The exit code is 1 if the two sets of pairs differ.
//! PARAMETERS are the parameters of that run, for example `simhash:distance=5`.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use arrow::array::AsArray;
use arrow::datatypes::DataType;
use arrow::datatypes::Int64Type;
use dupsift::algorithm::Corpus;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::recipe::Recipe;
use dupsift_core::row::Signatures;
use dupsift_text::{Pipeline, TextOptions};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

type Pairs = BTreeSet<(u64, u64)>;

fn main() -> Result<()> {
    // cargo adds --bench to the arguments.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [corpus, out, rest @ ..] = &arguments[..] else {
        bail!("expected two folders: the corpus, and the output of a run with simhash");
    };
    let typed = rest.first().map_or("simhash", String::as_str);
    let chosen = &Recipe::parse_algorithms(typed)?[0];
    let prints = fingerprints(corpus, typed)?;
    let expected = brute_force(&prints, chosen.params.count("distance") as u32);
    let found = pairs_of_run(&Path::new(out).join(format!("pairs/algorithm={}/part-00000.parquet", chosen.label)))?;

    let missing = expected.difference(&found).count();
    let surplus = found.difference(&expected).count();
    println!(
        "{} fingerprints, {} comparisons: {} pairs by brute force, {} by the run, {missing} missing, {surplus} surplus",
        prints.len(),
        prints.len() * prints.len().saturating_sub(1) / 2,
        expected.len(),
        found.len(),
    );
    ensure!(missing + surplus == 0, "the run differs from brute force");
    Ok(())
}

/// Returns the numbers and fingerprints of all documents that have a fingerprint.
fn fingerprints(corpus: &str, typed: &str) -> Result<Vec<(u64, u128)>> {
    let pipeline = Pipeline::new(&TextOptions::default())?;
    let recipe = Recipe {
        algorithms: Recipe::parse_algorithms(typed)?,
        text: TextOptions::default(),
        count_copies: true,
        within: None,
        across: None,
    };
    ensure!(!recipe.needs_stats().any(), "weights of the whole corpus are not known here; leave weight=tf_idf out");
    let stats = CorpusStats::none();
    let bound = recipe.bind(&Corpus::new(1, &stats), &[])?;
    let mut out = Signatures::default();
    let (mut prints, mut doc) = (Vec::new(), 0);
    for file in dupsift_input::find(&[corpus.to_string()])? {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&file.path)?)?;
        let text = ProjectionMask::columns(builder.parquet_schema(), ["text"]);
        for batch in builder.with_projection(text).build()? {
            let batch = batch?;
            // The column may have any string type.
            let texts = arrow::compute::cast(batch.column(0), &DataType::LargeUtf8)?;
            for text in texts.as_string::<i64>() {
                out.clear();
                if let Some(text) = text {
                    bound[0].signer.sign(&pipeline.analyse(text), &mut out);
                }
                if out.reason().is_none() {
                    prints.extend(out.rows(doc).map(|row| (doc, row.key)));
                }
                doc += 1;
            }
        }
    }
    Ok(prints)
}

fn brute_force(prints: &[(u64, u128)], distance: u32) -> Pairs {
    let after = |at: usize| prints[at + 1..].iter();
    let of = |(at, &(doc, print)): (usize, &(u64, u128))| {
        let near = move |other: &&(u64, u128)| (print ^ other.1).count_ones() <= distance;
        after(at).filter(near).map(move |other| (doc, other.0)).collect::<Vec<_>>()
    };
    prints.iter().enumerate().flat_map(of).collect()
}

fn pairs_of_run(path: &Path) -> Result<Pairs> {
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    let mut pairs = Pairs::new();
    for batch in ParquetRecordBatchReaderBuilder::try_new(file)?.build()? {
        let batch = batch?;
        let column = |name: &str| -> Result<Vec<i64>> {
            let column = batch.column_by_name(name).with_context(|| format!("no column {name}"))?;
            Ok(column.as_primitive::<Int64Type>().values().to_vec())
        };
        pairs.extend(column("doc_a")?.into_iter().zip(column("doc_b")?).map(|(a, b)| (a as u64, b as u64)));
    }
    Ok(pairs)
}
