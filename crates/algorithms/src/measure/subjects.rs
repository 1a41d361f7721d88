//! Compares what identifies two documents: the title, the code and the label at the end (see `contents/identity.rs`).
//!
//! Two pages can share nearly everything and still be about different things. This module compares what two documents say about themselves;
//! `titles` decides the cases that need the words of the complete texts.
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

use super::contained::{Contained, Part};
use super::contents::{Contents, LABEL, Title};
use super::jaccard::common;

/// The minimum share of each text, without its title or label, that the other text contains if only the titles or labels differ.
const ALL_BUT_ONE_LINE: f64 = 0.99;
/// The minimum share of one text's lines of code that the other text contains.
const CODE: f64 = 0.5;

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

/// Compares what identifies two documents. `a` and `b` are the contents of the texts as [`write_contents`](super::write_contents) writes
/// them, and `contained` is the result of [`contained()`](super::contained()).
pub fn subjects(a: &[u64], b: &[u64], contained: [Contained; 2]) -> Subjects {
    let (a, b) = (Contents::of(a), Contents::of(b));
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
    use super::super::{contained, write_contents};
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
