//! Tests `run --index`: matching a batch against all indexed documents gives the same result as a single run over all batches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::index_place::{IndexPlace, components, dealt, law, law_with, looked_after};
use crate::kit::{
    Doc, Numbers, Table, labels, made_docs, numbered, pairs, record, removed_ids, sample_docs, write_docs,
};

/// Every algorithm that can be used with an index. The parameters of `three_plus_five` ensure that a pair depends only on its two
/// documents and that no limit is reached.
const MEMBERS: &str = "exact,core_words,cosine,decomposition,descr_words,fingerprint,heavy_sent,idf_hash,imatch,keyword_match,\
                       keywords,lex_rand,log_shingles,long_sent,lsi:join=bits,megashingles,minhash,near_page,opt_freq,\
                       random_projection,segments,sentence_marks,shingles:join=lsh,sim,simhash,tf,tf_idf,tf_ridf,\
                       three_plus_five:chain=pairwise,versions:relate=false,as=near,\
                       minhash:verify=jaccard:0.6,as=checked,simhash:distance=0,as=equal";

#[test]
fn copies_and_bands_are_met_as_in_one_run() {
    let place = law("exact,minhash", dealt(sample_docs(), 3, 1));
    // No indexed document is removed, and each removed document is removed in favor of a document that is kept.
    let mut for_others = 0;
    for batch in 0..3 {
        let removed = Table::read(&place.out(batch).join("removed"));
        let (docs, kept, reasons) = (removed.numbers("doc"), removed.numbers("kept_doc"), removed.texts("reason"));
        let own = place.begins(batch)..place.begins(batch + 1);
        assert!(docs.iter().all(|doc| own.contains(doc)), "batch {batch} removes others' documents");
        let texts: Vec<&str> = place.docs.iter().flatten().map(|doc| &*doc.text).collect();
        for ((doc, kept), reason) in docs.iter().zip(&kept).zip(&reasons) {
            // A text in an earlier batch is reported as seen even if the first document with that text was removed in favor of another
            // document.
            let seen = texts[..own.start as usize].contains(&texts[*doc as usize]);
            assert_eq!(reason == "seen", seen, "{doc} for {kept}");
            for_others += usize::from(seen && texts[*doc as usize] != texts[*kept as usize]);
        }
        assert_eq!(reasons.iter().any(|reason| reason == "seen"), batch > 0);
        let told = &record(&place.out(batch))["index"];
        assert_eq!(
            (told["first_doc"].as_i64(), told["generation"].as_u64()),
            (Some(own.start), Some(batch as u64 + 1))
        );
        assert_eq!(told["indexed"].as_u64() > Some(0), batch > 0);
    }
    assert!(for_others > 0, "no text came again whose first document was removed");
}

/// Checks the table of copies so far against the removals of all batches, also after documents were forgotten.
#[test]
fn copies_so_far_are_those_of_all_batches() {
    let place = law("exact,minhash", dealt(sample_docs().into_iter().step_by(3).collect(), 3, 1));
    let (index, ids) = (place.at("index"), place.docs.iter().flatten().map(|doc| &*doc.id).collect::<Vec<_>>());
    let batch_of = |doc: i64| (0..3).rev().find(|&batch| place.begins(batch) <= doc).unwrap();
    let mut kept: BTreeMap<i64, i64> = (0..ids.len() as i64).map(|doc| (doc, doc)).collect();
    for batch in 0..3 {
        let removed = Table::read(&place.out(batch).join("removed"));
        kept.extend(removed.numbers("doc").into_iter().zip(removed.numbers("kept_doc")));
    }
    let expected = |forgotten: Option<i64>| {
        let mut rows: BTreeMap<i64, (BTreeSet<usize>, i64)> = BTreeMap::new();
        for (&doc, &kept) in kept.iter().filter(|&(doc, kept)| ![Some(*doc), Some(*kept)].contains(&forgotten)) {
            let row = rows.entry(kept).or_default();
            row.0.insert(batch_of(doc));
            row.1 += 1;
        }
        let rows = rows.into_iter().filter(|(_, (_, count))| *count > 1);
        let rows = rows.map(|(doc, (batches, count))| (ids[doc as usize].to_owned(), batches.len() as i64, count, doc));
        rows.collect::<Vec<_>>()
    };
    let written = |name: &str| -> Vec<(String, i64, i64, i64)> {
        let out = place.at(name).display().to_string();
        let said = looked_after(&index, &["copies", "--out", &out]).ends_with(0);
        let table = Table::read(&place.at(name));
        assert!(said.stdout.contains(" more than once"), "{}", said.stdout);
        let [batches, counts, docs] = ["batches", "count", "doc"].map(|name| table.numbers(name));
        let rows = table.texts("id").into_iter().zip(batches).zip(counts).zip(docs);
        rows.map(|(((id, batches), count), doc)| (id, batches, count, doc)).collect()
    };
    let found = written("copies.parquet");
    assert_eq!(found, expected(None));
    assert!(found.iter().any(|row| row.1 == 3) && found.iter().any(|row| row.1 == 1 && row.2 > 1));
    looked_after(&index, &["copies", "--out", &place.at("copies.parquet").display().to_string()])
        .ends_with(2)
        .says(&["exists already"]);
    let (id, _, _, doc) = &found[found.len() / 2];
    looked_after(&index, &["forget", "--id", id]).ends_with(0);
    assert_eq!(written("later.parquet"), expected(Some(*doc)));
    looked_after(&place.at("in"), &["copies", "--out", "x.parquet"]).ends_with(2).says(&["is not an index"]);
}

