//! Turns web addresses into keys. Addresses that usually lead to the same page have the same key.
//!
//! ```text
//! https://www.example.org:443/a?utm_source=x&b=2&a=1&c=#top  ==  http://example.org/a?a=1&b=2
//! https://example.org/#!topic/1  !=  https://example.org/#!topic/2          a route of a one-page site
//! ```

use url::Url;

/// Parameters that record where a visitor came from and do not change the page. Parameters whose names begin with `utm_` are also tracking
/// parameters.
const TRACKING: [&str; 25] = [
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_openstat",
    "dclid",
    "epik",
    "fbclid",
    "gbraid",
    "gclid",
    "gclsrc",
    "igsh",
    "igshid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "msclkid",
    "spm",
    "srsltid",
    "ttclid",
    "twclid",
    "wbraid",
    "yclid",
    "ysclid",
];

/// Returns the key of a web address, or `None` if the string is not a web address.
///
/// The address is parsed as in a browser, according to the WHATWG URL standard. The scheme, `www.`, default port, fragment, tracking
/// parameters, parameters without a value (`c=`) and the order of parameters are ignored. A fragment that begins with `!` or `/` is a
/// route: it selects the page of a site that consists of a single HTML page, so it is part of the key. An address without a scheme must
/// have a dot in its host.
pub(crate) fn key(text: &str) -> Option<String> {
    let text = text.trim();
    let begins = |start: &str| text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let url = if begins("http://") || begins("https://") {
        Url::parse(text).ok()?
    } else if text.contains("://") {
        return None;
    } else {
        let url = Url::parse(&format!("http://{}", text.trim_start_matches("//"))).ok()?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        if !is_plain || !url.host_str()?.trim_end_matches('.').contains('.') {
            return None;
        }
        url
    };
    let host = url.host_str()?;
    let mut key = String::with_capacity(text.len());
    if !url.username().is_empty() {
        key += &format!("{}:{}@", url.username(), url.password().unwrap_or_default());
    }
    key += host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host);
    if let Some(port) = url.port() {
        key += &format!(":{port}");
    }
    key += url.path();
    push_parameters(url.query().unwrap_or_default(), &mut key);
    if let Some(route) = url.fragment().and_then(route) {
        let (path, query) = route.split_once('?').unwrap_or((route, ""));
        key.push('#');
        key += path;
        push_parameters(query, &mut key);
    }
    Some(key)
}

/// Appends the parameters that may determine the content of the page, in order.
fn push_parameters(query: &str, key: &mut String) {
    let mut parameters: Vec<&str> = query.split('&').filter(|one| is_content(one)).collect();
    parameters.sort_unstable();
    if !parameters.is_empty() {
        key.push('?');
        key.push_str(&parameters.join("&"));
    }
}

/// Returns the route in a fragment, without the text that a browser is to highlight. Returns `None` for a position in the page, and for the
/// route of the site's first page.
fn route(fragment: &str) -> Option<&str> {
    let route = fragment.split(":~:").next().unwrap_or_default();
    let is_route = route.starts_with(['!', '/']) && !route.trim_start_matches('!').trim_start_matches('/').is_empty();
    is_route.then_some(route)
}

/// Returns whether a parameter may determine the content of the page. A name without an equals sign may do so, as in `?print`, but a name
/// with an empty value does not.
fn is_content(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').map_or((parameter, None), |(name, value)| (name, Some(value)));
    let name = name.to_ascii_lowercase();
    let is_empty = parameter.is_empty() || value == Some("");
    !is_empty && !name.starts_with("utm_") && TRACKING.binary_search(&&*name).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_to_one_page_has_one_key() {
        for same in [
            "http://example.org/a?a=1&b=2",
            "https://www.example.org:443/a?utm_source=x&b=2&a=1#top",
            "HTTP://WWW.Example.ORG:80/x/../a?b=2&&a=1&FBCLID=q",
            "  example.org/a?b=2&a=1\n",
            "//example.org/./a?a=1&b=2&_openstat=z",
            "http://example.org/a?a=1&c=&b=2&=",
            "http://example.org/a?a=1&b=2#:~:text=top",
        ] {
            assert_eq!(key(same).as_deref(), Some("example.org/a?a=1&b=2"), "{same}");
        }
        assert_eq!(key("https://example.org"), key("www.example.org/?gclid=1"));
        assert_eq!(key("http://пример.рф/"), key("https://xn--e1afmkfd.xn--p1ai"));
        assert_eq!(key("http://例え.jp/路"), key("http://例え.jp/%E8%B7%AF"));
        for same in ["#!topic/a/1?c=&utm_source=x", "?d=#!topic/a/1", "#!topic/a/1:~:text=top"] {
            assert_eq!(key(&format!("https://www.example.org/{same}")).as_deref(), Some("example.org/#!topic/a/1"));
        }
        // The first page of a one-page site has a route that names nothing.
        for home in ["", "#", "#/", "#!", "#!/", "#top"] {
            assert_eq!(key(&format!("https://example.org/{home}")).as_deref(), Some("example.org/"), "{home}");
        }
    }

    #[test]
    fn what_may_be_another_page_has_another_key() {
        let all = [
            "http://example.org/a",
            "http://example.org/A",
            "http://example.org/a/",
            "http://example.org/a?a=1",
            "http://example.org/a?a=2",
            "http://example.org:8080/a",
            "http://m.example.org/a",
            "http://www.org/a",
            "http://u:p@example.org/a",
            "http://example.org/a?a",
            "http://example.org/a#!topic/a/1",
            "http://example.org/a#!topic/a/2",
            "http://example.org/a#/topic/a/1",
            "http://example.org/a#/topic/a/1?page=2",
        ];
        let keys: std::collections::BTreeSet<_> = all.iter().map(|address| key(address).expect("an address")).collect();
        assert_eq!(keys.len(), all.len(), "{keys:?}");
    }

    #[test]
    fn what_is_no_web_address_has_none() {
        for none in [
            "",
            " ",
            "word",
            "Two words.",
            "Кот.",
            "?!",
            "mailto:a@example.org",
            "ftp://example.org/",
            "http://",
            "javascript:x",
        ] {
            assert_eq!(key(none), None, "{none:?}");
        }
    }

    #[test]
    fn the_list_of_parameters_can_be_searched() {
        assert!(TRACKING.is_sorted());
    }
}
