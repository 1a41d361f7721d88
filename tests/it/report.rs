//! Tests `report.html`, which is a self-contained file with the same content whenever and however it is written.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};

use crate::kit::{
    ALL, Done, Ran, SEVEN, done, files_below, names_in, numbered, program, record, run, samples, write_columns,
    write_docs,
};

fn page(out: &Path) -> String {
    std::fs::read_to_string(out.join("report.html")).unwrap()
}

fn report(out: &Path, more: &[&str]) -> Ran {
    Ran::of(program().arg("report").arg(out).args(more).output().unwrap())
}

/// Fails unless all elements are closed in the correct order.
#[track_caller]
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    // The script of the page is not markup and contains nothing from a corpus.
    let (before, rest) = page.split_once("<script>").expect("a script");
    let (script, after) = rest.split_once("</script>").expect("an end of it");
    assert!(!after.contains("<script"), "another script");
    let own = concat!(include_str!("../../src/report/page/sort.js"), include_str!("../../src/report/page/judge.js"));
    assert_eq!(script, own);
    for part in before.split('<').skip(1).chain(after.split('<').skip(1)) {
        let Some((tag, _)) = part.split_once('>') else { panic!("no end of {part:?}") };
        let name = tag.split([' ', '\n']).next().unwrap();
        match name {
            "!DOCTYPE" | "meta" => {}
            _ if name.starts_with("!--") && tag.ends_with("--") => {}
            _ if tag.ends_with('/') => {}
            _ if name.starts_with('/') => assert_eq!(open.pop(), Some(&name[1..]), "before {part:.80}"),
            _ => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
}

#[test]
fn a_run_and_the_report_verb_write_the_same_page() {
    let run = done(samples(), &["--algorithms", ALL]);
    let first = page(&run.out());
    assert_well_formed(&first);
    for told in ["By column source", "By input file", "Recall of the minhash bands", "similarity 1"] {
        assert!(first.contains(told), "{told} is missing");
    }
    assert!(!first.contains("<img") && !first.contains("<script src") && !first.contains("<link"));
    assert!(!first.contains("url(") && !first.contains("@import"));
    std::fs::write(run.out().join("report.html"), "old").unwrap();
    let told = report(&run.out(), &["--threads", "1"]).ends_with(0);
    assert_eq!(told.stdout.trim_end(), run.out().join("report.html").display().to_string());
    assert!(first == page(&run.out()), "another page");
    assert_eq!(names_in(run.out().parent().unwrap()), ["out"]);
}

/// Replaces each value that varies between runs with a constant.
fn timeless(out: &Path) {
    fn clear(value: &mut serde_json::Value) {
        match value {
            serde_json::Value::Object(fields) => {
                for (name, value) in fields {
                    match name.as_str() {
                        "seconds" | "cpu_seconds" | "sign_seconds" | "pair_cpu_seconds" => *value = 1.5.into(),
                        "peak_memory_bytes" | "spilled_bytes" => *value = 7.into(),
                        _ => clear(value),
                    }
                }
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(clear),
            _ => {}
        }
    }
    let mut record = record(out);
    clear(&mut record);
    (record["started"], record["command"], record["options"]["out"]) =
        ("2026".into(), Vec::<String>::new().into(), "out".into());
    std::fs::write(out.join("run.json"), record.to_string()).unwrap();
}

#[test]
fn threads_and_memory_do_not_show_on_the_page() {
    let pages = [("1", "48MiB"), ("2", "1GiB"), ("5", "96MiB")].map(|(threads, memory)| {
        let run = done(samples(), &["--algorithms", SEVEN, "--threads", threads, "--memory", memory]);
        timeless(&run.out());
        report(&run.out(), &["--threads", threads]).ends_with(0);
        page(&run.out())
    });
    assert!(pages[0] == pages[1] && pages[1] == pages[2], "the pages differ");
}

/// Runs the program on two near-copies of a hostile text, and on one unrelated text.
fn hostile(folder: &Path) -> Done {
    let text = "<script>alert(1)</script> \"one\" & 'two' \u{202E}turned \u{1B}[31m red </article> слово за словом";
    let docs = [text.to_string(), format!("{text} и ещё одно"), "something else entirely".to_string()];
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(&docs));
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values(["<b>1</b>", "\u{2066}2", "3"]));
    let sources: ArrayRef = Arc::new(StringArray::from(vec![Some("<i>here</i>"), None, Some("there")]));
    let file = folder.join("a&b <c>.parquet");
    write_columns(&file, &[("id", ids), ("text", texts), ("source", sources)], 2);
    done(&file, &["--algorithms", "minhash:verify=jaccard:0.3,bands=50,rows=1"])
}

