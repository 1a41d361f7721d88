//! Defines the columns of a purified page, which are added to the columns of the file.

use arrow::array::ArrayRef;
use arrow::array::builder::StringViewBuilder;
use arrow::datatypes::{DataType, Field};
use std::sync::Arc;

/// One page, ready to be written. If a column has several values per page, they are combined into one string, one value per line or
/// separated by commas; no column is nested.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageRow<'a> {
    /// The id of the row as text, or FILE#ROW.
    pub id: &'a str,
    /// The type of the page.
    pub kind: &'a str,
    /// The category, if a model assigns one.
    pub category: Option<&'a str>,
    /// The title.
    pub title: Option<&'a str>,
    /// The keywords, ordered by weight and separated by `, `.
    pub keywords: Option<&'a str>,
    /// The weights of the keywords, in the same format.
    pub keyword_weights: Option<&'a str>,
    /// The abstract.
    pub abstract_text: Option<&'a str>,
    /// The main text, one paragraph per line.
    pub body: Option<&'a str>,
    /// Related links, one per line: the address, a tab, the link text.
    pub links: Option<&'a str>,
    /// The keywords that the page declares.
    pub meta_keywords: Option<&'a str>,
    /// The description that the page declares.
    pub description: Option<&'a str>,
    /// The charset with which the page was decoded.
    pub charset: &'a str,
    /// The limits that caused the page to be truncated, separated by commas; `None` if the page is complete.
    pub cut: Option<&'a str>,
}

/// The column names without the prefix, in order.
pub(crate) const PAGE_COLUMNS: [&str; 13] = [
    "id",
    "type",
    "category",
    "title",
    "keywords",
    "keyword_weights",
    "abstract",
    "body",
    "links",
    "meta_keywords",
    "description",
    "charset",
    "cut",
];

/// Returns the fields of the columns, which are all strings.
pub fn page_fields(prefix: &str) -> Vec<Field> {
    let always = ["id", "type", "charset"];
    let field = |name: &str| Field::new(format!("{prefix}{name}"), DataType::Utf8View, !always.contains(&name));
    PAGE_COLUMNS.map(field).to_vec()
}

/// Builds the columns.
#[derive(Debug, Default)]
pub struct PageBuilder {
    columns: [StringViewBuilder; PAGE_COLUMNS.len()],
}

impl PageBuilder {
    /// Appends a row.
    pub fn push(&mut self, row: &PageRow<'_>) {
        let values = [
            Some(row.id),
            Some(row.kind),
            row.category,
            row.title,
            row.keywords,
            row.keyword_weights,
            row.abstract_text,
            row.body,
            row.links,
            row.meta_keywords,
            row.description,
            Some(row.charset),
            row.cut,
        ];
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.append_option(value);
        }
    }

    /// Returns the columns and empties the builder.
    pub fn finish(&mut self) -> Vec<ArrayRef> {
        self.columns.iter_mut().map(|column| Arc::new(column.finish()) as ArrayRef).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Array;
    use arrow::array::AsArray;

    #[test]
    fn each_value_stands_in_its_column() {
        let mut builder = PageBuilder::default();
        builder.push(&PageRow {
            id: "a",
            kind: "topic",
            title: Some("T"),
            charset: "GBK",
            cut: Some("max_links"),
            ..PageRow::default()
        });
        let columns = builder.finish();
        let value = |name: &str| {
            let at = PAGE_COLUMNS.iter().position(|known| *known == name).expect("a column");
            let column = columns[at].as_string_view();
            column.is_valid(0).then(|| column.value(0).to_owned())
        };
        let expected = [("id", "a"), ("type", "topic"), ("title", "T"), ("charset", "GBK"), ("cut", "max_links")];
        for name in PAGE_COLUMNS {
            let expected = expected.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(value(name), expected, "{name}");
        }
        let fields = page_fields("page_");
        assert_eq!(
            (fields[7].name().as_str(), fields[7].is_nullable(), fields[0].is_nullable()),
            ("page_body", true, false)
        );
    }
}
