//! Tests web pages, from the command line to the tables: `purify`, runs on pages, categories, truncated text and rejected pages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, BinaryArray, Int32Array, StringArray};

use crate::kit::{
    Doc, PairLine, Ran, Table, assert_same_bytes, done, ended, files_below, names_in, pairs, program, record, run,
    sample_docs, write_columns,
};

/// Returns a page of a site with its menu, its footer, and one article. `site` chooses the template.
fn page(site: usize, title: &str, text: &str) -> String {
    let paragraphs: String =
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("<p>{}</p>\n", escaped(line))).collect();
    let menu: String =
        (0..12).map(|n| format!("<li><a href=\"/s{site}/{n}\">Chapter {n} of site {site}</a></li>")).collect();
    let title = escaped(title);
    match site % 2 {
        0 => format!(
            "<!DOCTYPE html><html><head><title>{title}</title><meta name=\"keywords\" content=\"site {site}, {title}\">\
             <meta name=\"description\" content=\"{title}\"><style>p {{color: red}}</style></head><body>\
             <nav><ul>{menu}</ul></nav><div id=\"main\"><h1>{title}</h1>{paragraphs}</div>\
             <div class=\"foot\"><a href=\"/about\">About us</a> <a href=\"/help\">Help and support</a></div></body></html>"
        ),
        _ => format!(
            "<html><head><title>{title}</title></head><body><table><tr><td><ul>{menu}</ul></td><td>{paragraphs}</td></tr>\
             </table><script>var qzxscript = '<p>no text</p>';</script><center><a href=\"/a\">Home of the site {site}</a> | \
             <a href=\"/b\">Contact</a></center></body></html>"
        ),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns the page in a charset that is commonly used for its language. One page in three declares the charset only in the header.
fn encoded(page: &str, n: usize) -> (Vec<u8>, Option<String>) {
    let han = page.chars().filter(|c| ('\u{4e00}'..='\u{9fff}').contains(c)).count();
    let cyrillic = page.chars().filter(|c| ('а'..='я').contains(c)).count();
    let charset = match (han > 50, cyrillic > 50) {
        (true, _) => encoding_rs::GB18030,
        (_, true) => [encoding_rs::WINDOWS_1251, encoding_rs::KOI8_R][n % 2],
        _ => encoding_rs::UTF_8,
    };
    let (bytes, _, lossy) = charset.encode(page);
    if lossy {
        return (page.as_bytes().to_vec(), Some("text/html; charset=utf-8".into()));
    }
    (bytes.into_owned(), Some(format!("text/html; charset={}", charset.name())))
}

/// Returns the first `count` samples in each language as pages of two sites.
fn sample_pages(count: usize) -> Vec<(String, String, Vec<u8>, Option<String>)> {
    let mut of_language: BTreeMap<char, usize> = BTreeMap::new();
    let mut pages = Vec::new();
    for Doc { id, text, .. } in sample_docs() {
        let language = text.chars().find(|c| c.is_alphabetic()).map_or(' ', |c| match c {
            'а'..='я' | 'А'..='Я' => 'r',
            'a'..='z' | 'A'..='Z' => 'e',
            _ => 'z',
        });
        let seen = of_language.entry(language).or_default();
        *seen += 1;
        if *seen > count {
            continue;
        }
        let title = text.lines().next().unwrap_or_default().trim().to_owned();
        let (bytes, content_type) = encoded(&page(pages.len(), &title, &text), pages.len());
        pages.push((id, text, bytes, content_type));
    }
    pages
}

fn write(path: &Path, pages: &[(String, String, Vec<u8>, Option<String>)]) {
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(pages.iter().map(|page| &page.0)));
    let html: ArrayRef = Arc::new(BinaryArray::from_iter_values(pages.iter().map(|page| &page.2)));
    let said: ArrayRef = Arc::new(pages.iter().map(|page| page.3.as_deref()).collect::<StringArray>());
    let rank: ArrayRef = Arc::new(Int32Array::from_iter_values(0..pages.len() as i32));
    write_columns(path, &[("id", ids), ("rank", rank), ("html", html), ("content_type", said)], 64);
}

