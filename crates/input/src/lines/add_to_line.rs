//! Adds columns to one JSON line or one record. All other values are preserved.

use crate::copy::added::Added;
use crate::copy::edits::CHANGED;
use crate::dialect::Quoting;
use crate::lines::edit_line::{object_fields, quoted};
use crate::lines::quotes::Dialect;

impl Added<'_> {
    /// Returns a JSON line with the new columns as its last fields.
    ///
    /// # Errors
    /// Returns an error if the line is no longer an object, or if the object already has a field with one of these names.
    pub(crate) fn json(&self, row: u64, line: &[u8]) -> Result<Vec<u8>, String> {
        let text = std::str::from_utf8(line).map_err(|_| CHANGED)?;
        let (begin, end) = text.find('{').zip(text.rfind('}')).ok_or(CHANGED)?;
        let fields = text.get(begin..=end).and_then(object_fields).ok_or(CHANGED)?;
        if let Some(name) = self.all_names().find(|name| fields.iter().any(|field| field == name)) {
            return Err(format!("a row already has a field {name:?}; rename it, or do not add this column"));
        }
        let mut out = text[..end].to_owned();
        for (at, (name, value)) in self.all_names().zip(self.values(row)).enumerate() {
            let separator = if at == 0 && fields.is_empty() { "" } else { "," };
            out += &format!("{separator}\"{name}\":{value}");
        }
        out.push_str(&text[end..]);
        Ok(out.into_bytes())
    }

    /// Returns the header line with the column names appended.
    pub(crate) fn header(&self, line: &[u8], delimiter: u8) -> Vec<u8> {
        at_end(line, delimiter, self.all_names().map(str::to_owned))
    }

    /// Returns a record with the values of the columns appended.
    ///
    /// # Errors
    /// Returns an error if a list contains the delimiter and fields cannot be quoted.
    pub(crate) fn record(&self, row: u64, line: &[u8], dialect: Dialect) -> Result<Vec<u8>, String> {
        let values: Vec<String> = self.values(row).collect();
        if dialect.quoting == Quoting::None
            && values.iter().any(|value| value.bytes().any(|byte| byte == dialect.delimiter))
        {
            return Err("a list of ids contains the separator, and fields are not quoted; use `quoting=double`, or do not add this column".into());
        }
        Ok(at_end(line, dialect.delimiter, values.into_iter().map(|value| quoted(value, false, dialect))))
    }

    /// Returns the values of a row, as JSON.
    fn values(&self, row: u64) -> impl Iterator<Item = String> {
        let numbers = (0..self.names.len()).map(move |at| (self.value)(row, at).to_string());
        numbers.chain(self.list.map(|list| list.json(row)))
    }
}

/// Inserts fields before the line break.
fn at_end(line: &[u8], delimiter: u8, fields: impl Iterator<Item = String>) -> Vec<u8> {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
    let mut out = line[..end].to_vec();
    for field in fields {
        out.push(delimiter);
        out.extend_from_slice(field.as_bytes());
    }
    out.extend_from_slice(&line[end..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::copy::added::AddedList;
    use dupsift_tables::{IdRef, IdType};

    #[test]
    fn columns_are_the_last_ones_of_a_row() {
        let added = Added { names: &["copies", "sources"], value: &|row, at| row + at as u64, list: None };
        let json = |line: &str| added.json(7, line.as_bytes()).map(|line| String::from_utf8(line).expect("UTF-8"));
        let expected = "\n\u{feff} {\"a\": {\"copies\": 1} ,\"copies\":7,\"sources\":8}\r\n";
        assert_eq!(json("\n\u{feff} {\"a\": {\"copies\": 1} }\r\n").as_deref(), Ok(expected));
        assert_eq!(json("{}").as_deref(), Ok("{\"copies\":7,\"sources\":8}"));
        assert!(json("{\"sources\":null}").unwrap_err().contains("already has a field \"sources\""));
        assert!(json("[]").is_err() && json("}{").is_err());
        let dialect = |delimiter| Dialect { delimiter, quoting: Quoting::Double };
        assert_eq!(added.record(1, b"\n\"a\nb\",\r\n", dialect(b',')).unwrap(), b"\n\"a\nb\",,1,2\r\n");
        assert_eq!(
            (added.header(b"a;b", b';'), added.record(0, b"1;", dialect(b';')).unwrap()),
            (b"a;b;copies;sources".to_vec(), b"1;;0;1".to_vec())
        );
        let each = |row: u64, each: &mut dyn FnMut(IdRef<'_>)| {
            (0..row).for_each(|at| each(if at == 0 { IdRef::Text("a\"b") } else { IdRef::Int(at as i64) }));
        };
        let list = Some(AddedList { name: "duplicates", kind: IdType::Text, each: &each });
        let added = Added { list, ..added };
        assert_eq!(added.json(0, b"{}").unwrap(), b"{\"copies\":0,\"sources\":1,\"duplicates\":[]}");
        assert!(added.json(2, b"{}").unwrap().ends_with(b"\"duplicates\":[\"a\\\"b\",1]}"));
        let unquoted = |delimiter| added.record(2, b"x", Dialect { delimiter, quoting: Quoting::None });
        assert!(unquoted(b',').unwrap_err().contains("not quoted"));
        assert_eq!(unquoted(b'\t').unwrap(), b"x\t2\t3\t[\"a\\\"b\",1]");
        assert_eq!(added.record(2, b"x\n", dialect(b',')).unwrap(), b"x,2,3,\"[\"\"a\\\"\"b\"\",1]\"\n");
        assert!(added.json(1, b"{\"duplicates\":null}").unwrap_err().contains("already has a field \"duplicates\""));
    }
}
