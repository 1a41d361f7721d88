//! What each algorithm costs, in units of reading: `cargo bench --bench table -- [CORPUS] [RUNS]`.
//!
//! The unit U is the CPU time (user and system) of a process that reads the `text` column of the corpus with the parquet
//! crate on two threads and does nothing else. Every line of the table is a process of its own, measured by the system
//! when it ends, start-up included; the processes take turns, so that a busy machine slows all of them alike; the median
//! of the runs is shown. Ratios hold from machine to machine better than seconds do.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use dupsift::report::table_of_numbers;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// Threads of every process.
const THREADS: usize = 2;
/// The argument that makes this program the process whose cost is the unit.
const UNIT: &str = "--read-only";
/// Name, algorithms (none: the unit), and the ratio aimed at.
const LINES: [(&str, Option<&str>, Option<f64>); 8] = [
    ("reading alone", None, None),
    ("exact", Some("exact"), Some(1.3)),
    ("three_plus_five", Some("three_plus_five"), Some(3.5)),
    ("minhash", Some("minhash"), Some(3.5)),
    ("simhash", Some("simhash"), Some(3.0)),
    ("minhash, not verified", Some("minhash:verify=none"), None),
    ("the default three", Some("exact,three_plus_five,minhash"), None),
    ("all seven", Some("exact,tf,tf_idf,long_sent,three_plus_five,simhash,minhash"), None),
];

fn main() -> Result<()> {
    // cargo adds --bench to whatever was typed.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let corpus = |at: usize| PathBuf::from(arguments.get(at).map_or("data-samples/docs", String::as_str));
    if arguments.first().is_some_and(|first| first == UNIT) {
        let bytes = read_texts(&corpus(1))?;
        println!("{bytes}");
        return Ok(());
    }
    let runs = arguments.get(1).map_or(Ok(5), |typed| typed.parse()).context("expected the number of runs")?;
    ensure!(runs > 0, "expected at least one run");
    print_table(&corpus(0), runs)
}

/// What one process took.
#[derive(Clone, Copy, Default)]
struct Cost {
    cpu_seconds: f64,
    wall_seconds: f64,
    peak_rss_bytes: f64,
}

fn print_table(corpus: &Path, runs: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let text_bytes = read_texts(corpus)?;
    let mut costs = vec![Vec::new(); LINES.len()];
    // One round that does not count fills the caches of the system.
    for round in 0..=runs {
        for ((_, algorithms, _), costs) in LINES.iter().zip(&mut costs) {
            let cost = run(corpus, *algorithms, &folder.path().join("out"))?;
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    let unit = median(&costs[0], |cost| cost.cpu_seconds);
    let megabytes = text_bytes as f64 / 1e6;
    let rows = LINES.iter().zip(&costs).map(|((name, _, goal), costs)| {
        let cpu = median(costs, |cost| cost.cpu_seconds);
        let all = || costs.iter().map(|cost| cost.cpu_seconds);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        [
            name.to_string(),
            goal.map_or("-".into(), |goal| format!("{goal:.1}")),
            format!("{:.1}", cpu / unit),
            format!("{cpu:.2}"),
            format!("{low:.2}-{high:.2}"),
            format!("{:.2}", median(costs, |cost| cost.wall_seconds)),
            format!("{:.0}", megabytes / cpu),
            format!("{:.0}", median(costs, |cost| cost.peak_rss_bytes) / 1e6),
        ]
    });
    let header = ["process", "goal, U", "U", "CPU s", "lowest-highest", "wall s", "MB/CPU s", "peak RSS MB"];
    let table = table_of_numbers(header, rows);
    let name = corpus.iter().rev().find(|part| *part != "docs").unwrap_or(corpus.as_os_str());
    println!("{}: {megabytes:.1} MB of text, {THREADS} threads, median of {runs} runs in turn\n", name.display());
    print!("{table}");
    Ok(())
}

fn median(costs: &[Cost], of: impl Fn(&Cost) -> f64) -> f64 {
    let mut values: Vec<f64> = costs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// Runs one process to its end.
fn run(corpus: &Path, algorithms: Option<&str>, out: &Path) -> Result<Cost> {
    let mut command = match algorithms {
        None => Command::new(std::env::current_exe()?),
        Some(_) => Command::new(env!("CARGO_BIN_EXE_dupsift")),
    };
    match algorithms {
        None => command.arg(UNIT).arg(corpus),
        Some(list) => command.arg("run").arg(corpus).args(["--overwrite", "--no-progress", "--algorithms", list]),
    };
    if algorithms.is_some() {
        command.arg("--out").arg(out).args(["--threads", &THREADS.to_string()]);
    }
    let started = Instant::now();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let (code, usage) = wait(child.id())?;
    // 3: done, but rows were rejected or a guard fired.
    ensure!(code == 0 || code == 3, "{command:?} ended with {code}");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Ok(Cost {
        cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall_seconds: started.elapsed().as_secs_f64(),
        // Linux counts it in kilobytes.
        peak_rss_bytes: usage.ru_maxrss as f64 * 1024.0,
    })
}

/// Waits for a child and returns its exit code and what it used; the standard library tells only the first.
#[allow(unsafe_code)]
fn wait(child: u32) -> Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: a rusage is plain numbers, for which all zero bits are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables of the types that the call fills.
    let ended = unsafe { libc::wait4(child as libc::pid_t, &mut status, 0, &mut usage) };
    if ended != child as libc::pid_t {
        bail!("cannot wait for a process: {}", std::io::Error::last_os_error());
    }
    Ok((if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 }, usage))
}

/// The unit: decodes the text column of every file, row groups in parallel, and adds up the bytes of the texts.
fn read_texts(corpus: &Path) -> Result<usize> {
    let files = dupsift::io::find(&[corpus.display().to_string()])?;
    let mut pieces = Vec::new();
    for file in &files {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&file.path)?)
            .with_context(|| format!("{} is no Parquet file", file.path.display()))?;
        pieces.extend((0..reader.metadata().num_row_groups()).map(|group| (&file.path, group)));
    }
    let (next, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<()> {
        while let Some((path, group)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
            let text = ProjectionMask::columns(builder.parquet_schema(), ["text"]);
            for batch in builder.with_projection(text).with_row_groups(vec![*group]).build()? {
                let batch = batch?;
                ensure!(batch.num_columns() == 1, "{}: there is no column \"text\"", path.display());
                let column = batch.column(0);
                let texts = match (column.as_string_opt::<i32>(), column.as_string_opt::<i64>()) {
                    (Some(texts), _) => texts.values(),
                    (_, Some(texts)) => texts.values(),
                    _ => bail!("expected the column \"text\" as Utf8 or LargeUtf8, {} came", column.data_type()),
                };
                bytes.fetch_add(texts.len(), Ordering::Relaxed);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok(bytes.into_inner())
}
