//! Lists the input formats. Each format has its own module and an entry in `FORMATS`.

use crate::compressed::packing::Packing;
use crate::format::Format;
use std::path::Path;

/// The default format of standard input.
pub(crate) const JSON_LINES: &dyn Format = &crate::lines::format_json::JsonLines;

/// The format of standard input and of `.txt` files if each line is a document.
pub(crate) const TEXT_LINES: &dyn Format = &crate::lines::format_lines::TextLines;

/// All formats, in the order in which messages list them.
const FORMATS: &[&dyn Format] = &[
    &crate::parquet::format::Parquet,
    &crate::lines::format_json::JsonLines,
    &crate::lines::format_separated::COMMAS,
    &crate::lines::format_separated::TABS,
    &crate::arrow::format::Arrow,
    &crate::archive::format::WebArchive,
    &crate::lines::format_whole::TEXTS,
    &crate::lines::format_whole::PAGES,
];

/// Selects how text files and HTML files are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextFiles {
    /// The files are not read.
    #[default]
    Skipped,
    /// Each file is one document.
    Whole,
    /// Each line of a `.txt` file is one document.
    Lines,
}

/// Returns the format and the compression that a file name indicates. Case is ignored.
pub fn of(path: &Path, text_files: TextFiles) -> Option<(&'static dyn Format, Packing)> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (packing, stem) = Packing::of(&name);
    let ends = |format: &&dyn Format| format.facts().endings.iter().any(|ending| stem.ends_with(ending));
    let lines = (text_files == TextFiles::Lines).then_some(TEXT_LINES);
    let format = lines.into_iter().chain(FORMATS.iter().copied()).find(ends)?;
    let is_asked = text_files == TextFiles::Whole || !format.facts().is_whole;
    let taken = (packing == Packing::Plain || format.facts().is_packed) && is_asked;
    taken.then_some((format, packing))
}

/// Returns whether a file with this name may turn out to be something else, such as a settings file. A compressed file is never a settings
/// file.
pub fn is_guess(path: &Path, format: &dyn Format) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    format.facts().shared_endings.iter().any(|ending| name.ends_with(ending))
}

/// Returns the supported file extensions for messages, such as `.jsonl, .jsonl.gz, .jsonl.zst (or .ndjson for .jsonl)`.
pub fn endings() -> String {
    let said = |format: &dyn Format| {
        let (usual, others) = format.facts().endings.split_first()?;
        let packed = Packing::endings().filter(|_| format.facts().is_packed).map(|packing| format!("{usual}{packing}"));
        let all = std::iter::once((*usual).to_owned()).chain(packed).collect::<Vec<_>>().join(", ");
        Some(if others.is_empty() { all } else { format!("{all} (or {} for {usual})", others.join(", ")) })
    };
    FORMATS.iter().copied().filter(|format| !format.facts().is_whole).filter_map(said).collect::<Vec<_>>().join(", ")
}

/// Returns whether at least one of these file extensions belongs to a format with one document per file.
pub(crate) fn takes_whole<'e>(mut endings: impl Iterator<Item = &'e str>) -> bool {
    endings.any(|ending| {
        of(Path::new(&format!("a{ending}")), TextFiles::Whole).is_some_and(|(format, _)| format.facts().is_whole)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_formats_and_no_two_formats_share_one() {
        let named = |name: &str| {
            of(Path::new(name), TextFiles::Whole)
                .map(|(format, packing)| format.facts().name.to_owned() + &packing.said())
        };
        for (name, expected) in [
            ("a.Parquet", Some("Parquet")),
            ("a.parquet.gz", None),
            ("a.NDJSON.gz", Some("JSON lines in gzip")),
            ("a.jsonl.ZST", Some("JSON lines in Zstandard")),
            ("d/a.wet", Some("a web archive")),
            ("a.gz", None),
            ("c4.00001.json.gz", Some("JSON lines in gzip")),
            ("a.JSON", Some("JSON lines")),
            ("a.txt.gz", Some("a text file in gzip")),
            ("README.md", Some("a text file")),
            ("a.HTM", Some("a page file")),
            ("jsonl", None),
            ("a.csv", Some("CSV")),
            ("a.TSV.gz", Some("TSV in gzip")),
            ("a.xlsx", None),
            ("a.feather", Some("Arrow IPC")),
            ("a.arrow.gz", None),
        ] {
            assert_eq!(named(name).as_deref(), expected, "{name}");
        }
        let mut all: Vec<&str> = FORMATS.iter().flat_map(|format| format.facts().endings).copied().collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        assert!(all.iter().all(|ending| ending.starts_with('.') && *ending == ending.to_lowercase()));
    }

    #[test]
    fn only_plain_json_may_be_of_another_format() {
        let is_guess = |name: &str| {
            of(Path::new(name), TextFiles::Skipped).is_some_and(|(format, _)| is_guess(Path::new(name), format))
        };
        assert!(is_guess("d/config.json") && is_guess("A.JSON"));
        for name in ["c4.0001.json.gz", "a.json.zst", "a.jsonl", "a.json.jsonl", "a.ndjson", "a.parquet"] {
            assert!(!is_guess(name), "{name}");
        }
    }

    #[test]
    fn files_that_are_one_document_are_read_where_that_is_asked_for() {
        let named = |name: &str, files| of(Path::new(name), files).map(|(format, _)| format.facts().name);
        assert!(["a.txt", "a.html.gz"].iter().all(|name| named(name, TextFiles::Skipped).is_none()));
        assert_eq!(named("a.TXT.gz", TextFiles::Lines), Some("lines of text"));
        assert!(["a.md", "a.html"].iter().all(|name| named(name, TextFiles::Lines).is_none()));
        assert_eq!(named("a.jsonl", TextFiles::Lines), Some("JSON lines"));
        assert!(takes_whole([".csv", ".htm"].into_iter()) && !takes_whole([".csv", "(no ending)"].into_iter()));
    }

    #[test]
    fn messages_name_every_ending() {
        assert_eq!(
            endings(),
            ".parquet, .jsonl, .jsonl.gz, .jsonl.zst (or .ndjson, .json, .jsonlines, .jl for .jsonl), .csv, .csv.gz, .csv.zst, .tsv, .tsv.gz, .tsv.zst, .arrow (or .feather for .arrow), \
             .warc, .warc.gz, .warc.zst (or .wet for .warc)"
        );
    }
}
