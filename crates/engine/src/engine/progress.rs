//! Reports how much of each stage's work is done.
//!
//! A [`Sink`] displays the progress: as bars for a person, as log lines for a machine, or through a callback in another language. Progress
//! never affects results: a run writes the same bytes whether or not it reports progress.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::clock::stage_at_hand;
use super::course::{Course, Leg, Whole};

/// The minimum time between two events of a stage. The last event may follow sooner.
const BETWEEN: Duration = Duration::from_millis(100);

/// Specifies the units that a stage counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Documents.
    Documents,
    /// Bytes.
    Bytes,
    /// Partitions, files, groups, or anything else without a more specific name.
    Items,
}

impl Unit {
    /// Returns the name of the unit.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Documents => "documents",
            Unit::Bytes => "bytes",
            Unit::Items => "items",
        }
    }
}

/// Describes the progress of a stage.
#[derive(Clone, Copy, Debug)]
pub struct Event<'e> {
    /// An id that is unique within the process, because two stages with the same name may run at the same time.
    pub id: u64,
    /// The name of the stage.
    pub stage: &'e str,
    /// The number of units that are done.
    pub done: u64,
    /// The total number of units.
    pub total: u64,
    /// The unit of the counts.
    pub unit: Unit,
    /// The seconds since the stage began.
    pub seconds: f64,
    /// Whether this is the last event of the stage.
    pub ends: bool,
    /// The progress of the whole job, if it is known.
    pub whole: Option<Whole>,
}

/// Receives progress events.
pub trait Sink: Send + Sync {
    /// Receives an event. Worker threads call this method, so it must return quickly. Each stage sends one event at its start, one at its
    /// end, and at most ten per second in between.
    fn tell(&self, event: &Event<'_>);
}

/// Passes progress on to a sink. This type is cheap to clone, and threads can share it.
#[derive(Clone, Default)]
pub struct Progress {
    sink: Option<Arc<dyn Sink>>,
    /// The legs of the job.
    course: Arc<Mutex<Option<Course>>>,
}

impl Progress {
    /// Returns a `Progress` that reports nothing.
    pub fn hidden() -> Progress {
        Progress::default()
    }

    /// Returns a `Progress` that reports to a sink.
    pub fn to(sink: Arc<dyn Sink>) -> Progress {
        Progress { sink: Some(sink), ..Progress::default() }
    }

    /// Returns whether progress is reported.
    pub fn is_shown(&self) -> bool {
        self.sink.is_some()
    }

    /// Adds the progress of a job with these legs to all later events.
    pub fn follow(&self, legs: Vec<Leg>) {
        *self.course.lock().unwrap_or_else(PoisonError::into_inner) = Some(Course::new(legs));
    }

    /// Returns a counter for a stage with `total` units.
    pub fn stage(&self, name: &str, total: u64, unit: Unit) -> Bar {
        Bar { shown: self.sink.clone().map(|sink| Shown::new(sink, self.course.clone(), name, total, unit)) }
    }
}

/// Counts the progress of one stage. The stage ends when the bar is dropped.
pub struct Bar {
    shown: Option<Shown>,
}

impl Bar {
    /// Adds this many finished units.
    pub fn add(&self, count: u64) {
        if let Some(shown) = &self.shown {
            shown.add(count, shown.start.elapsed());
        }
    }

