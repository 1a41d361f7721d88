//! Computes the difference between two texts: aligns their lines and sentences, and compares changed lines word by word (in Chinese,
//! character by character). `dupsift_text::side_by_side` splits the texts.
//!
//! All limits apply to size, not time, so the same texts always give the same difference.

use dupsift_text::side_by_side::{dice, first_characters, lines, sorted_words, words};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::borrow::Cow;

/// The maximum number of characters of each text that are compared.
pub(crate) const MOST_CHARACTERS: usize = 200_000;
/// The maximum number of lines and sentences of each text that are compared.
const MOST_LINES: usize = 20_000;
/// The maximum number of pairs of changed lines that are compared in one stretch of changes. If there are more, lines are paired in order.
const MOST_WEIGHED: usize = 10_000;
/// The maximum total number of words in two lines that are compared word by word; spaces and punctuation count as words. If there are more,
/// the complete lines are shown as different.
const MOST_WORDS: usize = 40_000;
/// The minimum share of words that two changed lines must have in common to be shown side by side.
const ALIKE: f64 = 0.3;

/// Holds a part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The original text.
    pub text: String,
    /// Whether this part is missing from the other document's line.
    pub changed: bool,
}

/// Holds one line or sentence from each document, side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// A line in both documents.
    Equal(String),
    /// A line in both documents, with differences.
    Changed(Vec<Piece>, Vec<Piece>),
    /// A line in both documents, with differences; it has too many words for a word-by-word comparison.
    TooLong(String, String),
    /// A line that is only in the first document.
    Left(String),
    /// A line that is only in the second document.
    Right(String),
}

/// Holds the difference between two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The lines, in text order.
    pub lines: Vec<Line>,
    /// The number of characters that are not compared at the end of each text because the text is too long.
    pub cut: [usize; 2],
}

/// Compares two texts.
pub(crate) fn difference(a: &str, b: &str) -> Difference {
    let ((a, a_cut), (b, b_cut)) = (compared_lines(a), compared_lines(b));
    let mut found = Vec::new();
    let keys = [&a, &b].map(|lines| lines.iter().map(|line| on_one_line(line)).collect::<Vec<_>>());
    for op in capture_diff_slices(Algorithm::Myers, &keys[0], &keys[1]) {
        let (old, new) = (&a[op.old_range()], &b[op.new_range()]);
        match op {
            DiffOp::Equal { .. } => found.extend(old.iter().map(|line| Line::Equal(flat(line)))),
            DiffOp::Delete { .. } => found.extend(old.iter().map(|line| Line::Left(flat(line)))),
            DiffOp::Insert { .. } => found.extend(new.iter().map(|line| Line::Right(flat(line)))),
            DiffOp::Replace { .. } => align(old, new, &mut found),
        }
    }
    Difference { lines: found, cut: [a_cut, b_cut] }
}

/// Returns the lines and sentences of a text that are compared, and the number of characters that are not compared.
fn compared_lines(text: &str) -> (Vec<&str>, usize) {
    let compared = first_characters(text, MOST_CHARACTERS).unwrap_or(text);
    let mut lines = lines(compared);
    let place = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    let end = lines.get(MOST_LINES).map_or(compared.len(), |line| place(line));
    lines.truncate(MOST_LINES);
    (lines, text[end..].chars().count())
}