/// Runs `dupsift purify INPUT --out FOLDER/out ...`.
fn purify(input: &Path, out: &Path, more: &[&str]) -> Ran {
    let mut command = program();
    command.arg("purify").arg(input).arg("--out").arg(out).args(["--no-progress", "--threads", "2"]).args(more);
    Ran::of(command.output().unwrap())
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Returns the words of a text in order, ignoring everything between them.
fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[test]
fn a_run_on_pages_is_a_run_on_what_purify_wrote() {
    let place = Place::new();
    let (input, out) = (place.at("pages.parquet"), place.at("out"));
    let mut all = sample_pages(70);
    // Some pages have no title, so their heaviest keyword is used.
    let bare: Vec<_> = all
        .iter()
        .step_by(5)
        .map(|(id, text, _, _)| (format!("{id}-bare"), text.clone(), page(1, "", text).into_bytes(), None))
        .collect();
    all.extend(bare);
    write(&input, &all);
    let algorithms = "exact,minhash,simhash,cosine,sim,sentence_marks,keywords:rule=1,core_words";
    purify(&input, &out, &[]).ends_with(0);
    let columns = [
        ("--text-column", "page_body"),
        ("--title-column", "page_title"),
        ("--keywords-column", "page_meta_keywords"),
        ("--description-column", "page_description"),
    ];
    let columns: Vec<&str> = columns.iter().flat_map(|(flag, name)| [*flag, *name]).collect();
    let texts = done(&out.join("pages"), &[&["--algorithms", algorithms], &columns[..]].concat());
    let pages = done(&input, &["--algorithms", algorithms, "--html-column", "html"]);
    assert_same_bytes(&texts.out(), &pages.out(), "purified before and while reading");
    // Words were counted, documents were signed and candidates were read, but no page was purified twice.
    let record = record(&pages.out());
    assert_eq!(record["purified"]["pages"], record["documents"]["rows"]);
    assert!(record["purified"]["recipe"].as_str().unwrap().contains(":max_bytes="));
    let small =
        done(&input, &["--algorithms", algorithms, "--html-column", "html", "--threads", "1", "--memory", "64MiB"]);
    assert_same_bytes(&small.out(), &pages.out(), "threads and memory");
    // Commands that inspect the result read pages again.
    let pair = &pairs(&pages.out(), "minhash")[0];
    let mut command = program();
    let docs = [pair.doc_a, pair.doc_b].map(|doc| doc.to_string());
    command.arg("explain").arg(pages.out()).args(&docs).arg("--docs");
    let told = Ran::of(command.output().unwrap()).ends_with(0).stdout;
    assert!(told.contains("minhash") && !told.contains("signatures may differ"), "{told}");
    assert!(std::fs::read_to_string(pages.out().join("report.html")).unwrap().contains("minhash"));
}

#[test]
fn pages_give_their_texts_back_in_every_charset() {
    let place = Place::new();
    let (input, out) = (place.at("pages.parquet"), place.at("out"));
    let pages = sample_pages(40);
    write(&input, &pages);
    purify(&input, &out, &["--keep-html"]).ends_with(0);
    let table = Table::read(&out.join("pages"));
    let (ids, bodies) = (table.texts("page_id"), table.texts("page_body"));
    let charsets: BTreeMap<String, usize> =
        table.texts("page_charset").into_iter().fold(BTreeMap::new(), |mut counts, name| {
            *counts.entry(name).or_default() += 1;
            counts
        });
    assert!(
        ["gb18030", "windows-1251", "KOI8-R", "UTF-8"]
            .iter()
            .all(|name| charsets.contains_key(*name) || *name == "gb18030" && charsets.contains_key("GBK")),
        "{charsets:?}"
    );
    assert_eq!(ids, pages.iter().map(|page| page.0.clone()).collect::<Vec<_>>());
    assert_eq!(table.texts("rank"), (0..pages.len()).map(|n| n.to_string()).collect::<Vec<_>>());
    let mut common = 0;
    let mut all = 0;
    for ((_, text, _, _), body) in pages.iter().zip(&bodies) {
        let (text, body) = (words(text), words(body));
        let known: std::collections::HashSet<&String> = text.iter().collect();
        common += body.iter().filter(|word| known.contains(word)).count();
        all += body.len();
        assert!(!body.iter().any(|word| word == "qzxscript"), "a script is no text");
    }
    // Menus and footers are removed, except on a page or two.
    assert!(common * 100 >= all * 99, "{common} of {all} words of the bodies are words of the texts");
}

#[test]
fn templates_hide_and_make_duplicates_until_they_are_taken_away() {
    let place = Place::new();
    let input = place.at("pages.jsonl");
    let docs: Vec<Doc> = sample_docs().into_iter().filter(|doc| (1_500..6_000).contains(&doc.text.len())).collect();
    // The corpus consists of one article on eight sites, and eight short notes on one site whose pages are mostly menu.
    let mut lines = Vec::new();
    let article: String = docs[0].text.chars().take(500).collect();
    for site in 0..8 {
        let html = page(site, "One article", &article);
        lines.push(serde_json::json!({ "id": format!("copy{site}"), "html": html }).to_string());
    }
    for (n, doc) in docs[1..9].iter().enumerate() {
        let note: String = doc.text.chars().take(300).collect();
        let html = page(0, &format!("Note {n}"), &note.replace("\n", " "))
            .replace("<nav>", &format!("<nav><p>{}</p>", "Word of the menu that all pages show. ".repeat(40)));
        lines.push(serde_json::json!({ "id": format!("note{n}"), "html": html }).to_string());
    }
    std::fs::write(&input, lines.join("\n")).unwrap();
    let found = |more: &[&str], label: &str| -> Vec<(i64, i64)> {
        let done = done(&input, &[&["--algorithms", "exact,minhash"], more].concat());
        pairs(&done.out(), label).into_iter().map(|pair: PairLine| (pair.doc_a, pair.doc_b)).collect()
    };
    let same_article = |pairs: &[(i64, i64)]| pairs.iter().filter(|(a, b)| *a < 8 && *b < 8).count();
    let plain = found(&["--text-column", "html"], "minhash");
    assert_eq!(found(&["--text-column", "html"], "exact"), []);
    assert!(same_article(&plain) < 28, "templates hide copies: {plain:?}");
    let purified = found(&["--html-column", "html"], "minhash");
    assert_eq!((same_article(&purified), purified.len()), (7, 7));
    assert!(found(&["--html-column", "html"], "exact").len() >= 6, "copies on sites of one template are equal");
}

#[test]
fn rows_without_a_page_are_set_aside_and_limits_are_counted() {
    let place = Place::new();
    let input = place.at("pages.parquet");
    let texts = ["Running text of a page. ".repeat(30), "More text, of another page. ".repeat(30)];
    let hub: String = (0..40).map(|n| format!("<a href=\"/{n}\">link number {n}</a> ")).collect();
    let deep = format!("{}<p>{}</p>", "<div>".repeat(3_000), texts[1]);
    let html = [Some(format!("<p>{}", texts[0])), None, Some(hub), Some(deep), Some("<script>x</script>".into())];
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(0..5));
    let html: ArrayRef = Arc::new(html.iter().map(Option::as_deref).collect::<StringArray>());
    write_columns(&input, &[("id", ids), ("html", html)], 2);
    let ran = ended(&input, &["--algorithms", "exact", "--html-column", "html", "--purify", "docview:other=skip"], 3);
    let report = record(&ran.out());
    assert_eq!((report["documents"]["used"].as_u64(), report["documents"]["rejected"].as_u64()), (Some(2), Some(3)));
    assert_eq!(report["purified"]["cut"], serde_json::json!({ "max_depth": 1 }));
    assert_eq!(
        (&report["documents"]["rejected_broken"], &report["documents"]["rejected_by_kind"]),
        (&1.into(), &2.into())
    );
    let rejected = Table::read(&ran.out().join("rejected"));
    assert_eq!(rejected.texts("reason"), ["null text", "skipped page type", "skipped page type"]);
    assert_eq!(rejected.texts("detail"), ["null", "hub", "other"]);
    // If all visible text is used, the hub page is kept.
    let ran = ended(&input, &["--algorithms", "exact", "--html-column", "html"], 3);
    assert_eq!(record(&ran.out())["documents"]["used"], 3);
    // The command writes a row for every page and rejects only the null page.
    let out = place.at("out");
    purify(&input, &out, &["--prefix", "", "--columns", "none"]).ends_with(3);
    let table = Table::read(&out.join("pages"));
    assert_eq!(table.texts("id"), ["0", "2", "3", "4"]);
    assert_eq!(table.texts("type"), ["topic", "hub", "topic", "other"]);
    assert_eq!(table.texts("cut"), ["null", "null", "max_depth", "null"]);
    assert_eq!(table.texts("body")[3], "null");
    assert_eq!(table.0.num_columns(), 13);
    assert_eq!(Table::read(&out.join("rejected")).texts("reason"), ["null text"]);
    let again = purify(&input, &out, &[]).ends_with(2);
    again.says(&["`--overwrite"]);
    purify(&input, &out, &["--overwrite", "--strict"]).ends_with(1).says(&["row 1", "null text"]);
    assert_eq!(names_in(&out), ["_SUCCESS", "pages", "rejected", "run.json"], "what stood there stays");
}

