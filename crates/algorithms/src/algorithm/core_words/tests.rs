//! Tests `core_words` on worked examples of core words and segments, and by an exhaustive comparison.

use std::collections::BTreeSet;

use super::*;
use crate::testing::examples::{params, words_of_rows};
use crate::testing::in_memory::{all_pairs, run_beside};
use dupsift_core::hash::splitmix64;
use dupsift_text::FieldValue::{NoColumn, Null, Text};
use dupsift_text::{Pipeline, TextOptions};

fn signer<'c>(typed: &str, stats: &'c CorpusStats) -> CoreWordsSigner<'c> {
    let params = params(&CoreWords, typed);
    CoreWordsSigner {
        core: params.count("core"),
        weights: [3.0, 2.0, 1.0],
        strip_suffix: params.flag("strip_suffix"),
        body: false,
        least: 2 * params.count("seg_words"),
        segments: params.count("segments"),
        min_common: params.count("min_common"),
        stats,
    }
}

#[test]
fn worked_core() {
    use crate::corpus::TermTable;
    // The ten documents in the corpus contain none of the words: each word has an idf of ln 10, so only the columns affect its
    // weight.
    let stats = CorpusStats::new(10, 40, 1, TermTable::empty(), TermTable::empty());
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let fields = [Text("Погода в Москве"), Text("погода, прогноз"), Text("Прогноз на завтра; погода")];
    let document = pipeline.analyse("").with_fields(fields).counted_over(&stats);
    // Weights: погода 6, в 3, москве 3, прогноз 3, завтра 1, на 1.
    assert_eq!(signer("core=1", &stats).core(&document), "погода");
    assert_eq!(signer("", &stats).core(&document), "в завтра москве погода прогноз");
    // A word in two parts of the title counts once, and neither part is the name of a site.
    let fields = [Text("Погода - погода, новости"), Text("новости дня"), NoColumn];
    let document = pipeline.analyse("").with_fields(fields).counted_over(&stats);
    assert_eq!(signer("core=2", &stats).core(&document), "новости погода");
    let nothing = pipeline.analyse("текст").with_fields([Null, Text(" - "), NoColumn]);
    assert_eq!(signer("", &stats).core(&nothing), "");
}

#[test]
fn the_key_has_the_core_words() {
    let stats = CorpusStats::none();
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let document = pipeline.analyse("слова").with_fields([Text("Погода в Москве"), Text("погода, прогноз"), NoColumn]);
    let words = words_of_rows(&signer("", &stats), &document);
    assert_eq!(words, [signer("", &stats).core(&document)]);
    assert_eq!(words[0].split(' ').count(), 4);
    let body = CoreWordsSigner { body: true, ..signer("", &stats) };
    assert_eq!(words_of_rows(&body, &pipeline.analyse("Б а. Б!")), ["а б"]);
    let nothing = pipeline.analyse("!");
    assert_eq!(body.words_of_keys(&nothing, &[key("")]), [None]);
}

#[test]
fn the_part_that_many_titles_have_names_the_site() {
    let subjects = ["cats", "submarines", "weather in moscow", "the well-known method", "cats"];
    let texts: Vec<String> = subjects.iter().map(|_| "the same text".to_string()).collect();
    let site: Vec<String> = subjects.iter().map(|subject| format!("{subject} | The Great Encyclopedia")).collect();
    let titles = |typed: &str, titles: &[String]| {
        let fields: Vec<_> = titles.iter().map(|title| [Text(title), NoColumn, NoColumn]).collect();
        run_beside(&CoreWords, typed, &texts, &fields).numbers()
    };
    // The site's name is the longest part of the title, but five titles contain it, so only the topics count.
    assert_eq!(titles("", &site), BTreeSet::from([(0, 4)]));
    // If the site's name counts, the alphabetically first of the equally heavy words is "encyclopedia", or "cats" in the titles that
    // contain it.
    let with_site = BTreeSet::from([(0, 4), (1, 2), (1, 3), (2, 3)]);
    assert_eq!(titles("core=1,strip_suffix=false", &site), with_site);
    // A part shared by only three titles is not the name of a site. If nothing remains, the whole title is used.
    let few: Vec<String> = (0..5).map(|at| if at < 3 { site[at].clone() } else { format!("{at}") }).collect();
    assert_eq!(titles("core=1", &few), BTreeSet::from([(1, 2)]));
    let alone: Vec<String> = (0..5).map(|_| "Home | The Great Encyclopedia".to_string()).collect();
    assert_eq!(titles("", &alone).len(), 10);
}

