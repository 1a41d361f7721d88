//! Determines whether one document in a pair may be removed in favor of the other document, considering only that pair.

use super::explanation::{ExplainedAlgorithm, Verdict};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_engine::options::Decide;

/// Returns the reason why neither of two documents is removed in favor of the other, however much they have in common; `None` if removal is
/// possible.
pub(crate) fn stay(decide: &Decide, remove_if: RemoveIf, algorithms: &[ExplainedAlgorithm]) -> Option<&'static str> {
    let is_pair = |one: &&ExplainedAlgorithm| one.verdict.is_pair();
    let other_title = |one: &&ExplainedAlgorithm| {
        remove_if.bounds().is_some() && one.pair.as_ref().is_some_and(|pair| pair.other_title)
    };
    let decides = |one: &&ExplainedAlgorithm| is_pair(one) && !other_title(one);
    let asked = || algorithms.iter().filter(|one| !matches!(decide, Decide::Label(label) if *label != one.label));
    let needed = match decide {
        Decide::AtLeast(count) => *count,
        Decide::All => algorithms.len(),
        Decide::Label(_) => 1,
    };
    match () {
        () if asked().filter(decides).count() >= needed => None,
        () if asked().any(|one| other_title(&one)) => Some("the titles, code or labels differ"),
        () if asked().any(|one| one.verdict == Verdict::Template) => Some("same template"),
        () if algorithms.iter().any(|one| is_pair(&one)) => Some("the pair does not decide"),
        () => Some("no pair"),
    }
}
