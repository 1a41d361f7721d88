//! Tests files in a corpus folder that are not tables of documents: files that are not read, files with one document each, text in other
//! encodings, and pipes. Nothing is ignored silently, and nothing stops a run.

use std::path::Path;

use crate::kit::{Ran, Table, doc_pairs, json_lines, numbered, program, record, run, write_docs};

const LONG: &str = "The quick brown fox jumps over the lazy dog near the old stone bridge. It then sleeps all day long, \
    while seven other animals watch from behind some trees.";

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap()
}

fn two(folder: &Path) {
    write_docs(&folder.join("a.parquet"), &numbered([LONG, LONG]), 10);
}

#[test]
fn files_that_are_not_read_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    two(&docs);
    for name in ["b.xls", "c.xls", "d.txt", ".e.xls", "_f.xls"] {
        std::fs::write(docs.join(name), "id,text\n").unwrap();
    }
    let said = "the inputs contain 3 files that are not read: .txt 1, .xls 2";
    let ran = run(&[&docs], &out, &[]).ends_with(0).says(&["WARN", said, "`--whole-files"]);
    assert!(ran.stdout.contains(&format!("warning: {said}")), "{}", ran.stdout);
    assert_eq!(record(&out)["unread"], serde_json::json!({".xls": 2, ".txt": 1}));
    assert!(std::fs::read_to_string(out.join("report.html")).unwrap().contains(said));
    // Tests the other commands that read a corpus.
    for (verb, more) in
        [("stream", &["--algorithms", "exact"][..]), ("purify", &["--html-column", "text"]), ("compare", &[])]
    {
        let out = folder.path().join(verb);
        let mut command = program();
        command.arg(verb).arg(&docs).arg("--out").arg(&out).args(["--no-progress", "--threads", "2"]).args(more);
        let ran = Ran::of(command.output().unwrap()).ends_with(0).says(&["WARN", said]);
        assert!(ran.stdout.contains(said), "{verb}: {}", ran.stdout);
        assert_eq!(record(&out)["unread"], serde_json::json!({".xls": 2, ".txt": 1}), "{verb}");
    }
}

#[test]
fn each_file_is_a_document_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    std::fs::create_dir_all(docs.join("x")).unwrap();
    std::fs::write(docs.join("a.txt"), LONG).unwrap();
    std::fs::write(docs.join("x/b.txt"), LONG).unwrap();
    std::fs::write(docs.join("x/c.html"), format!("<html><body><p>{LONG}</p></body></html>")).unwrap();
    run(&[&docs], &out, &["--whole-files"]).ends_with(0);
    assert_eq!(doc_pairs(&out, "exact"), [(0, 1), (0, 2)]);
    let pairs = Table::read(&out.join("pairs/algorithm=exact"));
    assert_eq!(pairs.texts("id_b"), ["x/b.txt", "x/c.html"]);
    let alone = run(&[&docs.join("a.txt")], &folder.path().join("none"), &[]).ends_with(2);
    alone.says(&["a.txt", "`--whole-files"]);
}

#[test]
fn texts_in_another_encoding_are_read_where_it_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    let text = "这是一个关于汉字编码的例子，我们用它来试验这个程序是不是真的能够认出文本的编码。";
    let lines = json_lines(&numbered([text, text, "另一个完全不同的句子，说的是别的事情。"]));
    let lines = String::from_utf8(lines).unwrap();
    std::fs::write(&file, encoding_rs::GBK.encode(&lines).0).unwrap();
    for encoding in ["auto", "gbk", "gb18030"] {
        let out = folder.path().join(encoding);
        run(&[&file], &out, &["--encoding", encoding]).ends_with(0);
        assert_eq!(doc_pairs(&out, "exact"), [(0, 1)], "{encoding}");
    }
    let out = folder.path().join("none");
    let ran = run(&[&file], &out, &[]);
    assert!(ran.code != 0 && (ran.stdout + &ran.stderr).contains("`--encoding"), "{}", ran.stderr);
}

