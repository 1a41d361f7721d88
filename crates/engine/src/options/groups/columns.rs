//! Options for the columns of the input.

use super::{FINDERS, MAKING, TEXTS};
use crate::options::help_groups::INPUT;
use crate::options::spec::{NONE, OptionSpec, Verb, in_words, is};
use crate::options::value::{Given, Kind, Value};
use dupsift_text::Field;

/// Names the columns that are read.
#[derive(Clone, Debug, Default)]
pub struct ColumnOptions {
    /// The column that holds the text or HTML page of each document.
    pub text_column: String,
    /// Whether the text column holds HTML pages, in any charset.
    pub html: bool,
    /// Whether you specified the text column.
    pub text_required: bool,
    /// The optional column that holds the content type that the server sent with each page.
    pub content_type_column: String,
    /// The optional column that holds the URL of each page.
    pub url_column: String,
    /// Whether you specified each of the two page columns. It is an error if the corpus lacks a specified column.
    pub page_columns_required: [bool; 2],
    /// The column that holds the ids.
    pub id_column: String,
    /// Whether you specified the id column. If so, it is an error if the corpus lacks the column.
    pub id_required: bool,
    /// The columns other than the text column, by [`Field`]. These columns are optional.
    pub field_columns: [String; Field::ALL.len()],
    /// Whether you specified each of these columns. It is an error if the corpus lacks a specified column.
    pub fields_required: [bool; Field::ALL.len()],
    /// Additional columns that a command reads, of any type.
    pub other_columns: Vec<String>,
    /// The columns that may hold lists of strings. Such a column may be an additional column or one of several text columns.
    pub list_columns: Vec<String>,
}

impl ColumnOptions {
    fn name_field(&mut self, field: Field, given: Given<'_>) {
        self.field_columns[field as usize] = given.text().into();
        self.fields_required[field as usize] = given.typed;
    }

    fn field_name(&self, field: Field) -> Value {
        self.field_columns[field as usize].clone().into()
    }
}

/// The options of this group, in the order of the help.
#[rustfmt::skip]
pub(super) const OPTIONS: &[OptionSpec] = &[
    OptionSpec::new(INPUT, TEXTS, "text-column", "COLUMN", Kind::Column,
        "Column with the text. The values of several columns, such as title,text, are joined with line breaks, unless a column with exactly this name exists")
        .brief("Column with the text")
        .list()
        .default(is("text"))
        .but(&[(Verb::Purify, "", NONE)])
        .field(
            |run, given| Ok((run.columns.text_column, run.columns.html, run.columns.text_required) = (given.text().into(), false, given.typed)),
            |run| (!run.columns.html).then(|| run.columns.text_column.clone().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "html-column", "COLUMN", Kind::Column,
        "Column with HTML pages in any charset, read instead of the text column; not needed for web archives")
        .but(&[(
            Verb::Purify,
            "Column with HTML pages in any charset",
            in_words("html", "html; not needed for web archives"),
        )])
        .field(
            |run, given| Ok((run.columns.text_column, run.columns.html, run.columns.text_required) = (given.text().into(), true, given.typed)),
            |run| run.columns.html.then(|| run.columns.text_column.clone().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "id-column", "COLUMN", Kind::Column, "Column with ids")
        .brief("Column with ids")
        .default(in_words("id", "id; without it, ids are FILE#ROW"))
        .field(
            |run, given| Ok((run.columns.id_column, run.columns.id_required) = (given.text().into(), given.typed)),
            |run| Some(run.columns.id_column.clone().into()),
        ),
    OptionSpec::new(INPUT, FINDERS, "title-column", "COLUMN", Kind::Column,
        "Column with titles, for algorithms that use them")
        .default(in_words("title", "title; optional"))
        .field(|run, given| Ok(run.columns.name_field(Field::Title, given)), |run| Some(run.columns.field_name(Field::Title))),
    OptionSpec::new(INPUT, FINDERS, "keywords-column", "COLUMN", Kind::Column,
        "Column with the keywords from the page metadata")
        .default(in_words("keywords", "keywords; optional"))
        .field(|run, given| Ok(run.columns.name_field(Field::Keywords, given)), |run| Some(run.columns.field_name(Field::Keywords))),
    OptionSpec::new(INPUT, FINDERS, "description-column", "COLUMN", Kind::Column, "Column with descriptions")
        .default(in_words("description", "description; optional"))
        .field(
            |run, given| Ok(run.columns.name_field(Field::Description, given)),
            |run| Some(run.columns.field_name(Field::Description)),
        ),
    OptionSpec::new(INPUT, MAKING, "content-type-column", "COLUMN", Kind::Column,
        "Column with the HTTP content type of pages, such as text/html; charset=gbk")
        .default(in_words("content_type", "content_type; optional"))
        .field(
            |run, given| Ok((run.columns.content_type_column, run.columns.page_columns_required[0]) = (given.text().into(), given.typed)),
            |run| Some(run.columns.content_type_column.clone().into()),
        ),
    OptionSpec::new(INPUT, MAKING, "url-column", "COLUMN", Kind::Column, "Column with the URLs of pages")
        .default(in_words("url", "url; optional"))
        .field(
            |run, given| Ok((run.columns.url_column, run.columns.page_columns_required[1]) = (given.text().into(), given.typed)),
            |run| Some(run.columns.url_column.clone().into()),
        ),
];
