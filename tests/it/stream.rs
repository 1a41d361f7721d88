//! Tests `dupsift stream`: flags in input order, the filter that one run leaves for the next, and old versions that are removed from the
//! filter.

use std::path::Path;

use crate::kit::{
    Ran, Table, doc_pairs, done, made_docs, names_in, numbered, program, record, sample_docs, write_docs,
};

/// Runs `dupsift stream` on one file.
fn stream(input: &Path, out: &Path, more: &[&str]) -> Ran {
    let mut command = program();
    command.arg("stream").arg(input).arg("--out").arg(out).args([
        "--threads",
        "2",
        "--memory",
        "64MiB",
        "--no-progress",
    ]);
    Ran::of(command.args(more).output().unwrap())
}

fn flags(out: &Path) -> Vec<Option<bool>> {
    let table = Table::read(&out.join("flags"));
    assert!(table.numbers("doc").iter().enumerate().all(|(at, &doc)| at as i64 == doc), "in order of the input");
    table.flags_or_null("duplicate")
}

/// Returns the texts `from..to`, all different.
fn texts(from: usize, to: usize) -> Vec<String> {
    (from..to).map(|n| format!("Текст номер {n}, каких больше нет.")).collect()
}

#[test]
fn the_next_run_knows_what_earlier_ones_saw_and_forgets_what_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let write = |name: &str, texts: Vec<String>| write_docs(&path(name), &numbered(texts), 100);
    let first: Vec<String> = texts(0, 1000).into_iter().chain(texts(10, 20)).chain([" ".into()]).collect();
    write("first.parquet", first);
    let ran = stream(&path("first.parquet"), &path("first"), &[]).ends_with(3);
    assert!(ran.stdout.contains("1 row rejected: 1 empty text"), "{}", ran.stdout);
    let came: Vec<Option<bool>> =
        (0..1000).map(|_| Some(false)).chain((0..10).map(|_| Some(true))).chain([None]).collect();
    assert_eq!(flags(&path("first")), came);
    let report = record(&path("first"));
    assert_eq!((report["duplicates"].as_u64(), report["keys"].as_u64()), (Some(10), Some(1010)));
    assert_eq!(report["rejected_reasons"]["empty text"].as_u64(), Some(1), "{report}");

    // In the next run, half of the texts are known.
    write("second.parquet", texts(500, 1500));
    let filter = path("first").join("filter.bloom");
    let filter = filter.to_str().unwrap();
    stream(&path("second.parquet"), &path("second"), &["--filter", filter]).ends_with(0);
    assert!(flags(&path("second")).iter().enumerate().all(|(at, flag)| *flag == Some(at < 500)));

    // Old versions are removed from the filter. A document that occurred twice is still known; all other documents are
    // new again.
    write("old.parquet", texts(0, 20));
    write("third.parquet", texts(0, 30));
    let old = path("old.parquet");
    stream(&path("third.parquet"), &path("third"), &["--filter", filter, "--forget", old.to_str().unwrap()])
        .ends_with(0);
    assert!(flags(&path("third")).iter().enumerate().all(|(at, flag)| *flag == Some(at >= 10)));
    assert_eq!(record(&path("third"))["forgotten"].as_u64(), Some(20));
}

/// Checks that a guard reports a filter that has more keys than it was created for and therefore flags new documents by chance.
#[test]
fn a_filter_that_is_too_full_is_a_guard() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    (0..3).for_each(|day| {
        write_docs(&path(&format!("{day}.parquet")), &numbered(texts(500 * day, 500 * (day + 1))), 100)
    });
    stream(&path("0.parquet"), &path("out0"), &["--keys", "500"]).ends_with(0);
    for day in 1..3 {
        let filter = path(&format!("out{}", day - 1)).join("filter.bloom");
        let more = ["--filter", filter.to_str().unwrap()];
        stream(&path(&format!("{day}.parquet")), &path(&format!("out{day}")), &more)
            .ends_with(3)
            .says(&["false-positive rate is"]);
    }
    let report = record(&path("out2"));
    assert_eq!(
        (&report["guards"][0]["name"], &report["guards"][0]["held"]),
        (&"false-positives".into(), &false.into())
    );
    assert!(report["false_positives"].as_f64().unwrap() > 0.1, "{report}");
}

