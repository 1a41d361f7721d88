//! Guards check whether the input and the planned removals look plausible. Guards need only counts.
//!
//! A guard that fires is always reported, and the previous output stays in place. A guard fires if so little was read, or so much
//! would be removed or paired, that the result may reflect damaged input rather than duplicates.

use dupsift_core::number::{counted, counted_as, thousands};

/// The factor by which the false-positive rate of a stream's filter may exceed its planned rate.
pub(crate) const TIMES_RATE: f64 = 10.0;
/// The number of pairs per document is checked only if there are at least this many pairs.
const FEW_PAIRS: u64 = 1000;
/// Corpora with fewer rows may have a larger share of broken rows: one broken row in ten proves nothing.
const FEW_ROWS: u64 = 100;
/// The maximum share of broken rows; `REJECTED_SHARE_OF_FEW` is for corpora with few rows.
const REJECTED_SHARE: f64 = 0.05;
const REJECTED_SHARE_OF_FEW: f64 = 0.5;

/// The names of the guards that check the input.
pub const OVER_READING: [&str; 2] = [NOTHING_READ, MAX_REJECTED_SHARE];
const NOTHING_READ: &str = "nothing-read";
const MAX_REJECTED_SHARE: &str = "max-rejected-share";

/// The name of a guard that only wrote a note in earlier versions of dupsift.
const NOTE_ONLY: &str = "removed-share";

/// Describes a guard that fired.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    /// The name of the guard. If an option sets its limit, this is also the name of the option.
    pub name: &'static str,
    /// The measured value.
    pub measured: f64,
    /// The limit that was exceeded.
    pub limit: f64,
    /// The finding, as a sentence.
    pub sentence: String,
}

/// Holds the counts of the input.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadCounts {
    /// The number of rows in all usable files.
    pub rows: u64,
    /// The number of rows that contain text.
    pub used: u64,
    /// The number of broken rows, not counting rows that were skipped because of their kind.
    pub broken: u64,
    /// The number of files that were skipped entirely; the number of their rows is unknown.
    pub bad_files: u64,
    /// The size of the skipped files on disk, in bytes.
    pub bad_bytes: u64,
    /// The size of all files on disk, including skipped files, in bytes.
    pub bytes: u64,
    /// The number of skipped files that no longer exist on disk, so that their size is unknown.
    pub unknown_files: u64,
    /// The number of all files, including skipped files.
    pub files: u64,
}

/// Returns the input guards that fired. `share` is the maximum share of rows, or of file bytes, that may be broken; `None` selects the
/// default for this many rows.
pub fn reading(read: &ReadCounts, share: Option<f64>) -> Vec<Fired> {
    let &ReadCounts { rows, used, broken, bad_files, bad_bytes, bytes, unknown_files, files } = read;
    let name = MAX_REJECTED_SHARE;
    let limit = share.unwrap_or(if rows < FEW_ROWS { REJECTED_SHARE_OF_FEW } else { REJECTED_SHARE });
    let mut fired = Vec::new();
    if used == 0 {
        let sentence = match (rows, bad_files) {
            (0, 0) => "nothing was read: the input has no rows".to_owned(),
            (0, files) => {
                format!("nothing was read: no rows, and {} skipped", counted_as(files, "file was|files were"))
            }
            (1, _) => "nothing was read: the only row has no usable text".to_owned(),
            (rows, _) => format!("nothing was read: none of the {} rows has usable text", thousands(rows)),
        };
        fired.push(Fired { name: NOTHING_READ, measured: 0.0, limit: 1.0, sentence });
    }
    if broken as f64 > limit * rows as f64 {
        let measured = broken as f64 / rows as f64;
        let sentence = format!(
            "{broken} of {rows_are} invalid {share}",
            broken = thousands(broken),
            rows_are = counted_as(rows, "row is|rows are"),
            share = more(measured, limit)
        );
        fired.push(Fired { name, measured, limit, sentence });
    }
    if bad_bytes as f64 > limit * bytes as f64 {
        let measured = bad_bytes as f64 / bytes as f64;
        let sentence = format!(
            "{skipped_files_have} {skipped} of the input's {total} {share}",
            skipped_files_have = counted_as(bad_files, "skipped file has|skipped files have"),
            skipped = thousands(bad_bytes),
            total = counted(bytes, "byte"),
            share = more(measured, limit)
        );
        fired.push(Fired { name, measured, limit, sentence });
    }
    if unknown_files > 0 && bad_files as f64 > limit * files as f64 {
        let measured = bad_files as f64 / files as f64;
        let were = if bad_files == 1 { "was" } else { "were" };
        let sentence = format!(
            "{skipped} of {files} {were} skipped {share}",
            skipped = thousands(bad_files),
            files = counted(files, "file"),
            share = more(measured, limit)
        );
        fired.push(Fired { name, measured, limit, sentence });
    }
    fired
}

