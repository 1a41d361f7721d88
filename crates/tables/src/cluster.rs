//! Defines the `clusters/algorithm=NAME/` table: one row per document in a cluster of at least two documents.

use crate::builder::{is_full, table};
use crate::columns::id::{IdRef, IdType};
use crate::columns::id_column::{IdBuilder, id_field};
use crate::columns::named::Named as _;
use arrow::array::builder::{BooleanBuilder, Float32Builder, Int64Builder};
use arrow::array::{Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Returns the schema of the table for ids of this type.
pub fn cluster_schema(id: IdType) -> SchemaRef {
    Arc::new(Schema::new(vec![
        id_field("id", id),
        id_field("cluster_id", id),
        Field::new("cluster_size", DataType::Int64, false),
        Field::new("is_representative", DataType::Boolean, false),
        Field::new("similarity_to_representative", DataType::Float32, true),
        Field::new("doc", DataType::Int64, false),
    ]))
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterRow<'r> {
    /// The id of the document.
    pub id: IdRef<'r>,
    /// The id of the cluster's representative.
    pub cluster_id: IdRef<'r>,
    /// The number of documents in the cluster, at least 2.
    pub cluster_size: u64,
    /// Whether this document is the representative.
    pub is_representative: bool,
    /// The similarity to the representative, if the two documents form a pair.
    pub similarity_to_representative: Option<f32>,
    /// The number of the document.
    pub doc: u64,
}

/// Builds batches of the table.
#[derive(Debug)]
pub struct ClusterBuilder {
    schema: SchemaRef,
    id: IdBuilder,
    cluster_id: IdBuilder,
    cluster_size: Int64Builder,
    is_representative: BooleanBuilder,
    similarity: Float32Builder,
    doc: Int64Builder,
    rows: usize,
}

impl ClusterBuilder {
    /// Creates an empty builder for ids of this type.
    pub fn new(id: IdType) -> ClusterBuilder {
        ClusterBuilder {
            schema: cluster_schema(id),
            id: IdBuilder::new(id),
            cluster_id: IdBuilder::new(id),
            cluster_size: Int64Builder::new(),
            is_representative: BooleanBuilder::new(),
            similarity: Float32Builder::new(),
            doc: Int64Builder::new(),
            rows: 0,
        }
    }

    /// Appends one row.
    ///
    /// # Errors
    /// Returns an error for an id that does not fit the table's id type; the builder must not be used after an
    /// error.
    pub fn push(&mut self, row: &ClusterRow<'_>) -> Result<()> {
        self.id.push(row.id)?;
        self.cluster_id.push(row.cluster_id)?;
        self.cluster_size.append_value(row.cluster_size as i64);
        self.is_representative.append_value(row.is_representative);
        self.similarity.append_option(row.similarity_to_representative);
        self.doc.append_value(row.doc as i64);
        self.rows += 1;
        Ok(())
    }

    /// Returns the number of rows since the last call to [`ClusterBuilder::finish`].
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`ClusterBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.id.bytes() + self.cluster_id.bytes())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let columns = vec![
            self.id.finish(),
            self.cluster_id.finish(),
            Arc::new(self.cluster_size.finish()),
            Arc::new(self.is_representative.finish()),
            Arc::new(self.similarity.finish()),
            Arc::new(self.doc.finish()),
        ];
        table("clusters", &self.schema, columns)
    }
}

/// A document in a cluster, as read from the table. Documents of the same cluster are adjacent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clustered {
    /// The number of the document.
    pub doc: u64,
    /// The number of documents in the cluster.
    pub size: u64,
    /// Whether the document is the representative.
    pub is_representative: bool,
    /// The similarity to the representative; see [`ClusterRow::similarity_to_representative`].
    pub similarity: Option<f32>,
}

/// The columns that [`clustered`] reads.
pub const CLUSTER_COLUMNS: [&str; 4] = ["cluster_size", "is_representative", "similarity_to_representative", "doc"];

/// Returns the rows of a batch of [`CLUSTER_COLUMNS`]; `None` if a column has a different type.
pub fn clustered(batch: &RecordBatch) -> Option<Vec<Clustered>> {
    let size = batch.numbers("cluster_size")?;
    let representative = batch.flags("is_representative")?;
    let similarity = batch.shares("similarity_to_representative")?;
    let doc = batch.numbers("doc")?;
    let row = |row: usize| Clustered {
        doc: doc.value(row) as u64,
        size: size.value(row) as u64,
        is_representative: representative.value(row),
        similarity: similarity.is_valid(row).then(|| similarity.value(row)),
    };
    Some((0..batch.num_rows()).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;

    #[test]
    fn a_batch_holds_what_was_pushed() {
        let mut builder = ClusterBuilder::new(IdType::Text);
        for (id, similarity) in [("a", Some(1.0)), ("b", Some(0.9)), ("c", None)] {
            let row = ClusterRow {
                id: IdRef::Text(id),
                cluster_id: IdRef::Text("a"),
                cluster_size: 3,
                is_representative: id == "a",
                similarity_to_representative: similarity,
                doc: 9,
            };
            builder.push(&row).expect("fits");
        }
        assert_eq!(builder.len(), 3);
        let batch = builder.finish().expect("a table");
        assert_eq!(batch.schema(), cluster_schema(IdType::Text));
        assert_eq!(batch.column(3).as_boolean().true_count(), 1);
        assert!(batch.column(4).is_null(2));
        assert!(builder.is_empty());
    }
}
