//! Progress: a bar a pass with rate and time left where a person watches, a log line now and then where a machine does.
//!
//! ```text
//! sign        [==========>          ] 51,200/100,000 documents, 8,214/s, 6s left
//! ```
//!
//! Bars are drawn on stderr. Nothing here decides anything: a run with bars and one without write the same bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// The time between two log lines about one stage.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Where progress goes. Cheap to clone, shared by threads.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    bars: Option<MultiProgress>,
    lines: bool,
}

/// What a bar counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Documents.
    Documents,
    /// Partitions, files, groups: anything without a better name.
    Items,
}

/// One running bar; it goes when dropped.
#[derive(Debug)]
pub struct Bar {
    bar: Option<ProgressBar>,
    lines: Option<Lines>,
}

impl Progress {
    /// No bars.
    pub fn hidden() -> Progress {
        Progress::default()
    }

    /// Bars on stderr, for a terminal.
    pub fn bars() -> Progress {
        Progress { bars: Some(MultiProgress::new()), lines: false }
    }

    /// Log lines, at most one every ten seconds a stage.
    pub fn lines() -> Progress {
        Progress { bars: None, lines: true }
    }

    /// A bar for a stage that will do `total` units.
    pub fn stage(&self, name: &str, total: u64, unit: Unit) -> Bar {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new(total));
            bar.set_style(style(unit));
            bar.set_prefix(name.to_string());
            // The clock of a stage that does few large things should be seen to go.
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        });
        Bar { bar, lines: self.lines.then(|| Lines::new(name, total, unit)) }
    }

    /// Does something that writes to the terminal while the bars stand aside.
    pub fn suspend<R>(&self, work: impl FnOnce() -> R) -> R {
        match &self.bars {
            Some(bars) => bars.suspend(work),
            None => work(),
        }
    }
}

impl Bar {
    /// So many more are done.
    pub fn add(&self, count: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(count);
        }
        if let Some(lines) = &self.lines
            && let Some(done) = lines.add(count, lines.start.elapsed())
        {
            lines.tell(done);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(unit: Unit) -> ProgressStyle {
    // A template that is wrong shows the standard bar; the test below finds that.
    ProgressStyle::with_template(template(unit))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{}", indicatif::HumanCount(state.per_sec() as u64));
        })
        .progress_chars("=> ")
}

const fn template(unit: Unit) -> &'static str {
    match unit {
        Unit::Documents => "{prefix:<16} [{wide_bar}] {human_pos}/{human_len} documents, {rate}/s, {eta} left",
        Unit::Items => "{prefix:<16} [{wide_bar}] {human_pos}/{human_len}, {elapsed}, {eta} left",
    }
}

/// What one stage has done, and when it last said so.
#[derive(Debug)]
struct Lines {
    name: Arc<str>,
    total: u64,
    unit: Unit,
    start: Instant,
    done: AtomicU64,
    /// Milliseconds after the start from which on the next line may come.
    next: AtomicU64,
}

impl Lines {
    fn new(name: &str, total: u64, unit: Unit) -> Lines {
        let (done, next) = (AtomicU64::new(0), AtomicU64::new(BETWEEN_LINES.as_millis() as u64));
        Lines { name: name.into(), total, unit, start: Instant::now(), done, next }
    }

    /// Counts, and gives the count where it is time for a line; of several threads one is chosen to tell.
    fn add(&self, count: u64, elapsed: Duration) -> Option<u64> {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        let now = elapsed.as_millis() as u64;
        let next = self.next.load(Ordering::Relaxed);
        let later = now + BETWEEN_LINES.as_millis() as u64;
        let due = now >= next && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        due.then_some(done)
    }

    fn tell(&self, done: u64) {
        let seconds = self.start.elapsed().as_secs_f64();
        let rate = (done as f64 / seconds.max(1e-3)).round();
        let percent = done.saturating_mul(100).checked_div(self.total).unwrap_or(100);
        let left = if rate > 0.0 { (self.total.saturating_sub(done) as f64 / rate).round() } else { 0.0 };
        let (stage, total) = (&*self.name, self.total);
        let unit = if self.unit == Unit::Documents { "documents" } else { "items" };
        tracing::info!(
            stage,
            done,
            total,
            unit,
            percent,
            per_second = rate as u64,
            seconds_left = left as u64,
            "progress"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_sound() {
        for unit in [Unit::Documents, Unit::Items] {
            assert!(ProgressStyle::with_template(template(unit)).is_ok(), "{unit:?}");
        }
    }

    #[test]
    fn a_line_every_ten_seconds_and_no_count_is_lost() {
        let lines = Lines::new("sign", 100, Unit::Documents);
        let told: Vec<Option<u64>> =
            [1, 9, 10, 11, 19, 20, 45, 46, 56].map(|second| lines.add(5, Duration::from_secs(second))).to_vec();
        assert_eq!(told, [None, None, Some(15), None, None, Some(30), Some(35), None, Some(45)]);
    }

    #[test]
    fn threads_share_a_bar_and_hidden_ones_do_nothing() {
        let progress = Progress {
            bars: Some(MultiProgress::with_draw_target(indicatif::ProgressDrawTarget::hidden())),
            lines: false,
        };
        let bar = progress.stage("sign", 300, Unit::Documents);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..100).for_each(|_| bar.add(1)));
            }
        });
        assert_eq!(bar.bar.as_ref().unwrap().position(), 300);
        assert_eq!(progress.suspend(|| 7), 7);
        let hidden = Progress::hidden().stage("sign", 0, Unit::Items);
        hidden.add(3);
        assert!(hidden.bar.is_none() && hidden.lines.is_none());
    }
}
