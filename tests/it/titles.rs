//! Tests algorithms that read columns other than the text, from the command line to the tables. The column is specified, missing, or partly
//! empty.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};

use crate::kit::{PairLine, Ran, done, pairs, program, record, write_columns};

/// The first four texts have the same words in two of their three sentences. The third sentence is the same only in the first two texts.
const TEXTS: [&str; 5] = [
    "Кот спит дома, пёс лает. Снег идёт давно, дождь прошёл. Конец истории, все спят.",
    "Кот спит дома, пёс лает. Снег идёт давно, дождь прошёл. Конец  истории, все спят.",
    "Кот спит дома, пёс лает. Снег идёт давно, дождь прошёл. Конец истории, все ушли.",
    "Кот спит дома, пёс лает. Снег идёт давно, дождь прошёл. Конец истории, все пели.",
    "Совсем другой текст, о другом. Он тоже длинный, пусть. Но пары нет, это ясно.",
];
const TITLES: [Option<&str>; 5] =
    [Some("Погода - Сайт"), Some("Погода | Другой"), Some("погода - сайт"), None, Some("Погода - Сайт")];

/// Titles from two sites, four from each site. The first five values belong to [`TEXTS`], the last four to additional texts.
const SITES: [Option<&str>; 9] = [
    Some("Погода - Сайт"),
    Some("Погода | Другой"),
    Some("Снег - Сайт"),
    None,
    Some("Дождь - Сайт"),
    Some("Карта - Другой"),
    Some("Игра - Другой"),
    Some("Река - Другой"),
    Some("Сад | Сайт"),
];

fn write(path: &Path, title: Option<&str>) {
    write_rows(path, title, &TEXTS, &TITLES);
}

fn write_rows(path: &Path, title: Option<&str>, texts: &[&str], titles: &[Option<&str>]) {
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values((0..texts.len()).map(|n| format!("d{n}"))));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let titles: ArrayRef = Arc::new(StringArray::from_iter(titles));
    let mut columns = vec![("id", ids), ("text", texts)];
    columns.extend(title.map(|name| (name, titles)));
    write_columns(path, &columns, 2);
}

/// Returns the pairs with their scores, and the counts of documents without a signature.
fn found(input: &Path, algorithm: &str, more: &[&str]) -> (Vec<(i64, i64, f32, String)>, String) {
    let done = done(input, &[&["--algorithms", &format!("{algorithm},as=x")], more].concat());
    let line = |pair: PairLine| (pair.doc_a, pair.doc_b, pair.similarity, pair.matched_by);
    let unsigned = record(&done.out())["algorithms"][0]["unsigned"].to_string();
    (pairs(&done.out(), "x").into_iter().map(line).collect(), unsigned)
}

#[test]
fn a_column_that_was_named_and_is_nowhere_is_an_error() {
    let out = tempfile::tempdir().unwrap();
    let named = ["--algorithms", "sentence_marks", "--title-column", "titel"];
    let ran = crate::kit::run(&[crate::kit::samples()], &out.path().join("out"), &named).ends_with(2);
    ran.says(&["`--title-column", "\"titel\"", "no input file has"]);
}

