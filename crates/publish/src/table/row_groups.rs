//! Writes the row groups of one Parquet file, and encodes columns on several threads.
//!
//! Each column is encoded and compressed separately, block by block, so its bytes do not depend on the number of threads. The parquet
//! crate's own writer, which encodes one column after another, writes the same bytes. The work runs on the threads of the caller's pool;
//! outside a pool, the calling thread does all the work.

use std::fs::File;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowLeafColumn, ArrowRowGroupWriterFactory, ArrowWriterOptions,
    compute_leaves,
};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::writer::SerializedFileWriter;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use rayon::iter::{
    IndexedParallelIterator as _, IntoParallelIterator as _, IntoParallelRefMutIterator as _, ParallelIterator as _,
};

/// Writes one row group after another.
pub(crate) struct RowGroups {
    file: SerializedFileWriter<File>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The columns of the current row group.
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
}

impl RowGroups {
    /// Starts writing to an empty file.
    pub(crate) fn new(file: File, schema: SchemaRef, options: ArrowWriterOptions) -> Result<RowGroups> {
        let writer = ArrowWriter::try_new_with_options(file, schema.clone(), options)?;
        let (file, factory) = writer.into_serialized_writer()?;
        Ok(RowGroups { file, factory, schema, columns: Vec::new(), rows: 0 })
    }

    /// Returns the number of rows in the current row group.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the approximate encoded size of the current row group in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.columns.iter().map(ArrowColumnWriter::get_estimated_total_bytes).sum()
    }

    /// Returns the approximate size of the current row group in memory, in bytes.
    pub(crate) fn memory(&self) -> usize {
        self.columns.iter().map(ArrowColumnWriter::memory_size).sum()
    }

    /// Appends a block to the current row group.
    pub(crate) fn write(&mut self, block: &RecordBatch) -> Result<()> {
        if self.columns.is_empty() {
            self.columns = self.factory.create_column_writers(self.file.flushed_row_groups().len())?;
        }
        let mut leaves = Vec::with_capacity(self.columns.len());
        for (field, column) in self.schema.fields().iter().zip(block.columns()) {
            leaves.append(&mut compute_leaves(field, column)?);
        }
        if leaves.len() != self.columns.len() {
            return Err(ParquetError::General("the columns of the block differ from those of the table".into()));
        }
        let write = |(column, leaf): (&mut ArrowColumnWriter, &ArrowLeafColumn)| column.write(leaf);
        if in_pool() {
            self.columns.par_iter_mut().zip(&leaves).with_max_len(1).try_for_each(write)?;
        } else {
            self.columns.iter_mut().zip(&leaves).try_for_each(write)?;
        }
        self.rows += block.num_rows();
        Ok(())
    }

    /// Ends the current row group if it has any rows.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.rows = 0;
        let columns = std::mem::take(&mut self.columns);
        if columns.is_empty() {
            return Ok(());
        }
        let chunks: Vec<ArrowColumnChunk> = if in_pool() {
            columns.into_par_iter().with_max_len(1).map(ArrowColumnWriter::close).collect::<Result<_>>()?
        } else {
            columns.into_iter().map(ArrowColumnWriter::close).collect::<Result<_>>()?
        };
        let mut group = self.file.next_row_group()?;
        chunks.into_iter().try_for_each(|chunk| chunk.append_to_row_group(&mut group))?;
        group.close()?;
        Ok(())
    }

    /// Finishes the file.
    pub(crate) fn finish(&mut self) -> Result<&File> {
        self.flush()?;
        self.file.finish()?;
        Ok(self.file.inner())
    }
}

/// Returns whether this thread belongs to a pool. Without a pool, the library would create a global pool that uses all processors, which
/// must not happen.
fn in_pool() -> bool {
    rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringArray};
    use std::sync::Arc;

    /// Writes three row groups, with this writer in a pool of `threads` threads, or with the crate's writer.
    fn written(threads: Option<usize>) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("table.parquet");
        let block = |from: i64| {
            let numbers = Int64Array::from_iter_values(from..from + 5000);
            let words: StringArray =
                (from..from + 5000).map(|one| (one % 7 != 3).then(|| "x".repeat(one as usize % 40))).collect();
            RecordBatch::try_from_iter_with_nullable([
                ("a", Arc::new(numbers) as _, false),
                ("b", Arc::new(words.clone()) as _, true),
                ("c", Arc::new(words) as _, true),
            ])
            .expect("a block")
        };
        let blocks: Vec<RecordBatch> = (0..6).map(|at| block(at * 5000)).collect();
        let file = File::create_new(&path).expect("a file");
        let (schema, options) = (blocks[0].schema(), ArrowWriterOptions::new());
        match threads {
            None => {
                let mut writer = ArrowWriter::try_new_with_options(file, schema, options).expect("a writer");
                for pair in blocks.chunks(2) {
                    pair.iter().for_each(|block| writer.write(block).expect("written"));
                    writer.flush().expect("flushed");
                }
                writer.close().expect("closed");
            }
            Some(threads) => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                let mut groups = RowGroups::new(file, schema, options).expect("a writer");
                pool.install(|| {
                    for pair in blocks.chunks(2) {
                        pair.iter().for_each(|block| groups.write(block).expect("written"));
                        assert!(groups.rows() == 10_000 && groups.bytes() > 0 && groups.memory() > 0);
                        groups.flush().expect("flushed");
                    }
                    assert_eq!(groups.rows(), 0);
                    groups.finish().expect("finished");
                });
            }
        }
        std::fs::read(path).expect("there")
    }

    #[test]
    fn any_number_of_threads_writes_the_bytes_of_the_crates_writer() {
        let plain = written(None);
        assert!(plain == written(Some(1)) && plain == written(Some(4)));
    }

    #[test]
    fn a_block_of_other_columns_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |names: &[&str]| {
            let column = Arc::new(Int64Array::from(vec![1])) as arrow::array::ArrayRef;
            RecordBatch::try_from_iter(names.iter().map(|name| (*name, column.clone()))).expect("a block")
        };
        let file = File::create_new(folder.path().join("a.parquet")).expect("a file");
        let mut groups = RowGroups::new(file, of(&["a", "b"]).schema(), ArrowWriterOptions::new()).expect("a writer");
        assert!(groups.write(&of(&["a"])).is_err());
        groups.write(&of(&["a", "b"])).expect("written");
    }
}
