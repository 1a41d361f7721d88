//! Inputs of every form from outside: standard input, separated values; and traditional characters read as simplified ones.

use std::fs::File;
use std::path::Path;

use crate::kit::{Ran, Table, doc_pairs, program, record, run};

const CLOSED: &str =
    "The library will be closed on Monday for repairs of the roof, and books can be returned at the side door.";
const WATER: &str =
    "Water is turned off in the whole street on Tuesday morning between eight and eleven, so fill a bucket before.";

/// `dupsift VERB - --out OUT ...` with a file as standard input.
fn fed(verb: &str, bytes: &[u8], out: &Path, more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("fed");
    std::fs::write(&input, bytes).unwrap();
    let mut command = program();
    command
        .args([verb, "-", "--out"])
        .arg(out)
        .args(["--no-progress", "--threads", "2", "--memory", "512MiB"])
        .args(more);
    Ran::of(command.stdin(File::open(&input).unwrap()).output().unwrap())
}

fn lines(texts: &[&str]) -> String {
    texts.iter().map(|text| format!("{}\n", serde_json::json!({ "text": text }))).collect()
}

#[test]
fn standard_input_is_a_file_of_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let all = lines(&[CLOSED, WATER, CLOSED, &format!("{WATER} Thank you.")]);
    let said = "this run keeps nothing for another one to go on from";
    fed("run", all.as_bytes(), &out, &["--corpus", "keep"]).ends_with(0).says(&[said]);
    let removed = Table::read(&out.join("removed"));
    assert_eq!(
        (removed.texts("id"), removed.texts("kept_id")),
        (vec!["-#1".into(), "-#2".into()], vec!["-#3".into(), "-#0".into()])
    );
    assert_eq!(
        std::fs::read_to_string(out.join("deduped/standard-input.jsonl")).unwrap(),
        lines(&[CLOSED, &format!("{WATER} Thank you.")])
    );
    let run_json = record(&out);
    assert_eq!((&run_json["inputs"][0]["file"], &run_json["inputs"][0]["path"]), (&"-".into(), &"-".into()));
    // The work folder is gone with what stood in it.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["out"]);
    // The result is that of a file, whatever the packing.
    let file = folder.path().join("docs.jsonl");
    std::fs::write(&file, &all).unwrap();
    let of_file = folder.path().join("of_file");
    run(&[&file], &of_file, &[]).ends_with(0);
    assert_eq!(doc_pairs(&of_file, "versions"), doc_pairs(&out, "versions"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, all.as_bytes()).unwrap();
    let of_packed = folder.path().join("of_packed");
    fed("run", &packed.finish().unwrap(), &of_packed, &[]).ends_with(0);
    assert_eq!(doc_pairs(&of_packed, "versions"), doc_pairs(&out, "versions"));
    // Its texts are gone for verbs that look at them again.
    let mut explain = program();
    explain.arg("explain").arg(&out).args(["--", "-#0", "-#2"]);
    let said = "is of a run over standard input, whose texts are gone";
    Ran::of(explain.output().unwrap()).ends_with(2).says(&[said]);
}

#[test]
fn standard_input_stands_beside_files_and_feeds_other_verbs() {
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    std::fs::write(docs.join("a.jsonl"), lines(&[CLOSED])).unwrap();
    let out = folder.path().join("out");
    fed("run", lines(&[CLOSED]).as_bytes(), &out, &[docs.to_str().unwrap()]).ends_with(0);
    let mut ids = Table::read(&out.join("pairs/algorithm=exact")).texts("id_a");
    ids.extend(Table::read(&out.join("pairs/algorithm=exact")).texts("id_b"));
    ids.sort();
    assert_eq!(ids, ["-#0", "a.jsonl#0"]);
    let streamed = folder.path().join("streamed");
    fed("stream", lines(&[CLOSED, WATER, CLOSED]).as_bytes(), &streamed, &["--keys", "1000"]).ends_with(0);
    fed(
        "compare",
        lines(&[CLOSED, WATER, CLOSED]).as_bytes(),
        &folder.path().join("compared"),
        &["--algorithms", "exact,minhash"],
    )
    .ends_with(0);
    // What is no row, and nothing at all.
    fed("run", b"no JSON\n", &folder.path().join("none"), &[]).ends_with(2).says(&["line 1 is not JSON"]);
    fed("run", b"", &folder.path().join("empty"), &[]).ends_with(3);
}

