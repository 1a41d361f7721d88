//! Tests invariants between the tables of a run, for any corpus, by brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray, UInt64Array};

use crate::kit::{
    ALL, Done, SEVEN, Table, doc_pairs, done, labels, numbered, of_documents, pairs, record, sample_docs, samples,
    signing_labels, write_columns, write_docs,
};

type Pairs = BTreeSet<(usize, usize)>;

fn pair(x: usize, y: usize) -> (usize, usize) {
    (x.min(y), x.max(y))
}

/// Returns the pairs that decide which documents are removed: pairs that at least `needed` of the algorithms found.
fn deciding(out: &Path, labels: &[String], needed: usize) -> Pairs {
    let mut found: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for label in labels {
        for pair in of_documents(doc_pairs(out, label), &sample_docs()) {
            *found.entry(pair).or_default() += 1;
        }
    }
    found.into_iter().filter(|(_, count)| *count >= needed).map(|(pair, _)| pair).collect()
}

/// Returns, for each document, the document with the smallest number in its component.
pub(crate) fn components(documents: usize, pairs: &Pairs) -> Vec<usize> {
    let mut label: Vec<usize> = (0..documents).collect();
    loop {
        let mut changed = false;
        for &(a, b) in pairs {
            let least = label[a].min(label[b]);
            changed |= label[a] != least || label[b] != least;
            (label[a], label[b]) = (least, least);
        }
        if !changed {
            return label;
        }
    }
}

/// Returns a map from each removed document to the kept document, computed directly from the definition.
pub(crate) fn survivors(order: &[usize], pairs: &Pairs, chain: bool) -> BTreeMap<usize, usize> {
    let component = components(order.len(), pairs);
    let mut partners = vec![BTreeSet::new(); order.len()];
    for &(a, b) in pairs {
        partners[a].insert(b);
        partners[b].insert(a);
    }
    let mut kept: Vec<usize> = Vec::new();
    let mut removed = BTreeMap::new();
    for &doc in order.iter().filter(|doc| !partners[**doc].is_empty()) {
        // `kept` is in order of preference, so the first match is the best.
        let linked = |other: &&usize| {
            if chain { component[**other] == component[doc] } else { partners[doc].contains(*other) }
        };
        match kept.iter().find(linked) {
            Some(&better) => _ = removed.insert(doc, better),
            None => kept.push(doc),
        }
    }
    removed
}

pub(crate) fn removals(out: &Path) -> BTreeMap<usize, usize> {
    let table = Table::read(&out.join("removed"));
    let (docs, kept) = (table.numbers("doc"), table.numbers("kept_doc"));
    assert!(docs.is_sorted_by(|a, b| a < b), "each removed document once, in order");
    docs.into_iter().zip(kept).map(|(doc, kept)| (doc as usize, kept as usize)).collect()
}

/// Checks everything that must hold between `removed/`, `pairs/` and `run.json`.
fn check_removals(done: &Done, order: &[usize], deciding: &Pairs, chain: bool, what: &str) {
    let out = done.out();
    let removed = removals(&out);
    assert!(!removed.is_empty(), "{what}");
    let expected = survivors(order, deciding, chain);
    let differ: Vec<usize> = (0..order.len()).filter(|doc| removed.get(doc) != expected.get(doc)).take(5).collect();
    assert!(differ.is_empty(), "{what}: another fate, or another kept document, for {differ:?}");
    assert!(removed.values().all(|kept| !removed.contains_key(kept)), "{what}: a kept document is removed");
    assert!(
        deciding.iter().all(|(a, b)| removed.contains_key(a) || removed.contains_key(b)),
        "{what}: two survivors are a pair"
    );

    let record = record(&out);
    let count = |part: &str, name: &str| record[part][name].as_u64().unwrap() as usize;
    assert_eq!(count("removal", "removed"), removed.len(), "{what}");
    assert_eq!(count("removal", "removed") + count("removal", "kept"), count("documents", "used"), "{what}");
    assert_eq!(count("documents", "used") + count("documents", "rejected"), count("documents", "rows"), "{what}");
    let by_file: u64 = record["inputs"].as_array().unwrap().iter().map(|file| file["removed"].as_u64().unwrap()).sum();
    assert_eq!(by_file as usize, removed.len(), "{what}");

    let table = Table::read(&out.join("removed"));
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    let (kinds, algorithms, similarities) =
        (table.texts("reason"), table.texts("algorithm"), table.floats("similarity"));
    for (at, (&doc, &kept)) in removed.iter().enumerate() {
        let is_pair = deciding.contains(&pair(doc, kept));
        assert_eq!(kinds[at] == "chain", !is_pair, "{what}: {doc} and {kept}");
        assert_eq!(
            (similarities[at].is_some(), !algorithms[at].is_empty()),
            (is_pair, is_pair),
            "{what}: {doc} and {kept}"
        );
        *reasons.entry(kinds[at].clone()).or_default() += 1;
    }
    assert_eq!(serde_json::to_value(reasons).unwrap(), record["removal"]["reasons"], "{what}");
}

