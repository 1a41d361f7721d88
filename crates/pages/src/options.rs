//! Defines the validated options of a purifier.

/// A method for finding the main text of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The block rules in docs/methods/docview.md.
    Docview,
    /// The scores of Mozilla's Readability.
    Readability,
    /// All visible text.
    Visible,
}

/// The text that is used for pages without a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// The body is all visible text.
    Visible,
    /// The page has no body.
    Skip,
}

/// The options and limits of a purifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurifyOptions {
    /// The method that finds the main text.
    pub method: Method,
    /// The text that is used for pages without a topic.
    pub fallback: Fallback,
    /// The maximum number of bytes read per page, counted after decoding to UTF-8.
    pub max_bytes: usize,
    /// The maximum number of elements read per page.
    pub max_elements: usize,
    /// The maximum nesting depth of elements.
    pub max_depth: usize,
    /// The maximum number of links kept per page.
    pub max_links: usize,
}

impl PurifyOptions {
    /// The maximum value of `max_bytes`: the longest text that is processed.
    pub const MOST_BYTES: usize = dupsift_text::MAX_TEXT_BYTES;
}

/// Returns the default options. The default method is `readability`. This method takes about 1.5 times as long as `docview`, but its
/// results are closer to the true main text in both test corpora (`cargo bench --bench purify`). The maximum of `max_bytes` is
/// [`PurifyOptions::MOST_BYTES`].
impl Default for PurifyOptions {
    fn default() -> PurifyOptions {
        PurifyOptions {
            method: Method::Readability,
            fallback: Fallback::Visible,
            max_bytes: 8 << 20,
            max_elements: 500_000,
            max_depth: 256,
            max_links: 10_000,
        }
    }
}
