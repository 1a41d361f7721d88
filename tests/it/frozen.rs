//! Tests `run --stats`: with the counts, the models and the planned size of another run, a signature depends only on its document.

use std::path::Path;

use crate::kit::{
    Doc, Done, Ran, assert_same_bytes, done, ended, labels, made_docs, pairs, program, record, run, sample_docs,
    samples, write_docs,
};

/// All algorithms, and variants of two algorithms whose pairs depend on other documents. In `three_plus_five`, whether two documents are a
/// pair depends on the documents between them; in `versions`, the rule of `relate=` depends on all documents.
const MEMBERS: &str = "all,three_plus_five:chain=pairwise,as=pairwise,versions:relate=false,as=near,\
                       minhash:verify=jaccard:0.6,as=checked,shingles:join=lsh,as=bands,lsi:join=bits,as=signs";

fn corpus(docs: &[Doc]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_docs(&folder.path().join("docs.parquet"), docs, 200);
    folder
}

fn frozen(docs: &[Doc], stats: &Path, algorithms: &str) -> Done {
    done(corpus(docs).path(), &["--algorithms", algorithms, "--stats", stats.to_str().unwrap(), "--no-report"])
}

fn pure(docs: &[Doc], snapshot: &[Doc]) {
    let stats = done(corpus(snapshot).path(), &["--algorithms", MEMBERS, "--no-report"]);
    let half = &docs[..docs.len() / 2];
    let (part, whole) = (frozen(half, &stats.out(), MEMBERS), frozen(docs, &stats.out(), MEMBERS));
    assert!(labels(&part.out()).len() > 30);
    // Chains depend on the documents that are present, and the relation of two texts depends on other similar texts. The variants
    // `pairwise` and `near` do not have these dependencies.
    for label in labels(&part.out()).into_iter().filter(|label| label != "three_plus_five" && label != "versions") {
        let mut within = pairs(&whole.out(), &label);
        within.retain(|pair| pair.doc_b < half.len() as i64);
        assert_eq!(pairs(&part.out(), &label), within, "{label}: other documents make a difference");
    }
}

#[test]
fn what_two_documents_are_does_not_depend_on_the_others() {
    let docs = sample_docs();
    pure(&docs, &docs[docs.len() / 3..]);
    let made = made_docs(400);
    pure(&made, &made[150..300]);
}

#[test]
fn counts_of_its_own_change_nothing_for_members_without_counts() {
    let some = "exact,minhash,simhash,three_plus_five,megashingles,near_page";
    let plain = done(samples(), &["--algorithms", some]);
    let again = done(samples(), &["--algorithms", some, "--stats", plain.out().to_str().unwrap()]);
    assert_same_bytes(&plain.out(), &again.out(), "--stats of itself");
    let planned = &record(&again.out())["frozen"];
    assert_eq!(planned["documents_planned"], record(&plain.out())["documents"]["rows"]);
    assert!(record(&plain.out()).get("frozen").is_none());
}

/// Checks that with frozen counts, an algorithm that finds pairs by terms uses every term, because it is unknown which terms occur in only
/// one document.
#[test]
fn frozen_counts_lose_no_pair_that_counts_of_the_corpus_find() {
    let some = "cosine,cosine:join=heavy,as=heavy,decomposition,segments";
    let plain = done(samples(), &["--algorithms", some]);
    let again = done(samples(), &["--algorithms", some, "--stats", plain.out().to_str().unwrap()]);
    for label in labels(&plain.out()) {
        let found = pairs(&again.out(), &label);
        assert!(!found.is_empty() && pairs(&plain.out(), &label).iter().all(|pair| found.contains(pair)), "{label}");
    }
}

/// Checks that a run with the counts of another run saves these counts for later runs, and that `explain` uses them.
#[test]
fn counts_are_handed_on_and_known_afterwards() {
    let docs = sample_docs();
    let some = "exact,cosine,lsi,segments";
    let first = done(corpus(&docs[..docs.len() / 2]).path(), &["--algorithms", some]);
    let all = corpus(&docs);
    let second = done(all.path(), &["--algorithms", some, "--stats", first.out().to_str().unwrap()]);
    let of_second = done(all.path(), &["--algorithms", "exact,cosine", "--stats", second.out().to_str().unwrap()]);
    let names = ["snapshot", "documents"].map(|name| record(&first.out())["statistics"][name].clone());
    for out in [second.out(), of_second.out()] {
        assert_eq!(names, ["snapshot", "documents"].map(|name| record(&out)["statistics"][name].clone()));
        assert_eq!(record(&out)["frozen"]["documents_planned"], record(&first.out())["documents"]["rows"]);
        let pair = &pairs(&out, "cosine")[0];
        let mut explain = program();
        explain.arg("explain").arg(&out).args([&pair.id_a, &pair.id_b]);
        let said = Ran::of(explain.args(["--no-progress"]).output().unwrap()).ends_with(0).stdout;
        assert!(said.contains("cosine"), "{said}");
    }
    let cosine = |out: &Path| std::fs::read(out.join("pairs/algorithm=cosine/part-00000.parquet")).unwrap();
    assert!(cosine(&second.out()) == cosine(&of_second.out()), "the same counts by another way");
}

#[test]
fn a_folder_that_does_not_hold_what_is_needed_is_refused() {
    let plain = done(samples(), &["--algorithms", "exact,lsi"]);
    let refused = |stats: &Path, algorithms: &str, what: &str| {
        let folder = tempfile::tempdir().unwrap();
        let more = ["--algorithms", algorithms, "--stats", stats.to_str().unwrap()];
        run(&[samples()], &folder.path().join("out"), &more).ends_with(2).says(&["`--stats", what]);
    };
    refused(samples(), "exact", "it is not the output of a finished run");
    refused(&plain.out(), "segments", "it has no statistics about segments");
    refused(&plain.out(), "exact,lsi:dimensions=20", "the model for lsi was trained with different parameters");
    refused(&plain.out(), "exact,lsi,descr_words", "it has no model for descr_words");
    let exact = done(samples(), &["--algorithms", "exact"]);
    refused(&exact.out(), "cosine", "it has no word statistics");
    // A different tokenizer produces different words.
    let folder = tempfile::tempdir().unwrap();
    let stats = plain.out();
    let more = ["--algorithms", "cosine", "--tokenizer", "char", "--stats", stats.to_str().unwrap()];
    run(&[samples()], &folder.path().join("out"), &more)
        .ends_with(2)
        .says(&["are damaged, or were written with different text options"]);
    drop(ended(samples(), &["--algorithms", "exact", "--stats", plain.out().to_str().unwrap()], 0));
}
