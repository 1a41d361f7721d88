//! Provides checked views of the Arrow batches that modules exchange. Each table has its own file.
//!
//! [`document::Documents`] is a batch of input rows. The schema and the builder of each output table are defined only here, so that a
//! column has the same name and type everywhere. [`lists`] and [`messages`] turn lists and conversations into text, and [`attached`] adds the pictures beside it. This crate opens no
//! files.
//!
//! Part of dupsift; the repository's ARCHITECTURE.md explains how the parts fit together.

// Tests write files into their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub mod attached;
pub(crate) mod attribute;
pub mod category;
pub mod cell;
pub mod cluster;
pub mod contaminated;
pub mod document;
pub mod evaluation;
pub mod flag;
pub mod id;
pub mod id_column;
pub mod json_walk;
pub mod judged;
mod listed;
pub mod lists;
pub mod look_up;
pub mod message_fields;
pub mod messages;
pub mod model;
mod named;
pub mod page;
pub mod pair;
pub mod passage;
mod put;
pub mod read_as;
pub mod reason;
pub mod rejected;
pub mod removal;
pub mod term;
pub mod utf8;
mod views;

pub use attribute::{AttributeBuilder, AttributeExtras, AttributeRow, attribute_schema};
pub use category::{CATEGORY_COLUMNS, CategoryBuilder, CategoryRow, categories_found, category_schema};
pub use cluster::{CLUSTER_COLUMNS, ClusterBuilder, ClusterRow, Clustered, cluster_schema, clustered};
pub use contaminated::{
    ContaminatedBuilder, ContaminatedRow, ItemBuilder, ItemRow, contaminated_schema, item_schema, suite_schema,
    suite_table,
};
pub use document::{Cell, Documents, TextColumn};
pub use evaluation::{EvaluationRow, evaluation_schema, evaluation_table};
pub use flag::{FlagBuilder, flag_schema};
pub use id::{Id, IdKind, IdRef, IdType, IdsSeen};
pub use id_column::{IdBuilder, IdBytes};
pub use judged::{JudgedBuilder, judged_schema};
pub use listed::{
    LISTED_PAIR_COLUMNS, LISTED_REMOVAL_COLUMNS, ListedPair, ListedRemoval, PAIR_FACT_COLUMNS, listed_id, listed_pairs,
    listed_removals,
};
pub use look_up::{
    COPY_LOOK_UP_COLUMNS, FoundPair, FoundRemoval, PAIR_LOOK_UP_COLUMNS, PARTNER_COLUMNS, PairSearch,
    REMOVAL_LOOK_UP_COLUMNS, copies_of, pair_of, partners_of, removals_of,
};
pub use model::{MODEL_COLUMNS, model_batch, model_schema, model_values};
pub use page::{PageBuilder, PageRow, page_fields};
pub use pair::{PAIR_COLUMNS, PairColumns, PairFound, pair_schema, pairs_found};
pub use passage::{PASSAGE_COLUMNS, PassageBuilder, PassageFound, PassageRow, passage_schema, passages_found};
pub use reason::{RejectReason, Rejection};
pub use rejected::{
    REJECTED_COLUMNS, REJECTED_FOR_COLUMNS, RejectedBuilder, rejected_for, rejected_of, rejected_rows, rejected_schema,
};
pub use removal::{
    EMPTIED, REASONS, REMOVAL_COLUMNS, REPRESENTATIVE, RemovalBuilder, RemovalFound, RemovalRow, removal_schema,
    removals_found,
};
pub use term::{TERM_COLUMNS, TermBuilder, term_schema, terms_found};
pub use utf8::LostValues;
pub use views::apart;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::SchemaRef;
use dupsift_core::error::{Error, Result};

/// The builder of an output table is full once it has this many rows.
pub const FULL_ROWS: usize = 8192;
/// The builder of an output table is full once its variable-width values add up to this many bytes. The limit is far below the size at
/// which the 32-bit offsets of text columns would overflow.
pub const FULL_BYTES: usize = 4 << 20;

/// Returns whether a builder with this many rows, and with this many bytes in its longest columns, is full.
fn is_full(rows: usize, bytes: usize) -> bool {
    rows >= FULL_ROWS || bytes >= FULL_BYTES
}

/// Returns the columns as a batch with this schema. A failure indicates a bug, so the error names only the table.
fn table(name: &str, schema: &SchemaRef, columns: Vec<ArrayRef>) -> Result<RecordBatch> {
    RecordBatch::try_new(schema.clone(), columns).map_err(Error::table(format!("build the table {name}")))
}
