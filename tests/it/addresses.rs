//! Tests `exact:form=url`, which finds different addresses of the same page in a column of web addresses.

use crate::kit::{Done, Table, done, numbered, record, write_docs};

fn run(addresses: &[&str]) -> (tempfile::TempDir, Done) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("addresses.parquet");
    write_docs(&file, &numbered(addresses.to_vec()), 10);
    let done = done(&file, &["--algorithms", "exact:form=url", "--remove-if", "pair", "--keep", "doc"]);
    (folder, done)
}

/// Returns each removed row with the row that was kept instead.
fn removed(done: &Done) -> Vec<(i64, i64)> {
    let removed = Table::read(&done.out().join("removed"));
    removed.numbers("doc").into_iter().zip(removed.numbers("kept_doc")).collect()
}

#[test]
fn addresses_of_one_page_are_removed_in_favor_of_the_first() {
    let (_folder, done) = run(&[
        "http://example.org/a?a=1&b=2",
        // Addresses that differ in the scheme, `www.`, default ports, the fragment, tracking parameters, the order of the query parameters,
        // the case of the host, or in all of these.
        "https://example.org/a?a=1&b=2",
        "http://www.example.org/a?a=1&b=2",
        "http://example.org:80/a?a=1&b=2",
        "https://example.org:443/a?a=1&b=2",
        "http://example.org/a?a=1&b=2#top",
        "http://example.org/a?utm_source=x&a=1&utm_medium=y&b=2&gclid=z&fbclid=w",
        "http://example.org/a?b=2&a=1",
        "HTTP://EXAMPLE.org/a?a=1&b=2",
        "https://www.Example.org:443/a?fbclid=1&b=2&a=1#end",
        "http://example.org/a?a=1&b=2&c=",
    ]);
    assert_eq!(removed(&done), (1..11).map(|doc| (doc, 0)).collect::<Vec<_>>());
}

/// Different addresses of the same page do not contain each other, so the usual removal rule does not apply. If this rule is requested, the
/// run prints a warning.
#[test]
fn addresses_are_removed_by_default_and_a_rule_that_keeps_them_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("addresses.parquet");
    let pages = ["http://example.org/a?a=1&b=2", "https://www.example.org:443/a?fbclid=17&b=2&a=1#end"];
    write_docs(&file, &numbered(pages.to_vec()), 10);
    let run = |out: &str, more: &[&str]| {
        let out = folder.path().join(out);
        let more = [&["--keep", "doc", "--max-removed-share", "1"], more].concat();
        (crate::kit::run(&[&file], &out, &more).ends_with(0), record(&out))
    };
    let (ran, report) = run("alone", &["--algorithms", "exact:form=url"]);
    assert_eq!((&report["removal"]["removed"], &report["options"]["remove-if"]), (&1.into(), &"pair".into()));
    ran.says(&["exact: documents with equal web addresses are removed (`--remove-if pair`)"]);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 0);
    for more in [&["exact:form=url", "--remove-if", "contained:0.8:0.9"][..], &["exact:form=url,minhash"]] {
        let (ran, report) = run(&more.len().to_string(), &[&["--algorithms"], more].concat());
        assert_eq!(report["removal"]["removed"], 0);
        ran.says(&["exact: different URLs for the same page are rarely removed", "use `--remove-if pair`"]);
        assert!(report["warnings"].to_string().contains("use `remove-if=pair`"), "{}", report["warnings"]);
    }
}

#[test]
fn addresses_of_other_pages_are_kept() {
    let (_folder, done) = run(&[
        "http://example.org/a?a=1",
        // Addresses that differ in a value, a parameter, the path, the case of the path, the port, the host or the subdomain.
        "http://example.org/a?a=2",
        "http://example.org/a?c=1",
        "http://example.org/b?a=1",
        "http://example.org/A?a=1",
        "http://example.org:8080/a?a=1",
        "http://example.com/a?a=1",
        "http://docs.example.org/a?a=1",
        // Addresses of a one-page site: the fragment is the route of the page.
        "https://groups.example.com/forum/#!topic/a/1",
        "https://groups.example.com/forum/#!topic/a/2",
        "https://groups.example.com/forum/#/topic/a/2",
        "https://groups.example.com/forum/",
        // A parameter without an equals sign may select the page.
        "http://example.org/a?a=1&print",
    ]);
    assert_eq!(removed(&done), []);
}

#[test]
fn texts_that_are_no_addresses_are_counted_and_kept() {
    let (_folder, done) =
        run(&["not an address", "http://example.org/", "https://example.org", "mailto:a@example.org"]);
    assert_eq!(removed(&done), [(2, 1)]);
    let algorithm = &record(&done.out())["algorithms"][0];
    assert_eq!(algorithm["unsigned"]["no web address"], 2, "{algorithm}");
}
