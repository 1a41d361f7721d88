//! Lists the removed documents.

use super::{ListedRemovalRow, ListedRow, Lister, Rows};
use crate::doubt::{Facts, doubt, others_as_near};
use crate::finished::tables::wrong_type;
use dupsift_core::error::Result;
use dupsift_input::TableReader;
use dupsift_spill::shuffle::{AtomicBits, AtomicCells};
use dupsift_tables::{LISTED_PAIR_COLUMNS, LISTED_REMOVAL_COLUMNS, kept_in, listed_pairs, removals_found};

/// Holds the facts from the tables of pairs about each removed document and the document kept instead.
struct FromPairs {
    other_title: AtomicBits,
    others_as_near: AtomicBits,
}

impl Lister<'_> {
    pub(super) fn removed(&self, rows: &mut Rows) -> Result<()> {
        let known = if self.asked.worst { Some(self.pair_facts()?) } else { None };
        let path = self.finished.dir().join("removed/part-00000.parquet");
        for batch in TableReader::open(&path, &LISTED_REMOVAL_COLUMNS)? {
            (self.go_on)()?;
            let batch = batch?;
            let listed = removals_found(&batch).ok_or_else(|| wrong_type(&path))?;
            for (at, one) in listed.into_iter().enumerate() {
                let place = self.places.of(one.doc)? as usize;
                let known = known.as_ref().map(|known| [known.other_title.get(place), known.others_as_near.get(place)]);
                let doubt = known.map(|known| doubt(Facts::of(&one, known)));
                rows.offer(self.selects(&[one.doc]), doubt.unwrap_or(0.0), || {
                    Ok(ListedRow::Removal(ListedRemovalRow {
                        id: self.id((&path, &batch), "id", at)?,
                        kept_id: self.id((&path, &batch), "kept_id", at)?,
                        doc: one.doc,
                        kept_doc: one.kept,
                        reason: one.reason,
                        similarity: one.similarity,
                        contained: one.contained,
                        numbers: one.numbers,
                        kept_in: kept_in(&batch, at).map(str::to_owned),
                        other_title: known.map(|[other_title, _]| other_title),
                        others_as_near: known.map(|[_, others_as_near]| others_as_near),
                        doubt,
                    }))
                })?;
            }
        }
        Ok(())
    }

    /// Reads the facts from the tables of pairs.
    fn pair_facts(&self) -> Result<FromPairs> {
        let documents = self.places.end() as usize;
        // The number of the document that is kept instead, plus one.
        let kept = AtomicCells::<u64>::new(self.dir, "kept-instead", documents)?;
        for removal in self.finished.removals()? {
            let removal = removal?;
            kept.store(self.places.of(removal.doc)? as usize, removal.kept + 1);
        }
        let known = FromPairs {
            other_title: AtomicBits::new(self.dir, "other-titles", documents)?,
            others_as_near: AtomicBits::new(self.dir, "others-as-near", documents)?,
        };
        for label in self.deciding() {
            let path = self.finished.pair_table(label);
            for batch in TableReader::open(&path, &LISTED_PAIR_COLUMNS)? {
                (self.go_on)()?;
                for pair in listed_pairs(&batch?).ok_or_else(|| wrong_type(&path))? {
                    let [a, b] = pair.docs;
                    for (doc, other) in [(a, b), (b, a)] {
                        let place = self.places.of(doc)? as usize;
                        if kept.load(place) != other + 1 {
                            continue;
                        }
                        if pair.other_title {
                            known.other_title.set(place);
                        }
                        if others_as_near(pair.similarity, pair.next_best) {
                            known.others_as_near.set(place);
                        }
                    }
                }
            }
        }
        Ok(known)
    }

    /// Returns the removed documents.
    pub(super) fn gone(&self) -> Result<AtomicBits> {
        let gone = AtomicBits::new(self.dir, "gone", self.places.end() as usize)?;
        if self.finished.report.removal.is_some() {
            for removal in self.finished.removals()? {
                gone.set(self.places.of(removal?.doc)? as usize);
            }
        }
        Ok(gone)
    }
}
