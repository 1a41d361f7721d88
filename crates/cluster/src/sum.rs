//! Sums the rows that the first pass emits to a bucket, to obtain the repeated ids, the classes of copies and the counts of terms.

use std::path::Path;

use super::kind::{Kind, What};
use super::opened::{Machine, Opened};
use super::spool::{Block, Blocks, Spool};
use dupsift_algorithms::corpus::{COUNT_GROUP, COUNT_WIDTH, encode_term};
use dupsift_algorithms::steps::copies;
use dupsift_algorithms::steps::count::{LEAST_FEATURES, LEAST_WORDS, sum as sum_of};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::LinkLayout;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::read::intake::count_repeated;
use dupsift_spill::shuffle::{Shuffle, Sorted};

/// The kinds of rows that are summed, each with the width of a row and of its group.
pub(crate) const SUMMED: [(What, usize, usize); 4] = [
    (What::Ids, 8, 8),
    (What::Copies, copies::ROW, copies::GROUP),
    (What::Words, COUNT_WIDTH, COUNT_GROUP),
    (What::Features, COUNT_WIDTH, COUNT_GROUP),
];

/// A function that returns blocks until there are none left.
pub(crate) type Source<'s> = &'s mut dyn FnMut() -> Result<Option<Block>>;

/// Sums the blocks of some buckets.
///
/// # Errors
/// Returns an error from `blocks`, or an error if the disk is full.
pub(crate) fn sum(opened: &Opened, blocks: Source<'_>, dir: &Path) -> Result<Blocks> {
    let machine = Machine::new(&opened.options)?;
    let engine = machine.engine(dir);
    let session = opened.session(&engine);
    let expected = session.documents() / u64::from(opened.layout.buckets.max(1));
    let shuffle = |(what, width, group)| engine.shuffle(&format!("{what:?}"), width, group, expected);
    let shuffles = SUMMED.map(shuffle).into_iter().collect::<Result<Vec<Shuffle>>>()?;
    let mut writers: Vec<_> = shuffles.iter().map(Shuffle::writer).collect();
    while let Some(Block { kind, rows, .. }) = blocks()? {
        let at = SUMMED.iter().position(|(what, ..)| *what == kind.what);
        let at = at.ok_or_else(|| Error::Internal(format!("{kind:?} is not summed")))?;
        rows.chunks_exact(SUMMED[at].1).try_for_each(|row| writers[at].push(row))?;
    }
    writers.iter_mut().try_for_each(|writer| writer.flush())?;
    drop(writers);
    let mut spool = Spool::new(dir)?;
    for (shuffle, (what, ..)) in shuffles.into_iter().zip(SUMMED) {
        let sorted = shuffle.finish()?;
        match what {
            What::Ids => {
                let repeated = count_repeated(&engine, &sorted)?;
                spool.push(Kind::of(What::Ids), 0, &repeated.to_le_bytes())?;
            }
            What::Copies => links(&engine, &sorted, LinkLayout::new(session.documents()), &mut spool)?,
            What::Words => terms(&engine, &sorted, (What::WordTerms, LEAST_WORDS), &mut spool)?,
            _ => terms(&engine, &sorted, (What::FeatureTerms, LEAST_FEATURES), &mut spool)?,
        }
    }
    spool.finish()
}

fn links(engine: &Engine<'_>, sorted: &Sorted, layout: LinkLayout, spool: &mut Spool) -> Result<()> {
    groups(engine, sorted, |rows| {
        copies::group(rows, |first, doc| {
            spool.push(Kind::of(What::Links), 0, &layout.encode(first, doc)[..layout.width()])
        })
    })
}

fn terms(engine: &Engine<'_>, sorted: &Sorted, (what, least): (What, u64), spool: &mut Spool) -> Result<()> {
    groups(engine, sorted, |rows| {
        sum_of(rows, least).map_or(Ok(()), |term| spool.push(Kind::of(what), 0, &encode_term(term)))
    })
}

pub(crate) fn groups(engine: &Engine<'_>, sorted: &Sorted, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
    let (width, _) = sorted.widths();
    for partition in 0..sorted.partitions() {
        let records = sorted.load(partition, engine.budget.a_thread)?;
        for group in records.groups() {
            each(&records.bytes()[group.start * width..group.end * width])?;
        }
        sorted.remove(partition)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Step;
    use crate::known::Known;
    use crate::test_kit::{Bench, reduced, rows_of};
    use dupsift_algorithms::corpus::{TERM_WIDTH, decode_term, encode_count};

    fn summed(blocks: &[Block]) -> Result<Vec<Block>> {
        let bench = Bench::new();
        reduced(&bench.in_tasks(&[("algorithms", "exact")]), &Step::Sum, &Known::none(), blocks, bench.dir().path())
    }

    fn block(what: What, rows: &[Vec<u8>]) -> Block {
        Block { kind: Kind::of(what), bucket: 1, rows: rows.concat() }
    }

    #[test]
    fn the_rows_of_all_tasks_are_summed() {
        let id = |id: u64| id.to_be_bytes().to_vec();
        let copy = |hash: u8, doc: u64| [vec![hash; copies::GROUP], doc.to_be_bytes().to_vec()].concat();
        let word = |term, df, cf| encode_count(term, df, cf).to_vec();
        let blocks = [
            block(What::Ids, &[id(7), id(9), id(7)]),
            block(What::Copies, &[copy(3, 5), copy(4, 6), copy(3, 80)]),
            block(What::Words, &[word(1, 2, 3), word(2, 1, 1)]),
            block(What::Ids, &[id(9), id(7), id(8)]),
            block(What::Copies, &[copy(3, 2), copy(9, 1)]),
            block(What::Words, &[word(3, 4, 4), word(1, 5, 60)]),
            block(What::Features, &[word(5, 1, 1), word(6, 1, 1)]),
            block(What::Features, &[word(6, 1, 2)]),
        ];
        let found = summed(&blocks).unwrap();
        let rows = |what, width| rows_of(&found, what, width).into_iter().map(|(_, row)| row).collect::<Vec<_>>();
        assert_eq!(rows(What::Ids, 8), [3u64.to_le_bytes()], "two more of 7, and one more of 9");
        let layout = LinkLayout::new(Bench::ROWS);
        let links: Vec<_> = rows(What::Links, layout.width()).iter().map(|row| layout.decode(row)).collect();
        assert_eq!(links, [(2, 2), (2, 5), (2, 80)], "the first document of a class, with each document");
        let terms = |what| rows(what, TERM_WIDTH).iter().map(|row| decode_term(row)).collect::<Vec<_>>();
        assert_eq!(terms(What::WordTerms), [(1, 7, 63), (2, 1, 1), (3, 4, 4)]);
        assert_eq!(terms(What::FeatureTerms), [(6, 2, 3)], "a feature of one document is not kept");
    }

    #[test]
    fn rows_that_are_not_summed_are_an_error() {
        let error = summed(&[block(What::Pairs, &[vec![0; 18]])]).unwrap_err().to_string();
        assert!(error.contains("is not summed"), "{error}");
    }
}
