//! Holds the words of all items, one item after another.

/// The number of an item, in the order in which items were added. Items with the same words and numbers have the same number.
pub type Item = u32;

/// Holds the token hashes of all questions, choices and answers.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// The tokens of each question, followed by those of its choices.
    pub tokens: Vec<u64>,
    /// The tokens of the answers.
    pub answers: Vec<u64>,
    /// The position at which the texts of each item end.
    pub ends: Vec<Ends>,
    /// The end of each choice in `tokens`.
    pub choice_ends: Vec<usize>,
    /// The end of each answer in `answers`.
    pub answer_ends: Vec<usize>,
}

/// Marks where the texts of an item end in the lists of [`Texts`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    /// The position at which the question ends in [`Texts::tokens`].
    pub question: usize,
    /// The position at which the choices end in [`Texts::tokens`].
    pub tokens: usize,
    /// The position at which the choices end in [`Texts::choice_ends`].
    pub choices: usize,
    /// The position at which the answers end in [`Texts::answer_ends`].
    pub answers: usize,
    /// The number of words in the question.
    pub words: f32,
    /// The maximum number of words in choices or an answer that are compared together with the question.
    pub beside: f32,
    /// Whether there are too few words to search for.
    pub is_too_short: bool,
}