#[test]
fn a_batch_may_be_empty_or_complete_or_match_nothing() {
    let docs = || made_docs(120);
    let odd = || numbered(["one text that nothing else is like", "another, of other words"]);
    law("exact,minhash:verify=jaccard:0.5,tf", vec![docs(), Vec::new(), odd(), docs(), made_docs(130)]);
    law("exact,minhash,simhash", vec![odd(), docs()]);
}

#[test]
fn every_member_meets_old_documents_as_in_one_run() {
    let samples = sample_docs();
    assert!(law(MEMBERS, dealt(samples.into_iter().step_by(2).collect(), 2, 3)).met > 1_000);
    assert!(law(MEMBERS, dealt(made_docs(500), 3, 4)).met > 1_000);
}

/// Checks that indexed documents that merely share a key with the batch are ruled out before their texts are read. Every indexed document
/// that takes part is therefore in a pair.
#[test]
fn a_document_that_only_shares_a_key_takes_no_part() {
    let batches = dealt(made_docs(400), 2, 17);
    for (algorithm, most) in [("simhash", 1.15), ("random_projection", 1.15), ("versions:relate=false", 2.0)] {
        let place = law(algorithm, batches.clone());
        let begins = place.begins(1);
        let found = pairs(&place.out(1), algorithm.split(':').next().unwrap());
        let old: BTreeSet<i64> = found.iter().map(|pair| pair.doc_a).filter(|doc| *doc < begins).collect();
        let indexed = record(&place.out(1))["index"]["indexed"].as_u64().unwrap() as f64;
        assert!(
            old.len() > 20 && indexed >= old.len() as f64,
            "{algorithm}: {indexed} indexed, {} in pairs",
            old.len()
        );
        assert!(indexed <= most * old.len() as f64, "{algorithm}: {indexed} indexed, {} in pairs", old.len());
    }
}

/// Returns documents that share two terms: in a window with more than 64 rows, only documents that share a third heavy term are compared.
fn of_two_terms(name: char, count: u8, times: usize, own: u32) -> Vec<Doc> {
    let text = |number: u8| {
        let own: Vec<String> =
            (0..own).map(|word| format!("{name}{}", spelled(500 * u32::from(number) + word))).collect();
        format!("{} {}", "Zyzzyva quixotry ".repeat(times), own.join(" "))
    };
    (0..count).map(|number| Doc { id: format!("{name}-{number}"), text: text(number), title: None }).collect()
}

/// Spells a number in letters.
fn spelled(number: u32) -> String {
    (0..5).map(|digit| char::from(b'a' + (number / 26u32.pow(digit) % 26) as u8)).collect()
}

/// Checks that if the pairs of a window depend on all of its rows, all indexed documents in the window take part, including documents that
/// are in no pair.
#[test]
fn a_large_window_of_two_batches_is_the_window_of_one_run() {
    let others = || {
        let text = |number: u32| (0..12).map(|word| spelled(12 * number + word + 40_000)).collect::<Vec<_>>().join(" ");
        (0..600).map(move |number| Doc { id: format!("o-{number}"), text: text(number), title: None })
    };
    // Indexed documents contain the two terms once. The 50 documents in the batch contain these terms 200 times, and are similar to each
    // other but not to the indexed documents.
    for (old, found) in [(10, 50 * 49 / 2), (40, 0)] {
        let first = others().chain(of_two_terms('x', old, 1, 6)).collect();
        let batches = vec![first, of_two_terms('y', 50, 200, 5)];
        let place = law_with("versions:relate=false", &["--max-candidates-factor", "1000000"], batches);
        assert_eq!(pairs(&place.out(1), "versions").len(), found, "{old} old ones");
        let indexed = record(&place.out(1))["index"]["indexed"].as_u64();
        assert!(found > 0 || indexed == Some(old.into()), "{indexed:?} of {old}");
    }
}

