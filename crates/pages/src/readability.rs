//! The main text by the scores of Mozilla's Readability, as dom_smoothie has them.
//!
//! Paragraphs give points to what they stand in, class names and ids add or take some, and many links take most away; the
//! best element and siblings like it are cleaned and kept. It reads and changes the tree up to four times.

use super::fold::Folded;
use super::roles::{breaks_line, keeps_lines};
use super::tree::Tree;
use dom_query::{NodeData, NodeId, NodeRef};
use dom_smoothie::{Config, Readability, TextMode};
use dupsift_core::guard::guarded;
use html5ever::local_name;

/// Larger pages are left to `docview`: the time of this method grows faster than they do.
const MAX_ELEMENTS: usize = 50_000;

/// What the method writes as HTML is escaped by a search of the rest of a text at each `&`: so many bytes searched are too
/// many (about a tenth of a second).
const MAX_SEARCHED: usize = 2 << 30;

/// Elements whose content is no text of the page, beside those that the library leaves out itself.
const NO_TEXT: &str = "svg, canvas, video, audio, object, template, select, noscript, [hidden]";

/// The element in which the library leaves the main part.
const MAIN_PART: &str = "#readability-page-1";

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
        let config = Config { text_mode: TextMode::Raw, disable_json_ld: true, ..Config::default() };
        let mut readability = Readability::with_document(tree.document, None, Some(config)).ok()?;
        readability.parse().ok()?;
        let text = text_of(readability.doc.select_single(MAIN_PART).nodes().first()?);
        Some(text).filter(|text| !text.is_empty())
    })
}

/// Returns the text below a node, with a line end at each element that has lines of its own. Cells of a table row are on one line.
/// Depth costs no stack of the thread.
fn text_of(root: &NodeRef<'_>) -> String {
    let mut text = Folded::default();
    let mut open: Vec<Open> = Vec::new();
    let mut kept_lines = 0;
    let mut next = root.first_child().map(|node| node.id);
    loop {
        let Some(id) = next else {
            let Some(left) = open.pop() else { return text.finish() };
            left.ends.mark(&mut text);
            kept_lines -= usize::from(left.keeps_lines);
            next = left.next;
            continue;
        };
        let entered = root.tree.query_node(&id, |node| {
            let inside = match &node.data {
                NodeData::Text { contents } => {
                    text.push(contents, kept_lines > 0);
                    None
                }
                NodeData::Element(element) => {
                    let name = &element.name.local;
                    let ends = match () {
                        () if matches!(*name, local_name!("td") | local_name!("th")) => Ends::Word,
                        () if breaks_line(name) => Ends::Line,
                        () => Ends::Nothing,
                    };
                    ends.mark(&mut text);
                    Some((ends, keeps_lines(name)))
                }
                _ => None,
            };
            (inside, node.first_child, node.next_sibling)
        });
        let Some((inside, first_child, sibling)) = entered else { return text.finish() };
        next = match inside {
            Some((ends, keeps_lines)) => {
                kept_lines += usize::from(keeps_lines);
                open.push(Open { next: sibling, ends, keeps_lines });
                first_child
            }
            None => sibling,
        };
    }
}

/// An element that the walk is inside of.
struct Open {
    next: Option<NodeId>,
    ends: Ends,
    keeps_lines: bool,
}

/// What ends where an element begins and ends.
#[derive(Clone, Copy)]
enum Ends {
    Nothing,
    Word,
    Line,
}

impl Ends {
    fn mark(self, text: &mut Folded) {
        match self {
            Ends::Nothing => {}
            Ends::Word => text.push(" ", false),
            Ends::Line => text.break_line(),
        }
    }
}
