//! The main text by the scores of Mozilla's Readability, as dom_smoothie has them.
//!
//! Paragraphs give points to what they stand in, class names and ids add or take some, and many links take most away; the
//! best element and siblings like it are cleaned and kept. It reads and changes the tree up to four times.

use super::fold::lines_folded;
use super::tree::Tree;
use dom_query::NodeData;
use dom_smoothie::{Config, Readability, TextMode};
use dupsift_core::guard::guarded;

/// Larger pages are left to `docview`: the time of this method grows faster than they do.
const MAX_ELEMENTS: usize = 50_000;

/// What the method writes as HTML is escaped by a search of the rest of a text at each `&`: so many bytes searched are too
/// many (about a tenth of a second).
const MAX_SEARCHED: usize = 2 << 30;

/// Elements whose content is no text of the page, beside those that the library leaves out itself.
const NO_TEXT: &str = "svg, canvas, video, audio, object, template, select, noscript, [hidden]";

/// Whether the page, whose text before parsing is `html`, is small enough.
pub(super) fn can_read(tree: &Tree, html: &str) -> bool {
    // The bytes at which the search stops: `&`, and the first of U+0080 to U+00BF.
    let stops = |text: &str| text.bytes().filter(|byte| matches!(byte, b'&' | 0xC2)).count();
    let searched = |text: &str| stops(text).saturating_mul(text.len());
    if tree.elements > MAX_ELEMENTS {
        return false;
    }
    if searched(html) <= MAX_SEARCHED {
        return true;
    }
    // Only the rest of the same text or value is searched.
    let of_node = |node: &dom_query::TreeNode| match &node.data {
        NodeData::Text { contents } => searched(contents),
        NodeData::Element(element) => element.attrs.iter().map(|attribute| searched(&attribute.value)).sum(),
        _ => 0,
    };
    let root = tree.document.root();
    root.descendants_it().map(|node| node.query_or(0, of_node)).sum::<usize>() <= MAX_SEARCHED
}

/// The main text, one paragraph a line; none if the method finds none. The tree is used up.
///
/// # Errors
/// What the library said when it gave up on the page: it cuts some addresses at bytes, also within a character.
pub(super) fn body(tree: Tree) -> Result<Option<String>, String> {
    guarded(|| {
        // What shows no text of the page; the library keeps some of it.
        tree.document.select(NO_TEXT).remove();
        let config = Config { text_mode: TextMode::Formatted, disable_json_ld: true, ..Config::default() };
        let mut readability = Readability::with_document(tree.document, None, Some(config)).ok()?;
        let text = lines_folded(&readability.parse().ok()?.text_content);
        Some(text).filter(|text| !text.is_empty())
    })
}
