//! Tests many documents with the same signature but different texts. The work is proportional to the number of documents, and all of it is
//! counted. The tests use counts rather than seconds, because counts are the same on every machine.

use dupsift_core::hash::splitmix64;
use serde_json::Value;

use crate::kit::{assert_same_bytes, done, numbered, record, write_docs};

const CANDIDATES: u64 = 20_000;

/// Returns a text in which only the letter case depends on `n`, so that all of these texts have the same canonical text and signature.
fn cased(n: usize) -> String {
    let mut letters: Vec<u8> = b"the quick brown foxes jumped over twenty lazy dogs near river banks".to_vec();
    let places: Vec<usize> = (0..letters.len()).filter(|&at| letters[at] != b' ').collect();
    for (bit, &at) in places.iter().take(20).enumerate() {
        if n >> bit & 1 == 1 {
            letters[at] = letters[at].to_ascii_uppercase();
        }
    }
    String::from_utf8(letters).unwrap()
}

fn counts(documents: usize) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    write_docs(&file, &numbered((0..documents).map(cased)), 2_000);
    let algorithms = "exact:form=canonical,tf,simhash,three_plus_five,minhash";
    let candidates = CANDIDATES.to_string();
    let done = done(&file, &["--algorithms", algorithms, "--max-candidates", &candidates, "--threads", "2"]);
    let record = record(&done.out());
    assert_eq!(record["documents"]["extra_copies"].as_u64(), Some(0));
    assert_eq!(record["removal"]["removed"].as_u64(), Some(documents as u64 - 1));
    record["algorithms"].as_array().unwrap().clone()
}

#[test]
fn a_hot_key_costs_time_in_proportion_to_its_size() {
    for documents in [4_000, 8_000] {
        let all = documents * (documents - 1) / 2;
        // Above the limit, each document is compared with only this many of the documents after it.
        let reach = CANDIDATES / documents;
        let compared = reach * documents - reach * (reach + 1) / 2;
        for one in counts(documents as usize) {
            let label = one["label"].as_str().unwrap().to_string();
            let count = |name: &str| one[name].as_u64().unwrap();
            let expected = match label.as_str() {
                // These algorithms form classes: nothing is compared, and the best document represents all documents.
                "exact" | "tf" | "simhash" => (0, 0, all, documents - 1),
                // This algorithm forms chains within a single window, because each text consists of one sentence and therefore has one key.
                "three_plus_five" => (compared, all - compared, compared, compared),
                // All bands contain the same documents, which are compared only once.
                _ => (compared, all - compared, compared, compared),
            };
            let found = (count("compared"), count("left_out"), count("pairs"), count("pairs_written"));
            assert_eq!(found, expected, "{label}, {documents} documents");
            assert_eq!((count("clusters"), count("clustered")), (1, documents), "{label}");
            assert!(count("rows") <= 14 * documents, "{label}");
        }
    }
}