fn more(measured: f64, limit: f64) -> String {
    format!("({:.1}%), more than the {}% allowed by `max-rejected-share`", 100.0 * measured, 100.0 * limit)
}

/// Returns whether the guard with this name keeps a result from being published.
pub fn holds(name: &str) -> bool {
    name != NOTE_ONLY
}

/// Checks whether the filter of a stream holds more keys than it was created for. The guard fires at `TIMES_RATE` times the planned rate,
/// or at 0.5 if that is lower.
pub fn false_positives(measured: f64, rate: f64) -> Option<Fired> {
    let limit = (TIMES_RATE * rate).min(0.5);
    (measured >= limit).then(|| Fired {
        name: "false-positives",
        measured,
        limit,
        sentence: format!(
            "the false-positive rate is {:.2}%, at least {TIMES_RATE} times `rate` ({}%): the filter has too many keys; start again with a larger `keys`",
            100.0 * measured,
            100.0 * rate
        ),
    })
}

/// Checks the share of rows that is removed; `whose` names the rows. If there are fewer rows than `least`, the share is not checked,
/// because it is not unusual for half of a small number of rows to be removed.
pub fn removal(whose: &str, rows: u64, removed: u64, share: f64, least: u64) -> Option<Fired> {
    let measured = removed as f64 / rows.max(1) as f64;
    (rows >= least && removed as f64 > share * rows as f64).then(|| Fired {
        name: "max-removed-share",
        measured,
        limit: share,
        sentence: format!(
            "{removed} of the {documents} in {whose} would be removed ({:.1}%), more than the {}% allowed by `max-removed-share`; look at clusters/ first", 100.0 * measured, 100.0 * share, removed = thousands(removed), documents = counted(rows, "document")),
    })
}

/// Checks how much text, in characters, is removed from kept documents.
pub fn cut(characters: u64, of: u64, share: f64) -> Option<Fired> {
    let measured = characters as f64 / of.max(1) as f64;
    (characters as f64 > share * of as f64).then(|| Fired {
        name: "max-cut-share",
        measured,
        limit: share,
        sentence: format!(
            "{:.1}% of the text in the kept documents would be cut, more than the {}% allowed by `max-cut-share`; look at passages/ first",
            100.0 * measured,
            100.0 * share
        ),
    })
}

/// A removed document looks like a page from a template if more than this many of its near-duplicates are about as similar as the kept
/// document. In three collections with one template each, 30% to 43% of the documents that `minhash` removes exceed this number; in six
/// collections of prose, mail and news, 1% to 10% do.
pub const MANY_NEAR: usize = 5;
/// The maximum amount by which a near-duplicate may be less similar than the kept document and still count as about as similar.
pub const AS_NEAR: f32 = 0.05;
/// The minimum number of removed documents that look like pages from a template; a smaller number proves nothing.
const FEW_OF_TEMPLATE: u64 = 100;

/// If pages that look like they come from a template make up more than this share of the removed documents, they are reported even if no
/// guard fires.
const TOLD_SHARE: f64 = 0.1;

/// Returns a note about removed documents that look like pages from a template, if there are too few for the guard to fire.
pub fn template_note(of_template: u64, removed: u64) -> Option<String> {
    (of_template >= FEW_OF_TEMPLATE && of_template as f64 > TOLD_SHARE * removed as f64).then(|| {
        format!(
            "{}; look at the largest clusters in report.html, and set `max-template-share` to guard against them",
            templates_of(of_template, removed)
        )
    })
}

/// Returns a note about an algorithm that keeps both documents of most of its pairs apart, because they share only a template or are about
/// different things. If there are many such pairs, the corpus consists largely of such pages, and the rule misses some of them. Four
/// collections of templates have 18 to 60 of these pairs for 100 documents; collections of news, mail and essays have at most 7.
pub fn corpus_note(label: &str, apart: u64, pairs: u64, documents: u64) -> Option<String> {
    (apart >= FEW_OF_TEMPLATE && 2 * apart > pairs && 10 * apart > documents).then(|| {
        format!(
            "{label}: {some} of {all_are} pages with the same template or documents about different things (kept); read some of the removed documents before you use the result",
            some = thousands(apart),
            all_are = counted_as(pairs, "similar pair is|similar pairs are"),
        )
    })
}

fn templates_of(of_template: u64, removed: u64) -> String {
    let duplicates_look = counted_as(removed, "removed near-duplicate looks|removed near-duplicates look");
    format!("{some} of {duplicates_look} like pages with the same template", some = thousands(of_template))
}

