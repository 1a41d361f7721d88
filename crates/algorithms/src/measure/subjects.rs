//! Compares what identifies two documents: the title, the code and the label at the end.
//!
//! Two pages can share nearly everything and still be about different things. This module compares what two documents say about themselves;
//! `titles` decides the cases that need the words of the complete texts.
//!
//! * **Title.** The title is the first line, without a number before it and without a remark in parentheses at its end. A title of one word
//!   is a name, and goes on in the next line, unless a section or a list begins there: the signature of a function, or the description of a
//!   command.
//! * **Code.** The lines in fenced code blocks. Two lessons that explain the same thing in two programming languages differ in their code.
//! * **Label.** A last line of at most three words, such as the answer below a question, if all other lines are the same.
//!
//! ```text
//! "dba_open\n..."   "dba_popen\n..."                                      two names                    -> Name
//! "fold\nclass nn.Fold(size)"   "fold\nfunction nn.functional.fold(x)"    one name, two signatures     -> Name
//! "Rules of the Hualien branch"   "Rules of the Yilan branch"             half of the words are equal  -> Pattern
//! "CMake (Portable)"   "CMake (Install)"                                  equal without the remarks    -> Same
//! ```
//!
//! Source: dupsift's own rule, found by experiment; docs/versions.md shows its results. Cost: some 80 values per document and one per line
//! of code, under a microsecond per pair.

use super::contained::{Contained, GRAM, Part};
use super::jaccard::common;
use dupsift_core::hash::hash64;
use dupsift_text::shingle::{distinct, shingles};
use dupsift_text::{Analysis, TitleLines, is_han, is_unspaced, short_last_line};

/// The maximum number of tokens in a title; a longer first line is a paragraph.
const LONGEST: usize = 40;
/// The number of initial letters that two forms of the same word share.
const STEM: usize = 4;
/// The number of leading values: the name, the hash of the title, and three numbers of tokens.
const HEAD: usize = 5;
/// The minimum number of tokens in a title that is looked for in the other text. A shorter title may occur anywhere.
const LEAST_QUOTED: usize = 4;
/// The minimum share of each text, without its title or label, that the other text contains if only the titles or labels differ.
const ALL_BUT_ONE_LINE: f64 = 0.99;
/// The minimum share of one text's lines of code that the other text contains.
const CODE: f64 = 0.5;
/// The marks that begin and end a block of code.
const FENCES: [&str; 2] = ["```", "~~~"];
/// The maximum number of words in a label, and of bytes.
const LABEL: usize = 3;
const LABEL_BYTES: usize = 64;

/// States how what identifies one document relates to what identifies another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subjects {
    /// The two documents alone do not show it: the words of the titles decide.
    #[default]
    Unknown,
    /// The titles are equal, one text quotes the title of the other, or the texts are equal except for their titles.
    Same,
    /// Both titles are names, and the names or the lines after them differ.
    Name,
    /// Half of the words of each title are in the other title, and each has a word that the other lacks.
    Pattern,
    /// The lines of code differ.
    Code,
    /// The texts are equal except for their short last lines.
    Label,
}

/// Appends the title of a text, or nothing if the text has no title.
pub(crate) fn write_title(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let Some(lines) = TitleLines::of(document) else { return };
    let (core, line) = (document.beside(lines.core()), document.beside(lines.first));
    if core.tokens().len() > LONGEST {
        return;
    }
    let name = if lines.next.is_some() { name(core.text()) } else { 0 };
    let start = out.len();
    out.extend([name, hash64(core.text().as_bytes()), line.tokens().len() as u64, core.tokens().len() as u64, 0]);
    write_stems(&core, out);
    if let Some(next) = lines.short_next().filter(|_| name != 0) {
        write_stems(&document.beside(next), out);
    }
    out[start + HEAD - 1] = (out.len() - start - HEAD) as u64;
    if core.tokens().len() >= GRAM {
        shingles(core.tokens(), GRAM, false, out);
    }
}