/// Checks that the pairs of two batches are the same as in one run over both. In a window of more than 64 rows, documents are compared if
/// they share a third heavy term. In this test, two to four documents share each third term.
#[test]
fn a_third_term_in_common_is_found_over_two_batches() {
    let pages = |name: &'static str, count: u32| -> Vec<Doc> {
        let text = |number: u32| {
            // Both batches have the same third terms; the last words are unique to each page.
            let third = spelled(7 * (number % 30) + 1);
            let own: Vec<String> = (0..3).map(|word| format!("{name}{}", spelled(90 * number + word))).collect();
            format!("{} {} {}", "Zyzzyva quixotry ".repeat(6), format!("q{third} ").repeat(6), own.join(" "))
        };
        (0..count).map(|at| Doc { id: format!("{name}-{at}"), text: text(at), title: None }).collect()
    };
    let others = (0..600).map(|number| Doc {
        id: format!("o-{number}"),
        text: (0..12).map(|word| spelled(12 * number + word + 40_000)).collect::<Vec<_>>().join(" "),
        title: None,
    });
    let (old, new) = (pages("x", 50), pages("y", 40));
    let place = law("versions:relate=false", vec![others.chain(old).collect(), new]);
    let begins = place.begins(1);
    let found = pairs(&place.out(1), "versions");
    // Pages whose numbers are equal modulo 30 form pairs: 1 or 2 indexed pages for each of the 40 new pages, and 10 pairs of two new pages.
    let met = found.iter().filter(|pair| pair.doc_a < begins).count();
    assert!(met >= 40 + 10 + 10 && found.len() >= met + 10, "{met} of {}", found.len());
    // All indexed documents in the window take part.
    assert_eq!(record(&place.out(1))["index"]["indexed"].as_u64(), Some(50));
}

/// Checks a simhash window that requires more comparisons than the limit allows. Which comparisons are skipped depends on all rows, so all
/// indexed documents in the window take part, and the pairs of the batch are the same as in one run with the same limit.
#[test]
fn a_window_beyond_the_limit_has_all_its_old_rows() {
    let page = |name: &str, at: u32| {
        // One word in 300 differs, so only a few of the 64 bits differ, and most blocks are identical.
        let word = |word: u32| spelled(if word == at { 900 + at } else { word });
        Doc { id: format!("{name}-{at}"), text: (0..300).map(word).collect::<Vec<_>>().join(" "), title: None }
    };
    let batches =
        || vec![(0..30).map(|at| page("x", at)).collect::<Vec<_>>(), (30..50).map(|at| page("y", at)).collect()];
    let run = |most: &str| {
        let mut place = IndexPlace::new("simhash");
        place.more = ["--max-candidates", most].map(str::to_owned).to_vec();
        for docs in batches() {
            place.batch(docs).ends_with(0);
        }
        // In the first batch, there are more comparisons than in a single run, because the windows of the batch have fewer rows.
        assert!(place.agrees_in(&place.together(&[]), 1) > 0);
        let indexed = record(&place.out(1))["index"]["indexed"].as_u64().unwrap();
        let of_batch: Vec<(i64, i64)> =
            pairs(&place.out(1), "simhash").iter().map(|pair| (pair.doc_a, pair.doc_b)).collect();
        (indexed, of_batch)
    };
    // 50 comparisons correspond to a window of 10 rows.
    let ((few, limited), (all, whole)) = (run("50"), run("10000000"));
    assert!(
        limited.len() < whole.len() && limited.iter().all(|pair| whole.contains(pair)),
        "{} {}",
        limited.len(),
        whole.len()
    );
    let old: BTreeSet<i64> = whole.iter().map(|pair| pair.0).filter(|doc| *doc < 30).collect();
    assert_eq!(all, old.len() as u64);
    assert!(few >= all && few > 20, "{few} with 50 comparisons a window, {all} with all");
}

/// Checks that nothing is ruled out if comparisons are skipped.
#[test]
fn with_few_comparisons_all_documents_that_share_a_key_take_part() {
    let batches = dealt(made_docs(400), 2, 17);
    let indexed = |most: &str| {
        let mut place = IndexPlace::new("simhash");
        place.more = ["--max-candidates", most].map(str::to_owned).to_vec();
        for docs in &batches {
            place.same_batch(docs).ends_with(0);
        }
        record(&place.out(1))["index"]["indexed"].as_u64().unwrap()
    };
    let [few, all] = ["1", "10000000"].map(indexed);
    assert!(few > all && all > 20, "{few} with one comparison a window, {all} with as many as it has");
}

