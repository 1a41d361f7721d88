//! Explains in one sentence, with figures, why two documents are versions of the same page, why one is contained in the other, or why they
//! are pages from the same template.

use super::explanation::{ExplainedContained, ExplainedWord};
use super::look::Classification;
use dupsift_algorithms::measure::{Both, CROWD, Contained, FirstLine, Part, Subjects, Versions};
use dupsift_core::number::counted;
use dupsift_core::row::RelationKind;
use dupsift_core::row::Why;
use dupsift_tables::FoundPair;

/// Returns the sentence for a row in `pairs/`, with documents in the requested order. `own` is the algorithm's own score. The rule uses
/// this score, because the similarity in the table may be from a later verification. Returns `None` for an algorithm that does not
/// classify pairs.
pub(crate) fn sentence(
    pair: &FoundPair,
    rule: Option<&Versions>,
    own: Option<f32>,
    contained: &[ExplainedContained; 2],
    words: Option<&[ExplainedWord; 2]>,
) -> Option<String> {
    let (relation, rule) = (pair.relation.as_deref()?, rule?);
    let why = Why::ALL.into_iter().find(|why| Some(why.name()) == pair.why.as_deref())?;
    let (inner, outer, larger) = better_contained(contained);
    // The two similarities are Float32. If the similarities are equal, their difference must not be written as -0.
    let own = own.unwrap_or(pair.similarity);
    let gap = f64::from(own) - f64::from(pair.next_best.unwrap_or(own)) + 0.0;
    let next = match () {
        () if pair.next_best == Some(rule.least as f32) => {
            format!(
                "no other document has a cosine of {} or more, not counting documents that are nearly the same ({} or more)",
                rule.least, rule.near
            )
        }
        () if gap < 0.0 => format!("the cosine of another document is higher by {:.2}", -gap),
        () => format!("the cosine of the next-best document is lower by {gap:.2}"),
    };
    let because = match why {
        Why::Same => "the same text".into(),
        Why::Numbers => numbers(rule, contained),
        Why::Word => words.map_or_else(|| "one word differs".into(), |words| one_word(rule, contained, words)),
        Why::Contained => format!("{outer} contains {larger:.2} of the 3-grams of {inner}"),
        Why::Alone => next,
        Why::Title => format!("the titles are the same, and {next}"),
        Why::Far => format!(
            "{next}, and {outer} contains {larger:.2} of the 3-grams of {inner}; for versions, the cosine must be at least {:.2}, or this share must be at least {}",
            rule.least + rule.gap,
            rule.contained
        ),
        Why::Crowd => format!(
            "{outer} contains {larger:.2} of the 3-grams of {inner}, but more than {CROWD} other documents are nearly as similar (within {}), so this share must be at least {}",
            rule.gap, rule.crowd
        ),
        Why::Near => format!(
            "{next}, and {outer} contains {larger:.2} of the 3-grams of {inner}; for versions, the cosine must exceed the next-best cosine by {}, or this share must be at least {}",
            rule.gap, rule.contained
        ),
    };
    let relation = if relation == RelationKind::Template.name() { "same template" } else { relation };
    Some(format!("{relation}: {because}"))
}

