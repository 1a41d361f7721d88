//! Measures the cost of each algorithm and compares it with a goal: `cargo bench --bench table -- [CORPUS] [RUNS]`.
//!
//! Two units are measured in the same run. U is the CPU time (user and system) of a process that only reads the `text` column of the corpus
//! with the parquet crate on two threads. T is the CPU time of a process that also computes the normalized text and the words of every
//! document, once. Every row of the table is a separate process. When a process ends, the system reports its cost, including start-up. The
//! processes take turns, so that a busy machine slows all of them alike; the median of the runs is shown. Ratios vary less between machines
//! than seconds do.

mod kit;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use dupsift::report::table_of_numbers;
use dupsift_text::{Pipeline, TextOptions};
use kit::{Cost, THREADS, median};

/// The argument for the process whose cost is U.
const READ: &str = "--read-only";
/// The argument for the process whose cost is T.
const CUT: &str = "--text-and-words";

/// Selects the process that a row of the table measures.
#[derive(Clone, Copy)]
enum Process {
    /// This program with the argument READ or CUT.
    Own(&'static str),
    /// `dupsift run` with these algorithms.
    Run(&'static str),
    /// `dupsift algorithms`.
    Algorithms,
}

/// Describes the goal for a row of the table.
#[derive(Clone, Copy)]
enum Goal {
    None,
    /// The CPU time is at most this many times U.
    Reading(f64),
    /// The CPU time is at most this many times T.
    Cutting(f64),
    /// The wall-clock time is at most this many milliseconds.
    Milliseconds(f64),
}

use Goal::{Cutting, Milliseconds, Reading};
use Process::{Algorithms, Own, Run};

const LINES: [(&str, Process, Goal); 10] = [
    ("U: reading alone", Own(READ), Goal::None),
    ("T: reading, normal form, words", Own(CUT), Goal::None),
    ("exact", Run("exact"), Reading(1.3)),
    ("minhash", Run("minhash"), Reading(3.5)),
    ("simhash", Run("simhash"), Reading(3.0)),
    ("three_plus_five", Run("three_plus_five"), Reading(3.5)),
    ("all seven", Run("exact,tf,tf_idf,long_sent,three_plus_five,simhash,minhash"), Cutting(1.5)),
    ("balanced, the default", Run("exact,versions"), Reading(12.0)),
    ("minhash, not verified", Run("minhash:verify=none"), Goal::None),
    ("dupsift algorithms", Algorithms, Milliseconds(50.0)),
];

fn main() -> Result<()> {
    let arguments = kit::arguments();
    let corpus = |at: usize| PathBuf::from(arguments.get(at).map_or("data-samples/docs", String::as_str));
    match arguments.first().map(String::as_str) {
        Some(READ) => println!("{}", kit::text_bytes(&corpus(1))?),
        Some(CUT) => println!("{}", cut(&corpus(1))?),
        _ => {
            let runs = arguments.get(1).map_or(Ok(5), |typed| typed.parse()).context("expected the number of runs")?;
            ensure!(runs > 0, "expected at least one run");
            print_table(&corpus(0), runs)?;
        }
    }
    Ok(())
}

/// Computes the normalized text and the words of every document once and discards them; returns the number of words.
fn cut(corpus: &Path) -> Result<usize> {
    let pipeline = Pipeline::new(&TextOptions::default())?;
    let words = AtomicUsize::new(0);
    kit::for_each_column(corpus, |column| {
        for text in kit::as_texts(column)?.iter().flatten() {
            let analysis = pipeline.analyse(text);
            std::hint::black_box(analysis.text());
            words.fetch_add(analysis.words().len(), Ordering::Relaxed);
        }
        Ok(())
    })?;
    Ok(words.into_inner())
}

fn print_table(corpus: &Path, runs: usize) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let megabytes = kit::text_bytes(corpus)? as f64 / 1e6;
    let mut costs: [Vec<Cost>; LINES.len()] = Default::default();
    // The first round fills the system's caches and is not counted.
    for round in 0..=runs {
        for ((_, process, _), costs) in LINES.iter().zip(&mut costs) {
            let (cost, _) = kit::run(&mut command(*process, corpus, &folder.path().join("out"))?)?;
            if round > 0 {
                costs.push(cost);
            }
        }
    }
    let cpu = |line: usize| median(costs[line].iter().map(|cost| cost.cpu_seconds));
    let (reading, cutting) = (cpu(0), cpu(1));
    let rows = LINES.iter().enumerate().map(|(line, (name, process, goal))| {
        let (costs, cpu) = (&costs[line], cpu(line));
        let wall = median(costs.iter().map(|cost| cost.wall_seconds));
        let (aimed, came, verdict) = match *goal {
            Goal::None => ("-".into(), format!("{:.2} U", cpu / reading), "-".into()),
            Reading(most) => (format!("{most:.1} U"), format!("{:.2} U", cpu / reading), verdict(cpu / reading, most)),
            Cutting(most) => (format!("{most:.1} T"), format!("{:.2} T", cpu / cutting), verdict(cpu / cutting, most)),
            Milliseconds(most) => (format!("{most:.0} ms"), format!("{:.0} ms", wall * 1e3), verdict(wall * 1e3, most)),
        };
        let all = || costs.iter().map(|cost| cost.cpu_seconds);
        let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        let speed = if matches!(process, Algorithms) { "-".into() } else { format!("{:.0}", megabytes / cpu) };
        [
            name.to_string(),
            aimed,
            came,
            verdict,
            format!("{cpu:.2}"),
            format!("{low:.2}-{high:.2}"),
            format!("{wall:.2}"),
            speed,
            format!("{:.0}", median(costs.iter().map(|cost| cost.peak_rss_bytes)) / 1e6),
        ]
    });
    let header = ["process", "goal", "measured", "", "CPU s", "lowest-highest", "wall s", "MB/CPU s", "peak RSS MB"];
    let table = table_of_numbers(header, rows);
    println!(
        "{}: {megabytes:.1} MB of text, {THREADS} threads, median of {runs} runs in turn\n\n{table}",
        kit::name_of(corpus)
    );
    Ok(())
}

/// Returns `met`, or a message that states by how much the goal was missed.
fn verdict(came: f64, most: f64) -> String {
    if came <= most { "met".into() } else { format!("{:.2} times the goal", came / most) }
}

fn command(process: Process, corpus: &Path, out: &Path) -> Result<Command> {
    let mut command = match process {
        Own(_) => Command::new(std::env::current_exe()?),
        Run(_) | Algorithms => Command::new(env!("CARGO_BIN_EXE_dupsift")),
    };
    match process {
        Own(what) => command.arg(what).arg(corpus),
        Run(list) => command.args(["run", "--overwrite", "--no-progress", "--algorithms", list]).arg(corpus),
        Algorithms => command.arg("algorithms"),
    };
    if let Run(_) = process {
        command.arg("--out").arg(out).args(["--threads", &THREADS.to_string()]);
    }
    Ok(command)
}