/// Checks that a guessed encoding is reported and applies to the lines that are not UTF-8.
#[test]
fn the_encoding_of_each_file_is_found_and_reported() {
    const RUSSIAN: &str =
        "Городской совет собрался во вторник вечером, чтобы обсудить старый мост через реку, который закрыт";
    const JAPANESE: &str = "これは日本語の文章です。橋について話し合いました。";
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    let line = |n: usize| format!("{{\"id\": \"{n}\", \"text\": \"{RUSSIAN} {n}\"}}\n");
    let mut mixed: Vec<u8> = (0..50).flat_map(|n| encoding_rs::WINDOWS_1251.encode(&line(n)).0.into_owned()).collect();
    mixed.extend(line(3).replace("\"3\"", "\"utf8\"").into_bytes());
    std::fs::write(docs.join("mixed.jsonl"), mixed).unwrap();
    let csv = format!("id,text\n1,{}\n2,ascii\n", RUSSIAN.replace(',', ""));
    std::fs::write(docs.join("koi8.csv"), encoding_rs::KOI8_R.encode(&csv).0).unwrap();
    std::fs::write(docs.join("mac.csv"), encoding_rs::X_MAC_CYRILLIC.encode(&csv.replace("закрыт", "Закрытая")).0)
        .unwrap();
    std::fs::write(docs.join("plain.jsonl"), line(4)).unwrap();
    let japanese = format!("{{\"id\": \"j\", \"text\": \"{JAPANESE}\"}}\n");
    std::fs::write(docs.join("iso.jsonl"), encoding_rs::ISO_2022_JP.encode(&japanese).0).unwrap();
    std::fs::write(docs.join("jis.jsonl"), &japanese).unwrap();
    let out = folder.path().join("out");
    let ran = run(&[&docs], &out, &["--algorithms", "exact", "--encoding", "auto"]).ends_with(0);
    let told =
        "encodings found: 2 files utf-8, 1 file iso-2022-jp, 1 file koi8-u, 1 file windows-1251, 1 file x-mac-cyrillic";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let inputs = record(&out)["inputs"].clone();
    let of =
        |file: &str| inputs.as_array().unwrap().iter().find(|one| one["file"] == file).unwrap()["encoding"].clone();
    assert_eq!((of("mixed.jsonl"), of("plain.jsonl")), ("windows-1251".into(), "utf-8".into()));
    let pairs = Table::read(&out.join("pairs/algorithm=exact"));
    let named: Vec<(String, String)> = pairs.texts("id_a").into_iter().zip(pairs.texts("id_b")).collect();
    for (a, b) in [("j", "j"), ("3", "utf8"), ("4", "4")] {
        assert!(named.iter().any(|pair| *pair == (a.into(), b.into())), "{named:?}");
    }
    // An encoding that is given explicitly applies to every line, and nothing is reported.
    let out = folder.path().join("named");
    let ran =
        run(&[&docs.join("mixed.jsonl")], &out, &["--algorithms", "exact", "--encoding", "windows-1251"]).ends_with(0);
    assert!(doc_pairs(&out, "exact").is_empty() && !ran.stdout.contains("encodings found"));
    assert!(record(&out)["inputs"][0]["encoding"].is_null());
}

#[test]
fn utf32_is_refused_with_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let text: Vec<u8> = "Городской совет собрался".chars().flat_map(|c| (c as u32).to_be_bytes()).collect();
    std::fs::write(folder.path().join("a.txt"), text).unwrap();
    let out = folder.path().join("out");
    let ran = run(&[&folder.path().join("a.txt")], &out, &["--whole-files", "--encoding", "auto"]).ends_with(1);
    ran.says(&["a.txt", "looks like UTF-32", "iconv -f UTF-32 -t UTF-8"]);
}

