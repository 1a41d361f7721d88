//! Tests which tags end which withheld elements.

use super::*;
use proptest::prelude::*;

/// Returns nested open elements; elements named like `svg:x` belong to a drawing.
fn held(names: &str) -> Withheld {
    let mut held = Withheld::default();
    for name in names.split(' ').filter(|name| !name.is_empty()) {
        let html = name.strip_prefix("svg:");
        held.push(LocalName::from(html.unwrap_or(name)), html.is_some());
    }
    held
}

fn open(held: &Withheld) -> String {
    held.open.iter().map(|name| &**name).collect::<Vec<_>>().join(" ")
}

#[test]
fn an_end_tag_closes_what_it_reaches() {
    for (names, name, left, is_theirs) in [
        ("div span b", "div", "", true),
        ("div span div span", "div", "div span", true),
        ("div span", "section", "div span", false),
        ("span b", "video", "span b", false),
        // A block stops the end tags of paragraphs and of elements without special rules.
        ("video div", "video", "video div", true),
        ("div", "video", "div", true),
        ("span div", "span", "span div", true),
        ("div", "p", "div", true),
        ("div p", "p", "div", true),
        ("span", "p", "span", false),
        // Formatting elements may end anywhere, but `object` and `template` stop nearly every end tag.
        ("b div", "b", "", true),
        ("b object", "b", "b object", true),
        ("div object", "div", "div object", true),
        ("td object", "td", "", true),
        ("td template", "td", "td template", true),
        ("object template div", "object", "object template div", true),
        ("object template div", "template", "object", true),
        ("object div", "object", "", true),
        ("", "div", "", false),
        // A cell stops the end tags of its content, and a table stops the end tags of its parts.
        ("div table tr td", "div", "div table tr td", true),
        ("div table tr td div", "div", "div table tr td", true),
        ("tr td table tr", "td", "tr td table tr", true),
        ("tr td table tr", "table", "tr td", true),
        ("tr td", "tr", "", true),
        ("tr td", "table", "tr td", false),
        // Elements in a drawing have the same names as HTML elements but are not HTML elements.
        ("div svg svg:object svg:g", "svg", "div", true),
        ("div svg svg:template", "div", "", true),
        ("svg:object", "svg", "object", false),
        ("svg svg:section", "svg", "", true),
    ] {
        let mut held = held(names);
        let ends_one = held.end(&LocalName::from(name));
        assert_eq!((open(&held).as_str(), ends_one), (left, is_theirs), "{names}: {name}");
    }
}

#[test]
fn a_start_tag_ends_the_drawing_and_what_needs_no_end_tag() {
    use html5ever::tokenizer::StartTag;
    for (names, name, left) in
        [("div svg g", "p", "div"), ("ul li", "li", "ul"), ("div svg g", "rect", "div svg g"), ("div p", "div", "div")]
    {
        let mut held = held(names);
        held.start(&Tag {
            kind: StartTag,
            name: LocalName::from(name),
            self_closing: false,
            attrs: Vec::new(),
            had_duplicate_attributes: false,
        });
        assert_eq!(open(&held), left, "{names}: {name}");
    }
}

proptest! {
    #[test]
    fn what_is_known_of_places_is_what_is_open(
        steps in proptest::collection::vec(
            (any::<bool>(), any::<bool>(), proptest::sample::select(vec!["div", "p", "span", "b", "object", "template", "td", "video"])),
            0..60,
        ),
    ) {
        let mut held = Withheld::default();
        for (opens, foreign, name) in steps {
            let name = LocalName::from(name);
            if opens { held.push(name, foreign) } else { held.end(&name); }
            for (known, is) in [
                (&held.blocks, is_block as fn(&LocalName) -> bool),
                (&held.scopes, is_scope),
                (&held.templates, |name| *name == local_name!("template")),
            ] {
                prop_assert!(known.iter().all(|place| is(&held.open[*place])) && known.is_sorted_by(|a, b| a < b));
                prop_assert!(known.len() <= places(&held, is).len());
            }
            for (name, known) in &held.places {
                prop_assert_eq!(known, &places(&held, |open| open == name));
            }
        }
    }
}

fn places(held: &Withheld, is: impl Fn(&LocalName) -> bool) -> Vec<usize> {
    held.open.iter().enumerate().filter(|(_, name)| is(name)).map(|(place, _)| place).collect()
}
