//! Tests external inputs (standard input and delimiter-separated files), and traditional characters that are read as simplified characters.

use std::fs::File;
use std::path::Path;

use crate::kit::{Ran, Table, doc_pairs, program, record, run, write_columns};

const CLOSED: &str =
    "The library will be closed on Monday for repairs of the roof, and books can be returned at the side door.";
const WATER: &str =
    "Water is turned off in the whole street on Tuesday morning between eight and eleven, so fill a bucket before.";

/// Runs `dupsift VERB - --out OUT ...` with a file as standard input.
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
    let said = "this run cannot be resumed";
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
    // The folder of temporary files is removed together with its contents.
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["out"]);
    // The result is the same as for a file, with any compression.
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
    // Commands that read the texts again fail, because the texts are no longer available.
    let mut explain = program();
    explain.arg("explain").arg(&out).args(["--", "-#0", "-#2"]);
    let said = "is the output of a run that read standard input, which was not saved";
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
    // Tests invalid input and empty input.
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
    // All files together have nine rows; the three files contain the same texts.
    let out = folder.path().join("out of all");
    let files: Vec<_> = ["a.jsonl", "b.csv", "c.tsv"].map(of).to_vec();
    run(&files.iter().map(|file| file.as_path()).collect::<Vec<_>>(), &out, &[]).ends_with(0);
    assert_eq!(record(&out)["removal"]["removed"], 7);
    // Delimiter-separated files are copied under their own names.
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
        // The copy contains all rows except these two, unchanged.
        let kept: String =
            rows.iter().enumerate().filter(|(n, _)| ![10, 600].contains(n)).map(|(_, row)| &**row).collect();
        let copy = std::fs::read_to_string(out.join("deduped").join(name)).unwrap();
        assert_eq!(copy, format!("id{delimiter}text\n{kept}"));
        let plain = folder.path().join(format!("plain {name}"));
        run(&[&path], &plain, &["--algorithms", "exact", "--quotes", "none"]).ends_with(0);
        assert_eq!(record(&plain)["documents"]["used"], 1000);
        assert_eq!(record(&plain)["options"]["quotes"], "none");
    }
    // A field with text after a closing quotation mark is not a copy of the field without quotation marks.
    let path = folder.path().join("b.csv");
    std::fs::write(&path, "id,text\n1,\"hello\" said he\n2,hello said he\n").unwrap();
    let out = folder.path().join("out of b");
    run(&[&path], &out, &["--algorithms", "exact"]).ends_with(3);
    assert_eq!((record(&out)["documents"]["used"].as_u64(), doc_pairs(&out, "exact")), (Some(1), vec![]));
    run(&[&path], &folder.path().join("wrong"), &["--quotes", "single"])
        .ends_with(2)
        .says(&["--quotes", "expected double or none"]);
}

#[test]
fn separated_values_as_excel_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let semicolons = "id;text\n1;привет, мир\n2;привет, мир\n";
    let file = write("a.csv", &encoding_rs::WINDOWS_1251.encode(semicolons).0);
    let out = folder.path().join("out");
    run(&[&file], &out, &[]).ends_with(2).says(&["a.csv: no column \"text\"", "try `--separator ';'`"]);
    run(&[&file], &out, &["--separator", ";", "--encoding", "auto", "--algorithms", "exact", "--corpus", "keep"])
        .ends_with(0);
    assert_eq!(doc_pairs(&out, "exact"), [(0, 1)]);
    assert_eq!(record(&out)["options"]["separator"], ";");
    let copy = std::fs::read(out.join("deduped/a.csv")).unwrap();
    assert_eq!(encoding_rs::WINDOWS_1251.decode(&copy).0, "id;text\n1;привет, мир\n");
    let tabs = write("b.csv", b"id\ttext\n1\tx\n");
    run(&[&tabs], &folder.path().join("tabs"), &[]).ends_with(2).says(&["try `--separator tab`"]);
    run(&[&tabs], &folder.path().join("tabs"), &["--separator", "tab"]).ends_with(0);
    let sep = write("c.csv", b"sep=;\r\nid;text\r\n1;x\r\n");
    run(&[&sep], &folder.path().join("sep"), &[]).ends_with(2).says(&["remove the first line", "`--separator ';'`"]);
    let wide: Vec<u8> = "\u{FEFF}id,text\n1,привет\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let wide = write("d.csv", &wide);
    run(&[&wide], &folder.path().join("wide"), &[]).ends_with(2).says(&["looks like UTF-16", "`--encoding auto`"]);
    run(&[&wide], &folder.path().join("wide"), &["--encoding", "auto"]).ends_with(0);
    run(&[&file], &folder.path().join("wrong"), &["--separator", ";;"])
        .ends_with(2)
        .says(&["separator", "one ASCII character"]);
}

