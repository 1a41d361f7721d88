//! Tests inputs in which a lot of data is missing although no row is invalid. The previous output is kept.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::kit::{Ran, record, run};

/// Returns this many lines, which differ from file to file.
fn lines(file: usize, rows: usize) -> Vec<u8> {
    let line = |row: usize| format!("{{\"id\":\"{file}-{row}\",\"text\":\"text {row} of the file {file}\"}}\n");
    (0..rows).map(line).collect::<String>().into_bytes()
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns a folder with `out`, the result of five good files with 100 rows each.
fn yesterday() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("corpus");
    std::fs::create_dir(&corpus).unwrap();
    (0..5).for_each(|file| std::fs::write(corpus.join(format!("{file}.jsonl")), lines(file, 100)).unwrap());
    again(folder.path()).ends_with(0);
    (0..5).for_each(|file| std::fs::remove_file(corpus.join(format!("{file}.jsonl"))).unwrap());
    folder
}

fn again(folder: &Path) -> Ran {
    run(&[&folder.join("corpus")], &folder.join("out"), &["--overwrite", "--algorithms", "exact"])
}

/// Checks that the result is held and that its record lists this many bad files.
#[track_caller]
fn held(folder: &Path, bad: usize) {
    let ran = again(folder).ends_with(4);
    assert!(ran.stdout.contains("`--max-rejected-share"), "{}", ran.stdout);
    assert_eq!(record(&folder.join("out"))["documents"]["rows"], 500, "the output of yesterday stays");
    assert_eq!(record(&folder.join("out.held"))["bad_inputs"].as_array().map(Vec::len), Some(bad));
}

fn at(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    folder.path().join("corpus").join(name)
}

#[test]
fn files_of_json_without_the_text_column_are_bad_inputs_whatever_their_ending() {
    for (ending, packed) in [("json.gz", true), ("json", false), ("jsonl.gz", true)] {
        let folder = yesterday();
        for file in 0..5 {
            let text = String::from_utf8(lines(file, 100)).unwrap();
            let text = if file > 0 { text.replace("\"text\"", "\"content\"") } else { text };
            let bytes = if packed { gz(text.as_bytes()) } else { text.into_bytes() };
            std::fs::write(at(&folder, &format!("{file}.{ending}")), bytes).unwrap();
        }
        held(folder.path(), 4);
    }
}

#[test]
fn links_to_files_that_are_gone_count_as_files() {
    let folder = yesterday();
    for file in 0..5 {
        std::os::unix::fs::symlink(format!("../store/{file}.jsonl"), at(&folder, &format!("{file}.jsonl"))).unwrap();
    }
    std::fs::create_dir(folder.path().join("store")).unwrap();
    std::fs::write(folder.path().join("store/1.jsonl"), lines(1, 30)).unwrap();
    held(folder.path(), 4);
}

#[test]
fn empty_files_of_parquet_count_as_files() {
    let folder = yesterday();
    std::fs::write(at(&folder, "0.jsonl"), lines(0, 100)).unwrap();
    (1..5).for_each(|file| std::fs::write(at(&folder, &format!("{file}.parquet")), b"").unwrap());
    held(folder.path(), 4);
}

#[test]
fn half_a_file_behind_a_damaged_member_is_no_note() {
    let folder = yesterday();
    let (first, mut second) = (gz(&lines(0, 500)), gz(&lines(1, 500)));
    second[0] ^= 0xFF;
    let bytes = [first.clone(), second].concat();
    std::fs::write(at(&folder, "0.jsonl.gz"), bytes).unwrap();
    held(folder.path(), 1);
    let held_back = record(&folder.path().join("out.held"));
    assert_eq!(held_back["documents"]["rows"], 500, "the rows before it take part");
    let why = held_back["bad_inputs"][0]["why"].as_str().unwrap();
    assert!(why.contains(&format!("from byte {}", first.len())), "{why}");
    // A signature followed by zeros causes only a note.
    let bytes = [first, b"signature of it\n".to_vec()].concat();
    std::fs::write(at(&folder, "0.jsonl.gz"), bytes).unwrap();
    let ran = again(folder.path()).ends_with(0);
    assert!(ran.stdout.contains("not compressed data"), "{}", ran.stdout);
}
