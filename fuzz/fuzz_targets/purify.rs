//! Purifies arbitrary bytes as a page of any content type, using each method, once with tiny limits and once with the default limits.
//! Checks that nothing panics, that the limits hold, and that the same bytes give the same page.
#![no_main]

use dupsift_pages::{Method, Purifier, PurifyOptions, RawPage};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // The first line is the content type from the server, and the second line is the address.
    let mut lines = data.splitn(3, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (content_type, url, bytes) = (line(), line(), line());
    let raw =
        RawPage { bytes, content_type: std::str::from_utf8(content_type).ok(), url: std::str::from_utf8(url).ok() };
    for method in [Method::Docview, Method::Readability, Method::Visible] {
        let usual = PurifyOptions { method, ..PurifyOptions::default() };
        let tiny = PurifyOptions { max_bytes: 2000, max_elements: 30, max_depth: 8, max_links: 3, ..usual };
        for options in [usual, tiny] {
            let purifier = Purifier::new(options);
            let page = purifier.page(&raw);
            assert_eq!(page, purifier.page(&raw));
            assert!(page.blocks.iter().map(|block| block.links.len()).sum::<usize>() <= options.max_links);
        }
    }
});
