//! Tracks elements that are withheld from the tree builder: which elements are open, and which tags end them.

use crate::roles::{Role, tag_role};
use html5ever::tokenizer::Tag;
use html5ever::tokenizer::states::{RawKind, Rawtext, Rcdata, ScriptData};
use html5ever::{LocalName, local_name};
use std::collections::HashMap;

/// The number of open elements, starting with the innermost, that are checked to determine which elements a start tag ends. Without a
/// limit, all open elements might have to be checked for each tag.
const MOST_LOOKED_AT: usize = 32;

/// The open withheld elements, outermost first. The cost of a tag is proportional to the number of elements that it closes.
#[derive(Default)]
pub(crate) struct Withheld {
    open: Vec<LocalName>,
    /// The positions of the elements with each name.
    places: HashMap<LocalName, Vec<usize>>,
    /// The positions of block elements.
    blocks: Vec<usize>,
    /// The positions of elements that stop end tags: `scopes` stop all end tags except the end tags of table parts, `tables` stop the end
    /// tags of table parts, and `templates` stop all end tags.
    scopes: Vec<usize>,
    tables: Vec<usize>,
    templates: Vec<usize>,
}

impl Withheld {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub(crate) fn outermost(&self) -> Option<&LocalName> {
        self.open.first()
    }

    pub(crate) fn holds(&self, name: &LocalName) -> bool {
        self.innermost(name).is_some()
    }

    fn innermost(&self, name: &LocalName) -> Option<usize> {
        self.places.get(name)?.last().copied()
    }

    /// Returns whether the next element is part of a drawing or a formula, in which `<style/>` is a complete element without raw text.
    pub(crate) fn is_foreign(&self) -> bool {
        (self.holds(&local_name!("svg")) || self.holds(&local_name!("math")))
            && !self.holds(&local_name!("foreignobject"))
    }

    /// Opens an element inside the innermost open element. Elements of a drawing or a formula are not HTML elements, even if they have the
    /// names of HTML elements.
    pub(crate) fn push(&mut self, name: LocalName, foreign: bool) {
        let place = self.open.len();
        if !foreign {
            for (places, bars) in [
                (&mut self.blocks, is_block(&name)),
                (&mut self.scopes, is_scope(&name)),
                (&mut self.tables, name == local_name!("table")),
                (&mut self.templates, name == local_name!("template")),
            ] {
                places.extend(bars.then_some(place));
            }
        }
        self.places.entry(name.clone()).or_default().push(place);
        self.open.push(name);
    }

    /// Closes the elements that a start tag ends implicitly, such as the previous `li` before `<li>`.
    pub(crate) fn start(&mut self, tag: &Tag) {
        if self.is_empty() {
            return;
        }
        if self.is_foreign() && is_breakout(tag) {
            while self.is_foreign() {
                self.pop();
            }
        }
        while let Some(length) = self.ended_by(&tag.name) {
            while self.open.len() > length {
                self.pop();
            }
        }
    }

    /// Closes the innermost element with this name and all elements inside it, unless another element stops the end tag first. Returns
    /// `false` if no open element matches or stops the tag.
    pub(crate) fn end(&mut self, name: &LocalName) -> bool {
        let barrier = self.barrier(name);
        if let Some(place) = self.innermost(name).filter(|place| barrier.is_none_or(|barrier| barrier <= *place)) {
            while self.open.len() > place {
                self.pop();
            }
            return true;
        }
        barrier.is_some()
    }

    /// Returns the innermost element that stops an end tag with this name. A block stops the end tags of elements for which the standard
    /// has no special rules, and the end tags of paragraphs, because the block has already ended the paragraph. A table stops the end tags
    /// of table parts, a cell or an `object` stops the end tags of all other elements, and a `template` stops all end tags.
    fn barrier(&self, name: &LocalName) -> Option<usize> {
        let through_blocks = *name != local_name!("p") && (!is_ordinary(name) || is_formatting(name));
        let block = self.blocks.last().filter(|_| !through_blocks);
        let scope = if is_of_table(name) { self.tables.last() } else { self.scopes.last() };
        block.max(scope).max(self.templates.last()).copied()
    }

    pub(crate) fn clear(&mut self) {
        *self = Withheld::default();
    }

    fn pop(&mut self) -> Option<LocalName> {
        let name = self.open.pop()?;
        if let Some(places) = self.places.get_mut(&name) {
            places.pop();
        }
        let place = self.open.len();
        for places in [&mut self.blocks, &mut self.scopes, &mut self.tables, &mut self.templates] {
            places.pop_if(|last| *last == place);
        }
        Some(name)
    }

