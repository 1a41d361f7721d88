//! Where items of a JSON array are cut off. A file is read once to find out, and then again with this knowledge.

/// The first item in which brackets do not match and that contains lines which begin with a brace and are not indented more than the item.
/// From this item on, an item also ends before such a line. Files in which other items contain such lines are not read like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutOff {
    /// The offset of the item.
    pub from: u64,
    /// The number of bytes before the item in its line.
    pub column: u64,
}
