//! Tests `--corpus keep,drop`. Every row is kept, dropped or rejected, and rows do not change. A file that loses no rows keeps its bytes.

use std::path::Path;

use crate::kit::{Ran, names_in, python, record, run, samples};

fn checked(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> String {
    let mut command = python("tests/corpus.py");
    arguments.iter().for_each(|argument| _ = command.arg(argument.as_ref()));
    Ran::of(command.output().unwrap()).ends_with(0).stdout
}

#[test]
fn rows_of_all_kinds_are_kept_dropped_or_rejected_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let (corpus, out) = (folder.path().join("corpus"), folder.path().join("out"));
    checked(&[&"make", &corpus]);
    let more = ["--algorithms", "exact", "--corpus", "annotate,keep,drop", "--max-rejected-share", "1"];
    run(&[&corpus], &out, &more).ends_with(3);
    let said = checked(&[&"check", &corpus, &out]);
    checked(&[&"marks", &corpus, &out]);
    assert!(said.contains("whole.parquet 240 rows, 0 removed, 0 rejected"), "{said}");
    let kept = record(&out)["corpus"]["folders"]["deduped"].clone();
    assert_eq!((kept["files"].as_u64(), kept["whole"].as_u64()), (Some(6), Some(1)), "{kept}");
    // Only files listed in the record are replaced; a user's file in the same folder is not touched.
    let again = [&more[..], &["--overwrite"]].concat();
    std::fs::write(out.join("deduped/lang=ru/notes.txt"), b"mine").unwrap();
    run(&[&corpus], &out, &again).ends_with(2).says(&["notes.txt"]);
    std::fs::remove_file(out.join("deduped/lang=ru/notes.txt")).unwrap();
    run(&[&corpus], &out, &again).ends_with(3);
    checked(&[&"check", &corpus, &out]);
    // The bytes are the same with little memory and a different number of threads.
    let (small, little) = (folder.path().join("small"), [&more[..], &["--threads", "1", "--memory", "40MiB"]].concat());
    run(&[&corpus], &small, &little).ends_with(3);
    for file in [
        "attributes/a.parquet",
        "deduped/a.parquet",
        "deduped/d.jsonl.gz",
        "dropped/lang=ru/b.parquet",
        "dropped/e.jsonl.zst",
    ] {
        assert!(std::fs::read(out.join(file)).unwrap() == std::fs::read(small.join(file)).unwrap(), "{file}");
    }
}

#[test]
fn a_clean_corpus_is_read_by_all_and_loses_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let (out, again) = (folder.path().join("out"), folder.path().join("again"));
    let more = ["--algorithms", "exact,simhash,minhash", "--remove-if", "pair", "--corpus", "keep"];
    run(&[samples()], &out, &more).ends_with(0);
    let kept = record(&out)["corpus"]["kept"].as_u64().unwrap();
    assert!(kept < record(&out)["corpus"]["rows"].as_u64().unwrap());
    checked(&[&"read", &out, &kept.to_string()]);
    run(&[&out.join("deduped")], &again, &more).ends_with(0);
    let removed = record(&again)["removal"]["removed"].clone();
    assert_eq!(removed, 0, "a run over what stays finds no pair that removes");
    for file in names_in(&out.join("deduped")) {
        let bytes = |out: &Path| std::fs::read(out.join("deduped").join(&file)).unwrap();
        assert!(bytes(&out) == bytes(&again), "{file} loses nothing");
    }
}

#[test]
fn what_cannot_be_copied_is_reported_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let head = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/\r\nContent-Type: application/http\r\n";
    let answer = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a page with some words";
    std::fs::create_dir(at("pages")).unwrap();
    std::fs::write(at("pages/a.warc"), format!("{head}Content-Length: {}\r\n\r\n{answer}\r\n\r\n", answer.len()))
        .unwrap();
    for more in [&["--corpus", "keep"][..], &["--corpus", "keep", "--dry-run"]] {
        run(&[&at("pages")], &at("out"), more)
            .ends_with(2)
            .says(&["a.warc: records cannot be removed from web archives", "purify"]);
    }
    let index = at("index").display().to_string();
    for more in [&["--index", &index][..], &["--index", &index, "--dry-run"]] {
        run(&[&at("pages")], &at("out"), more)
            .ends_with(2)
            .says(&["pages cannot be matched against an index", "purify"]);
    }
    std::fs::create_dir(at("wide")).unwrap();
    let wide: Vec<u8> = "{\"text\":\"one\"}\n{\"text\":\"one\"}\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(at("wide/a.jsonl"), wide).unwrap();
    let utf16 = ["--encoding", "utf-16le", "--corpus", "drop"];
    run(&[&at("wide")], &at("out"), &utf16).ends_with(2).says(&["a.jsonl: its lines are in UTF-16LE", "UTF-8"]);
    run(&[samples()], &at("out"), &["--corpus", "kept"]).ends_with(2).says(&["did you mean \"keep\"?"]);
    assert_eq!(names_in(folder.path()), ["pages", "wide"]);
}

#[test]
fn files_of_several_inputs_keep_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let line = |n: usize| format!("{{\"text\":\"a text of its own {n}\"}}\n");
    for (name, from) in [("x/p/a.jsonl", 0), ("x/q/a.jsonl", 5), ("y/a.jsonl", 2)] {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, (from..from + 6).map(line).collect::<String>()).unwrap();
    }
    let (x, y, out) = (folder.path().join("x"), folder.path().join("x/../y"), folder.path().join("out"));
    run(&[&x, &y], &out, &["--algorithms", "exact", "--corpus", "keep"]).ends_with(0);
    // A file with no kept rows is not written.
    let lines =
        |name: &str| std::fs::read_to_string(out.join("deduped").join(name)).unwrap_or_default().lines().count();
    assert_eq!([lines("x/p/a.jsonl"), lines("x/q/a.jsonl"), lines("y/a.jsonl")].iter().sum::<usize>(), 11);
}
