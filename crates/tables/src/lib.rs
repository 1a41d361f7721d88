//! Provides checked views of the Arrow batches that modules exchange. Each table has its own file.
//!
//! [`document::Documents`] is a batch of input rows. The schema and the builder of each output table are defined only here, so that a
//! column has the same name and type everywhere. [`nested`] turns lists and conversations into text. This crate
//! opens no files.
//!
//! Part of dupsift; the repository's ARCHITECTURE.md explains how the parts fit together.

// Tests write files into their own folders and use the platform's math library.
#![cfg_attr(test, allow(clippy::disallowed_methods))]

pub(crate) mod attribute;
mod builder;
pub mod category;
pub mod cluster;
pub mod columns;
pub mod contaminated;
pub mod document;
pub mod evaluation;
pub mod flag;
mod index_copies;
pub mod judged;
pub mod model;
pub mod nested;
pub mod page;
pub mod pair;
pub mod passage;
pub mod read_back;
pub mod reason;
pub mod rejected;
pub mod removal;
pub mod term;

pub use attribute::{AttributeBuilder, AttributeExtras, AttributeRow, attribute_schema};
pub use builder::{FULL_BYTES, FULL_ROWS};
pub use category::{CATEGORY_COLUMNS, CategoryBuilder, CategoryRow, categories_found, category_schema};
pub use cluster::{CLUSTER_COLUMNS, ClusterBuilder, ClusterRow, Clustered, cluster_schema, clustered};
pub use columns::id::{Id, IdKind, IdRef, IdType, IdsSeen};
pub use columns::id_column::{IdBuilder, IdBytes};
pub use columns::utf8::LostValues;
pub use columns::views::apart;
pub use contaminated::{
    ContaminatedBuilder, ContaminatedRow, ItemBuilder, ItemRow, contaminated_schema, item_schema, suite_schema,
    suite_table,
};
pub use document::{Cell, Documents, TextColumn};
pub use evaluation::{EvaluationRow, evaluation_schema, evaluation_table};
pub use flag::{FlagBuilder, flag_schema};
pub use index_copies::{IndexCopiesBuilder, index_copies_schema};
pub use judged::{JudgedBuilder, judged_schema};
pub use model::{MODEL_COLUMNS, model_batch, model_schema, model_values};
pub use page::{PageBuilder, PageRow, page_fields};
pub use pair::{PAIR_COLUMNS, PairColumns, PairFound, pair_schema, pairs_found};
pub use passage::{PASSAGE_COLUMNS, PassageBuilder, PassageFound, PassageRow, passage_schema, passages_found};
pub use read_back::listed::{
    LISTED_PAIR_COLUMNS, LISTED_REMOVAL_COLUMNS, ListedPair, PAIR_FACT_COLUMNS, kept_in, listed_id, listed_pairs,
};
pub use read_back::look_up::{
    COPY_LOOK_UP_COLUMNS, FoundPair, FoundRemoval, PAIR_LOOK_UP_COLUMNS, PARTNER_COLUMNS, PairSearch,
    REMOVAL_LOOK_UP_COLUMNS, copies_of, pair_of, partners_of, removals_of,
};
pub use reason::{RejectReason, Rejection};
pub use rejected::{
    REJECTED_COLUMNS, REJECTED_FOR_COLUMNS, RejectedBuilder, rejected_for, rejected_of, rejected_rows, rejected_schema,
};
pub use removal::{
    EMPTIED, REASONS, REMOVAL_COLUMNS, REPRESENTATIVE, RemovalBuilder, RemovalFound, RemovalRow, removal_schema,
    removals_found,
};
pub use term::{TERM_COLUMNS, TermBuilder, term_schema, terms_found};
