//! Computes passages directly from their definition, and compares them with the result of the fast method.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use dupsift_text::normal::Letters;
use proptest::prelude::*;

use crate::border::is_border;
use crate::{
    Block, Cut, CutAt, Folded, Occurrences, Passage, Repeat, Rule, Runs, Scratch, Winnow, cut_out, cut_positions,
    hashes, passages, runs, shared, templates, units,
};

const LEAST: u32 = 3;

/// Runs the steps of the engine on in-memory texts, which must be in order of preference.
fn fast(texts: &[String], rule: Rule, cut_at: CutAt, window: usize) -> Vec<Vec<Passage>> {
    decided(texts, rule, cut_at, window).0
}

/// Like [`fast`]. Also returns whether all repeats are decided, so that the run reports none as kept.
fn decided(texts: &[String], rule: Rule, cut_at: CutAt, window: usize) -> (Vec<Vec<Passage>>, bool) {
    let mut rows: Vec<Row> = Vec::new();
    match rule.cut {
        Cut::Runs(length) => {
            let winnow = Winnow::new(length, window);
            let folded: Vec<Folded> = texts.iter().map(|text| Folded::new(text)).collect();
            let (mut ring, mut anchors, mut counts) = (Vec::new(), Vec::new(), HashMap::new());
            for text in &folded {
                winnow.anchors(&text.text, &mut ring, &mut anchors);
                anchors.iter().for_each(|anchor| *counts.entry(anchor.hash).or_insert(0) += 1);
            }
            // The blocks with the same anchor: the document and the block.
            let mut by_anchor: BTreeMap<u64, Vec<(usize, Block)>> = BTreeMap::new();
            for (doc, text) in folded.iter().enumerate() {
                winnow.anchors(&text.text, &mut ring, &mut anchors);
                for stretch in winnow.stretches(&text.text, &anchors, |hash| counts[&hash] > 1) {
                    let done = winnow.blocks(text, &anchors, stretch, |block| {
                        by_anchor.entry(block.anchor).or_default().push((doc, block));
                        Ok::<_, ()>(())
                    });
                    done.expect("no error");
                }
            }
            for blocks in by_anchor.values() {
                let (mut hashes, mut of_blocks) = (Vec::new(), Vec::new());
                for (doc, block) in blocks {
                    let from = hashes.len();
                    let done = runs(&folded[*doc].text, block.start..block.end, length, |run| {
                        Ok::<_, ()>(hashes.push(run.hash))
                    });
                    done.expect("no error");
                    assert_eq!(hashes.len() - from, block.runs as usize);
                    of_blocks.push(Runs { hashes: from..hashes.len(), copies: 1 });
                }
                let done = shared(&hashes, &of_blocks, |number, share| {
                    let ((doc, block), ahead) = (blocks[number], (share.start - of_blocks[number].hashes.start) as u32);
                    let position = folded[doc].text[..block.start].chars().count() as u32 + ahead;
                    let start = texts[doc][..folded[doc].original(block.start)].chars().count() as u32 + ahead;
                    let row =
                        Row { hash: hashes[share.start], doc: doc as u64, position, start, runs: share.len() as u32 };
                    Ok::<_, ()>(rows.push(row))
                });
                done.expect("no error");
            }
        }
        cut => {
            for (doc, text) in texts.iter().enumerate() {
                hashes(text, cut, Letters::default(), LEAST, &mut Scratch::default(), &mut |number, start, hash| {
                    let start = text[..start].chars().count() as u32;
                    rows.push(Row { hash, doc: doc as u64, position: number, start, runs: 1 });
                });
            }
        }
    }
    rows.sort_unstable();
    let groups: Vec<_> = rows.chunk_by(|a, b| a.hash == b.hash).collect();
    // The positions that are cut from each text.
    let covered = |repeats: &[Vec<Repeat>]| -> Vec<Vec<Range<u64>>> {
        texts.iter().zip(repeats).map(|(text, repeats)| cut_positions(text, rule.cut, cut_at, repeats)).collect()
    };
    let mut repeats = repeats_of(&groups, rule, texts.len(), &|_, _| (true, u32::MAX));
    let mut is_exact = !rule.overlaps() || rule.cuts_first;
    if !is_exact {
        for _ in 0..ROUNDS {
            let covered = covered(&repeats);
            let length = u64::from(rule.cut.length());
            let is_whole = |doc: u64, position: u32| {
                let (start, end) = (u64::from(position), u64::from(position) + length);
                // The answer is asked for again at the next run.
                (covered[doc as usize].iter().all(|range| range.end <= start || range.start >= end), position + 1)
            };
            let next = repeats_of(&groups, rule, texts.len(), &is_whole);
            is_exact = next == repeats;
            repeats = next;
            if is_exact {
                break;
            }
        }
    }
    let of = |(text, repeats): (&String, &Vec<Repeat>)| passages(text, rule.cut, cut_at, repeats, |_| ());
    (texts.iter().zip(&repeats).map(of).collect(), is_exact)
}

