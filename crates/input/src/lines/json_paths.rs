//! Finds fields of JSON objects by path: `meta.id` is the field `id` of the object in the field `meta`.
//!
//! A field that is literally named `meta.id` takes precedence over the nested field.

use crate::lines::mended;
use dupsift_tables::nested::json_walk;
use dupsift_tables::nested::json_walk::{By, Plain, skip_list};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::fmt;

/// The maximum nesting depth of objects that are searched.
const MOST_DEPTH: usize = 8;

/// The maximum number of fields collected from a line. Without this limit, an object that uses data as field names could exhaust memory.
const MOST_FIELDS: usize = 10_000;

/// The maximum size, in bytes, of a collected path that was not requested.
const LONGEST_SHOWN: usize = 100;

/// A field found in a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Path {
    pub name: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// An object; its fields have paths of their own.
    Object,
    List,
    Null,
    Plain,
}

/// Returns the distinct field names of a line in order, up to a maximum number; `None` if the line is not an object.
pub(super) fn field_names(line: &[u8]) -> Option<Vec<String>> {
    let names = |line: &[u8]| {
        let mut json = serde_json::Deserializer::from_slice(line);
        let names = json.deserialize_map(Names)?;
        json.end().map(|()| names)
    };
    Some(mended::read(line, names).ok()?.into_iter().collect())
}

/// Returns the total size, in bytes, of the values of the fields `names` as written in the line; 0 if the line is not a row.
pub(super) fn bytes_of(line: &[u8], names: &[String]) -> u64 {
    let bytes = |line: &[u8]| serde_json::Deserializer::from_slice(line).deserialize_map(BytesOf(names));
    if std::str::from_utf8(line).is_ok() { mended::read(line, bytes).unwrap_or(0) } else { 0 }
}

struct BytesOf<'n>(&'n [String]);

impl<'de> Visitor<'de> for BytesOf<'_> {
    type Value = u64;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<u64, A::Error> {
        let mut bytes = 0;
        while let Some(name) = map.next_key::<String>()? {
            let value = map.next_value::<&RawValue>()?.get();
            let is_asked = self.0.iter().any(|asked| *asked == name || leads_to(&name, asked));
            bytes += if is_asked { value.len() as u64 } else { 0 };
        }
        Ok(bytes)
    }
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

/// Returns the fields of a line, including nested fields, sorted by name; `None` if the line is not an object. All requested fields are
/// included. Other fields are shown only in messages, so the number of these fields and the length of their paths are limited.
pub(super) fn paths(line: &[u8], asked: &[&str]) -> Option<Vec<Path>> {
    let found = |line: &[u8]| {
        let mut walk = Walk { asked, path: String::new(), depth: 1, found: Vec::new(), others: 0 };
        let mut json = serde_json::Deserializer::from_slice(line);
        json.deserialize_map(&mut walk)?;
        json.end().map(|()| walk.found)
    };
    let mut found = mended::read(line, found).ok()?;
    found.sort_unstable_by(|a, b| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
    found.dedup_by(|later, first| later.name == first.name);
    Some(found)
}

/// Returns whether the field `to` is inside the object `name`.
pub(super) fn leads_to(name: &str, to: &str) -> bool {
    to.len() > name.len() + 1 && to.as_bytes()[name.len()] == b'.' && to.starts_with(name)
}

struct Walk<'a> {
    asked: &'a [&'a str],
    /// The path of the current object with a trailing dot; empty for the line itself.
    path: String,
    depth: usize,
    found: Vec<Path>,
    /// The number of fields found so far that were not requested.
    others: usize,
}

impl Walk<'_> {
    /// Adds the name to the path if the field is requested, contains a requested field, or may be shown.
    fn enters(&mut self, name: &str) -> bool {
        let of_asked = |asked: &&str| {
            let deeper = asked.strip_prefix(self.path.as_str()).and_then(|rest| rest.strip_prefix(name));
            deeper.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_asked = self.asked.iter().any(of_asked);
        let is_shown =
            self.depth <= MOST_DEPTH && self.others < MOST_FIELDS && self.path.len() + name.len() <= LONGEST_SHOWN;
        if is_asked || is_shown {
            self.others += usize::from(!is_asked);
            self.path.push_str(name);
        }
        is_asked || is_shown
    }
}

