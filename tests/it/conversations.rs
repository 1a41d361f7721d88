//! Tests conversations with parts that are not plain text: arguments of tools and reasoning are text, and conversations with different
//! pictures are never duplicates.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, Int64Array, ListArray, StringArray, StructArray};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::Field;
use serde_json::{Value, json};

use crate::kit::{ALL, Ran, Table, done, labels, pairs, program, record, removed_ids, run, write_columns};

fn write(path: &Path, rows: impl IntoIterator<Item = Value>) -> PathBuf {
    let line = |(id, messages): (usize, Value)| json!({ "id": id, "messages": messages }).to_string() + "\n";
    std::fs::write(path, rows.into_iter().enumerate().map(line).collect::<String>()).unwrap();
    path.to_path_buf()
}

/// Returns a conversation about a picture.
fn about(picture: &str, question: &str) -> Value {
    json!([
        { "role": "user", "content": [{ "type": "image_url", "image_url": { "url": picture } }, { "type": "text", "text": question }] },
        { "role": "assistant", "content": "Yes, there is one on the left side of the road." },
    ])
}

const QUESTION: &str = "Is there a traffic light in this picture, and if so, on which side of the road does it stand?";

const MESSAGES: [&str; 2] = ["--text-column", "messages"];

fn strings(values: Vec<Option<String>>) -> ArrayRef {
    Arc::new(StringArray::from(values))
}

fn structs(fields: Vec<(&str, ArrayRef)>) -> ArrayRef {
    let fields =
        fields.into_iter().map(|(name, array)| (Arc::new(Field::new(name, array.data_type().clone(), true)), array));
    Arc::new(StructArray::from(fields.collect::<Vec<_>>()))
}

fn lists(values: ArrayRef, lengths: impl IntoIterator<Item = usize>) -> ArrayRef {
    let item = Arc::new(Field::new("element", values.data_type().clone(), true));
    Arc::new(ListArray::new(item, OffsetBuffer::from_lengths(lengths), values, None))
}

#[test]
fn arguments_and_reasoning_are_text() {
    let folder = tempfile::tempdir().unwrap();
    let call = |at: usize| {
        let arguments = json!({ "from": format!("city{at}"), "to": format!("town{}", at * 7 % 50) }).to_string();
        json!([
            { "role": "user", "content": "Please do it with the tool." },
            { "role": "assistant", "content": null, "tool_calls": [{ "id": format!("c{at}"), "function": { "name": "book", "arguments": arguments } }] },
            { "role": "tool", "content": "done" },
        ])
    };
    let thought = |at: usize| json!([{ "role": "user", "content": "What is first?" }, { "role": "assistant", "content": "Yes.", "reasoning_content": format!("Because of number {at}.") }]);
    for rows in
        [(0..50).map(call).chain([call(3)]).collect::<Vec<_>>(), (0..50).map(thought).chain([thought(3)]).collect()]
    {
        let input = write(&folder.path().join("a.jsonl"), rows);
        let out = done(&input, &[&MESSAGES[..], &["--algorithms", "exact"]].concat());
        assert_eq!(removed_ids(&out.out()), ["50"]);
        assert_eq!(record(&out.out())["documents"]["with_unread_parts"], Value::Null);
    }
}

#[test]
fn conversations_about_different_pictures_stay_and_copies_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..40).map(|at| about(&format!("img_{}.png", at % 30), QUESTION));
    let input = write(&folder.path().join("a.jsonl"), rows);
    let expected: Vec<String> = (30..40).map(|at| at.to_string()).collect();
    for algorithms in ["exact", "exact:form=canonical", "exact:digest=md5", "exact,versions", ALL] {
        for more in [&[][..], &["--remove-if", "pair"]] {
            let out = folder.path().join("out");
            let all = [&MESSAGES[..], &["--algorithms", algorithms, "--overwrite"], more].concat();
            let ran = run(&[&input], &out, &all).ends_with(0);
            assert!(ran.stdout.contains("40 rows have parts that cannot be read"), "{}", ran.stdout);
            assert_eq!(removed_ids(&out), expected, "{algorithms}");
            assert_eq!(record(&out)["documents"]["with_unread_parts"], 40);
            for label in labels(&out) {
                assert!(pairs(&out, &label).iter().all(|pair| pair.doc_b == pair.doc_a + 30), "{label}");
            }
        }
    }
    // A part that only says that there is a picture makes no copies.
    let placeholder =
        json!([{ "role": "user", "content": [{ "type": "image" }, { "type": "text", "text": QUESTION }] }]);
    let input = write(&folder.path().join("b.jsonl"), vec![placeholder; 5]);
    assert!(removed_ids(&done(&input, &[&MESSAGES[..], &["--algorithms", ALL]].concat()).out()).is_empty());
}

