//! Chooses, for the survivor rule, the kept partner that replaces a removed document, if there is one.

use std::collections::BTreeMap;

use super::survive::{Partner, Removal};
use crate::measure::Contained;
use crate::recipe::remove_if::{Bounds, MOST_LOOKED_AT, Stays};

/// Chooses the best partner for a document whose removal requires only a pair. `better(a, b)` returns whether a precedes b in the order of
/// preference.
pub fn best(doc: u64, partners: &[Partner], better: impl Fn(u64, u64) -> bool) -> Option<Removal> {
    let best = partners.iter().reduce(|a, b| if better(b.kept, a.kept) { b } else { a })?;
    Some(Removal { doc, kept: best.kept, found: Some(best.found), contained: None })
}

/// Splits the partners of a document into the partners to compare (the most similar partners; if the similarities are equal, the best
/// partners) and the rest.
pub fn nearest(partners: &mut [Partner], better: impl Fn(u64, u64) -> bool) -> (&mut [Partner], &mut [Partner]) {
    let preferred = |a: &Partner, b: &Partner| {
        let similar = b.found.1.total_cmp(&a.found.1);
        similar.then_with(|| better(b.kept, a.kept).cmp(&better(a.kept, b.kept)))
    };
    if partners.len() > MOST_LOOKED_AT {
        partners.select_nth_unstable_by(MOST_LOOKED_AT - 1, preferred);
    }
    let (near, far) = partners.split_at_mut(partners.len().min(MOST_LOOKED_AT));
    near.sort_unstable_by(preferred);
    (near, far)
}

/// Chooses a partner that contains the document: the partner with the largest share of the document's 3-grams, then the most similar
/// partner, then the best partner.
///
/// Only the [`MOST_LOOKED_AT`] most similar partners are compared; among equally similar partners, the best partners are compared.
pub struct Chooser<B> {
    bounds: Bounds,
    better: B,
    /// The number of documents that are kept although they form a pair with a kept document, by reason.
    pub stays: BTreeMap<Stays, u64>,
    /// The number of kept partners with which these documents were not compared. A partner that several algorithms found may count once
    /// for each algorithm.
    pub not_looked_at: u64,
}

impl<B: Fn(u64, u64) -> bool> Chooser<B> {
    /// Creates a chooser. `better(a, b)` returns whether a precedes b in the order of preference.
    pub fn new(bounds: Bounds, better: B) -> Chooser<B> {
        Chooser { bounds, better, stays: BTreeMap::new(), not_looked_at: 0 }
    }

    /// Chooses a partner for one document. `look` returns how much of the document a kept document contains, and vice versa, or `None`
    /// for an exact copy. `beyond` is the number of kept partners that are not in `partners`.
    ///
    /// # Errors
    /// Returns the errors of `look`.
    pub fn choose<E>(
        &mut self,
        doc: u64,
        partners: &mut [Partner],
        beyond: u64,
        look: impl FnMut(u64) -> Result<Option<[Contained; 2]>, E>,
    ) -> Result<Option<Removal>, E> {
        let (chosen, stays, far) = self.look_at(doc, partners, look)?;
        if let (None, Some(stays)) = (&chosen, stays) {
            *self.stays.entry(stays).or_default() += 1;
            self.not_looked_at += far + beyond;
        }
        Ok(chosen)
    }

    /// Like [`Chooser::choose`], but for a document that is removed in any case and therefore does not count as kept.
    ///
    /// # Errors
    /// Returns the errors of `look`.
    pub fn choose_for_removed<E>(
        &self,
        doc: u64,
        partners: &mut [Partner],
        look: impl FnMut(u64) -> Result<Option<[Contained; 2]>, E>,
    ) -> Result<Option<Removal>, E> {
        self.look_at(doc, partners, look).map(|(chosen, ..)| chosen)
    }

