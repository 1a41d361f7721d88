//! view: a document as algorithms see it: its text, its fields, and the results of earlier passes.

use super::copies::Copies;
use crate::corpus::CorpusStats;
use dupsift_text::{Analysis, FieldValues, Frequencies, KeptWords, Pipeline};

/// Provides documents to a pass.
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
    /// Returns the view for a pass without earlier results.
    pub fn first(pipeline: &'v Pipeline) -> View<'v, C> {
        View { pipeline, stats: None, copies: None }
    }

    /// Returns the view for a pass that follows counting, so word frequencies are known.
    pub fn after_count(pipeline: &'v Pipeline, stats: &'v CorpusStats) -> View<'v, C> {
        View { pipeline, stats: Some(stats), copies: None }
    }

    /// Returns the view for a pass that runs after copies were found. If copies count in the statistics, each document records how many
    /// times its text is counted.
    pub fn with_copies<'w>(self, copies: Option<&'w C>, count_copies: bool) -> View<'w, C>
    where
        'v: 'w,
    {
        View { copies: copies.filter(|_| count_copies), ..self }
    }

    /// Returns a document with the values of its fields and its scope. `starts` holds the beginnings of its Chinese words, if an earlier
    /// pass recorded them.
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
        document.comparable();
        document
    }

    /// Returns a document with only its words, which an earlier pass kept.
    pub fn read_back<'d>(&'d self, doc: u64, words: KeptWords<'d>, scope: Option<u64>) -> Analysis<'d> {
        let mut document = self.pipeline.read_back(words);
        document.stands(FieldValues::default(), None, self.times(doc), scope);
        document
    }

    /// Returns how many times the counts include the text of a document. A note for learning is counted the same number of times.
    pub fn times(&self, doc: u64) -> u64 {
        self.copies.map_or(1, |copies| copies.count(doc))
    }
}
