//! Separates the elements in a caption. Pages show the description and the credit of a picture in elements that stand directly beside each
//! other; style sheets move them apart.

use html5ever::{LocalName, local_name};

/// The state of a walk through a page.
#[derive(Default)]
pub(crate) struct Captions {
    /// The number of open captions.
    open: usize,
    /// Whether the walk has left an element and has not met text after it.
    is_behind: bool,
}

impl Captions {
    /// Enters an element. Returns whether a space separates it from the text before it, and whether it is a caption.
    pub(crate) fn enter(&mut self, name: &LocalName) -> (bool, bool) {
        let is_apart = self.open > 0 && self.is_behind && !is_inside_word(name);
        let is_caption = matches!(*name, local_name!("figcaption") | local_name!("caption"));
        self.open += usize::from(is_caption);
        self.is_behind = false;
        (is_apart, is_caption)
    }

    /// Leaves an element, which may be a caption.
    pub(crate) fn leave(&mut self, is_caption: bool) {
        self.open -= usize::from(is_caption);
        self.is_behind = true;
    }

    /// Passes text.
    pub(crate) fn text(&mut self) {
        self.is_behind = false;
    }
}

/// Returns whether an element is usually a part of a word.
fn is_inside_word(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("sub")
            | local_name!("sup")
            | local_name!("wbr")
            | local_name!("ruby")
            | local_name!("rb")
            | local_name!("rt")
            | local_name!("rp")
    )
}
