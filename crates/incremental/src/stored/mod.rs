//! Reads and writes the data that an index stores in addition to texts: keys and sketches, the document of each distinct text, and the pairs
//! of earlier batches.

pub(crate) mod earlier;
pub(crate) mod known_by;
pub(crate) mod rows;
