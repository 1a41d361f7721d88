//! Tests that signatures are the same whether they are computed from words that were kept during counting or from a second pass over the
//! texts.

use crate::kit::{Done, assert_same_bytes, done, files_below, labels, record, samples};

/// Algorithms that compute signatures from words only, including some that use no counts.
const BY_WORDS: &str = "exact,tf_idf,minhash,tf_ridf,opt_freq,simhash,imatch,idf_hash,lex_rand,keyword_match,\
    fingerprint:weight=tf_over_df,three_plus_five,versions,cosine:as=plain";

/// An algorithm that needs counts and reads texts. If a run includes this algorithm, all algorithms that need counts read texts.
const READER: &str = "heavy_sent";

fn stages(done: &Done) -> Vec<String> {
    let record = record(&done.out());
    record["stages"].as_array().unwrap().iter().map(|stage| stage["stage"].as_str().unwrap().to_string()).collect()
}

/// Returns the tables of each algorithm except [`READER`].
fn tables(done: &Done) -> Vec<(String, Vec<u8>)> {
    let out = done.out();
    let below = |kind: &str| files_below(&out.join(kind));
    let files = below("pairs").into_iter().chain(below("clusters"));
    let own = files.map(|file| (file.strip_prefix(&out).unwrap().to_string_lossy().into_owned(), file));
    own.filter(|(name, _)| !name.contains(READER)).map(|(name, file)| (name, std::fs::read(file).unwrap())).collect()
}

#[test]
fn kept_words_sign_as_a_second_reading_does() {
    let folder = tempfile::tempdir().unwrap();
    let stop_words = folder.path().join("stop.txt");
    std::fs::write(&stop_words, "и\nthe\n的\nв\nof\n").unwrap();
    let stop_words = stop_words.to_str().unwrap();
    let with_reader = format!("{BY_WORDS},{READER}");
    let settings: [&[&str]; 6] = [
        &[],
        &["--memory", "64MiB", "--threads", "3"],
        &["--count-copies", "false", "--threads", "1"],
        &["--stem", "--stop-words", stop_words],
        &["--tokenizer", "bigram", "--limit", "1500"],
        &["--tokenizer", "char"],
    ];
    for more in settings {
        let run = |algorithms: &str| done(samples(), &[&["--algorithms", algorithms], more].concat());
        let (kept, again) = (run(BY_WORDS), run(&with_reader));
        let (kept_stages, again_stages) = (stages(&kept), stages(&again));
        assert!(kept_stages.iter().any(|stage| stage == "read saved words"), "{kept_stages:?}");
        assert!(again_stages.iter().any(|stage| stage == "sign"), "{again_stages:?}");
        assert!(again_stages.iter().all(|stage| stage != "read saved words"), "{again_stages:?}");
        let (kept_tables, again_tables) = (tables(&kept), tables(&again));
        assert_eq!(kept_tables.len(), 2 * labels(&kept.out()).len());
        for (kept, again) in kept_tables.iter().zip(&again_tables) {
            assert!(kept == again, "{more:?}: {} differs from {}", kept.0, again.0);
        }
        assert_eq!(kept_tables.len(), again_tables.len());
        let signed = |done: &Done| -> Vec<serde_json::Value> {
            let record = record(&done.out());
            let algorithms = record["algorithms"].as_array().unwrap().iter().filter(|one| one["label"] != READER);
            algorithms.map(|one| serde_json::json!([one["label"], one["signed"], one["unsigned"]])).collect()
        };
        assert_eq!(signed(&kept), signed(&again), "{more:?}");
    }
}

#[test]
fn threads_and_memory_do_not_show_in_kept_words() {
    let run = |more: &[&str]| done(samples(), &[&["--algorithms", BY_WORDS], more].concat());
    let first = run(&["--threads", "2", "--memory", "4GiB"]);
    let others: [&[&str]; 3] =
        [&["--threads", "1", "--memory", "32MiB"], &["--threads", "5", "--memory", "96MiB"], &["--threads", "3"]];
    for more in others {
        assert_same_bytes(&first.out(), &run(more).out(), &more.join(" "));
    }
}
