//! Counts pairs by the origins of their two documents: within the same origin, or across two origins.

use serde::Serialize;
use std::ops::Range;

use dupsift_engine::job::run_report::RunReport;

/// The maximum number of origins that are listed separately; all other origins are combined into the last entry.
pub(crate) const NAMED: usize = 20;

/// Holds the pair and document counts by origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Crossing {
    /// The names of the origins. The last entry may combine all other origins.
    pub names: Vec<String>,
    /// The number of origins that are combined under the last name; 0 if all origins are listed separately.
    pub others: u64,
    /// The number of documents per origin.
    pub documents: Vec<u64>,
    /// The number of documents that are in a pair, per origin.
    pub paired: Vec<u64>,
    /// The number of removed documents, per origin.
    pub removed: Vec<u64>,
    /// The number of pairs between two origins. The smaller index is the row, and the diagonal contains the pairs within one origin.
    pub pairs: Vec<Vec<u64>>,
}

impl Crossing {
    /// Creates counts for the origins in `places` (name, number of documents). If there are more than `NAMED` origins, only the largest
    /// origins are listed separately. Also returns the index of each given origin in the counts.
    pub fn new(places: &[(String, u64)], what: &str) -> (Crossing, Vec<u32>) {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&at| (std::cmp::Reverse(places[at].1), at));
        let mut named = if places.len() > NAMED { order[..NAMED - 1].to_vec() } else { order };
        named.sort_unstable();
        let mut crossing = Crossing::default();
        let mut became = vec![named.len() as u32; places.len()];
        for (at, &place) in named.iter().enumerate() {
            became[place] = at as u32;
            crossing.names.push(places[place].0.clone());
        }
        crossing.others = (places.len() - named.len()) as u64;
        if crossing.others > 0 {
            crossing.names.push(format!("{} other {what}", crossing.others));
        }
        let count = crossing.names.len();
        crossing.documents = vec![0; count];
        crossing.paired = vec![0; count];
        crossing.removed = vec![0; count];
        crossing.pairs = vec![vec![0; count]; count];
        for (place, &at) in places.iter().zip(&became) {
            crossing.documents[at as usize] += place.1;
        }
        (crossing, became)
    }

    /// Returns empty counts for the input files of a run whose first document is at `base`. Documents before `base` are in earlier batches
    /// or in a reference.
    pub fn of_files(report: &RunReport, base: u64) -> Files {
        let before = report.index.as_ref().filter(|_| base > 0).map(|index| {
            let name = if index.generation == index.read_generation { "(the reference)" } else { "(earlier batches)" };
            (name.to_owned(), index.indexed)
        });
        let mut ends: Vec<u64> = before.iter().map(|_| base).collect();
        let files = report.inputs.iter().map(|file| (file.file.clone(), file.rows));
        let places: Vec<(String, u64)> = before.into_iter().chain(files).collect();
        let (crossing, became) = Crossing::new(&places, "files");
        let mut end = base;
        for file in &report.inputs {
            end += file.rows;
            ends.push(end);
        }
        Files { crossing, became, ends, last: Default::default() }
    }

    /// Returns the number of pairs within this origin.
    pub fn within(&self, place: usize) -> u64 {
        self.pairs[place][place]
    }

    /// Returns the number of pairs between this origin and all other origins.
    pub fn across(&self, place: usize) -> u64 {
        let all: u64 = (0..self.names.len()).map(|other| self.between(place, other)).sum();
        all - self.within(place)
    }

    /// Returns the number of pairs between two origins, in either order.
    pub fn between(&self, one: usize, other: usize) -> u64 {
        self.pairs[one.min(other)][one.max(other)]
    }
}

/// Counts pairs and documents by origin.
pub(crate) trait Group {
    /// Counts a pair.
    fn add(&mut self, a: u64, b: u64);
    /// Counts a document that is in a pair.
    fn count_paired(&mut self, one: u64);
    /// Counts a removed document.
    fn count_removed(&mut self, one: u64);
}

impl Group for Crossing {
    fn add(&mut self, a: u64, b: u64) {
        self.pairs[a.min(b) as usize][a.max(b) as usize] += 1;
    }

    fn count_paired(&mut self, one: u64) {
        self.paired[one as usize] += 1;
    }

    fn count_removed(&mut self, one: u64) {
        self.removed[one as usize] += 1;
    }
}

