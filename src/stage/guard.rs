//! Guards: does what was read, or what would be removed, look as it should? Pure arithmetic over counts.
//!
//! A guard that fires is told in any case. One that holds also keeps the result from taking the place of an earlier output: what
//! was read is so little that the result says more of the input's damage than of its duplicates.

/// Files of fewer rows are not guarded against removals: half of a handful is soon removed.
const GUARDED_ROWS: u64 = 10_000;
/// Corpora of fewer rows may have more that is broken: one row of ten proves nothing.
const FEW_ROWS: u64 = 100;
/// The share of a corpus that may be broken, and of one with few rows.
const REJECTED_SHARE: f64 = 0.05;
const REJECTED_SHARE_OF_FEW: f64 = 0.5;

/// The guard that only tells.
const REMOVED_SHARE: &str = "removed-share";

/// A guard that fired.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    /// What it is called: the option that sets its limit, where there is one.
    pub name: &'static str,
    /// What was measured.
    pub measured: f64,
    /// The limit that this is beyond.
    pub limit: f64,
    /// What was found, in words.
    pub sentence: String,
    /// Whether the result must not replace an earlier one.
    pub holds: bool,
}

/// What was read of a corpus.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadCounts {
    /// Rows of all files that could be used.
    pub rows: u64,
    /// Rows with a text.
    pub used: u64,
    /// Rows that are broken, not those left out by their kind.
    pub broken: u64,
    /// Files that were set aside as a whole; nothing says how many rows they have.
    pub bad_files: u64,
    /// Bytes of these on disk.
    pub bad_bytes: u64,
    /// Bytes of all files on disk, these among them.
    pub bytes: u64,
    /// Files set aside of which nothing is on disk any more: their bytes tell nothing of what they held.
    pub unknown_files: u64,
    /// All files, those set aside among them.
    pub files: u64,
}

/// Guards over what was read. `share` is the most that may be broken, of the rows or of the bytes of files; none: the default
/// for so many rows.
pub fn reading(read: &ReadCounts, share: Option<f64>) -> Vec<Fired> {
    let &ReadCounts { rows, used, broken, bad_files, bad_bytes, bytes, unknown_files, files } = read;
    let name = "max-rejected-share";
    let limit = share.unwrap_or(if rows < FEW_ROWS { REJECTED_SHARE_OF_FEW } else { REJECTED_SHARE });
    let mut fired = Vec::new();
    if used == 0 {
        let sentence = match (rows, bad_files) {
            (0, 0) => "nothing was read: the input has no rows".to_owned(),
            (0, files) => format!("nothing was read: no rows, and {files} files were set aside"),
            (rows, _) => format!("nothing was read: none of the {rows} rows has a text that can be used"),
        };
        fired.push(Fired { name: "nothing-read", measured: 0.0, limit: 1.0, sentence, holds: true });
    }
    if broken as f64 > limit * rows as f64 {
        let measured = broken as f64 / rows as f64;
        let sentence = format!("{broken} of {rows} rows are broken, {}", more(measured, limit));
        fired.push(Fired { name, measured, limit, sentence, holds: true });
    }
    if bad_bytes as f64 > limit * bytes as f64 {
        let measured = bad_bytes as f64 / bytes as f64;
        let sentence = format!(
            "{bad_files} {} set aside, {bad_bytes} of the {bytes} bytes of the input, {}",
            if bad_files == 1 { "file was" } else { "files were" },
            more(measured, limit)
        );
        fired.push(Fired { name, measured, limit, sentence, holds: true });
    }
    if unknown_files > 0 && bad_files as f64 > limit * files as f64 {
        let measured = bad_files as f64 / files as f64;
        let were = if bad_files == 1 { "file was" } else { "files were" };
        let sentence = format!("{bad_files} of {files} {were} set aside, {}", more(measured, limit));
        fired.push(Fired { name, measured, limit, sentence, holds: true });
    }
    fired
}

fn more(measured: f64, limit: f64) -> String {
    format!("{:.1} %: more than the {} % of --max-rejected-share", 100.0 * measured, 100.0 * limit)
}

/// Whether a guard of that name holds a result back.
pub fn holds(name: &str) -> bool {
    name != REMOVED_SHARE
}

