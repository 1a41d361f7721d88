//! Reports how much of each of two documents is contained in the other, and why each document was removed or kept.

use super::columns::safe;
use super::{table, thousands};
use dupsift_algorithms::recipe::remove_if::Stays;
use dupsift_study::{ExplainedContained, ExplainedDocument, Explanation, Outcome, Verdict};

/// Returns a title and a table with one row for each direction.
pub(crate) fn contained(explained: &Explanation, width: u16) -> String {
    let [first, second] = &explained.documents;
    let keeps_both = explained.documents.iter().all(|document| document.removed.is_none());
    let row = |[one, other]: [&str; 2], [of, of_other]: [&ExplainedContained; 2], stays: bool, is_removed: bool| {
        // Only the document that is preferred is contained in the other one.
        let keeps_larger = keeps_both && of_other.stays == Some(Stays::Larger.name());
        let part = |common: u64, all: u64| format!("{} of {}", thousands(common), thousands(all));
        let fate = match (of.stays, explained.remove_if.as_str()) {
            // A document may be removed with `--keep none` even if other documents are removed in favor of it.
            _ if stays && is_removed => format!("{one} is also removed, because this run keeps none of the duplicates"),
            _ if stays => format!("{one} is kept"),
            (Some(why), _) => format!("not enough to remove {one}: {why}"),
            (None, _) if keeps_larger => format!("enough to remove {one}, but `--keep` prefers it"),
            (None, "pair") => "being in a pair is enough".into(),
            (None, _) => format!("enough to remove {one}"),
        };
        [format!("{one} in {other}"), part(of.common_grams, of.grams), part(of.common_facts, of.facts), fate]
    };
    let [a, b] = &explained.contained;
    let rows = [
        row(["a", "b"], [a, b], second.is_removed_for(first), first.removed.is_some()),
        row(["b", "a"], [b, a], first.is_removed_for(second), second.removed.is_some()),
    ];
    let asked = format!("--remove-if {}", explained.remove_if);
    let title = "\nshare of each document that is contained in the other";
    if explained.removes {
        let table = table(["", "3-grams", "numbers", &asked], rows, Some(width));
        return format!("{title}\n\n{table}");
    }
    let table =
        table(["", "3-grams", "numbers"], rows.map(|[which, grams, numbers, _]| [which, grams, numbers]), Some(width));
    format!("{title}\n\n{table}")
}

/// Returns a sentence that states whether two documents are a pair, and what happened to them.
pub(crate) fn verdict(explained: &Explanation) -> String {
    let pairs = explained.paired_by();
    let is_template = explained.algorithms.iter().any(|one| one.verdict == Verdict::Template);
    let all = explained.algorithms.len();
    let pair = match (pairs.len(), all) {
        _ if explained.exact_copies => "a and b are exact copies".to_owned(),
        (0, _) if is_template => "a and b share a template, but state different facts".to_owned(),
        (0, 1) => "a and b are not a pair".to_owned(),
        (0, _) => format!("none of the {all} algorithms paired a and b"),
        (1, 1) => "a and b are a pair".to_owned(),
        (some, _) if some == all => format!("all {all} algorithms paired a and b"),
        (some, _) => format!("{some} of {all} algorithms paired a and b ({})", pairs.join(", ")),
    };
    if explained.removes { format!("{pair}; {}.", fates(explained)) } else { format!("{pair}.") }
}

/// Returns what happened to the two documents in a run that removes documents.
fn fates(explained: &Explanation) -> String {
    let [a, b] = &explained.documents;
    let fate =
        |[name, other_name]: [&str; 2], document: &ExplainedDocument, outcome: Outcome<'_>, of: &ExplainedContained| {
            let reason = match outcome {
                Outcome::Kept => return format!("{name} was kept"),
                Outcome::Indexed => return format!("{name} was kept because it was indexed earlier"),
                Outcome::NoneKept => {
                    return format!("{name} was removed because --keep none also removes the preferred document");
                }
                Outcome::RemovedForThird(..) => {
                    let kept = document.removed.as_ref().map_or("", |removed| &removed.kept_id);
                    return format!("{name} was removed in favor of {}", safe(kept));
                }
                Outcome::RemovedForOther(reason) => reason,
            };
            let part = |common: u64, all: u64| format!("{} of its {}", thousands(common), thousands(all));
            let numbers = match of.facts {
                0 => String::new(),
                facts => format!(" and {} numbers", part(of.common_facts, facts)),
            };
            match reason {
                "copy" | "seen" if explained.exact_copies => format!("{name} was removed in favor of {other_name}"),
                "chain" => format!("{name} was removed because a chain of pairs links it to {other_name}"),
                _ => format!(
                    "{name} was removed in favor of {other_name}, which contains {} 3-grams{numbers}",
                    part(of.common_grams, of.grams)
                ),
            }
        };
    let [of_a, of_b] = &explained.contained;
    let outcomes @ [outcome_a, outcome_b] = explained.outcomes();
    let said = [fate(["a", "b"], a, outcome_a, of_a), fate(["b", "a"], b, outcome_b, of_b)];
    match outcomes {
        [Outcome::Kept, Outcome::Kept] => "both were kept".to_owned(),
        [Outcome::RemovedForThird(one, _), Outcome::RemovedForThird(other, _)] if one == other => {
            format!("both were removed in favor of {}", safe(a.removed.as_ref().map_or("", |removed| &removed.kept_id)))
        }
        _ => said.join("; "),
    }
}
