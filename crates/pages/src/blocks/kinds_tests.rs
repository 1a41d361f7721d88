//! Tests how blocks and pages near the limits are classified, and which blocks are excluded from the body.

use super::*;

fn block(plain: &str, linked: &str, links: usize, images: usize) -> (Block, Counts) {
    let mut counts = Counts { links, ..Counts::default() };
    let mut block = Block { text: format!("{plain} {linked}").trim().to_owned(), images, ..Block::default() };
    block.plain = counts.add(plain, false);
    block.linked = counts.add(linked, true);
    block.kind = of_block(&block, &counts);
    (block, counts)
}

fn kind(plain: &str, linked: &str, links: usize, images: usize) -> Kind {
    block(plain, linked, links, images).0.kind
}

#[test]
fn blocks_have_the_types_of_the_rules() {
    assert_eq!(kind(&"a".repeat(19), "", 0, 1), Kind::Pic);
    assert_eq!(kind(&"a".repeat(20), "", 0, 1), Kind::Other);
    assert_eq!(kind("", "", 0, 0), Kind::Other);
    assert_eq!(kind("aaaa", "bbbb", 2, 0), Kind::Hub);
    assert_eq!(kind("aaaaa", "bbbb", 2, 0), Kind::Other);
    assert_eq!(kind("aaaa", "bbbb", 1, 0), Kind::Other);
    assert_eq!(kind(&("a".repeat(29) + "."), "", 0, 0), Kind::Topic);
    assert_eq!(kind(&("a".repeat(28) + "."), "", 0, 0), Kind::Other);
    assert_eq!(kind(&"a".repeat(79), "", 0, 0), Kind::Other);
    assert_eq!(kind(&"a".repeat(80), "", 0, 0), Kind::Topic);
    assert_eq!(kind(&"a".repeat(80), &"b".repeat(80), 1, 0), Kind::Other);
    assert_eq!(kind(&("字".repeat(14) + "。"), "", 0, 0), Kind::Topic);
    assert_eq!(kind(&("字".repeat(13) + "。"), "", 0, 0), Kind::Other);
    // Han characters are not the majority if there are just as many other letters.
    assert_eq!(kind(&("字a".repeat(12) + "。"), "", 0, 0), Kind::Other);
}

#[test]
fn a_stop_in_a_number_or_a_link_ends_no_sentence() {
    let marks = |text: &str, linked| {
        let mut counts = Counts::default();
        counts.add(text, linked);
        counts.marks
    };
    assert_eq!(marks("pi is 3.14 at a.example.org", false), 0);
    assert_eq!(marks("one. Two! 三。四？ five.", false), 5);
    assert_eq!(marks("one. Two!", true), 0);
}

#[test]
fn pages_have_the_types_of_the_rules() {
    let page = |blocks: &[(Block, Counts)]| of_page(blocks.iter().map(|(block, counts)| (block, counts)));
    let (long, hub) = (block(&"a".repeat(100), "", 0, 0), block("", &"b".repeat(90), 9, 0));
    assert_eq!(page(&[long.clone(), hub.clone()]), (Kind::Topic, true));
    // 29% of the text outside links is in topic blocks.
    let short: Vec<(Block, Counts)> = (0..9).map(|_| block(&"c".repeat(27), "", 0, 0)).collect();
    assert_eq!(page(&[&[long.clone()][..], &short, &[block("cc", "", 0, 0)]].concat()), (Kind::Other, true));
    assert_eq!(page(&[hub.clone(), block(&"a".repeat(99), "", 0, 0)]), (Kind::Other, false));
    assert_eq!(page(&[hub, block(&"a".repeat(90), "", 0, 0)]), (Kind::Hub, false));
    assert_eq!(page(&[block("a", "", 0, 1)]), (Kind::Pic, false));
    assert_eq!(page(&[block(&("字".repeat(49) + "。"), "", 0, 0)]), (Kind::Topic, true));
    assert_eq!(page(&[block(&("字".repeat(48) + "。"), "", 0, 0)]), (Kind::Other, false));
    assert_eq!(page(&[]), (Kind::Other, false));
}