    /// Counts all remaining units as finished, because the stage is complete and has skipped them.
    pub fn complete(&self) {
        if let Some(shown) = &self.shown {
            shown.done.fetch_max(shown.total, Ordering::Relaxed);
        }
    }
}

struct Shown {
    sink: Arc<dyn Sink>,
    id: u64,
    course: Arc<Mutex<Option<Course>>>,
    name: String,
    total: u64,
    unit: Unit,
    start: Instant,
    done: AtomicU64,
    /// The earliest time of the next event, in milliseconds after the start.
    next: AtomicU64,
}

/// The number of stages that the process has begun.
static STAGES: AtomicU64 = AtomicU64::new(0);

/// The starting point for all time measurements.
static CLOCK: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Shown {
    fn new(sink: Arc<dyn Sink>, course: Arc<Mutex<Option<Course>>>, name: &str, total: u64, unit: Unit) -> Shown {
        let (id, name) = (STAGES.fetch_add(1, Ordering::Relaxed), name.to_string());
        let (done, next) = (AtomicU64::new(0), AtomicU64::new(BETWEEN.as_millis() as u64));
        let shown = Shown { sink, course, id, name, total, unit, start: Instant::now(), done, next };
        shown.tell(0, Duration::ZERO, false);
        shown
    }

    /// Adds finished units, and sends an event if one is due. If several threads call this method at the same time, only one of them sends
    /// the event.
    fn add(&self, count: u64, elapsed: Duration) {
        let done = self.done.fetch_add(count, Ordering::Relaxed) + count;
        let now = elapsed.as_millis() as u64;
        let next = self.next.load(Ordering::Relaxed);
        let later = now + BETWEEN.as_millis() as u64;
        if now >= next && self.next.compare_exchange(next, later, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.tell(done, elapsed, false);
        }
    }

    fn tell(&self, done: u64, elapsed: Duration, ends: bool) {
        let Shown { id, total, unit, .. } = *self;
        let whole = self.whole(done);
        self.sink.tell(&Event {
            id,
            stage: &self.name,
            done,
            total,
            unit,
            seconds: elapsed.as_secs_f64(),
            ends,
            whole,
        });
    }
}

impl Shown {
    /// Returns the progress of the job when this much of the stage is done.
    fn whole(&self, done: u64) -> Option<Whole> {
        let mut course = self.course.lock().unwrap_or_else(PoisonError::into_inner);
        let course = course.as_mut()?;
        // A stage may show several bars in sequence, each with its own name.
        let stage = stage_at_hand().unwrap_or_else(|| self.name.clone());
        course.whole(&stage, done as f64 / self.total.max(1) as f64, CLOCK.elapsed())
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.tell(self.done.load(Ordering::Relaxed), self.start.elapsed(), true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Listener(Mutex<Vec<(String, u64, bool)>>);

    impl Sink for Listener {
        fn tell(&self, event: &Event<'_>) {
            let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            told.push((event.stage.to_string(), event.done, event.ends));
        }
    }

    #[test]
    fn events_are_rare_and_no_count_is_lost() {
        let told = Arc::new(Listener::default());
        let bar = Progress::to(told.clone()).stage("sign", 100, Unit::Documents);
        let shown = bar.shown.as_ref().unwrap();
        [10, 90, 100, 110, 190, 200, 450].into_iter().for_each(|ms| shown.add(5, Duration::from_millis(ms)));
        drop(bar);
        let told: Vec<(u64, bool)> = told.0.lock().unwrap().iter().map(|(_, done, ends)| (*done, *ends)).collect();
        assert_eq!(told, [(0, false), (15, false), (30, false), (35, false), (35, true)]);
    }

    #[test]
    fn a_complete_stage_ends_with_its_total() {
        let told = Arc::new(Listener::default());
        for (added, completes) in [(30, true), (30, false), (100, true)] {
            let bar = Progress::to(told.clone()).stage("read texts", 100, Unit::Documents);
            bar.add(added);
            if completes {
                bar.complete();
            }
        }
        Progress::hidden().stage("read texts", 100, Unit::Documents).complete();
        let told = told.0.lock().unwrap();
        let ends: Vec<u64> = told.iter().filter(|(_, _, ends)| *ends).map(|(_, done, _)| *done).collect();
        assert_eq!(ends, [100, 30, 100]);
    }

    #[test]
    fn threads_share_a_count_and_stages_of_one_name_are_two() {
        let told = Arc::new(Listener::default());
        let progress = Progress::to(told.clone());
        let (bar, other) = (progress.stage("sign", 300, Unit::Items), progress.stage("sign", 1, Unit::Items));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..100).for_each(|_| bar.add(1)));
            }
        });
        let ids = [&bar, &other].map(|bar| bar.shown.as_ref().unwrap().id);
        assert_ne!(ids[0], ids[1]);
        drop(bar);
        assert_eq!(told.0.lock().unwrap().last().unwrap(), &("sign".to_string(), 300, true));
        let hidden = Progress::hidden().stage("sign", 0, Unit::Items);
        hidden.add(3);
        assert!(hidden.shown.is_none());
    }
}
