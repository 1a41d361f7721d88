//! Provides test helpers that run the program, build corpora, and read the output tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, LazyLock};

use arrow::array::AsArray;
use arrow::array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::datatypes::{Float32Type, Int64Type};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use tempfile::TempDir;

/// The small corpus in the repository.
pub(crate) const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data-samples/docs");
/// All algorithms, as a value for `--algorithms`.
pub(crate) const ALL: &str = "all,lsi:dimensions=16,passes=1,as=lsi";

/// Seven algorithms, for tests whose cost grows with the number of algorithms.
pub(crate) const SEVEN: &str = "exact,long_sent,minhash,simhash,tf,tf_idf,three_plus_five";

/// Holds the result of a process.
pub(crate) struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: output.status.code().unwrap_or(-1), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Fails with the complete output unless the process ended with this exit code.
    #[track_caller]
    pub(crate) fn ends_with(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless stderr contains each of these strings. An error and its help line count as one line.
    #[track_caller]
    pub(crate) fn says(self, parts: &[&str]) -> Ran {
        let said = self.stderr.replace("\nhelp: ", "; ");
        for part in parts {
            assert!(said.contains(part) || self.stderr.contains(part), "{part:?} is not in\n{}", self.stderr);
        }
        self
    }
}

/// Returns the path of the program that is tested: `DUPSIFT_PROGRAM`, such as one that `make dist` built, or else the one that cargo built
/// for these tests.
pub(crate) fn built() -> &'static str {
    static BUILT: LazyLock<String> =
        LazyLock::new(|| std::env::var("DUPSIFT_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_dupsift").to_owned()));
    &BUILT
}

/// Returns a command that runs the program in a neutral environment.
pub(crate) fn program() -> Command {
    let mut command = Command::new(built());
    command.env("NO_COLOR", "1").env_remove("RUST_LOG");
    command
}

/// Returns a command that runs a Python program in the repository. The interpreter is `DUPSIFT_PYTHON`, or else `.venv/bin/python` in the
/// repository, which `make venv` creates.
pub(crate) fn python(program: &str) -> Command {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = std::env::var_os("DUPSIFT_PYTHON").map_or_else(|| root.join(".venv/bin/python"), PathBuf::from);
    assert!(
        python.is_file() || std::env::var_os("DUPSIFT_PYTHON").is_some(),
        "{} is not there; `make venv` makes it, or set DUPSIFT_PYTHON to a Python with the packages of scripts/requirements.txt",
        python.display()
    );
    let mut command = Command::new(python);
    command.arg(root.join(program));
    command
}

/// Runs `dupsift run INPUTS --out OUT ...`, with two threads and 512 MiB unless `more` sets other values.
pub(crate) fn run(inputs: &[&Path], out: &Path, more: &[&str]) -> Ran {
    let mut command = program();
    command.arg("run").args(inputs).arg("--out").arg(out).arg("--no-progress");
    if !more.iter().any(|flag| ["-v", "--verbose"].contains(flag)) {
        command.arg("-v");
    }
    // Generated documents look like pages from the same template. The guard for such pages has its own test.
    for (flag, value) in [("--threads", "2"), ("--memory", "512MiB"), ("--max-template-share", "1")] {
        if !more.contains(&flag) {
            command.args([flag, value]);
        }
    }
    Ran::of(command.args(more).output().unwrap())
}

/// Holds the output of a run on one input, in a temporary folder.
pub(crate) struct Done {
    folder: TempDir,
}

impl Done {
    /// Returns the output folder.
    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }
}

/// Runs the program on one input in a new temporary folder, and expects exit code 0.
#[track_caller]
pub(crate) fn done(input: &Path, more: &[&str]) -> Done {
    ended(input, more, 0)
}

/// Runs the program on one input in a new temporary folder, and expects this exit code.
#[track_caller]
pub(crate) fn ended(input: &Path, more: &[&str], code: i32) -> Done {
    let folder = tempfile::tempdir().unwrap();
    run(&[input], &folder.path().join("out"), more).ends_with(code);
    Done { folder }
}

/// Returns the folder of the samples.
pub(crate) fn samples() -> &'static Path {
    Path::new(SAMPLES)
}

/// Holds one document of a generated corpus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doc {
    pub id: String,
    pub text: String,
    /// The title, if the corpus has a title column.
    pub title: Option<String>,
}

/// Returns the documents of the samples, in document order.
pub(crate) fn sample_docs() -> Vec<Doc> {
    read_docs(samples())
}

