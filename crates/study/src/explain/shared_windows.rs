//! Records the windows that two documents share, and explains why a window is too large for these documents to be compared.

use dupsift_algorithms::recipe::bound::Bound;

/// Holds the windows that two documents share.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    /// The position and key of each window.
    pub keys: Vec<(u32, u128)>,
    sketches: [Vec<u64>; 2],
}

impl Windows {
    /// Returns the reason why no window compares the two documents, or `None` if a window compares them. `rows` holds the number of rows in
    /// each window.
    pub(crate) fn why_not_compared(&self, bound: &Bound<'_>, rows: &[u64]) -> Option<String> {
        let vectors = bound.signer.vectors()?;
        let [a, b] = &self.sketches;
        let each = self
            .keys
            .iter()
            .zip(rows)
            .map(|(&(_, key), &rows)| vectors.describe_window(key, rows, a, b).map(|told| (rows, told)));
        // The smallest window came closest to comparing the two documents.
        let told = each.collect::<Option<Vec<_>>>()?;
        told.into_iter().min_by_key(|(rows, _)| *rows).map(|(_, told)| told)
    }

    /// Returns the windows of two documents with these shared keys and these sketches, or `None` if a window compares them regardless of
    /// its size.
    pub(crate) fn of(bound: &Bound<'_>, keys: Vec<(u32, u128)>, sketches: [Vec<u64>; 2]) -> Option<Windows> {
        let windows = Windows { keys, sketches };
        windows.why_not_compared(bound, &vec![u64::MAX; windows.keys.len()]).map(|_| windows)
    }
}
