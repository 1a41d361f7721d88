//! Removes cut passages from a text.

use crate::fold::is_line_end;

/// Returns the text without these byte ranges, which must be in order. A cut passage inside the text is replaced with a line feed unless
/// the text before it already ends with a line end.
pub fn cut_out(text: &str, cuts: impl IntoIterator<Item = (usize, usize)>) -> String {
    let (mut out, mut kept, mut joins) = (String::with_capacity(text.len()), 0, false);
    let mut push = |out: &mut String, part: &str| {
        if part.is_empty() {
            return;
        }
        if joins && !out.is_empty() && !out.ends_with(is_line_end) {
            out.push('\n');
        }
        out.push_str(part);
        joins = true;
    };
    for (start, end) in cuts {
        push(&mut out, &text[kept..start]);
        kept = end;
    }
    push(&mut out, &text[kept..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_leaves_one_line_feed_inside_and_nothing_at_an_end() {
        assert_eq!(cut_out("ab cd ef", [(2, 6)]), "ab\nef");
        assert_eq!(cut_out("ab\ncd\nef", [(3, 6)]), "ab\nef");
        assert_eq!(cut_out("ab\n\ncd\n\nef", [(4, 8)]), "ab\n\nef");
        assert_eq!(cut_out("ab\u{2028}cd\u{2028}ef", [(5, 10)]), "ab\u{2028}ef");
        assert_eq!(cut_out("ab\rcd\ref", [(3, 6)]), "ab\ref");
        assert_eq!(cut_out("ab cd", [(0, 3)]), "cd");
        assert_eq!(cut_out("ab cd", [(2, 5)]), "ab");
        assert_eq!(cut_out("ab cd ef gh", [(2, 6), (6, 9)]), "ab\ngh");
        assert_eq!(cut_out("ab", [(0, 2)]), "");
        assert_eq!(cut_out("ab", []), "ab");
    }
}
