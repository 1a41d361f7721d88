//! Holds the help texts for the words that options accept, and functions that read the word lists that options specify.

use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::time::Duration;

use super::RunOptions;
use super::value::Given;
use dupsift_algorithms::recipe::Recipe;
use dupsift_core::error::{Error, Result, did_you_mean};
use dupsift_text::{Pipeline, TokenizerKind};

/// The values of `--chain`. The option specifies whether to remove documents that are linked to the kept document only by a chain of pairs.
pub(crate) const CHAIN: &[(&str, &str)] = &[
    ("keep", "Keep these documents unless they form a pair with a kept document"),
    ("remove", "Remove these documents, so that only one document of each cluster is kept"),
];

/// The formats of log lines.
pub(crate) const FORMATS: &[(&str, &str)] = &[("text", "Human-readable lines"), ("json", "One JSON object per line")];

/// Checks that a string is valid as a prefix for column names.
pub(crate) fn prefix(typed: &str) -> Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if typed.bytes().all(plain) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "`prefix={typed:?}` is not a valid prefix for column names; use only letters, digits and _"
    )))
}

/// Returns the tokenizer with this name.
pub(crate) fn tokenizer(typed: &str) -> Result<TokenizerKind> {
    TokenizerKind::by_name(typed).ok_or_else(|| {
        let hint = did_you_mean(typed, TokenizerKind::NAMES.iter().copied());
        let names = TokenizerKind::NAMES.join(", ");
        Error::wrong("tokenizer", format_args!("there is no tokenizer {typed:?}{hint}; available: {names}"))
    })
}

/// Parses a scope. Returns the column of `within:` and the column of `across:`. Both are `None` if all documents are compared.
pub(crate) fn scope(typed: &str) -> Result<[Option<String>; 2]> {
    match typed.split_once(':') {
        None if typed == "all" => Ok([None, None]),
        Some(("within", column)) if !column.is_empty() => Ok([Some(column.to_owned()), None]),
        Some(("across", column)) if !column.is_empty() => Ok([None, Some(column.to_owned())]),
        _ => {
            let expected = "expected within:COLUMN, across:COLUMN or all";
            Err(Error::wrong_value("scope", format_args!("{typed:?}"), expected))
        }
    }
}

/// Sets the scope of a recipe.
pub(crate) fn set_scope(recipe: &mut Recipe, typed: &str) -> Result<()> {
    Ok([recipe.within, recipe.across] = scope(typed)?)
}

/// Returns the scope of a recipe, as it would be typed.
pub(crate) fn of_scope(recipe: &Recipe) -> String {
    match (&recipe.within, &recipe.across) {
        (Some(column), _) => format!("within:{column}"),
        (None, Some(column)) => format!("across:{column}"),
        (None, None) => "all".into(),
    }
}

/// Parses the time between checkpoints; `None` disables checkpoints.
pub(crate) fn checkpoint(typed: &str) -> Result<Option<Duration>> {
    if typed == "never" {
        return Ok(None);
    }
    let (number, unit) = typed.split_at(typed.find(|c: char| !c.is_ascii_digit()).unwrap_or(typed.len()));
    let seconds = match unit {
        "s" => Some(1),
        "m" | "min" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let time = number.parse::<u64>().ok().zip(seconds).and_then(|(number, seconds)| number.checked_mul(seconds));
    let time = time.ok_or_else(|| {
        Error::wrong_value(
            "checkpoint",
            format_args!("{typed:?}"),
            "expected a whole number of seconds, minutes or hours, such as 30s, 5m or 1h, or never",
        )
    })?;
    Ok(Some(Duration::from_secs(time)))
}

/// Returns the checkpoint interval, as it would be typed.
pub(crate) fn of_checkpoint(every: Option<Duration>) -> String {
    every.map_or_else(|| "never".into(), |every| format!("{}s", every.as_secs()))
}

/// Reads stop words, one per line, and ignores blank lines.
pub(crate) fn read_stop_words(run: &mut RunOptions, given: Given<'_>) -> Result<()> {
    let path = given.path();
    let text = read_text("stop-words", &path)?;
    run.recipe.text.stop_words =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string).collect();
    Ok(run.words.stop_words = Some(path))
}

/// Reads the dictionary and checks each line. The lines are checked when the file is read so that error messages can include the file name.
pub(crate) fn read_dictionary(run: &mut RunOptions, given: Given<'_>) -> Result<()> {
    let path = given.path();
    run.recipe.text.dictionary = Some(read_text("dictionary", &path)?);
    Pipeline::new(&run.recipe.text).map_err(|error| Error::wrong_value("dictionary", path.display(), error))?;
    Ok(run.words.dictionary = Some(path))
}

/// The maximum size of a file that an option specifies, in bytes. The file may be a pipe or a device.
const MOST_TEXT: u64 = 256 << 20;

/// Returns the text of a file that an option specifies, without the byte order mark.
///
/// # Errors
/// Returns [`Error::Missing`] if the file does not exist, and [`Error::Usage`] if it cannot be read as text or is too long.
pub fn read_text(option: &'static str, path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MOST_TEXT + 1).read_to_end(&mut bytes));
    read.map_err(|error| {
        let said = format!("`{option}={}`: the file cannot be read: {error}", path.display());
        match error.kind() {
            ErrorKind::NotFound => Error::Missing { path: path.to_path_buf(), said },
            _ => Error::Usage { option: Some(option), said },
        }
    })?;
    if bytes.len() as u64 > MOST_TEXT {
        let said = format!(
            "`{option}={}`: the file is larger than {} MiB; expected a file of words or settings",
            path.display(),
            MOST_TEXT >> 20
        );
        return Err(Error::Usage { option: Some(option), said });
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let line =
            1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        let path = path.display();
        Error::Usage {
            option: Some(option),
            said: format!("`{option}={path}`, line {line}: invalid UTF-8; convert the file"),
        }
    })?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_refused() {
        let said = read_text("stop-words", Path::new("/dev/zero")).expect_err("too long").to_string();
        assert!(said.contains("`stop-words=/dev/zero`") && said.contains("larger than 256 MiB"), "{said}");
        assert!(matches!(read_text("stop-words", Path::new("/nowhere")), Err(Error::Missing { .. })));
    }
}
