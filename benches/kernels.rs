//! Measures the speed of each processing step in CPU time on one thread: `cargo bench --bench kernels -- [CORPUS] [RUNS]`.
//!
//! Text kernels and signers run over a sample of the corpus. The steps that precede a kernel are not timed: word splitting is timed on
//! normalized text, signers on documents that are already segmented. Speeds are medians of the runs, shown for each script in megabytes of
//! raw UTF-8 per second. The last lines show the speeds of sorting, merging and joining generated rows, in millions per second.

mod kit;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use dupsift::algorithm::Corpus;
use dupsift::report::table_of_numbers;
use dupsift_algorithms::corpus::{CorpusStats, TermTable, TermTableWriter};
use dupsift_algorithms::recipe::Recipe;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::connect::Forest;
use dupsift_algorithms::steps::count::WordCounts;
use dupsift_core::hash::splitmix64;
use dupsift_core::row::Signatures;
use dupsift_core::row::Slots;
use dupsift_spill::shuffle::{Memory, Order, Shuffle, Spec};
use dupsift_text::{Analysis, Pipeline, TextOptions, TokenizerKind};
use kit::{median, thread_cpu_seconds};

/// The maximum size of the sample in megabytes.
const SAMPLE: usize = 24;
/// The number of documents prepared at a time. Smaller batches need more clock reads, and larger batches need more memory.
const AT_A_TIME: usize = 64;
/// The number of rows to sort, which is also the number of nodes in the union-find structure.
const ROWS: u64 = 4_000_000;
const SCRIPTS: [&str; 3] = ["Han", "Cyrillic", "Latin"];

fn main() -> Result<()> {
    let arguments = kit::arguments();
    let corpus = PathBuf::from(arguments.first().map_or("data-samples/docs", String::as_str));
    let runs = arguments.get(1).map_or(Ok(3), |typed| typed.parse()).context("expected the number of runs")?;
    ensure!(runs > 0, "expected at least one run");
    let mut texts: [Vec<String>; SCRIPTS.len()] = Default::default();
    for text in kit::sample(&corpus, SAMPLE)? {
        texts[script_of(&text)].push(text);
    }
    text_kernels(&kit::name_of(&corpus), &texts, runs)?;
    row_kernels(runs)
}

/// Returns the index of the script with the most letters at the beginning of the text.
fn script_of(text: &str) -> usize {
    let mut letters = [0; SCRIPTS.len()];
    for letter in text.chars().take(2000) {
        match letter {
            '\u{4E00}'..='\u{9FFF}' => letters[0] += 2,
            '\u{400}'..='\u{4FF}' => letters[1] += 1,
            'A'..='Z' | 'a'..='z' => letters[2] += 1,
            _ => {}
        }
    }
    (0..SCRIPTS.len()).max_by_key(|&script| (letters[script], script)).unwrap_or(0)
}

fn timed(work: impl FnOnce()) -> f64 {
    let started = thread_cpu_seconds();
    work();
    thread_cpu_seconds() - started
}

