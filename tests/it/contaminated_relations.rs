//! Tests what `contaminated` says about a match: a leak, a variant with other numbers, or an item that is public.

use crate::contaminated::{Place, made, spelt};
use crate::kit::{Doc, Numbers, Table, json_lines, numbered, record};

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
