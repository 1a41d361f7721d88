//! Resolves a link against the address of its page according to RFC 3986, section 5. No part of the link is decoded or checked; the link is
//! kept as written, except that white space is removed.

/// Resolves `link` against `base`; returns the link as written if there is no base. Returns `None` for links that do not lead to another
/// page: links to a position on the same page, a script, or an email address.
pub(crate) fn join(base: Option<&str>, link: &str) -> Option<String> {
    let link: String = link.trim().chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    if link.is_empty() || link.starts_with('#') {
        return None;
    }
    if let Some(scheme) = scheme(&link) {
        let leads = ["http", "https", "ftp", "file"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
        return leads.then_some(link);
    }
    let Some((base_scheme, base)) = base.and_then(|base| Some((scheme(base)?, base))) else { return Some(link) };
    if link.starts_with("//") {
        return Some(format!("{base_scheme}:{link}"));
    }
    let rest = &base[base_scheme.len() + 1..];
    let host_end = match rest.strip_prefix("//") {
        Some(host) => 2 + host.find(['/', '?', '#']).unwrap_or(host.len()),
        None => 0,
    };
    let (host, path) = rest.split_at(host_end);
    let path = path.split('#').next().unwrap_or_default();
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let joined = match link.chars().next() {
        Some('/') => without_dots(&link),
        Some('?') => format!("{}{link}", if path.is_empty() { "/" } else { path }),
        _ => without_dots(&format!(
            "{}{link}",
            path.rsplit_once('/').map_or("/".into(), |(folder, _)| format!("{folder}/"))
        )),
    };
    debug_assert!(query.is_empty() || query.starts_with('?'));
    Some(format!("{base_scheme}:{host}{joined}"))
}

fn scheme(link: &str) -> Option<&str> {
    let (scheme, _) = link.split_once(':')?;
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    named.then_some(scheme)
}

/// Removes `.` and `..` from the path of a link; the parts after the path are kept.
fn without_dots(link: &str) -> String {
    let (path, tail) = link.split_at(link.find(['?', '#']).unwrap_or(link.len()));
    let mut parts: Vec<&str> = Vec::new();
    let mut open = false;
    for part in path.split('/').skip(1) {
        open = part.is_empty() || part == "." || part == "..";
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            _ => parts.push(part),
        }
    }
    if open && parts.last().is_none_or(|last| !last.is_empty()) {
        parts.push("");
    }
    format!("/{}{tail}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_joined_as_the_standard_has_it() {
        // These are the examples in section 5.4 of the RFC, except links within the page and links with the scheme `g`.
        for (link, joined) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("g#s", "http://a/b/c/g#s"),
            ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g/../h", "http://a/b/c/h"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            ("HTTPS://x/y", "HTTPS://x/y"),
            (" g\n", "http://a/b/c/g"),
        ] {
            assert_eq!(join(Some("http://a/b/c/d;p?q"), link).as_deref(), Some(joined), "{link}");
        }
        assert_eq!(join(Some("http://a"), "g").as_deref(), Some("http://a/g"));
        assert_eq!(join(Some("http://a?q/r"), "?g").as_deref(), Some("http://a/?g"));
        assert_eq!(join(None, "../g").as_deref(), Some("../g"));
        assert_eq!(join(Some("no address"), "g:h/").as_deref(), None);
        assert_eq!(join(Some("no address"), "g").as_deref(), Some("g"));
    }

    #[test]
    fn links_that_lead_nowhere_else_are_none() {
        for link in ["", " ", "#", "#top", "javascript:void(0)", "JavaScript:x", "mailto:a@b", "tel:1", "data:,x"] {
            assert_eq!(join(Some("http://a/"), link), None, "{link}");
        }
    }
}
