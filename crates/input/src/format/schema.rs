//! Checks whether a file has the requested columns, and creates the message for a file that lacks one.

use crate::format::columns::Columns;
use crate::format::known::Shown;
use dupsift_core::error::{did_you_mean, nearest};
use dupsift_core::shown::shortened;
use dupsift_tables::IdKind;
use dupsift_tables::document::id_kind;

/// Describes the requested columns that a file has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Has {
    pub id: Option<IdKind>,
    pub id_note: Option<String>,
    pub others: Vec<String>,
    /// Whether the text is created by joining lists.
    pub is_joined: bool,
}

/// What an option for a column looks for.
struct Sought {
    option: &'static str,
    /// The usual names of the column.
    usual: &'static [&'static str],
    /// Returns whether a column has a fitting type.
    fits: fn(&Shown) -> bool,
}

const TEXT: Sought = Sought {
    option: "text-column",
    usual: &["text", "content", "raw_content", "contents", "body", "document", "page_body"],
    fits: Shown::may_be_text,
};

const HTML: Sought = Sought {
    option: "html-column",
    usual: &["html", "raw_html", "html_content", "content", "page", "body"],
    fits: Shown::may_be_text,
};

const ID: Sought = Sought {
    option: "id-column",
    usual: &[
        "id",
        "_id",
        "doc_id",
        "docid",
        "document_id",
        "uuid",
        "uid",
        "guid",
        "warc_record_id",
        "record_id",
        "page_id",
        "url",
        "uri",
    ],
    fits: Shown::may_be_id,
};

/// Checks a file's columns.
///
/// # Errors
/// Returns a message that states what is missing or has the wrong type, which columns exist, and the likely fix.
pub(crate) fn check(columns: &Columns, there: &[Shown]) -> Result<Has, String> {
    let named = |name: &str| there.iter().find(|column| column.name == name);
    // A name with a dot may be both a column name and a path into a struct.
    let is_twice = |name: &&str| !name.contains('.') && there.iter().filter(|column| column.name == *name).count() > 1;
    if let Some(name) = columns.names().into_iter().find(is_twice) {
        return Err(format!("two columns are named {name:?}; expected unique names"));
    }
    let text = if columns.html { HTML } else { TEXT };
    let is_list = |column: &Shown| column.is_texts && columns.lists.contains(&column.name);
    let is_part = |name: &String| {
        named(name).is_some_and(|column| column.may_be_text() || column.may_be_spelled() || is_list(column))
    };
    match named(&columns.text) {
        _ if !columns.parts.is_empty() => {
            if let Some(part) = columns.parts.iter().find(|part| !is_part(part)) {
                let hint = did_you_mean(part, there.iter().map(|column| column.name.as_str()));
                let asked = format!("`text-column={}`", columns.parts.join(","));
                return Err(format!("no plain column {part:?} for {asked}; {}{hint}", list(there)));
            }
        }
        Some(column) if column.may_be_text() => {}
        Some(column) if column.is_texts && !columns.html => {}
        Some(column) => {
            let way_out = text.likely(&columns.text, there);
            let expected = if columns.html { "strings or binary" } else { "strings, or binary that contains UTF-8" };
            return Err(format!("column {:?} is {}; expected {expected}{way_out}", column.name, column.says));
        }
        None => return Err(text.missing(&columns.text, there)),
    }
    let (id, id_note) = match named(&columns.id) {
        Some(column) if column.may_be_id() => (column.data_type.as_ref().and_then(id_kind), None),
        Some(column) => {
            let why =
                format!("column {:?} is {}; expected strings, binary or integers as ids", column.name, column.says);
            let likely = || ID.likely(&columns.id, there);
            if columns.id_required && !column.is_plain() {
                return Err(why + &likely());
            }
            // A text is never lost because of its id.
            (None, Some(if columns.id_required { why + &likely() } else { why }))
        }
        None if columns.id_required => {
            return Err(ID.missing(&columns.id, there));
        }
        None => {
            let below = format!("{}.", columns.id);
            let is_nested = there.iter().any(|column| column.data_type.is_some() && column.name.starts_with(&below));
            let why = || format!("column {:?} is nested; expected strings, binary or integers as ids", columns.id);
            (None, is_nested.then(why))
        }
    };
    let others = columns.others.iter();
    let others = others.filter(|name| named(name).is_some_and(|column| column.is_plain() || is_list(column))).cloned();
    let is_joined = columns.parts.is_empty() && named(&columns.text).is_some_and(|column| column.is_texts);
    Ok(Has { id, id_note, others: others.collect(), is_joined })
}

