//! Measures the quality and speed of main-text extraction: `cargo bench --bench purify -- CORPUS [ROUNDS] [pages]`.
//!
//! CORPUS consists of Parquet files with the columns `html` (the bytes of a page) and `text` (its main text; if this is null or empty, the
//! page is timed but not judged). For each method, the words of the extracted body are compared with the words of the text as multisets:
//! precision, recall and F1, averaged over pages (macro) and computed from the sums (micro). Then the speed is measured on one thread, in
//! megabytes of HTML per second of CPU time, and compared with the speed of html5ever, which builds the same tree and does nothing else.
//! All methods take turns in each round, and medians are shown. With `pages` as the third argument, F1 is also listed for each page.

mod kit;

use std::fs::File;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use arrow::array::AsArray;
use arrow::datatypes::DataType;
use dupsift::report::table_of_numbers;
use dupsift_pages::{Fallback, Method, Purifier, PurifyOptions, RawPage};
use dupsift_text::{Pipeline, TextOptions};
use kit::{median, thread_cpu_seconds};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const METHODS: [(&str, Method); 3] =
    [("docview", Method::Docview), ("readability", Method::Readability), ("visible", Method::Visible)];

/// Holds a page and its main text.
struct Gold {
    html: Vec<u8>,
    text: String,
}

fn main() -> Result<()> {
    let arguments = kit::arguments();
    let corpus = arguments.first().context("expected a corpus of pages: Parquet with columns html and text")?;
    let rounds = arguments.get(1).map_or(Ok(5), |typed| typed.parse()).context("expected the number of rounds")?;
    ensure!(rounds > 0, "expected at least one round");
    let pages = read(corpus)?;
    ensure!(!pages.is_empty(), "there is no page in {corpus}");
    let name = kit::name_of(Path::new(corpus));
    let megabytes = pages.iter().map(|page| page.html.len()).sum::<usize>() as f64 / 1e6;
    println!("{name}: {} pages, {megabytes:.1} MB\n", pages.len());
    quality(&pages, arguments.get(2).is_some_and(|word| word == "pages"))?;
    speed(&pages, megabytes, rounds);
    Ok(())
}

fn read(corpus: &str) -> Result<Vec<Gold>> {
    let mut pages = Vec::new();
    for file in dupsift_input::find(&[corpus.to_owned()])? {
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&file.path)?)
            .with_context(|| format!("{} is no Parquet file", file.path.display()))?;
        let columns = ProjectionMask::columns(builder.parquet_schema(), ["html", "text"]);
        for batch in builder.with_projection(columns).build()? {
            let batch = batch?;
            let column = |name| batch.column_by_name(name).with_context(|| format!("there is no column {name:?}"));
            let html = arrow::compute::cast(column("html")?, &DataType::LargeBinary)?;
            let text = kit::as_texts(column("text")?)?;
            for (html, text) in html.as_binary::<i64>().iter().zip(text.iter()) {
                let Some(html) = html else { continue };
                pages.push(Gold { html: html.to_vec(), text: text.unwrap_or_default().to_owned() });
            }
        }
    }
    Ok(pages)
}

fn purifier(method: Method) -> Purifier {
    Purifier::new(PurifyOptions { method, fallback: Fallback::Visible, ..PurifyOptions::default() })
}

fn body(purifier: &Purifier, page: &Gold) -> String {
    purifier.page(&RawPage { bytes: &page.html, ..RawPage::default() }).body.unwrap_or_default()
}

/// Holds the word counts of the extracted text, of the expected text, and of their intersection.
#[derive(Clone, Copy, Default)]
struct Overlap {
    common: usize,
    found: usize,
    wanted: usize,
}

impl Overlap {
    fn scores(self) -> [f64; 3] {
        let share = |of: usize| if of == 0 { 0.0 } else { self.common as f64 / of as f64 };
        let (precision, recall) = (share(self.found), share(self.wanted));
        let sum = precision + recall;
        [precision, recall, if sum == 0.0 { 0.0 } else { 2.0 * precision * recall / sum }]
    }
}

