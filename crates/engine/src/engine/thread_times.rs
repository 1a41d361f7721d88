//! Measures the CPU time of each thread in the process, which shows how well the work of a stage would scale to more processors.
//!
//! The times are read from `/proc`. All times are 0 on systems without `/proc`, that is, on systems other than Linux.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dupsift_core::safe_fs::listing;

/// Holds the CPU nanoseconds of each thread so far, by thread number.
pub(crate) struct ThreadTimes {
    of_all: BTreeMap<String, u64>,
    caller: String,
}

/// Holds the CPU seconds spent between two snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    /// The CPU seconds of the calling thread, which does the serial work.
    pub serial: f64,
    /// The CPU seconds of the busiest other thread.
    pub busiest: f64,
    /// The CPU seconds of all threads.
    pub all: f64,
}

impl ThreadTimes {
    /// Takes a snapshot of all threads.
    pub(crate) fn now() -> ThreadTimes {
        let folder = Path::new("/proc/self/task");
        let times = listing::names(folder).unwrap_or_default().into_iter().filter_map(|task| {
            let times = fs::read_to_string(folder.join(&task).join("schedstat")).ok()?;
            Some((task.into_string().ok()?, times.split_whitespace().next()?.parse().ok()?))
        });
        let caller = fs::read_link("/proc/thread-self").ok();
        let caller = caller.and_then(|path| Some(path.file_name()?.to_str()?.to_string()));
        ThreadTimes { of_all: times.collect(), caller: caller.unwrap_or_default() }
    }

    /// Returns the CPU seconds of the calling thread since it started.
    pub(crate) fn of_caller() -> f64 {
        let times = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        times.split_whitespace().next().and_then(|time| time.parse::<u64>().ok()).unwrap_or(0) as f64 / 1e9
    }

    /// Returns the CPU time spent since an earlier snapshot.
    pub(crate) fn since(&self, earlier: &ThreadTimes) -> Spent {
        let mut spent = Spent::default();
        for (thread, time) in &self.of_all {
            let seconds = time.saturating_sub(earlier.of_all.get(thread).copied().unwrap_or(0)) as f64 / 1e9;
            spent.all += seconds;
            if *thread == self.caller {
                spent.serial = seconds;
            } else {
                spent.busiest = spent.busiest.max(seconds);
            }
        }
        spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_that_looks_stands_apart_from_the_busiest_other() {
        let times = |caller: &str, of: &[(&str, u64)]| ThreadTimes {
            of_all: of.iter().map(|&(thread, time)| (thread.to_string(), time)).collect(),
            caller: caller.to_string(),
        };
        let before = times("7", &[("7", 1_000_000_000), ("8", 0), ("9", 5_000_000_000)]);
        // If a thread started after the earlier snapshot, all of its CPU time counts.
        let after =
            times("7", &[("10", 250_000_000), ("7", 1_500_000_000), ("8", 2_000_000_000), ("9", 6_000_000_000)]);
        assert_eq!(after.since(&before), Spent { serial: 0.5, busiest: 2.0, all: 3.75 });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn work_is_seen_where_it_is_done() {
        let before = ThreadTimes::now();
        let work = || (0..20_000_000u64).fold(0u64, |sum, n| std::hint::black_box(sum ^ n.wrapping_mul(sum | 1)));
        std::hint::black_box(work());
        let spent = ThreadTimes::now().since(&before);
        assert!(spent.serial > 0.0 && spent.all >= spent.serial, "{spent:?}");
        assert!(ThreadTimes::of_caller() >= spent.serial);
    }
}
