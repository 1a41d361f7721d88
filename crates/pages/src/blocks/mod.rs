//! Walks the tree of a page and collects its blocks and metadata (docs/methods/docview.md).
//!
//! A block is the content directly under one container: if the text of a container continues after a nested container, the text before the
//! nested container and the text after it belong to the same block. Blocks are ordered by their first text or image. A link is counted in
//! every block that shows part of the link, but listed only in the first of these blocks. The walk uses its own stack, so deeply nested
//! pages do not overflow the thread's stack.

pub(crate) mod captions;
pub(crate) mod fold;
pub(crate) mod kinds;
mod url;

use crate::page::{Block, Link};
use crate::roles::{Role, is_hidden, keeps_lines, role};
use captions::Captions;
use dom_query::{Document, Element, NodeData, NodeId};
use fold::{Folded, folded};
use html5ever::local_name;
use kinds::Counts;
use url::join;

/// The maximum length, in bytes, of an address that is processed; common web servers have the same limit.
const MAX_ADDRESS: usize = 8 << 10;

/// The result of the walk. The types of the blocks have not been determined yet.
#[derive(Default)]
pub(crate) struct PageParts {
    pub blocks: Vec<(Block, Counts)>,
    pub title: Option<String>,
    pub keywords: Option<String>,
    pub description: Option<String>,
    pub headings: String,
    /// Whether the page had more links than allowed.
    pub links_cut: bool,
}

/// Walks the tree of a page with this address.
pub(crate) fn read(document: &Document, url: Option<&str>, max_links: usize) -> PageParts {
    let tree = &document.tree;
    let mut walk = Walk::new(url, max_links);
    let mut open: Vec<Open> = Vec::new();
    let mut next = tree.root().first_child().map(|node| node.id);
    loop {
        let Some(id) = next else {
            let Some(left) = open.pop() else { return walk.finish() };
            walk.leave(&left);
            next = left.next;
            continue;
        };
        let entered = tree.query_node(&id, |node| {
            let inside = match &node.data {
                NodeData::Text { contents } => {
                    walk.text(contents);
                    None
                }
                NodeData::Element(element) => walk.enter(element, || text_of(document, id)),
                _ => None,
            };
            (inside, node.first_child, node.next_sibling)
        });
        let Some((inside, first_child, sibling)) = entered else { return walk.finish() };
        next = match inside {
            Some(state) => {
                open.push(Open { next: sibling, ..state });
                first_child
            }
            None => sibling,
        };
    }
}

fn text_of(document: &Document, id: NodeId) -> String {
    document.tree.get(&id).map(|node| folded(&node.text())).unwrap_or_default()
}

/// An element that the walk has entered, and the changes that must be undone when the walk leaves it.
#[derive(Default)]
struct Open {
    next: Option<NodeId>,
    container: bool,
    line: bool,
    link: bool,
    heading: bool,
    pre: bool,
    caption: bool,
}

/// A link that the walk has entered.
struct OpenLink {
    url: Option<String>,
    text: Folded,
    /// The block that lists the link, and the link's index in that list.
    listed: Option<(usize, usize)>,
    /// The last block in which the link was counted.
    counted: Option<usize>,
}

#[derive(Default)]
struct Draft {
    block: Block,
    text: Folded,
    counts: Counts,
}

struct Walk<'a> {
    url: Option<&'a str>,
    /// The base for relative links: the address of the page, or the base that the page declares.
    base: Option<String>,
    base_said: bool,
    max_links: usize,
    links: usize,
    found: PageParts,
    /// The description that the page declares for sharing (`og:description`).
    shared_description: Option<String>,
    drafts: Vec<Draft>,
    /// The open containers, and their blocks if they already have content.
    containers: Vec<Option<usize>>,
    open_links: Vec<OpenLink>,
    heading: Folded,
    headings_open: usize,
    pre: usize,
    captions: Captions,
}

