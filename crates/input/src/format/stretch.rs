//! Describes how much memory the rows of a part take while they are read.

/// Rows of a part that are read together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The number of rows.
    pub rows: u64,
    /// The maximum number of bytes of the file, unpacked plus packed, that are in memory while these rows are read.
    pub bytes: u64,
    /// The size in bytes of the longest text in these rows; a lower bound or 0 if the size is not known.
    pub longest: u64,
    /// The column that takes up the most bytes.
    pub column: String,
    /// The unit that is loaded into memory as a whole.
    pub unit: Unit,
}

/// The part of a file that is in memory at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// A line or an item of an array.
    #[default]
    Line,
    /// A page of a Parquet column.
    Page,
    /// A column of a row group, whose pages are not known or cannot be read singly.
    RowGroup,
    /// A record batch of an Arrow file.
    Batch,
}

impl Unit {
    /// Returns the name of the unit, and how to write a file with smaller units, as the end of a sentence.
    pub fn said(self) -> &'static [&'static str; 2] {
        match self {
            Unit::Line => &["a line", ""],
            Unit::Page => {
                &["a page", ", or write the file with smaller pages (in pyarrow, with a smaller write_batch_size)"]
            }
            Unit::RowGroup => &[
                "a row group",
                ", or write the file with smaller row groups (in pyarrow, with a smaller row_group_size)",
            ],
            Unit::Batch => &["a record batch", ", or write the file with smaller record batches"],
        }
    }
}