#[test]
fn purify_gives_the_same_bytes_whatever_the_threads_and_the_memory() {
    let place = Place::new();
    let input = place.at("pages.parquet");
    write(&input, &sample_pages(50));
    let bytes = |name: &str, more: &[&str]| -> Vec<Vec<u8>> {
        let out = place.at(name);
        let mut command = program();
        command.arg("purify").arg(&input).arg("--out").arg(&out).arg("--no-progress").args(more);
        Ran::of(command.output().unwrap()).ends_with(0);
        files_below(&out.join("pages")).iter().map(|file| std::fs::read(file).unwrap()).collect()
    };
    let one = bytes("one", &["--threads", "1", "--memory", "48MiB"]);
    assert_eq!(one, bytes("many", &["--threads", "4", "--memory", "1GiB"]));
}

#[test]
fn columns_of_several_files_stand_beside_those_of_the_page() {
    let place = Place::new();
    let folder = place.at("corpus");
    std::fs::create_dir_all(&folder).unwrap();
    let text = "Some running text of the page, and more of it. ".repeat(5);
    let html: ArrayRef = Arc::new(StringArray::from(vec![format!("<p>{text}</p>")]));
    let day: ArrayRef = Arc::new(arrow::array::Date32Array::from(vec![20_000]));
    let n: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    write_columns(&folder.join("a.parquet"), &[("html", html.clone()), ("day", day), ("n", n)], 10);
    std::fs::write(folder.join("b.jsonl"), format!("{}\n", serde_json::json!({"html": text, "n": [1, 2], "m": 1.5})))
        .unwrap();
    let out = place.at("out");
    let said = purify(&folder, &out, &[]).ends_with(0).stdout;
    assert!(said.contains("column n is written as text") && said.contains("next: dupsift run"), "{said}");
    let table = Table::read(&out.join("pages"));
    let rows = ["day", "n", "m", "page_id"].map(|name| table.texts(name));
    assert_eq!(rows, [["2024-10-04", "null"], ["7", "[1,2]"], ["null", "1.5"], ["a.parquet#0", "b.jsonl#0"]]);
    let fails = |more: &[&str], says: &[&str]| purify(&folder, &place.at("x"), more).ends_with(2).says(says);
    fails(&["--columns", "dya"], &["did you mean \"day\"?"]);
    fails(&["--prefix", "x/"], &["letters, digits and _"]);
    fails(&["--html-column", "htm"], &["try `--html-column html`"]);
    fails(&["--purify", "docvew"], &["did you mean \"docview\"?"]);
    write_columns(&folder.join("a.parquet"), &[("html", html.clone()), ("page_body", html)], 10);
    fails(&[], &["page_body", "`--prefix`"]);
}

