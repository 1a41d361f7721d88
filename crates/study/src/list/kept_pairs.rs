//! Lists the pairs of similar documents that are both kept.

use std::path::PathBuf;

use super::{ListedPairRow, ListedRow, Lister, Rows};
use crate::doubt::{Facts, certainty};
use crate::finished::tables::wrong_type;
use arrow::array::RecordBatch;
use dupsift_algorithms::recipe::remove_if::{Bounds, RemoveIf, Stays};
use dupsift_core::error::Result;
use dupsift_input::TableReader;
use dupsift_tables::{LISTED_PAIR_COLUMNS, ListedPair, listed_pairs};

/// Reads the table of pairs of one algorithm, row by row.
struct Pairs<'l> {
    label: &'l str,
    path: PathBuf,
    table: TableReader,
    batch: Option<RecordBatch>,
    rows: Vec<ListedPair>,
    at: usize,
}

impl<'l> Pairs<'l> {
    fn open(lister: &Lister<'l>, label: &'l str) -> Result<Pairs<'l>> {
        let path = lister.finished.pair_table(label);
        let table = TableReader::open(&path, &LISTED_PAIR_COLUMNS)?;
        let mut pairs = Pairs { label, path, table, batch: None, rows: Vec::new(), at: 0 };
        pairs.fill(lister)?;
        Ok(pairs)
    }

    /// Reads batches until there is a row.
    fn fill(&mut self, lister: &Lister<'_>) -> Result<()> {
        while self.at == self.rows.len() {
            (lister.go_on)()?;
            self.batch = self.table.next().transpose()?;
            let Some(batch) = &self.batch else { return Ok(()) };
            self.rows = listed_pairs(batch).ok_or_else(|| wrong_type(&self.path))?;
            self.at = 0;
        }
        Ok(())
    }

    fn peek(&self) -> Option<&ListedPair> {
        self.rows.get(self.at)
    }

    fn advance(&mut self, lister: &Lister<'_>) -> Result<()> {
        self.at += 1;
        self.fill(lister)
    }
}

impl Lister<'_> {
    pub(super) fn kept_pairs(&self, rows: &mut Rows) -> Result<()> {
        let gone = self.gone()?;
        let removal = self.finished.report.removal.as_ref();
        let bounds = removal.map(|removal| RemoveIf::parse(&removal.remove_if)).transpose()?.and_then(RemoveIf::bounds);
        let mut tables = Vec::new();
        for label in self.deciding() {
            tables.push(Pairs::open(self, label)?);
        }
        // The tables are in (a, b) order, so they are merged: a pair that several algorithms found is listed once.
        while let Some(docs) = tables.iter().filter_map(|table| Some(table.peek()?.docs)).min() {
            let has = |table: &Pairs<'_>| table.peek().is_some_and(|pair| pair.docs == docs);
            let [a, b] = docs;
            let is_kept = !gone.get(self.places.of(a)? as usize) && !gone.get(self.places.of(b)? as usize);
            // Two indexed documents were decided by an earlier run.
            let is_new = b >= self.finished.first_doc();
            if let Some(first) = tables.iter().find(|table| has(table)).filter(|_| is_kept && is_new)
                && let (Some(pair), Some(batch)) = (first.peek(), &first.batch)
                && !pair.copy
            {
                let certain = pair.shares.map(|shares| certain(pair, shares));
                let doubt = certain[0].max(certain[1]).clamp(0.0, 1.0);
                rows.offer(self.selects(&docs), doubt, || {
                    let id = |column| self.id((&first.path, batch), column, first.at);
                    let both = |at: usize| match pair.shares {
                        [Some(a), Some(b)] => Some([a[at], b[at]]),
                        _ => None,
                    };
                    let found = tables.iter().filter(|table| has(table));
                    Ok(ListedRow::Pair(ListedPairRow {
                        ids: [id("id_a")?, id("id_b")?],
                        docs,
                        algorithms: found.map(|table| table.label.to_owned()).collect(),
                        why: why(pair, bounds),
                        similarity: pair.similarity,
                        contained: both(0),
                        numbers: both(1),
                        doubt,
                    }))
                })?;
            }
            for table in &mut tables {
                if table.peek().is_some_and(|pair| pair.docs == docs) {
                    table.advance(self)?;
                }
            }
        }
        Ok(())
    }
}

/// Returns how certain it is that one document of a pair replaces the other, which has these shares in it.
fn certain(pair: &ListedPair, shares: Option<[f32; 2]>) -> f32 {
    let [contained, numbers] = shares.unwrap_or([pair.similarity, 1.0]);
    // Documents with the same template are about different things, like documents with different titles.
    let other_title = pair.other_title || pair.template;
    certainty(Facts { contained, numbers, other_title, others_as_near: false, chain: false })
}

/// Returns why neither document of a pair is removed in favor of the other.
fn why(pair: &ListedPair, bounds: Option<Bounds>) -> &'static str {
    let stays = |bounds: Bounds| match pair.shares {
        [Some(a), Some(b)] => {
            let has_grams = |[grams, _]: [f32; 2]| grams >= bounds.grams as f32;
            let holds = |shares: [f32; 2]| has_grams(shares) && shares[1] >= bounds.numbers as f32;
            match () {
                // Only the larger document, which is not preferred, contains the other one.
                () if holds(a) || holds(b) => Stays::Larger.name(),
                () if has_grams(a) || has_grams(b) => Stays::OwnNumbers.name(),
                () => Stays::OwnText.name(),
            }
        }
        _ => "not compared",
    };
    match bounds {
        _ if pair.template => "same template",
        Some(_) if pair.other_title => "different subjects",
        Some(bounds) => stays(bounds),
        None => "not compared",
    }
}
