//! Computes the elements of a page, which become columns of the output table.

use super::Purify;
use super::category::Categories;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_engine::pass::{Session, read_back};
use dupsift_pages::{CorpusWords, Page, category_text, elements};
use dupsift_study::Finished;
use dupsift_tables::PageRow;
use dupsift_text::Pipeline;

/// Extracts elements, using the statistics and the model given in the options.
pub(crate) struct Elements {
    stats: Option<CorpusStats>,
    categories: Option<Categories>,
}

/// Holds the elements of one page as text; the buffers are reused for the next page.
#[derive(Default)]
pub(super) struct Spelled {
    pub title: Option<String>,
    keywords: String,
    weights: String,
    abstract_text: String,
    links: String,
    category: Option<String>,
}

impl Elements {
    /// Reads the statistics and the model given in the options.
    ///
    /// # Errors
    /// Returns an error if a folder is not the output of a run or a training run, or if words were segmented differently in that run.
    pub(crate) fn new(session: &Session<'_>, options: &Purify) -> Result<Elements> {
        let stats =
            options.stats.as_deref().map(|dir| read_back::words(session, Finished::open(dir)?.of())).transpose()?;
        let categories = options.model.as_deref().map(|dir| Categories::open(dir, session)).transpose()?;
        Ok(Elements { stats, categories })
    }

    /// Checks both folders before an input is opened: one must be the output of a run, and the other must be the output of a training run
    /// that used the same word segmentation.
    ///
    /// # Errors
    /// Returns the errors of [`Elements::new`].
    pub(crate) fn check(options: &Purify) -> Result<()> {
        if let Some(dir) = &options.stats {
            read_back::counted_words(Finished::open(dir)?.of())?;
        }
        match &options.model {
            Some(dir) => Categories::check(dir, &Pipeline::new(&options.run.recipe.text)?.identity()).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Returns the snapshot of the statistics used to weight keywords.
    pub(crate) fn snapshot(&self) -> Option<u64> {
        self.stats.as_ref().map(CorpusStats::snapshot)
    }

    /// Returns the hash of the model used to predict categories.
    pub(crate) fn model(&self) -> Option<&str> {
        self.categories.as_ref().map(|categories| categories.digest.as_str())
    }

    /// Extracts the elements of a page.
    pub(super) fn spell(&self, session: &Session<'_>, page: &Page, out: &mut Spelled) {
        let corpus = self.stats.as_ref().map(|stats| CorpusWords { documents: stats.documents(), frequencies: stats });
        let elements = elements(page, session.pipeline, corpus.as_ref());
        out.clear();
        for keyword in &elements.keywords {
            let comma = if out.keywords.is_empty() { "" } else { ", " };
            out.keywords += comma;
            out.keywords += &keyword.word;
            out.weights += &format!("{comma}{:.4}", keyword.weight);
        }
        out.abstract_text = elements.abstract_text;
        for link in &elements.links {
            if !out.links.is_empty() {
                out.links.push('\n');
            }
            out.links += &link.url;
            out.links.push('\t');
            out.links += &link.text;
        }
        if let Some(Categories { model, .. }) = &self.categories {
            let text = category_text(page.title.as_deref(), page.body.as_deref());
            out.category = model.classify(&session.pipeline.analyse(&text)).map(|(class, _)| class.to_owned());
        }
        // If a page has no title, its highest-weighted keyword becomes the title (docs/methods/docview.md).
        out.title = page.title.clone().or_else(|| elements.keywords.first().map(|keyword| keyword.word.clone()));
    }
}

impl Spelled {
    fn clear(&mut self) {
        self.keywords.clear();
        self.weights.clear();
        self.links.clear();
        (self.title, self.category) = (None, None);
    }

    /// Returns the elements as a table row.
    pub(crate) fn row(&self) -> PageRow<'_> {
        let some = |text: &'_ str| !text.is_empty();
        PageRow {
            category: self.category.as_deref(),
            keywords: Some(self.keywords.as_str()).filter(|text| some(text)),
            keyword_weights: Some(self.weights.as_str()).filter(|text| some(text)),
            abstract_text: Some(self.abstract_text.as_str()).filter(|text| some(text)),
            links: Some(self.links.as_str()).filter(|text| some(text)),
            ..PageRow::default()
        }
    }
}
