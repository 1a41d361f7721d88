//! Progress bars: rate and time left a pass; nothing at all where the terminal is not one.

/// Where progress goes. Cheap to clone, shared by threads.
#[derive(Clone, Debug, Default)]
pub struct Progress;

/// What a bar counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Documents.
    Documents,
    /// Partitions, files, groups: anything without a better name.
    Items,
}

/// One running bar; it goes when dropped.
#[derive(Debug)]
pub struct Bar;

impl Progress {
    /// No bars.
    pub fn hidden() -> Progress {
        Progress
    }

    /// A bar for a stage that will do `total` units.
    pub fn stage(&self, _name: &str, _total: u64, _unit: Unit) -> Bar {
        Bar
    }
}

impl Bar {
    /// So many more are done.
    pub fn add(&self, _count: u64) {}
}