/// Appends a hash for each token: of the first letters of a word, or of a Han character.
fn write_stems(line: &Analysis<'_>, out: &mut Vec<u64>) {
    let start = out.len();
    for word in line.words() {
        let letters = line.word(word);
        if word.han {
            out.extend(letters.chars().map(|letter| hash64(letter.encode_utf8(&mut [0; 4]).as_bytes())));
        } else {
            out.push(hash64(stem(letters).as_bytes()));
        }
    }
    // Words that mix Han characters and letters may be split differently from tokens.
    if out.len() - start != line.tokens().len() {
        out.truncate(start);
        out.extend(line.tokens().iter().map(|token| token.hash));
    }
}

/// Returns the first letters of a word; a word that contains a digit (a version or a number) or a dot (`nn.fold`) has no other forms.
fn stem(word: &str) -> &str {
    let is_word = word.chars().all(char::is_alphabetic);
    let end = word.char_indices().nth(STEM).filter(|_| is_word);
    end.map_or(word, |(end, _)| &word[..end])
}

/// Returns the hash of a title that is a single name. Returns 0 if there is more than one word, for a script without spaces between words,
/// and for dates and other numbers.
fn name(title: &str) -> u64 {
    let is_number = title.contains(char::is_numeric) && !title.contains(char::is_alphabetic);
    if is_number || title.contains(|letter: char| letter.is_whitespace() || is_han(letter) || is_unspaced(letter)) {
        0
    } else {
        hash64(title.as_bytes()).max(1)
    }
}

/// Appends the hashes of the distinct lines of code, in ascending order.
pub(crate) fn write_code(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let raw = document.raw();
    if !FENCES.iter().any(|fence| raw.contains(fence)) {
        return;
    }
    let (mut lines, mut inside) = (Vec::new(), false);
    for line in raw.lines() {
        let is_fence = FENCES.iter().any(|fence| line.trim_start().starts_with(fence));
        inside ^= is_fence;
        if inside && !is_fence && line.contains(char::is_alphanumeric) {
            let letters: String = line.split_whitespace().collect();
            lines.push(hash64(letters.to_lowercase().as_bytes()));
        }
    }
    distinct(&mut lines);
    out.append(&mut lines);
}

/// Appends the hash of a text's label, or nothing if the text has none.
pub(crate) fn write_label(document: &Analysis<'_>, out: &mut Vec<u64>) {
    let Some(line) = short_last_line(document, LABEL_BYTES) else { return };
    let line = document.beside(line);
    if (1..=LABEL).contains(&line.tokens().len()) {
        out.push(line.tokens().iter().fold(0, |hash: u64, token| hash.rotate_left(1) ^ token.hash));
    }
}

/// Holds a title as [`write_title`] wrote it.
struct Title<'t> {
    name: u64,
    hash: u64,
    /// The number of tokens in the first line, with everything that does not belong to the title.
    line: u64,
    /// The stems of the title.
    stems: &'t [u64],
    /// The stems of the title and, if it is a name, of the next line.
    with_next: &'t [u64],
    phrases: &'t [u64],
}

impl<'t> Title<'t> {
    fn of(values: &'t [u64]) -> Option<Title<'t>> {
        let (&[name, hash, line, tokens, all], rest) = values.split_first_chunk::<HEAD>()?;
        let (with_next, phrases) = rest.split_at_checked(all as usize)?;
        Some(Title { name, hash, line, stems: with_next.get(..tokens as usize)?, with_next, phrases })
    }

    /// Returns whether at least half of the words of this title are in the other title.
    fn shares_half(&self, other: &Title<'_>) -> bool {
        2 * self.stems.iter().filter(|stem| other.stems.contains(stem)).count() >= self.stems.len()
    }

    /// Returns whether the title is long enough to be recognized in a text, and a text with these 3-grams contains it.
    fn stands_in(&self, grams: &[u64]) -> bool {
        self.stems.len() >= LEAST_QUOTED && self.phrases.iter().all(|phrase| grams.binary_search(phrase).is_ok())
    }
}

/// Returns whether the other text contains all of a text except a line of this many tokens, and the rest is at least as long as the line.
fn is_all_but(grams: Part, tokens: u64) -> bool {
    let rest = grams.all.saturating_sub(tokens);
    rest >= tokens && grams.common as f64 >= ALL_BUT_ONE_LINE * rest as f64
}

/// Returns whether each list has an element that the other lacks.
fn each_has_its_own(a: &[u64], b: &[u64]) -> bool {
    let has_own = |of: &[u64], other: &[u64]| of.iter().any(|one| !other.contains(one));
    has_own(a, b) && has_own(b, a)
}

/// Holds what identifies a document, as written by the functions above, and the distinct 3-grams of its text in ascending order.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'t> {
    pub title: &'t [u64],
    pub code: &'t [u64],
    pub label: &'t [u64],
    pub grams: &'t [u64],
}

