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
    assert_eq!(doc_pairs(&of_file, "cosine"), doc_pairs(&out, "cosine"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, all.as_bytes()).unwrap();
    let of_packed = folder.path().join("of_packed");
    fed("run", &packed.finish().unwrap(), &of_packed, &[]).ends_with(0);
    assert_eq!(doc_pairs(&of_packed, "cosine"), doc_pairs(&out, "cosine"));
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
