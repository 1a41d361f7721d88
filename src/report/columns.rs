//! Shows two texts side by side in a terminal. The texts are wrapped to fixed-width columns, and differences are marked with colors or, if
//! colors are off, with `[-...-]` and `{+...+}`, or with other signs if the texts contain these.
//!
//! Because texts are untrusted, their control characters are shown as symbols or numbers and never reach the terminal.

use unicode_width::UnicodeWidthChar;

use super::difference::{Difference, Line, Piece};
use super::{counted, thousands};

/// Describes the output device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The width of the terminal in columns.
    pub width: usize,
    /// Whether the terminal shows colors.
    pub colours: bool,
    /// Whether everything is shown, including unchanged lines and all signature rows.
    pub full: bool,
}

/// The minimum width for two texts side by side.
pub const LEAST_WIDTH: usize = 40;
/// The number of unchanged lines that are shown around a change.
const AROUND: usize = 1;
/// The minimum number of consecutive unchanged lines that are folded.
const FOLDED: usize = 2;

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const DIM: &str = "\x1b[2m";
const PLAIN: &str = "\x1b[0m";

/// Identifies the document that a column shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Returns the difference as text, under two headings.
pub(crate) fn columns(difference: &Difference, headings: [&str; 2], screen: Screen) -> String {
    let width = (screen.width.max(LEAST_WIDTH) - 3) / 2;
    let marks = marks(difference, screen.colours);
    let mut text = String::new();
    let heading = |text: &str| wrapped(&[Piece { text: text.into(), changed: false }], Side::Left, width, marks);
    beside(&heading(headings[0]), &heading(headings[1]), ' ', width, &mut text);
    text += &"-".repeat(2 * width + 3);
    text.push('\n');
    let lines = &difference.lines;
    let mut at = 0;
    while at < lines.len() {
        let equal = lines[at..].iter().take_while(|line| matches!(line, Line::Equal(_))).count();
        let before = if at > 0 { AROUND } else { 0 };
        let after = if at + equal < lines.len() { AROUND } else { 0 };
        let folded = equal.saturating_sub(before + after);
        if screen.full || folded < FOLDED {
            let count = equal.max(1);
            lines[at..at + count].iter().for_each(|line| one(line, width, marks, &mut text));
            at += count;
            continue;
        }
        lines[at..at + before].iter().for_each(|line| one(line, width, marks, &mut text));
        text += &dimmed(&format!("... {} ...", counted(folded as u64, "equal line")), screen.colours);
        lines[at + before + folded..at + equal].iter().for_each(|line| one(line, width, marks, &mut text));
        at += equal;
    }
    for (cut, name) in difference.cut.iter().zip(["first", "second"]) {
        if *cut > 0 {
            text += &format!("the last {} characters of the {name} text are not compared\n", thousands(*cut as u64));
        }
    }
    text
}

