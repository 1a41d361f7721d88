//! Laws of the run: what comes back is what a plain sort gives, and every damage is named.

use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::error::{Error, Result};
use crate::shuffle::product::PutDown;
use crate::shuffle::spec::bucket;
use crate::shuffle::{Memory, Order, Shuffle, Sorted, Spec};

fn sorted(dir: &Path, rows: &[u8], width: usize, group_width: usize, partitions: usize) -> Sorted {
    let spec = Spec { name: "rows".into(), width, group_width, order: Order::Hash, range_width: 0, partitions };
    let shuffle = Shuffle::new(spec, dir, &Memory::new(1 << 20)).expect("a shuffle");
    let mut writer = shuffle.writer();
    rows.chunks_exact(width).try_for_each(|row| writer.push(row)).expect("taken");
    writer.flush().expect("taken");
    drop(writer);
    shuffle.finish().expect("whole")
}

/// Puts the rows down from two threads, the partitions in any order.
fn put_down(dir: &Path, sorted: &Sorted, width: usize, group_width: usize, memory: usize) -> Result<PutDown> {
    let partitions = sorted.partitions();
    let rows: Vec<u64> = (0..partitions).map(|partition| sorted.rows_of(partition)).collect();
    let writer = RunWriter::create(dir, "rows.run", width, group_width, &rows)?;
    std::thread::scope(|scope| {
        let share = |odd: usize| {
            let writer = &writer;
            let write = move |partition| writer.write(partition, &sorted.load(partition, 1 << 20)?, memory);
            scope.spawn(move || (0..partitions).rev().filter(|partition| partition % 2 == odd).try_for_each(write))
        };
        [share(0), share(1)].into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    writer.finish()
}

fn read(run: &Run, buckets: Range<usize>) -> Result<Vec<u8>> {
    let (mut reader, mut bytes) = (run.read(buckets), Vec::new());
    while let Some(rows) = reader.next_block()? {
        assert!(!rows.is_empty() && rows.len().is_multiple_of(run.width()));
        bytes.extend_from_slice(rows);
    }
    Ok(bytes)
}

/// The definition: rows sorted by the bucket of their group, then by their bytes.
fn expected(rows: &[u8], width: usize, group_width: usize) -> Vec<u8> {
    let mut rows: Vec<&[u8]> = rows.chunks_exact(width).collect();
    rows.sort_by_key(|row| (bucket(&row[..group_width]), row.to_vec()));
    rows.concat()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// Three rows of six bytes, whose groups are their first two.
#[test]
fn a_worked_example() {
    let dir = tempfile::tempdir().expect("a folder");
    let rows = b"bb-twoaa-onebb-one";
    let put = put_down(dir.path(), &sorted(dir.path(), rows, 6, 2, 5), 6, 2, 1 << 20).expect("put down");
    assert_eq!(
        (put.name.as_str(), put.bytes, names(dir.path())),
        ("rows.run", 32_804 + 18 + 4, vec!["rows.run".to_owned()])
    );
    let bytes = std::fs::read(dir.path().join("rows.run")).expect("there");
    let mut head = b"dupsrun1".to_vec();
    head.extend([6, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[..24], head);
    let [aa, bb] = AA_AND_BB;
    assert_eq!([bucket(b"aa"), bucket(b"bb")], [aa, bb]);
    let table = |at: usize| u64::from_le_bytes(bytes[24 + 8 * at..][..8].try_into().expect("8 bytes"));
    for at in 0..=BUCKETS {
        assert_eq!(table(at), u64::from(at > aa) + 2 * u64::from(at > bb), "{at}");
    }
    let (first, second) = (&b"aa-one"[..], &b"bb-onebb-two"[..]);
    let in_order = if aa < bb { [first, second].concat() } else { [second, first].concat() };
    assert_eq!(bytes[32_804..32_804 + 18], in_order);
    let crc = crc32fast::hash(&[&[0; 8], &in_order[..]].concat());
    assert_eq!(bytes[32_804 + 18..], crc.to_le_bytes());
    let run = Run::take_up(dir.path(), &put).expect("whole");
    assert_eq!((run.rows(), run.width(), run.group_width(), run.rows_of(bb..bb + 1)), (3, 6, 2, 2));
    assert_eq!(read(&run, bb..bb + 1).expect("whole"), second);
    assert_eq!(read(&Run::open(&dir.path().join("rows.run")).expect("whole"), 0..BUCKETS).expect("whole"), in_order);
}

/// The buckets of the groups aa and bb, worked out by another program from the description of the layout.
const AA_AND_BB: [usize; 2] = [3155, 1378];

#[test]
fn a_run_without_rows_is_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    for partitions in [1, 7] {
        let put = put_down(dir.path(), &sorted(dir.path(), b"", 9, 9, partitions), 9, 9, 0).expect("put down");
        let run = Run::take_up(dir.path(), &put).expect("whole");
        assert_eq!((put.bytes, run.rows(), read(&run, 0..BUCKETS).expect("whole")), (32_804, 0, vec![]));
        assert!(run.load(0..BUCKETS, 0).expect("whole").is_empty());
    }
}

/// Each flipped byte beside the middle of the table, each cut there, and a file of another run.
#[test]
fn every_damage_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let rows: Vec<u8> = (0..100_000_u32).flat_map(|row| (row / 3).to_be_bytes()).collect();
    let put = put_down(dir.path(), &sorted(dir.path(), &rows, 4, 4, 3), 4, 4, 1 << 20).expect("put down");
    let path = dir.path().join("rows.run");
    let whole = std::fs::read(&path).expect("there");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let read = Run::take_up(dir.path(), &put).and_then(|run| read(&run, 0..BUCKETS));
        let error = read.expect_err("refused");
        assert!(matches!(&error, Error::Damaged { path: named, .. } if *named == path), "{error}");
        error.to_string()
    };
    let last = whole.len() - 1;
    for at in
        (0..64).chain([9_999, HEADER - 1, HEADER, HEADER + PIECE - 1, HEADER + PIECE, last - 90_000, last - 2, last])
    {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        refused(&flipped);
        assert!(refused(&whole[..at]).contains("bytes and not"));
    }
    refused(&[&whole[..], b"x"].concat());
    // Two pieces that changed places.
    let mut swapped = whole.clone();
    swapped[HEADER..HEADER + 2 * PIECE].rotate_left(PIECE);
    assert!(refused(&swapped).contains("piece 0 of its rows has checksum"));
    // What lies in other buckets is no matter.
    let mut flipped = whole.clone();
    flipped[last - 5_000] ^= 1;
    std::fs::write(&path, &flipped).expect("written");
    let run = Run::take_up(dir.path(), &put).expect("its header is whole");
    assert!(!read(&run, 0..100).expect("whole").is_empty() && run.load(BUCKETS - 100..BUCKETS, 0).is_err());
    std::fs::remove_file(&path).expect("removed");
    assert!(Run::take_up(dir.path(), &put).expect_err("gone").to_string().contains("it is not there"));
}

#[test]
fn a_run_that_is_not_whole_gets_no_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let two = sorted(dir.path(), b"aaaabbbbccccdddd", 4, 4, 2);
    let rows = [two.rows_of(0), two.rows_of(1)];
    let writer = RunWriter::create(dir.path(), "rows.run", 4, 4, &rows).expect("begun");
    writer.write(0, &two.load(0, 1 << 20).expect("loaded"), 0).expect("written");
    let twice = writer.write(0, &two.load(0, 1 << 20).expect("loaded"), 0).expect_err("refused").to_string();
    assert!(twice.contains("came twice"), "{twice}");
    let missing = writer.finish().expect_err("refused").to_string();
    assert!(missing.contains("partition 1 of a run was not written"), "{missing}");
    assert!(names(dir.path()).is_empty());
    // Rows of one partition are none of another.
    let whole = sorted(dir.path(), b"aaaabbbbccccdddd", 4, 4, 1).load(0, 1 << 20).expect("loaded");
    let writer = RunWriter::create(dir.path(), "rows.run", 4, 4, &[4, 0, 0, 0, 0, 0, 0]).expect("begun");
    let other = writer.write(0, &whole, 0).expect_err("refused").to_string();
    assert!(other.contains("a row of bucket"), "{other}");
}

