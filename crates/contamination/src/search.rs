//! Finds spans of a text that contain an item. N-grams that the text and an item share show where to look; there, the item is aligned with
//! the text.

use std::cell::LazyCell;
use std::ops::Range;

use dupsift_text::{Analysis, Token};

use crate::align::Aligner;
use crate::compare::Comparison;
use crate::grams::Gram;
use crate::items::Items;
use crate::label::each_without_labels;
use crate::span::{Candidate, Span};
use crate::texts::Item;
use crate::vocabulary::NO_TOKEN;
use crate::words::{in_words, with_digits};

/// Marks a position in the text at which an n-gram of an item begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    hash: u64,
    start: u32,
}

/// Holds occurrences of one n-gram that are so close together that they are in the same span of every item that contains this n-gram.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The first token of the first occurrence.
    first: u32,
    /// The first token of the last occurrence.
    last: u32,
}

/// Holds an n-gram in the text that also occurs in an item.
#[derive(Clone, Debug)]
struct Part<'i> {
    item: Item,
    /// The occurrences of the n-gram in the item.
    grams: &'i [Gram],
    /// The runs of the n-gram in the text.
    runs: Range<u32>,
}

/// Searches documents for items, and counts how many documents contain each token. Each thread has its own instance.
#[derive(Debug)]
pub struct Search<'i> {
    items: &'i Items,
    /// `seen[number]` holds the last document that contains the token with this number, and the number of documents that contain this
    /// token.
    seen: Vec<(u32, u32)>,
    texts: u32,
    numbers: Vec<u32>,
    /// The hashes and positions of the tokens that are not labels.
    core: Vec<u64>,
    core_places: Vec<u32>,
    sums: Vec<u64>,
    places: Vec<Place>,
    joins: Joins<'i>,
    aligner: Aligner,
}

/// Joins the positions in a text into spans. If a text repeats a common n-gram, the cost is proportional to the number of items that
/// contain the n-gram plus the number of its positions in the text, not to the product of these numbers: the n-gram is listed once for each
/// item, and its positions are joined into runs before items are processed.
#[derive(Debug, Default)]
struct Joins<'i> {
    runs: Vec<Run>,
    parts: Vec<Part<'i>>,
    /// The runs of one item, each with the number of the n-gram to which the run belongs.
    pieces: Vec<(Run, usize)>,
    begins: Vec<u32>,
    /// The total number of runs processed for all items.
    joined: usize,
}

