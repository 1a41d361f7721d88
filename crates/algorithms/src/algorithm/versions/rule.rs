//! The parameters of [`crate::measure::Versions`], the rule that distinguishes versions from pages with the same template.

use crate::algorithm::contract::{Kind, ParamSpec, Params};
use crate::measure::Versions;
use dupsift_core::error::{Error, Result};

/// The parameter that turns the rule on.
pub(crate) const RELATE: &str = "relate";
/// The parameter for the lowest cosine of a near group.
const NEAR: &str = "near";

/// The parameters of the rule.
pub(crate) const PARAMS: [ParamSpec; 13] = [
    ParamSpec {
        name: RELATE,
        kind: Kind::Flag,
        default: "true",
        help: "classify each pair as version, contained or template (docs/versions.md); template pairs are in no cluster and cause no removal",
    },
    share("numbers", "0.7", "relate: minimum share of shared numbers, relative to the text that has fewer numbers"),
    share(
        "both",
        "0.75",
        "relate: minimum share of each text's 3-grams that the other text must contain if the numbers differ",
    ),
    share(
        "word",
        "0.02",
        "relate: maximum share of a text's weight that the extra occurrences of one word may account for",
    ),
    ParamSpec {
        name: "short",
        kind: Kind::Real(0.0, 100.0),
        default: "2",
        help: "relate: maximum excess of one word in a short text, as a multiple of the weight of an average word",
    },
    share("contained", "0.88", "relate: minimum share of one text's 3-grams that the other text must contain"),
    share(
        "crowd",
        "0.95",
        "relate: used instead of contained= if the cosines of more than ten other documents are at most gap= below that of the pair; 0: no such check",
    ),
    share(
        "gap",
        "0.15",
        "relate: minimum difference between the pair's cosine and the next best cosine of either document, outside the near group",
    ),
    share(
        NEAR,
        "0.9",
        "relate: minimum cosine between a document in the near group of a pair and either document of the pair; if unset, at least the threshold",
    ),
    ParamSpec {
        name: "titles",
        kind: Kind::Int(0, 1_000_000),
        default: "10",
        help: "relate: a first line counts as a title only if it occurs in at most this many texts",
    },
    share("templates", "0.68", "relate: minimum cosine for reporting that two documents share a template"),
    share(
        "title",
        "0.5",
        "relate: maximum share of the occurrences of a title word that may be missing from the other text; if more are missing, the document is kept; 1: titles are ignored",
    ),
    share(
        "rare",
        "0.02",
        "relate: minimum share of a text's weight in shared rare words (in at most titles= documents) that outweighs a changed title; five times this share if the changed word occurs more than once in that text",
    ),
];

const fn share(name: &'static str, default: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, kind: Kind::Real(0.0, 1.0), default, help }
}

/// Returns the rule for pairs with a cosine of at least `least`, or `None` if `relate=false`.
///
/// # Errors
/// Returns an error if the near group begins below `least`, or if a bound of the rule is given although the rule is off. A bound with its
/// default value is accepted, because a printed recipe contains all bounds.
pub(crate) fn rule(params: &Params, least: f64) -> Result<Option<Versions>> {
    if !params.flag(RELATE) {
        let idle = PARAMS[1..].iter().find(|spec| params.differs(spec)).map(|spec| params.typed(spec.name));
        return idle.map_or(Ok(None), |idle| {
            let name = idle.split('=').next().unwrap_or_default();
            Err(Error::usage(format!("{idle} has an effect only with {RELATE}=true; remove {RELATE}=false or {name}=")))
        });
    }
    let near = params.real(NEAR);
    // If only the threshold was raised, the lower limit of the near group rises with it.
    let is_default = !PARAMS.iter().any(|spec| spec.name == NEAR && params.differs(spec));
    let near = if is_default { near.max(least) } else { near };
    let rule = Versions {
        least,
        numbers: params.real("numbers"),
        both: params.real("both"),
        word: params.real("word"),
        short: params.real("short"),
        contained: params.real("contained"),
        crowd: params.real("crowd"),
        gap: params.real("gap"),
        near,
        titles: params.count("titles") as u64,
        templates: params.real("templates"),
        title: params.real("title"),
        rare: params.real("rare"),
    };
    if rule.near < least {
        return Err(Error::usage(format!(
            "relate: near={} is below threshold={least}; use near={least} or more, or a lower threshold=",
            rule.near
        )));
    }
    Ok(Some(rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_group_is_of_pairs_that_are_looked_at() {
        let of = |typed: &[(&str, &str)]| {
            let typed: Vec<_> = typed.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
            rule(&Params::check("test", &PARAMS, &typed).expect("in range"), 0.6)
        };
        assert!(of(&[(RELATE, "false")]).is_ok_and(|rule| rule.is_none()));
        assert!(of(&[]).is_ok_and(|rule| rule == Some(Versions::DEFAULT)));
        assert!(
            of(&[(NEAR, "0.5")])
                .is_err_and(|error| error.to_string().ends_with("use near=0.6 or more, or a lower threshold="))
        );
    }

    #[test]
    fn a_near_group_rises_with_the_threshold_unless_it_is_named() {
        let of = |near: &str, least: f64| {
            let typed = [(NEAR.to_string(), near.to_string())];
            rule(&Params::check("test", &PARAMS, &typed).expect("in range"), least).ok().flatten().map(|rule| rule.near)
        };
        assert_eq!([of("0.9", 0.95), of("0.9", 0.9), of("0.92", 0.7)], [Some(0.95), Some(0.9), Some(0.92)]);
        assert_eq!(of("0.92", 0.95), None);
    }

    /// Checks that a printed recipe is valid input: bounds with their default values are not treated as contradictions.
    #[test]
    fn bounds_of_a_rule_that_is_not_asked_for_are_refused() {
        let of = |typed: Vec<(String, String)>| rule(&Params::check("test", &PARAMS, &typed).expect("in range"), 0.6);
        let without = || (RELATE.to_string(), "false".to_string());
        let printed = Params::check("test", &PARAMS, &[without()]).expect("defaults");
        assert!(
            of(printed.iter().map(|(name, value)| (name.to_string(), value)).collect())
                .is_ok_and(|rule| rule.is_none())
        );
        for spec in &PARAMS[1..] {
            let typed = vec![(spec.name.to_string(), "1".to_string())];
            let error =
                of([typed.clone(), vec![without()]].concat()).expect_err("a bound without its rule").to_string();
            let wanted = [
                format!("{}=1 has an effect only with relate=true", spec.name),
                format!("remove relate=false or {}=", spec.name),
            ];
            assert!(wanted.iter().all(|part| error.contains(part)), "{error}");
            assert!(of(typed).is_ok_and(|rule| rule.is_some()));
        }
    }
}
