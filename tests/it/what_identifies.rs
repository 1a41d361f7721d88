//! Tests that what identifies a document (its title, its numbers, its code, the answer at its end) decides about removals in every kind of
//! run: on one machine, by tasks of a cluster, and against an index.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::index_place::IndexPlace;
use crate::kit::{Doc, Table};

/// A kind of two similar texts, and whether the second one is removed in favor of the first.
type Kind = (&'static str, Vec<String>, bool);

/// Returns sentences of words that no other body contains.
fn body(seed: usize, sentences: usize) -> String {
    let word = |at: usize| -> String {
        let number = 7919 * (seed * 1000 + at) + 11;
        (0..5).map(|digit| char::from(b'a' + (number / 26usize.pow(digit) % 26) as u8)).collect()
    };
    (0..sentences).fold(String::new(), |mut text, at| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|place| word(4 * at + place));
        write!(text, "{}The {a} of the {b} brings its {c} to the {d}.", if at > 0 { " " } else { "" }).unwrap();
        text
    })
}

/// Returns the kinds. The last text of each kind is not longer than the others.
fn kinds() -> Vec<Kind> {
    let texts = |seed: usize, make: &dyn Fn(&str) -> Vec<String>| make(&body(seed, 30));
    let towns = ["Hualien", "Taitung", "Keelung", "Yilan"];
    let sums = [[1250, 3417, 8831, 2096], [7764, 5102, 9938, 4415]];
    let programs = ["while True:\n    print(line)\n    line = next(lines)", "while (true) {\n  echo $line;\n}"];
    vec![
        ("title", texts(1, &|body| towns.map(|town| format!("Rules of the {town} branch\n{body}")).into()), false),
        (
            "numbers",
            texts(2, &|body| sums.map(|sums| format!("A report\n{body} The sums are {sums:?}.")).into()),
            false,
        ),
        (
            "answer",
            texts(3, &|body| ["Yes", "No"].map(|answer| format!("A question\n{body}\n{answer}.")).into()),
            false,
        ),
        (
            "code",
            texts(4, &|body| programs.map(|code| format!("Loops of lists\n{body}\n\n```\n{code}\n```")).into()),
            false,
        ),
        ("name", texts(5, &|body| ["dba_popen", "dba_open"].map(|name| format!("{name}\n{body}")).into()), false),
        ("version", texts(6, &|body| vec![format!("{body} And so it ends."), body.to_owned()]), true),
        (
            "remark",
            texts(7, &|body| ["Portable", "Install"].map(|kind| format!("SeqDownload ({kind})\n{body}")).into()),
            true,
        ),
        (
            "ordinal",
            texts(8, &|body| ["11", "9"].map(|number| format!("{number}. Find the angle\n{body}")).into()),
            true,
        ),
    ]
}

/// Returns two batches: the second one has the last text of each kind, and the first one has the other texts, among texts in no pair.
pub(crate) fn batches() -> [Vec<Doc>; 2] {
    let doc = |id: String, text: String| Doc { id, text, title: None };
    let mut first: Vec<Doc> = (0..330).map(|at| doc(format!("other-{at}"), body(100 + at, 50))).collect();
    let mut second = Vec::new();
    for (kind, mut texts, _) in kinds() {
        second.push(doc(format!("{kind}-last"), texts.pop().unwrap()));
        first.extend(texts.into_iter().enumerate().map(|(at, text)| doc(format!("{kind}-{at}"), text)));
    }
    [first, second]
}

/// Checks the removals of a run, or of all batches.
pub(crate) fn check(outs: &[&Path]) {
    let removed = outs.iter().flat_map(|out| {
        let table = Table::read(&out.join("removed"));
        table.texts("id").into_iter().zip(table.texts("kept_id"))
    });
    let expected = kinds().into_iter().filter(|(.., is_removed)| *is_removed);
    let expected = expected.map(|(kind, ..)| (format!("{kind}-last"), format!("{kind}-0")));
    assert_eq!(removed.collect::<BTreeMap<_, _>>(), expected.collect::<BTreeMap<_, _>>());
    let similar: usize = outs.iter().map(|out| Table::read(&out.join("pairs")).len()).sum();
    assert_eq!(similar, kinds().into_iter().map(|(_, texts, _)| texts.len() * (texts.len() - 1) / 2).sum::<usize>());
}

#[test]
fn an_index_removes_what_one_run_removes() {
    let mut place = IndexPlace::new("exact,versions");
    for batch in batches() {
        place.batch(batch).ends_with(0);
    }
    check(&[&place.out(0), &place.out(1)]);
    check(&[&place.together(&[])]);
}
