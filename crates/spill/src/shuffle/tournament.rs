//! A tournament of losers: which of many sorted sequences has the least head, at one comparison a level for each step.

/// The state of a tournament among players 0, 1, ...; who beats whom is asked of the caller each time.
#[derive(Debug)]
pub(super) struct Tournament {
    /// Place 0 holds the winner; place `i` from 1 on the loser of the match there. Player `p` enters at place
    /// `(players + p) / 2`, and the winner of place `i` goes on to `i / 2`.
    places: Vec<usize>,
}

impl Tournament {
    /// Plays all matches. There must be a player at least, or [`Tournament::winner`] names one that is not there.
    pub(super) fn new(players: usize, beats: impl Fn(usize, usize) -> bool) -> Tournament {
        let mut places = vec![0; players.max(1)];
        // winners[i] for a match at place i; players stand at the places from `players` on.
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

    /// The player with the least head.
    #[inline]
    pub(super) fn winner(&self) -> usize {
        self.places[0]
    }

    /// Plays the winner's matches again, after its head has changed.
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

    /// Merging any number of sequences, empty ones among them, gives what sorting them together gives.
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
