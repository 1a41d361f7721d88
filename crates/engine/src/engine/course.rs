//! Estimates the progress of a whole job from its legs. The amount of work and the number of stages in each leg are known approximately in
//! advance.
//!
//! The name of the current stage determines the current leg. The remaining time is estimated from the work done since the first stage of
//! this process began. Therefore, if a job is resumed, the work of the earlier process does not count.

use std::time::Duration;

/// Describes a leg, that is, one of the consecutive parts of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Leg {
    /// The names of the stages in the leg, or the first words of these names.
    pub stages: Vec<&'static str>,
    /// The approximate number of stages in the leg.
    pub count: usize,
    /// The amount of work in the leg, in a unit shared by all legs.
    pub work: f64,
}

/// Describes the progress of a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole {
    /// The current leg, counted from 1.
    pub leg: usize,
    /// The number of legs.
    pub legs: usize,
    /// The estimated number of remaining seconds, if an estimate is possible.
    pub seconds_left: Option<f64>,
}

/// Holds the legs of a job and the job's current position.
#[derive(Debug)]
pub(super) struct Course {
    legs: Vec<Leg>,
    at: usize,
    /// The number of stages entered in this leg.
    entered: usize,
    stage: String,
    /// The amount of work that precedes the first stage, and the time when that stage began.
    before: Option<(f64, Duration)>,
}

impl Course {
    pub(crate) fn new(legs: Vec<Leg>) -> Course {
        Course { legs, at: 0, entered: 0, stage: String::new(), before: None }
    }

    /// Returns the progress of the job when this share of the stage is done. `now` is the time since an arbitrary fixed moment.
    pub(crate) fn whole(&mut self, stage: &str, share: f64, now: Duration) -> Option<Whole> {
        if self.legs.is_empty() {
            return None;
        }
        if self.stage != stage {
            self.enter(stage);
        }
        let done = self.done(share);
        let (before, begun) = *self.before.get_or_insert((done, now));
        let seconds = now.saturating_sub(begun).as_secs_f64();
        let all: f64 = self.legs.iter().map(|leg| leg.work).sum();
        // No estimate is possible before any work is done, or after the job has started over.
        let seconds_left = (done > before && seconds > 0.0).then(|| (all - done).max(0.0) * seconds / (done - before));
        Some(Whole { leg: self.at + 1, legs: self.legs.len(), seconds_left })
    }

    fn enter(&mut self, stage: &str) {
        stage.clone_into(&mut self.stage);
        let is_of = |leg: &Leg| {
            leg.stages
                .iter()
                .any(|known| stage.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
        };
        let later = self.legs.iter().skip(self.at).position(is_of).map(|more| self.at + more);
        match later {
            Some(leg) if leg > self.at => (self.at, self.entered) = (leg, 1),
            // This is the first stage of a job that has started over to exclude a damaged file.
            None if self.at > 0 && self.legs.first().is_some_and(is_of) => {
                (self.at, self.entered, self.before) = (0, 1, None);
            }
            _ => self.entered += 1,
        }
    }

    fn done(&self, share: f64) -> f64 {
        let before: f64 = self.legs.iter().take(self.at).map(|leg| leg.work).sum();
        let leg = &self.legs[self.at];
        let stages = self.entered.saturating_sub(1) as f64 + share.clamp(0.0, 1.0);
        before + leg.work * (stages / leg.count.max(1) as f64).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course() -> Course {
        let leg = |stages: &[&'static str], count, work| Leg { stages: stages.to_vec(), count, work };
        Course::new(vec![
            leg(&["count"], 1, 60.0),
            leg(&["group"], 2, 20.0),
            leg(&["read candidates", "verify"], 2, 10.0),
            leg(&["write tables"], 1, 10.0),
        ])
    }

    fn place(course: &mut Course, stage: &str, share: f64, second: u64) -> (usize, Option<u64>) {
        let whole = course.whole(stage, share, Duration::from_secs(second)).expect("legs");
        assert_eq!(whole.legs, 4);
        (whole.leg, whole.seconds_left.map(|left| left.round() as u64))
    }

    #[test]
    fn what_is_left_follows_from_the_work_done() {
        let mut job = course();
        assert_eq!(place(&mut job, "count", 0.0, 5), (1, None));
        assert_eq!(place(&mut job, "count", 0.5, 35), (1, Some(70)));
        assert_eq!(place(&mut job, "group exact", 0.0, 65), (2, Some(40)));
        assert_eq!(place(&mut job, "group cosine", 0.0, 70), (2, Some(28)));
        assert_eq!(place(&mut job, "verify cosine", 0.0, 85), (3, Some(20)));
        // A stage that belongs to no later leg does not change the current leg.
        assert_eq!(place(&mut job, "group minhash", 0.0, 90), (3, Some(15)));
        assert_eq!(place(&mut job, "another one", 0.5, 95).0, 3);
        assert_eq!(place(&mut job, "write tables", 1.0, 105), (4, Some(0)));
    }

    #[test]
    fn a_job_that_goes_on_or_starts_again_counts_from_there() {
        let mut job = course();
        assert_eq!(place(&mut job, "verify cosine", 0.0, 0), (3, None));
        assert_eq!(place(&mut job, "write tables", 0.0, 10), (4, Some(10)));
        assert_eq!(place(&mut job, "count", 0.0, 20), (1, None));
        assert_eq!(place(&mut job, "count", 1.0, 80), (1, Some(40)));
        assert_eq!(Course::new(Vec::new()).whole("count", 0.5, Duration::ZERO), None);
        // A name does not match a stage if it merely begins with the same letters.
        let mut other = course();
        assert_eq!(place(&mut other, "grouping", 0.5, 1).0, 1);
    }
}
