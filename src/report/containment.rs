//! How much of one document stands in another, in words: why one goes for the other, or stays.

use super::{table, thousands};
use crate::job::{ExplainedContained, Explanation};

/// A table with a row a direction.
pub fn contained(explained: &Explanation, width: u16) -> String {
    let row = |[one, other]: [&str; 2], of: &ExplainedContained| {
        let part = |common: u64, all: u64| format!("{} of {}", thousands(common), thousands(all));
        let fate = match (of.stays, explained.remove_if.as_str()) {
            (Some(why), _) => format!("{one} does not go for {other}: {why}"),
            (None, "pair") => "a pair is enough".into(),
            (None, _) => format!("{one} may go for {other}"),
        };
        [format!("{one} in {other}"), part(of.common_grams, of.grams), part(of.common_numbers, of.numbers), fate]
    };
    let [a, b] = &explained.contained;
    let header = ["", "3-grams", "numbers", &format!("--remove-if {}", explained.remove_if)];
    table(header, [row(["a", "b"], a), row(["b", "a"], b)], Some(width))
}
