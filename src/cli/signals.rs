//! Requests to stop: the first is heard within two seconds, the second at once.
//!
//! They are SIGINT (Ctrl-C), SIGTERM and SIGHUP; which of them came first is what the exit code says. One that the process was
//! started to ignore, as `nohup` does with SIGHUP, is ignored.
//!
//! ```text
//! first request -> a flag that the work looks at -> a second later: what is half made goes, and the process with it
//!                                                \-> where the result has its name: the process ends, with the code of the result
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::exit::{asked_by, ends_with, known_code};
use super::{Exit, fail};
use dupsift_core::error::Error;
use dupsift_engine::job;

/// What the work has for ending by itself; a step that takes longer is ended with the process.
const PATIENCE: Duration = Duration::from_secs(1);
/// What a message has: who should read it may be gone.
const FOR_A_MESSAGE: Duration = Duration::from_millis(500);
/// How often it is looked whether a result is being told of.
const EVERY: Duration = Duration::from_millis(50);
/// The same of a verb that is over. Where the process is being ended already, this does not return.
pub fn over(ended: &Result<Exit>) {
    job::ends_by_itself();
    ends_with(ended.as_ref().map_or_else(Exit::of_error, |exit| *exit));
}

/// A flag that a request to stop sets; the driver looks at it between batches. Where that takes too long, the process is
/// ended from here. The second request is not asked to wait.
pub(super) fn cancel_on_signal() -> Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP].into_iter().filter(|&signal| !is_ignored(signal)))
        .context("cannot listen to requests to stop")?;
    let listen = move || signals.forever().for_each(|signal| heard(signal, &flag));
    std::thread::Builder::new().name("signals".into()).spawn(listen).context("cannot listen to requests to stop")?;
    Ok(cancel)
}

fn heard(signal: i32, flag: &AtomicBool) {
    asked_by(signal);
    if flag.swap(true, Ordering::SeqCst) {
        std::process::exit(known_code().unwrap_or(Exit::of_stop().code()).into());
    }
    // Where no thread can be started, the work is waited for.
    let _ = std::thread::Builder::new().name("stopping".into()).spawn(stop);
    tracing::warn!("stopping after the current step; press Ctrl-C again to stop immediately");
}

/// Whether the process was started to ignore the signal.
#[allow(unsafe_code)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: a struct of numbers, of which zeros are a value.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action the call only writes the present one to the struct that it is given.
    let asked = unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) };
    asked == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Ends the process, if it does not end by itself.
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

/// Makes a file that grows beyond the limit of the process an error of the write, with its path, and not the end of the
/// process without a word.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(super) fn ignore_file_size_signal() {
    // SAFETY: SIG_IGN runs no code of ours in a signal handler, and no other thread has been started.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

#[cfg(not(unix))]
pub(super) fn ignore_file_size_signal() {}