#[test]
fn categories_are_learnt_and_said() {
    let place = Place::new();
    let input = place.at("pages.parquet");
    let about = |topic: &[&str], n: usize| -> String {
        let words = |k: usize| topic[(n * 7 + k * 3) % topic.len()];
        let sentences: String =
            (0..30).map(|k| format!("The {} and the {} are here. ", words(k), words(k + 1))).collect();
        page(n, &format!("{} {n}", topic[n % topic.len()]), &sentences)
    };
    let sport = ["ball", "goal", "team", "match", "score"];
    let food = ["soup", "bread", "salt", "oven", "plate"];
    let pages: Vec<String> = (0..20).map(|n| about(if n % 2 == 0 { &sport } else { &food }, n / 2)).collect();
    let labels = (0..20).map(|n| (n < 16).then_some(if n % 2 == 0 { "sport" } else { "food" }));
    let html: ArrayRef = Arc::new(StringArray::from(pages));
    let labels: ArrayRef = Arc::new(labels.collect::<StringArray>());
    write_columns(&input, &[("html", html), ("label", labels)], 4);
    let (model, out) = (place.at("model"), place.at("out"));
    purify(&input, &model, &["--train", "lable"]).ends_with(2).says(&["\"lable\"", "no input file has"]);
    let said = purify(&input, &model, &["--train", "label"]).ends_with(0).stdout;
    assert!(said.starts_with("16 pages with 2 labels: 8 food, 8 sport\n4 rows without a label"), "{said}");
    purify(&input, &out, &["--model", &model.display().to_string()]).ends_with(0);
    let categories = Table::read(&out.join("pages")).texts("page_category");
    assert_eq!(categories, (0..20).map(|n| if n % 2 == 0 { "sport" } else { "food" }).collect::<Vec<_>>());
    assert_eq!(record(&out)["model"], record(&model)["model"]);
    // Tests a model that was trained with different words, a damaged model, and a file that is not a model.
    let model_at = model.display().to_string();
    let other = ["--model", &model_at, "--stem", "--overwrite"];
    purify(&input, &out, &other).ends_with(2).says(&["was trained with ", "train again"]);
    let table = model.join("model/part-00000.parquet");
    let whole = std::fs::read(&table).unwrap();
    std::fs::write(&table, &whole[..whole.len() / 2]).unwrap();
    purify(&input, &out, &["--model", &model_at, "--overwrite"]).ends_with(1).says(&["part-00000.parquet"]);
    purify(&input, &out, &["--model", &out.display().to_string(), "--overwrite"])
        .ends_with(2)
        .says(&["not a trained model"]);
}

