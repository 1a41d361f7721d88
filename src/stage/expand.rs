//! expand: from classes of equal documents, and pairs of their representatives, to pairs of documents.
//!
//! A class of g documents stands for g (g - 1) / 2 pairs. Above `max_group` only the pairs with its best document (the
//! centre) are written; the exact number is counted all the same.

/// The pairs within one class; returns how many it stands for. `centre` picks the best document of a large class.
pub fn within<E>(
    members: &[u64],
    max_group: u64,
    centre: impl FnOnce(&[u64]) -> u64,
    mut each: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<u64, E> {
    let count = members.len() as u64;
    if count > max_group {
        let centre = centre(members);
        members.iter().filter(|&&doc| doc != centre).try_for_each(|&doc| each(centre, doc))?;
    } else {
        for (at, &a) in members.iter().enumerate() {
            members[at + 1..].iter().try_for_each(|&b| each(a, b))?;
        }
    }
    Ok(count * count.saturating_sub(1) / 2)
}

/// The pairs between two classes that are a pair; returns how many that is. Of a large class only the centre stands.
pub fn between<E>(
    a: &[u64],
    b: &[u64],
    max_group: u64,
    mut centre: impl FnMut(&[u64]) -> u64,
    mut each: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<u64, E> {
    let mut short = |members: &[u64]| (members.len() as u64 > max_group).then(|| [centre(members)]);
    let (a_centre, b_centre) = (short(a), short(b));
    for &x in a_centre.as_ref().map_or(a, |centre| centre) {
        for &y in b_centre.as_ref().map_or(b, |centre| centre) {
            each(x, y)?;
        }
    }
    Ok(a.len() as u64 * b.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collect(run: impl FnOnce(&mut Vec<(u64, u64)>) -> Result<u64, ()>) -> (u64, Vec<(u64, u64)>) {
        let mut pairs = Vec::new();
        let count = run(&mut pairs).unwrap();
        (count, pairs)
    }

    #[test]
    fn small_classes_in_full_large_ones_as_stars() {
        let best = |members: &[u64]| members[1];
        let push = |pairs: &mut Vec<_>, x, y| Ok(pairs.push((x, y)));
        assert_eq!(collect(|p| within(&[1, 2, 5], 3, best, |x, y| push(p, x, y))), (3, vec![(1, 2), (1, 5), (2, 5)]));
        assert_eq!(collect(|p| within(&[1, 2, 5], 2, best, |x, y| push(p, x, y))), (3, vec![(2, 1), (2, 5)]));
        assert_eq!(collect(|p| within(&[7], 2, best, |x, y| push(p, x, y))), (0, vec![]));
        assert_eq!(collect(|p| between(&[1, 2], &[5], 2, best, |x, y| push(p, x, y))), (2, vec![(1, 5), (2, 5)]));
        assert_eq!(collect(|p| between(&[1, 2, 3], &[5], 2, best, |x, y| push(p, x, y))), (3, vec![(2, 5)]));
    }
}