/// Checks that the items of an array are rows, however they are laid out, packed or encoded, and that the cleaned corpus is an array of the
/// kept items with their bytes.
#[test]
fn the_items_of_an_array_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let item = |n: usize| {
        let text = format!("text, number ] \\\"{}\\\" }} {{", n % 150);
        format!("{{\n  \"id\": \"{n}\",\n  \"text\": \"{text}\", \"more\": [{{}}, 1.50]\n }}")
    };
    let rows: Vec<String> = (0..200).map(item).collect();
    let file = folder.path().join("a.json");
    let text = format!("\u{FEFF}\n [ {} \n]\n", rows.join(",\n"));
    std::fs::write(&file, &text).unwrap();
    let out = folder.path().join("out");
    run(&[&file], &out, &["--algorithms", "exact", "--corpus", "keep,drop"]).ends_with(0);
    assert_eq!(doc_pairs(&out, "exact"), (0..50).map(|n| (n, n + 150)).collect::<Vec<_>>());
    let copy = std::fs::read_to_string(out.join("deduped/a.json")).unwrap();
    assert_eq!(copy, format!("[\n{}\n]\n", rows[..150].join(",\n")));
    let dropped: Vec<serde_json::Value> =
        serde_json::from_slice(&std::fs::read(out.join("dropped/a.json")).unwrap()).unwrap();
    assert_eq!((dropped.len(), &dropped[0]["id"]), (50, &"150".into()));
    // One line, packed, with added columns.
    let packed = folder.path().join("b.jsonl.gz");
    let plain: Vec<String> = rows.iter().map(|row| row.replace('\n', "")).collect();
    let mut encoder = flate2::write::GzEncoder::new(File::create(&packed).unwrap(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, format!("[{}]", plain.join(",")).as_bytes()).unwrap();
    encoder.finish().unwrap();
    let out = folder.path().join("packed");
    run(&[&packed], &out, &["--algorithms", "exact", "--corpus", "keep", "--add", "copies"]).ends_with(0);
    let mut copy = String::new();
    let file = File::open(out.join("deduped/b.jsonl.gz")).unwrap();
    std::io::Read::read_to_string(&mut flate2::read::MultiGzDecoder::new(file), &mut copy).unwrap();
    let copy: Vec<serde_json::Value> = serde_json::from_str(&copy).unwrap();
    assert_eq!((copy.len(), &copy[3]["id"], &copy[3]["copies"]), (150, &"3".into(), &2.into()));
    // UTF-16 and GBK: a byte of a character may look like a bracket.
    let chinese = "[{\"id\": 1, \"text\": \"乗孾\"}, {\"id\": 2, \"text\": \"乗孾\"},\n{\"id\": 3, \"text\": \"俓\"}]";
    let wide: Vec<u8> = chinese.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, bytes) in [("utf-16le", wide), ("gbk", encoding_rs::GBK.encode(chinese).0.into_owned())] {
        let file = folder.path().join("c.json");
        std::fs::write(&file, bytes).unwrap();
        let out = folder.path().join(name);
        run(&[&file], &out, &["--algorithms", "exact", "--encoding", name]).ends_with(0);
        assert_eq!(doc_pairs(&out, "exact"), [(0, 1)], "{name}");
        let copied = folder.path().join("copied");
        run(&[&file], &copied, &["--encoding", name, "--corpus", "keep"]).ends_with(2).says(&["JSON array in"]);
    }
}