impl<'i> Search<'i> {
    /// Returns a search that has not processed any documents.
    pub fn new(items: &'i Items) -> Search<'i> {
        Search {
            items,
            seen: vec![(0, 0); items.vocabulary()],
            texts: 0,
            numbers: Vec::new(),
            core: Vec::new(),
            core_places: Vec::new(),
            sums: Vec::new(),
            places: Vec::new(),
            joins: Joins::default(),
            aligner: Aligner::default(),
        }
    }

    /// Returns the spans in a text, ordered by item, then by position.
    pub fn spans(&mut self, text: &Analysis<'_>) -> Vec<Span> {
        let tokens = text.tokens();
        let candidates = self.candidates(tokens);
        if candidates.is_empty() {
            return Vec::new();
        }
        let Search { items, numbers, core_places, aligner, .. } = self;
        let (with_digits, in_words) = (LazyCell::new(|| with_digits(text)), LazyCell::new(|| in_words(text)));
        let comparison = Comparison { items, tokens, numbers, with_digits: &|| &with_digits, in_words: &|| &in_words };
        let place = |core: u32| core_places[core as usize];
        let mut spans: Vec<Span> = Vec::new();
        for found in &candidates {
            let near = place(found.tokens.start)..place(found.tokens.end - 1) + 1;
            comparison.spans(found, near, aligner, &mut |span| spans.push(span));
        }
        spans.sort_by_key(|span| (span.item, span.start, span.end));
        spans.dedup();
        spans
    }

    /// Returns the stretches of a text in which n-grams of an item are close together, ordered by item.
    pub(crate) fn candidates(&mut self, tokens: &[Token]) -> Vec<Candidate> {
        let Search { items, seen, texts, numbers, core, core_places, sums, places, joins, .. } = self;
        *texts += 1;
        // The loops are short, so that many memory accesses overlap.
        numbers.clear();
        numbers.extend(tokens.iter().map(|token| items.number(token.hash)));
        for &number in numbers.iter() {
            if number != NO_TOKEN {
                let (last, count) = &mut seen[number as usize];
                *count += u32::from(*last != *texts);
                *last = *texts;
            }
        }
        places.clear();
        core.clear();
        core_places.clear();
        let (least, mut from) = (items.grams().least(), 0);
        // Splits at tokens that are in no item, because no n-gram of an item contains them.
        let mut search = |run: Range<usize>, core: &[u64]| {
            if run.len() >= least {
                items.grams().windows(&core[run.clone()], sums, |start, grams| {
                    places.push(Place { hash: grams[0].hash, start: (run.start + start) as u32 });
                });
            }
        };
        each_without_labels(tokens.iter().map(|token| token.hash), |at, hash| {
            core.push(hash);
            core_places.push(at);
            if numbers[at as usize] == NO_TOKEN {
                search(from..core.len() - 1, core);
                from = core.len();
            }
        });
        search(from..core.len(), core);
        if places.is_empty() {
            return Vec::new();
        }
        places.sort_unstable();
        joins.list(items, places);
        joins.candidates(items)
    }

    /// Returns the number of documents that were searched and, for each token, the number of these documents that contain it.
    pub fn frequencies(self) -> (u64, Vec<u32>) {
        (self.texts.into(), self.seen.into_iter().map(|(_, count)| count).collect())
    }
}

impl<'i> Joins<'i> {
    /// Lists the runs of each n-gram, and the n-grams of each item. `places` must be sorted.
    fn list(&mut self, items: &'i Items, places: &[Place]) {
        self.runs.clear();
        self.parts.clear();
        for places in places.chunk_by(|one, next| one.hash == next.hash) {
            let grams = items.grams().of(places[0].hash);
            // N-grams with the same hash have the same length.
            let reach = reach(items, grams[0].item);
            let from = self.runs.len() as u32;
            let runs = places.chunk_by(|one, next| next.start <= one.start + reach);
            self.runs.extend(runs.map(|run| Run { first: run[0].start, last: run[run.len() - 1].start }));
            let to = self.runs.len() as u32;
            let parts = grams.chunk_by(|one, next| one.item == next.item);
            self.parts.extend(parts.map(|grams| Part { item: grams[0].item, grams, runs: from..to }));
        }
        self.parts.sort_unstable_by_key(|part| (part.item, part.runs.start));
    }

    /// Returns the candidates of all items, in order.
    fn candidates(&mut self, items: &Items) -> Vec<Candidate> {
        let Joins { runs, parts, pieces, begins, joined } = self;
        *joined = 0;
        let mut candidates = Vec::new();
        for parts in parts.chunk_by(|one, next| one.item == next.item) {
            let item = parts[0].item;
            let (least, length, reach) =
                (items.least_covered(item), items.gram_tokens(item) as u32, reach(items, item));
            // No span covers more tokens than all n-grams together, so long items that share only a sentence with the text are dropped
            // at this point.
            list_begins(parts, begins);
            // A text that contains only n-grams of the choices has no span of the question, unless the question is short.
            let question = items.question_len(item) as u32;
            let is_enough = |begins: &[u32]| {
                covered_tokens(begins, length) >= least && (begins[0] < question || question < 2 * length)
            };
            if !is_enough(begins) {
                continue;
            }
            pieces.clear();
            for (part, number) in parts.iter().zip(0..) {
                let runs = &runs[part.runs.start as usize..part.runs.end as usize];
                pieces.extend(runs.iter().map(|&run| (run, number)));
            }
            *joined += pieces.len();
            pieces.sort_unstable_by_key(|(run, number)| (run.first, *number));
            let mut rest = &mut pieces[..];
            while let Some(&mut (Run { first, mut last }, _)) = rest.first_mut() {
                let is_close = |run: &Run| {
                    let close = run.first <= last + reach;
                    last = last.max(if close { run.last } else { 0 });
                    close
                };
                let count = rest.iter().map(|(run, _)| run).map(is_close).take_while(|&close| close).count();
                let (near, behind) = rest.split_at_mut(count);
                rest = behind;
                // Counts an n-gram once, even if several of its runs are in the span.
                near.sort_unstable_by_key(|&(_, number)| number);
                let distinct = near.chunk_by(|one, next| one.1 == next.1).map(|runs| &parts[runs[0].1]);
                list_begins(distinct, begins);
                if is_enough(begins) {
                    candidates.push(Candidate { item, tokens: first..last + length, begins: begins.clone() });
                }
            }
        }
        candidates
    }
}

/// Returns the maximum distance from the start of an n-gram in a span to the start of the next n-gram.
fn reach(items: &Items, item: Item) -> u32 {
    (items.gram_tokens(item) + 2 * items.ngram()) as u32
}

/// Lists the positions of these n-grams in an item, in order. No position occurs in more than one part.
fn list_begins<'p, 'i: 'p>(parts: impl IntoIterator<Item = &'p Part<'i>>, begins: &mut Vec<u32>) {
    begins.clear();
    begins.extend(parts.into_iter().flat_map(|part| part.grams.iter().map(|gram| gram.at)));
    begins.sort_unstable();
}