#[test]
fn tables_of_every_form_hold_one_corpus() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [CLOSED, WATER, CLOSED];
    let of = |name: &str| folder.path().join(name);
    std::fs::write(of("a.jsonl"), lines(&texts)).unwrap();
    let quoted: String = texts.iter().enumerate().map(|(id, text)| format!("{id},\"{text}\"\r\n")).collect();
    std::fs::write(of("b.csv"), format!("id,text\r\n{quoted}")).unwrap();
    let tabs: String = texts.iter().enumerate().map(|(id, text)| format!("{id}\t{text}\n")).collect();
    std::fs::write(of("c.tsv"), format!("id\ttext\n{tabs}")).unwrap();
    for name in ["a.jsonl", "b.csv", "c.tsv"] {
        let out = folder.path().join(format!("out of {name}"));
        run(&[&of(name)], &out, &[]).ends_with(0);
        assert_eq!(doc_pairs(&out, "exact"), [(0, 2)], "{name}");
    }
    // All of them together: nine rows, the texts of three files each are equal.
    let out = folder.path().join("out of all");
    let files: Vec<_> = ["a.jsonl", "b.csv", "c.tsv"].map(of).to_vec();
    run(&files.iter().map(|file| file.as_path()).collect::<Vec<_>>(), &out, &[]).ends_with(0);
    assert_eq!(record(&out)["removal"]["removed"], 7);
    // Separated values are copied with their names.
    let copied = folder.path().join("copied");
    run(&[&of("b.csv")], &copied, &["--corpus", "keep"]).ends_with(0);
    let expected =
        format!("id,text\r\n{}", quoted.lines().take(2).map(|line| format!("{line}\r\n")).collect::<String>());
    assert_eq!(std::fs::read_to_string(copied.join("deduped/b.csv")).unwrap(), expected);
}

#[test]
fn a_stray_quote_costs_its_row_and_a_file_may_have_no_quotes() {
    let folder = tempfile::tempdir().unwrap();
    for (delimiter, name) in [(",", "a.csv"), ("\t", "a.tsv")] {
        let mut rows: Vec<String> = (0..1000).map(|n| format!("{n}{delimiter}row number {n} has words\n")).collect();
        rows[10] = format!("10{delimiter}\"Open quote here\n");
        rows[600] = format!("600{delimiter}\"closed\" later\n");
        let path = folder.path().join(name);
        std::fs::write(&path, format!("id{delimiter}text\n{}", rows.concat())).unwrap();
        let out = folder.path().join(format!("out of {name}"));
        run(&[&path], &out, &["--algorithms", "exact", "--corpus", "keep"]).ends_with(3);
        let documents = &record(&out)["documents"];
        assert_eq!(
            (&documents["rows"], &documents["used"], &documents["rejected"]),
            (&1000.into(), &998.into(), &2.into())
        );
        let rejected = Table::read(&out.join("rejected"));
        assert_eq!(rejected.texts("reason"), ["broken record", "broken record"]);
        assert_eq!(rejected.texts("row"), ["10", "600"]);
        // The copy has all rows but these two, each as it was.
        let kept: String =
            rows.iter().enumerate().filter(|(n, _)| ![10, 600].contains(n)).map(|(_, row)| &**row).collect();
        let copy = std::fs::read_to_string(out.join("deduped").join(name)).unwrap();
        assert_eq!(copy, format!("id{delimiter}text\n{kept}"));
        let plain = folder.path().join(format!("plain {name}"));
        run(&[&path], &plain, &["--algorithms", "exact", "--quotes", "none"]).ends_with(0);
        assert_eq!(record(&plain)["documents"]["used"], 1000);
        assert_eq!(record(&plain)["options"]["quotes"], "none");
    }
    // Text behind a closing quote is no copy of the text without quotes.
    let path = folder.path().join("b.csv");
    std::fs::write(&path, "id,text\n1,\"hello\" said he\n2,hello said he\n").unwrap();
    let out = folder.path().join("out of b");
    run(&[&path], &out, &["--algorithms", "exact"]).ends_with(3);
    assert_eq!((record(&out)["documents"]["used"].as_u64(), doc_pairs(&out, "exact")), (Some(1), vec![]));
    run(&[&path], &folder.path().join("wrong"), &["--quotes", "single"])
        .ends_with(2)
        .says(&["--quotes", "double, none"]);
}