/// Aligns similar changed lines, in order, so that the total similarity of aligned lines is as large as possible.
fn align(old: &[&str], new: &[&str], out: &mut Vec<Line>) {
    if old.len() * new.len() > MOST_WEIGHED {
        let both = old.len().min(new.len());
        old.iter().zip(new).for_each(|(a, b)| out.push(changed(a, b)));
        out.extend(old[both..].iter().map(|line| Line::Left(flat(line))));
        out.extend(new[both..].iter().map(|line| Line::Right(flat(line))));
        return;
    }
    let bags = |lines: &[&str]| -> Vec<Vec<String>> { lines.iter().map(|line| sorted_words(line)).collect() };
    let (old_bags, new_bags) = (bags(old), bags(new));
    let width = new.len() + 1;
    // best[i][j] is the maximum total similarity of the old lines from i on and the new lines from j on. Shares that are too small count as
    // 0.
    let mut best = vec![0.0; (old.len() + 1) * width];
    let alike = |i: usize, j: usize| {
        let share = dice(&old_bags[i], &new_bags[j]);
        if share >= ALIKE { share } else { 0.0 }
    };
    let shares: Vec<f64> = (0..old.len() * new.len()).map(|at| alike(at / new.len(), at % new.len())).collect();
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let share = shares[i * new.len() + j];
            let beside = if share > 0.0 { share + best[(i + 1) * width + j + 1] } else { 0.0 };
            best[i * width + j] = beside.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let (here, share) = (best[i * width + j], shares[i * new.len() + j]);
        if share > 0.0 && here == share + best[(i + 1) * width + j + 1] {
            out.push(changed(old[i], new[j]));
            (i, j) = (i + 1, j + 1);
        } else if here == best[(i + 1) * width + j] {
            out.push(Line::Left(flat(old[i])));
            i += 1;
        } else {
            out.push(Line::Right(flat(new[j])));
            j += 1;
        }
    }
    out.extend(old[i..].iter().map(|line| Line::Left(flat(line))));
    out.extend(new[j..].iter().map(|line| Line::Right(flat(line))));
}

/// Returns two lines side by side, with their differences marked.
fn changed(a: &str, b: &str) -> Line {
    let (old, new) = (words(a), words(b));
    if old.len() + new.len() > MOST_WORDS {
        return Line::TooLong(flat(a), flat(b));
    }
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let keys = [&old, &new].map(|words| words.iter().map(|word| same_space(word)).collect::<Vec<_>>());
    if keys[0] == keys[1] {
        return Line::Equal(flat(a));
    }
    for op in capture_diff_slices(Algorithm::Myers, &keys[0], &keys[1]) {
        let equal = matches!(op, DiffOp::Equal { .. });
        push(&mut left, &old[op.old_range()], !equal);
        push(&mut right, &new[op.new_range()], !equal);
    }
    Line::Changed(left, right)
}

/// Returns a line without the line ends of a wrapped paragraph.
fn flat(line: &str) -> String {
    line.replace("\r\n", " ").replace('\n', " ")
}

/// Returns a sentence as it reads on one line: it is the same sentence wherever its lines end.
fn on_one_line(line: &str) -> Cow<'_, str> {
    if line.contains('\n') { line.split_whitespace().collect::<Vec<_>>().join(" ").into() } else { line.into() }
}

/// Returns a word, or one space for white space of any kind: where lines end makes no difference.
fn same_space(word: &str) -> &str {
    if word.starts_with(char::is_whitespace) && word.trim().is_empty() { " " } else { word }
}