impl<'de> Visitor<'de> for &mut Walk<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<(), A::Error> {
        let before = self.path.len();
        while let Some(enters) = object.next_key_seed(Name(self))? {
            if !enters {
                object.next_value::<IgnoredAny>()?;
                continue;
            }
            let at = self.found.len();
            self.found.push(Path { name: self.path.clone(), kind: Kind::Plain });
            self.path.push('.');
            self.depth += 1;
            let kind = object.next_value_seed(By(Inner(self)))?;
            self.depth -= 1;
            self.found[at].kind = kind;
            self.path.truncate(before);
        }
        Ok(())
    }
}

/// Reads the name of a field and returns whether the walk enters the field.
struct Name<'w, 'a>(&'w mut Walk<'a>);

impl<'de> DeserializeSeed<'de> for Name<'_, '_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<bool, D::Error> {
        json.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_, '_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the name of a field")
    }
    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(self.0.enters(name))
    }
}

/// Reads a value, searches it if it is an object, and returns its kind.
struct Inner<'w, 'a>(&'w mut Walk<'a>);

impl<'de> json_walk::Walk<'de> for Inner<'_, '_> {
    type Value = Kind;

    fn plain<E>(self, value: Plain<'de, '_>) -> Result<Kind, E> {
        Ok(if value == Plain::Null { Kind::Null } else { Kind::Plain })
    }
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Kind, A::Error> {
        skip_list(list).map(|()| Kind::List)
    }
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Kind, A::Error> {
        self.0.visit_map(object).map(|()| Kind::Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_measured_as_they_are_spelled() {
        let line = br#"{"a":"x\n","b":[1, 2],"c":{"d":7,"e":null},"f":0.5}"#;
        let bytes = |names: &[&str]| bytes_of(line, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!([bytes(&["a"]), bytes(&["b", "f"]), bytes(&["c.d"]), bytes(&["x", "c.d"])], [5, 6 + 3, 16, 16]);
        assert_eq!([bytes_of(b"[1]", &["a".into()]), bytes_of(b"{\"a\":\"\xFF\"}", &["a".into()])], [0, 0]);
    }

    #[test]
    fn names_of_fields_come_once_and_are_bounded() {
        assert_eq!(field_names(br#"{"b":1,"a":{"c":2}}"#), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(field_names(b"5"), None);
        let many: String = (0..20_000).map(|at| format!("\"f{at}\":0,")).collect();
        let line = format!("{{{many}\"f0\":1}}");
        assert_eq!(field_names(line.as_bytes()).map(|names| names.len()), Some(MOST_FIELDS));
        assert_eq!(paths(line.as_bytes(), &[]).map(|paths| paths.len()), Some(MOST_FIELDS));
        // A requested field is found even after thousands of other fields.
        let found = paths(line.as_bytes(), &["f19999"]).expect("an object");
        assert_eq!((found.len(), found.iter().any(|path| path.name == "f19999")), (MOST_FIELDS + 1, true));
        assert_eq!(field_names(b"{\"a\":1} x"), None);
    }

    #[test]
    fn fields_inside_of_objects_have_paths() {
        let named = |line: &str| {
            let paths = paths(line.as_bytes(), &[])?.into_iter();
            Some(
                paths
                    .map(|path| path.name + if path.kind == Kind::Object { ".." } else { "" })
                    .collect::<Vec<_>>()
                    .join(" "),
            )
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

    #[test]
    fn a_long_name_is_not_made_longer_for_each_field_in_it() {
        let fields: Vec<String> = (0..5000).map(|at| format!("\"{at}\":1")).collect();
        let line = format!("{{\"a\":1,\"{}\":{{{}}}}}", "k".repeat(100_000), fields.join(","));
        let there = paths(line.as_bytes(), &["text", "id"]).expect("an object");
        assert_eq!(there.iter().map(|path| path.name.as_str()).collect::<Vec<_>>(), ["a"]);
        // A requested field is found regardless of the length of its path and its nesting depth.
        let asked = format!("{}.4999", "k".repeat(100_000));
        let there = paths(line.as_bytes(), &[&asked]).expect("an object");
        let there: Vec<_> = there.iter().map(|path| (path.name.len(), path.kind == Kind::Object)).collect();
        assert_eq!(there, [(1, false), (100_000, true), (100_005, false)]);
        let deep = format!("{}1{}", "{\"a\":".repeat(20), "}".repeat(20));
        let asked = ["a"; 20].join(".");
        assert!(paths(deep.as_bytes(), &[&asked]).expect("an object").iter().any(|path| path.name == asked));
    }
}
