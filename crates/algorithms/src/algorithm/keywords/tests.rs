//! Tests `keywords` on worked examples, and compares it with the definition.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::testing::examples::{Emitted, key, sign};
use crate::testing::in_memory::{all_pairs, run, run_beside, texts};
use dupsift_core::hash::md5;
use dupsift_text::FieldValue;

#[test]
fn worked_strings_and_weights() {
    let text = "b a b c a b d";
    // Weights: 3/7 for b, 2/7 for a, 1/7 for c and d.
    assert_eq!(key(&Keywords, "rule=2,words=3,digest=md5", text), Ok(md5(b"b a c")));
    assert_eq!(key(&Keywords, "rule=3,words=3,digest=md5", text), Ok(md5(b"a b c")));
    assert_eq!(key(&Keywords, "rule=3,digest=md5", text), Ok(md5(b"a b c d")));
    let (four, five) = (sign(&Keywords, "rule=4,words=3", text), sign(&Keywords, "rule=5,words=4", text));
    let weights = |rows: Emitted| weights(&rows.unwrap()[0].3).map(|weight| weight as f32).collect::<Vec<_>>();
    // Both lists of weights are in alphabetical order of the words.
    assert_eq!(weights(four), [2.0 / 7.0, 3.0 / 7.0, 1.0 / 7.0]);
    assert_eq!(weights(five), [2.0 / 7.0, 3.0 / 7.0, 1.0 / 7.0, 1.0 / 7.0]);
    assert_eq!(sign(&Keywords, "", "a b"), Err("fewer words than min_keywords"));
    assert_eq!(sign(&Keywords, "", "?!"), Err("no words"));
    assert!(sign(&Keywords, "min_keywords=2", "a b").is_ok());
}

#[test]
fn beginnings_end_between_characters() {
    assert_eq!(beginning("网页ab", 6, false), "网页");
    assert_eq!(beginning("网页ab", 5, false), "网");
    assert_eq!(beginning("网页ab", 5, true), "网页a");
    assert_eq!(beginning("网页ab", 6, true), "网页ab");
    assert_eq!(beginning("ab", 9, true), "ab");
    // After the first character that does not fit, no shorter character is used.
    assert_eq!(beginning("a网b", 2, false), "a");
    assert_eq!(beginning(&"网".repeat(600), 512, true).chars().count(), 256);
    assert_eq!(beginning(&"网".repeat(600), 512, false).chars().count(), 170);
}

#[test]
fn descriptions_and_beginnings() {
    use FieldValue::{NoColumn, Null, Text};
    let same = "The same long beginning";
    let texts: Vec<String> =
        ["one", "other", same, &format!("{same} and more"), "abc", "?!", "third"].map(String::from).into();
    let values =
        [Text("About cats."), Text("ABOUT cats."), Null, NoColumn, Text("the same long Beginning"), Null, Text(" — ")];
    let fields = values.map(|value| [NoColumn, NoColumn, value]);
    let found = run_beside(&Keywords, "rule=1,des_bytes=23", &texts, &fields);
    assert_eq!(found.numbers(), BTreeSet::from([(0, 1), (2, 3), (2, 4), (3, 4)]));
    assert_eq!(found.unsigned, BTreeMap::from([(5, "empty description")]));
}

/// Returns the keywords of a synthetic text with their weights, by counting and sorting.
fn by_hand(text: &str, count: usize) -> Vec<(f64, &str)> {
    let mut tf = BTreeMap::<&str, usize>::new();
    text.split(' ').for_each(|word| *tf.entry(word).or_default() += 1);
    let length = text.split(' ').count() as f64;
    let mut words: Vec<(f64, &str)> = tf.into_iter().map(|(word, tf)| (tf as f64 / length, word)).collect();
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    words.truncate(count);
    words
}

#[test]
fn equals_comparing_all_with_all_and_rules_contain_each_other() {
    let texts = texts(3, 220, 24);
    for (count, a) in [(2, 0.1), (3, 0.02), (4, 0.3)] {
        let words: Vec<_> = texts.iter().map(|text| by_hand(text, count)).collect();
        let order = |doc: usize| words[doc].iter().map(|one| one.1).collect::<Vec<_>>();
        let set = |doc: usize| order(doc).into_iter().collect::<BTreeSet<_>>();
        let near = |x: usize, y: usize| {
            let of = |doc: usize, word: &str| words[doc].iter().find(|one| one.1 == word).map_or(0.0, |one| one.0);
            let pairs = || words[x].iter().map(|&(weight, word)| (weight, of(y, word)));
            let apart: f64 = pairs().map(|(v, w)| (v - w) * (v - w)).sum();
            apart / pairs().map(|(v, w)| v * v + w * w).sum::<f64>() < a
        };
        let enough = |x: usize, y: usize| words[x].len().min(words[y].len()) >= 2;
        let found = |rule| {
            let typed = format!("rule={rule},words={count},a={a},min_keywords=2");
            run(&Keywords, &typed, &texts).numbers()
        };
        let [two, three, four, five] = [2, 3, 4, 5].map(found);
        let all = |same: &dyn Fn(usize, usize) -> bool| all_pairs(texts.len(), |x, y| enough(x, y) && same(x, y));
        assert_eq!(two, all(&|x, y| order(x) == order(y)));
        assert_eq!(three, all(&|x, y| set(x) == set(y)));
        assert_eq!(four, all(&|x, y| order(x) == order(y) && near(x, y)));
        assert_eq!(five, all(&|x, y| set(x) == set(y) && near(x, y)));
        assert!(two.is_subset(&three) && four.is_subset(&two) && five.is_subset(&three) && four.is_subset(&five));
        assert!(!four.is_empty() && four.len() < five.len() && two.len() < three.len(), "{count}");
    }
}

#[test]
fn weights_that_need_counts() {
    // a occurs in all three texts, b in two, and each other word in one.
    let texts: Vec<String> = ["a a a a b b b c", "a a a a b b b d", "a a e"].map(String::from).into();
    let pairs = |typed: &str| run(&Keywords, &format!("rule=3,min_keywords=1,{typed}"), &texts).numbers();
    let first = BTreeSet::from([(0, 1)]);
    let all = BTreeSet::from([(0, 1), (0, 2), (1, 2)]);
    assert_eq!(pairs("words=1,weight=tf"), all);
    // b weighs 3/8 ln(3/2) = 0.152, c 1/8 ln 3 = 0.137.
    assert_eq!(pairs("words=1,weight=tf_idf"), first);
    // a weighs 4/8/3 = 0.167, b 3/8/2 = 0.188, c 0.125.
    assert_eq!(pairs("words=1,weight=tf_over_df"), first);
    // a weighs 4/8/10 = 0.05, b 3/8/6 = 0.063, c and d 0.125.
    assert_eq!(pairs("words=1,weight=tf_over_cf"), BTreeSet::new());
    assert_eq!(pairs("words=1,weight=tf_over_cf,min_df=2"), first);
    assert_eq!(pairs("words=3,min_df=2"), first);
    assert_eq!(pairs("words=3,min_df=3"), all);
}
