//! Uses html5ever to parse the text of a page into a tree, within limits.
//!
//! The parser follows the HTML standard, which sets no limits: for each tag, the parser may walk through all open elements, and at each
//! paragraph, it reopens all formatting elements that were left open. A [`Gate`] between the tokenizer and the tree builder withholds each
//! start tag that would exceed the limit on open elements, together with its end tag. The text of a withheld element is kept unless such
//! elements are never shown; the line breaks that the element would cause are replaced with line feeds. Once the maximum number of elements
//! has been created, the rest of the page is not read.

mod open;
mod sink;
mod tag_flood;
mod withheld;

use crate::options::PurifyOptions;
use crate::roles::{Role, is_hidden_by, tag_role};
use dom_query::{Document, NodeId};
use html5ever::buffer_queue::BufferQueue;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{EndTag, StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, LocalName, TokenizerResult, local_name};
use sink::Sink;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use tag_flood::without_floods;
use withheld::{Withheld, is_block, is_breakout, is_formatting, is_ordinary, is_void, raw_kind};

/// The maximum number of formatting elements (`b`, `font`; not links) that are open or reopened in each paragraph.
const MAX_FORMATTING: usize = 32;

/// The maximum number of attributes that are copied whenever a formatting element or a link is reopened. If the element has more
/// attributes, only attributes that affect the result are kept.
const MAX_ATTRIBUTES_AGAIN: usize = 16;

/// The number of levels by which links may be nested more deeply than other elements. Except around table cells, only one link can be open
/// at a time.
const LINK_DEPTH: usize = 8;

/// The number of bytes that are passed to the tokenizer at a time, so that the tokenizer can be stopped between two pieces.
const PIECE: usize = 64 << 10;

/// A page as a tree.
pub(crate) struct Tree {
    pub document: Document,
    /// The number of elements created.
    pub elements: usize,
    /// Whether start tags were withheld because too many elements were open. Start tags of formatting elements do not count, because these
    /// elements have no content of their own.
    pub too_deep: bool,
    /// Whether the rest of the page was left unread because there were too many elements.
    pub too_many: bool,
    /// Whether attributes of a very long tag were removed.
    pub attributes_cut: bool,
}

/// Parses a page.
pub(crate) fn parse(text: &str, options: &PurifyOptions) -> Tree {
    let text = without_floods(text);
    let sink = Sink::default();
    // As in browsers, the content of `noscript` is not treated as markup, so an unclosed element in it does not affect the content that
    // follows.
    let builder = TreeBuilder::new(sink, TreeBuilderOpts { scripting_enabled: true, ..TreeBuilderOpts::default() });
    let tokenizer =
        Tokenizer::new(Gate::new(builder, options), TokenizerOpts { discard_bom: false, ..TokenizerOpts::default() });
    let whole = StrTendril::from_slice(&text);
    let queue = BufferQueue::default();
    let mut at = 0;
    while at < text.len() && !tokenizer.sink.is_full() {
        let end = text.floor_char_boundary(at + PIECE);
        queue.push_back(whole.subtendril(at as u32, (end - at) as u32));
        feed(&tokenizer, &queue);
        at = end;
    }
    tokenizer.end();
    let gate = tokenizer.sink;
    Tree {
        elements: gate.builder.sink.elements.get(),
        too_deep: gate.too_deep.get(),
        too_many: gate.full.get(),
        attributes_cut: matches!(text, Cow::Owned(_)) || gate.builder.sink.attributes_cut.get(),
        document: gate.builder.sink.document,
    }
}

fn feed(tokenizer: &Tokenizer<Gate>, queue: &BufferQueue) {
    // The tokenizer pauses where a browser would run a script or change the charset.
    while !matches!(tokenizer.feed(queue), TokenizerResult::Done) {}
}

/// A filter between the tokenizer and the tree builder.
struct Gate {
    builder: TreeBuilder<NodeId, Sink>,
    max_elements: usize,
    max_depth: usize,
    full: Cell<bool>,
    too_deep: Cell<bool>,
    /// The number of elements that may still be opened, and the number of elements that had been created when this number was determined.
    room: Cell<Room>,
    counted_at: Cell<usize>,
    /// Whether a tag has been passed on since the elements were counted.
    changed: Cell<bool>,
    /// The elements whose start tags were withheld, so that their end tags are withheld as well.
    held: RefCell<Withheld>,
    /// The number of withheld start tags of formatting elements and links, by element name.
    held_formatting: RefCell<HashMap<LocalName, usize>>,
    /// A withheld element that is not shown, and the open elements inside it; all of its content is dropped.
    swallowed: RefCell<Withheld>,
    /// Whether a withheld tag separates the text before it from the text after it.
    parted: Cell<bool>,
}