/// The number of rounds, as in the engine.
const ROUNDS: usize = 9;

/// Describes one occurrence of a unit or of runs that occur together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    hash: u128,
    doc: u64,
    position: u32,
    /// The position of the first character in the text, in characters.
    start: u32,
    runs: u32,
}

/// Returns the repeats of each text. `is_whole` returns whether a run at a position may be a first copy, and the next position at which this
/// may be different.
fn repeats_of(
    groups: &[&[Row]],
    rule: Rule,
    texts: usize,
    is_whole: &dyn Fn(u64, u32) -> (bool, u32),
) -> Vec<Vec<Repeat>> {
    let mut found = vec![Vec::new(); texts];
    for group in groups {
        let each = |number: usize, first: usize, runs: Range<u32>| {
            let (one, first, count) = (&group[number], &group[first], runs.len() as u32);
            let (first_doc, first_start) = (first.doc, first.start + runs.start);
            let position = one.position + runs.start;
            found[one.doc as usize].push(Repeat {
                position,
                count,
                first_doc,
                first_start,
                copies: group.len() as u32,
            });
            Ok::<_, ()>(())
        };
        let at = |number: usize| (group[number].doc, group[number].position);
        let is_whole = |number: usize, run: u32| {
            let (whole, until) = is_whole(group[number].doc, group[number].position + run);
            (whole, until - group[number].position)
        };
        let all = Occurrences { count: group.len(), runs: group[0].runs, at: &at, is_whole: &is_whole, compares: None };
        rule.repeats(&all, each).expect("no error");
    }
    for repeats in &mut found {
        repeats.sort_unstable_by_key(|repeat| repeat.position);
        let mut joined: Vec<Repeat> = Vec::new();
        for repeat in repeats.drain(..) {
            if joined.last_mut().is_none_or(|last| !last.joins(&repeat)) {
                joined.push(repeat);
            }
        }
        *repeats = joined;
    }
    found
}

/// Returns what is left of the texts, each piece as a separate text.
fn pieces(texts: &[String], found: &[Vec<Passage>]) -> Vec<String> {
    let mut kept = Vec::new();
    for (text, found) in texts.iter().zip(found) {
        let mut from = 0;
        for one in found {
            kept.push(text[from..one.start_byte as usize].to_owned());
            from = one.end_byte as usize;
        }
        kept.push(text[from..].to_owned());
    }
    kept
}

fn cut(texts: &[String], found: &[Vec<Passage>]) -> Vec<String> {
    let places =
        |all: &Vec<Passage>| all.iter().map(|one| (one.start_byte as usize, one.end_byte as usize)).collect::<Vec<_>>();
    texts.iter().zip(found).map(|(text, found)| cut_out(text, places(found))).collect()
}

/// Whether each character of a folded text is in a repeat, and, if a repeat begins at the character, the first document, the first
/// position and the number of copies of that repeat.
type Repeated = (Vec<bool>, Vec<Option<(usize, usize, usize)>>);

/// Returns which characters of the folded texts are in a repeat, and the copies of the runs that begin at these characters. Compares all
/// substrings. A copy with one of the characters in `cut` is not a first copy.
fn repeated(folded: &[Vec<char>], length: usize, rule: Rule, cut: &dyn Fn(usize, usize) -> bool) -> Vec<Repeated> {
    let starts = |text: &Vec<char>| if text.len() < length { 0 } else { text.len() + 1 - length };
    let all: Vec<(usize, usize)> =
        folded.iter().enumerate().flat_map(|(doc, text)| (0..starts(text)).map(move |at| (doc, at))).collect();
    let run = |(doc, at): (usize, usize)| &folded[doc][at..at + length];
    let mut out: Vec<_> = folded.iter().map(|text| (vec![false; text.len()], vec![None; text.len()])).collect();
    for &(doc, at) in &all {
        let same: Vec<(usize, usize)> = all.iter().copied().filter(|&other| run(other) == run((doc, at))).collect();
        if (same.len() as u64) < rule.copies {
            continue;
        }
        let is_whole = |&&(doc, at): &&(usize, usize)| !(at..at + length).any(|at| cut(doc, at));
        let Some(&first) = same.iter().find(is_whole) else { continue };
        let is_behind = |(other, place): (usize, usize)| other > first.0 || place >= first.1 + length;
        if is_behind((doc, at)) && (doc, at) > first || rule.cuts_first && same.iter().any(|&one| is_behind(one)) {
            out[doc].0[at..at + length].fill(true);
            out[doc].1[at] = Some((first.0, first.1, same.len()));
        }
    }
    out
}