fn quality(pages: &[Gold], list: bool) -> Result<()> {
    let pipeline = Pipeline::new(&TextOptions::default())?;
    let words = |text: &str| {
        let mut words: Vec<u64> = pipeline.analyse(text).words().iter().map(|word| word.hash).collect();
        words.sort_unstable();
        words
    };
    let judged: Vec<(usize, &Gold)> =
        pages.iter().enumerate().filter(|(_, page)| !page.text.trim().is_empty()).collect();
    let mut rows = Vec::new();
    let mut by_page = vec![Vec::new(); judged.len()];
    for (name, method) in METHODS {
        let purifier = purifier(method);
        let mut sum = Overlap::default();
        let mut means = [0.0; 3];
        for (at, (_, page)) in judged.iter().enumerate() {
            let (found, wanted) = (words(&body(&purifier, page)), words(&page.text));
            let overlap = Overlap { common: common(&found, &wanted), found: found.len(), wanted: wanted.len() };
            sum.common += overlap.common;
            sum.found += overlap.found;
            sum.wanted += overlap.wanted;
            let scores = overlap.scores();
            means.iter_mut().zip(scores).for_each(|(mean, score)| *mean += score / judged.len() as f64);
            by_page[at].push(scores);
        }
        let cells: Vec<String> = means.into_iter().chain(sum.scores()).map(|score| format!("{score:.3}")).collect();
        let [p, r, f, mp, mr, mf] = cells.try_into().unwrap_or_default();
        rows.push([name.to_owned(), p, r, f, mp, mr, mf]);
    }
    println!("{} pages with a text, words of the body against those of the text", judged.len());
    println!("{}", table_of_numbers(["method", "P", "R", "F1", "micro P", "micro R", "micro F1"], rows));
    if list {
        let rows = judged.iter().zip(&by_page).map(|((number, page), scores)| {
            let cell = |method: usize| scores[method].map(|score| format!("{score:.2}")).join(" ");
            [number.to_string(), page.html.len().to_string(), page.text.len().to_string(), cell(0), cell(1), cell(2)]
        });
        println!("{}", table_of_numbers(["page", "html", "text", "docview", "readability", "visible"], rows));
    }
    Ok(())
}

/// Returns the number of words that two sorted multisets have in common.
fn common(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut count) = (0, 0);
    for word in one {
        while other.get(at).is_some_and(|next| next < word) {
            at += 1;
        }
        if other.get(at) == Some(word) {
            at += 1;
            count += 1;
        }
    }
    count
}

fn speed(pages: &[Gold], megabytes: f64, rounds: usize) {
    let purifiers = METHODS.map(|(_, method)| purifier(method));
    let mut seconds = vec![Vec::new(); METHODS.len() + 1];
    let mut timed = |at: usize, work: &dyn Fn(&Gold) -> usize| {
        let started = thread_cpu_seconds();
        std::hint::black_box(pages.iter().map(work).sum::<usize>());
        seconds[at].push(thread_cpu_seconds() - started);
    };
    for _ in 0..rounds {
        timed(0, &|page| {
            let (text, _, _) = encoding_rs::UTF_8.decode(&page.html);
            dom_query::Document::from(text.as_ref()).tree.len()
        });
        for (at, purifier) in purifiers.iter().enumerate() {
            timed(at + 1, &|page| body(purifier, page).len());
        }
    }
    let medians: Vec<f64> = seconds.into_iter().map(median).collect();
    let names = ["bare parser"].into_iter().chain(METHODS.map(|(name, _)| name));
    let rows = names.zip(&medians).map(|(name, seconds)| {
        [name.to_owned(), format!("{:.1}", megabytes / seconds), format!("{:.2}", seconds / medians[0])]
    });
    println!("one thread, median of {rounds} rounds");
    println!("{}", table_of_numbers(["method", "MB/s", "times the bare parser"], rows));
}
