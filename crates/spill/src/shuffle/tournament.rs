//! Implements a loser tree, which finds the sorted sequence whose first remaining element is smallest. Each step takes one comparison per
//! level of the tree.

/// The state of a tournament among players 0, 1 and so on. The caller provides the comparison for each step.
#[derive(Debug)]
pub(super) struct Tournament {
    /// Position 0 holds the winner; every other position holds the loser of the match at that position. Player `p` enters at position
    /// `(players + p) / 2`, and the winner at position `i` advances to `i / 2`.
    places: Vec<usize>,
}

impl Tournament {
    /// Plays all matches. There must be at least one player; otherwise, [`Tournament::winner`] returns a player that does not exist.
    pub(super) fn new(players: usize, beats: impl Fn(usize, usize) -> bool) -> Tournament {
        let mut places = vec![0; players.max(1)];
        // winners[i] is the winner of the match at position i; the players themselves are at position `players` and higher positions.
        let mut winners: Vec<usize> = (0..players).map(|_| 0).chain(0..players).collect();
        for place in (1..players).rev() {
            let (one, two) = (winners[2 * place], winners[2 * place + 1]);
            let (winner, loser) = if beats(two, one) { (two, one) } else { (one, two) };
            winners[place] = winner;
            places[place] = loser;
        }
        places[0] = winners.get(1).copied().unwrap_or(0);
        Tournament { places }
    }

    /// Returns the player with the smallest head.
    #[inline]
    pub(super) fn winner(&self) -> usize {
        self.places[0]
    }

    /// Replays the winner's matches after its head has changed.
    #[inline]
    pub(super) fn replay(&mut self, beats: impl Fn(usize, usize) -> bool) {
        let mut winner = self.places[0];
        let mut place = (self.places.len() + winner) / 2;
        while place > 0 {
            if beats(self.places[place], winner) {
                std::mem::swap(&mut self.places[place], &mut winner);
            }
            place /= 2;
        }
        self.places[0] = winner;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that merging any number of sequences, including empty sequences, gives the same result as sorting all of them together.
    #[test]
    fn merges_as_sorting_does() {
        for players in 1..40_usize {
            let sequences: Vec<Vec<u64>> = (0..players as u64)
                .map(|player| {
                    let mut sequence: Vec<u64> = (0..player * 7 % 11).map(|n| (n * 37 + player * 13) % 50).collect();
                    sequence.sort_unstable();
                    sequence
                })
                .collect();
            let mut at = vec![0; players];
            let mut merged = Vec::new();
            let head = |at: &[usize], player: usize| sequences[player].get(at[player]).copied().unwrap_or(u64::MAX);
            let mut tournament = Tournament::new(players, |a, b| head(&at, a) < head(&at, b));
            while head(&at, tournament.winner()) < u64::MAX {
                merged.push(head(&at, tournament.winner()));
                at[tournament.winner()] += 1;
                tournament.replay(|a, b| head(&at, a) < head(&at, b));
            }
            let mut expected = sequences.concat();
            expected.sort_unstable();
            assert_eq!(merged, expected, "{players}");
        }
    }
}