/// Returns pages from the same template, each with sixty words, one of which is unique.
fn pages(count: usize) -> Vec<String> {
    let page = |n: usize| {
        let word = |at: usize| if at == n % 60 { format!("own{n}") } else { format!("word{at}") };
        (0..60).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(page).collect()
}

/// Returns the cost of a run on these texts: the comparisons, candidates and pairs of each algorithm, and the size of the temporary
/// files.
fn cost(texts: &[String], algorithms: &str) -> (Vec<(String, [u64; 3])>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    write_docs(&file, &numbered(texts), 2_000);
    let more = ["--algorithms", algorithms, "--threads", "2", "--memory", "64MiB", "--max-removed-share", "1"];
    let record = record(&done(&file, &more).out());
    let count = |one: &Value, name: &str| one[name].as_u64().unwrap();
    let of = |one: &Value| {
        let counts = ["compared", "candidates", "pairs_written"].map(|name| count(one, name));
        (one["label"].as_str().unwrap().to_string(), counts)
    };
    let bytes = record["stages"].as_array().unwrap().iter().map(|stage| count(stage, "spilled_bytes")).sum();
    (record["algorithms"].as_array().unwrap().iter().map(of).collect(), bytes)
}

/// Checks how fast the cost grows. Twice as many pages from the same template require about twice as many comparisons, and the size of
/// temporary files is proportional to the size of the text. Comparing all pages with each other would cost four times as much.
#[test]
fn pages_of_one_template_cost_in_proportion_to_their_number() {
    let others = "minhash:preset=fineweb,as=fineweb,minhash:bands=20,rows=5,verify=jaccard:0.5,as=broad,megashingles,\
                  shingles:join=lsh,unit=word";
    for (algorithms, documents) in [("exact,minhash", 5_000), (others, 1_500)] {
        let texts = pages(2 * documents);
        let (once, _) = cost(&texts[..documents], algorithms);
        let (twice, bytes) = cost(&texts, algorithms);
        for ((label, once), (_, twice)) in once.iter().zip(&twice) {
            for (once, twice) in once.iter().zip(twice) {
                assert!(10 * twice <= 26 * once, "{label}: {twice} for {once}");
            }
            assert!(label == "exact" || once[2] >= documents as u64 - 1, "{label}: each page has a pair");
        }
        let text: usize = texts.iter().map(String::len).sum();
        let most = if algorithms == others { 5 * 30 } else { 30 };
        assert!(bytes <= most * text as u64, "{bytes} bytes of temporary files for {text} of text");
    }
}

/// Checks that a new page from a template is compared with only some of the thousands of indexed pages from this template.
#[test]
fn an_index_looks_up_the_nearest_pages_of_a_template() {
    let folder = tempfile::tempdir().unwrap();
    let texts = pages(3_000);
    let index = folder.path().join("index");
    let index = index.to_str().unwrap();
    let run = |name: &str, docs: &[crate::kit::Doc]| {
        let file = folder.path().join(name);
        write_docs(&file, docs, 2_000);
        let more = ["--algorithms", "exact,minhash", "--index", index, "--batch", name, "--threads", "2"];
        let done = done(&file, &more);
        record(&done.out())
    };
    let docs = numbered(&texts);
    run("first.parquet", &docs[..2_999]);
    let record = run("second.parquet", &docs[2_999..]);
    let stages = record["stages"].as_array().unwrap();
    let met = stages.iter().find(|stage| stage["stage"] == "look up indexed documents").expect("some take part");
    let met = met["rows_in"].as_u64().unwrap();
    // In each of 14 bands, a page is compared with up to 22 neighbors on each side in a window of 1,500 rows, and with the first 4 rows.
    assert!((4..=14 * 48).contains(&met), "{met} indexed documents take part");
    assert_eq!(record["removal"]["removed"].as_u64(), Some(1));
}

/// Returns texts that each consist of 20 of the same 30 sentences, in any order.
pub(crate) fn of_the_same_sentences(count: usize) -> Vec<String> {
    let sentence = |n: u64| (0..4).map(|at| format!("word{}", 4 * n + at)).collect::<Vec<_>>().join(" ") + ".";
    let text = |n: usize| {
        let mut sentences: Vec<u64> = (0..30).collect();
        sentences.sort_unstable_by_key(|&sentence| splitmix64(n as u64, sentence));
        sentences[..20].iter().map(|&n| sentence(n)).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(text).collect()
}

/// Checks that the default compares each text with a limited number of texts if all of them share most of their sentences. The pairs do not
/// depend on threads or memory, and a warning counts the pairs left out.
#[test]
fn texts_of_the_same_sentences_cost_in_proportion_to_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let run = |count: usize, more: &[&str]| {
        let file = folder.path().join(format!("{count}.parquet"));
        write_docs(&file, &numbered(of_the_same_sentences(count)), 2_000);
        done(&file, &[&["--max-removed-share", "1"], more].concat())
    };
    let [once, twice] = [700, 1_400].map(|count| {
        let record = record(&run(count, &["--threads", "2"]).out());
        let stages = record["stages"].as_array().unwrap();
        let classified = stages.iter().find(|stage| stage["stage"] == "classify versions").expect("pairs");
        let versions = &record["algorithms"][1];
        assert!(versions["left_out_of_large_groups"].as_u64() > Some(0), "{versions}");
        assert!(record["warnings"].to_string().contains("is compared only with the nearest documents"), "{count}");
        let verified = classified["rows_in"].as_u64().unwrap();
        assert!((count as u64 * 30..=count as u64 * 128).contains(&verified), "{verified} pairs of {count} documents");
        verified
    });
    assert!(twice * 10 <= once * 23, "{twice} for {once}");
    let first = run(700, &["--threads", "2", "--memory", "1GiB"]);
    let other = run(700, &["--threads", "5", "--memory", "96MiB"]);
    assert_same_bytes(&first.out(), &other.out(), "threads and memory");
}

/// Checks that groups of identical texts cost one pair per document, regardless of their size.
#[test]
fn equal_texts_cost_in_proportion_to_their_number() {
    let groups =
        |size: usize| (0..10 * size).map(|n| format!("error page {} is not available", n % 10)).collect::<Vec<_>>();
    let algorithms = "exact,minhash,simhash,cosine";
    let ((below, less), (above, more)) = (cost(&groups(1_000), algorithms), cost(&groups(1_001), algorithms));
    for ((label, below), (_, above)) in below.iter().zip(&above) {
        // The ten texts form at most 45 pairs.
        assert!((9_990..=10_035).contains(&below[2]), "{label}: {} pairs", below[2]);
        assert!(
            2 * below[2] <= 3 * above[2] && 2 * below[0] <= 3 * above[0].max(1),
            "{label}: {below:?} for {above:?}"
        );
    }
    assert!(2 * less <= 3 * more, "{less} bytes of temporary files for {more}");
}