/// The number of elements that may still be opened.
#[derive(Clone, Copy, Default)]
struct Room {
    block: usize,
    link: usize,
    formatting: usize,
}

impl Gate {
    fn new(builder: TreeBuilder<NodeId, Sink>, options: &PurifyOptions) -> Gate {
        Gate {
            builder,
            max_elements: options.max_elements,
            max_depth: options.max_depth,
            full: Cell::new(false),
            too_deep: Cell::new(false),
            room: Cell::default(),
            counted_at: Cell::new(0),
            changed: Cell::new(true),
            held: RefCell::default(),
            held_formatting: RefCell::default(),
            swallowed: RefCell::default(),
            parted: Cell::new(false),
        }
    }

    fn is_full(&self) -> bool {
        if self.builder.sink.elements.get() >= self.max_elements {
            self.full.set(true);
        }
        self.full.get()
    }

    /// Returns whether one more element may be opened. The open elements are counted again only if the elements created since the last
    /// count could have exceeded the limit.
    fn has_room(&self, room: impl Fn(Room) -> usize) -> bool {
        let made = self.builder.sink.elements.get() - self.counted_at.get();
        if made < room(self.room.get()) {
            return true;
        }
        if !self.changed.take() && made == 0 {
            return false;
        }
        room(self.count_room()) > 0
    }

    fn count_room(&self) -> Room {
        let all = open::count(&self.builder);
        let block = self.max_depth.saturating_sub(all);
        let link = (self.max_depth + LINK_DEPTH).saturating_sub(all);
        let mut room = Room { block, link, formatting: 0 };
        // If the depth limit already rules out further elements, no names need to be looked up.
        if block > 0 {
            // If only a few levels are allowed, some of them must be reserved for the content of formatting elements.
            let most = MAX_FORMATTING.min(self.max_depth / 4);
            room.formatting = most.saturating_sub(open::formatting(&self.builder)).min(block);
        }
        self.counted_at.set(self.builder.sink.elements.get());
        self.room.set(room);
        room
    }

    fn tag(&self, mut tag: Tag) -> TokenSinkResult<NodeId> {
        if tag.kind != StartTag {
            return self.end_tag(tag);
        }
        if tag.attrs.len() > MAX_ATTRIBUTES_AGAIN && is_formatting(&tag.name) {
            tag.attrs.retain(is_read);
            self.builder.sink.attributes_cut.set(true);
        }
        self.held.borrow_mut().start(&tag);
        if self.may_pass(&tag) { self.pass(Token::TagToken(tag)) } else { self.hold(tag) }
    }

    fn may_pass(&self, tag: &Tag) -> bool {
        let foreign = self.adjusted_current_node_present_but_not_in_html_namespace();
        if tag.name == local_name!("a") {
            return self.has_room(|room| room.link);
        }
        if is_formatting(&tag.name) {
            let passes = self.has_room(|room| room.formatting);
            if passes {
                self.held_formatting.borrow_mut().clear();
            }
            return passes;
        }
        // The tag closes the drawing and the elements inside it that were not added to the tree.
        if foreign && is_breakout(tag) {
            self.held.borrow_mut().clear();
            return true;
        }
        if !foreign && is_void(&tag.name) {
            return true;
        }
        // The content of a withheld element must not become a sibling of that element.
        self.held.borrow().is_empty() && self.has_room(|room| room.block)
    }

    fn end_tag(&self, tag: Tag) -> TokenSinkResult<NodeId> {
        if is_formatting(&tag.name) {
            if let Some(count) = self.held_formatting.borrow_mut().get_mut(&tag.name).filter(|count| **count > 0) {
                *count -= 1;
                return TokenSinkResult::Continue;
            }
            return self.pass(Token::TagToken(tag));
        }
        if self.held.borrow_mut().end(&tag.name) {
            self.parted.set(self.parted.get() || is_block(&tag.name));
            return TokenSinkResult::Continue;
        }
        let result = self.pass(Token::TagToken(tag));
        if !self.held.borrow().is_empty() && self.count_room().block > 0 {
            // The withheld elements were inside the element that was closed.
            self.held.borrow_mut().clear();
            self.held_formatting.borrow_mut().clear();
        }
        result
    }

