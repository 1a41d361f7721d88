//! Defines the roles that elements play when blocks are collected: which elements contain blocks, break lines, or are never shown
//! (docs/methods/docview.md).

use dom_query::Element;
use html5ever::{Attribute, LocalName, local_name, ns};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Neither the element nor its content is shown.
    Dropped,
    /// The head of the page: only its `title`, `meta` and `base` elements are read, and none of its content is shown.
    Head,
    Title,
    Meta,
    Base,
    /// The content of the element is a separate block.
    Container,
    /// The content of the element is on separate lines inside a block.
    Line,
    /// The element ends a line.
    Break,
    Image,
    /// The element is an `a` element with a target.
    Link,
    /// The content of the element is part of the line.
    Inline,
}

/// Returns the role of an element.
pub(super) fn role(element: &Element) -> Role {
    if element.name.ns == ns!(svg) {
        return Role::Dropped;
    }
    if element.name.ns != ns!(html) {
        return Role::Inline;
    }
    match tag_role(&element.name.local) {
        Role::Inline if is_link(element) => Role::Link,
        role => role,
    }
}

fn is_link(element: &Element) -> bool {
    element.name.local == local_name!("a") && element.attr_ref(local_name!("href")).is_some()
}

/// Returns the role of the HTML element with this name. All `a` elements are inline; links are not distinguished from other `a` elements.
pub(super) fn tag_role(name: &LocalName) -> Role {
    match *name {
        local_name!("script")
        | local_name!("style")
        | local_name!("noscript")
        | local_name!("template")
        | local_name!("iframe")
        // Browsers replace the content of these elements.
        | local_name!("noframes")
        | local_name!("noembed")
        | local_name!("object")
        | local_name!("audio")
        | local_name!("video")
        | local_name!("canvas")
        // These are form controls.
        | local_name!("input")
        | local_name!("button")
        | local_name!("select")
        | local_name!("option")
        | local_name!("optgroup")
        | local_name!("datalist")
        | local_name!("textarea")
        | local_name!("output")
        | local_name!("meter")
        | local_name!("progress") => Role::Dropped,
        local_name!("head") => Role::Head,
        local_name!("title") => Role::Title,
        local_name!("meta") => Role::Meta,
        local_name!("base") => Role::Base,
        local_name!("html")
        | local_name!("body")
        | local_name!("table")
        | local_name!("thead")
        | local_name!("tbody")
        | local_name!("tr")
        | local_name!("td")
        | local_name!("th")
        | local_name!("div")
        | local_name!("center")
        | local_name!("section")
        | local_name!("article")
        | local_name!("main")
        | local_name!("aside")
        | local_name!("nav")
        | local_name!("header")
        | local_name!("footer")
        | local_name!("ul")
        | local_name!("ol")
        | local_name!("dl")
        | local_name!("form")
        | local_name!("fieldset")
        | local_name!("blockquote") => Role::Container,
        local_name!("p")
        | local_name!("h1")
        | local_name!("h2")
        | local_name!("h3")
        | local_name!("h4")
        | local_name!("h5")
        | local_name!("h6")
        | local_name!("li")
        | local_name!("dt")
        | local_name!("dd")
        | local_name!("pre")
        | local_name!("address")
        | local_name!("caption")
        | local_name!("details")
        | local_name!("dialog")
        | local_name!("dir")
        | local_name!("figcaption")
        | local_name!("figure")
        | local_name!("hgroup")
        | local_name!("legend")
        | local_name!("listing")
        | local_name!("menu")
        | local_name!("plaintext")
        | local_name!("search")
        | local_name!("summary")
        | local_name!("tfoot")
        | local_name!("xmp") => Role::Line,
        local_name!("br") | local_name!("hr") => Role::Break,
        local_name!("img") => Role::Image,
        _ => Role::Inline,
    }
}

/// Returns whether an HTML element begins and ends a line. These are the block elements in the rendering section of the HTML standard,
/// `br`, and the block elements of forms.
pub(super) fn breaks_line(name: &LocalName) -> bool {
    let of_form = matches!(
        *name,
        local_name!("option") | local_name!("optgroup") | local_name!("textarea") | local_name!("frameset")
    );
    of_form || matches!(tag_role(name), Role::Container | Role::Line | Role::Break)
}

/// Returns whether the line breaks in an HTML element are shown.
pub(super) fn keeps_lines(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("pre")
            | local_name!("listing")
            | local_name!("plaintext")
            | local_name!("xmp")
            | local_name!("textarea")
    )
}

/// Returns whether an element is hidden by its own attributes. Hidden `html` and `body` elements do not count as hidden, because a script
/// makes such pages visible.
pub(super) fn is_hidden(element: &Element) -> bool {
    is_hidden_by(&element.name.local, &element.attrs)
}

/// Returns whether an element with this name is hidden by these attributes.
pub(super) fn is_hidden_by(name: &LocalName, attributes: &[Attribute]) -> bool {
    if matches!(*name, local_name!("html") | local_name!("body")) {
        return false;
    }
    attributes.iter().any(|attribute| match attribute.name.local {
        local_name!("hidden") => true,
        local_name!("style") => is_display_none(&attribute.value),
        _ => false,
    })
}

fn is_display_none(style: &str) -> bool {
    style.split(';').filter_map(|rule| rule.split_once(':')).any(|(name, value)| {
        let value = value.trim_start();
        name.trim().eq_ignore_ascii_case("display")
            && value.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("none"))
            && !value[4..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
    })
}
