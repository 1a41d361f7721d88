//! Tables and numbers as text.

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
        assert!(table(["a", "b"], rows, Some(40)).is_ascii());
    }
}