/// Returns the reason why neither document is removed in favor of the other, although one document is a version of the
/// other or is contained in it.
pub(crate) fn other_title(classification: &Classification, contained: &[ExplainedContained; 2]) -> String {
    let titles_lack = classification.titles.iter().all(|title| title.title.missing >= 1.0);
    let reason = match classification.subjects {
        Subjects::Name if classification.same_line => {
            Some("the first line of both is the same name, but the lines after it differ")
        }
        Subjects::Name => Some("their first lines are different names"),
        Subjects::Pattern if titles_lack => {
            Some("their first lines follow the same pattern, and each contains a word that the other text lacks")
        }
        Subjects::Code => Some("their lines of code differ"),
        Subjects::Label => Some("their last lines differ, and each is short like a label or an answer"),
        Subjects::Pattern | Subjects::Unknown | Subjects::Same => None,
    };
    if let Some(reason) = reason {
        return format!("both are kept, because {reason}");
    }
    let (inner, ..) = better_contained(contained);
    let [a, b] = &classification.titles;
    let inner_differs = if inner == "a" { a } else { b }.title.missing > classification.rule.title;
    let (name, other, of) = if (inner == "a") == inner_differs { ("a", "b", a) } else { ("b", "a", b) };
    let word = of.word.as_ref().map_or_else(|| "a word".into(), |word| format!("the word {word:?}"));
    format!(
        "both are kept, because {word} in the first line of {name} is missing from {other} or less frequent there (relative drop {:.2}, limit {:.2}); the two documents share too few rare words to outweigh this difference ({}, with {:.3} of the total weight of {name})",
        of.title.missing,
        classification.rule.title,
        counted(of.title.rare_words, "word"),
        of.title.rare
    )
}

/// Returns the sentence for two pages from the same template that are too dissimilar to be in `pairs/`; `None` if the pair would be
/// reported. No table contains the next best similarity, or the number of texts with a given first line, so both are inferred from
/// the relation.
pub(crate) fn template_left_out(
    classification: &Classification,
    own: f32,
    contained: &[ExplainedContained; 2],
    words: &[ExplainedWord; 2],
) -> Option<String> {
    let rule = &classification.rule;
    if f64::from(own) >= rule.templates {
        return None;
    }
    let (inner, outer, larger) = better_contained(contained);
    let part = |common, all| Part { common, all };
    let both = |same: bool| Both {
        cosine: own.into(),
        contained: contained.map(|of| Contained {
            grams: part(of.common_grams, of.grams),
            numbers: part(of.common_numbers, of.numbers),
            ..Contained::default()
        }),
        surplus: classification.words.each_ref().map(|word| word.surplus),
        lines: FirstLine { same, titles: false },
        // The next best similarity is assumed to be as high as possible, because a pair without neighbors is not from the same template.
        next_best: own.into(),
        in_group: false,
        crowded: [false; 2],
    };
    let near = || {
        let gap = f64::from(own) - rule.gap;
        format!(
            "the next-best document has a cosine above {gap:.2}, and {outer} contains {larger:.2} of the 3-grams of {inner}; for versions, the cosine must exceed the next-best cosine by {}, or this share must be at least {}",
            rule.gap, rule.contained
        )
    };
    let tells_apart = words.iter().any(|word| word.share > word.most);
    let because = |same: bool| match rule.relate(&both(same)).why {
        Why::Numbers => numbers(rule, contained),
        Why::Word => one_word(rule, contained, words),
        Why::Near if tells_apart && !same => one_word(rule, contained, words),
        _ => near(),
    };
    let (other, same) = (because(false), because(true));
    let because = match classification.same_line {
        true if other != same => {
            format!("{same}; or, if more than {} documents share this first line, {other}", rule.titles)
        }
        _ => other,
    };
    Some(format!(
        "same template: the cosine is {own:.3}, but pairs from the same template are reported only if the cosine is at least {}; the documents are not versions: {because}",
        rule.templates
    ))
}

/// Returns the names of the two texts and a share. The first text has the larger share of its 3-grams in the other text; this share is
/// returned.
fn better_contained([a, b]: &[ExplainedContained; 2]) -> (&'static str, &'static str, f64) {
    let share = |of: &ExplainedContained| of.common_grams as f64 / of.grams.max(1) as f64;
    if share(a) >= share(b) { ("a", "b", share(a)) } else { ("b", "a", share(b)) }
}

fn numbers(rule: &Versions, [a, b]: &[ExplainedContained; 2]) -> String {
    let (common, fewer) = (a.common_numbers, a.numbers.min(b.numbers));
    format!("the numbers differ: {common} of {fewer} match, and the required share is {}", rule.numbers)
}