/// Checks the share of removed documents, not counting copies, that look like pages from a template.
pub fn templates(of_template: u64, removed: u64, share: f64) -> Option<Fired> {
    let measured = of_template as f64 / removed.max(1) as f64;
    (of_template >= FEW_OF_TEMPLATE && of_template as f64 > share * removed as f64).then(|| Fired {
        name: "max-template-share",
        measured,
        limit: share,
        sentence: format!(
            "{} ({:.1}%), more than the {}% allowed by `max-template-share`; look at the largest clusters in report.html first",
            templates_of(of_template, removed),
            100.0 * measured,
            100.0 * share
        ),
    })
}

/// Holds the amount of text that was read.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextCounts {
    /// The number of bytes of text.
    pub bytes: u64,
    /// The number of documents.
    pub documents: u64,
}

/// Checks whether less text was read than in an earlier run: in total or, if a run reads only new documents, per document.
pub fn shrunk(now: TextCounts, before: TextCounts, is_new_alone: bool, factor: u64) -> Option<Fired> {
    let a_document = |text: TextCounts| text.bytes as f64 / text.documents.max(1) as f64;
    let of = |text: TextCounts| if is_new_alone { a_document(text) } else { text.bytes as f64 };
    let enough = before.documents >= FEW_ROWS && (!is_new_alone || now.documents >= FEW_ROWS);
    let measured = of(before) / of(now).max(1.0);
    let whose = if is_new_alone { " per document" } else { "" };
    (enough && measured > factor as f64).then(|| Fired {
        name: "max-shrink-factor",
        measured,
        limit: factor as f64,
        sentence: format!(
            "the input has {} of text{whose}, but the previous run had {measured:.1} times as much ({}), more than the factor of {factor} allowed by `max-shrink-factor`", counted(of(now).round() as u64, "byte"), thousands(of(before).round() as u64)),
    })
}

/// Holds the number of pairs that one algorithm found, and the number of documents.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairCounts {
    /// The number of pairs.
    pub pairs: u64,
    /// The number of documents that contain text.
    pub documents: u64,
}

impl PairCounts {
    fn a_document(self) -> f64 {
        self.pairs as f64 / self.documents.max(1) as f64
    }
}

/// Checks whether an algorithm found more pairs per document than in an earlier run.
pub fn pairs(label: &str, now: PairCounts, before: PairCounts, factor: u64) -> Option<Fired> {
    // If the earlier run found no pairs, the number per document is computed as if that run had found one pair.
    let (a_document, known) = (now.a_document(), PairCounts { pairs: before.pairs.max(1), ..before }.a_document());
    let measured = a_document / known;
    (now.pairs >= FEW_PAIRS && measured > factor as f64).then(|| Fired {
        name: "max-pairs-factor",
        measured,
        limit: factor as f64,
        sentence: format!(
            "{label} has {:.3} pairs per document, {measured:.1} times the {:.3} of the previous run, more than the factor of {factor} allowed by `max-pairs-factor`", a_document, before.a_document()),
    })
}

