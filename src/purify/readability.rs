//! The main text by the scores of Mozilla's Readability, as dom_smoothie has them.
//!
//! Paragraphs give points to what they stand in, class names and ids add or take some, and many links take most away; the
//! best element and siblings like it are cleaned and kept. It reads and changes the tree up to four times.

use super::fold::lines_folded;
use super::tree::Tree;
use dom_smoothie::{Config, Readability, TextMode};

/// Larger pages are left to `docview`: the time of this method grows faster than they do.
const MAX_ELEMENTS: usize = 50_000;

/// Whether the page is small enough.
pub(super) fn can_read(tree: &Tree) -> bool {
    tree.elements <= MAX_ELEMENTS
}

/// The main text, one paragraph a line; none if the method finds none. The tree is used up.
pub(super) fn body(tree: Tree) -> Option<String> {
    let config = Config { text_mode: TextMode::Formatted, disable_json_ld: true, ..Config::default() };
    let mut readability = Readability::with_document(tree.document, None, Some(config)).ok()?;
    let text = lines_folded(&readability.parse().ok()?.text_content);
    Some(text).filter(|text| !text.is_empty())
}
