//! Extracts the text of a web page: charset, blocks, page type, main text, and metadata.
//!
//! ```text
//! bytes --charset--> text --parser--> tree --walk--> blocks --rules--> types of blocks and of the page --> body
//! ```
//!
//! A [`Purifier`] is created once and shared by all threads; [`Purifier::page`] is a pure function of the bytes, their declared type and
//! address, and the options.

// Tests write files to their own folders, and use the platform's math functions.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

mod blocks;
mod category;
mod charset;
mod elements;
#[cfg(test)]
mod laws;
mod options;
mod page;
mod readability;
mod roles;
mod tree;

pub use category::training::{LeftOut, Trainer, TrainingOptions};
pub use category::{Model, ModelRow, category_text};
pub use elements::keywords::{CorpusWords, Keyword};
pub use elements::{Elements, elements};
pub use options::{Fallback, Method, PurifyOptions};
pub use page::{Block, Cut, Kind, Link, Page, RawPage};

use blocks::fold::lines_folded;
use blocks::kinds::Counts;

/// Extracts the text of pages.
#[derive(Clone, Debug)]
pub struct Purifier {
    options: PurifyOptions,
}

impl Purifier {
    /// Returns a purifier with these options.
    pub fn new(options: PurifyOptions) -> Purifier {
        Purifier { options: PurifyOptions { max_bytes: options.max_bytes.min(PurifyOptions::MOST_BYTES), ..options } }
    }

    /// Processes one page. A page with the content type `text/plain` is not parsed: its paragraphs are the blocks.
    pub fn page(&self, raw: &RawPage<'_>) -> Page {
        let decoded = charset::decode(raw, self.options.max_bytes);
        let mut page =
            if charset::is_plain(raw.content_type) { plain(&decoded.text) } else { self.html(&decoded.text, raw.url) };
        page.charset = decoded.encoding.name();
        page.malformed = decoded.malformed;
        page.cut.bytes = decoded.cut;
        page
    }

    fn html(&self, text: &str, url: Option<&str>) -> Page {
        let tree = tree::parse(text, &self.options);
        let mut found = blocks::read(&tree.document, url, self.options.max_links);
        for (block, counts) in &mut found.blocks {
            block.kind = blocks::kinds::of_block(block, counts);
        }
        let (kind, has_text) = blocks::kinds::of_page(found.blocks.iter().map(|(block, counts)| (block, counts)));
        let mut page = Page {
            kind,
            title: found.title,
            keywords: found.keywords,
            description: found.description,
            headings: found.headings,
            blocks: found.blocks.into_iter().map(|(block, _)| block).collect(),
            ..Page::default()
        };
        page.cut.elements = tree.too_many;
        page.cut.depth = tree.too_deep;
        page.cut.attributes = tree.attributes_cut;
        page.cut.links = found.links_cut;
        page.body = self.body(&mut page, has_text, tree, text).filter(|body| !body.is_empty());
        page
    }

    /// Returns the main text. Every topic page has a main text. With `readability`, which selects the best part of a page, pages of other
    /// types also have a main text if their topic blocks contain enough text, even if these blocks make up only a small share of the page.
    fn body(&self, page: &mut Page, has_text: bool, tree: tree::Tree, html: &str) -> Option<String> {
        let scored = self.options.method == Method::Readability && has_text;
        if page.kind != Kind::Topic && !scored {
            return match self.options.fallback {
                Fallback::Visible => Some(visible(&page.blocks)),
                Fallback::Skip => None,
            };
        }
        match self.options.method {
            Method::Visible => Some(visible(&page.blocks)),
            Method::Docview => Some(blocks::kinds::body(&page.blocks)),
            Method::Readability => {
                let read = if readability::can_read(&tree, html) { readability::body(tree).ok() } else { None };
                page.cut.method = read.is_none();
                Some(read.flatten().unwrap_or_else(|| blocks::kinds::body(&page.blocks)))
            }
        }
    }
}

/// Returns all visible text, that is, the text of all blocks in order.
fn visible(blocks: &[Block]) -> String {
    let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).filter(|text| !text.is_empty()).collect();
    texts.join("\n")
}

/// Returns the page for plain text without tags. The paragraphs, or the lines if there are no empty lines, become topic blocks.
fn plain(text: &str) -> Page {
    let text = text.replace("\r\n", "\n");
    let mut paragraphs = vec![String::new()];
    let parted = text.trim().lines().any(|line| line.trim().is_empty());
    for line in text.trim().lines() {
        match paragraphs.last_mut() {
            Some(last) if parted && !line.trim().is_empty() => {
                last.push_str(line);
                last.push('\n');
            }
            _ if parted => paragraphs.push(String::new()),
            _ => paragraphs.push(line.to_owned()),
        }
    }
    let block = |paragraph: &String| {
        let text = lines_folded(paragraph);
        let plain = Counts::default().add(&text, false);
        (plain > 0).then(|| Block { kind: Kind::Topic, plain, text, ..Block::default() })
    };
    let blocks: Vec<Block> = paragraphs.iter().filter_map(block).collect();
    let body = (!blocks.is_empty()).then(|| visible(&blocks));
    Page { kind: if blocks.is_empty() { Kind::Other } else { Kind::Topic }, body, blocks, ..Page::default() }
}