fn text_kernels(corpus: &str, texts: &[Vec<String>; SCRIPTS.len()], runs: usize) -> Result<()> {
    let pipeline = Pipeline::new(&TextOptions::default())?;
    let jieba = Pipeline::new(&TextOptions { tokenizer: TokenizerKind::Jieba, ..TextOptions::default() })?;
    // The Chinese dictionary is loaded on first use, so it is used once here: loading it is not part of a kernel's cost.
    let _ = (pipeline.analyse("中文分词").words(), jieba.analyse("中文分词").words());
    let nothing = |_: &Analysis<'_>| 0;
    let text = |analysis: &Analysis<'_>| analysis.text().len();
    let words = |analysis: &Analysis<'_>| analysis.text().len() + analysis.words().len();
    let tokens = |analysis: &Analysis<'_>| analysis.tokens().len();
    let all = |analysis: &Analysis<'_>| words(analysis) + tokens(analysis);

    let recipe = Recipe {
        algorithms: Recipe::parse_algorithms("all")?,
        text: TextOptions::default(),
        count_copies: true,
        within: None,
        across: None,
    };
    let folder = tempfile::tempdir()?;
    let stats = statistics(&recipe, &pipeline, texts.iter().flatten(), folder.path())?;
    let bound = recipe.bind(&Corpus::new(stats.documents(), &stats), &[])?;

    type Step<'s> = Box<dyn Fn(&Analysis<'_>) -> usize + 's>;
    let mut kernels: Vec<(String, &Pipeline, Step<'_>, Step<'_>)> = vec![
        ("normal form, sentences".into(), &pipeline, Box::new(nothing), Box::new(text)),
        ("words".into(), &pipeline, Box::new(text), Box::new(words)),
        ("words, tokenizer=jieba".into(), &jieba, Box::new(text), Box::new(words)),
        ("tokens, no words there".into(), &pipeline, Box::new(text), Box::new(tokens)),
        ("tokens after words".into(), &pipeline, Box::new(words), Box::new(tokens)),
    ];
    for bound in &bound {
        kernels.push((format!("sign {}", bound.label), &pipeline, Box::new(all), Box::new(signer(bound))));
        if let Some(verify) = bound.verify() {
            let evidence = move |analysis: &Analysis<'_>| {
                let mut numbers = Vec::new();
                verify.evidence(analysis, &mut numbers);
                numbers.len()
            };
            kernels.push((format!("evidence for {}", bound.label), &pipeline, Box::new(all), Box::new(evidence)));
        }
    }

    let mut rows = Vec::new();
    for (name, pipeline, ready, kernel) in &kernels {
        let speeds = texts.each_ref().map(|texts| {
            let seconds = median((0..runs).map(|_| over(texts, pipeline, ready, kernel)));
            let megabytes = texts.iter().map(String::len).sum::<usize>() as f64 / 1e6;
            if texts.is_empty() { "-".to_string() } else { format!("{:.0}", megabytes / seconds) }
        });
        let [han, cyrillic, latin] = speeds;
        rows.push([name.clone(), han, cyrillic, latin]);
    }
    let documents: Vec<String> =
        texts.iter().zip(SCRIPTS).map(|(texts, name)| format!("{} {name}", texts.len())).collect();
    println!("{corpus}: {} documents, one thread, MB/s, median of {runs} runs\n", documents.join(", "));
    println!("{}", table_of_numbers(["kernel", SCRIPTS[0], SCRIPTS[1], SCRIPTS[2]], rows));
    Ok(())
}

/// Returns the CPU seconds that a kernel takes for all texts. `ready` prepares each text and is not timed.
fn over(
    texts: &[String],
    pipeline: &Pipeline,
    ready: impl Fn(&Analysis<'_>) -> usize,
    kernel: impl Fn(&Analysis<'_>) -> usize,
) -> f64 {
    let mut seconds = 0.0;
    for chunk in texts.chunks(AT_A_TIME) {
        let documents: Vec<Analysis<'_>> = chunk.iter().map(|text| pipeline.analyse(text)).collect();
        std::hint::black_box(documents.iter().map(&ready).sum::<usize>());
        seconds += timed(|| _ = std::hint::black_box(documents.iter().map(&kernel).sum::<usize>()));
    }
    seconds
}

fn signer<'b>(bound: &'b Bound<'_>) -> impl Fn(&Analysis<'_>) -> usize + 'b {
    let out = std::cell::RefCell::new(Signatures::default());
    move |analysis| {
        let mut out = out.borrow_mut();
        out.clear();
        bound.signer.sign(analysis, &mut out);
        out.rows(0).count()
    }
}

/// Returns the statistics that the algorithms in the recipe need.
fn statistics<'t>(
    recipe: &Recipe,
    pipeline: &Pipeline,
    texts: impl Iterator<Item = &'t String>,
    folder: &Path,
) -> Result<CorpusStats> {
    let needs = recipe.needs_stats();
    let kinds = recipe.features();
    let mut tally = WordCounts::new(needs, &kinds, usize::MAX);
    texts.for_each(|text| tally.add(&pipeline.analyse(text)));
    let mut counts = Vec::new();
    if let Some(words) = &mut tally.words {
        words.drain(|term, df, cf| Ok::<_, std::convert::Infallible>(counts.push((term, df, cf))))?;
    }
    counts.sort_unstable();
    let mut table = TermTableWriter::create(&folder.join("words"))?;
    counts.iter().try_for_each(|&(term, df, cf)| table.push(term, df.into(), cf.into()))?;
    Ok(CorpusStats::new(tally.documents, tally.tokens, 0, table.finish()?, TermTable::empty()))
}

