//! Tests damaged files and interrupted runs. No incomplete output has the final name, nothing is left behind, and the rest of the corpus is
//! processed as if the damaged file had never existed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::kit::{
    ALL, Doc, Ran, Table, assert_same_bytes, doc_pairs, done, ended, json_lines, made_docs, names_in, program, record,
    run, sample_docs, samples, write_docs,
};
use crate::signals::listening;

/// Writes Parquet files like those in real corpora: compressed and with several row groups.
fn write_compressed(path: &Path, docs: &[Doc]) {
    let schema =
        Arc::new(Schema::new(vec![Field::new("id", DataType::Utf8, false), Field::new("text", DataType::Utf8, false)]));
    let column =
        |part: fn(&Doc) -> &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(docs.iter().map(part))) };
    let arrays = vec![column(|doc| &doc.id), column(|doc| &doc.text)];
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let compression = Compression::ZSTD(ZstdLevel::try_new(3).unwrap());
    let properties =
        WriterProperties::builder().set_compression(compression).set_max_row_group_row_count(Some(100)).build();
    let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// Overwrites the middle of the texts in the last row group. The footer stays intact, so the damage is found late.
pub(crate) fn damage_last_texts(path: &Path) {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let metadata = reader.metadata();
    let (start, length) = metadata.row_group(metadata.num_row_groups() - 1).column(1).byte_range();
    let mut bytes = std::fs::read(path).unwrap();
    let middle = (start + length / 2) as usize;
    bytes[middle..middle + 200].fill(0xFF);
    std::fs::write(path, bytes).unwrap();
}

pub(crate) fn corpus(folder: &Path) -> PathBuf {
    let docs = folder.join("docs");
    std::fs::create_dir_all(&docs).unwrap();
    let made = made_docs(1_500);
    for (name, part) in ["a.parquet", "b.parquet", "c.parquet"].iter().zip(made.chunks(500)) {
        write_compressed(&docs.join(name), part);
    }
    docs
}

/// Checks that the run continues without the file, reports it, and gives the same bytes as a run without the file.
fn check_set_aside(docs: &Path, bad: &str, why: &str) {
    let with = ended(docs, &["--algorithms", ALL], 3);
    let record = record(&with.out());
    let named = record["bad_inputs"].as_array().unwrap();
    assert_eq!((named.len(), named[0]["file"].as_str()), (1, Some(bad)));
    assert!(named[0]["why"].as_str().unwrap().contains(why), "{}", named[0]);
    let rejected = Table::read(&with.out().join("rejected"));
    assert_eq!((rejected.texts("file"), rejected.texts("row")), (vec![bad.to_string()], vec!["null".to_string()]));
    assert_eq!(record["documents"]["rows"].as_u64(), Some(1_000), "none of its rows counts");
    assert_eq!(record["inputs"].as_array().unwrap().len(), 2);

    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(&[docs], &out, &["--strict"]).ends_with(1).says(&[bad]);
    assert_eq!(names_in(folder.path()), [""; 0]);

    let rest = folder.path().join("docs");
    std::fs::create_dir(&rest).unwrap();
    for name in ["a.parquet", "b.parquet", "c.parquet"].iter().filter(|name| **name != bad) {
        std::fs::copy(docs.join(name), rest.join(name)).unwrap();
    }
    assert_same_bytes(&with.out(), &done(&rest, &["--algorithms", ALL]).out(), bad);
}

#[test]
fn a_truncated_file_among_whole_ones_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    let path = docs.join("b.parquet");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    check_set_aside(&docs, "b.parquet", "not a complete Parquet file");
}

#[test]
fn damage_that_shows_late_sets_the_whole_file_aside() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    damage_last_texts(&docs.join("a.parquet"));
    check_set_aside(&docs, "a.parquet", "");
}

