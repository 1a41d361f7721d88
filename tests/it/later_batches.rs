//! Tests that an incremental run can be inspected like any other run, on its report page and with `explain`, even if one document of a pair
//! is not in the corpus of the run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use dupsift_engine::engine::Progress;
use dupsift_study::{self as study, Explanation, Finished, Verdict};

use crate::index_place::{IndexPlace, dealt, law, looked_after};
use crate::kit::{
    Doc, Ran, Table, files_below, labels, made_docs, names_in, numbered, pairs, program, record, run, sample_docs,
    write_docs,
};

fn explain(out: &Path, asked: &[&str], by_number: bool) -> Explanation {
    let finished = Finished::open(out).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    let asked: Vec<String> = asked.iter().map(ToString::to_string).collect();
    let (progress, cancel) = (Progress::hidden(), AtomicBool::new(false));
    study::explain(&finished, &options, &asked, by_number, &progress, &cancel).unwrap()
}

fn typed(verb: &str, out: &Path, more: &[&str]) -> Ran {
    Ran::of(program().arg(verb).arg(out).args(more).output().unwrap())
}

/// Holds two batches of real texts with their report pages, in a temporary folder.
struct Two(tempfile::TempDir);

impl Two {
    fn new(first: &[Doc], second: &[Doc], more: &[&str]) -> Two {
        let two = Two(tempfile::tempdir().unwrap());
        let index = two.at("index");
        for (name, docs) in [("n0", first), ("n1", second)] {
            write_docs(&two.at(&format!("{name}.parquet")), docs, 300);
            let always = ["--index", index.to_str().unwrap()];
            run(&[&two.at(&format!("{name}.parquet"))], &two.at(name), &[&always[..], more].concat()).ends_with(0);
        }
        two
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Checks that each pair in the tables of an incremental run is found again, with the recorded similarity, if its two texts are read from
/// the corpus and from the index.
#[test]
fn each_pair_of_a_later_batch_is_one_again() {
    let mut place = IndexPlace::new("exact,minhash,simhash,tf_idf,versions");
    for docs in dealt(made_docs(240), 3, 23) {
        place.batch(docs).ends_with(0);
    }
    let out = place.out(2);
    let first_doc = record(&out)["index"]["first_doc"].as_i64().unwrap();
    let mut seen = BTreeSet::new();
    for label in labels(&out) {
        let across = pairs(&out, &label).into_iter().filter(|pair| pair.doc_a < first_doc);
        for pair in across.take(12) {
            let found = explain(&out, &[&pair.doc_b.to_string(), &pair.doc_a.to_string()], true);
            let one = found.algorithms.iter().find(|one| one.label == label).unwrap();
            assert!(matches!(one.verdict, Verdict::Pair | Verdict::Template), "{label} {pair:?}: {}", one.why);
            assert_eq!(one.pair.as_ref().unwrap().similarity, pair.similarity, "{label}");
            let today =
                one.checks.last().map_or(one.score.as_ref().map(|score| score.similarity), |check| check.similarity);
            assert_eq!(today, Some(pair.similarity), "{label}: {}", one.why);
            assert_eq!([&found.documents[0].id, &found.documents[1].id], [&pair.id_b, &pair.id_a]);
            assert_eq!([found.documents[0].doc, found.documents[1].doc], [pair.doc_b as u64, pair.doc_a as u64]);
            seen.insert(label.clone());
        }
    }
    assert_eq!(seen, labels(&out).into_iter().collect(), "every algorithm met an earlier batch");
}

#[test]
fn a_document_that_goes_is_explained_by_its_id_alone() {
    let place = law("exact,minhash", dealt(made_docs(200), 2, 17));
    let out = place.out(1);
    let table = Table::read(&out.join("removed"));
    let (ids, kept, docs) = (table.texts("id"), table.texts("kept_id"), table.numbers("kept_doc"));
    let first_doc = record(&out)["index"]["first_doc"].as_i64().unwrap();
    assert!(docs.iter().any(|doc| *doc < first_doc) && docs.iter().any(|doc| *doc >= first_doc), "{docs:?}");
    for row in 0..ids.len() {
        let found = explain(&out, &[&ids[row]], false);
        assert_eq!([&found.documents[0].id, &found.documents[1].id], [&ids[row], &kept[row]]);
        let removed = found.documents[0].removed.as_ref().unwrap();
        assert_eq!((&removed.kept_id, removed.kept_doc), (&kept[row], docs[row] as u64));
        let of_batch = docs[row] >= first_doc;
        assert_eq!(found.documents[1].file.ends_with("1.parquet"), of_batch, "{}", found.documents[1].file);
        assert!(of_batch || found.documents[1].file.ends_with("out/n0"), "{}", found.documents[1].file);
    }
}

#[test]
fn what_cannot_be_explained_of_a_later_batch_is_reported() {
    let docs = made_docs(120);
    let again =
        |at: usize, id: &str| Doc { id: id.into(), text: format!("{} Changed today.", docs[at].text), title: None };
    let mut place = IndexPlace::new("exact,minhash");
    place.same_batch(&docs).ends_with(0);
    // Adds a page that is also in the first batch with the same id, and a document whose text is unique.
    let alone = Doc {
        id: "alone".into(),
        text: "Nothing of this stands anywhere else, neither today nor before.".into(),
        title: None,
    };
    place.batch(vec![again(3, &docs[3].id), alone]).ends_with(0);
    let (out, id) = (place.out(1), &docs[3].id);
    let both = explain(&out, &[id, id], false);
    assert_eq!([both.documents[0].doc, both.documents[1].doc], [120, 3]);
    assert!(typed("explain", &out, &[id, id]).ends_with(0).stdout.contains("1 equal line") || both.pair);
    typed("explain", &out, &["--docs", "3", "5"]).ends_with(2).says(&[
        "both documents were indexed before this run",
        "the output",
        "out/n0",
    ]);
    typed("explain", &out, &["--docs", "3", "122"]).ends_with(2).says(&["from 0 to 121", "122"]);
    typed("explain", &out, &["alone"])
        .ends_with(2)
        .says(&["no algorithm in this run paired the document", "a second id"]);
    typed("explain", &out, &["alone", "alone"]).ends_with(2).says(&["are the same document"]);
    let truth = place.out(0).join("pairs/algorithm=exact/part-00000.parquet");
    typed("evaluate", &out, &["--truth", truth.to_str().unwrap()])
        .ends_with(2)
        .says(&["was matched against the index"]);
    looked_after(&place.at("index"), &["forget", "--id", id]).ends_with(0);
    typed("explain", &out, &["--docs", "120", "3"]).ends_with(2).says(&["was forgotten"]);
    std::fs::rename(place.at("index"), place.at("elsewhere")).unwrap();
    typed("explain", &out, &[id]).ends_with(2).says(&[
        "the index",
        "does not exist; move the index back, or move it to the same location relative to the output",
    ]);
}

#[test]
fn the_page_of_a_later_batch_shows_both_texts() {
    let docs = sample_docs();
    let (first, second) = docs.split_at(docs.len() / 2);
    let two = Two::new(first, second, &["--corpus", "keep,annotate"]);
    // Files have the same paths as in the previous run, even if the index is also read.
    for batch in ["n0", "n1"] {
        assert_eq!(names_in(&two.at(batch).join("deduped")), [format!("{batch}.parquet")]);
        assert_eq!(names_in(&two.at(batch).join("attributes")), [format!("{batch}.parquet")]);
    }
    let batches = record(&two.at("n1"))["index"]["batches"].clone();
    assert_eq!((&batches[0]["name"], &batches[0]["first_doc"], batches[1].is_null()), (&"n0".into(), &0.into(), true));
    assert_eq!(batches[0]["documents"], record(&two.at("n1"))["index"]["indexed"]);
    let (out, page) = (two.at("n1"), two.at("n1/report.html"));
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.contains("(from batch n0)") && text.contains("<ins>") && text.contains("<del>"), "no texts");
    assert!(text.contains("(earlier batches)"), "pairs by file");
    assert!(!text.contains("document 0") && text.contains("dupsift explain"), "{}", text.len());
    typed("report", &out, &[]).ends_with(0);
    assert!(std::fs::read_to_string(&page).unwrap() == text, "made again it is another one");
    // Forgotten texts are never shown.
    let kept = Table::read(&out.join("removed"));
    let first_doc = record(&out)["index"]["first_doc"].as_i64().unwrap();
    let earlier: BTreeSet<String> = (0..kept.len())
        .filter(|&row| kept.numbers("kept_doc")[row] < first_doc)
        .map(|row| kept.texts("kept_id")[row].clone())
        .collect();
    let shown = earlier.iter().find(|id| text.contains(id.as_str())).unwrap();
    looked_after(&two.at("index"), &["forget", "--id", shown]).ends_with(0);
    typed("report", &out, &[]).ends_with(0);
    assert!(!std::fs::read_to_string(&page).unwrap().contains(shown.as_str()), "{shown}");
    // Without the index, the page does not change.
    let before = std::fs::read(&page).unwrap();
    std::fs::rename(two.at("index"), two.at("elsewhere")).unwrap();
    typed("report", &out, &[]).ends_with(2).says(&["does not exist"]);
    assert!(std::fs::read(&page).unwrap() == before);
}

#[test]
fn a_run_against_a_reference_has_its_page() {
    let docs =
        numbered((0..40).map(|at| format!("Page {at} of the benchmark has its own words, number {} of all.", at * 7)));
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    write_docs(&at("reference.parquet"), &docs[..20], 300);
    write_docs(&at("corpus.parquet"), &docs[10..], 300);
    let reference = at("reference.parquet");
    let more = ["--algorithms", "exact", "--reference", reference.to_str().unwrap()];
    run(&[&at("corpus.parquet")], &at("out"), &more).ends_with(0);
    let text = std::fs::read_to_string(at("out/report.html")).unwrap();
    assert!(text.contains("(from the reference)"), "{}", text.len());
    assert!(text.contains("(the reference)"), "pairs by file");
    typed("explain", &at("out"), &[&docs[10].id]).ends_with(0);
    std::fs::remove_file(at("reference.parquet")).unwrap();
    let gone = typed("explain", &at("out"), &[&docs[10].id]).ends_with(2);
    gone.says(&["cannot be read again", "with an index as `--reference`"]);
}

/// Checks that relative paths in the record can be resolved from any other folder.
#[test]
fn a_run_is_looked_at_from_any_folder() {
    let place = tempfile::tempdir().unwrap();
    let docs = made_docs(80);
    std::fs::create_dir(place.path().join("crawl")).unwrap();
    write_docs(&place.path().join("crawl/a.parquet"), &docs[..40], 300);
    write_docs(&place.path().join("crawl/b.parquet"), &docs[30..], 300);
    let typed_there =
        |words: &[&str]| Ran::of(program().args(words).current_dir(&place).output().unwrap()).ends_with(0);
    for (corpus, out) in [("crawl/a.parquet", "n0"), ("crawl/b.parquet", "n1")] {
        typed_there(&["run", corpus, "--out", out, "--index", "seen", "--algorithms", "exact,minhash"]);
    }
    for (out, id) in [("n0", &docs[5].id), ("n1", &docs[32].id)] {
        let out = place.path().join(out);
        let page = std::fs::read_to_string(out.join("report.html")).unwrap();
        typed("report", &out, &[]).ends_with(0);
        assert!(std::fs::read_to_string(out.join("report.html")).unwrap() == page);
        typed("explain", &out, &[id, &docs[38].id]).ends_with(0);
    }
}

#[test]
fn a_look_changes_nothing_in_an_index_and_takes_no_other_one() {
    let mut place = IndexPlace::new("exact,minhash");
    let batches = dealt(made_docs(200), 2, 17);
    for docs in &batches {
        place.same_batch(docs).ends_with(0);
    }
    let (out, id) = (place.out(1), Table::read(&place.out(1).join("removed")).texts("id")[0].clone());
    // If a run was killed after its output had its final name, its batch is not in the index yet, and commands that only read do not add
    // it.
    write_docs(&place.at("in/2.parquet"), &made_docs(40), 300);
    place.killed_at(2, "output");
    let there = files_below(&place.at("index"));
    assert!(there.iter().any(|file| file.to_string_lossy().contains("intent-")), "{there:?}");
    typed("explain", &out, &[&id]).ends_with(0);
    typed("report", &out, &[]).ends_with(0);
    assert_eq!(files_below(&place.at("index")), there);
    // A request that involves a forgotten document is refused, even if the program itself chose that document.
    let found = explain(&out, &[&id], false);
    looked_after(&place.at("index"), &["forget", "--id", &found.documents[1].id]).ends_with(0);
    typed("explain", &out, &[&id]).ends_with(2).says(&["was forgotten"]);
    // Tests a different index with the same name.
    let page = std::fs::read(out.join("report.html")).unwrap();
    std::fs::remove_dir_all(place.at("index")).unwrap();
    let mut other = made_docs(400);
    other.iter_mut().for_each(|doc| doc.id.insert_str(0, "other-"));
    write_docs(&place.at("in/3.parquet"), &other, 300);
    place.again(3, &[]).ends_with(0);
    for verb in [vec!["explain", &id], vec!["report"]] {
        typed(verb[0], &out, &verb[1..]).ends_with(2).says(&["is not the one that the run was matched against"]);
    }
    assert!(std::fs::read(out.join("report.html")).unwrap() == page);
}

/// Checks that an index with a relative path is found from any other folder, and that a different index at this path is not used.
#[test]
fn a_held_batch_is_accepted_into_its_own_index_from_any_folder() {
    let place = tempfile::tempdir().unwrap();
    let docs = made_docs(60);
    let template = numbered(vec!["One page of all, and of no other batch."; 40]);
    for project in ["a", "b"] {
        let at = |name: &str| place.path().join(project).join(name);
        std::fs::create_dir(place.path().join(project)).unwrap();
        write_docs(&at("0.parquet"), &docs, 300);
        write_docs(&at("1.parquet"), &template, 300);
        let batch = |batch: &str, more: &[&str]| {
            let words = ["run", &format!("{batch}.parquet"), "--out", &format!("n{batch}"), "--index", "idx"];
            let words = [&words[..], &["--algorithms", "exact", "--guard-rows", "10"], more].concat();
            Ran::of(program().args(words).current_dir(at("")).output().unwrap())
        };
        batch("0", &["--max-removed-share", "1"]).ends_with(0);
        batch("1", &["--previous", "n0"]).ends_with(4);
    }
    let batches = |project: &str| looked_after(&place.path().join(project).join("idx"), &["info"]).ends_with(0).stdout;
    let accept = |folder: &str, held: &str| {
        Ran::of(program().args(["accept", held]).current_dir(place.path().join(folder)).output().unwrap())
    };
    accept("b", "../a/n1.held").ends_with(0);
    assert!(
        batches("a").contains("2 batches,") && batches("b").contains("1 batch,"),
        "{} {}",
        batches("a"),
        batches("b")
    );
    accept("a", "../b/n1.held").ends_with(0);
    assert!(batches("b").contains("2 batches,"), "{}", batches("b"));
}

/// Checks an index that was restored to an earlier state and then received different batches: these batches are not mistaken for the
/// original batches.
#[test]
fn an_index_that_went_another_way_is_another_one() {
    let mut place = IndexPlace::new("exact,minhash");
    let batches = dealt(made_docs(240), 3, 29);
    place.same_batch(&batches[0]).ends_with(0);
    let (index, saved) = (place.at("index"), place.at("saved"));
    let copy = |from: &Path, to: &Path| {
        for file in files_below(from) {
            let target = to.join(file.strip_prefix(from).unwrap());
            std::fs::create_dir_all(target.parent().unwrap()).unwrap();
            std::fs::copy(&file, target).unwrap();
        }
    };
    copy(&index, &saved);
    place.same_batch(&batches[1]).ends_with(0);
    place.same_batch(&batches[2]).ends_with(0);
    let id = Table::read(&place.out(2).join("removed")).texts("id")[0].clone();
    typed("explain", &place.out(2), &[&id]).ends_with(0);
    std::fs::remove_dir_all(&index).unwrap();
    copy(&saved, &index);
    write_docs(&place.at("in/7.parquet"), &made_docs(300), 300);
    place.again(7, &[]).ends_with(0);
    typed("explain", &place.out(2), &[&id]).ends_with(2).says(&["is not the one that the run was matched against"]);
}

/// Checks that forgotten documents of a recomputed batch stay forgotten, because the rows of the recomputed batch have the same numbers.
#[test]
fn a_batch_that_is_made_again_stays_forgotten() {
    let mut place = IndexPlace::new("exact");
    let docs = made_docs(90);
    place.same_batch(&docs[..50]).ends_with(0);
    place.same_batch(&docs[50..]).ends_with(0);
    let kept = |place: &IndexPlace, batch: usize| record(&place.out(batch))["removal"]["kept"].as_u64().unwrap();
    let of_batch = kept(&place, 1);
    looked_after(&place.at("index"), &["forget", "--batch", "n1"]).ends_with(0);
    place
        .again(1, &["--overwrite"])
        .ends_with(0)
        .says(&["40 rows of this batch were forgotten earlier and stay forgotten"]);
    assert_eq!(kept(&place, 1), of_batch);
    place.same_batch(&docs[50..]).ends_with(0);
    assert_eq!(kept(&place, 2), of_batch, "all of it is new");
    assert!(of_batch > 10);
}