/// A passage: its start and end in the folded text, its number of copies, its first document, and the position of the first copy in the
/// folded text of that document.
type Known = (usize, usize, u32, u64, usize);

fn slow(texts: &[String], length: usize, rule: Rule) -> Vec<Vec<Known>> {
    let folded: Vec<String> = texts.iter().map(|text| Folded::new(text).text).collect();
    let characters: Vec<Vec<char>> = folded.iter().map(|text| text.chars().collect()).collect();
    let of_all = |all: &[Repeated]| stretches(&folded, &characters, all, length);
    let mut all = repeated(&characters, length, rule, &|_, _| false);
    for _ in 0..if rule.cuts_first { 0 } else { ROUNDS } {
        let found = of_all(&all);
        let is_cut = |doc: usize, at: usize| found[doc].iter().any(|one| (one.0..one.1).contains(&at));
        let next = repeated(&characters, length, rule, &is_cut);
        let is_exact = next == all;
        all = next;
        if is_exact {
            break;
        }
    }
    of_all(&all)
}

/// Returns the stretches of each text that are repeated, trimmed to words.
fn stretches(folded: &[String], characters: &[Vec<char>], all: &[Repeated], length: usize) -> Vec<Vec<Known>> {
    let of = |((covered, begins), (text, characters)): (&Repeated, (&String, &Vec<char>))| {
        let bytes: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut out = Vec::new();
        let mut at = 0;
        while at < covered.len() {
            if !covered[at] {
                at += 1;
                continue;
            }
            let to = (at..covered.len()).find(|&next| !covered[next]).unwrap_or(covered.len());
            let (mut start, mut end) = (at, to);
            while start < end && (characters[start] == ' ' || !is_border(text, bytes[start])) {
                start += 1;
            }
            while end > start && (characters[end - 1] == ' ' || !is_border(text, bytes[end])) {
                end -= 1;
            }
            if end - start >= length {
                let inside: Vec<_> = (start..=end - length).filter_map(|place| begins[place]).collect();
                let near: Vec<_> = (at..to)
                    .filter(|&place| place < end && place + length > start)
                    .filter_map(|place| begins[place])
                    .collect();
                let runs: &Vec<(usize, usize, usize)> = if inside.is_empty() { &near } else { &inside };
                let copies = runs.iter().map(|run| run.2).max().expect("a run");
                out.push((start, end, copies as u32, runs[0].0 as u64, runs[0].1));
            }
            at = to;
        }
        out
    };
    all.iter().zip(folded.iter().zip(characters)).map(of).collect()
}

/// Converts the result of the fast method, and checks that the positions in the texts are correct.
fn known(texts: &[String], found: &[Vec<Passage>]) -> Vec<Vec<Known>> {
    let folded: Vec<Folded> = texts.iter().map(|text| Folded::new(text)).collect();
    let of = |(doc, found): (usize, &Vec<Passage>)| {
        let text = &texts[doc];
        let of = |one: &Passage| {
            let (from, to) = (one.start_byte as usize, one.end_byte as usize);
            assert_eq!(text[..from].chars().count(), one.start as usize);
            assert_eq!(text[..to].chars().count(), one.end as usize);
            let content = text[from..to].trim();
            let from = from + text[from..to].find(content).expect("the content");
            let characters = |doc: usize, byte: usize| folded[doc].text[..folded[doc].folded(byte)].chars().count();
            let first =
                texts[one.first_doc as usize].char_indices().nth(one.first_start as usize).expect("a character").0;
            let start = characters(doc, from);
            let end = start + Folded::new(content).text.chars().count();
            (start, end, one.copies, one.first_doc, characters(one.first_doc as usize, first))
        };
        found.iter().map(of).collect()
    };
    found.iter().enumerate().map(of).collect()
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    // Uses few words so that runs recur. The words contain letters of several byte lengths, combining marks, emoji and white space.
    let word = prop_oneof![
        8 => "[ab]{1,3}",
        2 => Just("中文".to_owned()),
        1 => Just("и\u{301}й".to_owned()),
        1 => Just("👩\u{200D}👧".to_owned()),
        1 => Just(".".to_owned()),
    ];
    let space = prop_oneof![6 => Just(" "), 2 => Just("\n"), 1 => Just("\n\n  "), 2 => Just(""), 1 => Just("\u{3000}")];
    let text = proptest::collection::vec((word, space), 0..40)
        .prop_map(|parts| parts.into_iter().map(|(word, space)| word + space).collect::<String>());
    proptest::collection::vec(text, 1..5)
}

