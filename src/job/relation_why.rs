//! Why a pair is a version, a contained text or a form, in a sentence with its figures.

use super::explanation::{ExplainedContained, ExplainedWord};
use crate::batch::PairTold;
use crate::measure::Versions;
use crate::row::Why;

/// The sentence about a row of `pairs/`; documents in the order asked. `own` is the method's own score, which the rule goes by:
/// the similarity in the table may be that of a later check. None for a method that does not tell.
pub fn sentence(
    pair: &PairTold,
    rule: Option<&Versions>,
    own: Option<f32>,
    contained: &[ExplainedContained; 2],
    words: Option<&[ExplainedWord; 2]>,
) -> Option<String> {
    let (relation, rule) = (pair.relation.as_deref()?, rule?);
    let why = Why::ALL.into_iter().find(|why| Some(why.name()) == pair.why.as_deref())?;
    let [a, b] = contained;
    let share = |of: &ExplainedContained| of.common_grams as f64 / of.grams.max(1) as f64;
    let (inner, outer, larger) = if share(a) >= share(b) { ("a", "b", share(a)) } else { ("b", "a", share(b)) };
    // The two similarities are Float32; a difference of equal ones is not written as -0.
    let own = own.unwrap_or(pair.similarity);
    let gap = f64::from(own) - f64::from(pair.next_best.unwrap_or(own)) + 0.0;
    let next = match () {
        () if pair.next_best == Some(rule.least as f32) => format!("nothing else has a cosine of {}", rule.least),
        () if gap < 0.0 => format!("the next best is {:.2} nearer", -gap),
        () => format!("the next best is {gap:.2} away"),
    };
    let because = match why {
        Why::Same => "the same text".into(),
        Why::Numbers => format!(
            "the numbers differ: {} of {} agree, {} are asked for",
            a.common_numbers,
            a.numbers.min(b.numbers),
            rule.numbers
        ),
        Why::Word => {
            // Of a text in a larger one the rule looks at the better contained one alone.
            let only = (larger >= rule.contained).then_some(inner);
            words.map_or_else(|| "one word differs".into(), |words| word(words, only))
        }
        Why::Contained => format!("{larger:.2} of the 3-grams of {inner} stand in {outer}"),
        Why::Alone => next,
        Why::Title => format!("the titles are equal, and {next}"),
        Why::Near => format!(
            "{next}, and {larger:.2} of {inner} is contained; {} away or {} contained is asked for",
            rule.gap, rule.contained
        ),
    };
    Some(format!("{relation}: {because}"))
}

/// The sentence about a pair that is not in `pairs/`, as a form so far apart is not reported.
pub fn left_out(rule: &Versions, similarity: f32) -> Option<String> {
    (f64::from(similarity) < rule.forms).then(|| {
        format!("a form: alike ({similarity:.3}) and no versions, reported from a cosine of {} on only", rule.forms)
    })
}

/// The word that tells the two apart, of the text that is asked about, or else of the one in which it has the larger share.
fn word([a, b]: &[ExplainedWord; 2], only: Option<&str>) -> String {
    let excess = |word: &ExplainedWord| word.share - word.most;
    let (name, of) = match only {
        Some("a") => ("a", a),
        Some(_) => ("b", b),
        None if excess(a) >= excess(b) => ("a", a),
        None => ("b", b),
    };
    // What is no word is a character, or a pair of them.
    let what = of
        .word
        .as_ref()
        .map_or_else(|| "one character or pair of characters".into(), |word| format!("the word {word:?}"));
    format!("{what} stands oftener in {name}: {:.3} of its weight, at most {:.3}", of.share, of.most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RelationKind;

    #[test]
    fn every_reason_has_a_sentence_with_its_figures() {
        let rule = Versions::DEFAULT;
        let side = |grams| ExplainedContained { common_grams: 9, grams, common_numbers: 2, numbers: 14, stays: None };
        let word = |share| ExplainedWord { share, most: 0.02, word: Some("bank".into()) };
        let of = |relation: RelationKind, why: Why, larger_of: u64| {
            let pair = PairTold {
                similarity: 0.75,
                distance: None,
                matched_by: "cosine".into(),
                verified: true,
                relation: Some(relation.name().into()),
                why: Some(why.name().into()),
                next_best: Some(0.5),
            };
            sentence(&pair, Some(&rule), Some(0.7), &[side(20), side(larger_of)], Some(&[word(0.125), word(0.0625)]))
                .unwrap_or_default()
        };
        assert_eq!(
            of(RelationKind::Form, Why::Numbers, 10),
            "form: the numbers differ: 2 of 14 agree, 0.7 are asked for"
        );
        assert_eq!(
            of(RelationKind::Form, Why::Word, 10),
            "form: the word \"bank\" stands oftener in b: 0.062 of its weight, at most 0.020"
        );
        // Neither is contained: the one that exceeds by more.
        assert!(of(RelationKind::Form, Why::Word, 18).contains("oftener in a: 0.125"));
        assert_eq!(of(RelationKind::Contained, Why::Contained, 10), "contained: 0.90 of the 3-grams of b stand in a");
        assert_eq!(of(RelationKind::Version, Why::Alone, 10), "version: the next best is 0.20 away");
        assert!(of(RelationKind::Form, Why::Near, 10).ends_with("0.15 away or 0.88 contained is asked for"));
        assert!(Why::ALL.into_iter().all(|why| of(RelationKind::Form, why, 10).starts_with("form: ")));
        assert!(left_out(&rule, 0.67).is_some_and(|text| text.contains("0.670")) && left_out(&rule, 0.68).is_none());
    }
}
