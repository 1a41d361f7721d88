//! What becomes of two documents, in words: how much of one stands in the other, and why it goes for that, or stays.

use super::columns::safe;
use super::{table, thousands};
use dupsift_study::study::{ExplainedContained, ExplainedDocument, Explanation};

/// A title, and a table with a row a direction.
pub fn contained(explained: &Explanation, width: u16) -> String {
    let [first, second] = &explained.documents;
    let goes_for = |one: &ExplainedDocument, other: &ExplainedDocument| {
        one.removed.as_ref().is_some_and(|removed| removed.kept_doc == other.doc)
    };
    let row = |[one, other]: [&str; 2], of: &ExplainedContained, stays: bool| {
        let part = |common: u64, all: u64| format!("{} of {}", thousands(common), thousands(all));
        let fate = match (of.stays, explained.remove_if.as_str()) {
            _ if stays => format!("{one} is the one that stays"),
            (Some(why), _) => format!("{one} does not go for {other}: {why}"),
            (None, "pair") => "a pair is enough".into(),
            (None, _) => format!("{one} may go for {other}"),
        };
        [format!("{one} in {other}"), part(of.common_grams, of.grams), part(of.common_facts, of.facts), fate]
    };
    let [a, b] = &explained.contained;
    let rows = [row(["a", "b"], a, goes_for(second, first)), row(["b", "a"], b, goes_for(first, second))];
    let asked = format!("--remove-if {}", explained.remove_if);
    let title = "\nhow much of one stands in the other";
    if explained.removes {
        let table = table(["", "3-grams", "numbers", &asked], rows, Some(width));
        return format!("{title}, as removal asks\n\n{table}");
    }
    let table =
        table(["", "3-grams", "numbers"], rows.map(|[which, grams, numbers, _]| [which, grams, numbers]), Some(width));
    format!("{title}\n\n{table}")
}

/// What became of a document of a run that removes some.
pub fn fate(document: &ExplainedDocument) -> String {
    if document.earlier {
        return "; it came before, and does not go".into();
    }
    let Some(removed) = &document.removed else { return "; kept".into() };
    let similarity = removed.similarity.map_or(String::new(), |similarity| format!(" {similarity:.3}"));
    let (id, doc) = (safe(&removed.kept_id), removed.kept_doc);
    let by = if removed.algorithm.is_empty() { String::new() } else { format!(" by {}", removed.algorithm) };
    format!("; removed for {id} (document {doc}; {}{similarity}{by})", removed.reason)
}
