//! Tests that the same documents in the same order with the same recipe give the same bytes, with any number of threads, any memory limit
//! and any division into files. A different order of documents gives the same pairs of ids.

use std::collections::HashMap;
use std::path::Path;

use crate::kit::{
    ALL, Doc, Numbers, SEVEN, assert_same_bytes, done, files_below, id_pairs, json_lines, labels, made_docs, members,
    numbered, record, removed_ids, result_bytes, sample_docs, samples, write_docs,
};

const WHOLE: &[&str] = &["--algorithms", ALL];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [WHOLE, more].concat()
}

#[test]
fn threads_and_memory_do_not_show() {
    let first = done(samples(), &with(&["--threads", "2", "--memory", "4GiB"]));
    assert!(result_bytes(&first.out()).len() == 2 * members() + 1);
    let others: [&[&str]; 3] = [
        &["--threads", "5", "--memory", "4GiB"],
        &["--threads", "2", "--memory", "48MiB"],
        &["--threads", "1", "--memory", "32MiB"],
    ];
    let learnt = |out: &Path| -> Vec<Vec<u8>> {
        files_below(&out.join("stats")).iter().map(|file| std::fs::read(file).unwrap()).collect()
    };
    assert!(learnt(&first.out()).len() >= 5);
    for other in others {
        let second = done(samples(), &with(other));
        assert_same_bytes(&first.out(), &second.out(), &other.join(" "));
        assert!(learnt(&first.out()) == learnt(&second.out()), "{}: other statistics or models", other.join(" "));
    }
}

/// Checks that the prefilter, a counting Bloom filter, reduces the number of rows without changing pairs, clusters or removals.
#[test]
fn prefiltering_leaves_out_rows_and_no_pair() {
    let plain = done(samples(), WHOLE);
    let prefiltered = done(samples(), &with(&["--prefilter"]));
    assert_same_bytes(&plain.out(), &prefiltered.out(), "--prefilter");
    let rows = |record: &serde_json::Value, field: &str| -> Vec<u64> {
        record["algorithms"].as_array().unwrap().iter().map(|one| one[field].as_u64().unwrap()).collect()
    };
    let (before, after) = (record(&plain.out()), record(&prefiltered.out()));
    let all = rows(&after, "rows").into_iter().zip(rows(&after, "prefiltered_rows")).map(|(kept, out)| kept + out);
    assert_eq!(rows(&before, "rows"), all.collect::<Vec<_>>());
    let labels = after["algorithms"].as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap());
    for (label, (before, after)) in labels.zip(rows(&before, "rows").into_iter().zip(rows(&after, "rows"))) {
        match label {
            // Hamming distances require rows with unique keys for a second round, and `shingles` compares all documents with each other.
            "simhash" | "random_projection" | "shingles" => assert_eq!(after, before, "{label}"),
            _ => assert!(after < before, "{label}: {before} {after}"),
        }
    }
}

#[test]
fn the_cut_into_files_and_row_groups_does_not_show() {
    let docs = sample_docs();
    let whole = done(samples(), WHOLE);
    let glob = samples().join("*.parquet");
    assert_same_bytes(&whole.out(), &done(&glob, WHOLE).out(), "a glob");
    let folder = tempfile::tempdir().unwrap();
    let same = |name: &str, write: &dyn Fn(&Path)| {
        let place = folder.path().join(name);
        std::fs::create_dir(&place).unwrap();
        write(&place);
        assert_same_bytes(&whole.out(), &done(&place, WHOLE).out(), name);
    };
    same("one file, groups of 37", &|place| write_docs(&place.join("a.parquet"), &docs, 37));
    same("seven files", &|place| {
        for (at, part) in docs.chunks(docs.len().div_ceil(7)).enumerate() {
            write_docs(&place.join(format!("part-{at}.parquet")), part, 100 + at);
        }
    });
    same("seven files of two formats, one without rows", &|place| {
        for (at, part) in docs.chunks(docs.len().div_ceil(6)).enumerate() {
            if at % 2 == 0 {
                std::fs::write(place.join(format!("{at}.jsonl")), json_lines(part)).unwrap();
            } else {
                write_docs(&place.join(format!("{at}.parquet")), part, 1000);
            }
        }
        write_docs(&place.join("3-none.parquet"), &[], 10);
    });
}

fn shuffled(mut docs: Vec<Doc>, seed: u64) -> Vec<Doc> {
    let mut numbers = Numbers(seed << 32);
    for at in (1..docs.len()).rev() {
        docs.swap(at, numbers.below(at + 1));
    }
    docs
}

