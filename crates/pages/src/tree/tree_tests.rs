//! Tests truncated pages, input that is not a page, and pages that a parser without limits would take a long time to parse.

use super::*;
use proptest::prelude::*;

fn options(max_elements: usize, max_depth: usize) -> PurifyOptions {
    PurifyOptions { max_elements, max_depth, ..PurifyOptions::default() }
}

fn parsed(text: &str) -> Tree {
    parse(text, &PurifyOptions::default())
}

/// Returns the depth of the tree: the maximum number of ancestors of an element.
fn depth(tree: &Tree) -> usize {
    let nodes = tree.document.root().descendants();
    nodes.iter().map(|node| node.ancestors_it(None).count()).max().unwrap_or(0)
}

fn text(tree: &Tree) -> String {
    tree.document.text().to_string()
}

#[test]
fn an_ordinary_page_is_what_the_bare_parser_makes_of_it() {
    let page = "<!DOCTYPE html><title>T</title><table><td>a<td>b</table><p>c<p>d<b>e<i>f</b>g</i><svg><title>s</title></svg>\
                <script>if (a<b) {}</script><textarea><p></textarea><select><option>o</select>&amp;<br>h";
    let (ours, bare) = (parsed(page), Document::from(page));
    assert_eq!(ours.document.html(), bare.html());
    assert!(!ours.too_deep && !ours.too_many);
    let whole = format!("{}{page}", " ".repeat(super::PIECE - 50));
    assert_eq!(parsed(&whole).document.html(), Document::from(whole.as_str()).html());
}

#[test]
fn elements_that_stand_too_deep_leave_their_text() {
    for tag in [
        "div",
        "b",
        "table><tr><td",
        "ul><li",
        "font",
        "span",
        "blockquote",
        "svg",
        "math",
        "template",
        "x-y",
        "svg><link",
    ] {
        let page = format!("<p>before</p>{}inside", format!("<{tag}>").repeat(100_000));
        let tree = parsed(&page);
        assert!(tree.elements < 1000, "{tag}: {}", tree.elements);
        assert!(depth(&tree) < 300, "{tag}: {}", depth(&tree));
        assert_eq!(tree.too_deep, tag != "b" && tag != "font", "{tag}");
        // The content of a drawing or a template is not part of the page's text.
        if !["svg", "template", "svg><link"].contains(&tag) {
            assert!(text(&tree).contains("inside"), "{tag}");
        }
    }
}

#[test]
fn what_comes_after_the_depth_stands_where_it_should() {
    let (open, close) = ("<div>".repeat(1000), "</div>".repeat(1000));
    let tree = parsed(&format!("{open}x{close}<h1>y</h1>"));
    let heading = tree.document.select("h1");
    assert_eq!(heading.nodes()[0].parent().and_then(|node| node.node_name()).as_deref(), Some("body"));
    let tree = parse("<div><p><i>a</i></p><i>b</i></div><i>c</i>", &options(1000, 6));
    assert_eq!(text(&tree), "abc");
    assert_eq!(tree.document.select("body > i").length(), 1);
}

/// Returns a page with more open elements than are allowed.
fn deep() -> String {
    "<div>".repeat(300)
}

/// Returns a page with formatting elements that remain open, and a page with formatting elements that are reopened in each paragraph.
fn formatted() -> [String; 2] {
    let many: String = (0..60).map(|number| format!("<b><i class=c{number}><font size={number}>")).collect();
    [many.clone(), format!("<p>{many}</p>")]
}