/// Returns the documents in a folder of Parquet files, in document order.
pub(crate) fn read_docs(folder: &Path) -> Vec<Doc> {
    let table = Table::read(folder);
    let (ids, texts) = (table.texts("id"), table.texts("text"));
    let docs = ids.into_iter().zip(texts).map(|(id, text)| Doc { id, text, title: None });
    let mut docs: Vec<Doc> = docs.collect();
    if table.0.column_by_name("title").is_some() {
        let titles = arrow::compute::cast(table.column("title"), &DataType::Utf8).unwrap();
        docs.iter_mut().zip(titles.as_string::<i32>()).for_each(|(doc, title)| doc.title = title.map(String::from));
    }
    docs
}

/// Returns documents with these texts and the ids `d0`, `d1`, ...
pub(crate) fn numbered<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Doc> {
    let texts = texts.into_iter().enumerate();
    texts.map(|(n, text)| Doc { id: format!("d{n}"), text: text.into(), title: None }).collect()
}

/// Writes documents as Parquet with the columns `id` and `text`, and with a `title` column if any document has a title.
pub(crate) fn write_docs(path: &Path, docs: &[Doc], rows_a_group: usize) {
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(docs.iter().map(|doc| &doc.id)));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(docs.iter().map(|doc| &doc.text)));
    let mut columns = vec![("id", ids), ("text", texts)];
    if docs.iter().any(|doc| doc.title.is_some()) {
        columns.push(("title", Arc::new(docs.iter().map(|doc| doc.title.as_deref()).collect::<StringArray>())));
    }
    write_columns(path, &columns, rows_a_group);
}

/// Writes columns as Parquet.
pub(crate) fn write_columns(path: &Path, columns: &[(&str, ArrayRef)], rows_a_group: usize) {
    let fields = columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.iter().map(|(_, array)| array.clone()).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows_a_group)).build();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Encodes documents as JSON lines.
pub(crate) fn json_lines(docs: &[Doc]) -> Vec<u8> {
    let line = |doc: &Doc| {
        let mut fields = serde_json::json!({ "id": doc.id, "text": doc.text });
        if let Some(title) = &doc.title {
            fields["title"] = title.as_str().into();
        }
        format!("{fields}\n")
    };
    docs.iter().map(line).collect::<String>().into_bytes()
}

/// Holds a table of an output folder, or of any folder of Parquet files. All files are read in sequence.
pub(crate) struct Table(pub RecordBatch);

impl Table {
    /// Reads every Parquet file below a folder, or a single file.
    #[track_caller]
    pub(crate) fn read(path: &Path) -> Table {
        let mut batches = Vec::new();
        let mut schema = None;
        for file in parquet_files(path) {
            let reader = ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&file).unwrap()).unwrap();
            schema = Some(reader.schema().clone());
            batches.extend(reader.build().unwrap().map(Result::unwrap));
        }
        let schema = schema.unwrap_or_else(|| panic!("no Parquet file below {}", path.display()));
        Table(arrow::compute::concat_batches(&schema, &batches).unwrap())
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.0.num_rows()
    }

    #[track_caller]
    fn column(&self, name: &str) -> &ArrayRef {
        self.0.column_by_name(name).unwrap_or_else(|| panic!("no column {name:?} in {:?}", self.0.schema()))
    }

    /// Returns a column as strings: numbers as printed, null as `null`.
    #[track_caller]
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let column = arrow::compute::cast(self.column(name), &DataType::Utf8).unwrap();
        column.as_string::<i32>().iter().map(|value| value.unwrap_or("null").to_string()).collect()
    }

    /// Returns a column of lists of strings.
    #[track_caller]
    pub(crate) fn text_lists(&self, name: &str) -> Vec<Vec<String>> {
        let lists = self.column(name).as_list::<i32>().iter();
        lists.map(|list| list.unwrap().as_string::<i32>().iter().map(|id| id.unwrap().to_owned()).collect()).collect()
    }

    /// Returns an Int64 column without nulls.
    #[track_caller]
    pub(crate) fn numbers(&self, name: &str) -> Vec<i64> {
        let column = self.column(name).as_primitive::<Int64Type>();
        assert_eq!(column.null_count(), 0);
        column.values().to_vec()
    }

    /// Returns a Float32 column.
    #[track_caller]
    pub(crate) fn floats(&self, name: &str) -> Vec<Option<f32>> {
        self.column(name).as_primitive::<Float32Type>().iter().collect()
    }

    /// Returns a Boolean column.
    #[track_caller]
    pub(crate) fn flags(&self, name: &str) -> Vec<bool> {
        self.flags_or_null(name).into_iter().map(|value| value.unwrap()).collect()
    }

    pub(crate) fn flags_or_null(&self, name: &str) -> Vec<Option<bool>> {
        self.column(name).as_boolean().iter().collect()
    }
}