/// Generates runs shorter than the options allow so that short texts contain many of them.
fn rules() -> impl Strategy<Value = (usize, u64, bool, usize)> {
    (4..12usize, 2..4u64, proptest::bool::weighted(0.2), 1..6usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn runs_are_those_of_brute_force(texts in texts(), (length, copies, cuts_first, window) in rules()) {
        let rule = Rule { cut: Cut::Runs(length as u32), copies, cuts_first };
        let found = fast(&texts, rule, CutAt::Word, window);
        prop_assert_eq!(known(&texts, &found), slow(&texts, length, rule));
    }

    /// Checks that cutting a second time removes nothing if the order of preference is the same, each remaining piece is treated as a
    /// separate text, and the first run has reported no repeat as kept.
    #[test]
    fn what_was_cut_has_nothing_to_cut(texts in texts(), (length, copies, _, window) in rules(), sentence in any::<bool>()) {
        let rule = Rule { cut: Cut::Runs(length as u32), copies, cuts_first: false };
        let cut_at = if sentence { CutAt::Sentence } else { CutAt::Word };
        let (found, all_are_decided) = decided(&texts, rule, cut_at, window);
        let kept = pieces(&texts, &found);
        prop_assert!(!all_are_decided || fast(&kept, rule, cut_at, window).iter().all(Vec::is_empty), "{:?}", kept);
    }

    /// Checks that each character that is cut is part of a run that an earlier text, or the same text, still contains after cutting.
    #[test]
    fn a_cut_run_is_kept_elsewhere(texts in texts(), (length, copies, _, window) in rules(), sentence in any::<bool>()) {
        let rule = Rule { cut: Cut::Runs(length as u32), copies, cuts_first: false };
        let cut_at = if sentence { CutAt::Sentence } else { CutAt::Word };
        let found = known(&texts, &fast(&texts, rule, cut_at, window));
        let folded: Vec<Vec<char>> = texts.iter().map(|text| Folded::new(text).text.chars().collect()).collect();
        let is_cut = |doc: usize, at: usize| found[doc].iter().any(|one| (one.0..one.1).contains(&at));
        let all: Vec<(usize, usize)> = folded.iter().enumerate()
            .flat_map(|(doc, text)| (0..(text.len() + 1).saturating_sub(length)).map(move |at| (doc, at))).collect();
        let run = |(doc, at): (usize, usize)| &folded[doc][at..at + length];
        let is_kept = |(doc, at): (usize, usize)| (at..at + length).all(|at| !is_cut(doc, at));
        for (doc, passages) in found.iter().enumerate() {
            for at in passages.iter().flat_map(|one| one.0..one.1) {
                let mut runs = (at.saturating_sub(length - 1)..=at).filter(|start| start + length <= folded[doc].len());
                prop_assert!(runs.any(|start| {
                    all.iter().any(|&other| other < (doc, start) && is_kept(other) && run(other) == run((doc, start)))
                }), "{doc} {at} {found:?}");
            }
            // The first copy that is reported is one of them.
            for one in passages {
                prop_assert!(is_kept((one.3 as usize, one.4)), "{one:?} {found:?}");
            }
        }
    }

    /// Checks the same for groups of sentences.
    #[test]
    fn cut_sentences_are_kept_elsewhere(numbers in proptest::collection::vec(proptest::collection::vec(0..4u8, 0..12), 1..5), count in 2..4u32) {
        let sentence = |number: &u8| format!("This is {number}. ");
        let texts: Vec<String> = numbers.iter().map(|all| all.iter().map(sentence).collect()).collect();
        let rule = Rule { cut: Cut::Sentences(count), copies: 2, cuts_first: false };
        let found = fast(&texts, rule, CutAt::Word, 1);
        let left = cut(&texts, &found);
        for one in found.iter().flatten() {
            let first = &texts[one.first_doc as usize][one.first_start as usize..];
            let first: Vec<&str> = first.split_inclusive('.').take(count as usize).map(str::trim).collect();
            let left = Folded::new(&left[one.first_doc as usize]).text;
            prop_assert!(left.contains(&first.join(" ")), "{first:?} is not in {left:?}");
        }
    }

    #[test]
    fn lines_and_paragraphs_are_cut_once_for_all(texts in texts(), copies in 2..4u64, paragraphs in any::<bool>()) {
        let cut_as = if paragraphs { Cut::Paragraphs } else { Cut::Lines };
        let rule = Rule { cut: cut_as, copies, cuts_first: false };
        let once = cut(&texts, &fast(&texts, rule, CutAt::Word, 1));
        // The texts may be in any order, because cuts may change the order of preference.
        let mut turned = once.clone();
        turned.reverse();
        for texts in [once, turned] {
            prop_assert!(fast(&texts, rule, CutAt::Word, 1).iter().all(Vec::is_empty), "{:?}", texts);
        }
    }

    /// Checks that exactly the units that are not repeats remain, in order.
    #[test]
    fn the_other_units_stay(texts in texts(), paragraphs in any::<bool>()) {
        let cut_as = if paragraphs { Cut::Paragraphs } else { Cut::Lines };
        let of = |text: &str| {
            let mut all = Vec::new();
            units(text, cut_as, &mut |unit| all.push(text[unit.start..unit.end].to_owned()));
            all
        };
        let form = |unit: &str| crate::form::hash(unit, Letters::default(), &mut Vec::new());
        let once = cut(&texts, &fast(&texts, Rule { cut: cut_as, copies: 2, cuts_first: false }, CutAt::Word, 1));
        let mut first: HashMap<u128, usize> = HashMap::new();
        for (doc, text) in texts.iter().enumerate() {
            let stays = |unit: &String| {
                !crate::form::has_chars(unit, LEAST) || *first.entry(form(unit)).or_insert(doc) == doc
            };
            let expected: Vec<String> = of(text).into_iter().filter(stays).collect();
            prop_assert_eq!(of(&once[doc]), expected);
        }
    }
}

#[test]
fn passages_are_cut_at_all_borders() {
    let boiler = "Все права защищены, 版权所有 all rights reserved.";
    let length = boiler.chars().count() as u32;
    let rule = Rule { cut: Cut::Runs(length), copies: 2, cuts_first: false };
    for (text, left) in [
        (format!("{boiler} tail"), "tail"),
        (format!("head {boiler}"), "head"),
        (format!("head {boiler} tail"), "head\ntail"),
        (format!("head\n{boiler}\ntail"), "head\ntail"),
        (format!("head\n\n  {}\n\ntail", boiler.replace(' ', "\n\u{3000}")), "head\n\ntail"),
        (format!("a {boiler} {boiler} b {boiler}"), "a\nb"),
        (boiler.to_owned(), ""),
        (format!("x{boiler}"), &format!("x{boiler}")),
    ] {
        let texts = [format!("First. {boiler} End."), text];
        let found = fast(&texts, rule, CutAt::Word, 8);
        assert!(found[0].is_empty());
        assert_eq!(cut(&texts, &found)[1], left);
    }
    // The boilerplate occurs twice in the only text, and the second occurrence is cut.
    let twice = [format!("a {boiler} b {boiler} c")];
    assert_eq!(cut(&twice, &fast(&twice, rule, CutAt::Word, 8)), [format!("a {boiler} b\nc")]);
}

/// The second text begins with a passage of the first, and the third text repeats the end of this passage and what follows it.
#[test]
fn a_copy_that_is_cut_is_no_first_copy() {
    let (one, other) = ("This site is run by the owners of the park.", "Call us before you come here!");
    let texts = [
        format!("A {one} a."),
        format!("B {one} {other} b."),
        format!("C the park. {other} c."),
        format!("D the park. {other} d."),
    ];
    let rule = Rule { cut: Cut::Runs(35), copies: 2, cuts_first: false };
    let found = fast(&texts, rule, CutAt::Word, 8);
    let left = cut(&texts, &found);
    assert_eq!(left[1], format!("B\n{other} b."));
    // The second text has lost "the park.", so the third text has the first copy of the longer passage.
    assert_eq!((left[2].as_str(), left[3].as_str()), (texts[2].as_str(), "D\nd."));
    assert_eq!((found[3][0].first_doc, found[3][0].first_start), (2, 2));
}

/// In the first text, `中文 a` at 21 is cut if the run behind it, at 25, is a repeat. That run is a repeat if its first copy at 18 is kept,
/// and it is kept if `中文 a` is not cut. The second text repeats `b 中文` at 19, which depends on the same circle.
#[test]
fn repeats_that_depend_on_themselves_are_kept_until_the_next_run() {
    let texts = ["中文\u{3000}a baa a a a 中文 bb 中文 abb 中文 a ", "a b 中文 "].map(str::to_owned);
    let rule = Rule { cut: Cut::Runs(4), copies: 2, cuts_first: false };
    let (found, all_are_decided) = decided(&texts, rule, CutAt::Word, 1);
    assert!(!all_are_decided);
    let kept = pieces(&texts, &found);
    assert_eq!(kept, ["中文\u{3000}a baa a a a 中文 bb 中文 abb", "", "a b 中文 "]);
    let (found, all_are_decided) = decided(&kept, rule, CutAt::Word, 1);
    assert!(all_are_decided);
    assert_eq!(cut(&kept, &found), [&kept[0], "", "a"]);
}

/// No run is inside "baи́й", which two runs cover together. The first of them is the second run of its repeat.
#[test]
fn the_first_copy_is_that_of_the_first_run_that_covers_the_passage() {
    let texts = ["baaa b aи\u{301}й a ", "abaaa baи\u{301}й "].map(str::to_owned);
    let rule = Rule { cut: Cut::Runs(5), copies: 2, cuts_first: false };
    let found = fast(&texts, rule, CutAt::Word, 1);
    assert_eq!(known(&texts, &found), [vec![], vec![(6, 11, 2, 0, 1)]]);
}

#[test]
fn periodic_text_is_cut_behind_its_first_run() {
    let text = ["ab ".repeat(5000)];
    let rule = Rule { cut: Cut::Runs(30), copies: 2, cuts_first: false };
    let found = fast(&text, rule, CutAt::Word, 16);
    assert_eq!(known(&text, &found)[0], [(30, 14999, 4991, 0, 0)]);
}

#[test]
fn templates_are_what_occurs_most_often() {
    let boiler = "All rights reserved by the owners of this site.";
    let texts = [0, 1, 2, 3].map(|number| {
        let more = if number < 2 { " Written by the same author on the same day." } else { "" };
        format!("{number} Text. {boiler}{more} End of {number}.")
    });
    let found = |cut, text: &str, repeats: &[Repeat]| {
        let all = templates(text, cut, repeats);
        all.into_iter().map(|one| (text[one.bytes].trim().to_owned(), one.copies)).collect::<Vec<_>>()
    };
    // For runs of 20 characters, the passage with two copies extends from 49 to 92 and includes the end of the passage with four copies.
    let repeats = [
        Repeat { position: 8, count: 28, first_doc: 0, first_start: 8, copies: 4 },
        Repeat { position: 36, count: 44, first_doc: 0, first_start: 36, copies: 2 },
    ];
    assert_eq!(found(Cut::Runs(20), &texts[1], &repeats), [(boiler[..].to_owned(), 4)]);
    let lines = [Repeat { position: 1, count: 2, first_doc: 0, first_start: 0, copies: 3 }];
    assert_eq!(found(Cut::Lines, "a\n b\nc \nd", &lines), [("b".to_owned(), 3), ("c".to_owned(), 3)]);
}

#[test]
fn sentences_are_cut_in_groups() {
    let texts = [
        "One is here. Two is here. Three is here.".to_owned(),
        "Zero is. One is here. Two is here. Three is here. Four is.".to_owned(),
    ];
    let rule = Rule { cut: Cut::Sentences(2), copies: 2, cuts_first: false };
    let found = fast(&texts, rule, CutAt::Word, 1);
    assert_eq!(cut(&texts, &found)[1], "Zero is.\nFour is.");
    assert_eq!((found[1].len(), found[1][0].first_doc, found[1][0].first_start, found[1][0].copies), (1, 0, 0, 2));
    let sentences = fast(&texts, Rule { cut: Cut::Runs(24), ..rule }, CutAt::Sentence, 4);
    assert_eq!(cut(&texts, &sentences)[1], "Zero is.\nFour is.");
}