fn one_word(rule: &Versions, contained: &[ExplainedContained; 2], words: &[ExplainedWord; 2]) -> String {
    // If one text is contained in the other, the rule considers only the contained text, unless both are equally well contained.
    let (inner, _, larger) = better_contained(contained);
    let [a, b] = contained;
    let is_tie = a.common_grams * b.grams == b.common_grams * a.grams;
    word(words, (larger >= rule.contained && !is_tie).then_some(inner))
}

/// Returns the clause about the word that distinguishes the two texts: the word of the text `only` if it is given,
/// or else the word that exceeds its limit by more.
fn word([a, b]: &[ExplainedWord; 2], only: Option<&str>) -> String {
    let excess = |word: &ExplainedWord| word.share - word.most;
    let (name, of) = match only {
        Some("a") => ("a", a),
        Some(_) => ("b", b),
        None if excess(a) >= excess(b) => ("a", a),
        None => ("b", b),
    };
    // If no word was found, the feature is a character or a pair of characters.
    let what = of
        .word
        .as_ref()
        .map_or_else(|| "one character or pair of characters".into(), |word| format!("the word {word:?}"));
    format!(
        "{what} is more frequent in {name} (difference: {:.3} of the total weight of {name}; limit: {:.3})",
        of.share, of.most
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::look::{MissingWord, SurplusWord};
    use dupsift_algorithms::measure::{Surplus, TitleWords};

    #[test]
    fn every_reason_has_a_sentence_with_its_figures() {
        let rule = Versions::DEFAULT;
        let side = |grams| ExplainedContained {
            common_grams: 9,
            grams,
            common_numbers: 2,
            numbers: 14,
            common_facts: 2,
            facts: 14,
            stays: None,
        };
        let word = |share| ExplainedWord { share, most: 0.02, word: Some("bank".into()) };
        let of = |relation: RelationKind, why: Why, larger_of: u64| {
            let pair = FoundPair {
                similarity: 0.75,
                distance: None,
                matched_by: "cosine".into(),
                verified: true,
                relation: Some(relation.name().into()),
                why: Some(why.name().into()),
                next_best: Some(0.5),
                other_title: false,
            };
            sentence(&pair, Some(&rule), Some(0.7), &[side(20), side(larger_of)], Some(&[word(0.125), word(0.0625)]))
                .unwrap_or_default()
        };
        assert_eq!(
            of(RelationKind::Template, Why::Numbers, 10),
            "same template: the numbers differ: 2 of 14 match, and the required share is 0.7"
        );
        assert_eq!(
            of(RelationKind::Template, Why::Word, 10),
            "same template: the word \"bank\" is more frequent in b (difference: 0.062 of the total weight of b; limit: 0.020)"
        );
        // If neither text is contained in the other, the word that exceeds its limit by more is used.
        assert!(of(RelationKind::Template, Why::Word, 18).contains("more frequent in a (difference: 0.125 "));
        assert_eq!(of(RelationKind::Contained, Why::Contained, 10), "contained: a contains 0.90 of the 3-grams of b");
        assert_eq!(
            of(RelationKind::Version, Why::Alone, 10),
            "version: the cosine of the next-best document is lower by 0.20"
        );
        assert!(
            of(RelationKind::Template, Why::Near, 10)
                .ends_with("the cosine must exceed the next-best cosine by 0.15, or this share must be at least 0.88")
        );
        assert!(
            of(RelationKind::Template, Why::Far, 10)
                .ends_with("a contains 0.90 of the 3-grams of b; for versions, the cosine must be at least 0.75, or this share must be at least 0.88")
        );
        assert!(Why::ALL.into_iter().all(|why| of(RelationKind::Template, why, 10).starts_with("same template: ")));
    }

    #[test]
    fn another_title_has_its_word() {
        let title = |missing| MissingWord {
            title: TitleWords { missing, word: 7, words: 4, rare: 0.01, ..TitleWords::default() },
            word: Some("hualien".into()),
        };
        let of = |common_grams| ExplainedContained {
            common_grams,
            grams: 20,
            common_numbers: 0,
            numbers: 0,
            common_facts: 0,
            facts: 0,
            stays: None,
        };
        let words = [(); 2].map(|()| SurplusWord { surplus: Surplus::default(), word: None });
        let classification = |titles, subjects, same_line| Classification {
            rule: Versions::DEFAULT,
            words: words.clone(),
            same_line,
            titles,
            subjects,
        };
        let said = |titles, contained: [u64; 2]| {
            other_title(&classification(titles, Subjects::Unknown, false), &contained.map(of))
        };
        let first = said([title(1.0), title(0.0)], [19, 18]);
        assert!(
            first.contains("the word \"hualien\" in the first line of a is missing from b")
                && first.contains("(relative drop 1.00, limit 0.50)")
        );
        assert!(said([title(0.0), title(1.0)], [19, 18]).contains("first line of b is missing from a"));
        assert!(said([title(1.0), title(0.75)], [18, 19]).contains("first line of b is missing from a"));
        let reason = |subjects, same_line| {
            other_title(&classification([title(1.0), title(1.0)], subjects, same_line), &[of(19), of(18)])
        };
        assert!(reason(Subjects::Name, false).ends_with("different names"));
        assert!(reason(Subjects::Name, true).ends_with("the same name, but the lines after it differ"));
        assert!(reason(Subjects::Pattern, false).ends_with("a word that the other text lacks"));
        assert!(reason(Subjects::Code, true).ends_with("lines of code differ"));
        assert!(reason(Subjects::Label, true).contains("last lines differ"));
    }

    /// Checks that an unreported pair from the same template gets the same reason as a reported pair, if the reason follows from
    /// the two texts.
    #[test]
    fn pairs_of_one_template_that_are_left_out_have_their_reasons() {
        let told = |common: u64, numbers: u64, share: f64, same_line: bool, own: f32| {
            let of = ExplainedContained {
                common_grams: common,
                grams: 20,
                common_numbers: numbers,
                numbers: 4,
                common_facts: numbers,
                facts: 4,
                stays: None,
            };
            let surplus = Surplus { share, word: 7, words: 1_000 };
            let word = SurplusWord { surplus, word: Some("bank".into()) };
            let words = [word.clone(), word];
            let classification = Classification {
                rule: Versions::DEFAULT,
                words,
                same_line,
                titles: Default::default(),
                subjects: Default::default(),
            };
            let word = ExplainedWord { share, most: 0.02, word: Some("bank".into()) };
            template_left_out(&classification, own, &[of; 2], &[word.clone(), word]).unwrap_or_default()
        };
        let ends = |said: String, end: &str| {
            assert!(said.starts_with("same template: the cosine is 0.650") && said.ends_with(end), "{said}")
        };
        ends(
            told(9, 2, 0.5, true, 0.65),
            "if the cosine is at least 0.68; the documents are not versions: the numbers differ: 2 of 4 match, and the required share is 0.7",
        );
        ends(
            told(9, 3, 0.5, false, 0.65),
            "0.68; the documents are not versions: the word \"bank\" is more frequent in a (difference: 0.500 of the total weight of a; limit: 0.020)",
        );
        let near = "the next-best document has a cosine above 0.50, and b contains 0.45 of the 3-grams of a; for versions, the cosine must exceed the next-best cosine by 0.15, or this share must be at least 0.88";
        ends(told(9, 3, 0.01, false, 0.65), &format!("0.68; the documents are not versions: {near}"));
        ends(told(9, 3, 0.01, true, 0.65), &format!("0.68; the documents are not versions: {near}"));
        // If the texts have the same first line, the word is considered only if many texts share that line.
        let both = told(9, 3, 0.5, true, 0.65);
        assert!(
            both.contains(near) && both.contains("; or, if more than 10 documents share this first line, the word"),
            "{both}"
        );
        assert!(told(9, 3, 0.5, true, 0.68).is_empty());
    }
}