#[test]
fn partitions_are_whole_numbers_of_buckets() {
    for partitions in [1, 2, 3, 60, 255, 256, 1000, 1024] {
        let mut end = 0;
        for partition in 0..partitions {
            let buckets = buckets_of(partition, partitions);
            assert!(buckets.start == end && !buckets.is_empty(), "{partition} of {partitions}: {buckets:?}");
            end = buckets.end;
        }
        assert_eq!(end, BUCKETS);
    }
    assert_eq!(buckets_of(1, 3), 1366..2731);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Any width, partitions and memory: the rows of any buckets are those of a plain sort, from the reader and from the loader.
    #[test]
    fn what_comes_back_is_what_a_plain_sort_gives(
        width in 4..=40_usize,
        group in 1..=8_usize,
        count in 0..20_000_usize,
        kinds in prop_oneof![Just(1_u64), Just(5), Just(1000), Just(u64::MAX)],
        seed in any::<u64>(),
        (wrote, reads) in (1..40_usize, 1..9_usize),
        memory in prop_oneof![Just(0_usize), Just(5_000), Just(1 << 20)],
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let group = group.min(width);
        let mut state = seed;
        let mut rows = Vec::with_capacity(count * width);
        for _ in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let key = ((state >> 20) % kinds).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            rows.extend((0..width).map(|at| if at < group { key[at] } else { (state >> (at % 60)) as u8 & 3 }));
        }
        let sorted = sorted(dir.path(), &rows, width, group, wrote);
        let put = put_down(dir.path(), &sorted, width, group, memory).expect("put down");
        let run = Run::take_up(dir.path(), &put).expect("whole");
        let expected = expected(&rows, width, group);
        prop_assert!(read(&run, 0..BUCKETS).expect("whole") == expected);
        let (mut by_parts, mut groups) = (Vec::new(), 0);
        for part in 0..reads {
            let loaded = run.load(buckets_of(part, reads), memory).expect("whole");
            prop_assert_eq!(loaded.len() as u64, run.rows_of(buckets_of(part, reads)));
            groups += loaded.groups().count();
            by_parts.extend_from_slice(loaded.bytes());
        }
        prop_assert!(by_parts == expected);
        let mut keys: Vec<&[u8]> = rows.chunks_exact(width).map(|row| &row[..group]).collect();
        keys.sort();
        keys.dedup();
        prop_assert_eq!(groups, keys.len());
    }
}