/// Checks several runs with the same output name. Unreadable old versions end the run and leave the filter unchanged.
#[test]
fn a_stream_replaces_its_own_output_and_takes_out_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (input, out) = (path("a.parquet"), path("out"));
    write_docs(&input, &numbered(texts(0, 2_000)), 500);
    stream(&input, &out, &[]).ends_with(0);
    let filter = out.join("filter.bloom");
    stream(&input, &out, &["--overwrite", "--filter", filter.to_str().unwrap()]).ends_with(0);
    assert!(flags(&out).iter().all(|flag| *flag == Some(true)));

    let mut bytes = std::fs::read(&input).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle - 2_000..middle].fill(0xAA);
    std::fs::write(path("old.parquet"), &bytes).unwrap();
    let old = path("old.parquet");
    let refused = stream(&input, &path("next"), &["--forget", old.to_str().unwrap()]).ends_with(2);
    refused.says(&["`--forget", "old.parquet"]);
    assert!(!path("next").exists());

    // The limit applies to new documents, and rows without text are reported.
    let some: Vec<String> = texts(0, 1_990).into_iter().chain((0..10).map(|_| " ".to_string())).collect();
    write_docs(&path("some.parquet"), &numbered(some), 500);
    let (some, again) = (path("some.parquet"), path("again"));
    let more = ["--filter", filter.to_str().unwrap(), "--forget", some.to_str().unwrap(), "--limit", "5"];
    let ran = stream(&input, &again, &more).ends_with(3);
    assert_eq!(record(&again)["forgotten"].as_u64(), Some(1_990));
    assert!(ran.stdout.contains("10 rows rejected: 10 empty text"), "{}", ran.stdout);
}

/// Checks that unreadable old versions are counted, listed and reported like unreadable new documents.
#[test]
fn old_versions_that_cannot_be_read_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    write_docs(&path("a.parquet"), &numbered(texts(0, 20)), 100);
    stream(&path("a.parquet"), &path("first"), &[]).ends_with(0);
    let filter = path("first").join("filter.bloom");
    std::fs::create_dir(path("old")).unwrap();
    let line = |n: usize| format!("{{\"id\":\"o{n}\",\"text\":\"Текст номер {n}, каких больше нет.\"}}\n");
    let torn = "{\"id\":\"o2\",\"text\":\"Текст\n";
    std::fs::write(path("old/a.jsonl"), [&line(0), &line(1), torn, "{\"id\":\"o3\"}\n"].concat()).unwrap();
    std::fs::write(path("old/b.parquet"), "PAR1 but no more").unwrap();
    let old = path("old");
    let more = ["--filter", filter.to_str().unwrap(), "--forget", old.to_str().unwrap(), "--max-rejected-share", "1"];
    let ran = stream(&path("a.parquet"), &path("next"), &more).ends_with(3);
    assert_eq!(flags(&path("next")).iter().filter(|flag| **flag == Some(false)).count(), 2);
    let rejected = Table::read(&path("next/rejected"));
    assert_eq!(rejected.texts("input"), ["forget"; 3]);
    assert_eq!(rejected.texts("file"), ["b.parquet", "a.jsonl", "a.jsonl"]);
    assert_eq!(rejected.texts("reason"), ["unusable file", "not JSON", "null text"]);
    assert_eq!(rejected.texts("id")[2], "o3");
    let forget = &record(&path("next"))["other_inputs"][0];
    assert_eq!((&forget["input"], &forget["rows"], &forget["used"]), (&"forget".into(), &4.into(), &2.into()));
    assert_eq!(forget["bad_inputs"][0]["file"], "b.parquet");
    for said in [
        "no corpus rows rejected",
        "forget: 2 of 4 rows used; 2 rows rejected: 1 not JSON, 1 null text",
        "forget: skipped: b.parquet",
    ] {
        assert!(ran.stdout.contains(said), "{said:?} is not in\n{}", ran.stdout);
    }
    // The guard also applies to old versions: if too many of them could not be read, the filter does not replace an earlier filter.
    let over = [&more[..4], &["--overwrite", "--max-rejected-share", "0.4"]].concat();
    stream(&path("a.parquet"), &path("next"), &over).ends_with(4).says(&["forget: 2 of 4 rows are invalid (50.0%)"]);
    let left = names_in(folder.path()).into_iter().filter(|name| name.starts_with('.')).collect::<Vec<_>>();
    assert_eq!(left, [""; 0], "no work folder stays");
}

#[test]
fn what_cannot_be_a_key_or_is_no_filter_of_this_recipe_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let input = path("a.parquet");
    write_docs(&input, &numbered(texts(0, 9)), 100);
    let refused = |more: &[&str]| stream(&input, &path("out"), more).ends_with(2);
    refused(&["--algorithms", "simhash"]).says(&["simhash cannot be a key", "exact", "minhash"]);
    refused(&["--algorithms", "tf_idf"]).says(&["neither corpus statistics nor verify"]);
    refused(&["--algorithms", "exact,tf"]).says(&["one algorithm"]);
    refused(&["--algorithms", "simhash", "--dry-run"]).says(&["simhash cannot be a key"]);
    stream(&input, &path("out"), &["--dry-run"]).ends_with(0);
    for rate in ["0", "1", "1e-300", "nan"] {
        refused(&["--rate", rate]).says(&["at least 1e-9 and below 1"]);
    }
    stream(&input, &path("exact"), &[]).ends_with(0);
    let filter = path("exact").join("filter.bloom");
    refused(&["--algorithms", "tf", "--filter", filter.to_str().unwrap()]).says(&["contains keys from exact"]);
    refused(&["--filter", input.to_str().unwrap()]).says(&["filter.bloom"]);
    assert!(!path("out").exists());
}