    /// Withholds a start tag, but informs the tokenizer whether raw text follows.
    fn hold(&self, tag: Tag) -> TokenSinkResult<NodeId> {
        let formatting = is_formatting(&tag.name);
        let hidden = is_hidden_by(&tag.name, &tag.attrs);
        if !formatting || tag.name == local_name!("a") {
            self.too_deep.set(true);
        }
        if formatting && is_breakout(&tag) && self.adjusted_current_node_present_but_not_in_html_namespace() {
            // The tag would end the drawing. Because the tag is withheld, a `span` element, which is not a formatting element, ends the
            // drawing instead. The `span` element is closed immediately, because the end tag of the withheld element will be withheld as
            // well.
            self.held.borrow_mut().clear();
            let span = Tag { name: local_name!("span"), attrs: Vec::new(), self_closing: false, ..tag.clone() };
            let _ = self.pass(Token::TagToken(span.clone()));
            let _ = self.pass(Token::TagToken(Tag { kind: EndTag, ..span }));
        }
        if formatting && !hidden {
            *self.held_formatting.borrow_mut().entry(tag.name).or_default() += 1;
            return TokenSinkResult::Continue;
        }
        let drawing = tag.name == local_name!("svg");
        let mut held = self.held.borrow_mut();
        let foreign = self.adjusted_current_node_present_but_not_in_html_namespace() || held.is_foreign();
        if tag.self_closing && (foreign || drawing || tag.name == local_name!("math")) {
            return TokenSinkResult::Continue;
        }
        let raw = raw_kind(&tag.name).filter(|_| !foreign);
        if hidden || (!foreign && (drawing || matches!(tag_role(&tag.name), Role::Dropped | Role::Title))) {
            self.swallowed.borrow_mut().push(tag.name, foreign);
        } else {
            self.parted.set(self.parted.get() || (!foreign && is_block(&tag.name)));
            held.push(tag.name, foreign);
        }
        raw.map_or(TokenSinkResult::Continue, TokenSinkResult::RawData)
    }

    /// Handles a token inside a dropped element. Returns `None` if no element is being dropped, or if the token ends the dropped element.
    fn swallow(&self, token: &Token) -> Option<TokenSinkResult<NodeId>> {
        let mut swallowed = self.swallowed.borrow_mut();
        if swallowed.is_empty() {
            return None;
        }
        let Token::TagToken(tag) = token else { return Some(TokenSinkResult::Continue) };
        if tag.kind == StartTag {
            swallowed.start(tag);
            if swallowed.is_empty() {
                return None;
            }
            let foreign = swallowed.is_foreign();
            let complete =
                tag.self_closing && (foreign || matches!(tag.name, local_name!("svg") | local_name!("math")));
            // A formatting element may end anywhere and does not end other elements, so it is tracked only if the dropped element is a
            // formatting element with the same name.
            let counts = !is_formatting(&tag.name) || swallowed.outermost() == Some(&tag.name);
            if complete || !counts || (!foreign && is_void(&tag.name)) {
                return Some(TokenSinkResult::Continue);
            }
            swallowed.push(tag.name.clone(), foreign);
            let raw = raw_kind(&tag.name).filter(|_| !foreign);
            return Some(raw.map_or(TokenSinkResult::Continue, TokenSinkResult::RawData));
        }
        if swallowed.end(&tag.name)
            || is_ordinary(&tag.name)
            || !(self.held.borrow().holds(&tag.name) || open::is_open(&self.builder, &tag.name))
        {
            return Some(TokenSinkResult::Continue);
        }
        // The dropped element was not closed, but this tag closes one of its ancestors.
        swallowed.clear();
        None
    }

    fn pass(&self, token: Token) -> TokenSinkResult<NodeId> {
        if matches!(token, Token::TagToken(_)) {
            self.changed.set(true);
        }
        self.builder.process_token(token, 1)
    }
}

impl TokenSink for Gate {
    type Handle = NodeId;

    fn process_token(&self, token: Token, _line_number: u64) -> TokenSinkResult<NodeId> {
        match token {
            // Parse errors are not needed, and a page may have one error per byte.
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::EOFToken => return self.pass(Token::EOFToken),
            _ => {}
        }
        if self.is_full() {
            return TokenSinkResult::Continue;
        }
        if let Some(result) = self.swallow(&token) {
            return result;
        }
        match token {
            Token::TagToken(tag) => self.tag(tag),
            Token::CommentToken(_) => TokenSinkResult::Continue,
            // The tree builder leaves white space in a table but moves words out of the table, so the line feed is attached to the words.
            Token::CharacterTokens(text) if !text.trim_start().is_empty() && self.parted.take() => {
                let mut parted = StrTendril::from_char('\n');
                parted.push_tendril(&text);
                self.pass(Token::CharacterTokens(parted))
            }
            token => self.pass(token),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Returns whether an attribute of a formatting element or a link affects the visible content or the link target.
fn is_read(attribute: &Attribute) -> bool {
    matches!(attribute.name.local, local_name!("hidden") | local_name!("style") | local_name!("href"))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
