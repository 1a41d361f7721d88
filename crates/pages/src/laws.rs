//! Tests properties that hold for every page: no input causes a panic, limits are respected, and the same bytes result in the same page.

use crate::*;
use proptest::prelude::*;

const TEXT: &str =
    "The old bridge over the river was closed for repairs in spring. People crossed by boat, and some liked it better.";

fn purifier(method: Method, fallback: Fallback) -> Purifier {
    Purifier::new(PurifyOptions { method, fallback, ..PurifyOptions::default() })
}

fn page(method: Method, fallback: Fallback, html: &str) -> Page {
    purifier(method, fallback).page(&RawPage { bytes: html.as_bytes(), ..RawPage::default() })
}

#[test]
fn a_page_with_a_topic_has_its_text_without_the_template() {
    let menu = "<ul><li><a href=/a>First page</a><li><a href=/b>Second page</a></ul>";
    let html =
        format!("<title>Bridge</title><body>{menu}<div class=content><p>{TEXT}</p><p>{TEXT}</p></div><div>Legal</div>");
    for method in [Method::Docview, Method::Readability] {
        let page = page(method, Fallback::Skip, &html);
        assert_eq!(page.kind, Kind::Topic);
        assert_eq!(page.body.as_deref(), Some(&*format!("{TEXT}\n{TEXT}")), "{method:?}");
        assert_eq!(page.title.as_deref(), Some("Bridge"));
        assert_eq!(
            page.blocks.iter().map(|block| block.kind).collect::<Vec<_>>(),
            [Kind::Hub, Kind::Topic, Kind::Other]
        );
        assert_eq!(page.cut, Cut::default());
    }
    let all = page(Method::Visible, Fallback::Skip, &html);
    assert_eq!(all.body.as_deref(), Some(&*format!("First page\nSecond page\n{TEXT}\n{TEXT}\nLegal")));
}

/// Tests the block elements listed in the rendering section of the HTML standard, except for parts of tables and lists, which cannot occur
/// on their own.
#[test]
fn every_block_element_ends_a_line() {
    let alone = "address article aside blockquote center details dialog dir div dl dt dd fieldset figcaption figure footer form h1 h2 h3 h4 h5 \
                 h6 header hgroup legend li listing main menu nav ol p pre search section summary ul xmp";
    let boxed = |before: &str, open: &str, close: &str| format!("{before}<{open}>one</{open}><{close}>two</{close}>");
    let parts = alone.split_whitespace().map(|tag| boxed("", tag, tag)).chain([
        boxed("<dl>", "dt", "dd"),
        boxed("<dl>", "dd", "dt"),
        "<table><caption>one</caption><tr><td>two</table>".to_owned(),
        "<table><tr><td>one<tfoot><tr><td>two</table>".to_owned(),
        "<details><summary>one</summary>two</details>".to_owned(),
        "<figure><span>one</span><figcaption>two</figcaption></figure>".to_owned(),
        "<fieldset><legend>one</legend>two</fieldset>".to_owned(),
        "one<hr>two".to_owned(),
        "one<br>two".to_owned(),
        "<pre>one\ntwo</pre>".to_owned(),
    ]);
    for part in parts {
        let html = format!("<body><article><p>{TEXT}</p><div>{part}</div><p>{TEXT} End.</p></article>");
        for method in [Method::Readability, Method::Docview, Method::Visible] {
            let body = page(method, Fallback::Visible, &html).body.expect("a body");
            let has_line = |line: &str| body.lines().any(|found| found == line);
            // Readability excludes footers, forms and asides.
            assert!(!body.contains("one") || (has_line("one") && has_line("two")), "{method:?} {part}: {body}");
        }
    }
    let row = format!("<article><p>{TEXT}</p><table><tr><th>one</th><td>two</td></tr></table><p>{TEXT}</p></article>");
    assert!(page(Method::Readability, Fallback::Skip, &row).body.expect("a body").contains("one two\n"));
}

/// The parts of a caption are not one word, unlike the parts of a paragraph.
#[test]
fn elements_of_a_caption_are_apart() {
    let boxed = [
        ("<figure><img src=x><figcaption>INNER</figcaption></figure>", true),
        ("<table><caption>INNER</caption><tr><td>cell</table>", true),
        ("<p>INNER</p>", false),
    ];
    let inner = "<span>The bridge in 1950.</span><span><b>Photo: Li</b></span><small>Agency</small> of CO<sub>2</sub>, <a href=x>Ann</a>, Bo";
    for (html, is_apart) in boxed {
        let html = html.replace("INNER", inner);
        let html = format!("<body><article><p>{TEXT}</p><div>{html}</div><p>{TEXT} End.</p></article>");
        let expected = match is_apart {
            true => "The bridge in 1950. Photo: Li Agency of CO2, Ann, Bo",
            false => "The bridge in 1950.Photo: LiAgency of CO2, Ann, Bo",
        };
        for method in [Method::Readability, Method::Docview, Method::Visible] {
            let body = page(method, Fallback::Visible, &html).body.expect("a body");
            assert!(body.lines().any(|line| line == expected), "{method:?}: {body}");
        }
    }
}

