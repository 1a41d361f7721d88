//! Helpers for the unit tests: threads in a temporary folder, rows, indexes that consist of given rows and documents, and complete runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow::array::{ArrayRef, AsArray as _, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Int64Type};

use crate::stored::rows::write_run;
use dupsift_algorithms::algorithm::contract::Facts;
use dupsift_algorithms::algorithm::{Algorithm, Corpus, Params, SignatureScheme, Signer, TermVectors};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::measure::{Surplus, TitleWords, Versions};
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::doc::IndexDoc;
use dupsift_core::error::Result;
use dupsift_core::hash::splitmix64;
use dupsift_core::row::{Row, RowLayout, RowShape, Signatures};
use dupsift_core::safe_fs::Readers;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::resources::Resources;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::RunReport;
use dupsift_engine::job::run::run;
use dupsift_engine::matching::indexed::Indexed;
use dupsift_engine::matching::meeting::Numbered;
use dupsift_engine::options::{RunOptions, Settings, Verb, resolve};
use dupsift_engine::reading::look;
use dupsift_engine::session::Session;
use dupsift_index::{
    BATCHES, Batch, DocumentFile, Index, Manifest, PartWriter, ROWS, Rows, State, part_schema, seal, sums_of,
};
use dupsift_input::TableReader;
use dupsift_spill::shuffle::{AtomicCells, Mapped, Sorted};
use dupsift_text::{Analysis, Pipeline, TextOptions};

/// Holds the threads and the temporary folder of a test.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    resources: Resources,
    progress: Progress,
    cancel: AtomicBool,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let resources = Resources::new(256 << 20, 2).unwrap();
        Bench { folder, resources, progress: Progress::hidden(), cancel: AtomicBool::new(false) }
    }

    /// Returns an engine whose temporary files are in the folder of the test.
    pub(crate) fn engine(&self) -> Engine<'_> {
        self.resources.engine(false, true, self.folder.path(), &self.progress, &self.cancel)
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the options of a run that writes `out`.
    pub(crate) fn options(&self, input: &str, out: &str, given: &[(&str, &str)]) -> RunOptions {
        let mut settings = Settings::default();
        let (input, out) = (self.at(input).display().to_string(), self.at(out).display().to_string());
        let fixed = [("out", out.as_str()), ("threads", "2"), ("memory", "256MiB"), ("max-removed-share", "1")];
        for (name, value) in fixed.iter().chain(given) {
            settings.give_by_name(Verb::Run, name, &(*value).into()).unwrap();
        }
        resolve(vec![input], &settings.with_defaults(Verb::Run).unwrap()).unwrap()
    }

    /// Matches a batch of these texts against the index in the folder `index`, and adds it under this name. The ids of its documents are
    /// the name followed by the row number.
    pub(crate) fn batch(&self, name: &str, texts: &[String], given: &[(&str, &str)]) -> Result<RunReport> {
        let index = self.at("index").display().to_string();
        self.write(name, texts);
        let given = [&[("index", index.as_str())], given].concat();
        let options = self.options(&format!("{name}.jsonl"), name, &given);
        let inputs = look(&options, &self.cancel)?;
        crate::with_index(&options, inputs, &self.at("index"), &self.progress, &self.cancel, &|_, _, report| Ok(report))
    }

    /// Performs a run over these texts, without an index.
    pub(crate) fn alone(&self, name: &str, texts: &[String], given: &[(&str, &str)]) -> Result<RunReport> {
        self.write(name, texts);
        let options = self.options(&format!("{name}.jsonl"), name, given);
        let inputs = look(&options, &self.cancel)?;
        run(&options, inputs, &self.progress, &self.cancel, &|_, _, report| Ok(report))
    }

    fn write(&self, name: &str, texts: &[String]) {
        let line = |(row, text): (usize, &String)| {
            serde_json::json!({"id": format!("{name}-{row}"), "text": text, "score": row}).to_string()
        };
        let lines: Vec<String> = texts.iter().enumerate().map(line).collect();
        let (path, lines) = (self.at(&format!("{name}.jsonl")), lines.join("\n"));
        // A batch that is recomputed has the same files.
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&lines) {
            std::fs::write(path, lines).unwrap();
        }
    }

    /// Calls `work` with a session over a corpus of this many documents, which begins as `numbered` says and follows these indexed
    /// documents.
    pub(crate) fn session<T>(
        &self,
        numbered: Numbered,
        documents: usize,
        indexed: &[u64],
        work: impl FnOnce(&Session<'_>) -> T,
    ) -> T {
        self.write("corpus", &vec!["text".to_owned(); documents]);
        let (engine, options) = (self.engine(), self.options("corpus.jsonl", "out", &[]));
        let (source, pipeline) = (look(&options, &self.cancel).unwrap().source, Pipeline::new(&TextOptions::default()));
        let (shifted, pipeline) = (source.shifted(numbered.base), pipeline.unwrap());
        let mut numbers: Mapped<u64> = Mapped::new(engine.dir, "numbers", indexed.len()).unwrap();
        numbers.iter_mut().zip(indexed).for_each(|(number, doc)| *number = *doc);
        let fates = AtomicCells::new(engine.dir, "fates", indexed.len()).unwrap();
        let indexed = Indexed::new(&engine, numbered.base, numbered.next_doc, Arc::new(numbers), fates).unwrap();
        let session = Session::new(&engine, &options, &source, &pipeline).shifted(&shifted, numbered.base);
        work(&session.joined(&shifted, indexed))
    }

    /// Returns the newest generation of the index in the folder `index`.
    pub(crate) fn manifest(&self) -> Manifest {
        crate::upkeep::info(&self.at("index")).unwrap().manifest
    }
}

