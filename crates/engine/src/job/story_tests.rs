//! Tests complete runs over small corpora. The tests check which documents are read, signed, paired, removed and written, and what state a
//! second run restores.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use arrow::array::{Array as _, AsArray as _, RecordBatch, StringArray};
use arrow::datatypes::{Float32Type, Int64Type, UInt64Type};

use super::algorithm_state::AlgorithmState;
use super::run::carry_out;
use super::run_report::RunReport;
use super::saved::SavedState;
use super::story::{self, CompleteOutput, Variant};
use crate::engine::progress::Progress;
use crate::job::pair::group::Relation;
use crate::options::{RunOptions, Settings, Verb, resolve};
use crate::reading::look;
use crate::session::Session;
use dupsift_algorithms::steps::plan::Plan;
use dupsift_core::error::{Error, Result};
use dupsift_input::TableReader;
use dupsift_publish::TableWriter;

const FERRY: &str = "The ferry to the island leaves at eight in the morning and returns at six in the evening, except on Sundays, \
    when the captain stays at home with his family. Tickets are sold at the harbor office and on board.";
const GARDEN: &str = "Tomatoes need six hours of sunlight a day. Water them early, never on the leaves, and tie the stems to a stake \
    before the first fruits become heavy. In a dry summer a layer of straw keeps the soil moist for days.";

/// Holds a corpus of JSON Lines files in its own folder.
struct Corpus {
    folder: tempfile::TempDir,
}

impl Corpus {
    fn new(lines: &[String]) -> Corpus {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("corpus.jsonl"), lines.join("\n")).unwrap();
        Corpus { folder }
    }

    /// Returns a corpus with one row for each of these strings. The ids are the row numbers.
    fn of(texts: &[&str]) -> Corpus {
        let line =
            |(id, text): (usize, &&str)| serde_json::json!({"id": id, "text": text, "score": 10 * id}).to_string();
        Corpus::new(&texts.iter().enumerate().map(line).collect::<Vec<_>>())
    }

    fn options(&self, given: &[(&str, &str)]) -> RunOptions {
        let mut settings = Settings::default();
        let out = self.out().display().to_string();
        for (name, value) in [("out", out.as_str()), ("threads", "2"), ("memory", "256MiB")].iter().chain(given) {
            settings.give_by_name(Verb::Run, name, &(*value).into()).unwrap();
        }
        let input = self.folder.path().join("corpus.jsonl").display().to_string();
        resolve(vec![input], &settings.with_defaults(Verb::Run).unwrap()).unwrap()
    }

    fn out(&self) -> std::path::PathBuf {
        self.folder.path().join("out")
    }

    fn run(&self, given: &[(&str, &str)], watch: &Watch) -> Result<RunReport> {
        let mut options = self.options(given);
        let more = watch.more.iter().map(|name| self.folder.path().join(name).display().to_string());
        options.input.paths.extend(more);
        let cancel = AtomicBool::new(watch.is_cancelled);
        let inputs = look(&options, &AtomicBool::new(false))?;
        carry_out(&options, inputs, &Progress::hidden(), &cancel, |session, stage, losses, checkpoints| {
            let mut seen = Watching { watch, order: Vec::new() };
            story::attempt(session, stage, losses, checkpoints, &mut seen)
        })
    }
}

/// The numbers of two documents.
type Both = (u64, u64);

/// Records the data that a test checks, and specifies whether the run fails or is interrupted.
#[derive(Default)]
struct Watch {
    is_cancelled: bool,
    /// The additional input files.
    more: Vec<&'static str>,
    /// Whether the run fails after all tables are written.
    breaks_off: bool,
    /// Whether the run is interrupted after all tables are written.
    is_stopped_late: bool,
    /// The pairs of class representatives, by algorithm label; `copies` holds the copies of document 0.
    pairs: std::sync::Mutex<BTreeMap<String, Vec<Both>>>,
    copies: std::sync::Mutex<Vec<u64>>,
    removed: std::sync::Mutex<Option<bool>>,
}