/// Checks rules that consider all pairs of a document, including pairs in earlier batches: the rule of the default preset, and the rule
/// that keeps the best pairs of each document.
#[test]
fn rules_that_look_at_all_pairs_look_at_those_of_earlier_batches() {
    // Relations from an earlier batch do not change, so each batch is compared with one run over this batch and the earlier batches.
    let law = |algorithms: &str, batches: Vec<Vec<Doc>>| {
        let mut place = IndexPlace::new(algorithms);
        for (batch, docs) in batches.into_iter().enumerate() {
            place.batch(docs).ends_with(0);
            place.met += place.agrees_in(&place.together(&[]), batch);
        }
        place
    };
    let forms = |place: &IndexPlace| -> usize {
        let of = |batch| {
            pairs(&place.out(batch), "versions").into_iter().filter(|pair| pair.related.0 == "template").count()
        };
        (1..place.docs.len()).map(of).sum()
    };
    let preset = "exact,versions";
    let place = law(preset, dealt(sample_docs(), 3, 12));
    assert!(place.met > 500 && forms(&place) > 20, "{} met, {} forms", place.met, forms(&place));
    // These pages come from the same template, and some or many of them share a first line. For each page, the next best page is in a
    // different batch.
    let page = |at: usize| {
        let (title, place) = (at % 7, at % 5);
        let text = format!(
            "Notice number {title}\nThe office of district {place} is open. {}",
            "It will be so. ".repeat(at % 3)
        );
        let words: Vec<String> = (0..30).map(|word| format!("w{}", (word * 7 + at * (word % 3)) % 90)).collect();
        format!("{text} {}", words.join(" "))
    };
    let pages = numbered((0..240).map(page).collect::<Vec<_>>().iter().map(String::as_str));
    let place = law(preset, dealt(pages, 4, 13));
    assert!(place.met > 500, "{}", place.met);
    let margins = "minhash:verify=jaccard:0.3,margin=0.1,as=each,minhash:verify=jaccard:0.3,margin=either:0.05,as=either,\
                   cosine:margin=0.05,as=best";
    assert!(law(margins, dealt(made_docs(500), 3, 14)).met > 100);
}

