//! Defines the `run.json` report on text extraction from pages.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use dupsift_pages::Page;

/// Reports the results of purifying pages.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct PurifyReport {
    /// The purifier with all parameters, as `--purify` accepts it.
    pub recipe: String,
    /// The number of purified pages.
    pub pages: u64,
    /// The size of the purified pages in bytes.
    pub bytes: u64,
    /// The size of the extracted page bodies in bytes of UTF-8.
    pub body_bytes: u64,
    /// The number of web archive records that do not contain a page, by type, such as `warcinfo`, `request` or `revisit`.
    pub other_records: BTreeMap<String, u64>,
    /// The number of web archive pages that the crawler truncated.
    pub truncated: u64,
    /// The total number of seconds that all threads spent purifying pages.
    pub seconds: f64,
    /// The number of pages by type.
    pub kinds: BTreeMap<String, u64>,
    /// The number of pages by the charset used to decode them.
    pub charsets: BTreeMap<String, u64>,
    /// The number of pages with bytes that are invalid in their charset.
    pub malformed: u64,
    /// The number of pages that were truncated because they exceeded a limit, by limit.
    pub cut: BTreeMap<String, u64>,
}

impl PurifyReport {
    /// Counts a page of `bytes` bytes.
    pub(crate) fn count(&mut self, page: &Page, bytes: usize, took: Duration) {
        self.pages += 1;
        self.bytes += bytes as u64;
        self.body_bytes += page.body.as_ref().map_or(0, |body| body.len() as u64);
        self.seconds += took.as_secs_f64();
        add(&mut self.kinds, page.kind.name(), 1);
        add(&mut self.charsets, page.charset, 1);
        self.malformed += u64::from(page.malformed);
        page.cut.names().for_each(|name| add(&mut self.cut, name, 1));
    }

    /// Counts web archive records of one type that do not contain a page.
    pub(crate) fn count_other_records(&mut self, name: &str, count: u64) {
        add(&mut self.other_records, name, count);
    }

    /// Adds the counts of another thread.
    pub fn merge(&mut self, other: &PurifyReport) {
        self.pages += other.pages;
        self.bytes += other.bytes;
        self.body_bytes += other.body_bytes;
        self.seconds += other.seconds;
        self.malformed += other.malformed;
        for (into, from) in
            [(&mut self.kinds, &other.kinds), (&mut self.charsets, &other.charsets), (&mut self.cut, &other.cut)]
        {
            from.iter().for_each(|(name, &count)| add(into, name, count));
        }
    }
}

/// Increases one of several counts.
fn add(counts: &mut BTreeMap<String, u64>, name: &str, count: u64) {
    match counts.get_mut(name) {
        Some(known) => *known += count,
        None => _ = counts.insert(name.to_owned(), count),
    }
}
