//! `--threshold T`: sets the threshold of the only algorithm given.
//!
//! ```text
//! minhash, 0.8 -> minhash:threshold=0.8;  exact,shingles:unit=char, 0.9 -> exact,shingles:unit=char,threshold=0.9
//! ```

use super::{Named, split_list};
use crate::algorithm::contract::THRESHOLDS;
use crate::algorithm::{ALGORITHMS, Algorithm, Kind, by_name, specs};
use dupsift_core::error::{Error, Result};

const THRESHOLD: &str = "threshold";
/// The names of similar parameters that do not set a minimum similarity.
const OTHERS: [&str; 2] = ["distance", "ratio"];
/// An algorithm that may be given in addition to the algorithm whose threshold is set, because equal texts need no threshold.
const BESIDE: &str = "exact";

/// Adds the threshold to the list of algorithms; `list` is `None` if no algorithm was given.
///
/// # Errors
/// Returns an error if the list has no algorithm, several algorithms, or an algorithm without a threshold. The error shows what to type
/// instead.
pub fn with_threshold(list: Option<&str>, threshold: f64) -> Result<String> {
    let wrong = |why: String| Error::wrong_value(THRESHOLD, threshold, why);
    let known = || {
        let all: Vec<&str> = ALGORITHMS.iter().filter(|one| has_threshold(**one)).map(|one| one.name()).collect();
        all.join(", ")
    };
    let Some(list) = list else {
        return Err(wrong(format!(
            "it requires `algorithms=NAME`, because its meaning depends on the algorithm, and the algorithms of a preset are tuned together; available: {}. To remove fewer documents than by default, use `remove-if=contained:0.95:1`",
            known()
        )));
    };
    let mut named = split_list(list)?;
    let several = named.iter().filter(|(name, _)| *name != BESIDE).count() != 1 && named.len() != 1;
    let at = named.iter().position(|(name, _)| *name != BESIDE || named.len() == 1);
    let Some(at) = at.filter(|_| !several && named.iter().all(|(name, _)| name != "all")) else {
        return Err(wrong(format!(
            "it requires a single algorithm, got {list}; give each algorithm its own threshold instead, as in minhash:{THRESHOLD}={threshold}"
        )));
    };
    let algorithm = by_name(&named[at].0)?;
    if !has_threshold(algorithm) {
        let own: Vec<String> = specs(algorithm)
            .iter()
            .filter(|spec| THRESHOLDS.contains(&spec.name) || OTHERS.contains(&spec.name))
            .map(|spec| format!("{}={}", spec.name, spec.default))
            .collect();
        let own = if own.is_empty() { String::new() } else { format!(" has {}, and", own.join(", ")) };
        let name = algorithm.name();
        return Err(wrong(format!(
            "{name}{own} has no similarity threshold; use `algorithms={name}:verify=jaccard:{threshold}`, which verifies its pairs against the texts, or one of: {}",
            known()
        )));
    }
    if let Some((name, value, given)) = not_in_force(algorithm, &named[at].1) {
        let algorithm = algorithm.name();
        return Err(wrong(format!(
            "{algorithm} has a threshold only with {name}={value}, but {name} is {given}; use `algorithms={algorithm}:{name}={value}`"
        )));
    }
    named[at].1.push((THRESHOLD.into(), threshold.to_string()));
    Ok(typed(&named))
}

/// Returns the unmet condition of a threshold, if there is one. The help may state that the threshold applies only with one value of
/// another parameter (`mode=overlap: ...`). If that parameter has a different value, returns the parameter, the required value and the
/// actual value.
fn not_in_force<'v>(
    algorithm: &dyn Algorithm,
    values: &'v [(String, String)],
) -> Option<(&'static str, &'static str, &'v str)> {
    let all = specs(algorithm);
    let of = |name: &str| all.iter().find(|spec| spec.name == name);
    let (condition, _) = of(THRESHOLD)?.help.split_once(": ")?;
    let (name, value) = condition.split_once('=')?;
    let given = values.iter().rev().find(|(known, _)| known == name).map_or(of(name)?.default, |(_, given)| given);
    (given != value).then_some((name, value, given))
}

/// Returns whether an algorithm has a parameter called `threshold` that sets a minimum similarity.
fn has_threshold(algorithm: &dyn Algorithm) -> bool {
    let is_similarity =
        |name: &str, kind: Kind| name == THRESHOLD && matches!(kind, Kind::Real(_, high) if high <= 1.0);
    specs(algorithm).iter().any(|spec| is_similarity(spec.name, spec.kind))
        || algorithm.facts().shorthands.iter().any(|short| is_similarity(short.name, short.kind))
}

/// Formats the list as you would type it.
fn typed(named: &[Named]) -> String {
    let one = |(name, values): &Named| {
        let values: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if values.is_empty() { name.clone() } else { format!("{name}:{}", values.join(",")) }
    };
    named.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;

    fn fail(list: Option<&str>) -> String {
        with_threshold(list, 0.8).unwrap_err().to_string()
    }

    #[test]
    fn it_stands_where_it_could_be_typed() {
        for (list, expected) in [
            ("minhash", "minhash:threshold=0.8"),
            ("exact,minhash:ngram=3,unit=char", "exact,minhash:ngram=3,unit=char,threshold=0.8"),
            ("shingles:as=near,exact", "shingles:as=near,threshold=0.8,exact"),
            ("cosine", "cosine:threshold=0.8"),
        ] {
            let with = with_threshold(Some(list), 0.8).unwrap();
            assert_eq!(with, expected);
            assert!(Recipe::parse_algorithms(&with).is_ok(), "{with}");
        }
    }

    #[test]
    fn where_it_means_nothing_the_parameter_that_does_is_named() {
        assert!(fail(None).contains("it requires `algorithms=NAME`"), "{}", fail(None));
        assert!(
            fail(None).contains("available: cosine, log_shingles, lsi, minhash, shingles, versions. To remove fewer"),
            "{}",
            fail(None)
        );
        assert!(fail(Some("minhash,cosine")).contains("got minhash,cosine"));
        assert!(fail(Some("all")).contains("it requires a single algorithm"));
        let simhash = fail(Some("simhash"));
        assert!(
            simhash.contains("simhash has distance=") && simhash.contains("simhash:verify=jaccard:0.8"),
            "{simhash}"
        );
        assert!(fail(Some("exact")).contains("exact has no similarity threshold"));
        assert!(fail(Some("decomposition")).contains("has tau="));
        let log_shingles = fail(Some("log_shingles"));
        assert!(log_shingles.contains("only with mode=overlap, but mode is equal"), "{log_shingles}");
        assert!(fail(Some("exact,log_shingles:mode=ladder")).contains("mode is ladder"));
        assert!(
            with_threshold(Some("log_shingles:mode=overlap"), 0.8).unwrap().ends_with("mode=overlap,threshold=0.8")
        );
        assert!(fail(Some("minhsh")).contains("did you mean \"minhash\"?"));
    }
}