/// Checks that a text too short for a signature is identified by its bytes, and that a text that consists only of white space is rejected.
#[test]
fn copies_of_texts_without_a_signature_came_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let texts = ["да", " ", "да", "нет", "Да", "нет", " "];
    write_docs(&path("a.parquet"), &numbered(texts), 100);
    stream(&path("a.parquet"), &path("out"), &["--algorithms", "tf"]).ends_with(3);
    let came = [Some(false), None, Some(true), Some(false), Some(false), Some(true), None];
    assert_eq!(flags(&path("out")), came);
    let report = record(&path("out"));
    assert_eq!((report["signed"].as_u64(), report["keys"].as_u64()), (Some(5), Some(5)), "{report}");
    assert_eq!(report["rejected_reasons"], serde_json::json!({ "empty text": 2 }), "{report}");
    // These texts can be removed from the filter again.
    let filter = path("out").join("filter.bloom");
    write_docs(&path("old.parquet"), &numbered(["нет", "нет"]), 100);
    let more =
        ["--algorithms", "tf", "--filter", filter.to_str().unwrap(), "--forget", path("old.parquet").to_str().unwrap()]
            .map(String::from);
    stream(&path("a.parquet"), &path("next"), &more.each_ref().map(String::as_str)).ends_with(3);
    assert_eq!(flags(&path("next"))[3..5], [Some(false), Some(true)]);
}

/// Checks that a document is flagged if `run` reports it as a pair with an earlier document because the two have a band in common. Any
/// other flagged document is a false positive of the filter.
#[test]
fn whoever_meets_an_earlier_document_in_a_band_is_flagged() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, algorithm, docs) in [
        ("samples", "minhash:verify=none", sample_docs()),
        ("made", "minhash:bands=20,rows=5,verify=none", made_docs(2_000)),
        ("mega", "megashingles", sample_docs()),
    ] {
        let input = path(&format!("{name}.parquet"));
        write_docs(&input, &docs, 500);
        let run = done(&input, &["--algorithms", algorithm, "--no-report"]);
        let label = algorithm.split(':').next().unwrap();
        let mut came = vec![false; docs.len()];
        doc_pairs(&run.out(), label).into_iter().for_each(|(_, later)| came[later] = true);
        let out = path(name);
        stream(&input, &out, &["--algorithms", algorithm, "--rate", "0.01"]).ends_with(0);
        let flags = flags(&out);
        let missed = came.iter().zip(&flags).filter(|(came, flag)| **came && **flag != Some(true)).count();
        let by_chance = came.iter().zip(&flags).filter(|(came, flag)| !**came && **flag == Some(true)).count();
        let of_pairs = came.iter().filter(|came| **came).count();
        assert!(of_pairs > 100 && missed == 0, "{name}: {missed} of {of_pairs} are not flagged");
        // The filter is one tenth full.
        assert!(by_chance * 500 < docs.len(), "{name}: {by_chance} of {} by chance", docs.len());
        // If the two halves are processed in sequence, the flags are the same.
        let middle = docs.len() / 2;
        for (half, docs) in [("1", &docs[..middle]), ("2", &docs[middle..])] {
            write_docs(&path(&format!("{name}-{half}.parquet")), docs, 500);
        }
        let (one, two) = (path(&format!("{name}-1")), path(&format!("{name}-2")));
        let keys = (10 * docs.len()).to_string();
        let same = ["--algorithms", algorithm, "--rate", "0.01"];
        stream(&one.with_extension("parquet"), &one, &[&same[..], &["--keys", &keys]].concat()).ends_with(0);
        let filter = one.join("filter.bloom");
        let more = [&same[..], &["--filter", filter.to_str().unwrap()]].concat();
        stream(&two.with_extension("parquet"), &two, &more).ends_with(0);
        assert!(flags_of(&one).chain(flags_of(&two)).eq(flags.into_iter()), "{name}");
        if name != "samples" {
            // A band that occurred more than 15 times is never forgotten.
            continue;
        }
        // Forgotten documents count as new.
        let input = one.with_extension("parquet");
        let forget = [&more[..], &["--forget", input.to_str().unwrap(), "--overwrite"]].concat();
        stream(&input, &two, &forget).ends_with(0);
        let again = flags_of(&two).collect::<Vec<_>>();
        assert!(again == flags_of(&one).collect::<Vec<_>>(), "{name}: the filter is empty again");
    }
}

fn flags_of(out: &Path) -> impl Iterator<Item = Option<bool>> {
    flags(out).into_iter()
}