#[test]
fn a_page_without_a_topic_has_what_was_chosen() {
    let html = "<ul><li><a href=/a>First page</a><li><a href=/b>Second page</a></ul><div>Legal</div>";
    for method in [Method::Docview, Method::Readability, Method::Visible] {
        let shown = page(method, Fallback::Visible, html);
        assert_eq!((shown.kind, shown.body.as_deref()), (Kind::Hub, Some("First page\nSecond page\nLegal")));
        assert_eq!(page(method, Fallback::Skip, html).body, None);
        assert_eq!(page(method, Fallback::Visible, "<img src=x>").body, None);
    }
}

#[test]
fn where_the_library_gives_up_the_rules_of_docview_do() {
    // The library starts reading three bytes before the site name, a position that may be inside a character.
    let html =
        format!("<div><p>{TEXT}</p><p>{TEXT}</p><iframe src='https:\u{e9}é/www.youtube.com/embed/x'></iframe></div>");
    let page = page(Method::Readability, Fallback::Skip, &html);
    assert_eq!((page.body.as_deref(), page.cut.method), (Some(&*format!("{TEXT}\n{TEXT}")), true));
}

#[test]
fn plain_text_is_paragraphs() {
    let of = |text: &str| {
        let raw = RawPage { bytes: text.as_bytes(), content_type: Some("Text/Plain; charset=utf-8"), url: None };
        Purifier::new(PurifyOptions::default()).page(&raw)
    };
    let page = of("one <b>\r\ntwo\r\n\r\n \r\nthree  four\n");
    assert_eq!(page.blocks.iter().map(|block| block.text.as_str()).collect::<Vec<_>>(), ["one <b>\ntwo", "three four"]);
    assert_eq!((page.kind, page.body.as_deref()), (Kind::Topic, Some("one <b>\ntwo\nthree four")));
    assert_eq!(of("one\ntwo").blocks.len(), 2);
    assert_eq!((of(" \n").kind, of(" \n").body), (Kind::Other, None));
}

#[test]
fn what_is_too_much_for_readability_is_left_to_docview() {
    let many = format!("<div>{}</div>", format!("<p>{TEXT}</p>").repeat(60_000));
    let escapes = format!("<p>{}", "&amp; so on. ".repeat(30_000));
    for html in [many, escapes] {
        let read = page(Method::Readability, Fallback::Skip, &html);
        assert!(read.cut.method && read.body.is_some());
        assert_eq!(read.body, page(Method::Docview, Fallback::Skip, &html).body);
    }
}

#[test]
fn depth_costs_no_stack() {
    let deep = format!("{}{TEXT} {TEXT}", "<div><span>".repeat(100_000));
    let work = move || {
        for method in [Method::Docview, Method::Readability] {
            let page = page(method, Fallback::Visible, &deep);
            assert!(page.cut.depth && page.body.is_some_and(|body| body.contains(TEXT)));
        }
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(work).unwrap().join().unwrap();
}

proptest! {
    #[test]
    fn no_bytes_break_a_page(
        parts in proptest::collection::vec("</?(a href=x|b|p|div|table|td|li|title|base href=y|meta name=keywords content=z|svg|pre|h1|template)/?>|[a-zа-я一-龠 .。&<\\PC]{0,30}", 0..40),
        junk in proptest::collection::vec(any::<u8>(), 0..40),
        content_type in proptest::option::of("(text/plain; )?(charset=)?(gbk|utf-16le|x)?"),
        url in proptest::option::of("(https?://)?[a-z./?#:@]{0,12}"),
        (max_bytes, max_elements, max_depth, max_links) in (0_usize..4000, 0_usize..100, 0_usize..20, 0_usize..5),
    ) {
        let bytes = [parts.concat().as_bytes(), &junk].concat();
        let raw = RawPage { bytes: &bytes, content_type: content_type.as_deref(), url: url.as_deref() };
        for method in [Method::Docview, Method::Readability, Method::Visible] {
            let limited = PurifyOptions { method, max_bytes, max_elements, max_depth, max_links, ..PurifyOptions::default() };
            for options in [limited, PurifyOptions { method, ..PurifyOptions::default() }] {
                let purifier = Purifier::new(options);
                let page = purifier.page(&raw);
                prop_assert_eq!(&page, &purifier.page(&raw));
                prop_assert!(page.blocks.iter().map(|block| block.links.len()).sum::<usize>() <= options.max_links);
                for block in &page.blocks {
                    let shown = block.text.chars().filter(|c| !c.is_whitespace()).count();
                    prop_assert_eq!(block.plain + block.linked, shown);
                }
            }
        }
    }
}