#[test]
fn titles_from_a_column_of_any_name_or_from_none() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (named, usual, without) = (at("named.parquet"), at("usual.parquet"), at("without.parquet"));
    write(&named, Some("headline"));
    write(&usual, Some("title"));
    write(&without, None);
    let line = |a, b, similarity, matched: &str| (a, b, similarity, matched.to_string());
    let marks = |path: &Path, typed: &str, more: &[&str]| found(path, &format!("sentence_marks:{typed}"), more);

    // Two texts are a pair if all three parts are identical. If the titles of the two texts are identical, the texts are a pair even if the
    // last parts differ.
    let parts_alone = (vec![line(0, 1, 1.0, "parts")], "{}".to_string());
    let expected = vec![line(0, 1, 3.0 / 4.5, "parts"), line(0, 2, 3.5 / 4.5, "title_and_parts")];
    let expected = (expected, "{}".to_string());
    assert_eq!(marks(&usual, "letters=false", &[]), expected);
    assert_eq!(marks(&named, "letters=false", &["--title-column", "headline"]), expected);
    assert_eq!(marks(&named, "letters=false", &[]), parts_alone);
    assert_eq!(marks(&without, "letters=false", &[]), parts_alone);
    let stripped = marks(&usual, "strip_suffix=true", &[]).0;
    assert_eq!(stripped.iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>(), [(0, 1), (0, 2), (1, 2)]);
    // Without a title, nothing reaches the threshold.
    assert_eq!(marks(&without, "threshold=3.5", &[]), (vec![], r#"{"no column":5}"#.to_string()));
    assert_eq!(marks(&usual, "threshold=3.5", &[]).1, r#"{"no title":1}"#);

    let core = |path: &Path, typed: &str| {
        let (pairs, unsigned) = found(path, &format!("core_words:{typed}"), &[]);
        (pairs.into_iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>(), unsigned)
    };
    // The first two titles are the same except for a space and the name of the site.
    let sites = at("sites.parquet");
    let texts = [&TEXTS[..], &["Карта без пары.", "Игра без пары.", "Река без пары.", "Сад без пары."]].concat();
    write_rows(&sites, Some("title"), &texts, &SITES);
    assert_eq!(core(&sites, "core=5"), (vec![(0, 1)], r#"{"no title, keywords or description":1}"#.to_string()));
    assert_eq!(core(&sites, "strip_suffix=false").0, []);
    assert_eq!(core(&usual, "core=5").0, [], "three titles name no site");
    assert_eq!(core(&without, "core=5"), (vec![], r#"{"no column":5}"#.to_string()));
    assert_eq!(core(&without, "fallback=body"), (vec![(0, 1)], "{}".to_string()));
}

/// Checks that documents with identical texts but different titles are not copies if titles are read.
#[test]
fn copies_are_those_of_text_and_title() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let text = TEXTS[0];
    let column = |values: [Option<&str>; 4]| -> ArrayRef { Arc::new(StringArray::from_iter(values)) };
    let columns = [("text", column([Some(text); 4])), ("title", column([Some("A a"), Some("B b"), Some("A a"), None]))];
    write_columns(&path, &columns, 4);
    let pairs = found(&path, "sentence_marks:letters=false", &[]).0;
    let scores: Vec<(i64, i64, f32)> = pairs.iter().map(|pair| (pair.0, pair.1, pair.2)).collect();
    let differ = 3.0 / 4.5;
    assert_eq!(scores, [(0, 1, differ), (0, 2, 1.0), (0, 3, 1.0), (1, 3, 1.0)]);
    assert_eq!(
        found(&path, "core_words:core=5", &[]).0.iter().map(|pair| (pair.0, pair.1)).collect::<Vec<_>>(),
        [(0, 2)]
    );
}

#[test]
fn several_columns_are_one_text_for_every_verb() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    write(&folder.path().join("docs/a.parquet"), Some("title"));
    // Tests the same rows as JSON lines, which may omit nulls, and as one column with the full name.
    let line =
        |(text, title): (&&str, &Option<&str>)| serde_json::json!({"text": text, "title": title}).to_string() + "\n";
    let lines: String = TEXTS.iter().zip(&TITLES).map(line).collect();
    std::fs::create_dir_all(folder.path().join("lines")).unwrap();
    std::fs::write(folder.path().join("lines/a.jsonl"), lines).unwrap();
    let whole =
        |(text, title): (&&str, &Option<&str>)| title.map_or(text.to_string(), |title| format!("{title}\n{text}"));
    let whole: Vec<String> = TEXTS.iter().zip(&TITLES).map(whole).collect();
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values((0..TEXTS.len()).map(|n| format!("d{n}"))));
    let texts: ArrayRef = Arc::new(StringArray::from(whole));
    write_columns(&folder.path().join("whole/a.parquet"), &[("id", ids), ("title,text", texts)], 10);
    let said = |typed: &[&str], code: i32| {
        Ran::of(program().current_dir(folder.path()).args(typed).args(["--threads", "2"]).output().unwrap())
            .ends_with(code)
    };
    let found = |docs: &str, columns: &str| {
        let out = at(&format!("{docs}-{columns}"));
        said(
            &[
                "run",
                docs,
                "--out",
                &out,
                "--text-column",
                columns,
                "--algorithms",
                "minhash:ngram=2,verify=jaccard:0.3",
            ],
            0,
        );
        pairs(Path::new(&out), "minhash")
            .into_iter()
            .map(|pair| (pair.doc_a, pair.doc_b, pair.similarity.to_bits()))
            .collect::<Vec<_>>()
    };
    let several = found("docs", "title,text");
    assert_eq!(several, found("lines", "title,text"));
    assert_eq!(several, found("whole", "title,text"));
    assert_ne!(several, found("docs", "text"), "titles make no difference");
    let why = said(&["explain", &at("docs-title,text"), "d0", "d1", "--full"], 0).stdout;
    assert!(why.contains("Погода"), "the title is no part of the text: {why}");
    said(&["stream", "lines", "--out", &at("seen"), "--text-column", "title,text"], 0);
    said(
        &["compare", "docs", "--out", &at("compared"), "--text-column", "title,text", "--algorithms", "exact,minhash"],
        0,
    );
    let missing = ["--out", &at("none"), "--text-column", "titel,text"];
    said(&[&["run", "docs"][..], &missing].concat(), 2).says(&["no plain column \"titel\"", "did you mean \"title\"?"]);
    said(&[&["run", "lines"][..], &missing].concat(), 2).says(&["names the column \"titel\""]);
}
