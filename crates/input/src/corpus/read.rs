//! Reads one piece of the corpus: batches of documents with only the requested columns and rows.

use crate::corpus::several_texts;
use crate::corpus::source::{Columns, InputFile, Partition, Source};
use crate::corpus::split::Split;
use crate::find::hive;
use crate::format::read::Reading;
use crate::format::want::Want;
use dupsift_core::error::Result;
use dupsift_tables::Documents;

impl Source {
    /// Calls `each` with the documents in the piece, in order.
    ///
    /// # Errors
    /// Returns [`Error::BadFile`](dupsift_core::error::Error::BadFile) if the file is damaged or has changed since it was opened; in that
    /// case, the batches passed to `each` must be discarded. Also returns any error from `each`.
    pub fn read(&self, split: &Split, want: &Want, each: &mut dyn FnMut(Documents) -> Result<()>) -> Result<()> {
        let chosen = want.rows.as_ref().map(|filter| filter.within(split.first_doc, split.rows));
        if chosen.as_ref().is_some_and(Vec::is_empty) {
            return Ok(());
        }
        let input = &self.files[split.file];
        let file = input.reopen()?;
        let watch = file.try_clone().map_err(|error| input.bad(format!("can no longer be opened: {error}")))?;
        let several = (input.has_several && want.text).then(|| several_texts::want(want, &self.columns));
        let want = several.as_ref().unwrap_or(want);
        let reading = self.reading(split, want, chosen.as_deref());
        // The tables of a run have room only for the rows that were counted when the file was opened.
        let end = split.first_doc + split.rows;
        let each = &mut |documents: Documents| {
            if !documents.is_empty() && documents.doc(documents.len() - 1) >= end {
                return Err(input.bad(format!(
                    "the file changed while it was being read: a part that had {} rows now has more",
                    split.rows
                )));
            }
            match several {
                Some(_) => each(several_texts::put_together(documents, &self.columns)?),
                None => each(documents),
            }
        };
        let read = if input.partitions.is_empty() {
            input.format.read(file, &reading, each)
        } else {
            input.format.read(file, &reading, &mut |documents| each(self.with_partitions(input, want, documents)?))
        };
        // A file that is being rewritten may look damaged, so the change is reported instead of the damage.
        match read {
            Ok(()) | Err(dupsift_core::error::Error::BadFile { .. }) => input.check_unchanged(&watch).and(read),
            other => other,
        }
    }

    /// Returns the columns to read from this file.
    pub(super) fn columns_of(&self, input: &InputFile) -> &Columns {
        if input.has_several { &self.apart } else { &self.columns }
    }

    /// Returns the reading parameters for a piece, restricted to the chosen rows if any are given.
    pub(crate) fn reading<'r>(&'r self, split: &Split, want: &'r Want, chosen: Option<&'r [u64]>) -> Reading<'r> {
        let input = &self.files[split.file];
        Reading {
            path: &input.path,
            coding: input.coding,
            repacked: input.repacked.as_deref(),
            unpacked: &input.unpacked,
            longest: input.longest,
            label: &input.label,
            part: split.part,
            first_doc: split.first_doc,
            rows: split.rows,
            chosen,
            // Ids that come from folder names are added later.
            has_id: input.id.is_some() && input.partitions.iter().all(|partition| partition.name != self.columns.id),
            columns: self.columns_of(input),
            want,
            shared: &self.shared,
        }
    }

    /// Adds the requested columns from folder names to the rows.
    fn with_partitions(&self, input: &InputFile, want: &Want, mut documents: Documents) -> Result<Documents> {
        for Partition { name, value, data_type } in &input.partitions {
            let is_id = want.id && *name == self.columns.id;
            if is_id || want.others.contains(name) {
                let column = hive::column(value.as_deref(), data_type, documents.len());
                documents = documents.with_column(name, column, is_id)?;
            }
        }
        Ok(documents)
    }
}
