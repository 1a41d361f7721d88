//! Finds the passages with the highest cost, which is the number of bytes times the number of copies. These passages include templates.

use std::collections::HashMap;

use crate::job::run_report::CostlyPassage;
use crate::reading::ids::Ids;
use crate::session::Session;
use dupsift_core::hash::hash128;
use dupsift_passages::{Folded, Template};

const REPORTED: usize = 20;
/// The number of passages that are kept during the search.
const KEPT: usize = 64 * REPORTED;
/// The number of characters reported for each passage.
const SHOWN: usize = 500;

/// Holds a passage and its cost.
#[derive(Clone, Debug)]
pub(crate) struct Costly {
    cost: u64,
    hash: u128,
    bytes: u64,
    copies: u64,
    text: String,
    /// The lowest-numbered document from which the passage is cut.
    doc: u64,
    first_doc: u64,
}

/// Holds the costliest passages; passages with the same text are held only once. The cost depends only on the text of a passage, so it does
/// not matter which documents the dropped passages came from.
#[derive(Debug, Default)]
pub(crate) struct Costliest {
    by_hash: HashMap<u128, Costly>,
    /// The lowest cost that can still be reported. Enough passages with a higher cost are already known.
    least: u64,
    folded: Folded,
}

impl Costliest {
    /// Returns whether passages with this many bytes (before white space is folded) and this many copies may be reported.
    pub(crate) fn may_take(&self, bytes: usize, copies: u32) -> bool {
        bytes as u64 * u64::from(copies) >= self.least
    }

    /// Adds a part of a document's text. Passages that differ only in white space count as equal.
    pub(crate) fn add(&mut self, doc: u64, text: &str, part: &Template) {
        if !self.may_take(part.bytes.len(), part.copies) {
            return;
        }
        self.folded.fold(text[part.bytes.clone()].trim());
        let content = &self.folded.text;
        let (bytes, copies) = (content.len() as u64, u64::from(part.copies));
        let hash = hash128(content.as_bytes());
        if let Some(known) = self.by_hash.get_mut(&hash) {
            known.doc = known.doc.min(doc);
            return;
        }
        let text = content.chars().take(SHOWN).collect();
        let cost = bytes * copies;
        self.by_hash.insert(hash, Costly { cost, hash, bytes, copies, text, doc, first_doc: part.first_doc });
        if self.by_hash.len() > KEPT {
            let best = best(std::mem::take(&mut self.by_hash).into_values().collect());
            self.least = best.last().map_or(0, |last| last.cost);
            self.by_hash.extend(best.into_iter().map(|one| (one.hash, one)));
        }
    }

    /// Merges the results of all threads and returns the costliest passages in order.
    pub(crate) fn of_all(all: Vec<Costliest>) -> Vec<Costly> {
        let mut merged: HashMap<u128, Costly> = HashMap::new();
        for one in all.into_iter().flat_map(|all| all.by_hash.into_values()) {
            let doc = one.doc;
            let known = merged.entry(one.hash).or_insert(one);
            known.doc = known.doc.min(doc);
        }
        best(merged.into_values().collect())
    }
}

/// Returns the costliest passages in an order that does not depend on the input order.
fn best(mut all: Vec<Costly>) -> Vec<Costly> {
    all.sort_unstable_by_key(|one| (std::cmp::Reverse(one.cost), one.hash));
    all.truncate(REPORTED);
    all
}

impl Costly {
    /// Returns the passage as reported in run.json.
    pub(crate) fn report(self, session: &Session<'_>, ids: &Ids<'_>) -> CostlyPassage {
        let of = |doc: u64| (ids.of(doc).as_ref().to_string(), session.source.locate(doc).0.label.clone());
        let ((id, _), (first_id, first_file)) = (of(self.doc), of(self.first_doc));
        CostlyPassage { text: self.text, bytes: self.bytes, copies: self.copies, id, first_id, first_file }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_reported_once_whatever_the_threads_saw() {
        let part = |text: &str, copies| Template { bytes: 0..text.len(), copies, first_doc: 0 };
        let texts: Vec<String> = (0..3000).map(|number| format!("passage {number:04} ")).collect();
        let of = |order: &mut dyn Iterator<Item = usize>| {
            let mut all = [Costliest::default(), Costliest::default()];
            for at in order {
                all[at % 2].add(at as u64, &texts[at % 1500], &part(&texts[at % 1500], 2 + (at % 1500) as u32));
            }
            let all = Costliest::of_all(all.into_iter().collect());
            all.iter().map(|one| (one.cost, one.text.clone(), one.doc)).collect::<Vec<_>>()
        };
        let forth = of(&mut (0..3000));
        assert_eq!(forth, of(&mut (0..3000).rev()));
        assert_eq!(forth.len(), REPORTED);
        assert_eq!(forth[0], (12 * 1501, "passage 1499".to_owned(), 1499));
    }
}