#[test]
fn nothing_of_a_corpus_becomes_markup() {
    let folder = tempfile::tempdir().unwrap();
    let run = hostile(folder.path());
    let page = page(&run.out());
    assert_well_formed(&page);
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &quot;one&quot; &amp; 'two' [U+202E]turned ␛[31m red")
    );
    for (raw, told) in
        [("<script>alert", "&lt;i&gt;here&lt;/i&gt;"), ("<b>", "&lt;b&gt;1"), ("<c>", "a&amp;b &lt;c&gt;.parquet")]
    {
        assert!(!page.contains(raw) && page.contains(told), "{raw} {told}");
    }
    assert!(page.contains("(none)") && page.contains("[U+2066]2"));
    assert!(page.chars().all(|letter| !letter.is_control() || letter == '\n' || letter == '\t'));
}

#[test]
fn a_column_of_numbers_names_sources_and_one_without_values_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(["a b c", "a b c", "d e f"]));
    let nothing: ArrayRef = Arc::new(StringArray::from(vec![None::<&str>; 3]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![Some(-77), Some(8088), None]));
    let file = folder.path().join("numbers.parquet");
    write_columns(&file, &[("text", texts.clone()), ("source", nothing), ("domain", numbers)], 2);
    let shown = page(&done(&file, &["--algorithms", "exact"]).out());
    for told in ["By column domain", ">-77<", ">8088<", ">(none)<", "the column source has no printable values"] {
        assert!(shown.contains(told), "{told} is missing");
    }
    let empty: ArrayRef = Arc::new(StringArray::from(vec![Some(""), Some("x"), Some("")]));
    let file = folder.path().join("empty.parquet");
    write_columns(&file, &[("text", texts), ("source", empty)], 2);
    let shown = page(&done(&file, &["--algorithms", "exact"]).out());
    assert!(shown.contains(">(empty)<") && !shown.contains("(none)"), "{shown}");
}

#[test]
fn without_its_corpus_a_run_still_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let run = hostile(folder.path());
    std::fs::remove_file(folder.path().join("a&b <c>.parquet")).unwrap();
    // A page that shows document text is not replaced by a page that does not.
    let first = page(&run.out());
    report(&run.out(), &[])
        .ends_with(2)
        .says(&["was not replaced, because a new page would lack texts that it shows", "remove the page"]);
    assert!(first == page(&run.out()) && names_in(&run.out()).iter().all(|name| !name.starts_with('.')));
    std::fs::remove_file(run.out().join("report.html")).unwrap();
    report(&run.out(), &[]).ends_with(0).says(&["the page shows no document text"]);
    // A page that shows no document text may be replaced.
    report(&run.out(), &[]).ends_with(0).says(&["the page shows no document text"]);
    let bare = page(&run.out());
    assert_well_formed(&bare);
    assert!(bare.contains("The texts could not be read") && bare.contains("document 0") && !bare.contains("turned"));
    // A different corpus in the same place cannot be used.
    write_docs(&folder.path().join("a&b <c>.parquet"), &numbered(["one", "two", "three", "four"]), 10);
    report(&run.out(), &[]).ends_with(0).says(&["has changed since the run"]);
    assert!(!page(&run.out()).contains("three"));
}

#[test]
fn a_run_writes_no_page_if_none_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let (corpus, out) = (folder.path().join("c.parquet"), folder.path().join("out"));
    write_docs(&corpus, &numbered(["a b c d e f g", "a b c d e f g", "h i j k l m"]), 10);
    run(&[&corpus], &out, &["--no-report"]).ends_with(0);
    assert!(!out.join("report.html").exists());
    assert_eq!(record(&out)["options"]["no-report"], true);
    report(&out, &[]).ends_with(0);
    assert!(page(&out).contains("1 of 3 documents removed"));
    // The page belongs to an output, so it does not prevent a new output.
    run(&[&corpus], &out, &["--overwrite"]).ends_with(0);
    assert!(files_below(&out).contains(&out.join("report.html")));
}

#[test]
fn a_damaged_table_is_an_error_and_leaves_the_page() {
    let run = done(samples(), &["--algorithms", "exact"]);
    let before = page(&run.out());
    std::fs::write(run.out().join("pairs/algorithm=exact/part-00000.parquet"), b"PAR1").unwrap();
    report(&run.out(), &[]).ends_with(1).says(&["part-00000.parquet"]);
    assert!(before == page(&run.out()));
}

/// Returns the output of a Python script that reads the page of a run and its tables.
fn python(script: &str, out: &Path) -> String {
    let python = std::env::var("DUPSIFT_PYTHON").unwrap_or_else(|_| ".venv/bin/python".into());
    let told = std::process::Command::new(python).arg("-c").arg(script).arg(out).output().expect("Python");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    String::from_utf8(told.stdout).unwrap().trim().to_string()
}