/// The signs around text that is only in one document, or colors.
#[derive(Clone, Copy)]
struct Marks {
    colours: bool,
    /// The beginning and the end for each side.
    signs: [[&'static str; 2]; 2],
}

/// The signs, in the order in which they are tried.
const SIGNS: [[[&str; 2]; 2]; 3] =
    [[["[-", "-]"], ["{+", "+}"]], [["<-", "->"], ["<+", "+>"]], [["[[-", "-]]"], ["{{+", "+}}"]]];

/// Returns the first signs that the lines do not contain, so that signs are never nested.
fn marks(difference: &Difference, colours: bool) -> Marks {
    if colours {
        return Marks { colours, signs: [[RED, PLAIN], [GREEN, PLAIN]] };
    }
    let has = |sign: &str| {
        let in_pieces = |pieces: &[Piece]| pieces.iter().any(|piece| piece.text.contains(sign));
        difference.lines.iter().any(|line| match line {
            Line::Changed(left, right) => in_pieces(left) || in_pieces(right),
            Line::TooLong(left, right) => left.contains(sign) || right.contains(sign),
            // Other lines have no signs.
            Line::Equal(_) | Line::Left(_) | Line::Right(_) => false,
        })
    };
    let is_free = |signs: &&[[&str; 2]; 2]| !signs.iter().flatten().any(|sign| has(sign));
    Marks { colours, signs: *SIGNS.iter().find(is_free).unwrap_or(&SIGNS[2]) }
}

fn dimmed(text: &str, colours: bool) -> String {
    if colours { format!("{DIM}{text}{PLAIN}\n") } else { format!("{text}\n") }
}

/// Writes one line of each document.
fn one(line: &Line, width: usize, marks: Marks, out: &mut String) {
    let colours = marks.colours;
    let piece = |text: &str, changed| vec![Piece { text: text.to_string(), changed }];
    let (left, right, mark) = match line {
        Line::Equal(text) => (piece(text, false), piece(text, false), ' '),
        Line::Changed(left, right) => (left.clone(), right.clone(), '|'),
        Line::TooLong(left, right) => {
            *out += &dimmed("... too long to compare word by word ...", colours);
            (piece(left, true), piece(right, true), '|')
        }
        Line::Left(text) => (piece(text, true), Vec::new(), '<'),
        Line::Right(text) => (Vec::new(), piece(text, true), '>'),
    };
    // A line that occurs in only one document is marked by the sign between the columns.
    let marked = colours || matches!(line, Line::Changed(..) | Line::TooLong(..));
    let wrap = |pieces: &[Piece], side| {
        let plain: Vec<Piece> =
            pieces.iter().map(|piece| Piece { changed: piece.changed && marked, ..piece.clone() }).collect();
        wrapped(&plain, side, width, marks)
    };
    beside(&wrap(&left, Side::Left), &wrap(&right, Side::Right), mark, width, out);
}

/// A row of a column, with its width on the terminal.
type Cell = (String, usize);

fn beside(left: &[Cell], right: &[Cell], mark: char, width: usize, out: &mut String) {
    for row in 0..left.len().max(right.len()) {
        let (text, taken) = left.get(row).map_or(("", 0), |(text, taken)| (text.as_str(), *taken));
        let line = format!("{text}{} {mark} {}", " ".repeat(width - taken), right.get(row).map_or("", |cell| &cell.0));
        *out += line.trim_end();
        out.push('\n');
    }
}

/// Wraps pieces into rows of at most `width` columns. Rows break after spaces and next to wide characters. A word is broken only if it is
/// longer than a row.
fn wrapped(pieces: &[Piece], side: Side, width: usize, Marks { colours, signs }: Marks) -> Vec<Cell> {
    let [begin, end] = signs[usize::from(side == Side::Right)];
    // The characters or symbols that are shown, each with its width and a flag that marks colored characters.
    let mut atoms: Vec<(String, usize, bool)> = Vec::new();
    for piece in pieces {
        let signs = piece.changed && !colours;
        let sign = |text: &str| (text.to_string(), text.len(), true);
        if signs {
            atoms.push(sign(begin));
        }
        atoms.extend(piece.text.chars().map(|character| {
            let text = visible(character);
            let columns = text.chars().map(|character| character.width().unwrap_or(0)).sum();
            (text, columns, piece.changed)
        }));
        if signs {
            atoms.push(sign(end));
        }
    }
    let mut rows = Vec::new();
    let mut from = 0;
    while from < atoms.len() {
        let (mut to, mut taken, mut fits) = (from, 0, from);
        while to < atoms.len() && taken + atoms[to].1 <= width {
            taken += atoms[to].1;
            to += 1;
            // A row may end at a position next to a space or a wide character.
            let wide = |at: usize| atoms.get(at).is_some_and(|atom| atom.1 == 2 && atom.0.chars().count() == 1);
            if atoms[to - 1].0 == " " || wide(to - 1) || wide(to) {
                fits = to;
            }
        }
        // A space that does not fit also ends the row.
        let ends = to == atoms.len() || atoms[to].0 == " ";
        let to = if ends || fits == from { to.max(from + 1) } else { fits };
        rows.push(row(&atoms[from..to], begin, end, colours));
        from = to;
        while from < atoms.len() && atoms[from].0 == " " {
            from += 1;
        }
    }
    rows
}

/// Assembles a row, and turns colors on and off where a change begins and ends.
fn row(atoms: &[(String, usize, bool)], begin: &str, end: &str, colours: bool) -> Cell {
    let (mut text, mut taken, mut on) = (String::new(), 0, false);
    for (atom, columns, changed) in atoms {
        if colours && *changed != on {
            text += if *changed { begin } else { end };
            on = *changed;
        }
        text += atom;
        taken += columns;
    }
    if on && colours {
        text += end;
    }
    (text, taken)
}

/// Returns untrusted text as one line, without anything that a terminal would interpret.
pub(crate) fn safe(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Returns a character in a form that is safe to show: white space as a space, control characters as symbols, and direction marks and
/// invisible characters as numbers.
fn visible(character: char) -> String {
    match character {
        '\t' | '\n' | '\r' => " ".into(),
        '\0'..='\u{1F}' => char::from_u32(0x2400 + u32::from(character)).unwrap_or('?').into(),
        '\u{7F}' => '\u{2421}'.into(),
        '\u{80}'..='\u{9F}'
        | '\u{AD}'
        | '\u{61C}'
        | '\u{200B}'
        | '\u{200E}'
        | '\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}' => format!("<U+{:04X}>", u32::from(character)),
        character if character.is_whitespace() && character != '\u{3000}' => " ".into(),
        character => character.into(),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;
    use crate::report::difference::difference;

    fn shown(a: &str, b: &str, width: usize, colours: bool, full: bool) -> String {
        columns(&difference(a, b), ["a", "b"], Screen { width, colours, full })
    }

    #[test]
    fn words_and_characters_that_differ_are_marked() {
        let a = "The first line.\nIt sleeps all day long on the warm window sill.\n网页搜索引擎需要去除重复网页，否则用户会看到许多相同的结果。";
        let b = "The first line.\nIt sleeps all night long on the warm window sill.\n网页搜寻引擎需要去除重复网页，否则用户会看到许多相同的结果。\nOne more.";
        expect_test::expect![[r#"
            a                              b
            -----------------------------------------------------------
            The first line.                The first line.
            It sleeps all [-day-] long   | It sleeps all {+night+} long
            on the warm window sill.     | on the warm window sill.
            网页搜[-索-]引擎需要去除重复 | 网页搜{+寻+}引擎需要去除重复
            网页，否则用户会看到许多相同 | 网页，否则用户会看到许多相同
            的结果。                     | 的结果。
                                         > One more.
        "#]]
        .assert_eq(&shown(a, b, 60, false, false));
    }

    #[test]
    fn signs_are_never_nested() {
        expect_test::expect![[r#"
            a                              b
            -----------------------------------------------------------
            Get-It [-Sum] <-all->        | Get-It [-Sum] <+none+>
        "#]]
        .assert_eq(&shown("Get-It [-Sum] all", "Get-It [-Sum] none", 60, false, false));
    }

    #[test]
    fn equal_lines_are_folded() {
        let lines = |change: &str| {
            let lines = (0..20).map(|n| if n == 9 { format!("the {change} line") } else { format!("line {n}") });
            lines.collect::<Vec<_>>().join("\n")
        };
        expect_test::expect![[r#"
            a                         b
            -------------------------------------------------
            ... 8 equal lines ...
            line 8                    line 8
            the [-old-] line        | the {+new+} line
            line 10                   line 10
            ... 9 equal lines ...
        "#]]
        .assert_eq(&shown(&lines("old"), &lines("new"), 50, false, false));
        assert_eq!(shown(&lines("old"), &lines("new"), 50, false, true).lines().count(), 22);
        expect_test::expect![[r#"
            a                         b
            -------------------------------------------------
            ... 3 equal lines ...
        "#]]
        .assert_eq(&shown("a\nb\nc", "a\nb\nc", 50, false, false));
    }

    #[test]
    fn a_line_that_is_not_compared_by_words_says_so() {
        let line = |last: &str| "字".repeat(30_000) + last;
        let text = shown(&line("甲"), &line("乙"), 40, false, false);
        assert!(text.contains("\n... too long to compare word by word ...\n[-字"), "{}", &text[..text.len().min(300)]);
        assert!(text.lines().all(|line| line.width() <= 40));
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        let a = "слово ".repeat(40) + &"字".repeat(70) + &"x".repeat(200) + " e\u{301}\u{301} конец";
        let b = a.replace("字字字", "字国字").replace("xxxxxxx", "xyx");
        for width in [40, 41, 60, 77, 100] {
            for line in shown(&a, &b, width, false, true).lines() {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
        }
    }

    #[test]
    fn nothing_that_a_terminal_obeys_comes_through() {
        let evil = "a\u{1b}[31mred\u{7} \u{9b}2J \u{202e}left\u{200b} \r\u{8}b";
        for colours in [false, true] {
            let text = shown(evil, "a\u{1b}]0;title\u{7}", 60, colours, true);
            let mut rest = text.clone();
            for own in [RED, GREEN, DIM, PLAIN] {
                rest = rest.replace(own, "");
            }
            assert!(!rest.contains(|c: char| c.is_control() && c != '\n'), "{rest:?}");
            assert!(!rest.contains(['\u{202e}', '\u{200b}']) && rest.contains('␛'));
        }
        assert_eq!(safe("x\ny\u{1b}"), "x y␛");
    }

    /// Checks that colored text without its color codes equals plain text, except for the signs.
    #[test]
    fn colours_mark_the_same() {
        let text = shown("all day long", "all night long", 60, true, false);
        assert!(text.contains("\x1b[31mday\x1b[0m long") && text.contains("\x1b[32mnight\x1b[0m long"), "{text:?}");
    }
}
