//! Requests to stop: the first is heard within two seconds, the second at once.
//!
//! ```text
//! first request -> a flag that the work looks at -> a second later: what is half made goes, and the process with it
//!                                                \-> where the result has its name: the process ends, with the code of the result
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use super::exit::{ends_with, known_code};
use super::{Exit, fail};
use crate::error::Error;
use crate::job;

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

/// A flag that Ctrl-C, or a request to end, sets; the driver looks at it between batches. Where that takes too long, the process is
/// ended from here. The second request is not asked to wait.
pub(super) fn cancel_on_signal() -> Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(known_code().unwrap_or(Exit::Failed.code()).into());
        }
        // Where no thread can be started, the work is waited for.
        let _ = std::thread::Builder::new().name("stopping".into()).spawn(stop);
        tracing::warn!("stopping after the batch at hand; ask again to end at once");
    })
    .context("cannot listen to Ctrl-C")?;
    Ok(cancel)
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
        std::process::exit(Exit::Failed.code().into());
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
