//! Formats tables and numbers as text.

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// Returns a table with a line under its header. If a width is given, cells are wrapped to fit it.
pub fn table<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    width: Option<u16>,
) -> String {
    table_of(header, rows, width).trim_fmt() + "\n"
}

/// Returns a table of numbers: like [`table`], but all columns except the first are right-aligned.
pub fn table_of_numbers<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> String {
    let mut table = table_of(header, rows.into_iter().map(of_one_line), None);
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.trim_fmt() + "\n"
}

/// Returns a table like [`table_of_numbers`], but omits any of the `optional` columns that contain only `0`.
pub(crate) fn table_of_numbers_without<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    optional: &[&str],
) -> String {
    let rows: Vec<[String; N]> = rows.into_iter().map(of_one_line).collect();
    let is_shown = |at: usize| !optional.contains(&header[at]) || rows.iter().any(|row| row[at] != "0");
    let shown: Vec<usize> = (0..N).filter(|at| is_shown(*at)).collect();
    let mut table = plain_table();
    table.set_header(shown.iter().map(|&at| header[at]));
    table.add_rows(rows.iter().map(|row| shown.iter().map(|&at| row[at].as_str()).collect::<Vec<_>>()));
    table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    table.trim_fmt() + "\n"
}

/// Returns a row whose cells have one line each: a name in the first column may contain line feeds.
fn of_one_line<const N: usize>(row: [String; N]) -> [String; N] {
    row.map(|cell| if cell.contains('\n') { cell.replace('\n', "\\n") } else { cell })
}

fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-')));
    table
}

fn table_of<const N: usize>(
    header: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    width: Option<u16>,
) -> Table {
    let mut table = plain_table();
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table.set_header(header).add_rows(rows);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let broken = [["a\nb".to_string(), "5".into()]];
        assert!(table_of_numbers(["suite", "items"], broken.clone()).contains(" a\\nb "));
        assert!(table_of_numbers_without(["suite", "items"], broken, &[]).contains(" a\\nb "));
        let more = rows.clone().map(|[name, number]| [name, number, "0".into(), "0".into()]);
        let shown =
            table_of_numbers_without(["algorithm", "pairs", "left out", "clusters"], more, &["left out", "pairs"]);
        assert_eq!(shown.lines().next(), Some(" algorithm   pairs   clusters"));
        assert!(table(["a", "b"], rows, Some(40)).is_ascii());
    }
}
