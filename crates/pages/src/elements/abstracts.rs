//! Writes the abstract of a page (docs/methods/docview.md): its most informative clauses, up to 200 characters.
//!
//! The score of a clause is the sum of the weights of its distinct keywords, divided by the square root of the clause's length in
//! characters. The clauses with the highest scores are selected first; ties are broken by code point order. A clause that does not fit into
//! the remaining space is skipped, and only one of several clauses with the same letters is used. If no clause fits, the best clause is
//! truncated. The selected clauses keep the order, spelling and punctuation of the page; white space is folded, and a comma or semicolon at
//! the very end is removed.
//!
//! ```text
//! keywords cat 2, dog 1; "The cat sleeps, all is quiet. The cat and the dog play."
//! the cat sleeps: 2 / sqrt(15) = 0.516    the cat and the dog play: 3 / sqrt(25) = 0.6    all is quiet: 0      [by hand]
//! -> The cat sleeps, The cat and the dog play.
//! ```

use std::ops::Range;

use super::keywords::{ClauseWords, Gathered};
use dupsift_text::is_clause_mark;

/// The maximum number of characters in an abstract.
pub(crate) const MOST_CHARACTERS: usize = 200;

/// A clause with at least one keyword.
struct Scored {
    /// The position of the clause in the body, counted from 0.
    number: usize,
    place: Range<usize>,
    characters: usize,
    score: f64,
}

/// Returns the abstract of a body, given the hash and the weight of each keyword; empty if no clause contains a keyword.
pub(crate) fn abstract_of(body: &str, words: &Gathered<'_>, keywords: &[(u64, f64)]) -> String {
    let score = |(number, clause): (usize, &ClauseWords)| {
        let has = |hash: &u64| words.words[clause.words.clone()].contains(hash);
        // The weights are always added in the order of the keywords, so that clauses with the same keywords have exactly the same sum.
        let sum: f64 = keywords.iter().filter(|(hash, _)| has(hash)).map(|(_, weight)| weight).sum();
        if sum <= 0.0 {
            return None;
        }
        let place = clause.place.clone();
        let characters = folded(&body[place.clone()]).count();
        Some(Scored { number, place, characters, score: sum / (characters as f64).sqrt() })
    };
    let mut scored: Vec<Scored> = words.clauses.iter().enumerate().filter_map(score).collect();
    let letters = |clause: &Scored| &body[clause.place.clone()];
    scored.sort_unstable_by(|a, b| {
        b.score.total_cmp(&a.score).then_with(|| letters(a).cmp(letters(b))).then(a.number.cmp(&b.number))
    });
    // Clauses with the same letters have the same score, so they are adjacent.
    scored.dedup_by(|b, a| letters(a) == letters(b));
    let mut taken: Vec<&Scored> = Vec::new();
    let mut left = MOST_CHARACTERS;
    for clause in &scored {
        // One more character is needed for the space before the clause.
        let needed = clause.characters + usize::from(!taken.is_empty());
        if needed <= left {
            left -= needed;
            taken.push(clause);
        }
    }
    if taken.is_empty() {
        return scored.first().map_or_else(String::new, |best| shortened(letters(best)));
    }
    taken.sort_unstable_by_key(|clause| clause.number);
    let mut out = String::new();
    let mut before: Option<&Scored> = None;
    for clause in taken {
        if before.is_some_and(|before| needs_space(body, before, clause)) {
            out.push(' ');
        }
        out.extend(folded(letters(clause)));
        before = Some(clause);
    }
    let length = out.trim_end_matches(|c| is_clause_mark(c) || c == ' ').len();
    out.truncate(length);
    out
}

/// Returns whether a space belongs between two clauses. There is no space between clauses that follow each other without a space in the
/// body, and no space after a full-width punctuation mark.
fn needs_space(body: &str, before: &Scored, clause: &Scored) -> bool {
    if before.number + 1 == clause.number && before.place.end == clause.place.start {
        return false;
    }
    let wide = |c: char| matches!(c, '\u{3001}'..='\u{303F}' | '\u{FF01}'..='\u{FF65}');
    !body[..before.place.end].ends_with(wide)
}

