//! Tests `contaminated`, which finds items of an evaluation set in documents, lists these documents, and removes them from the copy of the
//! corpus.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow::array::{ArrayRef, StringArray};
use std::sync::Arc;

use crate::kit::{
    Doc, Numbers, Ran, Table, files_below, json_lines, numbered, program, record, sample_docs, write_columns,
    write_docs,
};

/// Holds an evaluation set, a corpus and their outputs.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Searches `corpus` for the items in `items`, with two threads and 512 MiB unless `more` sets other values.
    fn search(&self, out: &str, more: &[&str]) -> Ran {
        let mut command = program();
        command.arg("contaminated").arg(self.at("corpus")).arg("--against").arg(self.at("items"));
        command.arg("--out").arg(self.at(out)).arg("--no-progress");
        for (flag, value) in [("--threads", "2"), ("--memory", "512MiB")] {
            if !more.contains(&flag) {
                command.args([flag, value]);
            }
        }
        Ran::of(command.args(more).output().unwrap())
    }

    fn write_items(&self, items: &[(String, String, String)]) {
        let column = |of: fn(&(String, String, String)) -> &String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(items.iter().map(of)))
        };
        let columns =
            [("id", column(|item| &item.0)), ("question", column(|item| &item.1)), ("answer", column(|item| &item.2))];
        write_columns(&self.at("items/exam.parquet"), &columns, 50);
    }

    /// Returns the score of each listed combination of a document and an item.
    fn scores(&self, out: &str) -> BTreeMap<(String, String), f32> {
        let table = Table::read(&self.at(out).join("contaminated"));
        let keys = table.texts("id").into_iter().zip(table.texts("eval_id"));
        keys.zip(table.floats("score").into_iter().flatten()).collect()
    }

    fn ids(&self, folder: &str) -> Vec<String> {
        Table::read(&self.at(folder)).texts("id")
    }
}

const ENGLISH: &str = "river stone market window garden letter captain winter bridge silver forest teacher engine mountain doctor village \
    island kitchen soldier candle harbor painter station blanket";
const RUSSIAN: &str = "река камень рынок окно сад письмо капитан зима мост серебро лес учитель двигатель гора доктор деревня остров \
    кухня солдат свеча гавань художник станция одеяло";
const CHINESE: &str = "河石市窗园信船冬桥银林师机山医村岛厨兵烛港画站毯春雨花鸟鱼虫风雪月星日云水火木金土田";

/// Returns unique text that consists of this many generated words in a language, or of twice as many Chinese characters.
fn made(language: &str, words: usize, numbers: &mut Numbers) -> String {
    if language == "zh" {
        let all: Vec<char> = CHINESE.chars().collect();
        return (0..2 * words).map(|_| all[numbers.below(all.len())]).collect();
    }
    let all: Vec<&str> = if language == "ru" { RUSSIAN } else { ENGLISH }.split_whitespace().collect();
    (0..words).map(|_| all[numbers.below(all.len())]).collect::<Vec<_>>().join(" ")
}

/// Returns the parts of the text that can be replaced: words, or pairs of Chinese characters.
fn words(language: &str, text: &str) -> Vec<String> {
    if language == "zh" {
        let characters: Vec<char> = text.chars().collect();
        return characters.chunks(2).map(|pair| pair.iter().collect()).collect();
    }
    text.split(' ').map(str::to_owned).collect()
}

fn planted(kind: &str, language: &str, item: &str, numbers: &mut Numbers) -> String {
    let space = if language == "zh" { "" } else { " " };
    let mut parts = words(language, item);
    match kind {
        "verbatim" => item.to_owned(),
        "re-wrapped" => parts.chunks(3).map(|line| line.join(space)).collect::<Vec<_>>().join("\r\n  "),
        "one word in ten" => {
            for ten in parts.chunks_mut(10) {
                let at = numbers.below(ten.len());
                ten[at] = made(language, 1, numbers);
            }
            parts.join(space)
        }
        _ => {
            let rest = parts.split_off(parts.len() / 3 + numbers.below(parts.len() / 3));
            format!("{}. {}. {}", parts.join(space), made(language, 15, numbers), rest.join(space))
        }
    }
}

const KINDS: [&str; 4] = ["verbatim", "re-wrapped", "one word in ten", "split"];
const LANGUAGES: [&str; 3] = ["zh", "ru", "en"];
/// The number of items per language.
const ITEMS: usize = 30;