/// Returns the words in the text.
fn words(tree: &Tree) -> String {
    text(tree).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn what_is_no_text_does_not_become_text_where_it_stands_too_deep() {
    for inside in [
        "<script>if (a < b) '</div>'</script>",
        "<style>p { }</style>",
        "<textarea><p>x</textarea>",
        "<title>x</title>",
        "<iframe><p>x</iframe>",
        "<noscript><p>x</p></noscript>",
        "<select><option>x<option>x</select>",
        "<datalist><option>x</datalist>",
        "<svg><g><text>x</text></g></svg>",
        "<svg><desc><svg/>x</desc><style>x</style></svg>",
        "<template><p>x</p><template>x</template>x</template>",
        "<button><b>x</b><script>'</button>'</script>x</button>",
        "<object><param name=x>x<object>x</object>x</object>",
        "<video><p>x</p></video>",
        "<div hidden>x<div>x</div>x</p>x</div>",
        "<ul><li style='display:none'>x<ul><li>x</ul>x</ul>",
        "<p><font style='display: none'>x<font>x</font>x</font></p>",
        "<!-- <b> -->",
    ] {
        assert_eq!(words(&parsed(&format!("{}{inside}", deep()))), "", "{inside}");
        assert_eq!(words(&parsed(&format!("{}a {inside}<p>z", deep()))), "a z", "{inside}");
    }
    assert_eq!(words(&parsed(&format!("{}<script>never closed", deep()))), "");
    let tree = parsed(&format!("{}<script></script>y<svg><style/></svg>z", deep()));
    assert_eq!(words(&tree), "yz");
    let tree = parse("<svg><g><g><style/></g></g></svg>z", &options(1000, 7));
    assert_eq!(text(&tree), "z");
}

#[test]
fn what_is_not_shown_ends_where_a_parser_with_room_would_end_it() {
    let deep = "<table><tr><td>".repeat(80);
    for (inside, shown) in [
        ("<ul><li hidden>x<li>y</ul>z", "y z"),
        ("<p hidden>x<span>x<p>y<div>z</div>", "y z"),
        ("<p hidden>x<ul><li>y</ul>z", "y z"),
        ("<dl><dt hidden>x<dd>y</dl>z", "y z"),
        ("<table><tr hidden><td>x<tr><td hidden>x<td>y</table>z", "y z"),
        ("<button>x<button>x</button>y", "y"),
        ("<option>x<option>x</td><td>y", "y"),
        ("<svg><path><path>x<p>y", "y"),
        ("<svg><foreignObject><p>x</p></foreignObject></svg>y", "y"),
        ("<svg><object>x<template>x</svg>y", "y"),
        ("<math><mi>x<p>y<script>'<b>'</script>z", "x yz"),
        ("<span style='display:none'>x</td></tr><tr><td>y", "y"),
        ("<object>x</td><td>y", "y"),
        ("<div hidden>x</b>x</section>x</div>y", "y"),
        ("<i hidden>x</table>y", "y"),
        ("<xmp><p hidden></xmp>y", "<p hidden> y"),
    ] {
        let tree = parsed(&format!("{deep}<div><div>{inside}"));
        assert!(tree.too_deep, "{inside}");
        assert_eq!(words(&tree), shown, "{inside}");
    }
}

#[test]
fn what_is_held_back_still_parts_words() {
    let page = "<p>Alpha0</p><p>Beta0</p><ul><li>one<li>t<b>w</b>o</ul><table><tr><td>x<td>y</table>a<br>b\
                <h2>c</h2>d<div>e</div>f<span>g</span>h<x-y>i</x-y>";
    let tree = parsed(&format!("{}{page}", deep()));
    assert!(tree.too_deep);
    assert_eq!(words(&tree), "Alpha0 Beta0 one two x y ab c d e fghi");
    assert_eq!(tree.document.select("br").length(), 1);
    // Text that is in a table but outside its cells is moved in front of the table, without white space.
    let tree = parse("<table><tr><td><ul> <li><a>x</a></li> <li><a>y</a></li></table>", &options(100, 6));
    assert!(tree.too_deep && tree.document.select("td").length() == 0);
    assert_eq!(words(&tree), "x y");
}

#[test]
fn links_are_kept_below_the_depth_of_others() {
    let links = "<li><a href=x>y</a>".repeat(100);
    let tree = parsed(&format!("{}<ul>{links}</ul>", deep()));
    assert_eq!(tree.document.select("a[href=x]").length(), 100);
    assert_eq!(words(&tree), ["y"; 100].join(" "));
}

#[test]
fn formatting_left_open_leaves_all_else() {
    let page = "<p>Alpha0</p><p>Beta0</p><ul><li>one<li>two</ul><h1>He<b>a</b>d</h1><p><a href=x>li<i>n</i>k</a> z</p>\
                <div hidden>no</div><select><option>no</select><svg><text>no</text></svg><noscript>no</noscript>\
                <p><font style='display:none'>no</font>yes</p>";
    let shown = |tree: &Tree| {
        let mut found = crate::blocks::read(&tree.document, None, 10);
        let text: Vec<_> = found.blocks.iter_mut().map(|(block, _)| std::mem::take(&mut block.text)).collect();
        let links: usize = found.blocks.iter().map(|(block, _)| block.links.len()).sum();
        (text.join("\n"), found.headings, links)
    };
    let plain = shown(&parsed(page));
    assert_eq!(plain, ("Alpha0\nBeta0\nHead\nlink z\nyes\none\ntwo".to_owned(), "Head".to_owned(), 1));
    for open in formatted() {
        let tree = parsed(&format!("{open}{page}"));
        assert!(!tree.too_deep);
        assert_eq!((shown(&tree).0.replace("\n\n", "\n"), shown(&tree).1, shown(&tree).2), plain);
        // Enough levels remain for content even if only a few levels are allowed.
        let tree = parse(&format!("{open}{page}"), &options(10_000, 24));
        assert!(!tree.too_deep);
        assert_eq!(tree.document.select("h1, ul > li, a[href]").length(), 4);
    }
}

#[test]
fn formatting_left_open_does_not_multiply() {
    let fonts: String = (0..500).map(|size| format!("<font size={size}>")).collect();
    let paragraphs = "<p>x".repeat(10_000);
    for page in [format!("{fonts}{paragraphs}"), format!("<p>{fonts}</p>{paragraphs}")] {
        let tree = parsed(&page);
        assert!(tree.elements <= 10_000 * (MAX_FORMATTING + 1) + 1000, "{}", tree.elements);
        assert_eq!(tree.document.select("p").length(), 10_000 + usize::from(page.starts_with("<p>")));
    }
    for tag in ["<a href=x><b>", "<a href=x><b><p>", "<a><table><td>", "<nobr><div>"] {
        let tree = parsed(&format!("{}<p>x", tag.repeat(2000)));
        assert!(tree.elements < 2000 * MAX_FORMATTING, "{tag} {}", tree.elements);
        assert!(depth(&tree) < 400, "{tag} {}", depth(&tree));
    }
}

#[test]
fn attributes_of_formatting_do_not_multiply() {
    let attributes: String = (0..900).map(|number| format!(" a{number}")).collect();
    for tag in ["b", "a href=x", "font style='display:none'"] {
        let tree = parsed(&format!("<p><{tag}{attributes}>{}", "<p>x".repeat(5000)));
        let kept = tree.document.root().descendants().iter().map(|node| node.attrs().len()).sum::<usize>();
        assert!(kept <= 5001, "{tag}: {kept}");
        assert!(tree.attributes_cut && !tree.too_many, "{tag}");
    }
    assert!(!parsed("<p><b a=1 b=2 c=3><p>x").attributes_cut);
}

#[test]
fn what_is_held_back_costs_what_it_is_long() {
    let deep = deep();
    for (open, again) in [
        ("", "<p>"),
        ("", "<li><p><span>"),
        ("<p><object>", "<p></p>"),
        ("<span>", "</x></div></p>"),
        ("<div hidden>", "<p><span></p>"),
        ("<div hidden><span>", "<li></section>"),
        ("<svg>", "<g></x>"),
        ("<math>", "<mi><p>"),
        ("<math>", "<mi><link>"),
        ("<select>", "<option>"),
        ("", "<a><b></a>"),
        ("", "<table><td><a>"),
        ("", "<xmp>"),
    ] {
        let tree = parsed(&format!("{deep}{open}{}", again.repeat(100_000)));
        assert!(depth(&tree) < 300, "{open}{again}: {}", depth(&tree));
        assert!(!tree.too_many, "{open}{again}: {}", tree.elements);
    }
}

#[test]
fn no_more_elements_are_made_than_are_allowed() {
    let page = "<a href=x>y</a> ".repeat(1_000_000);
    let tree = parse(&page, &options(1000, 100));
    assert!(tree.too_many && tree.elements <= 1000, "{}", tree.elements);
    assert_eq!(text(&tree).matches('y').count(), 996);
    let tree = parsed(&page);
    assert!(tree.too_many && tree.elements == 500_000);
    assert!(!parse("<p>x", &options(5, 100)).too_many);
    assert!(parse("<p>x", &options(4, 100)).too_many);
}

#[test]
fn a_tag_with_very_many_attributes_is_cut_and_the_page_goes_on() {
    let attributes: String = (0..200_000).map(|number| format!(" a{number}='>'")).collect();
    for page in
        [format!("x<p{attributes}>y</p>z"), format!("x</p{attributes}>yz"), format!("x<p{attributes}>yz<p{attributes}")]
    {
        let tree = parsed(&page);
        assert_eq!((text(&tree).as_str(), tree.attributes_cut), ("xyz", true));
        let most = tree.document.root().descendants().iter().map(|node| node.attrs().len()).max();
        assert!(most <= Some(1000), "{most:?}");
    }
}

#[test]
fn long_values_and_comments_stay_whole() {
    let long = "a &amp; b ".repeat(5000);
    let page = format!("<!-- {long} --><p title=\"{long}\" id=x>y</p><!--{}-->z<p title='{long}", "-".repeat(10_000));
    let tree = parsed(&page);
    assert_eq!((text(&tree).as_str(), tree.attributes_cut), ("yz", false));
    let paragraph = tree.document.select("#x");
    assert_eq!(paragraph.attr("title").as_deref(), Some(&*long.replace("&amp;", "&")));
}

#[test]
fn pages_that_end_in_the_middle_are_pages() {
    let page = "<!DOCTYPE html><html><head><title>t</title><script>x</script></head><body class='y'><!-- z --><p>&amp;一</p></body>";
    for end in (0..page.len()).filter(|end| page.is_char_boundary(*end)) {
        parsed(&page[..end]);
    }
    for unclosed in
        ["<!--", "<script>", "<textarea>", "<p a='", "<![CDATA[", "</", "<!DOCTYPE", "<plaintext>", "&#", "<title>"]
    {
        let tree = parsed(&format!("<p>x</p>{unclosed}{}", "y <b> ".repeat(5000)));
        assert!(text(&tree).starts_with('x'), "{unclosed}");
    }
}

/// Returns a page in which all elements are properly nested and closed, with a different word before, inside and after each element.
/// Drawings and formulas do not contain elements that would end them, because the end tags of these elements would close a different
/// element.
fn nested(tags: &[(&str, usize)]) -> String {
    let mut page = String::new();
    let mut open: Vec<&str> = Vec::new();
    for (number, (tag, closed)) in tags.iter().enumerate() {
        let drawing = open.contains(&"svg") || open.contains(&"math");
        if drawing && !["object", "svg", "template", "x-y", "video", "math"].contains(tag) {
            continue;
        }
        page += &format!("<{tag}>w{number}");
        open.push(tag.split(' ').next().unwrap());
        for _ in 0..*closed {
            if let Some(name) = open.pop() {
                page += &format!("</{name}>v{number}n{}", open.len());
            }
        }
    }
    while let Some(name) = open.pop() {
        page += &format!("</{name}>u{}", open.len());
    }
    page
}

/// Returns the visible content of a page's blocks, regardless of their order, and the number of links listed in the blocks.
fn shown(tree: &Tree) -> (Vec<String>, usize) {
    let found = crate::blocks::read(&tree.document, None, 1000);
    let blocks = || found.blocks.iter().map(|(block, _)| block);
    let mut words: Vec<_> = blocks().flat_map(|block| block.text.split_whitespace().map(str::to_owned)).collect();
    words.sort();
    (words, blocks().map(|block| block.links.len()).sum())
}

#[test]
fn formatting_held_back_ends_the_drawing_and_nothing_else() {
    for (inside, expected) in [
        ("<span style='display:none'>x<svg>x<b>x</b>x</svg>x</span>5", "12345"),
        ("<svg>x<b>5</b>6</svg>7", "1234567"),
        ("<math><mi>5<b hidden>x</b>6</mi></math>7", "1234567"),
        ("<svg>x<b hidden>x</b>5</svg>6", "123456"),
    ] {
        let page = format!("<b>1<b>2<b>3<b>4{inside}</b></b></b></b>");
        for max_depth in [16, 256] {
            let words = shown(&parse(&page, &options(1000, max_depth))).0;
            assert_eq!(words.concat(), expected, "{page} {max_depth}");
        }
    }
}

proptest! {
    #[test]
    fn where_pages_are_well_formed_the_depth_changes_no_word(
        tags in proptest::collection::vec(
            (
                proptest::sample::select(vec![
                    "div", "section", "blockquote", "ul", "span", "b", "i", "font size=1", "strong", "em class=c",
                    "b hidden", "div hidden", "span style='display:none'", "object", "svg", "template", "x-y", "video", "math",
                ]),
                0_usize..3,
            ),
            0..150,
        ),
        max_depth in 16_usize..40,
    ) {
        let page = nested(&tags);
        let whole = shown(&parse(&page, &options(100_000, 2000)));
        prop_assert_eq!(shown(&parse(&page, &options(100_000, max_depth))), whole, "{}", page);
    }

    #[test]
    fn limits_hold_on_any_page(
        parts in proptest::collection::vec(
            ("</?(a|a href=1|b|i|font|p|div|table|tr|td|li|ul|form|select|option|svg|math|script|style|title|template|br|body|html|head|nobr|button|noscript|object|li|p hidden|mi|foreignObject|x)( [ab]=[12])?/?>", 1_usize..40),
            0..60,
        ),
        junk in "\\PC{0,40}",
        max_elements in 0_usize..400,
        max_depth in 0_usize..40,
    ) {
        let page: String = parts.iter().map(|(tag, times)| format!("{tag}x").repeat(*times)).collect::<String>() + &junk;
        let tree = parse(&page, &options(max_elements, max_depth));
        // The last tag may create several elements and thus exceed the limit.
        prop_assert!(tree.elements <= max_elements + MAX_FORMATTING + 8);
        prop_assert!(depth(&tree) <= 2 * max_depth + 16 + LINK_DEPTH, "{}", depth(&tree));
        let tags = page.matches('<').count();
        prop_assert!(tree.elements <= tags * (MAX_FORMATTING + 8) + 8);
    }
}

#[test]
fn repeated_bodies_do_not_gather_attributes_without_end() {
    let page: String = (0..50_000).map(|number| format!("<body a{number}=1><html b{number}=1>")).collect();
    let tree = parsed(&format!("{page}<p>x"));
    assert_eq!((text(&tree).as_str(), tree.attributes_cut), ("x", true));
    assert!(!parsed("<html lang=en><body class=a><body id=b><p>x").attributes_cut);
}

#[test]
fn what_noscript_holds_is_no_markup() {
    for inside in ["<p>Enable", "<div><center>", "<table><tr><td>", "<textarea>", "<!--", "<img alt=\"x"] {
        let tree = parsed(&format!("<body><noscript>{inside}</noscript><h1>H</h1><p>T"));
        assert_eq!(tree.document.select("h1,p").text().as_ref(), "HT", "{inside}");
    }
}