#[test]
fn short_blocks_without_a_keyword_are_no_part_of_the_body() {
    let about = "The harbour crane lifts cargo from the harbour barge; the crane driver watches the cargo. ".repeat(3);
    let blocks: Vec<Block> = [
        block(&about, "", 0, 0).0,
        block("Copyright reserved, every right belongs elsewhere.", "", 0, 0).0,
        block("Later another crane arrives at the harbour.", "", 0, 0).0,
        block(&"Nothing whatever shared between these sentences. ".repeat(6), "", 0, 0).0,
        block("too short", "", 0, 0).0,
    ]
    .to_vec();
    let mut repeated = blocks.clone();
    repeated[0].text = about.repeat(30);
    let body = body(&repeated);
    assert!(body.starts_with(&about.repeat(30)) && !body.contains("Copyright"), "{body}");
    assert!(
        body.contains("\nLater another crane") && body.contains("\nNothing whatever") && !body.contains("too short")
    );
    let chinese = |text: &str| block(text, "", 0, 0).0;
    let page =
        [chinese(&"河边的老桥修好了，老桥上又有人走。".repeat(20)), chinese("版权所有，未经许可不得转载本网内容。")];
    assert_eq!(super::body(&page), page[0].text);
    assert_eq!(super::body(&[]), "");
}

#[test]
fn a_short_block_is_no_keyword_of_its_own() {
    // The page has 130 characters of news and two lines about the site. Seven of the 20 most common words on the entire page come from the
    // license.
    let news = block("The harbour crane lifts cargo from the harbour barge. The driver watches the crane, and later the cargo waits.", "", 0, 0).0;
    let licence = block("Copyright 2026 Example Press; every right reserved everywhere.", "", 0, 0).0;
    let more = block("Another crane comes to the harbour in spring.", "", 0, 0).0;
    let body_of = |blocks: &[&Block]| body(&blocks.iter().map(|block| (*block).clone()).collect::<Vec<_>>());
    assert_eq!(body_of(&[&news, &licence]), news.text);
    assert_eq!(body_of(&[&licence, &news, &more]), format!("{}\n{}", news.text, more.text));
    // If all blocks are short, the longest block and the blocks that share words with other blocks are kept.
    assert_eq!(body_of(&[&licence]), licence.text);
    assert_eq!(body_of(&[&licence, &more]), licence.text);
    assert_eq!(body_of(&[&licence, &news, &licence]), format!("{0}\n{1}\n{0}", licence.text, news.text));
}

#[test]
fn the_cosine_with_the_others_by_hand() {
    // On the page, word 1 occurs five times, word 2 three times, word 3 twice, and word 4 once. Without a block with the words 1, 1 and 4,
    // the most common words are 2, 1 and 3; if two words have the same count, the word with the smaller hash comes first.
    let (page, block) = ([(1, 5), (2, 3), (3, 2), (4, 1)], [(1, 2), (4, 1)]);
    let others = keywords_without(&page, &block);
    assert_eq!(others, [(1, 3), (2, 3), (3, 2)]);
    assert!((cosine(&block, &others) - 6.0 / (5.0f64 * 22.0).sqrt()).abs() < 1e-15);
    assert_eq!(cosine(&block, &keywords_without(&block, &block)), 0.0);
    // Thirty words occur twice, and thirty words occur once. Without a block that contains the first ten words, the next twenty words are
    // the keywords.
    let many: Vec<(u64, u64)> = (0..60).map(|word| (word, if word < 30 { 2 } else { 1 })).collect();
    let first: Vec<(u64, u64)> = (0..10).map(|word| (word, 2)).collect();
    assert_eq!(keywords_without(&many, &first), (10..30).map(|word| (word, 2)).collect::<Vec<_>>());
}