#[test]
fn the_policy_lets_the_script_of_the_page_run_and_no_other() {
    let run = done(samples(), &["--algorithms", "exact"]);
    let hash = python(
        "import base64, hashlib, sys; page = open(sys.argv[1] + '/report.html', encoding='utf-8').read()\n\
         script = page.split('<script>')[1].split('</script>')[0]\n\
         print(base64.b64encode(hashlib.sha256(script.encode()).digest()).decode())",
        &run.out(),
    );
    assert!(page(&run.out()).contains(&format!("script-src 'sha256-{hash}';")), "{hash}");
}

/// Returns the cells of each row in the table with this label.
fn table<'p>(page: &'p str, label: &str) -> Vec<Vec<&'p str>> {
    let (_, rest) = page.split_once(&format!("aria-label=\"{label}\"")).expect("the table");
    let (table, _) = rest.split_once("</table>").expect("its end");
    let (_, body) = table.split_once("<tbody>").expect("its body");
    let cell = |part: &'p str| part.split_once('>').map(|(_, text)| text.split('<').next().unwrap());
    let row = |row: &'p str| row.split("<t").skip(1).filter_map(cell).collect();
    body.split("<tr>").skip(1).map(row).collect()
}

#[test]
fn the_figures_of_the_page_are_those_of_the_tables() {
    let run = done(samples(), &[]);
    let page = page(&run.out());
    // Compares the page with the tables: removed documents, characters and bytes by length, removals by similarity, and removed documents
    // by file.
    let told = python(
        "import sys, polars as pl\n\
         from pathlib import Path\n\
         out = sys.argv[1]\n\
         gone = pl.read_parquet(out + '/removed/*.parquet')\n\
         files = sorted(Path('data-samples/docs').glob('*.parquet'))\n\
         docs = pl.concat([pl.read_parquet(f, columns=['text']).with_columns(file=pl.lit(f.name)) for f in files]).with_row_index('doc')\n\
         docs = docs.with_columns(characters=pl.col('text').str.len_chars(), bytes=pl.col('text').str.len_bytes(), gone=pl.col('doc').is_in(gone['doc'].to_list()))\n\
         ends = [0, 100, 300, 1000, 3000, 10000, 30000, 2**31]\n\
         g = docs.filter('gone')\n\
         print(len(g), g['characters'].sum(), g['bytes'].sum())\n\
         print(*[part['gone'].sum() for a, b in zip(ends, ends[1:]) for part in [docs.filter((pl.col('characters') >= a) & (pl.col('characters') < b))] if len(part)])\n\
         print(*[(gone['similarity'] >= t - 1e-5).sum() for t in [.8, .85, .9, .95]], (gone['similarity'] >= 1 - 1e-6).sum())\n\
         print(*[docs.filter(pl.col('file') == f.name)['gone'].sum() for f in files])",
        &run.out(),
    );
    let mut lines = told.lines().map(|line| line.split(' ').map(|word| word.parse().unwrap()).collect::<Vec<u64>>());
    let mut next = || lines.next().unwrap();
    let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    let column = |label: &str, at: usize| table(&page, label).iter().map(|row| number(row[at])).collect::<Vec<_>>();
    let whole = next();
    assert!(page.contains(&format!("<dt>Removed</dt><dd>{}<", whole[0])), "{whole:?}");
    for (label, at, expected) in
        [("By script", 4, whole[0]), ("By script", 6, whole[1]), ("By length", 4, whole[0]), ("By length", 6, whole[1])]
    {
        assert_eq!(column(label, at).iter().sum::<u64>(), expected, "{label} {at}");
    }
    let bytes = record(&run.out())["parts"]["by_script"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["removed"]["bytes"].as_u64().unwrap())
        .sum::<u64>();
    assert_eq!(bytes, whole[2]);
    assert_eq!(column("By length", 4), next());
    let thresholds = column("Removals by threshold", 1);
    assert_eq!(thresholds[thresholds.len() - 5..], next());
    // The files are ordered by the number of removed documents.
    let mut by_loss = next();
    by_loss.sort_unstable_by(|a, b| b.cmp(a));
    let mut of_files = column("file", 2);
    of_files.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(of_files, by_loss);
}

#[test]
fn the_run_before_stands_beside_this_one() {
    let before = done(&samples().join("zh.parquet"), &["--algorithms", "exact"]);
    let previous = before.out();
    let now = done(samples(), &["--algorithms", "exact", "--previous", previous.to_str().unwrap()]);
    let figures = |out: &Path| {
        let record = record(out);
        [&record["documents"]["used"], &record["removal"]["removed"]].map(|number| number.as_u64().unwrap())
    };
    let number = |text: &str| text.replace(',', "").parse::<u64>().unwrap();
    let shown = page(&now.out());
    let rows = table(&shown, "Compared with the previous run");
    assert_eq!([number(rows[0][1]), number(rows[1][1])], figures(&previous));
    assert_eq!([number(rows[0][3]), number(rows[1][3])], figures(&now.out()));
    assert!(!page(&previous).contains("id=\"before\""));
}
