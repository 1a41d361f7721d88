//! expand: from classes of equal documents, and pairs of their representatives, to pairs of documents.
//!
//! A class of g documents stands for g (g - 1) / 2 pairs. Above `max_group` only the pairs with its best document (the
//! centre) are written; the exact number is counted all the same.

use crate::algorithm::SignatureScheme;
use dupsift_core::row::{self, Docs, Pair, Related};

/// The bit of a pair of exact copies in [`Pair::matched`], above those of any method's rules.
pub const COPY: u16 = 1 << 15;

/// The pair of two documents of one class; `same` is what equal documents are where the method tells. Exact copies are found as
/// such and by no rule of the method.
#[inline]
pub fn of_class(
    scheme: &SignatureScheme,
    same: Option<Related>,
    a: u64,
    b: u64,
    are_copies: impl Fn(&Pair) -> bool,
) -> Pair {
    let pair = Pair { told: same, ..Pair::new(a, b, scheme.equal, 1) };
    Pair { matched: if are_copies(&pair) { COPY } else { 1 }, ..pair }
}

/// The pair of a document of the first class and one of the second, whose representatives are a pair. Rules with a direction
/// change places where the smaller number is in the second class.
#[inline]
pub fn of_both(scheme: &SignatureScheme, representatives: &Pair, x: u64, y: u64) -> Pair {
    let Pair { score, matched, told, .. } = *representatives;
    let matched = if x < y { matched } else { scheme.mirrored(matched) };
    Pair { told, ..Pair::new(x, y, score, matched) }
}

/// The names of the rules that found a pair, joined by `+`; the last one is kept, for it is nearly always the next one too.
pub struct MatchedBy<'r> {
    rules: &'r [&'r str],
    matched: u16,
    joined: String,
}

impl<'r> MatchedBy<'r> {
    /// Of a method's rules, by bit.
    pub fn new(rules: &'r [&'r str]) -> MatchedBy<'r> {
        MatchedBy { rules, matched: 0, joined: String::new() }
    }

    /// The names of the rules whose bits are set.
    pub fn of(&mut self, matched: u16) -> &str {
        if self.matched != matched {
            let names = self.rules.iter().enumerate().filter(|(bit, _)| matched >> bit & 1 == 1).map(|(_, name)| *name);
            self.joined = names.chain((matched & COPY != 0).then_some(row::COPY)).collect::<Vec<_>>().join("+");
            self.matched = matched;
        }
        &self.joined
    }
}

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

    #[test]
    fn rules_are_named() {
        let rules = ["first", "two_of_three"];
        let mut names = MatchedBy::new(&rules);
        for (matched, expected) in [(3, "first+two_of_three"), (2, "two_of_three"), (2, "two_of_three"), (COPY, "copy")]
        {
            assert_eq!(names.of(matched), expected);
        }
    }

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