/// Returns the default order: longest first, then smallest number.
fn by_length() -> Vec<usize> {
    let lengths: Vec<usize> = sample_docs().iter().map(|doc| doc.text.chars().count()).collect();
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&doc| (std::cmp::Reverse(lengths[doc]), doc));
    order
}

#[test]
fn survivors_are_those_of_the_definition_for_every_rule_of_decision() {
    let order = by_length();
    for (decide, needed) in [("any", 1), ("at-least:2", 2), ("all", 7), ("three_plus_five", 1)] {
        for chain in ["keep", "remove"] {
            let what = format!("--decide {decide} --chain {chain}");
            let done =
                done(samples(), &["--algorithms", SEVEN, "--decide", decide, "--chain", chain, "--remove-if", "pair"]);
            let all = labels(&done.out());
            let chosen = if all.iter().any(|label| label == decide) { vec![decide.to_string()] } else { all };
            let pairs = deciding(&done.out(), &chosen, needed);
            check_removals(&done, &order, &pairs, chain == "remove", &what);
        }
    }
}

#[test]
fn keep_follows_columns_of_numbers_and_texts_with_nulls_last() {
    let docs = sample_docs();
    let scores: Vec<Option<i64>> =
        (0..docs.len()).map(|n| (n % 5 != 0).then_some((n * 7919 % 13) as i64 - 6)).collect();
    let names: Vec<Option<String>> =
        (0..docs.len()).map(|n| (n % 7 != 0).then(|| format!("имя {}", n * 31 % 11))).collect();
    // These numbers exceed the precision of Float64, and some are out of range for Int64.
    let large: Vec<u64> =
        (0..docs.len() as u64).map(|n| u64::MAX - ((n * 7919 % 3) << [0, 62][n as usize % 2])).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let column = |part: fn(&crate::kit::Doc) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(docs.iter().map(part)))
    };
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", column(|doc| &doc.id)),
        ("text", column(|doc| &doc.text)),
        ("score", Arc::new(Int64Array::from(scores.clone()))),
        ("name", Arc::new(StringArray::from(names.clone()))),
        ("large", Arc::new(UInt64Array::from(large.clone()))),
    ];
    write_columns(&file, &columns, 400);
    let last = |value: Option<i64>, sign: i64| value.map_or((true, 0), |value| (false, sign * value));
    let mut order: Vec<usize> = (0..docs.len()).collect();
    let check = |keep: &str, order: &[usize]| {
        let done =
            done(&file, &["--algorithms", "exact,three_plus_five,simhash", "--keep", keep, "--remove-if", "pair"]);
        let pairs = deciding(&done.out(), &labels(&done.out()), 1);
        check_removals(&done, order, &pairs, false, keep);
        let rules = Table::read(&done.out().join("removed")).texts("keep_rule");
        assert!(rules.iter().all(|rule| rule.starts_with(keep) && rule.contains("doc ")), "{:?}", rules.first());
    };
    order.sort_by_key(|&doc| (last(scores[doc], -1), doc));
    check("score desc", &order);
    order.sort_by_key(|&doc| (last(scores[doc], 1), names[doc].is_none(), names[doc].clone(), std::cmp::Reverse(doc)));
    check("score asc, name asc, doc desc", &order);
    order.sort_by_key(|&doc| {
        (names[doc].is_none(), std::cmp::Reverse(names[doc].clone()), docs[doc].text.chars().count(), doc)
    });
    check("name desc, length asc", &order);
    order.sort_by_key(|&doc| (std::cmp::Reverse(large[doc]), doc));
    check("large desc", &order);
}