#[test]
fn a_file_that_is_cut_off_loses_its_end_and_the_run_goes_on() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let (docs, out) = (folder.path().join("docs"), folder.path().join("out"));
    std::fs::create_dir(&docs).unwrap();
    let text = |n: u64| format!("text {} of the file that is cut off", n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let all: Vec<String> = (0..2000).map(text).collect();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(lines(&all.iter().map(String::as_str).collect::<Vec<_>>()).as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    std::fs::write(docs.join("a.jsonl.gz"), &packed[..packed.len() - 2000]).unwrap();
    std::fs::write(docs.join("b.jsonl"), lines(&[CLOSED, CLOSED])).unwrap();
    run(&[&docs], &out, &["--algorithms", "exact", "--corpus", "keep"]).ends_with(3).says(&["a.jsonl.gz", "cut off"]);
    let documents = record(&out)["documents"].clone();
    let used = documents["used"].as_u64().unwrap();
    assert!((1500..2000).contains(&(used - 2)) && documents["rejected"] == 0, "{documents}");
    // The copy is whole and has the rows that were read.
    let copy = std::fs::File::open(out.join("deduped/a.jsonl.gz")).unwrap();
    let copied = std::io::read_to_string(flate2::read::MultiGzDecoder::new(copy)).unwrap();
    assert_eq!(copied, lines(&all[..used as usize - 2].iter().map(String::as_str).collect::<Vec<_>>()));
    // The same again, and as a batch of an index.
    for (name, index) in [("again", None), ("first", Some("index")), ("second", Some("index"))] {
        let index = index.map(|index| folder.path().join(index).display().to_string());
        let mut more = vec!["--algorithms", "exact"];
        more.extend(index.iter().flat_map(|index| ["--index", index]));
        let out = folder.path().join(name);
        run(&[&docs], &out, &more).ends_with(3);
        assert_eq!(record(&out)["documents"]["used"], used, "{name}");
        let removed = record(&out)["removal"]["removed"].as_u64();
        assert_eq!(removed, Some(if name == "second" { used } else { 1 }), "{name}");
    }
}

#[test]
fn traditional_characters_are_compared_as_simplified_ones_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.jsonl");
    let traditional = "圖書館週一因為屋頂維修而關閉，讀者可以在側門歸還書籍，電腦閱覽室週二重新開放，請攜帶證件。";
    let simplified = "图书馆周一因为屋顶维修而关闭，读者可以在侧门归还书籍，电脑阅览室周二重新开放，请携带证件。";
    std::fs::write(&file, lines(&[traditional, simplified])).unwrap();
    for (more, pairs) in [(&[][..], vec![]), (&["--traditional"][..], vec![(0, 1)])] {
        let out = folder.path().join(format!("out{}", more.len()));
        let typed = [&["--algorithms", "exact,minhash"][..], more].concat();
        run(&[&file], &out, &typed).ends_with(0);
        assert_eq!(doc_pairs(&out, "minhash"), pairs, "{more:?}");
        assert!(doc_pairs(&out, "exact").is_empty(), "texts are what they are");
        let identity = record(&out)["recipe"]["text"].as_str().unwrap().to_owned();
        assert_eq!(identity.contains("traditional=opencc-1.4.2"), !pairs.is_empty(), "{identity}");
    }
}
