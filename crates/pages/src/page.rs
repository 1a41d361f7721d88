//! What is known of a page once its tags are gone.

/// A page as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct RawPage<'a> {
    /// The bytes of the page, in any charset.
    pub bytes: &'a [u8],
    /// What a server or a column said of it: `text/html; charset=gbk`, or the name of a charset alone.
    pub content_type: Option<&'a str>,
    /// Its address: the ending of the host name is a hint for the charset, and relative links are resolved against it.
    pub url: Option<&'a str>,
}

/// What kind of page it is, or of block (docs/methods/docview.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It has a topic: running text.
    Topic,
    /// It leads elsewhere: links.
    Hub,
    /// It shows pictures.
    Pic,
    /// None of these.
    #[default]
    Other,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] = [Kind::Topic, Kind::Hub, Kind::Pic, Kind::Other];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Topic => "topic",
            Kind::Hub => "hub",
            Kind::Pic => "pic",
            Kind::Other => "other",
        }
    }
}

/// A link of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Where it leads, absolute where the address of the page is known.
    pub url: String,
    /// What it says, spaces folded.
    pub text: String,
}

/// The text, links and images directly under one container, not inside a nested one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// What kind of block.
    pub kind: Kind,
    /// Its visible text with that of its links; spaces folded, lines where the page breaks them.
    pub text: String,
    /// Its links, in order.
    pub links: Vec<Link>,
    /// Its images.
    pub images: usize,
    /// Characters outside of links, spaces left out.
    pub plain: usize,
    /// Characters inside of links, spaces left out.
    pub linked: usize,
}

/// What a limit cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// The page was longer than allowed; the rest was not read.
    pub bytes: bool,
    /// It had more elements than allowed; what came after was not read.
    pub elements: bool,
    /// Elements stood deeper than allowed; their text was kept, the elements were not.
    pub depth: bool,
    /// It had more links than allowed; the rest was left out.
    pub links: bool,
    /// A tag had so many attributes that the rest of them was left out.
    pub attributes: bool,
    /// It was too large for `readability`, or that gave up on it; the rules of `docview` took its place.
    pub method: bool,
}

impl Cut {
    /// The limits that cut, by the names of their parameters.
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

/// A page as the purifier sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The type of the page.
    pub kind: Kind,
    /// The title element, spaces folded; none where there is none or it is empty.
    pub title: Option<String>,
    /// The keywords that the page names itself (`meta name=keywords`).
    pub keywords: Option<String>,
    /// The description that the page gives itself (`meta name=description`, else `og:description`).
    pub description: Option<String>,
    /// The texts of its `h1` to `h3`, one a line.
    pub headings: String,
    /// Its blocks, in order of the document.
    pub blocks: Vec<Block>,
    /// Its main text, paragraphs one a line; of a page without a topic all visible text, or nothing, as the options say.
    pub body: Option<String>,
    /// The charset that it was read as, by its name in the Encoding Standard.
    pub charset: &'static str,
    /// Whether some bytes were no characters of that charset (U+FFFD stands for them).
    pub malformed: bool,
    /// What limits cut off.
    pub cut: Cut,
}