#[test]
fn pictures_in_a_column_beside_the_text_make_rows_differ() {
    let folder = tempfile::tempdir().unwrap();
    let text = |at: usize| format!("<image>\n{QUESTION} Look at part {}.", at % 2);
    let line = |at: usize| {
        let messages = json!([{ "from": "human", "value": text(at) }, { "from": "gpt", "value": "On the left." }]);
        json!({ "id": at, "image": format!("{}.jpg", at % 30), "messages": messages }).to_string() + "\n"
    };
    let lines = folder.path().join("a.jsonl");
    std::fs::write(&lines, (0..40).map(line).collect::<String>()).unwrap();
    for algorithms in ["exact", ALL] {
        let out = done(&lines, &[&MESSAGES[..], &["--algorithms", algorithms]].concat());
        assert_eq!(removed_ids(&out.out()), (30..40).map(|at| at.to_string()).collect::<Vec<_>>());
        assert_eq!(record(&out.out())["documents"]["with_unread_parts"], 40);
    }
    // The pictures in a Parquet file are not read, so each row counts as unique.
    let parquet = folder.path().join("b.parquet");
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..40));
    let column = |of: &dyn Fn(usize) -> String| strings((0..40).map(|at| Some(of(at))).collect());
    let image = structs(vec![("path", column(&|at| format!("{}.jpg", at % 30)))]);
    write_columns(&parquet, &[("id", ids.clone()), ("image", image), ("text", column(&text))], 16);
    assert!(removed_ids(&done(&parquet, &["--algorithms", ALL]).out()).is_empty());
    // Without such a column, the placeholder is a word like any other.
    write_columns(&parquet, &[("id", ids), ("text", column(&text))], 16);
    assert_eq!(removed_ids(&done(&parquet, &["--algorithms", "exact"]).out()).len(), 38);
}

#[test]
fn pictures_in_parquet_have_the_digest_of_json_lines() {
    let folder = tempfile::tempdir().unwrap();
    let rows = 60;
    let pictures: Vec<String> = (0..rows).map(|at| format!("img_{}.png", at % 50)).collect();
    let each = |of: &dyn Fn(usize) -> [Option<String>; 2]| strings((0..rows).flat_map(of).collect());
    let part = structs(vec![
        ("type", each(&|_| [Some("image_url".into()), Some("text".into())])),
        ("image_url", structs(vec![("url", each(&|at| [Some(pictures[at].clone()), None]))])),
        ("text", each(&|_| [None, Some(QUESTION.into())])),
    ]);
    let answer = "Yes, there is one on the left side of the road.";
    let roles = each(&|_| [Some("user".into()), Some("assistant".into())]);
    let messages = structs(vec![("role", roles), ("content", lists(part, (0..rows).flat_map(|_| [2, 0])))]);
    // The answer stands in a second field, as in files that mix two ways of writing messages.
    let (fields, mut columns, _) = messages.as_any().downcast_ref::<StructArray>().unwrap().clone().into_parts();
    columns.push(each(&|_| [None, Some(answer.into())]));
    let fields = fields.iter().map(|field| field.name().as_str()).chain(["text"]);
    let messages = structs(fields.zip(columns).collect());
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(100..100 + rows as i64));
    let parquet = folder.path().join("a.parquet");
    write_columns(&parquet, &[("id", ids), ("messages", lists(messages, vec![2; rows]))], 16);
    let out = done(&parquet, &[&MESSAGES[..], &["--algorithms", "exact,minhash"]].concat());
    let expected: Vec<String> = (150..160).map(|at| at.to_string()).collect();
    assert_eq!(
        (removed_ids(&out.out()), &record(&out.out())["documents"]["with_unread_parts"]),
        (expected, &json!(rows))
    );
    // All rows are copies of the rows of another format.
    let rows = pictures[..50].iter().map(|picture| about(picture, QUESTION));
    let lines = write(&folder.path().join("a.jsonl"), rows);
    let both = folder.path().join("both");
    run(&[&lines, &parquet], &both, &[&MESSAGES[..], &["--algorithms", "exact"]].concat()).ends_with(0);
    assert_eq!(Table::read(&both.join("removed")).len(), 60);
}

#[test]
fn later_batches_and_streams_know_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let first = write(&at("a.jsonl"), (0..20).map(|n| about(&format!("{n}.png"), QUESTION)));
    let second = write(&at("b.jsonl"), (10..30).map(|n| about(&format!("{n}.png"), QUESTION)));
    let index = at("index");
    let index = ["--index", index.to_str().unwrap(), "--algorithms", "exact,minhash"];
    for (input, removed) in [(&first, 0), (&second, 10)] {
        let out = at(&format!("out{removed}"));
        run(&[input], &out, &[&MESSAGES[..], &index].concat()).ends_with(0);
        assert_eq!(removed_ids(&out).len(), removed);
    }
    for algorithm in ["exact", "minhash"] {
        let (out, before) = (at(&format!("s-{algorithm}")), at(&format!("t-{algorithm}")));
        let stream = |input: &Path, out: &Path, more: &[&str]| {
            let mut command = program();
            command.arg("stream").arg(input).arg("--out").arg(out).args(["--threads", "2", "--no-progress"]);
            Ran::of(command.args(MESSAGES).args(["--algorithms", algorithm]).args(more).output().unwrap()).ends_with(0)
        };
        stream(&first, &before, &[]);
        stream(&second, &out, &["--filter", before.join("filter.bloom").to_str().unwrap()]);
        let expected: Vec<bool> = (10..30).map(|n| n < 20).collect();
        assert_eq!(Table::read(&out.join("flags")).flags("duplicate"), expected, "{algorithm}");
    }
}

#[test]
fn items_of_an_evaluation_set_are_found_beside_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let input =
        write(&at("a.jsonl"), [about("a.png", QUESTION), about("b.png", "What colour is the car behind the bus?")]);
    std::fs::write(at("exam.jsonl"), json!({ "id": 1, "question": QUESTION }).to_string() + "\n").unwrap();
    let mut command = program();
    command.arg("contaminated").arg(input).arg("--against").arg(at("exam.jsonl")).arg("--out").arg(at("out"));
    let ran = Ran::of(command.args(["--no-progress", "--threads", "2"]).args(MESSAGES).output().unwrap()).ends_with(0);
    assert!(ran.stdout.contains("1 of 2 documents contaminated"), "{}", ran.stdout);
}
