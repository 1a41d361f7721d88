//! `--version`: the program, what it was built for and from, and the versions of everything that decides where a word begins and ends.
//!
//! Two installations whose last lines are equal cut the same words. The Chinese dictionary is named, not loaded.

use dupsift_core::error::Result;
use dupsift_text::{Pipeline, TextOptions};

/// What `dupsift --version` prints.
pub fn version() -> Result<String> {
    let text = Pipeline::new(&TextOptions::default())?.identity();
    Ok(format!(
        "dupsift {}\n{}\n{text}\n",
        env!("CARGO_PKG_VERSION"),
        built(env!("DUPSIFT_TARGET"), env!("DUPSIFT_COMMIT"))
    ))
}

/// Says what the program was built for and, if that is known, from which commit.
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
