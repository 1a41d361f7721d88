//! The windows in which two documents meet, and whether being large they keep them apart.

use super::bound::Bound;

/// The windows in which two documents meet.
#[derive(Clone, Debug)]
pub struct Windows {
    /// Position and key of each.
    pub keys: Vec<(u32, u128)>,
    sketches: [Vec<u64>; 2],
}

impl Windows {
    /// Why the two are not compared in any of the windows, which have so many rows; none where they are in one of them.
    pub fn why_not_compared(&self, bound: &Bound<'_>, rows: &[u64]) -> Option<String> {
        let vectors = bound.signer.vectors()?;
        let [a, b] = &self.sketches;
        let each = self
            .keys
            .iter()
            .zip(rows)
            .map(|(&(_, key), &rows)| vectors.describe_window(key, rows, a, b).map(|told| (rows, told)));
        // The smallest one came nearest to it.
        let told = each.collect::<Option<Vec<_>>>()?;
        told.into_iter().min_by_key(|(rows, _)| *rows).map(|(_, told)| told)
    }

    /// Of two documents with these keys in common and these sketches; none where a window compares them however large it is.
    pub fn of(bound: &Bound<'_>, keys: Vec<(u32, u128)>, sketches: [Vec<u64>; 2]) -> Option<Windows> {
        let windows = Windows { keys, sketches };
        windows.why_not_compared(bound, &vec![u64::MAX; windows.keys.len()]).map(|_| windows)
    }
}
