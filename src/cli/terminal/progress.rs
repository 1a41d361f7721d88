//! Shows progress, as one bar per stage on a terminal and as occasional log lines otherwise.
//!
//! ```text
//! stage 1 of 6: sign [==========>          ] 51,200/100,000 documents, 8,214/s, 6s left (40s total)
//! ```

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};

use dupsift_engine::engine::{Event, Sink, Unit, Whole};

/// The minimum number of seconds between two log lines for the same stage.
const BETWEEN_LINES: f64 = 10.0;

/// Shows bars on stderr, for a terminal.
#[derive(Default)]
pub struct Bars {
    all: MultiProgress,
    running: Mutex<BTreeMap<u64, ProgressBar>>,
}

impl Bars {
    /// Hides the bars while `work` writes to the terminal.
    pub fn suspend<R>(&self, work: impl FnOnce() -> R) -> R {
        self.all.suspend(work)
    }

    fn begin(&self, event: &Event<'_>) -> ProgressBar {
        let bar = self.all.add(ProgressBar::new(event.total));
        bar.set_style(style(event.unit));
        // The displayed time advances even in a stage with few, large steps.
        bar.enable_steady_tick(Duration::from_millis(500));
        bar
    }
}

impl Sink for Bars {
    fn tell(&self, event: &Event<'_>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = running.entry(event.id).or_insert_with(|| self.begin(event));
        bar.set_position(event.done);
        let (prefix, of_all) = said(event);
        bar.set_prefix(prefix);
        bar.set_message(of_all);
        let ended = if event.ends { running.remove(&event.id) } else { None };
        drop(running);
        if let Some(bar) = ended {
            bar.finish_and_clear();
        }
    }
}

/// Returns the text before and after a bar: the stage of the job, and the time left for all stages.
fn said(event: &Event<'_>) -> (String, String) {
    let Some(Whole { leg, legs, seconds_left }) = event.whole else { return (event.stage.to_owned(), String::new()) };
    let left = seconds_left.map(|seconds| HumanDuration(Duration::from_secs_f64(seconds.clamp(0.0, 1e9))));
    (
        format!("stage {leg} of {legs}: {}", event.stage),
        left.map_or_else(String::new, |left| format!(" ({left:#} total)")),
    )
}

fn style(unit: Unit) -> ProgressStyle {
    // If the template is invalid, the standard bar is shown; a test in this file detects that.
    ProgressStyle::with_template(template(unit))
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key("rate", |state: &indicatif::ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = write!(out, "{}", indicatif::HumanCount(state.per_sec() as u64));
        })
        .progress_chars("=> ")
}

const fn template(unit: Unit) -> &'static str {
    match unit {
        Unit::Documents => "{prefix} [{wide_bar}] {human_pos}/{human_len} documents, {rate}/s, {eta} left{msg}",
        Unit::Bytes => {
            "{prefix} [{wide_bar}] {binary_bytes}/{binary_total_bytes}, {binary_bytes_per_sec}, {eta} left{msg}"
        }
        Unit::Items => "{prefix} [{wide_bar}] {human_pos}/{human_len}, {elapsed}, {eta} left{msg}",
    }
}

/// Writes log lines, at most one every ten seconds per stage.
#[derive(Default)]
pub struct Lines {
    /// The time in seconds at which the next line of each stage is due.
    next: Mutex<BTreeMap<u64, f64>>,
}

impl Lines {
    fn is_due(&self, event: &Event<'_>) -> bool {
        let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
        if event.ends {
            next.remove(&event.id);
            return false;
        }
        let next = next.entry(event.id).or_insert(BETWEEN_LINES);
        let due = event.seconds >= *next;
        if due {
            *next = event.seconds + BETWEEN_LINES;
        }
        due
    }
}

impl Sink for Lines {
    fn tell(&self, event: &Event<'_>) {
        if !self.is_due(event) {
            return;
        }
        let Event { stage, done, total, .. } = *event;
        let rate = (done as f64 / event.seconds.max(1e-3)).round();
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(100);
        let left = if rate > 0.0 { (total.saturating_sub(done) as f64 / rate).round() } else { 0.0 };
        tracing::info!(
            stage,
            done,
            total,
            unit = event.unit.name(),
            percent,
            per_second = rate as u64,
            seconds_left = left as u64,
            job_stage = event.whole.map(|whole| whole.leg),
            job_stages = event.whole.map(|whole| whole.legs),
            job_seconds_left = event.whole.and_then(|whole| whole.seconds_left).map(|seconds| seconds.round() as u64),
            "progress"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64, done: u64, seconds: f64, ends: bool) -> Event<'static> {
        Event { id, stage: "sign", done, total: 300, unit: Unit::Documents, seconds, ends, whole: None }
    }

    #[test]
    fn templates_are_sound() {
        for unit in [Unit::Documents, Unit::Bytes, Unit::Items] {
            assert!(ProgressStyle::with_template(template(unit)).is_ok(), "{unit:?}");
        }
    }

    #[test]
    fn a_line_every_ten_seconds() {
        let lines = Lines::default();
        let due = [0, 9, 10, 11, 19, 20, 45, 46, 56].map(|second| lines.is_due(&event(1, 0, f64::from(second), false)));
        assert_eq!(due, [false, false, true, false, false, true, true, false, true]);
        assert!(!lines.is_due(&event(1, 0, 99.0, true)) && lines.next.lock().unwrap().is_empty());
    }

    #[test]
    fn a_bar_says_which_stage_of_the_job_it_is_and_the_total_time_left() {
        let whole =
            |seconds_left| Event { whole: Some(Whole { leg: 2, legs: 7, seconds_left }), ..event(1, 0, 0.0, false) };
        assert_eq!(said(&event(1, 0, 0.0, false)), ("sign".to_owned(), String::new()));
        assert_eq!(said(&whole(None)), ("stage 2 of 7: sign".to_owned(), String::new()));
        assert_eq!(said(&whole(Some(40.2))).1, " (40s total)");
    }

    #[test]
    fn a_bar_comes_with_the_first_event_and_goes_with_the_last() {
        let all = MultiProgress::with_draw_target(indicatif::ProgressDrawTarget::hidden());
        let bars = Bars { all, running: Mutex::default() };
        bars.tell(&event(1, 0, 0.0, false));
        bars.tell(&event(2, 0, 0.0, false));
        bars.tell(&event(1, 200, 1.0, false));
        let positions = || bars.running.lock().unwrap().values().map(ProgressBar::position).collect::<Vec<_>>();
        assert_eq!(positions(), [200, 0]);
        bars.tell(&event(1, 300, 2.0, true));
        assert_eq!(positions(), [0]);
        assert_eq!(bars.suspend(|| 7), 7);
    }
}
