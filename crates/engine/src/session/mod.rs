//! Defines the session of a run, which holds its threads, memory, temporary files, options and corpus, and the pipeline that splits text
//! into words. The modules hold the data that all passes share: the documents that take part, their scopes, the text extracted from pages,
//! hashes of the contents of files, and texts for the report page.

pub mod content_hashes;
pub mod kept_texts;
pub(crate) mod purified_store;
mod purify_report;
pub mod sample;
pub(crate) mod scopes;

pub use purify_report::PurifyReport;

use std::sync::atomic::AtomicU64;

use crate::engine::threads::Engine;
use crate::matching::indexed::Indexed;
use crate::options::RunOptions;
use content_hashes::ContentHashes;
use dupsift_core::doc::IndexDoc;
use dupsift_input::{Source, Split};
use dupsift_pages::Purifier;
use dupsift_text::{Field, Pipeline};
use kept_texts::KeptTexts;
use purified_store::Pages;
use sample::{Sample, taking_part};
use scopes::Scopes;

/// Holds the resources and inputs of a run. All passes over the corpus share the session.
pub struct Session<'s> {
    /// The threads, the memory limit, the clock, the progress and the folder for temporary files.
    pub engine: &'s Engine<'s>,
    /// The options of the run.
    pub options: &'s RunOptions,
    /// The input files.
    pub source: &'s Source,
    /// The pipeline that splits text into words.
    pub pipeline: &'s Pipeline,
    /// The texts that the report page may show.
    pub kept_texts: KeptTexts,
    /// The purifier, which extracts text from HTML pages.
    pub purifier: Purifier,
    /// The texts of the pages that have been purified so far.
    pub pages: Pages,
    /// The scopes of documents, as defined by `--scope`.
    pub scopes: Scopes,
    /// The hashes of the data that the first pass reads from each file.
    pub contents: ContentHashes,
    /// The columns that the algorithms read in addition to the text.
    pub fields: Vec<Field>,
    /// The number of Han characters that have been segmented with the dictionary.
    pub segmented: AtomicU64,
    /// The number of the first document in the corpus. Indexed documents have smaller numbers.
    pub base: u64,
    /// The indexed documents that take part in the run.
    pub indexed: Option<Indexed>,
    /// The pieces to read, if this process reads only part of the corpus.
    pub part: Option<Vec<Split>>,
    /// The exclusive upper bound on document numbers, if only some rows take part.
    limit: Option<u64>,
    /// The sample, if only a sample of the documents takes part. Documents outside the sample are numbered but never read.
    pub sample: Option<Sample>,
}

impl<'s> Session<'s> {
    /// Returns the session for a corpus that has not been read yet.
    pub fn new(
        engine: &'s Engine<'s>,
        options: &'s RunOptions,
        source: &'s Source,
        pipeline: &'s Pipeline,
    ) -> Session<'s> {
        let (_, sample) = taking_part(options, source.documents());
        Session {
            sample,
            engine,
            options,
            source,
            pipeline,
            purifier: Purifier::new(options.pages.purify),
            pages: Pages::default(),
            kept_texts: KeptTexts::new(options.output.report),
            scopes: Scopes::default(),
            contents: ContentHashes::new(source.files.len()),
            fields: options.recipe.fields().into_iter().collect(),
            segmented: AtomicU64::new(0),
            base: 0,
            indexed: None,
            part: None,
            limit: options.sampling.limit,
        }
    }

    /// Returns a session for the same corpus in which all document numbers are increased by `by`; see [`Source::shifted`].
    pub fn shifted(&self, source: &'s Source, by: u64) -> Session<'s> {
        let limit = self.limit.map(|limit| limit.saturating_add(by));
        Session { base: by, limit, ..Session::new(self.engine, self.options, source, self.pipeline) }
    }

    /// Returns a session for the indexed documents, whose numbers precede the numbers of the documents in the corpus.
    pub(crate) fn of_indexed<'g>(&self, source: &'g Source) -> Session<'g>
    where
        's: 'g,
    {
        Session { base: self.base, limit: None, ..Session::new(self.engine, self.options, source, self.pipeline) }
    }

    /// Returns a session for the corpus together with its indexed documents; see [`Source::after`].
    pub fn joined<'g>(&self, source: &'g Source, indexed: Indexed) -> Session<'g>
    where
        's: 'g,
    {
        let segmented = AtomicU64::new(self.segmented.load(std::sync::atomic::Ordering::Relaxed));
        let new = Session::new(self.engine, self.options, source, self.pipeline);
        Session { base: self.base, limit: self.limit, indexed: Some(indexed), segmented, ..new }
    }

    /// Returns a session that reads only these pieces of the corpus.
    pub fn of_pieces(&self, pieces: Vec<Split>) -> Session<'s> {
        Session { part: Some(pieces), ..Session::new(self.engine, self.options, self.source, self.pipeline) }
    }

    /// Returns the exclusive upper bound on document numbers, which is the number of rows within `--limit` plus the number of preceding
    /// documents.
    pub fn documents(&self) -> u64 {
        let all = self.source.documents().max(self.base);
        self.limit.map_or(all, |limit| all.min(limit))
    }

    /// Returns the number of rows in the corpus that take part.
    pub fn rows(&self) -> u64 {
        self.documents() - self.base
    }

    /// Returns the number of rows in the corpus that are read, which is the size of the sample or the number of rows that take part.
    pub(crate) fn rows_read(&self) -> u64 {
        self.sample.map_or(self.rows(), Sample::documents)
    }

    /// Returns the number by which tables identify a document. The result is the document's number in the index, or its own number if there
    /// is no index.
    #[inline]
    pub fn number(&self, doc: u64) -> u64 {
        self.indexed.as_ref().map_or(doc, |indexed| indexed.number(doc).0)
    }

    /// Returns the document that tables identify by `number`, or `None` if it does not take part.
    pub fn document(&self, number: u64) -> Option<u64> {
        let here = self.indexed.as_ref().map_or(Some(number), |indexed| indexed.here(IndexDoc(number)));
        here.filter(|&doc| doc < self.documents())
    }

    /// Returns whether both documents are indexed. If so, an earlier run has already reported how the documents are related.
    #[inline]
    pub(crate) fn are_old(&self, a: u64, b: u64) -> bool {
        a < self.base && b < self.base
    }

    /// Returns whether a document belongs to the corpus, or has the same text as a document in the corpus.
    #[inline]
    pub fn is_new(&self, doc: u64) -> bool {
        doc >= self.base || self.indexed.as_ref().is_some_and(|indexed| indexed.is_copied(doc))
    }

    /// Returns the number of files with indexed documents. These files precede the files of the corpus.
    pub(crate) fn indexed_files(&self) -> usize {
        self.source.files.partition_point(|file| file.first_doc < self.base)
    }

    /// Returns whether some documents are HTML pages that have to be purified.
    pub fn has_pages(&self) -> bool {
        self.source.has_pages()
    }

    /// Returns the names of the columns that a pass reads in addition to the text.
    pub fn field_columns(&self) -> Vec<String> {
        self.fields.iter().map(|&field| self.options.columns.field_columns[field as usize].clone()).collect()
    }
}