#[test]
fn planted_items_are_found_in_three_languages_and_in_long_documents() {
    let place = Place::new();
    let (mut numbers, hosts) = (Numbers(0), sample_docs());
    let (mut items, mut docs) = (Vec::new(), Vec::new());
    for language in LANGUAGES {
        for number in 0..ITEMS {
            let words = 10 + numbers.below(31);
            let item = made(language, words, &mut numbers);
            for kind in KINDS {
                let host = &hosts[numbers.below(hosts.len())].text;
                // One item is planted in a 1 MB document.
                let times = if number == 7 { 1_000_000 / host.len() + 1 } else { 1 };
                let planted = planted(kind, language, &item, &mut numbers);
                let text = format!("{}\n{planted}\n{host}", format!("{host}\n").repeat(times));
                docs.push(Doc { id: format!("{language}{number} {kind}"), text, title: None });
            }
            items.push((format!("{language}{number}"), item, String::new()));
        }
    }
    let plain = hosts.iter().take(400).cloned();
    docs.extend(plain);
    write_docs(&place.at("corpus/docs.parquet"), &docs, 100);
    place.write_items(&items);
    place.search("out", &[]).ends_with(0);
    let scores = place.scores("out");
    for language in LANGUAGES {
        for kind in KINDS {
            let (least, share) = if ["verbatim", "re-wrapped"].contains(&kind) { (0.8, 0.95) } else { (0.5, 0.8) };
            let score = |number: usize| {
                let item = format!("{language}{number}");
                scores.get(&(format!("{item} {kind}"), item)).copied().unwrap_or_default()
            };
            let found = (0..ITEMS).filter(|&number| score(number) >= least).count();
            assert!(found as f64 >= share * ITEMS as f64, "{language}, {kind}: {found} of {ITEMS} at {least}");
        }
    }
    // No sample contains an item, and no document contains an item that belongs to a different document.
    assert!(scores.keys().all(|(doc, item)| doc.split(' ').next() == Some(item)), "{scores:?}");
    // The reported position is the position of the item in the original text.
    let table = Table::read(&place.at("out/contaminated"));
    let numbers = |name: &str| table.numbers(name).into_iter().map(|number| number as usize).collect::<Vec<_>>();
    let (rows, starts, ends) = (numbers("doc"), numbers("start"), numbers("end"));
    let (first_bytes, last_bytes) = (numbers("start_byte"), numbers("end_byte"));
    for at in 0..table.len() {
        let doc = &docs[rows[at]];
        let span = &doc.text[first_bytes[at]..last_bytes[at]];
        let characters: String = doc.text.chars().skip(starts[at]).take(ends[at] - starts[at]).collect();
        assert_eq!(span, characters);
        let (_, item, _) = items.iter().find(|item| doc.id.starts_with(&format!("{} ", item.0))).unwrap();
        if doc.id.ends_with("verbatim") {
            assert_eq!(span, item);
        }
    }
}

/// Returns a small corpus with all cases: an item in 101 documents, an item in 100 documents, an item that is too short, answers, and an
/// unrelated item.
fn small(place: &Place) -> Vec<Doc> {
    let mut numbers = Numbers(5);
    let mut item = || made("en", 20, &mut numbers);
    let (well_known, frequent, asked, absent) = (item(), item(), item(), item());
    let items = [
        ("public", well_known.as_str(), ""),
        ("frequent", &frequent, ""),
        ("asked", &asked, "Forty-Two"),
        ("absent", &absent, "no"),
        ("short", "river stone market window", ""),
    ];
    place.write_items(&items.map(|(id, item, answer)| (id.to_owned(), item.to_owned(), answer.to_owned())));
    let own =
        |number: usize| format!("Document {} of its own, about {} and more.", spelt(number), spelt(number * 7919));
    let mut texts: Vec<String> = (0..300)
        .map(|number| match number {
            0..101 => format!("{} {well_known} {}", own(number), own(number)),
            101..201 => format!("{} {} {}", own(number), frequent.to_uppercase(), own(number)),
            _ => own(number),
        })
        .collect();
    texts[250] = format!("{}\n{asked}\nThe answer: forty-two!\n{}", own(250), own(250));
    texts[251] = format!("{}\n{asked}\n{}", own(251), own(251));
    texts[252] = asked.clone();
    let docs = numbered(texts);
    write_docs(&place.at("corpus/docs.parquet"), &docs, 70);
    docs
}

#[test]
fn public_and_short_items_are_set_apart_and_answers_are_found() {
    let place = Place::new();
    let docs = small(&place);
    let ran = place.search("out", &["--corpus", "keep,drop"]).ends_with(3);
    let table = Table::read(&place.at("out/items"));
    let status: Vec<(String, String)> = table.texts("eval_id").into_iter().zip(table.texts("status")).collect();
    let expected = [
        ("public", "public"),
        ("frequent", "found"),
        ("asked", "found"),
        ("absent", "not found"),
        ("short", "too short"),
    ];
    assert_eq!(status, expected.map(|(id, status)| (id.to_owned(), status.to_owned())));
    assert_eq!(table.numbers("documents_80"), [101, 100, 3, 0, 0]);
    let suites = Table::read(&place.at("out/suites"));
    let numbers = ["items", "too_short", "public", "found_80", "found_50", "documents_80", "documents_50", "variants"];
    assert_eq!(numbers.map(|name| suites.numbers(name)[0]), [5, 1, 1, 3, 3, 204, 204, 0]);
    assert_eq!(suites.texts("suite"), ["exam"]);
    let found = Table::read(&place.at("out/contaminated"));
    assert_eq!((found.len(), record(&place.at("out"))["contaminated"].as_u64()), (204, Some(103)));
    assert_eq!(found.texts("relation"), [vec!["public"; 101], vec!["leak"; 103]].concat());
    let answers = found.flags_or_null("answer_found");
    assert_eq!(answers[201..], [Some(true), Some(false), Some(false)]);
    assert!(answers[..201].iter().all(Option::is_none));
    // No document is removed because of a public item; the kept documents are unchanged.
    let kept = Table::read(&place.at("out/clean"));
    let expected: Vec<&Doc> = docs
        .iter()
        .enumerate()
        .filter(|(at, _)| !(101..201).contains(at) && !(250..253).contains(at))
        .map(|(_, doc)| doc)
        .collect();
    assert_eq!(kept.texts("id"), expected.iter().map(|doc| doc.id.as_str()).collect::<Vec<_>>());
    assert_eq!(kept.texts("text"), expected.iter().map(|doc| doc.text.as_str()).collect::<Vec<_>>());
    assert_eq!(place.ids("out/dropped").len(), 103);
    assert!(
        ran.stdout.starts_with("103 of 300 documents contaminated (threshold 0.8); no rows rejected\n"),
        "{}",
        ran.stdout
    );
    let kept = "101 documents kept that contain a public item, neither with its answer nor with another item; an item is \
        public above `--public-documents 100`";
    assert!(ran.stdout.contains(kept), "{}", ran.stdout);
    let page = std::fs::read_to_string(place.at("out/report.html")).unwrap();
    assert!(page.contains("<mark>") && page.contains("Public items"));
}