#[test]
fn pairs_stand_in_order_once_and_clusters_are_their_components() {
    let done = done(samples(), &["--algorithms", ALL]);
    let docs = sample_docs();
    let order = by_length();
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &doc)| rank[doc] = at);
    let record = record(&done.out());
    for one in record["algorithms"].as_array().unwrap() {
        let label = one["label"].as_str().unwrap();
        let count = |name: &str| one[name].as_u64().unwrap() as usize;
        let lines = pairs(&done.out(), label);
        assert_eq!((lines.len(), lines.len()), (count("pairs"), count("pairs_written")), "{label}");
        assert!(lines.is_sorted_by(|a, b| (a.doc_a, a.doc_b) < (b.doc_a, b.doc_b)), "{label}");
        for line in &lines {
            assert!(line.doc_a < line.doc_b && (0.0..=1.0).contains(&line.similarity) && !line.matched_by.is_empty());
            let ids = [line.doc_a, line.doc_b].map(|doc| &docs[doc as usize].id);
            assert_eq!([&line.id_a, &line.id_b], ids, "{label}");
            assert_eq!(line.verified, one["verify"].is_string(), "{label}");
        }
        // Pairs from the same template do not join documents into clusters.
        let joining = lines.iter().filter(|line| line.related.0 != "template");
        let scores: BTreeMap<(usize, usize), f32> =
            joining.map(|line| ((line.doc_a as usize, line.doc_b as usize), line.similarity)).collect();
        let component = components(docs.len(), &scores.keys().copied().collect());
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        component.iter().enumerate().for_each(|(doc, root)| members.entry(*root).or_default().push(doc));
        members.retain(|_, docs| docs.len() > 1);

        let table = Table::read(&done.out().join(format!("clusters/algorithm={label}")));
        let (clustered, sizes) = (table.numbers("doc"), table.numbers("cluster_size"));
        let (ids, cluster_ids, best) = (table.texts("id"), table.texts("cluster_id"), table.flags("is_representative"));
        let similarities = table.floats("similarity_to_representative");
        let expected: Vec<usize> = members.values().flatten().copied().collect();
        assert_eq!(clustered.iter().map(|doc| *doc as usize).collect::<Vec<_>>(), expected, "{label}");
        let largest = members.values().map(Vec::len).max().unwrap();
        assert_eq!(
            (members.len(), expected.len(), largest),
            (count("clusters"), count("clustered"), count("largest_cluster"))
        );
        for (row, &doc) in expected.iter().enumerate() {
            let cluster = &members[&component[doc]];
            let representative = *cluster.iter().min_by_key(|doc| rank[**doc]).unwrap();
            assert_eq!((sizes[row] as usize, best[row]), (cluster.len(), doc == representative), "{label}");
            assert_eq!((&ids[row], &cluster_ids[row]), (&docs[doc].id, &docs[representative].id), "{label}");
            // A copy has the same pairs as the best document that has the same text.
            let text_of = |doc: usize| {
                let copies = lines.iter().filter(|line| line.matched_by == "copy");
                let of = |line: &crate::kit::PairLine| [line.doc_a as usize, line.doc_b as usize];
                let stars = copies.map(of).filter(|both| both.contains(&doc));
                stars.map(|[a, b]| if rank[a] < rank[b] { a } else { b }).min_by_key(|best| rank[*best]).unwrap_or(doc)
            };
            let (of_doc, of_best) = (text_of(doc), text_of(representative));
            let similarity = if of_doc == of_best { Some(1.0) } else { scores.get(&pair(of_doc, of_best)).copied() };
            assert_eq!(similarities[row], similarity, "{label}: {doc} and {representative}");
        }
    }
}

#[test]
fn exact_copies_are_found_by_brute_force_and_stand_in_every_algorithm() {
    let done = done(samples(), &["--algorithms", "all"]);
    let docs = sample_docs();
    let mut by_text: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    docs.iter().enumerate().for_each(|(doc, one)| by_text.entry(&one.text).or_default().push(doc));
    let mut equal = Pairs::new();
    for group in by_text.values() {
        for (at, &a) in group.iter().enumerate() {
            equal.extend(group[at + 1..].iter().map(|&b| (a, b)));
        }
    }
    // Each copy is in a pair with the best document that has the same text; this is the first document, because lengths are equal.
    equal.retain(|&(a, b)| a == by_text[docs[b].text.as_str()][0]);
    assert_eq!(doc_pairs(&done.out(), "exact"), equal.iter().copied().collect::<Vec<_>>());
    // Copies are identical in everything that the algorithms of the run read, and some of these algorithms read titles.
    let read: BTreeSet<(&str, &Option<String>)> = docs.iter().map(|doc| (doc.text.as_str(), &doc.title)).collect();
    let surplus = docs.len() - read.len();
    assert_eq!(record(&done.out())["documents"]["extra_copies"].as_u64(), Some(surplus as u64));
    let signing = signing_labels(&done.out());
    // Algorithms that read titles may distinguish copies by their titles.
    equal.retain(|&(a, b)| docs[a].title == docs[b].title);
    for label in labels(&done.out()) {
        let lines = pairs(&done.out(), &label);
        let copies = lines.iter().filter(|line| equal.contains(&(line.doc_a as usize, line.doc_b as usize)));
        let copies: Vec<f32> = copies.map(|line| line.similarity).collect();
        // If an algorithm did not sign all documents, it is unknown which documents have no signature.
        let found = if signing.contains(&label) { equal.len() } else { copies.len() };
        assert_eq!(copies, vec![1.0; found], "{label}");
    }
}