#[test]
fn keywords_are_weighed_by_the_statistics_of_a_run() {
    let place = Place::new();
    let (input, plain, weighed) = (place.at("pages.parquet"), place.at("plain"), place.at("weighed"));
    write(&input, &sample_pages(60));
    let counted = done(&input, &["--html-column", "html", "--algorithms", "cosine"]);
    purify(&input, &plain, &[]).ends_with(0);
    purify(&input, &weighed, &["--stats", &counted.out().display().to_string()]).ends_with(0);
    let keywords = |out: &Path| Table::read(&out.join("pages")).texts("page_keywords");
    let (plain_words, weighed_words) = (keywords(&plain), keywords(&weighed));
    let differ = plain_words.iter().zip(&weighed_words).filter(|(a, b)| a != b).count();
    assert!(differ * 2 > plain_words.len(), "{differ} of {} differ", plain_words.len());
    assert_eq!(record(&weighed)["statistics"], record(&counted.out())["statistics"]["snapshot"]);
    assert!(record(&plain)["statistics"].is_null());
    let none = done(&input, &["--html-column", "html", "--algorithms", "exact"]);
    let at = none.out().display().to_string();
    purify(&input, &plain, &["--stats", &at, "--overwrite"]).ends_with(2).says(&["has no word statistics"]);
}

#[test]
fn a_web_archive_is_read_without_a_word_about_columns() {
    let place = Place::new();
    let input = place.at("crawl.warc");
    let mut archive = Vec::new();
    for n in 0..6 {
        let html = page(
            n,
            "A page of the crawl",
            &"Text of a chapter that all pages of this crawl have in common. ".repeat(8),
        );
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{html}");
        archive.extend(
            format!(
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://site{n}.example/\r\nWARC-Date: 2026-01-0{n}T00:00:00Z\r\n\
                 Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
                http.len()
            )
            .into_bytes(),
        );
    }
    std::fs::write(&input, archive).unwrap();
    let ran = done(&input, &["--algorithms", "exact", "--keep", "date desc"]);
    let removed = Table::read(&ran.out().join("removed"));
    assert_eq!(record(&ran.out())["documents"]["rows"], 6);
    assert!(removed.len() >= 4, "{}", removed.len());
    assert!(removed.texts("id").iter().all(|id| id.starts_with("http://site")), "{:?}", removed.texts("id"));
    // The newest page of each site is kept.
    assert!(!removed.texts("id").contains(&"http://site5.example/".to_string()));
    let out = place.at("out");
    purify(&input, &out, &[]).ends_with(0);
    let table = Table::read(&out.join("pages"));
    assert_eq!(table.texts("url"), table.texts("page_id"));
    assert!(table.texts("page_links")[0].contains("http://site0.example/s0/"), "{}", table.texts("page_links")[0]);
    let both = run(&[&input], &place.at("both"), &["--text-column", "a", "--html-column", "b"]).ends_with(2);
    both.says(&["use only one of them"]);
}