#[test]
fn spans_are_cut_and_a_second_search_finds_nothing() {
    let place = Place::new();
    let docs = small(&place);
    let items = std::fs::read(place.at("items/exam.parquet")).unwrap();
    place.search("out", &["--corpus", "keep,drop", "--cut-spans"]).ends_with(3);
    assert_eq!(place.ids("out/dropped"), [docs[252].id.clone()], "nothing of it is left");
    let kept = Table::read(&place.at("out/clean"));
    let texts: BTreeMap<String, String> = kept.texts("id").into_iter().zip(kept.texts("text")).collect();
    assert_eq!(texts.len(), 299);
    assert_eq!(texts[&docs[7].id], docs[7].text, "a public item is not cut");
    let own =
        |number: usize| format!("Document {} of its own, about {} and more.", spelt(number), spelt(number * 7919));
    assert_eq!(texts[&docs[150].id], format!("{} \n {}", own(150), own(150)));
    assert_eq!(texts[&docs[250].id], format!("{}\n\nThe answer: forty-two!\n{}", own(250), own(250)));
    std::fs::remove_dir_all(place.at("corpus")).unwrap();
    std::fs::rename(place.at("out/clean"), place.at("corpus")).unwrap();
    place.search("again", &[]).ends_with(3);
    assert_eq!(Table::read(&place.at("again/contaminated")).texts("relation"), ["public"; 101]);
    assert!(std::fs::read(place.at("items/exam.parquet")).unwrap() == items, "the evaluation set is never changed");
}

