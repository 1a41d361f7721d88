//! Many documents with one signature and different texts: the work is in proportion to their number, and all of it is
//! counted. Counts, not seconds: they are the same on every machine.

use serde_json::Value;

use crate::kit::{done, numbered, record, write_docs};

const CANDIDATES: u64 = 20_000;

/// Texts that differ in the case of letters: one canonical text, one signature.
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
    assert_eq!(record["documents"]["surplus_copies"].as_u64(), Some(0));
    assert_eq!(record["removal"]["removed"].as_u64(), Some(documents as u64 - 1));
    record["algorithms"].as_array().unwrap().clone()
}

#[test]
fn a_hot_key_costs_time_in_proportion_to_its_size() {
    for documents in [4_000, 8_000] {
        let all = documents * (documents - 1) / 2;
        // Above the bound each document is compared with as many of the following ones as the bound allows.
        let reach = CANDIDATES / documents;
        let compared = reach * documents - reach * (reach + 1) / 2;
        for one in counts(documents as usize) {
            let label = one["label"].as_str().unwrap().to_string();
            let count = |name: &str| one[name].as_u64().unwrap();
            let expected = match label.as_str() {
                // Classes: nothing is compared, and the best document stands for all.
                "exact" | "tf" | "simhash" => (0, 0, all, documents - 1),
                // Chains of one window: one sentence makes one key.
                "three_plus_five" => (compared, all - compared, compared, compared),
                // All bands hold the same documents, and are compared once.
                _ => (compared, all - compared, compared, compared),
            };
            let found = (count("compared"), count("left_out"), count("pairs"), count("pairs_written"));
            assert_eq!(found, expected, "{label}, {documents} documents");
            assert_eq!((count("clusters"), count("clustered")), (1, documents), "{label}");
            assert!(count("rows") <= 14 * documents, "{label}");
        }
    }
}
