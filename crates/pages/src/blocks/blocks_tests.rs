//! Tests the collection of blocks from small pages.

use super::*;

fn found(html: &str) -> PageParts {
    read(&Document::from(html), Some("http://site.example/folder/page?x"), 100)
}

/// Returns the text of each block with its counts: plain, linked, links, images.
fn blocks(html: &str) -> Vec<(String, [usize; 4])> {
    let blocks = found(html).blocks.into_iter();
    blocks.map(|(block, counts)| (block.text, [block.plain, block.linked, counts.links, block.images])).collect()
}

fn texts(html: &str) -> Vec<String> {
    blocks(html).into_iter().map(|(text, _)| text).collect()
}

#[test]
fn a_block_is_what_stands_directly_under_a_container() {
    let page = "<body>a<div>b <p>c</p> d<ul><li>e<li>f</ul>g</div>h<table><tr><td>i<td>j</table>";
    assert_eq!(texts(page), ["a\nh", "b\nc\nd\ng", "e\nf", "i", "j"]);
    assert_eq!(texts("<div><div><span>x</span><b>y</b></div> </div>"), ["xy"]);
    assert_eq!(texts("<div> <img> </div> <p> </p>"), [""]);
    assert_eq!(texts(""), Vec::<String>::new());
}

#[test]
fn lines_break_where_a_browser_breaks_them() {
    let page = "<div>one\n two<br>three<h2>four</h2>five<pre>six\n  seven</pre><dl><dt>a<dd>b</dl></div>";
    assert_eq!(texts(page), ["one two\nthree\nfour\nfive\nsix\nseven", "a\nb"]);
}

#[test]
fn what_is_not_shown_is_no_text() {
    for hidden in [
        "<script>x</script>",
        "<style>x</style>",
        "<noscript>x</noscript>",
        "<template>x</template>",
        "<iframe>x</iframe>",
        "<svg><title>x</title><text>x</text></svg>",
        "<!-- x -->",
        "<select><option>x</select>",
        "<textarea>x</textarea>",
        "<button>x</button>",
        "<p hidden>x</p>",
        "<div style='color:red; DISPLAY : none !important'>x</div>",
        "<a href=x style=display:none>x</a>",
    ] {
        assert_eq!(texts(&format!("<p>a</p>{hidden}<p>b</p>")), ["a\nb"], "{hidden}");
    }
    for shown in [
        "<p aria-hidden=true>x</p>",
        "<p style='display:block'>x</p>",
        "<p style='x:display:none'>x</p>",
        "<label>x</label>",
    ] {
        assert!(texts(shown)[0].contains('x'), "{shown}");
    }
    assert_eq!(texts("<body style='display:none'>x"), ["x"]);
}

#[test]
fn links_are_counted_where_they_show_and_listed_once() {
    let page = "<div>ab <a href='one'>cd <b>ef</b></a><a href='#x'>gh</a><a name=n>ij</a><a href='two'></a></div>";
    assert_eq!(blocks(page), [("ab cd efghij".to_owned(), [4, 6, 2, 0])]);
    let links = |html: &str, max| -> Vec<Vec<(String, String)>> {
        let found = read(&Document::from(html), Some("http://site.example/folder/page"), max);
        let of = |block: Block| block.links.into_iter().map(|link| (link.url, link.text)).collect();
        found.blocks.into_iter().map(|(block, _)| of(block)).collect()
    };
    assert_eq!(links(page, 9), [[("http://site.example/folder/one".into(), "cd ef".to_owned())]]);
    let around = "<a href=/x><div>ab</div><div>cd<img></div></a>";
    assert_eq!(links(around, 9), [vec![("http://site.example/x".into(), "ab cd".to_owned())], vec![]]);
    let counts: Vec<[usize; 4]> = blocks(around).into_iter().map(|(_, counts)| counts).collect();
    assert_eq!(counts, [[0, 2, 1, 0], [0, 2, 1, 1]]);
    assert_eq!(links(around, 0), [vec![], vec![]]);
    assert!(read(&Document::from(around), None, 0).links_cut && !found(around).links_cut);
    let based = "<base href='/other/'><base href='http://never/'><a href=x>y</a>";
    assert_eq!(links(based, 9)[0][0].0, "http://site.example/other/x");
}

#[test]
fn a_page_says_things_of_itself() {
    let page = found(
        "<title> The\n title </title><meta name=Keywords content=' a, b '><meta property='og:description' content='shared'>\
         <meta name=description content=''><body><svg><title>no</title></svg><title>second</title>\
         <h1>One <b>two</b></h1><h4>no</h4><div><h3>Three<br>four</h3></div><h2 hidden>no</h2><h2></h2>",
    );
    assert_eq!(page.title.as_deref(), Some("The title"));
    assert_eq!(page.keywords.as_deref(), Some("a, b"));
    assert_eq!(page.description.as_deref(), Some("shared"));
    assert_eq!(page.headings, "One two\nThree four");
    let page = found("<meta name=og:description content=shared><meta name=description content='own'><title></title>x");
    assert_eq!((page.description.as_deref(), page.title), (Some("own"), None));
}

#[test]
fn an_address_without_end_is_left_out_and_counted() {
    let long = "x/".repeat(MAX_ADDRESS);
    let found = found(&format!("<base href='http://b.example/{long}'><p>a <a href=c>c</a> <a href='/{long}'>d</a>"));
    assert!(found.links_cut);
    let links: Vec<&str> = found.blocks[0].0.links.iter().map(|link| link.url.as_str()).collect();
    assert_eq!(links, ["http://site.example/folder/c"]);
}
