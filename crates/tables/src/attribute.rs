//! Defines the `attributes/FILE.parquet` tables: the run's result for each row of the corpus, in order.

use crate::builder::{is_full, table};
use crate::columns::id::{IdRef, IdType};
use crate::columns::id_column::{IdBuilder, id_field};
use arrow::array::builder::{BooleanBuilder, Float32Builder, Int64Builder, StringBuilder};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use dupsift_core::error::Result;
use std::sync::Arc;

/// Optional columns of the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct AttributeExtras {
    /// Whether to include the number of sources per cluster.
    pub sources: bool,
    /// Whether to include the `cut` and `left` columns, which describe the passages that were cut.
    pub cut: bool,
}

/// Returns the schema of the table for ids of this type.
pub fn attribute_schema(id: IdType, extras: AttributeExtras) -> SchemaRef {
    let mut columns = vec![
        id_field("id", id),
        Field::new("doc", DataType::Int64, false),
        Field::new("removed", DataType::Boolean, true),
        id_field("kept_id", id),
        Field::new("reason", DataType::Utf8, true),
        id_field("cluster_id", id),
        Field::new("cluster_size", DataType::Int64, false),
        Field::new("is_representative", DataType::Boolean, false),
        Field::new("copies", DataType::Int64, false),
    ];
    columns.extend(extras.sources.then(|| Field::new("sources", DataType::Int64, false)));
    if extras.cut {
        columns.push(Field::new("cut", DataType::Float32, true));
        columns.push(Field::new("left", DataType::Int64, true));
    }
    Arc::new(Schema::new(columns))
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AttributeRow<'r> {
    /// The id of the document.
    pub id: IdRef<'r>,
    /// The number of the document.
    pub doc: u64,
    /// Whether the document is removed; `None` for a rejected row.
    pub removed: Option<bool>,
    /// The id of the document that is kept instead, or the document's own id if there is no such document.
    pub kept_id: IdRef<'r>,
    /// The reason why the document is removed or rejected.
    pub reason: Option<&'r str>,
    /// The id of the cluster's representative.
    pub cluster_id: IdRef<'r>,
    /// The number of documents in the cluster, including this document.
    pub cluster_size: u64,
    /// Whether this document is the representative.
    pub is_representative: bool,
    /// The number of documents with exactly the same text, including this document.
    pub copies: u64,
    /// The number of distinct values of `--source-column` in the cluster, if requested.
    pub sources: Option<u64>,
    /// If passages are cut, the share of the document's characters that were cut, and the number of characters that remain; `None` for a
    /// rejected row and for a document that is removed in favor of another document.
    pub cut: Option<(f32, u64)>,
}

/// Builds batches of the table.
#[derive(Debug)]
pub struct AttributeBuilder {
    schema: SchemaRef,
    ids: [IdBuilder; 3],
    numbers: [Int64Builder; 3],
    removed: BooleanBuilder,
    reason: StringBuilder,
    is_representative: BooleanBuilder,
    /// `None` if the table has no column for the number of sources.
    sources: Option<Int64Builder>,
    /// `None` if the table has no columns for cut passages.
    cut: Option<(Float32Builder, Int64Builder)>,
    rows: usize,
}

impl AttributeBuilder {
    /// Creates an empty builder for the table with [`attribute_schema`].
    pub fn new(id: IdType, extras: AttributeExtras) -> AttributeBuilder {
        AttributeBuilder {
            schema: attribute_schema(id, extras),
            ids: std::array::from_fn(|_| IdBuilder::new(id)),
            numbers: Default::default(),
            removed: BooleanBuilder::new(),
            reason: StringBuilder::new(),
            is_representative: BooleanBuilder::new(),
            sources: extras.sources.then(Int64Builder::new),
            cut: extras.cut.then(Default::default),
            rows: 0,
        }
    }

    /// Appends one row.
    ///
    /// # Errors
    /// Returns an error for an id that does not fit the table's id type; the builder must not be used after an error.
    pub fn push(&mut self, row: &AttributeRow<'_>) -> Result<()> {
        for (builder, id) in self.ids.iter_mut().zip([row.id, row.kept_id, row.cluster_id]) {
            builder.push(id)?;
        }
        let numbers = [row.doc, row.cluster_size, row.copies];
        self.numbers.iter_mut().zip(numbers).for_each(|(builder, number)| builder.append_value(number as i64));
        self.removed.append_option(row.removed);
        self.reason.append_option(row.reason);
        self.is_representative.append_value(row.is_representative);
        if let Some(sources) = &mut self.sources {
            sources.append_value(row.sources.unwrap_or_default() as i64);
        }
        if let Some((cut, left)) = &mut self.cut {
            cut.append_option(row.cut.map(|(share, _)| share));
            left.append_option(row.cut.map(|(_, left)| left as i64));
        }
        self.rows += 1;
        Ok(())
    }

    /// Returns whether the builder has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns whether the builder is full and [`AttributeBuilder::finish`] should be called.
    pub fn is_full(&self) -> bool {
        is_full(self.rows, self.ids.iter().map(IdBuilder::bytes).sum::<usize>())
    }

    /// Returns the rows as a batch and empties the builder.
    pub fn finish(&mut self) -> Result<RecordBatch> {
        self.rows = 0;
        let [id, kept_id, cluster_id] = self.ids.each_mut().map(IdBuilder::finish);
        let [doc, cluster_size, copies] = self.numbers.each_mut().map(|builder| Arc::new(builder.finish()));
        let mut columns: Vec<ArrayRef> = vec![
            id,
            doc,
            Arc::new(self.removed.finish()),
            kept_id,
            Arc::new(self.reason.finish()),
            cluster_id,
            cluster_size,
            Arc::new(self.is_representative.finish()),
            copies,
        ];
        columns.extend(self.sources.as_mut().map(|sources| Arc::new(sources.finish()) as ArrayRef));
        if let Some((cut, left)) = &mut self.cut {
            columns.extend([Arc::new(cut.finish()) as ArrayRef, Arc::new(left.finish())]);
        }
        table("attributes", &self.schema, columns)
    }
}
