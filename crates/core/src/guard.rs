//! Calls into libraries that may panic on what a stranger wrote: a panic becomes a sentence.
//!
//! Files and pages are input, and no input may end the program; a decoder that gives up on one of them costs that one. The
//! standard library tells every panic on stderr, also those that are caught, so the program asks for silence about these
//! with [`quiet`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Makes the call; if it panics, says what the panic said. What the call changes must not be used after a panic.
///
/// # Errors
/// What the panic said.
pub fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    let before = GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    GUARDED.set(before);
    result.map_err(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        said.to_owned()
    })
}

/// From now on panics within [`guarded`] are not told on stderr; all others are, as before.
pub fn quiet() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !GUARDED.get() {
            told(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_what_it_said() {
        assert_eq!(guarded(|| 7), Ok(7));
        let empty: Vec<usize> = Vec::new();
        assert!(guarded(|| empty[std::hint::black_box(3)]).is_err_and(|why| why.contains("out of bounds")));
        assert_eq!(guarded(|| guarded(|| panic!("inner")).and(Ok(()))), Ok(Err("inner".to_owned())));
        assert!(!GUARDED.get());
    }
}