/// Checks that only the broken items of an array are lost, and that an array without objects is refused.
#[test]
fn an_item_that_is_no_object_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    let array = "[{\"text\":\"a\"}, 5, [\"x\"], {\"text\":\"a\"},, {\"text\":}, {\"text\":\"b\"}, {\"text\":\"cut";
    std::fs::write(&file, array).unwrap();
    let out = folder.path().join("out");
    let ran = run(&[&file], &out, &["--algorithms", "exact", "--corpus", "keep"]).ends_with(3);
    ran.says(&["the last item, which begins at byte 65, has no end", "the rows before it are used"]);
    // Three items, and the file itself, whose end is lost.
    assert_eq!(Table::read(&out.join("rejected")).len(), 4);
    assert_eq!(
        std::fs::read_to_string(out.join("deduped/a.json")).unwrap(),
        "[\n{\"text\":\"a\"},\n{\"text\":\"b\"}\n]\n"
    );
    std::fs::write(&file, "[\"a\", \"b\"]").unwrap();
    let out = folder.path().join("texts");
    run(&[&file], &out, &["--algorithms", "exact"]).ends_with(2).says(&["a.json: item 1 is not JSON", "not an object"]);
    let rows: Vec<String> = (0..200).map(|n| format!("{{\"id\":\"{n}\",\"text\":\"text number {n}\"}}")).collect();
    // A row that is an array is invalid.
    std::fs::write(&file, format!("[1]\n{}\n", rows.join("\n"))).unwrap();
    let out = folder.path().join("rows");
    run(&[&file], &out, &["--algorithms", "exact"]).ends_with(3);
    assert_eq!(record(&out)["documents"]["used"], 200);
}

/// Checks that in every format, two columns with the same name are refused if this name is requested, and that an object is invalid if it
/// contains the text twice.
#[test]
fn two_columns_of_one_name_are_not_guessed_between() {
    use arrow::array::{ArrayRef, StringArray};
    let folder = tempfile::tempdir().unwrap();
    let column = |values: [&str; 2]| -> ArrayRef { std::sync::Arc::new(StringArray::from_iter_values(values)) };
    let columns =
        |name: &'static str| [("id", column(["1", "2"])), ("text", column(["x", "y"])), (name, column(["q", "q"]))];
    let out = folder.path().join("out");
    for (name, more) in [("text", &[][..]), ("id", &[]), ("score", &["--keep", "score desc"])] {
        let mut columns = columns(name).to_vec();
        columns.push(("score", column(["a", "b"])));
        let file = folder.path().join("a.parquet");
        write_columns(&file, &columns, 10);
        run(&[&file], &out, more).ends_with(2).says(&["a.parquet", &format!("two columns are named {name:?}")]);
    }
    let file = folder.path().join("b.parquet");
    write_columns(&file, &[columns("other").to_vec(), vec![("other", column(["a", "b"]))]].concat(), 10);
    run(&[&file], &out, &["--algorithms", "exact"]).ends_with(0);
    let json = "{\"id\":1,\"text\":\"x\",\"text\":\"q\"}\n{\"id\":2,\"text\":\"q\",\"n\":1,\"n\":2}\n{\"id\":3,\"id\":4,\"text\":\"q\"}\n{\"id\":5,\"text\":\"q\"}\n";
    let file = folder.path().join("a.jsonl");
    std::fs::write(&file, json).unwrap();
    let out = folder.path().join("json");
    run(&[&file], &out, &["--algorithms", "exact"]).ends_with(3);
    let rejected = Table::read(&out.join("rejected"));
    assert_eq!(rejected.texts("reason"), ["broken record"]);
    assert_eq!(rejected.texts("detail"), ["the field \"text\" occurs twice"]);
    // A text is not lost because of its ids.
    assert_eq!(doc_pairs(&out, "exact"), [(1, 2), (1, 3)]);
    // A name that is not a string costs only its line, even if the line is the first and the name of the column is typed.
    std::fs::write(&file, "{1:2}\n{\"text\":\"q\",\"text\":\"r\"}\n{\"text\":\"q\"}\n{\"text\":\"q\"}\n").unwrap();
    for (name, more) in [("first", &[][..]), ("typed", &["--text-column", "text"])] {
        let out = folder.path().join(name);
        run(&[&file], &out, &[&["--algorithms", "exact"], more].concat()).ends_with(3);
        assert_eq!(Table::read(&out.join("rejected")).texts("reason"), ["not JSON", "broken record"]);
        assert_eq!(doc_pairs(&out, "exact"), [(2, 3)]);
    }
    // The same applies to every field along a path.
    let nested = "{\"id\":1,\"doc\":{\"text\":\"x\"},\"doc\":{\"text\":\"q\"}}\n{\"id\":2,\"doc\":{\"text\":\"q\"}}\n";
    std::fs::write(&file, nested).unwrap();
    let out = folder.path().join("nested");
    run(&[&file], &out, &["--algorithms", "exact", "--text-column", "doc.text"]).ends_with(3);
    assert_eq!(record(&out)["documents"]["used"], 1);
}

