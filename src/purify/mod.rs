//! From a page to its text: charset, blocks, page type, main text, and what the page says of itself.
//!
//! ```text
//! bytes --charset--> text --parser--> tree --walk--> blocks --rules--> types of blocks and of the page --> body
//! ```
//!
//! A [`Purifier`] is made once and shared by all threads; [`Purifier::page`] is a pure function of the bytes, what was said
//! of them, and the options.

mod abstracts;
mod category;
mod elements;
mod function_words;
mod keywords;
mod options;
mod page;
mod training;

pub use category::{MAX_CLASSES, Model, ModelRow, category_text};
pub use elements::{Elements, elements};
pub use keywords::{CorpusWords, Keyword};
pub use options::{Fallback, Method, PurifyOptions};
pub use page::{Block, Cut, Kind, Link, Page, RawPage};
pub use training::{LeftOut, Trainer, TrainingOptions};

/// Takes pages apart.
#[derive(Clone, Debug)]
pub struct Purifier {
    options: PurifyOptions,
}

impl Purifier {
    /// With these choices.
    pub fn new(options: PurifyOptions) -> Purifier {
        Purifier { options }
    }

    /// One page.
    pub fn page(&self, raw: &RawPage<'_>) -> Page {
        let (text, encoding, malformed) =
            encoding_rs::UTF_8.decode(&raw.bytes[..raw.bytes.len().min(self.options.max_bytes)]);
        let document = dom_query::Document::from(text.as_ref());
        let title = Some(document.select("title").text().trim().to_owned()).filter(|title| !title.is_empty());
        let body = document.select("body").text().to_string();
        Page { kind: Kind::Topic, title, body: Some(body), charset: encoding.name(), malformed, ..Page::default() }
    }
}
