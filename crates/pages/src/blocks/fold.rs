//! Builds the text that a reader of the page sees, with white space folded and the page's line breaks kept.

/// Text that is built incrementally. A run of white space becomes one space, no line begins or ends with a space, and consecutive line
/// breaks become one line break.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folded {
    text: String,
    space: bool,
    line: bool,
}

impl Folded {
    /// Adds text; if `keep_lines` is set, the line breaks in the text are kept, as in `pre` elements.
    pub(crate) fn push(&mut self, text: &str, keep_lines: bool) {
        let mut rest = text;
        loop {
            let word = rest.find(|c: char| !c.is_whitespace()).unwrap_or(rest.len());
            if word > 0 {
                self.space = true;
                self.line |= keep_lines && rest[..word].contains('\n');
            }
            if word == rest.len() {
                return;
            }
            rest = &rest[word..];
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            if !self.text.is_empty() && (self.line || self.space) {
                self.text.push(if self.line { '\n' } else { ' ' });
            }
            (self.space, self.line) = (false, false);
            self.text.push_str(&rest[..end]);
            rest = &rest[end..];
        }
    }

    /// Starts a new line.
    pub(crate) fn break_line(&mut self) {
        self.line = true;
    }

    /// Returns the text.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Folds text into one line.
pub(crate) fn folded(text: &str) -> String {
    let mut folded = Folded::default();
    folded.push(text, false);
    folded.finish()
}

/// Folds text, and keeps its lines.
pub(crate) fn lines_folded(text: &str) -> String {
    let mut folded = Folded::default();
    folded.push(text, true);
    folded.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_one_space_and_lines_are_broken_once() {
        assert_eq!(folded("  a\n\t b\u{a0}\u{3000}c  "), "a b c");
        assert_eq!(lines_folded("\n a  b \r\n\n  c\n"), "a b\nc");
        assert_eq!(folded(" \n "), "");
        let mut text = Folded::default();
        text.break_line();
        text.push("a", false);
        text.push("b ", false);
        text.break_line();
        text.break_line();
        text.push(" ", false);
        text.push("c", true);
        assert_eq!(text.finish(), "ab\nc");
    }
}