fn parquet_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    files_below(path).into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "parquet")).collect()
}

/// Returns all files below a folder, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return files };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the names in a folder, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns the bytes of `pairs/`, `clusters/` and `removed/`, by path.
pub(crate) fn result_bytes(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut bytes = BTreeMap::new();
    for folder in ["pairs", "clusters", "removed"] {
        for file in files_below(&out.join(folder)) {
            let name = file.strip_prefix(out).unwrap().to_string_lossy().into_owned();
            bytes.insert(name, std::fs::read(&file).unwrap());
        }
    }
    assert!(bytes.len() >= 3, "{} is not a result that was held back", out.display());
    bytes
}

/// Fails if any files differ, and lists their names.
#[track_caller]
pub(crate) fn assert_same_bytes(left: &Path, right: &Path, what: &str) {
    let (left, right) = (result_bytes(left), result_bytes(right));
    assert_eq!(left.keys().collect::<Vec<_>>(), right.keys().collect::<Vec<_>>(), "{what}: other files");
    let differ: Vec<&String> =
        left.iter().filter(|(name, bytes)| right[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "{what}: other bytes in {differ:?}");
}

/// Returns the content of `run.json`.
pub(crate) fn record(out: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap()
}

/// Returns the folders in `pairs/`: the labels of the algorithms.
pub(crate) fn labels(out: &Path) -> Vec<String> {
    let name = |name: String| name.strip_prefix("algorithm=").unwrap().to_string();
    names_in(&out.join("pairs")).into_iter().map(name).collect()
}

/// Returns the number of algorithms.
pub(crate) fn members() -> usize {
    dupsift::algorithm::ALGORITHMS.len()
}

/// Returns the algorithms that signed every used document of a run. Fails if these are fewer than half of the algorithms, because the test
/// would then be meaningless.
pub(crate) fn signing_labels(out: &Path) -> Vec<String> {
    let record = record(out);
    let used = record["documents"]["used"].as_u64();
    let all = record["algorithms"].as_array().unwrap();
    let signing = all.iter().filter(|one| one["signed"].as_u64() == used);
    let labels: Vec<String> = signing.map(|one| one["label"].as_str().unwrap().to_string()).collect();
    assert!(2 * labels.len() >= all.len(), "few sign: {labels:?}");
    labels
}

/// Holds one written pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PairLine {
    pub id_a: String,
    pub id_b: String,
    pub similarity: f32,
    pub distance: Option<f32>,
    pub matched_by: String,
    pub verified: bool,
    /// The result of the rule that distinguishes versions from pages of the same template: the relation, the reason, and the next best
    /// similarity.
    pub related: (String, String, Option<f32>),
    pub doc_a: i64,
    pub doc_b: i64,
}

/// Returns the pairs of one algorithm.
#[track_caller]
pub(crate) fn pairs(out: &Path, label: &str) -> Vec<PairLine> {
    let table = Table::read(&out.join(format!("pairs/algorithm={label}")));
    let (ids_a, ids_b, matched_by) = (table.texts("id_a"), table.texts("id_b"), table.texts("matched_by"));
    let (docs_a, docs_b) = (table.numbers("doc_a"), table.numbers("doc_b"));
    let (similarities, distances, verified) =
        (table.floats("similarity"), table.floats("distance"), table.flags("verified"));
    let (relations, whys, next_best) = (table.texts("relation"), table.texts("why"), table.floats("next_best"));
    (0..table.len())
        .map(|row| PairLine {
            id_a: ids_a[row].clone(),
            id_b: ids_b[row].clone(),
            similarity: similarities[row].unwrap(),
            distance: distances[row],
            matched_by: matched_by[row].clone(),
            verified: verified[row],
            related: (relations[row].clone(), whys[row].clone(), next_best[row]),
            doc_a: docs_a[row],
            doc_b: docs_b[row],
        })
        .collect()
}

