//! Stretches of a text in which an item is found: candidates before the alignment, and spans after it.

use std::ops::Range;

use crate::texts::Item;

/// Describes a span: a stretch of text that contains words of an item's question in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The item.
    pub item: Item,
    /// The first token of the span in the text.
    pub start: u32,
    /// The token after the last token of the span.
    pub end: u32,
    /// The number of the question's n-grams in the span.
    pub grams: u32,
    /// Whether the span has other numbers than the question.
    pub is_variant: bool,
    /// Whether the answer is in the span or near it; `None` if the item has no answer.
    pub answer_found: Option<bool>,
    /// The tokens of the question that the span contains, as one bit per token. The lowest bit is the first token.
    pub covered: Vec<u64>,
    /// The numbers of the question that may be written in words in the span, as one bit per token.
    pub unread: Vec<u64>,
}

/// Describes a stretch of text in which n-grams of one item are close together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The item.
    pub item: Item,
    /// The first token of the first n-gram, and the token after the last token of the last n-gram. Labels are not counted.
    pub tokens: Range<u32>,
    /// The positions of these n-grams in the item, in order. Labels are not counted.
    pub begins: Vec<u32>,
}
