//! Tests the cost of a run, measured in counts: rows, comparisons, texts read, and bytes written to disk.
//!
//! Counts are the same on every machine, so these tests do not have to measure time to detect a change that increases the work. Numbers
//! that follow from the algorithm are exact; all other numbers have an upper bound. To guard a new count, first add it to run.json, then
//! add a test with a comment that states what it guards.

use std::fmt::Write;
use std::io::Write as _;

use expect_test::expect;
use serde_json::Value;

use crate::kit::{
    ALL, Done, Numbers, assert_same_bytes, done, json_lines, numbered, record, result_bytes, sample_docs, samples,
    write_docs,
};

/// The number of documents in the samples.
const DOCUMENTS: u64 = 2455;

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or_else(|| panic!("run.json has no number {name} in {value}"))
}

fn list<'v>(record: &'v Value, name: &str) -> &'v [Value] {
    record[name].as_array().unwrap_or_else(|| panic!("run.json has no list {name}"))
}

/// Returns the sum of the `name` values of all stages whose names begin with `stage`.
fn of_stages(record: &Value, stage: &str, name: &str) -> u64 {
    let named = |one: &&Value| one["stage"].as_str().unwrap().starts_with(stage);
    list(record, "stages").iter().filter(named).map(|one| number(one, name)).sum()
}

fn run(algorithms: &str, more: &[&str]) -> (Done, Value) {
    let done = done(samples(), &[&["--algorithms", algorithms], more].concat());
    let record = record(&done.out());
    assert_eq!(number(&record["documents"], "used"), DOCUMENTS);
    (done, record)
}

