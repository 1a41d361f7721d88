//! Compares how our shuffle and DuckDB sort more rows than fit in memory: `cargo bench --bench sort -- [ROWS] [MEMORY_MB] [DIR]`.
//!
//! A row has 24 bytes: two random 64-bit numbers and the row number. Both programs generate their rows with a hash function while they run,
//! sort them by all three numbers on two threads within the memory limit (by default 512 MiB for 100 million rows), and check that the
//! result is in order. For comparison, generating the rows without sorting is also measured. Each measurement runs in a separate process.
//! When a process ends, the system reports its cost. Temporary files go to DIR; the default is the system's temporary folder.
//! DUPSIFT_PEERS names a Python interpreter that has DuckDB installed; without it, only our shuffle is measured.

mod kit;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use dupsift::report::table_of_numbers;
use dupsift_core::hash::splitmix64;
use dupsift_spill::shuffle::{Memory, Order, Shuffle, Spec};
use kit::THREADS;

const WIDTH: usize = 24;
/// The argument with which this program starts itself as a measured process.
const SORT: &str = "--sort";
const MAKE: &str = "--make";

fn main() -> Result<()> {
    let arguments = kit::arguments();
    let (own, typed) = match arguments.first().map(String::as_str) {
        Some(own @ (SORT | MAKE)) => (Some(own), &arguments[1..]),
        _ => (None, &arguments[..]),
    };
    let number = |at: usize, default: u64| typed.get(at).map_or(Ok(default), |typed| typed.parse());
    let rows = number(0, 100_000_000).context("expected the number of rows")?;
    let memory = number(1, 512).context("expected the memory in MiB")? << 20;
    let dir = typed.get(2).map_or_else(std::env::temp_dir, PathBuf::from);
    match own {
        Some(SORT) => sort(rows, memory as usize, &dir),
        Some(_) => make(rows),
        None => compare(rows, memory, &dir),
    }
}

fn compare(rows: u64, memory: u64, dir: &Path) -> Result<()> {
    let typed = [rows.to_string(), (memory >> 20).to_string(), dir.display().to_string()];
    let ours = |what: &str| -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(what).args(&typed);
        Ok(command)
    };
    let mut lines = vec![("ours", ours(SORT)?), ("ours, rows made only", ours(MAKE)?)];
    if let Some(python) = std::env::var_os("DUPSIFT_PEERS") {
        let duckdb = |more: &[&str]| {
            let mut command = Command::new(&python);
            command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/lab/duckdb_sort.py")).args(&typed).args(more);
            command
        };
        lines.push(("DuckDB", duckdb(&[])));
        lines.push(("DuckDB, rows made only", duckdb(&["--make-only"])));
    }
    let mut table = Vec::new();
    let mut cpu = Vec::new();
    for (name, mut command) in lines {
        let (cost, said) = kit::run(&mut command)?;
        cpu.push(cost.cpu_seconds);
        table.push([
            name.to_string(),
            format!("{:.1}", cost.cpu_seconds),
            format!("{:.1}", cost.wall_seconds),
            format!("{:.0}", cost.peak_rss_bytes / 1e6),
            said.trim().to_string(),
        ]);
    }
    println!("{rows} rows of {WIDTH} bytes under {} MiB, {THREADS} threads\n", memory >> 20);
    print!("{}", table_of_numbers(["process", "CPU s", "wall s", "peak RSS MB", "outcome"], table));
    if let [ours, _, duckdb, _] = cpu[..] {
        let ratio = ours / duckdb;
        println!("\nours / DuckDB: {ratio:.2}; goal below 0.50: {}", if ratio < 0.5 { "met" } else { "not met" });
    }
    Ok(())
}

fn row(number: u64) -> [u8; WIDTH] {
    // The shuffle does not accept the largest 64-bit number.
    let numbers = [splitmix64(1, number).min(u64::MAX - 1), splitmix64(2, number), number];
    let mut row = [0; WIDTH];
    for (bytes, number) in row.chunks_exact_mut(8).zip(numbers) {
        bytes.copy_from_slice(&number.to_be_bytes());
    }
    row
}

/// Returns the range of row numbers for one thread. The ranges of consecutive threads are adjacent.
fn share(rows: u64, thread: usize) -> std::ops::Range<u64> {
    let (thread, threads) = (thread as u64, THREADS as u64);
    rows * thread / threads..rows * (thread + 1) / threads
}

fn on_all_threads<T: Send>(work: impl Fn(usize) -> Result<T> + Sync) -> Result<Vec<T>> {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    })
}

fn sort(rows: u64, memory: usize, dir: &Path) -> Result<()> {
    // Memory is divided as in a job: half of it holds rows, and two fifths are used for sorting. A partition is a quarter of the memory
    // that one thread uses for sorting.
    let (held, a_thread) = (memory / 2, memory * 2 / 5 / THREADS);
    let partitions = (rows as usize * WIDTH).div_ceil(a_thread / 4).clamp(THREADS, 256);
    let spec = Spec {
        name: "rows".into(),
        width: WIDTH,
        group_width: 8,
        order: Order::Range { below: u64::MAX },
        range_width: 8,
        partitions,
    };
    let shuffle = Shuffle::new(spec, dir, &Memory::new(held))?;
    on_all_threads(|thread| {
        let mut writer = shuffle.writer();
        share(rows, thread).try_for_each(|number| writer.push(&row(number)))?;
        Ok(writer.flush()?)
    })?;
    let sorted = shuffle.finish()?;
    let ends = on_all_threads(|thread| {
        let mut ends = Vec::new();
        for partition in (thread..partitions).step_by(THREADS) {
            let records = sorted.load(partition, a_thread)?;
            let rows = records.bytes().as_chunks::<WIDTH>().0;
            ensure!(rows.is_sorted(), "partition {partition} is not in order");
            if let (Some(first), Some(last)) = (rows.first(), rows.last()) {
                ends.push((*first, *last, rows.len()));
            }
            drop(records);
            sorted.remove(partition)?;
        }
        Ok(ends)
    })?;
    let mut ends = ends.concat();
    ends.sort_unstable();
    ensure!(ends.is_sorted_by(|a, b| a.1 < b.0), "partitions overlap");
    let count: usize = ends.iter().map(|end| end.2).sum();
    ensure!(count as u64 == rows, "{count} rows came back of {rows}");
    println!("{count} rows in order, {:.2} GB spilled", sorted.spilled_bytes() as f64 / 1e9);
    Ok(())
}

fn make(rows: u64) -> Result<()> {
    let most = on_all_threads(|thread| Ok(share(rows, thread).map(row).max()))?;
    std::hint::black_box(most);
    println!("{rows} rows made");
    Ok(())
}