/// Returns the document numbers in the pairs of one algorithm, in order.
#[track_caller]
pub(crate) fn doc_pairs(out: &Path, label: &str) -> Vec<(usize, usize)> {
    pairs(out, label).iter().map(|pair| (pair.doc_a as usize, pair.doc_b as usize)).collect()
}

/// Reduces pairs of documents to the pairs that a run writes. Each copy is in a pair with the first document that has the same text, and
/// different texts are represented by their first documents.
pub(crate) fn stars(pairs: impl IntoIterator<Item = (usize, usize)>, docs: &[Doc]) -> BTreeSet<(usize, usize)> {
    let mut first = BTreeMap::new();
    let firsts: Vec<usize> =
        docs.iter().enumerate().map(|(at, doc)| *first.entry((&doc.text, &doc.title)).or_insert(at)).collect();
    pairs.into_iter().filter(|&(a, b)| firsts[a] == a && (firsts[b] == b || firsts[b] == a)).collect()
}

/// Expands written pairs to all pairs of documents that they imply: each document with the first text is paired with each document with the
/// second text.
pub(crate) fn of_documents(pairs: impl IntoIterator<Item = (usize, usize)>, docs: &[Doc]) -> BTreeSet<(usize, usize)> {
    let mut copies: BTreeMap<(&String, &Option<String>), Vec<usize>> = BTreeMap::new();
    docs.iter().enumerate().for_each(|(at, doc)| copies.entry((&doc.text, &doc.title)).or_default().push(at));
    let of_text = |doc: usize| &copies[&(&docs[doc].text, &docs[doc].title)];
    let all = pairs.into_iter().flat_map(|(a, b)| {
        let both = of_text(a).iter().flat_map(move |&x| of_text(b).iter().map(move |&y| (x.min(y), x.max(y))));
        both.filter(|(x, y)| x != y)
    });
    all.collect()
}

/// Returns the pairs of one algorithm as sorted ids, to compare runs that number documents differently.
#[track_caller]
pub(crate) fn id_pairs(out: &Path, label: &str) -> Vec<(String, String)> {
    let sorted = |pair: PairLine| if pair.id_a < pair.id_b { (pair.id_a, pair.id_b) } else { (pair.id_b, pair.id_a) };
    let mut pairs: Vec<(String, String)> = pairs(out, label).into_iter().map(sorted).collect();
    pairs.sort();
    pairs
}

/// Returns the ids of the removed documents.
#[track_caller]
pub(crate) fn removed_ids(out: &Path) -> Vec<String> {
    Table::read(&out.join("removed")).texts("id")
}

/// Generates a reproducible sequence of numbers for test corpora.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        (dupsift_core::hash::splitmix64(20_071, self.0) % bound as u64) as usize
    }
}

/// Returns short documents made up of generated words. Many of the documents are copies of other documents, with changed words, moved
/// sentences or no changes.
pub(crate) fn made_docs(count: usize) -> Vec<Doc> {
    let mut numbers = Numbers(0);
    let mut texts: Vec<String> = Vec::with_capacity(count);
    for at in 0..count {
        let text = if at > 0 && numbers.below(2) == 0 {
            let from = texts[at - 1 - numbers.below(at.min(40))].clone();
            match numbers.below(4) {
                0 => from,
                1 => format!("{from} И ещё {} слово.", numbers.below(1000)),
                2 => {
                    let mut sentences: Vec<&str> = from.split_inclusive(". ").collect();
                    sentences.rotate_left(1);
                    sentences.concat()
                }
                _ => {
                    let mut words: Vec<String> = from.split(' ').map(str::to_string).collect();
                    let changed = numbers.below(words.len());
                    words[changed] = made_word(&mut numbers);
                    words.join(" ")
                }
            }
        } else {
            made_text(&mut numbers)
        };
        texts.push(text);
    }
    numbered(texts)
}

fn made_word(numbers: &mut Numbers) -> String {
    const PARTS: [&str; 12] = ["ко", "ра", "му", "st", "an", "lo", "ве", "те", "ri", "он", "网页", "搜索"];
    (0..2 + numbers.below(2)).map(|_| PARTS[numbers.below(PARTS.len())]).collect()
}

fn made_text(numbers: &mut Numbers) -> String {
    let sentence = |numbers: &mut Numbers| {
        let words: Vec<String> = (0..4 + numbers.below(8)).map(|_| made_word(numbers)).collect();
        format!("{}. ", words.join(" "))
    };
    (0..3 + numbers.below(5)).map(|_| sentence(numbers)).collect::<String>().trim_end().to_string()
}