#[test]
fn looser_settings_find_what_stricter_ones_find() {
    let algorithms = "long_sent,three_plus_five:chain=off,small_doc_sentences=0,as=loose,three_plus_five,\
        three_plus_five:chain=pairwise,as=pairwise,simhash:distance=3,as=near,simhash:distance=6,as=far,\
        simhash:distance=3,blocks=6,as=blocks,minhash,minhash:verify=none,as=unverified,minhash:verify=jaccard:0.9,as=strict,\
        exact:form=canonical,as=canonical,exact";
    let done = done(samples(), &["--algorithms", algorithms]);
    let of = |label: &str| -> Pairs { doc_pairs(&done.out(), label).into_iter().collect() };
    let chains = [
        ["long_sent", "loose"],
        ["three_plus_five", "loose"],
        ["pairwise", "three_plus_five"],
        ["near", "far"],
        ["strict", "minhash"],
        ["minhash", "unverified"],
        ["exact", "canonical"],
        ["canonical", "minhash"],
    ];
    for [strict, loose] in chains {
        let (strict_pairs, loose_pairs) = (of(strict), of(loose));
        let lost: Vec<_> = strict_pairs.difference(&loose_pairs).take(5).collect();
        assert!(lost.is_empty(), "{strict} finds {lost:?}, {loose} does not");
        assert!(strict_pairs.len() < loose_pairs.len(), "{strict} and {loose} find the same: the test sees nothing");
    }
    assert_eq!(of("near"), of("blocks"), "another scheme of tables, the same pairs");
    assert!(pairs(&done.out(), "strict").iter().all(|pair| pair.verified && pair.similarity >= 0.9));
}

#[test]
fn a_large_group_is_a_star_and_its_number_is_exact() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let text = "One two three four five six seven eight nine ten eleven. Twelve thirteen fourteen. Fifteen sixteen.";
    let other =
        "Другой текст, в котором довольно разных слов для всех способов сравнения. Больше в нём ничего нет, совсем.";
    let mut texts = vec![other.to_string(), other.to_string()];
    texts.extend((0..30).map(|_| text.to_string()));
    write_docs(&file, &numbered(texts), 7);
    let done = done(&file, &["--algorithms", ALL, "--max-group", "10", "--keep", "doc desc"]);
    let record = record(&done.out());
    let signing = signing_labels(&done.out());
    let all = record["algorithms"].as_array().unwrap().iter();
    for one in all.filter(|one| signing.iter().any(|label| one["label"] == **label)) {
        let label = one["label"].as_str().unwrap();
        let count = |name: &str| one[name].as_u64().unwrap();
        // Copies are written as a star regardless of their number, and are never a large group.
        assert_eq!((count("pairs"), count("pairs_written"), count("large_groups")), (30, 30, 0), "{label}");
        // The best document according to `--keep` is the last document, which is the center of the star.
        let star = (2..31).map(|doc| (doc, 31));
        assert_eq!(doc_pairs(&done.out(), label), [(0, 1)].into_iter().chain(star).collect::<Vec<_>>(), "{label}");
    }
    let expected: BTreeMap<usize, usize> = [(0, 1)].into_iter().chain((2..31).map(|doc| (doc, 31))).collect();
    assert_eq!(removals(&done.out()), expected);
}

/// Checks that all ids are complete and in the correct rows, with ids so long that a few of them fill a batch of rows, and with a document
/// that has no id.
#[test]
fn long_ids_stand_whole_in_every_row() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    let id = |doc: usize| (doc != 4).then(|| format!("{doc}{}", "x".repeat(if doc == 7 { 0 } else { 700_000 })));
    let ids: ArrayRef = Arc::new((0..12).map(id).collect::<StringArray>());
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["one text of several words"; 12]));
    write_columns(&file, &[("id", ids), ("text", texts)], 100);
    let done = done(&file, &["--algorithms", "exact", "--no-report"]);
    let rows = pairs(&done.out(), "exact");
    assert_eq!(rows.len(), 11);
    let name = |doc: i64| id(doc as usize).unwrap_or_else(|| "docs.parquet#4".into());
    for row in rows {
        assert!((row.id_a, row.id_b) == (name(row.doc_a), name(row.doc_b)), "{}, {}", row.doc_a, row.doc_b);
    }
}
