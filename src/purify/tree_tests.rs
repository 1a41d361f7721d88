//! Pages that would take a parser long, pages that end in the middle, and pages that are none.

use super::*;
use proptest::prelude::*;

fn options(max_elements: usize, max_depth: usize) -> PurifyOptions {
    PurifyOptions { max_elements, max_depth, ..PurifyOptions::default() }
}

fn parsed(text: &str) -> Tree {
    parse(text, &PurifyOptions::default())
}

/// The greatest number of ancestors.
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
    for tag in ["div", "b", "table><tr><td", "ul><li", "font", "span", "blockquote", "svg", "math", "template", "x-y"] {
        let page = format!("<p>before</p>{}inside", format!("<{tag}>").repeat(100_000));
        let tree = parsed(&page);
        assert!(tree.elements < 1000, "{tag}: {}", tree.elements);
        assert!(depth(&tree) < 300, "{tag}: {}", depth(&tree));
        assert!(tree.too_deep, "{tag}");
        if tag != "template" {
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

#[test]
fn what_is_no_text_does_not_become_text_where_it_stands_too_deep() {
    let open = "<div>".repeat(1000);
    for inside in [
        "<script>if (a < b) '</div>'</script>",
        "<style>p { }</style>",
        "<textarea><p>x</textarea>",
        "<title>x</title>",
        "<iframe><p>x</iframe>",
        "<script>never closed",
        "<!-- <b> -->",
    ] {
        assert_eq!(text(&parsed(&format!("{open}{inside}"))), "", "{inside}");
    }
    let tree = parsed(&format!("{open}<script></script>y<svg><style/></svg>z"));
    assert_eq!(text(&tree), "yz");
    let tree = parse("<svg><g><g><style/></g></g></svg>z", &options(1000, 7));
    assert_eq!(text(&tree), "z");
}

#[test]
fn formatting_left_open_does_not_multiply() {
    let fonts: String = (0..500).map(|size| format!("<font size={size}>")).collect();
    let page = format!("{fonts}{}", "<p>x".repeat(20_000));
    let tree = parsed(&page);
    assert!(tree.elements <= 20_000 * MAX_FORMATTING + 1000, "{}", tree.elements);
    assert!(tree.too_deep);
    let tree = parsed(&format!("{}<p>x", "<a href=x><b>".repeat(2000)));
    assert!(tree.elements < 2000 * MAX_FORMATTING, "{}", tree.elements);
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

proptest! {
    #[test]
    fn limits_hold_on_any_page(
        parts in proptest::collection::vec(
            ("</?(a|b|i|font|p|div|table|tr|td|li|ul|form|select|option|svg|math|script|style|title|template|br|body|html|head|nobr|button|x)( [ab]=[12])?/?>", 1_usize..40),
            0..60,
        ),
        junk in "\\PC{0,40}",
        max_elements in 0_usize..400,
        max_depth in 0_usize..40,
    ) {
        let page: String = parts.iter().map(|(tag, times)| format!("{tag}x").repeat(*times)).collect::<String>() + &junk;
        let tree = parse(&page, &options(max_elements, max_depth));
        // The last tag may make more elements than are left.
        prop_assert!(tree.elements <= max_elements + MAX_FORMATTING + 8);
        prop_assert!(depth(&tree) <= 2 * max_depth + 16, "{}", depth(&tree));
        let tags = page.matches('<').count();
        prop_assert!(tree.elements <= tags * (MAX_FORMATTING / 2) + 8);
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
