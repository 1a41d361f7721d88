//! What a person reads of a finished run; the same facts stand in run.json for machines.
//!
//! The summary and its tables are text only, without colours but in a difference at a terminal: they are read in terminals,
//! mails of cron and logs alike. [`page()`] is the same result at length, for a browser.

mod columns;
mod comparison;
mod containment;
mod difference;
mod evaluation;
mod explanation;
mod page;
mod pages;
mod summary;

pub use columns::{LEAST_WIDTH, Screen};
pub use comparison::comparison;
pub use evaluation::evaluation;
pub use explanation::explanation;
pub use page::{accepted_page, page};
pub use pages::{pages, training};
pub use summary::summary;

use std::path::Path;

use crate::job::{GuardReport, Guarded, RejectionsReport, stands_in};
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// A table with a line under its header and no other ornament. With a width, cells are wrapped to keep it.
pub fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    width: Option<u16>,
) -> String {
    table_of(header, rows, width).trim_fmt() + "\n"
}

/// The same with all columns but the first set to the right, for numbers.
pub fn table_of_numbers<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = table_of(header, rows, None);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.trim_fmt() + "\n"
}

fn table_of<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    width: Option<u16>,
) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-')));
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table.set_header(header).add_rows(rows);
    table
}

/// A number as people read it: `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `2 files`, `1 file`: a count with its noun, whose plural is formed with s.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// A guard that fired, as a remark.
fn guard(guard: &GuardReport) -> String {
    format!("guard{}: {}", if guard.held { " (held back)" } else { "" }, guard.sentence)
}

/// What the guards say of a job with that `--out`, and what is to be done where they held its result back, line by line.
pub fn guarded(report: &impl Guarded, out: &Path) -> String {
    let mut text: String = report.guards().iter().map(|one| guard(one) + "\n").collect();
    text += &held(report, out);
    text
}

/// What is to be done where a result is held back.
fn held(report: &impl Guarded, out: &Path) -> String {
    if !report.is_held() {
        return String::new();
    }
    let folder = stands_in(report, out);
    format!(
        "HELD BACK: {out} stays as it was. Look at {folder}; if it is right: dupsift accept {folder}\n",
        out = out.display(),
        folder = folder.display()
    )
}

/// When it is time for the next step, which takes the result by the name that it was made for.
pub fn once_accepted(report: &impl Guarded) -> &'static str {
    if report.is_held() { ", once it is accepted" } else { "" }
}

/// What could not be used, by reason: `500 rows rejected: 498 not UTF-8, 2 null text; see rejected/`.
pub fn rejections(report: &RejectionsReport) -> String {
    match rejected(report) {
        told if report.rows == 0 => told,
        told => told + "; see rejected/",
    }
}

/// The same without where to look.
fn rejected(report: &RejectionsReport) -> String {
    let named = |by_kind: bool| {
        let mut counts = report.named(by_kind);
        counts.sort_by_key(|&(reason, rows)| (std::cmp::Reverse(rows), reason));
        let counts = counts.into_iter().map(|(reason, rows)| format!("{} {reason}", thousands(rows)));
        counts.collect::<Vec<_>>().join(", ")
    };
    let of = |rows: u64, what: &str, names: String| {
        let names = if names.is_empty() { names } else { format!(": {names}") };
        (rows > 0).then(|| format!("{} {what}{names}", counted(rows, "row")))
    };
    // A record of version 1 has neither reasons nor kinds.
    let broken = of(report.rows - report.by_kind.min(report.rows), "rejected", named(false));
    let left_out = of(report.by_kind, "left out by kind", named(true));
    let told: Vec<String> = [broken, left_out].into_iter().flatten().collect();
    if told.is_empty() { "no rows rejected".to_owned() } else { told.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::RejectReason;

    #[test]
    fn rejections_are_summed_up_by_reason() {
        let mut report = RejectionsReport::default();
        assert_eq!(rejections(&report), "no rows rejected");
        report.add(RejectReason::NotUtf8, 498);
        report.add(RejectReason::NullText, 2);
        assert_eq!(rejections(&report), "500 rows rejected: 498 not UTF-8, 2 null text; see rejected/");
        report.add(RejectReason::HttpStatus, 1);
        let told =
            "500 rows rejected: 498 not UTF-8, 2 null text; 1 row left out by kind: 1 HTTP status; see rejected/";
        assert_eq!((rejections(&report).as_str(), report.broken, report.by_kind, report.rows), (told, 500, 1, 501));
        let old = RejectionsReport { rows: 3, ..RejectionsReport::default() };
        assert_eq!(rejections(&old), "3 rows rejected; see rejected/");
    }

    #[test]
    fn numbers_are_cut_in_threes() {
        let numbers = [0, 7, 999, 1_000, 12_345, 999_999, 1_000_000, u64::MAX];
        let texts = ["0", "7", "999", "1,000", "12,345", "999,999", "1,000,000", "18,446,744,073,709,551,615"];
        assert_eq!(numbers.map(thousands), texts);
        assert_eq!(
            (counted(1, "row"), counted(0, "row"), counted(2_000, "row")),
            ("1 row".into(), "0 rows".into(), "2,000 rows".into())
        );
    }

    #[test]
    fn tables_are_plain_text() {
        let rows = [["exact".to_string(), "5".into()], ["tf".into(), "1,234".into()]];
        expect_test::expect![[r#"
             algorithm   pairs
            -------------------
             exact           5
             tf          1,234
        "#]]
        .assert_eq(&table_of_numbers(["algorithm", "pairs"], rows.clone()));
        assert!(table(["a", "b"], rows, Some(40)).is_ascii());
    }
}
