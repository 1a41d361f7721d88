//! Selects the entries with the lowest keys from a stream, in bounded memory.

/// Keeps the entries with the lowest keys, at most `most` of them. Only the first entry with a given key is kept.
#[derive(Clone, Debug)]
pub(crate) struct Lowest<K, V> {
    most: usize,
    /// The entries, ordered by key.
    entries: Vec<(K, V)>,
}

impl<K: PartialOrd + Copy, V> Lowest<K, V> {
    /// Creates a list for at most `most` entries.
    pub(crate) fn new(most: usize) -> Lowest<K, V> {
        Lowest { most, entries: Vec::new() }
    }

    /// Returns whether the key is low enough for an entry.
    #[inline]
    pub(crate) fn takes(&self, key: K) -> bool {
        self.entries.len() < self.most || self.entries.last().is_some_and(|(last, _)| key < *last)
    }

    /// Adds an entry if its key is low enough, and drops the entry with the highest key if there are too many.
    #[inline]
    pub(crate) fn offer(&mut self, key: K, value: impl FnOnce() -> V) {
        if !self.takes(key) {
            return;
        }
        let at = self.entries.partition_point(|(known, _)| *known < key);
        if self.entries.get(at).is_some_and(|(known, _)| *known == key) {
            return;
        }
        if self.entries.len() >= self.most {
            self.entries.pop();
        }
        self.entries.insert(at, (key, value()));
    }

    /// Returns the entries, lowest key first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(K, V)> {
        self.entries.iter()
    }

    /// Returns the values, lowest key first.
    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.entries.into_iter().map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_the_lowest_in_any_order_of_arrival() {
        for order in [[5, 3, 9, 1, 3, 7], [1, 3, 3, 5, 7, 9], [9, 7, 5, 3, 3, 1]] {
            let mut lowest = Lowest::new(3);
            order.iter().for_each(|&key| lowest.offer(key, || key * 10));
            assert_eq!(lowest.iter().copied().collect::<Vec<_>>(), [(1, 10), (3, 30), (5, 50)]);
            assert_eq!(lowest.into_values().collect::<Vec<_>>(), [10, 30, 50]);
        }
        let mut none = Lowest::new(0);
        none.offer(1, || ());
        assert_eq!(none.iter().count(), 0);
    }
}