/// Counts pairs by input file. The pairs are given as document numbers.
pub struct Files {
    /// The counts by origin, in which each file is an origin.
    pub crossing: Crossing,
    became: Vec<u32>,
    /// The document number that follows the last document of each file.
    ends: Vec<u64>,
    /// The files that contain the two documents of the previous pair. Pairs are in order, so the next pair is usually from the same files.
    last: [LastFile; 2],
}

/// Caches the last file that was looked up: its documents and its origin.
#[derive(Default)]
struct LastFile {
    docs: Range<u64>,
    place: u64,
}

impl Files {
    #[inline]
    fn place(&mut self, doc: u64, side: usize) -> u64 {
        if !self.last[side].docs.contains(&doc) {
            let file = self.ends.partition_point(|&end| end <= doc);
            let begin = file.checked_sub(1).map_or(0, |before| self.ends[before]);
            let end = self.ends.get(file).copied().unwrap_or(u64::MAX);
            let place = self.became.get(file).copied().unwrap_or(0).into();
            self.last[side] = LastFile { docs: begin..end, place };
        }
        self.last[side].place
    }
}

impl Group for Files {
    fn add(&mut self, a: u64, b: u64) {
        let (a, b) = (self.place(a, 0), self.place(b, 1));
        self.crossing.add(a, b);
    }

    fn count_paired(&mut self, doc: u64) {
        let place = self.place(doc, 0);
        self.crossing.count_paired(place);
    }

    fn count_removed(&mut self, doc: u64) {
        let place = self.place(doc, 0);
        self.crossing.count_removed(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dupsift_engine::job::InputReport;
    use dupsift_index::IndexReport;

    #[test]
    fn pairs_within_and_across_files() {
        let file = |name: &str, rows| InputReport { file: name.into(), rows, ..InputReport::default() };
        let inputs = vec![file("a", 2), file("none", 0), file("b", 3), file("c", 1)];
        let mut files = Crossing::of_files(&RunReport { inputs, ..RunReport::default() }, 0);
        [(0, 1), (0, 2), (1, 4), (3, 4), (2, 5)].into_iter().for_each(|(a, b)| files.add(a, b));
        (0..6).for_each(|doc| files.count_paired(doc));
        [4, 5].into_iter().for_each(|doc| files.count_removed(doc));
        let counts = files.crossing;
        assert_eq!(counts.removed, [0, 0, 1, 1]);
        assert_eq!(counts.names, ["a", "none", "b", "c"]);
        assert_eq!(counts.paired, [2, 0, 3, 1]);
        assert_eq!([0, 1, 2, 3].map(|at| (counts.within(at), counts.across(at))), [(1, 2), (0, 0), (1, 3), (0, 1)]);
        assert_eq!((counts.between(2, 0), counts.between(3, 2)), (2, 1));
    }

    #[test]
    fn matched_batches_precede_the_files() {
        let file = |name: &str, rows| InputReport { file: name.into(), rows, ..InputReport::default() };
        let index = IndexReport { indexed: 7, generation: 2, read_generation: 1, ..IndexReport::default() };
        let report = RunReport { inputs: vec![file("a", 2), file("b", 3)], index: Some(index), ..RunReport::default() };
        let mut files = Crossing::of_files(&report, 100);
        [(93, 100), (99, 104), (101, 102)].into_iter().for_each(|(a, b)| files.add(a, b));
        let counts = files.crossing;
        assert_eq!(counts.names, ["(earlier batches)", "a", "b"]);
        assert_eq!(counts.documents, [7, 2, 3]);
        assert_eq!((counts.between(0, 1), counts.between(0, 2), counts.between(1, 2)), (1, 1, 1));
    }

    #[test]
    fn many_places_stand_together() {
        let places: Vec<(String, u64)> = (0..50).map(|at| (format!("p{at}"), at)).collect();
        let (crossing, became) = Crossing::new(&places, "values");
        assert_eq!((crossing.names.len(), crossing.others), (NAMED, 31));
        assert_eq!(crossing.names[0], "p31");
        assert_eq!(crossing.names[19], "31 other values");
        assert_eq!((became[49], became[0]), (18, 19));
        assert_eq!(crossing.documents[19], (0..31).sum::<u64>());
        let (few, _) = Crossing::new(&places[..NAMED], "values");
        assert_eq!((few.names.len(), few.others), (NAMED, 0));
    }
}