/// Checks that texts are compared by content, regardless of their encoding in the file.
#[test]
fn spellings_of_one_text_are_one_text() {
    const ENGLISH: &str = "The town council met on Tuesday evening to talk about the old bridge over the river, which has been closed to \
        carts and lorries since the flood of last spring. Engineers from the county said that the middle pier had sunk by nine inches.";
    const RUSSIAN: &str = "Городской совет собрался во вторник вечером, чтобы обсудить старый мост через реку, который закрыт для повозок \
        и грузовиков с прошлогоднего весеннего паводка. Инженеры области сообщили, что средняя опора осела почти на девять дюймов и \
        что ремонт займёт не меньше двух летних сезонов.";
    let folder = tempfile::tempdir().unwrap();
    let kept = |name: &str, texts: &[String], more: &[&str]| {
        let file = folder.path().join(format!("{name}.jsonl"));
        std::fs::write(&file, lines(&texts.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
        let out = folder.path().join(name);
        run(&[&file], &out, more).ends_with(0);
        record(&out)["removal"]["kept"].as_u64()
    };
    // Numbers with thousands separators, including a no-break space.
    let costs = |text: &str, cost: &str| format!("{text} {cost}.");
    for (n, cost) in ["1,200", "1'200", "1\u{202f}200", "1 200"].into_iter().enumerate() {
        let english = [cost, "1200"].map(|cost| costs(ENGLISH, &format!("The cost is {cost} pounds")));
        assert_eq!(kept(&format!("numbers{n}"), &english, &[]), Some(1), "{cost}");
        let russian = [cost, "1200"].map(|cost| costs(RUSSIAN, &format!("Стоимость {cost} рублей")));
        assert_eq!(kept(&format!("числа{n}"), &russian, &[]), Some(1), "{cost}");
    }
    let other = ["1,200", "1,300"].map(|cost| costs(ENGLISH, &format!("The cost is {cost} pounds")));
    assert_eq!(kept("other", &other, &[]), Some(2));
    let stressed = RUSSIAN.replace('о', "о\u{301}");
    assert_eq!(kept("stress", &[RUSSIAN.to_owned(), stressed], &["--algorithms", "minhash"]), Some(1));
    let marked = |mark: char| {
        ENGLISH.split(' ').map(move |word| [&word[..word.len() / 2], &word[word.len() / 2..]].join(&mark.to_string()))
    };
    let invisible = [
        '\u{34F}',
        '\u{61C}',
        '\u{180E}',
        '\u{202A}',
        '\u{2062}',
        '\u{2066}',
        '\u{3164}',
        '\u{FE00}',
        '\u{FFA0}',
        '\u{E0041}',
        '\u{E0100}',
    ];
    let texts: Vec<String> = invisible.into_iter().map(|mark| marked(mark).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(kept("marks", &texts, &["--algorithms", "minhash"]), Some(1));
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
    run(&[&docs], &out, &["--algorithms", "exact", "--corpus", "keep"]).ends_with(3).says(&["a.jsonl.gz", "truncated"]);
    let documents = record(&out)["documents"].clone();
    let used = documents["used"].as_u64().unwrap();
    assert!((1500..2000).contains(&(used - 2)) && documents["rejected"] == 0, "{documents}");
    // The copy is complete and contains the rows that were read.
    let copy = std::fs::File::open(out.join("deduped/a.jsonl.gz")).unwrap();
    let copied = std::io::read_to_string(flate2::read::MultiGzDecoder::new(copy)).unwrap();
    assert_eq!(copied, lines(&all[..used as usize - 2].iter().map(String::as_str).collect::<Vec<_>>()));
    // Repeats the run, and also adds the same input to an index as a batch.
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