/// Runs once over all batches, preferring documents in earlier batches.
fn in_order(place: &IndexPlace) -> PathBuf {
    let mut files = Vec::new();
    for (batch, docs) in place.docs.iter().enumerate() {
        // The folder name contains the number of the batch.
        let path = place.at(&format!("nights/night={batch}/a.parquet"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_docs(&path, docs, 300);
        files.push(path);
    }
    let (out, index) = (place.at("out/ordered"), place.at("index"));
    let more = ["--stats", index.to_str().unwrap(), "--keep", "night asc, length desc"];
    place.with(&[place.at("nights")], &out, &more).ends_with(0);
    out
}

fn removed_over_batches(place: &IndexPlace) -> Vec<String> {
    let mut ids: Vec<String> = (0..place.docs.len()).flat_map(|batch| removed_ids(&place.out(batch))).collect();
    ids.sort();
    ids
}

/// Checks that documents in several batches have the same fate as in one run in batch order, regardless of which algorithm decides what is
/// removed.
#[test]
fn batches_keep_what_one_run_keeps() {
    let decides = |label: &'static str| vec!["--decide", label];
    for (algorithms, more) in [
        ("exact,minhash:verify=jaccard:0.5", Vec::new()),
        (MEMBERS, Vec::new()),
        (MEMBERS, vec!["--remove-if", "pair"]),
        (MEMBERS, decides("simhash")),
        (MEMBERS, decides("three_plus_five")),
    ] {
        let place = law_with(algorithms, &more, dealt(made_docs(300), 3, 6));
        let ordered = in_order(&place);
        place.says_as(&ordered);
        let mut of_one = removed_ids(&ordered);
        of_one.sort();
        let over_batches = removed_over_batches(&place);
        let (batches, one) = (over_batches.len(), of_one.len());
        assert!(one > 0 && over_batches == of_one, "{more:?}: {batches} and {one} go");
    }
}

/// Checks that incremental runs remove each document in favor of a document in the same cluster, even if a third document causes them to
/// remove different documents than a single run would.
#[test]
fn where_a_third_document_has_a_say_what_goes_is_of_the_cluster_of_one_run() {
    for (algorithms, more) in [
        ("three_plus_five:chain=neighbors", &[][..]),
        ("minhash:verify=jaccard:0.5", &["--remove-if", "pair", "--chain", "remove"]),
    ] {
        let mut place = IndexPlace::new(algorithms);
        place.more = more.iter().map(|&word| word.to_owned()).collect();
        for docs in dealt(made_docs(400), 3, 21) {
            place.batch(docs).ends_with(0);
        }
        let out = in_order(&place);
        let links: Vec<(i64, i64)> =
            labels(&out).iter().flat_map(|label| pairs(&out, label)).map(|pair| (pair.doc_a, pair.doc_b)).collect();
        let cluster = components(links.into_iter(), place.begins(3) as usize);
        let mut removed = 0;
        for batch in 0..3 {
            let table = Table::read(&place.out(batch).join("removed"));
            for (doc, kept) in table.numbers("doc").into_iter().zip(table.numbers("kept_doc")) {
                assert_eq!(cluster[doc as usize], cluster[kept as usize], "{algorithms}: {doc} for {kept}");
                removed += 1;
            }
        }
        assert!(removed > 100, "{algorithms}: {removed}");
    }
}

/// Checks that documents that are connected by the chains of all batches are in the same cluster of a single run, even though two documents
/// may be a pair only because of the documents between them.
#[test]
fn what_batches_connect_is_a_cluster_of_one_run() {
    let mut place = IndexPlace::new("three_plus_five:chain=neighbors,as=chain,three_plus_five:chain=pairwise,as=each");
    for docs in dealt(made_docs(400), 4, 22) {
        place.batch(docs).ends_with(0);
    }
    let together = place.together(&[]);
    place.connects(&together);
    let docs: BTreeSet<i64> = Table::read(&together.join("clusters")).numbers("doc").into_iter().collect();
    assert!(docs.len() > 100, "{}", docs.len());
}

/// Checks that with any options, a run reports only on its own documents, and mentions indexed documents only as kept documents.
#[test]
fn no_old_document_goes_and_no_two_old_ones_are_a_pair() {
    let members: Vec<&str> = MEMBERS.split(',').filter(|member| !member.contains('=')).collect();
    let mut met = 0;
    for seed in 0..12 {
        let mut numbers = Numbers(1_000 * seed);
        let mut chosen: BTreeSet<&str> = (0..3).map(|_| members[numbers.below(members.len())]).collect();
        chosen.insert("minhash");
        let mut place = IndexPlace::new(&chosen.iter().copied().collect::<Vec<_>>().join(","));
        let mut more: Vec<&str> = vec!["--keep", ["length desc", "length asc", "doc desc"][numbers.below(3)]];
        match numbers.below(3) {
            0 => more.extend(["--remove-if", "pair", "--chain", "remove"]),
            1 => more.extend(["--decide", "minhash"]),
            _ => more.extend(["--max-group", "3"]),
        }
        place.more = more.iter().map(|&word| word.to_owned()).collect();
        let count = 60 + numbers.below(200);
        let batches = 2 + numbers.below(3);
        for (batch, docs) in dealt(made_docs(count), batches, seed).into_iter().enumerate() {
            place.batch(docs).ends_with(0);
            let (out, begins, ends) = (place.out(batch), place.begins(batch), place.begins(batch + 1));
            let removed = Table::read(&out.join("removed"));
            assert!(removed.numbers("doc").iter().all(|doc| (begins..ends).contains(doc)), "{seed}: an old one goes");
            let ids: BTreeSet<&str> = place.docs[batch].iter().map(|doc| &*doc.id).collect();
            assert!(removed.texts("id").iter().all(|id| ids.contains(&**id)), "{seed}: an old one goes");
            let kept = removed.numbers("kept_doc");
            let gone: BTreeSet<i64> = removed.numbers("doc").into_iter().collect();
            assert!(kept.iter().all(|kept| !gone.contains(kept) && *kept < ends), "{seed}: for one that goes");
            for label in labels(&out) {
                for pair in pairs(&out, &label) {
                    assert!(pair.doc_a < pair.doc_b && (begins..ends).contains(&pair.doc_b), "{seed}: {pair:?}");
                    met += usize::from(pair.doc_a < begins);
                }
                let table = Table::read(&out.join(format!("clusters/algorithm={label}")));
                let clusters: BTreeSet<String> = table.texts("cluster_id").into_iter().collect();
                let own = table.texts("cluster_id").into_iter().zip(table.numbers("doc"));
                let own: BTreeSet<String> = own.filter(|(_, doc)| *doc >= begins).map(|(cluster, _)| cluster).collect();
                assert_eq!(clusters, own, "{seed}: a cluster of old ones");
            }
        }
    }
    assert!(met > 1_000, "{met}");
}
