//! Text as a reader sees it: white space folded, lines where the page breaks them.

/// Text that grows by pieces. Any run of white space is one space, and none stands at the begin or end of a line; line
/// breaks that follow each other are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Folded {
    text: String,
    space: bool,
    line: bool,
}

impl Folded {
    /// Adds text; `keep_lines`: its line ends are line breaks, as in `pre`.
    pub fn push(&mut self, text: &str, keep_lines: bool) {
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

    /// What follows begins a new line.
    pub fn break_line(&mut self) {
        self.line = true;
    }

    /// The text so far.
    pub fn finish(self) -> String {
        self.text
    }
}

/// A text that is one line.
pub(super) fn folded(text: &str) -> String {
    let mut folded = Folded::default();
    folded.push(text, false);
    folded.finish()
}

/// A text whose lines stay.
pub(super) fn lines_folded(text: &str) -> String {
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
