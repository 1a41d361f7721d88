//! Makes work interruptible even if the work itself does not check for interruptions. For example, opening files may require scanning
//! hundreds of gigabytes or waiting for a server that does not respond.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dupsift_core::error::{Error, Result};

/// The interval at which the flag is checked.
const EVERY: Duration = Duration::from_millis(100);

/// Does the work on a separate thread. If the flag is set before the work is done, the thread is abandoned: its result is ignored, and the
/// thread ends when the work is done or when the process ends.
///
/// # Errors
/// Returns any error from the work, or [`Error::Interrupted`].
pub fn interruptible<T: Send + 'static>(
    cancel: &AtomicBool,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    interruptible_with(cancel, |_| work())
}

/// Works like [`interruptible`], but the work receives a flag that is set when it is abandoned.
///
/// # Errors
/// See [`interruptible`].
pub(crate) fn interruptible_with<T: Send + 'static>(
    cancel: &AtomicBool,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let abandoned = Arc::new(AtomicBool::new(false));
    let flag = abandoned.clone();
    let work = move || work(&flag);
    let (done, result) = sync_channel(1);
    let work = Arc::new(Mutex::new(Some(work)));
    let taken = work.clone();
    let take = move || taken.lock().unwrap_or_else(PoisonError::into_inner).take();
    let spare = take.clone();
    let thread = std::thread::Builder::new().name("interruptible".into()).spawn(move || {
        // If sending fails, the receiver is gone and the result is no longer needed.
        let _ = take().map(|work| done.send(work()));
    });
    let Ok(thread) = thread else {
        // If no thread can be started, the work runs on this thread and cannot be interrupted.
        return spare().map_or(Err(Error::Interrupted), |work| work());
    };
    loop {
        match result.recv_timeout(EVERY) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) if cancel.load(Ordering::Relaxed) => {
                abandoned.store(true, Ordering::Relaxed);
                return Err(Error::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => return Err(Error::Interrupted),
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_does_not_look_is_interrupted() {
        let cancel = AtomicBool::new(false);
        assert_eq!(interruptible(&cancel, || Ok(7)).unwrap(), 7);
        assert!(matches!(interruptible::<()>(&cancel, || Err(Error::usage("no"))), Err(Error::Usage { .. })));
        cancel.store(true, Ordering::Relaxed);
        let (_open, never) = sync_channel::<()>(1);
        let forever = move || never.recv().map_err(|_| Error::usage("the other end is open"));
        assert!(matches!(interruptible(&cancel, forever), Err(Error::Interrupted)));
    }

    #[test]
    fn a_panic_comes_through() {
        let caught = std::panic::catch_unwind(|| interruptible::<()>(&AtomicBool::new(false), || panic!("inner")));
        assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"inner"));
    }
}