/// Returns a number below `below` that depends on a test and a place in it.
pub(crate) fn random(test: u64, place: u64, below: u64) -> u64 {
    splitmix64(test, place) % below
}

/// Returns a text of 80 words. The texts of a family differ in the words of their variants, and variant 0 has none.
pub(crate) fn text(family: u64, variant: u64) -> String {
    let letter = |word: u64, at| char::from(b'a' + random(99, 5 * word + at, 26) as u8);
    let word = |number: u64| (0..5).map(|at| letter(number, at)).collect::<String>();
    let is_changed = |at: u64| variant > 0 && at == variant * 19 % 80;
    let words =
        (0..80).map(|at| word(if is_changed(at) { 1_000_000 + 100 * family + variant } else { 100 * family + at }));
    words.collect::<Vec<_>>().join(" ")
}

/// Returns random texts, many of which are copies or differ in few words.
pub(crate) fn texts(test: u64, count: u64, families: u64) -> Vec<String> {
    (0..count).map(|at| text(random(test, 2 * at, families), random(test, 2 * at + 1, 4))).collect()
}

/// Returns the values of a column of integers from all files of a table.
pub(crate) fn numbers(table: &Path, column: &str) -> Vec<i64> {
    let mut files: Vec<_> = table.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let batches = files.iter().flat_map(|file| TableReader::open(file, &[column]).unwrap());
    let cast = |batch: Result<RecordBatch>| arrow::compute::cast(batch.unwrap().column(0), &DataType::Int64).unwrap();
    batches.map(cast).flat_map(|values| values.as_primitive::<Int64Type>().values().to_vec()).collect()
}

/// Returns the numbering of a batch that follows `next_doc` indexed documents. In the run, the batch begins at number `base`.
pub(crate) fn numbered(base: u64, next_doc: u64) -> Numbered {
    Numbered { base, next_doc: IndexDoc(next_doc), documents_planned: 1_000 }
}

/// Encodes a row without a sketch.
pub(crate) fn row(layout: RowLayout, key: u128, order: u32, doc: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    layout.encode(&Row { position: 0, key, order, doc, sketch: &[] }, &mut bytes);
    bytes
}

/// Sorts rows of one width.
pub(crate) fn sorted(engine: &Engine<'_>, (width, group_width): (usize, usize), rows: &[Vec<u8>]) -> Sorted {
    let shuffle = engine.shuffle("rows-of-a-test", width, group_width, rows.len() as u64).unwrap();
    let mut writer = shuffle.writer();
    rows.iter().for_each(|row| writer.push(row).unwrap());
    writer.flush().unwrap();
    drop(writer);
    shuffle.finish().unwrap()
}

/// Holds the rows of a file in a row folder.
pub(crate) struct RowFile {
    pub name: String,
    /// The width of a row and of its group.
    pub widths: (usize, usize),
    pub rows: Vec<Vec<u8>>,
}

impl RowFile {
    pub(crate) fn new(name: &str, widths: (usize, usize), rows: Vec<Vec<u8>>) -> RowFile {
        RowFile { name: name.to_owned(), widths, rows }
    }
}

/// Creates an index of `next_doc` documents with these row folders, and without texts.
pub(crate) fn index(engine: &Engine<'_>, dir: &Path, next_doc: u64, folders: &[Vec<RowFile>]) -> Index {
    let mut index = Index::open(dir, |_| Ok(State::Lost)).unwrap();
    let mut manifest = Manifest { next_doc, ..Manifest::default() };
    for (at, files) in folders.iter().enumerate() {
        let folder = format!("r-{:08}", at + 1);
        let path = index.begin(ROWS, &folder).unwrap();
        for RowFile { name, widths, rows } in files {
            write_run(engine, &path, name, sorted(engine, *widths, rows), !name.starts_with('+')).unwrap();
        }
        let files = seal(&path).unwrap();
        index.place(ROWS, &folder, &Readers::default()).unwrap();
        manifest.rows.push(Rows { folder, first_doc: 0, end_doc: next_doc, files });
    }
    index.manifest = Some(manifest);
    index
}

/// Describes an indexed document: its text, and the document in favor of which it was removed.
pub(crate) type Document<'d> = (Option<&'d str>, Option<i64>);