#[test]
fn purify_takes_files_that_are_one_page_each_and_lines_in_another_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    let purify = |input: &Path, more: &[&str]| {
        let mut command = program();
        command.arg("purify").arg(input).arg("--out").arg(&out).args(["--overwrite", "--no-progress"]).args(more);
        Ran::of(command.output().unwrap())
    };
    std::fs::create_dir_all(docs.join("x")).unwrap();
    for name in ["a.html", "x/c.htm"] {
        let page = format!("<html><head><title>{name}</title></head><body><p>{LONG}</p></body></html>");
        std::fs::write(docs.join(name), page).unwrap();
    }
    std::fs::write(docs.join("x/b.txt"), format!("1 < 2\n\n<b>{LONG}")).unwrap();
    purify(&docs, &[]).ends_with(2).says(&["`--whole-files"]);
    let ran = purify(&docs, &["--whole-files"]).ends_with(0);
    assert!(ran.stdout.contains("3 pages in 3 files"), "{}", ran.stdout);
    assert_eq!(crate::kit::names_in(&out.join("pages")), ["part-00000.parquet"], "small files share a table");
    let pages = Table::read(&out.join("pages"));
    assert_eq!(pages.texts("page_id"), ["a.html", "x/b.txt", "x/c.htm"]);
    assert_eq!(pages.texts("page_body"), [LONG.to_owned(), format!("1 < 2\n<b>{LONG}"), LONG.to_owned()]);
    assert_eq!(pages.texts("page_title")[0], "a.html");
    // The output can itself be deduplicated.
    let columns = ["--text-column", "page_body", "--id-column", "page_id", "--algorithms", "exact"];
    run(&[&out.join("pages")], &folder.path().join("deduplicated"), &columns).ends_with(0);
    assert_eq!(doc_pairs(&folder.path().join("deduplicated"), "exact"), [(0, 2)]);

    let text = "这是一个关于汉字编码的例子，我们用它来试验这个程序是不是真的能够认出文本的编码。";
    let line = format!("{{\"id\": 1, \"html\": \"<html><body><p>{text}</p></body></html>\"}}\n");
    let lines = folder.path().join("a.jsonl");
    std::fs::write(&lines, encoding_rs::GBK.encode(&line).0).unwrap();
    for encoding in ["gbk", "auto"] {
        purify(&lines, &["--encoding", encoding]).ends_with(0);
        assert_eq!(Table::read(&out.join("pages")).texts("page_body"), [text], "{encoding}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_folder_is_named_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    two(&docs);
    let pipe = docs.join("p.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", docs.join("z.jsonl")).unwrap();
    run(&[&docs], &out, &[]).ends_with(0).says(&["p.jsonl is a named pipe", "z.jsonl is a device"]);
    assert_eq!(record(&out)["unread"], serde_json::json!({"(a device)": 1, "(a named pipe)": 1}));
    run(&[&pipe], &folder.path().join("none"), &[]).ends_with(2).says(&["is a named pipe; expected a regular file"]);
}

#[test]
fn what_stands_behind_a_compressed_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("a.jsonl.gz"), folder.path().join("out"));
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &json_lines(&numbered([LONG, LONG]))).unwrap();
    let mut bytes = encoder.finish().unwrap();
    bytes.extend([0; 100]);
    std::fs::write(&file, bytes).unwrap();
    let ran = run(&[&file], &out, &[]).ends_with(0).says(&["a.jsonl.gz: the last 100 bytes", "are zeros"]);
    assert!(ran.stdout.contains("a.jsonl.gz: the last 100 bytes"), "{}", ran.stdout);
    assert_eq!(doc_pairs(&out, "exact"), [(0, 1)]);
}

