//! Handles requests to stop. The first request takes effect within two seconds, the second immediately.
//!
//! The signals are SIGINT (Ctrl-C), SIGTERM and SIGHUP; the exit code shows which signal came first. A signal that was already ignored when
//! the process started, such as SIGHUP under `nohup`, stays ignored.
//!
//! ```text
//! first request -> a flag that the work checks -> a second later: partial results are removed, and the process ends
//!                                              \-> if the result has its name: the process ends with the exit code of the result
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::cli::exit::{asked_by, ends_with, known_code};
use crate::cli::{Exit, fail};
use dupsift_core::error::Error;
use dupsift_engine::job;

/// The time that the work may take to stop on its own. If a step takes longer, the process is ended during the step.
const PATIENCE: Duration = Duration::from_secs(1);
/// The maximum time for writing a message. The time is limited because the reader of the pipe may no longer exist.
const FOR_A_MESSAGE: Duration = Duration::from_millis(500);
/// The interval for checking whether a message has been written.
const EVERY: Duration = Duration::from_millis(50);
/// Records that a command has ended. Does not return if the process is already being ended.
pub fn over(ended: &Result<Exit>) {
    job::ends_by_itself();
    ends_with(ended.as_ref().map_or_else(Exit::of_error, |exit| *exit));
}

/// Returns a flag that is set by a request to stop. The engine checks the flag between batches. If the engine does not stop in time, or at
/// the second request, this module ends the process.
pub(super) fn cancel_on_signal() -> Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)))
        .context("cannot listen for stop signals")?;
    let listen = move || signals.forever().for_each(|signal| heard(signal, &flag));
    std::thread::Builder::new().name("signals".into()).spawn(listen).context("cannot listen for stop signals")?;
    Ok(cancel)
}

fn heard(signal: i32, flag: &AtomicBool) {
    asked_by(signal);
    if flag.swap(true, Ordering::SeqCst) {
        std::process::exit(known_code().unwrap_or(Exit::of_stop().code()).into());
    }
    // If the thread cannot be started, the process ends when the work stops on its own.
    let _ = std::thread::Builder::new().name("stopping".into()).spawn(stop);
    tracing::warn!("stopping after the current step; press Ctrl-C again to stop immediately");
}

/// Returns whether the process was started with this signal ignored.
#[allow(unsafe_code)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: all fields of this struct are numbers, so all zeros is a valid value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action, the call only writes the current action to the given struct.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Ends the process if it does not end on its own.
fn stop() {
    std::thread::sleep(PATIENCE);
    job::end(|| {
        let telling = std::thread::Builder::new().spawn(|| fail(&Error::Interrupted.into()));
        for _ in 0..FOR_A_MESSAGE.as_millis() / EVERY.as_millis() {
            if telling.as_ref().map_or(true, |telling| telling.is_finished()) {
                break;
            }
            std::thread::sleep(EVERY);
        }
        std::process::exit(Exit::of_stop().code().into());
    });
    loop {
        if let Some(code) = known_code() {
            std::thread::sleep(FOR_A_MESSAGE);
            std::process::exit(code.into());
        }
        std::thread::sleep(EVERY);
    }
}

/// Ensures that writing beyond the file size limit of the process causes an ordinary error with a path, instead of silently killing the
/// process.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(super) fn ignore_file_size_signal() {
    // SAFETY: SIG_IGN runs none of our code in a signal handler, and no other thread has been started.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

#[cfg(not(unix))]
pub(super) fn ignore_file_size_signal() {}
