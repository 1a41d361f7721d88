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
pub(crate) struct Place(tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Searches `corpus` for the items in `items`, with two threads and 512 MiB unless `more` sets other values.
    pub(crate) fn search(&self, out: &str, more: &[&str]) -> Ran {
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

    pub(crate) fn write_items(&self, items: &[(String, String, String)]) {
        let column = |of: fn(&(String, String, String)) -> &String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(items.iter().map(of)))
        };
        let columns =
            [("id", column(|item| &item.0)), ("question", column(|item| &item.1)), ("answer", column(|item| &item.2))];
        write_columns(&self.at("items/exam.parquet"), &columns, 50);
    }

    /// Returns the score of each listed combination of a document and an item.
    pub(crate) fn scores(&self, out: &str) -> BTreeMap<(String, String), f32> {
        let table = Table::read(&self.at(out).join("contaminated"));
        let keys = table.texts("id").into_iter().zip(table.texts("eval_id"));
        keys.zip(table.floats("score").into_iter().flatten()).collect()
    }

    pub(crate) fn ids(&self, folder: &str) -> Vec<String> {
        Table::read(&self.at(folder)).texts("id")
    }
}

const ENGLISH: &str = "river stone market window garden letter captain winter bridge silver forest teacher engine mountain doctor village \
    island kitchen soldier candle harbor painter station blanket";
const RUSSIAN: &str = "река камень рынок окно сад письмо капитан зима мост серебро лес учитель двигатель гора доктор деревня остров \
    кухня солдат свеча гавань художник станция одеяло";
const CHINESE: &str = "河石市窗园信船冬桥银林师机山医村岛厨兵烛港画站毯春雨花鸟鱼虫风雪月星日云水火木金土田";

/// Returns unique text that consists of this many generated words in a language, or of twice as many Chinese characters.
pub(crate) fn made(language: &str, words: usize, numbers: &mut Numbers) -> String {
    if language == "zh" {
        let all: Vec<char> = CHINESE.chars().collect();
        return (0..2 * words).map(|_| all[numbers.below(all.len())]).collect();
    }
    let all: Vec<&str> = if language == "ru" { RUSSIAN } else { ENGLISH }.split_whitespace().collect();
    (0..words).map(|_| all[numbers.below(all.len())]).collect::<Vec<_>>().join(" ")
}

/// Returns a number as a word of letters.
pub(crate) fn spelt(number: usize) -> String {
    number.to_string().bytes().map(|digit| char::from(b'a' + digit - b'0')).collect()
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