/// Formats the columns for a message: `available: id (Int64), doc.text (Utf8)`.
pub(crate) fn list(there: &[Shown]) -> String {
    if there.is_empty() {
        return "the file has no columns".to_owned();
    }
    let shown: Vec<String> = there.iter().take(40).map(|one| shortened(&one.to_string()).into_owned()).collect();
    let more = if there.len() > 40 { format!(" and {} more", there.len() - 40) } else { String::new() };
    format!("available: {}{more}", shown.join(", "))
}

/// Names of preference rules in other programs, with dupsift's equivalents.
const ORDERS: [(&str, &str); 6] = [
    ("first", "doc asc"),
    ("last", "doc desc"),
    ("latest", "COLUMN desc"),
    ("longest", "length desc"),
    ("newest", "COLUMN desc"),
    ("shortest", "length asc"),
];

/// Returns the hint from [`Sought::likely`] for an option whose column does not exist in any file; `None` if the option has no usual column names.
pub(crate) fn likely_of(option: &'static str, wanted: &str, there: &[Shown]) -> Option<String> {
    Some(match option {
        "text-column" => TEXT.likely(wanted, there),
        "html-column" => HTML.likely(wanted, there),
        "id-column" => ID.likely(wanted, there),
        "keep" => ORDERS
            .iter()
            .find(|(word, _)| *word == wanted)
            .map_or_else(String::new, |(_, order)| format!("; did you mean `{option}={order:?}`?")),
        _ => return None,
    })
}

/// Returns the column that probably contains ids, judging by its name; `None` if there is no such column apart from `others`.
pub(crate) fn likely_id<'s>(there: &'s [Shown], others: &[&str]) -> Option<&'s str> {
    let fitting = || there.iter().filter(|column| column.may_be_id() && !others.contains(&&*column.name));
    let last = |name: &'s str| name.rsplit_once('.').map_or(name, |(_, last)| last);
    let is_called = |column: &Shown, name: &str| column.name.eq_ignore_ascii_case(name);
    let plain = ID.usual.iter().find_map(|name| fitting().find(|column| is_called(column, name)));
    let nested =
        || ID.usual.iter().find_map(|name| fitting().find(|column| last(&column.name).eq_ignore_ascii_case(name)));
    plain.or_else(nested).map(|column| column.name.as_str())
}

impl Sought {
    /// Returns the message for a file without the column.
    fn missing(&self, wanted: &str, there: &[Shown]) -> String {
        format!("no column {wanted:?}; {}{}", list(there), self.likely(wanted, there))
    }

