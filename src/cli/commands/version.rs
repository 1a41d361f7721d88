//! Implements `--version`, which shows the program, its target and commit, and the versions of everything that affects word boundaries.
//!
//! If the last line is the same in two installations, both split text into words in the same way. The version of the Chinese dictionary is
//! shown without loading the dictionary.

use dupsift_core::error::Result;
use dupsift_text::{Pipeline, TextOptions};

/// Returns the output of `dupsift --version`.
pub fn version() -> Result<String> {
    let text = Pipeline::new(&TextOptions::default())?.identity();
    Ok(format!(
        "dupsift {}\n{}\n{text}\n",
        env!("CARGO_PKG_VERSION"),
        built(env!("DUPSIFT_TARGET"), env!("DUPSIFT_COMMIT"))
    ))
}

/// Returns the target of the build and, if it is known, the commit.
fn built(target: &str, commit: &str) -> String {
    if commit.is_empty() { format!("target={target}") } else { format!("target={target} commit={commit}") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_names_the_program_and_the_words() {
        let version = super::version().unwrap();
        assert!(version.starts_with(concat!("dupsift ", env!("CARGO_PKG_VERSION"), "\ntarget=")), "{version}");
        assert!(version.contains(std::env::consts::ARCH) && version.contains("jieba"), "{version}");
        assert_eq!(super::built("a-b-c", "0123"), "target=a-b-c commit=0123");
        assert_eq!(super::built("a-b-c", ""), "target=a-b-c");
    }
}
