//! Tests how `contaminated` reads evaluation sets: their formats, their choices and their answers.

use arrow::array::{ArrayRef, StringArray};
use std::sync::Arc;

use crate::contaminated::Place;
use crate::kit::{Doc, Table, json_lines, numbered, write_columns, write_docs};

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