/// Returns the characters of a clause; each run of white space becomes one U+0020.
fn folded(clause: &str) -> impl Iterator<Item = char> {
    let mut in_space = false;
    clause.chars().filter_map(move |c| {
        let again = in_space && c.is_whitespace();
        in_space = c.is_whitespace();
        if again { None } else { Some(if in_space { ' ' } else { c }) }
    })
}

/// Truncates a clause that is too long and appends U+2026. The clause is truncated at its last space if that space is in the second half of
/// the truncated clause.
fn shortened(clause: &str) -> String {
    let beginning: String = folded(clause).take(MOST_CHARACTERS - 1).collect();
    let end = beginning.rfind(' ').filter(|end| *end >= beginning.len() / 2).unwrap_or(beginning.len());
    format!("{}…", &beginning[..end])
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::page::Page;
    use dupsift_text::{Pipeline, TextOptions, clauses};

    /// A pipeline shared by all tests, because the Chinese dictionary is slow to load.
    static PIPELINE: LazyLock<Pipeline> = LazyLock::new(|| Pipeline::new(&TextOptions::default()).unwrap());

    fn of(body: &str) -> String {
        let page = Page { body: Some(body.to_owned()), ..Page::default() };
        let words = Gathered::of(&page, &clauses(body), &PIPELINE);
        let keywords: Vec<(u64, f64)> =
            words.keywords(None).into_iter().map(|(hash, keyword)| (hash, keyword.weight)).collect();
        abstract_of(body, &words, &keywords)
    }

    #[test]
    fn clauses_stand_in_the_order_and_spelling_of_the_page() {
        assert_eq!(
            of("The cat sleeps, all is so. The cat\nand the  dog play."),
            "The cat sleeps, The cat and the dog play."
        );
        assert_eq!(of("今天网页很好，我们看公园。网页公园！"), "今天网页很好，我们看公园。网页公园！");
        assert_eq!(of("1, 2 and 3; the."), "");
        assert_eq!(of(""), "");
        // Clauses with the same letters are used only once; the comma at the end is removed.
        assert_eq!(of("Red fox, red fox, Red fox,"), "Red fox, red fox");
        assert_eq!(of("red fox\u{3000}；"), "red fox");
    }

    #[test]
    fn what_does_not_fit_is_passed_over_and_what_never_fits_is_cut() {
        let filler = "zebra ".repeat(40);
        assert_eq!(of(&format!("{filler}, zebra crossing.")), "zebra crossing.");
        let cut = of(&filler);
        assert!(cut.ends_with("zebra…") && cut.chars().count() <= MOST_CHARACTERS, "{cut}");
        let han = of(&"网页去重".repeat(60));
        assert_eq!(han.chars().count(), MOST_CHARACTERS);
        assert!(han.ends_with('…'));
    }

    #[test]
    fn the_best_clauses_by_hand() {
        // The weights are 3 for "cat", 2 for "dog", and 1 for "owl". The scores are 5 / sqrt 8 = 1.77 for "cat dog.", 3 / sqrt 8 = 1.06 for
        // "dog owl.", and 3 / 9.6 and 3 / 9.8 for the "cat" clauses with 93 and 97 characters. The two short clauses are selected first,
        // then one of the long clauses (17 + 94 < 200). With 111 characters used, the other long clause (98 > 89) is skipped.
        let (first, second) =
            (format!("cat {}.", "0 ".repeat(44).trim_end()), format!("cat {}.", "0 ".repeat(46).trim_end()));
        let body = format!("{second} {first} dog owl. cat dog.");
        assert_eq!(of(&body), format!("{first} dog owl. cat dog."));
    }

    proptest::proptest! {
        #[test]
        fn never_longer_than_allowed_and_of_clauses_of_the_page(
            body in "([a-f]{2,9}|網頁|дубликат|[,;.!，；。、]|\u{3000}| |\n){0,120}"
        ) {
            let found = of(&body);
            proptest::prop_assert!(found.chars().count() <= MOST_CHARACTERS);
            proptest::prop_assert!(found.trim() == found && !found.contains("  "));
            // The body must contain every word of the abstract.
            let marks = |c: char| c.is_whitespace() || ",;.!，；。、…".contains(c);
            for word in found.split(marks) {
                proptest::prop_assert!(body.contains(word), "{word:?}");
            }
        }
    }
}