    /// Returns the chosen partner, the reason to keep the document if no partner was chosen, and the number of partners with which the
    /// document was not compared.
    fn look_at<E>(
        &self,
        doc: u64,
        partners: &mut [Partner],
        mut look: impl FnMut(u64) -> Result<Option<[Contained; 2]>, E>,
    ) -> Result<(Option<Removal>, Option<Stays>, u64), E> {
        let (near, far) = nearest(partners, &self.better);
        let (mut chosen, mut stays): (Option<Removal>, Option<Stays>) = (None, None);
        for partner in near {
            let removal = Removal { doc, kept: partner.kept, found: Some(partner.found), contained: None };
            let Some(both) = look(partner.kept)? else { return Ok((Some(removal), None, 0)) };
            match self.bounds.stays(both) {
                Some(why) => stays = stays.max(Some(why)),
                None => {
                    let most = chosen.as_ref().and_then(|chosen| chosen.contained);
                    if most.is_none_or(|most| both[0].grams.common > most.grams.common) {
                        chosen = Some(Removal { contained: Some(both[0]), ..removal });
                    }
                }
            }
        }
        Ok((chosen, stays, far.len() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Part;

    fn of(grams: u64, numbers: u64) -> Contained {
        let [grams, facts] = [grams, numbers].map(|common| Part { common, all: 10 });
        Contained { grams, facts, ..Contained::default() }
    }

    fn partner(kept: u64, similarity: f32) -> Partner {
        Partner { kept, found: (0, similarity) }
    }

    type Tested = Chooser<fn(u64, u64) -> bool>;

    fn chosen(partners: &[(u64, f32)], look: impl Fn(u64) -> Option<[Contained; 2]>) -> (Option<u64>, Tested) {
        let mut partners: Vec<Partner> = partners.iter().map(|&(kept, similarity)| partner(kept, similarity)).collect();
        let mut chooser = Chooser::new(Bounds { grams: 0.8, numbers: 0.9 }, (|a, b| a < b) as fn(u64, u64) -> bool);
        let removal = chooser.choose(99, &mut partners, 3, |kept| Ok::<_, ()>(look(kept))).unwrap();
        (removal.map(|removal| removal.kept), chooser)
    }

    #[test]
    fn most_of_the_text_then_the_most_similar_then_the_first() {
        let shares = |kept: u64| Some([if kept == 4 { of(9, 9) } else { of(8, 9) }, of(0, 0)]);
        assert_eq!(chosen(&[(2, 0.5), (1, 0.7), (3, 0.7), (4, 0.1)], shares).0, Some(4));
        assert_eq!(chosen(&[(2, 0.5), (3, 0.7), (1, 0.7)], shares).0, Some(1));
        // The search ends at a copy.
        assert_eq!(chosen(&[(2, 1.0), (4, 0.7)], |kept| shares(kept).filter(|_| kept != 2)).0, Some(2));
        assert_eq!(best(9, &[partner(5, 0.1), partner(3, 0.2)], |a, b| a < b).unwrap().kept, 3);
        assert_eq!(best(9, &[], |a, b| a < b), None);
    }

    #[test]
    fn who_stays_counts_once_by_the_reason_that_comes_nearest_to_going() {
        let look = |kept: u64| Some(if kept == 1 { [of(9, 1), of(9, 1)] } else { [of(1, 9), of(9, 9)] });
        let (none, chooser) = chosen(&[(1, 0.5), (2, 0.9)], look);
        assert_eq!((none, chooser.not_looked_at), (None, 3));
        assert_eq!(chooser.stays, BTreeMap::from([(Stays::OwnNumbers, 1)]));
        assert_eq!(chosen(&[(2, 0.9)], look).1.stays, BTreeMap::from([(Stays::Larger, 1)]));
        assert_eq!(chosen(&[(2, 0.9)], |_| Some([of(1, 1); 2])).1.stays, BTreeMap::from([(Stays::OwnText, 1)]));
    }

    /// The best twenty of thirty equally similar partners are compared, and the other ten are counted.
    #[test]
    fn the_most_similar_are_looked_at_and_the_others_count() {
        let all: Vec<(u64, f32)> = (0..30).rev().map(|kept| (kept, 0.5)).collect();
        let only = |which: u64| move |kept| Some(if kept == which { [of(9, 9); 2] } else { [of(0, 0); 2] });
        assert_eq!(chosen(&all, only(19)).0, Some(19));
        let (none, chooser) = chosen(&all, only(20));
        assert_eq!((none, chooser.not_looked_at), (None, 10 + 3));
        let nearer: Vec<(u64, f32)> =
            all.iter().map(|&(kept, near)| (kept, if kept == 20 { 0.6 } else { near })).collect();
        assert_eq!(chosen(&nearer, only(20)).0, Some(20));
    }
}
