//! The formats of input files: one file each, and one line each in [`FORMATS`].

mod json_lines;
mod parquet;
mod web_archive;

use super::format::Format;
use super::packing::Packing;
use std::path::Path;

/// All formats, in the order in which messages name them.
const FORMATS: [&dyn Format; 3] = [&parquet::Parquet, &json_lines::JsonLines, &web_archive::WebArchive];

/// The format and the packing that the name's ending tells, in any case of letters.
pub fn of(path: &Path) -> Option<(&'static dyn Format, Packing)> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let (packing, stem) = Packing::of(&name);
    let ends = |format: &&dyn Format| format.endings().iter().any(|ending| stem.ends_with(ending));
    let format = FORMATS.into_iter().find(ends)?;
    (packing == Packing::Plain || format.is_packed()).then_some((format, packing))
}

/// The endings that are read, for messages: `.jsonl, .jsonl.gz, .jsonl.zst (or .ndjson for .jsonl)`.
pub fn endings() -> String {
    let said = |format: &dyn Format| {
        let Some((usual, others)) = format.endings().split_first() else { return String::new() };
        let packed = Packing::endings().filter(|_| format.is_packed()).map(|packing| format!("{usual}{packing}"));
        let all = std::iter::once((*usual).to_owned()).chain(packed).collect::<Vec<_>>().join(", ");
        if others.is_empty() { all } else { format!("{all} (or {} for {usual})", others.join(", ")) }
    };
    FORMATS.map(said).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_tell_formats_and_no_two_formats_share_one() {
        let named =
            |name: &str| of(Path::new(name)).map(|(format, packing)| format.name().to_owned() + &packing.said());
        for (name, expected) in [
            ("a.Parquet", Some("Parquet")),
            ("a.parquet.gz", None),
            ("a.NDJSON.gz", Some("JSON lines in gzip")),
            ("a.jsonl.ZST", Some("JSON lines in Zstandard")),
            ("d/a.wet", Some("a web archive")),
            ("a.gz", None),
            ("jsonl", None),
            ("a.jsonl.txt", None),
        ] {
            assert_eq!(named(name).as_deref(), expected, "{name}");
        }
        let mut all: Vec<&str> = FORMATS.iter().flat_map(|format| format.endings()).copied().collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        assert!(all.iter().all(|ending| ending.starts_with('.') && *ending == ending.to_lowercase()));
    }

    #[test]
    fn messages_name_every_ending() {
        assert_eq!(
            endings(),
            ".parquet, .jsonl, .jsonl.gz, .jsonl.zst (or .ndjson for .jsonl), .warc, .warc.gz, .warc.zst (or .wet for .warc)"
        );
    }
}