/// Checks whether an algorithm found more candidates per document than earlier incremental runs suggest.
pub fn candidates(label: &str, a_document: f64, expected: f64, factor: u64) -> Option<Fired> {
    let measured = a_document / expected;
    (measured > factor as f64).then(|| Fired {
        name: "max-candidates-factor",
        measured,
        limit: factor as f64,
        sentence: format!(
            "{label} has {a_document:.2} candidates per document, {measured:.1} times the {expected:.2} expected from earlier runs, more than the factor of {factor} allowed by `max-candidates-factor`; the statistics of the index may no longer fit these documents"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removals_of_templates_are_reported_and_guarded() {
        assert_eq!(template_note(99, 99), None);
        assert_eq!(template_note(100, 1_000), None);
        let note = template_note(150, 1_000).unwrap();
        assert!(
            note.starts_with("150 of 1,000 removed near-duplicates look like pages with the same template; "),
            "{note}"
        );
        assert!(corpus_note("versions", 99, 99, 99).is_none() && corpus_note("versions", 500, 1_000, 1_000).is_none());
        assert!(corpus_note("versions", 501, 1_000, 5_010).is_none());
        let note = corpus_note("versions", 501, 1_000, 5_009).unwrap();
        assert!(
            note.starts_with("versions: 501 of 1,000 similar pairs are pages with the same template or "),
            "{note}"
        );
        assert_eq!(templates(200, 1_000, 0.2), None);
        let fired = templates(205, 1_000, 0.2).unwrap();
        assert_eq!((fired.name, fired.measured), ("max-template-share", 0.205));
        assert!(
            fired.sentence.contains("(20.5%), more than the 20% allowed by `max-template-share`"),
            "{}",
            fired.sentence
        );
        assert_eq!(templates(99, 99, 0.0), None);
    }

    fn read(rows: u64, broken: u64) -> ReadCounts {
        ReadCounts { rows, broken, used: rows - broken, bytes: 1000, ..ReadCounts::default() }
    }

    fn names(read: &ReadCounts, share: Option<f64>) -> Vec<&'static str> {
        let fired = reading(read, share);
        assert!(fired.iter().all(|one| holds(one.name) && (one.measured > one.limit || one.name == "nothing-read")));
        fired.into_iter().map(|one| one.name).collect()
    }

    #[test]
    fn nothing_read_fires_whatever_the_share() {
        assert_eq!(names(&read(0, 0), Some(1.0)), ["nothing-read"]);
        assert_eq!(names(&read(3, 3), Some(1.0)), ["nothing-read"]);
        // All rows are skipped because of their kind: they are not broken, but there are no documents.
        assert_eq!(names(&ReadCounts { rows: 500, ..ReadCounts::default() }, None), ["nothing-read"]);
    }

    #[test]
    fn the_share_of_broken_rows_has_a_default_by_their_number() {
        // The limit is 0.05 for 100 rows or more and 0.5 for fewer rows; a share equal to the limit passes.
        assert_eq!(names(&read(100, 5), None), [""; 0]);
        assert_eq!(names(&read(100, 6), None), ["max-rejected-share"]);
        assert_eq!(names(&read(99, 49), None), [""; 0]);
        assert_eq!(names(&read(99, 50), None), ["max-rejected-share"]);
        assert_eq!(names(&read(99, 1), Some(0.0)), ["max-rejected-share"]);
        assert_eq!(names(&read(1000, 999), Some(1.0)), [""; 0]);
        let sentence = &reading(&read(500, 498), None)[0].sentence;
        assert_eq!(sentence, "498 of 500 rows are invalid (99.6%), more than the 5% allowed by `max-rejected-share`");
    }

    #[test]
    fn files_set_aside_are_measured_by_their_bytes() {
        let with = |bad_bytes| ReadCounts { bad_files: 1, bad_bytes, ..read(1000, 0) };
        assert_eq!(names(&with(50), None), [""; 0]);
        assert_eq!(names(&with(51), None), ["max-rejected-share"]);
        let sentence = &reading(&with(51), None)[0].sentence;
        assert_eq!(
            sentence,
            "1 skipped file has 51 of the input's 1,000 bytes (5.1%), more than the 5% allowed by `max-rejected-share`"
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
        assert_eq!(sentence, "4 of 5 files were skipped (80.0%), more than the 5% allowed by `max-rejected-share`");
    }

    #[test]
    fn less_text_than_before_fires() {
        let of = |bytes, documents| TextCounts { bytes, documents };
        let fires = |now, before| shrunk(now, before, false, 10).is_some();
        assert!(
            !fires(of(100, 1), of(1000, 100)) && fires(of(99, 100), of(1000, 100)) && !fires(of(99, 100), of(1000, 99))
        );
        assert!(!fires(of(0, 0), of(10, 1000)) && fires(of(0, 0), of(11, 1000)));
        let told = shrunk(of(50, 100), of(1000, 100), false, 10).expect("a twentieth").sentence;
        assert!(
            told.starts_with("the input has 50 bytes of text, but the previous run had 20.0 times as much (1,000)"),
            "{told}"
        );
        // There may be few new documents, but each must contain enough text.
        let fires = |now, before| shrunk(now, before, true, 10).is_some();
        assert!(!fires(of(1000, 1), of(1_000_000, 1000)) && !fires(of(10_000, 100), of(1_000_000, 1000)));
        assert!(fires(of(9_900, 100), of(1_000_000, 1000)) && !fires(of(99, 99), of(1_000_000, 1000)));
    }

    #[test]
    fn shares_and_factors_fire_beyond_their_bound_alone() {
        let fires = |rows, removed| removal("a", rows, removed, 0.5, 10_000).is_some();
        assert_eq!([fires(9_999, 9_999), fires(10_000, 5_000), fires(10_000, 5_001)], [false, false, true]);
        let fired = removal("a", 10_000, 5_001, 0.5, 10_000).expect("more than half");
        assert!(fired.sentence.starts_with("5,001 of the 10,000 documents in a would be removed (50.0%)"), "{fired:?}");
        assert!(removal("a", 10, 10, 1.0, 0).is_none() && removal("a", 10, 1, 0.0, 0).is_some());
        let of = |pairs, documents| PairCounts { pairs, documents };
        let fires = |now, before| pairs("exact", now, before, 5).is_some();
        assert!(!fires(of(1000, 1000), of(200, 1000)) && fires(of(1001, 1000), of(200, 1000)));
        // The cases: too few pairs to judge, the same number of pairs from fewer documents, and no pairs in the earlier run.
        assert!(
            !fires(of(999, 10), of(1, 1000))
                && fires(of(1000, 100), of(1000, 1000))
                && fires(of(1000, 10_000), of(0, 10_000))
        );
        assert!(!fires(of(0, 0), of(0, 0)));
    }
}