/// Returns the number of tokens that n-grams of this length cover at these positions.
fn covered_tokens(begins: &[u32], length: u32) -> u32 {
    begins.windows(2).map(|pair| length.min(pair[1] - pair[0])).sum::<u32>() + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, Words};
    use dupsift_text::{Pipeline, TextOptions};

    fn pipeline() -> Pipeline {
        Pipeline::new(&TextOptions::default()).expect("valid options")
    }

    fn words(text: &str) -> Words {
        Words::of_question(&pipeline().analyse(text))
    }

    fn spans_of(items: &Items, text: &str) -> Vec<Span> {
        Search::new(items).spans(&pipeline().analyse(text))
    }

    /// Returns a search structure of items, each with its question, its choices and its answer.
    fn built(items: &[(&str, &[&str], &str)]) -> Items {
        let mut builder = Builder::new(5);
        for (question, choices, answer) in items {
            let choices: Vec<Words> = choices.iter().map(|choice| words(choice)).collect();
            builder.push(&words(question), &choices, &[words(answer)]);
        }
        builder.build()
    }

    fn ones(bits: &[u64]) -> u32 {
        bits.iter().map(|word| word.count_ones()).sum()
    }

    const QUESTION: &str =
        "Every morning the captain of the old ship wrote a letter to his sister in the northern village";

    #[test]
    fn a_span_has_the_words_of_the_question_in_order() {
        let items = built(&[(QUESTION, &[], "")]);
        let tokens = words(QUESTION).hashes.len() as u32;
        let found = |text: &str| {
            let of = |span: &Span| (span.start, span.end, ones(&span.covered), span.is_variant);
            spans_of(&items, text).iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(found(QUESTION), [(0, tokens, tokens, false)]);
        assert_eq!(found(&format!("Two words: {QUESTION}. And more.")), [(2, 2 + tokens, tokens, false)]);
        let replaced = QUESTION.replace("letter", "window").replace("old", "river");
        assert_eq!(found(&replaced), [(0, tokens, tokens - 2, false)]);
        let split = QUESTION.replace("ship", "ship, which had been in the harbor for a very long time,");
        assert_eq!(found(&split), [(0, tokens + 11, tokens, false)]);
        let mut turned: Vec<&str> = QUESTION.split(' ').collect();
        turned.rotate_left(9);
        assert!(found(&turned.join(" ")).iter().all(|span| span.2 < tokens * 2 / 3), "the order counts");
        assert_eq!(found("The captain of the old ship wrote a letter."), [(0, 9, 9, false)]);
        assert!(found("Every morning the captain of the old boat left.").is_empty(), "too few words");
    }

    #[test]
    fn without_the_end_of_the_question_a_choice_must_follow() {
        let law = "If a trader cheats a buyer of goods, the compensation is increased on demand of the buyer by the price times";
        let items = built(&[(law, &["one and a half", "three", "seven"], "three")]);
        let quoted =
            "If a trader cheats a buyer of goods, the compensation is increased on demand of the buyer. Other laws";
        assert_eq!(spans_of(&items, quoted).len(), 0);
        assert_eq!(spans_of(&items, &format!("{quoted} A. one and a half B. three")).len(), 1);
        assert_eq!(spans_of(&items, law).len(), 1);
        assert_eq!(spans_of(&built(&[(law, &[], "three")]), quoted).len(), 1, "no choices");
    }

    #[test]
    fn a_repeated_item_is_a_span_each_time() {
        let items = built(&[(QUESTION, &[], "")]);
        let tokens = words(QUESTION).hashes.len() as u32;
        let spans = spans_of(&items, &format!("{QUESTION}. ").repeat(40));
        let expected: Vec<(u32, u32)> = (0..40).map(|time| (time * tokens, (time + 1) * tokens)).collect();
        assert_eq!(spans.iter().map(|span| (span.start, span.end)).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn other_numbers_make_a_variant_and_numbers_in_words_do_not() {
        let item =
            "A baker packs 14 rolls in each of 9 boxes and then gives away 1,200 rolls. How many rolls are left?";
        let items = built(&[(item, &[], "")]);
        let is_variant = |text: &str| spans_of(&items, text).iter().map(|span| span.is_variant).collect::<Vec<_>>();
        assert_eq!(is_variant(item), [false]);
        assert_eq!(is_variant(&item.replace("14", "15")), [true]);
        assert_eq!(is_variant(&item.replace("1,200", "1,300")), [true]);
        assert_eq!(is_variant(&item.replace("1,200", "1200")), [false], "the same value");
        assert_eq!(is_variant(&item.replace("14", "fourteen").replace('9', "nine")), [false]);
        let russian =
            "Пекарь кладет 14 булок в каждую из 9 коробок и отдает 23 булки в школу на холме. Сколько осталось?";
        let items = built(&[(russian, &[], "")]);
        let is_variant = |text: &str| spans_of(&items, text).iter().map(|span| span.is_variant).collect::<Vec<_>>();
        assert_eq!(is_variant(&russian.replace("23", "31")), [true]);
        assert_eq!(is_variant(&russian.replace("23", "двадцать три")), [false]);
        let chinese = "面包师在9个盒子里各放14个面包，然后把23个面包送给山上的学校，还剩多少个面包？";
        let items = built(&[(chinese, &[], "")]);
        let is_variant = |text: &str| spans_of(&items, text).iter().map(|span| span.is_variant).collect::<Vec<_>>();
        assert_eq!(is_variant(&chinese.replace("14", "15")), [true]);
        assert_eq!(is_variant(&chinese.replace("14", "十四")), [false]);
    }

    #[test]
    fn decimal_points_signs_and_numbers_in_words_make_variants() {
        let is_variant = |item: &str, text: &str| {
            let spans = spans_of(&built(&[(item, &[], "")]), text);
            spans.iter().map(|span| span.is_variant).collect::<Vec<_>>()
        };
        let decimal = "The tank in the cellar of the old house holds 72.5 liters of water. How many buckets are that?";
        assert_eq!(is_variant(decimal, &decimal.replace("72.5", "725")), [true]);
        assert_eq!(is_variant(decimal, &decimal.replace("72.5", "72,50")), [false]);
        assert_eq!(is_variant(decimal, &decimal.replace("72.5", "7 2.5")), [true]);
        let sign = "Solve the equation 3x+5 = 20 for the unknown x and write the steps of the solution down.";
        assert_eq!(is_variant(sign, &sign.replace("3x+5", "3x-5")), [true]);
        assert_eq!(is_variant(sign, &sign.replace("3x+5", "3x \u{2212} 5")), [true]);
        assert_eq!(is_variant(sign, &sign.replace("3x+5", "3x\u{2013}5")), [true]);
        assert_eq!(is_variant(sign, &sign.replace("3x+5", "3x + 5")), [false]);
        let frost = "The temperature in the village fell to -5 degrees during the night. What is it in kelvins?";
        assert_eq!(is_variant(frost, &frost.replace("-5", "5")), [true]);
        assert_eq!(is_variant(frost, &frost.replace("-5", "\u{2212}5")), [false]);
        let range = "The shop on the corner sells 10-15 loaves of bread every hour. How many hours until all are sold?";
        assert_eq!(is_variant(range, &range.replace("10-15", "10 to 15")), [false]);
        assert_eq!(is_variant(range, &range.replace("10-15", "10\u{2013}15")), [false]);
        let english =
            "A baker packs fourteen rolls in each of the boxes and gives away two rolls. How many rolls are left?";
        assert_eq!(is_variant(english, english), [false]);
        assert_eq!(is_variant(english, &english.replace("fourteen", "fifteen")), [true]);
        assert_eq!(is_variant(english, &english.replace("fourteen", "14")), [false]);
        assert_eq!(is_variant(english, &english.replace("fourteen", "round")), [false]);
        let russian =
            "Пекарь кладет двадцать три булки в каждую коробку и отдает коробки в школу на холме. Сколько осталось?";
        assert_eq!(is_variant(russian, &russian.replace("двадцать три", "тридцать одну")), [true]);
        assert_eq!(is_variant(russian, &russian.replace("двадцать три", "двадцать две")), [true]);
        assert_eq!(is_variant(russian, &russian.replace("двадцать три", "двадцати трех")), [false]);
        let chinese = "面包师在盒子里放十二个面包，然后把面包送给山上的学校，还剩多少个面包？";
        assert_eq!(is_variant(chinese, &chinese.replace("十二", "十五")), [true]);
        assert_eq!(is_variant(chinese, &chinese.replace("十二", "二十")), [true]);
        assert_eq!(is_variant(chinese, chinese), [false]);
    }

    #[test]
    fn items_that_differ_only_in_signs_or_decimal_points_are_all_found() {
        let sign = "Solve the equation 3x+5 = 20 for the unknown x and write the steps of the solution down.";
        let decimal = "The tank in the cellar of the old house holds 7 2.5 liters of water. How many buckets are that?";
        for (one, other) in [
            (sign, sign.replace("3x+5", "3x-5")),
            (sign, sign.replace("3x+5", "3x\u{2013}5")),
            (decimal, decimal.replace("2.5", "2, 5")),
        ] {
            let items = built(&[(one, &[], "B"), (&other, &[], "B"), (one, &[], "B")]);
            assert_eq!(items.len(), 2, "{other}");
            for (item, text) in [one, &other].into_iter().enumerate() {
                let found = spans_of(&items, text);
                assert!(found.iter().any(|span| span.item as usize == item && !span.is_variant), "{text}: {found:?}");
            }
        }
        let spaced = sign.replace("3x+5", "3x + 5");
        assert_eq!(built(&[(sign, &[], ""), (&spaced, &[], "")]).len(), 1);
    }

    #[test]
    fn a_short_question_needs_a_choice_or_the_answer_beside_it() {
        let stem = "Which of the following is true?";
        let choices = ["Copper melts at room temperature", "Silver conducts electricity best", "Iron is a gas"];
        let items = built(&[(stem, &choices, "Silver conducts electricity best")]);
        let count = |text: &str| spans_of(&items, text).len();
        assert_eq!(count(&format!("He asked: {stem} Nobody knew.")), 0);
        assert_eq!(count(&format!("{stem} Silver conducts electricity best.")), 1);
        let far = "and so on, he said and went ".repeat(20);
        assert_eq!(count(&format!("{stem} {far} Silver conducts electricity best.")), 0, "not beside it");
        for labels in
            [["A.", "B.", "C."], ["(a)", "(b)", "(c)"], ["1)", "2)", "3)"], ["Ⅰ.", "Ⅱ.", "Ⅲ."], ["А)", "Б)", "В)"]]
        {
            let list: Vec<String> =
                labels.iter().zip(choices).map(|(label, choice)| format!("{label} {choice}")).collect();
            assert_eq!(count(&format!("{stem}\n{}", list.join("\n"))), 1, "{labels:?}");
        }
        assert!(!items.is_too_short(0));
        assert!(built(&[("Which of the following is true?", &[], "Both")]).is_too_short(0));
    }

    #[test]
    fn n_grams_that_many_items_share_say_nothing() {
        let instruction = "Read the following passage carefully and choose the single best option from the list below.";
        let own = |number: usize| {
            format!(
                "Keeper{number} painted door{number} green before storm{number} came to island{number} and left boat{number}."
            )
        };
        let texts: Vec<String> = (0..30).map(|number| format!("{instruction} {}", own(number))).collect();
        let items: Vec<(&str, &[&str], &str)> = texts.iter().map(|text| (&**text, &[][..], "")).collect();
        let items = built(&items);
        assert!((0..30).all(|item| !items.is_shared(item)));
        assert!(spans_of(&items, &format!("{instruction} {}", own(99))).is_empty());
        let found = spans_of(&items, &texts[7]);
        assert_eq!(found.iter().map(|span| span.item).collect::<Vec<_>>(), [7]);
        // A text with the instruction and an item is not a document with all items.
        let found = spans_of(&items, &format!("{} {} {}", own(3), "x y z ".repeat(20), own(4)));
        assert_eq!(found.iter().map(|span| span.item).collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn items_of_few_different_words_have_longer_n_grams() {
        let mut state = 1u64;
        let mut text = || -> String {
            let mut word = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if state >> 62 & 1 == 0 { "tick " } else { "tock " }
            };
            (0..60).map(|_| word()).collect()
        };
        let texts: Vec<String> = (0..400).map(|_| text()).collect();
        let items: Vec<(&str, &[&str], &str)> = texts.iter().map(|text| (&**text, &[][..], "")).collect();
        let items = built(&items);
        assert!((0..400).all(|item| !items.is_shared(item) && items.gram_tokens(item) > 5));
        let found = spans_of(&items, &texts[123]);
        assert!(found.iter().any(|span| span.item == 123 && ones(&span.covered) == 60));
        assert!(found.iter().all(|span| span.item == 123 || ones(&span.covered) < 45), "{found:?}");
        let other: String = (0..200).map(|_| text()).collect();
        assert!(spans_of(&items, &other).iter().all(|span| ones(&span.covered) < 45));
    }

    #[test]
    fn a_token_counts_once_in_a_text() {
        let items = built(&[(QUESTION, &[], "")]);
        let mut search = Search::new(&items);
        let pipeline = pipeline();
        for text in ["captain, captain ship", "captain x", ""] {
            search.spans(&pipeline.analyse(text));
        }
        let number = |word: &str| items.number(words(word).hashes[0]) as usize;
        let (texts, counts) = search.frequencies();
        let count = |word| counts[number(word)];
        assert_eq!((texts, count("captain"), count("ship"), count("village")), (3, 2, 1, 0));
    }

    /// Returns the candidates, and how many positions, listed n-grams and processed runs the search had.
    fn work(items: &[String], text: &str) -> (Vec<Candidate>, [usize; 3]) {
        let mut builder = Builder::new(5);
        items.iter().for_each(|item| _ = builder.push(&words(item), &[], &[]));
        let items = builder.build();
        let mut search = Search::new(&items);
        let candidates = search.candidates(pipeline().analyse(text).tokens());
        (candidates, [search.places.len(), search.joins.parts.len(), search.joins.joined])
    }

    #[test]
    fn a_repeated_token_costs_its_places_and_not_their_square() {
        let (candidates, work) = work(&["so ".repeat(1000)], &"so ".repeat(20_000));
        assert_eq!(candidates.len(), 1);
        assert_eq!((candidates[0].tokens.clone(), candidates[0].begins.len()), (0..20_000, 996));
        assert_eq!(work, [19_996, 1, 1]);
    }

    #[test]
    fn a_repeated_opening_is_listed_for_a_few_items_only() {
        let opening = "the baker packs rolls in boxes every single morning ";
        let item = |number: usize| {
            let words = (0..12).map(|word| format!("w{number}q{word} "));
            format!("{opening}{}", words.collect::<String>())
        };
        let few: Vec<String> = (0..crate::SHARED).map(item).collect();
        let (candidates, costs) = work(&few, &opening.repeat(1000));
        assert_eq!(candidates.len(), crate::SHARED);
        assert_eq!(costs, [5 * 1000, 5 * crate::SHARED, 5 * crate::SHARED]);
        let many: Vec<String> = (0..500).map(item).collect();
        let (candidates, costs) = work(&many, &opening.repeat(1000));
        assert_eq!((candidates.len(), costs), (0, [0, 0, 0]));
    }
}
