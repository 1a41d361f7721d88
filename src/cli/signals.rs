//! Requests to stop: the first is heard within two seconds, the second at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};

use super::{Exit, fail};
use crate::error::Error;
use crate::job;

/// What the work has for ending by itself; a step that takes longer is ended with the process.
const PATIENCE: Duration = Duration::from_secs(1);

/// A flag that Ctrl-C, or a request to end, sets; the driver looks at it between batches. Where that takes too long, the process is
/// ended from here, and what is half made is removed. The second request is not asked to wait.
pub(super) fn cancel_on_signal() -> Result<Arc<AtomicBool>> {
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Failed.code().into());
        }
        // Where no thread can be started, the work is waited for.
        let _ = std::thread::Builder::new().name("stopping".into()).spawn(|| {
            std::thread::sleep(PATIENCE);
            job::end(|| {
                let exit = fail(&Error::Interrupted.into());
                std::process::exit(exit.code().into());
            });
        });
        tracing::warn!("stopping after the batch at hand; ask again to end at once");
    })
    .context("cannot listen to Ctrl-C")?;
    Ok(cancel)
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
