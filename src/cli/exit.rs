//! Defines the exit codes, which report the result of a command to a shell, a Makefile or cron.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done |
//! | 1 | failed: no new output was written |
//! | 2 | wrong usage: a different command line would work |
//! | 3 | done, but rows or files were rejected or a guard fired |
//! | 4 | finished, but not published: a guard fired, so the earlier output under the final name is unchanged |
//! | 129, 130, 143 | stopped by SIGHUP, SIGINT (Ctrl-C), SIGTERM: 128 plus the signal number, as in shells |

use std::process::ExitCode;
use std::sync::atomic::{AtomicU8, Ordering};

use dupsift_core::error::{Error, Kind};
use dupsift_engine::job::{Guarded, RunReport};

/// The first stop signal that the process received, or 0.
static SIGNAL: AtomicU8 = AtomicU8::new(0);

/// Records that the process received a stop signal. Only the first signal is recorded.
pub(super) fn asked_by(signal: i32) {
    let number = u8::try_from(signal).unwrap_or_default();
    let _ = SIGNAL.compare_exchange(0, number, Ordering::SeqCst, Ordering::SeqCst);
}

/// Describes how the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
    Done,
    /// The work could not be finished.
    Failed,
    /// The command line, the configuration or a requested column is invalid.
    Usage,
    /// The command succeeded, but some rows or files were rejected or a guard fired, so you should check the result.
    DoneWithLosses,
    /// The work is finished, but a guard prevents the result from replacing an earlier result.
    Held,
    /// The process was stopped by the signal with this number.
    Stopped(u8),
}

impl Exit {
    /// Returns the exit code of the process.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::DoneWithLosses => 3,
            Exit::Held => 4,
            Exit::Stopped(signal) => 128 + signal,
        }
    }

    /// Returns the reason why you should check a complete result, or `None` if there is none.
    pub const fn asks_to_look(self) -> Option<&'static str> {
        match self {
            Exit::DoneWithLosses => Some(
                "the result is complete, but rows or files were rejected or a guard fired; see rejected/ and run.json in the output (exit code 3)",
            ),
            Exit::Held => Some(
                "a guard fired, so the result was not published and the earlier output was not replaced; see run.json in OUT.held (exit code 4)",
            ),
            Exit::Done | Exit::Failed | Exit::Usage | Exit::Stopped(_) => None,
        }
    }

    /// Returns the exit status for a finished run.
    pub fn of_report(report: &RunReport) -> Exit {
        Exit::of(report, report.documents.rejections.rows, report.bad_inputs.len())
    }

    /// Returns the exit status for a finished job, based on its guards and on the number of rejected rows and skipped files.
    pub fn of(report: &impl Guarded, rejected: u64, bad_inputs: usize) -> Exit {
        if report.is_held() {
            return Exit::Held;
        }
        let losses = rejected > 0 || bad_inputs > 0 || report.lost_of_others() || !report.guards().is_empty();
        if losses { Exit::DoneWithLosses } else { Exit::Done }
    }

    /// Returns the exit status after a request to stop.
    pub fn of_stop() -> Exit {
        match SIGNAL.load(Ordering::SeqCst) {
            0 => Exit::Failed,
            signal => Exit::Stopped(signal),
        }
    }

    /// Returns the exit status for a failed run.
    pub fn of_error(error: &anyhow::Error) -> Exit {
        match error.downcast_ref::<Error>().map(|error| (error.kind(), error)) {
            Some((Kind::Usage, _) | (_, Error::Missing { .. })) => Exit::Usage,
            Some((Kind::Interrupted, _)) => Exit::of_stop(),
            _ => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// The value of `CODE` while the exit code is unknown.
const NONE: u8 = u8::MAX;

/// The exit code of the process, if it is already known.
static CODE: AtomicU8 = AtomicU8::new(NONE);

/// Records the exit code. The code can no longer change after this call, because the result is then reported.
pub(super) fn ends_with(exit: Exit) {
    CODE.store(exit.code(), Ordering::SeqCst);
}

/// Returns the exit code of the process, if it is already known.
pub(super) fn known_code() -> Option<u8> {
    Some(CODE.load(Ordering::SeqCst)).filter(|&code| code != NONE)
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;
    use dupsift_engine::job::{BadInputReport, DocumentsReport, GuardReport};
    use dupsift_tables::RejectReason;

    #[test]
    fn the_numbers_are_the_documented_ones() {
        let all = [Exit::Done, Exit::Failed, Exit::Usage, Exit::DoneWithLosses, Exit::Held];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 3, 4]);
        let signals = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];
        assert_eq!(signals.map(|signal| Exit::Stopped(signal as u8).code()), [129, 130, 143]);
    }

    #[test]
    fn any_loss_is_said() {
        let clean = RunReport { warnings: vec!["two ids are equal".into()], ..RunReport::default() };
        assert_eq!(Exit::of_report(&clean), Exit::Done);
        let mut documents = DocumentsReport::default();
        documents.rejections.add(RejectReason::NullText, 1);
        let losses = [
            RunReport { documents, ..RunReport::default() },
            RunReport { bad_inputs: vec![BadInputReport::default()], ..RunReport::default() },
            RunReport { guards: vec![GuardReport::default()], ..RunReport::default() },
        ];
        for report in losses {
            assert_eq!(Exit::of_report(&report), Exit::DoneWithLosses);
        }
        let held = GuardReport { held: true, ..GuardReport::default() };
        let report = RunReport { guards: vec![GuardReport::default(), held], ..RunReport::default() };
        assert_eq!(Exit::of_report(&report), Exit::Held);
    }

    #[test]
    fn what_another_command_line_would_mend_is_wrong_usage() {
        let of = |error: Error| Exit::of_error(&anyhow::Error::from(error));
        assert_eq!(of(Error::usage("no column")), Exit::Usage);
        assert_eq!(of(Error::Memory { asked: "1 MiB".into(), least: "64 MiB".into() }), Exit::Usage);
        assert_eq!(of(Error::Missing { path: "a".into(), said: "b".into() }), Exit::Usage);
        assert_eq!(of(Error::Interrupted), Exit::Failed);
        assert_eq!(of(Error::Internal("a".into())), Exit::Failed);
        assert_eq!(of(Error::BadFile { path: "a".into(), why: "b".into() }), Exit::Failed);
        assert_eq!(Exit::of_error(&anyhow::anyhow!("anything else")), Exit::Failed);
        let wrapped = Err::<(), _>(Error::usage("x")).context("while reading").unwrap_err();
        assert_eq!(Exit::of_error(&wrapped), Exit::Usage);
    }
}
