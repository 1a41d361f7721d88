//! Tests input files with names and paths that are too long for the output.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::kit::{Ran, Table, files_below, json_lines, names_in, numbered, program, record};

fn typed(folder: &Path, words: &[&str]) -> Ran {
    Ran::of(program().current_dir(folder).args(words).output().unwrap()).ends_with(0)
}

fn corpus(folder: &Path, name: &std::ffi::OsStr, from: usize) {
    fs::create_dir_all(folder).unwrap();
    let text = |from: usize| format!("document {from} about the number {} and the number {}", from * 7, from * 13);
    fs::write(folder.join(name), json_lines(&numbered([text(from), text(from), text(from + 1)]))).unwrap();
}

#[test]
fn a_long_file_name_is_shortened_in_every_folder_of_the_corpus() {
    for letter in ["x", "я"] {
        let place = tempfile::tempdir().unwrap();
        let long = format!("{}.jsonl", letter.repeat(242 / letter.len()));
        corpus(&place.path().join("corpus"), long.as_ref(), 1);
        corpus(&place.path().join("corpus"), "short.jsonl".as_ref(), 5);
        let ran = typed(
            place.path(),
            &["run", "corpus", "--out", "out", "--corpus", "keep,annotate", "--algorithms", "exact"],
        );
        // The name fits, but not with the ending of a table.
        let names = names_in(&place.path().join("out/attributes"));
        assert_eq!(names_in(&place.path().join("out/deduped")).len(), 2);
        let short = names.iter().find(|name| *name != "short.jsonl.parquet").unwrap();
        assert!(short.len() <= 255 && short.starts_with(letter) && short.ends_with(".jsonl.parquet"), "{short}");
        assert_eq!(Table::read(&place.path().join("out/attributes").join(short)).len(), 3);
        let shortened = &record(&place.path().join("out"))["corpus"]["folders"]["attributes"]["shortened"];
        assert_eq!(shortened[format!("attributes/{long}.parquet")], format!("attributes/{short}"), "{shortened}");
        assert!(ran.stderr.contains("is too long for the file system"), "{}", ran.stderr);
        let page = fs::read_to_string(place.path().join("out/report.html")).unwrap();
        assert!(page.contains(&long) && page.contains(&**short));
        typed(place.path(), &["apply", "out", "--corpus", "annotate", "--overwrite"]);
        let applied: serde_json::Value =
            serde_json::from_slice(&fs::read(place.path().join("out/applied.json")).unwrap()).unwrap();
        let again = &applied["corpus"]["folders"]["attributes"]["shortened"][format!("attributes/{long}.parquet")];
        assert_eq!(*again, format!("attributes/{short}"), "{applied}");
    }
}

/// Checks a name that is not UTF-8: each such byte is written as a character of three bytes.
#[test]
fn a_name_in_another_encoding_fits_after_it_is_converted() {
    let place = tempfile::tempdir().unwrap();
    let name = [&[0xD0; 120][..], b".jsonl"].concat();
    corpus(&place.path().join("corpus"), std::ffi::OsStr::from_bytes(&name), 1);
    typed(place.path(), &["run", "corpus", "--out", "out", "--corpus", "keep,drop", "--algorithms", "exact"]);
    for folder in ["deduped", "dropped"] {
        let names = names_in(&place.path().join("out").join(folder));
        assert!(names.len() == 1 && names[0].len() <= 255 && names[0].ends_with(".jsonl"), "{names:?}");
    }
}

#[test]
fn a_deep_path_is_shortened_too() {
    let place = tempfile::tempdir().unwrap();
    let mut folder = place.path().join("corpus");
    let part = "f".repeat(200);
    while folder.as_os_str().len() + part.len() < 3900 {
        folder.push(&part);
    }
    corpus(&folder, "a.jsonl".as_ref(), 1);
    let out = place
        .path()
        .join("a-folder-with-a-longer-name-than-that-of-the-corpus-so-that-paths-become-too-long/".repeat(3));
    fs::create_dir_all(&out).unwrap();
    let out = out.join("out");
    typed(
        place.path(),
        &["run", "corpus", "--out", out.to_str().unwrap(), "--corpus", "keep", "--algorithms", "exact"],
    );
    let files = files_below(&out.join("deduped"));
    assert!(files.len() == 1 && files[0].to_string_lossy().ends_with(".jsonl"), "{files:?}");
}
