//! Converts a row of a batch to a document in the form that algorithms process (`steps/view.rs`).

use super::cuts::Cuts;
use crate::classes::Classes;
use crate::session::Session;
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_algorithms::steps::view;
use dupsift_core::error::Result;
use dupsift_input::Want;
use dupsift_tables::{Cell, Documents, TextColumn};
use dupsift_text::{Analysis, Field, FieldValue, FieldValues, KeptWords};

/// Defines how a pass reads documents.
#[derive(Clone, Copy)]
pub struct View<'j> {
    session: &'j Session<'j>,
    cuts: Option<&'j Cuts>,
    view: view::View<'j, Classes>,
}

/// The columns of a batch, except the text column, by [`Field`].
pub type Columns = [Option<TextColumn>; Field::ALL.len()];

impl<'j> View<'j> {
    /// Returns the view for a first pass, which runs before words have been counted.
    pub fn first(session: &'j Session<'j>) -> View<'j> {
        View { session, cuts: None, view: view::View::first(session.pipeline) }
    }

    /// Returns the view for a pass that runs after words have been counted. The view uses the recorded word boundaries and the word
    /// frequencies.
    pub fn after_count(session: &'j Session<'j>, cuts: Option<&'j Cuts>, stats: &'j CorpusStats) -> View<'j> {
        View { session, cuts, view: view::View::after_count(session.pipeline, stats) }
    }

    /// Adds the exact copies to the view; the copies determine how often each text is counted.
    pub fn with_copies<'v>(self, copies: Option<&'v Classes>) -> View<'v>
    where
        'j: 'v,
    {
        View { view: self.view.with_copies(copies, self.session.options.recipe.count_copies), ..self }
    }

    /// Returns this view for the documents of a different session.
    pub fn over<'v>(self, session: &'v Session<'v>) -> View<'v>
    where
        'j: 'v,
    {
        View { session, ..self }
    }

    /// Returns a request for the text and the other columns that the algorithms read, for all rows.
    pub fn want(&self) -> Want {
        let want = Want {
            others: self.session.field_columns(),
            batch_bytes: self.session.engine.budget.batch,
            ..Want::default()
        };
        want.with_values(self.session.options.recipe.scope_column())
    }

    /// Returns the columns of a batch. Columns that are missing from a file are `None`. Also records the scopes of the documents.
    ///
    /// # Errors
    /// Returns an error if a column cannot be read as strings.
    pub fn columns(&self, batch: &Documents) -> Result<Columns> {
        let mut columns = Columns::default();
        for &field in &self.session.fields {
            columns[field as usize] = batch.text_column(&self.session.options.columns.field_columns[field as usize])?;
        }
        self.session.scopes.note(&self.session.options.recipe, batch)?;
        Ok(columns)
    }

    /// Returns the document that a row contains. A field that is not valid text counts as null.
    pub fn document<'d>(&'d self, doc: u64, text: &'d str, columns: &'d Columns, row: usize) -> Analysis<'d> {
        let mut values = FieldValues::default();
        for (value, column) in values.iter_mut().zip(columns) {
            *value = match column.as_ref().map(|column| column.get(row)) {
                None => FieldValue::NoColumn,
                Some(Cell::Text(text)) => FieldValue::Text(text),
                Some(_) => FieldValue::Null,
            };
        }
        let starts = self.cuts.and_then(|cuts| cuts.of(doc));
        self.view.document(doc, text, values, starts, self.session.scopes.within(&self.session.options.recipe, doc))
    }

    /// Returns the total size in bytes of a document's text and of the other columns that the algorithms read.
    pub fn bytes(text: &str, columns: &Columns, row: usize) -> usize {
        let field = |column: &TextColumn| if let Cell::Text(value) = column.get(row) { value.len() } else { 0 };
        text.len() + columns.iter().flatten().map(field).sum::<usize>()
    }

    /// Returns a document whose words are known but whose text is not.
    pub fn read_back<'d>(&'d self, doc: u64, words: KeptWords<'d>) -> Analysis<'d> {
        self.view.read_back(doc, words, self.session.scopes.within(&self.session.options.recipe, doc))
    }

    /// Returns how often a document's text is counted.
    pub fn times(&self, doc: u64) -> u64 {
        self.view.times(doc)
    }
}