#[test]
fn another_order_of_documents_gives_the_same_pairs_of_ids() {
    let folder = tempfile::tempdir().unwrap();
    let first = done(samples(), WHOLE);
    assert_eq!(labels(&first.out()).len(), members());
    // The copy that represents a text depends on the order, so pairs are compared by text.
    let docs = sample_docs();
    let texts: HashMap<&String, &str> = docs.iter().map(|doc| (&doc.id, doc.text.as_str())).collect();
    let file = folder.path().join("shuffled.parquet");
    write_docs(&file, &shuffled(sample_docs(), 1), 300);
    let other = done(&file, WHOLE);
    for label in labels(&first.out()) {
        let of_texts = |out: &Path| {
            let pairs = id_pairs(out, &label).into_iter().map(|(a, b)| (texts[&a], texts[&b]));
            let mut pairs: Vec<_> = pairs.map(|(a, b)| if a < b { (a, b) } else { (b, a) }).collect();
            pairs.sort_unstable();
            pairs
        };
        let (expected, came) = (of_texts(&first.out()), of_texts(&other.out()));
        assert!(!expected.is_empty() && expected == came, "{label}");
    }
}

/// Covers only algorithms that use no statistics, because statistics change with the corpus.
#[test]
fn what_is_left_after_removal_has_nothing_to_remove() {
    let folder = tempfile::tempdir().unwrap();
    for algorithms in
        ["exact", "tf", "long_sent", "simhash", "minhash", "exact,tf,long_sent,three_plus_five,simhash,minhash"]
    {
        let first = done(samples(), &["--algorithms", algorithms]);
        let removed = removed_ids(&first.out());
        assert!(removed.len() > 100, "{algorithms}");
        let mut docs = sample_docs();
        docs.retain(|doc| !removed.contains(&doc.id));
        let file = folder.path().join(format!("{}.parquet", algorithms.len()));
        write_docs(&file, &docs, 1000);
        let second = done(&file, &["--algorithms", algorithms]);
        assert_eq!(removed_ids(&second.out()), [""; 0], "{algorithms}");
    }
}

/// Checks that spilled rows are read back unchanged if there are more rows than fit within the smallest memory limit.
#[test]
fn spilling_does_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let made = made_docs(40_000);
    assert!(made.iter().map(|doc| doc.text.len()).sum::<usize>() > 12 << 20);
    // Each file is below the minimum size for the guard against large removals.
    for (at, part) in made.chunks(9_000).enumerate() {
        write_docs(&folder.path().join(format!("{at}.parquet")), part, 2_000);
    }
    let algorithms = format!("{SEVEN},cosine,segments,minhash:preset=core,as=core");
    let spilled = |memory: &str, threads: &str| {
        let done = done(folder.path(), &["--algorithms", &algorithms, "--memory", memory, "--threads", threads]);
        let record = record(&done.out());
        let bytes: u64 =
            record["algorithms"].as_array().unwrap().iter().map(|one| one["spilled_bytes"].as_u64().unwrap()).sum();
        (done, bytes)
    };
    let (least, spilled_bytes) = spilled("48MiB", "2");
    assert!(spilled_bytes > 8 << 20, "only {spilled_bytes} bytes were spilled");
    let (most, none) = spilled("4GiB", "1");
    assert!(none < spilled_bytes);
    assert_same_bytes(&least.out(), &most.out(), "48 MiB and 4 GiB");
}

/// Tests with two million distinct words, more than can be counted in memory within the smallest memory limit.
#[test]
fn spilled_counts_are_the_same_statistics() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbers.parquet");
    let text = |n: usize| (0..1000).map(|k| format!("w{} ", (n / 2 * 2000 + n % 2 * 7 + k) * 7)).collect::<String>();
    write_docs(&file, &numbered((0..4_000).map(text)), 200);
    let counted = |algorithms: &str, memory: &str, threads: &str| {
        let done = done(&file, &["--algorithms", algorithms, "--memory", memory, "--threads", threads]);
        let record = record(&done.out());
        let count =
            record["stages"].as_array().unwrap().iter().find(|stage| stage["stage"] == "count").unwrap().clone();
        (done, count["spilled_bytes"].as_u64().unwrap(), record["statistics"].clone())
    };
    // In the first case, the words of documents are kept, in one or several parts. In the second case, another pass makes this unnecessary.
    for (algorithms, keeps) in [("tf_idf", true), ("tf_idf,heavy_sent", false)] {
        let (least, spilled, statistics) = counted(algorithms, "48MiB", "2");
        let (most, none, same_statistics) = counted(algorithms, "4GiB", "1");
        assert!(spilled > (4 << 20) + none && keeps == (none > 0), "{spilled} bytes were spilled, and {none}");
        assert_eq!(statistics["words"].as_u64(), Some(2_000 * 1_007));
        assert_eq!(statistics, same_statistics);
        let table = |out: &Path| std::fs::read(out.join("stats/words/part-00000.parquet")).unwrap();
        assert!(table(&least.out()) == table(&most.out()), "other statistics");
        assert_same_bytes(&least.out(), &most.out(), algorithms);
    }
}
