//! view: a document as algorithms see it: its text, what stands beside it, and what earlier passes learnt of it.

use super::copies::Copies;
use crate::corpus::CorpusStats;
use dupsift_text::{Analysis, FieldValues, Frequencies, KeptWords, Pipeline};

/// How a pass sees documents.
pub struct View<'v, C> {
    pipeline: &'v Pipeline,
    stats: Option<&'v CorpusStats>,
    copies: Option<&'v C>,
}

impl<C> Clone for View<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C> Copy for View<'_, C> {}

impl<'v, C: Copies> View<'v, C> {
    /// Of a pass that knows nothing yet.
    pub fn first(pipeline: &'v Pipeline) -> View<'v, C> {
        View { pipeline, stats: None, copies: None }
    }

    /// Of a pass after the count: the frequencies of words are known.
    pub fn after_count(pipeline: &'v Pipeline, stats: &'v CorpusStats) -> View<'v, C> {
        View { pipeline, stats: Some(stats), copies: None }
    }

    /// Of a pass that knows the copies. Where these count in the statistics, each document knows how often the counts hold its
    /// text.
    pub fn with_copies<'w>(self, copies: Option<&'w C>, count_copies: bool) -> View<'w, C>
    where
        'v: 'w,
    {
        View { copies: copies.filter(|_| count_copies), ..self }
    }

    /// One document, with the values of its fields and its scope. `starts` says where its Chinese words begin, where an earlier pass
    /// has noted that.
    pub fn document<'d>(
        &'d self,
        doc: u64,
        text: &'d str,
        fields: FieldValues<'d>,
        starts: Option<&'d [u8]>,
        scope: Option<u64>,
    ) -> Analysis<'d> {
        let mut document = match starts {
            Some(starts) => self.pipeline.analyse_again(text, starts),
            None => self.pipeline.analyse(text),
        };
        let corpus = self.stats.map(|stats| stats as &dyn Frequencies);
        document.stands(fields, corpus, self.times(doc), scope);
        document
    }

    /// One document of which only the words are known.
    pub fn read_back<'d>(&'d self, doc: u64, words: KeptWords<'d>, scope: Option<u64>) -> Analysis<'d> {
        let mut document = self.pipeline.read_back(words);
        document.stands(FieldValues::default(), None, self.times(doc), scope);
        document
    }

    /// How often the counts hold the text of a document; a note of what is learnt counts as often.
    pub fn times(&self, doc: u64) -> u64 {
        self.copies.map_or(1, |copies| copies.count(doc))
    }
}