struct Watching<'w> {
    watch: &'w Watch,
    order: Vec<&'static str>,
}

impl Variant for Watching<'_> {
    fn prepare(&mut self, session: &Session<'_>, plan: &Plan, _saved: &SavedState<'_>) -> Result<()> {
        assert_eq!(plan.signs.len(), session.options.recipe.algorithms.len());
        self.order.push("prepare");
        Ok(())
    }

    fn paired(&mut self, session: &Session<'_>, algorithms: &[AlgorithmState<'_, Relation>]) -> Result<()> {
        assert!(!session.engine.dir.join("pairs").exists(), "tables are written after all pairs are known");
        let mut pairs = self.watch.pairs.lock().unwrap();
        for algorithm in algorithms {
            let found = (0..algorithm.now.pairs.parts()).flat_map(|part| algorithm.now.pairs.part(part));
            pairs.insert(algorithm.now.label.clone(), found.map(|pair| (pair.a, pair.b)).collect());
        }
        self.order.push("paired");
        Ok(())
    }

    fn written(&mut self, written: CompleteOutput<'_>) -> Result<RunReport> {
        assert_eq!(self.order, ["prepare", "paired"]);
        assert!(written.stage.path().join("pairs").is_dir());
        *self.watch.copies.lock().unwrap() = written.copies.members(0).iter().collect();
        *self.watch.removed.lock().unwrap() = Some(written.decided.is_some());
        written.session.engine.cancel.store(self.watch.is_stopped_late, Relaxed);
        if self.watch.breaks_off { Err(Error::Interrupted) } else { Ok(written.report) }
    }
}

/// Returns the values of an integer column from all files of a table.
fn numbers(table: &Path, column: &str) -> Vec<i64> {
    let mut files: Vec<_> = table.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        for batch in TableReader::open(&file, &[column]).unwrap() {
            let batch = batch.unwrap();
            let values = batch.column(0);
            assert_eq!(values.null_count(), 0);
            match values.as_primitive_opt::<Int64Type>() {
                Some(values) => found.extend(values.values()),
                None => found.extend(values.as_primitive::<UInt64Type>().values().iter().map(|&value| value as i64)),
            }
        }
    }
    found
}

/// Returns the values of a boolean column from a table in one file.
fn flags(table: &Path, column: &str) -> Vec<bool> {
    let batches = TableReader::open(&table.join("part-00000.parquet"), &[column]).unwrap();
    batches.flat_map(|batch| batch.unwrap().column(0).as_boolean().values().iter().collect::<Vec<_>>()).collect()
}

#[test]
fn reading_counts_rows_rejections_and_copies() {
    let rows = [FERRY, GARDEN, FERRY].map(|text| serde_json::json!({"text": text}).to_string());
    let lines = [&rows[..], &["{\"text\": null}".into(), "no json".into(), "{\"text\": \"\"}".into()]].concat();
    let watch = Watch::default();
    let report = Corpus::new(&lines).run(&[("algorithms", "exact")], &watch).unwrap();
    assert_eq!((report.documents.rows, report.documents.used), (6, 3));
    assert_eq!((report.documents.rejections.rows, report.documents.extra_copies), (3, 1));
    assert_eq!(report.documents.text_bytes, (2 * FERRY.len() + GARDEN.len()) as u64);
    assert_eq!(*watch.copies.lock().unwrap(), [0, 2]);
}

