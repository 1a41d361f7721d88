//! `--config dupsift.toml`: every flag of `run` by its long name. What the command line says wins.
//!
//! ```text
//! algorithms = "exact,minhash:bands=20,rows=5"
//! memory = "4GiB"
//! strict = true
//! ```
//!
//! A mistake names file, line and key. Relative paths are taken from the working directory, as on the command line.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use toml::Spanned;

use super::args::Settings;
use super::resolve::{check, read_text};
use crate::error::{Error, Result, did_you_mean};

/// Reads a configuration file and checks what can be checked of it alone.
///
/// # Errors
/// A file that cannot be read, is no TOML, has an unknown key, or a value that its flag would not take.
pub fn read(path: &Path) -> Result<Settings> {
    let text = read_text("config", path)?;
    let name = path.display().to_string();
    let settings = parse(&name, &text)?;
    check(&settings).map_err(|error| Error::Usage(format!("{name}: {error}")))?;
    Ok(settings)
}

fn parse(name: &str, text: &str) -> Result<Settings> {
    let at = |span: Option<Range<usize>>| match span {
        Some(span) => format!("{name}, line {}", 1 + text[..span.start.min(text.len())].matches('\n').count()),
        None => name.to_string(),
    };
    let keys: BTreeMap<Spanned<String>, Spanned<toml::Value>> = toml::from_str(text)
        .map_err(|error| Error::Usage(format!("{}: {}; lines read key = value", at(error.span()), one_line(&error))))?;
    let known = Settings::names();
    if let Some(key) = keys.keys().find(|key| !known.contains(key.get_ref())) {
        let hint = did_you_mean(key.get_ref(), known.iter().map(String::as_str));
        return Err(Error::Usage(format!(
            "{}: there is no option {:?}{hint}; keys are the long flags of `dupsift run` without --",
            at(Some(key.span())),
            key.get_ref()
        )));
    }
    toml::from_str(text).map_err(|error| {
        let span = error.span();
        let holds = |value: &Spanned<toml::Value>| span.as_ref().is_some_and(|span| value.span().contains(&span.start));
        let key = keys.iter().find(|(_, value)| holds(value)).map(|(key, _)| format!("{}: ", key.get_ref()));
        Error::Usage(format!("{}: {}{}", at(span.clone()), key.unwrap_or_default(), one_line(&error)))
    })
}

fn one_line(error: &toml::de::Error) -> String {
    error.message().trim().replace('\n', "; ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::cli::args::{Chain, LogFormat, Typed};

    #[test]
    fn every_flag_is_a_key_and_every_key_a_flag() {
        let mut lines = String::new();
        for name in Settings::names() {
            let value = match name.as_str() {
                "overwrite" | "strict" | "no-report" | "sift" | "count-copies" | "yo-to-e" | "stem" | "dry-run"
                | "no-progress" | "accept" | "whole-files" => "true",
                "max-rejected-share" => "0.1",
                "threads" | "limit" | "max-group" => "7",
                "chain" => "\"remove\"",
                "log-format" => "\"json\"",
                _ => "\"x\"",
            };
            lines += &format!("{name} = {value}\n");
        }
        let settings = parse("all.toml", &lines).unwrap();
        // Each name reached a field: nothing is left unsaid.
        assert!(!format!("{settings:?}").contains("None"), "{settings:?}");
        assert_eq!(settings.out, Some(PathBuf::from("x")));
        assert_eq!(settings.limit, Some(Typed("7".into())));
        assert_eq!((settings.chain, settings.log_format), (Some(Chain::Remove), Some(LogFormat::Json)));
        assert_eq!(settings.count_copies, Some(true));
    }

    #[test]
    fn mistakes_name_line_and_key() {
        let fail = |text: &str| parse("a.toml", text).unwrap_err().to_string();
        assert_eq!(
            fail("out = 'x'\n\nthreds = 2\n"),
            "a.toml, line 3: there is no option \"threds\"; did you mean \"threads\"?; \
             keys are the long flags of `dupsift run` without --"
        );
        assert!(fail("text_column = 'x'").contains("did you mean \"text-column\"?"));
        assert!(fail("[run]\nout = 'x'").starts_with("a.toml, line 1: there is no option \"run\""));
        let wrong_type = fail("stem = true\nout = 3\n");
        assert!(wrong_type.starts_with("a.toml, line 2: out: ") && wrong_type.contains("string"), "{wrong_type}");
        let wrong_word = fail("chain = 'drop'");
        assert!(wrong_word.contains("`keep` or `remove`"), "{wrong_word}");
        let number = fail("memory = 1.5");
        assert!(number.starts_with("a.toml, line 1: memory: expected a number"), "{number}");
        let broken = fail("a = 1\nout = \n");
        assert!(broken.starts_with("a.toml, line 2: ") && !broken.contains('\n'), "{broken}");
    }

    #[test]
    fn values_are_checked_with_the_name_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("nightly.toml");
        std::fs::write(&path, "threads = 0\n").unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains("nightly.toml: --threads: expected a whole number from 1 to 1024"), "{message}");
        assert!(read(&folder.path().join("none.toml")).unwrap_err().to_string().contains("none.toml: expected a file"));
    }
}
