//! Calls libraries that may panic on untrusted input, and turns panics into error messages.
//!
//! No input may stop the program: if a decoder panics on a file or page, only that file or page is lost. The standard library prints every
//! panic to stderr, even if it is caught, so the program silences caught panics with [`quiet`].

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Makes the call and catches panics. After a panic, do not use data that the call modified.
///
/// # Errors
/// Returns the message of the panic.
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

/// Silences panics within [`guarded`] from this call on; all other panics are still printed to stderr.
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