/// Encodes a number as in page headers, with the sign in the lowest bit and then 7 bits per byte.
fn integer(number: u32) -> Vec<u8> {
    let (mut left, mut bytes) = (u64::from(number) << 1, Vec::new());
    while left >= 0x80 {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
    bytes
}

/// Changes the first page of a column chunk so that it claims an uncompressed size of two gigabytes, or two billion values. The extra
/// header bytes are taken from the end of the page, so that nothing else in the file changes.
fn inflate(path: &Path, group: usize, column: usize, values: bool) {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let start = reader.metadata().row_group(group).column(column).byte_range().0 as usize;
    let mut bytes = std::fs::read(path).unwrap();
    // The header begins with three fields of the same type: the kind, the uncompressed size and the compressed size. These fields are
    // followed by the struct for the kind, whose first field is the number of values.
    let mut at = start;
    let mut next = |bytes: &[u8]| {
        let begin = at;
        at += 1 + bytes[at + 1..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        let number = bytes[begin + 1..at].iter().rev().fold(0u64, |number, byte| number << 7 | u64::from(byte & 0x7f));
        (begin..at, (number >> 1) as u32)
    };
    let fields = [next(&bytes), next(&bytes), next(&bytes)];
    let packed = fields[2].1;
    let end_of_sizes = fields[2].0.end;
    at = end_of_sizes + 1;
    let mut next = |bytes: &[u8]| {
        let begin = at;
        at += 1 + bytes[at + 1..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        begin..at
    };
    let counted = next(&bytes);
    let many = integer(i32::MAX as u32);
    let old = bytes.clone();
    let build = |packed: u32| {
        let mut header = old[start..fields[1].0.start + 1].to_vec();
        header.extend(if values { old[fields[1].0.start + 1..fields[1].0.end].to_vec() } else { many.clone() });
        header.push(old[fields[2].0.start]);
        header.extend(integer(packed));
        header.extend(&old[end_of_sizes..counted.start + 1]);
        header.extend(if values { many.clone() } else { old[counted.start + 1..counted.end].to_vec() });
        header
    };
    // The header continues after the number of values, up to the payload.
    let more = build(packed).len() - (counted.end - start);
    let tail_begin = counted.end;
    let header = build(packed - more as u32);
    assert_eq!(header.len(), counted.end - start + more, "the number of packed bytes takes as many bytes as before");
    // Everything after the header moves back by `more` bytes; the last bytes of the page are overwritten.
    let header_end = tail_begin + rest_of_header(&bytes[tail_begin..]);
    let page_end = header_end + packed as usize;
    let moved = bytes[tail_begin..page_end - more].to_vec();
    bytes[start..start + header.len()].copy_from_slice(&header);
    bytes[start + header.len()..page_end].copy_from_slice(&moved);
    std::fs::write(path, bytes).unwrap();
}

/// Returns the number of bytes up to the end of the header: fields of the same type, the stop byte of the struct, and the stop byte of the
/// header.
fn rest_of_header(bytes: &[u8]) -> usize {
    let mut at = 0;
    while bytes[at] != 0 {
        // The value of a Boolean is encoded in its type.
        let is_flag = matches!(bytes[at] & 15, 1 | 2);
        at += 1;
        if !is_flag {
            at += bytes[at..].iter().position(|byte| byte & 0x80 == 0).unwrap() + 1;
        }
    }
    at + 2
}

/// Checks that impossible lengths are detected before memory is allocated for them. A damaged corpus file is skipped, and a damaged result
/// is refused.
#[test]
fn no_memory_is_allocated_for_a_length_that_cannot_be() {
    for (values, column, why) in
        [(false, 1, "when decompressed, but all pages"), (true, 0, "values"), (true, 1, "values")]
    {
        let folder = tempfile::tempdir().unwrap();
        let docs = corpus(folder.path());
        inflate(&docs.join("a.parquet"), 3, column, values);
        let done = ended(&docs, &["--algorithms", "exact"], 3);
        let bad = &record(&done.out())["bad_inputs"];
        assert_eq!((&bad[0]["file"], bad[1].is_null()), (&"a.parquet".into(), true));
        assert!(bad[0]["why"].as_str().unwrap().contains(why), "{bad}");
        assert_eq!(record(&done.out())["documents"]["used"], 1_000);
    }
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs.parquet");
    write_docs(&docs, &made_docs(300), 100);
    for (verb, table) in
        [("report", "clusters/algorithm=exact"), ("report", "pairs/algorithm=exact"), ("report", "removed")]
    {
        let done = done(&docs, &["--algorithms", "exact,minhash"]);
        let path = done.out().join(table).join("part-00000.parquet");
        let reader = SerializedFileReader::new(std::fs::File::open(&path).unwrap()).unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().num_columns();
        (0..columns).for_each(|column| inflate(&path, 0, column, false));
        let ran = program().arg(verb).arg(done.out()).arg("--no-progress").output().unwrap();
        Ran::of(ran).ends_with(1).says(&["part-00000.parquet", "when decompressed, but all pages"]);
    }
}

#[test]
fn a_compressed_file_that_is_cut_off_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    write_docs(&docs.join("a.parquet"), &made_docs(50), 100);
    let whole = zstd::encode_all(&json_lines(&made_docs(400))[..], 3).unwrap();
    std::fs::write(docs.join("b.jsonl.zst"), &whole[..whole.len() / 2]).unwrap();
    let done = ended(&docs, &[], 3);
    let record = record(&done.out());
    assert_eq!(record["bad_inputs"][0]["file"].as_str(), Some("b.jsonl.zst"));
    assert_eq!(record["documents"]["rows"].as_u64(), Some(50));
}

#[test]
fn an_output_that_exists_is_replaced_on_demand_and_a_users_folder_never() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    run(&[samples()], &out, &["--algorithms", "exact"]).ends_with(0);
    let before = std::fs::read(out.join("run.json")).unwrap();
    run(&[samples()], &out, &["--algorithms", "tf"]).ends_with(2).says(&["already exists", "`--overwrite"]);
    assert_eq!(std::fs::read(out.join("run.json")).unwrap(), before);
    run(&[samples()], &out, &["--algorithms", "tf", "--overwrite"]).ends_with(0);
    assert_eq!(
        (names_in(&out.join("pairs")), names_in(folder.path())),
        (vec!["algorithm=tf".into()], vec!["out".into()])
    );

    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    std::fs::write(own.join("thesis.txt"), b"years of work").unwrap();
    run(&[samples()], &own, &["--overwrite"]).ends_with(2).says(&["thesis.txt", "`--overwrite` does not replace it"]);
    assert_eq!(std::fs::read(own.join("thesis.txt")).unwrap(), b"years of work");
}

#[test]
fn a_limit_of_open_files_is_named_and_sets_no_file_aside() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut ended = Vec::new();
    for limit in [6, 8, 10, 12, 14, 16, 18, 128] {
        let script = format!("ulimit -n {limit}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, crate::kit::built(), "run"]).arg(samples());
        command.args(["--algorithms", "exact,minhash,tf_idf", "--threads", "4", "--memory", "256MiB"]);
        let output = command.args(["--no-progress", "--overwrite", "--out"]).arg(&out).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(0) {
            ended.push(limit);
            assert_eq!(record(&out)["inputs"].as_array().unwrap().len(), 3, "{limit} files");
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{limit} files\n{stderr}");
        let last = stderr.lines().last().unwrap();
        let named = format!("(`ulimit -n`) is {limit}: raise it");
        assert!(last.contains("Too many open files") && last.contains(&named), "{limit} files: {last}");
    }
    assert_eq!((ended.first() > Some(&6), ended.last()), (true, Some(&128)), "{ended:?}");
}

#[test]
fn a_full_disk_is_a_clear_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    // The limits are in blocks of 512 bytes. Writing fails immediately, in the first temporary files, in later temporary files, or in the
    // tables.
    for (blocks, algorithms) in [(1, ALL), (16, ALL), (40, ALL), (48, "three_plus_five")] {
        let script = format!("ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, crate::kit::built(), "run"]).arg(samples());
        command.args(["--algorithms", algorithms, "--threads", "2", "--memory", "48MiB", "--no-progress", "--out"]);
        command.arg(&out);
        let output = command.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{blocks} blocks\n{stderr}");
        let last = stderr.lines().last().unwrap();
        assert!(last.starts_with("error: cannot ") && last.contains("File too large"), "{blocks} blocks: {last}");
        assert!(last.ends_with("; no output was written"), "{blocks} blocks: {last}");
        assert!(last.contains(&*folder.path().to_string_lossy()), "no path in {last}");
        assert_eq!(names_in(folder.path()), [""; 0], "{blocks} blocks left something");
    }
}

#[test]
fn a_request_to_end_is_heard_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = folder.path().join("large.parquet");
    let docs = sample_docs();
    let many: Vec<Doc> = (0..12).flat_map(|_| docs.iter().cloned()).collect();
    write_docs(&corpus, &many, 500);
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let mut command = listening();
    command.arg("run").arg(&corpus).arg("--out").arg(place.join("out"));
    command.args(["--algorithms", ALL, "--threads", "1", "--memory", "64MiB", "--no-progress"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while !names_in(&place).iter().any(|name| name.contains("partial")) {
        assert!(child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(1));
    }
    let killed = Command::new("sh").args(["-c", &format!("kill -TERM {}", child.id())]).status().unwrap();
    assert!(killed.success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(143), "{stderr}");
    assert!(stderr.contains("; no output was written"), "{stderr}");
    assert_eq!(names_in(&place), [""; 0]);
}

#[test]
fn work_files_go_where_asked_and_are_gone_after_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (work, out) = (folder.path().join("deep/work"), folder.path().join("out"));
    std::fs::create_dir_all(&work).unwrap();
    let plain = done(samples(), &["--algorithms", ALL]);
    run(&[samples()], &out, &["--algorithms", ALL, "--work", &work.to_string_lossy()]).ends_with(0);
    assert_same_bytes(&plain.out(), &out, "--work");
    assert_eq!((names_in(&work), names_in(folder.path())), (vec![], vec!["deep".to_string(), "out".to_string()]));
    let tables =
        ["README.md", "_SUCCESS", "clusters", "pairs", "rejected", "removed", "report.html", "run.json", "stats"];
    assert_eq!(names_in(&out), tables);
}

#[test]
fn a_limit_takes_the_first_documents_and_a_dry_run_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let whole = done(samples(), &["--algorithms", "exact,three_plus_five"]);
    let part = done(samples(), &["--algorithms", "exact,three_plus_five", "--limit", "500"]);
    let below = |pairs: Vec<(usize, usize)>| pairs.into_iter().filter(|pair| pair.1 < 500).collect::<Vec<_>>();
    assert_eq!(doc_pairs(&part.out(), "exact"), below(doc_pairs(&whole.out(), "exact")));
    assert_eq!(record(&part.out())["documents"]["used"].as_u64(), Some(500));
    let ran = run(&[samples()], &out, &["--dry-run"]).ends_with(0);
    ran.says(&["2,455 documents in 3 files"]);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn json_lines_plain_and_compressed_give_the_bytes_of_parquet() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let docs = made_docs(600);
    let lines = json_lines(&docs);
    let place = |name: &str| folder.path().join(name);
    write_docs(&place("a.parquet"), &docs, 100);
    std::fs::write(place("a.jsonl"), &lines).unwrap();
    std::fs::write(place("a.jsonl.zst"), zstd::encode_all(&lines[..], 3).unwrap()).unwrap();
    // The gzip file consists of two consecutive members, as written by tools that compress in parts.
    let mut gz = Vec::new();
    for part in [&lines[..lines.len() / 2], &lines[lines.len() / 2..]] {
        let mut encoder = flate2::write::GzEncoder::new(&mut gz, flate2::Compression::default());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap();
    }
    std::fs::write(place("a.jsonl.gz"), gz).unwrap();
    let parquet = done(&place("a.parquet"), &["--algorithms", ALL]);
    for name in ["a.jsonl", "a.jsonl.zst", "a.jsonl.gz"] {
        assert_same_bytes(&parquet.out(), &done(&place(name), &["--algorithms", ALL]).out(), name);
    }
}