#[test]
fn worked_segments() {
    let stats = CorpusStats::none();
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let segments = |typed: &str, text: &str| signer(typed, &stats).segments(&pipeline.analyse(text));
    let whole = |text: &str| {
        let mut passage = Passage::default();
        passage.add(text);
        passage.fingerprint()
    };
    let text = "a b c\n\nd e\n\nf\n\ng h i j k l\n\nm n\n\n网页搜索引擎\n\no";
    // Paragraph `f` is joined with the next one. Paragraph `m n` and three Chinese words form a segment, to which the remainder `o` is
    // added.
    let expected = ["f g h i j k l", "m n 网页搜索引擎 o", "a b c d e"].map(whole);
    assert_eq!(segments("seg_words=5", text), expected);
    assert_eq!(segments("seg_words=5,segments=2", text), expected[..2]);
    // No paragraph is large enough, so the whole text is one segment.
    assert_eq!(segments("", text), [whole(&text.replace('\n', " "))]);
    assert_eq!(segments("seg_words=2", "a b\n\nA B!\n\nc d"), ["a b", "c d"].map(whole));
    assert!(segments("", "?!").is_empty());
    // The title and 49 words form a segment of 50 words, so pages that differ in these words differ in their segments.
    let words = |from: usize, count: usize| (from..from + count).map(|n| format!("w{n} ")).collect::<String>();
    let page = |own: usize| format!("title\n\n{}\n\n{}", words(own, 49), words(0, 60));
    assert_ne!(segments("", &page(1000)), segments("", &page(2000)));
}

#[test]
fn reasons() {
    let texts = ["слова", "слова", "?!", "слова"].map(String::from);
    let fields = [[NoColumn; 3], [Null, NoColumn, Text("—")], [Text("слово"); 3], [Text("слово"); 3]];
    let reasons = |typed| run_beside(&CoreWords, typed, &texts, &fields).unsigned.into_iter().collect::<Vec<_>>();
    assert_eq!(reasons(""), [(0, "no column"), (1, "no title, keywords or description"), (2, "no words")]);
    assert_eq!(reasons("fallback=body"), [(2, "no words")]);
}

/// The case, width and Unicode normalization form of a column do not matter.
#[test]
fn dress_does_not_count() {
    let title = "Ещё одна Погода: café и 3.14, 网页搜索 - Сайт";
    let dressed = title.to_uppercase().replace("3.14", "３.１４").replace('É', "E\u{301}").replace(" - ", " － ");
    let fields = [title, &dressed].map(|title| [Text(title), NoColumn, Text(title)]);
    let texts = ["слово", "СЛОВО!"].map(String::from);
    assert_eq!(run_beside(&CoreWords, "core=100", &texts, &fields).numbers(), BTreeSet::from([(0, 1)]));
}

#[test]
fn equals_comparing_all_with_all() {
    let mut at = 0;
    let mut random = |below: u64| {
        at += 1;
        splitmix64(13, at) % below
    };
    let sets: Vec<BTreeSet<u64>> = (0..200).map(|_| (0..1 + random(6)).map(|_| random(9)).collect()).collect();
    let text = |set: &BTreeSet<u64>| set.iter().map(|n| format!("the paragraph of number p{n}\n\n")).collect();
    let texts: Vec<String> = sets.iter().map(text).collect();
    let titles = ["Погода завтра", "погода: Завтра!", "Новости дня"];
    let chosen: Vec<usize> = sets.iter().map(|_| random(3) as usize).collect();
    let fields: Vec<_> = chosen.iter().map(|&title| [Text(titles[title]), NoColumn, Null]).collect();
    for (typed, min_common) in [("seg_words=5,segments=9", 2), ("seg_words=5,segments=9,min_common=4", 4)] {
        let share = |a: usize, b: usize| {
            let fewer = sets[a].len().min(sets[b].len());
            let common = sets[a].intersection(&sets[b]).count();
            ((chosen[a] == 2) == (chosen[b] == 2) && common > 0 && common >= min_common.min(fewer))
                .then(|| common as f32 / fewer as f32)
        };
        let found = run_beside(&CoreWords, typed, &texts, &fields);
        assert_eq!(found.numbers(), all_pairs(texts.len(), |a, b| share(a, b).is_some()));
        assert!(found.pairs.len() > 50);
        for ((a, b), pair) in &found.pairs {
            assert_eq!(Some(pair.score.similarity), share(*a, *b));
        }
    }
}
