//! Creates the notes on the input files: files that are not read, content that is not a row, and advice on rows in a different encoding.

use super::RejectionsReport;
use crate::session::Session;
use dupsift_core::encoding::Encoding;
use dupsift_core::number::counted_as;
use dupsift_input::Source;
use dupsift_tables::RejectReason;

/// Returns the notes on the input files, one sentence each.
pub(crate) fn notes(source: &Source) -> Vec<String> {
    let unread = &source.unread;
    let mut notes: Vec<String> = Vec::new();
    if !unread.is_empty() {
        notes.push(format!("the inputs contain {unread}{}", unread.text_files_hint()));
    }
    notes.extend(unread.notes());
    notes.extend(source.notes.iter().cloned());
    for file in &source.files {
        notes.extend(file.notes.iter().map(|note| format!("{}: {note}", file.label)));
    }
    notes
}

/// Returns the notes on an input whose rows have been read.
pub fn of_reading(session: &Session<'_>, rejections: &RejectionsReport) -> Vec<String> {
    notes(session.source).into_iter().chain(other_encoding(session, rejections)).collect()
}

/// Returns a warning about rows with parts that cannot be read.
pub fn unread_parts(rows: u64) -> Option<String> {
    (rows > 0).then(|| {
        let rows_have = counted_as(rows, "row has|rows have");
        format!(
            "{rows_have} parts that cannot be read, such as pictures; such rows are compared only with exact copies"
        )
    })
}

/// Returns a note about rows whose text contains no words.
pub(crate) fn without_words(rows: u64) -> Option<String> {
    (rows > 0).then(|| format!("{} no letters or digits", counted_as(rows, "text contains|texts contain")))
}

/// Suggests an option if rows of line-based files or text files are not UTF-8.
pub fn other_encoding(session: &Session<'_>, rejections: &RejectionsReport) -> Option<String> {
    let rows = rejections.reasons.get(RejectReason::NotUtf8.text()).copied()?;
    let is_asked = session.options.input.encoding == Encoding::Utf8;
    let may_be_other = session.source.files.iter().any(|file| !file.format.facts().is_columnar && !file.html);
    (is_asked && may_be_other).then(|| {
        let are = if rows == 1 { "row is" } else { "rows are" };
        format!(
            "{rows} {are} not UTF-8; use `encoding=auto` to detect the encoding of each file, or specify it, as in `encoding=gbk`"
        )
    })
}