fn push(pieces: &mut Vec<Piece>, words: &[&str], changed: bool) {
    let text = flat(&words.concat());
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(last) if last.changed == changed => last.text += &text,
        _ => pieces.push(Piece { text, changed }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(a: &str, b: &str) -> Vec<String> {
        let pieces = |pieces: &[Piece]| -> String {
            pieces.iter().map(|p| if p.changed { format!("[{}]", p.text) } else { p.text.clone() }).collect()
        };
        let line = |line: &Line| match line {
            Line::Equal(text) => format!("= {text}"),
            Line::Left(text) => format!("< {text}"),
            Line::Right(text) => format!("> {text}"),
            Line::Changed(a, b) => format!("~ {} | {}", pieces(a), pieces(b)),
            Line::TooLong(a, b) => format!("? {} | {}", a.len(), b.len()),
        };
        difference(a, b).lines.iter().map(line).collect()
    }

    #[test]
    fn words_of_changed_sentences_are_marked() {
        let found = shown("One. It sleeps all day long. End!", "One. It sleeps all night long. Not the end. End!");
        assert_eq!(
            found,
            ["= One.", "~ It sleeps all [day] long. | It sleeps all [night] long.", "> Not the end.", "= End!"]
        );
        let found = shown("Кот спит на окне.\n\n  Птица улетела. ", "Кот спит на крыльце.\nПтица улетела.");
        assert_eq!(found, ["~ Кот спит на [окне]. | Кот спит на [крыльце].", "= Птица улетела."]);
    }

    #[test]
    fn a_wrapped_paragraph_differs_only_in_its_words() {
        let a = "You can change the edit mode using the Set-PSReadLineOption\n\
                 command. By default on every known platform, PSReadLine\n\
                 uses the last one.";
        let b = "On other platforms, it defaults to Emacs. You can change the edit\r\n\
                 mode using the Set-PSReadLineOption command. By default on every\r\n\
                 known platform, PSReadLine uses the first one.";
        let same = "By default on every known platform, PSReadLine uses the";
        assert_eq!(
            shown(a, b),
            [
                "> On other platforms, it defaults to Emacs.",
                "= You can change the edit mode using the Set-PSReadLineOption command.",
                &format!("~ {same} [last] one. | {same} [first] one."),
            ]
        );
        assert_eq!(shown("one  two\tthree", "one two three"), ["= one  two\tthree"]);
        // Items of a list and headings stay lines of their own.
        let list = format!("{0}\n- {0}\n2) {0}\n# A heading\n{0}:\n{0}", "word ".repeat(12).trim());
        assert_eq!(shown(&list, &list).len(), 6);
    }

    #[test]
    fn chinese_is_compared_by_characters() {
        let found = shown("他说：“好。”网页搜索引擎很快。再见", "他说：“好。”网页搜寻引擎不快。再见");
        assert_eq!(found, ["= 他说：“好。”", "~ 网页搜[索]引擎[很]快。 | 网页搜[寻]引擎[不]快。", "= 再见"]);
    }

    #[test]
    fn lines_that_are_not_alike_do_not_stand_beside_each_other() {
        let found = shown("a b c\nx y z w", "k l m\nx y z q");
        assert_eq!(found, ["< a b c", "> k l m", "~ x y z [w] | x y z [q]"]);
        assert_eq!(shown("", ""), Vec::<String>::new());
        assert_eq!(shown("a", "a"), ["= a"]);
    }

    #[test]
    fn long_texts_are_cut_and_it_is_said() {
        let long = "слово ".repeat(MOST_CHARACTERS / 6 + 10);
        let found = difference(&long, "слово");
        assert_eq!(found.cut, [long.chars().count() - MOST_CHARACTERS, 0]);
        let many = "a\n".repeat(MOST_LINES + 5);
        assert_eq!(difference("a", &many).cut, [0, 10]);
    }

    #[test]
    fn a_line_of_too_many_words_is_not_compared_by_words() {
        let line = |words: usize, last: &str| "a ".repeat(words) + last;
        // A word and the space after it are two pieces; the last word is one piece.
        let (most, more) = (MOST_WORDS / 4 - 1, MOST_WORDS / 4);
        assert!(shown(&line(most, "b"), &line(most, "c"))[0].ends_with("a [c]"));
        let (one, other) = (line(more, "b"), line(more, "c"));
        assert_eq!(shown(&one, &other), [format!("? {} | {}", one.len(), other.len())]);
    }

    proptest::proptest! {
        /// Checks that the parts of each side make up its text, except for white space.
        #[test]
        fn nothing_is_lost(a in "[ab .。\\n]{0,60}", b in "[ab .。\\n]{0,60}") {
            let found = difference(&a, &b);
            let side = |left: bool| -> String {
                let text = found.lines.iter().map(|line| match line {
                    Line::Equal(text) => text.clone(),
                    Line::Left(text) => if left { text.clone() } else { String::new() },
                    Line::Right(text) => if left { String::new() } else { text.clone() },
                    Line::Changed(a, b) => (if left { a } else { b }).iter().map(|piece| piece.text.as_str()).collect(),
                    Line::TooLong(a, b) => (if left { a } else { b }).clone(),
                });
                text.collect::<String>().chars().filter(|c| !c.is_whitespace()).collect()
            };
            let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            proptest::prop_assert_eq!(side(true), plain(&a));
            proptest::prop_assert_eq!(side(false), plain(&b));
        }
    }
}