    /// Returns a hint such as `"; try --text-column content"` if a column of the file is probably the column that was meant.
    fn likely(&self, wanted: &str, there: &[Shown]) -> String {
        let Sought { option, usual, fits } = self;
        let fitting: Vec<&str> =
            there.iter().filter(|column| fits(column)).map(|column| column.name.as_str()).collect();
        let same = |name: &str| fitting.iter().copied().find(|there| there.eq_ignore_ascii_case(name));
        // Finds a struct field whose path ends in this name.
        let deeper = |name: &str| {
            let last = |there: &str| there.rsplit_once('.').is_some_and(|(_, last)| last.eq_ignore_ascii_case(name));
            fitting.iter().copied().find(|there| last(there))
        };
        let same = |name: &str| same(name).or_else(|| deeper(name));
        // A custom name that nearly matches an existing column is probably misspelled; otherwise, one of the usual names is more likely.
        let near = || nearest(wanted, fitting.iter().copied());
        let is_own = !usual.contains(&wanted);
        same(wanted)
            .or_else(|| near().filter(|_| is_own))
            .or_else(|| usual.iter().find_map(|name| same(name)))
            .or_else(near)
            .map_or_else(String::new, |name| format!("; try `{option}={name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::DataType;

    fn shown(name: &str, data_type: Option<DataType>) -> Shown {
        let says = data_type.as_ref().map_or("a list".to_owned(), DataType::to_string);
        Shown { name: name.to_owned(), data_type, says, is_texts: false }
    }

    fn columns(text: &str, id: &str, id_required: bool) -> Columns {
        let others = vec!["n".to_owned(), "m".to_owned()];
        Columns { text: text.to_owned(), id: id.to_owned(), id_required, others, ..Columns::default() }
    }

    #[test]
    fn what_is_missing_names_what_is_there_and_the_likely_one() {
        let there = [
            shown("uid", Some(DataType::Int64)),
            shown("raw_content", Some(DataType::LargeUtf8)),
            shown("m", None),
            shown("n", Some(DataType::Float64)),
        ];
        let why = check(&columns("text", "id", false), &there).expect_err("no text");
        assert_eq!(
            why,
            "no column \"text\"; available: uid (Int64), raw_content (LargeUtf8), m (a list), n (Float64); \
             try `text-column=raw_content`"
        );
        let why = check(&columns("raw_contnt", "id", false), &there).expect_err("no text");
        assert!(why.ends_with("try `text-column=raw_content`"));
        let why = check(&columns("uid", "id", false), &there).expect_err("no strings");
        assert!(why.starts_with("column \"uid\" is Int64; expected strings"), "{why}");
        let why = check(&columns("raw_content", "id", true), &there).expect_err("no id");
        assert!(why.ends_with("try `id-column=uid`"), "{why}");
        let has = check(&columns("raw_content", "n", true), &there).expect("the text is read");
        let note = has.id_note.expect("a note");
        assert!(
            note.contains("expected strings, binary or integers") && note.ends_with("try `id-column=uid`"),
            "{note}"
        );
        // A misspelled custom name takes precedence over the usual names.
        let there = [shown("text", Some(DataType::Utf8)), shown("summary", Some(DataType::Utf8))];
        let why = check(&columns("sumary", "id", false), &there).expect_err("no such column");
        assert!(why.ends_with("try `text-column=summary`"), "{why}");
        let there = [shown("uid", Some(DataType::Int64)), shown("m", None)];
        assert!(check(&columns("m", "id", false), &there).expect_err("nested").contains("is a list"));
    }

    #[test]
    fn a_default_id_column_need_not_be_there() {
        let there = [shown("text", Some(DataType::Utf8)), shown("id", Some(DataType::Float32)), shown("m", None)];
        let has = check(&columns("text", "id", false), &there).expect("fine");
        assert_eq!((has.id, has.others), (None, vec![]));
        assert!(has.id_note.is_some_and(|note| note.contains("Float32")));
        let there = [shown("text", Some(DataType::Utf8)), shown("id.a", Some(DataType::Utf8))];
        let has = check(&columns("text", "id", false), &there).expect("fine");
        assert!(has.id_note.is_some_and(|note| note.contains("column \"id\" is nested")));
        let there = [
            shown("text", Some(DataType::Utf8)),
            shown("id", Some(DataType::UInt64)),
            shown("n", Some(DataType::Date32)),
        ];
        let has = check(&columns("text", "id", true), &there).expect("fine");
        assert_eq!((has.id, has.id_note, has.others), (Some(IdKind::UInt64), None, vec!["n".to_owned()]));
    }

    #[test]
    fn a_column_with_ids_is_known_by_its_name() {
        let likely = |names: &[&str]| {
            let there: Vec<Shown> = names.iter().map(|name| shown(name, Some(DataType::Utf8))).collect();
            likely_id(&there, &["id", "text"]).map(str::to_owned)
        };
        assert_eq!(likely(&["text", "url", "Doc_ID"]).as_deref(), Some("Doc_ID"));
        assert_eq!(likely(&["id", "text", "meta.url", "WARC_Record_ID"]).as_deref(), Some("WARC_Record_ID"));
        assert_eq!(likely(&["text", "score", "meta.uuid"]).as_deref(), Some("meta.uuid"));
        assert_eq!(likely(&["id", "text", "idle", "urls"]), None);
        assert_eq!(likely_id(&[shown("uuid", Some(DataType::Float32)), shown("url", None)], &[]), None);
    }

    #[test]
    fn names_are_asked_for_once() {
        let columns = Columns { others: vec!["id".into(), "t".into(), "t".into()], ..columns("text", "id", false) };
        assert_eq!(columns.names(), ["text", "id", "t"]);
    }
}
