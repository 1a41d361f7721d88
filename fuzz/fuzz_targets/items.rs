//! Fuzzes the search for items of an evaluation set: items with a question, choices and an answer against a text, all cut from the input.
//!
//! The input consists of lines: `q` begins a new item with a question, `c` adds a choice, `a` sets the answer, and the text is everything
//! after the first line `t`. No input may lead to a panic. Each span lies in the text, its bits in the question, and its score between 0
//! and 1; an item that is long enough is found in a text that consists of it.
#![no_main]

use std::sync::LazyLock;

use dupsift_text::{Pipeline, TextOptions};
use dupsift_contamination::{Builder, SHARED, Search, Weights, Words};
use libfuzzer_sys::fuzz_target;

static PIPELINE: LazyLock<Pipeline> = LazyLock::new(|| Pipeline::new(&TextOptions::default()).expect("valid options"));

fuzz_target!(|data: &[u8]| {
    let input = String::from_utf8_lossy(data);
    let (set, text) = input.split_once("\nt").unwrap_or((&input, ""));
    let words = |text: &str| Words::of(&PIPELINE.analyse(text));
    let mut items: Vec<(&str, Vec<Words>, Vec<Words>)> = Vec::new();
    for line in set.lines() {
        match (line.strip_prefix('q'), line.strip_prefix('c'), line.strip_prefix('a'), items.last_mut()) {
            (Some(question), ..) => items.push((question, Vec::new(), Vec::new())),
            (_, Some(choice), _, Some((_, choices, _))) => choices.push(words(choice)),
            (_, _, Some(answer), Some((.., answers))) => answers.push(words(answer)),
            _ => {}
        }
    }
    let mut builder = Builder::new(5);
    let question_words = |text: &str| Words::of_question(&PIPELINE.analyse(text));
    let numbers: Vec<u32> = items
        .iter()
        .map(|(question, choices, answers)| builder.push(&question_words(question), choices, answers))
        .collect();
    let built = builder.build();
    let check = |text: &str| {
        let mut search = Search::new(&built);
        let document = PIPELINE.analyse(text);
        let spans = search.spans(&document);
        let (texts, counts) = search.frequencies();
        let weights = Weights::new(texts, &counts.into_iter().map(u64::from).collect::<Vec<_>>());
        for span in &spans {
            assert!(span.start < span.end && span.end as usize <= document.tokens().len());
            let score = built.score(span.item, &span.covered, &span.unread, &weights);
            assert!((0.0..=1.0 + 1e-9).contains(&score), "{score}");
            let bits: u32 = span.covered.iter().zip(&span.unread).map(|(one, other)| (one | other).count_ones()).sum();
            assert!(bits as usize <= built.question_len(span.item));
        }
        spans
    };
    check(text);
    for ((question, ..), &item) in items.iter().zip(&numbers).take(4) {
        // Fewer than nine words need a choice or the answer beside them.
        let enough = built.question_len(item) >= 15;
        if enough && items.len() <= SHARED && !built.is_shared(item) && !built.is_too_short(item) {
            assert!(check(question).iter().any(|span| span.item == item), "{question:?}");
        }
    }
});
