//! Tests `--remove-if contained`, which removes a document only in favor of a kept document that contains its text and its numbers.

use std::path::Path;

use serde_json::json;

use crate::kit::{
    ALL, Done, Ran, SEVEN, Table, done, numbered, program, python, record, removed_ids, run, samples, write_docs,
};

/// Replaces the digits of a number with letters, because text without digits contains no numbers.
fn letters(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
}

/// Returns text that consists of this many distinct words.
fn words(prefix: &str, count: usize) -> String {
    (0..count).map(|n| prefix.to_string() + &letters(n)).collect::<Vec<_>>().join(" ")
}

fn of_texts(folder: &Path, texts: &[String], more: &[&str]) -> Done {
    let file = folder.join(format!("{}.parquet", texts.len()));
    write_docs(&file, &numbered(texts), 100);
    done(&file, more)
}

/// Checks the removals with a Python script, which segments the texts independently and counts how much of each removed document is
/// contained in the kept document.
#[test]
fn every_removal_of_every_algorithm_satisfies_the_rule() {
    let names = Ran::of(program().args(["algorithms", "--json"]).output().unwrap()).ends_with(0).stdout;
    let names: serde_json::Value = serde_json::from_str(&names).unwrap();
    let names: Vec<&str> = names.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 31);
    // Each algorithm runs on the documents in one language.
    let files = ["en", "ru", "zh"].map(|language| samples().join(format!("{language}.parquet")));
    let each = names.iter().zip(files.iter().cycle());
    let mut runs: Vec<Done> = each.map(|(name, file)| done(file, &["--algorithms", name])).collect();
    for more in [
        &["--algorithms", ALL, "--limit", "800"][..],
        &["--algorithms", SEVEN, "--decide", "at-least:2"],
        &["--algorithms", SEVEN, "--decide", "all", "--remove-if", "contained:0.5:0.5"],
        &["--preset", "broad", "--remove-if", "contained:1:1"],
    ] {
        runs.push(done(samples(), more));
    }
    let removals = |done: &Done| removed_ids(&done.out()).len();
    assert!(runs.iter().filter(|done| removals(done) > 10).count() > 25);
    let mut command = python("tests/contained.py");
    runs.iter().for_each(|done| _ = command.arg(done.out()));
    Ran::of(command.output().unwrap()).ends_with(0);
}

#[test]
fn the_smaller_of_two_goes_and_the_larger_never() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [words("own", 60), words("own", 100), format!("{} {}", words("own", 60), words("other", 40))];
    let fate = |more: &[&str]| {
        let done = of_texts(folder.path(), &texts, &[&["--algorithms", "cosine:threshold=0.2"], more].concat());
        let removal = record(&done.out())["removal"].clone();
        let table = Table::read(&done.out().join("removed"));
        let kept = table.texts("kept_id");
        let pairs: Vec<(String, String)> = table.texts("id").into_iter().zip(kept).collect();
        (pairs.iter().map(|(id, kept)| format!("{id}>{kept}")).collect::<Vec<_>>().join(" "), removal["stays"].clone())
    };
    // The two texts of a hundred words have forty unique words each. The first text is contained in both of these texts and is removed in
    // favor of the longer text.
    assert_eq!(fate(&[]), ("d0>d2".into(), json!({"unique text": 1})));
    // If the shortest text is preferred, the texts that contain it are also kept.
    assert_eq!(fate(&["--keep", "length asc"]), (String::new(), json!({"contains the kept one": 2})));
    assert_eq!(fate(&["--remove-if", "pair"]).1, json!({}));
    assert_eq!(fate(&["--remove-if", "contained:0.9:0"]).0, "d0>d2");
    assert_eq!(fate(&["--remove-if", "contained:0.55:0"]).0, "d0>d2 d1>d2");
}

#[test]
fn another_days_form_stays_for_its_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let notice = |day: u32, rate: u32| {
        format!("{} on {day} May the rate is 9{rate}.{rate}5 roubles {}", words("frame", 80), words("more", 80))
    };
    let texts = [notice(1, 1), notice(2, 7), notice(1, 1) + " again"];
    let done = of_texts(folder.path(), &texts, &["--algorithms", "minhash"]);
    assert_eq!(removed_ids(&done.out()), ["d0"]);
    assert_eq!(record(&done.out())["removal"]["stays"], json!({"different numbers": 1}));
    let table = Table::read(&done.out().join("removed"));
    assert_eq!((table.floats("contained"), table.floats("numbers")), (vec![Some(1.0)], vec![Some(1.0)]));
    // Four of the 164 3-grams, and both numbers, occur in only one of the texts.
    let pairs = Table::read(&done.out().join("pairs"));
    let of = |column: &str| pairs.floats(column)[0].map(|share| (share * 1000.0).round());
    assert_eq!((of("numbers_a"), of("numbers_b")), (Some(0.0), Some(0.0)));
    assert!(of("contained_a").is_some_and(|share| (950.0..1000.0).contains(&share)));

    let ran = Ran::of(program().arg("explain").arg(done.out()).args(["d0", "d1"]).output().unwrap()).ends_with(0);
    assert!(ran.stdout.contains("not enough to remove b: different numbers"), "{}", ran.stdout);
    assert!(ran.stdout.contains("0 of 2"), "{}", ran.stdout);

    let done = of_texts(folder.path(), &texts, &["--algorithms", "minhash", "--remove-if", "pair"]);
    assert_eq!(removed_ids(&done.out()), ["d0", "d1"]);
    let pairs = Table::read(&done.out().join("pairs"));
    assert!(pairs.floats("contained_a").iter().all(Option::is_none));
}

/// Checks sixty pages from the same template that look identical to an algorithm based on frequent words but all have different content.
#[test]
fn what_a_document_was_not_held_against_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let frame = "frame words that come again and again ".repeat(4);
    let texts: Vec<String> =
        (0..60).map(|n| format!("{frame} {}", words(&format!("own{}x", letters(n)), 40))).collect();
    let done = of_texts(folder.path(), &texts, &["--algorithms", "tf"]);
    let removal = record(&done.out())["removal"].clone();
    assert_eq!((removal["removed"].as_u64(), removal["stays"].clone()), (Some(0), json!({"unique text": 59})));
    // The n-th document has n kept partners, and is compared with twenty of them.
    assert_eq!(removal["not_looked_at"].as_u64(), Some((21..60).map(|n| n - 20).sum()));
    assert!(record(&done.out())["warnings"].to_string().contains("the 20 most similar kept documents"));
}

#[test]
fn a_preset_holds_its_rule_and_what_is_typed_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let options = |more: &[&str]| {
        let done = of_texts(folder.path(), &[words("a", 20), words("b", 20)], more);
        let record = record(&done.out());
        ["remove-if", "chain"].map(|name| record["options"][name].as_str().unwrap().to_string())
    };
    assert_eq!(options(&["--preset", "fineweb"]), ["pair", "remove"]);
    assert_eq!(options(&["--algorithms", "tf"])[1], "keep");
    assert!(options(&[])[0].starts_with("contained:"));
    let typed = ["--preset", "fineweb", "--remove-if", "contained:0.7", "--chain", "keep"];
    assert_eq!(options(&typed), ["contained:0.7:0.9", "keep"]);
    let out = folder.path().join("out");
    run(&[samples()], &out, &["--chain", "remove"]).ends_with(2).says(&["use `--remove-if pair`"]);
    run(&[samples()], &out, &["--remove-if", "contaned:0.8"]).ends_with(2).says(&["did you mean \"contained\"?"]);
}
