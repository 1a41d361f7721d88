//! Fields of JSON objects by path: `meta.id` is the field `id` of the object in the field `meta`.
//!
//! A field whose own name has the dot wins over one inside of an object.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Objects in objects that are looked into.
const MOST_DEPTH: usize = 8;

/// Fields of an object that are looked at; one whose names are data would fill the memory.
const MOST_FIELDS: usize = 10_000;

/// A field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub name: String,
    /// Whether its value is an object, whose fields are paths of their own.
    pub is_object: bool,
}

/// The names of the fields of a line, each once and in their order; none if it is no object. Of a line with very many
/// names, the first ones.
pub(super) fn field_names(line: &[u8]) -> Option<Vec<String>> {
    let mut json = serde_json::Deserializer::from_slice(line);
    let names = json.deserialize_map(Names).ok()?;
    json.end().ok()?;
    Some(names.into_iter().collect())
}

struct Names;

impl<'de> Visitor<'de> for Names {
    type Value = BTreeSet<String>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<BTreeSet<String>, A::Error> {
        let mut names = BTreeSet::new();
        while names.len() < MOST_FIELDS
            && let Some(name) = map.next_key::<String>()?
        {
            map.next_value::<IgnoredAny>()?;
            names.insert(name);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(names)
    }
}

/// The fields of a line with those of its objects, by name; none if it is no object.
pub(super) fn paths(line: &[u8]) -> Option<Vec<Path>> {
    let Fields::Object(fields) = serde_json::from_slice(line).ok()? else { return None };
    let mut paths = Vec::new();
    gather("", fields, 1, &mut paths);
    Some(paths)
}

/// Whether a field of one of the names stands inside of the object `name`.
pub(super) fn leads_to(name: &str, to: &str) -> bool {
    to.len() > name.len() + 1 && to.as_bytes()[name.len()] == b'.' && to.starts_with(name)
}

fn gather(before: &str, fields: BTreeMap<String, Fields>, depth: usize, paths: &mut Vec<Path>) {
    for (name, value) in fields {
        let name = format!("{before}{name}");
        let Fields::Object(inside) = value else {
            paths.push(Path { name, is_object: false });
            continue;
        };
        let before = format!("{name}.");
        paths.push(Path { name, is_object: true });
        if depth < MOST_DEPTH {
            gather(&before, inside, depth + 1, paths);
        }
    }
}

/// A value of which no more is kept than the names of fields.
enum Fields {
    Object(BTreeMap<String, Fields>),
    Other,
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Fields, D::Error> {
        json.deserialize_any(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }
    fn visit_unit<E>(self) -> Result<Fields, E> {
        Ok(Fields::Other)
    }
    fn visit_str<E>(self, _: &str) -> Result<Fields, E> {
        Ok(Fields::Other)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Fields, E> {
        Ok(Fields::Other)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Fields, E> {
        Ok(Fields::Other)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Fields, E> {
        Ok(Fields::Other)
    }
    fn visit_bool<E>(self, _: bool) -> Result<Fields, E> {
        Ok(Fields::Other)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Fields, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Fields::Other)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Fields, A::Error> {
        let mut fields = BTreeMap::new();
        while fields.len() < MOST_FIELDS
            && let Some((name, value)) = object.next_entry()?
        {
            fields.insert(name, value);
        }
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Fields::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_come_once_and_are_bounded() {
        assert_eq!(field_names(br#"{"b":1,"a":{"c":2}}"#), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(field_names(b"5"), None);
        let many: String = (0..20_000).map(|at| format!("\"f{at}\":0,")).collect();
        let line = format!("{{{many}\"f0\":1}}");
        assert_eq!(field_names(line.as_bytes()).map(|names| names.len()), Some(MOST_FIELDS));
        assert_eq!(paths(line.as_bytes()).map(|paths| paths.len()), Some(MOST_FIELDS));
        assert_eq!(field_names(b"{\"a\":1} x"), None);
    }

    #[test]
    fn fields_inside_of_objects_have_paths() {
        let named = |line: &str| {
            let paths = paths(line.as_bytes())?.into_iter();
            Some(paths.map(|path| path.name + if path.is_object { ".." } else { "" }).collect::<Vec<_>>().join(" "))
        };
        let line = r#"{"b":1,"a":{"d":[{"x":1}],"c":{"e":"\u0439"},"f":{}}}"#;
        assert_eq!(named(line).as_deref(), Some("a.. a.c.. a.c.e a.d a.f.. b"));
        assert_eq!(named("[1]"), None);
        assert_eq!(named("{"), None);
        assert!(named(&"{\"a\":".repeat(100)).is_none());
        let deep = format!("{}1{}", "{\"a\":".repeat(20), "}".repeat(20));
        assert_eq!(named(&deep).map(|names| names.split(' ').count()), Some(MOST_DEPTH));
        assert!(leads_to("a", "a.b") && !leads_to("a", "ab.c") && !leads_to("a", "a.") && !leads_to("a.b", "a.b"));
    }
}