impl<'a> Walk<'a> {
    fn new(url: Option<&'a str>, max_links: usize) -> Walk<'a> {
        Walk {
            url: url.filter(|url| url.len() <= MAX_ADDRESS),
            base: url.filter(|url| url.len() <= MAX_ADDRESS).map(str::to_owned),
            base_said: false,
            max_links,
            links: 0,
            found: PageParts::default(),
            shared_description: None,
            drafts: Vec::new(),
            containers: vec![None],
            open_links: Vec::new(),
            heading: Folded::default(),
            headings_open: 0,
            pre: 0,
            captions: Captions::default(),
        }
    }

    fn finish(mut self) -> PageParts {
        self.found.description = self.found.description.or(self.shared_description);
        for draft in self.drafts {
            let block = Block { text: draft.text.finish(), ..draft.block };
            self.found.blocks.push((block, draft.counts));
        }
        self.found
    }

    /// Enters an element; returns `None` if its content must be skipped. `text` returns all text inside the element.
    fn enter(&mut self, element: &Element, text: impl FnOnce() -> String) -> Option<Open> {
        let role = role(element);
        if role != Role::Head && is_hidden(element) {
            return None;
        }
        let (is_apart, caption) = self.captions.enter(&element.name.local);
        if is_apart {
            self.space();
        }
        let mut open = Open { caption, ..Open::default() };
        match role {
            Role::Dropped => {
                self.captions.leave(caption);
                return None;
            }
            Role::Title => {
                let title = self.found.title.is_none().then(text);
                self.found.title = self.found.title.take().or(title.filter(|title| !title.is_empty()));
                self.captions.leave(caption);
                return None;
            }
            Role::Meta => self.meta(element),
            Role::Base => self.base(element),
            Role::Image => self.image(),
            Role::Break => self.break_line(),
            Role::Container => {
                self.break_line();
                self.containers.push(None);
                open.container = true;
            }
            Role::Line => {
                self.break_line();
                open.line = true;
                open.pre = keeps_lines(&element.name.local);
                open.heading = matches!(element.name.local, local_name!("h1") | local_name!("h2") | local_name!("h3"));
                self.pre += usize::from(open.pre);
                self.headings_open += usize::from(open.heading);
            }
            Role::Link => {
                let url = element.attr_ref(local_name!("href")).and_then(|link| self.address(link));
                self.open_links.push(OpenLink { url, text: Folded::default(), listed: None, counted: None });
                open.link = true;
            }
            Role::Head | Role::Inline => {}
        }
        Some(open)
    }

    fn leave(&mut self, left: &Open) {
        self.captions.leave(left.caption);
        if left.container {
            self.containers.pop();
        }
        if left.container || left.line {
            self.break_line();
        }
        self.pre -= usize::from(left.pre);
        if left.link
            && let Some(link) = self.open_links.pop()
            && let Some((block, place)) = link.listed
        {
            self.drafts[block].block.links[place].text = link.text.finish();
        }
        if left.heading {
            self.headings_open -= 1;
            if self.headings_open == 0 {
                let heading = std::mem::take(&mut self.heading).finish();
                if !heading.is_empty() {
                    self.found.headings.push_str(if self.found.headings.is_empty() { "" } else { "\n" });
                    self.found.headings.push_str(&heading);
                }
            }
        }
    }

    fn break_line(&mut self) {
        if let Some(block) = self.containers.last().copied().flatten() {
            self.drafts[block].text.break_line();
        }
        for link in &mut self.open_links {
            link.text.push(" ", false);
        }
        self.heading.push(" ", false);
    }

    /// Separates words.
    fn space(&mut self) {
        if let Some(block) = self.containers.last().copied().flatten() {
            self.drafts[block].text.push(" ", false);
        }
        for link in &mut self.open_links {
            link.text.push(" ", false);
        }
    }

    /// Returns the block of the current content.
    fn block(&mut self) -> usize {
        let new = self.drafts.len();
        match self.containers.last_mut() {
            Some(Some(block)) => return *block,
            Some(empty) => *empty = Some(new),
            None => self.containers.push(Some(new)),
        }
        self.drafts.push(Draft::default());
        new
    }

    fn text(&mut self, text: &str) {
        self.captions.text();
        let white = text.trim_start().is_empty();
        if white && self.containers.last().copied().flatten().is_none() {
            return;
        }
        let block = self.block();
        let linked = !self.open_links.is_empty();
        let draft = &mut self.drafts[block];
        draft.text.push(text, self.pre > 0);
        let characters = draft.counts.add(text, linked);
        *(if linked { &mut draft.block.linked } else { &mut draft.block.plain }) += characters;
        if let Some(link) = self.open_links.last_mut() {
            link.text.push(text, false);
        }
        if self.headings_open > 0 {
            self.heading.push(text, false);
        }
        if !white {
            self.in_link(block);
        }
    }

    fn image(&mut self) {
        let block = self.block();
        self.drafts[block].block.images += 1;
        self.in_link(block);
    }

    /// Counts the current link in a block that shows part of the link, and lists the link if no block lists it yet.
    fn in_link(&mut self, block: usize) {
        let Some(link) = self.open_links.last_mut() else { return };
        let draft = &mut self.drafts[block];
        if link.counted != Some(block) {
            link.counted = Some(block);
            draft.counts.links += 1;
        }
        if let Some(url) = link.url.take() {
            if self.links == self.max_links {
                self.found.links_cut = true;
                return;
            }
            self.links += 1;
            link.listed = Some((block, draft.block.links.len()));
            draft.block.links.push(Link { url, text: String::new() });
        }
    }

    fn meta(&mut self, element: &Element) {
        let value = |name| element.attr_ref(name).map(str::trim).filter(|value| !value.is_empty());
        let Some(content) = value(local_name!("content")) else { return };
        let name = value(local_name!("name")).or(value(local_name!("property"))).unwrap_or_default();
        if name.eq_ignore_ascii_case("keywords") {
            self.found.keywords.get_or_insert_with(|| folded(content));
        } else if name.eq_ignore_ascii_case("description") {
            self.found.description.get_or_insert_with(|| folded(content));
        } else if name.eq_ignore_ascii_case("og:description") {
            self.shared_description.get_or_insert_with(|| folded(content));
        }
    }

    /// Resolves a link. Skips addresses that are too long, because joining a long base with every link on a page could use too much memory.
    fn address(&mut self, link: &str) -> Option<String> {
        if link.len() > MAX_ADDRESS {
            self.found.links_cut = true;
            return None;
        }
        join(self.base.as_deref(), link)
    }

    fn base(&mut self, element: &Element) {
        if let Some(href) = element.attr_ref(local_name!("href")).filter(|_| !self.base_said) {
            self.base_said = true;
            let joined = if href.len() > MAX_ADDRESS { None } else { join(self.url, href) };
            self.found.links_cut |= href.len() > MAX_ADDRESS;
            self.base = joined.or(self.base.take());
        }
    }
}

#[cfg(test)]
#[path = "blocks_tests.rs"]
mod tests;
