//! How much of one document stands in another, in words: why one goes for the other, or stays.

use super::thousands;
use crate::job::{ExplainedContained, Explanation};

/// Two lines, one a direction, and the rule.
pub fn contained(explained: &Explanation) -> String {
    let line = |names: [&str; 2], of: &ExplainedContained| {
        let part = |common: u64, all: u64, what| format!("{} of {} {what}", thousands(common), thousands(all));
        let (grams, numbers) =
            (part(of.common_grams, of.grams, "3-grams"), part(of.common_numbers, of.numbers, "numbers"));
        let fate = match (of.stays, explained.remove_if.as_str()) {
            (Some(why), _) => format!("{} does not go for {}: {why}", names[0], names[1]),
            (None, "pair") => "a pair is enough".into(),
            (None, _) => format!("{} may go for {}", names[0], names[1]),
        };
        format!("{} in {}: {grams}, {numbers}; {fate}\n", names[0], names[1])
    };
    let [a, b] = &explained.contained;
    format!("{}{}--remove-if {}\n", line(["a", "b"], a), line(["b", "a"], b), explained.remove_if)
}
