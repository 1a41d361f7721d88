//! The session of a run: threads, memory and temporary files, options, corpus, and the pipeline from text to words.

use std::sync::atomic::AtomicU64;

use crate::engine::threads::Engine;
use crate::matching::guests::Guests;
use crate::options::RunOptions;
use crate::reading::content_hashes::ContentHashes;
use crate::reading::kept_texts::KeptTexts;
use crate::reading::purified_store::Pages;
use crate::reading::scopes::Scopes;
use dupsift_core::doc::IndexDoc;
use dupsift_files::io::{Source, Split};
use dupsift_pages::Purifier;
use dupsift_text::{Field, Pipeline};

/// Holds everything that a run works with. All passes over the corpus share it.
pub struct Session<'s> {
    /// Threads, memory, clock, progress and the folder of temporary files.
    pub engine: &'s Engine<'s>,
    /// What was asked.
    pub options: &'s RunOptions,
    /// The files.
    pub source: &'s Source,
    /// From text to words.
    pub pipeline: &'s Pipeline,
    /// Texts that the page may show.
    pub kept_texts: KeptTexts,
    /// From pages to texts.
    pub purifier: Purifier,
    /// What came of pages so far.
    pub pages: Pages,
    /// The scopes of documents, see `--scope`.
    pub scopes: Scopes,
    /// Hashes of what the first pass has read of each file.
    pub contents: ContentHashes,
    /// The columns beside the text that the algorithms read.
    pub fields: Vec<Field>,
    /// Han characters that went through the dictionary.
    pub segmented: AtomicU64,
    /// The number of the first document of the corpus itself: guests have smaller ones.
    pub base: u64,
    /// Documents of an index that take part.
    pub guests: Option<Guests>,
    /// The pieces that are read, where this process reads a part of the corpus.
    pub part: Option<Vec<Split>>,
    /// No document has this number or a larger one, where not all rows take part.
    limit: Option<u64>,
}

impl<'s> Session<'s> {
    /// Returns the session of a corpus that was not read yet.
    pub fn new(
        engine: &'s Engine<'s>,
        options: &'s RunOptions,
        source: &'s Source,
        pipeline: &'s Pipeline,
    ) -> Session<'s> {
        Session {
            engine,
            options,
            source,
            pipeline,
            purifier: Purifier::new(options.recipe.purify),
            pages: Pages::default(),
            kept_texts: KeptTexts::new(options.report),
            scopes: Scopes::default(),
            contents: ContentHashes::new(source.files.len()),
            fields: options.recipe.fields().into_iter().collect(),
            segmented: AtomicU64::new(0),
            base: 0,
            guests: None,
            part: None,
            limit: options.limit,
        }
    }

    /// Of the same corpus under larger numbers, see [`Source::shifted`].
    pub fn shifted(&self, source: &'s Source, by: u64) -> Session<'s> {
        let limit = self.limit.map(|limit| limit.saturating_add(by));
        Session { base: by, limit, ..Session::new(self.engine, self.options, source, self.pipeline) }
    }

    /// Of documents that stand before the corpus.
    pub fn of_guests<'g>(&self, source: &'g Source) -> Session<'g>
    where
        's: 'g,
    {
        Session { base: self.base, limit: None, ..Session::new(self.engine, self.options, source, self.pipeline) }
    }

    /// Of the corpus with its guests, see [`Source::after`].
    pub fn joined<'g>(&self, source: &'g Source, guests: Guests) -> Session<'g>
    where
        's: 'g,
    {
        let segmented = AtomicU64::new(self.segmented.load(std::sync::atomic::Ordering::Relaxed));
        let new = Session::new(self.engine, self.options, source, self.pipeline);
        Session { base: self.base, limit: self.limit, guests: Some(guests), segmented, ..new }
    }

    /// Returns a session of the same corpus that reads these pieces only.
    pub fn of_pieces(&self, pieces: Vec<Split>) -> Session<'s> {
        Session { part: Some(pieces), ..Session::new(self.engine, self.options, self.source, self.pipeline) }
    }

    /// How many documents are numbered: all rows, or those within `--limit`, with what stands before them.
    pub fn documents(&self) -> u64 {
        let all = self.source.documents().max(self.base);
        self.limit.map_or(all, |limit| all.min(limit))
    }

    /// Rows of the corpus itself that take part.
    pub fn rows(&self) -> u64 {
        self.documents() - self.base
    }

    /// The number that a document has in tables: its own, or that in an index.
    #[inline]
    pub fn number(&self, doc: u64) -> u64 {
        self.guests.as_ref().map_or(doc, |guests| guests.number(doc).0)
    }

    /// The document that has this number in tables; none where it takes no part.
    pub fn document(&self, number: u64) -> Option<u64> {
        let here = self.guests.as_ref().map_or(Some(number), |guests| guests.here(IndexDoc(number)));
        here.filter(|&doc| doc < self.documents())
    }

    /// Whether both are documents of an index: what they are to each other was told before.
    #[inline]
    pub fn are_old(&self, a: u64, b: u64) -> bool {
        a < self.base && b < self.base
    }

    /// Whether a document is one of the corpus itself, or has the text of one.
    #[inline]
    pub fn is_fresh(&self, doc: u64) -> bool {
        doc >= self.base || self.guests.as_ref().is_some_and(|guests| guests.is_copied(doc))
    }

    /// Files of guests, which stand first.
    pub fn guest_files(&self) -> usize {
        self.source.files.partition_point(|file| file.first_doc < self.base)
    }

    /// Whether some texts are pages, which have to be purified.
    pub fn has_pages(&self) -> bool {
        self.source.has_pages()
    }

    /// The names of the columns beside the text that a reading asks for.
    pub fn field_columns(&self) -> Vec<String> {
        self.fields.iter().map(|&field| self.options.field_columns[field as usize].clone()).collect()
    }
}
