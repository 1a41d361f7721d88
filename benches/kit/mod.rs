//! Contains code that the benchmarks share: it runs processes, measures their cost and the CPU time of a thread, and reads the text of a
//! corpus.

// Each benchmark is a separate program, and none uses all of this module.
#![allow(dead_code)]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use arrow::array::AsArray;
use arrow::array::{ArrayRef, LargeStringArray};
use arrow::datatypes::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

/// The number of threads in every process.
pub(crate) const THREADS: usize = 2;

/// Returns the arguments of the benchmark, without the `--bench` that cargo adds.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args().skip(1).filter(|argument| argument != "--bench").collect()
}

/// Returns the name of a corpus: its folder, or the parent folder if the folder is called docs.
pub(crate) fn name_of(corpus: &Path) -> String {
    let name = corpus.iter().rev().find(|part| *part != "docs").unwrap_or(corpus.as_os_str());
    name.display().to_string()
}

/// Holds the cost of one process.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    /// The CPU time, user and system.
    pub cpu_seconds: f64,
    pub wall_seconds: f64,
    /// The peak resident memory, including mapped temporary files.
    pub peak_rss_bytes: f64,
}

/// Runs one process until it ends; returns its cost and its stdout.
pub(crate) fn run(command: &mut Command) -> Result<(Cost, String)> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut said = String::new();
    if let Some(stdout) = &mut child.stdout {
        std::io::Read::read_to_string(stdout, &mut said)?;
    }
    let (code, usage) = wait(child.id())?;
    // Exit code 3 means that the run finished, but rows were rejected or a guard was triggered.
    ensure!(code == 0 || code == 3, "{command:?} ended with {code}");
    let cost = Cost {
        cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        wall_seconds: started.elapsed().as_secs_f64(),
        // Linux reports the peak in kilobytes.
        peak_rss_bytes: usage.ru_maxrss as f64 * 1024.0,
    };
    Ok((cost, said))
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// Waits for a child and returns its exit code and resource usage; the standard library returns only the exit code.
#[allow(unsafe_code)]
fn wait(child: u32) -> Result<(i32, libc::rusage)> {
    let mut status = 0;
    // SAFETY: a rusage consists of numbers, for which all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers point to live variables of the types that the call fills.
    let ended = unsafe { libc::wait4(child as libc::pid_t, &mut status, 0, &mut usage) };
    if ended != child as libc::pid_t {
        bail!("cannot wait for a process: {}", std::io::Error::last_os_error());
    }
    Ok((if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -1 }, usage))
}

/// Returns the CPU seconds, user and system, that the calling thread has used so far.
#[allow(unsafe_code)]
pub(crate) fn thread_cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer points to a live variable of the type that the call fills.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(code, 0, "the system has no clock for threads");
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns the median. If the number of values is even, the result is the mean of the two middle values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// Decodes the text column of every file, one row group per task on [`THREADS`] threads, and passes the batches to `each`.
pub(crate) fn for_each_column(corpus: &Path, each: impl Fn(&ArrayRef) -> Result<()> + Sync) -> Result<()> {
    let pieces = pieces(corpus)?;
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some((path, group)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            for_each_batch(path, *group, |column| each(column))?;
        }
        Ok(())
    };
    std::thread::scope(|scope| -> Result<()> {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Returns the total size of the text in a corpus, in bytes. The text is decoded but not processed.
pub(crate) fn text_bytes(corpus: &Path) -> Result<usize> {
    let bytes = AtomicUsize::new(0);
    for_each_column(corpus, |column| {
        let texts = match (column.as_string_opt::<i32>(), column.as_string_opt::<i64>()) {
            (Some(texts), _) => texts.values(),
            (_, Some(texts)) => texts.values(),
            _ => bail!("expected the column \"text\" as Utf8 or LargeUtf8, {} came", column.data_type()),
        };
        bytes.fetch_add(texts.len(), Ordering::Relaxed);
        Ok(())
    })?;
    Ok(bytes.into_inner())
}

/// Returns the text of every n-th document; n is chosen so that the total size is about `megabytes` megabytes.
pub(crate) fn sample(corpus: &Path, megabytes: usize) -> Result<Vec<String>> {
    let step = (text_bytes(corpus)? / (megabytes * 1_000_000)).max(1);
    let mut texts = Vec::new();
    let mut number = 0;
    for (path, group) in pieces(corpus)? {
        for_each_batch(&path, group, |column| {
            for text in as_texts(column)?.iter().flatten() {
                if number % step == 0 {
                    texts.push(text.to_string());
                }
                number += 1;
            }
            Ok(())
        })?;
    }
    ensure!(!texts.is_empty(), "there is no text in {}", corpus.display());
    Ok(texts)
}

/// Returns the strings in a column of any string type.
pub(crate) fn as_texts(column: &ArrayRef) -> Result<LargeStringArray> {
    Ok(arrow::compute::cast(column, &DataType::LargeUtf8)?.as_string::<i64>().clone())
}

/// Lists the row groups of all files, each as a path and a row group number.
fn pieces(corpus: &Path) -> Result<Vec<(PathBuf, usize)>> {
    let mut pieces = Vec::new();
    for file in dupsift_input::find(&[corpus.display().to_string()])? {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&file.path)?)
            .with_context(|| format!("{} is no Parquet file", file.path.display()))?;
        pieces.extend((0..reader.metadata().num_row_groups()).map(|group| (file.path.clone(), group)));
    }
    Ok(pieces)
}

fn for_each_batch(path: &Path, group: usize, mut each: impl FnMut(&ArrayRef) -> Result<()>) -> Result<()> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?;
    let text = ProjectionMask::columns(builder.parquet_schema(), ["text"]);
    for batch in builder.with_projection(text).with_row_groups(vec![group]).build()? {
        let batch = batch?;
        ensure!(batch.num_columns() == 1, "{}: there is no column \"text\"", path.display());
        each(batch.column(0))?;
    }
    Ok(())
}
