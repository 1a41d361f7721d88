//! Limits the number of attributes in a tag, because the tokenizer compares each attribute with all other attributes.
//!
//! The tokenizer passes on a tag only when the tag is complete, so it cannot be stopped inside a tag. Therefore, the text is scanned
//! beforehand: if a tag has more than [`MOST_ATTRIBUTES`] attributes, the excess attributes are removed. Comments and the content of
//! elements without markup (scripts, titles) are skipped; text without such a tag remains unchanged.

use std::borrow::Cow;

/// The maximum number of attributes in a tag; no hand-written tag has more.
const MOST_ATTRIBUTES: usize = 1000;

/// The elements whose content, up to the end tag, is not markup.
const RAW: [&str; 9] = ["script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript"];

/// Returns the text without excess attributes; borrows the text if nothing has to be removed.
pub(crate) fn without_floods(text: &str) -> Cow<'_, str> {
    let mut kept = String::new();
    let mut copied = 0;
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'<') {
        let start = at + found;
        let rest = &bytes[start + 1..];
        if rest.starts_with(b"!--") {
            at = end_of_comment(bytes, start + 4);
            continue;
        }
        let name_at = start + 1 + usize::from(rest.first() == Some(&b'/'));
        let name = name_of(&bytes[name_at..]);
        if name.is_empty() {
            at = start + 1;
            continue;
        }
        let tag = read_tag(bytes, name_at + name.len());
        if let Some(cut) = tag.too_many {
            kept.push_str(&text[copied..cut]);
            copied = tag.end;
        }
        at = tag.end;
        if name_at == start + 1 {
            if name.eq_ignore_ascii_case(b"plaintext") {
                break;
            }
            if let Some(raw) = RAW.iter().find(|raw| name.eq_ignore_ascii_case(raw.as_bytes())) {
                at = end_of_raw(bytes, at, raw.as_bytes());
            }
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    kept.push_str(&text[copied..]);
    Cow::Owned(kept)
}

/// Returns the name of a tag, which must begin with a letter; empty if there is no name.
fn name_of(bytes: &[u8]) -> &[u8] {
    if !bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        return &[];
    }
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>');
    &bytes[..bytes.iter().position(ends).unwrap_or(bytes.len())]
}

struct Tag {
    /// The position of the `>` that ends the tag, or the end of the text.
    end: usize,
    /// The position of the first excess attribute.
    too_many: Option<usize>,
}

/// Reads the attributes of a tag, starting at the end of its name, according to the HTML standard.
fn read_tag(bytes: &[u8], mut at: usize) -> Tag {
    let mut attributes = 0;
    let mut too_many = None;
    let skip = |mut at: usize, over: fn(&u8) -> bool| {
        while bytes.get(at).is_some_and(over) {
            at += 1;
        }
        at
    };
    loop {
        at = skip(at, |byte| byte.is_ascii_whitespace() || *byte == b'/');
        match bytes.get(at) {
            None | Some(b'>') => return Tag { end: at, too_many },
            Some(_) => {}
        }
        attributes += 1;
        if attributes > MOST_ATTRIBUTES {
            too_many.get_or_insert(at);
        }
        // A name may contain `=` only as its first character.
        at = skip(at + 1, |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'>' | b'='));
        let value = skip(at, u8::is_ascii_whitespace);
        if bytes.get(value) != Some(&b'=') {
            continue;
        }
        at = skip(value + 1, u8::is_ascii_whitespace);
        at = match bytes.get(at) {
            Some(quote @ (b'"' | b'\'')) => {
                let inside = &bytes[at + 1..];
                at + 1 + inside.iter().position(|byte| byte == quote).map_or(inside.len(), |length| length + 1)
            }
            _ => skip(at, |byte| !byte.is_ascii_whitespace() && *byte != b'>'),
        };
    }
}

/// Returns the position after the `-->`, `--!>`, or immediate `>` that ends a comment.
fn end_of_comment(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at.min(bytes.len())..];
    if rest.starts_with(b">") || rest.starts_with(b"->") {
        return at;
    }
    let ends = |at: &usize| rest[*at..].starts_with(b"-->") || rest[*at..].starts_with(b"--!>");
    let dashes = rest.iter().enumerate().filter(|(_, byte)| **byte == b'-').map(|(at, _)| at);
    dashes.into_iter().find(ends).map_or(bytes.len(), |end| at + end + 2)
}

/// Returns the position of the end tag's `</` for an element without markup.
fn end_of_raw(bytes: &[u8], from: usize, name: &[u8]) -> usize {
    let mut at = from;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == b'<') {
        at += found;
        let rest = &bytes[at + 1..];
        if rest.first() == Some(&b'/') && rest.get(1..=name.len()).is_some_and(|there| there.eq_ignore_ascii_case(name))
        {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn attributes(count: usize) -> String {
        (0..count).map(|n| format!(" a{n}='>'")).collect()
    }

    #[test]
    fn the_rest_of_a_long_tag_goes_and_nothing_else() {
        let many = attributes(MOST_ATTRIBUTES + 7);
        let kept = attributes(MOST_ATTRIBUTES);
        let cut = |text: &str| without_floods(text).into_owned();
        assert_eq!(cut(&format!("x<p{many}>y</p{many}>z<br{many}")), format!("x<p{kept} >y</p{kept} >z<br{kept} "));
        for whole in [
            format!("<p{kept}>"),
            format!("<!-- <p{many}> --><script>a<b{many}</script><title><b{many}></title>"),
            format!("<plaintext><p{many}>"),
            format!("<p title=\"<a{many}>\" href={}>", "a=b&c='".repeat(2000)),
            format!("<p title=\"{}\">MID</p>", "&#26087;&#26725;".repeat(900)),
            format!("<a href=data:x,{}>", "y/".repeat(5000)),
        ] {
            assert!(matches!(without_floods(&whole), Cow::Borrowed(same) if same == whole), "{}", &whole[..40]);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_to_its_end(parts in proptest::collection::vec("<[!/a-z]?|[ =\"'/>-]{1,3}|script|title|é", 0..60)) {
            let text = parts.concat();
            prop_assert_eq!(without_floods(&text), text.as_str());
        }
    }
}