fn row_kernels(runs: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut lines = Vec::new();
    let mut line = |name: String, seconds: f64, plain: Option<f64>| {
        let verdict = |plain: f64| {
            let ratio = seconds / plain;
            format!("{ratio:.2}, goal 2.00: {}", if ratio <= 2.0 { "met" } else { "not met" })
        };
        let ratio = plain.map_or("-".to_string(), verdict);
        lines.push([name, format!("{:.1}", ROWS as f64 / seconds / 1e6), ratio]);
    };
    sorts::<13>(folder.path(), runs, &mut line)?;
    sorts::<24>(folder.path(), runs, &mut line)?;

    let rows = made::<24>();
    let merge = || in_shuffle(&rows, folder.path(), 1, 1 << 20, rows.len() * 24 / 8);
    line("merge of 24 bytes from disk, an eighth in memory".into(), median_of(runs, merge)?, None);

    let edges: Vec<[u64; 2]> = (0..ROWS).map(|at| [1, 2].map(|seed| splitmix64(seed, at) % ROWS)).collect();
    let join = || {
        let mut parents = vec![0u32; ROWS as usize];
        Ok(timed(|| {
            let mut forest = Forest::new(Slots::Narrow(&mut parents));
            edges.iter().for_each(|&[a, b]| forest.union(a as _, b as _));
        }))
    };
    line("union-find, as many random edges as nodes".into(), median_of(runs, join)?, None);
    println!("{ROWS} rows, one thread, median of {runs} runs\n");
    print!("{}", table_of_numbers(["kernel", "million rows/s", "times a plain sort"], lines));
    Ok(())
}

fn median_of(runs: usize, kernel: impl Fn() -> Result<f64>) -> Result<f64> {
    Ok(median((0..runs).map(|_| kernel()).collect::<Result<Vec<f64>>>()?))
}

/// Returns rows that consist of a random key and the row number; about one key in four is repeated.
fn made<const WIDTH: usize>() -> Vec<[u8; WIDTH]> {
    let row = |at: u64| {
        let number = if at.is_multiple_of(4) { at / 8 } else { at };
        let mut row = [0; WIDTH];
        row[..8].copy_from_slice(&splitmix64(7, number).to_be_bytes());
        row[WIDTH - 4..].copy_from_slice(&(at as u32).to_be_bytes());
        row
    };
    (0..ROWS).map(row).collect()
}

/// Measures sorting and grouping in memory: a plain unstable sort, our shuffle with few partitions, and our shuffle with many partitions.
fn sorts<const WIDTH: usize>(
    folder: &Path,
    runs: usize,
    line: &mut impl FnMut(String, f64, Option<f64>),
) -> Result<()> {
    let rows = made::<WIDTH>();
    let plain = || {
        Ok(timed(|| {
            let mut sorted = Vec::new();
            rows.iter().for_each(|row| sorted.push(*row));
            sorted.sort_unstable();
            std::hint::black_box(sorted.chunk_by(|a, b| a[..8] == b[..8]).count());
        }))
    };
    let plain = median_of(runs, plain)?;
    line(format!("sort and group of {WIDTH} bytes, plain"), plain, None);
    for partitions in [2, 64] {
        let ours = median_of(runs, || in_shuffle(&rows, folder, partitions, usize::MAX, usize::MAX))?;
        line(format!("the same, shuffle of {partitions} partitions"), ours, Some(plain));
    }
    Ok(())
}

/// Pushes all rows into a shuffle and loads every partition back; returns the CPU seconds.
fn in_shuffle<const WIDTH: usize>(
    rows: &[[u8; WIDTH]],
    folder: &Path,
    partitions: usize,
    held: usize,
    allowed: usize,
) -> Result<f64> {
    let started = thread_cpu_seconds();
    let spec =
        Spec { name: "rows".into(), width: WIDTH, group_width: 8, order: Order::Hash, range_width: 0, partitions };
    let shuffle = Shuffle::new(spec, folder, &Memory::new(held))?;
    let mut writer = shuffle.writer();
    rows.iter().try_for_each(|row| writer.push(row))?;
    writer.flush()?;
    drop(writer);
    let sorted = shuffle.finish()?;
    let mut groups = 0;
    for partition in 0..partitions {
        groups += sorted.load(partition, allowed)?.groups().count();
        sorted.remove(partition)?;
    }
    std::hint::black_box(groups);
    Ok(thread_cpu_seconds() - started)
}