/// Adds a batch to an index. The batch has a document file for each list of documents. A document file has the columns of a corpus with
/// titles, and `hash` computes the hash of a text.
pub(crate) fn add_documents(index: &mut Index, parts: &[&[Document<'_>]], hash: impl Fn(&str) -> u128) {
    let mut manifest = index.manifest.clone().unwrap();
    let folder = format!("b-{:08}", manifest.batches.len() + 1);
    let path = index.begin(BATCHES, &folder).unwrap();
    let first_doc = manifest.batches.iter().map(|batch| batch.rows).sum::<u64>();
    let mut next = first_doc;
    let mut written = Vec::new();
    let schema = part_schema(DataType::Utf8, &["title".to_owned()]);
    for (at, documents) in parts.iter().enumerate() {
        let name = format!("part-{at:06}.parquet");
        let ids: StringArray = (next..).take(documents.len()).map(|doc| Some(format!("id-{doc}"))).collect();
        let texts: StringArray = documents.iter().map(|(text, _)| *text).collect();
        let titles: StringArray = (next..).take(documents.len()).map(|doc| Some(format!("title {doc}"))).collect();
        let hashes = documents.iter().map(|(text, _)| text.map(|text| hash(text).to_be_bytes()));
        let hashes = FixedSizeBinaryArray::try_from_sparse_iter_with_size(hashes, 16).unwrap();
        let kept: Int64Array = documents.iter().map(|(_, kept)| *kept).collect();
        let columns: [ArrayRef; 5] =
            [Arc::new(ids), Arc::new(texts), Arc::new(titles), Arc::new(hashes), Arc::new(kept)];
        let mut writer = PartWriter::create(&path.join(&name), schema.clone()).unwrap();
        writer.write(&RecordBatch::try_new(schema.clone(), columns.to_vec()).unwrap()).unwrap();
        writer.close().unwrap();
        written.push((name, next, documents.len() as u64));
        next += documents.len() as u64;
    }
    let files = seal(&path).unwrap();
    let named = |name: &str| files.iter().find(|file| file.name == name).unwrap().clone();
    let part = |(name, first_doc, rows): (String, u64, u64)| {
        let sums = named(&sums_of(Path::new(&name)).to_string_lossy());
        DocumentFile { file: named(&name), sums, first_doc, rows }
    };
    index.place(BATCHES, &folder, &Readers::default()).unwrap();
    let parts = written.into_iter().map(part).collect();
    manifest.batches.push(Batch { folder, first_doc, rows: next - first_doc, parts, ..Batch::default() });
    index.manifest = Some(manifest);
}

/// Represents an algorithm whose documents have one word each. Two documents that share a key can be a pair if their words differ by at
/// most 1.
#[derive(Clone, Copy)]
pub(crate) struct Near {
    pub shape: RowShape,
    /// Whether each row is compared with its nearest rows only.
    pub nearest: bool,
}

impl Near {
    /// A key whose documents are judged together.
    pub(crate) const CROWDED: u128 = 7;

    pub(crate) fn bound(self) -> Bound<'static> {
        static NONE: std::sync::LazyLock<CorpusStats> = std::sync::LazyLock::new(CorpusStats::none);
        let params = Params::check("near", &[], &[]).unwrap();
        Bound::new("near".to_owned(), &self, &params, &Corpus::new(1_000, &NONE)).unwrap()
    }
}

impl Algorithm for Near {
    fn facts(&self) -> &'static Facts {
        const FACTS: Facts = Facts {
            name: "near",
            aliases: &[],
            source: "",
            summary: "",
            when_not_to_use: "",
            inputs: "",
            params: &[],
            shorthands: &[],
            presets: &[],
            revision: 1,
        };
        &FACTS
    }

    fn signer<'c>(&self, _: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        Ok(Box::new(*self))
    }
}

impl Signer for Near {
    fn scheme(&self) -> SignatureScheme {
        SignatureScheme { index_words: 1, nearest: self.nearest, ..SignatureScheme::new(self.shape) }
    }

    fn sign(&self, _: &Analysis<'_>, _: &mut Signatures) {}

    fn may_be_pair(&self, a: &[u64], b: &[u64]) -> bool {
        a[0].abs_diff(b[0]) <= 1
    }

    fn vectors(&self) -> Option<&dyn TermVectors> {
        Some(self)
    }
}

impl TermVectors for Near {
    fn sign_with_evidence(&self, _: &Analysis<'_>, _: &mut Signatures, _: &mut Vec<u64>) {}

    fn versions(&self) -> Option<&Versions> {
        None
    }

    fn surplus(&self, _: &[u64], _: &[u64]) -> [Surplus; 2] {
        Default::default()
    }

    fn titles(&self, _: &[u64], _: &[u64], _: u64) -> [TitleWords; 2] {
        Default::default()
    }

    fn is_word(&self, _: Surplus, _: u64) -> bool {
        false
    }

    fn judges_each(&self, key: u128, _: u64) -> bool {
        key != Near::CROWDED
    }

    fn window_rule(&self, _: u128) -> u64 {
        0
    }

    fn describe_sketches(&self, _: &[u64], _: &[u64]) -> Option<String> {
        None
    }

    fn describe_window(&self, _: u128, _: u64, _: &[u64], _: &[u64]) -> Option<String> {
        None
    }
}