/// Compares what identifies two documents; `contained` states how much of each text the other contains.
pub(crate) fn compare_subjects([a, b]: [Subject<'_>; 2], contained: [Contained; 2]) -> Subjects {
    let shares = contained.map(|one| one.grams.share().unwrap_or(0.0));
    if differ_in_code([a.code, b.code], shares) {
        return Subjects::Code;
    }
    let are_labeled = !a.label.is_empty() && !b.label.is_empty() && a.label != b.label;
    if are_labeled && contained.iter().all(|one| is_all_but(one.grams, LABEL as u64)) {
        return Subjects::Label;
    }
    match (Title::of(a.title), Title::of(b.title)) {
        (Some(title_a), Some(title_b)) => compare_titles([(title_a, a.grams), (title_b, b.grams)], contained),
        _ => Subjects::Unknown,
    }
}

/// Returns whether the text of which the other contains more has lines of code that the other lacks. If both have no more in common, any.
fn differ_in_code([a, b]: [&[u64]; 2], shares: [f64; 2]) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    let same = common(a, b) as f64;
    let differs = |side: usize, lines: usize| shares[side] >= shares[1 - side] && same < CODE * lines as f64;
    differs(0, a.len()) || differs(1, b.len())
}

fn compare_titles([(a, grams_a), (b, grams_b)]: [(Title<'_>, &[u64]); 2], contained: [Contained; 2]) -> Subjects {
    if a.name != 0 && b.name != 0 {
        let differ = a.name != b.name || each_has_its_own(a.with_next, b.with_next);
        return if differ { Subjects::Name } else { Subjects::Same };
    }
    let shares_half = a.shares_half(&b) && b.shares_half(&a);
    match () {
        () if a.hash == b.hash || a.stands_in(grams_b) || b.stands_in(grams_a) => Subjects::Same,
        () if shares_half && each_has_its_own(a.stems, b.stems) => Subjects::Pattern,
        () if shares_half => Subjects::Unknown,
        () if is_all_but(contained[0].grams, a.line) && is_all_but(contained[1].grams, b.line) => Subjects::Same,
        () => Subjects::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::super::contained::{contained, subjects, write_contents};
    use super::Subjects::{Code, Label, Name, Pattern, Same, Unknown};
    use super::*;
    use dupsift_text::{Pipeline, TextOptions};

    fn of(a: &str, b: &str) -> Subjects {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let contents = |text: &str| {
            let mut out = Vec::new();
            write_contents(&pipeline.analyse(text), &mut out);
            out
        };
        let (a, b) = (contents(a), contents(b));
        assert_eq!(subjects(&a, &b, contained(&a, &b)), subjects(&b, &a, contained(&b, &a)));
        subjects(&a, &b, contained(&a, &b))
    }

    #[test]
    fn names_are_equal_or_name_other_things() {
        assert_eq!(of("dba_open\nOpens a database", "dba_popen\nOpens a database"), Name);
        assert_eq!(of("# [\nCompares", "# [[\nCompares"), Name);
        assert_eq!(of("# chdir\nChanges", "# CHDIR\nChanges"), Same);
        assert_eq!(of("CommonMark\\Render\nReturns", "CommonMark\\Render\\Man\nReturns"), Name);
        // A title of several words, a line of Chinese and a date are not names.
        assert_eq!(of("2026-11-01\nA fire broke out", "2026-11-11\nA fire broke out"), Unknown);
        assert_eq!(of("v1.2\nFixes a bug", "v1.3\nFixes a bug"), Name);
        assert_eq!(of("Install\nRun it", "Install it\nRun it"), Unknown);
        // So little text says nothing about its title.
        assert_eq!(of("安装\n运行", "卸载\n运行"), Unknown);
        // A title in a script without spaces is not a name either.
        for (one, other) in [("การติดตั้ง", "การถอนการติดตั้ง"), ("မြန်မာ", "မြန်မာစာ"), ("はじめに", "おわりに")]
        {
            assert_ne!(of(&format!("{one}\nA text"), &format!("{other}\nA text")), Name);
        }
        assert_eq!(of("a line without a text", "line"), Unknown);
    }

    /// A bare name stands for different things in different places; the signature below it says for which.
    #[test]
    fn a_name_goes_on_in_the_next_line() {
        let page = |name: &str, signature: &str| format!("{name}\n-----\n\n.. {signature}\n\nApplies it to the input.");
        let relu = |package: &str| page("ReLU6", &format!("py:class:: paddle.{package}.ReLU6(name=None)"));
        assert_eq!(of(&relu("nn"), &relu("sparse.nn")), Name);
        assert_eq!(of(&page("Pad", "class Pad(padding, keys)"), &page("pad", "function pad(img, padding)")), Name);
        // A line that only adds words describes the same thing in more detail.
        assert_eq!(of("lodash\nA library", "lodash\nA library for arrays"), Same);
        assert_eq!(of("lodash\nA library", "# Lodash\n\n"), Same);
        // A section of a list of changes is no signature.
        assert_eq!(of("# [Unreleased]\n\n### Added\n\nFiles", "# [Unreleased]\n\n### Fixed\n\nFiles"), Same);
    }

    #[test]
    fn one_pattern_with_another_word() {
        let rules = |county: &str| format!("Rules of the {county} branch\nThe branch of the office shall obey.");
        assert_eq!(of(&rules("Hualien"), &rules("Yilan")), Pattern);
        let chinese = |place: &str| format!("農糧署{place}分署辦事細則\n本分署為處理內部單位之分工職掌，訂定本細則。");
        assert_eq!(of(&chinese("東區"), &chinese("南區")), Pattern);
        // Different forms of the same words, a longer title and a title with little in common are a matter of words.
        assert_eq!(of("Изменить текст команды меню\nЧтобы", "Изменение текста команды меню\nЧтобы"), Unknown);
        assert_eq!(of("Rules of the branch\nObey", "Rules of the Yilan branch\nObey"), Unknown);
        assert_eq!(of("How to draw a red line\nDraw a line", "Lines\nDraw a line"), Unknown);
    }

    #[test]
    fn titles_that_are_the_same() {
        assert_eq!(of("SeqDownload (Install)\nDownloads", "SeqDownload (Portable)\nDownloads"), Same);
        assert_eq!(of("11. Find the angle\nA", "10. Find the angle\nA"), Same);
        // A page may begin with its author; the title then stands below.
        assert_eq!(of("Why we must refuse\nIt is bad.", "Ann Evans\nOpinion\nWhy we must refuse\nIt is bad."), Same);
        // An advertisement has another headline in each town.
        let body = "We offer the best service at all hours of the day and at a fair price. ".repeat(3);
        let body = format!("{body} Call us today or write to the address below and ask for what you want.");
        assert_eq!(of(&format!("Taipei at night\n{body}"), &format!("Come to Wanhua\n{body}")), Same);
        assert_eq!(of(&format!("Taipei at night\n{body}"), &format!("Come to Wanhua\n{body} More and more.")), Unknown);
    }

    #[test]
    fn code_and_labels_are_facts() {
        let lesson = |code: &str| format!("Loops\n\nA loop repeats what it contains.\n\n```{code}\n```\n");
        assert_eq!(of(&lesson("python\nwhile True:"), &lesson("php\nwhile (true)")), Code);
        assert_eq!(of(&lesson("python\nwhile True:"), &lesson("python\nwhile  True:")), Same);
        // A text without code may be an excerpt.
        assert_eq!(of(&lesson("python\nwhile True:"), "Loops\n\nA loop repeats what it contains."), Same);
        let question = |answer: &str| format!("A man plays a guitar on a stage at night. Does the man play?\n{answer}");
        assert_eq!(of(&question("Yes."), &question("No.")), Label);
        assert_eq!(of(&question("Yes."), &question("yes")), Unknown);
        // Where other lines differ too, the last line is a signature or a link.
        let letter = |name: &str, day: &str| format!("Dear all, the meeting is on {day} at noon in the hall.\n{name}");
        assert_eq!(of(&letter("Ann", "Monday"), &letter("Bob", "Tuesday")), Pattern);
    }
}
