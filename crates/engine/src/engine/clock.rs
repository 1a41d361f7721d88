//! Measures the wall-clock time, CPU time and peak anonymous memory of each stage. Memory is sampled while the stage runs.
//!
//! CPU time and memory are read from `/proc`. Both are 0 on systems without `/proc`, that is, on systems other than Linux.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chrono::{SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use super::thread_times::ThreadTimes;

/// The interval between memory samples.
const SAMPLE_EVERY: Duration = Duration::from_millis(20);

/// The stage that the process started most recently.
static AT_HAND: Mutex<Option<String>> = Mutex::new(None);

/// Returns the current stage, for the message that is printed when the process is stopped. Returns `None` before the first stage.
pub fn stage_at_hand() -> Option<String> {
    AT_HAND.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Records the rows, time and memory of one stage.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct StageReport {
    /// The name of the stage.
    pub stage: String,
    /// The number of input rows.
    pub rows_in: u64,
    /// The number of output rows.
    pub rows_out: u64,
    /// The number of bytes written to temporary files.
    pub spilled_bytes: u64,
    /// The wall-clock seconds.
    pub seconds: f64,
    /// The user and system CPU seconds.
    pub cpu_seconds: f64,
    /// The peak anonymous memory use sampled while the stage ran, in bytes.
    pub peak_memory_bytes: u64,
}

/// Whether finished stages are logged at INFO.
static TELLS_STAGES: AtomicBool = AtomicBool::new(false);

/// The minimum duration, in seconds, of a stage that is logged. In a small run, lines for shorter stages would obscure all other lines.
const WORTH_A_LINE: f64 = 1.0;

/// Enables INFO lines for subsequent stages that take at least one second, for example in the log of an unattended run.
pub fn tell_stages() {
    TELLS_STAGES.store(true, Ordering::Relaxed);
}

/// Returns the current time in RFC 3339 format.
pub fn now() -> String {
    Utc::now().to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Records the stages of a run.
pub struct Clock {
    began: String,
    started: Instant,
    cpu_at_start: f64,
    sampler: Arc<Sampler>,
    thread: Option<std::thread::JoinHandle<()>>,
    stages: Mutex<Vec<StageReport>>,
}

#[derive(Default)]
struct Sampler {
    ended: AtomicBool,
    stage_peak: AtomicU64,
    run_peak: AtomicU64,
}

impl Sampler {
    fn sample(&self) {
        let bytes = anonymous_memory();
        self.stage_peak.fetch_max(bytes, Ordering::Relaxed);
        self.run_peak.fetch_max(bytes, Ordering::Relaxed);
    }
}

/// Measures a stage that is running.
pub struct Running<'c> {
    clock: &'c Clock,
    name: String,
    started: Instant,
    cpu: f64,
    /// The thread times, which are read only if DEBUG lines are enabled, because reading them opens one file per thread.
    threads: Option<ThreadTimes>,
}

impl Clock {
    /// Starts the clock and the sampler.
    pub fn start() -> Clock {
        let sampler = Arc::new(Sampler::default());
        let seen = sampler.clone();
        // If the thread cannot be started, memory is sampled only at the end of each stage.
        let thread = std::thread::Builder::new().spawn(move || {
            while !seen.ended.load(Ordering::Relaxed) {
                seen.sample();
                std::thread::park_timeout(SAMPLE_EVERY);
            }
        });
        Clock {
            began: now(),
            started: Instant::now(),
            cpu_at_start: cpu_seconds(),
            sampler,
            thread: thread.ok(),
            stages: Mutex::new(Vec::new()),
        }
    }

    /// Starts a stage. Only one stage runs at a time.
    pub fn stage(&self, name: impl Into<String>) -> Running<'_> {
        self.sampler.stage_peak.store(0, Ordering::Relaxed);
        let name = name.into();
        *AT_HAND.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.clone());
        tracing::debug!(stage = %name, "stage begins");
        let threads = tracing::enabled!(tracing::Level::DEBUG).then(ThreadTimes::now);
        Running { clock: self, name, started: Instant::now(), cpu: cpu_seconds(), threads }
    }

    /// Returns the time at which the clock was started.
    pub fn began(&self) -> &str {
        &self.began
    }

    /// Returns the finished stages.
    pub fn stages(&self) -> Vec<StageReport> {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the wall-clock seconds, the CPU seconds and the peak anonymous memory since the start.
    pub fn totals(&self) -> (f64, f64, u64) {
        self.sampler.sample();
        let peak = self.sampler.run_peak.load(Ordering::Relaxed);
        (self.started.elapsed().as_secs_f64(), cpu_seconds() - self.cpu_at_start, peak)
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        if tracing::enabled!(tracing::Level::DEBUG) {
            tracing::debug!(seconds = ThreadTimes::of_caller(), "leading thread");
        }
        self.sampler.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic in the sampler does not affect the run.
            let _ = thread.join();
        }
    }
}

impl Running<'_> {
    /// Ends the stage and records its numbers.
    pub fn end(self, rows_in: u64, rows_out: u64, spilled_bytes: u64) {
        self.clock.sampler.sample();
        if let Some(before) = &self.threads {
            let spent = ThreadTimes::now().since(before);
            tracing::debug!(stage = %self.name, serial = spent.serial, busiest = spent.busiest, all = spent.all, "stage by threads");
        }
        let report = StageReport {
            stage: self.name,
            rows_in,
            rows_out,
            spilled_bytes,
            seconds: self.started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds() - self.cpu,
            peak_memory_bytes: self.clock.sampler.stage_peak.load(Ordering::Relaxed),
        };
        // Times are rounded to milliseconds in log lines, but not in the record.
        let stage = &report.stage;
        let [seconds, cpu_seconds] = [report.seconds, report.cpu_seconds].map(|time| (time * 1e3).round() / 1e3);
        if TELLS_STAGES.load(Ordering::Relaxed) && report.seconds >= WORTH_A_LINE {
            tracing::info!(%stage, rows_in, rows_out, spilled_bytes, seconds, cpu_seconds, "stage done");
        } else {
            tracing::debug!(%stage, rows_in, rows_out, spilled_bytes, seconds, cpu_seconds, "stage done");
        }
        self.clock.stages.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }
}

/// Returns the process's user and system CPU seconds so far.
fn cpu_seconds() -> f64 {
    // CPU time is in fields 14 and 15, in ticks of 10 ms. The command name in an earlier field may contain spaces.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name.split_whitespace().skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / 100.0
}

/// Returns the process's anonymous memory in bytes.
fn anonymous_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn memory_and_stages_are_recorded() {
        let clock = Clock::start();
        let running = clock.stage("count");
        let block = vec![1u8; 64 << 20];
        clock.sampler.sample();
        assert!(block.iter().all(|&byte| byte == 1));
        running.end(1, 2, 3);
        let stages = clock.stages();
        assert_eq!((stages[0].stage.as_str(), stages[0].rows_out), ("count", 2));
        assert!(stages[0].peak_memory_bytes >= 64 << 20);
        assert!(clock.totals().2 >= stages[0].peak_memory_bytes);
    }
}
