//! What a purifier may be told, already checked.

/// How the main text of a page is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The blocks of docs/methods/docview.md.
    Docview,
    /// The scores of Mozilla's Readability.
    Readability,
    /// All visible text.
    Visible,
}

/// What becomes of a page that has no topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// All its visible text is its body.
    Visible,
    /// It has no body.
    Skip,
}

/// The choices and limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurifyOptions {
    /// How the main text is found.
    pub method: Method,
    /// What becomes of pages without a topic.
    pub fallback: Fallback,
    /// Bytes of a page that are read, after decoding to UTF-8.
    pub max_bytes: usize,
    /// Elements of a page that are read.
    pub max_elements: usize,
    /// How deep elements may stand in each other.
    pub max_depth: usize,
    /// Links of a page that are kept.
    pub max_links: usize,
}

impl PurifyOptions {
    /// The largest `max_bytes` that is followed: the longest text that is worked on.
    pub const MOST_BYTES: usize = dupsift_text::MAX_TEXT_BYTES;
}

/// `readability`, since its bodies are nearer to the main text on both corpora of pages (`cargo bench --bench purify`), for
/// about half as much time again as `docview` takes. The longest `max_bytes` is [`PurifyOptions::MOST_BYTES`].
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
