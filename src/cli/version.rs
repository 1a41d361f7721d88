//! `--version`: the program, and the versions of everything that decides where a word begins and ends.
//!
//! Two installations whose lines are equal cut the same words. The Chinese dictionary is named, not loaded.

use dupsift_core::error::Result;
use dupsift_text::{Pipeline, TextOptions};

/// What `dupsift --version` prints.
pub fn version() -> Result<String> {
    let text = Pipeline::new(&TextOptions::default())?.identity();
    Ok(format!("dupsift {}\n{text}\n", env!("CARGO_PKG_VERSION")))
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_names_the_program_and_the_words() {
        let version = super::version().unwrap();
        assert!(version.starts_with(concat!("dupsift ", env!("CARGO_PKG_VERSION"), "\n")), "{version}");
        assert!(version.contains("jieba"), "{version}");
    }
}