#[test]
fn algorithms_sign_each_text_and_pair_representatives() {
    let (changed, longer) = (FERRY.replace("eight", "nine"), format!("{FERRY} Dogs travel free."));
    let corpus = Corpus::of(&[FERRY, &changed, GARDEN, FERRY, &longer]);
    let watch = Watch::default();
    let report = corpus
        .run(
            &[("algorithms", "exact,minhash:verify=jaccard:0.5,minhash:verify=jaccard:0.99,as=strict,simhash,cosine")],
            &watch,
        )
        .unwrap();
    let strict = report.algorithms.iter().find(|one| one.label == "strict").unwrap();
    assert!(strict.candidates >= 2, "{}", strict.candidates);
    for one in &report.algorithms {
        assert_eq!((one.signed, one.unsigned.len()), (5, 0), "{}", one.label);
    }
    let pairs = watch.pairs.lock().unwrap();
    assert_eq!(pairs["exact"], [], "equal texts are classes and no pairs of representatives");
    assert_eq!(pairs["minhash"], [(0, 1), (0, 4)]);
    assert!(pairs["cosine"].contains(&(0, 1)), "{:?}", pairs["cosine"]);
    assert_eq!(pairs["strict"], [], "no two texts share 0.99 of their shingles");
    let minhash = report.algorithms.iter().find(|one| one.label == "minhash").unwrap();
    // The copy is paired only with document 0.
    assert_eq!((minhash.pairs, minhash.clusters, minhash.clustered), (3, 1, 4));
}

#[test]
fn one_document_of_each_cluster_is_kept_by_the_order_of_preference() {
    for (keep, kept) in [("doc asc", 0), ("score desc", 3), ("length desc", 1)] {
        let longer = format!("{FERRY} Dogs travel free.");
        let corpus = Corpus::of(&[FERRY, &longer, GARDEN, FERRY]);
        let given = [("algorithms", "minhash:verify=jaccard:0.5"), ("keep", keep), ("remove-if", "pair")];
        let watch = Watch::default();
        let report = corpus.run(&given, &watch).unwrap();
        assert_eq!(*watch.removed.lock().unwrap(), Some(true));
        let removed = report.removal.as_ref().map(|removal| removal.removed);
        let expected: Vec<i64> = [0, 1, 3].into_iter().filter(|&doc| doc != kept).collect();
        assert_eq!(removed, Some(expected.len() as u64), "--keep {keep}");
        assert_eq!(numbers(&corpus.out().join("removed"), "doc"), expected, "--keep {keep}");
        let clusters = corpus.out().join("clusters/algorithm=minhash");
        let of_clusters = numbers(&clusters, "doc").into_iter().zip(flags(&clusters, "is_representative"));
        let representatives: Vec<i64> = of_clusters.filter(|(_, is_one)| *is_one).map(|(doc, _)| doc).collect();
        assert_eq!(representatives, [kept], "--keep {keep}");
    }
}

/// Returns the values of a string column from a table in one file.
fn strings(table: &Path, column: &str) -> Vec<String> {
    let batches = TableReader::open(&table.join("part-00000.parquet"), &[column]).unwrap();
    let cast =
        |array: &dyn arrow::array::Array| arrow::compute::cast(array, &arrow::datatypes::DataType::Utf8).unwrap();
    let values = |batch: Result<RecordBatch>| -> Vec<String> {
        cast(batch.unwrap().column(0)).as_string::<i32>().iter().map(|value| value.unwrap().to_string()).collect()
    };
    batches.flat_map(values).collect()
}

#[test]
fn each_pair_is_verified_on_its_own_two_texts() {
    // The corpus is large enough that a single thread verifies several pairs of texts.
    let text = |own: u64| (0..40).map(|word| format!("word{own}x{word}")).collect::<Vec<_>>().join(" ");
    let texts: Vec<String> = (0..400).map(|doc| format!("{} end{}", text(doc / 2), doc % 2)).collect();
    let corpus = Corpus::of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let watch = Watch::default();
    corpus.run(&[("algorithms", "cosine,decomposition")], &watch).unwrap();
    let expected: Vec<Both> = (0..200).map(|pair| (2 * pair, 2 * pair + 1)).collect();
    for (label, pairs) in watch.pairs.lock().unwrap().iter() {
        let mut pairs = pairs.clone();
        pairs.sort_unstable();
        assert_eq!(pairs, expected, "{label}");
    }
}