    /// Returns the number of elements that remain open after a start tag with this name; `None` if all elements remain open.
    fn ended_by(&self, name: &LocalName) -> Option<usize> {
        for (place, open) in self.open.iter().enumerate().rev().take(MOST_LOOKED_AT) {
            if ends(name, open) {
                return Some(place);
            }
            if tag_role(open) != Role::Inline {
                return None;
            }
        }
        None
    }
}

/// Returns whether a start tag ends an open element whose end tag is optional.
fn ends(name: &LocalName, open: &LocalName) -> bool {
    let is_row_group = |name: &LocalName| {
        matches!(*name, local_name!("tbody") | local_name!("thead") | local_name!("tfoot") | local_name!("caption"))
    };
    let is_row = |name: &LocalName| *name == local_name!("tr") || is_row_group(name);
    let is_cell = |name: &LocalName| matches!(*name, local_name!("td") | local_name!("th"));
    let is_term = |name: &LocalName| matches!(*name, local_name!("dt") | local_name!("dd"));
    match *open {
        local_name!("p") => is_block(name),
        local_name!("li") | local_name!("button") | local_name!("select") | local_name!("optgroup") => name == open,
        local_name!("option") => matches!(*name, local_name!("option") | local_name!("optgroup")),
        local_name!("dt") | local_name!("dd") => is_term(name),
        local_name!("td") | local_name!("th") => is_cell(name) || is_row(name),
        local_name!("tr") => is_row(name),
        local_name!("tbody") | local_name!("thead") | local_name!("tfoot") | local_name!("caption") => {
            is_row_group(name)
        }
        _ => false,
    }
}

/// Returns whether an element keeps end tags inside it from closing elements outside it.
fn is_scope(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("object")
            | local_name!("applet")
            | local_name!("marquee")
            | local_name!("table")
            | local_name!("td")
            | local_name!("th")
            | local_name!("caption")
    )
}

fn is_of_table(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("table")
            | local_name!("tbody")
            | local_name!("thead")
            | local_name!("tfoot")
            | local_name!("tr")
            | local_name!("td")
            | local_name!("th")
            | local_name!("caption")
    )
}

/// Returns whether an element is displayed on separate lines.
pub(crate) fn is_block(name: &LocalName) -> bool {
    matches!(tag_role(name), Role::Container | Role::Line)
}

/// Returns whether the HTML standard has no special rules for an element, so that its end tag has no effect outside the enclosing block.
pub(crate) fn is_ordinary(name: &LocalName) -> bool {
    let is_media = matches!(
        *name,
        local_name!("audio")
            | local_name!("video")
            | local_name!("canvas")
            | local_name!("datalist")
            | local_name!("output")
            | local_name!("meter")
            | local_name!("progress")
    );
    is_media || tag_role(name) == Role::Inline
}

/// Returns whether an element is always empty and therefore never remains open.
pub(crate) fn is_void(name: &LocalName) -> bool {
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

/// Returns whether an element is reopened in the next paragraph if it was not closed.
pub(crate) fn is_formatting(name: &LocalName) -> bool {
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

/// Returns whether a start tag ends the drawing or the formula that contains it.
pub(crate) fn is_breakout(tag: &Tag) -> bool {
    match tag.name {
        local_name!("a") => false,
        local_name!("font") => tag.attrs.iter().any(|attribute| {
            matches!(attribute.name.local, local_name!("color") | local_name!("face") | local_name!("size"))
        }),
        local_name!("blockquote")
        | local_name!("body")
        | local_name!("br")
        | local_name!("center")
        | local_name!("dd")
        | local_name!("div")
        | local_name!("dl")
        | local_name!("dt")
        | local_name!("embed")
        | local_name!("h1")
        | local_name!("h2")
        | local_name!("h3")
        | local_name!("h4")
        | local_name!("h5")
        | local_name!("h6")
        | local_name!("head")
        | local_name!("hr")
        | local_name!("img")
        | local_name!("li")
        | local_name!("listing")
        | local_name!("menu")
        | local_name!("meta")
        | local_name!("ol")
        | local_name!("p")
        | local_name!("pre")
        | local_name!("ruby")
        | local_name!("span")
        | local_name!("sub")
        | local_name!("sup")
        | local_name!("table")
        | local_name!("ul")
        | local_name!("var") => true,
        ref name => is_formatting(name),
    }
}

/// Returns how the tokenizer reads the content of an element that contains no markup; `None` for all other elements.
pub(crate) fn raw_kind(name: &LocalName) -> Option<RawKind> {
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

#[cfg(test)]
#[path = "withheld_tests.rs"]
mod tests;
