//! Provides a single visitor for all kinds of JSON values; a [`Walk`] defines how a value is converted.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A value that is neither a list nor an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plain<'de, 't> {
    /// A null.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// An integer above the largest signed 64-bit integer.
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// A string borrowed from the line.
    Borrowed(&'de str),
    /// A string with its escapes resolved.
    Unescaped(&'t str),
}

/// Converts a JSON value.
pub trait Walk<'de>: Sized {
    /// The result of the conversion.
    type Value;

    /// Handles a value that is neither a list nor an object.
    fn plain<E: serde::de::Error>(self, value: Plain<'de, '_>) -> Result<Self::Value, E>;

    /// Handles a list.
    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error>;

    /// Handles an object.
    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Self::Value, A::Error>;
}

/// Reads a value with a [`Walk`].
pub struct By<W>(pub W);

impl<'de, W: Walk<'de>> DeserializeSeed<'de> for By<W> {
    type Value = W::Value;
    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<W::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, W: Walk<'de>> Visitor<'de> for By<W> {
    type Value = W::Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<W::Value, E> {
        self.0.plain(Plain::Null)
    }
    fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<W::Value, E> {
        self.0.plain(Plain::Borrowed(text))
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<W::Value, E> {
        self.0.plain(Plain::Unescaped(text))
    }
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<W::Value, E> {
        self.0.plain(Plain::Int(number))
    }
    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<W::Value, E> {
        self.0.plain(i64::try_from(number).map_or(Plain::UInt(number), Plain::Int))
    }
    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<W::Value, E> {
        self.0.plain(Plain::Float(number))
    }
    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<W::Value, E> {
        self.0.plain(Plain::Bool(value))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<W::Value, A::Error> {
        self.0.list(list)
    }
    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<W::Value, A::Error> {
        self.0.object(object)
    }
}

/// Skips the elements of a list.
pub fn skip_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<(), A::Error> {
    while list.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}
