//! The parameters of the rule that tells versions from forms, [`crate::measure::Versions`], for members that ask for it.

use crate::algorithm::params::{Kind, ParamSpec, Params};
use crate::error::{Error, Result};
use crate::measure::Versions;

/// Whether the rule is asked.
pub const RELATE: &str = "relate";

/// The parameters of the rule.
pub const PARAMS: [ParamSpec; 10] = [
    ParamSpec {
        name: RELATE,
        kind: Kind::Flag,
        default: "false",
        help: "tell versions and contained texts from forms (docs/versions.md); forms join no cluster and decide no removal",
    },
    share("numbers", "0.7", "relate: the share of the numbers of the text with fewer that must stand in the other"),
    share(
        "both",
        "0.75",
        "relate: the share of the 3-grams of each text that must stand in the other where the numbers differ",
    ),
    share("word", "0.02", "relate: the share of a text's weight that the surplus of one word may have"),
    ParamSpec {
        name: "short",
        kind: Kind::Real(0.0, 100.0),
        default: "2",
        help: "relate: the average words that the surplus of one word may have in a short text",
    },
    share("contained", "0.88", "relate: the share of one text's 3-grams that must stand in the other to be contained"),
    share(
        "gap",
        "0.15",
        "relate: how much nearer the two must be than the next best of either, outside of the near group",
    ),
    share("near", "0.9", "relate: the least cosine to either document of what is in the near group of a pair"),
    ParamSpec {
        name: "titles",
        kind: Kind::Int(0, 1_000_000),
        default: "10",
        help: "relate: a first line that more texts have is no title",
    },
    share("forms", "0.68", "relate: the least cosine of a form that is reported"),
];

const fn share(name: &'static str, default: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, kind: Kind::Real(0.0, 1.0), default, help }
}

/// The rule, where it is asked for; pairs are looked at from `least` on.
///
/// # Errors
/// A near group that begins below `least`.
pub fn rule(params: &Params, least: f64) -> Result<Option<Versions>> {
    if !params.flag(RELATE) {
        return Ok(None);
    }
    let rule = Versions {
        least,
        numbers: params.real("numbers"),
        both: params.real("both"),
        word: params.real("word"),
        short: params.real("short"),
        contained: params.real("contained"),
        gap: params.real("gap"),
        near: params.real("near"),
        titles: params.count("titles") as u64,
        forms: params.real("forms"),
    };
    if rule.near < least {
        return Err(Error::Usage(format!(
            "relate: near={} is below threshold={least}; expected a near group of pairs that are looked at",
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
        assert!(of(&[]).is_ok_and(|rule| rule.is_none()));
        assert!(of(&[(RELATE, "true")]).is_ok_and(|rule| rule == Some(Versions::DEFAULT)));
        assert!(
            of(&[(RELATE, "true"), ("near", "0.5")])
                .is_err_and(|error| error.to_string().contains("near=0.5 is below"))
        );
    }
}