/// Checks that `--chain remove` removes a document in favor of a document with which it forms no pair.
#[test]
fn a_whole_chain_leaves_the_document_that_is_preferred() {
    let step = |text: &str, from: &str, to: &str| text.replace(from, to);
    let second = step(FERRY, "eight in the morning", "nine on weekdays");
    let third = step(&second, "harbor office and on board", "big blue kiosk by the pier");
    let corpus = Corpus::of(&[FERRY, &second, &third, &third]);
    let given = [
        ("algorithms", "exact,shingles:join=exact,threshold=0.62"),
        ("remove-if", "pair"),
        ("chain", "remove"),
        ("keep", "doc asc"),
    ];
    let watch = Watch::default();
    corpus.run(&given, &watch).unwrap();
    assert_eq!(watch.pairs.lock().unwrap()["shingles"], [(0, 1), (1, 2)], "a chain: 0 and 2 are no pair");
    let removed = corpus.out().join("removed");
    assert_eq!(numbers(&removed, "doc"), [1, 2, 3]);
    assert_eq!(numbers(&removed, "kept_doc"), [0, 0, 0]);
    assert_eq!(strings(&removed, "reason"), ["pair", "chain", "chain"]);
    let plain =
        [("algorithms", "exact,shingles:join=exact,threshold=0.62"), ("remove-if", "pair"), ("overwrite", "true")];
    corpus.run(&plain, &Watch::default()).unwrap();
    assert_eq!(strings(&removed, "reason").iter().filter(|reason| *reason == "copy").count(), 1);
}

#[test]
fn the_share_of_the_first_document_stands_in_the_column_of_the_first() {
    let longer = format!("{FERRY} Dogs travel free.");
    for (texts, first_is_contained) in [([FERRY, &longer], true), ([&longer, FERRY], false)] {
        let corpus = Corpus::of(&texts);
        corpus.run(&[("algorithms", "minhash:verify=jaccard:0.5")], &Watch::default()).unwrap();
        let file = corpus.out().join("pairs/algorithm=minhash/part-00000.parquet");
        let columns = ["contained_a", "contained_b"];
        let batch = TableReader::open(&file, &columns).unwrap().next().unwrap().unwrap();
        let [a, b] = columns
            .map(|name| batch.column_by_name(name).unwrap().as_primitive::<Float32Type>().iter().collect::<Vec<_>>());
        let (whole, part) = if first_is_contained { (a, b) } else { (b, a) };
        assert_eq!(whole, [Some(1.0)], "all of the shorter text stands in the longer one");
        assert!(matches!(part[..], [Some(share)] if share < 1.0), "{part:?}");
    }
}

#[test]
fn guards_compare_a_run_with_the_one_before() {
    let (first, second) = (Corpus::of(&[FERRY, GARDEN, FERRY]), Corpus::of(&[FERRY; 1100]));
    let options = [("algorithms", "exact"), ("max-pairs-factor", "2"), ("max-removed-share", "1")];
    first.run(&options, &Watch::default()).unwrap();
    let before = first.out().display().to_string();
    let report = second.run(&[&options[..], &[("previous", before.as_str())]].concat(), &Watch::default()).unwrap();
    let fired: Vec<&str> = report.guards.iter().map(|guard| guard.name.as_str()).collect();
    assert!(fired.contains(&"max-pairs-factor"), "{fired:?}");
}

#[test]
fn an_output_appears_complete_or_not_at_all() {
    let corpus = Corpus::of(&[FERRY, GARDEN, FERRY]);
    let given = [("algorithms", "exact")];
    let is_interrupted = |result: Result<RunReport>| matches!(result, Err(Error::Interrupted));
    assert!(is_interrupted(corpus.run(&given, &Watch { breaks_off: true, ..Watch::default() })));
    assert!(!corpus.out().exists());
    assert!(is_interrupted(corpus.run(&given, &Watch { is_cancelled: true, ..Watch::default() })));
    assert!(!corpus.out().exists());
    assert!(is_interrupted(corpus.run(&given, &Watch { is_stopped_late: true, ..Watch::default() })));
    assert!(!corpus.out().exists());
    corpus.run(&given, &Watch::default()).unwrap();
    for name in ["_SUCCESS", "run.json", "pairs", "clusters", "removed"] {
        assert!(corpus.out().join(name).exists(), "{name}");
    }
    assert_eq!(numbers(&corpus.out().join("pairs/algorithm=exact"), "doc_b"), [2]);
}

