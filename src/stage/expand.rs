//! expand: from classes of equal documents, and pairs of their representatives, to pairs of documents.
//!
//! A class of g documents stands for g (g - 1) / 2 pairs. Above `max_group` only the pairs with its best document (the
//! centre) are written; the exact number is counted all the same.

use crate::row::Docs;

/// The pairs within one class; returns how many it stands for. `centre` picks the best document of a large class.
pub fn within<E>(
    members: Docs<'_>,
    max_group: u64,
    centre: impl FnOnce(Docs<'_>) -> u64,
    mut each: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<u64, E> {
    let count = members.len() as u64;
    if count > max_group {
        let centre = centre(members);
        members.iter().filter(|&doc| doc != centre).try_for_each(|doc| each(centre, doc))?;
    } else {
        for at in 0..members.len() {
            (at + 1..members.len()).try_for_each(|other| each(members.get(at), members.get(other)))?;
        }
    }
    Ok(count * count.saturating_sub(1) / 2)
}

/// The pairs between two classes that are a pair; returns how many that is. Of a large class only the centre stands.
pub fn between<E>(
    a: Docs<'_>,
    b: Docs<'_>,
    max_group: u64,
    mut centre: impl FnMut(Docs<'_>) -> u64,
    mut each: impl FnMut(u64, u64) -> Result<(), E>,
) -> Result<u64, E> {
    let mut short = |members: Docs<'_>| (members.len() as u64 > max_group).then(|| Docs::One(centre(members)));
    let (a_centre, b_centre) = (short(a), short(b));
    for x in a_centre.unwrap_or(a).iter() {
        for y in b_centre.unwrap_or(b).iter() {
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
        let best = |members: Docs<'_>| members.get(1);
        let push = |pairs: &mut Vec<_>, x, y| Ok(pairs.push((x, y)));
        assert_eq!(
            collect(|p| within(Docs::Wide(&[1, 2, 5]), 3, best, |x, y| push(p, x, y))),
            (3, vec![(1, 2), (1, 5), (2, 5)])
        );
        assert_eq!(
            collect(|p| within(Docs::Wide(&[1, 2, 5]), 2, best, |x, y| push(p, x, y))),
            (3, vec![(2, 1), (2, 5)])
        );
        assert_eq!(collect(|p| within(Docs::Wide(&[7]), 2, best, |x, y| push(p, x, y))), (0, vec![]));
        assert_eq!(
            collect(|p| between(Docs::Narrow(&[1, 2]), Docs::Wide(&[5]), 2, best, |x, y| push(p, x, y))),
            (2, vec![(1, 5), (2, 5)])
        );
        assert_eq!(
            collect(|p| between(Docs::Narrow(&[1, 2, 3]), Docs::Wide(&[5]), 2, best, |x, y| push(p, x, y))),
            (3, vec![(2, 5)])
        );
    }
}
