//! Finds the main text with the scoring method of Mozilla's Readability, as implemented in dom_smoothie.
//!
//! An element gets points for the paragraphs that it contains, gains or loses points because of its class names and ids, and loses most of
//! its points if it has many links. The best element and its similar siblings are cleaned and kept. The method reads and changes the tree
//! up to four times.

use crate::blocks::captions::Captions;
use crate::blocks::fold::Folded;
use crate::roles::{breaks_line, keeps_lines};
use crate::tree::Tree;
use dom_query::{NodeData, NodeId, NodeRef};
use dom_smoothie::{Config, Readability, TextMode};
use dupsift_core::guard::guarded;
use html5ever::local_name;

/// The maximum number of elements. Larger pages use `docview`, because the running time of this method grows faster than linearly.
const MAX_ELEMENTS: usize = 50_000;

/// The maximum number of bytes that are searched; searching this many bytes takes about a tenth of a second. When the method writes HTML,
/// it searches the rest of the text again after each `&`.
const MAX_SEARCHED: usize = 2 << 30;

/// Elements that the library does not remove although their content is not part of the page's text.
const NO_TEXT: &str = "svg, canvas, video, audio, object, template, select, noscript, [hidden]";

/// The element into which the library puts the main part.
const MAIN_PART: &str = "#readability-page-1";

/// Returns whether the page, whose text before parsing is `html`, is small enough for this method.
pub(super) fn can_read(tree: &Tree, html: &str) -> bool {
    // The bytes at which the search stops: `&`, and the first byte of U+0080 to U+00BF.
    let stops = |text: &str| text.bytes().filter(|byte| matches!(byte, b'&' | 0xC2)).count();
    let searched = |text: &str| stops(text).saturating_mul(text.len());
    if tree.elements > MAX_ELEMENTS {
        return false;
    }
    if searched(html) <= MAX_SEARCHED {
        return true;
    }
    // Each search covers only the rest of the same text node or attribute value.
    let of_node = |node: &dom_query::TreeNode| match &node.data {
        NodeData::Text { contents } => searched(contents),
        NodeData::Element(element) => element.attrs.iter().map(|attribute| searched(&attribute.value)).sum(),
        _ => 0,
    };
    let root = tree.document.root();
    root.descendants_it().map(|node| node.query_or(0, of_node)).sum::<usize>() <= MAX_SEARCHED
}

/// Returns the main text, one paragraph per line; `None` if the method finds none. Consumes the tree.
///
/// # Errors
/// Returns the panic message if the library panicked on the page. The library can panic because it truncates some addresses at byte
/// positions inside a character.
pub(super) fn body(tree: Tree) -> Result<Option<String>, String> {
    guarded(|| {
        // Removes elements without visible text; the library keeps some of them.
        tree.document.select(NO_TEXT).remove();
        let config = Config { text_mode: TextMode::Raw, disable_json_ld: true, ..Config::default() };
        let mut readability = Readability::with_document(tree.document, None, Some(config)).ok()?;
        readability.parse().ok()?;
        let text = text_of(readability.doc.select_single(MAIN_PART).nodes().first()?);
        Some(text).filter(|text| !text.is_empty())
    })
}

/// Returns the text below a node, with a line break at each block element. The cells of a table row are on one line. Deeply nested nodes do
/// not overflow the thread's stack.
fn text_of(root: &NodeRef<'_>) -> String {
    let mut text = Folded::default();
    let mut open: Vec<Open> = Vec::new();
    let (mut kept_lines, mut captions) = (0, Captions::default());
    let mut next = root.first_child().map(|node| node.id);
    loop {
        let Some(id) = next else {
            let Some(left) = open.pop() else { return text.finish() };
            left.ends.mark(&mut text);
            kept_lines -= usize::from(left.keeps_lines);
            captions.leave(left.is_caption);
            next = left.next;
            continue;
        };
        let entered = root.tree.query_node(&id, |node| {
            let inside = match &node.data {
                NodeData::Text { contents } => {
                    captions.text();
                    text.push(contents, kept_lines > 0);
                    None
                }
                NodeData::Element(element) => {
                    let name = &element.name.local;
                    let (is_apart, is_caption) = captions.enter(name);
                    if is_apart {
                        Ends::Word.mark(&mut text);
                    }
                    let ends = match () {
                        () if matches!(*name, local_name!("td") | local_name!("th")) => Ends::Word,
                        () if breaks_line(name) => Ends::Line,
                        () => Ends::Nothing,
                    };
                    ends.mark(&mut text);
                    Some((ends, keeps_lines(name), is_caption))
                }
                _ => None,
            };
            (inside, node.first_child, node.next_sibling)
        });
        let Some((inside, first_child, sibling)) = entered else { return text.finish() };
        next = match inside {
            Some((ends, keeps_lines, is_caption)) => {
                kept_lines += usize::from(keeps_lines);
                open.push(Open { next: sibling, ends, keeps_lines, is_caption });
                first_child
            }
            None => sibling,
        };
    }
}

/// An element that the walk has entered.
struct Open {
    next: Option<NodeId>,
    ends: Ends,
    keeps_lines: bool,
    is_caption: bool,
}

/// The separator between the text of an element and the text around it.
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
