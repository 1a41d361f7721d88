//! From the text of a page to its tree: html5ever's parser, kept within limits.
//!
//! The parser follows the HTML standard, which bounds nothing: each tag may walk all open elements, and each paragraph opens
//! again all formatting elements that were left open. A [`Gate`] stands between the tokenizer and the tree builder and lets
//! no start tag pass that would open more than is allowed; its end tag is held back too, and the text stays. When as many
//! elements were made as are allowed, what follows is not read.

use super::options::PurifyOptions;
use super::tag_flood::without_floods;
use super::tree_sink::Sink;
use dom_query::{Document, NodeId};
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::Tracer;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::tokenizer::{StartTag, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{LocalName, TokenizerResult, local_name};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// Formatting elements (`b`, `font`) that are open or are opened again in each paragraph; an open one counts twice.
const MAX_FORMATTING: usize = 64;

/// Bytes that the tokenizer is given at a time, so that it can be stopped.
const PIECE: usize = 64 << 10;

/// A page as a tree.
pub(super) struct Tree {
    pub document: Document,
    /// How many elements were made.
    pub elements: usize,
    /// Whether start tags were left out because too many elements were open.
    pub too_deep: bool,
    /// Whether the end was left out because of too many elements.
    pub too_many: bool,
    /// Whether attributes of a very long tag were left out.
    pub attributes_cut: bool,
}

/// Parses a page.
pub(super) fn parse(text: &str, options: &PurifyOptions) -> Tree {
    let text = without_floods(text);
    let sink = Sink::default();
    // As browsers do: the content of `noscript` is no markup, and one that is not closed well takes nothing else with it.
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

/// What stands between the tokenizer and the tree builder.
struct Gate {
    builder: TreeBuilder<NodeId, Sink>,
    max_elements: usize,
    max_depth: usize,
    full: Cell<bool>,
    too_deep: Cell<bool>,
    /// How many elements may be made before the open ones have to be counted again.
    room: Cell<usize>,
    counted_at: Cell<usize>,
    /// Whether a tag passed since they were counted.
    changed: Cell<bool>,
    /// Start tags that were held back since an element was closed last, so that their end tags are too.
    held: RefCell<HashMap<LocalName, usize>>,
    /// A start tag held back whose content is no markup: all up to its end tag goes with it.
    swallowed: RefCell<Option<LocalName>>,
}

impl Gate {
    fn new(builder: TreeBuilder<NodeId, Sink>, options: &PurifyOptions) -> Gate {
        Gate {
            builder,
            max_elements: options.max_elements,
            max_depth: options.max_depth,
            full: Cell::new(false),
            too_deep: Cell::new(false),
            room: Cell::new(0),
            counted_at: Cell::new(0),
            changed: Cell::new(true),
            held: RefCell::default(),
            swallowed: RefCell::default(),
        }
    }

    fn is_full(&self) -> bool {
        if self.builder.sink.elements.get() >= self.max_elements {
            self.full.set(true);
        }
        self.full.get()
    }

    /// Whether one more element may be opened. The open ones are counted only when so many were made since they were
    /// counted last that they may be too many.
    fn has_room(&self) -> bool {
        let made = self.builder.sink.elements.get() - self.counted_at.get();
        if made < self.room.get() {
            return true;
        }
        if !self.changed.take() {
            return false;
        }
        self.counted_at.set(self.builder.sink.elements.get());
        self.room.set(self.count_room());
        self.room.get() > 0
    }

    fn count_room(&self) -> usize {
        // Where the depth alone forbids more, names need not be looked up.
        let all = All(Cell::new(0));
        self.builder.trace_handles(&all);
        if all.0.get() >= self.max_depth {
            return 0;
        }
        let open = Open { sink: &self.builder.sink, formatting: Cell::new(0) };
        self.builder.trace_handles(&open);
        // A formatting element stands in two lists.
        let formatting = MAX_FORMATTING.saturating_sub(open.formatting.get()).div_ceil(2);
        self.max_depth.saturating_sub(all.0.get()).min(formatting)
    }

    fn tag(&self, tag: Tag) -> TokenSinkResult<NodeId> {
        if tag.kind == StartTag {
            return if is_void(&tag.name) || self.has_room() {
                self.pass(Token::TagToken(tag))
            } else {
                self.hold(tag)
            };
        }
        if let Some(count) = self.held.borrow_mut().get_mut(&tag.name).filter(|count| **count > 0) {
            *count -= 1;
            return TokenSinkResult::Continue;
        }
        let result = self.pass(Token::TagToken(tag));
        if !self.held.borrow().is_empty() {
            // Those held back stood inside of whatever was closed.
            self.counted_at.set(self.builder.sink.elements.get());
            self.room.set(self.count_room());
            if self.room.get() > 0 {
                self.held.borrow_mut().clear();
            }
        }
        result
    }

    /// Holds a start tag back. The tokenizer must still be told where no markup follows.
    fn hold(&self, tag: Tag) -> TokenSinkResult<NodeId> {
        self.too_deep.set(true);
        let foreign = self.adjusted_current_node_present_but_not_in_html_namespace();
        // In drawings and formulas `<style/>` is complete, and they may have been held back themselves.
        let complete = tag.self_closing && self.holds_foreign();
        let raw = raw_kind(&tag.name).filter(|_| !foreign && !complete);
        match raw {
            Some(kind) => {
                *self.swallowed.borrow_mut() = Some(tag.name);
                TokenSinkResult::RawData(kind)
            }
            None => {
                if !tag.self_closing {
                    *self.held.borrow_mut().entry(tag.name).or_default() += 1;
                }
                TokenSinkResult::Continue
            }
        }
    }

    fn holds_foreign(&self) -> bool {
        let held = self.held.borrow();
        [local_name!("svg"), local_name!("math")].iter().any(|name| held.get(name).is_some_and(|count| *count > 0))
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
            // Nobody asks for the errors of a page, and there may be one a byte.
            Token::ParseError(_) => return TokenSinkResult::Continue,
            Token::EOFToken => return self.pass(Token::EOFToken),
            _ => {}
        }
        if self.is_full() {
            return TokenSinkResult::Continue;
        }
        let swallowed = self.swallowed.take();
        match (token, swallowed) {
            (Token::TagToken(tag), Some(name)) if tag.name == name => TokenSinkResult::Continue,
            (_, Some(name)) => {
                *self.swallowed.borrow_mut() = Some(name);
                TokenSinkResult::Continue
            }
            (Token::TagToken(tag), None) => self.tag(tag),
            (Token::CommentToken(_), None) => TokenSinkResult::Continue,
            (token, None) => self.pass(token),
        }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// Elements that hold nothing and so do not stay open.
fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("input")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// How the tokenizer reads what stands in elements that hold no markup.
fn raw_kind(name: &LocalName) -> Option<RawKind> {
    match *name {
        local_name!("script") => Some(ScriptData),
        local_name!("style")
        | local_name!("iframe")
        | local_name!("noembed")
        | local_name!("noframes")
        | local_name!("noscript")
        | local_name!("xmp") => Some(Rawtext),
        local_name!("textarea") | local_name!("title") => Some(Rcdata),
        _ => None,
    }
}

/// Counts what the tree builder keeps at hand.
struct All(Cell<usize>);

impl Tracer for All {
    type Handle = NodeId;

    fn trace_handle(&self, _node: &NodeId) {
        self.0.set(self.0.get() + 1);
    }
}

/// Counts the formatting elements among what the tree builder keeps at hand: open ones, and those to be opened again.
struct Open<'a> {
    sink: &'a Sink,
    formatting: Cell<usize>,
}

impl Tracer for Open<'_> {
    type Handle = NodeId;

    fn trace_handle(&self, node: &NodeId) {
        let name = self.sink.document.tree.get_name(node);
        if name.is_some_and(|name| is_formatting(&name.local)) {
            self.formatting.set(self.formatting.get() + 1);
        }
    }
}

fn is_formatting(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("a")
            | local_name!("b")
            | local_name!("big")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("nobr")
            | local_name!("s")
            | local_name!("small")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("tt")
            | local_name!("u")
    )
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
