//! Extracts the keywords, the abstract and the related links of a page (docs/methods/docview.md).
//!
//! A link is related if it is in a topic block, or if it is in a hub block and its text contains a keyword. Each address is listed once, in
//! the order in which the addresses occur on the page; links that do not lead to another page (`#top`, `javascript:`, `mailto:`) are
//! skipped.

mod abstracts;
mod function_words;
pub(crate) mod keywords;

use std::collections::HashSet;

use crate::page::{Kind, Link, Page};
use abstracts::abstract_of;
use dupsift_text::{Pipeline, clauses};
use keywords::{CorpusWords, Gathered, Keyword};

/// The elements of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Elements {
    /// At most 20 keywords, in descending order of weight; ties are in code point order.
    pub keywords: Vec<Keyword>,
    /// The abstract: at most 200 characters, spelled as on the page; empty if the body has no keyword.
    pub abstract_text: String,
    /// The related links.
    pub links: Vec<Link>,
}

/// Extracts the elements of a page. Keywords are weighted by tf and corpus frequencies if a corpus is given, otherwise by tf alone. The
/// text is split into words only once, so this function takes about as long as analyzing the title, the headings and the body.
pub fn elements(page: &Page, pipeline: &Pipeline, corpus: Option<&CorpusWords<'_>>) -> Elements {
    let body = page.body.as_deref().unwrap_or_default();
    let words = Gathered::of(page, &clauses(body), pipeline);
    let keywords = words.keywords(corpus);
    let weights: Vec<(u64, f64)> = keywords.iter().map(|(hash, keyword)| (*hash, keyword.weight)).collect();
    let abstract_text = abstract_of(body, &words, &weights);
    let links = related_links(page, pipeline, &weights);
    Elements { keywords: keywords.into_iter().map(|(_, keyword)| keyword).collect(), abstract_text, links }
}

fn related_links(page: &Page, pipeline: &Pipeline, keywords: &[(u64, f64)]) -> Vec<Link> {
    let shares_a_keyword = |link: &Link| {
        let anchor = pipeline.analyse(&link.text);
        anchor.words().iter().any(|word| keywords.iter().any(|(hash, _)| *hash == word.hash))
    };
    let mut seen = HashSet::new();
    let mut links = Vec::new();
    for block in &page.blocks {
        for link in block.links.iter().filter(|link| leads_to_a_page(&link.url)) {
            let wanted = match block.kind {
                Kind::Topic => true,
                Kind::Hub => !seen.contains(link.url.as_str()) && shares_a_keyword(link),
                Kind::Pic | Kind::Other => false,
            };
            if wanted && seen.insert(link.url.as_str()) {
                links.push(link.clone());
            }
        }
    }
    links
}

/// Returns whether an address may lead to a different page.
fn leads_to_a_page(url: &str) -> bool {
    let url = url.trim_start();
    let scheme = url.split(['/', '?', '#']).next().and_then(|start| start.split_once(':')).map(|(scheme, _)| scheme);
    let is = |name: &str| scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(name));
    !url.is_empty() && !url.starts_with('#') && !["javascript", "mailto", "tel", "data"].into_iter().any(is)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::page::Block;
    use dupsift_text::TextOptions;

    fn block(kind: Kind, links: &[(&str, &str)]) -> Block {
        let link = |&(url, text): &(&str, &str)| Link { url: url.into(), text: text.into() };
        Block { kind, links: links.iter().map(link).collect(), ..Block::default() }
    }

    #[test]
    fn related_links_are_those_of_the_topic() {
        let page = Page {
            title: Some("Green tea".into()),
            body: Some("Green tea grows in Hangzhou.".into()),
            blocks: vec![
                block(Kind::Hub, &[("/tea", "All tea"), ("/login", "Log in"), ("/hangzhou", "About us")]),
                block(Kind::Other, &[("/other", "tea")]),
                block(Kind::Topic, &[("/hangzhou", "here"), ("#note", "tea"), ("", "tea"), ("/tea", "tea again")]),
                block(Kind::Topic, &[("JavaScript:void(0)", "tea"), ("mailto:a@b.c", "write"), ("/a:b", "c")]),
                block(Kind::Hub, &[("https://example.com/", "HANGZHOU sights")]),
            ],
            ..Page::default()
        };
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let found = elements(&page, &pipeline, None);
        let urls: Vec<&str> = found.links.iter().map(|link| link.url.as_str()).collect();
        assert_eq!(urls, ["/tea", "/hangzhou", "/a:b", "https://example.com/"]);
        assert_eq!(found.links[1].text, "here");
        let words: Vec<&str> = found.keywords.iter().map(|keyword| keyword.word.as_str()).collect();
        assert_eq!(words, ["green", "tea", "grows", "hangzhou"]);
        assert_eq!(found.abstract_text, "Green tea grows in Hangzhou.");
        assert_eq!(elements(&Page::default(), &pipeline, None), Elements::default());
    }

    /// Pipelines without and with stemming, shared by all cases because the Chinese dictionary is slow to load.
    static PIPELINES: LazyLock<[Pipeline; 2]> = LazyLock::new(|| {
        [false, true].map(|stem| Pipeline::new(&TextOptions { stem, ..TextOptions::default() }).unwrap())
    });

    proptest! {
        #[test]
        fn no_page_upsets_it_and_the_answer_is_always_the_same(
            title in "\\PC{0,30}",
            headings in "[ -~\nа-я中文]{0,40}",
            body in "\\PC{0,200}|[a-cа-в中文，。,;.!\n ]{0,300}|[ -~]{0,300}",
            links in proptest::collection::vec(("[/#a-c:]{0,4}", "[a-cа-в中 ]{0,8}"), 0..8),
            stem in any::<bool>()
        ) {
            let pipeline = &PIPELINES[usize::from(stem)];
            let links: Vec<(&str, &str)> = links.iter().map(|(url, text)| (url.as_str(), text.as_str())).collect();
            let blocks = vec![block(Kind::Hub, &links), block(Kind::Topic, &links[links.len() / 2..])];
            let page = Page { title: Some(title), headings, body: Some(body), blocks, ..Page::default() };
            let found = elements(&page, pipeline, None);
            prop_assert_eq!(&found, &elements(&page, pipeline, None));
            prop_assert!(found.keywords.len() <= 20 && found.abstract_text.chars().count() <= 200);
            for pair in found.keywords.windows(2) {
                prop_assert!((-pair[0].weight, &pair[0].word) < (-pair[1].weight, &pair[1].word));
            }
            let urls: HashSet<&str> = found.links.iter().map(|link| link.url.as_str()).collect();
            prop_assert_eq!(urls.len(), found.links.len());
        }
    }
}