/// Guards the number and the width of rows, to which the cost of sorting and spilling is proportional. Copies are not signed if a first
/// pass found them: 2,193 of 2,455 documents are signed. Also guards the comparisons, which would be quadratic in the size of a group if
/// documents with the same key were needlessly compared, and the candidates, each of which costs a verification.
#[test]
fn rows_comparisons_and_candidates() {
    let (_done, record) = run("all", &[]);
    let mut table = String::new();
    for one in list(&record, "algorithms") {
        let count = |name: &str| number(one, name);
        let label = one["label"].as_str().unwrap();
        let (rows, bytes) = (count("rows"), count("row_bytes"));
        let (compared, candidates) = (count("compared"), count("candidates"));
        writeln!(table, "{label}: {rows} rows of {bytes} bytes, {compared} compared, {candidates} candidates").unwrap();
        assert_eq!(count("left_out"), 0, "{label}");
    }
    expect![[r#"
        core_words: 2193 rows of 52 bytes, 810 compared, 288 candidates
        cosine: 35136 rows of 28 bytes, 42639 compared, 8879 candidates
        decomposition: 145343 rows of 28 bytes, 179113 compared, 7761 candidates
        descr_words: 2179 rows of 12 bytes, 0 compared, 0 candidates
        exact: 2194 rows of 20 bytes, 0 compared, 0 candidates
        fingerprint: 2194 rows of 20 bytes, 0 compared, 0 candidates
        heavy_sent: 2194 rows of 12 bytes, 0 compared, 0 candidates
        idf_hash: 2194 rows of 20 bytes, 0 compared, 0 candidates
        imatch: 2194 rows of 12 bytes, 0 compared, 0 candidates
        keyword_match: 6582 rows of 92 bytes, 11334 compared, 816 candidates
        keywords: 2194 rows of 56 bytes, 471 compared, 471 candidates
        lex_rand: 24125 rows of 13 bytes, 3102 compared, 375 candidates
        log_shingles: 4388 rows of 12 bytes, 383 compared, 198 candidates
        long_sent: 2194 rows of 12 bytes, 0 compared, 0 candidates
        lsi: 70208 rows of 13 bytes, 108843 compared, 65082 candidates
        megashingles: 32910 rows of 17 bytes, 4310 compared, 466 candidates
        minhash: 30716 rows of 17 bytes, 4640 compared, 557 candidates
        near_page: 2193 rows of 20 bytes, 0 compared, 0 candidates
        opt_freq: 2194 rows of 12 bytes, 0 compared, 0 candidates
        random_projection: 2194 rows of 68 bytes, 1857 compared, 179 candidates
        repeats: 3306 rows of 12 bytes, 1319 compared, 356 candidates
        segments: 10984 rows of 12 bytes, 12583 compared, 3873 candidates
        sentence_marks: 6562 rows of 29 bytes, 1004 compared, 361 candidates
        shingles: 46496 rows of 152 bytes, 2405721 compared, 29545 candidates
        sim: 5704 rows of 81 bytes, 2924 compared, 654 candidates
        simhash: 2194 rows of 12 bytes, 1437 compared, 229 candidates
        tf: 2194 rows of 12 bytes, 0 compared, 0 candidates
        tf_idf: 2194 rows of 12 bytes, 0 compared, 0 candidates
        tf_ridf: 2194 rows of 12 bytes, 0 compared, 0 candidates
        three_plus_five: 8770 rows of 18 bytes, 2175 compared, 1209 candidates
        versions: 122864 rows of 12 bytes, 58632 compared, 1740 candidates
    "#]]
    .assert_eq(&table);
}

/// Guards the number of passes. An algorithm that needs statistics of the complete corpus, and uses more than the words of a document,
/// requires a second pass. A model that is learned from the statistics requires a third pass. If pairs are verified by comparing texts,
/// there is one more pass, which reads the documents in candidate pairs. Nothing else reads texts.
#[test]
fn a_text_is_read_as_often_as_the_method_needs() {
    for (algorithms, whole, again) in [
        ("exact", 1, 0),
        ("simhash", 1, 0),
        ("three_plus_five", 1, 0),
        ("minhash:verify=none", 1, 0),
        ("minhash", 1, 1040),
        ("exact,three_plus_five,minhash", 1, 1040),
        ("tf_idf", 1, 0),
        ("exact,imatch,versions", 1, 0),
        ("tf_idf,heavy_sent", 2, 0),
        ("repeats", 3, 652),
        (ALL, 3, 2194),
    ] {
        let (_done, record) = run(algorithms, &[]);
        let read = |stage: &str| of_stages(&record, stage, "rows_in");
        assert_eq!(
            read("count") + read("collect training data") + read("sign"),
            whole * DOCUMENTS,
            "{algorithms}: readings of the corpus"
        );
        assert_eq!(read("read candidates"), again, "{algorithms}: documents read again");
    }
}

/// Guards the cost of reading a compressed JSON lines file: only the pass that counts its rows decompresses the file, even if many passes
/// read texts, candidates and ids later. The compressed file has the same rows as the uncompressed file.
#[test]
fn a_compressed_file_of_lines_is_unpacked_once() {
    let folder = tempfile::tempdir().unwrap();
    let lines = json_lines(&sample_docs());
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&lines).unwrap();
    let [plain, packed_gz, packed_zst] =
        ["plain.jsonl", "packed.jsonl.gz", "packed.jsonl.zst"].map(|name| folder.path().join(name));
    std::fs::write(&plain, &lines).unwrap();
    std::fs::write(&packed_gz, packed.finish().unwrap()).unwrap();
    std::fs::write(&packed_zst, zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
    let unpacked = |done: &Done| number(&record(&done.out())["documents"], "unpacked_bytes");
    for (algorithms, threads) in [("minhash", "1"), ("tf_idf,heavy_sent", "8"), ("exact,imatch,versions", "3")] {
        let options = ["--algorithms", algorithms, "--threads", threads];
        let expected = done(&plain, &options);
        assert_eq!(unpacked(&expected), 0);
        for packed in [&packed_gz, &packed_zst] {
            let done = done(packed, &options);
            assert_eq!(unpacked(&done), lines.len() as u64, "{algorithms}");
            assert_same_bytes(&expected.out(), &done.out(), algorithms);
        }
    }
    // Nothing is stored for a file if only its first rows are requested.
    let few = done(&packed_gz, &["--algorithms", "minhash", "--limit", "1000"]);
    assert!(unpacked(&few) > lines.len() as u64);
}

/// Guards the recording of contents: the contents of candidates are recorded while the candidates are read, so removal does not read their
/// texts again. If candidates are not verified by comparing texts, removal has to read the texts.
#[test]
fn removal_reads_no_text_of_a_candidate_again() {
    for (algorithm, is_read) in [("minhash", false), ("simhash", true)] {
        let (_done, record) = run(algorithm, &[]);
        let removed = number(&record["removal"], "removed");
        assert!(removed > 0, "{algorithm}");
        assert_eq!(of_stages(&record, "read ids and pairs", "rows_in") > 0, is_read, "{algorithm}");
    }
}

/// Guards the use of the dictionary, which costs ten times as much as all other processing of the text. Each Chinese character is segmented
/// at most once, even if many algorithms, passes and checks use words, and never if all algorithms use only characters.
#[test]
fn chinese_is_segmented_once_for_the_whole_job() {
    let segmented = |algorithms: &str| number(&run(algorithms, &[]).1, "segmented_characters");
    let once = segmented("tf");
    assert!(once > 100_000, "{once} characters: the samples have more");
    for algorithms in ["tf_idf", ALL, "tf_idf:verify=cosine:0.5,three_plus_five:verify=lcs:0.5"] {
        assert_eq!(segmented(algorithms), once, "{algorithms}");
    }
    assert_eq!(segmented("exact,simhash,minhash"), 0);
}

/// Guards against leaving memory unused: rows that fit into memory stay there, with one thread and with eight threads. The Chinese word
/// boundaries that the first pass stores for the second pass are always in a file whose size is less than a hundredth of the size of the
/// text.
#[test]
fn what_fits_into_memory_does_not_go_to_the_disk() {
    for threads in ["1", "8"] {
        let (_done, record) = run(ALL, &["--memory", "512MiB", "--threads", threads]);
        for stage in ["fold", "group"] {
            assert_eq!(of_stages(&record, stage, "spilled_bytes"), 0, "{stage}");
        }
        let (stored, text) = (of_stages(&record, "count", "spilled_bytes"), number(&record["documents"], "text_bytes"));
        // Signing writes the evidence for one algorithm, which is two numbers per distinct word.
        let evidence = of_stages(&record, "sign", "spilled_bytes");
        assert!(evidence > 0 && evidence < text * 3 / 2, "{evidence} bytes of evidence of a text of {text}");
        assert!(stored * 100 < text, "{stored} bytes are stored of a text of {text}");
        assert!(list(&record, "algorithms").iter().all(|one| number(one, "spilled_bytes") == 0));
    }
}

/// Guards the space that is required to keep words during counting: about three bytes for each distinct word in a document, plus the word
/// itself about once per thread.
#[test]
fn kept_words_take_few_bytes() {
    for threads in ["1", "8"] {
        let (_done, record) = run("tf_idf", &["--threads", threads]);
        let (stored, text) = (of_stages(&record, "count", "spilled_bytes"), number(&record["documents"], "text_bytes"));
        assert!(stored > text / 20 && stored * 2 < text, "{threads}: {stored} bytes are stored of a text of {text}");
    }
}

/// Guards the counts that must not grow with the number of threads: rows, comparisons, candidates and documents read again.
#[test]
fn eight_threads_do_the_work_of_one() {
    let work = |threads: &str| {
        let (_done, record) = run("exact,minhash,versions,simhash", &["--threads", threads]);
        let again = of_stages(&record, "read candidates", "rows_in");
        let counts = |one: &Value| ["rows", "compared", "candidates", "pairs"].map(|name| number(one, name));
        (list(&record, "algorithms").iter().map(counts).collect::<Vec<_>>(), again)
    };
    assert_eq!(work("1"), work("8"));
}

/// Guards the size of a signature on disk: 14 rows of 17 bytes per document are 238 bytes, plus other data for the document. No
/// row is written twice.
#[test]
fn minhash_spills_at_most_360_bytes_a_document() {
    const COUNT: u64 = 120_000;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("short.parquet");
    write_docs(&file, &numbered((0..COUNT).map(|n| format!("w{n} of b{} no c{n} other", n * 7))), 20_000);
    let done = done(&file, &["--algorithms", "minhash", "--memory", "32MiB", "--threads", "1"]);
    let record = record(&done.out());
    let minhash = &list(&record, "algorithms")[0];
    assert_eq!(number(minhash, "rows") * number(minhash, "row_bytes"), COUNT * 238);
    let rows = number(minhash, "spilled_bytes");
    assert!(rows > COUNT * 20 && rows <= COUNT * 238, "{rows} bytes of rows were spilled");
    let all = of_stages(&record, "", "spilled_bytes");
    assert!(all <= COUNT * 360, "{all} bytes were spilled, {} a document", all / COUNT);
}

/// Guards the size of the output. The rows of the tables repeat ids in order, which compresses well. The ids of the samples are 62
/// characters long.
#[test]
fn a_written_row_takes_few_bytes() {
    let (done, record) = run(ALL, &[]);
    let rows: u64 = list(&record, "algorithms")
        .iter()
        .map(|one| number(one, "pairs_written") + number(one, "clustered"))
        .sum::<u64>()
        + number(&record["removal"], "removed");
    let bytes: usize = result_bytes(&done.out()).values().map(Vec::len).sum();
    // The relation columns of `versions` require additional bytes.
    assert!(bytes as u64 <= rows * 26, "{bytes} bytes for {rows} rows");
}

/// Guards the growth of the cost. A corpus of ten parts, which are identical except for the letters in their words, produces ten times as
/// many rows as one part, and about ten times as many comparisons, candidates and pairs. The bound of eleven allows for random variation.
/// `simhash` is excluded: unrelated fingerprints share a block by chance, and the number of such pairs grows quadratically until the tables
/// change.
#[test]
fn ten_times_the_documents_cost_ten_times_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let counted = |letters: &str| {
        let file = folder.path().join(format!("{letters}.parquet"));
        write_docs(&file, &numbered(letters.chars().flat_map(texts_with_near_copies)), 1_000);
        let done = done(&file, &["--algorithms", "exact,tf,long_sent,three_plus_five,minhash"]);
        record(&done.out())
    };
    let (small, large) = (counted("a"), counted("abcdefghij"));
    for (small, large) in list(&small, "algorithms").iter().zip(list(&large, "algorithms")) {
        for name in ["rows", "compared", "candidates", "pairs"] {
            let (small, large, label) = (number(small, name), number(large, name), &small["label"]);
            assert!(large <= small * 11, "{label}, {name}: {small} for 4,000 documents, {large} for 40,000");
        }
        assert!(number(small, "pairs") > 100, "{}", small["label"]);
    }
}

/// Returns 4,000 texts of three sentences with ten words each. All words begin with the given letter. One in five texts is similar or
/// identical to one of the twenty texts before it.
fn texts_with_near_copies(letter: char) -> Vec<String> {
    let mut numbers = Numbers(5);
    let mut texts: Vec<Vec<String>> = Vec::new();
    for at in 0..4_000 {
        let mut word = || format!("{letter}{}", numbers.below(60_000));
        let mut words: Vec<String> = (0..30).map(|_| word()).collect();
        if at % 5 == 4 {
            let other = word();
            words = texts[at - 1 - numbers.below(at.min(20))].clone();
            if numbers.below(3) > 0 {
                words[numbers.below(30)] = other;
            }
        }
        texts.push(words);
    }
    let sentences = |words: &Vec<String>| words.chunks(10).map(|ten| ten.join(" ") + ". ").collect();
    texts.iter().map(sentences).collect()
}
