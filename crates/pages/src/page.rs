//! Defines the types that represent a page before and after its text is extracted.

/// A page as it was saved.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawPage<'a> {
    /// The bytes of the page, in any charset.
    pub bytes: &'a [u8],
    /// The type declared by a server or given in a column: `text/html; charset=gbk`, or only the name of a charset.
    pub content_type: Option<&'a str>,
    /// The address of the page: its top-level domain is a hint for the charset, and relative links are resolved against the address.
    pub url: Option<&'a str>,
}

/// The type of a page or block (docs/methods/docview.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Running text on a topic.
    Topic,
    /// Mostly links to other pages.
    Hub,
    /// Mostly pictures.
    Pic,
    /// None of these.
    #[default]
    Other,
}

impl Kind {
    /// All types.
    pub const ALL: [Kind; 4] = [Kind::Topic, Kind::Hub, Kind::Pic, Kind::Other];

    /// Returns the name used in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Topic => "topic",
            Kind::Hub => "hub",
            Kind::Pic => "pic",
            Kind::Other => "other",
        }
    }
}

/// A link on a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// The target, absolute if the address of the page is known.
    pub url: String,
    /// The text of the link, with folded white space.
    pub text: String,
}

/// The text, links and images that are directly under one container and not inside a nested container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The type of the block.
    pub kind: Kind,
    /// The visible text, including link text; white space is folded, and line breaks are the same as on the page.
    pub text: String,
    /// The links of the block, in order.
    pub links: Vec<Link>,
    /// The number of images in the block.
    pub images: usize,
    /// The number of characters outside links, without white space.
    pub plain: usize,
    /// The number of characters inside links, without white space.
    pub linked: usize,
}

/// The limits at which the page was truncated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The page was longer than allowed; the rest was not read.
    pub bytes: bool,
    /// The page had more elements than allowed; the rest was not read.
    pub elements: bool,
    /// Elements were nested deeper than allowed; only their text was kept.
    pub depth: bool,
    /// The page had more links than allowed; the rest was skipped.
    pub links: bool,
    /// A tag had too many attributes; the excess attributes were skipped.
    pub attributes: bool,
    /// The page was too large for `readability`, or the library failed on it; the rules of `docview` were used instead.
    pub method: bool,
}

impl Cut {
    /// Returns the names of the parameters whose limits caused the page to be truncated.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.bytes, "max_bytes"),
            (self.elements, "max_elements"),
            (self.depth, "max_depth"),
            (self.links, "max_links"),
            (self.attributes, "attributes"),
            (self.method, "readability"),
        ];
        all.into_iter().filter_map(|(cut, name)| cut.then_some(name))
    }
}

/// A processed page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The type of the page.
    pub kind: Kind,
    /// The title element, with folded white space; `None` if it is missing or empty.
    pub title: Option<String>,
    /// The keywords that the page declares (`meta name=keywords`).
    pub keywords: Option<String>,
    /// The description that the page declares (`meta name=description`, or else `og:description`).
    pub description: Option<String>,
    /// The text of the `h1` to `h3` elements, one element per line.
    pub headings: String,
    /// The blocks of the page, in document order.
    pub blocks: Vec<Block>,
    /// The main text, one paragraph per line; for a page without a topic, all visible text or nothing, depending on the options.
    pub body: Option<String>,
    /// The charset with which the page was decoded, as named in the Encoding Standard.
    pub charset: &'static str,
    /// Whether some bytes were invalid in that charset and were replaced with U+FFFD.
    pub malformed: bool,
    /// The limits at which the page was truncated.
    pub cut: Cut,
}
