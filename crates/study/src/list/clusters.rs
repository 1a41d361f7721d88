//! Lists the clusters.

use super::{ListedClusterRow, ListedRow, Lister, Rows};
use crate::finished::tables::wrong_type;
use dupsift_core::error::Result;
use dupsift_input::TableReader;
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::{CLUSTER_COLUMNS, Clustered, clustered, listed_id};

/// The column with the id of the representative.
const CLUSTER_ID: &str = "cluster_id";

impl Lister<'_> {
    pub(super) fn clusters(&self, rows: &mut Rows) -> Result<()> {
        let gone = self.gone()?;
        let columns = [&CLUSTER_COLUMNS[..], &[CLUSTER_ID]].concat();
        for label in self.deciding() {
            let path = self.finished.cluster_table(label);
            let mut cluster: Option<Reading> = None;
            for batch in TableReader::open(&path, &columns)? {
                (self.go_on)()?;
                let batch = batch?;
                for (at, one) in clustered(&batch).ok_or_else(|| wrong_type(&path))?.into_iter().enumerate() {
                    let reading = match &mut cluster {
                        Some(reading) if reading.documents < reading.row.size => reading,
                        _ => {
                            self.end(cluster.take(), rows)?;
                            let cluster_id = listed_id(&batch, CLUSTER_ID, at).ok_or_else(|| wrong_type(&path))?;
                            cluster.insert(Reading::new(label, cluster_id, one.size))
                        }
                    };
                    reading.add(self, &one, &gone)?;
                }
            }
            self.end(cluster, rows)?;
        }
        Ok(())
    }

    fn end(&self, cluster: Option<Reading>, rows: &mut Rows) -> Result<()> {
        let Some(Reading { mut row, is_selected, .. }) = cluster else { return Ok(()) };
        // A document without a pair with the representative is the farthest of all.
        let least = if row.unlinked > 0 { 0.0 } else { row.least_similar.unwrap_or(1.0) };
        row.doubt = (1.0 - least).clamp(0.0, 1.0);
        rows.offer(is_selected, row.doubt, || Ok(ListedRow::Cluster(row)))
    }
}

/// A cluster of which some documents were read.
struct Reading {
    row: ListedClusterRow,
    documents: u64,
    is_selected: bool,
}

impl Reading {
    fn new(label: &str, cluster_id: String, size: u64) -> Reading {
        let row = ListedClusterRow {
            algorithm: label.to_owned(),
            cluster_id,
            doc: 0,
            size,
            removed: 0,
            least_similar: None,
            unlinked: 0,
            doubt: 0.0,
        };
        Reading { row, documents: 0, is_selected: false }
    }

    fn add(&mut self, lister: &Lister<'_>, one: &Clustered, gone: &AtomicBits) -> Result<()> {
        self.documents += 1;
        self.is_selected |= lister.selects(&[one.doc]);
        self.row.removed += u64::from(gone.get(lister.places.of(one.doc)? as usize));
        match one.similarity {
            _ if one.is_representative => self.row.doc = one.doc,
            Some(similarity) => {
                let least = self.row.least_similar.map_or(similarity, |least| least.min(similarity));
                self.row.least_similar = Some(least);
            }
            None => self.row.unlinked += 1,
        }
        Ok(())
    }
}