/// The guard over what is removed of one file: more than half of a large one.
pub fn removal(file: &str, rows: u64, removed: u64) -> Option<Fired> {
    (rows > GUARDED_ROWS && removed * 2 > rows).then(|| Fired {
        name: REMOVED_SHARE,
        measured: removed as f64 / rows as f64,
        limit: 0.5,
        sentence: format!(
            "{removed} of the {rows} documents of {file} are to be removed, more than half; look at clusters/ before you delete anything"
        ),
        holds: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: u64, broken: u64) -> ReadCounts {
        ReadCounts { rows, broken, used: rows - broken, bytes: 1000, ..ReadCounts::default() }
    }

    fn names(read: &ReadCounts, share: Option<f64>) -> Vec<&'static str> {
        let fired = reading(read, share);
        assert!(
            fired
                .iter()
                .all(|one| one.holds && holds(one.name) && (one.measured > one.limit || one.name == "nothing-read"))
        );
        fired.into_iter().map(|one| one.name).collect()
    }

    #[test]
    fn nothing_read_fires_whatever_the_share() {
        assert_eq!(names(&read(0, 0), Some(1.0)), ["nothing-read"]);
        assert_eq!(names(&read(3, 3), Some(1.0)), ["nothing-read"]);
        // All of it left out by its kind: the rows are not broken, but there is no document.
        assert_eq!(names(&ReadCounts { rows: 500, ..ReadCounts::default() }, None), ["nothing-read"]);
    }

    #[test]
    fn the_share_of_broken_rows_has_a_default_by_their_number() {
        // .05 from 100 rows on, .5 below; equal is not more.
        assert_eq!(names(&read(100, 5), None), [""; 0]);
        assert_eq!(names(&read(100, 6), None), ["max-rejected-share"]);
        assert_eq!(names(&read(99, 49), None), [""; 0]);
        assert_eq!(names(&read(99, 50), None), ["max-rejected-share"]);
        assert_eq!(names(&read(99, 1), Some(0.0)), ["max-rejected-share"]);
        assert_eq!(names(&read(1000, 999), Some(1.0)), [""; 0]);
        let sentence = &reading(&read(500, 498), None)[0].sentence;
        assert_eq!(sentence, "498 of 500 rows are broken, 99.6 %: more than the 5 % of --max-rejected-share");
    }

    #[test]
    fn files_set_aside_are_measured_by_their_bytes() {
        let with = |bad_bytes| ReadCounts { bad_files: 1, bad_bytes, ..read(1000, 0) };
        assert_eq!(names(&with(50), None), [""; 0]);
        assert_eq!(names(&with(51), None), ["max-rejected-share"]);
        let sentence = &reading(&with(51), None)[0].sentence;
        assert_eq!(
            sentence,
            "1 file was set aside, 51 of the 1000 bytes of the input, 5.1 %: more than the 5 % of --max-rejected-share"
        );
    }

    #[test]
    fn where_nothing_is_on_disk_any_more_files_are_counted() {
        let with = |bad_files, unknown_files, files| ReadCounts { bad_files, unknown_files, files, ..read(1000, 0) };
        assert_eq!(names(&with(1, 1, 20), None), [""; 0]);
        assert_eq!(names(&with(4, 4, 5), None), ["max-rejected-share"]);
        assert_eq!(names(&with(2, 1, 20), None), ["max-rejected-share"]);
        assert_eq!(names(&with(2, 0, 20), None), [""; 0]);
        assert_eq!(names(&with(1, 1, 20), Some(0.0)), ["max-rejected-share"]);
        assert_eq!(names(&ReadCounts { bytes: 0, ..with(1, 1, 1) }, None), ["max-rejected-share"]);
        let sentence = &reading(&with(4, 4, 5), None)[0].sentence;
        assert_eq!(sentence, "4 of 5 files were set aside, 80.0 %: more than the 5 % of --max-rejected-share");
    }

    #[test]
    fn half_of_a_large_file_may_be_removed() {
        assert_eq!(removal("a", 10_000, 10_000), None);
        assert_eq!(removal("a", 10_002, 5_001), None);
        let fired = removal("a", 10_001, 5_001).expect("more than half");
        assert!(!fired.holds && fired.sentence.starts_with("5001 of the 10001 documents of a"));
    }
}