#[test]
fn a_run_restores_each_state_that_an_earlier_one_saved() {
    let changed = FERRY.replace("eight", "nine");
    let texts = [FERRY, &changed, GARDEN, FERRY];
    let given = [("algorithms", "exact,minhash:verify=jaccard:0.5,cosine"), ("checkpoint", "0s")];
    let (corpus, plain) = (Corpus::of(&texts), Corpus::of(&texts));
    let watch = Watch::default();
    plain.run(&given[..1], &watch).unwrap();
    let broken = corpus.run(&given, &Watch { breaks_off: true, ..Watch::default() });
    assert!(matches!(broken, Err(Error::Interrupted)));
    let again = Watch::default();
    let report = corpus.run(&given, &again).unwrap();
    assert!(report.resumed.iter().any(|what| what.contains("minhash")), "{:?}", report.resumed);
    let again_done = |stage: &str| report.stages.iter().any(|one| one.stage.starts_with(stage));
    assert!(!again_done("count") && !again_done("sign") && !again_done("group"), "{:?}", report.stages);
    assert_eq!(*again.pairs.lock().unwrap(), *watch.pairs.lock().unwrap());
    assert_eq!(*again.copies.lock().unwrap(), *watch.copies.lock().unwrap());
    for table in ["pairs/algorithm=minhash", "pairs/algorithm=cosine", "pairs/algorithm=exact"] {
        let both = |corpus: &Corpus| ["doc_a", "doc_b"].map(|column| numbers(&corpus.out().join(table), column));
        assert_eq!(both(&corpus), both(&plain), "{table}");
    }
}

/// Checks a run over a file that opens without errors but whose text cannot be read.
#[test]
fn a_file_that_turns_out_to_be_damaged_is_left_out_and_the_others_are_read_again() {
    let corpus = Corpus::of(&[FERRY, GARDEN, FERRY]);
    let path = corpus.folder.path().join("late.parquet");
    let texts = RecordBatch::try_from_iter([("text", Arc::new(StringArray::from(vec![FERRY])) as _)]).unwrap();
    let mut writer = TableWriter::create(&path, texts.schema()).unwrap();
    writer.write(&texts).unwrap();
    writer.close().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4..60].fill(0xff);
    std::fs::write(&path, bytes).unwrap();
    let watch = Watch { more: vec!["late.parquet"], ..Watch::default() };
    let report = corpus.run(&[("algorithms", "exact")], &watch).unwrap();
    assert_eq!((report.documents.rows, report.documents.used, report.bad_inputs.len()), (3, 3, 1));
    assert_eq!(*watch.copies.lock().unwrap(), [0, 2]);
}

#[test]
fn a_file_that_is_damaged_is_left_out_unless_the_run_is_strict() {
    let corpus = Corpus::of(&[FERRY, GARDEN, FERRY]);
    std::fs::write(corpus.folder.path().join("broken.parquet"), b"PAR1 and no more").unwrap();
    let watch = Watch { more: vec!["broken.parquet"], ..Watch::default() };
    let report = corpus.run(&[("algorithms", "exact")], &watch).unwrap();
    assert_eq!((report.documents.rows, report.bad_inputs.len()), (3, 1));
    let strict = corpus.run(&[("algorithms", "exact"), ("strict", "true"), ("overwrite", "true")], &watch);
    assert!(matches!(strict, Err(Error::BadFile { .. })), "{strict:?}");
}