#[test]
fn json_lines_are_written_back_and_a_threshold_is_held() {
    let place = Place::new();
    let docs = small(&place);
    std::fs::remove_dir_all(place.at("corpus")).unwrap();
    std::fs::create_dir(place.at("corpus")).unwrap();
    let half = docs[250].text.replace("\nThe answer", ". The answer");
    let mut words: Vec<&str> = docs[252].text.split(' ').collect();
    words.truncate(14);
    let more = Doc { id: "half".into(), text: format!("{} and that is all of it", words.join(" ")), title: None };
    let docs = [docs[260].clone(), Doc { text: half, ..docs[250].clone() }, more];
    std::fs::write(place.at("corpus/a.jsonl"), json_lines(&docs)).unwrap();
    place.search("out", &["--corpus", "keep"]).ends_with(0);
    let scores = place.scores("out");
    let score = scores[&("half".to_owned(), "asked".to_owned())];
    assert!((0.5..0.8).contains(&score), "{score}");
    let kept = std::fs::read_to_string(place.at("out/clean/a.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2, "a document below the threshold is listed and kept");
    place.search("low", &["--corpus", "keep", "--threshold", "0.5"]).ends_with(0);
    assert!(std::fs::read_to_string(place.at("low/clean/a.jsonl")).unwrap().lines().count() == 1);
}

#[test]
fn threads_and_memory_change_no_byte() {
    let place = Place::new();
    small(&place);
    let go = |out: &str, more: &[&str]| {
        place.search(out, &[&["--corpus", "keep,drop", "--cut-spans"], more].concat()).ends_with(3);
        let files = files_below(&place.at(out))
            .into_iter()
            .filter(|file| file.extension().is_some_and(|ending| ending == "parquet"));
        let files =
            files.map(|file| (file.strip_prefix(place.at(out)).unwrap().to_owned(), std::fs::read(&file).unwrap()));
        files.collect::<BTreeMap<PathBuf, Vec<u8>>>()
    };
    let one = go("one", &["--threads", "1"]);
    assert_eq!(one.len(), 6, "{:?}", one.keys());
    for (name, more) in
        [("two", ["--threads", "2", "--memory", "64MiB"]), ("five", ["--threads", "5", "--memory", "1GiB"])]
    {
        assert!(one == go(name, &more), "{name}");
    }
}

#[test]
fn what_cannot_be_read_of_the_items_is_counted_and_skipped() {
    let place = Place::new();
    small(&place);
    let asked = Table::read(&place.at("items")).texts("question")[2].clone();
    std::fs::remove_dir_all(place.at("items")).unwrap();
    std::fs::create_dir(place.at("items")).unwrap();
    let line = |id: &str, item: &str| format!("{{\"id\":{id:?},\"question\":{item:?},\"set\":\"A\",\"answer\":42}}\n");
    let lines = [
        line("good", &asked),
        "{\"id\":\"n\",\"set\":\"A\"}\n".into(),
        "torn\n".into(),
        "torn, too\n".into(),
        line("other", "one two three four five six"),
    ];
    std::fs::write(place.at("items/a.jsonl"), lines.concat()).unwrap();
    std::fs::write(place.at("items/b.parquet"), b"PAR1 is torn PAR1").unwrap();
    let more = ["--suite-column", "set", "--max-rejected-share", "1"];
    let ran = place.search("out", &more).ends_with(3);
    let rejected = Table::read(&place.at("out/rejected"));
    assert_eq!(rejected.texts("input"), ["against"; 4]);
    assert_eq!(rejected.texts("file"), ["b.parquet", "a.jsonl", "a.jsonl", "a.jsonl"]);
    assert_eq!(rejected.texts("reason"), ["unusable file", "null text", "not JSON", "not JSON"]);
    for said in
        ["no corpus rows rejected", "against: 2 of 5 rows used; 3 rows rejected", "against: skipped: b.parquet: "]
    {
        assert!(ran.stdout.contains(said), "{said:?} is not in\n{}", ran.stdout);
    }
    let items = Table::read(&place.at("out/items"));
    assert_eq!(
        (items.texts("eval_id"), items.texts("suite")),
        (vec!["good".into(), "other".into()], vec!["A".to_owned(); 2])
    );
    assert_eq!(Table::read(&place.at("out/contaminated")).len(), 3);
    // If there are few rows, up to half of them may be invalid. If more are invalid, the earlier output is kept.
    place.search("out", &["--suite-column", "set", "--overwrite"]).ends_with(4);
    assert!(place.at("out.held/contaminated").is_dir());
    place.search("strict", &["--strict"]).ends_with(2).says(&["b.parquet"]);
}

#[test]
fn what_cannot_be_is_refused_with_the_way_out() {
    let place = Place::new();
    small(&place);
    let refused = |more: &[&str], says: &[&str]| {
        place.search("out", more).ends_with(2).says(says);
        assert!(!place.at("out").exists());
    };
    refused(&["--item-column", "qestion"], &["`--item-column`", "qestion", "did you mean \"question\"?"]);
    refused(&["--answer-column", "anser"], &["`--answer-column`", "did you mean \"answer\"?"]);
    refused(&["--suite-column", "sute"], &["`--suite-column`", "sute"]);
    refused(&["--text-column", "txt"], &["no column \"txt\"", "try `--text-column text`"]);
    refused(&["--cut-spans"], &["`--cut-spans`", "`--corpus keep`"]);
    refused(&["--corpus", "annotate"], &["`--corpus`", "expected keep, drop or none"]);
    refused(&["--against", "nowhere"], &["`--against`", "nowhere"]);
    refused(&["--ngram", "2"], &["`--ngram`", "from 3 to 64"]);
    let mut command = program();
    let done = Ran::of(
        command.arg("contaminated").arg(place.at("corpus")).arg("--out").arg(place.at("out")).output().unwrap(),
    );
    done.ends_with(2).says(&["`--against`", "the evaluation set is missing"]);
    // A dry run reports the number of documents to search.
    let ran = place.search("out", &["--dry-run"]).ends_with(0);
    assert_eq!(ran.stdout, "the search for 5 items would read 300 documents in one pass\n");
    assert!(!place.at("out").exists());
    // The items must fit within a quarter of the memory limit.
    let mut numbers = Numbers(9);
    let items: Vec<_> = (0..200).map(|at| (at.to_string(), made("zh", 1_000, &mut numbers), String::new())).collect();
    place.write_items(&items);
    refused(&["--memory", "64MiB"], &["`--against`", "a quarter of `--memory 64", "use about `--memory "]);
}

/// Checks that only outputs of dupsift are replaced, and that an output in the folder of the corpus is not read.
#[test]
fn an_output_is_known_as_ours() {
    let place = Place::new();
    small(&place);
    place.search("out", &["--corpus", "keep"]).ends_with(3);
    place.search("out", &[]).ends_with(2).says(&["already exists"]);
    place.search("out", &["--corpus", "keep", "--overwrite"]).ends_with(3);
    // An output that contains the evaluation set is not replaced.
    let inside = place.at("out/clean");
    let items = files_below(&inside);
    let mut command = program();
    command.arg("contaminated").arg(place.at("items")).arg("--against").arg(&inside).args(["--item-column", "text"]);
    command.args(["--text-column", "question", "--overwrite", "--no-progress", "--out"]).arg(place.at("out"));
    Ran::of(command.output().unwrap()).ends_with(2).says(&["would be replaced", "contains the input"]);
    assert!(!items.is_empty() && files_below(&inside) == items);
    std::fs::write(place.at("out/clean/notes.txt"), b"mine").unwrap();
    place.search("out", &["--overwrite"]).ends_with(2).says(&["notes.txt"]);
    std::fs::rename(place.at("out"), place.at("corpus/out")).unwrap();
    let ran = place.search("again", &[]).ends_with(3);
    assert!(record(&place.at("again"))["rows"] == 300, "{}", ran.stdout);
    let folder = place.at("corpus/out");
    let mut command = program();
    Ran::of(command.arg("report").arg(&folder).output().unwrap()).ends_with(2).says(&["contaminated"]);
    assert!(Path::new(&folder).join("_SUCCESS").is_file());
}

/// Writes documents as the corpus, searches it, and returns for each match its document, its item, and whether the answer was found.
fn answers(place: &Place, docs: &[&str], more: &[&str]) -> Vec<(String, String, Option<bool>)> {
    std::fs::create_dir_all(place.at("corpus")).unwrap();
    let docs: Vec<Doc> = numbered(docs.iter().copied());
    std::fs::write(place.at("corpus/a.jsonl"), json_lines(&docs)).unwrap();
    place.search("out", &[more, &["--overwrite"]].concat()).ends_with(0);
    let table = Table::read(&place.at("out/contaminated"));
    let keys = table.texts("id").into_iter().zip(table.texts("eval_id"));
    keys.zip(table.flags_or_null("answer_found")).map(|((id, item), found)| (id, item, found)).collect()
}

fn is(docs: &[(usize, &str, Option<bool>)]) -> Vec<(String, String, Option<bool>)> {
    let ids = numbered(vec![String::new(); docs.iter().map(|(doc, ..)| doc + 1).max().unwrap_or_default()]);
    docs.iter().map(|(doc, item, found)| (ids[*doc].id.clone(), (*item).to_owned(), *found)).collect()
}

const BRIDGE: &str = "Which bridge over the river was repaired before the winter of that year?";
const METAL: &str = "Which of these metals conducts electricity best at room temperature?";

/// Writes the items of MMLU as Parquet, JSON lines or Arrow: `choices` is a list, and `answer` is a position counted
/// from 0.
fn write_mmlu(place: &Place, file: &str) {
    use arrow::array::builder::{ListBuilder, StringBuilder};
    let choices = [["the northern one", "the southern one"], ["copper", "silver"]];
    let mut lists = ListBuilder::new(StringBuilder::new());
    choices.iter().for_each(|list| lists.append_value(list.map(Some)));
    let columns: [(&str, ArrayRef); 5] = [
        ("id", Arc::new(StringArray::from(vec!["m1", "m2"]))),
        ("question", Arc::new(StringArray::from(vec![BRIDGE, METAL]))),
        ("subject", Arc::new(StringArray::from(vec!["history", "physics"]))),
        ("choices", Arc::new(lists.finish())),
        ("answer", Arc::new(arrow::array::Int64Array::from(vec![0, 1]))),
    ];
    let path = place.at("items").join(file);
    std::fs::create_dir_all(place.at("items")).unwrap();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("parquet") => write_columns(&path, &columns, 1),
        Some("arrow") => {
            let rows = arrow::array::RecordBatch::try_from_iter(columns).unwrap();
            let file = std::fs::File::create(path).unwrap();
            let mut writer = arrow::ipc::writer::FileWriter::try_new(file, &rows.schema()).unwrap();
            writer.write(&rows).and_then(|()| writer.finish()).unwrap();
        }
        _ => {
            let line = |at: usize| {
                let (id, question) = [("m1", BRIDGE), ("m2", METAL)][at];
                let subject = ["history", "physics"][at];
                let row = serde_json::json!(
                    { "id": id, "question": question, "subject": subject, "choices": choices[at], "answer": at });
                format!("{row}\n")
            };
            std::fs::write(path, line(0) + &line(1)).unwrap();
        }
    }
}

#[test]
fn choices_are_a_list_and_the_answer_a_position_in_it_in_every_format() {
    let docs = [
        format!("An old exam. {BRIDGE} It was the northern one, of course."),
        format!("An old exam. {BRIDGE} It was the southern one, of course."),
        format!("{METAL}\ncopper\nsilver\n"),
        format!("{METAL}\ncopper\niron\n"),
    ];
    let docs = docs.each_ref().map(String::as_str);
    let expected = [(0, "m1", Some(true)), (1, "m1", Some(false)), (2, "m2", Some(true)), (3, "m2", Some(false))];
    for file in ["mmlu.parquet", "mmlu.jsonl", "mmlu.arrow"] {
        let place = Place::new();
        write_mmlu(&place, file);
        assert_eq!(answers(&place, &docs, &["--suite-column", "subject"]), is(&expected), "{file}");
        let suites = Table::read(&place.at("out/suites"));
        assert_eq!(suites.texts("suite"), ["history", "physics"], "{file}");
        // An item that includes the choices is longer, so a document without the choices contains a smaller share of the item.
        let with = ["--item-column", "question,choices", "--threshold", "0.5"];
        answers(&place, &docs, &with);
        let scores = place.scores("out");
        let score = |doc: &str| scores.iter().find(|((id, _), _)| id == doc).map(|(_, score)| *score);
        let ids = numbered(vec![String::new(); 4]);
        assert_eq!(Table::read(&place.at("out/items")).numbers("tokens"), [19, 12], "{file}");
        assert!(score(&ids[2].id) > score(&ids[3].id), "{file}: {scores:?}");
        assert!(Table::read(&place.at("out/items")).texts("text")[1].ends_with("\ncopper\nsilver"), "{file}");
    }
}

#[test]
fn the_usual_sets_are_read_as_their_users_expect() {
    let check = |file: &str, items: &str, docs: &[&str], more: &[&str], expected: &[(usize, &str, Option<bool>)]| {
        let place = Place::new();
        std::fs::create_dir_all(place.at("items")).unwrap();
        std::fs::write(place.at("items").join(file), items).unwrap();
        assert_eq!(answers(&place, docs, more), is(expected), "{file}");
    };
    let solution = "Natalia sold 48 clips in April and half as many in May. How many clips did she sell altogether?";
    let row = |row: serde_json::Value| format!("{row}\n");
    check(
        "gsm8k.jsonl",
        &row(
            serde_json::json!({ "id": "g", "question": solution, "answer": "She sold 48/2 = <<48/2=24>>24.\n#### 72" }),
        ),
        &[&format!("{solution} 72."), &format!("{solution} 71.")],
        &[],
        &[(0, "g", Some(true)), (1, "g", Some(false))],
    );
    let context = "A man is sitting on a roof. He starts pulling up roofing";
    check(
        "hellaswag.jsonl",
        &[
            row(serde_json::json!({ "ind": 1, "ctx": context, "endings": ["on the roof", "with a wide knife"], "label": "1" })),
            row(
                serde_json::json!({ "ind": 2, "ctx": "Two women are seen standing in a bright kitchen", "endings": ["a", "b"], "label": "" }),
            ),
        ]
        .concat(),
        &[
            &format!("{context} with a wide knife."),
            &format!("{context} on the roof."),
            "Two women are seen standing in a bright kitchen and a b",
        ],
        &["--item-column", "ctx", "--choices-column", "endings", "--answer-column", "label", "--item-id-column", "ind"],
        &[(0, "1", Some(true)), (1, "1", Some(false)), (2, "2", None)],
    );
    check(
        "ceval.csv",
        "id,question,A,B,C,D,answer\n0,下列关于计算机网络协议的说法正确的是,甲说法,乙说法,丙说法,丁说法,C\n",
        &["下列关于计算机网络协议的说法，正确的是：丙说法", "下列关于计算机网络协议的说法，正确的是：甲说法"],
        &["--choices-column", "A,B,C,D"],
        &[(0, "0", Some(true)), (1, "0", Some(false))],
    );
    let inputs = "Какой элемент таблицы обозначается буквой этого алфавита";
    check(
        "mera.jsonl",
        &row(serde_json::json!({
            "instruction": "Ответьте на вопрос: {text}", "outputs": "B", "meta": { "id": 7 },
            "inputs": { "text": inputs, "option_a": "азот", "option_b": "кислород", "subject": "химия" }
        })),
        &[&format!("{inputs}? Кислород."), &format!("{inputs}? Азот.")],
        &[
            "--item-column",
            "inputs.text",
            "--choices-column",
            "inputs.option_a,inputs.option_b",
            "--answer-column",
            "outputs",
            "--item-id-column",
            "meta.id",
        ],
        &[(0, "7", Some(true)), (1, "7", Some(false))],
    );
    // Checks a question in chat messages, and a list of correct answers.
    check(
        "chat.jsonl",
        &row(serde_json::json!({
            "id": "c", "messages": [{ "role": "system", "content": "Be brief." }, { "role": "user", "content": BRIDGE }],
            "answer": ["the northern one", "Northern Bridge"]
        })),
        &[&format!("Be brief. {BRIDGE} The Northern Bridge."), &format!("Be brief.\n{BRIDGE} The southern one.")],
        &["--item-column", "messages"],
        &[(0, "c", Some(true)), (1, "c", Some(false))],
    );
}

/// Checks that the answer to a cloze item is found in the middle of the span, and that an answer that also occurs in the item does not
/// count.
#[test]
fn an_answer_is_found_inside_the_span() {
    let place = Place::new();
    let (cloze, own) = (
        "The captain of the old ship gave the ____ to the first officer before he left the harbor",
        "Was the northern bridge or the southern bridge repaired before the winter of that year?",
    );
    place.write_items(&[
        ("cloze".into(), cloze.into(), "golden key".into()),
        ("own".into(), own.into(), "the southern bridge".into()),
    ]);
    let filled = cloze.replace("____", "golden key");
    let docs = [&filled, cloze, own, &format!("{own} It was the southern bridge.")];
    let expected =
        [(0, "cloze", Some(true)), (1, "cloze", Some(false)), (2, "own", Some(false)), (3, "own", Some(true))];
    assert_eq!(answers(&place, &docs, &[]), is(&expected));
}

#[test]
fn columns_of_choices_are_checked() {
    let place = Place::new();
    write_mmlu(&place, "mmlu.parquet");
    write_docs(&place.at("corpus/docs.parquet"), &numbered(vec!["one text".to_owned()]), 1);
    let refused = |more: &[&str], says: &[&str]| _ = place.search("out", more).ends_with(2).says(says);
    refused(&["--choices-column", "choises"], &["`--choices-column`", "choises", "did you mean \"choices\"?"]);
    refused(&["--choices-column", "choices,options"], &["`--choices-column`", "\"options\""]);
    refused(&["--suite-column", "choices"], &["`--suite-column`", "\"choices\"", "a list"]);
    // A list of numbers is not text.
    std::fs::remove_dir_all(place.at("items")).unwrap();
    std::fs::create_dir(place.at("items")).unwrap();
    let lines =
        format!("{{\"question\":{BRIDGE:?},\"choices\":[\"x\"]}}\n{{\"question\":{METAL:?},\"choices\":[1]}}\n");
    std::fs::write(place.at("items/a.jsonl"), lines).unwrap();
    place.search("out", &["--item-column", "question,choices"]).ends_with(3);
    let rejected = Table::read(&place.at("out/rejected"));
    assert_eq!(
        (rejected.texts("input"), rejected.texts("reason")),
        (vec!["against".into()], vec!["wrong type".into()])
    );
}

/// Checks that `--reference` removes copies and near-duplicates of items, but not long documents that contain an item, which `contaminated`
/// finds.
#[test]
fn a_question_inside_a_longer_document_is_found_by_this_command_alone() {
    let place = Place::new();
    let question = made("en", 30, &mut Numbers(3));
    place.write_items(&[("q".to_owned(), question.clone(), String::new())]);
    let mut hosts = sample_docs().into_iter().map(|doc| doc.text).filter(|text| text.len() > 3000).step_by(50);
    let (around, other) = (hosts.next().unwrap(), hosts.next().unwrap());
    let texts = [format!("{around}\n{question}\n{around}"), question.clone(), other];
    write_docs(&place.at("corpus/docs.parquet"), &numbered(texts), 10);
    let reference = [Doc { id: "q".to_owned(), text: question, title: None }];
    write_docs(&place.at("reference/exam.parquet"), &reference, 10);
    let mut command = program();
    command.arg("run").arg(place.at("corpus")).arg("--reference").arg(place.at("reference"));
    command.args(["--algorithms", "exact,minhash", "--no-progress", "--out"]).arg(place.at("run"));
    Ran::of(command.output().unwrap()).ends_with(0);
    assert_eq!(crate::kit::removed_ids(&place.at("run")), ["d1"]);
    place.search("out", &[]).ends_with(0);
    assert_eq!(place.ids("out/contaminated"), ["d0", "d1"]);
}

/// Writes items and documents as JSON lines, searches, and returns each listed match: document, item and relation.
fn relations(
    place: &Place,
    items: &[serde_json::Value],
    docs: &[String],
    more: &[&str],
) -> Vec<(String, String, String)> {
    std::fs::create_dir_all(place.at("items")).unwrap();
    std::fs::create_dir_all(place.at("corpus")).unwrap();
    let lines: String = items.iter().map(|item| format!("{item}\n")).collect();
    std::fs::write(place.at("items/exam.jsonl"), lines).unwrap();
    let docs: Vec<Doc> = numbered(docs.iter().cloned());
    std::fs::write(place.at("corpus/a.jsonl"), json_lines(&docs)).unwrap();
    let ran = place.search("out", &[more, &["--overwrite", "--corpus", "keep"]].concat());
    assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
    let table = Table::read(&place.at("out/contaminated"));
    let keys = table.texts("id").into_iter().zip(table.texts("eval_id"));
    keys.zip(table.texts("relation")).map(|((id, item), relation)| (id, item, relation)).collect()
}

/// Returns the number of contaminated documents in the last search.
fn contaminated(place: &Place) -> u64 {
    record(&place.at("out"))["contaminated"].as_u64().unwrap()
}

const ROLLS: &str = "A baker packs 14 rolls in each of 9 boxes and then gives away 23 rolls to the school on the hill. How many rolls \
    does the baker have left?";

/// Checks that an item in many documents is contamination if its answer is there, or if the documents contain other items, and that copies
/// of one document do not make an item public.
#[test]
fn a_frequent_item_is_not_harmless() {
    let place = Place::new();
    let own = |number: usize| format!("Page {} of {} begins here.", spelt(number + 1000), spelt(number * 7919));
    let item = serde_json::json!({ "id": "q", "question": ROLLS, "answer": "103" });
    let docs: Vec<String> =
        (0..150).map(|at| format!("{} {ROLLS} The answer is 103. {}", own(at), own(at + 9))).collect();
    assert_eq!(relations(&place, std::slice::from_ref(&item), &docs, &[]).len(), 150);
    assert_eq!(contaminated(&place), 150, "the answer is there");
    // Documents with the answer are contaminated even if the item is public.
    let docs: Vec<String> = (0..150)
        .map(|at| format!("{} {ROLLS} {}", own(at), if at < 20 { "It is 103." } else { "Nobody knows." }))
        .collect();
    let found = relations(&place, std::slice::from_ref(&item), &docs, &[]);
    assert_eq!(found.iter().filter(|row| row.2 == "public").count(), 130);
    assert_eq!((contaminated(&place), found.len()), (20, 150));
    assert_eq!(record(&place.at("out"))["kept_public"], 130);
    relations(&place, std::slice::from_ref(&item), &docs, &["--public-documents", "130"]);
    assert_eq!(contaminated(&place), 150);
    // A document with several items is a part of the set.
    let mut numbers = Numbers(11);
    let items: Vec<String> = (0..5).map(|_| made("ru", 25, &mut numbers)).collect();
    let rows: Vec<_> =
        items.iter().zip(0..).map(|(text, id)| serde_json::json!({ "id": id, "question": text })).collect();
    let docs: Vec<String> = (0..101).map(|at| format!("{}\n{}\n{}", own(at), items.join("\n"), own(at + 9))).collect();
    assert_eq!(relations(&place, &rows, &docs, &[]).len(), 505);
    assert_eq!(contaminated(&place), 101);
    // Copies of one document count once.
    let docs = vec![format!("{} {}", own(1), items[0]); 150];
    assert!(relations(&place, &rows, &docs, &[]).iter().all(|row| row.2 == "leak"));
    assert_eq!(contaminated(&place), 150);
    // Pages that differ only in their numbers are copies, too.
    let docs: Vec<String> = (0..150).map(|at| format!("Page {at} of 1,{at:03}\n{}\n{}", own(1), items[0])).collect();
    assert!(relations(&place, &rows, &docs, &[]).iter().all(|row| row.2 == "leak"));
    assert_eq!(contaminated(&place), 150);
}

/// Checks that an item without its instruction is a leak, and that the instruction alone is none.
#[test]
fn an_item_is_found_without_its_instruction() {
    let place = Place::new();
    let mut numbers = Numbers(17);
    let instruction = made("en", 43, &mut numbers);
    for own in [10, 15, 20] {
        let items: Vec<String> = (0..40).map(|_| made("en", own, &mut numbers)).collect();
        let question = |text: &String| format!("{instruction} {text}");
        let rows: Vec<_> = items
            .iter()
            .zip(0..)
            .map(|(text, id)| serde_json::json!({ "id": id, "question": question(text) }))
            .collect();
        let host = |numbers: &mut Numbers| made("en", 40, numbers);
        let mut docs: Vec<String> =
            items.iter().map(|item| format!("{} {item} {}", host(&mut numbers), host(&mut numbers))).collect();
        docs.extend((0..40).map(|_| question(&host(&mut numbers))));
        let found = relations(&place, &rows, &docs, &[]);
        assert!(found.iter().all(|(doc, item, _)| *doc == format!("d{item}")), "{own}: {found:?}");
        assert_eq!((found.len(), contaminated(&place)), (40, 40), "{own}: {found:?}");
    }
}

/// Returns a number as a word of letters.
fn spelt(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect()
}

/// Checks that an item with other numbers is listed as a variant and kept, in three languages.
#[test]
fn other_numbers_are_a_variant() {
    let russian =
        "Пекарь кладет 14 булок в каждую из 9 коробок и отдает 23 булки в школу на холме. Сколько булок осталось?";
    let chinese = "面包师在9个盒子里各放14个面包，然后把23个面包送给山上的学校，还剩多少个面包？";
    let items = [ROLLS, russian, chinese];
    let rows: Vec<_> =
        items.iter().zip(0..).map(|(text, id)| serde_json::json!({ "id": id, "question": text })).collect();
    let words =
        [["fourteen", "nine", "twenty-three"], ["четырнадцать", "девяти", "двадцать три"], ["十四", "九", "二十三"]];
    let mut docs = Vec::new();
    for (item, words) in items.iter().zip(words) {
        docs.push(format!("So be it. {item} So be it."));
        docs.push(format!("So be it. {} So be it.", item.replace("14", "17").replace("23", "31")));
        docs.push(item.replace("14", words[0]).replace('9', words[1]).replace("23", words[2]));
    }
    let place = Place::new();
    let found = relations(&place, &rows, &docs, &[]);
    let relation: Vec<&str> = found.iter().map(|row| row.2.as_str()).collect();
    assert_eq!(relation, ["leak", "variant", "leak"].repeat(3), "{found:?}");
    assert_eq!(contaminated(&place), 6);
    assert_eq!(record(&place.at("out"))["kept_variants"], 3);
    assert!(place.scores("out").values().all(|&score| (0.25..0.5).contains(&score) || score >= 0.8));
    let clean = std::fs::read_to_string(place.at("out/clean/a.jsonl")).unwrap();
    assert_eq!(clean.lines().count(), 3);
}

/// Checks that words that many items share, such as an instruction, do not count.
#[test]
fn an_instruction_of_many_items_is_no_item() {
    let place = Place::new();
    let instruction = "Read the following passage carefully and then choose the single best option from the list that is given \
        below. Think step by step, write down each step, and finish with the letter of the option in a box.";
    let mut numbers = Numbers(12);
    let mut own = |count: usize| (0..count).map(|_| made("en", 12, &mut numbers)).collect::<Vec<_>>();
    let (of_items, others) = (own(200), own(60));
    let row = |(own, id): (&String, usize)| serde_json::json!({ "id": id, "question": format!("{instruction} {own}") });
    let rows: Vec<_> = of_items.iter().zip(0..).map(row).collect();
    let mut docs: Vec<String> = others.iter().map(|own| format!("An exam. {instruction} {own}")).collect();
    assert!(relations(&place, &rows, &docs, &[]).is_empty());
    docs.push(format!("An exam. {instruction} {}", of_items[70]));
    docs.push(format!("An exam without instructions. {}", of_items[71]));
    let found = relations(&place, &rows, &docs, &[]);
    assert_eq!(found.iter().map(|row| row.1.as_str()).collect::<Vec<_>>(), ["70", "71"]);
    assert_eq!(contaminated(&place), 2);
}

/// Checks that choices are found with any labels, and that a short question needs a choice or its answer.
#[test]
fn labels_are_no_words_and_short_questions_need_choices() {
    let place = Place::new();
    let mut numbers = Numbers(13);
    let items: Vec<(String, Vec<String>)> = (0..6)
        .map(|at| (made("en", 11 + at, &mut numbers), (0..4).map(|_| made("en", 2 + at % 3, &mut numbers)).collect()))
        .collect();
    let row = |((question, choices), id): (&(String, Vec<String>), usize)| serde_json::json!({ "id": id, "question": question, "choices": choices, "answer": 1 });
    let rows: Vec<_> = items.iter().zip(0..).map(row).collect();
    for labels in [
        "A. B. C. D.",
        "(a) (b) (c) (d)",
        "1) 2) 3) 4)",
        "Ⅰ. Ⅱ. Ⅲ. Ⅳ.",
        "① ② ③ ④",
        "А) Б) В) Г)",
        "甲、 乙、 丙、 丁、",
    ] {
        let text = |(question, choices): &(String, Vec<String>)| {
            let list: Vec<String> =
                labels.split(' ').zip(choices).map(|(label, choice)| format!("{label} {choice}")).collect();
            format!("Exam.\n{question}?\n{}\nEnd.", list.join("\n"))
        };
        let docs: Vec<String> = items.iter().map(text).collect();
        let found = relations(&place, &rows, &docs, &["--item-column", "question,choices"]);
        assert_eq!((found.len(), contaminated(&place)), (6, 6), "{labels}");
    }
    let stems = ["Which of the following statements is true?", "下列说法正确的是", "Что из перечисленного верно?"];
    let choices = ["copper melts at room temperature", "铜在室温下熔化", "медь плавится при комнатной температуре"];
    let row =
        |at: usize| serde_json::json!({ "id": at, "question": stems[at], "choices": [choices[at], "x"], "answer": 0 });
    let rows: Vec<_> = (0..3).map(row).collect();
    let mut docs: Vec<String> = stems.iter().map(|stem| format!("Exam. {stem} Nothing of this.")).collect();
    assert!(relations(&place, &rows, &docs, &[]).is_empty());
    docs.extend(stems.iter().zip(choices).map(|(stem, choice)| format!("Exam. {stem}\nA. {choice}\nB. x")));
    let found = relations(&place, &rows, &docs, &[]);
    assert_eq!(found.iter().map(|row| row.0.as_str()).collect::<Vec<_>>(), ["d3", "d4", "d5"]);
    // A name is no item, and the order of words counts.
    let rows = [
        serde_json::json!({ "id": "name", "question": "The Federal Open Market Committee", "answer": "sets interest rates" }),
        serde_json::json!({ "id": "order", "question": made("en", 16, &mut numbers) }),
    ];
    let mut turned: Vec<&str> = rows[1]["question"].as_str().unwrap().split(' ').collect();
    turned.rotate_left(7);
    let docs = ["The Federal Open Market Committee met on Tuesday.".to_owned(), turned.join(" ")];
    relations(&place, &rows, &docs, &[]);
    assert_eq!(contaminated(&place), 0);
}

/// Checks that identical items are listed once, and that a search for many of them ends.
#[test]
fn identical_items_are_searched_for_once() {
    let place = Place::new();
    let rows: Vec<_> =
        (0..5000).map(|id| serde_json::json!({ "id": id, "question": ROLLS, "answer": "103" })).collect();
    let docs: Vec<String> = (0..40).map(|at| format!("Page {at}. {ROLLS}")).collect();
    let found = relations(&place, &rows, &docs, &[]);
    assert_eq!((found.len(), found[0].1.as_str()), (40, "0"));
    let items = Table::read(&place.at("out/items"));
    assert_eq!(items.numbers("documents_80"), [40; 5000]);
}