#[test]
fn each_line_of_a_text_file_is_a_document_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    std::fs::create_dir_all(docs.join("x")).unwrap();
    let lines = "\u{feff}one document a line\r\n\nanother one, {not JSON}\n  \none document a line\nlast".as_bytes();
    std::fs::write(docs.join("a.txt"), lines).unwrap();
    std::fs::write(docs.join("x/b.txt.gz"), gz("ANOTHER one, {not JSON}\n\u{43a}\u{43e}\u{442}\n".as_bytes())).unwrap();
    std::fs::write(docs.join("c.jsonl"), "{\"id\":\"j\",\"text\":\"last\"}\n").unwrap();
    std::fs::write(docs.join("d.md"), "not read").unwrap();
    run(&[&docs], &out, &["--text-lines", "--algorithms", "exact", "--corpus", "keep"]).ends_with(0);
    assert_eq!(record(&out)["documents"]["rows"], 7);
    assert_eq!(record(&out)["unread"], serde_json::json!({".md": 1}));
    assert_eq!(doc_pairs(&out, "exact"), [(0, 2), (3, 4)]);
    let pairs = Table::read(&out.join("pairs/algorithm=exact"));
    assert_eq!(
        (pairs.texts("id_a"), pairs.texts("id_b")),
        (vec!["a.txt#0".into(), "a.txt#3".into()], vec!["a.txt#2".into(), "j".into()])
    );
    let kept = std::fs::read_to_string(out.join("deduped/a.txt")).unwrap();
    assert_eq!(kept, "\u{feff}one document a line\r\n\nanother one, {not JSON}\nlast");
    // Tests the same rows from standard input, and options that do not apply.
    let mut command = program();
    command.args(["run", "-", "--text-lines", "--algorithms", "exact", "--corpus", "keep", "--no-progress", "--out"]);
    let from = std::fs::File::open(docs.join("a.txt")).unwrap();
    let piped = folder.path().join("piped");
    Ran::of(command.arg(&piped).stdin(from).output().unwrap()).ends_with(0);
    assert_eq!(std::fs::read_to_string(piped.join("deduped/standard-input.txt")).unwrap(), kept);
    let refused = |more: &[&str], says: &[&str]| {
        let none = folder.path().join("none");
        _ = run(&[&docs.join("a.txt")], &none, more).ends_with(2).says(says);
    };
    refused(&[], &["a.txt", "`--whole-files", "`--text-lines` to read each line"]);
    refused(&["--text-lines", "--whole-files"], &["`--whole-files", "`--text-lines", "use only one of them"]);
    refused(&["--text-lines", "--id-column", "url"], &["\"url\"", "FILE#ROW"]);
    refused(&["--text-lines", "--corpus", "keep", "--cut", "lines"], &["a.txt", "cannot be changed"]);
}

/// Checks that lines are decoded and checked one by one, and that the complete lines of a truncated file are read.
#[test]
fn lines_of_text_may_be_of_another_encoding_or_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (cp1251, _, _) = encoding_rs::WINDOWS_1251.encode("Городской совет\nвторник вечером\nГородской совет\n");
    std::fs::write(at("a.txt"), cp1251).unwrap();
    run(&[&at("a.txt")], &at("out"), &["--text-lines", "--encoding", "auto", "--algorithms", "exact"]).ends_with(0);
    assert_eq!(doc_pairs(&at("out"), "exact"), [(0, 2)]);
    std::fs::write(at("b.txt"), b"caf\xe9 au lait\nok, then\n").unwrap();
    run(&[&at("b.txt")], &at("bad"), &["--text-lines", "--algorithms", "exact"]).ends_with(3);
    assert_eq!(Table::read(&at("bad/rejected")).texts("reason"), ["not UTF-8"]);
    let lines: String = (0..3000).map(|row| format!("some text {} of it\n", row * row)).collect();
    let whole = gz(lines.as_bytes());
    std::fs::write(at("c.txt.gz"), &whole[..whole.len() - 2000]).unwrap();
    run(&[&at("c.txt.gz")], &at("cut"), &["--text-lines", "--algorithms", "exact", "--corpus", "keep"]).ends_with(3);
    let rows = record(&at("cut"))["documents"]["rows"].as_u64().unwrap();
    assert!((1000..3000).contains(&rows), "{rows}");
}
