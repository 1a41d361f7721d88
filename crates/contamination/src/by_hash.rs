//! Sorts rows by a hash.

/// Sorts rows by their hash; rows with equal hashes keep their order. Hashes are evenly distributed, so nearly all rows that differ fall into
/// different buckets.
pub(crate) fn sorted_by_hash<T: Copy + Default>(rows: &[T], hash: impl Fn(&T) -> u64) -> Vec<T> {
    let shift = 64 - (rows.len().max(2) as u64).ilog2();
    let bucket = |row: &T| (hash(row) >> shift) as usize;
    let mut places = vec![0u32; (u64::MAX >> shift) as usize + 2];
    rows.iter().for_each(|row| places[bucket(row) + 1] += 1);
    for at in 1..places.len() {
        places[at] += places[at - 1];
    }
    let mut sorted = vec![T::default(); rows.len()];
    for row in rows {
        let place = &mut places[bucket(row)];
        sorted[*place as usize] = *row;
        *place += 1;
    }
    // `places[bucket]` is the end of the bucket now.
    let mut start = 0;
    for &end in &places[..places.len() - 1] {
        if end - start > 1 {
            sorted[start as usize..end as usize].sort_by_key(&hash);
        }
        start = end;
    }
    sorted
}
